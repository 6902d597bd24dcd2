"""Reranking: the best passages of another retriever, reordered by a model that reads each with the question.

The model is a cross-encoder of sentence-transformers in this process (Nogueira and Cho, "Passage re-ranking with BERT",
2019), or one behind a server (`kgrag.models.rerank_server`).
"""

import os
from collections.abc import Sequence
from functools import cache
from typing import Any

from pydantic import Field, SecretStr

from kgrag.models.rerank_server import RerankServer
from kgrag.retrieval.base import Query, Retriever, Scored
from kgrag.retrieval.compose import ONE_AT_A_TIME, rank_again
from kgrag.retrieval.context import Searchable
from kgrag.runtime.options import Count, Options
from kgrag.values.errors import ConfigurationError
from kgrag.values.installing import require_extra

KEY = "RERANK_API_KEY"
"""The environment variable with the key for a server given by an option."""

_MODEL = "cross-encoder/ms-marco-MiniLM-L6-v2"


class RerankOptions(Options):
    """Options of reranking."""

    model: str = Field(
        "",
        description="cross-encoder: a name on the hub or a folder; or the server's; "
        f"empty: {_MODEL}, or KGRAG_RERANKER__MODEL",
    )
    top: Count = Field(50, description="passages of the other retriever that are ranked again")
    batch: int = Field(32, ge=1, le=1_000, description="passages that the cross-encoder reads at once")
    url: str = Field(
        "", description=f"another server than KGRAG_RERANKER__BASE_URL; its key is {KEY}; empty: that one, or none"
    )


class Rerank(Retriever):
    """The best passages of another retriever in the order of a cross-encoder.

    Source: Nogueira and Cho, "Passage re-ranking with BERT", 2019.

    Example:
        >>> Rerank.check({"top": 30}).top
        30
    """

    name = "rerank"
    summary = "another's best passages, ranked again by a cross-encoder (extra: sbert) or a server"
    paper = "Nogueira and Cho 2019"
    options = RerankOptions
    over = ("pathrank",)
    needs = "the extra sbert and a model, or a server"
    scale = "relevance"
    settings: RerankOptions

    def __init__(self, *on: Searchable, **options: Any) -> None:
        """Make the retriever.

        Raises:
            ConfigurationError: an option does not exist or is out of range, or the server has no address.
        """
        super().__init__(*on, **options)
        s, server = self.settings, self.context.reranker
        if s.url:  # do not send the key from the settings to this server
            key = os.environ.get(KEY)
            own: dict[str, Any] = {
                "base_url": s.url,
                "api_key": SecretStr(key) if key else None,
                "extra_headers": {},
                "model": None,
            }
            server = server.model_copy(update=own)
        if s.model:
            server = server.model_copy(update={"model": s.model})
        self._server: RerankServer | None = None
        if server.base_url:
            server_key = ("reranker", s.url, server.base_url, server.model)
            self._server = self.context.cached(server_key, lambda: RerankServer(server))
        model = self._server.model if self._server else s.model or _MODEL
        self.settings = s.model_copy(update={"model": model, "url": self._server.address if self._server else ""})

    def rank(self, query: Query, n: int) -> list[Scored]:
        """See Retriever; scores are the model's, 0 to 1. Only the base's best `top` passages are scored.

        Raises ConfigurationError if sentence-transformers is not installed or the model cannot be loaded, and
        UnavailableError or ModelError if a server fails.
        """
        s, server = self.settings, self._server

        def score(texts: list[str]) -> list[float]:
            return server.scores(query.text, texts) if server else read_beside(s.model, query.text, texts, s.batch)

        return rank_again(self, query, s.top, n, score)


def read_beside(model: str, question: str, texts: Sequence[str], batch: int) -> list[float]:
    """Return the relevance of each text to the question, 0 to 1, by a cross-encoder.

    Raises ConfigurationError if the model does not exist.
    """
    with ONE_AT_A_TIME:
        encoder, activation = _load(model)
        pairs = [(question, text) for text in texts]
        scores = encoder.predict(pairs, batch_size=batch, activation_fn=activation, show_progress_bar=False)
        return [float(score) for score in scores]


@cache
def _load(name: str) -> tuple[Any, Any]:
    problem = "The retriever rerank needs sentence-transformers, or the address of a server."
    server = "Install it: `{}`; or name a server: KGRAG_RERANKER__BASE_URL=http://HOST:PORT/v1."
    with require_extra("sbert", problem, server):
        from sentence_transformers import CrossEncoder
        from torch.nn import Sigmoid
    remedy = "Name a cross-encoder or give the path of a saved one: rerank(pathrank, model='BAAI/bge-reranker-base')."
    try:
        encoder = CrossEncoder(name)
        trained = any("ForSequenceClassification" in kind for kind in encoder.model.config.architectures or ())
    except Exception as error:  # the hub's errors have no common type
        raise ConfigurationError(f"The cross-encoder {name!r} cannot be loaded: {error}", remedy) from error
    if encoder.num_labels != 1 or not trained:  # the library would initialise a last layer at random
        raise ConfigurationError(f"{name!r} is no cross-encoder: it gives no single score for a pair of texts.", remedy)
    return encoder, Sigmoid()
