"""Files with any content: nothing raises, every result can be stored, and memory stays bounded."""

import json
import tempfile
import tracemalloc
import unicodedata
from collections.abc import Mapping
from pathlib import Path

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from kgrag.loaders import LOADERS, load
from kgrag.loaders.base import clean
from kgrag.values.documents import Document, Problem

SNIPPETS = st.sampled_from(
    [
        *("# ", "\n", "---\n", "```", "[", "](", "|", "|-|-|\n", "- ", "> ", "    ", "a: b\n", "word "),
        *"<h1> </h1> <table> <td> </table> <!-- <![ <!doctype <pre> <br> <li> <script>".split(),
        *('{"id": 1, "text": "', '"}', "\\ud800", "NaN", "1e999", "id,text\n", '"', ",", ";", "\t", "\r"),
        *("&#xD800;", "&#0;", "\x00", "\x07", "\ufeff", "\u2028", "e\u0301", "\U0001f600", "\ud800"),
    ]
)
CONTENT = st.one_of(
    st.binary(max_size=300),
    st.lists(SNIPPETS, max_size=40).map(lambda parts: "".join(parts).encode("utf-8", "surrogatepass")),
    st.lists(SNIPPETS, max_size=20).map(lambda parts: "".join(parts).encode("utf-16", "surrogatepass")),
)


def check_storable(document: Document) -> None:
    """Assert that a value can be stored in Neo4j and JSON."""
    texts = [document.key, document.title, document.source, *(s.text for s in document.sections)]
    texts += [s.heading for s in document.sections]
    metadata = json.dumps(document.metadata, ensure_ascii=False, allow_nan=False)
    for text in [*texts, metadata]:
        text.encode()
        assert not any(unicodedata.category(c) == "Cc" for c in text if c not in "\n\t")
        assert unicodedata.is_normalized("NFC", text)
    assert document.key
    assert document.title
    assert document.text.strip() or document.tables
    assert isinstance(document.metadata, Mapping)


@settings(max_examples=250)
@given(suffix=st.sampled_from([".xyz", *(e for form in LOADERS.values() for e in form.extensions)]), content=CONTENT)
@example(suffix=".html", content=b"<![foo")
@example(suffix=".html", content=b"<!doctype [")
@example(suffix=".md", content=b"<![foo\n\ntext")
@pytest.mark.long
def test_any_bytes_in_any_format(suffix: str, content: bytes) -> None:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / f"file{suffix}"
        path.write_bytes(content)
        (Path(folder) / "zz.txt").write_text("the rest")
        items = list(load([path, folder]))
    assert len(items) >= 2
    assert isinstance(items[-1], Document) or suffix == ".xyz"
    for item in items:
        if isinstance(item, Document):
            check_storable(item)
        else:
            f"{item.place} {item.message}".encode()
            assert item.message


@given(st.text(st.characters(), max_size=50))
def test_cleaning_twice_changes_nothing(text: str) -> None:
    assert clean(clean(text)) == clean(text)


@settings(max_examples=60)
@given(
    st.dictionaries(
        st.text(st.characters(), max_size=8),
        st.recursive(
            st.none() | st.booleans() | st.integers() | st.floats() | st.text(st.characters(), max_size=8),
            lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=4), inner, max_size=3),
            max_leaves=8,
        ),
        max_size=6,
    )
)
@example({"TEXT": None})
@example({"a": True, "a\n": None})
def test_any_metadata(values: dict[str, object]) -> None:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "a.jsonl"
        path.write_text(json.dumps({**values, "id": "k", "title": "t", "text": "the text"}))
        (item,) = load(path)
    assert isinstance(item, Document)
    check_storable(item)
    plain = [v for k, v in values.items() if isinstance(v, bool) and k.lower() == k.strip() == k and k.isalnum()]
    assert all(v in item.metadata.values() for v in plain)


def generate(path: Path, megabytes: int, line: str) -> int:
    count = megabytes * 1024 * 1024 // len(line)
    with path.open("w") as file:
        for start in range(0, count, 1000):
            file.writelines(line.replace("N", str(n), 1) for n in range(start, min(start + 1000, count)))
    return count


@pytest.mark.parametrize("name", ["big.jsonl", "big.csv"])
@pytest.mark.long
def test_memory_is_bounded_by_a_row(tmp_path: Path, name: str) -> None:
    text = "A sentence, of some length. " * 400
    line = f'N,"{text}"\n' if name.endswith("csv") else json.dumps({"id": "N", "text": text}) + "\n"
    path = tmp_path / name
    count = generate(path, 200 if name.endswith("jsonl") else 50, line)
    if name.endswith("csv"):
        path.write_text("id,text\n" + path.read_text())
    tracemalloc.start()
    try:
        documents = sum(isinstance(item, Document) for item in load(path))
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
        path.unlink()
    assert documents == count
    assert peak < 8 * 1024 * 1024


def test_memory_of_one_endless_line(tmp_path: Path) -> None:
    path = tmp_path / "a.jsonl"
    with path.open("wb") as file:
        for _ in range(40):
            file.write(b"x" * 1024 * 1024)
        file.write(b'\n{"text": "after"}\n')
    tracemalloc.start()
    try:
        problem, document = load(path, max_file_mb=2)
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert isinstance(problem, Problem)
    assert problem.place.endswith(":1")
    assert isinstance(document, Document)
    assert peak < 12 * 1024 * 1024


@pytest.mark.long
def test_the_index_of_triples_is_compact(tmp_path: Path) -> None:
    count = 8_000
    with (tmp_path / "corpus.jsonl").open("w") as corpus, (tmp_path / "triples.jsonl").open("w") as triples:
        for n in range(count):
            corpus.write(json.dumps({"id": f"p{n}", "text": f"text {n}"}) + "\n")
            for m in range(3):
                fact = {"passage": f"p{n}", "subject": f"s{n}", "predicate": "p" * 200, "object": f"o{m}"}
                triples.write(json.dumps(fact) + "\n")
    tracemalloc.start()
    try:
        found = sum(len(item.triples) for item in load(tmp_path) if isinstance(item, Document))
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert found == 3 * count
    assert peak < 4 * 1024 * 1024  # 6 MB of triples; the keys take 1 MB
