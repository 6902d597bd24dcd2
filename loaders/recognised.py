"""Options for recognising pages that are pictures, and a cache of recognised pages on disk.

A page takes seconds. The cache lets an interrupted ingest resume and lets marks on a page be drawn at once. It is keyed
by the content of the file and bounded: the files added last are kept.
"""

import json
import shutil
from importlib.metadata import version
from importlib.util import find_spec
from pathlib import Path
from typing import Any, Self

from kgrag.loaders.base import MB
from kgrag.loaders.folder_walk import digest
from kgrag.runtime.files import private_folder, write_atomic
from kgrag.settings import LoadingSettings
from kgrag.values.installing import install_hint

VERSION = 2
"""Version of recognition; after an increase, pages are recognised again."""
DPI = 150
"""Resolution of recognition in dots an inch: less loses small print, more takes longer and finds no more."""
UNSURE = 0.98
"""A page with less confidence is reported: one word in ten is wrong or missing (docs/scans.md)."""

_MOST = 256 * MB  # limit of the cache: some 7,000 pages


def is_on(settings: LoadingSettings) -> bool:
    """Return whether pages that are pictures are recognised."""
    return settings.recognition != "off" and find_spec("rapidocr") is not None and find_spec("onnxruntime") is not None


def how(settings: LoadingSettings) -> dict[str, int]:
    """Return the options of recognition for a reading process: `dpi`, in dots an inch."""
    return {"dpi": DPI} if is_on(settings) else {}


def remedy(settings: LoadingSettings, otherwise: str = "ocrmypdf") -> str:
    """Return the remedy to show for a picture that was not recognised."""
    if settings.recognition == "off":
        return f"to have it recognised, set KGRAG_LOADING__RECOGNITION=auto, or use `{otherwise}`"
    return f"to have it recognised, {install_hint('ocr')}, or use `{otherwise}`"


class Recognised:
    """The cached pages of one file: the replies of a reading process, by page number."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder

    @classmethod
    def of(cls, cache: Path | None, path: Path, settings: LoadingSettings) -> Self | None:
        """Return the cached pages of a file; None if caching is off or the file cannot be read."""
        if cache is None or not is_on(settings) or (contents := digest([path])) is None:
            return None
        return cls(cache / "recognised" / f"{contents}.{VERSION}.{version('rapidocr')}.{DPI}")

    def find(self, number: int) -> dict[str, Any] | None:
        """Return the answer for a page, or None."""
        try:
            answer: dict[str, Any] = json.loads(self._path(number).read_text(encoding="utf-8"))
        except (OSError, ValueError):  # missing or damaged
            return None
        return answer

    def keep(self, number: int, answer: dict[str, Any]) -> None:
        """Cache the reply for a page; if writing fails, the page is recognised again next time."""
        try:
            if not self._folder.is_dir():
                _make_room(self._folder.parent)
                private_folder(self._folder.parent)
                private_folder(self._folder)
            write_atomic(self._path(number), json.dumps(answer), mode=0o600)
        except OSError:
            return

    def _path(self, number: int) -> Path:
        return self._folder / f"{number}.json"


def _make_room(folder: Path) -> None:
    """Remove the oldest files until the rest is within the limit."""
    if not folder.is_dir():
        return
    room = _MOST
    for entry in sorted(folder.iterdir(), key=lambda path: path.stat().st_mtime, reverse=True):
        room -= sum(file.stat().st_size for file in entry.iterdir())
        if room < 0:
            shutil.rmtree(entry, ignore_errors=True)
