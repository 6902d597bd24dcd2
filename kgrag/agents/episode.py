"""One question in progress: the input of a strategy, its steps, and its outcome."""

from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

from kgrag.agents.answering import within
from kgrag.agents.replies import ModelAnswer
from kgrag.models.chat import no_model
from kgrag.models.prompted import Listener, PromptedModel, numbered
from kgrag.retrieval.base import Evidence, Query, Retriever, Scored, Topic
from kgrag.values.documents import Triple
from kgrag.values.events import Event
from kgrag.values.results import Hit, Item, Passage, Summary


@dataclass(frozen=True, slots=True)
class StepQuery:
    """A query of a step.

    Attributes:
        text: the text to search for.
        role: the kind of query within a step, such as "fast"; empty if there is only one kind.

    Example:
        >>> StepQuery("designer of the Fram", role="fast").role
        'fast'
    """

    text: str
    role: str = ""


@dataclass(frozen=True, slots=True)
class Outcome:
    """The end of an episode.

    Attributes:
        ranking: the passages, best first.
        evidence: the evidence for the answer: a number of passages of the ranking, or items (the ids of one passage, of
            several that form a path, or a summary); None: as in the options of answering.
        facts: remembered facts, which are also shown to the reader.
        text: the strategy's own answer, in place of the reader's; None: the reader answers.
        reply: an answer that the reader has already given, or None.

    Example:
        >>> ranking = Bm25(collection.context).rank(Query("Who designed the Fram?"), 5)
        >>> outcome = Outcome(ranking, evidence=3)  # the answer is read from the best three
    """

    ranking: Sequence[Scored]
    evidence: int | Sequence[Evidence] | None = None
    facts: Sequence[Triple] = ()
    text: str | None = None
    reply: ModelAnswer | None = None


@dataclass(frozen=True, slots=True)
class QuestionContext:
    """A question, and the resources of the strategy that answers it.

    Attributes:
        question: the question.
        retriever: the retriever.
        depth: the number of passages in the final ranking.
        emit: receives each event.
        model: the language model; None if it is not configured.
        try_to_answer: reads an answer from a conclusion; returns None if the conclusion does not contain it.

    Example:
        >>> question = Query("Who designed the Fram?")
        >>> inquiry = QuestionContext(question, Bm25(collection.context), depth=5, emit=lambda event: None)
        >>> len(inquiry.passages(inquiry.retriever.rank(question, 3)))
        3
    """

    question: Query
    retriever: Retriever
    depth: int
    emit: Listener
    model: PromptedModel | None = None
    try_to_answer: Callable[[Outcome], ModelAnswer | None] = lambda _: None
    _texts: dict[str, Passage] = field(default_factory=dict, init=False, repr=False, compare=False)

    @property
    def llm(self) -> PromptedModel:
        """The language model; raises ConfigurationError if it is not configured."""
        if self.model is None:
            raise no_model()
        return self.model

    def query(self, text: str) -> Query:
        """Return a query with the question's filter and memory.

        Args:
            text: the text to search for.

        Returns:
            The query.
        """
        question = self.question
        return Query(text, question.filter, self.emit, question.memory, question.knowledge)

    def hits(self, ranking: Sequence[Scored]) -> tuple[Hit, ...]:
        """Return the passages of a ranking with their texts; each is fetched once per question.

        Args:
            ranking: the ranking.

        Returns:
            The hits in their order, without missing passages.
        """
        self._fetch([x.id for x in ranking])
        return tuple(Hit(self._texts[x.id], x.score, x.why) for x in ranking if x.id in self._texts)

    def passages(self, ranking: Sequence[Scored]) -> list[Passage]:
        """Return the passages of a ranking.

        Args:
            ranking: the ranking.

        Returns:
            The passages in their order, without missing ones.
        """
        return [hit.passage for hit in self.hits(ranking)]

    def items(self, evidence: Sequence[Evidence]) -> list[Item]:
        """Return evidence with its texts.

        Args:
            evidence: ids of passages, and summaries.

        Returns:
            The items in order, without missing passages and without summaries whose passages are all missing.
        """
        self._fetch([id for item in evidence for id in _ids(item)])
        items: list[Item] = []
        for item in evidence:
            passages = tuple(self._texts[id] for id in _ids(item) if id in self._texts)
            if passages:
                items.append(Summary(item.title, item.text, passages) if isinstance(item, Topic) else passages)
        return items

    def _fetch(self, ids: Sequence[str]) -> None:
        missing = list(dict.fromkeys(id for id in ids if id not in self._texts))
        if missing:
            self._texts.update(self.retriever.passages(missing))


