"""A small local language model: llama.cpp's server with SmolLM2-135M (make test-llm)."""

import json
import os
import signal
import socket
import subprocess
import time
import urllib.request
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Self

import pytest

from kgrag.models.openai_chat import OpenAIChat
from kgrag.settings import ChatSettings
from kgrag.values.results import Passage

ENVIRONMENT = Path(__file__).parents[2] / ".venv-llm"
_TEXTS = {
    "Fram": "The Fram was built by Colin Archer in Larvik and launched in 1892.",
    "Colin Archer": "Colin Archer was a boat builder. He lived in Larvik, in a house by the fjord.",
    "Larvik": "Larvik is a town in Norway at the mouth of the Numedalslågen, a river.",
    "Gjøa": "The Gjøa was a sloop. Roald Amundsen bought her in 1901 for his voyage through the Northwest Passage.",
    "Roald Amundsen": "Roald Amundsen was born in Borge in 1872. He led the first voyage to the South Pole.",
}
PASSAGES = [Passage(f"p{n}", f"d{n}", title, text) for n, (title, text) in enumerate(_TEXTS.items())]


class LlamaServer:
    """llama.cpp behind OpenAI's protocol, on a port that survives restarts."""

    def __init__(self, log: Path, context: int = 4096) -> None:
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            self.port = free.getsockname()[1]
        (model,) = ENVIRONMENT.glob("lib/python*/site-packages/**/SmolLM2-135M-Instruct*.gguf")
        both = [{"model": str(model), "model_alias": name, "n_ctx": context, "n_threads": 2} for name in ("one", "two")]
        self._config, self._log = log.with_suffix(".json"), log
        self._config.write_text(json.dumps({"host": "127.0.0.1", "port": self.port, "models": both}))
        self.base_url = f"http://127.0.0.1:{self.port}/v1"
        self._process: subprocess.Popen[bytes] | None = None

    def start(self) -> None:
        command = [ENVIRONMENT / "bin" / "python", "-m", "llama_cpp.server", "--config_file", self._config]
        with self._log.open("ab") as log:
            self._process = subprocess.Popen(command, stdout=log, stderr=subprocess.STDOUT, start_new_session=True)
        until = time.monotonic() + 60
        word = {"model": "one", "max_tokens": 1, "messages": [{"role": "user", "content": "Hello"}]}
        asked = urllib.request.Request(f"{self.base_url}/chat/completions", json.dumps(word).encode())
        asked.add_header("Content-Type", "application/json")
        while True:  # a server built for another processor lists its models and dies at its first word
            try:
                with urllib.request.urlopen(asked, timeout=30):
                    return
            except OSError:
                assert self._process.poll() is None, self._log.read_text(errors="replace")[-2000:]
                assert time.monotonic() < until
                time.sleep(0.2)

    def kill(self) -> None:
        assert self._process is not None
        os.killpg(self._process.pid, signal.SIGKILL)
        self._process.wait()
        self._process = None

    def __enter__(self) -> Self:
        self.start()
        return self

    def __exit__(self, *_: object) -> None:
        if self._process is not None:
            self.kill()

    def settings(self, **changes: Any) -> ChatSettings:
        values: dict[str, Any] = {"base_url": self.base_url, "model": "one", "cache": False, "max_tokens": 200}
        return ChatSettings(**(values | changes))


@pytest.fixture(scope="session")
def llama(tmp_path_factory: pytest.TempPathFactory) -> Iterator[LlamaServer]:
    """The server, for all tests."""
    with LlamaServer(tmp_path_factory.mktemp("llama") / "server.log") as server:
        yield server


@pytest.fixture
def chat(llama: LlamaServer) -> Iterator[OpenAIChat]:
    """A client for one test."""
    with OpenAIChat(llama.settings()) as model:
        yield model
