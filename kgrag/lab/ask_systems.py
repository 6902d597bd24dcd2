"""Experiments with answering systems, including upper bounds that know the gold, on many questions at once."""

import threading
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Protocol

from kgrag.agents.answering import answer
from kgrag.agents.lookup import look_up
from kgrag.agents.replies import ModelAnswer
from kgrag.agents.single import Single
from kgrag.agents.system import DEPTH as READ
from kgrag.agents.trace import Trace
from kgrag.lab.datasets import Dataset, GoldText, Question
from kgrag.lab.grading import Grader
from kgrag.lab.measures import Ranks, answer_rank, distinct_documents, ranks_of, text_ranks
from kgrag.lab.retrieving import DEPTH, PATIENCE, AnswerRecord, Iteration, Log, Record, error_text, failed
from kgrag.models.chat import no_model
from kgrag.models.parallel import in_parallel
from kgrag.models.prompted import Listener
from kgrag.retrieval.base import Query
from kgrag.retrieval.context import SearchContext
from kgrag.values.errors import BudgetError, ConfigurationError, DatabaseError, ModelError, UnavailableError
from kgrag.values.events import Answer, Answered, Called, Event, Failed, Progress, Ranked, Retrieved, StructureLookup
from kgrag.values.results import Hit, Passage, Ranking, Step, Usage

_GRACE = 2.0  # seconds


class Answering(Protocol):
    """A system that answers questions; every kgrag.agents.strategy.Strategy is one."""

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
        """Answer a question with the `depth` best passages; if there are `choices`, the answer is one of them.

        `listener` receives the events.
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
    """Ask each system every question, `threads` at once; return records by system, in the order of the questions.

    Short answers are requested, and graded if there is a `grader`. A question whose answer is in `logs` is not asked
    again, and its answer is graded only if it has no grade. A question that fails, or ends without any answer, becomes
    a record with an error, and the run continues. The run ends early when the budget is spent, or when the database
    fails, or the model's server refuses or is unreachable, several times in a row. Running questions are still recorded
    then, the others are skipped. Raises BudgetError, DatabaseError, UnavailableError, ConfigurationError.
    """
    records: list[Record] = []
    for name, system in systems.items():
        log = (logs or {}).get(name)
        logged = {q.id: record for q in questions if log is not None and (record := log.find(q)) is not None}
        run = _Run(name, system, depth, gold_texts or {}, grader)
        unmarked = {id: r for id, r in logged.items() if grader is not None and not grader.has_marked(r)}
        done = len(logged) - len(unmarked)
        progress(name, done, len(questions))
        open_ = [unmarked.get(q.id, q) for q in questions if q.id in unmarked or q.id not in logged]
        try:
            for _, result in in_parallel(run.work, open_, threads):
                if isinstance(result, Exception):
                    raise result
                if result is not None:
                    logged[result.question.id] = result
                    if log is not None:
                        log.keep(result)
                    done += 1
                    progress(name, done, len(questions))
        except BaseException:
            run.abandon()
            raise
        if run.ended is not None:
            raise run.ended
        records.extend(logged[q.id] for q in questions)
    return records


class _Abandoned(Exception):
    """The run has ended, so the answer is no longer needed."""


class _Run:
    """The run of one system, until an error ends it; safe to share between threads."""

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
        """Return the record of a question, or the given record with its grade; None when the run has ended."""
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
        except Exception as error:  # one failed question must not lose the others
            self._count(error)
            record = AnswerRecord("", began=began)
            return failed(self._name, question, error_text(error), time.perf_counter() - started, record)
        unavailable = [
            e.problem for e in answer.trace if isinstance(e, Failed) and e.error == UnavailableError.__name__
        ]
        self._count(UnavailableError(unavailable[0]) if unavailable else None)
        spent = [e.problem for e in answer.trace if isinstance(e, Failed) and e.error == BudgetError.__name__]
        if spent:
            self.ended = BudgetError(spent[0], "Give it a higher --budget.")
            return None
        return record_of(self._name, question, answer, self._depth, self._texts, began, time.perf_counter() - started)

    def abandon(self) -> None:
        """Ask the running questions to stop at their next step, and wait a moment for them.

        Otherwise they would use a database that is being closed. Replies of models are not awaited.
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
    record = AnswerRecord(
        answer.text if answer.found else "",
        iterations(answer, question, depth, texts),
        answer.usage,
        began,
        answer.problem if answer.text else "",
        tuple(e.text for e in answer.trace if isinstance(e, StructureLookup) and e.text) if question.structure else (),
    )
    if not answer.text:
        return failed(name, question, answer.problem or "no answer", seconds, record)
    documents = _documents(answer.ranking, depth, texts)
    passages = tuple(hit.passage.id for hit in answer.ranking.hits[:depth])
    ranks = _ranks(answer.ranking, question, depth, texts)
    return Record(name, question, documents, ranks, seconds, "", record, passages=passages)


