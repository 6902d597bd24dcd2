"""Training of GNN-Ret and RGNN-Ret: constants, losses and derivatives, the descent, folds, and the commands."""

import json
from collections.abc import Callable, Sequence
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from command_line import run_kgrag
from question_set import write_set

from kgrag import KnowledgeGraph
from kgrag.lab import train_gnn
from kgrag.lab.constants import GnnRetTraining, RgnnTraining
from kgrag.lab.datasets import Question
from kgrag.lab.train_gnn import (
    Array,
    Example,
    RecurrentExample,
    Trained,
    Turn,
    cross_validate,
    descend,
    mean_loss,
    prepare,
    split,
    train,
    with_alphas,
)
from kgrag.retrieval.base import Query, check_retriever
from kgrag.retrieval.gnn_ret import Edge, GnnRet, GnnRetOptions
from kgrag.values.errors import ConfigurationError, InputError
from kgrag.values.events import no_progress
from kgrag.values.results import Ranking

QUIET = GnnRetTraining(competitors=3, margin=0.2)


def example(gold: tuple[str, ...] = ("a", "g"), also: tuple[str, ...] = ()) -> Example:
    """Make an example: a, the nearest, leads to the gold g (and perhaps to others); x and y are as near as g is far."""
    start = {"a": 0.2, "x": 0.5, "y": 0.55, "z": 0.6}

    def neighbours(senders: Sequence[str]) -> list[Edge]:
        far = {"g": 0.9} | {other: start[other] for other in also}
        return [Edge(s, id, own, "title") for s in senders if s == "a" for id, own in far.items()]

    return Example(Question("q", "?", gold), start, gold, neighbours)


def test_the_loss_by_hand() -> None:
    """The gold has a 0.2 and g 0.5 * 0.9 + 0.5 * 0.2; of the three nearest, only x is neither."""
    loss, gradient = mean_loss([example()], [0.5], 1, QUIET)
    assert loss == pytest.approx(0.2 + (0.2 + 0.55) / 2 - 0.5)
    assert gradient == pytest.approx([(0.9 - 0.2) / 2])


def test_competitors_are_the_nearest_after_the_layers_or_before() -> None:
    """GNN-Ret, A.1: "the top O smallest semantic distances"; after a message from a, c is nearer than b."""
    start = {"g": 0.5, "a": 0.3, "b": 0.4, "c": 0.45}

    def neighbours(senders: Sequence[str]) -> list[Edge]:
        return [Edge(s, "c", start["c"], "title") for s in senders if s == "a"]

    its = Example(Question("q", "?", ("g",)), start, ("g",), neighbours)
    for by, others in (("integrated", (0.3, 0.375)), ("semantic", (0.3, 0.4))):
        training = GnnRetTraining(competitors=2, margin=0.01, nearest=by)  # type: ignore[arg-type]
        assert mean_loss([its], [0.5], 1, training)[0] == pytest.approx(0.01 + 0.5 - sum(others) / 2)


def test_competitors_are_the_nearest_of_all_steps_or_of_the_last_question() -> None:
    """In the second step c is nearest to the sub-question, but b is nearest by both steps together."""
    turns = (_turn([0.5, 0.1, 0.6], (0,), ()), _turn([0.5, 0.4, 0.3], (0,), ()))
    its = RecurrentExample(Question("q", "?", ("g",)), ("g", "b", "c"), turns)
    for by, other in (("integrated", (0.4 + 0.1) / 2), ("semantic", (0.3 + 0.6) / 2)):
        training = RgnnTraining(competitors=1, margin=0.01, nearest=by)  # type: ignore[arg-type]
        loss, _ = mean_loss([its], np.array([1.0, 0.5]), 1, training)
        assert loss == pytest.approx((0.01 + 0.5 - 0.1 + 0.01 + 0.5 - other) / 2)


