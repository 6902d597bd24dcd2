"""The schema is created once, and versioned; a collection opens only with its own embedder and settings."""

from collections import Counter
from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np
import pytest
from graph_rows import rows

from kgrag import KnowledgeGraph
from kgrag.graph import collections, schema
from kgrag.graph.connection import Graph
from kgrag.graph.reader import Reader
from kgrag.indexing import document_writer as writer
from kgrag.models.embed import Vectors, unit
from kgrag.retrieval.base import make_retriever
from kgrag.retrieval.context import SearchContext
from kgrag.settings import IndexingSettings, Settings
from kgrag.values.documents import Document, Section, Triple
from kgrag.values.errors import ConfigurationError, MismatchError, NotFoundError

DOCUMENT = Document("a", (Section("Alpha lies on the Beta."),), "Alpha")


def _indexes(kg: KnowledgeGraph) -> set[str]:
    return {row["name"] for row in rows(kg, "SHOW INDEXES YIELD name")}


@pytest.mark.alone
def test_schema_is_idempotent(kg: KnowledgeGraph) -> None:
    schema.ensure_schema(kg.graph)
    before = _indexes(kg)
    schema.ensure_schema(kg.graph)
    schema.ensure_shared_indexes(kg.graph)
    assert _indexes(kg) == before
    assert {"kgrag_id", "passage_todo", "document_collection_key"} <= before


@pytest.mark.parametrize("name", ["", "x" * 201, "a\nb", "a/b", "a\\b", ".", ".."])
def test_names_that_no_address_can_hold_are_refused(kg: KnowledgeGraph, name: str) -> None:
    with pytest.raises(ConfigurationError, match="1 to 200 characters"):
        kg[name].ingest([DOCUMENT])
    assert collections.find_collection(kg.graph, name) is None


@pytest.mark.alone
@pytest.mark.usefixtures("others_aside")
def test_a_label_that_is_new_to_a_database_gets_its_indexes(kg: KnowledgeGraph, collection_name: str) -> None:
    kg[collection_name].ingest([DOCUMENT])
    before = _indexes(kg)
    found = collections.open_collection(kg.graph, collection_name)
    own, number = found.index("passage_text"), found.number
    rows(kg, "MATCH (s:Schema) SET s.described = 'before there were tables'")
    for name in ("table_collection", own):
        rows(kg, f"DROP INDEX {name}")
    kg[collection_name].ingest([DOCUMENT])
    assert before - _indexes(kg) == set(_of_numbers(before, *range(number + 1, number + 4))), "made ahead as they were"
    assert not kg.cypher("MATCH (s:Schema) RETURN s.spare_indexes AS spare").values[0][0]


def test_a_collection_is_opened_in_one_round_trip(kg: KnowledgeGraph, collection_name: str) -> None:
    kg[collection_name].ingest([DOCUMENT])
    asked: list[str] = []
    run = Graph.run

    def listening(graph: Graph, name: str, /, **parameters: Any) -> Any:
        asked.append(name)
        return run(graph, name, **parameters)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(Graph, "run", listening)
        assert collections.open_collection(kg.graph, collection_name).name == collection_name
    assert asked == ["look_up/collections"]


def test_wrong_embedder_names_reembed(kg: KnowledgeGraph, collection_name: str) -> None:
    kg[collection_name].ingest([DOCUMENT])
    found = collections.open_collection(kg.graph, collection_name)
    with pytest.raises(MismatchError) as error:
        collections.check_embedder(found, "minilm")
    assert f"kgrag db reembed {collection_name} --embedder minilm" in error.value.remedy
    with pytest.raises(MismatchError, match="vectors of 256"):
        collections.check_embedder(found, "wordllama", 64)


def test_other_settings_are_refused(kg: KnowledgeGraph, collection_name: str, graph_settings: Settings) -> None:
    kg[collection_name].ingest([DOCUMENT])
    other = graph_settings.model_copy(update={"indexing": IndexingSettings(passage_tokens=99)})
    with (
        KnowledgeGraph.connect(settings=other) as second,
        pytest.raises(MismatchError, match="passage_tokens = 256, not 99"),
    ):
        second[collection_name].ingest([DOCUMENT])


def test_unknown_collection_names_those_there_are(kg: KnowledgeGraph, collection_name: str) -> None:
    kg[collection_name].ingest([DOCUMENT])
    with pytest.raises(NotFoundError, match=collection_name):
        kg["no-such-collection"].search("x")


@pytest.mark.parametrize("name", ["", "a\nb", "x" * 201])
def test_names_that_cannot_be(kg: KnowledgeGraph, name: str) -> None:
    with pytest.raises(ConfigurationError):
        kg[name].ingest([DOCUMENT])


def test_two_makers_of_one_collection(kg: KnowledgeGraph, collection_name: str) -> None:
    from concurrent.futures import ThreadPoolExecutor

    with ThreadPoolExecutor(4) as pool:
        made = list(
            pool.map(
                lambda _: collections.create_collection(
                    kg.graph, collection_name, "wordllama", 256, IndexingSettings(), 0.0
                ),
                range(4),
            )
        )
    assert len({c.number for c in made}) == 1
    assert sum(c.name == collection_name for c in collections.list_collections(kg.graph)) == 1


def _of_numbers(indexes: Iterable[str], *numbers: int) -> list[str]:
    """Return the indexes of collections with these numbers."""
    return [index for index in indexes if index.endswith(tuple(f"_c{number}" for number in numbers))]


