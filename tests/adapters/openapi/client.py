"""A client generated from /openapi.json: python client.py ADDRESS KEY COLLECTION QUESTION."""

import json
import sys

from kgrag_client import AuthenticatedClient
from kgrag_client.api.ask import ask
from kgrag_client.api.cypher import cypher
from kgrag_client.api.search import search
from kgrag_client.models import (
    AskRequest,
    CypherRequest,
    ErrorReply,
    SavedAnswerReply,
    SavedRankingReply,
    SearchRequest,
)

address, key, collection, question = sys.argv[1:]
with AuthenticatedClient(address, key) as client:
    found = search.sync(collection, client=client, body=SearchRequest(question=question, k=2))
    assert isinstance(found, SavedRankingReply), found
    answer = ask.sync(collection, client=client, body=AskRequest(question=question, system="single+bm25"))
    assert isinstance(answer, SavedAnswerReply), answer
    refused = cypher.sync(client=client, body=CypherRequest(statement="CREATE (:A)"))
    assert isinstance(refused, ErrorReply), refused
    print(
        json.dumps(
            {
                "titles": [hit.passage.title for hit in found.hits],
                "answer": answer.text,
                "kinds": [event.type_ for event in answer.trace],
                "refused": refused.remedy,
            }
        )
    )
