"""What can be searched and asked, one collection or several as one; an answer while it is being made."""

import contextvars
import queue
import threading
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import partial
from typing import ClassVar, Literal, overload

from kgrag.agents.lookup import Lookup
from kgrag.agents.strategy import Strategy
from kgrag.agents.system import DEPTH
from kgrag.client.arguments import check_asked, named
from kgrag.client.connection import Rankings, retrieve_folded
from kgrag.models.parallel import in_parallel
from kgrag.models.tasks import Listener
from kgrag.retrieval.base import DEFAULT_RETRIEVER, Query, Retriever
from kgrag.retrieval.bridges import with_bridges
from kgrag.runtime import limits
from kgrag.values.events import Answer, Event
from kgrag.values.results import Filter, Ranking


class Stream:
    """Iterates over the events of a question as they happen; `answer` is there at the end.

    >>> stream = kg["notes"].ask("Who designed the Fram?", stream=True)
    >>> for event in stream:
    ...     print(event)
    >>> print(stream.answer.text)

    Closing it, or leaving the loop, cancels the question at its next step.
    """

    def __init__(
        self,
        ask: Callable[[Listener], Answer],
        deadline: float | None = None,
        budget: float | None = None,
        listener: Listener | None = None,
    ) -> None:
        self._ask = ask
        self._limits = (deadline, budget)
        self._listener = listener
        self._cancelled = threading.Event()
        self._answer: Answer | None = None

    @property
    def answer(self) -> Answer:
        """The answer; events that were not iterated over yet are passed over."""
        if self._answer is None:
            for _ in self:
                pass
        assert self._answer is not None
        return self._answer

    def __iter__(self) -> Iterator[Event]:
        """Yield the events; none once the answer is there.

        Raises the error that the question raises.
        """
        if self._answer is not None:
            return
        events: queue.Queue[Event | Answer | BaseException] = queue.Queue()

        def hear(event: Event) -> None:
            events.put(event)
            if self._listener is not None:
                self._listener(event)

        def work() -> None:
            try:
                with limits.limited(*self._limits, cancelled=self._cancelled):
                    events.put(self._ask(hear))
            except BaseException as error:  # raised where the events are iterated over
                events.put(error)

        context = contextvars.copy_context()
        threading.Thread(target=context.run, args=(work,), name="kgrag-ask", daemon=True).start()
        try:
            while True:
                item = events.get()
                if isinstance(item, Answer):
                    self._answer = item
                    return
                if isinstance(item, BaseException):
                    raise item
                yield item
        finally:
            self._cancelled.set()

    def close(self) -> None:
        """Cancel the question at its next step."""
        self._cancelled.set()


