"""Request the relevance of texts to a question from a reranking server.

There are two protocols: one of Cohere and Jina, also supported by vLLM and llama.cpp (`documents`, `relevance_score`),
and one of Text Embeddings Inference (`texts`, `score`). The first refusals show the server's protocol, its maximum
batch, and whether it truncates long texts by default; later requests follow this.
"""

import json
import logging
import math
import re
import threading
import time
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

from kgrag.models.chat_errors import TOO_LONG, Server, body_of, pause_before_retry, reason_of, server_error
from kgrag.models.endpoint import Endpoint
from kgrag.runtime import limits
from kgrag.runtime.spans import span
from kgrag.settings import RerankerSettings
from kgrag.values.errors import ConfigurationError, ModelError, without_login

if TYPE_CHECKING:
    import openai

_LOG = logging.getLogger(__name__)

_PATHS = ("rerank", "reranking")
_TOO_MANY = re.compile(
    r"batch size \d+|allowed batch|(too many|number of|at most|maximum).{0,30}(documents|texts)", re.IGNORECASE
)
_ROUNDED = 0.01
"""Tolerance of scores from 0 to 1; a score farther outside is a logit."""
_CUTS: dict[str, dict[str, Any]] = {"texts": {"truncate": True}, "documents": {"truncate_prompt_tokens": -1}}
"""Parameters by which TEI and vLLM truncate texts beyond the context."""
_SHORTER = (
    "Give the server's model a longer context (llama.cpp: -c, -b and -ub), or make passages shorter, in a new "
    "collection (KGRAG_INDEXING__WHOLE_TOKENS, KGRAG_INDEXING__PASSAGE_TOKENS)."
)


