"""Searches while an ingest rewrites documents: full result lists, and one version of each document."""

from collections.abc import Callable, Iterator
from typing import Any

import pytest

from kgrag import KnowledgeGraph
from kgrag.graph.collections import open_collection
from kgrag.graph.reader import Reader
from kgrag.indexing import corpus_stages, pipeline
from kgrag.retrieval.base import Query
from kgrag.retrieval.bm25 import Bm25
from kgrag.values.documents import Document, Section
from kgrag.values.errors import NotFoundError
from kgrag.values.results import Passage

pytestmark = pytest.mark.long

_RETRIEVERS = ["bm25", "dense", "hybrid", "pathrank", "ppr", "knn"]
_PORTS = ["Bergen", "Visby", "Riga", "Tromso", "Kiel", "Larvik", "Narva", "Turku", "Malmo", "Aarhus", "Gdansk"]
_ASKED = "Which keeper of the lighthouse at Visby counted quartz and amber?"


def _text(version: str, times: int, n: int) -> str:
    """Return a text that is the nearer to the question the more often it repeats the answer; it names the version."""
    said = f"In {version} the keeper of the lighthouse at Visby counted quartz and amber."
    return " ".join([said] * times + [f"In {version} sail {i} of boat {n} was mended." for i in range(20)])


def _log(version: str, times: int) -> Document:
    """Return a document of 40 sections, whose passages need several transactions."""
    sections = (Section(_text(version, times, n), f"Entry {n}") for n in range(40))
    return Document("log", tuple(sections), "Log of Visby")


def _keepers(version: str) -> list[Document]:
    return [Document(f"k{n}", (Section(_text(version, 1, n)),), f"Ship{n} of Olaf{n}") for n in range(40)]


def _version(passage: Passage) -> str:
    (version,) = {version for version in ("old", "new") if f"In {version} " in passage.text}
    return version


def _versions(kg: KnowledgeGraph, name: str, retriever: str, key: str = "", asked: str = _ASKED) -> list[str]:
    """Return the versions of the ten best passages; with `key` only of that document's."""
    hits = kg[name].search(asked, retriever=retriever, k=10).hits
    assert len(hits) == 10, retriever
    return [_version(hit.passage) for hit in hits if key in ("", hit.passage.document)]


@pytest.fixture
def small(kg: KnowledgeGraph) -> Iterator[KnowledgeGraph]:
    """A client whose transactions write 16 passages each."""
    settings = kg.settings.model_copy(update={"batch_passages": 16})
    with KnowledgeGraph.connect(settings=settings) as client:
        yield client


def _before_the_last_part(monkeypatch: pytest.MonkeyPatch, look: Callable[[], None]) -> list[int]:
    """Call `look` after each part of a document but the last; return the list of passages per part."""
    parts = []
    write = pipeline.write_batch

    def writing(graph: Any, collection: Any, batch: Any) -> None:
        write(graph, collection, batch)
        if not batch.sealed:
            parts.append(len(batch.passages))
            look()

    monkeypatch.setattr(pipeline, "write_batch", writing)
    return parts