def iterations(answer: Answer, question: Question, depth: int, texts: Mapping[str, GoldText]) -> tuple[Iteration, ...]:
    """Return the steps of the loop in an answer's trace, without events outside of it."""
    steps: list[Iteration] = []
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
        steps.append(Iteration(tuple(best), calls, tokens, tuple(best if ranked is None else ranked)))
    return tuple(steps)


def _better(one: int | None, other: int | None) -> int | None:
    return min((rank for rank in (one, other) if rank is not None), default=None)


def _documents(ranking: Ranking, depth: int, texts: Mapping[str, GoldText]) -> tuple[str, ...]:
    documents = tuple(hit.passage.document for hit in ranking) if texts else distinct_documents(ranking)
    return documents[:depth]


def _ranks(ranking: Ranking, question: Question, depth: int, texts: Mapping[str, GoldText]) -> tuple[int | None, ...]:
    first = Ranking(ranking.query, ranking.retriever, ranking.hits[:depth])
    if not question.gold:
        return (answer_rank(first, question.answers),)
    if texts:
        return text_ranks(first, question.gold, texts)
    return ranks_of(_documents(ranking, depth, texts), question.gold)


# Systems that need known gold: upper bounds, and a look-up without a language model.
#
# Source: KGP, section 5.1.2 and Table 2 (Golden; None is the system closed-book).


