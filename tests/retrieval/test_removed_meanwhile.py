"""Searches while documents come and go: a ranking never fails on a passage that was just removed."""

import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import pytest

from kgrag import KnowledgeGraph
from kgrag.retrieval.base import PAUSES, RETRIEVERS
from kgrag.values.documents import Document, Section

pytestmark = pytest.mark.long

_NAME = "retrieval-removed"
_PLAIN = [name for name, entry in RETRIEVERS.items() if not entry.needs]
_PLACES = ["Bergen", "Visby", "Riga", "Lübeck"]
_ROUNDS = 12


def _document(i: int) -> Document:
    place, next_place = _PLACES[i % 4], _PLACES[(i + 1) % 4]
    text = f"Skipper Olaf Number{i} of {place} sold amber to Skipper Olaf Number{(i + 1) % 40} in {next_place}."
    return Document(f"s{i}", (Section(text),), f"Skipper Olaf Number{i}")


@contextmanager
def _coming_and_going(kg: KnowledgeGraph) -> Iterator[None]:
    """Remove half of the documents and add them again, repeatedly, while the block runs."""
    over = threading.Event()
    moving = [_document(i) for i in range(0, 40, 2)]
    failed: list[BaseException] = []

    def move() -> None:
        try:
            while not over.is_set():
                kg[_NAME].delete([document.key for document in moving])
                kg[_NAME].ingest(moving)
        except BaseException as error:  # the test raises it later
            failed.append(error)

    thread = threading.Thread(target=move)
    thread.start()
    try:
        yield
    finally:
        over.set()
        thread.join()
    assert not failed


@pytest.fixture
def skippers(kg: KnowledgeGraph) -> Iterator[str]:
    kg[_NAME].ingest([_document(i) for i in range(40)])
    yield _NAME
    kg[_NAME].delete()


def test_what_is_removed_between_two_queries_of_a_ranking(
    kg: KnowledgeGraph, skippers: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    found = [hit.passage.document for hit in kg[skippers].search("Who sold amber?", retriever="ppr", k=40)]
    gone = found[:3]
    context, asked = kg[skippers].context, []
    row = context.row

    def removing(name: str, /, **parameters: Any) -> dict[str, Any]:
        if name == "retrieve/ppr_names":  # after the walk, before the trails are read
            asked.append(name)
            if len(asked) == 1:
                kg[skippers].delete(gone)
        return row(name, **parameters)

    monkeypatch.setattr(context, "row", removing)
    ranking = kg[skippers].search("Who sold amber?", retriever="ppr", k=40)
    assert len(asked) == 2
    assert {hit.passage.document for hit in ranking} == set(found) - set(gone)


@contextmanager
def _without(kg: KnowledgeGraph, id: str, label: str, key: str) -> Iterator[None]:
    """Remove a property of a passage or its document in this block, as a concurrent removal does."""
    with kg.graph.driver.session() as session:
        node = session.run(
            "MATCH (d:Document)-[:HAS_PASSAGE]->(p:Passage {id: $id}) UNWIND [d, p] AS n"
            " WITH n, n[$key] AS value WHERE $label IN labels(n) SET n[$key] = null RETURN elementId(n) AS id, value",
            id=id,
            label=label,
            key=key,
        ).single(strict=True)
        try:
            yield
        finally:
            session.run("MATCH (n) WHERE elementId(n) = $id SET n[$key] = $value", key=key, **node).consume()


def test_the_walk_passes_over_what_has_lost_its_vector(kg: KnowledgeGraph, skippers: str) -> None:
    question = "To whom did Skipper Olaf Number3 sell amber, and to whom did that skipper sell it?"
    whole = [hit.passage for hit in kg[skippers].search(question, retriever="pathrank", k=2)]
    assert [passage.document for passage in whole] == ["s3", "s4"]
    key = kg[skippers].context.reader.collection.embedding
    for passage in whole:  # the start of the walk, and its end
        with _without(kg, passage.id, "Passage", key):
            found = [hit.passage.id for hit in kg[skippers].search(question, retriever="pathrank", k=40)]
        assert passage.id not in found
        assert len(found) == len(set(found)) > 3


def test_names_that_are_not_counted_yet_are_no_error(kg: KnowledgeGraph, skippers: str) -> None:
    """Until an ingest ends, its new names are mentioned, but their counts are 0."""
    question = "To whom did Skipper Olaf Number3 sell amber, and to whom did that skipper sell it?"
    with kg.graph.driver.session() as session:
        rows = session.run(
            "MATCH (e:Entity {collection: $name}) WITH e, elementId(e) AS id, e.df AS df, e.ntit AS ntit"
            " SET e.df = 0, e.ntit = 0 RETURN id, df, ntit",
            name=skippers,
        ).data()
        try:
            for retriever in _PLAIN:
                assert kg[skippers].search(question, retriever=retriever, k=5).hits, retriever
            names = {"elements": [row["id"] for row in rows], "weights": [1.0] * len(rows), "limit": 1000}
            assert kg.graph.run("retrieve/gfm_passages", **names)[0]["rows"] == []
        finally:
            session.run(
                "UNWIND $rows AS row MATCH (e) WHERE elementId(e) = row.id SET e.df = row.df, e.ntit = row.ntit",
                rows=rows,
            ).consume()
    assert kg.graph.run("retrieve/gfm_passages", **names)[0]["rows"]


@pytest.mark.parametrize(("label", "key"), [("Passage", "text"), ("Document", "key"), ("Document", "name")])
def test_passages_that_are_being_removed_are_left_out(kg: KnowledgeGraph, skippers: str, label: str, key: str) -> None:
    hits = kg[skippers].search("Who sold amber to Skipper Olaf Number7?", retriever="bm25", k=40).hits
    torn, left = hits[0].passage, [hit.passage for hit in hits[1:]]
    with _without(kg, torn.id, label, key):
        found = kg[skippers].context.reader.passages([torn.id, *(passage.id for passage in left)])
    assert list(found.values()) == left


@pytest.mark.parametrize("failing", [len(PAUSES), len(PAUSES) + 1])
def test_a_ranking_is_made_again_for_a_while(
    kg: KnowledgeGraph, skippers: str, monkeypatch: pytest.MonkeyPatch, failing: int
) -> None:
    context, times = kg[skippers].context, []
    row = context.row

    def torn(name: str, /, **parameters: Any) -> dict[str, Any]:
        if name == "retrieve/pathrank":
            times.append(time.monotonic())
            if len(times) <= failing:
                raise TypeError("null has no value")
        return row(name, **parameters)

    monkeypatch.setattr(context, "row", torn)
    if failing > len(PAUSES):
        with pytest.raises(TypeError):
            kg[skippers].search("Who sold amber to Skipper Olaf Number7?", retriever="pathrank")
    else:
        assert kg[skippers].search("Who sold amber to Skipper Olaf Number7?", retriever="pathrank").hits
    assert times[len(PAUSES)] - times[0] >= sum(PAUSES)


def test_rankings_while_documents_come_and_go(kg: KnowledgeGraph, skippers: str) -> None:
    stay = {f"s{i}" for i in range(1, 40, 2)}
    with _coming_and_going(kg):
        for i in range(_ROUNDS):
            asked = f"To whom did Skipper Olaf Number{i} sell amber, and where did that skipper live?"
            for retriever in _PLAIN:
                ranking = kg[skippers].search(asked, retriever=retriever, k=40)
                assert len({hit.passage.id for hit in ranking}) == len(ranking)
    last = kg[skippers].search("Who sold amber?", retriever="dense", k=40)
    assert stay <= {hit.passage.document for hit in last}