class Searching(ABC):
    """Rankings and answers, by a retriever or a system that is made by its name.

    `usual`: the system that is asked when none is named.
    """

    name: str
    usual: ClassVar[str]

    @property
    @abstractmethod
    def rankings(self) -> Rankings:
        """Those that were asked for before."""

    @abstractmethod
    def retriever(self, retriever: str | Retriever = DEFAULT_RETRIEVER) -> Retriever:
        """Make a retriever from its name or expression, for many questions; see `Collection.retriever`."""

    @abstractmethod
    def system(self, system: str | Strategy | None = None) -> Strategy:
        """Make a system from its name, for many questions; see `Collection.system`."""

    @abstractmethod
    def look_up(self, question: str, *, filter: Filter | None = None) -> Lookup | None:
        """Return the page, table or section that a question names; see `Collection.look_up`."""

    @named
    def search(
        self,
        query: str,
        *,
        k: int = 8,
        retriever: str | Retriever = DEFAULT_RETRIEVER,
        filter: Filter | None = None,
        knowledge: Sequence[str] = (),
        deadline: float | None = None,
    ) -> Ranking:
        """Return the best passages for a question, each with its trail and its copies in other documents.

        Args:
            query: the question.
            k: how many passages.
            retriever: its name or expression, or a Retriever.
            filter: which documents may match; None: all.
            knowledge: collections of facts that may lead from one passage to another.
            deadline: seconds; None: no limit.

        Returns:
            At most `k` hits, best first.

        Raises:
            NotFoundError: the collection or the retriever does not exist.
            ConfigurationError: `k` is below 1, or the question is empty.
            DeadlineError: the search exceeded its deadline.
        """
        check_asked(query, k)
        with limits.limited(deadline):
            searcher = with_bridges(self.retriever(retriever), knowledge)
            question = Query(query, filter or Filter())
            if isinstance(retriever, Retriever):  # of which only its maker knows what it depends on
                return retrieve_folded(searcher, question, k)
            return self.rankings.ranking(searcher, question, k)

    @overload
    def ask(
        self,
        question: str,
        *,
        system: str | Strategy | None = ...,
        short: bool = ...,
        k: int = ...,
        filter: Filter | None = ...,
        listener: Listener | None = ...,
        deadline: float | None = ...,
        budget: float | None = ...,
        stream: Literal[False] = False,
        choices: Sequence[str] = ...,
        knowledge: Sequence[str] = ...,
    ) -> Answer: ...

    @overload
    def ask(
        self,
        question: str,
        *,
        system: str | Strategy | None = ...,
        short: bool = ...,
        k: int = ...,
        filter: Filter | None = ...,
        listener: Listener | None = ...,
        deadline: float | None = ...,
        budget: float | None = ...,
        stream: Literal[True],
        choices: Sequence[str] = ...,
        knowledge: Sequence[str] = ...,
    ) -> Stream: ...

    @named
    def ask(
        self,
        question: str,
        *,
        system: str | Strategy | None = None,
        short: bool = False,
        k: int = DEPTH,
        filter: Filter | None = None,
        listener: Listener | None = None,
        deadline: float | None = None,
        budget: float | None = None,
        stream: bool = False,
        choices: Sequence[str] = (),
        knowledge: Sequence[str] = (),
    ) -> Answer | Stream:
        """Answer a question with citations, trace and usage.

        A page, table or section that the question names is looked up first (see `look_up`).

        Args:
            question: the question.
            system: its name, such as "gear+pathrank", or a Strategy; None: the default.
            short: whether the answer is a few words without citations.
            k: how many passages the answer's ranking holds.
            filter: which documents may match; None: all.
            listener: receives each event as it happens.
            deadline: seconds; None: no limit.
            budget: the most that language models may cost, in the currency of the prices; None: no limit.
            stream: whether to return a Stream, which iterates over the events and has the `answer` at the end.
            choices: the answer is one of these; empty: any.
            knowledge: collections of facts that may lead from one passage to another.

        Returns:
            The answer; what a model fails to do is its `problem`.

        Raises:
            NotFoundError: the collection or the system does not exist.
            ConfigurationError: no language model is configured and one is needed, or the question is empty.
            DeadlineError: the answer exceeded its deadline.
        """
        check_asked(question, k)
        query = Query(question, filter or Filter(), knowledge=tuple(knowledge))
        strategy = self.system(system)
        if stream:
            answering = partial(strategy.ask, query, short=short, depth=k, stream=True, choices=choices)
            return Stream(lambda heard: answering(listener=heard), deadline, budget, listener)
        with limits.limited(deadline, budget):
            return strategy.ask(query, short=short, depth=k, listener=listener, choices=choices)

    @named
    def ask_many(
        self,
        questions: Iterable[str],
        *,
        system: str | Strategy | None = None,
        short: bool = False,
        k: int = DEPTH,
        threads: int = 8,
    ) -> Iterator[tuple[str, Answer | Exception]]:
        """Answer many questions, several at a time.

        Args:
            questions: the questions.
            system: its name or a Strategy; None: the default.
            short: whether answers are a few words without citations.
            k: how many passages the ranking of each answer holds.
            threads: questions at once.

        Yields:
            (question, answer or error), in the order in which they end.

        Raises:
            NotFoundError: the collection or the system does not exist.
        """
        strategy = self.system(system)
        check_asked("?", k)
        return in_parallel(lambda question: strategy.ask(question, short=short, depth=k), questions, threads)