class Golden:
    """An upper bound for retrieval: a language model that is shown the gold of a question and nothing else.

    If the gold has more passages than `depth`, it is shown the ones nearest to the question. If the question names
    pages, tables and sections, it is shown their texts.
    """

    name = "golden"

    def __init__(self, index: SearchContext, data: Dataset) -> None:
        """Set up the baseline. Raises ConfigurationError when no language model is configured."""
        if index.llm is None:
            raise no_model()
        self._index, self._llm = index, index.llm
        self._options = Single.check({}, index.agents)
        self._questions = {question.text: question for question in data.questions}
        self._texts = data.gold_texts

    def ask(
        self,
        question: str,
        /,
        *,
        short: bool = False,
        depth: int = READ,
        listener: Listener | None = None,
        choices: Sequence[str] = (),
    ) -> Answer:
        """See Answering. Raises KeyError for a question that is not in the data set."""
        trace, started = Trace(listener), time.perf_counter()
        passages = self._gold(self._questions[question], depth)
        llm = self._llm.with_listener(trace.add)
        for text in self._questions[question].structure:
            trace.add(StructureLookup(kind="gold", name="", text=text))
        reply, problem = ModelAnswer("", False), ""
        try:
            items = [[passage] for passage in passages]
            reply = answer(llm, question, items, self._options, short=short, choices=choices)
            trace.add(Answered(text=reply.text))
        except ModelError as error:
            problem = error.in_full
            trace.add(Failed(problem=problem, error=type(error).__name__))
        hits = tuple(Hit(p, 1 / rank, (Step("gold", "Passage", p.title),)) for rank, p in enumerate(passages, 1))
        usage = trace.by_task()
        return Answer(
            question=question,
            text=reply.text,
            found=reply.found,
            system=self.name,
            ranking=Ranking(question, self.name, hits),
            citations=reply.citations,
            trace=tuple(trace.events),
            usage=sum(usage.values(), Usage()),
            by_task=usage,
            seconds=time.perf_counter() - started,
            problem=problem,
        )

    def _partial_gold(self, question: Question, keys: Sequence[str]) -> dict[str, GoldText]:
        """Return key -> gold that is only part of a document."""
        return {key: self._texts[key] for key in keys if key in self._texts}

    def _gold(self, question: Question, depth: int) -> list[Passage]:
        """Return the gold passages in the order in which they lead to the answer."""
        keys = question.path or question.gold
        if question.structure:
            return [Passage(f"structure {n}", keys[0], "", text) for n, text in enumerate(question.structure, 1)]
        reader, texts = self._index.reader, self._partial_gold(question, keys)
        if texts:
            ids_by_document = reader.document_passages(list({gold.document for gold in texts.values()}))
            firsts = reader.passages([ids[0] for ids in ids_by_document.values() if ids]).values()
            titles = {first.document: first.title for first in firsts}
            return [
                Passage(key, gold.document, titles.get(gold.document, ""), gold.text) for key, gold in texts.items()
            ]
        ids_by_document = reader.document_passages(keys)
        ids = [id for key in keys for id in ids_by_document.get(key, [])]
        if len(ids) > depth:
            ids = [id for id, _ in reader.nearest_of(ids, Query(question.text).vector(self._index.embedder), depth)]
        passages = reader.passages(ids)
        order = {key: place for place, key in enumerate(keys)}
        return sorted(passages.values(), key=lambda p: (order[p.document], p.ordinal))


class GoldenFacts(Golden):
    """An upper bound like Golden that is shown only the supporting sentences, under the titles of their documents.

    If the data set has no supporting sentences (MuSiQue), it is shown the passages.
    """

    name = "golden-facts"

    def _partial_gold(self, question: Question, keys: Sequence[str]) -> dict[str, GoldText]:
        """See Golden."""
        support = {support.key: support for key in keys for support in question.supports if support.document == key}
        return super()._partial_gold(question, keys) or support


class LookUp:
    """Looks up the pages, tables and sections that a question names, by rules without a model, and nothing else."""

    name = "look-up"

    def __init__(self, index: SearchContext, data: Dataset) -> None:
        self._index = index

    def ask(
        self,
        question: str,
        /,
        *,
        short: bool = False,
        depth: int = READ,
        listener: Listener | None = None,
        choices: Sequence[str] = (),
    ) -> Answer:
        """See Answering."""
        trace, started = Trace(listener), time.perf_counter()
        lookup = look_up(self._index, Query(question), None, depth)
        for kind, name, text in lookup.places if lookup is not None else ():
            trace.add(StructureLookup(kind=kind, name=name, text=text))
        return Answer(
            question=question,
            text=lookup.text if lookup is not None else "It names no page, table or section.",
            found=lookup is not None and lookup.found,
            system=self.name,
            ranking=Ranking(question, self.name, lookup.hits if lookup is not None else ()),
            trace=tuple(trace.events),
            seconds=time.perf_counter() - started,
        )


@dataclass(frozen=True, slots=True)
class Baseline:
    """A constructor of a baseline, and whether it asks a language model."""

    make: Callable[[SearchContext, Dataset], Answering]
    asks: bool


BASELINES: dict[str, Baseline] = {
    Golden.name: Baseline(Golden, True),
    GoldenFacts.name: Baseline(GoldenFacts, True),
    LookUp.name: Baseline(LookUp, False),
}
"""The baselines by name; only evaluations have these systems."""
