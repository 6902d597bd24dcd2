"""KGP: breadth-first walks over what ties passages, guided by words, by the embedder, or by a model."""

from collections.abc import Iterator

import pytest
from coast import coast_documents
from scripted import Scripted

from kgrag.client import KnowledgeGraph
from kgrag.errors import ConfigurationError
from kgrag.retrieval.trail import trail
from kgrag.settings import Settings
from kgrag.types import Filter

_NAME = "kgp"
_QUESTION = "Which painter had a studio in the home town of the captain of the steamer Fjord Queen?"


@pytest.fixture(scope="module")
def coast(kg: KnowledgeGraph) -> Iterator[str]:
    kg[_NAME].ingest(coast_documents())
    yield _NAME
    kg[_NAME].delete()


def _titles(kg: KnowledgeGraph, expression: str, k: int = 30, **options: object) -> list[str]:
    ranking = kg[_NAME].search(_QUESTION, retriever=expression, k=k, **options)  # type: ignore[arg-type]
    return [hit.passage.title for hit in ranking]


def test_it_begins_with_bm25_and_walks_on(kg: KnowledgeGraph, coast: str) -> None:
    seeds = _titles(kg, "bm25", 2)
    found = _titles(kg, "kgp(seeds=2, branch=2, budget=6, edges=(title, mention))")
    assert found[:2] == seeds
    assert len(found) == len(set(found)) == 6
    assert "Ole Brandvik" in found


def test_the_trail_is_the_path(kg: KnowledgeGraph, coast: str) -> None:
    ranking = kg[coast].search("Fjord Queen", retriever="kgp(seeds=1, branch=2, budget=6, edges=(title,))", k=6)
    trails = {hit.passage.title: trail(hit) for hit in ranking}
    assert "Entity Ole Brandvik" in trails["Ole Brandvik"]
    assert "title of→ Passage Ole Brandvik" in trails["Ole Brandvik"]
    assert trails["Nordvika"].startswith(trails["Ole Brandvik"].split(" (0")[0])


@pytest.mark.parametrize("kind", ["keyword", "similar", "mention", "title", "next"])
def test_each_kind_of_edge_can_be_walked_alone(kg: KnowledgeGraph, coast: str, kind: str) -> None:
    found = _titles(kg, f"kgp(seeds=2, budget=10, edges=({kind},))")
    assert (len(found) > 2) == (kind != "next")  # each document is one passage


def test_each_kind_of_edge_has_a_density(kg: KnowledgeGraph, coast: str) -> None:
    """A walk over fewer edges visits no more, and what it visits is tied by these: the stored graph tells."""
    index = kg[coast].context
    for kind, option, most, values in (
        ("keyword", "keywords", 10, (1, 3, 100)),
        ("similar", "similar", 5, (1, 2, 100)),
    ):
        found = []
        for value in values:
            walk = f"kgp(seeds=1, branch=50, budget=50, cap=50, edges=({kind},), {option}={value})"
            ranking = kg[coast].search("Fjord Queen", retriever=walk, k=50)
            found.append({hit.passage.id for hit in ranking if len(hit.why) <= (3 if kind == "keyword" else 2)})
            first = ranking.hits[0].passage.id
            near = index.reader.edge_neighbours([first], kind, min(value, most), 50, 50)[first]
            if kind == "keyword":
                assert found[-1] - {first} == set(near)
            else:
                assert set(near) <= found[-1]
        assert found[0] < found[-1]
        assert found[0] <= found[1] <= found[2]


def test_budget_and_depth(kg: KnowledgeGraph, coast: str) -> None:
    assert len(_titles(kg, "kgp(budget=1)")) == 1
    assert len(_titles(kg, "kgp(seeds=20, budget=5)")) == 5
    assert len(_titles(kg, "kgp", 4)) == 4
    assert kg[coast].search("zzz qqq", retriever="kgp").hits == ()


def test_a_filter_holds(kg: KnowledgeGraph, coast: str) -> None:
    found = _titles(kg, "kgp", filter=Filter(where={"letter": "N"}))
    assert found == ["Nordvika"]


def test_the_embedder_guides(kg: KnowledgeGraph, coast: str) -> None:
    by_words = _titles(kg, "kgp(seeds=3, budget=9)")
    by_vectors = _titles(kg, "kgp(seeds=3, budget=9, guide=encoder)")
    assert by_words[:3] == by_vectors[:3]
    assert by_words != by_vectors


def test_a_model_guides(graph_settings: Settings, scripted: Scripted, coast: str) -> None:
    scripted.say("evidence", "The Stilla rises in the hills and is known for salmon.")
    settings = graph_settings.model_copy(update={"chat": scripted.settings(models={"evidence": "evidence"})})
    with KnowledgeGraph.connect(settings=settings) as talking:
        found = _titles(
            talking, "kgp(seeds=2, branch=1, budget=4, guide=chat, edges=(mention, title, keyword, similar))"
        )
    assert "Stilla" in found
    assert 2 <= len(scripted.calls) <= 4
    shown = scripted.calls[0]["messages"][-1]["content"]
    assert _QUESTION in shown
    assert "Fjord Queen" in shown


def test_a_model_is_needed_for_that(kg: KnowledgeGraph, coast: str) -> None:
    with pytest.raises(ConfigurationError, match="No language model"):
        kg[coast].retriever("kgp(guide=chat)")
