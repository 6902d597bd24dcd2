"""A sandbox for untrusted files: a process of its own reads them, so that a hostile one can harm nothing else.

It takes a JSON object a line, {"open": path, "format": "module:name"} or {"pages": [first, last]}: what is named makes
of a path the header at once, or an object with `header()`, `page(number)` and `close()`. It answers in lines of the
same kind: {"ready": true} once, {"header": ...} or {"page": number, ...}, with
{"problem": reason} where there is one, and {"done": true} at last.
"""

import contextlib
import importlib
import json
import os
import sys
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, TextIO

from kgrag.loaders.base import MB, BadInput

MEMORY = "needs more than {} MB of memory to read; raise the limit with KGRAG_LOADING__MEMORY_MB if it is to be trusted"


def main(memory_mb: int) -> None:
    """Answer what comes on standard input until it ends, in at most so much memory."""
    out = sys.stdout
    sys.stdout = sys.stderr  # a library's own words are no answer
    _limit(memory_mb)
    threading.Thread(target=_end_with, args=(os.getppid(),), daemon=True).start()
    reader = _Reader(memory_mb)
    _send(out, {"ready": True})
    for line in sys.stdin:
        for answer in reader.answers(json.loads(line)):
            _send(out, answer)
        _send(out, {"done": True, "tired": _used_mb() > memory_mb / 2})


class _Reader:
    """What is open."""

    def __init__(self, memory_mb: int) -> None:
        self._memory = MEMORY.format(memory_mb)
        self._paged: Any = None

    def answers(self, request: dict[str, Any]) -> Iterator[dict[str, Any]]:
        """The answers to one request."""
        if "open" in request:
            yield self._guarded(lambda: {"header": self._open(Path(request["open"]), request["format"])})
            return
        first, last = request["pages"]
        for number in range(first, last + 1):
            yield {"page": number, **self._guarded(lambda number=number: self._paged.page(number))}  # type: ignore[misc]

    def _open(self, path: Path, form: str) -> dict[str, Any]:
        if self._paged is not None:
            self._paged.close()
            self._paged = None
        module, _, name = form.partition(":")
        found = getattr(importlib.import_module(module), name)(path)
        if isinstance(found, dict):
            return found
        self._paged = found
        header: dict[str, Any] = found.header()
        return header

    def _guarded(self, work: Callable[[], dict[str, Any]]) -> dict[str, Any]:
        try:
            return work()
        except BadInput as error:
            return {"problem": str(error)}
        except RecursionError:
            return {"problem": "is damaged (its parts hold each other)"}
        except Exception as error:  # parsers fail on damaged files in every way there is
            if _is_memory(error):
                return {"problem": self._memory, "fatal": True}
            what = " ".join(str(error).split())[:200]
            return {"problem": f"cannot be read ({type(error).__name__}{': ' if what else ''}{what})"}


def _is_memory(error: BaseException | None) -> bool:
    """Whether it is a MemoryError, or wraps one."""
    while error is not None:
        if isinstance(error, MemoryError) or any(isinstance(part, MemoryError) for part in error.args):
            return True
        error = error.__cause__ or error.__context__
    return False


def _end_with(parent: int) -> None:
    """End this process, whatever it does, when the one that started it is gone."""
    while os.getppid() == parent:
        time.sleep(1)
    os._exit(1)


def _send(out: TextIO, answer: dict[str, Any]) -> None:
    out.write(json.dumps(answer))
    out.write("\n")
    out.flush()


def _limit(memory_mb: int) -> None:
    with contextlib.suppress(ImportError, ValueError, OSError):  # Windows has none, macOS does not keep to it
        import resource

        resource.setrlimit(resource.RLIMIT_AS, (memory_mb * MB, memory_mb * MB))
        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))


def _used_mb() -> float:
    import psutil

    return float(psutil.Process().memory_info().rss / MB)  # the greatest so far would count what the parent held


if __name__ == "__main__":
    main(int(sys.argv[1]))
