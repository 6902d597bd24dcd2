"""Experiments: systems answer the questions of a set; one record a question and system, and tables made of them."""

import time
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import groupby
from statistics import fmean
from typing import Protocol

from kgrag.evaluation.datasets import Question
from kgrag.evaluation.metrics import percentile, perfect_at, recall_at
from kgrag.types import Progress, Ranking

DEPTH = 15
"""How many documents of each ranking are kept, and the `k` that latency is measured at."""

RECALLS = (2, 5, 10, 15)
PERFECT = 8
WARM_UP = 10  # questions that are asked first and not counted
_DEEPEST = 1000  # passages that are asked for at most when many belong to the same documents


class System(Protocol):
    """What is evaluated; every Retriever is one."""

    def retrieve(self, query: str, k: int = 8) -> Ranking:
        """The best `k` passages for a question."""
        ...


@dataclass(frozen=True, slots=True)
class Record:
    """What a system found for a question: keys of distinct documents, best first, in so many seconds."""

    system: str
    question: Question
    documents: tuple[str, ...]
    seconds: float


def run(systems: Mapping[str, System], questions: Sequence[Question], progress: Progress) -> list[Record]:
    """Ask each system every question, one after the other; records by system, then in the order of the questions.

    The first questions are asked beforehand without being counted, so that every system is measured warm. `seconds`
    is one call of `retrieve(question, 15)`, the embedding of the question included.
    """
    records: list[Record] = []
    for name, system in systems.items():
        for question in questions[:WARM_UP]:
            system.retrieve(question.text, DEPTH)
        for number, question in enumerate(questions):
            progress(name, number, len(questions))
            records.append(_ask(name, system, question))
        progress(name, len(questions), len(questions))
    return records


def table(records: Iterable[Record]) -> dict[str, dict[str, float]]:
    """System -> measure -> mean over its questions; records of a system stand together.

    "R@k" is recall in per cent, "perfect@8" the share of questions with all gold among the first 8 documents,
    "p50_ms" and "p95_ms" percentiles of latency in milliseconds, "questions" their number.
    """
    return {name: _row(list(group)) for name, group in groupby(records, key=lambda r: r.system)}


def distinct_documents(ranking: Ranking) -> tuple[str, ...]:
    """The keys of the documents whose passages were found; each once, where its first passage stands."""
    return tuple(dict.fromkeys(hit.passage.document for hit in ranking))


def _ask(name: str, system: System, question: Question) -> Record:
    started = time.perf_counter()
    ranking = system.retrieve(question.text, DEPTH)
    seconds = time.perf_counter() - started
    documents, k = distinct_documents(ranking), DEPTH
    while len(documents) < DEPTH and len(ranking) >= k and k < _DEEPEST:  # documents of several passages: look deeper
        k = min(4 * k, _DEEPEST)
        ranking = system.retrieve(question.text, k)
        documents = distinct_documents(ranking)
    return Record(name, question, documents[:DEPTH], seconds)


def _row(records: Sequence[Record]) -> dict[str, float]:
    found = [(r.documents, r.question.gold) for r in records]
    milliseconds = [1000 * r.seconds for r in records]
    row: dict[str, float] = {
        f"R@{k}": round(100 * fmean(recall_at(documents, gold, k) for documents, gold in found), 1) for k in RECALLS
    }
    row[f"perfect@{PERFECT}"] = round(fmean(perfect_at(documents, gold, PERFECT) for documents, gold in found), 3)
    row["p50_ms"] = round(percentile(milliseconds, 0.5), 1)
    row["p95_ms"] = round(percentile(milliseconds, 0.95), 1)
    row["questions"] = len(records)
    return row
