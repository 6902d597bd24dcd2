"""A retriever for GraphRAG pipelines, and answers in their form (package neo4j-graphrag).

>>> GraphRAG(retriever=KgragRetriever(kg["notes"]), llm=llm).search("Who designed the Fram?")
>>> KgragRAG(kg["notes"]).search("Who designed the Fram?").answer
"""

import neo4j
from neo4j_graphrag.generation.types import RagResultModel
from neo4j_graphrag.retrievers.base import Retriever
from neo4j_graphrag.types import RawSearchResult, RetrieverResult, RetrieverResultItem

from kgrag.adapters import Source, answered, described, metadata_of
from kgrag.agents.system import DEFAULT_SYSTEM
from kgrag.retrieval.base import DEFAULT_RETRIEVER
from kgrag.values.results import Filter


class KgragRetriever(Retriever):
    """The best passages of a collection, best first; their `metadata` have the title, the pages and the trail."""

    VERIFY_NEO4J_VERSION = False

    def __init__(self, collection: Source, *, retriever: str = DEFAULT_RETRIEVER, filter: Filter | None = None) -> None:
        # no super().__init__: it wants a driver for queries of its own, and the collection has one
        self.collection = collection
        self.retriever = retriever
        self.filter = filter

    def get_search_results(self, query_text: str, top_k: int = 8) -> RawSearchResult:
        """Return the `top_k` best passages for a question."""
        ranking = self.collection.search(query_text, k=top_k, retriever=self.retriever, filter=self.filter)
        rows = [{"content": hit.passage.text, "metadata": {**metadata_of(hit), "score": hit.score}} for hit in ranking]
        records = [neo4j.Record(row) for row in rows]  # type: ignore[no-untyped-call]
        return RawSearchResult(records=records, metadata={"retriever": ranking.retriever})

    def default_record_formatter(self, record: neo4j.Record) -> RetrieverResultItem:
        """Return the text of a passage, and its metadata."""
        return RetrieverResultItem(content=record["content"], metadata=record["metadata"])


class KgragRAG:
    """Answers of a system in the form of `GraphRAG.search`; with `return_context`, what they cite, too."""

    def __init__(self, collection: Source, *, system: str = DEFAULT_SYSTEM, filter: Filter | None = None) -> None:
        self.collection = collection
        self.system = system
        self.filter = filter

    def search(self, query_text: str, *, return_context: bool = True) -> RagResultModel:
        """Answer a question."""
        answer = self.collection.ask(query_text, system=self.system, filter=self.filter)
        items = [
            RetrieverResultItem(content=c.passage.text, metadata={**described(c.passage), "citation": c.number})
            for c in answer.citations
        ]
        context = RetrieverResult(items=items, metadata=answered(answer)) if return_context else None
        return RagResultModel(answer=answer.text, retriever_result=context)
