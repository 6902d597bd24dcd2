"""What is exported comes back: every node, edge and property, in each format; or nothing at all."""

import json
from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path

import networkx
import pytest
from whole_graph import DOCUMENTS, QUESTION, make_whole, query

from kgrag.client import KnowledgeGraph
from kgrag.exchange import export as exporting
from kgrag.exchange import importing
from kgrag.graph import collections, schema
from kgrag.graph.contents import LABELS, Fingerprint, fingerprint
from kgrag.indexing.digest import digest
from kgrag.values.errors import ConfigurationError, InputError, MismatchError, NotFoundError
from kgrag.values.installing import update_hint

pytestmark = pytest.mark.long

Exported = Callable[[str], Path]


@pytest.fixture
def name(kg: KnowledgeGraph) -> Iterator[str]:
    """A name for a copy."""
    yield "copy"
    with suppress(NotFoundError):
        kg["copy"].delete()


def test_the_graph_holds_everything(kg: KnowledgeGraph, whole: str, state: Fingerprint, tmp_path: Path) -> None:
    assert kg[whole].export(str(tmp_path / "x.jsonl")).left_out == 1  # it leads out of the collection
    assert set(LABELS) <= state.counts.keys()
    edges = "ABOUT CITES CONTAINS FOUND HAS_KEYWORD HAS_PAGE HAS_PASSAGE HAS_STEP HAS_TABLE HOLDS LINKED MENTIONS NEXT"
    edges += " OBJECT OF_TABLE RETRIEVED SAME_AS SEE_ALSO SIMILAR STATES SUBJECT SUMMARISES"
    edges += " IN_COMMUNITY LINKS_TO PART_OF"
    assert set(edges.split()) == state.counts.keys() - set(LABELS)
    assert state.counts["CITES"] == state.counts["SEE_ALSO"] == 2  # between the same nodes


@pytest.mark.parametrize("file", ["whole.jsonl.gz", "whole-csv"])
def test_out_and_back(kg: KnowledgeGraph, whole: str, state: Fingerprint, exported: Exported, file: str) -> None:
    path = exported(file)
    kg[whole].delete()
    report = kg.import_export(str(path))
    assert fingerprint(kg.graph, whole).hashes() == state.hashes()
    assert report.digest == state.total()
    assert report.nodes + report.edges == sum(state.counts.values())
    assert kg[whole].search(QUESTION).hits
    assert kg[whole].search(QUESTION, retriever="dense").hits
    stored = query(
        kg, "MATCH (n:Document {collection: $c}) WHERE n:Reviewed RETURN n.at AS at, n.words AS words", c=whole
    )
    assert [str(row["at"])[:29] for row in stored] == ["2026-11-21T18:00:00.123456789"]
    vectors = "MATCH (p:Passage {collection: $c}) RETURN DISTINCT valueType(p.embedding) AS type, count(*) AS number"
    assert [row["type"] for row in query(kg, vectors, c=whole)] == ["LIST<FLOAT NOT NULL> NOT NULL"]


def test_an_ingest_finds_it_unchanged(kg: KnowledgeGraph, whole: str, state: Fingerprint) -> None:
    report = kg[whole].ingest(DOCUMENTS)
    assert (report.added, report.changed, report.unchanged) == (0, 0, len(DOCUMENTS))
    assert fingerprint(kg.graph, whole).hashes() == state.hashes()


def test_under_another_name_it_is_what_an_ingest_under_that_name_makes(
    kg: KnowledgeGraph, whole: str, exported: Exported, name: str
) -> None:
    make_whole(kg, name)
    ingested = digest(kg.graph, name)
    kinds = fingerprint(kg.graph, name).counts
    kg[name].delete()
    kg.import_export(str(exported("whole.jsonl")), name)
    found = digest(kg.graph, name)
    own = ("summaries", "communities")  # which have ids of their own
    assert {k: v for k, v in found.items() if k not in own} == {k: v for k, v in ingested.items() if k not in own}
    assert fingerprint(kg.graph, name).counts == kinds
    assert not kg[name].build_communities(size=2).removed
    waiting = query(kg, "MATCH (n) WHERE n.id STARTS WITH 'import-' RETURN count(n) AS n")[0]["n"]
    assert waiting == 0
    assert kg[name].ingest(DOCUMENTS).unchanged == len(DOCUMENTS)
    assert len(kg[name].runs()) == len(kg[whole].runs()) == 1
    assert digest(kg.graph, whole) != ingested


