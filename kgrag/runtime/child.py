"""Processes that work for this one: bounded in memory, ended at any moment, and gone when this one is.

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
    """A child ended, or was ended because it did not answer in time: then `code` is None."""

    def __init__(self, code: int | None) -> None:
        super().__init__("too late" if code is None else f"signal {-code}" if code < 0 else f"exit code {code}")
        self.code = code


class Child:
    """A process that runs `main` of a module. Safe to share between threads, but for `receive`."""

    def __init__(self, module: str, *, silent: bool = False) -> None:
        """Start it; `silent` discards its standard error."""
        self._process = subprocess.Popen(
            [sys.executable, "-P", "-c", f"from {module} import main; main()"],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL if silent else None,
            start_new_session=True,  # Ctrl-C is for us, who then end it
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
        """Tell it something; one that has died is noticed where its answer is awaited."""
        assert self._process.stdin is not None
        with self._sending, suppress(OSError, ValueError):
            pickle.dump(message, self._process.stdin)
            self._process.stdin.flush()

    def receive(self, seconds: float | None = None) -> Any:
        """Return the next message.

        Raises Died if the process ends before, or is ended because it takes longer.
        """
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
        """Return whether the process has more memory than that, or has ended, and is to be replaced."""
        import psutil

        with suppress(psutil.Error):
            return bool(psutil.Process(self._process.pid).memory_info().rss > memory_mb * _MB)
        return True

    def kill(self) -> None:
        """End it, whatever it does; that may be done more than once, from any thread."""
        self._process.kill()
        self._process.wait()
        if self._process.stdin is not None:  # whoever listens closes the other stream
            with suppress(OSError):
                self._process.stdin.close()


# ----- inside of a child


def begin() -> Callable[[object], None]:
    """Begin as a child: end with the parent. Returns what tells it something, on the standard output of before."""
    out, sys.stdout = sys.stdout, sys.stderr  # a library's own words are no answer
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
    """Have more memory refused to this process (addresses or data), where the system can; no core is written."""
    with suppress(ImportError, ValueError, OSError):  # Windows has none, macOS does not keep to it
        import resource

        resource.setrlimit(getattr(resource, f"RLIMIT_{of}"), (memory_mb * _MB, memory_mb * _MB))
        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))


def end_with_parent() -> None:
    """Make this process exit, whatever it is doing, once the process that started it has ended or was killed."""
    parent = os.getppid()

    def wait() -> None:
        if (starter := multiprocessing.parent_process()) is not None:  # in a pool, getppid() may be the fork server
            starter.join()
        else:
            while os.getppid() == parent:
                time.sleep(1)
        os._exit(1)

    threading.Thread(target=wait, daemon=True).start()
