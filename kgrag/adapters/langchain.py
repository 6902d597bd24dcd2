"""A retriever and an answering runnable for LangChain (package langchain-core).

>>> retriever = KgragRetriever(collection=kg["notes"], k=4)
>>> retriever.invoke("Who designed the Fram?")
>>> KgragAnswer(collection=kg["notes"]).invoke("Who designed the Fram?")["answer"]
"""

from typing import Any

from langchain_core.callbacks import AsyncCallbackManagerForRetrieverRun, CallbackManagerForRetrieverRun
from langchain_core.documents import Document
from langchain_core.retrievers import BaseRetriever
from langchain_core.runnables import RunnableConfig, RunnableSerializable
from pydantic import ConfigDict

from kgrag.adapters import Source, answered, described, metadata_of
from kgrag.agents.system import DEFAULT_SYSTEM
from kgrag.client.aio import in_thread
from kgrag.retrieval.base import DEFAULT_RETRIEVER
from kgrag.values.events import Answer
from kgrag.values.results import Filter, Ranking


class KgragRetriever(BaseRetriever):
    """The `k` best passages of a collection, best first; `metadata` has title, pages, score and trail."""

    model_config = ConfigDict(arbitrary_types_allowed=True, extra="forbid")

    collection: Any
    k: int = 8
    retriever: str = DEFAULT_RETRIEVER
    filter: Filter | None = None

    def _get_relevant_documents(self, query: str, *, run_manager: CallbackManagerForRetrieverRun) -> list[Document]:
        return self._search(query)

    async def _aget_relevant_documents(
        self, query: str, *, run_manager: AsyncCallbackManagerForRetrieverRun
    ) -> list[Document]:
        return await in_thread(self._search, query)

    def _search(self, query: str) -> list[Document]:
        source: Source = self.collection
        return _documents(source.search(query, k=self.k, retriever=self.retriever, filter=self.filter))


class KgragAnswer(RunnableSerializable[str, dict[str, Any]]):
    """A question -> {answer, documents (its citations), found, system, problem, calls, tokens}."""

    model_config = ConfigDict(arbitrary_types_allowed=True, extra="forbid")

    collection: Any
    system: str = DEFAULT_SYSTEM
    filter: Filter | None = None

    def invoke(self, input: str, config: RunnableConfig | None = None, **kwargs: Any) -> dict[str, Any]:
        """Answer a question."""
        reply: dict[str, Any] = self._call_with_config(self._answer, input, config)
        return reply

    async def ainvoke(self, input: str, config: RunnableConfig | None = None, **kwargs: Any) -> dict[str, Any]:
        """Answer a question; a cancelled task ends the agent at its next step."""

        async def answer(question: str) -> dict[str, Any]:
            return await in_thread(self._answer, question)

        reply: dict[str, Any] = await self._acall_with_config(answer, input, config)
        return reply

    def _answer(self, question: str) -> dict[str, Any]:
        source: Source = self.collection
        answer: Answer = source.ask(question, system=self.system, filter=self.filter)
        documents = [
            Document(c.passage.text, id=c.passage.id, metadata={**described(c.passage), "citation": c.number})
            for c in answer.citations
        ]
        return {"answer": answer.text, "documents": documents, **answered(answer)}


def _documents(ranking: Ranking) -> list[Document]:
    return [Document(h.passage.text, id=h.passage.id, metadata={**metadata_of(h), "score": h.score}) for h in ranking]