def test_the_mean_message_is_learned_from_as_it_is_searched_with() -> None:
    """x and a send to g: the mean of both is 0.35, the nearest 0.2."""
    start = {"a": 0.2, "x": 0.5, "z": 0.6}

    def neighbours(senders: Sequence[str]) -> list[Edge]:
        return [Edge(s, "g", 0.9, "title") for s in senders if s in ("a", "x")]

    its = Example(Question("q", "?", ("g",)), start, ("g",), neighbours, "mean")
    loss, gradient = mean_loss([its], [0.5], 2, QUIET)
    assert loss == pytest.approx(0.2 + 0.5 * 0.9 + 0.5 * 0.35 - (0.2 + 0.5 + 0.6) / 3)
    assert gradient == pytest.approx([0.9 - 0.35])


def test_no_loss_no_derivative() -> None:
    loss, gradient = mean_loss([example(), example()], [0.1], 1, GnnRetTraining(margin=0.0, competitors=3))
    assert loss == 0
    assert gradient == pytest.approx([0])


@pytest.mark.parametrize("alphas", [(0.4,), (0.7, 0.6), (0.8, 0.3, 0.9)])
def test_derivatives_are_those_of_the_loss(alphas: tuple[float, ...]) -> None:
    examples = [example(), example(also=("x",)), example(gold=("g",))]
    _, gradient = mean_loss(examples, alphas, 2, QUIET)
    assert any(gradient)
    for layer in range(len(alphas)):
        step = 1e-6 * np.eye(len(alphas))[layer]
        more, less = (mean_loss(examples, np.array(alphas) + sign * step, 2, QUIET)[0] for sign in (1, -1))
        assert (more - less) / 2e-6 == pytest.approx(gradient[layer], abs=1e-6)


def test_the_descent_listens_to_the_edges() -> None:
    """Edges to gold alone reduce a to its minimum; edges that also bring others nearer do not."""
    strict = QUIET.model_copy(update={"margin": 1.0, "start": 0.9})
    steps: list[int] = []
    helpful = train([example(gold=("g",))], 1, 1, strict, lambda stage, done, total: steps.append(done))
    assert helpful.alphas == (0.0,) and steps[-1] < strict.iterations  # it ends where a cannot fall further
    assert helpful.active == 1
    misleading = train([example(gold=("z",), also=("x", "y"))], 1, 1, QUIET, no_progress)
    assert misleading.alphas[0] > 0.9
    best, _ = mean_loss([example(gold=("z",), also=("x", "y"))], misleading.alphas, 1, QUIET)
    assert misleading.loss == best


@pytest.mark.parametrize("labels", ["later", "own", "all"])
def test_derivatives_of_the_recurrence_are_those_of_its_loss(labels: str) -> None:
    """The derivatives by every a and by beta match over three sub-questions, and the sum follows equation 4."""
    random = np.random.default_rng(4)
    ids = tuple("abcdefgh")
    ties = [(s, r) for s in ids for r in ids if s != r and random.random() < 0.4]
    turns = []
    for t in range(3):
        start = random.random(len(ids)) + 0.2

        def neighbours(senders: Sequence[str], start: Array = start) -> list[Edge]:
            return [Edge(s, r, float(start[ids.index(r)]), "next") for s, r in ties if s in senders]

        turns.append(Turn(start, (t,), tuple(range(t + 1, 3)), neighbours))
    examples = [RecurrentExample(Question("q", "?", ("a",)), ids, tuple(turns))]
    training = RgnnTraining(margin=2.0, competitors=6, labels=labels)  # type: ignore[arg-type]
    at = np.array([0.35, 0.8, 0.6])
    loss, gradient = mean_loss(examples, at, 3, training)
    assert loss > 0 and np.abs(gradient).min() > 0
    for i in range(3):
        step = 1e-6 * np.eye(3)[i]
        more, less = (mean_loss(examples, at + sign * step, 3, training)[0] for sign in (1, -1))
        assert (more - less) / 2e-6 == pytest.approx(gradient[i], abs=1e-6)
    learned = train(examples, 2, 3, training, no_progress)
    assert learned.loss <= mean_loss(examples, np.ones(3), 3, training)[0]
    halves = training.model_copy(update={"start": 0.5})
    alone = train(examples, 2, 3, halves.model_copy(update={"only": "beta"}), no_progress)
    assert alone.alphas == (1, 1)  # no messages (table 2)
    alone = train(examples, 2, 3, halves.model_copy(update={"only": "alphas"}), no_progress)
    assert alone.beta == 1  # no recurrence


