"""Run child processes with a memory limit, which can be killed at any moment and end with their parent.

Requests to a child are pickled. Its replies are lines of JSON, never pickles, since it may have read a hostile file.
"""

import json
import multiprocessing
import os
import pickle
import queue
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import suppress
from typing import Any, Literal

_MB = 1024 * 1024


class Died(Exception):
    """A child exited, or was killed because it timed out; then `code` is None."""

    def __init__(self, code: int | None) -> None:
        super().__init__("too late" if code is None else f"signal {-code}" if code < 0 else f"exit code {code}")
        self.code = code


class Child:
    """A process that runs `main` of a module. Safe to share between threads, except `receive`."""

    def __init__(self, module: str, *, silent: bool = False) -> None:
        """Start it; `silent` discards its standard error."""
        self._process = subprocess.Popen(
            [sys.executable, "-P", "-c", f"from {module} import main; main()"],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL if silent else None,
            start_new_session=True,  # this process handles Ctrl-C, and then ends the child
        )
        self._sending = threading.Lock()
        self._lines: queue.SimpleQueue[bytes] = queue.SimpleQueue()
        threading.Thread(target=self._listen, daemon=True).start()

    def _listen(self) -> None:
        assert self._process.stdout is not None
        with suppress(ValueError, OSError), self._process.stdout as lines:
            for line in lines:
                self._lines.put(line)
        self._lines.put(b"")

    def send(self, message: object) -> None:
        """Send a request; `receive` notices a dead child."""
        assert self._process.stdin is not None
        with self._sending, suppress(OSError, ValueError):
            pickle.dump(message, self._process.stdin)
            self._process.stdin.flush()

    def receive(self, seconds: float | None = None) -> Any:
        """Return the next message. Raises Died if the process exits first, or times out and is killed."""
        try:
            line = self._lines.get(timeout=None if seconds is None else max(0.0, seconds))
        except queue.Empty:
            self.kill()
            raise Died(None) from None
        if not line:
            self._lines.put(line)  # for the next call
            with suppress(subprocess.TimeoutExpired):
                self._process.wait(1)  # for its own exit code
            self.kill()
            raise Died(self._process.returncode)
        return json.loads(line)

    def is_large(self, memory_mb: float) -> bool:
        """Return whether the process must be replaced: it exceeds the memory, or has exited."""
        import psutil

        with suppress(psutil.Error):
            return bool(psutil.Process(self._process.pid).memory_info().rss > memory_mb * _MB)
        return True

    def kill(self) -> None:
        """Kill the process; may be called more than once, from any thread."""
        self._process.kill()
        self._process.wait()
        if self._process.stdin is not None:  # the reader closes the other stream
            with suppress(OSError):
                self._process.stdin.close()


# ----- inside a child


def begin() -> Callable[[object], None]:
    """Start as a child that ends with its parent. Returns a function that sends replies on the original output."""
    out, sys.stdout = sys.stdout, sys.stderr  # output of a library is not a reply
    end_with_parent()

    def tell(message: object) -> None:
        out.write(json.dumps(message) + "\n")
        out.flush()

    return tell


def messages() -> Iterator[Any]:
    """Yield the messages of the parent until it closes the pipe."""
    with suppress(EOFError, OSError):
        while True:
            yield pickle.load(sys.stdin.buffer)


def limit_memory(of: Literal["AS", "DATA"], memory_mb: int) -> None:
    """Limit the memory of this process (addresses or data) if the system supports it; write no core dump."""
    with suppress(ImportError, ValueError, OSError):  # Windows lacks it, macOS ignores it
        import resource

        resource.setrlimit(getattr(resource, f"RLIMIT_{of}"), (memory_mb * _MB, memory_mb * _MB))
        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))


def end_with_parent() -> None:
    """Make this process exit, whatever it is doing, when its parent ends or is killed."""
    parent = os.getppid()

    def wait() -> None:
        if (starter := multiprocessing.parent_process()) is not None:  # in a pool, getppid() may be the fork server
            starter.join()
        else:
            while os.getppid() == parent:
                time.sleep(1)
        os._exit(1)

    threading.Thread(target=wait, daemon=True).start()
