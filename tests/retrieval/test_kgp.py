"""KGP: breadth-first walks over edges of passages, guided by words, by the embedder, or by a model."""

from pathlib import Path

import pytest
from coast import TEXTS
from scripted import Scripted

from kgrag import KnowledgeGraph
from kgrag.retrieval.base import Query
from kgrag.retrieval.tfidf import cosines
from kgrag.retrieval.trail import trail
from kgrag.settings import Settings
from kgrag.values.documents import Document, Section
from kgrag.values.errors import ConfigurationError
from kgrag.values.results import Filter

_NAME = __name__
_QUESTION = "Which painter had a studio in the home town of the captain of the steamer Fjord Queen?"


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
    assert "Name Ole Brandvik" in trails["Ole Brandvik"]
    assert "title of→ Passage Ole Brandvik" in trails["Ole Brandvik"]
    assert trails["Nordvika"].startswith(trails["Ole Brandvik"].split(" (0")[0])


@pytest.mark.parametrize("kind", ["keyword", "similar", "mention", "title", "word", "next"])
def test_each_kind_of_edge_can_be_walked_alone(kg: KnowledgeGraph, coast: str, kind: str) -> None:
    found = _titles(kg, f"kgp(seeds=2, budget=10, edges=({kind},))")
    assert (len(found) > 2) == (kind != "next")  # each document has only one passage


def test_what_a_model_named_ties_and_the_walk_ends_with_its_tokens(
    talking: KnowledgeGraph, scripted: Scripted, collection_name: str
) -> None:
    named = {"Boats": "Storm", "Lamps": "Storm", "Harbours": "Dusk", "Nets": "Dusk", "Sails": "Storm"}
    ingest = talking[collection_name].ingest
    ingest(Document(key, (Section(f"{key} of a coast at night."),), key) for key in named)
    walk = "kgp(seeds=1, edges=(next, named), cap=0)"
    plain = talking[collection_name].search("Boats", retriever=walk)
    assert [hit.passage.title for hit in plain] == ["Boats"]
    assert plain.notes == (
        f"This collection holds no keywords of a language model: {walk} does without (kgrag enrich extract).",
    )
    for key, name in named.items():
        scripted.say("extract", {"entities": [name], "triples": []})
        ingest([Document(key, (Section(f"{key} of a coast at night, {name}."),), key)])
        talking[collection_name].extract()
    found = talking[collection_name].search("Boats", retriever=walk, k=9)
    assert {hit.passage.title for hit in found} == {"Boats", "Lamps", "Sails"} and not found.notes
    assert "Keyword storm" in trail(found.hits[1]).replace("Storm", "storm")
    tokens = (len("Boats") + len("Boats of a coast at night, Storm.")) // 4
    counts = [
        len(talking[collection_name].search("Boats", retriever=f"kgp(seeds=1, edges=(named,), tokens={most})"))
        for most in (tokens, tokens + 1)
    ]
    assert counts == [1, 3]


def test_each_kind_of_edge_has_a_density(kg: KnowledgeGraph, coast: str) -> None:
    """A walk over fewer edges visits no more passages, all connected by these edges in the graph."""
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


def test_a_keyword_of_any_passage_ties_all_that_hold_it(kg: KnowledgeGraph, collection_name: str) -> None:
    """KGP, section 3.1: both passages contain lamp and storm from W, although each has another best keyword."""
    texts = {"A": "lamp, lamp, storm", "B": "storm, storm, lamp", "C": "lamp, lamp", "D": "wool", "E": "wool 1991"}
    kg[collection_name].ingest([Document(key, (Section(text),), "") for key, text in texts.items()])
    context = kg[collection_name].context
    key = {hit.passage.id: hit.passage.document for hit in kg[collection_name].search("lamp", retriever="dense", k=9)}

    def tied(kind: str) -> dict[str, str]:
        near = context.reader.edge_neighbours(list(key), kind, 1, 50, 50)
        return {key[id]: "".join(sorted(key[x] for x in others)) for id, others in near.items() if others}

    assert tied("keyword") == {"A": "C", "C": "A", "D": "E", "E": "D"}
    assert tied("word") == {"A": "BC", "B": "AC", "C": "AB", "D": "E", "E": "D"}
    for edge, found in (("keyword", "B"), ("word", "ABC")):
        walk = f"kgp(seeds=1, budget=9, edges=({edge},), keywords=1)"
        ranking = kg[collection_name].search("lamp lamp storm", retriever=walk, k=9)
        assert sorted(key[hit.passage.id] for hit in ranking) == list(found)
    trails = {key[hit.passage.id]: trail(hit) for hit in ranking}
    assert "holds→ Keyword" in trails["A"] and "held by→ Passage" in trails["A"]


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
            talking, "kgp(seeds=2, branch=1, budget=6, guide=chat, edges=(mention, title, keyword, similar))"
        )
    assert "Stilla" in found
    assert 2 <= len(scripted.calls) <= 6
    shown = scripted.calls[0]["messages"][-1]["content"]
    assert _QUESTION in shown
    assert "Fjord Queen" in shown


@pytest.mark.parametrize(("guide", "message"), [("chat", "No language model"), ("generator", "names no generator")])
def test_guide_without_its_model_is_refused(kg: KnowledgeGraph, coast: str, guide: str, message: str) -> None:
    with pytest.raises(ConfigurationError, match=message):
        kg[coast].retriever(f"kgp(guide={guide})")


_PAPER = "kgp(tfidf, hops=2, seeds=3, branch=2, similarity=tfidf, edges=(keyword, title, document), cap=0)"


