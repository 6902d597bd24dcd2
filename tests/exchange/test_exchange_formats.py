"""The exchange format: data survive a round trip; damaged, truncated or foreign files are reported with their line."""

import gzip
import io
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import neo4j.time
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from kgrag.exchange.files import Footer, Header, format_of, reading, writing
from kgrag.exchange.importing import read_through
from kgrag.graph.contents import EdgeRecord, Fingerprint, Item, NodeRecord
from kgrag.graph.property_values import parsed, text, to_json, vector
from kgrag.graph.schema import SLOTS
from kgrag.values.errors import InputError

HEADER = Header("c", 4, "0.1.0", "e" * 32, "2026-11-21T18:00:00+00:00")
_TEXTS = st.text(st.characters(exclude_categories=["Cs"]), max_size=12)
_SINGLE = st.one_of(_TEXTS, st.integers(-(2**63), 2**63 - 1), st.booleans(), st.floats(allow_nan=False))
_LISTS = st.one_of(*(st.lists(of, max_size=3) for of in (_TEXTS, st.integers(-9, 9), st.booleans(), st.floats(-9, 9))))
_NAMES = st.one_of(_TEXTS.filter(bool), st.sampled_from("abc")).filter(lambda name: name not in SLOTS)
_PROPERTIES = st.dictionaries(_NAMES, st.one_of(_SINGLE, _LISTS), max_size=4)


def _write(path: Path, items: list[Item]) -> Path:
    found = Fingerprint()
    with writing(str(path), "jsonl", HEADER, overwrite=True) as writer:
        for item in items:
            writer.write(item)
            found.add(item)
        writer.finish(Footer.sum(found))
    return path


def _items(*properties: dict[str, Any]) -> list[Item]:
    nodes: list[Item] = [NodeRecord("Collection", "c", {"name": "c", "collection": "c"})]
    nodes += [NodeRecord("Passage", f"p{i}", {"collection": "c", **p, "id": f"p{i}"}) for i, p in enumerate(properties)]
    edge = EdgeRecord("NEXT", ("Passage", "p0"), ("Passage", "p0"), properties[0]) if properties else None
    return [*nodes, *([edge] if edge else [])]


@settings(max_examples=40)
@given(properties=st.lists(_PROPERTIES, min_size=1, max_size=4))
def test_any_properties(tmp_path_factory: pytest.TempPathFactory, properties: list[dict[str, Any]]) -> None:
    own = [{k: v for k, v in p.items() if k not in ("id", "collection")} for p in properties]
    items = _items(*own)
    path = _write(tmp_path_factory.mktemp("any") / "export", items)
    reader = reading(str(path))
    assert reader.header == HEADER
    assert [*map(_typed, reader)] == [*map(_typed, items)]
    read_through(reader, lambda *_: None)


def _typed(item: Item) -> str:
    return repr(replace(item, properties=dict(sorted(item.properties.items()))))


def test_a_property_named_as_a_vector_may_hold_texts(tmp_path: Path) -> None:
    items = _items({"embedding": ["", "no numbers"]}, {"embedding": "none"}, {"embedding_b": []})
    reader = reading(str(_write(tmp_path / "export", items)))
    assert [*map(_typed, reader)] == [*map(_typed, items)]


def test_vectors_are_those_of_float32(tmp_path: Path) -> None:
    numbers = vector([0.1, -1e-30, 3.4e38, 1 / 3, 0.0])
    path = _write(tmp_path / "export", _items({"embedding": numbers}))
    node = next(item for item in reading(str(path)) if "embedding" in item.properties)
    assert node.properties["embedding"] == numbers


@pytest.mark.parametrize(
    "written",
    [
        ("datetime", "2026-11-21T18:00:00.123456789+01:00[Europe/Berlin]"),
        ("datetime", "2026-11-21T18:00:00.000000000+00:00"),
        ("datetime", "2026-10-25T02:30:00.000000000+02:00[Europe/Berlin]"),  # the first of two such times that night
        ("datetime", "2026-11-21T18:00:00.000000000-05:30"), ("localdatetime", "2026-11-21T18:00:00.000000001"),
        ("time", "18:00:00.000000000-05:30"), ("date", "2026-11-21"), ("duration", "P1Y2M3DT4.5S"),
        ("point", "{x: 1.5, y: -2.0, crs: wgs-84}"), ("double", "-Infinity"), ("byte[]", "AP8="),
    ],
)  # fmt: skip
def test_values_keep_their_types(written: tuple[str, str]) -> None:
    value = parsed(*written)
    assert text(value) == written[1]
    assert to_json(value) == {written[0]: written[1]}
    with pytest.raises(ValueError, match=r"."):
        parsed(written[0], "no such thing")


def test_a_value_that_is_none_of_neo4js_is_refused() -> None:
    with pytest.raises(ValueError, match="complex"):
        to_json(1j)
    assert neo4j.time.Date(2026, 1, 2) == parsed("date", "2026-01-02")


