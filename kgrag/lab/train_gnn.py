"""Training of GNN-Ret and RGNN-Ret by gradient descent on questions with gold: the `a` of each layer, and beta.

The derivatives are those of the loss itself, carried along with the distances (GNN-Ret's equations 10 to 12 take every
passage with weight 1 and leave out the means). In RGNN-Ret the distance of step t is h^t = beta * h(q^t) + (1 - beta) *
h^(t-1), and the loss of a step is the hinge loss of the gold that it and later steps want against the nearest others.
Source: GNN-Ret, equation 8 and appendices A.1 and C; RGNN-Ret, section 3.3, equations 4 and 5, appendices A.2 and J.
"""

import random
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from kgrag.lab import training as shared
from kgrag.lab.constants import GnnRetTraining, RgnnTraining
from kgrag.lab.datasets import Dataset, Question
from kgrag.lab.retrieving import Record, Retrieving, retrieve_all
from kgrag.models.embed import embed_questions
from kgrag.retrieval.base import Query
from kgrag.retrieval.gnn_ret import Edge, GnnRet, Message, Neighbours, distance, nearest, neighbours_of, propagate
from kgrag.values.errors import InputError
from kgrag.values.events import Progress
from kgrag.values.results import Ranking

UNTRAINED, TRAINED, AS_SET = "untrained", "trained", "as set"
"""The systems of a cross-validation; as set: the `alphas` of the settings, where they are other than untrained."""

Array = NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class Example:
    """A question to learn from: distances of the nearest passages and of its gold, the gold passages, the edges."""

    question: Question
    start: Mapping[str, float]
    gold: tuple[str, ...]
    neighbours: Neighbours
    message: Message = "nearest"


@dataclass(frozen=True, slots=True)
class Trained:
    """The learned `a` of each layer, the mean loss at it, and the iteration that found it.

    `active`: how many questions of GNN-Ret had a loss at the beginning; only from those something can be learned.
    `beta`: of RGNN-Ret.
    """

    alphas: tuple[float, ...]
    loss: float
    iteration: int
    active: int = 0
    beta: float = 1.0


def prepare(
    retriever: GnnRet, questions: Sequence[Question], training: GnnRetTraining, progress: Progress
) -> list[Example]:
    """Read what training needs to know of each question; those without gold in the collection are left out.

    The gold passage of a document of several is the nearest. Raises InputError when fewer than two questions are left.
    """
    context, s = retriever.context, retriever.settings

    def read(question: Question) -> Example | None:
        vector = Query(question.text).vector(context.embedder)
        gold = dict(context.reader.document_scores(question.gold, vector).values())
        if not gold:
            return None
        most = max(s.k, training.competitors + len(gold))
        start = dict(context.reader.vector(vector, most, s.over_fetch)) | gold
        distances = {id: distance(score) for id, score in start.items()}
        return Example(question, distances, tuple(gold), remembered(neighbours_of(context, s, vector)), s.message)

    return shared.prepare(
        questions,
        read,
        progress,
        f"have gold in collection {context.reader.collection.name!r}",
        "20 are better. Name the collection that holds their documents, or ingest these: kgrag lab eval DATASET.",
    )


def descend(
    values: Array, loss: Callable[[Array], tuple[float, Array]], training: GnnRetTraining, progress: Progress
) -> tuple[Array, float, int]:
    """Return the values between 0 and 1 with the smallest loss of a gradient descent, that loss, and its iteration.

    `loss` gives its derivative, too. It ends when every derivative that leads on within 0 to 1 is
    small, when the loss rises several times in a row, or after so many iterations (GNN-Ret, appendix A.1).
    """
    best, least, best_iteration = values, np.inf, 0
    before, rises = np.inf, 0
    for iteration in range(1, training.iterations + 1):
        progress("training", iteration, None)
        value, gradient = loss(values)
        if value < least:
            best, least, best_iteration = values, value, iteration
        rises = rises + 1 if value > before else 0
        following = np.clip(values - training.rate * gradient, 0, 1)
        if np.max(np.abs(following - values)) < training.tolerance * training.rate or rises >= training.patience:
            break
        values, before = following, value
    return best, float(least), best_iteration


def train(examples: Sequence[Example], layers: int, k: int, training: GnnRetTraining, progress: Progress) -> Trained:
    """Descend the mean loss from the same `a` in every layer; of all that were tried the best is returned.

    When it ends: see `descend`.
    """
    active = sum(_loss(example, [training.start] * layers, k, training)[0] > 0 for example in examples)

    def loss(alphas: Array) -> tuple[float, Array]:
        return mean_loss(examples, alphas, k, training)

    best, value, iteration = descend(np.full(layers, training.start), loss, training, progress)
    return Trained(tuple(float(a) for a in best), value, iteration, active)


def mean_loss(
    examples: Sequence[Example], alphas: Sequence[float] | NDArray[np.float64], k: int, training: GnnRetTraining
) -> tuple[float, NDArray[np.float64]]:
    """Return the mean hinge loss of the examples and its derivative by each `a` (equation 8)."""
    losses = [_loss(example, [float(a) for a in alphas], k, training) for example in examples]
    return float(np.mean([loss for loss, _ in losses])), np.mean([gradient for _, gradient in losses], axis=0)


