"""Training of GNN-Ret and RGNN-Ret by gradient descent on questions with gold: the `a` of each layer, and beta.

The derivatives are exact and propagate along with the distances (GNN-Ret's equations 10 to 12 give every passage weight
1 and leave out the means). In RGNN-Ret the distance of step t is h^t = beta * h(q^t) + (1 - beta) * h^(t-1). The loss
of a step is the hinge loss of its own and later gold (see `labels`) against the nearest other passages.
Source: GNN-Ret, equation 8 and appendices A.1 and C; RGNN-Ret, section 3.3, equations 4 and 5, appendices A.2 and J.
"""

import random
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any, ClassVar, Protocol, TypeVar

import numpy as np
from numpy.typing import NDArray

from kgrag.lab import training as shared
from kgrag.lab.constants import GnnRetTraining, RgnnTraining
from kgrag.lab.datasets import Dataset, Question
from kgrag.lab.retrieving import Record, Retrieving, retrieve_all
from kgrag.models.embed import embed_questions
from kgrag.retrieval.base import Query
from kgrag.retrieval.gnn_ret import Edge, GnnRet, Message, Neighbours, distance, neighbours_of, propagate
from kgrag.values.errors import InputError
from kgrag.values.events import Progress
from kgrag.values.results import Ranking

UNTRAINED, TRAINED, AS_SET = "untrained", "trained", "as set"
"""The systems of a cross-validation; as set: the configured `alphas`, if they differ from untrained."""

Array = NDArray[np.float64]


Loss = tuple[float, Array]
"""A loss and its derivative by each parameter."""
Training = TypeVar("Training", bound=GnnRetTraining, contravariant=True)


class Learnable(Protocol[Training]):
    """An example: a training question."""

    @property
    def question(self) -> Question:
        """Its question."""
        ...

    def loss(self, values: Array, k: int, training: Training) -> Loss:
        """Return its loss at `values`, the parameters."""
        ...


@dataclass(frozen=True)
class Example:
    """A question of GNN-Ret: distances of the nearest passages and of its gold, the gold passages, the edges."""

    LACK: ClassVar = "have gold"
    REMEDY: ClassVar = "20 are better. Take a larger question set."
    question: Question
    start: Mapping[str, float]
    gold: tuple[str, ...]
    neighbours: Neighbours
    message: Message = "nearest"

    @classmethod
    def read(cls, retriever: GnnRet, question: Question, training: GnnRetTraining) -> "Example | None":
        """Make an example; None without gold. Of a gold document's passages, the nearest counts."""
        context, s = retriever.context, retriever.settings
        vector = Query(question.text).vector(context.embedder)
        gold = dict(context.reader.document_scores(question.gold, vector).values())
        if not gold:
            return None
        most = max(s.k, training.competitors + len(gold))
        start = dict(context.reader.vector(vector, most, s.over_fetch)) | gold
        distances = {id: distance(score) for id, score in start.items()}
        return cls(question, distances, tuple(gold), remembered(neighbours_of(context, s, vector)), s.message)

    def loss(self, values: Array, k: int, training: GnnRetTraining) -> Loss:
        """Return its loss at each `a` (equation 8)."""
        states = propagate(self.start, values.tolist(), k, self.neighbours, self.message)
        ids = sorted(states)
        h, by = np.array([states[id].distance for id in ids]), np.array([states[id].gradient for id in ids])
        start = np.array([self.start.get(id, np.inf) for id in ids])
        return _hinge(h, by, [ids.index(id) for id in self.gold], start, training)


@dataclass(frozen=True, slots=True)
class Trained:
    """The learned `a` of each layer, the mean loss at it, and the iteration that found it.

    `active`: how many questions had a loss at the beginning; the others teach nothing. `beta`: of RGNN-Ret.
    """

    alphas: tuple[float, ...]
    loss: float
    iteration: int
    active: int = 0
    beta: float = 1.0


def prepare(
    kind: "type[Example] | type[RecurrentExample]",
    retriever: GnnRet,
    questions: Sequence[Question],
    training: Any,
    progress: Progress,
) -> list[Any]:
    """Read the examples of a kind; leave out questions without one. Raises InputError for fewer than two."""
    place = f"in collection {retriever.context.reader.collection.name!r}"
    read = partial(kind.read, retriever, training=training)
    return shared.prepare(questions, read, progress, f"{kind.LACK} {place}", kind.REMEDY)


