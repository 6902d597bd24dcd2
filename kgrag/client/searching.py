"""What can be searched and asked: one collection, or several as one."""

from abc import ABC, abstractmethod
from collections.abc import Iterable, Iterator, Sequence
from functools import partial
from typing import ClassVar, Literal, overload

from kgrag.agents.lookup import Lookup
from kgrag.agents.strategy import Strategy
from kgrag.agents.system import DEPTH
from kgrag.client.arguments import check_asked, named
from kgrag.client.connection import Rankings, retrieve_folded
from kgrag.client.stream import Stream
from kgrag.models.parallel import in_parallel
from kgrag.models.tasks import Listener
from kgrag.retrieval.base import DEFAULT_RETRIEVER, Query, Retriever
from kgrag.retrieval.bridges import with_bridges
from kgrag.runtime import limits
from kgrag.values.events import Answer
from kgrag.values.results import Filter, Ranking


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
        """A retriever by its name or expression, to be asked many questions."""

    @abstractmethod
    def system(self, system: str | Strategy | None = None) -> Strategy:
        """A system by its name, such as gear+pathrank, to be asked many questions; without one the usual."""

    @abstractmethod
    def look_up(self, question: str, *, filter: Filter | None = None) -> Lookup | None:
        """The page, table or section that a question names, by rules and without a model; None if it names none."""

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
        """The `k` best passages for a question, each with the trail that led to it and its copies in other documents.

        `knowledge`: collections of facts that may lead from one passage to another. Raises DeadlineError when it takes
        longer than `deadline` seconds, ConfigurationError for a `k` below 1, and for what is no question or retriever.
        """
        check_asked(query, k)
        with limits.limited(deadline):
            searcher = with_bridges(self.retriever(retriever), knowledge)
            asked = Query(query, filter or Filter())
            if isinstance(retriever, Retriever):  # of which only its maker knows what it depends on
                return retrieve_folded(searcher, asked, k)
            return self.rankings.ranking(searcher, asked, k)

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
        """The answer to a question with its citations, trace and usage, and the `k` best passages.

        `short`: a few words without citations; `choices`: the answer is one of these; `knowledge`: collections of
        facts that may lead from one passage to another. `listener` hears of each step as
        it happens; with `stream` the events are iterated over instead, and the stream's `answer` is there at the end. A
        page, table or section that the question names is looked up (see `look_up`). `budget`: cost of language models,
        after which none is asked. What a model fails to do is the answer's `problem`. Raises ConfigurationError when no
        language model is configured and one is needed, DeadlineError when it takes longer than `deadline` seconds.
        """
        check_asked(question, k)
        query = Query(question, filter or Filter(), knowledge=tuple(knowledge))
        asked = self.system(system)
        if stream:
            answering = partial(asked.ask, query, short=short, depth=k, stream=True, choices=choices)
            return Stream(lambda heard: answering(listener=heard), deadline, budget, listener)
        with limits.limited(deadline, budget):
            return asked.ask(query, short=short, depth=k, listener=listener, choices=choices)

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
        """The answers to many questions, several at a time, as they come: (question, answer, or what went wrong)."""
        asked = self.system(system)
        check_asked("?", k)
        return in_parallel(lambda question: asked.ask(question, short=short, depth=k), questions, threads)
