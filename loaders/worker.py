"""A sandbox for untrusted files: a separate process reads them, so that a hostile file cannot harm anything else.

The process gets a memory limit and reports when it is ready. The request {"open": path, "format": "module:name",
"options": {}} calls that name with the path and the options. It returns the header itself, or an object with
`header()`, `page(number)` and `close()`, which {"page": number} then asks for pages. Replies are {"header": ...}, the
page, or {"problem": reason}.
"""

import importlib
import os
from pathlib import Path
from typing import Any

from kgrag.loaders.base import BadInput, failure
from kgrag.runtime.child import begin, limit_memory, messages

MEMORY = "needs more than {} MB of memory to read; raise the limit with KGRAG_LOADING__MEMORY_MB if it is to be trusted"


def main() -> None:
    """Answer requests within a memory limit until there are no more."""
    os.environ["OPENBLAS_NUM_THREADS"] = "1"  # otherwise numpy allocates memory for each core
    tell, requests = begin(), messages()
    memory_mb: int = next(requests)
    limit_memory("AS", memory_mb)
    reader = _Reader(memory_mb)
    tell("ready")
    for request in requests:
        tell(reader.answer(request))


class _Reader:
    """The open file."""

    def __init__(self, memory_mb: int) -> None:
        self._memory = MEMORY.format(memory_mb)
        self._paged: Any = None

    def answer(self, request: dict[str, Any]) -> dict[str, Any]:
        """Return the answer to a request."""
        try:
            if "open" in request:
                return {"header": self._open(Path(request["open"]), request["format"], request["options"])}
            page: dict[str, Any] = self._paged.page(request["page"])
            return page
        except BadInput as error:
            return {"problem": str(error)}
        except Exception as error:
            return {"problem": self._memory, "fatal": True} if _is_memory(error) else {"problem": failure(error)}

    def _open(self, path: Path, form: str, options: dict[str, Any]) -> dict[str, Any]:
        if self._paged is not None:
            self._paged.close()
            self._paged = None
        module, _, name = form.partition(":")
        content = getattr(importlib.import_module(module), name)(path, **options)
        if isinstance(content, dict):
            return content
        self._paged = content
        header: dict[str, Any] = content.header()
        return header


def _is_memory(error: BaseException | None) -> bool:
    """Return whether an error is a MemoryError or wraps one."""
    while error is not None:
        if isinstance(error, MemoryError) or any(isinstance(part, MemoryError) for part in error.args):
            return True
        error = error.__cause__ or error.__context__
    return False
