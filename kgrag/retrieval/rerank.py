"""Reranking: the best passages of another retriever, ranked again by a model that reads each beside the question.

The model is a cross-encoder of sentence-transformers in this process (Nogueira and Cho, "Passage re-ranking with BERT",
2019), or one behind a server that speaks the protocol of Jina, Cohere and vLLM: POST /v1/rerank.
"""

import json
import math
import os
from collections.abc import Sequence
from functools import cache
from typing import Any

import urllib3
from pydantic import Field

from kgrag.retrieval.base import Query, Retriever, Scored
from kgrag.retrieval.second_stage import ONE_AT_A_TIME, rank_again
from kgrag.runtime.options import Count, Options
from kgrag.values.errors import ConfigurationError, ModelError, UnavailableError

KEY = "RERANK_API_KEY"
"""The variable of the environment that holds the key of a server."""

_BUSY = (429, 502, 503, 504)
_LONGEST = 200  # characters of what a server says


class RerankOptions(Options):
    """Options of reranking."""

    model: str = Field(
        "cross-encoder/ms-marco-MiniLM-L6-v2",
        description="cross-encoder: a name on the hub or a folder; or the server's",
    )
    top: Count = Field(50, description="passages of the other retriever that are ranked again")
    batch: int = Field(32, ge=1, le=1_000, description="passages that the cross-encoder reads at once")
    url: str = Field(
        "", description=f"server that ranks, such as http://localhost:8000/v1/rerank; its key is {KEY}; empty: none"
    )
    timeout: float = Field(60.0, gt=0, le=3_600, description="seconds to wait for the server")
    retries: int = Field(
        3, ge=0, le=20, description="how often a call that failed is tried again, waiting longer each time"
    )


class Rerank(Retriever):
    """The best passages of another retriever in the order of a cross-encoder."""

    name = "rerank"
    summary = "another's best passages, ranked again by a cross-encoder (extra: sbert) or a server"
    paper = "Nogueira and Cho 2019"
    options = RerankOptions
    over = ("pathrank",)
    needs = "kgrag[sbert] and a model, or a server"
    scale = "relevance"
    settings: RerankOptions

    def rank(self, query: Query, n: int) -> list[Scored]:
        """See Retriever; scores are the model's, 0 to 1. Passages beyond the base's best `top` are not looked at.

        Raises ConfigurationError when sentence-transformers is not installed or the model cannot be loaded;
        UnavailableError and ModelError of a server.
        """
        s = self.settings

        def score(texts: list[str]) -> list[float]:
            return ask(s, query.text, texts) if s.url else read_beside(s.model, query.text, texts, s.batch)

        return rank_again(self, query, s.top, n, score)


def read_beside(model: str, question: str, texts: Sequence[str], batch: int) -> list[float]:
    """The relevance of each text to the question, 0 to 1, by a cross-encoder.

    Raises ConfigurationError when there is no such model.
    """
    with ONE_AT_A_TIME:
        encoder, activation = _load(model)
        pairs = [(question, text) for text in texts]
        scores = encoder.predict(pairs, batch_size=batch, activation_fn=activation, show_progress_bar=False)
        return [float(score) for score in scores]


@cache
def _load(name: str) -> tuple[Any, Any]:
    try:
        from sentence_transformers import CrossEncoder
        from torch.nn import Sigmoid
    except ImportError as error:
        raise ConfigurationError(
            "The retriever rerank needs sentence-transformers, or the address of a server.",
            "Install it: pip install 'kgrag[sbert]'; or name a server: rerank(pathrank, url='http://HOST:PORT/v1/rerank').",
        ) from error
    remedy = (
        "Name a cross-encoder or give the path of a saved one: rerank(pathrank, model='BAAI/bge-reranker-base'), "
        "or KGRAG_RETRIEVAL__RERANK__MODEL."
    )
    try:
        encoder = CrossEncoder(name)
        trained = any("ForSequenceClassification" in kind for kind in encoder.model.config.architectures or ())
    except Exception as error:  # the hub's errors have no common type
        raise ConfigurationError(f"The cross-encoder {name!r} cannot be loaded: {error}", remedy) from error
    if encoder.num_labels != 1 or not trained:  # the library would draw a last layer at random
        raise ConfigurationError(f"{name!r} is no cross-encoder: it gives no single score for a pair of texts.", remedy)
    return encoder, Sigmoid()


def ask(s: RerankOptions, question: str, texts: Sequence[str]) -> list[float]:
    """The relevance of each text to the question by a server, 0 to 1; 0 for those that it leaves out.

    Raises ConfigurationError for an address that is none, UnavailableError when the server cannot be reached or
    refuses the key, ModelError for any other failure.
    """
    if not s.url.startswith(("http://", "https://")):
        raise ConfigurationError(f"{s.url!r} is no address of a server.", _REMEDY)
    key = os.environ.get(KEY, "")
    headers = {"Content-Type": "application/json"} | ({"Authorization": f"Bearer {key}"} if key else {})
    body = {"model": s.model, "query": question, "documents": list(texts), "top_n": len(texts)}
    try:
        reply = _pool(s.retries).request(
            "POST", s.url, body=json.dumps(body).encode(), headers=headers, timeout=s.timeout, redirect=False
        )
    except urllib3.exceptions.HTTPError as error:
        cause = getattr(error, "reason", None) or error
        raise UnavailableError(f"No reply from {_shown(s.url)}: {cause}", _REMEDY) from None
    said = reply.data.decode("utf-8", "replace")
    if reply.status != 200:
        text = f"{_shown(s.url)} refuses (HTTP {reply.status}): {said.replace(key, '***') if key else said}"[:_LONGEST]
        if reply.status in (401, 403):
            raise UnavailableError(text, f"Set {KEY} to a key that is valid.")
        raise ModelError(text, _REMEDY)
    return _scores(said, len(texts), s.url)


def _scores(said: str, wanted: int, url: str) -> list[float]:
    scores = [0.0] * wanted
    try:
        for result in json.loads(said)["results"]:
            score = float(result["relevance_score"])
            if not 0 <= result["index"] < wanted or not math.isfinite(score):
                raise ValueError(f"index {result['index']}, score {score}")
            scores[result["index"]] = score
    except (ValueError, KeyError, TypeError) as error:
        raise ModelError(f"{_shown(url)} replied nothing that can be used: {said[:_LONGEST]}", _REMEDY) from error
    return scores


_REMEDY = (
    "Is it a server that ranks, with its whole path? rerank(pathrank, url='http://HOST:PORT/v1/rerank', model='NAME')"
)


@cache
def _pool(retries: int) -> urllib3.PoolManager:
    again = urllib3.Retry(
        total=retries, status_forcelist=_BUSY, allowed_methods=None, backoff_factor=0.2, raise_on_status=False
    )
    return urllib3.PoolManager(retries=again)


def _shown(url: str) -> str:
    """An address without name and password."""
    parts = urllib3.util.parse_url(url)
    return str(parts._replace(auth=None, query=None))
