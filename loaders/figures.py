"""Pictures in documents of all formats: their media type and size, and whether they are only decoration."""

import base64
import hashlib
import re
import struct
from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from dataclasses import asdict, replace
from itertools import count
from pathlib import Path
from typing import Any
from urllib.parse import unquote

from kgrag.loaders.base import MB, one_line
from kgrag.text.figure_labels import caption_label
from kgrag.values.documents import SHOWN, Figure

Pictures = Callable[[str], bytes | None]
"""Finds the picture of an address in a document; returns None if there is no such picture."""

DECORATION = "decoration"
"""The kind under which decorative pictures are counted."""
POINTS = 24.0
"""A picture with a shorter side on paper is an icon."""
SMALLEST = 40
"""A picture with a side of fewer pixels is an icon."""
_REPEATED = 3  # a picture without a numbered caption at as many places is a logo
LARGEST = 8 * MB
"""Bytes of the largest picture that is kept."""
TOTAL = 64 * MB
"""Bytes of pictures kept per document."""
_MOST = 1000  # figures per document
_CAPTION = 1000  # characters
_OTHERS = {
    "image/svg+xml": re.compile(rb"(?:\xef\xbb\xbf)?\s*(?:<\?xml.*?)?(?:<!.*?>\s*)*<svg\b", re.DOTALL),
    "image/bmp": re.compile(rb"BM.{4}\0\0\0\0", re.DOTALL),
    "image/tiff": re.compile(rb"II\*\0|MM\0\*"),
    "image/emf": re.compile(rb"\x01\0\0\0.{36} EMF", re.DOTALL),
    "image/wmf": re.compile(rb"\xd7\xcd\xc6\x9a"),
}
_DATA = re.compile(r"data:image/[\w.+-]+;base64,", re.IGNORECASE)


def kind_of(data: bytes) -> tuple[str, int, int]:
    """Return the media type ("" if not a picture), width and height of a picture; sizes are 0 unless `SHOWN`."""
    try:
        if data.startswith(b"\x89PNG\r\n\x1a\n"):
            return "image/png", *struct.unpack(">II", data[16:24])
        if data[:6] in (b"GIF87a", b"GIF89a"):
            return "image/gif", *struct.unpack("<HH", data[6:10])
        if data.startswith(b"\xff\xd8\xff"):
            return "image/jpeg", *_jpeg_size(data)
        if data[:4] == b"RIFF" and data[8:12] == b"WEBP" and len(data) > 30:
            return "image/webp", *_webp_size(data)
    except (struct.error, IndexError):  # a truncated file
        pass
    return next((kind for kind, sign in _OTHERS.items() if sign.match(data[:1000])), ""), 0, 0


def _jpeg_size(data: bytes) -> tuple[int, int]:
    at = 2
    while at < len(data):
        marker, length = struct.unpack(">xBH", data[at : at + 4])
        if 0xC0 <= marker <= 0xCF and marker not in (0xC4, 0xC8, 0xCC):
            height, width = struct.unpack(">HH", data[at + 5 : at + 9])
            return width, height
        at += 2 + length
    return 0, 0


def _webp_size(data: bytes) -> tuple[int, int]:
    match data[12:16]:
        case b"VP8X":
            return 1 + int.from_bytes(data[24:27], "little"), 1 + int.from_bytes(data[27:30], "little")
        case b"VP8L":
            bits = int.from_bytes(data[21:25], "little")
            return 1 + (bits & 0x3FFF), 1 + (bits >> 14 & 0x3FFF)
    width, height = struct.unpack("<HH", data[26:30])
    return width & 0x3FFF, height & 0x3FFF


def figure_of(data: bytes, caption: str = "", page: int = 0, box: Iterable[float] = ()) -> Figure:
    """Make a figure without a number; it keeps the picture's bytes if a browser shows it and it is not too large."""
    media_type, width, height = kind_of(data)
    stored = data if media_type in SHOWN and len(data) <= LARGEST else b""
    place = tuple(round(edge, 1) for edge in box)
    sha = hashlib.sha256(data).hexdigest()
    return Figure(0, sha, one_line(caption)[:_CAPTION], page, place, width, height, media_type, stored)