def test_the_recurrence_is_learned_from_single_questions(
    kg: KnowledgeGraph, neo4j_env: dict[str, str], trained_on: tuple[Path, str], tmp_path: Path
) -> None:
    folder, name = trained_on
    rows = [json.loads(line) for line in (folder / "queries.jsonl").read_text().splitlines()]
    for i, row in enumerate(rows[:5]):
        row["steps"] = [
            {"question": row["question"], "answer": row["question"][20:-6], "gold": f"s{i}"},
            {"question": "Where did #1 grow up?", "answer": "by the river", "gold": f"c{i}"},
        ]
    corpus = [json.loads(line) for line in (folder / "corpus.jsonl").read_text().splitlines()]
    told = write_set(tmp_path / "told", corpus, rows, None)
    found = json.loads(run_kgrag(neo4j_env, "lab", "train", "rgnn", told, "-c", name, "--json").stdout)
    assert found["questions"] == 5
    assert 0 <= found["alphas"][0] <= 1 and 0 < found["beta"] <= 1
    assert check_retriever(found["retriever"]) == found["retriever"]
    file = tmp_path / "kept" / "rgnn.json"
    run_kgrag(neo4j_env, "lab", "train", "rgnn", told, "-c", name, "--layers", 2, "--margin", 1, "--out", file)
    kept = json.loads(file.read_text())
    retriever = GnnRet(kg[name], alphas=str(file), beta=str(file))
    assert (list(retriever.settings.alphas), retriever.settings.beta) == (kept["alphas"], kept["beta"])
    query = Query("Who led the steamer Moen Star?")
    assert len(retriever.rank(query, 3)) == 3
    none = run_kgrag(neo4j_env, "lab", "train", "rgnn", folder, "-c", name, code=5)
    assert "have single questions" in none.stderr


def test_each_question_is_ranked_with_what_the_other_folds_taught(monkeypatch: pytest.MonkeyPatch) -> None:
    taught: dict[tuple[float, ...], set[str]] = {}
    asked: list[tuple[tuple[float, ...], str]] = []

    def learn(examples: Sequence[Example], *_: object) -> Trained:
        alphas = (len(taught) / 10,)
        taught[alphas] = {example.question.text for example in examples}
        return Trained(alphas, 0.0, 1)

    class Ranked:
        def __init__(self, context: object, **options: Any) -> None:
            self.options = options

        def retrieve(self, query: str, k: int = 8) -> Ranking:
            asked.append((self.options["alphas"], query))
            return Ranking(query, "", ())

    monkeypatch.setattr(train_gnn, "train", learn)
    monkeypatch.setattr(train_gnn, "GnnRet", Ranked)
    retriever: Any = SimpleNamespace(
        context=None, settings=GnnRetOptions(alphas=(0.5,)), given={"alphas": (0.9,), "k": 3}
    )
    examples = [Example(Question(f"q{i}", f"{i}?", ("g",)), {}, ("g",), lambda _: []) for i in range(6)]
    data: Any = SimpleNamespace(gold_texts={})
    cross_validate(retriever, data, examples, 1, 3, QUIET, no_progress)
    its = {(alphas, text) for alphas, text in asked if alphas in taught}
    assert len(its) == 6 and {alphas for alphas, _ in asked} == {*taught, (0.5,)}
    assert all(text not in taught[alphas] and len(taught[alphas]) == 4 for alphas, text in its)
    assert with_alphas(retriever, (0.2,)).options == {"alphas": (0.2,), "k": 3}  # type: ignore[attr-defined]


