"""Training of RGNN-Ret: the `a` of each layer and `beta` by gradient descent on questions with their single questions.

The distance of step t is h^t = beta * h(q^t) + (1 - beta) * h^(t-1), and the loss of a step is the hinge loss of the
gold that it and later steps want against the nearest others. Source: RGNN-Ret, section 3.3, equations 4 and 5, and
appendices A.2 and J. The derivatives are those of the loss itself, carried along with the distances.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from kgrag.evaluation.constants import RgnnTraining
from kgrag.evaluation.datasets import Question
from kgrag.evaluation.train_gnn_ret import descend, remembered
from kgrag.models.embed import embed_questions
from kgrag.retrieval.gnn_ret import GnnRet, Message, Neighbours, distance, neighbours_of, propagate
from kgrag.values.errors import InputError
from kgrag.values.events import Progress

Array = NDArray[np.float64]
_FEWEST = 2


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
class Example:
    """A question to learn from: the passages looked at, and its single questions in order."""

    question: Question
    ids: tuple[str, ...]
    turns: tuple[Turn, ...]


@dataclass(frozen=True, slots=True)
class Trained:
    """What was learned: `a` for each layer and `beta`, the mean loss at them, and in which iteration it was found."""

    alphas: tuple[float, ...]
    beta: float
    loss: float
    iteration: int


def prepare(
    retriever: GnnRet, questions: Sequence[Question], training: RgnnTraining, progress: Progress
) -> list[Example]:
    """Read what training needs to know of each question; those without single questions or gold are left out.

    Looked at are the passages nearest to each single question, what these send to in the first layer, and the gold.
    Raises InputError when fewer than two questions are left.
    """
    examples = []
    for number, question in enumerate(questions):
        progress("neighbourhoods", number, len(questions))
        example = _example(retriever, question, training) if len(question.singles) > 1 and question.gold else None
        if example is not None:
            examples.append(example)
    progress("neighbourhoods", len(questions), len(questions))
    if len(examples) < _FEWEST:
        raise InputError(
            f"{len(examples)} of {len(questions)} questions have single questions and gold in collection "
            f"{retriever.context.reader.collection.name!r}; training needs {_FEWEST}, and better 5.",
            "Give each question of queries.jsonl its steps: a list of {question, answer, gold}.",
        )
    return examples


def _example(retriever: GnnRet, question: Question, training: RgnnTraining) -> Example | None:
    context, s = retriever.context, retriever.settings
    asked, *singles = embed_questions(context.embedder, [question.text, *question.singles]).tolist()
    gold = [id for id, _ in context.reader.document_scores(question.gold, asked).values()]
    if not gold:
        return None
    most = max(s.k, training.competitors + len(gold), s.over_fetch)
    held = set(gold)
    edges = []
    for vector in singles:
        near = [id for id, _ in context.reader.vector(vector, most, s.over_fetch)]  # nearest first
        edges.append(remembered(neighbours_of(context, s, vector)))
        held.update(near, (edge.receiver for edge in edges[-1](near[: s.k])))
    ids = sorted(held)
    place = {id: i for i, id in enumerate(ids)}
    scores = [dict(context.reader.nearest_of(ids, vector, len(ids))) for vector in singles]
    starts = [np.array([distance(its[id]) for id in ids]) for its in scores]
    order: list[int] = []
    left = {place[id] for id in gold}
    for start in starts:  # the gold of a step is what is left nearest to it (appendix A.2)
        order += [min(left, key=lambda i: (start[i], i))] if left else []
        left.difference_update(order)
    turns = [
        Turn(start, tuple(order[t : t + 1]), (*order[t + 1 :], *sorted(left)), ties, s.message)
        for t, (start, ties) in enumerate(zip(starts, edges, strict=True))
    ]
    return Example(question, tuple(ids), tuple(turns))


def train(examples: Sequence[Example], layers: int, k: int, training: RgnnTraining, progress: Progress) -> Trained:
    """Descend the mean loss from the same value of every parameter; of all that were tried the best is returned.

    With `training.only` the others stay 1: no messages, or no memory of the single questions before (table 2).
    """
    open_ = np.array([training.only in (None, "alphas")] * layers + [training.only in (None, "beta")])

    def loss(values: Array) -> tuple[float, Array]:
        value, gradient = mean_loss(examples, values, k, training)
        return value, np.where(open_, gradient, 0.0)

    begin = np.where(open_, np.full(layers + 1, training.start), 1.0)
    best, value, iteration = descend(begin, loss, training, progress)
    return Trained(tuple(float(a) for a in best[:-1]), float(best[-1]), value, iteration)


def mean_loss(examples: Sequence[Example], values: Array, k: int, training: RgnnTraining) -> tuple[float, Array]:
    """The mean loss of the examples and its derivative by `values` [layers + 1]: each `a`, and `beta` (equation 5)."""
    found = [_loss(example, values, k, training) for example in examples]
    return float(np.mean([loss for loss, _ in found])), np.mean([gradient for _, gradient in found], axis=0)


def _loss(example: Example, values: Array, k: int, training: RgnnTraining) -> tuple[float, Array]:
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
        wanted = list(gold[training.labels])
        if not wanted:
            continue
        others = [i for i in np.argsort(h, kind="stable")[: training.competitors] if i not in wanted]
        loss = training.margin + h[wanted].mean() - h[others].mean() if others else 0.0
        losses.append(max(0.0, float(loss)))
        gradients.append(by[wanted].mean(axis=0) - by[others].mean(axis=0) if loss > 0 else np.zeros(len(values)))
    return float(np.mean(losses)), np.mean(gradients, axis=0)


def _layers(ids: Sequence[str], turn: Turn, alphas: Sequence[float], k: int) -> tuple[Array, Array]:
    """The distance of each passage to a single question after the layers, and its derivative by each `a`."""
    states = propagate(dict(zip(ids, turn.start.tolist(), strict=True)), alphas, k, turn.neighbours, turn.message)
    return np.array([states[id].distance for id in ids]), np.array([states[id].gradient for id in ids])