def _loss(
    example: Example, alphas: Sequence[float], k: int, training: GnnRetTraining
) -> tuple[float, NDArray[np.float64]]:
    """Return the loss and its derivatives.

    max(0, r + mean h(gold) - mean h(others)), where the others are the nearest O passages without the gold.
    """
    states = propagate(example.start, alphas, k, example.neighbours, example.message)
    if training.nearest == "integrated":
        order = nearest(states)
    else:
        order = sorted(states, key=lambda id: (example.start.get(id, np.inf), id))
    others = [id for id in order[: training.competitors] if id not in example.gold]
    flat = np.zeros(len(alphas))
    if not others:
        return 0.0, flat
    loss = training.margin
    loss += float(np.mean([states[id].distance for id in example.gold]))
    loss -= float(np.mean([states[id].distance for id in others]))
    if loss <= 0:
        return 0.0, flat
    gold = np.mean([states[id].gradient for id in example.gold], axis=0)
    return loss, gold - np.mean([states[id].gradient for id in others], axis=0)


def cross_validate(
    retriever: GnnRet,
    data: Dataset,
    examples: Sequence[Example],
    layers: int,
    folds: int,
    training: GnnRetTraining,
    progress: Progress,
    seed: int = 0,
) -> tuple[list[Record], list[Trained]]:
    """Rank each question with the weights of the other folds, and untrained; return records by system, and each fold.

    Raises InputError when there are fewer questions than folds.
    """
    parts = split([e.question.text for e in examples], folds, seed)
    k = retriever.settings.k
    learned: list[Trained] = []
    held_out: dict[str, Retrieving] = {}
    for part in parts:
        learned.append(train([e for e in examples if e.question.text not in part], layers, k, training, progress))
        system = with_alphas(retriever, learned[-1].alphas)
        held_out |= dict.fromkeys(part, system)
    untrained = (0.5,) * layers
    systems: dict[str, Retrieving] = {UNTRAINED: with_alphas(retriever, untrained)}
    if retriever.settings.alphas != untrained:
        systems[AS_SET] = retriever
    systems[TRAINED] = _HeldOut(held_out)
    questions = [e.question for e in examples]
    return retrieve_all(systems, questions, progress, gold_texts=data.gold_texts), learned


def split(texts: Iterable[str], folds: int, seed: int) -> list[frozenset[str]]:
    """Return distinct texts in folds of equal size, give or take one. Raises InputError when there are too few."""
    distinct = sorted(set(texts))
    if folds > len(distinct):
        raise InputError(f"{len(distinct)} questions cannot be split into {folds} folds.", "Ask for fewer: --folds.")
    random.Random(seed).shuffle(distinct)
    return [frozenset(distinct[i::folds]) for i in range(folds)]


def with_alphas(retriever: GnnRet, alphas: tuple[float, ...]) -> GnnRet:
    """Return the same retriever with other `alphas`."""
    return GnnRet(retriever.context, **{**retriever.given, "alphas": alphas})


class _HeldOut:
    """Answers each question with the retriever that has not seen it."""

    def __init__(self, systems: Mapping[str, Retrieving]) -> None:
        self._systems = systems

    def retrieve(self, query: str, k: int = 8) -> Ranking:
        return self._systems[query].retrieve(query, k)


def remembered(neighbours: Neighbours) -> Neighbours:
    """Return the same edges, each sender's fetched once."""
    edges: dict[str, list[Edge]] = {}

    def remembered(senders: Sequence[str]) -> Iterator[Edge]:
        unknown = [id for id in senders if id not in edges]
        if unknown:
            edges.update((id, []) for id in unknown)
            for edge in neighbours(unknown):
                edges[edge.sender].append(edge)
        return (edge for id in senders for edge in edges[id])

    return remembered


@dataclass(frozen=True, slots=True)
class Turn:
    """A single question: the distance of each passage to it, its gold, and the edges.

    `start` [passages]: in the order of the example's ids; `gold` and `rest`: places of the gold that it asks for, and
    of that which later ones ask for.
    """

    start: Array
    gold: tuple[int, ...]
    rest: tuple[int, ...]
    neighbours: Neighbours
    message: Message = "nearest"


@dataclass(frozen=True, slots=True)
class RecurrentExample:
    """A question to learn from: the passages looked at, and its single questions in order."""

    question: Question
    ids: tuple[str, ...]
    turns: tuple[Turn, ...]


def prepare_recurrent(
    retriever: GnnRet, questions: Sequence[Question], training: RgnnTraining, progress: Progress
) -> list[RecurrentExample]:
    """Read what training needs to know of each question; those without single questions or gold are left out.

    Looked at are the passages nearest to each single question, what these send to in the first layer, and the gold.
    Raises InputError when fewer than two questions are left.
    """
    return shared.prepare(
        questions,
        lambda question: recurrent_example(retriever, question, training),
        progress,
        f"have single questions and gold in collection {retriever.context.reader.collection.name!r}",
        "5 are better. Give each question of queries.jsonl its steps: a list of {question, answer, gold}.",
    )