def test_folds_share_nothing() -> None:
    texts = [f"question {i}" for i in range(11)] + ["question 0"]
    parts = split(texts, 4, 0)
    assert sorted(text for part in parts for text in part) == sorted(set(texts))
    assert {len(part) for part in parts} == {2, 3}
    assert parts == split(reversed(texts), 4, 0) != split(texts, 4, 1)
    with pytest.raises(InputError, match="cannot be split"):
        split(texts, 12, 0)


@pytest.fixture(scope="module")
def trained_on(fill: Callable[..., str], tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, str]:
    """Questions about the towns of ships' captains, and the collection with the ships and captains."""
    corpus, queries = [], []
    names = ["Brandvik", "Solheim", "Hauge", "Moen", "Aune", "Lunde", "Holm", "Dahl"]
    for i, name in enumerate(names):
        ship, captain = f"{name} Star", f"Ole {name}"
        corpus.append({"id": f"s{i}", "title": ship, "text": f"The {ship} was a steamer. Her captain was {captain}."})
        corpus.append({"id": f"c{i}", "title": captain, "text": f"{captain} grew up by the river, far from the sea."})
        corpus.append({"id": f"o{i}", "title": f"Steamer log {i}", "text": f"A steamer with a captain, log {i}."})
        queries.append({"id": f"q{i}", "question": f"Who led the steamer {ship}?", "gold": [f"s{i}", f"c{i}"]})
    queries.append({"id": "lost", "question": "Where is it?", "gold": ["nowhere"]})
    folder = write_set(tmp_path_factory.mktemp("towns"), corpus, queries, None)
    from kgrag.lab.readers import read_dataset

    return folder, fill("train-gnn-ret", read_dataset(folder).documents())


def run(env: dict[str, str], *arguments: object, code: int = 0) -> tuple[str, str]:
    result = run_kgrag({**env, "COLUMNS": "120"}, "lab", "train", "gnn-ret", *arguments, code=code)
    return result.stdout, result.stderr


def test_the_command_says_what_was_learned_and_whether_it_is_worth_it(
    kg: KnowledgeGraph, neo4j_env: dict[str, str], trained_on: tuple[Path, str]
) -> None:
    folder, name = trained_on
    arguments = (folder, "-c", name, "--layers", 1, "--folds", 3, "--margin", 1, "--json")
    out, err = run(neo4j_env, *arguments)
    found = json.loads(out)
    assert found["questions"] == 8
    assert "1 of 9 questions have no gold" in err
    assert len(found["alphas"]) == 1
    assert 0 < found["active"] <= 8
    assert found["loss"] <= found["untrained_loss"]
    assert found["retriever"] == f"gnn-ret(alphas=({found['alphas'][0]},))"
    assert len(kg[name].search("steamer", retriever=found["retriever"])) == 8
    validation = found["cross_validation"]
    assert len(validation["alphas"]) == 3
    assert list(validation["systems"]) == ["untrained", "as set", "trained"]
    assert {row["questions"] for row in validation["systems"].values()} == {8}
    assert set(validation["differences"]) == {"as set", "trained"}
    again = json.loads(run(neo4j_env, *arguments)[0])
    assert (again["alphas"], again["cross_validation"]["alphas"]) == (found["alphas"], validation["alphas"])


