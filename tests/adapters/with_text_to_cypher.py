"""Programs in which a model writes Cypher over kgrag's graph: LangChain's chain, neo4j-graphrag's retriever.

Both reach the graph only through `cypher`: of a KnowledgeGraph as its owner, or of a RemoteKnowledgeGraph as a guest.
"""

import json
import sys
from types import SimpleNamespace
from typing import Any

import neo4j
from langchain_core.language_models import FakeListChatModel
from langchain_neo4j import GraphCypherQAChain
from neo4j_graphrag.llm import LLMInterface, LLMResponse
from neo4j_graphrag.retrievers import Text2CypherRetriever

from kgrag import KnowledgeGraph
from kgrag.client.remote import RemoteKnowledgeGraph
from kgrag.values.errors import KgragError

SCHEMA = "MATCH (s:Schema) UNWIND s.labels + s.relationships + s.properties AS line RETURN line"


def records(kg: Any, statement: str, parameters: Any) -> list[neo4j.Record]:
    """Return the rows of a statement in a driver's form."""
    rows = kg.cypher(statement, parameters)
    return [neo4j.Record(zip(rows.columns, row, strict=True)) for row in rows.values]


class Graph:
    """The graph store that LangChain's chain queries."""

    def __init__(self, kg: Any) -> None:
        self.kg = kg
        self.get_schema = "\n".join(row["line"] for row in kg.cypher(SCHEMA))
        self.get_structured_schema: dict[str, Any] = {"node_props": {}, "rel_props": {}, "relationships": []}

    def query(self, query: str, params: dict[str, Any] | None = None) -> list[dict[str, Any]]:
        return list(map(dict, records(self.kg, query, params)))

    def refresh_schema(self) -> None: ...

    def add_graph_documents(self, graph_documents: Any, include_source: bool = False) -> None:
        raise NotImplementedError


class Driver(neo4j.Driver):
    """The driver that neo4j-graphrag's retriever uses."""

    def __init__(self, kg: Any) -> None:
        self.kg = kg
        self._pool = SimpleNamespace(pool_config=SimpleNamespace(user_agent=""))

    def execute_query(self, query_: Any, parameters_: Any = None, **_: Any) -> Any:
        return (
            records(self.kg, query_, parameters_),
            SimpleNamespace(query_type="r"),
            None,
        )  # only reading statements pass

    def __del__(self) -> None: ...


class Retriever(Text2CypherRetriever):
    """A retriever that does not ask for Neo4j's version, which the gateway does not allow."""

    VERIFY_NEO4J_VERSION = False


class Model(LLMInterface):
    """A model that always gives the same reply."""

    def __init__(self, text: str) -> None:
        super().__init__("scripted")
        self.text = text

    def invoke(self, input: Any, *_: Any, **__: Any) -> LLMResponse:
        return LLMResponse(content=self.text)

    async def ainvoke(self, input: Any, *_: Any, **__: Any) -> LLMResponse:
        return self.invoke(input)


def asked(kg: Any, statement: str) -> dict[str, Any]:
    """Return the result of a statement of the model, with either package."""
    graph = Graph(kg)

    def langchain() -> Any:
        model = FakeListChatModel(responses=[statement, "So it is."])
        chain = GraphCypherQAChain.from_llm(
            model, graph=graph, allow_dangerous_requests=True, return_intermediate_steps=True
        )
        found = chain.invoke({"query": "Which?"})
        return [found["result"], found["intermediate_steps"][1]["context"]]

    def graphrag() -> Any:
        retriever = Retriever(Driver(kg), Model(statement), neo4j_schema=graph.get_schema)
        return [dict(record) for record in retriever.get_search_results("Which?").records]

    told = {}
    for name, ask in (("langchain", langchain), ("graphrag", graphrag)):
        try:
            told[name] = ask()
        except KgragError as error:
            told[name] = str(error)
    return told


url, key, *statements = sys.argv[1:]
with KnowledgeGraph.connect() as owner, RemoteKnowledgeGraph(url, key) as guest:
    print(json.dumps([{"owner": asked(owner, text), "guest": asked(guest, text)} for text in statements]))
