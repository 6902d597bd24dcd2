"""Request the vectors of texts from an embedding server, or the reason why a text has none.

If the server refuses a call, its texts are halved again and again. Either the call had too many texts, which is
remembered, or this finds the refused text, and the others get their vectors.
"""

import base64
import json
import logging
import re
import time
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from kgrag.models.chat_errors import (
    NO_MODEL,
    TOO_LONG,
    LostReply,
    Server,
    body_of,
    pause_before_retry,
    reason_of,
    server_error,
)
from kgrag.models.endpoint import Endpoint
from kgrag.runtime.spans import span
from kgrag.settings import EmbeddingSettings
from kgrag.values.errors import ModelError

_LOG = logging.getLogger(__name__)

Row = NDArray[np.float32]

_KNOWN = "dimension"
"""A text that every server accepts: a server that refuses it is out of order."""
_SURE = 5.0
"""Seconds for which this check is valid."""
_OF_TEXTS = (400, 413, 422, 500, 501)
"""Statuses that may be about the texts or their number."""
_NAMED = re.compile(
    rf"{TOO_LONG.pattern}|\bnan\b|unsupported value|\bbatch|too (big|many)|maximum|at most", re.IGNORECASE
)
_SHORTER = (
    "Make passages shorter, in a new collection (KGRAG_INDEXING__WHOLE_TOKENS, KGRAG_INDEXING__PASSAGE_TOKENS), or "
    "give the server's model a longer context, and then: kgrag db repair COLLECTION."
)
_OTHER = (
    "Once the server gives one: kgrag db repair COLLECTION. Does it run the model at a low precision? Another model: "
    "kgrag db reembed COLLECTION --embedder NAME."
)


class _RefusedError(Exception):
    """The server gives no vectors for these texts together."""

    def __init__(self, error: Exception) -> None:
        super().__init__(str(error))
        self.error = error


class _MiscountedError(LostReply):
    """The number of vectors differs from the number of texts."""


class EmbeddingServer:
    """A model of the server of the settings. Safe to share between threads.

    `most`: texts of a call, by the settings or the server's limit.
    """

    def __init__(self, model: str, endpoint: Endpoint, settings: EmbeddingSettings) -> None:
        """Embed a word to learn the dimension. Raises ModelError if that fails."""
        self._model, self._endpoint, self._settings = model, endpoint, settings
        self._client = endpoint.connect(settings.timeout, self._server(0))
        self.most = settings.batch
        self._dimension: int | None = None
        self._worked = -_SURE
        self.dimension = self._dimension = self._check(retries=1)

    def vectors(self, texts: Sequence[str]) -> list[Row | ModelError]:
        """Return the vector of each text, or its error. Raises ModelError if the server gives no vector at all."""
        rows: list[Row | ModelError] = []
        while len(rows) < len(texts):
            rows += self._part(texts[len(rows) : len(rows) + self.most])[0]
        return rows

    def _part(self, texts: Sequence[str]) -> tuple[list[Row | ModelError], bool]:
        """Return the result for each text, and whether the first call gave it."""
        try:
            return [self._blamed(row) for row in self._call(texts)], True
        except _RefusedError as refused:
            if len(texts) == 1:
                return [self._alone(texts, refused.error)], False
        rows: list[Row | ModelError] = []
        half, whole = (len(texts) + 1) // 2, True
        while len(rows) < len(texts):
            more, at_once = self._part(texts[len(rows) : len(rows) + min(half, self.most)])
            rows += more
            whole = whole and at_once
        if whole and half < self.most:
            self.most = half
            _LOG.info("%s takes no more than %d texts at once: KGRAG_EMBEDDING__BATCH=%d", self._model, half, half)
        return rows, False

    def _alone(self, texts: Sequence[str], error: Exception) -> Row | ModelError:
        """Return the result for a single refused text, after the server has accepted another one."""
        self._check(retries=self._settings.retries)
        try:
            return self._blamed(self._call(texts)[0])
        except _RefusedError:
            import openai

            reason = str(error) if not isinstance(error, openai.APIStatusError) else reason_of(body_of(error))
            refused = ModelError(f"the server refuses it: {reason}", _SHORTER if TOO_LONG.search(reason) else _OTHER)
            return self._endpoint.hidden(refused)

    def _blamed(self, row: Row | str) -> Row | ModelError:
        """Return a vector, or its error, unless every text has this error."""
        if not isinstance(row, str):
            return row
        self._check(retries=self._settings.retries)
        return ModelError(row, _OTHER)

    def _check(self, *, retries: int) -> int:
        """Check that the server gives vectors, and return their dimension. Raises ModelError."""
        if self._dimension is not None and time.monotonic() - self._worked < _SURE:
            return self._dimension
        (row,) = self._call([_KNOWN], retries)
        if isinstance(row, str):
            raise ModelError(
                f"{self._model!r} at {self._endpoint.address} gives no vector for any text: {row}",
                "Is it an embedding model, and the one that the collection was made with? Name another after openai:.",
            )
        self._worked = time.monotonic()
        return len(row)

    def _call(self, texts: Sequence[str], retries: int | None = None) -> list[Row | str]:
        """Return the results of a call for each text; a str is the error of its vector.

        Raises ModelError, and without `retries` _RefusedError if the texts may be the cause.
        """
        with span(f"embeddings {self._model}", client=True, texts=len(texts)) as noted:
            noted |= {"gen_ai.operation.name": "embeddings", "gen_ai.provider.name": "openai"}
            noted |= self._endpoint.attributes(self._model)
            rows, tokens = self._replied(texts, retries)
            if tokens is not None:
                noted["gen_ai.usage.input_tokens"] = tokens
        return rows

    def _replied(self, texts: Sequence[str], retries: int | None) -> tuple[list[Row | str], int | None]:
        """Return the results of a call and the server's count of tokens, with retries."""
        import openai

        tried, most = 0, self._settings.retries if retries is None else retries
        while True:
            try:
                reply = self._client.embeddings.with_raw_response.create(
                    model=self._model,
                    input=list(texts),
                    encoding_format="float",
                    extra_headers=self._endpoint.extra_headers(),
                )
                return _read(reply.text, len(texts), self._dimension)
            except (openai.OpenAIError, LostReply) as error:
                if retries is None and _may_be_the_texts(error, len(texts), tried):
                    raise _RefusedError(error) from None
                tried += 1
                pause = pause_before_retry(error, tried)
                if pause is None or tried > most:
                    raise self._endpoint.hidden(server_error(error, self._server(tried - 1))) from None
                time.sleep(pause)

    def _server(self, retries: int) -> Server:
        return Server(self._model, self._endpoint.address, self._settings.timeout, retries, "EMBEDDING")


