"""The contract of agents: next queries -> retrieve -> absorb -> stop? -> finalise. The loop is `loop.run`."""

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass

from kgrag.events import Event
from kgrag.models.chat import no_model
from kgrag.models.tasks import Listener, Tasks
from kgrag.retrieval.base import Query, Retriever, Scored
from kgrag.settings import AgentSettings
from kgrag.types import Passage


@dataclass(frozen=True, slots=True)
class Context:
    """What a strategy works with for one question. `depth`: how many passages are wanted in the end."""

    question: Query
    retriever: Retriever
    settings: AgentSettings
    depth: int
    emit: Listener
    model: Tasks | None = None

    @property
    def tasks(self) -> Tasks:
        """The language model. Raises ConfigurationError when none is configured."""
        if self.model is None:
            raise no_model()
        return self.model

    def query(self, text: str) -> Query:
        """A query among the documents that the question may be answered from."""
        return Query(text, self.question.filter, self.emit)

    def passages(self, found: Sequence[Scored]) -> list[Passage]:
        """The passages with their texts, in order."""
        texts = self.retriever.index.reader.passages([x.id for x in found])
        return [texts[x.id] for x in found if x.id in texts]


class Strategy(ABC):
    """One question under way. Any of its methods may raise ModelError; it can be finalised then all the same."""

    steps: int = 1
    """How many steps it takes at most."""

    def __init__(self, context: Context) -> None:
        self.context = context

    @abstractmethod
    def next_queries(self) -> Sequence[str]:
        """What to search for in the next step; nothing: enough is known."""

    def retrieve(self, query: Query) -> list[Scored]:
        """The passages for a query, best first."""
        return self.context.retriever.rank(query, self.context.depth)

    @abstractmethod
    def absorb(self, query: str, found: Sequence[Scored]) -> None:
        """Take in what was found for a query."""

    def done(self) -> bool:
        """Whether the loop ends after this step."""
        return False

    @abstractmethod
    def finalise(self) -> list[Scored]:
        """The passages of all steps as one ranking."""

    def notes(self) -> tuple[str, ...]:
        """What to know of the final ranking, such as that the collection lacks what the strategy works with."""
        return self.context.retriever.notes([])

    def emit(self, event: Event) -> None:
        """Tell what happened."""
        self.context.emit(event)
