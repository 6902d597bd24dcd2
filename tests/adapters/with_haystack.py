"""A Haystack program with kgrag: components alone and in a pipeline, called synchronously and asynchronously."""

import asyncio
import json
import sys

from haystack import Pipeline
from haystack.components.builders import PromptBuilder

from kgrag import KnowledgeGraph
from kgrag.adapters.haystack import KgragAnswerer, KgragRetriever
from kgrag.values.results import Filter

collection, question = sys.argv[1:]
peru = Filter({"country": "Peru"})  # matches no document
with KnowledgeGraph.connect() as kg:
    found = KgragRetriever(kg[collection], top_k=2).run(query=question)["documents"]
    later = asyncio.run(KgragRetriever(kg[collection], top_k=2).run_async(query=question))["documents"]
    pipeline = Pipeline()
    pipeline.add_component("retriever", KgragRetriever(kg[collection], top_k=2))
    pipeline.add_component(
        "prompt",
        PromptBuilder("{% for d in documents %}{{ d.meta.title }}|{% endfor %}", required_variables=["documents"]),
    )
    pipeline.connect("retriever.documents", "prompt.documents")
    piped = pipeline.run({"retriever": {"query": question}})["prompt"]["prompt"].strip("|").split("|")
    answerer = KgragAnswerer(kg[collection])
    answer = answerer.run(query=question)["answers"][0]
    print(json.dumps({
        "filtered": len(KgragRetriever(kg[collection], filter=peru).run(query=question)["documents"]),
        "titles": [d.meta["title"] for d in found],
        "texts": [d.content for d in found],
        "told": {**found[0].meta, "score": found[0].score},
        "later": [d.meta["title"] for d in later],
        "piped": piped,
        "answer": answer.data,
        "answer_later": asyncio.run(answerer.run_async(query=question))["answers"][0].data,
        "cited": [d.meta["title"] for d in answer.documents],
    }))  # fmt: skip
