"""The first load of a collection: the same graph as later loads, in few transactions, whatever kills it."""

import pickle
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from typing import Any

import pytest
from queries_run import queries_run

from kgrag import KnowledgeGraph
from kgrag.graph.connection import Graph, Transaction
from kgrag.indexing import first_load, pipeline
from kgrag.text.languages import language_of
from kgrag.text.tokenised import TokenisedPassage
from kgrag.values.documents import Document, Figure, Page, Section, Triple
from kgrag.values.errors import DatabaseError, MismatchError

Make = Callable[..., list[Document]]
_TIMES = ("updated", "created")


def _graph(kg: KnowledgeGraph, name: str) -> tuple[list[Any], list[Any]]:
    """Return every node and relationship of a collection with all properties except times."""
    session = kg.graph.driver.session()
    with session:
        nodes = session.run(
            "MATCH (n {collection: $name}) WHERE NOT n:Job AND NOT n:Collection "
            "RETURN labels(n) AS labels, properties(n) AS properties",
            name=name,
        )
        kept = [(sorted(label.split("_")[0] for label in r["labels"]), _comparable(r["properties"])) for r in nodes]
        edges = session.run(
            "MATCH (a {collection: $name})-[r]->(b) "
            "RETURN coalesce(a.id, a.name) AS a, type(r) AS type, b.id AS b, properties(r) AS properties",
            name=name,
        )
        joined = [(r["a"], r["type"], r["b"], _comparable(r["properties"])) for r in edges]
        totals = session.run(
            "MATCH (c:Collection {name: $name}) "
            "RETURN c {.passages, .class, .density, .density0, .stemmer, .linked} AS totals",
            name=name,
        ).single(strict=True)["totals"]
    return sorted(kept, key=repr), [*sorted(joined, key=repr), totals]


def _differences(one: tuple[list[Any], list[Any]], other: tuple[list[Any], list[Any]]) -> list[str]:
    """Return the differences between two graphs."""
    held = [{repr(row) for part in graph for row in part} for graph in (one, other)]
    return [f"- {row}" for row in sorted(held[0] - held[1])] + [f"+ {row}" for row in sorted(held[1] - held[0])]


def _comparable(properties: dict[str, Any]) -> list[tuple[str, Any]]:
    """Return properties without times; vectors and scores are rounded, since batches change the last digits."""

    def rounded(value: Any) -> Any:
        if isinstance(value, list):
            return sorted(value) if value and isinstance(value[0], str) else [rounded(one) for one in value]
        return round(value, 4) if isinstance(value, float) else value

    return sorted((key, rounded(value)) for key, value in properties.items() if key not in _TIMES)


def _documents(make_documents: Make) -> list[Document]:
    """Return documents with shared titles and headings of long documents, pages, triples, and a repeated text."""
    paged = Document(
        "paged",
        (Section("The Fram lay at Hobart. Amundsen went ashore.", breaks=((0, 1), (24, 2))),),
        "Log of the Fram",
        metadata={"links": ["Fram", "./d3", "nowhere"]},
        pages=(Page(1, "The Fram lay at Hobart."), Page(2, "Amundsen went ashore.")),
        figures=(
            Figure(1, "a" * 64, "The Fram lay at Hobart", 2, (1.5, 2.0, 3.0, 4.25), 40, 50, "image/png"),
            Figure(2, "b" * 64, description="Amundsen on a quay."),
        ),
    )
    stated = Document(
        "stated",
        (Section("Colin Archer built the Fram in Larvik."),),
        "Fram",
        metadata={"year": 1892, "tags": ["ship", "a;b"], "links": "log of the Fram"},
        triples=(Triple("Fram", "built by", "Colin Archer"), Triple("Colin Archer", "lived in", "Larvik")),
    )
    return [*make_documents(0, 40), paged, stated, *make_documents(40, 60)]


@pytest.fixture
def expected(
    kg: KnowledgeGraph, collection_name: str, make_documents: Make
) -> tuple[list[Document], tuple[list[Any], list[Any]]]:
    """Documents, and the graph made by loading them one after the other."""
    documents = _documents(make_documents)
    for document in documents:
        kg[collection_name].ingest([document])
    made = _graph(kg, collection_name)
    kg[collection_name].delete()
    return documents, made