def test_the_option_takes_the_file_that_it_writes(
    kg: KnowledgeGraph, neo4j_env: dict[str, str], trained_on: tuple[Path, str], tmp_path: Path
) -> None:
    folder, name = trained_on
    file = tmp_path / "alphas.json"
    out, err = run(neo4j_env, folder, "-c", name, "--layers", 1, "--margin", 1, "--out", file, "--json")
    learned = json.loads(out)["alphas"]
    assert str(file) in err and learned != [0.5]
    by_file, by_number = (f"gnn-ret(alphas={its})" for its in (f"'{file}'", f"({learned[0]},)"))
    assert kg[name].search("Who led the steamer Moen Star?", retriever=by_file).hits == (
        kg[name].search("Who led the steamer Moen Star?", retriever=by_number).hits
    )
    assert kg[name].retriever(by_file).settings == kg[name].retriever(by_number).settings
    (tmp_path / "other.json").write_text('{"beta": 2}')
    for text, said in (
        (f"gnn-ret(alphas='{tmp_path / 'none.json'}')", "there is no file"),
        (f"gnn-ret(alphas='{folder / 'corpus.jsonl'}')", "holds no alphas; `kgrag lab train gnn-ret`"),
        (f"gnn-ret(alphas='{tmp_path / 'other.json'}')", "holds no alphas"),
        (f"gnn-ret(beta='{file}')", "holds no beta; `kgrag lab train rgnn`"),
        (f"gnn-ret(beta='{tmp_path / 'other.json'}')", "less than or equal to 1"),
    ):
        with pytest.raises(ConfigurationError, match=said):
            check_retriever(text)