def _may_be_the_texts(error: Exception, number: int, tried: int) -> bool:
    """Return whether fewer or other texts may be accepted; an unclear error is retried once."""
    import openai

    if isinstance(error, openai.APITimeoutError):
        return number > 1
    if isinstance(error, openai.APIStatusError):
        if error.status_code not in _OF_TEXTS or NO_MODEL.search(body_of(error)):
            return False
        return error.status_code < 500 or tried > 0 or bool(_NAMED.search(body_of(error)))
    return isinstance(error, _MiscountedError) and tried > 0


def _read(body: str, number: int, dimension: int | None) -> tuple[list[Row | str], int | None]:
    """Return the vectors of a reply in the order of the texts, and its count of tokens or None.

    Raises LostReply if it has no list of this length.
    """
    try:
        value = json.loads(body)
    except (ValueError, RecursionError) as error:
        raise LostReply(f"it cannot be read: {body[:80]!r}") from error
    if isinstance(value, dict) and value.get("error"):
        raise LostReply(f"it is an error: {reason_of(body)}")
    items = value.get("data") if isinstance(value, dict) else value
    if not isinstance(items, list):
        raise LostReply(f"it holds no vectors: {body[:80]!r}")
    if len(items) != number:
        raise _MiscountedError(f"{len(items)} vectors came for {number} texts")
    by_place = {item.get("index"): item for item in items if isinstance(item, dict)}
    if by_place.keys() == set(range(number)):  # otherwise they have the order of the texts
        items = [by_place[place] for place in range(number)]
    usage = value.get("usage") if isinstance(value, dict) else None
    tokens = usage.get("prompt_tokens") if isinstance(usage, dict) else None
    rows = [_vector(item.get("embedding") if isinstance(item, dict) else item, dimension) for item in items]
    return rows, tokens if isinstance(tokens, int) else None


def _vector(value: Any, dimension: int | None) -> Row | str:
    """Return a vector from numbers or base64; a str is its error."""
    if value is None:
        return "the server sends null in place of a vector."
    try:
        if isinstance(value, str):
            row = np.frombuffer(base64.b64decode(value, validate=True), "<f4").astype(np.float32)
        else:
            row = np.asarray(value, np.float32)
    except (ValueError, TypeError, OverflowError):
        return f"the server sends no vector of numbers: {str(value)[:40]!r}."
    row = row[0] if row.ndim == 2 and len(row) == 1 else row
    if row.ndim != 1 or not len(row):
        return f"the server sends no vector of numbers: {str(value)[:40]!r}."
    if not np.isfinite(row).all():
        return "the server sends a vector with NaN, which is no number."
    if not row.any():
        return "the server sends a vector of zeros."
    if dimension is not None and len(row) != dimension:
        return f"the server sends a vector of {len(row)} numbers, not of {dimension}."
    return row