def _own(kg: KnowledgeGraph, name: str) -> dict[str, int]:
    """Return the number of a collection's indexes by label."""
    number = collections.open_collection(kg.graph, name).number
    return Counter(index.partition("_")[0] for index in _of_numbers(_indexes(kg), number))


def test_an_index_comes_with_the_first_node_that_it_is_over(kg: KnowledgeGraph, collection_name: str) -> None:
    ships = kg[collection_name]
    ships.ingest([Document("fram", (Section("The Fram was built in Larvik."),), "Fram")], embedder=_Short())
    assert _own(kg, collection_name) == {"passage": 3, "entity": 2}
    assert ships.inspect().healthy
    context = SearchContext(Reader(kg.graph, collections.open_collection(kg.graph, collection_name)), _Short())
    for expression in ("naive-ge", "ppr", "raptor", "communities"):
        ranking = make_retriever(expression, context).retrieve("Where was the Fram built?")
        assert [hit.passage.title for hit in ranking] == ["Fram"], expression
    assert context.reader.similar_triples([[1.0, 0.0, 0.0]], ["Fram"], 5, 5) == ([[]], [[]])
    fact = Triple("Gjøa", "built in", "Rosendal")
    ships.ingest([Document("gjoa", (Section("x"),), "Gjøa", triples=(fact,))], embedder=_Short())
    assert _own(kg, collection_name) == {"passage": 3, "entity": 2, "triple": 2}
    assert ships.inspect().healthy


class _Short:
    """An embedder with a dimension that is unique in the database, so that no spare indexes fit it."""

    name = "short"

    def __init__(self, dimension: int = 3) -> None:
        self.dimension = dimension

    def embed(self, texts: Sequence[str]) -> Vectors:
        rows = [[len(text), 1.0, text.count("a")] + [1.0] * (self.dimension - 3) for text in texts]
        return unit(np.array(rows, np.float32).reshape(-1, self.dimension))


def test_indexes_are_made_ahead(kg: KnowledgeGraph, collection_name: str) -> None:
    """The first of four collections makes the indexes of all, the other three none, and all find the same."""
    names = [f"{collection_name}-{n}" for n in range(4)]
    towns = [Document(str(n), (Section(f"Ship {n} lay at Larvik{' on a day' * n}."),), f"Ship {n}") for n in range(9)]
    numbers, made, found, held = [], [], [], []
    try:
        for name in names:
            before = _indexes(kg)
            kg[name].ingest(towns, embedder=_Short(5))
            numbers.append(collections.open_collection(kg.graph, name).number)
            made.append(len(_of_numbers(_indexes(kg) - before, *range(numbers[0], numbers[0] + 4))))
            assert kg[name].inspect().healthy
            held.append(kg[name].info().counts)
            rankings = [kg[name].search("Which ship lay at Larvik?", retriever=r, k=9) for r in ("pathrank", "dense")]
            found.append([sorted((hit.passage.document, hit.score) for hit in ranking) for ranking in rankings])
    finally:
        for name in names[: len(numbers)]:
            kg[name].delete()
    assert numbers == list(range(numbers[0], numbers[0] + 4))
    assert made == [20, 0, 0, 0]
    assert found == [found[0]] * 4
    assert len(found[0][0]) == 9
    assert held == [held[0]] * 4


def test_indexes_are_left_to_the_next_collection_of_such_vectors(kg: KnowledgeGraph, collection_name: str) -> None:
    """A collection with reused indexes finds and scores like one with new ones: removed content does not count."""
    other, third = f"{collection_name}-b", f"{collection_name}-c"
    towns = [Document(str(n), (Section(f"Ship {n} of the harbour lay at Larvik."),), f"Ship {n}") for n in range(30)]
    question = "Which ship of the harbour lay at Larvik?"

    def rankings(name: str) -> list[list[tuple[str, float]]]:
        return [
            sorted((hit.passage.document, hit.score) for hit in kg[name].search(question, retriever=r, k=30))
            for r in ("bm25", "dense", "pathrank")
        ]

    kg[collection_name].ingest(towns)
    first = collections.open_collection(kg.graph, collection_name)
    expected = rankings(collection_name)
    kg[collection_name].delete()
    kg[other].ingest([Document("many", (Section("harbour ship " * 40),)), Document("x", (Section("Larvik"),))])
    kg[other].delete()
    before = _indexes(kg)
    kg[other].ingest(towns)
    kg[third].ingest(towns[:1], embedder=_Short())
    try:
        second, short = (collections.open_collection(kg.graph, name) for name in (other, third))
        assert rankings(other) == expected
        assert second.created != first.created
        assert len(_of_numbers(before, second.number)) == len(_of_numbers(_indexes(kg), second.number)) > 4
        assert short.number != second.number, "vectors of another length have indexes of their own"
    finally:
        kg[other].delete()
        kg[third].delete()


def test_indexes_wait_while_searches_may_use_them(graph_settings: Settings, collection_name: str) -> None:
    with KnowledgeGraph.connect(settings=graph_settings.model_copy(update={"old_vectors_seconds": 1000.0})) as kg:
        kg[collection_name].ingest([DOCUMENT])
        number = collections.open_collection(kg.graph, collection_name).number
        kg[collection_name].delete()
        kg[collection_name].ingest([DOCUMENT])
        assert collections.open_collection(kg.graph, collection_name).number != number


def test_a_large_collection_takes_its_indexes_along(
    kg: KnowledgeGraph, collection_name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(writer, "EMPTIED", 2)
    kg[collection_name].ingest([DOCUMENT])
    number = collections.open_collection(kg.graph, collection_name).number
    kg[collection_name].delete()
    assert not [index for index in _indexes(kg) if index.endswith(f"_c{number}")]
