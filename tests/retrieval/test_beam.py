"""Triple beam search on graphs small enough to run GEAR's Algorithm 1 by hand."""

import math
import random
from collections.abc import Iterator, Mapping, Sequence

import numpy as np
import pytest

from kgrag import KnowledgeGraph
from kgrag.graph.collections import open_collection
from kgrag.graph.reader import Reader
from kgrag.lab.papers import find_paper
from kgrag.models.embed import CachedEmbedder, Vectors
from kgrag.retrieval.base import Query
from kgrag.retrieval.beam import Beam, BeamOptions, Link, beam_search, best, source_passages
from kgrag.retrieval.context import SearchContext
from kgrag.values.documents import Document, Section, Triple

_QUESTION = "Where?"
_DIMENSION = 8


class Chosen:
    """An embedder with given vectors; every other text gets a vector orthogonal to them."""

    name = "chosen"
    dimension = _DIMENSION

    def __init__(self, vectors: Mapping[str, Sequence[float]]) -> None:
        self.vectors = dict(vectors)

    def embed(self, texts: Sequence[str]) -> Vectors:
        other = [0.0] * (_DIMENSION - 1) + [1.0]
        return np.array([self.vectors.get(t, other) for t in texts], np.float32).reshape(len(texts), _DIMENSION)


def at(cosine: float, axis: int = 1) -> list[float]:
    """Return a unit vector with this cosine to the question (axis 0) and the remainder on `axis`."""
    vector = [0.0] * _DIMENSION
    vector[0], vector[axis] = cosine, math.sqrt(1 - cosine * cosine)
    return vector


def make_index(kg: KnowledgeGraph, name: str, facts: Mapping[str, Mapping[Triple, Sequence[float]]]) -> SearchContext:
    """Make a collection with a passage for each key, which states its triples."""
    vectors = {t.text: v for triples in facts.values() for t, v in triples.items()}
    embedder = Chosen({_QUESTION: at(1.0), **vectors})
    documents = []
    for key, triples in facts.items():
        text = ". ".join(t.text for t in triples) or "Nothing"
        documents.append(Document(key, (Section(text),), key.title(), metadata={"key": key}, triples=tuple(triples)))
    kg[name].ingest(documents, embedder=embedder)
    return SearchContext(Reader(kg.graph, open_collection(kg.graph, name)), embedder)


def texts(beams: Sequence[Beam]) -> list[tuple[str, ...]]:
    return [tuple(link.text for link in beam.links) for beam in beams]


def passages(index: SearchContext, *keys: str) -> list[str]:
    ids = [id for id, _ in index.reader.vector(at(1.0), 10_000, 10_000)]
    found = {p.document: id for id, p in index.reader.passages(ids).items()}
    return [found[key] for key in keys]


# Two initial triples share Ann. Through Bob the first one reaches two others, through Dan the second one a third.
_A1, _A2 = Triple("Ann", "knows", "Bob"), Triple("Ann", "hates", "Dan")
_X1, _X2, _Y = Triple("Bob", "owns", "Xora"), Triple("Bob", "sold", "Xilo"), Triple("Dan", "built", "Yard")
_FACTS = {
    "start": {_A1: at(0.8, 1), _A2: at(0.7, 2)},
    "xora": {_X1: at(0.8, 3)},
    "xilo": {_X2: at(0.78, 4)},
    "yard": {_Y: at(0.7, 5)},
    "far": {Triple("Eve", "likes", "Fig"): at(1.0)},
}


@pytest.fixture(scope="module")
def small(kg: KnowledgeGraph) -> Iterator[SearchContext]:
    yield make_index(kg, "beam-small", _FACTS)
    kg["beam-small"].delete()


def search(index: SearchContext, **values: object) -> list[Beam]:
    settings = BeamOptions.model_validate({"beams": 2, **values})
    return beam_search(index, Query(_QUESTION), settings, passages=passages(index, "start"))


def test_standard_search_keeps_the_children_of_one_beam(small: SearchContext) -> None:
    beams = search(small, diverse=False)
    assert texts(beams) == [(_A1.text, _X1.text), (_A1.text, _X2.text)]
    assert [b.score for b in beams] == pytest.approx([0.8 + 1.6 / math.sqrt(3.28), 0.8 + 1.58 / math.sqrt(3.248)])
    assert [b.score for b in beams] == pytest.approx([1.6834, 1.6767], abs=1e-4)


