"""A server of OpenAI's protocol with the habits of embedding servers: their refusals and deviating replies.

The requested model names the habit: a function of the texts, of the vectors to send, and of the number of earlier
requests for this model. It returns the HTTP status and the body.
"""

import base64
import json
import math
import struct
import threading
import time
from collections import defaultdict
from collections.abc import Callable
from typing import Any

import in_thread

DIMENSION = 8
BAD = "kelp"
"""A word that some habits refuse."""

Rows = list[list[float]]
Response = tuple[int, Any] | tuple[int, Any, dict[str, str]]
Habit = Callable[[list[str], Rows, int], Response]


def vector(text: str) -> list[float]:
    """Return the right vector of a text."""
    return [1.0 + (sum(map(ord, text)) * (n + 3)) % 17 for n in range(DIMENSION)]


def right(rows: Rows) -> dict[str, Any]:
    """Return the reply with these vectors, in order."""
    data = [{"object": "embedding", "index": n, "embedding": row} for n, row in enumerate(rows)]
    return {"object": "list", "data": data, "model": "m", "usage": {"prompt_tokens": 1, "total_tokens": 1}}


def changed(change: Callable[[dict[str, Any]], Any]) -> Habit:
    """Make a habit: the right reply in another form."""
    return lambda texts, rows, before: (200, change(right(rows)))


def refuses(status: int, body: Any) -> Habit:
    """Make a habit: a refused text also refuses all texts in its request."""
    return lambda texts, rows, before: (status, body) if any(BAD in t for t in texts) else (200, right(rows))


def spoils(change: Callable[[list[float]], Any]) -> Habit:
    """Make a habit: a text has no vector."""
    return lambda texts, rows, before: (
        200,
        right([change(row) if BAD in text else row for text, row in zip(texts, rows, strict=True)]),
    )


def at_most(number: int, status: int, body: Any) -> Habit:
    """Make a habit: a limit of texts per call."""
    return lambda texts, rows, before: (status, body) if len(texts) > number else (200, right(rows))


def at_first(status: int, body: Any, **headers: str) -> Habit:
    """Return vectors out of order for two calls after the first, which shows the dimension."""
    return lambda texts, rows, before: (status, body, headers) if before in (1, 2) else (200, right(rows))


def for_good(status: int, body: Any) -> Habit:
    """Return vectors out of order from the second call on."""
    return lambda texts, rows, before: (status, body) if before else (200, right(rows))


def _error(message: str) -> dict[str, Any]:
    return {"error": {"message": message, "type": "invalid_request_error", "param": None, "code": None}}


def _in_base64(reply: dict[str, Any]) -> dict[str, Any]:
    for item in reply["data"]:
        item["embedding"] = base64.b64encode(struct.pack(f"<{DIMENSION}f", *item["embedding"])).decode()
    return reply


def _further(reply: dict[str, Any]) -> dict[str, Any]:
    return reply | {"data": [{**item, "text": "x", "norm": None} for item in reply["data"]], "id": 7, "usage": None}


def _missing(texts: list[str], rows: Rows, before: int) -> Response:
    """Leave out a text, without any sign which one."""
    return 200, right([row for text, row in zip(texts, rows, strict=True) if BAD not in text])


def _slow(texts: list[str], rows: Rows, before: int) -> Response:
    time.sleep(0.1 * len(texts))
    return 200, right(rows)


WRITTEN: dict[str, Habit] = {
    "plain": changed(dict), "in base64": changed(_in_base64),
    "without an index": changed(lambda reply: {"data": [{"embedding": item["embedding"]} for item in reply["data"]]}),
    "every index 0": changed(lambda reply: {"data": [{**item, "index": 0} for item in reply["data"]]}),
    "shuffled": changed(lambda reply: reply | {"data": reply["data"][::-1]}), "further fields": changed(_further),
    "a bare list": changed(lambda reply: [item["embedding"] for item in reply["data"]]),
    "nested": changed(lambda reply: {"data": [{**i, "embedding": [i["embedding"]]} for i in reply["data"]]}),
    "busy at first": at_first(429, _error("Slow down."), **{"Retry-After": "0"}),
    "down at first": at_first(503, b"<html>Service Unavailable</html>", **{"Retry-After": "0"}),
    "failing at first": at_first(500, b"Internal Server Error", **{"Retry-After": "0"}),
    "empty at first": at_first(200, b""),
}  # fmt: skip
"""Habits in which all texts get vectors."""

LIMITED: dict[str, tuple[Habit, int]] = {
    "8 texts": (at_most(8, 413, {"error": "batch size too big", "error_type": "Validation"}), 8),
    "10 texts": (at_most(10, 400, _error("batch size is invalid, it should not be larger than 10")), 8),
    "32 texts": (at_most(32, 422, {"error": "batch size 64 > maximum allowed batch size 32"}), 32),
    "4 texts, unsaid": (at_most(4, 500, b"Internal Server Error"), 4),
    "slow": (_slow, 4),
}
"""A limit on the size of a request, and the largest size that works."""