def test_it_begins_with_the_options_in_force(
    neo4j_env: dict[str, str], trained_on: tuple[Path, str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder, name = trained_on
    out, err = run(neo4j_env, folder, "-c", name, "--folds", 2)
    assert "Only 0 of 8 questions have a loss" in err
    assert [line.split()[:2] for line in out.splitlines() if "R@5" in line][-1][0] == "trained"
    monkeypatch.chdir(tmp_path)
    (tmp_path / "kgrag.toml").write_text("[retrieval.gnn_ret]\nalphas = [0.7]\n")
    out, _ = run(neo4j_env, folder, "-c", name, "--json")
    assert len(json.loads(out)["alphas"]) == 1


def test_what_cannot_be_learned_from_is_said(neo4j_env: dict[str, str], trained_on: tuple[Path, str]) -> None:
    folder, name = trained_on
    _, err = run(neo4j_env, folder, "-c", name, "--limit", 1, code=5)
    assert "1 of 1 questions have gold" in err
    assert "larger question set" in err
    _, err = run(neo4j_env, folder, "-c", name, "--folds", 9, code=5)
    assert "8 questions cannot be split into 9 folds" in err
    run(neo4j_env, folder / "nothing", code=5)
    run(neo4j_env, folder, "--folds", 1, code=2)


def test_constants_are_the_papers() -> None:
    """GNN-Ret, appendices A.1 and C; RGNN-Ret, appendices A.2 and C."""
    ours = GnnRetTraining()
    assert (ours.start, ours.margin, ours.competitors, ours.rate, ours.patience) == (0.1, 0.01, 25, 1.0, 5)
    its = RgnnTraining()
    assert (its.start, its.margin, its.competitors, its.rate, its.patience) == (1.0, 0.01, 10, 1.0, 5)
    assert its.labels == "later"


def _descend(losses: Sequence[float], **options: Any) -> tuple[list[float], float, int]:
    """Return the values tried with these losses in turn, the smallest loss, and its iteration."""
    tried: list[float] = []

    def loss(values: Array) -> tuple[float, Array]:
        tried.append(float(values[0]))
        return losses[len(tried) - 1], np.array([0.04])

    best, least, found = descend(np.array([0.5]), loss, GnnRetTraining(**options), no_progress)
    assert best[0] == tried[found - 1]
    return tried, least, found


def test_a_step_is_the_rate_times_the_derivative() -> None:
    assert _descend([3, 2, 1], rate=0.5, iterations=3)[0] == pytest.approx([0.5, 0.48, 0.46])


def test_it_ends_when_the_loss_rises_five_times_in_a_row() -> None:
    tried, least, found = _descend([*range(1, 50)])
    assert (len(tried), least, found) == (6, 1, 1)
    tried, least, found = _descend([2, 3, 4, 1, *range(2, 50)])
    assert (len(tried), least, found) == (9, 1, 4)


def _turn(start: list[float], gold: tuple[int, ...], rest: tuple[int, ...]) -> Turn:
    return Turn(np.array(start), gold, rest, lambda senders: [])


ONE = RecurrentExample(
    Question("q", "?", ("a",)),
    ("a", "b", "c", "d"),
    (_turn([0.5, 0.2, 0.6, 0.3], (0,), (1,)), _turn([0.9, 0.1, 0.4, 0.8], (1,), ())),
)


@pytest.mark.parametrize(
    ("labels", "first", "second"),
    [
        # nearest in the first step: b 0.2, d 0.3, a 0.5; in the second (beta is 0.75): b 0.125, c 0.45, d 0.675
        ("later", (0.5 + 0.2) / 2 - 0.3, 0.125 - (0.45 + 0.675) / 2),
        ("own", 0.5 - (0.2 + 0.3) / 2, 0.125 - (0.45 + 0.675) / 2),
        ("all", (0.5 + 0.2) / 2 - 0.3, (0.8 + 0.125) / 2 - (0.45 + 0.675) / 2),
    ],
)
def test_the_loss_of_the_recurrence_by_hand(labels: Any, first: float, second: float) -> None:
    training = RgnnTraining(margin=0.5, competitors=3, labels=labels)
    loss, gradient = mean_loss([ONE], np.array([0.4, 0.75]), 2, training)
    assert loss == pytest.approx((0.5 + first + 0.5 + second) / 2)
    assert gradient[0] == 0  # there are no messages


def test_training_begins_where_it_is_told() -> None:
    learned = train([ONE, ONE], 2, 2, RgnnTraining(start=0.7, iterations=1), no_progress)
    assert (learned.alphas, learned.beta) == ((0.7, 0.7), 0.7)


def test_the_gold_of_a_step_is_what_is_left_nearest_to_it() -> None:
    """Appendix A.2; the non-gold passages `o` and `r`, which receives messages, do not count."""
    one, two = {"g1": 0.6, "g2": 0.9, "g3": 0.7, "o": 0.95, "r": 0}, {"g1": 0.8, "g2": 0.9, "g3": 0.7, "o": 0.1, "r": 0}
    scores = {0.0: one, 1.0: one, 2.0: two}

    looked: list[Any] = []

    def order(vector: Sequence[float]) -> list[tuple[str, float]]:
        return sorted(scores[vector[0]].items(), key=lambda x: -x[1])

    reader = SimpleNamespace(
        document_scores=lambda keys, vector: {key: (f"g{key}", 0.5) for key in keys},
        vector=lambda vector, limit, over_fetch: order(vector)[: looked.append(limit) or 1],
        nearest_of=lambda ids, vector, limit: order(vector),
        collection=SimpleNamespace(name="c", embedding="embedding"),
    )
    embedder = SimpleNamespace(embed=lambda texts: np.array([[float(i)] for i in range(len(texts))]), name="e")

    def row(name: str, *, senders: list[str], **_: object) -> dict[str, Any]:
        return {"ties": [{"sender": id, "id": "r", "score": 0.1, "kind": "next", "name": ""} for id in senders]}

    context = SimpleNamespace(reader=reader, embedder=embedder, row=row)
    retriever: Any = SimpleNamespace(context=context, settings=GnnRetOptions(k=3, message="mean"))
    question: Any = SimpleNamespace(text="?", singles=("one", "two"), gold=("1", "2", "3"))
    example = RecurrentExample.read(retriever, question, RgnnTraining())
    assert example is not None and example.ids == ("g1", "g2", "g3", "o", "r")
    for plain in prepare(Example, retriever, [question, question], GnnRetTraining(competitors=4), no_progress):
        assert (plain.gold, set(plain.start), plain.message) == (("g1", "g2", "g3"), {"g1", "g2", "g3", "o"}, "mean")
    assert looked[-2:] == [4 + 3] * 2  # enough competitors, even if all gold is among the nearest
    assert [(turn.gold, turn.rest) for turn in example.turns] == [((1,), (0, 2)), ((0,), (2,))]