def test_interrupted_it_is_hidden_and_goes_on(
    kg: KnowledgeGraph, exported: Exported, name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = str(exported("whole-csv"))
    kg.import_export(path, name)
    expected = digest(kg.graph, name)
    number = fingerprint(kg.graph, name).counts
    kg[name].delete()
    monkeypatch.setattr(importing, "_NODES", 20)
    monkeypatch.setattr(importing, "_EDGES", 50)
    write = importing._Import._write
    for batches in (2, 4, 2):  # in the nodes, then in the edges
        left = [batches]

        def broken(self: importing._Import, *args: object, left: list[int] = left) -> None:
            write(self, *args)  # type: ignore[arg-type]
            left[0] -= 1
            if not left[0]:
                raise KeyboardInterrupt

        with monkeypatch.context() as patch:
            patch.setattr(importing._Import, "_write", broken)
            with pytest.raises(KeyboardInterrupt):
                kg.import_export(path, name)
        assert name not in [c.name for c in kg.collections()]
        with pytest.raises(MismatchError, match="was interrupted"):
            kg[name].search(QUESTION)
        with pytest.raises(MismatchError, match="was interrupted"):
            kg[name].ingest(DOCUMENTS)
    with pytest.raises(MismatchError, match="another export"):
        kg.import_export(str(exported("whole.jsonl")), name)
    report = kg.import_export(path, name)
    assert report.resumed > sum(n for kind, n in number.items() if kind in LABELS)
    assert digest(kg.graph, name) == expected
    assert fingerprint(kg.graph, name).counts == number


def test_given_up_it_can_be_deleted(
    kg: KnowledgeGraph, exported: Exported, name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    with monkeypatch.context() as patch:
        patch.setattr(importing, "rename", lambda *_, **__: (_ for _ in ()).throw(KeyboardInterrupt))
        with pytest.raises(KeyboardInterrupt):
            kg.import_export(str(exported("whole.jsonl")), name)
    kg[name].delete()
    assert query(kg, "MATCH (n {collection: $c}) RETURN count(n) AS n", c=name)[0]["n"] == 0


def test_a_collection_of_that_name_is_left_alone(
    kg: KnowledgeGraph, whole: str, state: Fingerprint, exported: Exported
) -> None:
    with pytest.raises(MismatchError, match="already"):
        kg.import_export(str(exported("whole.jsonl")))
    with pytest.raises(ConfigurationError):
        kg.import_export(str(exported("whole.jsonl")), "two\nlines")
    assert fingerprint(kg.graph, whole).hashes() == state.hashes()


def test_exports_of_a_newer_schema_are_refused(
    kg: KnowledgeGraph, exported: Exported, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = str(exported("whole.jsonl"))
    version = schema.SCHEMA_VERSION - 1
    with monkeypatch.context() as patch:
        patch.setattr(schema, "SCHEMA_VERSION", version)
        with pytest.raises(MismatchError, match=f"version {version + 1}; this kgrag knows only {version}") as caught:
            kg.import_export(path, "copy")
    assert update_hint() in caught.value.remedy
    assert collections.find_collection(kg.graph, "copy") is None


def test_an_export_without_embeddings_is_for_looking_at(kg: KnowledgeGraph, whole: str, tmp_path: Path) -> None:
    report = kg[whole].export(str(tmp_path / "bare.jsonl"), embeddings=False)
    assert report.bytes is not None
    assert report.bytes < 300_000
    with pytest.raises(MismatchError, match="without embeddings"):
        kg.import_export(str(tmp_path / "bare.jsonl"), "copy")


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
    monkeypatch.setattr(exporting, "_number", lambda *_: next(numbers))
    with pytest.raises(MismatchError, match="changed while"):
        kg[whole].export(str(tmp_path / "x.jsonl"))
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("target", ["x.jsonl", "x.graphml.gz", "x"])
def test_broken_off_there_is_no_file(
    kg: KnowledgeGraph, whole: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, target: str
) -> None:
    def ends(stage: str, done: int, total: int | None) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(exporting, "_STEP", 100)
    with pytest.raises(KeyboardInterrupt):
        kg[whole].export(str(tmp_path / target), progress=ends)
    assert list(tmp_path.iterdir()) == []


def test_what_is_there_is_replaced_on_request_only(kg: KnowledgeGraph, whole: str, tmp_path: Path) -> None:
    file, folder = tmp_path / "x.jsonl", tmp_path / "csv"
    file.write_text("mine")
    folder.mkdir()
    (folder / "mine.txt").write_text("mine")
    for target in (file, folder):
        with pytest.raises(InputError):
            kg[whole].export(str(target))
    with pytest.raises(InputError, match="not empty"):
        kg[whole].export(str(folder), overwrite=True)  # nothing of ours is in it
    (folder / "mine.txt").unlink()
    for _ in range(2):
        kg[whole].export(str(file), overwrite=True)
        kg[whole].export(str(folder), overwrite=True)
    assert not list(tmp_path.glob(".*"))
    with pytest.raises(InputError, match="does not tell the format"):
        kg[whole].export(str(tmp_path / "x.gexf"))
    with pytest.raises(InputError, match="cannot be written"):
        kg[whole].export(str(file / "y.jsonl"))
