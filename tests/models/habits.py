"""A server of OpenAI's chat protocol with the habits of weak models and of incomplete servers.

The requested model names the habit: a function that takes the request, the intended reply, and the number of earlier
requests of this kind. It returns the HTTP status and the body: an object for JSON, bytes for events.
"""

import json
import threading
import time
from collections import Counter
from collections.abc import Callable
from itertools import pairwise
from typing import Any

import in_thread

Request = dict[str, Any]
Response = tuple[int, Any] | tuple[int, Any, str]
"""Status, body, Retry-After."""
Habit = Callable[[Request, str, int], Response]

FACTS = {
    "entities": [{"name": "Fram", "aliases": []}, {"name": "Colin Archer", "aliases": ["Archer"]}],
    "triples": [["Fram", "designed by", "Colin Archer"]],
}
ANSWER = "Colin Archer designed the Fram [1]."
QUERY = "Who designed the Fram?"


def reply(text: Any, reason: str = "stop", usage: Any = None, **message: Any) -> Response:
    choice = {"index": 0, "message": {"role": "assistant", "content": text, **message}, "finish_reason": reason}
    return 200, {
        "object": "chat.completion",
        "choices": [choice],
        "usage": usage or {"prompt_tokens": 9, "completion_tokens": 9},
    }


def events(*texts: str, reason: str | None = "stop") -> Response:
    made = [{"choices": [{"index": 0, "delta": {"content": text}}]} for text in texts]
    if reason:
        made.append({"choices": [{"index": 0, "delta": {}, "finish_reason": reason}]})
    return 200, b"".join(b"data: " + json.dumps(event).encode() + b"\n\n" for event in made) + b"data: [DONE]\n\n"


def said(request: Request, text: str) -> Response:
    """Reply as a server that does everything right."""
    if not request.get("stream"):
        return reply(text)
    status, body = events(*text.replace(" ", " \0").split("\0"))
    if not (request.get("stream_options") or {}).get("include_usage"):
        return status, body
    counted = {"choices": [], "usage": {"prompt_tokens": 9, "completion_tokens": 9}}
    return status, b"data: " + json.dumps(counted).encode() + b"\n\n" + body


def refuses(name: str, message: str, form: str = "openai", status: int = 400) -> Habit:
    """Make a habit of servers: a parameter with this name, or its value as `name=value`, is refused."""

    def habit(request: Request, text: str, before: int) -> Response:
        name_, _, value = name.partition("=")
        held = request.get(name_)
        if held is None or (value and value not in json.dumps(held)):
            return said(request, text)
        match form:
            case "openai":
                return status, {"error": {"message": message, "type": "invalid_request_error", "param": name_}}
            case "fastapi":
                return 422, {"detail": [{"loc": ["body", name_], "msg": message, "input": request}]}
            case "text":
                return status, message.encode()
            case _:
                return status, {form: message}

    return habit


def in_words(change: Callable[[str], Any]) -> Habit:
    """Make a habit of models: another way of saying the reply."""

    def habit(request: Request, text: str, before: int) -> Response:
        changed = change(text)
        return said(request, changed) if isinstance(changed, str) else reply(changed)

    return habit


def in_json(change: Callable[[dict[str, Any]], str]) -> Habit:
    """Make the same for JSON replies only."""
    return in_words(lambda text: change(json.loads(text)) if text.startswith("{") else text)


def at_first(status: int, body: Any) -> Habit:
    def habit(request: Request, text: str, before: int) -> Response:
        return said(request, text) if before else (status, body)

    return habit


def always(status: int, body: Any) -> Habit:
    return lambda request, text, before: (status, body)


def _thoughtful(request: Request, text: str, before: int) -> Response:
    limit = request.get("max_tokens", 9999)
    return reply("<think>It could be anyone, but", "length") if limit < 1000 else said(request, text)


def _short_of_memory(request: Request, text: str, before: int) -> Response:
    if request["max_tokens"] > 1500:
        message = "This model's maximum context length is 2048 tokens. However, you requested 4500 tokens."
        return 400, {"object": "error", "message": message, "code": 400}
    return said(request, text)


def _never_streams_an_end(request: Request, text: str, before: int) -> Response:
    return events(text, reason=None) if request.get("stream") else reply(text)


def _never_streams(request: Request, text: str, before: int) -> Response:
    return reply(text)


def _alternating(request: Request, text: str, before: int) -> Response:
    roles = [m["role"] for m in request["messages"]]
    if "system" in roles or any(a == b for a, b in pairwise(roles)):
        return 400, {"error": "Conversation roles must alternate user/assistant/user/assistant/..."}
    return said(request, text)