def descend(
    values: Array, loss: Callable[[Array], tuple[float, Array]], training: GnnRetTraining, progress: Progress
) -> tuple[Array, float, int]:
    """Return the values between 0 and 1 with the smallest loss of a gradient descent, that loss, and its iteration.

    `loss` returns its derivative, too. The descent ends when every step within 0 to 1 is small, when the loss rises
    several times in a row, or after the maximum of iterations (GNN-Ret, appendix A.1).
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


def train(
    examples: Sequence[Learnable[Training]], layers: int, k: int, training: Training, progress: Progress
) -> Trained:
    """Minimise the mean loss from the same initial value of every parameter; return the best values found.

    The parameters are the `a` of each layer, and beta of RGNN-Ret. With `only` the others stay 1: no messages, or no
    memory of earlier sub-questions (table 2). `descend` gives the end conditions.
    """
    recurrent = isinstance(training, RgnnTraining)
    only = training.only if isinstance(training, RgnnTraining) else None
    open_ = np.array([only != "beta"] * layers + [only != "alphas"] * recurrent)
    begin = np.where(open_, training.start, 1.0)

    def loss(values: Array) -> Loss:
        value, gradient = mean_loss(examples, values, k, training)
        return value, np.where(open_, gradient, 0.0)

    active = sum(example.loss(begin, k, training)[0] > 0 for example in examples)
    best, value, iteration = descend(begin, loss, training, progress)
    alphas, beta = (best[:-1], best[-1]) if recurrent else (best, 1.0)
    return Trained(tuple(map(float, alphas)), value, iteration, active, float(beta))


def mean_loss(
    examples: Sequence[Learnable[Training]], values: Sequence[float] | Array, k: int, training: Training
) -> Loss:
    """Return the mean loss of the examples and its derivative by `values`: each `a`, and beta of RGNN-Ret."""
    losses = [example.loss(np.asarray(values), k, training) for example in examples]
    return float(np.mean([loss for loss, _ in losses])), np.mean([gradient for _, gradient in losses], axis=0)


def _hinge(h: Array, by: Array, gold: list[int], start: Array, training: GnnRetTraining) -> Loss:
    """Return max(0, r + mean h(gold) - mean h(others)); the others are the nearest O passages without the gold.

    `h` [passages]: distances, `by` [passages, parameters]: their derivatives, `start` [passages]: the distances before
    the layers.
    """
    order = np.argsort(h if training.nearest == "integrated" else start, kind="stable")
    others = [i for i in order[: training.competitors] if i not in gold]
    loss = training.margin + h[gold].mean() - h[others].mean() if others else 0.0
    if loss <= 0:
        return 0.0, np.zeros(by.shape[1])
    return float(loss), by[gold].mean(axis=0) - by[others].mean(axis=0)


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
    """Rank each question with the weights of the other folds, and untrained; return records by system, and the folds.

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
    """Return distinct texts in folds of equal size, give or take one. Raises InputError if there are too few."""
    distinct = sorted(set(texts))
    if folds > len(distinct):
        raise InputError(f"{len(distinct)} questions cannot be split into {folds} folds.", "Ask for fewer: --folds.")
    random.Random(seed).shuffle(distinct)
    return [frozenset(distinct[i::folds]) for i in range(folds)]


def with_alphas(retriever: GnnRet, alphas: tuple[float, ...]) -> GnnRet:
    """Return the same retriever with other `alphas`."""
    return GnnRet(retriever.context, **{**retriever.given, "alphas": alphas})


class _HeldOut:
    """Ranks each question with the retriever that was not trained on it."""

    def __init__(self, systems: Mapping[str, Retrieving]) -> None:
        self._systems = systems

    def retrieve(self, query: str, k: int = 8) -> Ranking:
        return self._systems[query].retrieve(query, k)


def remembered(neighbours: Neighbours) -> Neighbours:
    """Return the same edges, with a cache of each sender's edges."""
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
    """A sub-question: the distance of each passage to it, its gold, and the edges.

    `start` [passages]: in the order of the example's ids; `gold` and `rest`: the indices of its own gold, and of the
    gold of later sub-questions.
    """

    start: Array
    gold: tuple[int, ...]
    rest: tuple[int, ...]
    neighbours: Neighbours
    message: Message = "nearest"


@dataclass(frozen=True)
class RecurrentExample:
    """A question of RGNN-Ret: the candidate passages, and its sub-questions in order."""

    LACK: ClassVar = "have single questions and gold"
    REMEDY: ClassVar = (
        "5 are better. Give each question of queries.jsonl its steps: a list of {question, answer, gold}."
    )
    question: Question
    ids: tuple[str, ...]
    turns: tuple[Turn, ...]

    @classmethod
    def read(cls, retriever: GnnRet, question: Question, training: RgnnTraining) -> "RecurrentExample | None":
        """Make an example of a multi-hop question; None if its sub-questions or gold are missing.

        Candidates are the passages nearest to each sub-question, their receivers in the first layer, and the gold.
        """
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
        for start in starts:  # the gold of a step is the nearest remaining gold (appendix A.2)
            order += [min(left, key=lambda i: (start[i], i))] if left else []
            left.difference_update(order)
        turns = [
            Turn(start, tuple(order[t : t + 1]), (*order[t + 1 :], *sorted(left)), ties, s.message)
            for t, (start, ties) in enumerate(zip(starts, edges, strict=True))
        ]
        return cls(question, tuple(ids), tuple(turns))

    def loss(self, values: Array, k: int, training: RgnnTraining) -> Loss:
        """Return the mean of its steps' losses (equation 5) at `values` [layers + 1]: each `a`, and `beta`."""
        alphas, beta = values[:-1].tolist(), float(values[-1])
        losses: list[Loss] = []
        for number, turn in enumerate(self.turns):
            begin = dict(zip(self.ids, turn.start.tolist(), strict=True))
            states = propagate(begin, alphas, k, turn.neighbours, turn.message)
            own = np.array([states[id].distance for id in self.ids])
            slopes = np.array([states[id].gradient for id in self.ids])  # [passages, layers]
            if number == 0:
                h, by = own, np.column_stack([slopes, np.zeros(len(own))])
            else:
                by = np.column_stack([beta * slopes + (1 - beta) * by[:, :-1], own - h + (1 - beta) * by[:, -1]])
                h = beta * own + (1 - beta) * h
            gold = {"later": (*turn.gold, *turn.rest), "own": turn.gold, "all": self.turns[0].gold + self.turns[0].rest}
            if targets := list(gold[training.labels]):
                losses.append(_hinge(h, by, targets, turn.start, training))
        return float(np.mean([loss for loss, _ in losses])), np.mean([gradient for _, gradient in losses], axis=0)
