"""The application of `kgrag serve` in a thread of the tests: a real server on a port of its own."""

import socket
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager

import uvicorn

from kgrag.client import KnowledgeGraph
from kgrag.server.app import create_app
from kgrag.server.keys import Keys


@contextmanager
def served(kg: KnowledgeGraph, keys: Keys) -> Iterator[str]:
    """The address of a server over `kg`, which runs while the `with` block does."""
    app = create_app(kg, keys, kg.settings.serve)
    server = uvicorn.Server(uvicorn.Config(app, log_level="warning", access_log=False))
    with socket.create_server(("127.0.0.1", 0)) as listener:
        thread = threading.Thread(target=server.run, kwargs={"sockets": [listener]}, daemon=True)
        thread.start()
        try:
            while not server.started:
                assert thread.is_alive()
                time.sleep(0.05)
            yield f"http://127.0.0.1:{listener.getsockname()[1]}"
        finally:
            server.should_exit = True
            thread.join(60)
