"""One question under way: what a strategy is given, does step by step, and ends with."""

from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

from kgrag.agents.answering import ModelAnswer, within
from kgrag.models.chat import no_model
from kgrag.models.shown import numbered
from kgrag.models.tasks import Listener, Tasks
from kgrag.retrieval.base import Evidence, Query, Retriever, Scored, Topic
from kgrag.values.documents import Triple
from kgrag.values.events import Event
from kgrag.values.results import Hit, Item, Passage, Summary


@dataclass(frozen=True, slots=True)
class Search:
    """A text to search for; `role`: which of a step's queries it is, such as "fast"."""

    text: str
    role: str = ""


@dataclass(frozen=True, slots=True)
class Conclusion:
    """What an episode ends with.

    `ranking`: the passages, best first. `evidence`: what the answer is read from: so many of the ranking, or items,
    each the ids of one passage or of several that are read together (a path), or a summary; None: as the options of
    answering say.
    `facts`: what the strategy remembers, which the reader is shown, too. `text`: an answer of its own, in place of the
    reader's; `reply`: one that the reader gave already.
    """

    ranking: Sequence[Scored]
    evidence: int | Sequence[Evidence] | None = None
    facts: Sequence[Triple] = ()
    text: str | None = None
    reply: ModelAnswer | None = None


@dataclass(frozen=True, slots=True)
class Inquiry:
    """What a strategy works with for one question. `depth`: how many passages are wanted in the end.

    `try_to_answer`: what the reader makes of a conclusion, None where that does not hold the answer.
    """

    question: Query
    retriever: Retriever
    depth: int
    emit: Listener
    model: Tasks | None = None
    try_to_answer: Callable[[Conclusion], ModelAnswer | None] = lambda _: None
    _texts: dict[str, Passage] = field(default_factory=dict, init=False, repr=False, compare=False)

    @property
    def tasks(self) -> Tasks:
        """The language model. Raises ConfigurationError when none is configured."""
        if self.model is None:
            raise no_model()
        return self.model

    def query(self, text: str) -> Query:
        """A query among the documents that the question may be answered from, with the question's memory."""
        its = self.question
        return Query(text, its.filter, self.emit, its.memory, its.knowledge)

    def hits(self, found: Sequence[Scored]) -> tuple[Hit, ...]:
        """The passages with their texts, in order, those that are gone left out; a text is fetched once a question."""
        self._fetch([x.id for x in found])
        return tuple(Hit(self._texts[x.id], x.score, x.why) for x in found if x.id in self._texts)

    def passages(self, found: Sequence[Scored]) -> list[Passage]:
        """The same without scores and trails."""
        return [hit.passage for hit in self.hits(found)]

    def items(self, evidence: Sequence[Evidence]) -> list[Item]:
        """Items of evidence with their texts; passages that are gone are left out, and summaries of nothing else."""
        self._fetch([id for item in evidence for id in _ids(item)])
        found: list[Item] = []
        for item in evidence:
            passages = tuple(self._texts[id] for id in _ids(item) if id in self._texts)
            if passages:
                found.append(Summary(item.title, item.text, passages) if isinstance(item, Topic) else passages)
        return found

    def _fetch(self, ids: Sequence[str]) -> None:
        missing = list(dict.fromkeys(id for id in ids if id not in self._texts))
        if missing:
            self._texts.update(self.retriever.passages(missing))


def _ids(item: Evidence) -> Sequence[str]:
    return item.leaves if isinstance(item, Topic) else item


class Episode(ABC):
    """One question under way. Any of its methods may raise ModelError; it can be finalised then all the same."""

    steps: int = 1
    """How many steps it takes at most."""
    pool: int = 0
    """How many passages a retrieval ranks, if that is more than are wanted in the end."""

    def __init__(self, inquiry: Inquiry, settings: Any) -> None:
        self.inquiry = inquiry
        self.settings = settings
        self._order: dict[str, None] = {}

    @abstractmethod
    def next_queries(self) -> Sequence[str | Search]:
        """What to search for in the next step; nothing: enough is known."""

    def retrieve(self, query: Query) -> list[Scored]:
        """The passages for a query, best first. Several queries of a step are searched for at once, in threads."""
        retriever, n = self.inquiry.retriever, max(self.pool, self.inquiry.depth)
        with retriever.spanned(n):
            return retriever.rank(query, n)

    @abstractmethod
    def absorb(self, query: str, found: Sequence[Scored]) -> None:
        """Take in what was found for a query."""

    def done(self) -> bool:
        """Whether the loop ends after this step."""
        return False

    @abstractmethod
    def finalise(self) -> list[Scored]:
        """The passages of all steps so far as one ranking; the loop asks for it after each step."""

    def conclude(self) -> Conclusion:
        """What the episode ends with. When it fails, the answer is read from `finalise`."""
        return Conclusion(self.finalise())

    def shown(self, found: Sequence[Scored], count: int) -> str:
        """The best passages as a model is shown them, at most `count`, and as many as the option `tokens` allows."""
        return numbered(self._best(found, count))

    def shown_again(self, found: Sequence[Scored], count: int) -> str:
        """The same passages, those that were shown before first and in the order that they had: so prompts begin alike.

        A server that keeps what it made of a prompt's beginning then reads only the rest.
        """
        by_id = {item[0].id: item for item in self._best(found, count)}
        self._order = {id: None for id in (*self._order, *by_id) if id in by_id}
        return numbered(by_id[id] for id in self._order)

    def _best(self, found: Sequence[Scored], count: int) -> list[list[Passage]]:
        passages = [[p] for p in self.inquiry.passages(found[:count])]
        return passages[: len(within(passages, self.settings.tokens))]

    def notes(self) -> tuple[str, ...]:
        """What to know of the final ranking, such as that the collection lacks what the strategy works with."""
        return self.inquiry.retriever.notes([])

    def emit(self, event: Event) -> None:
        """Report what happened."""
        self.inquiry.emit(event)
