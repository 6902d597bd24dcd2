"""A LlamaIndex program with kgrag: a retriever and a query engine, in both ways of calling."""

import asyncio
import json
import sys

from llama_index.core.llms.mock import MockLLM
from llama_index.core.query_engine import RetrieverQueryEngine

from kgrag import KnowledgeGraph
from kgrag.adapters.llama_index import KgragQueryEngine, KgragRetriever
from kgrag.values.results import Filter

collection, question = sys.argv[1:]
peru = Filter({"country": "Peru"})  # matches no document
with KnowledgeGraph.connect() as kg:
    retriever = KgragRetriever(kg[collection], k=2)
    found = retriever.retrieve(question)
    later = asyncio.run(retriever.aretrieve(question))
    engine = KgragQueryEngine(kg[collection])
    answer = engine.query(question)
    own = RetrieverQueryEngine.from_args(retriever, llm=MockLLM())  # the framework's own reader over kgrag's passages
    print(json.dumps({
        "filtered": len(KgragRetriever(kg[collection], filter=peru).retrieve(question)),
        "titles": [n.metadata["title"] for n in found],
        "texts": [n.text for n in found],
        "told": {**found[0].metadata, "score": found[0].score},
        "later": [n.metadata["title"] for n in later],
        "piped": [n.metadata["title"] for n in own.query(question).source_nodes],
        "answer": answer.response,
        "answer_later": asyncio.run(engine.aquery(question)).response,
        "cited": [n.metadata["title"] for n in answer.source_nodes],
    }))  # fmt: skip
