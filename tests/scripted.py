"""A language model whose replies a test controls: a server in a separate process, reached over HTTP."""

import json
import subprocess
import sys
import urllib.request
from pathlib import Path
from typing import Any, Self

from kgrag.settings import ChatSettings

TASKS = (
    "extract", "read", "reason", "rewrite", "think", "answer", "structure", "cypher", "grade", "evidence", "resolve",
    "tog", "gcot", "retgen", "self-ask", "sub-answer", "dual-thought", "chain", "verify", "sub-question",
    "critique", "final-answer", "name", "recognise", "filter", "rewrite-or-stop", "summarise", "report", "note",
    "make-question", "check-question", "correctness", "claims", "follow-up", "title", "fact-schema", "figure",
)  # fmt: skip


class Steered:
    """A server in a separate process that a test controls; its program prints its port as its first line."""

    def __init__(self, program: str, *options: str) -> None:
        self._process = subprocess.Popen(
            [sys.executable, str(Path(__file__).parent / "models" / program), *options],
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True,
        )  # fmt: skip
        assert self._process.stdout is not None
        self._address = f"http://127.0.0.1:{int(self._process.stdout.readline())}"

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """End the server."""
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        self._process.stdin.close()
        self._process.wait(10)
        self._process.stdout.close()

    def delay(self, seconds: float) -> None:
        """Set the seconds per reply; replies in progress come at once."""
        self._post("delay", seconds=seconds)

    def reset(self) -> None:
        """Restore the initial state."""
        self._post("reset")

    @property
    def attempts(self) -> list[dict[str, Any]]:
        """All requests, including failed ones."""
        found: list[dict[str, Any]] = self._state()["attempts"]
        return found

    @property
    def most_under_way(self) -> int:
        """The maximum number of parallel requests so far."""
        return int(self._state()["most_under_way"])

    def _state(self) -> dict[str, Any]:
        with urllib.request.urlopen(f"{self._address}/calls", timeout=30) as reply:
            state: dict[str, Any] = json.load(reply)
        return state

    def _post(self, path: str, /, **values: Any) -> None:
        data = json.dumps(values).encode()
        with urllib.request.urlopen(f"{self._address}/{path}", data=data, timeout=30) as reply:
            reply.read()


class Scripted(Steered):
    """A scripted language model. It finds the task of a request by the name of the model: `settings`."""

    def __init__(self, brain: Path | None = None) -> None:
        super().__init__("scripted_server.py", *(["--brain", str(brain)] if brain else []))
        self.base_url = f"{self._address}/v1"

    def settings(self, **changes: Any) -> ChatSettings:
        """Return settings that name this server, without a cache, and with a separate model for each task."""
        values: dict[str, Any] = {
            "base_url": self.base_url, "api_key": "test", "model": "other", "models": {task: task for task in TASKS},
            "cache": False, "timeout": 20.0,
        }  # fmt: skip
        return ChatSettings(**(values | changes))

    def env(self, **changes: Any) -> dict[str, str]:
        """Return the same as environment variables."""
        given = self.settings(**changes)
        values = given.model_dump(mode="json", exclude_unset=True, exclude_none=True)
        if given.api_key is not None:
            values["api_key"] = given.api_key.get_secret_value()
        return {
            f"KGRAG_CHAT__{name.upper()}": value if isinstance(value, str) else json.dumps(value)
            for name, value in values.items()
        }

    def say(self, task: str, *texts: str | dict[str, Any]) -> None:
        """Set the replies to a task, in this order; the last one repeats. A dict becomes JSON."""
        self._post("say", task=task, texts=[t if isinstance(t, str) else json.dumps(t) for t in texts])

    def fail(self, *faults: str, task: str | None = None) -> None:
        """Set faults that come before replies, for one task or any.

        "429", "429:2" (Retry-After: 2), "500" or any status, "400:MESSAGE", "quota" (429, insufficient_quota),
        "timeout", "cut" (in mid-body), "cut-error" (a 500, in its body), "malformed", "html", "empty", "truncated"
        (finish_reason length), "bad-json", "uncounted" (no usage); "" means no fault.
        """
        self._post("fail", task=task, faults=faults)

    def drip(self, seconds: float) -> None:
        """Set the pause between two words of a streamed reply."""
        self._post("drip", seconds=seconds)

    def batches(self, *ends: str, hold: int = 0) -> None:
        """Set how batches end in turn, by default completed; `hold`: how many requests find them in progress."""
        self._post("batches", ends=ends, hold=hold)

    def brain(self, path: Path) -> None:
        """Set a file with reply(task, messages, request) -> str | None, which is asked first."""
        self._post("brain", path=str(path))

    @property
    def tasks(self) -> list[str]:
        """The task of each call."""
        return [call["task"] for call in self.calls]

    @property
    def prompts(self) -> list[str]:
        """The text of each call after the instructions."""
        return [call["messages"][1]["content"] for call in self.calls]

    @property
    def calls(self) -> list[dict[str, Any]]:
        """The answered requests, each with its `task`."""
        found: list[dict[str, Any]] = self._state()["calls"]
        return found

    @property
    def sent(self) -> list[dict[str, Any]]:
        """The batches created so far."""
        found: list[dict[str, Any]] = self._state()["batches"]
        return found

    @property
    def files(self) -> list[str]:
        """The ids of the stored files."""
        found: list[str] = self._state()["files"]
        return found
