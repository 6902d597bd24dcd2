"""Components for Haystack pipelines (package haystack-ai).

>>> pipeline.add_component("retriever", KgragRetriever(kg["notes"], top_k=4))
>>> pipeline.add_component("answerer", KgragAnswerer(kg["notes"]))
"""

from functools import partial
from typing import Any

from haystack import Document, GeneratedAnswer, component

from kgrag.adapters import Source, answered, described, metadata_of
from kgrag.agents.system import DEFAULT_SYSTEM
from kgrag.client.aio import in_thread
from kgrag.retrieval.base import DEFAULT_RETRIEVER
from kgrag.values.events import Answer
from kgrag.values.results import Filter, Ranking


@component
class KgragRetriever:
    """query -> documents: the `top_k` best passages of a collection, best first; `meta` has title, pages and trail."""

    def __init__(
        self, collection: Source, *, top_k: int = 8, retriever: str = DEFAULT_RETRIEVER, filter: Filter | None = None
    ) -> None:
        self.top_k = top_k
        self._search = partial(collection.search, retriever=retriever, filter=filter)

    @component.output_types(documents=list[Document])
    def run(self, query: str, top_k: int | None = None) -> dict[str, list[Document]]:
        """Return the best passages for a question."""
        return _documents(self._search(query, k=top_k or self.top_k))

    @component.output_types(documents=list[Document])
    async def run_async(self, query: str, top_k: int | None = None) -> dict[str, list[Document]]:
        """Return the best passages for a question, without blocking the loop."""
        return _documents(await in_thread(self._search, query, k=top_k or self.top_k))


@component
class KgragAnswerer:
    """query -> answers: one GeneratedAnswer, whose documents are its citations."""

    def __init__(self, collection: Source, *, system: str = DEFAULT_SYSTEM, filter: Filter | None = None) -> None:
        self._ask = partial(collection.ask, system=system, filter=filter)

    @component.output_types(answers=list[GeneratedAnswer])
    def run(self, query: str) -> dict[str, list[GeneratedAnswer]]:
        """Answer a question."""
        return _answers(self._ask(query))

    @component.output_types(answers=list[GeneratedAnswer])
    async def run_async(self, query: str) -> dict[str, list[GeneratedAnswer]]:
        """Answer a question, without blocking the loop."""
        return _answers(await in_thread(self._ask, query))


def _documents(ranking: Ranking) -> dict[str, list[Document]]:
    return {
        "documents": [
            Document(id=h.passage.id, content=h.passage.text, meta=metadata_of(h), score=h.score) for h in ranking
        ]
    }


def _answers(answer: Answer) -> dict[str, list[GeneratedAnswer]]:
    documents = [
        Document(id=c.passage.id, content=c.passage.text, meta={**described(c.passage), "citation": c.number})
        for c in answer.citations
    ]
    meta: dict[str, Any] = answered(answer)
    return {"answers": [GeneratedAnswer(data=answer.text, query=answer.question, documents=documents, meta=meta)]}
