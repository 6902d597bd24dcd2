"""A LangChain program with kgrag: a retriever and an answer, alone and in chains, in both ways of calling."""

import asyncio
import json
import sys

from langchain_core.runnables import RunnableLambda, RunnableParallel, RunnablePassthrough

from kgrag import KnowledgeGraph
from kgrag.adapters.langchain import KgragAnswer, KgragRetriever
from kgrag.values.results import Filter

collection, question = sys.argv[1:]
peru = Filter({"country": "Peru"})  # matches no document
with KnowledgeGraph.connect() as kg:
    retriever = KgragRetriever(collection=kg[collection], k=2)
    found = retriever.invoke(question)
    later = asyncio.run(retriever.ainvoke(question))
    chain = RunnableParallel(context=retriever | (lambda docs: [d.metadata["title"] for d in docs]),
                             question=RunnablePassthrough())  # fmt: skip
    answerer = KgragAnswer(collection=kg[collection])
    answer = (answerer | RunnableLambda(lambda reply: reply)).invoke(question)
    print(json.dumps({
        "filtered": len(KgragRetriever(collection=kg[collection], filter=peru).invoke(question)),
        "titles": [d.metadata["title"] for d in found],
        "texts": [d.page_content for d in found],
        "told": found[0].metadata,
        "later": [d.metadata["title"] for d in later],
        "piped": chain.invoke(question)["context"],
        "answer": answer["answer"],
        "answer_later": asyncio.run(answerer.ainvoke(question))["answer"],
        "cited": [d.metadata["title"] for d in answer["documents"]],
    }))  # fmt: skip