class RerankServer:
    """The reranker at the server of the settings. Safe to share between threads."""

    def __init__(self, settings: RerankerSettings) -> None:
        """Make the client; nothing is sent yet. Raises ConfigurationError for an invalid address."""
        url = settings.base_url or ""
        if not url.startswith(("http://", "https://")):
            raise ConfigurationError(
                f"{without_login(url)!r} is no address of a server.",
                "Write KGRAG_RERANKER__BASE_URL as http://HOST:PORT/v1, or as http://HOST:PORT for TEI.",
            )
        parts = urlsplit(url)
        path, _, last = parts.path.rstrip("/").rpartition("/")
        if last not in _PATHS:
            path, last = parts.path.rstrip("/"), "rerank"
        headers = {name: value.get_secret_value() for name, value in settings.extra_headers.items()}
        key = settings.api_key.get_secret_value() if settings.api_key else ""
        self._endpoint, self._path = Endpoint(parts._replace(path=path).geturl(), key, headers), f"/{last}"
        self._settings, self.model = settings, settings.model or ""
        self._most, self._texts, self._cuts, self._logits = settings.batch, "documents", False, False
        self._lock = threading.Lock()
        self._client: openai.OpenAI | None = None

    def __repr__(self) -> str:
        return f"RerankServer({self.model!r} at {self.address})"

    @property
    def address(self) -> str:
        """The address for messages: without user, password and parameters."""
        return self._endpoint.address

    def scores(self, question: str, texts: Sequence[str]) -> list[float]:
        """Return the relevance of each text to the question, 0 to 1, in the order of the texts.

        Raises UnavailableError if the server cannot be reached, refuses the key or ranks nothing, ModelError for any
        other failure, DeadlineError or CancelledError if the limits of the caller end the wait.
        """
        values: list[float] = []
        with span(f"rerank {self.model}".strip(), client=True, texts=len(texts)) as noted:
            noted |= {"gen_ai.operation.name": "rerank", **self._endpoint.attributes(self.model)}
            while len(values) < len(texts):
                values += self._part(question, texts[len(values) : len(values) + self._most])
        self._logits = self._logits or not all(-_ROUNDED <= score <= 1 + _ROUNDED for score in values)
        return [_sigmoid(score) if self._logits else min(1.0, max(0.0, score)) for score in values]

    def _part(self, question: str, texts: Sequence[str]) -> list[float]:
        """Return the scores of a call; empty if it had too many texts."""
        import openai

        client, tried, least = self._connected(), 0, self._settings.timeout
        while True:
            left = limits.remaining()
            seconds = least if left is None else min(least, left)
            body = self._body(question, texts)
            try:
                reply = client.post(
                    self._path,
                    cast_to=str,
                    body=body,
                    options={"headers": self._endpoint.extra_headers(), "timeout": seconds},
                )
            except openai.OpenAIError as error:
                limits.remaining()  # the wait may have used up the time of the caller
                refused = body_of(error) if isinstance(error, openai.APIStatusError) else ""
                if isinstance(error, openai.APIStatusError):
                    if len(texts) > 1 and (error.status_code == 413 or _TOO_MANY.search(refused)):
                        self._most = (len(texts) + 1) // 2
                        _LOG.info("%s takes no %d texts at once: KGRAG_RERANKER__BATCH", self.address, len(texts))
                        return []
                    if self._learnt(error.status_code, refused, body):
                        continue
                if TOO_LONG.search(refused):
                    message = f"{self.address} refuses a passage: {reason_of(refused)}"
                    raise self._endpoint.hidden(ModelError(message, _SHORTER)) from None
                tried += 1
                pause = pause_before_retry(error, tried)
                if pause is None or tried > self._settings.retries:
                    raise self._endpoint.hidden(server_error(error, self._server(tried - 1))) from None
                left = limits.remaining()
                time.sleep(pause if left is None else min(pause, left))
            else:
                return self._read(reply, len(texts))

    def _learnt(self, status: int, refused: str, body: dict[str, Any]) -> bool:
        """Return whether a refusal calls for another form of request."""
        if status in (400, 422) and "documents" in body and re.search(r"\btexts\b", refused):
            self._texts = "texts"
        elif TOO_LONG.search(refused) and not _CUTS[self._texts].keys() <= body.keys():
            self._cuts = True
        else:
            return False
        return True

    def _body(self, question: str, texts: Sequence[str]) -> dict[str, Any]:
        body: dict[str, Any] = {"query": question, self._texts: list(texts)}
        if self._texts == "documents":
            body |= {"top_n": len(texts)} | ({"model": self.model} if self.model else {})
        return body | (_CUTS[self._texts] if self._cuts or self._texts == "texts" else {})

    def _read(self, body: str, number: int) -> list[float]:
        """Return the scores of a reply in the order of the texts. Raises ModelError unless each text has one."""
        scores: dict[int, float] = {}
        try:
            value = json.loads(body)
            results = value["results"] if isinstance(value, dict) else value
            for result in results:
                score = result["relevance_score"] if "relevance_score" in result else result["score"]
                place = result["index"]
                if not math.isfinite(score) or place in scores or place not in range(number):
                    raise ValueError(f"it ranks text {place} as {score}")
                scores[place] = float(score)
            if len(scores) != number:
                raise ValueError(f"{len(scores)} scores came for {number} texts")
        except (ValueError, KeyError, TypeError, RecursionError) as error:
            raise self._endpoint.hidden(
                ModelError(
                    f"{self.address} replied nothing that can be used ({error}): {body[:80]!r}",
                    f"Is it a server that ranks? {self._server(0).where}",
                )
            ) from None
        return [scores[place] for place in range(number)]

    def _server(self, retries: int) -> Server:
        return Server(self.model or "reranker", self.address, self._settings.timeout, retries, "RERANKER")

    def _connected(self) -> "openai.OpenAI":
        with self._lock:
            if self._client is None:
                self._client = self._endpoint.connect(self._settings.timeout, self._server(0))
            return self._client


def _sigmoid(logit: float) -> float:
    small = math.exp(-abs(logit))
    return 1 / (1 + small) if logit >= 0 else small / (1 + small)
