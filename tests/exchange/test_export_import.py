"""An import restores every exported node, edge and property, or nothing at all."""

import json
from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path

import networkx
import pytest
from graph_rows import rows
from whole_graph import DOCUMENTS, QUESTION

from kgrag import KnowledgeGraph
from kgrag.exchange import export as exporting
from kgrag.exchange import importing
from kgrag.graph import collections, schema
from kgrag.graph.contents import LABELS, Fingerprint, fingerprint
from kgrag.values.errors import ConfigurationError, InputError, MismatchError, NotFoundError
from kgrag.values.installing import update_hint

pytestmark = pytest.mark.long

Exported = Callable[[str], Path]


@pytest.fixture
def deleted(kg: KnowledgeGraph, whole: str, exported: Exported) -> Iterator[str]:
    """The name of the deleted collection, which is restored afterwards."""
    path, _ = exported("whole.jsonl"), exported("whole.jsonl.gz")
    kg[whole].delete()
    yield whole
    with suppress(NotFoundError):
        kg[whole].delete()
    kg.import_export(str(path))


def test_the_graph_holds_everything(kg: KnowledgeGraph, whole: str, state: Fingerprint, tmp_path: Path) -> None:
    assert kg[whole].export(str(tmp_path / "x.jsonl")).left_out == 1  # the edge leaves the collection
    assert set(LABELS) <= state.counts.keys()
    edges = "ABOUT CITES CONTAINS FOUND HAS_KEYWORD HAS_PAGE HAS_PASSAGE HAS_STEP HAS_TABLE HOLDS LINKED MENTIONS NEXT"
    edges += " OBJECT OF_TABLE RETRIEVED SAME_AS SEE_ALSO SIMILAR STATES SUBJECT SUMMARISES"
    edges += " IN_COMMUNITY LINKS_TO PART_OF REFERS_TO SHOWS"
    assert set(edges.split()) == state.counts.keys() - set(LABELS)
    assert state.counts["CITES"] == state.counts["SEE_ALSO"] == 2  # between the same nodes


def test_out_and_back(kg: KnowledgeGraph, whole: str, state: Fingerprint, exported: Exported) -> None:
    path = exported("whole.jsonl.gz")
    kg[whole].delete()
    report = kg.import_export(str(path))
    assert fingerprint(kg.graph, whole).hashes() == state.hashes()
    assert report.digest == state.total()
    assert report.nodes + report.edges == sum(state.counts.values())
    assert kg[whole].search(QUESTION).hits
    assert kg[whole].search(QUESTION, retriever="dense").hits
    assert len(kg[whole].runs()) == 1
    stored = rows(
        kg, "MATCH (n:Document {collection: $c}) WHERE n:Reviewed RETURN n.at AS at, n.words AS words", c=whole
    )
    assert [str(row["at"])[:29] for row in stored] == ["2026-11-21T18:00:00.123456789"]
    vectors = "MATCH (p:Passage {collection: $c}) RETURN DISTINCT valueType(p.embedding) AS type, count(*) AS number"
    assert [row["type"] for row in rows(kg, vectors, c=whole)] == ["LIST<FLOAT NOT NULL> NOT NULL"]


def test_an_ingest_finds_it_unchanged(kg: KnowledgeGraph, whole: str, state: Fingerprint) -> None:
    report = kg[whole].ingest(DOCUMENTS)
    assert (report.added, report.changed, report.unchanged) == (0, 0, len(DOCUMENTS))
    assert fingerprint(kg.graph, whole).hashes() == state.hashes()