def _ids(item: Evidence) -> Sequence[str]:
    return item.leaves if isinstance(item, Topic) else item


class Episode(ABC):
    """The progress of one question.

    Any method may raise ModelError; `finalise` still works afterwards.

    Args:
        inquiry: the question and the resources of the strategy.
        settings: the options in force.

    Example:
        >>> class Once(Episode):
        ...     def next_queries(self) -> list[str]:
        ...         return []
    """

    steps: int = 1
    """Maximum number of steps."""
    pool: int = 0
    """Number of passages that a retrieval ranks, if larger than the depth of the final ranking."""

    def __init__(self, inquiry: QuestionContext, settings: Any) -> None:
        self.inquiry = inquiry
        self.settings = settings
        self._order: dict[str, None] = {}

    @abstractmethod
    def next_queries(self) -> Sequence[str | StepQuery]:
        """Return the queries of the next step.

        Returns:
            Queries; an empty sequence ends the loop.
        """

    def retrieve(self, query: Query) -> list[Scored]:
        """Rank passages for a query; several queries of a step run at once, in threads.

        Args:
            query: the query.

        Returns:
            The passages, best first.
        """
        return self.inquiry.retriever.ranked(query, max(self.pool, self.inquiry.depth))

    @abstractmethod
    def absorb(self, query: str, ranking: Sequence[Scored]) -> None:
        """Process the passages of a query.

        Args:
            query: the text of the query.
            ranking: the passages, best first.
        """

    def done(self) -> bool:
        """Return whether the loop ends after this step.

        Returns:
            True if it does.
        """
        return False

    @abstractmethod
    def finalise(self) -> list[Scored]:
        """Return the passages of all steps so far as one ranking; the loop calls it after each step.

        Returns:
            The passages, best first.
        """

    def conclude(self) -> Outcome:
        """Return the outcome of the episode; if this fails, the answer is read from `finalise`.

        Returns:
            The conclusion.
        """
        return Outcome(self.finalise())

    def shown(self, ranking: Sequence[Scored], count: int) -> str:
        """Return the best passages as text for a prompt.

        Args:
            ranking: the ranking.
            count: the maximum number of passages; the option `tokens` may allow fewer.

        Returns:
            The numbered passages.
        """
        return numbered(self._best(ranking, count))

    def shown_again(self, ranking: Sequence[Scored], count: int) -> str:
        """Return the best passages as text for a prompt, with passages of earlier calls first, in their earlier order.

        A server that caches the beginning of prompts then reads only the rest.

        Args:
            ranking: the ranking.
            count: the maximum number of passages; the option `tokens` may allow fewer.

        Returns:
            The numbered passages.
        """
        by_id = {item[0].id: item for item in self._best(ranking, count)}
        self._order = {id: None for id in (*self._order, *by_id) if id in by_id}
        return numbered(by_id[id] for id in self._order)

    def _best(self, ranking: Sequence[Scored], count: int) -> list[list[Passage]]:
        passages = [[p] for p in self.inquiry.passages(ranking[:count])]
        return passages[: len(within(passages, self.settings.tokens))]

    def notes(self) -> tuple[str, ...]:
        """Return remarks on the final ranking, such as that the collection lacks data for the strategy.

        Returns:
            Sentences.
        """
        return self.inquiry.retriever.notes([])

    def emit(self, event: Event) -> None:
        """Report an event.

        Args:
            event: the event.
        """
        self.inquiry.emit(event)