def test_the_paths_of_the_paper(kg: KnowledgeGraph, coast: str) -> None:
    """Three seeds lead to two passages each, possibly seeds too; TF-IDF compares these with the question."""
    retriever = kg[coast].retriever(_PAPER)
    question = Query(_QUESTION)
    found = [x.id for x in retriever.rank(question, 30)]
    paths = [list(path) for path in retriever.evidence(question) or ()]
    seeds = [x.id for x in kg[coast].retriever("tfidf").rank(Query(_QUESTION), 3)]
    assert [path[0] for path in paths] == [seed for seed in seeds for _ in range(2)]
    assert all(len(set(path)) == 2 for path in paths)
    assert list(dict.fromkeys(id for path in paths for id in path)) == found
    assert {path[1] for path in paths} & set(seeds)
    ties = kg[coast].context.reader.edge_neighbours(seeds, "keyword+title", 100, 10**6, 10)
    alike = cosines(kg[coast].context, [_QUESTION], [id for near in ties.values() for id in near])[0]
    for seed in seeds:
        best = sorted(ties[seed], key=lambda id: (-(alike[id].cosine if id in alike else 0), id))[:2]
        assert [path[1] for path in paths if path[0] == seed] == best
    named = Query("steamer Fjord Queen")  # R@30 differs from BM25's, which does not reach the captain
    by_words = {x.id for x in kg[coast].retriever("bm25").rank(named, 30)}
    led_to = kg[coast].retriever(_PAPER.replace("keyword, title, document", "title,")).retrieve(named, 30)
    assert [hit.passage.title for hit in led_to if hit.passage.id not in by_words][:1] == ["Ole Brandvik"]
    only = Query(_QUESTION, Filter(where={"letter": "O"}))
    retriever.rank(only, 30)
    assert {id for path in retriever.evidence(only) or () for id in path} <= {
        hit.passage.id for hit in kg[coast].search("Ole Brandvik", filter=only.filter, k=30)
    }


def test_the_seeds_of_a_fixed_budget(kg: KnowledgeGraph, coast: str) -> None:
    for branch, seeds in ((1, 30), (4, 7), (30, 1), (50, 1)):
        retriever = kg[coast].retriever(f"kgp(seeds=none, hops=1, branch={branch})")
        question = Query("Torvald Lunde sold wool")
        retriever.rank(question, 100)
        assert len(retriever.evidence(question) or ()) == seeds


def test_the_reader_is_shown_the_paths(talking: KnowledgeGraph, scripted: Scripted, coast: str) -> None:
    for system in (f"single(evidence=4)+{_PAPER}", "single(evidence=4)+bm25"):
        scripted.say("answer", "Marta Holm")
        talking[coast].ask(_QUESTION, system=system, short=True)
    retriever = talking[coast].retriever(_PAPER)
    question = Query(_QUESTION)
    retriever.rank(question, 30)
    (first, second), *_ = retriever.evidence(question) or ()
    texts = talking[coast].context.reader.passages([first, second])
    shown, plain = (call["messages"][-1]["content"] for call in scripted.calls)
    assert "[4]" in shown and "[5]" not in shown
    item = shown[shown.index("[1]") : shown.index("[2]")]
    assert item.index(texts[first].text) < item.index(texts[second].text)
    assert plain[plain.index("[1]") : plain.index("[2]")].count("<passage>") == 1 < item.count("<passage>")


def test_another_encoder_guides(kg: KnowledgeGraph, coast: str) -> None:
    """kgrag compares passages by a named encoder as the server does by the collection's own."""
    options = "guide=encoder, seeds=3, branch=2, hops=2, edges=(title, mention, keyword), cap=50"
    scores = []
    for more in ("", ", encoder=wordllama"):
        retriever = kg[coast].retriever(f"kgp({options}{more})")
        question = Query(_QUESTION)
        found = retriever.rank(question, 30)
        scores.append((retriever.evidence(question), [x.why[-1].score for x in found]))
    assert scores[0][0] == scores[1][0]
    assert scores[0][1] == pytest.approx(scores[1][1], abs=1e-5)


def test_what_a_model_imagines_is_compared_by_its_words(
    talking: KnowledgeGraph, scripted: Scripted, coast: str
) -> None:
    scripted.say("evidence", *["salmon of the hills of Grenland"] * 20)
    retriever = talking[coast].retriever(
        "kgp(guide=chat, hops=2, seeds=2, branch=1, similarity=tfidf, edges=(mention, title, keyword, similar))"
    )
    question = Query("Nordvika")
    retriever.rank(question, 10)
    ends = {path[-1] for path in retriever.evidence(question) or ()}
    titles = {p.title for p in talking[coast].context.reader.passages(sorted(ends)).values()}
    assert "Stilla" in titles


@pytest.mark.models
@pytest.mark.parametrize("kind", ["t5", "llama"])
def test_a_generator_guides(kg: KnowledgeGraph, coast: str, tmp_path: Path, kind: str) -> None:
    """A generator that always says one thing leads to the passage that contains it."""
    from made_models import generator

    folder = generator(tmp_path / kind, [*TEXTS.values(), _QUESTION], kind, says="salmon")
    heard: list[str] = []
    question = Query("Nordvika", listener=lambda event: heard.append(getattr(event, "text", "")))
    retriever = kg[coast].retriever(
        f"kgp(guide=generator, generator='{folder}', similarity=tfidf, hops=2, seeds=1, branch=1, "
        "edges=(mention, title, keyword, similar))"
    )
    retriever.rank(question, 10)
    ((_, last),) = retriever.evidence(question) or ()
    assert heard and set(heard[0].split()) == {"salmon"}
    assert kg[coast].context.reader.passages([last])[last].title == "Stilla"
    with pytest.raises(ConfigurationError, match="cannot be loaded"):
        kg[coast].search("Nordvika", retriever=f"kgp(guide=generator, generator='{tmp_path / 'nothing'}')")