def test_interrupted_it_is_hidden_and_goes_on(
    kg: KnowledgeGraph, state: Fingerprint, exported: Exported, deleted: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = str(exported("whole.jsonl"))
    monkeypatch.setattr(importing, "NODES_AT_ONCE", 20)
    monkeypatch.setattr(importing, "EDGES_AT_ONCE", 50)
    write = importing.Import._write
    for batches in (2, 4, 4):  # during nodes, then during edges
        left = [batches]

        def broken(self: importing.Import, *args: object, left: list[int] = left) -> None:
            write(self, *args)  # type: ignore[arg-type]
            left[0] -= 1
            if not left[0]:
                raise KeyboardInterrupt

        with monkeypatch.context() as patch:
            patch.setattr(importing.Import, "_write", broken)
            with pytest.raises(KeyboardInterrupt):
                kg.import_export(path)
        assert deleted not in [c.name for c in kg.collections()]
        with pytest.raises(MismatchError, match="was interrupted"):
            kg[deleted].search(QUESTION)
        with pytest.raises(MismatchError, match="was interrupted"):
            kg[deleted].ingest(DOCUMENTS)
    with pytest.raises(MismatchError, match="another export"):
        kg.import_export(str(exported("whole.jsonl.gz")))
    report = kg.import_export(path)
    assert report.resumed > sum(n for kind, n in state.counts.items() if kind in LABELS)
    assert fingerprint(kg.graph, deleted).hashes() == state.hashes()


def test_given_up_it_can_be_deleted(
    kg: KnowledgeGraph, exported: Exported, deleted: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    with monkeypatch.context() as patch:
        patch.setattr(collections, "ensure_indexes", lambda *_: (_ for _ in ()).throw(KeyboardInterrupt))
        with pytest.raises(KeyboardInterrupt):
            kg.import_export(str(exported("whole.jsonl")))
    kg[deleted].delete()
    assert rows(kg, "MATCH (n {collection: $c}) RETURN count(n) AS n", c=deleted)[0]["n"] == 0


def test_a_collection_of_that_name_is_left_alone(
    kg: KnowledgeGraph, whole: str, state: Fingerprint, exported: Exported, tmp_path: Path
) -> None:
    path = exported("whole.jsonl")
    with pytest.raises(MismatchError, match="already"):
        kg.import_export(str(path))
    first, rest = path.read_text(encoding="utf-8").split("\n", 1)
    header = json.loads(first)
    header["kgrag"]["collection"] = "two\nlines"
    (tmp_path / "x.jsonl").write_text(f"{json.dumps(header)}\n{rest}", encoding="utf-8")
    with pytest.raises(ConfigurationError):
        kg.import_export(str(tmp_path / "x.jsonl"))
    assert fingerprint(kg.graph, whole).hashes() == state.hashes()


@pytest.mark.parametrize(("change", "says"), [(1, update_hint()), (-2, "the kgrag that made it")])
def test_exports_of_another_schema_are_refused(
    kg: KnowledgeGraph, exported: Exported, deleted: str, tmp_path: Path, change: int, says: str
) -> None:
    first, rest = exported("whole.jsonl").read_text(encoding="utf-8").split("\n", 1)
    header, version = json.loads(first), schema.SCHEMA_VERSION
    header["kgrag"]["schema_version"] = version + change
    (tmp_path / "x.jsonl").write_text(f"{json.dumps(header)}\n{rest}", encoding="utf-8")
    with pytest.raises(MismatchError, match=f"export was.* {version + change}; this one has {version}") as caught:
        kg.import_export(str(tmp_path / "x.jsonl"))
    assert says in caught.value.remedy
    assert collections.find_collection(kg.graph, deleted) is None


def test_an_export_without_embeddings_is_for_looking_at(kg: KnowledgeGraph, whole: str, tmp_path: Path) -> None:
    report = kg[whole].export(str(tmp_path / "bare.jsonl"), embeddings=False)
    assert report.bytes is not None
    assert report.bytes < 300_000
    with pytest.raises(MismatchError, match="without embeddings"):
        kg.import_export(str(tmp_path / "bare.jsonl"))


def test_networkx_reads_it(exported: Exported, state: Fingerprint) -> None:
    graph = networkx.read_graphml(exported("whole.graphml"))
    assert graph.is_directed()
    edges = sum(n for kind, n in state.counts.items() if kind not in LABELS)
    assert (graph.number_of_nodes(), graph.number_of_edges()) == (sum(state.counts.values()) - edges, edges)
    passages = [data for _, data in graph.nodes(data=True) if data["labels"] == ":Passage"]
    assert len(passages) == state.counts["Passage"]
    assert all(isinstance(p["tokens"], int) and isinstance(p["text"], str) for p in passages)
    assert len(json.loads(passages[0]["embedding"])) == 256
    weights = [data["weight"] for *_, data in graph.edges(data=True) if data["label"] == "HAS_KEYWORD"]
    assert weights
    assert all(isinstance(weight, float) for weight in weights)


def test_a_change_meanwhile_is_told(
    kg: KnowledgeGraph, whole: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    numbers = iter((1, 2))
    monkeypatch.setattr(exporting, "count_of", lambda *_: next(numbers))
    with pytest.raises(MismatchError, match="changed while"):
        kg[whole].export(str(tmp_path / "x.jsonl"))
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("target", ["x.jsonl", "x.graphml.gz"])
def test_broken_off_there_is_no_file(
    kg: KnowledgeGraph, whole: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, target: str
) -> None:
    def ends(stage: str, done: int, total: int | None) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(exporting, "STEP", 100)
    with pytest.raises(KeyboardInterrupt):
        kg[whole].export(str(tmp_path / target), progress=ends)
    assert list(tmp_path.iterdir()) == []


def test_what_is_there_is_replaced_on_request_only(kg: KnowledgeGraph, whole: str, tmp_path: Path) -> None:
    file, folder = tmp_path / "x.jsonl", tmp_path / "folder.jsonl"
    file.write_text("mine")
    folder.mkdir()
    for target in (file, folder):
        with pytest.raises(InputError):
            kg[whole].export(str(target))
    with pytest.raises(InputError, match="is a folder"):
        kg[whole].export(str(folder), overwrite=True)
    for _ in range(2):
        kg[whole].export(str(file), overwrite=True)
    assert not list(tmp_path.glob(".*"))
    with pytest.raises(InputError, match="does not tell the format"):
        kg[whole].export(str(tmp_path / "x.gexf"))
    with pytest.raises(InputError, match="cannot be written"):
        kg[whole].export(str(file / "y.jsonl"))
