"""GFM-RAG: a network trained by the command ranks better than before; the trail, and a question's graph."""

import json
from collections.abc import Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from command_line import run_kgrag
from question_set import write_set

from kgrag import KnowledgeGraph
from kgrag.lab.datasets import Question
from kgrag.lab.readers import read_dataset
from kgrag.retrieval.base import RETRIEVERS, Query
from kgrag.retrieval.gfm import RelationGraph
from kgrag.settings import IndexingSettings, Settings
from kgrag.values.errors import ConfigurationError
from kgrag.values.results import Filter

_NAME = "gfm"
_FAMILIES = "Brandvik Solheim Hauge Moen Aune Lunde Holm Dahl Berge Strand Vik Lien Sunde Myhre Foss Eide".split()
_ODD = ("collects", "once met", "wrote to", "inherited from")


@pytest.fixture(scope="module")
def fleet(graph_settings: Settings, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """Questions about the towns of ships' captains, with many irrelevant facts about each ship and captain.

    There are no SIMILAR names, so each ship's facts are a separate part of the graph.
    """
    corpus: list[dict[str, Any]] = []
    triples, queries = [], []

    def state(id: str, subject: str, predicate: str, object: str) -> None:
        text = f"{subject} {predicate} {object}."
        corpus.append({"id": id, "title": f"Note {id}", "text": text, "letter": id[0]})
        triples.append({"passage": id, "subject": subject, "predicate": predicate, "object": object})

    for i, name in enumerate(_FAMILIES):
        ship, captain = f"{name} Star", f"Ole {name}"
        state(f"c{i}", ship, "was commanded by", captain)
        state(f"t{i}", captain, "grew up in", f"{name} Harbour")
        for j, odd in enumerate(_ODD):
            state(f"s{i}{j}", ship, odd, f"{name} Line {'ABCD'[j]}")
            state(f"o{i}{j}", captain, odd, f"Aunt {name} {'ABCD'[j]}")
        queries.append(
            {"id": f"q{i}", "question": f"Where did the captain of the {ship} grow up?", "gold": [f"c{i}", f"t{i}"]}
        )
    queries.append({"id": "lost", "question": "Where is it?", "gold": ["nowhere"]})
    folder = write_set(tmp_path_factory.mktemp("fleet"), corpus, queries, triples)
    changes = {"indexing": IndexingSettings(synonymy=1)}
    with KnowledgeGraph.connect(settings=graph_settings.model_copy(update=changes)) as kg:
        kg[_NAME].ingest(read_dataset(folder).documents())
        yield folder
        kg[_NAME].delete()


def train(env: dict[str, str], *arguments: object, code: int = 0) -> tuple[str, str]:
    result = run_kgrag({**env, "COLUMNS": "150"}, "lab", "train", "gfm", *arguments, code=code)
    return result.stdout, result.stderr


def found(kg: KnowledgeGraph, folder: Path, retriever: str, ids: frozenset[str]) -> float:
    """Return the share of gold documents among the first two."""
    questions = [q for q in read_dataset(folder).questions if q.id in ids]
    hits = 0
    for question in questions:
        ranking = kg[_NAME].search(question.text, retriever=retriever, k=2)
        hits += len({hit.passage.document for hit in ranking} & set(question.gold))
    return hits / (2 * len(questions))


@pytest.mark.models
def test_training_makes_the_ranking_better(
    kg: KnowledgeGraph, neo4j_env: dict[str, str], fleet: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from kgrag.lab import train_gfm as training
    from kgrag.lab.constants import GfmTraining
    from kgrag.models.gfm import save
    from kgrag.retrieval.gfm import Gfm, GfmOptions, Surroundings, load, new

    file = tmp_path / "network.pth"
    size = ("--width", 32, "--layers", 3, "--epochs", 25, "--batch", 4, "--rate", 5e-3, "--held-out", 0.25)
    out, err = train(neo4j_env, fleet, "-c", _NAME, "-o", file, *size, "--json")
    told = json.loads(out)
    assert (told["questions"], told["held_out"]) == (12, 4)
    assert "1 of 17 questions lead to no entity of their gold" in err
    assert len(told["losses"]) == 25
    assert told["losses"][-1] < 0.5 * told["losses"][0]
    assert told["after"] >= told["before"]

    # the same seed holds out the same questions; the untrained network ranks them no better than by chance
    constants = GfmTraining(width=32, layers=3)
    context = kg[_NAME].context
    loaded = new(context.embedder, constants.width, constants.layers, 0)
    save(loaded.network, tmp_path / "untrained.pth", context.embedder.name, {})
    surroundings = Surroundings(context, GfmOptions())
    examples = training.prepare(surroundings, loaded, read_dataset(fleet).questions, lambda *_: None)
    learned, held = training.held_out(examples, 0.25, 0)
    ids = frozenset(e.question.id for e in held)
    before = found(kg, fleet, f"gfm(weights='{tmp_path}/untrained.pth', top=3)", ids)
    after = found(kg, fleet, f"gfm(weights='{file}', top=3)", ids)
    assert after > before
    assert after >= 0.75
    assert training.recall(loaded, learned, 3) < 0.9

    # unreachable triples change nothing, but only a network trained with them can ignore them
    question = read_dataset(fleet).questions[0].text
    own = load(context, str(file))
    scored = []
    for options in (GfmOptions(hops=3), GfmOptions(exact=True)):
        posed = Surroundings(context, options).of(Query(question))
        assert posed is not None
        scored.append(dict(zip(posed.graph.ties.node, own.relevance(Query(question), posed).tolist(), strict=True)))
    around, everywhere = scored
    assert len(around) == 11 and len(everywhere) == 11 * len(_FAMILIES)
    assert around == pytest.approx({element: everywhere[element] for element in around}, abs=1e-5)
    monkeypatch.chdir(tmp_path)
    (tmp_path / "kgrag.toml").write_text("[retrieval.gfm]\nexact = true\n")
    train(neo4j_env, fleet, "-c", _NAME, "-o", tmp_path / "whole.pth", *size)
    (tmp_path / "kgrag.toml").unlink()
    assert found(kg, fleet, f"gfm(weights='{tmp_path}/whole.pth', top=3, exact=true)", ids) >= 0.75

    near = kg[_NAME].search(question, retriever=f"gfm(weights='{file}', top=3)", k=5)
    assert near.hits[0].score == 1
    hit = next(h for h in near if h.passage.document == "t0")
    assert (hit.why[0].via, hit.why[0].label, hit.why[0].name) == ("names", "Entity", "Brandvik Star")
    assert (hit.why[-1].via, hit.why[-1].name) == ("mentioned in", "Note t0")
    assert 0 < (hit.why[-2].score or 0) <= 1
    only = Filter(where={"letter": "o"})
    filtered = kg[_NAME].search(question, retriever=f"gfm(weights='{file}')", k=5, filter=only)
    assert {h.passage.document[0] for h in filtered} == {"o"}
    by_relevance = kg[_NAME].search(question, retriever=f"gfm(weights='{file}', top=1000, count=relevance)", k=2)
    assert {h.passage.document for h in by_relevance} <= {"c0", "t0"}

    # training continues from learned weights, and is deterministic for a seed
    few = ("--epochs", 1, "--held-out", 0, "--json")
    on = json.loads(train(neo4j_env, fleet, "-c", _NAME, "-o", tmp_path / "on.pth", "--base", file, *few)[0])
    assert on["losses"][0] < told["losses"][3]
    twice = [train(neo4j_env, fleet, "-c", _NAME, "-o", tmp_path / n, "--width", 8, *few)[0] for n in ("a", "b")]
    assert json.loads(twice[0])["losses"] == json.loads(twice[1])["losses"]
    assert "exists already" in train(neo4j_env, fleet, "-c", _NAME, "-o", file, code=5)[1]
    with pytest.raises(ConfigurationError, match="reads vectors of 7 numbers"):
        from kgrag.models.gfm import Network

        save(Network(7, 4, 1), tmp_path / "narrow.pth", "", {})
        Gfm(kg[_NAME], weights=str(tmp_path / "narrow.pth"))


@pytest.mark.models
def test_messages_know_directions_and_the_gold_by_the_losses() -> None:
    """By hand: two gold entities and two others."""
    import torch

    from kgrag.lab.constants import GfmTraining
    from kgrag.lab.train_gfm import loss, recall

    scores = torch.tensor([1.0, -1.0, 0.5, -2.0])
    gold = torch.tensor([True, True, False, False])
    p = torch.sigmoid(scores)
    weights = torch.softmax(scores[2:] / 0.2, 0)
    binary = (-p[:2].log().mean() - (weights * (1 - p[2:]).log()).sum()) / 2
    ranking = -(p[:2] / p.sum()).log().mean()
    assert float(loss(scores, gold, GfmTraining())) == pytest.approx(float(0.3 * binary + 0.7 * ranking), abs=1e-5)
    alike = (-p[:2].log().mean() - (1 - p[2:]).log().mean()) / 2
    assert float(loss(scores, gold, GfmTraining(alpha=1, temperature=0))) == pytest.approx(float(alike), abs=1e-5)
    asked: Any = [SimpleNamespace(inputs=(), gold=gold)]
    network: Any = SimpleNamespace(network=lambda: scores)
    assert [recall(network, asked, most) for most in (1, 2, 4)] == [1, 0.5, 1]
    all_wanted = torch.ones(4, dtype=torch.bool)
    assert torch.isfinite(loss(scores, all_wanted, GfmTraining()))


def test_the_graph_about_a_question(kg: KnowledgeGraph, fleet: Path) -> None:
    from kgrag.retrieval.gfm import GfmOptions, Surroundings

    context = kg[_NAME].context
    question = Query("Where did the captain of the Moen Star grow up?")

    def facts(**options: Any) -> tuple[set[tuple[str, ...]], Any]:
        posed = Surroundings(context, GfmOptions(**options)).of(question)
        assert posed is not None
        element = list(posed.graph.ties.node)
        names = dict(context.row("retrieve/ppr_names", elements=element)["names"])
        graph = posed.graph
        return {(names[element[h]], graph.relations[r], names[element[t]]) for h, r, t in graph.edges}, posed

    one, posed = facts(hops=1)
    assert ("Moen Star", "was commanded by", "Ole Moen") in one
    assert not any("Harbour" in f[2] for f in one)
    two, _ = facts(hops=2)
    assert ("Ole Moen", "grew up in", "Moen Harbour") in two
    whole, everything = facts(exact=True)
    assert (len(one), len(two), len(whole)) == (5, 10, 10 * len(_FAMILIES))
    assert two < whole
    assert 0 < len(facts(hops=3, most=4)[0]) == 3  # of four entities
    assert Surroundings(context, GfmOptions(cap=4)).of(question) is None  # the ship has five facts, more than the cap
    (start,) = posed.start.nonzero()
    assert len(start) == len(posed.steps) == 1
    assert posed.start[start[0]] == pytest.approx(1 / 5)  # five passages mention it
    flat = Surroundings(context, GfmOptions(rare=False)).of(question)
    assert flat is not None and flat.start.max() == 1
    assert everything.start.sum() == pytest.approx(1 / 5)


def test_what_is_held_out_has_no_gold_in_common_with_the_rest() -> None:
    from kgrag.lab.train_gfm import Example, held_out

    its = [Example(Question(f"q{i}", f"{i}?", (f"g{i // 2}",)), None, None) for i in range(8)]  # type: ignore[arg-type]
    for seed in range(5):
        learned, held = held_out([*its, its[0]], 0.5, seed)
        assert sorted(e.question.id for e in (*learned, *held)) == [f"q{i}" for i in range(8)] and len(held) == 4
        assert not {e.question.gold for e in learned} & {e.question.gold for e in held}


def test_each_fact_is_an_edge_once_and_names_that_resemble_are_equivalent() -> None:
    told = [("a", "knows", "b"), ("b", "knows", "a"), ("a", "knows", "b"), ("a", "likes", "b"), ("c", "is", "c")]
    graph = RelationGraph.of(told, [("a", "c", 0.9), ("a", "unknown", 0.9), ("a", "c", 0.9)])
    element = list(graph.ties.node)
    found = [(element[h], graph.relations[r], element[t]) for h, r, t in graph.edges]
    wanted = {*told, ("a", "equivalent", "c")}
    assert set(found) == wanted and len(found) == len(wanted)
    assert RelationGraph.of([]).edges.shape == (0, 3)


def test_without_weights_it_says_how_to_get_some(kg: KnowledgeGraph, fleet: Path) -> None:
    assert RETRIEVERS["gfm"].needs
    with pytest.raises(ConfigurationError, match="no weights") as caught:
        kg[_NAME].search("Where?", retriever="gfm")
    assert "kgrag lab train gfm" in str(caught.value.remedy)