_BROKEN = [*FACTS["triples"], ["Fram", "launched at"], None]

GOOD: dict[str, Habit] = {
    "says it plainly": in_words(str),
    "fences and preamble": in_words(
        lambda t: (
            f"Sure! Here is what you asked for:\n```json\n{t}\n```\nAnything else?" if t[0] == "{" else f"Sure! {t}"
        )
    ),
    "thinks aloud": in_words(lambda t: f'<think>Perhaps {{"triples": []}} [2]?</think>\n{t}'),
    "thinks without an opening tag": in_words(lambda t: f'Perhaps {{"triples": []}} [2]?\n</think>\n\n{t}'),
    "thinks in another tag": in_words(lambda t: f"<thinking>Hm, [3].</thinking>{t}"),
    "thinks beside the content": lambda r, t, n: reply(t, reasoning_content="Perhaps [2]?"),
    "content in parts": in_words(lambda t: [{"type": "reasoning", "text": "Hm."}, {"type": "text", "text": t}]),
    "tokens as text": lambda r, t, n: reply(t, usage={"prompt_tokens": "12.0", "completion_tokens": 3.5}),
    "no usage": lambda r, t, n: reply(t, usage={"prompt_tokens": None}),
    "trailing commas": in_json(lambda v: json.dumps(v).replace("]", ",]").replace("[,]", "[]")),
    "comments": in_json(lambda v: json.dumps(v, indent=1).replace(",\n", ", // so it says\n")),
    "single quotes": in_json(str),
    "a citation before the JSON": in_json(lambda v: f"As [1] says {{see above}}: {json.dumps(v)}"),
    "keys in capitals": in_json(
        lambda v: json.dumps(v).replace('"entities"', '"Entities"').replace('"triples"', '"TRIPLES"')
    ),
    "nothing where a list should be": in_json(
        lambda v: json.dumps({**v, "entities": [{"name": "Fram", "aliases": None}], "triples": _BROKEN})
    ),
    "an object around it": in_json(lambda v: json.dumps({"result": v})),
    "a list around it": in_json(lambda v: json.dumps([v])),
    "cut replies": lambda r, t, n: (
        reply(t[:-1].removesuffix("]") + ', ["Fram", "launched at", "Lar', "length") if t[0] == "{" else said(r, t)
    ),
    "triples as objects": in_json(
        lambda v: json.dumps(
            {**v, "triples": [dict(zip(("head", "relation", "tail"), t, strict=True)) for t in v["triples"]]}
        )
    ),
    "triples as lines": in_json(
        lambda v: json.dumps({**v, "triples": ["(" + " | ".join(t) + ")" for t in v["triples"]]})
    ),
    "no json_schema": refuses(
        "response_format=json_schema", "Invalid value: 'json_schema'. Supported values are: 'json_object' and 'text'."
    ),
    "no json_schema, as a failure": refuses(
        "response_format=json_schema",
        "[{'type': 'literal_error', 'loc': ('body', 'response_format', 'type'), 'msg': \"Input should be 'text' or "
        "'json_object'\", 'input': 'json_schema', 'ctx': {'expected': \"'text' or 'json_object'\"}}]",
        "message",
        500,
    ),
    "no response_format, not implemented": refuses("response_format", "response_format is not there yet", "text", 501),
    "no temperature, as a failure": refuses("temperature", "ValueError: unexpected keyword temperature", "text", 500),
    "no max_tokens, in a reply": refuses("max_tokens", "max_tokens: extra inputs are not permitted", "error", 200),
    "no response_format": refuses("response_format", "Extra inputs are not permitted", "fastapi"),
    "no guided decoding": refuses("response_format", "guided decoding is not supported by this backend", "detail"),
    "max_completion_tokens": refuses(
        "max_tokens",
        "Unsupported parameter: 'max_tokens' is not supported with this model. Use 'max_completion_tokens' instead.",
    ),
    "no temperature": refuses(
        "temperature", "Unsupported value: 'temperature' does not support 0.0 with this model.", "error"
    ),
    "no stream": refuses("stream", "streaming is not supported here", "text"),
    "no stream_options": refuses("stream_options", "Unknown parameter: stream_options", "message"),
    "no seed": refuses("seed", "seed: property is unsupported", "detail"),
    "no system role": refuses("messages=system", "System role not supported", "error"),
    "roles that alternate": _alternating,
    "a short context": _short_of_memory,
    "thoughts beyond the limit": _thoughtful,
    "streams without an end": _never_streams_an_end,
    "does not stream": _never_streams,
    "empty at first": at_first(*reply("")),
    "busy at first": at_first(429, {"error": {"message": "Rate limit reached: 3 requests per min. Check your plan."}}),
    "an error as a reply at first": at_first(200, {"error": {"message": "overloaded"}}),
    "failing at first": at_first(500, {"error": {"message": "json stream of the upstream schema broke"}}),
    "down at first": at_first(503, b"<html><body>Service Unavailable</body></html>"),
    "citations in other brackets": in_words(lambda t: t.replace("[1]", "【1†source】")),
}
"""Habits that kgrag copes with."""