def test_the_digest_knows_no_order_but_every_type() -> None:
    items = _items({"a": 1}, {"a": 2}, {"a": [1.0]})

    def total(its: list[Item]) -> str:
        found = Fingerprint()
        for item in its:
            found.add(item)
        return found.total()

    assert total(items) == total(items[::-1])
    others: list[list[dict[str, Any]]] = [
        [{"a": 1.0}, {"a": 2}, {"a": [1.0]}], [{"a": True}, {"a": 2}, {"a": [1.0]}],
        [{"a": "1"}, {"a": 2}, {"a": [1.0]}], [{"a": 2}, {"a": 1}, {"a": [1.0]}],
        [{"a": 1}, {"a": 2}, {"a": [1]}], [{"a": 1}, {"a": 2}, {"a": [1.0]}, {}],
    ]  # fmt: skip
    assert len({total(items), *(total(_items(*other)) for other in others)}) == len(others) + 1


def test_the_name_tells_the_format() -> None:
    names = {"a.jsonl": "jsonl", "a.NDJSON.gz": "jsonl", "-": "jsonl", "a.b.graphml": "graphml", "a.xml.gz": "graphml"}
    assert {name: format_of(name) for name in names} == names
    for name in ("a.gexf", "a", "new.d/"):
        with pytest.raises(InputError, match="does not tell the format"):
            format_of(name)


_MANY = [{"text": f'Text {i}, "quoted"\nin two lines', "number": i} for i in range(50)]
Damage = Callable[[bytes], bytes]


@pytest.mark.parametrize(
    ("damage", "told"),
    [
        (lambda b: b[: len(b) // 2], r":\d+: .*(cut off|JSON|XML)"),
        (lambda b: b[: b.rindex(b"\n", 0, -30) + 1], r"cut off"),
        (lambda b: b.replace(b"Text 7,", b"Text 8,"), r"differ from the export \(NEXT|Passage\)"),
        (lambda b: b.replace(b"Text 7", b"Text \xff"), "(utf-8|invalid token)"),
        (lambda b: b.replace(b'"version": 1', b'"version": 9'), "newer kind"),
        (lambda b: b.replace(b"Passage", b"Message"), "(no label|cannot be read)"),
        (lambda b: b"<graphml/>\n", "only JSON Lines"),
        (lambda b: b'{"id": 1, "text": "a document"}\n', "no export of kgrag"), (lambda b: b"", "no export of kgrag"),
        (lambda b: gzip.compress(b)[:-9], "cut off or broken"),
    ],
)  # fmt: skip
def test_damage_is_told(tmp_path: Path, damage: Damage, told: str) -> None:
    path = _write(tmp_path / "x", _items(*_MANY))
    path.write_bytes(damage(path.read_bytes()))
    with pytest.raises(InputError, match=told) as caught:
        read_through(reading(str(path)), lambda *_: None)
    assert caught.value.remedy


def test_a_full_disk_is_one_clear_error(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(self: io.BufferedWriter, data: bytes) -> int:
        raise OSError(28, "No space left on device")

    with pytest.raises(InputError, match="No space left"), writing(str(tmp_path / "x.jsonl"), "jsonl", HEADER):
        raise OSError(28, "No space left on device")
    assert list(tmp_path.iterdir()) == []


def test_equal_records_all_count() -> None:
    """Repeated records, different vectors, and the direction of an edge all change the total."""

    def total(*items: Item) -> str:
        found = Fingerprint()
        for item in items:
            found.add(item)
        return found.total()

    one, other = (NodeRecord("Passage", "p", {"id": "p", "embedding": vector([0.5, n])}) for n in (0.25, 0.75))
    edge = EdgeRecord("NEXT", ("Passage", "p"), ("Passage", "q"), {})
    back = replace(edge, start=edge.end, end=edge.start)
    assert len({total(one), total(other), total(edge), total(back), total(edge, edge), total(back, back)}) == 6
    assert Fingerprint().hashes() == {}
    twice = Fingerprint()
    twice.add(edge)
    twice.add(edge)
    assert twice.counts == {"NEXT": 2} and int(twice.hashes()["NEXT"], 16) != 0


def test_nodes_of_another_collection_are_refused(tmp_path: Path) -> None:
    items: list[Item] = [*_items({"a": 1}), NodeRecord("Passage", "q", {"collection": "other", "id": "q"})]
    with pytest.raises(InputError, match="of another collection"):
        read_through(reading(str(_write(tmp_path / "x.jsonl", items))), lambda *_: None)
    with pytest.raises(InputError, match="no export of kgrag"):
        read_through(reading(str(_write(tmp_path / "x.jsonl", items[1:]))), lambda *_: None)


def test_an_export_is_its_owners_alone(tmp_path: Path) -> None:
    path = _write(tmp_path / "export", _items())
    assert path.stat().st_mode & 0o077 == 0
