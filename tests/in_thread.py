"""Small servers in threads of the tests."""

import json
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, Self


class Handler(BaseHTTPRequestHandler):
    """A silent handler, since standard error belongs to the tests; subclasses define `get` and `post`."""

    def log_message(self, format: str, *args: object) -> None:
        """See BaseHTTPRequestHandler."""

    def do_GET(self) -> None:
        self.get()

    def do_POST(self) -> None:
        self.post()

    def get(self) -> None:
        """Reply to GET."""
        self.send_error(501)

    post = get

    def body(self) -> Any:
        """Return the body of the request, read as JSON."""
        return json.loads(self.rfile.read(int(self.headers["Content-Length"])))

    def say(self, status: int, content: bytes, kind: str = "application/json", **headers: str) -> None:
        """Reply; an underscore in the name of a header becomes a hyphen."""
        self.send_response(status)
        for name, value in {"Content-Type": kind, "Content-Length": str(len(content)), **headers}.items():
            self.send_header(name.replace("_", "-"), value)
        self.end_headers()
        self.wfile.write(content)


class InThread:
    """A server that runs from its creation to the end of a `with` block."""

    def __init__(self, handler: type[BaseHTTPRequestHandler]) -> None:
        self._server = ThreadingHTTPServer(("127.0.0.1", 0), handler)
        self._server.daemon_threads = True
        self.port = self._server.server_port
        self.base_url = f"http://127.0.0.1:{self.port}/v1"
        threading.Thread(target=self._server.serve_forever, args=(0.02,), daemon=True).start()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._server.shutdown()
        self._server.server_close()
