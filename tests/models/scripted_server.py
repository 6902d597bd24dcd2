"""A server of the OpenAI chat protocol with scripted replies, faults included.

    python scripted_server.py [--port 0] [--brain FILE.py]

prints its port as its first line and ends when its standard input closes. A brain is a file with

    reply(task: str, messages: list[dict], request: dict) -> str | None

called from several threads; None means the reply set by POST /say. The task is the requested model. A reply `=> NAME
{...}` calls a tool with these arguments. tests/scripted.py has the functions by which tests control it.
"""

import argparse
import json
import os
import runpy
import sys
import threading
import time
from collections import defaultdict, deque
from collections.abc import Callable, Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

from scripted_batches import Batches

Brain = Callable[[str, list[dict[str, Any]], dict[str, Any]], str | None]
REPLIES = ("empty", "truncated", "bad-json", "uncounted")
"""Faults that are complete replies to the client."""


class Script:
    """The next replies, and the requests so far."""

    def __init__(self, brain: str | None) -> None:
        self.lock = threading.Lock()
        self.texts: dict[str, deque[str]] = defaultdict(deque)
        self.faults: dict[str | None, deque[str]] = defaultdict(deque)
        self.seconds, self.released = 0.0, threading.Event()
        self.pause = 0.0
        self.calls: list[dict[str, Any]] = []
        self.attempts: list[dict[str, Any]] = []
        self.under_way = self.most_under_way = 0
        self.batches = Batches()
        self.first_brain = brain
        self.think(brain)

    def think(self, path: str | None) -> None:
        self.brain: Brain | None = runpy.run_path(path)["reply"] if path else None

    def fault(self, task: str) -> str | None:
        with self.lock:
            for queue in (self.faults[task], self.faults[None]):
                if queue:
                    return queue.popleft() or None
        return None

    def text(self, task: str, request: dict[str, Any]) -> str:
        said = self.brain(task, request["messages"], request) if self.brain else None
        if said is not None:
            return said
        with self.lock:
            queue = self.texts[task]
            if not queue:
                return f"(no reply was scripted for {task})"
            return queue.popleft() if len(queue) > 1 else queue[0]


