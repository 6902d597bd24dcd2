"""Passages in LanceDB: results equal those of Neo4j's own indexes, and the copy stays in sync."""

import signal
import subprocess
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path

import pytest

from kgrag import KnowledgeGraph
from kgrag.demo import corpus, questions
from kgrag.indexing.index_sync import difference, index_of
from kgrag.models.embed import Vectors, WordLlamaEmbedder, unit
from kgrag.passages.lance import LanceIndex
from kgrag.settings import Settings
from kgrag.values.documents import Document, Section
from kgrag.values.errors import DatabaseError, MismatchError, NotFoundError
from kgrag.values.results import Filter

pytestmark = pytest.mark.long
KILLED = """
import os, signal, sys
from kgrag import KnowledgeGraph
from kgrag.values.documents import Document, Section

def progress(stage, done, total):
    if stage == "passage index" and done == int(sys.argv[1]):
        os.kill(os.getpid(), signal.SIGKILL)

with KnowledgeGraph.connect() as kg:
    documents = [Document(n, (Section(f"{n} lies in Norway."),), n) for n in sys.argv[2:]]
    kg["lance-killed"].ingest(documents, progress=progress)
"""


@pytest.fixture(scope="module")
def outside(graph_settings: Settings, tmp_path_factory: pytest.TempPathFactory) -> Iterator[KnowledgeGraph]:
    """A client that searches passages in LanceDB, in a separate folder."""
    home = tmp_path_factory.mktemp("lance")
    settings = graph_settings.model_copy(update={"passage_index": "lancedb", "home": home})
    with KnowledgeGraph.connect(settings=settings) as kg:
        yield kg


@pytest.fixture(scope="module")
def demo(outside: KnowledgeGraph) -> Iterator[str]:
    with corpus() as folder:
        outside["lance-demo"].ingest(folder, root=folder)
    yield "lance-demo"
    outside["lance-demo"].delete()


def apart(kg: KnowledgeGraph, name: str) -> tuple[int, int]:
    """Return how many passages the index lacks, and how many it has in excess."""
    record = kg[name].context.reader.collection
    index = index_of(record, kg.settings)
    assert index is not None
    found = difference(kg.graph, record, index)
    return len(found.missing), len(found.stale)


def tables(kg: KnowledgeGraph) -> set[str]:
    return {path.name for path in (kg.settings.home / "passages").glob("*.lance")}


def test_the_same_passages_are_found_as_in_neo4j(kg: KnowledgeGraph, outside: KnowledgeGraph, demo: str) -> None:
    assert apart(outside, demo) == (0, 0)
    for retriever in ("bm25", "dense", "hybrid"):
        same = 0
        for question in questions():
            ours = [h.passage.id for h in outside[demo].search(question.question, k=10, retriever=retriever)]
            theirs = [h.passage.id for h in kg[demo].search(question.question, k=10, retriever=retriever)]
            same += len(set(ours) & set(theirs))
            assert retriever == "bm25" or ours[0] == theirs[0]  # Lucene rounds the lengths of texts, LanceDB does not
        assert same >= 9.5 * len(questions()), retriever
    question = questions()[0].question
    scores = [[h.score for h in c[demo].search(question, retriever="dense")] for c in (outside, kg)]
    assert scores[0] == pytest.approx(scores[1], abs=1e-5)
    only = Filter(where={"country": "Norway"})
    for retriever in ("bm25", "dense"):
        ours, theirs = (
            {h.passage.id for h in c[demo].search(question, k=5, retriever=retriever, filter=only)}
            for c in (outside, kg)
        )
        assert ours and ours == theirs
    assert kg[demo].info() == outside[demo].info()


def test_changes_and_removals_reach_it(outside: KnowledgeGraph, collection_name: str) -> None:
    notes = outside[collection_name]
    notes.ingest([Document(n, (Section(f"{n} lies in Norway."),), n) for n in ("Larvik", "Bergen", "Vadsø")])
    assert notes.search("Where is Vadsø?", retriever="bm25")[0].passage.title == "Vadsø"
    notes.ingest([Document("Vadsø", (Section("Vadsø had an airship mast."),), "Vadsø")])
    assert notes.search("airship", retriever="bm25")[0].passage.text == "Vadsø had an airship mast."
    notes.delete(["Bergen"])
    assert {h.passage.title for h in notes.search("Norway", retriever="dense")} == {"Larvik", "Vadsø"}
    assert apart(outside, collection_name) == (0, 0)
    before = tables(outside)
    notes.delete()
    assert len(before - tables(outside)) == 1
    with pytest.raises(NotFoundError):
        notes.search("Norway")


