"""A proxy to a server that can stall: data wait, and neither end is notified."""

import socket
import threading
from contextlib import suppress
from typing import Self
from urllib.parse import urlsplit


class Stalling:
    """Forwards connections on `uri` to another server; between `stall` and `go_on` nothing passes."""

    def __init__(self, server: str) -> None:
        place = urlsplit(server)
        self._server = (place.hostname, place.port)
        self._listener = socket.create_server(("127.0.0.1", 0))
        self._open = threading.Event()
        self._open.set()
        self._sockets: list[socket.socket] = []
        self.uri = f"bolt://127.0.0.1:{self._listener.getsockname()[1]}"

    def __enter__(self) -> Self:
        threading.Thread(target=self._accept, daemon=True).start()
        return self

    def __exit__(self, *_: object) -> None:
        for one in (self._listener, *self._sockets):
            one.close()
        self._open.set()

    def stall(self) -> None:
        """Stop forwarding."""
        self._open.clear()

    def go_on(self) -> None:
        """Release the waiting bytes."""
        self._open.set()

    def _accept(self) -> None:
        with suppress(OSError):
            while True:
                ours, _ = self._listener.accept()
                theirs = socket.create_connection(self._server)
                self._sockets += [ours, theirs]
                for pair in ((ours, theirs), (theirs, ours)):
                    threading.Thread(target=self._pass, args=pair, daemon=True).start()

    def _pass(self, source: socket.socket, target: socket.socket) -> None:
        with suppress(OSError):
            while data := source.recv(65536):
                self._open.wait()
                target.sendall(data)