class Handler(BaseHTTPRequestHandler):
    """One connection of a client."""

    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True
    script: Script

    def log_message(self, format: str, *args: Any) -> None:
        """Discard messages, since standard error belongs to the tests."""

    def do_GET(self) -> None:
        script = self.script
        if self.path == "/calls":
            with script.lock:
                state = {"calls": script.calls, "attempts": script.attempts, "most_under_way": script.most_under_way}
                state |= {"batches": list(script.batches.batches.values()), "files": list(script.batches.files)}
                self._json(200, state)
        else:
            self._batches(b"")

    def do_DELETE(self) -> None:
        self._batches(b"")

    def do_POST(self) -> None:
        body = self.rfile.read(int(self.headers.get("Content-Length") or 0)) or b"{}"
        script = self.script
        if self.path.startswith(("/v1/files", "/v1/batches")):
            self._batches(body)
            return
        asked = json.loads(body)
        if self.path == "/v1/chat/completions":
            self._chat(script, asked)
            return
        match self.path:
            case "/batches":
                script.batches.hold, script.batches.ends = asked["hold"], deque(asked["ends"])
            case "/say":
                with script.lock:
                    script.texts[asked["task"]] = deque(asked["texts"])
            case "/fail":
                with script.lock:
                    script.faults[asked["task"]].extend(asked["faults"])
            case "/delay":
                script.released.set()
                script.seconds, script.released = asked["seconds"], threading.Event()
            case "/drip":
                script.pause = asked["seconds"]
            case "/brain":
                script.think(asked["path"])
            case "/reset":
                Handler.script = Script(script.first_brain)  # running requests keep the old one
            case _:
                self._error(404, "there is no such address")
                return
        self._json(200, {})

    def _batches(self, body: bytes) -> None:
        batches, path = self.script.batches, self.path.partition("?")[0].strip("/").split("/")
        if (fault := self.script.fault("batch")) is not None:
            self._fail(fault, {})
            return
        try:
            match self.command, path:
                case "POST", ["v1", "files"]:
                    self._json(200, batches.upload(self.headers["Content-Type"], body))
                case "GET", ["v1", "files", id, "content"]:
                    self._send(200, "application/octet-stream", batches.files[id])
                case "DELETE", ["v1", "files", id]:
                    del batches.files[id]
                    self._json(200, {"id": id, "object": "file", "deleted": True})
                case "POST", ["v1", "batches"]:
                    self._json(200, batches.begin(json.loads(body)))
                case "GET", ["v1", "batches"]:
                    self._json(200, {"object": "list", "data": list(batches.batches.values()), "has_more": False})
                case "GET", ["v1", "batches", id]:
                    self._json(200, batches.step(id, self._answer))
                case "POST", ["v1", "batches", id, "cancel"]:
                    self._json(200, batches.cancel(id))
                case _:
                    self._error(404, "there is no such address")
        except KeyError as error:
            self._error(404, f"No such object: {error}")

    def _answer(self, request: dict[str, Any]) -> tuple[int, dict[str, Any]]:
        """Return the status and the reply of a request in a batch."""
        task = request["model"]
        fault = self.script.fault(task)
        if fault is not None and fault not in REPLIES:
            return int(fault.partition(":")[0]), {"error": {"message": fault.partition(":")[2], "code": None}}
        text = "I would rather not." if fault == "bad-json" else self.script.text(task, request)
        self.script.calls.append({**request, "task": task, "fault": fault})
        return 200, _completion(request, text, "stop", _usage(request, text))

    def _chat(self, script: Script, request: dict[str, Any]) -> None:
        task = request["model"]
        fault = script.fault(task)
        headers = {name.lower(): value for name, value in self.headers.items()}
        with script.lock:
            script.attempts.append({"task": task, "fault": fault, "headers": headers})
            script.under_way += 1
            script.most_under_way = max(script.most_under_way, script.under_way)
        try:
            script.released.wait(script.seconds)
            if fault is not None and fault not in REPLIES:
                self._fail(fault, request)
                return
            text, reason = script.text(task, request), "stop"
            if fault == "empty":
                text = ""
            elif fault == "truncated":
                text, reason = text[: len(text) // 2], "length"
            elif fault == "bad-json":
                text = "I would rather put it in words: {not json"
            with script.lock:
                script.calls.append({**request, "task": task, "fault": fault})
        finally:
            with script.lock:
                script.under_way -= 1
        usage = None if fault == "uncounted" else _usage(request, text)
        if request.get("stream"):
            self._stream(script, list(_events(request, text, reason, usage)))
        else:
            self._json(200, _completion(request, text, reason, usage))

    def _stream(self, script: Script, events: list[bytes]) -> None:
        """Send all events at once, or one by one with pauses."""
        if not script.pause:
            self._send(200, "text/event-stream", b"".join(events))
            return
        self._send(200, "text/event-stream", b"", missing=sum(map(len, events)))
        for event in events:
            self.wfile.write(event)
            self.wfile.flush()
            time.sleep(script.pause)

    def _fail(self, fault: str, request: dict[str, Any]) -> None:
        name, _, detail = fault.partition(":")
        stream = bool(request.get("stream"))
        match name:
            case "timeout":
                self.connection.recv(1)  # until the client closes the connection
                self.close_connection = True
            case "cut" if stream:
                events = list(_events(request, "this reply is cut off", "stop", None))
                self._send(200, "text/event-stream", b"".join(events[: len(events) // 2]), missing=100)
            case "cut":
                self._send(200, "application/json", b'{"id": "cut", "choices": [{"mess', missing=100)
            case "malformed" if stream:
                self._send(200, "text/event-stream", b'data: {"choices": [{"delta": {"con\n\ndata: [DONE]\n\n')
            case "malformed":
                self._send(200, "application/json", b'{"id": "malformed", "choices": [{"message": ')
            case "html":
                self._send(200, "text/html", b"<html><body>Please log in to the network.</body></html>")
            case "cut-error":
                self._send(500, "application/json", b'{"error": {"mess', missing=100)
            case "429":
                self._error(429, "Rate limit reached.", retry_after=detail)
            case "quota":
                self._error(429, "You exceeded your current quota.", code="insufficient_quota")
            case _:
                self._error(int(name), detail or "The server had an error.")

    def _error(self, status: int, message: str, *, code: str | None = None, retry_after: str = "") -> None:
        headers = {"Retry-After": retry_after} if retry_after else {}
        self._json(status, {"error": {"message": message, "type": "scripted", "code": code}}, headers)

    def _json(self, status: int, value: Any, headers: dict[str, str] | None = None) -> None:
        self._send(status, "application/json", json.dumps(value).encode(), headers=headers)

    def _send(
        self, status: int, kind: str, body: bytes, *, missing: int = 0, headers: dict[str, str] | None = None
    ) -> None:
        self.send_response(status)
        self.send_header("Content-Type", kind)
        self.send_header("Content-Length", str(len(body) + missing))
        for name, value in (headers or {}).items():
            self.send_header(name, value)
        self.end_headers()
        self.wfile.write(body)
        if missing:
            self.close_connection = True


def _usage(request: dict[str, Any], text: str) -> dict[str, int]:
    asked = sum(len(str(message.get("content")).split()) for message in request["messages"])
    said = len(text.split())
    return {"prompt_tokens": asked, "completion_tokens": said, "total_tokens": asked + said}


def _completion(request: dict[str, Any], text: str, reason: str, usage: Any) -> dict[str, Any]:
    message: dict[str, Any] = {"role": "assistant", "content": text}
    if text.startswith("=> "):
        _, name, arguments = text.split(" ", 2)
        call = {"id": "call_1", "type": "function", "function": {"name": name, "arguments": arguments}}
        message, reason = {"role": "assistant", "content": None, "tool_calls": [call]}, "tool_calls"
    choice = {"index": 0, "message": message, "finish_reason": reason}
    return {
        "id": "scripted", "object": "chat.completion", "created": 0, "model": request["model"], "choices": [choice],
        "usage": usage,
    }  # fmt: skip


def _events(request: dict[str, Any], text: str, reason: str, usage: Any) -> Iterator[bytes]:
    """Yield the reply word by word, as server-sent events."""
    head = {"id": "scripted", "object": "chat.completion.chunk", "created": 0, "model": request["model"]}

    def event(value: dict[str, Any]) -> bytes:
        return b"data: " + json.dumps(head | value).encode() + b"\n\n"

    for piece in text.replace(" ", " \0").split("\0"):
        yield event({"choices": [{"index": 0, "delta": {"content": piece}, "finish_reason": None}]})
    yield event({"choices": [{"index": 0, "delta": {}, "finish_reason": reason}]})
    if usage is not None and (request.get("stream_options") or {}).get("include_usage"):
        yield event({"choices": [], "usage": usage})
    yield b"data: [DONE]\n\n"


class Server(ThreadingHTTPServer):
    daemon_threads = True
    request_queue_size = 128

    def handle_error(self, request: Any, client_address: Any) -> None:
        """Ignore clients that disconnect; show any other error."""
        if not isinstance(sys.exc_info()[1], ConnectionError):
            super().handle_error(request, client_address)


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--port", type=int, default=0)
    parser.add_argument("--brain")
    options = parser.parse_args()
    Handler.script = Script(options.brain)
    server = Server(("127.0.0.1", options.port), Handler)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    print(server.server_port, flush=True)
    sys.stdin.buffer.read()
    os._exit(0)


if __name__ == "__main__":
    main()
