"""Pages that are pictures: whether they are recognised, and a cache of recognised pages on disk.

A page takes seconds. So that an ingest that was ended does not begin again, and marks on a page are drawn at once, what
was read of it is kept by the contents of its file, up to a bound: the files that were read last.
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
"""Version of recognition; a higher one has pages recognised again."""
DPI = 150
"""Dots an inch at which pages are recognised: fewer lose small print, more take longer and find no more."""
UNSURE = 0.98
"""Confidence below which a page is told of: there one word of ten is wrong or missing (docs/scans.md)."""

_MOST = 256 * MB  # of pages that are kept: some 7,000


def is_on(settings: LoadingSettings) -> bool:
    """Return whether pages that are pictures are recognised."""
    return settings.recognition != "off" and find_spec("rapidocr") is not None and find_spec("onnxruntime") is not None


def how(settings: LoadingSettings) -> dict[str, int]:
    """Return what a reading process is told about that: its `dpi`, dots an inch."""
    return {"dpi": DPI} if is_on(settings) else {}


def remedy(settings: LoadingSettings, otherwise: str = "ocrmypdf") -> str:
    """Return what to do about a picture that was not recognised."""
    if settings.recognition == "off":
        return f"to have it recognised, set KGRAG_LOADING__RECOGNITION=auto, or use `{otherwise}`"
    return f"to have it recognised, {install_hint('ocr')}, or use `{otherwise}`"


class Recognised:
    """The recognised pages of one file: answers of a reading process, by the number of the page."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder

    @classmethod
    def of(cls, cache: Path | None, path: Path, settings: LoadingSettings) -> Self | None:
        """Return the kept pages of a file; None if nothing is to be kept, or the file cannot be read."""
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
        """Keep the answer for a page; where the disk does not take it, it is recognised again."""
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
    """Remove the files that were read first, until the others are few enough."""
    if not folder.is_dir():
        return
    room = _MOST
    for entry in sorted(folder.iterdir(), key=lambda path: path.stat().st_mtime, reverse=True):
        room -= sum(file.stat().st_size for file in entry.iterdir())
        if room < 0:
            shutil.rmtree(entry, ignore_errors=True)