def recurrent_example(retriever: GnnRet, question: Question, training: RgnnTraining) -> RecurrentExample | None:
    """Make an example of a question of several hops; None where its single questions or gold are missing."""
    if len(question.singles) < 2 or not question.gold:
        return None
    context, s = retriever.context, retriever.settings
    vector_of_whole, *singles = embed_questions(context.embedder, [question.text, *question.singles]).tolist()
    gold = [id for id, _ in context.reader.document_scores(question.gold, vector_of_whole).values()]
    if not gold:
        return None
    most = max(s.k, training.competitors + len(gold), s.over_fetch)
    golds = set(gold)
    edges = []
    for vector in singles:
        near = [id for id, _ in context.reader.vector(vector, most, s.over_fetch)]  # nearest first
        edges.append(remembered(neighbours_of(context, s, vector)))
        golds.update(near, (edge.receiver for edge in edges[-1](near[: s.k])))
    ids = sorted(golds)
    place = {id: i for i, id in enumerate(ids)}
    scores = [dict(context.reader.nearest_of(ids, vector, len(ids))) for vector in singles]
    starts = [np.array([distance(by_id[id]) for id in ids]) for by_id in scores]
    order: list[int] = []
    left = {place[id] for id in gold}
    for start in starts:  # the gold of a step is what is left nearest to it (appendix A.2)
        order += [min(left, key=lambda i: (start[i], i))] if left else []
        left.difference_update(order)
    turns = [
        Turn(start, tuple(order[t : t + 1]), (*order[t + 1 :], *sorted(left)), ties, s.message)
        for t, (start, ties) in enumerate(zip(starts, edges, strict=True))
    ]
    return RecurrentExample(question, tuple(ids), tuple(turns))


def train_recurrent(
    examples: Sequence[RecurrentExample], layers: int, k: int, training: RgnnTraining, progress: Progress
) -> Trained:
    """Descend the mean loss from the same value of every parameter; of all that were tried the best is returned.

    With `training.only` the others stay 1: no messages, or no memory of the single questions before (table 2).
    """
    open_ = np.array([training.only in (None, "alphas")] * layers + [training.only in (None, "beta")])

    def loss(values: Array) -> tuple[float, Array]:
        value, gradient = mean_loss_recurrent(examples, values, k, training)
        return value, np.where(open_, gradient, 0.0)

    begin = np.where(open_, np.full(layers + 1, training.start), 1.0)
    best, value, iteration = descend(begin, loss, training, progress)
    return Trained(tuple(float(a) for a in best[:-1]), value, iteration, beta=float(best[-1]))


def mean_loss_recurrent(
    examples: Sequence[RecurrentExample], values: Array, k: int, training: RgnnTraining
) -> tuple[float, Array]:
    """Return the mean loss of the examples and its derivative by `values` [layers + 1]: each `a`, and `beta`.

    Equation 5.
    """
    losses = [_recurrent_loss(example, values, k, training) for example in examples]
    return float(np.mean([loss for loss, _ in losses])), np.mean([gradient for _, gradient in losses], axis=0)


def _recurrent_loss(example: RecurrentExample, values: Array, k: int, training: RgnnTraining) -> tuple[float, Array]:
    alphas, beta = [float(a) for a in values[:-1]], float(values[-1])
    losses: list[float] = []
    gradients: list[Array] = []
    for number, turn in enumerate(example.turns):
        own, slopes = _layers(example.ids, turn, alphas, k)  # [passages], [passages, layers]
        if number == 0:
            h, by = own, np.column_stack([slopes, np.zeros(len(own))])
        else:
            by = np.column_stack([beta * slopes + (1 - beta) * by[:, :-1], own - h + (1 - beta) * by[:, -1]])
            h = beta * own + (1 - beta) * h
        gold = {
            "later": (*turn.gold, *turn.rest),
            "own": turn.gold,
            "all": example.turns[0].gold + example.turns[0].rest,
        }
        targets = list(gold[training.labels])
        if not targets:
            continue
        by_distance = np.argsort(h if training.nearest == "integrated" else turn.start, kind="stable")
        others = [i for i in by_distance[: training.competitors] if i not in targets]
        loss = training.margin + h[targets].mean() - h[others].mean() if others else 0.0
        losses.append(max(0.0, float(loss)))
        gradients.append(by[targets].mean(axis=0) - by[others].mean(axis=0) if loss > 0 else np.zeros(len(values)))
    return float(np.mean(losses)), np.mean(gradients, axis=0)


def _layers(ids: Sequence[str], turn: Turn, alphas: Sequence[float], k: int) -> tuple[Array, Array]:
    """Return the distance of each passage to a single question after the layers, and its derivative by each `a`."""
    states = propagate(dict(zip(ids, turn.start.tolist(), strict=True)), alphas, k, turn.neighbours, turn.message)
    return np.array([states[id].distance for id in ids]), np.array([states[id].gradient for id in ids])
