"""Training of GNN-Ret and RGNN-Ret: its constants, the descent, the loss of the recurrence and its labels by hand."""

from collections.abc import Sequence
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from kgrag.lab.constants import GnnRetTraining, RgnnTraining
from kgrag.lab.datasets import Question
from kgrag.lab.train_gnn import (
    Array,
    RecurrentExample,
    Turn,
    _recurrent_example,
    descend,
    mean_loss_recurrent,
    train_recurrent,
)
from kgrag.retrieval.gnn_ret import GnnRetOptions


def no_progress(stage: str, done: int, total: int | None) -> None:
    pass


def test_constants_are_the_papers() -> None:
    """GNN-Ret, appendices A.1 and C; RGNN-Ret, appendices A.2 and C."""
    ours = GnnRetTraining()
    assert (ours.start, ours.margin, ours.competitors, ours.rate, ours.patience) == (0.1, 0.01, 25, 1.0, 5)
    its = RgnnTraining()
    assert (its.start, its.margin, its.competitors, its.rate, its.patience) == (1.0, 0.01, 10, 1.0, 5)
    assert its.labels == "later"


def _descend(losses: Sequence[float], **options: Any) -> tuple[list[float], float, int]:
    """The values that were tried with such losses one after the other, the least loss, and its iteration."""
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
        # nearest of the first step: b 0.2, d 0.3, a 0.5; of the second (beta is 0.75): b 0.125, c 0.45, d 0.675
        ("later", (0.5 + 0.2) / 2 - 0.3, 0.125 - (0.45 + 0.675) / 2),
        ("own", 0.5 - (0.2 + 0.3) / 2, 0.125 - (0.45 + 0.675) / 2),
        ("all", (0.5 + 0.2) / 2 - 0.3, (0.8 + 0.125) / 2 - (0.45 + 0.675) / 2),
    ],
)
def test_the_loss_of_the_recurrence_by_hand(labels: Any, first: float, second: float) -> None:
    training = RgnnTraining(margin=0.5, competitors=3, labels=labels)
    loss, gradient = mean_loss_recurrent([ONE], np.array([0.4, 0.75]), 2, training)
    assert loss == pytest.approx((0.5 + first + 0.5 + second) / 2)
    assert gradient[0] == 0  # nothing is sent


def test_training_begins_where_it_is_told() -> None:
    learned = train_recurrent([ONE, ONE], 2, 2, RgnnTraining(start=0.7, iterations=1), no_progress)
    assert (learned.alphas, learned.beta) == ((0.7, 0.7), 0.7)


def test_the_gold_of_a_step_is_what_is_left_nearest_to_it() -> None:
    """Appendix A.2; `o` is none of it."""
    scores = {1.0: {"g1": 0.6, "g2": 0.9, "g3": 0.7, "o": 0.95}, 2.0: {"g1": 0.8, "g2": 0.9, "g3": 0.7, "o": 0.1}}

    def order(vector: Sequence[float]) -> list[tuple[str, float]]:
        return sorted(scores[vector[0]].items(), key=lambda x: -x[1])

    reader = SimpleNamespace(
        document_scores=lambda keys, vector: {key: (f"g{key}", 0.5) for key in keys},
        vector=lambda vector, limit, over_fetch: order(vector)[:1],
        nearest_of=lambda ids, vector, limit: order(vector),
        collection=SimpleNamespace(name="c", embedding="embedding"),
    )
    embedder = SimpleNamespace(embed=lambda texts: np.array([[float(i)] for i in range(len(texts))]))
    context = SimpleNamespace(reader=reader, embedder=embedder, row=lambda *_, **__: {"ties": []})
    retriever: Any = SimpleNamespace(context=context, settings=GnnRetOptions())
    question: Any = SimpleNamespace(text="?", singles=("one", "two"), gold=("1", "2", "3"))
    example = _recurrent_example(retriever, question, RgnnTraining())
    assert example is not None and example.ids == ("g1", "g2", "g3", "o")
    assert [(turn.gold, turn.rest) for turn in example.turns] == [((1,), (0, 2)), ((0,), (2,))]
