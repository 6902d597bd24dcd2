"""The second stage of a ranking: another retriever's best passages in the order of a model that reads their texts."""

import threading
from collections.abc import Callable, Sequence

from kgrag.retrieval.base import Query, Retriever, Scored
from kgrag.values.results import Passage, Step

ONE_AT_A_TIME = threading.Lock()
"""Held while a model in this process reads: threads of torch side by side would fight over the cores."""


def rank_again(
    retriever: Retriever, query: Query, depth: int, n: int, score: Callable[[list[str]], Sequence[float]]
) -> list[Scored]:
    """Return the best `n` among the first `depth` passages of the retriever's base, by `score` of their texts.

    Passages that are gone meanwhile are left out; a tie goes by the base's order. What led to a passage stays, with its
    new rank.
    """
    found = retriever.parts[0].rank(query, depth)
    passages = retriever.context.reader.passages([hit.id for hit in found])
    found = [hit for hit in found if hit.id in passages]
    if not found:
        return []
    given = score([text_of(passages[hit.id]) for hit in found])
    scores = dict(zip([hit.id for hit in found], given, strict=True))
    best = sorted(found, key=lambda hit: -scores[hit.id])[:n]
    return [
        Scored(hit.id, scores[hit.id], (*hit.why, rank_step(type(retriever).name, rank, scores[hit.id])))
        for rank, hit in enumerate(best, 1)
    ]


def rank_step(name: str, rank: int, score: float) -> Step:
    """Return the step of a passage's rank."""
    return Step(f"{name} rank {rank}", "Passage", "", score)


def text_of(passage: Passage) -> str:
    """Return a passage as text for a model: its title and its text."""
    return f"{passage.title}\n{passage.text}".strip()