def test_diverse_search_gives_the_other_beam_its_turn(small: SearchContext) -> None:
    """The second child of the first beam has the score 1.6767 exp(-1/4) = 1.3058, the first of the second 1.5110."""
    beams = search(small)
    assert texts(beams) == [(_A1.text, _X1.text), (_A2.text, _Y.text)]
    assert [b.score for b in beams] == pytest.approx([1.6834, 1.5110], abs=1e-4)
    assert [link.cosine for link in beams[1].links] == pytest.approx([0.7, 1.4 / math.sqrt(2.98)])
    assert [b.links[1].entity for b in beams] == ["Bob", "Dan"]
    third = search(small, beams=3, gamma=4)[2]
    assert third.links[1].text == _X2.text
    assert third.score == pytest.approx(1.3058, abs=1e-4)


def test_gamma_says_how_much_less_a_lesser_child_counts(small: SearchContext) -> None:
    assert texts(search(small, gamma=100))[1] == (_A1.text, _X2.text)
    assert texts(search(small, gamma=5))[1] == (_A2.text, _Y.text)


def test_no_triple_of_the_step_before_is_taken_again(small: SearchContext) -> None:
    """A chain never returns to an initial triple, even if that would give the best chain from the second (1.549)."""
    everything = search(small, beams=50)
    assert {t[1] for t in texts(everything)} == {_X1.text, _X2.text, _Y.text}


def test_a_chain_tries_its_nearest_neighbours_only(small: SearchContext) -> None:
    assert texts(search(small, diverse=False, neighbours=1)) == [(_A1.text, _X1.text), (_A2.text, _Y.text)]


def test_exact_scores_are_those_of_the_whole_text(small: SearchContext) -> None:
    assert isinstance(small.embedder, CachedEmbedder) and isinstance(small.embedder.embedder, Chosen)
    chains = {f"{_A1.text} {_X1.text}": 0.1, f"{_A1.text} {_X2.text}": 0.9, f"{_A2.text} {_Y.text}": 0.5}
    small.embedder.embedder.vectors.update({text: at(cosine) for text, cosine in chains.items()})
    beams = search(small, exact=True)
    assert texts(beams) == [(_A1.text, _X2.text), (_A2.text, _Y.text)]
    assert [b.score for b in beams] == pytest.approx([0.8 + 0.9, 0.7 + 0.5])


def test_chains_begin_with_given_triples_too(small: SearchContext) -> None:
    yard = search(small, length=1, beams=1)[0]
    assert texts([yard]) == [(_A1.text,)]
    settings = BeamOptions(beams=5)
    found = beam_search(small, Query(_QUESTION), settings, triples=[yard.links[0].id, "gone"])
    assert sorted(texts(found)) == sorted((_A1.text, t.text) for t in (_A2, _X1, _X2))
    assert beam_search(small, Query(_QUESTION), settings) == []


def test_a_search_that_leads_nowhere_keeps_its_first_triples(small: SearchContext) -> None:
    beams = beam_search(small, Query(_QUESTION), BeamOptions(), passages=passages(small, "far"))
    assert texts(beams) == [("Eve likes Fig",)]


def test_the_nth_of_a_branch_counts_less_down_to_gamma() -> None:
    def beam(name: str, score: float) -> Beam:
        return Beam((Link(name, name, name, name, score),), score, score, 1.0)

    branch = [beam(name, 1.0) for name in "dbac"]
    ranked = best([branch, [beam("e", 0.5)]], BeamOptions(gamma=2, beams=10))
    assert [b.links[0].id for b in ranked] == ["a", "b", "e", "c", "d"]
    assert [b.score for b in ranked] == pytest.approx([1, math.exp(-0.5), 0.5, math.exp(-1), math.exp(-1)])
    assert [b.links[0].id for b in best([branch], BeamOptions(beams=2, diverse=False))] == ["a", "b"]


