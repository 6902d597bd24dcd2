"""Ingest, a later change and extraction make the same graph in every engine."""

from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path

import pytest
from queries_run import queries_run
from scripted import Scripted

from kgrag import KnowledgeGraph
from kgrag.graph.contents import digest
from kgrag.indexing.new_collection import collection as collection_rows
from kgrag.settings import EngineSettings
from kgrag.values.documents import Document, Section
from kgrag.values.results import IngestReport

pytestmark = pytest.mark.long
Make = Callable[..., list[Document]]
Corpus = tuple[list[Document], list[Document]]
Connect = Callable[..., KnowledgeGraph]
_BRAIN = Path(__file__).parent / "reader_brain.py"


@pytest.fixture
def corpus(make_documents: Make) -> Corpus:
    """Documents, one of them long, one empty, one given twice; and later versions of some."""
    made = make_documents(0, 30)
    long = " ".join(section.text for document in made[:20] for section in document.sections)
    first = [*made, Document("long", (Section(long),), "Long Story"), Document("empty", (Section(" "),)), made[7]]
    later = [*(replace(d, title=f"{d.title} Keep") for d in made[:10]), replace(first[-3], title="Longer Story")]
    return first, later


@pytest.fixture
def connect(kg: KnowledgeGraph, scripted: Scripted) -> Iterator[Connect]:
    scripted.brain(_BRAIN)
    clients = []

    def connected(engine: str, batch: int = 8) -> KnowledgeGraph:
        changes = {
            "engine": EngineSettings(name=engine, workers=2),
            "chat": scripted.settings(),
            "batch_passages": batch,
            "writers": 1,  # small batches share names, so two writers would wait for each other
        }
        clients.append(KnowledgeGraph.connect(settings=kg.settings.model_copy(update=changes)))
        return clients[-1]

    yield connected
    for client in clients:
        client.close()


@pytest.mark.parametrize("batch", [8, 64], ids=["by transactions", "by a first load"])
def test_processes_make_the_same_graph(
    corpus: Corpus, connect: Connect, collection_name: str, batch: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Worker processes make the rows of a first load, and read no text back from the graph."""
    monkeypatch.setattr(collection_rows, "_GROUP", 4)  # small groups, so that the workers have work
    first, later = corpus
    found = []
    for engine in ("here", "processes"):
        collection = connect(engine, batch)[collection_name]
        with queries_run() as run:
            reports: list[IngestReport] = [collection.ingest(first)]
        assert ("look_up/texts" in run, "stages/mention_sources" in run) == (batch == 8, batch == 8)
        reports += [collection.ingest(later), collection.ingest(later)]
        extracted = collection.extract()
        did = [(r.added, r.changed, r.unchanged, r.passages, r.embedded, r.problems) for r in reports]
        found.append((did, extracted.passages, extracted.triples, digest(collection.kg.graph, collection_name)))
        collection.delete()
    assert found[0] == found[1]
    added, changed, unchanged = found[0][0]
    assert added[0] == 31 and [p.message for p in added[5]] == ["holds no text"]
    assert changed[1] == 11 and unchanged[2:5] == (11, 0, 0)