REFUSED: dict[str, tuple[Habit, str, str]] = {
    "not a number": (
        refuses(500, _error("failed to encode response: json: unsupported value: NaN")),
        "unsupported value: NaN",
        "kgrag db reembed",
    ),
    "too long": (
        refuses(400, _error("This model's maximum context length is 512 tokens, you requested 681 tokens.")),
        "maximum context length",
        "KGRAG_INDEXING__PASSAGE_TOKENS",
    ),
    "too large": (
        refuses(500, _error("input (681 tokens) is too large to process. increase the physical batch size")),
        "too large to process",
        "KGRAG_INDEXING__WHOLE_TOKENS",
    ),
    "unsaid": (refuses(500, b"Internal Server Error"), "Internal Server Error", "kgrag db repair"),
    "flagged": (refuses(422, {"detail": "input was flagged"}), "input was flagged", "kgrag db repair"),
    "NaN": (spoils(lambda row: [math.nan, *row[1:]]), "NaN", "kgrag db repair"),
    "zeros": (spoils(lambda row: [0.0] * DIMENSION), "zeros", "kgrag db repair"),
    "null": (spoils(lambda row: None), "null", "kgrag db repair"),
    "null within": (spoils(lambda row: [None, *row[1:]]), "NaN", "kgrag db repair"),
    "short": (spoils(lambda row: row[1:]), "7 numbers, not of 8", "kgrag db repair"),
    "long": (spoils(lambda row: [*row, 1.0]), "9 numbers, not of 8", "kgrag db repair"),
    "empty": (spoils(lambda row: []), "no vector of numbers", "kgrag db repair"),
    "words": (spoils(lambda row: "none"), "no vector of numbers", "kgrag db repair"),
    "missing": (_missing, "0 vectors came for 1 texts", "kgrag db repair"),
}
"""Habits in which a text has no vector: the error and its remedy."""

DOWN: dict[str, tuple[Habit, str, str]] = {
    "busy": (for_good(429, _error("Slow down.")), "takes no more requests", "KGRAG_EMBEDDING__RETRIES"),
    "failing": (for_good(500, b"Internal Server Error"), "Internal Server Error", "KGRAG_EMBEDDING__RETRIES"),
    "down": (for_good(503, b"<html>Service Unavailable</html>"), "Unavailable", "KGRAG_EMBEDDING__RETRIES"),
    "stuck": (lambda texts, rows, before: _stuck(before, rows), "within 0.5 seconds", "KGRAG_EMBEDDING__TIMEOUT"),
    "a page": (for_good(200, b"<html>Please log in.</html>"), "Please log in", "KGRAG_EMBEDDING__BASE_URL"),
    "nothing": (for_good(200, b""), "cannot be read", "KGRAG_EMBEDDING__BASE_URL"),
    "broken off": (for_good(200, b'{"data": [{"embedding": [0.1, '), "cannot be read", "KGRAG_EMBEDDING__BASE_URL"),
    "no vectors": (for_good(200, {"object": "list"}), "holds no vectors", "KGRAG_EMBEDDING__BASE_URL"),
    "an error": (for_good(200, _error("overloaded")), "overloaded", "KGRAG_EMBEDDING__BASE_URL"),
    "no list": (for_good(200, {**right([]), "data": []}), "0 vectors came for 1 texts", "KGRAG_EMBEDDING__BASE_URL"),
    "all refused": (for_good(400, _error("encoding_format is not supported")), "encoding_format", "after openai:"),
    "no key": (for_good(401, _error("Invalid key.")), "refuses the key", "KGRAG_EMBEDDING__API_KEY"),
    "another model": (
        lambda texts, rows, before: (200, right([row[1:] for row in rows] if before else rows)),
        "7 numbers, not of 8",
        "after openai:",
    ),
}
"""Habits in which no text gets a vector any more: the error and its remedy."""

HABITS: dict[str, Habit] = WRITTEN | {
    name: habit for them in (LIMITED, REFUSED, DOWN) for name, (habit, *_) in them.items()
}


def _stuck(before: int, rows: Rows) -> Response:
    time.sleep(1.0 if before else 0)
    return 200, right(rows)


class EmbeddingHabits(in_thread.InThread):
    """The server, and the texts of the calls of each model."""

    def __init__(self) -> None:
        self.asked: defaultdict[str, list[list[str]]] = defaultdict(list)
        lock = threading.Lock()
        asked = self.asked

        class Handler(in_thread.Handler):
            protocol_version = "HTTP/1.1"

            def post(self) -> None:
                request = self.body()
                texts, model = request["input"], request["model"].partition("/")[0]
                with lock:
                    before = len(asked[request["model"]])
                    asked[request["model"]].append(texts)
                status, body, *headers = HABITS[model](texts, [vector(text) for text in texts], before)
                content = body if isinstance(body, bytes) else json.dumps(body).encode()
                kind = "text/html" if content.startswith(b"<") else "application/json"
                try:
                    self.say(status, content, kind, **(headers[0] if headers else {"retry-after-ms": "1"}))
                except OSError:
                    self.close_connection = True  # the client did not wait

        super().__init__(Handler)
