"""Passages in a real OpenSearch: the results equal Neo4j's; if it is killed, slow or empty, nothing is lost."""

import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest
from opensearch_server import VERSION, OpenSearchServer, install
from pydantic import SecretStr
from test_lance import apart

import kgrag.passages.opensearch as module
from kgrag import KnowledgeGraph
from kgrag.demo import corpus, questions
from kgrag.indexing.index_sync import index_of
from kgrag.settings import Settings
from kgrag.values.documents import Document, Section
from kgrag.values.errors import DatabaseError, MismatchError
from kgrag.values.results import Filter

pytestmark = pytest.mark.long
DOCUMENTS = [Document(n, (Section(f"{n} lies in Norway."),), n) for n in ("Larvik", "Bergen")]


@pytest.fixture(scope="module")
def server(graph_settings: Settings) -> Iterator[OpenSearchServer]:
    files: Path = graph_settings.cache / f"opensearch-{VERSION}"
    install(files)
    with tempfile.TemporaryDirectory() as folder:  # each new pytest run restricts access to pytest's own folder
        found = OpenSearchServer(files, Path(folder) / "home")
        found.start()
        yield found
        found.stop()


@pytest.fixture(scope="module")
def outside(graph_settings: Settings, server: OpenSearchServer) -> Iterator[KnowledgeGraph]:
    """A client that searches passages in OpenSearch."""
    values = {"passage_index": "opensearch", "opensearch_uri": SecretStr(server.uri)}
    with KnowledgeGraph.connect(settings=graph_settings.model_copy(update=values)) as kg:
        yield kg


def test_the_same_passages_are_found_as_in_neo4j(kg: KnowledgeGraph, outside: KnowledgeGraph) -> None:
    demo = "opensearch-demo"
    with corpus() as folder:
        outside[demo].ingest(folder, root=folder)
    assert apart(outside, demo) == (0, 0)
    only = Filter(where={"country": "Norway"})
    for retriever in ("bm25", "dense", "hybrid"):
        same = 0
        for question in questions():
            ours, theirs = (
                [h.passage.id for h in c[demo].search(question.question, k=10, retriever=retriever)]
                for c in (outside, kg)
            )
            same += len(set(ours) & set(theirs))
        assert same >= 9.7 * len(questions()), retriever
        filtered = [
            {h.passage.id for h in c[demo].search(question.question, k=3, retriever=retriever, filter=only)}
            for c in (outside, kg)
        ]
        assert filtered[0] == filtered[1] and filtered[0]
    outside[demo].delete()
    with pytest.raises(Exception, match="collection"):
        outside[demo].search("Norway")


def test_changes_gaps_and_repairs(outside: KnowledgeGraph, collection_name: str) -> None:
    notes = outside[collection_name]
    notes.ingest(DOCUMENTS)
    index = index_of(notes.context.reader.collection, outside.settings)
    assert index is not None
    one = next(index.ids())
    index.put([{"id": "gone", "stems": "gone", "title_stems": "", "vector": [1.0] * 256}])
    index.remove([one, "never there"])
    assert apart(outside, collection_name) == (1, 1)
    notes.repair()
    assert apart(outside, collection_name) == (0, 0)
    notes.delete(["Bergen"])
    assert {h.passage.title for h in notes.search("Norway", retriever="dense")} == {"Larvik"}
    index.drop()
    with pytest.raises(MismatchError, match="repair"):
        notes.search("Norway", retriever="bm25")
    notes.repair()
    assert len(notes.search("Norway", retriever="bm25")) == 1


def test_a_server_that_is_slow_or_killed_is_told_and_nothing_is_lost(
    outside: KnowledgeGraph, server: OpenSearchServer, collection_name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, "SECONDS", 2)
    with KnowledgeGraph.connect(settings=outside.settings) as kg:
        notes = kg[collection_name]
        notes.ingest(DOCUMENTS[:1])
        server.pause()
        with pytest.raises(DatabaseError, match="does not answer"):
            notes.search("Norway", retriever="bm25")
        server.go_on()
        assert len(notes.search("Norway", retriever="bm25")) == 1
        server.stop()
        with pytest.raises(DatabaseError, match="KGRAG_OPENSEARCH_URI"):
            notes.ingest(DOCUMENTS)
        assert kg[collection_name].info().counts["Document"] == 2  # the graph has both
        server.start()
        assert notes.ingest(DOCUMENTS).unchanged == 2
        assert len(notes.search("Norway", retriever="bm25")) == 2
