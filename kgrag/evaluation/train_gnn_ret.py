"""Training of GNN-Ret: the `a` of each layer by gradient descent on questions whose gold is known.

Source: GNN-Ret, equation 8 and appendices A.1 and C. The derivatives are those of the loss itself, carried along with
the distances (the paper's equations 10 to 12 take every passage with weight 1 and leave out the means).
"""

import json
import random
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from kgrag.evaluation.constants import GnnRetTraining
from kgrag.evaluation.datasets import Dataset, Question
from kgrag.evaluation.retrieving import Record, Retrieving, retrieve_all
from kgrag.retrieval.base import Query
from kgrag.retrieval.gnn_ret import Edge, GnnRet, Message, Neighbours, distance, nearest, neighbours_of, propagate
from kgrag.values.errors import InputError
from kgrag.values.events import Progress
from kgrag.values.results import Ranking

UNTRAINED, TRAINED, AS_SET = "untrained", "trained", "as set"
"""The systems of a cross-validation; as set: the `alphas` of the settings, where they are other than untrained."""

Array = NDArray[np.float64]
_FEWEST = 2


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
    """What was learned: `a` for each layer, the mean loss at it, and in which iteration it was found.

    `active`: how many questions had a loss at the beginning; only from those something can be learned.
    """

    alphas: tuple[float, ...]
    loss: float
    iteration: int
    active: int


def prepare(
    retriever: GnnRet, questions: Sequence[Question], training: GnnRetTraining, progress: Progress
) -> list[Example]:
    """Read what training needs to know of each question; those without gold in the collection are left out.

    The gold passage of a document of several is the nearest. Raises InputError when fewer than two questions are left.
    """
    context, s = retriever.context, retriever.settings
    examples = []
    for number, question in enumerate(questions):
        progress("neighbourhoods", number, len(questions))
        vector = Query(question.text).vector(context.embedder)
        gold = dict(context.reader.document_scores(question.gold, vector).values())
        if gold:
            most = max(s.k, training.competitors + len(gold))
            start = dict(context.reader.vector(vector, most, s.over_fetch)) | gold
            distances = {id: distance(score) for id, score in start.items()}
            edges = remembered(neighbours_of(context, s, vector))
            examples.append(Example(question, distances, tuple(gold), edges, s.message))
    progress("neighbourhoods", len(questions), len(questions))
    if len(examples) < _FEWEST:
        name = context.reader.collection.name
        raise InputError(
            f"{len(examples)} of {len(questions)} questions have gold in collection {name!r}; "
            f"training needs {_FEWEST}, and better 20.",
            "Name the collection that holds the documents of the question set, or ingest them: kgrag lab eval DATASET.",
        )
    return examples


def train(examples: Sequence[Example], layers: int, k: int, training: GnnRetTraining, progress: Progress) -> Trained:
    """Descend the mean loss from the same `a` in every layer; of all that were tried the best is returned.

    It ends when every derivative that leads on within 0 to 1 is small, when the loss rises several times in a row, or
    after so many iterations.
    """
    active = sum(_loss(example, [training.start] * layers, k, training)[0] > 0 for example in examples)

    def loss(alphas: Array) -> tuple[float, Array]:
        return mean_loss(examples, alphas, k, training)

    best, value, iteration = descend(np.full(layers, training.start), loss, training, progress)
    return Trained(tuple(float(a) for a in best), value, iteration, active)


def descend(
    values: Array, loss: Callable[[Array], tuple[float, Array]], training: GnnRetTraining, progress: Progress
) -> tuple[Array, float, int]:
    """The values between 0 and 1 of the smallest loss that gradient descent met, that loss, and its iteration.

    `loss` gives its derivative, too. When it ends: see `train` (appendix A.1).
    """
    best, least, found = values, np.inf, 0
    before, rises = np.inf, 0
    for iteration in range(1, training.iterations + 1):
        progress("training", iteration, None)
        value, gradient = loss(values)
        if value < least:
            best, least, found = values, value, iteration
        rises = rises + 1 if value > before else 0
        following = np.clip(values - training.rate * gradient, 0, 1)
        if np.max(np.abs(following - values)) < training.tolerance * training.rate or rises >= training.patience:
            break
        values, before = following, value
    return best, float(least), found


def mean_loss(
    examples: Sequence[Example], alphas: Sequence[float] | NDArray[np.float64], k: int, training: GnnRetTraining
) -> tuple[float, NDArray[np.float64]]:
    """The mean hinge loss of the examples and its derivative by each `a` (equation 8)."""
    found = [_loss(example, [float(a) for a in alphas], k, training) for example in examples]
    return float(np.mean([loss for loss, _ in found])), np.mean([gradient for _, gradient in found], axis=0)


def _loss(
    example: Example, alphas: Sequence[float], k: int, training: GnnRetTraining
) -> tuple[float, NDArray[np.float64]]:
    """max(0, r + mean h(gold) - mean h(others)), where the others are the nearest O passages without the gold."""
    states = propagate(example.start, alphas, k, example.neighbours, example.message)
    others = [id for id in nearest(states)[: training.competitors] if id not in example.gold]
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
    """Rank each question with what was learned from the other folds, and untrained; records by system, and each fold.

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
    """Distinct texts in folds of equal size, give or take one. Raises InputError when there are too few."""
    distinct = sorted(set(texts))
    if folds > len(distinct):
        raise InputError(f"{len(distinct)} questions cannot be split into {folds} folds.", "Ask for fewer: --folds.")
    random.Random(seed).shuffle(distinct)
    return [frozenset(distinct[i::folds]) for i in range(folds)]


def with_alphas(retriever: GnnRet, alphas: tuple[float, ...]) -> GnnRet:
    """The same retriever with other `alphas`."""
    return GnnRet(retriever.context, **{**retriever.given, "alphas": alphas})


class _HeldOut:
    """Answers each question with the retriever that has not seen it."""

    def __init__(self, systems: Mapping[str, Retrieving]) -> None:
        self._systems = systems

    def retrieve(self, query: str, k: int = 8) -> Ranking:
        return self._systems[query].retrieve(query, k)


def remembered(neighbours: Neighbours) -> Neighbours:
    """The same edges, each sender's asked for once."""
    known: dict[str, list[Edge]] = {}

    def remembered(senders: Sequence[str]) -> Iterator[Edge]:
        unknown = [id for id in senders if id not in known]
        if unknown:
            known.update((id, []) for id in unknown)
            for edge in neighbours(unknown):
                known[edge.sender].append(edge)
        return (edge for id in senders for edge in known[id])

    return remembered


def keep(out: Path, learned: Mapping[str, object]) -> None:
    """Write what was learned, for the option. Raises InputError when it cannot be."""
    try:
        out.parent.mkdir(parents=True, exist_ok=True)
        out.write_text(json.dumps(learned, indent=2, ensure_ascii=False), encoding="utf-8")
    except OSError as error:
        raise InputError(f"{out} cannot be written ({error.strerror}).", "Name another file with --out.") from error
