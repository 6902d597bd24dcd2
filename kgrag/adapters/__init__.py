"""kgrag inside other frameworks: a retriever and an answering component for each, in its own idiom.

Each module needs its framework alone: `kgrag.adapters.langchain` (langchain-core), `kgrag.adapters.llama_index`
(llama-index-core), `kgrag.adapters.haystack` (haystack-ai), `kgrag.adapters.neo4j_graphrag` (neo4j-graphrag);
`kgrag.adapters.py2neo` gives results as its subgraphs.
"""

from collections.abc import Mapping
from typing import Any, Protocol

from kgrag.retrieval.trail import trail
from kgrag.values.events import Answer
from kgrag.values.results import Filter, Hit, Passage, Ranking


class Source(Protocol):
    """A collection to be asked, here or on a server."""

    name: str

    def search(self, query: str, /, *, k: int = ..., retriever: str = ..., filter: Filter | None = ...) -> Ranking:
        """Return the `k` best passages for a question."""

    def ask(self, question: str, /, *, system: str = ..., filter: Filter | None = ...) -> Answer:
        """Answer a question."""


def described(passage: Passage) -> dict[str, Any]:
    """Return a framework's metadata of a passage, the user's own among them."""
    own: Mapping[str, Any] = passage.metadata
    fields = {
        "passage": passage.id,
        "document": passage.document,
        "title": passage.title,
        "section": passage.section,
        "place": passage.place,
        "source": passage.source,
    }
    return {**own, **{name: value for name, value in fields.items() if value}}


def metadata_of(hit: Hit) -> dict[str, Any]:
    """Return the metadata of a hit: those of its passage, with its trail, and its copies."""
    return {**described(hit.passage), "trail": trail(hit), **({"also_in": hit.also_in} if hit.copies else {})}


def answered(answer: Answer) -> dict[str, Any]:
    """Return the metadata of an answer."""
    return {
        "found": answer.found,
        "system": answer.system,
        "problem": answer.problem,
        "unsupported": list(answer.unsupported),
        "unchecked": list(answer.unchecked),
        "calls": answer.usage.calls,
        "tokens": answer.usage.prompt_tokens + answer.usage.completion_tokens,
    }
