"""Measure retrievers. An experiment has a record for each question and system.

`ask_systems` measures answering systems; their answers are part of the records.
"""

import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Protocol

from kgrag.lab.datasets import GoldText, Question
from kgrag.lab.measures import Ranks, answer_rank, distinct_documents, ranks_of, text_ranks
from kgrag.retrieval.base import Query, Retriever
from kgrag.values.errors import BudgetError, DatabaseError, KgragError
from kgrag.values.events import Called, Event, Progress
from kgrag.values.results import Ranking, Usage

DEPTH = 15
"""The default depth of recorded rankings, and the `k` at which latency is measured."""

WARM_UP = 10  # uncounted questions at the start
_DEEPEST = 1000  # maximum number of passages if many belong to the same documents
PATIENCE = 3  # successive database failures before the run ends


class Retrieving(Protocol):
    """A retriever as it is measured; every kgrag.retrieval.base.Retriever is one."""

    def retrieve(self, query: str, k: int = 8) -> Ranking:
        """Return the best `k` passages for a question."""
        ...


@dataclass(frozen=True, slots=True)
class Iteration:
    """A step of an agent's loop: the hits so far, and its calls to the language model.

    `ranks`: for each gold of the question its best rank in any retrieval of this step or an earlier one, or None.
    `ranked`: its rank in the final ranking if this step were the last; equal to `ranks` if the system does not report
    it.
    """

    ranks: tuple[int | None, ...]
    calls: int
    tokens: int
    ranked: tuple[int | None, ...] = ()


@dataclass(frozen=True, slots=True)
class Grade:
    """Whether an answer was graded as correct, and `by` which grader."""

    correct: bool
    by: str


@dataclass(frozen=True, slots=True)
class AnswerRecord:
    """The answer of a system; `text` is empty without an answer.

    `began`: the start, in seconds since 1970. `problem`: a failure despite the answer. `structure`: the texts of the
    pages, tables and sections that were looked up. `grade`: None without a grade.
    """

    text: str
    iterations: tuple[Iteration, ...] = ()
    usage: Usage = field(default_factory=Usage)
    began: float = 0.0
    problem: str = ""
    structure: tuple[str, ...] = ()
    grade: Grade | None = None


@dataclass(frozen=True, slots=True)
class Record:
    """The ranking of a system for a question, with its seconds.

    `documents`: the keys of the documents found, best first, distinct unless gold is measured by its text. `ranks`: for
    each gold of the question its rank, or None; without gold, the rank of the first passage with an answer. `error`:
    why the system found nothing at all, or "". `answer`: the system's answer, None for a retriever, whose calls of a
    language model are in `usage`. `passages`: the ids of the ranked passages, best first.
    """

    system: str
    question: Question
    documents: tuple[str, ...]
    ranks: tuple[int | None, ...]
    seconds: float
    error: str = ""
    answer: AnswerRecord | None = None
    usage: Usage = field(default_factory=Usage)
    passages: tuple[str, ...] = ()


class Log(Protocol):
    """The file of the records of one system."""

    def find(self, question: Question) -> Record | None:
        """Return the earlier record of a question."""
        ...

    def keep(self, record: Record) -> None:
        """Keep a record."""
        ...


def retrieve_all(
    retrievers: Mapping[str, Retrieving],
    questions: Sequence[Question],
    progress: Progress,
    *,
    depth: int = DEPTH,
    gold_texts: Mapping[str, GoldText] | None = None,
    logs: Mapping[str, Log] | None = None,
    warm_up: int = WARM_UP,
) -> list[Record]:
    """Ask each retriever every question in turn; return records by retriever, in the order of the questions.

    The first `warm_up` questions are asked beforehand without counting, so that every retriever is measured warm.
    `seconds` is one call of `retrieve(question, depth)`, including the embedding of the question. A question whose
    answer is in `logs` is not asked again. An error becomes the record of its question, and the run continues; it ends
    when the database fails several times in a row, or the budget is spent. Raises DatabaseError, BudgetError.
    """
    records: list[Record] = []
    for name, retriever in retrievers.items():
        log = (logs or {}).get(name)
        logged = {q.id: record for q in questions if log is not None and (record := log.find(q)) is not None}
        open_ = [q for q in questions if q.id not in logged]
        _warm_up(retriever, open_[:warm_up], depth)
        failures = 0
        for number, question in enumerate(open_, len(logged)):
            progress(name, number, len(questions))
            record, failure = _ask(name, retriever, question, depth, gold_texts or {})
            if isinstance(failure, BudgetError):
                raise failure
            failures = failures + 1 if isinstance(failure, DatabaseError) else 0
            if log is not None:
                log.keep(record)
            if failure is not None and failures >= PATIENCE:
                raise failure
            logged[question.id] = record
        progress(name, len(questions), len(questions))
        records.extend(logged[q.id] for q in questions)
    return records


def _warm_up(retriever: Retrieving, questions: Sequence[Question], depth: int) -> None:
    try:
        for question in questions:
            _, usage = _retrieve(retriever, question, depth)
            if usage.calls:
                return  # a model call takes far longer than a cold cache
    except Exception:
        return  # the measured run records the error


def _retrieve(retriever: Retrieving, question: Question, k: int) -> tuple[Ranking, Usage]:
    """Return the ranking, and the retriever's usage of a language model."""
    if not isinstance(retriever, Retriever):
        return retriever.retrieve(question.text, k), Usage()
    heard: list[Usage] = []

    def hear(event: Event) -> None:
        if isinstance(event, Called):
            heard.append(event.usage)

    ranking = retriever.retrieve(Query(question.text, listener=hear), k)
    return ranking, sum(heard, Usage())


def _ask(
    name: str, retriever: Retrieving, question: Question, depth: int, texts: Mapping[str, GoldText]
) -> tuple[Record, Exception | None]:
    started = time.perf_counter()
    try:
        ranking, usage = _retrieve(retriever, question, depth)
        seconds = time.perf_counter() - started
        ranks: Ranks
        if texts:
            documents = tuple(hit.passage.document for hit in ranking)
            ranks = text_ranks(ranking, question.gold, texts)
        else:
            documents = _documents(retriever, question, ranking, depth)
            ranks = ranks_of(documents, question.gold) or (answer_rank(ranking, question.answers),)
        passages = tuple(hit.passage.id for hit in ranking)
        return Record(name, question, documents, tuple(ranks), seconds, usage=usage, passages=passages), None
    except Exception as error:  # one failed question must not lose the others
        return failed(name, question, error_text(error), time.perf_counter() - started), error


def failed(name: str, question: Question, error: str, seconds: float, answer: AnswerRecord | None = None) -> Record:
    """Return the record of a question that a system failed on; it counts as an empty ranking."""
    return Record(name, question, (), (None,) * max(1, len(question.gold)), seconds, error, answer)


def error_text(error: Exception) -> str:
    """Return an error in one line with its remedy."""
    if isinstance(error, KgragError):
        return f"{type(error).__name__}: {' '.join(error.in_full.split())}"
    return f"{type(error).__name__}: {str(error).splitlines()[0] if str(error) else ''}".rstrip(": ")


def _documents(retriever: Retrieving, question: Question, ranking: Ranking, depth: int) -> tuple[str, ...]:
    """Return the first `depth` documents, from more passages if some documents have several."""
    documents, k = distinct_documents(ranking), depth
    while len(documents) < depth and len(ranking) >= k and k < _DEEPEST:
        k = min(4 * k, _DEEPEST)
        ranking = retriever.retrieve(question.text, k)
        documents = distinct_documents(ranking)
    return documents[:depth]
