"""Search and question answering on one or several collections, local or on a server, with streamed answers."""

import contextvars
import queue
import threading
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import ClassVar

from kgrag.agents.lookup import Lookup
from kgrag.agents.strategy import Strategy
from kgrag.agents.system import DEPTH
from kgrag.client.arguments import check_asked, suggest_keywords
from kgrag.client.connection import Rankings, retrieve_folded
from kgrag.models.parallel import in_parallel
from kgrag.models.prompted import Listener
from kgrag.retrieval.base import DEFAULT_RETRIEVER, Query, Retriever
from kgrag.retrieval.bridges import with_bridges
from kgrag.runtime import limits
from kgrag.values.events import Answer, Event
from kgrag.values.results import Filter, Ranking


class Stream:
    """An answer in progress: iterate over its events as they happen, then read `answer`.

    >>> stream = kg["notes"].ask_stream("Who designed the Fram?")
    >>> for event in stream:
    ...     print(event)
    >>> print(stream.answer.text)

    Closing it, or leaving the loop, cancels the question at its next step.
    """

    def __init__(
        self, ask: Callable[[Listener | None, bool], Answer], deadline: float | None = None, budget: float | None = None
    ) -> None:
        self._ask = ask
        self._limits = (deadline, budget)
        self._cancelled = threading.Event()
        self._answer: Answer | None = None

    @property
    def answer(self) -> Answer:
        """The complete answer; events not yet iterated over are skipped."""
        if self._answer is None:
            for _ in self:
                pass
        assert self._answer is not None
        return self._answer

    def tell(self, listener: Listener | None, *, text: bool = True) -> Answer:
        """Compute the answer in this thread.

        Args:
            listener: receives each event as it happens; None: no listener.
            text: whether the listener also receives the text while it is written.

        Returns:
            The answer.
        """
        with limits.limited(*self._limits, cancelled=self._cancelled):
            self._answer = self._ask(listener, text and listener is not None)
        return self._answer

    def __iter__(self) -> Iterator[Event]:
        """Yield the events; nothing if the answer is already complete.

        Raises the error of the question.
        """
        if self._answer is not None:
            return
        events: queue.Queue[Event | Answer | BaseException] = queue.Queue()

        def work() -> None:
            try:
                events.put(self.tell(events.put))
            except BaseException as error:  # raised again in the thread that iterates
                events.put(error)

        context = contextvars.copy_context()
        threading.Thread(target=context.run, args=(work,), name="kgrag-ask", daemon=True).start()
        try:
            while not isinstance(item := events.get(), Answer):
                if isinstance(item, BaseException):
                    raise item
                yield item
        finally:
            self._cancelled.set()

    def close(self) -> None:
        """Cancel the question at its next step."""
        self._cancelled.set()


class Searching(ABC):
    """Methods to search and ask, shared by a Collection, several collections as one, and their twins.

    Every interface calls these methods. They check the arguments, make the Query, and set the limits of the call;
    `_rank` and `_answer` do the work, here or on a server.

    `usual`: the default system.
    """

    name: str
    usual: ClassVar[str]

    @abstractmethod
    def _rank(self, query: Query, k: int, retriever: str | Retriever) -> Ranking:
        """Return the best passages; the limits of the call are set."""

    @abstractmethod
    def _answer(
        self, query: Query, system: str | Strategy | None, *, short: bool, k: int, choices: Sequence[str]
    ) -> Callable[[Listener | None, bool], Answer]:
        """Return a function that produces the answer.

        Its arguments are the listener, and whether the listener also receives the text while it is written. Errors in
        the system's name or options are raised now, before the call.
        """

    @abstractmethod
    def look_up(self, question: str, *, filter: Filter | None = None) -> Lookup | None:
        """Return the page, table or section that a question names; see `Collection.look_up`."""

    @suggest_keywords
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
            return self._rank(Query(query, filter or Filter(), knowledge=tuple(knowledge)), k, retriever)

    @suggest_keywords
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
        choices: Sequence[str] = (),
        knowledge: Sequence[str] = (),
    ) -> Answer:
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
            choices: the answer is one of these; empty: any.
            knowledge: collections of facts that may lead from one passage to another.

        Returns:
            The answer; its `problem` describes a failure of a model.

        Raises:
            NotFoundError: the collection or the system does not exist.
            ConfigurationError: no language model is configured and one is needed, or the question is empty.
            DeadlineError: the answer exceeded its deadline.
        """
        check_asked(question, k)
        query = Query(question, filter or Filter(), knowledge=tuple(knowledge))
        answer = self._answer(query, system, short=short, k=k, choices=choices)
        with limits.limited(deadline, budget):
            return answer(listener, False)

    @suggest_keywords
    def ask_stream(
        self,
        question: str,
        *,
        system: str | Strategy | None = None,
        short: bool = False,
        k: int = DEPTH,
        filter: Filter | None = None,
        deadline: float | None = None,
        budget: float | None = None,
        choices: Sequence[str] = (),
        knowledge: Sequence[str] = (),
    ) -> Stream:
        """Answer a question step by step.

        Args:
            question: the question.
            system: its name or a Strategy; None: the default.
            short: whether the answer is a few words without citations.
            k: how many passages the answer's ranking holds.
            filter: which documents may match; None: all.
            deadline: seconds; None: no limit.
            budget: the most that language models may cost; None: no limit.
            choices: the answer is one of these; empty: any.
            knowledge: collections of facts that may lead from one passage to another.

        Returns:
            A Stream, which iterates over the events, partial texts included, and has the `answer` at the end.

        Raises:
            NotFoundError: the collection or the system does not exist.
            ConfigurationError: the question is empty.
        """
        check_asked(question, k)
        query = Query(question, filter or Filter(), knowledge=tuple(knowledge))
        answer = self._answer(query, system, short=short, k=k, choices=choices)
        return Stream(answer, deadline, budget)

    @suggest_keywords
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
            threads: the number of concurrent questions.

        Yields:
            (question, answer or error), in the order of completion.

        Raises:
            NotFoundError: the collection or the system does not exist.
        """
        check_asked("?", k)
        once = self._made_once(system)
        return in_parallel(lambda question: self.ask(question, system=once, short=short, k=k), questions, threads)

    def _made_once(self, system: str | Strategy | None) -> str | Strategy | None:
        """Return a system for many questions, made once; a server makes its own for each."""
        return system


class LocalSearching(Searching):
    """Collections of a database that this process is connected to."""

    @property
    @abstractmethod
    def rankings(self) -> Rankings:
        """The cache of recent rankings."""

    @abstractmethod
    def retriever(self, retriever: str | Retriever = DEFAULT_RETRIEVER) -> Retriever:
        """Make a retriever from its name or expression, for many questions; see `Collection.retriever`."""

    @abstractmethod
    def system(self, system: str | Strategy | None = None) -> Strategy:
        """Make a system from its name, for many questions; see `Collection.system`."""

    def _rank(self, query: Query, k: int, retriever: str | Retriever) -> Ranking:
        searcher = with_bridges(self.retriever(retriever), query.knowledge)
        if isinstance(retriever, Retriever):  # its dependencies are unknown
            return retrieve_folded(searcher, query, k)
        return self.rankings.ranking(searcher, query, k)

    def _answer(
        self, query: Query, system: str | Strategy | None, *, short: bool, k: int, choices: Sequence[str]
    ) -> Callable[[Listener | None, bool], Answer]:
        ask = self.system(system).ask
        return lambda listener, stream: ask(
            query, short=short, depth=k, stream=stream, listener=listener, choices=choices
        )

    def _made_once(self, system: str | Strategy | None) -> Strategy:
        return self.system(system)
