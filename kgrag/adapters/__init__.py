"""kgrag inside other frameworks: a retriever and an answering component for each, in its own idiom.

Each module needs its framework alone: `kgrag.adapters.langchain` (langchain-core), `kgrag.adapters.llama_index`
(llama-index-core), `kgrag.adapters.haystack` (haystack-ai), `kgrag.adapters.neo4j_graphrag` (neo4j-graphrag).
"""

from collections.abc import Mapping
from typing import Any, Protocol

from kgrag.retrieval.trail import trail
from kgrag.values.events import Answer
from kgrag.values.results import Hit, Passage, Ranking


class Source(Protocol):
    """What is asked: a Collection, here or on a server."""

    name: str

    def search(self, query: str, /, *, k: int = ..., retriever: str = ...) -> Ranking:
        """The `k` best passages for a question."""

    def ask(self, question: str, /, *, system: str = ...) -> Answer:
        """The answer to a question."""


def described(passage: Passage) -> dict[str, Any]:
    """What a document of a framework tells of a passage besides its text; the user's own metadata are among it."""
    own: Mapping[str, Any] = passage.metadata
    told = {
        "passage": passage.id,
        "document": passage.document,
        "title": passage.title,
        "section": passage.section,
        "place": passage.place,
        "source": passage.source,
    }
    return {**own, **{name: value for name, value in told.items() if value}}


def found(hit: Hit) -> dict[str, Any]:
    """The same of a passage that was found, with the path that led to it, and what else holds its text."""
    return {**described(hit.passage), "trail": trail(hit), **({"also_in": hit.also_in} if hit.copies else {})}


def answered(answer: Answer) -> dict[str, Any]:
    """What an answer tells besides its text."""
    return {
        "found": answer.found,
        "system": answer.system,
        "problem": answer.problem,
        "unsupported": list(answer.unsupported),
        "calls": answer.usage.calls,
        "tokens": answer.usage.prompt_tokens + answer.usage.completion_tokens,
    }
