"""A retriever and a query engine for LlamaIndex (package llama-index-core).

>>> KgragRetriever(kg["notes"], k=4).retrieve("Who designed the Fram?")
>>> print(KgragQueryEngine(kg["notes"]).query("Who designed the Fram?"))
"""

from functools import partial
from typing import Any

from llama_index.core.base.base_query_engine import BaseQueryEngine
from llama_index.core.base.base_retriever import BaseRetriever
from llama_index.core.base.response.schema import RESPONSE_TYPE, Response
from llama_index.core.callbacks import CallbackManager
from llama_index.core.schema import NodeWithScore, QueryBundle, TextNode

from kgrag.adapters import Source, answered, described, metadata_of
from kgrag.agents.system import DEFAULT_SYSTEM
from kgrag.client.aio import in_thread
from kgrag.retrieval.base import DEFAULT_RETRIEVER
from kgrag.values.events import Answer
from kgrag.values.results import Filter, Passage, Ranking


class KgragRetriever(BaseRetriever):
    """The `k` best passages of a collection, best first; `metadata` has the title, the pages and the trail."""

    def __init__(
        self,
        collection: Source,
        *,
        k: int = 8,
        retriever: str = DEFAULT_RETRIEVER,
        filter: Filter | None = None,
        **options: Any,
    ) -> None:
        self._search = partial(collection.search, k=k, retriever=retriever, filter=filter)
        super().__init__(**options)

    def _retrieve(self, query_bundle: QueryBundle) -> list[NodeWithScore]:
        return _nodes(self._search(query_bundle.query_str))

    async def _aretrieve(self, query_bundle: QueryBundle) -> list[NodeWithScore]:
        return _nodes(await in_thread(self._search, query_bundle.query_str))


class KgragQueryEngine(BaseQueryEngine):
    """Answers of a system; `source_nodes` are what they cite."""

    def __init__(self, collection: Source, *, system: str = DEFAULT_SYSTEM, filter: Filter | None = None) -> None:
        self._ask = partial(collection.ask, system=system, filter=filter)
        super().__init__(CallbackManager())

    def _query(self, query_bundle: QueryBundle) -> RESPONSE_TYPE:
        return _response(self._ask(query_bundle.query_str))

    async def _aquery(self, query_bundle: QueryBundle) -> RESPONSE_TYPE:
        return _response(await in_thread(self._ask, query_bundle.query_str))

    def _get_prompt_modules(self) -> dict[str, Any]:
        return {}


def _nodes(ranking: Ranking) -> list[NodeWithScore]:
    return [NodeWithScore(node=_node(hit.passage, metadata_of(hit)), score=hit.score) for hit in ranking]


def _node(passage: Passage, metadata: dict[str, Any]) -> TextNode:
    return TextNode(id_=passage.id, text=passage.text, metadata=metadata)


def _response(answer: Answer) -> Response:
    nodes = [
        NodeWithScore(node=_node(c.passage, {**described(c.passage), "citation": c.number})) for c in answer.citations
    ]
    return Response(response=answer.text, source_nodes=nodes, metadata=answered(answer))
