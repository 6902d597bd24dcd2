"""Processes that read files of other programs: bounded in memory and time, replaced when they die."""

import json
import os
import queue
import subprocess
import sys
import threading
import time
from contextlib import suppress
from pathlib import Path
from types import TracebackType
from typing import Any, Self

from kgrag.loaders.base import BadInput
from kgrag.settings import LoadingSettings

_START = 60.0  # seconds: a process of a busy machine may take long until it has loaded its libraries


class Died(Exception):
    """A reading process ended, or was ended because it took too long; the message says which."""


class Child:
    """One reading process; what it answers is waited for no longer than is said."""

    def __init__(self, memory_mb: int) -> None:
        self._process = subprocess.Popen(
            [sys.executable, "-P", "-m", "kgrag.loaders.worker", str(memory_mb)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            start_new_session=True,  # Ctrl-C is for us, who then end it
            env={**os.environ, "PYTHONIOENCODING": "utf-8"},
        )
        self._lines: queue.SimpleQueue[bytes] = queue.SimpleQueue()
        self._starting = True
        threading.Thread(target=self._listen, daemon=True).start()

    def _listen(self) -> None:
        assert self._process.stdout is not None
        with suppress(ValueError, OSError), self._process.stdout as lines:
            for line in lines:
                self._lines.put(line)
        self._lines.put(b"")

    def ask(self, request: dict[str, Any]) -> None:
        """Send a request. Raises Died."""
        assert self._process.stdin is not None
        try:
            self._process.stdin.write(json.dumps(request).encode() + b"\n")
            self._process.stdin.flush()
        except OSError as error:
            raise Died(self._end()) from error

    def answer(self, seconds: float) -> dict[str, Any]:
        """The next line of its answer. Raises Died if it ends before, or takes longer and is ended therefore."""
        if self._starting:
            self._next(_START)  # it says that it is ready
            self._starting = False
        answer: dict[str, Any] = json.loads(self._next(seconds))
        return answer

    def _next(self, seconds: float) -> bytes:
        try:
            line = self._lines.get(timeout=max(0.0, seconds))
        except queue.Empty:
            self.kill()
            raise Died(f"took longer than {max(0, seconds):.0f} s to read") from None
        if not line:
            raise Died(self._end())
        return line

    def _end(self) -> str:
        with suppress(subprocess.TimeoutExpired):
            self._process.wait(1)  # for its own exit code
        self.kill()
        code = self._process.returncode
        return f"made its reader fail ({f'signal {-code}' if code < 0 else f'exit code {code}'})"

    def kill(self) -> None:
        """End it, whatever it does."""
        self._process.kill()
        self._process.wait()
        if self._process.stdin is not None:  # whoever listens closes the other stream
            with suppress(OSError):
                self._process.stdin.close()


class Readers:
    """Reading processes that wait between files, so that not each file pays for their start."""

    def __init__(self, settings: LoadingSettings) -> None:
        self.settings = settings
        self._idle: list[Child] = []

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        while self._idle:
            self._idle.pop().kill()

    def processes(self) -> int:
        """How many may read one file together."""
        return self.settings.processes or min(8, os.cpu_count() or 1)

    def take(self) -> Child:
        """A process that does nothing now."""
        return self._idle.pop() if self._idle else Child(self.settings.memory_mb)

    def give(self, child: Child) -> None:
        """Give it back; one that is exhausted, or still at work, is to be killed instead."""
        self._idle.append(child)

    def open(self, path: Path, form: str, seconds: float) -> tuple[Child, dict[str, Any]]:
        """A process that has opened a file, and the file's header. Raises BadInput."""
        child = self.take()
        try:
            child.ask({"open": str(path.absolute()), "format": form})
            answer = child.answer(seconds)
            done = None if answer.get("fatal") else child.answer(seconds)
        except Died as error:
            raise BadInput(str(error)) from error
        except BaseException:
            child.kill()
            raise
        if "problem" in answer:
            if done is None or done["tired"]:
                child.kill()
            else:
                self.give(child)
            raise BadInput(answer["problem"])
        return child, answer["header"]


class Deadline:
    """Until when a file may be read."""

    def __init__(self, seconds: float) -> None:
        self.seconds = seconds
        self._end = time.monotonic() + seconds

    def left(self) -> float:
        """Seconds that are left."""
        return self._end - time.monotonic()