def test_an_index_that_is_gone_or_differs_is_told_and_repaired(outside: KnowledgeGraph, collection_name: str) -> None:
    notes = outside[collection_name]
    documents = [Document(n, (Section(f"{n} lies in Norway."),), n) for n in ("Larvik", "Bergen")]
    notes.ingest(documents)
    index = index_of(notes.context.reader.collection, outside.settings)
    assert index is not None
    one = next(index.ids())
    index.put([{"id": "gone", "stems": "gone", "title_stems": "", "vector": [0.0] * 256}])
    index.remove([one])
    (finding,) = [f for f in notes.inspect().findings if f.name == "passage index out of step"]
    assert (finding.level, finding.number, finding.examples) == ("error", 2, (one,))
    notes.repair()
    assert apart(outside, collection_name) == (0, 0)
    index.drop()
    with KnowledgeGraph.connect(settings=outside.settings) as fresh, pytest.raises(MismatchError, match="repair"):
        fresh[collection_name].search("Norway", retriever="bm25")
    notes.ingest(documents)  # nothing is new, but the index is synchronised
    assert len(notes.search("Norway", retriever="bm25")) == 2


class Shorter:
    """WordLlama's vectors, cut to 64 numbers."""

    name = "shorter"
    dimension = 64

    def embed(self, texts: Sequence[str]) -> Vectors:
        return unit(WordLlamaEmbedder().embed(texts)[:, : self.dimension])


def test_other_vectors_take_the_place_of_the_old(outside: KnowledgeGraph, collection_name: str) -> None:
    outside[collection_name].ingest([Document(n, (Section(f"{n} lies in Norway."),), n) for n in ("Larvik", "Bergen")])
    before = tables(outside)
    outside[collection_name].reembed(Shorter())
    assert apart(outside, collection_name) == (0, 0)
    assert outside[collection_name].search("Larvik", retriever="dense", k=1)[0].passage.title == "Larvik"
    assert len(tables(outside)) == len(before) and len(tables(outside) - before) == 1


def test_an_interrupted_reembed_leaves_no_index(
    outside: KnowledgeGraph, collection_name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    notes = outside[collection_name]
    notes.ingest([Document(n, (Section(f"{n} lies in Norway."),), n) for n in ("Larvik", "Bergen")])
    before = tables(outside)

    def interrupt(index: LanceIndex) -> None:
        raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr(LanceIndex, "drop", interrupt)
        with pytest.raises(KeyboardInterrupt):
            notes.reembed(Shorter())
    outside.models._embedders["shorter"] = Shorter()
    try:
        with KnowledgeGraph.connect(settings=outside.settings) as fresh:
            fresh.models._embedders["shorter"] = Shorter()
            assert len(fresh[collection_name].search("Norway", retriever="hybrid")) == 2
        assert len(tables(outside)) == len(before) + 1
        notes.reembed(Shorter())
        assert apart(outside, collection_name) == (0, 0)
        assert len(tables(outside)) == len(before) and not before.issubset(tables(outside))
    finally:
        del outside.models._embedders["shorter"]


def test_a_folder_that_cannot_be_written_loses_nothing(
    outside: KnowledgeGraph, collection_name: str, tmp_path: Path
) -> None:
    home = tmp_path / "home"
    home.mkdir()
    (home / "passages").write_text("in the way")
    settings = outside.settings.model_copy(update={"home": home})
    documents = [Document("Larvik", (Section("Larvik lies in Norway."),), "Larvik")]
    with KnowledgeGraph.connect(settings=settings) as broken:
        with pytest.raises(DatabaseError, match="passage index"):
            broken[collection_name].ingest(documents)
        (home / "passages").unlink()
        report = broken[collection_name].ingest(documents)
        assert (report.added, report.unchanged) == (0, 1)  # the graph had it
        assert len(broken[collection_name].search("Norway", retriever="bm25")) == 1


@pytest.mark.parametrize("when", [0, 2])
def test_a_kill_leaves_it_to_be_brought_in_step(
    outside: KnowledgeGraph, graph_settings: Settings, neo4j_env: dict[str, str], when: int
) -> None:
    env = {**neo4j_env, "KGRAG_HOME": str(outside.settings.home), "KGRAG_PASSAGE_INDEX": "lancedb"}
    killed = subprocess.run([sys.executable, "-c", KILLED, str(when), "Larvik", "Bergen"], env={"PATH": "", **env})
    assert killed.returncode == -signal.SIGKILL
    notes = outside["lance-killed"]
    try:
        notes.ingest([Document(n, (Section(f"{n} lies in Norway."),), n) for n in ("Larvik", "Bergen")])
        assert apart(outside, "lance-killed") == (0, 0)
        assert len(notes.search("Norway", retriever="bm25")) == 2
    finally:
        notes.delete()