def test_a_first_load_makes_the_graph_of_one_document_after_the_other(
    kg: KnowledgeGraph, collection_name: str, expected: tuple[list[Document], tuple[list[Any], list[Any]]]
) -> None:
    documents, made = expected
    with queries_run() as run:
        report = kg[collection_name].ingest([*documents, documents[3]])
    assert _differences(_graph(kg, collection_name), made) == []
    assert (report.added, report.unchanged) == (len(documents), 1)
    assert [name in run for name in ("write/nodes", "write/edges", "write/begin_first_load")] == [True, True, False]
    assert not [name for name in run if name.startswith("stages/")]


class _Killed(Exception):
    pass


@contextmanager
def _killed_at(number: int, monkeypatch: pytest.MonkeyPatch) -> Iterator[list[int]]:
    """Refuse transactions from the given number on."""
    count: list[int] = []
    plain = Graph.write

    def write(self: Graph, work: Callable[[Transaction], Any]) -> Any:
        count.append(1)
        if len(count) >= number:
            raise _Killed
        return plain(self, work)

    with monkeypatch.context() as patch:
        patch.setattr(Graph, "write", write)
        yield count


@pytest.mark.long
def test_killed_at_any_transaction_it_ends_the_same(
    kg: KnowledgeGraph,
    collection_name: str,
    expected: tuple[list[Document], tuple[list[Any], list[Any]]],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    documents, made = expected
    monkeypatch.setattr(first_load, "NODES_AT_ONCE", 100)
    monkeypatch.setattr(first_load, "EDGES_AT_ONCE", 150)
    monkeypatch.setattr(first_load, "ONE_TRANSACTION", 100)
    monkeypatch.setattr(pipeline, "SMALL_BATCH", 1)
    kg.settings.batch_passages, before = 8, kg.settings.batch_passages
    try:
        number, tries = 1, 0
        while True:
            with _killed_at(number, monkeypatch):
                try:
                    kg[collection_name].ingest(documents)
                    break
                except _Killed:
                    tries += 1
            if number > 1:
                assert collection_name not in [each.name for each in kg.collections()]
                with pytest.raises(MismatchError, match=r"(?s)was interrupted.*same `kgrag ingest` again"):
                    kg[collection_name].search("Fram")
            with suppress(_Killed), _killed_at(2, monkeypatch):  # once more, in the middle of the resumed load
                kg[collection_name].ingest(documents)
            kg[collection_name].ingest(documents)
            assert _differences(_graph(kg, collection_name), made) == [], number
            kg[collection_name].delete()
            number += 1
        assert _differences(_graph(kg, collection_name), made) == []
        assert tries > 8
    finally:
        kg.settings.batch_passages = before


@pytest.mark.parametrize("bound", ["PASSAGES", "SECONDS"])
def test_what_is_beyond_the_bounds_is_added_afterwards(
    kg: KnowledgeGraph,
    collection_name: str,
    expected: tuple[list[Document], tuple[list[Any], list[Any]]],
    monkeypatch: pytest.MonkeyPatch,
    bound: str,
) -> None:
    documents, made = expected
    monkeypatch.setattr(first_load, bound, {"PASSAGES": 30, "SECONDS": 0.0}[bound])
    changed = Document(documents[0].key, (Section("Another text on Hobart."),), "Another")
    assert kg[collection_name].ingest([documents[0], changed, *documents[1:], documents[0]]).added == len(documents)
    assert _differences(_graph(kg, collection_name), made) == []


def test_a_collection_that_is_removed_meanwhile_is_not_written_to(
    kg: KnowledgeGraph, collection_name: str, make_documents: Make, monkeypatch: pytest.MonkeyPatch
) -> None:
    run = Transaction.run

    def lost(self: Transaction, name: str, /, **parameters: Any) -> Any:
        records = run(self, name, **parameters)
        return [{"number": 0}] if name == "write/edges" else records

    with monkeypatch.context() as patch:
        patch.setattr(Transaction, "run", lost)
        with pytest.raises(DatabaseError, match="were removed while it was written"):
            kg[collection_name].ingest(make_documents(0, 3))
    assert _graph(kg, collection_name)[0] == []


def test_words_are_cut_the_same_in_another_process() -> None:
    passage = TokenisedPassage("Vitamin C", "A ship sailed. He saw Kap Farvel & 3 men.", "Log", language_of("de"))
    assert passage.words[:4] == ["vitamin", "c", "a", "ship"]  # an initial in a title is not part of the text's words
    again = pickle.loads(pickle.dumps(passage))
    assert (again.stems(), again.sentences(), again.phrases) == (passage.stems(), passage.sentences(), passage.phrases)
