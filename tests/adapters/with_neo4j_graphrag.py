"""A program of neo4j-graphrag with kgrag: a retriever alone and in GraphRAG, and answers in its format."""

import json
import sys

from neo4j_graphrag.generation import GraphRAG
from neo4j_graphrag.llm import OpenAILLM

from kgrag import KnowledgeGraph
from kgrag.adapters.neo4j_graphrag import KgragRAG, KgragRetriever
from kgrag.values.results import Filter

collection, question = sys.argv[1:]
peru = Filter({"country": "Peru"})  # matches no document
with KnowledgeGraph.connect() as kg:
    retriever = KgragRetriever(kg[collection])
    found = retriever.search(query_text=question, top_k=2).items
    # no model is called: only the retrieved items matter
    llm = OpenAILLM("none", api_key="none", base_url="http://127.0.0.1:1")
    rag = GraphRAG(retriever=retriever, llm=llm)
    answer = KgragRAG(kg[collection]).search(question)
    print(json.dumps({
        "filtered": len(KgragRetriever(kg[collection], filter=peru).search(query_text=question).items),
        "titles": [i.metadata["title"] for i in found],
        "texts": [i.content for i in found],
        "told": found[0].metadata,
        "piped": [i.metadata["title"] for i in rag.retriever.search(query_text=question, top_k=2).items],
        "answer": answer.answer,
        "cited": [i.metadata["title"] for i in answer.retriever_result.items],
    }))  # fmt: skip
