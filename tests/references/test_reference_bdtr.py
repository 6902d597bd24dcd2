"""BDTR, equations 1 to 6 in memory, against the strategy over a retriever of random scores."""

import math
import random
from collections.abc import Mapping, Sequence
from typing import Any

import pytest
from corpus import Hashed

from kgrag.agents.bdtr import Bdtr
from kgrag.agents.episode import QuestionContext, StepQuery
from kgrag.retrieval.base import Query, Retriever, Scored
from kgrag.retrieval.context import SearchContext
from kgrag.values.results import Passage

CASES = 1000
_LEVELS = (-0.75, -0.5, 0.0, 0.25, 0.5, 1.0)
"""Scores with many ties; some are negative."""


class Backbone(Retriever):
    """A retriever with given scores for each query; ties are ordered by id."""

    name = "backbone"
    summary = "what it was told"
    scale = "cosine"

    def __init__(self) -> None:
        super().__init__(SearchContext(None, Hashed()))  # type: ignore[arg-type]
        self.scores: dict[str, Mapping[str, float]] = {}

    def rank(self, query: Query, n: int) -> list[Scored]:
        found = [Scored(id, score) for id, score in self.scores[query.text].items()]
        return sorted(found, key=lambda x: (-x.score, x.id))[:n]

    def passages(self, ids: Sequence[str]) -> Mapping[str, Passage]:
        return {id: Passage(id, id, id, "") for id in ids}


class Verifier:
    """A language model that writes the next queries, and selects the passages that support a chain."""

    def __init__(self, supporting: Sequence[int]) -> None:
        self.supporting = supporting
        self.thoughts = 0

    def text(self, task: str, prompt: str = "", **values: Any) -> str:
        return "A, then B."

    def structured(self, task: str, kind: Any, prompt: str = "", **values: Any) -> Any:
        if task == "verify":
            return kind.model_validate({"covered_doc_indices": list(self.supporting)})
        self.thoughts += 1
        return kind.model_validate({"fast": f"fast {self.thoughts}", "slow": f"slow {self.thoughts}"})


def pooled(rounds: Sequence[Sequence[Mapping[str, float]]]) -> list[tuple[str, float]]:
    """Return equations 3 and 4: all passages of any query with their best scores; ties by order of arrival."""
    pool: dict[str, float] = {}
    for scores in (scores for searches in rounds for scores in searches):
        for id in sorted(scores, key=lambda id: (-scores[id], id)):
            pool[id] = max(scores[id], pool.get(id, -math.inf))
    return sorted(pool.items(), key=lambda x: -x[1])


def final(pool: Sequence[tuple[str, float]], supporting: Sequence[int], promoted: str) -> tuple[list[str], int]:
    """Return equations 5 and 6: the ranking, and how many passages of it are read."""
    shown = pool[:30]
    first = list(dict.fromkeys(shown[n - 1] for n in supporting if 1 <= n <= len(shown)))
    ranking = [*first, *(x for x in pool if x not in first)]
    top = [score for _, score in ranking[:50]]
    mean = math.fsum(top) / len(top)
    bar = mean + math.sqrt(math.fsum((score - mean) ** 2 for score in top) / len(top))
    read = [x for x in ranking if x[1] >= bar - 1e-12 or (promoted == "kept" and x in first)]
    read += [x for x in ranking if x not in read][: max(0, 5 - len(read))]
    return [id for id, _ in [*read, *(x for x in ranking if x not in read)]], len(read)


@pytest.mark.parametrize("promoted", ["kept", "scored"])
def test_equations_1_to_6_of_bdtr(promoted: str) -> None:
    chance = random.Random(promoted)
    for case in range(CASES):
        ids = [f"p{i:03}" for i in range(chance.choice([1, 3, 5, 8, 30, 80, 120]))]
        rounds, backbone = chance.randint(0, 3), Backbone()

        def scores(ids: Sequence[str] = ids) -> dict[str, float]:
            found = chance.sample(ids, chance.randint(1, len(ids)))
            return {id: chance.choice(_LEVELS) if chance.random() < 0.7 else chance.uniform(-1, 1) for id in found}

        searches = [("Who?",), *((f"fast {n}", f"slow {n}") for n in range(1, rounds + 1))]
        backbone.scores = {text: scores() for texts in searches for text in texts}
        supporting = [chance.randint(0, 35) for _ in range(chance.choice([0, 1, 4, 40]))]
        if case % 10 == 0:  # all are equal
            backbone.scores = {text: dict.fromkeys(its, 0.5) for text, its in backbone.scores.items()}
        inquiry = QuestionContext(Query("Who?"), backbone, 10, lambda event: None, Verifier(supporting))  # type: ignore[arg-type]
        episode = Bdtr(backbone, rounds=rounds, promoted=promoted).begin(inquiry)
        for texts in searches:
            queries = [query.text if isinstance(query, StepQuery) else query for query in episode.next_queries()]
            assert tuple(queries) == texts
            for text in queries:
                episode.absorb(text, backbone.rank(Query(text), 200))
        pool = pooled([[backbone.scores[text] for text in texts] for texts in searches])
        assert [(x.id, x.score) for x in episode.finalise()] == pool
        conclusion = episode.conclude()
        assert ([x.id for x in conclusion.ranking], conclusion.evidence) == final(pool, supporting, promoted)
