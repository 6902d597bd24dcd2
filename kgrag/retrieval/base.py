"""The contract of retrieval: a Retriever turns a question into a Ranking of passages, each with its trail."""

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass, field

from kgrag.graph.reader import Reader
from kgrag.models.embed import Embedder, embed_questions
from kgrag.models.tasks import Listener, Tasks
from kgrag.settings import RetrievalSettings
from kgrag.types import Filter, Hit, Ranking, Step


@dataclass(frozen=True, slots=True)
class Query:
    """A question, and which documents may answer it. `listener` hears of what happens while it is searched."""

    text: str
    filter: Filter = field(default_factory=Filter)
    listener: Listener | None = field(default=None, repr=False, compare=False)
    _vectors: dict[str, list[float]] = field(default_factory=dict, init=False, repr=False, compare=False)

    def vector(self, embedder: Embedder) -> list[float]:
        """The question's unit vector; embedded once, however many retrievers of a composition ask for it."""
        if embedder.name not in self._vectors:
            self._vectors[embedder.name] = embed_questions(embedder, [self.text])[0].tolist()
        return self._vectors[embedder.name]


@dataclass(frozen=True, slots=True)
class Scored:
    """A passage's id with its score and the trail that led to it."""

    id: str
    score: float
    why: tuple[Step, ...] = ()


@dataclass(frozen=True, slots=True)
class Index:
    """What a retriever works on: a collection, its embedder, the constants, and a language model if there is one."""

    reader: Reader
    embedder: Embedder
    settings: RetrievalSettings
    tasks: Tasks | None = None


class Retriever(ABC):
    """Ranks the passages of a collection. Retrievers are safe to share between threads, and compose."""

    name: str

    def __init__(self, index: Index) -> None:
        self.index = index

    @abstractmethod
    def rank(self, query: Query, n: int) -> list[Scored]:
        """The best `n` passages in descending order of score, ties in a fixed order."""

    def notes(self, ranked: Sequence[Scored]) -> tuple[str, ...]:
        """What to know of a ranking that it made, such as that the collection lacks what it works with."""
        return ()

    def retrieve(self, query: str | Query, k: int = 8) -> Ranking:
        """The best `k` passages with their texts and trails; fewer when the collection holds no more that fit."""
        question = Query(query) if isinstance(query, str) else query
        scored = self.rank(question, k)[:k] if question.text.strip() and k > 0 else []
        passages = self.index.reader.passages([s.id for s in scored])
        hits = tuple(Hit(passages[s.id], s.score, s.why) for s in scored if s.id in passages)
        return Ranking(question.text, self.name, hits, self.notes(scored))