def as_row(figure: Figure) -> dict[str, Any]:
    """Return a figure as a JSON object."""
    return {**asdict(figure), "data": base64.b64encode(figure.data).decode()}


def from_row(row: Mapping[str, Any]) -> Figure:
    """Return the figure of a row made by `as_row`."""
    return Figure(**{**row, "box": tuple(row["box"]), "data": base64.b64decode(row["data"])})


class Figures:
    """Collects the figures of a document in order; the text between them supplies captions.

    Decorative pictures are counted in `left_out`.
    """

    def __init__(self, left_out: Counter[str]) -> None:
        self._left_out = left_out
        self._figures: list[Figure] = []
        self._keys: list[str] = []
        self._data: dict[str, bytes] = {}
        self._caption = ""  # the last block, if it is a caption without a figure yet
        self._waits = False  # whether the last figure still needs a caption from below

    def add(self, figure: Figure, *, key: str = "") -> None:
        """Add a figure; figures with the same `key` (default: the bytes) are the same picture."""
        if figure.media_type in SHOWN and min(figure.width, figure.height) < SMALLEST:
            self._left_out[DECORATION] += 1
            return
        if len(self._figures) >= _MOST:
            return
        figure = replace(figure, data=self._data.setdefault(figure.sha, figure.data))
        if sum(map(len, self._data.values())) > TOTAL:
            self._data[figure.sha] = b""
            figure = replace(figure, data=b"")
        numbered = caption_label(figure.caption) is not None
        self._waits = not numbered and not self._caption
        if self._caption and not numbered:
            figure = replace(figure, caption=self._caption)
        self._caption = ""
        self._figures.append(figure)
        self._keys.append(key or figure.sha)

    def text_block(self, text: str, *, caption: bool = False) -> None:
        """Record the next block of text, and whether it is known to be a caption."""
        text = one_line(text)
        if self._figures and text == self._figures[-1].caption:
            return  # the figure already has the caption, or an alternative text
        last = self._figures[-1] if self._waits else None
        caption_text = text[:_CAPTION] if caption or caption_label(text) is not None else ""
        if last is not None and caption_text:
            self._figures[-1], caption_text = replace(last, caption=caption_text), ""
        self._caption, self._waits = caption_text, False

    def all(self) -> tuple[Figure, ...]:
        """Return the figures, numbered, without logos: pictures that repeat on several pages or places."""
        each = [
            ("" if caption_label(figure.caption) else key, figure)
            for key, figure in zip(self._keys, self._figures, strict=True)
        ]
        places = Counter(key for key, _ in {(key, figure.page or -i) for i, (key, figure) in enumerate(each)} if key)
        numbers = count(1)
        figures: list[Figure] = []
        seen: set[tuple[str, int]] = set()
        for key, figure in each:
            if key and (places[key] >= _REPEATED or (figure.page and (key, figure.page) in seen)):
                self._left_out[DECORATION] += 1
                continue
            seen.add((key, figure.page))
            figures.append(replace(figure, number=next(numbers)))
        return tuple(figures)


def no_picture(_: str) -> bytes | None:
    """Return None, for documents whose pictures are ignored."""
    return None


def beside(page: Path) -> Pictures:
    """Return a finder of pictures in the folder of a page or below; it never leaves it and downloads nothing."""
    folder = page.parent.resolve()

    def find(address: str) -> bytes | None:
        if (data := inline(address)) is not None or ":" in address or address.startswith(("/", "\\")):
            return data
        try:
            path = (folder / unquote(address.partition("#")[0].partition("?")[0])).resolve()
            if path.is_relative_to(folder) and path.is_file() and path.stat().st_size <= LARGEST:
                return path.read_bytes()
        except (OSError, ValueError):
            pass
        return None

    return find


def inline(address: str) -> bytes | None:
    """Return the picture in a data address (RFC 2397), or None for another address."""
    match = _DATA.match(address)
    if match is None or len(address) > 2 * LARGEST:
        return None
    try:
        return base64.b64decode(unquote(address[match.end() :]), validate=False)
    except ValueError:
        return None
