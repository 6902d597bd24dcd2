"""Experiments with systems that answer: many questions at once, each with its answer, iterations and usage."""

import threading
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Protocol

from kgrag.lab.datasets import GoldText, Question
from kgrag.lab.gold import answer_rank, distinct_documents, text_ranks
from kgrag.lab.grading import Grader
from kgrag.lab.measures import Ranks, ranks_of
from kgrag.lab.retrieving import DEPTH, PATIENCE, AnswerRecord, Iteration, Log, Record, error_text, failed
from kgrag.models.parallel import in_parallel
from kgrag.models.tasks import Listener
from kgrag.values.errors import BudgetError, ConfigurationError, DatabaseError, UnavailableError
from kgrag.values.events import Answer, Called, Event, Failed, Progress, Ranked, Retrieved, StructureLookup
from kgrag.values.results import Ranking

_GRACE = 2.0  # seconds


class Answering(Protocol):
    """What is asked; every kgrag.agents.strategy.Strategy is one."""

    def ask(
        self,
        question: str,
        /,
        *,
        short: bool = False,
        depth: int = DEPTH,
        listener: Listener | None = None,
        choices: Sequence[str] = (),
    ) -> Answer:
        """Answer a question, by one of `choices` if there are any, with the `depth` best passages.

        `listener` hears of what happens.
        """
        ...


def ask_all(
    systems: Mapping[str, Answering],
    questions: Sequence[Question],
    progress: Progress,
    *,
    threads: int = 1,
    depth: int = DEPTH,
    gold_texts: Mapping[str, GoldText] | None = None,
    logs: Mapping[str, Log] | None = None,
    grader: Grader | None = None,
) -> list[Record]:
    """Ask each system every question, `threads` at once; records by system, then in the order of the questions.

    Short answers are asked for, and marked if there is a `grader`. A question that `logs` knows the answer to is not
    asked again, and its answer is marked only if it was not yet. A question that fails, or ends without any answer, is
    kept as an error with its reason, and the run goes on. It ends early when the budget is spent, or when the database
    fails, or the model's server refuses or is out of reach, several times in a row: questions under way are still kept
    then, the others are left. Raises BudgetError, DatabaseError, UnavailableError, ConfigurationError.
    """
    records: list[Record] = []
    for name, system in systems.items():
        log = (logs or {}).get(name)
        known = {q.id: record for q in questions if log is not None and (record := log.find(q)) is not None}
        run = _Run(name, system, depth, gold_texts or {}, grader)
        unmarked = {id: r for id, r in known.items() if grader is not None and not grader.has_marked(r)}
        done = len(known) - len(unmarked)
        progress(name, done, len(questions))
        open_ = [unmarked.get(q.id, q) for q in questions if q.id in unmarked or q.id not in known]
        try:
            for _, result in in_parallel(run.work, open_, threads):
                if isinstance(result, Exception):
                    raise result
                if result is not None:
                    known[result.question.id] = result
                    if log is not None:
                        log.keep(result)
                    done += 1
                    progress(name, done, len(questions))
        except BaseException:
            run.abandon()
            raise
        if run.ended is not None:
            raise run.ended
        records.extend(known[q.id] for q in questions)
    return records


class _Abandoned(Exception):
    """Nobody waits for the answer any more."""