BAD: dict[str, tuple[Habit, str, str]] = {
    "prose": (in_json(lambda v: "I would say that Colin Archer did."), "no usable JSON", "KGRAG_CHAT__MODELS"),
    "no such model": (
        always(404, {"error": "model 'qwen' not found, try pulling it first"}),
        "try pulling it first",
        "KGRAG_CHAT__MODEL",
    ),
    "no such model, as a bad request": (
        always(400, {"detail": "Unknown model: qwen"}),
        "Unknown model: qwen",
        "KGRAG_CHAT__MODEL",
    ),
    "used up": (
        always(429, {"error": {"message": "You exceeded your quota.", "code": "insufficient_quota"}}),
        "exceeded your quota",
        "another key",
    ),
    "unpaid": (always(402, b"Payment Required: add credits"), "add credits", "another key"),
    "locked": (always(401, {"detail": "Not authenticated"}), "Not authenticated", "KGRAG_CHAT__API_KEY"),
    "endless": (
        lambda r, t, n: reply("<think>" + "and then " * 50, "length"),
        "grew too long|replied nothing",
        "KGRAG_CHAT__MAX_TOKENS",
    ),
}
"""Habits that kgrag refuses: parts of the message and of the remedy."""


class Weak(in_thread.InThread):
    """The server. `requests`: habit -> requests received; `at`: the time of each request, by time.monotonic()."""

    def __init__(self) -> None:
        self.requests: dict[str, list[Request]] = {}
        self.headers: list[dict[str, str]] = []
        self.paths: list[str] = []
        self.at: list[float] = []
        self.before: Counter[tuple[str, str]] = Counter()
        self.lock = threading.Lock()
        weak = self

        class Handler(in_thread.Handler):
            protocol_version = "HTTP/1.1"

            def post(self) -> None:
                request = self.body()
                with weak.lock:
                    weak.at.append(time.monotonic())
                    weak.paths.append(self.path)
                    weak.headers.append({name.lower(): value for name, value in self.headers.items()})
                    weak.requests.setdefault(request["model"], []).append(request)
                if self.path.partition("?")[0].endswith("/embeddings"):
                    self.send(200, _vectors(request))
                elif request["model"] == "trickles":
                    self.trickle()
                else:
                    self.send(*weak.respond(request))

            def send(self, status: int, body: Any, retry_after: str = "") -> None:
                data = body if isinstance(body, bytes) else json.dumps(body).encode()
                kind = "application/json"
                if isinstance(body, bytes):
                    kind = "text/event-stream" if body.startswith(b"data:") else "text/plain"
                wait = {"Retry-After": retry_after} if retry_after else {}
                self.say(status, data, kind, **(wait or ({"retry-after-ms": "10"} if status in (429, 503) else {})))

            def trickle(self) -> None:
                """Send an occasional byte forever."""
                self.send_response(200)
                self.send_header("Content-Type", "application/json")
                self.end_headers()
                try:
                    while True:
                        self.wfile.write(b" ")
                        time.sleep(0.1)
                except OSError:
                    self.close_connection = True

        super().__init__(Handler)

    def respond(self, request: Request) -> Response:
        asked = " ".join(m["content"] for m in request["messages"])
        kinds = {"facts for a knowledge graph": json.dumps(FACTS), "work out which piece": QUERY}
        text = next((text for sign, text in kinds.items() if sign in asked), ANSWER)
        with self.lock:
            before = self.before[request["model"], text]
            self.before[request["model"], text] += 1
        name = request["model"]
        habit = GOOD[name] if name in GOOD else BAD[name][0] if name in BAD else in_words(str)
        return habit(request, text, before)


def _vectors(request: Request) -> dict[str, Any]:
    data = [{"index": n, "embedding": [float(len(t)), 1.0, 2.0]} for n, t in enumerate(request["input"])]
    return {"object": "list", "data": data, "model": request["model"], "usage": {"prompt_tokens": 1, "total_tokens": 1}}
