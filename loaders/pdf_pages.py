"""PDF files page by page, as the reading process sees them: lines in order, tables, what the file says of itself."""

import re
from itertools import count, islice
from pathlib import Path
from typing import Any

import pdfplumber
from pdfminer.pdfdocument import PDFPasswordIncorrect
from pdfminer.pdfpage import PDFPage
from pdfplumber.page import Page
from pdfplumber.utils.text import dedupe_chars, extract_words

from kgrag.loaders.base import BadInput
from kgrag.loaders.layout import Segment, flows, line, rows, segments
from kgrag.loaders.tables import Grid, aligned_tables, ruled_tables

_CID = re.compile(r"\(cid:\d+\)")
_MAX_CHARS = 200_000  # of one page: a wall map has a tenth of that
_MAX_PAGES = 50_000
_FEW_WORDS, _MANY_WORDS = 4, 12  # of a cell of a table without lines: before and after columns of prose are parted


class Pdf:
    """An open PDF; close it. Raises BadInput if it cannot be opened."""

    def __init__(self, path: Path) -> None:
        self._file = path.open("rb")
        self._pages: list[PDFPage] = []
        self._end = ""  # why there are no more
        try:
            self._pdf = pdfplumber.open(self._file)
            self._find_pages()
        except MemoryError:
            raise
        except Exception as error:
            self.close()
            raise BadInput(_reason(error)) from error
        if not self._pages:
            self.close()
            raise BadInput(self._end or "is damaged, or holds no pages")

    def _find_pages(self) -> None:
        try:
            for page in islice(PDFPage.create_pages(self._pdf.doc), _MAX_PAGES + 1):
                self._pages.append(page)
        except MemoryError:
            raise
        except Exception as error:
            self._end = _reason(error)
        if len(self._pages) > _MAX_PAGES:
            raise BadInput(f"has more than {_MAX_PAGES:,} pages; split it")

    def close(self) -> None:
        """Close the file."""
        self._file.close()

    def header(self) -> dict[str, Any]:
        """What the file says of itself: `pages` (how many), their `labels`, and `info` (Title, Author, ...).

        `end`: why no more pages were found, or "".
        """
        number = len(self._pages)
        try:
            labels = [str(label) for label in islice(self._pdf.doc.get_page_labels(), number)]
        except MemoryError:
            raise
        except Exception:  # there are none, or they are damaged
            labels = []
        info = {str(k): v for k, v in (self._pdf.metadata or {}).items() if isinstance(v, str)}
        return {"pages": number, "labels": labels, "info": info, "end": self._end}

    def page(self, number: int) -> dict[str, Any]:
        """The lines of the page with that number, from 1, and its tables, in reading order.

        `blocks`: for each flow a list of lines [text, x0, x1, top, bottom, size, bold] and of tables
        {"cells", "box", "title"}.
        """
        page = Page(self._pdf, self._pages[number - 1], number)
        try:
            return _read(page)
        finally:
            page.close()


def _read(page: Any) -> dict[str, Any]:
    x0, top, x1, bottom = page.bbox
    chars = [
        c for c in page.chars if x0 <= (c["x0"] + c["x1"]) / 2 <= x1 and top <= (c["top"] + c["bottom"]) / 2 <= bottom
    ]
    if len(chars) > _MAX_CHARS:
        raise BadInput(f"holds {len(chars):,} characters, over the limit of {_MAX_CHARS:,}")
    for char in chars:
        if char["text"].startswith("(cid:"):
            char["text"] = _CID.sub("\ufffd", char["text"])
    places = {(c["text"], round(c["x0"]), round(c["top"])) for c in chars if not c["text"].isspace()}
    if len(places) < 0.9 * sum(not c["text"].isspace() for c in chars):
        chars = dedupe_chars(chars)  # bold made by printing twice
    grids, rest = ruled_tables(page, chars)
    upright = [c for c in rest if c["upright"]]
    if len(upright) >= 0.5 * len(rest):
        rest = upright  # what runs along the margin belongs to no line
    parts = [*segments(extract_words(rest, x_tolerance_ratio=0.15, return_chars=True)), *map(_stand_in, count(), grids)]
    parts = _take_tables(parts, grids, _FEW_WORDS)
    blocks = []
    for flow in flows(parts):
        left = _take_tables(flow, grids, _MANY_WORDS)
        blocks.append([_item(line(row), grids) for row in rows(left)])
    unknown = sum(c["text"] == "\ufffd" for c in chars)
    return {
        "blocks": blocks,
        "height": float(bottom - top),
        "images": len(page.images),
        "garbled": unknown > 0.3 * max(1, len(chars)),
    }


def _take_tables(parts: list[Segment], grids: list[Grid], words: int) -> list[Segment]:
    """The segments, with one in the stead of those of each table without lines, which is put behind the others."""
    for within, grid in aligned_tables(parts, words):
        taken = set(map(id, within))
        parts = [*(part for part in parts if id(part) not in taken), _stand_in(len(grids), grid)]
        grids.append(grid)
    return parts


def _stand_in(number: int, grid: Grid) -> Segment:
    x0, top, x1, bottom = grid.box
    return Segment("", x0, x1, top, bottom, 0, table=number)


def _item(part: Segment, grids: list[Grid]) -> Any:
    if part.table is not None:
        grid = grids[part.table]
        return {"cells": grid.cells, "box": grid.box, "title": grid.title}
    return [part.text, part.x0, part.x1, part.top, part.bottom, part.size, part.bold]


def _reason(error: Exception) -> str:
    if isinstance(error, BadInput):
        return str(error)
    cause: BaseException | None = error
    while cause is not None:
        if isinstance(cause, PDFPasswordIncorrect) or any(isinstance(a, PDFPasswordIncorrect) for a in cause.args):
            return "is encrypted with a password; save it without one, for example with `qpdf --decrypt`"
        cause = cause.__cause__ or cause.__context__
    if isinstance(error, OSError):
        return f"cannot be read: {error.strerror or error}"
    what = str(error).strip() or type(error).__name__
    return f"is damaged, or no PDF ({what[:200]})"
