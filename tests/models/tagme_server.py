"""A server that speaks TAGME's API, with a small Wikipedia of its own and configurable faults.

    python tagme_server.py SPOTS

prints its port as its first line and ends when its standard input closes. SPOTS: {spot: [title, rho]} as JSON; every
spot in a text is annotated, with offsets in units of UTF-16 and numbers as strings, like TAGME's.
"""

import json
import sys
import threading
import time
from collections import deque
from http.server import BaseHTTPRequestHandler
from typing import Any
from urllib.parse import parse_qs

from scripted_server import Server

TOKEN = "good-token"


class State:
    def __init__(self) -> None:
        self.lock = threading.Lock()
        self.spots: dict[str, list[Any]] = {}
        self.first_spots: dict[str, list[Any]] = {}
        self.faults: deque[str] = deque()
        self.seconds = 0.0
        self.texts: list[str] = []
        self.attempts: list[dict[str, Any]] = []
        self.under_way = self.most_under_way = 0


STATE = State()


def units(text: str) -> int:
    return len(text.encode("utf-16-le")) // 2


def annotations(text: str) -> list[dict[str, Any]]:
    found = []
    for spot, (title, rho) in STATE.spots.items():
        at = text.find(spot)
        while at >= 0:
            start = units(text[:at])
            place: dict[str, Any] = {"start": start, "end": start + units(spot), "spot": spot, "rho": str(rho), "id": 7}
            found.append(place | ({"title": title} if title else {}) | {"link_probability": "0.5"})
            at = text.find(spot, at + 1)
    return found


class Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True

    def log_message(self, format: str, *args: Any) -> None:
        """Discard messages, since standard error belongs to the tests."""

    def do_GET(self) -> None:
        with STATE.lock:
            told = {"texts": STATE.texts, "attempts": STATE.attempts, "most_under_way": STATE.most_under_way}
        self._send(200, json.dumps(told))

    def do_POST(self) -> None:
        body = self.rfile.read(int(self.headers.get("Content-Length") or 0)).decode()
        if self.path == "/tag":
            self._tag(parse_qs(body, strict_parsing=True))
            return
        told = json.loads(body)
        with STATE.lock:
            match self.path:
                case "/fail":
                    STATE.faults.extend(told["faults"])
                case "/delay":
                    STATE.seconds = told["seconds"]
                case "/reset":
                    STATE.faults.clear()
                    STATE.texts, STATE.attempts, STATE.seconds, STATE.most_under_way = [], [], 0.0, 0
                    STATE.spots = dict(STATE.first_spots)
                case "/spots":
                    STATE.spots |= told["spots"]
        self._send(200, "{}")

    def _tag(self, lists: dict[str, list[str]]) -> None:
        asked = {key: values[0] for key, values in lists.items()}
        with STATE.lock:
            fault = STATE.faults.popleft() if STATE.faults else ""
            STATE.attempts.append({"fault": fault, "lang": asked.get("lang"), "when": time.monotonic()})
            STATE.under_way += 1
            STATE.most_under_way = max(STATE.most_under_way, STATE.under_way)
        try:
            time.sleep(STATE.seconds)
            self._reply(fault, asked)
        finally:
            with STATE.lock:
                STATE.under_way -= 1

    def _reply(self, fault: str, asked: dict[str, str]) -> None:
        name, _, detail = fault.partition(":")
        if asked.get("gcube-token") != TOKEN:
            self._send(401, f"no such token: {asked.get('gcube-token')}")
        elif name == "timeout":
            self.connection.recv(1)  # until the client closes the connection
            self.close_connection = True
        elif name == "cut":
            self._send(200, '{"annotations": [', missing=100)
        elif name == "malformed":
            self._send(200, '{"annotations": [{"title": "X", "id": 1, "start": 0, "end": 1, "rho": "much"}]}')
        elif name == "html":
            self._send(200, "<html>Please log in to the network.</html>")
        elif name:
            self._send(int(name), "The server had an error.", {"Retry-After": detail} if detail else {})
        else:
            with STATE.lock:
                STATE.texts.append(asked["text"])
            reply = {"time": 1, "api": "tag", "lang": asked["lang"], "timestamp": "2020-01-01T00:00:00"}
            self._send(200, json.dumps(reply | {"annotations": annotations(asked["text"])}))

    def _send(self, status: int, text: str, headers: dict[str, str] | None = None, *, missing: int = 0) -> None:
        body = text.encode()
        self.send_response(status)
        self.send_header("Content-Length", str(len(body) + missing))
        for name, value in (headers or {}).items():
            self.send_header(name, value)
        self.end_headers()
        self.wfile.write(body)
        self.close_connection = self.close_connection or bool(missing)


def main() -> None:
    STATE.first_spots = json.loads(sys.argv[1])
    STATE.spots = dict(STATE.first_spots)
    server = Server(("127.0.0.1", 0), Handler)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    print(server.server_address[1], flush=True)
    sys.stdin.read()


if __name__ == "__main__":
    main()