def test_a_long_document_is_found_as_it_was_until_it_is_written(
    kg: KnowledgeGraph, small: KnowledgeGraph, collection_name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    kg[collection_name].ingest([*_keepers("old"), _log("old", 1)])

    states: list[str] = []

    def state() -> str:  # an external index is rebuilt when this changes
        return str(kg.graph.run("retrieve/corpus_state", collection=collection_name)[0]["state"])

    def look() -> None:
        states.append(state())
        for retriever in _RETRIEVERS:
            assert set(_versions(kg, collection_name, retriever)) == {"old"}, retriever
        assert {_version(each) for each in kg[collection_name].document("log").passages} == {"old"}

    parts = _before_the_last_part(monkeypatch, look)
    assert small[collection_name].ingest([_log("new", 3)]).changed == 1
    assert len(parts) > 1 and set(parts) == {16}
    assert state() not in states
    for retriever in _RETRIEVERS:
        assert set(_versions(kg, collection_name, retriever, "log")) == {"new"}, retriever
    assert {_version(each) for each in kg[collection_name].document("log").passages} == {"new"}


def test_a_new_document_is_found_once_it_is_written(
    kg: KnowledgeGraph, small: KnowledgeGraph, collection_name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    kg[collection_name].ingest(_keepers("old"))

    def look() -> None:
        for retriever in _RETRIEVERS:
            assert _versions(kg, collection_name, retriever) == ["old"] * 10, retriever
        with pytest.raises(NotFoundError):
            kg.passage("log", collection_name)

    parts = _before_the_last_part(monkeypatch, look)
    small[collection_name].ingest([_log("new", 3)])
    assert len(parts) > 1
    assert _versions(kg, collection_name, "bm25") == ["new"] * 10


@pytest.mark.parametrize("retriever", ["pathrank", "ppr"])
def test_a_walk_begins_at_what_is_written(
    kg: KnowledgeGraph, small: KnowledgeGraph, collection_name: str, monkeypatch: pytest.MonkeyPatch, retriever: str
) -> None:
    kg[collection_name].ingest(_keepers("old"))
    ranked: list[set[str]] = []

    def look() -> None:
        rows = kg.graph.run("look_up/passage_texts", collection=collection_name)
        there = {row["id"] for row in rows if "In old " in row["text"]}
        found = {hit.id for hit in kg[collection_name].retriever(retriever).ranked(Query(_ASKED), 200)}
        ranked.append(found - there)

    _before_the_last_part(monkeypatch, look)
    small[collection_name].ingest([_log("new", 3)])
    assert ranked and not any(ranked)


@pytest.mark.parametrize("retriever", ["bm25", "pathrank"])
def test_what_is_rewritten_under_a_search_leaves_no_gap(
    kg: KnowledgeGraph, collection_name: str, monkeypatch: pytest.MonkeyPatch, retriever: str
) -> None:
    kg[collection_name].ingest(_keepers("old"))
    passages = Reader.passages
    asked: list[int] = []

    def rewritten(reader: Reader, ids: list[str]) -> Any:
        asked.append(len(ids))
        if len(asked) == 1:
            kg[collection_name].ingest(_keepers("new"))
        return passages(reader, ids)

    monkeypatch.setattr(Reader, "passages", rewritten)
    assert _versions(kg, collection_name, retriever) == ["new"] * 10
    assert asked == [10, 40]


@pytest.mark.parametrize(("removed", "rankings", "passages"), [(0, 1, 0), (1, 2, 10)])
def test_nothing_is_looked_for_again_where_something_was_removed(
    kg: KnowledgeGraph,
    collection_name: str,
    monkeypatch: pytest.MonkeyPatch,
    removed: int,
    rankings: int,
    passages: int,
) -> None:
    """Another search is needed only if something was removed: the index may name nothing but removed passages."""
    kg[collection_name].ingest(_keepers("old"))
    kg.graph.run("write/count_stale", collection=collection_name, number=removed)
    rank, asked = Bm25.rank, []

    def ranked(retriever: Bm25, query: Any, n: int) -> Any:
        asked.append(n)
        return rank(retriever, query, n)[: n if len(asked) > 1 else 0]

    monkeypatch.setattr(Bm25, "rank", ranked)
    assert len(kg[collection_name].search(_ASKED, retriever="bm25", k=10)) == passages
    assert len(asked) == rankings


def _voyages(version: str) -> list[Document]:
    def text(n: int) -> str:
        start, end, other = (_PORTS[i % len(_PORTS)] for i in (n, 5 * n + 1, 7 * n + 3))
        return f"In {version} the boat went from {start} to {end}, and was seen near {other} on day {n}."

    return [Document(f"v{n}", (Section(text(n)),), f"Ship{n}") for n in range(60)]


def test_passages_whose_names_are_still_to_be_found_fill_the_list(
    kg: KnowledgeGraph, collection_name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """New passages have no edges yet, so PageRank gives them no score, but they still fill the list."""
    kg[collection_name].ingest(_voyages("old"))
    seen: list[str] = []
    stage = corpus_stages.STAGES["mentions"]

    def before(work: Any) -> None:
        asked = "Which carpenter bought copper in Bergen?"  # matches no words and no vectors
        seen.extend(_versions(kg, collection_name, "pathrank", asked=asked))
        stage(work)

    monkeypatch.setitem(corpus_stages.STAGES, "mentions", before)  # type: ignore[arg-type]
    kg[collection_name].ingest(_voyages("new"))
    assert seen == ["new"] * 10


def test_few_matches_are_found_once_where_something_was_removed(kg: KnowledgeGraph, collection_name: str) -> None:
    kg[collection_name].ingest([*_keepers("old"), Document("d", (Section("A walrus sleeps."),))])
    reader = Reader(kg.graph, open_collection(kg.graph, collection_name))
    whole = reader.fulltext("lighthouse walrus", 50)
    assert len(whole) == 41
    kg.graph.run("write/count_stale", collection=collection_name, number=1)
    for limit in (1, 40, 41, 50):
        assert reader.fulltext("lighthouse walrus", limit) == whole[:limit], limit
