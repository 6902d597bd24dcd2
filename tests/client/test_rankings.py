"""Rankings are cached until somebody writes to the database."""

from collections.abc import Iterator
from contextlib import contextmanager

import pytest

from kgrag import KnowledgeGraph
from kgrag.graph.connection import Graph
from kgrag.settings import Settings
from kgrag.values.documents import Document, Section
from kgrag.values.results import Filter

pytestmark = pytest.mark.alone

QUESTION = "Who designed the Fram?"


def document(key: str, text: str) -> Document:
    return Document(key, (Section(text),), key.capitalize(), metadata={"year": key})


@pytest.fixture
def keeping(graph_settings: Settings, collection_name: str) -> Iterator[KnowledgeGraph]:
    """A client that caches two rankings, and a collection."""
    with KnowledgeGraph.connect(settings=graph_settings.model_copy(update={"rankings": 2})) as kg:
        kg[collection_name].ingest([document("fram", "The Fram was designed by Colin Archer.")])
        yield kg


@contextmanager
def queries(graph: Graph) -> Iterator[list[str]]:
    asked: list[str] = []
    with graph.listening(lambda name, _: asked.append(name)):
        yield asked


def test_what_was_asked_before_is_not_searched_again(keeping: KnowledgeGraph, collection_name: str) -> None:
    collection = keeping[collection_name]
    first = collection.search(QUESTION)
    assert [hit.passage.title for hit in first] == ["Fram"]
    with queries(keeping.graph) as asked:
        assert collection.search(QUESTION) == first
    assert asked == []
    for other in ({"k": 1}, {"retriever": "bm25"}, {"filter": Filter(where={"year": "fram"})}):
        with queries(keeping.graph) as asked:
            collection.search(QUESTION, **other)  # type: ignore[arg-type]
        assert asked, other


def test_what_anybody_wrote_is_seen(keeping: KnowledgeGraph, kg: KnowledgeGraph, collection_name: str) -> None:
    collection = keeping[collection_name]
    assert len(collection.search(QUESTION)) == 1
    kg[collection_name].ingest([document("gjøa", "The Fram followed the Gjøa, designed by Knut Skaala.")])
    assert len(collection.search(QUESTION)) == 2
    kg[collection_name].delete(["gjøa"])
    assert len(collection.search(QUESTION)) == 1


def test_only_so_many_are_kept(keeping: KnowledgeGraph, collection_name: str) -> None:
    collection = keeping[collection_name]
    for question in (QUESTION, "Where is Larvik?", "Who was Nansen?"):
        collection.search(question)
    with queries(keeping.graph) as asked:
        collection.search(QUESTION)
    assert asked


def test_none_is_kept_unless_it_is_set(kg: KnowledgeGraph, keeping: KnowledgeGraph, collection_name: str) -> None:
    kg[collection_name].search(QUESTION)
    with queries(kg.graph) as asked:
        kg[collection_name].search(QUESTION)
    assert asked