def test_passages_come_breadth_first() -> None:
    def beam(*sources: str) -> Beam:
        return Beam(tuple(Link(f"{s}{i}", "", s, s, 1.0 - i / 10) for i, s in enumerate(sources)), 1.0, 1.0, 1.0)

    found = source_passages([beam("p", "q"), beam("p", "r"), beam("s", "p")])
    assert [(x.id, x.score) for x in found] == [("p", 1.0), ("s", 1.0), ("q", 0.9), ("r", 0.9)]
    assert [len(x.why) for x in found] == [2, 2, 3, 3]


def test_a_child_beyond_the_width_is_best_where_scores_are_negative(kg: KnowledgeGraph, collection_name: str) -> None:
    """A discount raises a negative score, so Algorithm 1 prefers the second child of the one beam."""
    ann, xora, yilo = Triple("Ann", "knows", "Bob"), Triple("Bob", "owns", "Xora"), Triple("Bob", "sold", "Yilo")
    index = make_index(
        kg, collection_name, {"start": {ann: at(-0.2, 1)}, "rest": {xora: at(-0.3, 2), yilo: at(-0.4, 3)}}
    )
    found = beam_search(index, Query(_QUESTION), BeamOptions(beams=1), passages=passages(index, "start"))
    pooled = -0.6 / math.sqrt(2 + 2 * 0.08)
    assert texts(found) == [(ann.text, yilo.text)]
    assert found[0].score == pytest.approx((-0.2 + pooled) * math.exp(-1 / 2), abs=1e-5)


@pytest.fixture(scope="module")
def star(kg: KnowledgeGraph) -> Iterator[SearchContext]:
    """An entity with 2,000 triples, one of which answers the question."""
    chance = random.Random(3)

    def ray() -> list[float]:
        rest = np.array([0.0, *(chance.gauss(0, 1) for _ in range(_DIMENSION - 1))])
        cosine = chance.uniform(-0.3, 0.3)
        return [cosine, *(rest[1:] / np.linalg.norm(rest) * math.sqrt(1 - cosine * cosine)).tolist()]

    facts: dict[str, dict[Triple, Sequence[float]]] = {"start": {Triple("Ann", "visits", "Hub"): at(0.9, 1)}}
    for i in range(20):
        facts[f"rays{i}"] = {Triple("Hub", f"has{i}x{j}", f"Ray {i}x{j}"): ray() for j in range(100)}
    facts["goal"] = {Triple("Hub", "hides", "Gold"): at(0.8, 3)}
    yield make_index(kg, "beam-star", facts)
    kg["beam-star"].delete()


def tried(star: SearchContext, hub: int, hub_triples: int, neighbours: int = 500) -> int:
    """Return how many triples the one beam at the entity tries next."""
    start = search(star, length=1)[0]
    beam = {"triples": [start.links[0].id], "dot": start.dot, "square": start.square}
    limits = {"neighbours": neighbours, "keep": 500, "hub": hub, "hub_triples": hub_triples, "candidates": 400}
    collection = star.reader.collection
    indexes = {"index": collection.vector_index("Triple"), "embedding": collection.embedding}
    row = star.row("retrieve/beam_step", beams=[beam], vector=at(1.0), same_as=True, **indexes, **limits)
    return len(row["neighbours"])


def test_a_hub_gives_its_near_triples_only(star: SearchContext) -> None:
    assert tried(star, hub=5000, hub_triples=200) == 500
    assert 150 <= tried(star, hub=100, hub_triples=200) <= 200
    assert 30 <= tried(star, hub=100, hub_triples=50) <= 50


def test_as_gear_has_it_there_are_no_hubs(star: SearchContext) -> None:
    """A beam tries the 100 nearest of all 2,001 triples that share the entity (algorithm 1, line 10)."""
    for name in ("sync_ge", "naive_ge"):
        paper = find_paper("gear")
        hub, neighbours = (paper.setting(f"retrieval.{name}.{option}") for option in ("hub", "neighbours"))
        assert tried(star, hub, hub_triples=10, neighbours=neighbours) == 100


def test_the_triple_of_a_hub_that_matters_is_found(star: SearchContext) -> None:
    beams = search(star)
    assert texts(beams)[0] == ("Ann visits Hub", "Hub hides Gold")
    assert beams[0].score == pytest.approx(0.9 + 1.7 / math.sqrt(2 + 2 * 0.72), abs=1e-5)