class _Run:
    """A system that is asked questions until an error ends it; safe to share between threads."""

    def __init__(
        self, name: str, system: Answering, depth: int, texts: Mapping[str, GoldText], grader: Grader | None
    ) -> None:
        self._name, self._system, self._depth, self._texts = name, system, depth, texts
        self._grader = grader
        self._lock = threading.Condition()
        self._failures = self._under_way = 0
        self._abandoned = False
        self.ended: Exception | None = None

    def work(self, item: Question | Record) -> Record | None:
        """Return the record of a question, or the given record with its mark; None when the run has ended."""
        if self.ended is not None or self._abandoned:
            return None
        record = item if isinstance(item, Record) else self._ask(item)
        if record is None or self._grader is None:
            return record
        try:
            return self._grader.mark(record)
        except (BudgetError, ConfigurationError) as error:
            self.ended = error
            return None if record is item else record

    def _ask(self, question: Question) -> Record | None:
        began, started = time.time(), time.perf_counter()
        try:
            with self._counted():
                more = {"choices": question.choices} if question.choices else {}
                answer = self._system.ask(question.text, short=True, depth=self._depth, listener=self._hear, **more)
        except (BudgetError, ConfigurationError) as error:
            self.ended = error
            return None
        except Exception as error:  # one question that fails must not lose the others
            self._count(error)
            said = AnswerRecord("", began=began)
            return failed(self._name, question, error_text(error), time.perf_counter() - started, said)
        gone = [e.problem for e in answer.trace if isinstance(e, Failed) and e.error == UnavailableError.__name__]
        self._count(UnavailableError(gone[0]) if gone else None)
        spent = [e.problem for e in answer.trace if isinstance(e, Failed) and e.error == BudgetError.__name__]
        if spent:
            self.ended = BudgetError(spent[0], "Give it a higher --budget.")
            return None
        return record_of(self._name, question, answer, self._depth, self._texts, began, time.perf_counter() - started)

    def abandon(self) -> None:
        """Let the questions under way end at what they do next, and wait a moment for them to do so.

        Else they would go on with a database that is being closed; a reply of a model is not waited for any longer.
        """
        with self._lock:
            self._abandoned = True
            self._lock.wait_for(lambda: not self._under_way, _GRACE)

    def _hear(self, event: Event) -> None:
        if self._abandoned:
            raise _Abandoned

    @contextmanager
    def _counted(self) -> Iterator[None]:
        with self._lock:
            self._under_way += 1
        try:
            yield
        finally:
            with self._lock:
                self._under_way -= 1
                self._lock.notify_all()

    def _count(self, error: Exception | None) -> None:
        with self._lock:
            self._failures = self._failures + 1 if isinstance(error, DatabaseError | UnavailableError) else 0
            if self._failures >= PATIENCE:
                self.ended = error


def record_of(
    name: str,
    question: Question,
    answer: Answer,
    depth: int,
    texts: Mapping[str, GoldText],
    began: float,
    seconds: float,
) -> Record:
    """Return the record of an answer."""
    said = AnswerRecord(
        answer.text if answer.found else "",
        iterations(answer, question, depth, texts),
        answer.usage,
        began,
        answer.problem if answer.text else "",
        tuple(e.text for e in answer.trace if isinstance(e, StructureLookup) and e.text) if question.structure else (),
    )
    if not answer.text:
        return failed(name, question, answer.problem or "no answer", seconds, said)
    documents = _documents(answer.ranking, depth, texts)
    passages = tuple(hit.passage.id for hit in answer.ranking.hits[:depth])
    ranks = _ranks(answer.ranking, question, depth, texts)
    return Record(name, question, documents, ranks, seconds, "", said, passages=passages)


def iterations(answer: Answer, question: Question, depth: int, texts: Mapping[str, GoldText]) -> tuple[Iteration, ...]:
    """Return the steps of the loop in an answer's trace, without events outside of it."""
    found: list[Iteration] = []
    best: Ranks = (None,) * max(1, len(question.gold))
    for step in range(1, max((event.step for event in answer.trace), default=0) + 1):
        events = [event for event in answer.trace if event.step == step]
        ranked: Ranks | None = None
        for event in events:
            if isinstance(event, Retrieved | Ranked):
                ranks = _ranks(Ranking("", "", event.hits), question, depth, texts)
                if isinstance(event, Ranked):
                    ranked = ranks
                else:
                    best = tuple(map(_better, best, ranks))
        called = [event.usage for event in events if isinstance(event, Called)]
        calls, tokens = sum(u.calls for u in called), sum(u.tokens for u in called)
        found.append(Iteration(tuple(best), calls, tokens, tuple(best if ranked is None else ranked)))
    return tuple(found)


def _better(one: int | None, other: int | None) -> int | None:
    return min((rank for rank in (one, other) if rank is not None), default=None)


def _documents(ranking: Ranking, depth: int, texts: Mapping[str, GoldText]) -> tuple[str, ...]:
    found = tuple(hit.passage.document for hit in ranking) if texts else distinct_documents(ranking)
    return found[:depth]


def _ranks(ranking: Ranking, question: Question, depth: int, texts: Mapping[str, GoldText]) -> tuple[int | None, ...]:
    first = Ranking(ranking.query, ranking.retriever, ranking.hits[:depth])
    if not question.gold:
        return (answer_rank(first, question.answers),)
    if texts:
        return text_ranks(first, question.gold, texts)
    return ranks_of(_documents(ranking, depth, texts), question.gold)
