"""The retrievers by name: adding one is a module and a line here."""

from collections.abc import Callable
from dataclasses import dataclass

from kgrag.errors import NotFoundError
from kgrag.retrieval.base import Index, Retriever
from kgrag.retrieval.bm25 import Bm25
from kgrag.retrieval.dense import Dense
from kgrag.retrieval.fusion import hybrid
from kgrag.retrieval.pathrank import PathRank


@dataclass(frozen=True, slots=True)
class Entry:
    """How to make a retriever, and what to say of it in a list."""

    make: Callable[[Index], Retriever]
    summary: str


RETRIEVERS: dict[str, Entry] = {
    "pathrank": Entry(
        PathRank, "walks from the question's names over the names that passages mention; multi-hop, no model"
    ),
    "bm25": Entry(Bm25, "words shared with the question: full-text index, English stemming"),
    "dense": Entry(Dense, "nearest embeddings: vector index, scored again exactly"),
    "hybrid": Entry(hybrid, "reciprocal rank fusion of bm25 and dense"),
}
DEFAULT_RETRIEVER = "pathrank"


def make_retriever(name: str, index: Index) -> Retriever:
    """The retriever of that name. Raises NotFoundError, naming those that exist."""
    entry = RETRIEVERS.get(name)
    if entry is None:
        raise NotFoundError(f"There is no retriever {name!r}.", f"Choose one of: {', '.join(RETRIEVERS)}.")
    return entry.make(index)
