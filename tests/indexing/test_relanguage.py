"""Languages of collections: changed later, detected from enough text, resumed after a kill."""

from collections.abc import Iterator

import pytest

from kgrag import KnowledgeGraph
from kgrag.graph.collections import open_collection
from kgrag.graph.contents import digest
from kgrag.indexing import rereading
from kgrag.values.documents import Document, Section, Triple
from kgrag.values.errors import ConfigurationError, MismatchError

pytestmark = pytest.mark.long

TEXTS = {
    "Die Sturmbraut": "Die Sturmbraut war ein Schiff aus Bremen. Sie fuhr unter Kapitän Ole Brandt nach Norden.",
    "Ole Brandt": "Ole Brandt war Kapitän der Sturmbraut. Brandts Häuser standen in Bremen, am alten Leuchtturm.",
    "Bremens Häfen": "In den Häfen von Bremen lagen viele Schiffe; das Schiff Sturmbraut lag am Kai von Bremerhaven.",
    "海鹰号": "海鹰号在北湾。船长用GPS导航，价格12000元。",
}
FACTS = (Triple("Ole Brandt", "befehligte", "die Sturmbraut"), Triple("Brandts Haus", "steht in", "Bremens Hafen"))


def _documents() -> list[Document]:
    texts = [Document(f"{i}", (Section(text),), title) for i, (title, text) in enumerate(TEXTS.items())]
    # sections so short that no language's sentence rules affect the cuts
    sections = tuple(
        Section(f"{text}\n\n{text} {i}", f"Die {title}") for i in range(4) for title, text in TEXTS.items()
    )
    return [*texts, Document("long", sections, "Chronik von Bremen", triples=FACTS)]


def _ingested(kg: KnowledgeGraph, name: str, language: str) -> object:
    kg[name].ingest(_documents(), language=language)
    return digest(kg.graph, name)


@pytest.mark.parametrize(("first", "then"), [("en", "de"), ("de", "en"), ("de", "zh"), ("xx", "ru")])
def test_changed_language_gives_graph_of_that_language(
    kg: KnowledgeGraph, collection_name: str, first: str, then: str
) -> None:
    whole = _ingested(kg, collection_name, then)
    kg[collection_name].delete()
    assert _ingested(kg, collection_name, first) != whole or (first, then) == ("xx", "ru")
    info = kg[collection_name].relanguage(then)
    assert info.finished and open_collection(kg.graph, collection_name).language.code == then
    assert digest(kg.graph, collection_name) == whole
    assert kg[collection_name].search("Brandts Schiffe", retriever="bm25").hits
    kg[collection_name].relanguage(then)
    assert digest(kg.graph, collection_name) == whole
    with pytest.raises(ConfigurationError, match="qq"):
        kg[collection_name].relanguage("qq")
    with pytest.raises(MismatchError, match="relanguage"):
        kg[collection_name].ingest(_documents(), language=first)


@pytest.fixture(params=["_write", "_tie_facts"])
def killed(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Makes a step of reading again fail once."""
    step = getattr(rereading, request.param)

    def fail(*arguments: object) -> None:
        monkeypatch.setattr(rereading, request.param, step)
        raise KeyboardInterrupt

    monkeypatch.setattr(rereading, request.param, fail)
    yield


@pytest.mark.usefixtures("killed")
def test_killed_change_is_resumed_by_next_writer(kg: KnowledgeGraph, collection_name: str) -> None:
    whole = _ingested(kg, collection_name, "de")
    kg[collection_name].delete()
    _ingested(kg, collection_name, "en")
    with pytest.raises(KeyboardInterrupt):
        kg[collection_name].relanguage("de")
    kg[collection_name].ingest(_documents())
    assert digest(kg.graph, collection_name) == whole
    assert not open_collection(kg.graph, collection_name).rereading


def test_language_is_told_once_texts_suffice(kg: KnowledgeGraph, collection_name: str) -> None:
    documents = _documents()
    collection = kg[collection_name]
    collection.ingest([Document("short", (Section("Oslo, Bergen"),), "Häuser")])
    assert open_collection(kg.graph, collection_name).indexing.language is None
    collection.ingest(documents[:3])
    assert open_collection(kg.graph, collection_name).indexing.language == "de"
    assert next(hit.passage.title for hit in collection.search("Haus", retriever="bm25")) in ("Häuser", "Ole Brandt")
    collection.ingest(documents[3:])
    assert open_collection(kg.graph, collection_name).language.code == "de"
