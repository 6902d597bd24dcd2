"""PDF files page by page, as the reading process sees them: ordered lines, tables and the properties of the file."""

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import suppress
from itertools import count, islice, pairwise
from pathlib import Path
from statistics import median
from typing import Any

import pdfplumber
from pdfminer.pdfdocument import PDFPasswordIncorrect
from pdfminer.pdfpage import PDFPage
from pdfminer.pdftypes import PDFObjRef, resolve1
from pdfminer.psparser import PSLiteral
from pdfplumber.page import Page
from pdfplumber.utils.text import dedupe_chars, extract_words
from pypdfium2 import PdfiumError

from kgrag.loaders.base import BadInput, one_line
from kgrag.loaders.figures import as_row, figure_of
from kgrag.loaders.pdf_characters import Char, Fonts, filled_in, place, with_signs
from kgrag.loaders.pdf_directions import in_reading_order
from kgrag.loaders.pdf_figures import Drawer, Region, regions
from kgrag.loaders.pdf_layout import Box, Grid, Segment, flows, is_code, line, rows, segments
from kgrag.loaders.pdf_pictures import draw
from kgrag.loaders.pdf_tables import Signs, aligned_tables, framed_tables, ruled_tables

_SPACED = 0.08  # type sizes: the least gap between letters of a spaced word
_EVEN = 0.1  # type sizes by which the gaps of a spaced word may differ
_WORD = 0.25  # type sizes: a word space; without wider gaps, letters so far apart are words of one letter
_FEWEST = 3  # gaps needed to judge a run
_LETTERS = 5  # least length of a spaced word that stands alone


def close_gaps(chars: Sequence[Char]) -> list[Char]:
    """Return the characters of a page in file order; letters of spaced words are widened until they touch."""
    result: list[Char] = []
    for run in _runs(chars):
        result.extend(_closed(run))
    return result


def _runs(chars: Sequence[Char]) -> Iterator[list[Char]]:
    """Yield runs of characters in one type on one line, from left to right."""
    run: list[Char] = []
    for char in chars:
        if run and not _goes_on(run[-1], char):
            yield run
            run = []
        run.append(char)
    if run:
        yield run


def _goes_on(one: Char, other: Char) -> bool:
    if one["fontname"] != other["fontname"] or abs(one["size"] - other["size"]) > 0.05 * one["size"]:
        return False
    if not (one["upright"] and other["upright"] and abs(one["top"] - other["top"]) < 0.5):
        return False
    return bool(one["x0"] < other["x0"] < one["x1"] + 3 * one["size"])


def _closed(run: list[Char]) -> list[Char]:
    if len(run) <= _FEWEST:
        return run
    size = run[0]["size"]
    pairs = [(a, b) for a, b in pairwise(run) if not (a["text"].isspace() or b["text"].isspace())]
    gaps = sorted(b["x0"] - a["x1"] for a, b in pairs)
    if len(gaps) < _FEWEST or gaps[0] < _SPACED * size:
        return run
    base = median(gaps[: max(_FEWEST, len(gaps) // 2)])
    even = [gap for gap in gaps if gap <= base + _EVEN * size]
    is_separated = len(pairs) < len(run) - 1 or len(even) < len(gaps)  # there are spaces or wider gaps
    if len(even) < max(_FEWEST, len(gaps) / 2):
        return run
    if base > _WORD * size and not is_separated and not _is_word([char["text"] for char in run]):
        return run
    touching = {id(a): b["x0"] for a, b in pairs if b["x0"] - a["x1"] <= base + _EVEN * size}
    return [{**char, "x1": touching[id(char)]} if id(char) in touching else char for char in run]


def _is_word(letters: list[str]) -> bool:
    """Return whether single letters form a word: there are many, not in alphabetical order as labels are."""
    return len(letters) >= _LETTERS and all(map(str.isalpha, letters)) and letters != sorted(letters)


_CID = re.compile(r"\(cid:\d+\)")
_MAX_CHARS = 200_000  # per page; a wall map has a tenth of that
_MAX_PAGES = 50_000
_TURNS = {(0, 1): 90, (-1, 0): 180, (0, -1): 270}  # keyed by the direction of a line of text
_USUAL = 10.0  # type size in points on a page without text
_MIN_NUMBERS = 5  # numbered lines a page must have
_UNREAD = 0.2  # share of a page from which a picture without a caption may hold text of its own
_COVERED = 0.5  # share of a page that the picture of a scan covers
_WORDLESS = 0.5  # the text behind a scan is nonsense if fewer of its words look like words
_FEWEST_WORDS = 20  # words a page needs for that test
_WORDLIKE = re.compile(r"[\W_]*(?:[^\W\d_]{2,}(?:[-'’.][^\W\d_]+)*|\d+(?:[.,:/-]\d+)*|[aAiI])[\W_]*")
_OTHERS = re.compile(r"[^\W\d_a-zA-Z\u00c0-\u024f]")  # letters of scripts with other word forms than Latin
_FEW_WORDS, _MANY_WORDS = 4, 12  # words per cell of a table without lines, before and after the split into columns


class Pdf:
    """An open PDF; close it. Raises BadInput if it cannot be opened.

    `dpi`: resolution at which pages without text are recognised; 0 turns recognition off.
    """

    def __init__(self, path: Path, dpi: int = 0) -> None:
        self._path, self._dpi = path, dpi
        self._file = path.open("rb")
        self._drawer: Drawer | None = None
        self._pages: list[PDFPage] = []
        self._end = ""  # why no more pages were found
        try:
            self._pdf = pdfplumber.open(self._file)
            self._pdf.rsrcmgr = Fonts()
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
        if self._drawer is not None:
            self._drawer.close()

    def header(self) -> dict[str, Any]:
        """Return the properties of the file: the number of `pages`, their `labels`, and `info` (Title, Author, ...).

        `end` says why no more pages were found, or is "". `contents` lists bookmarks as [level from 1, title, page].
        """
        number = len(self._pages)
        try:
            labels = [str(label) for label in islice(self._pdf.doc.get_page_labels(), number)]
        except MemoryError:
            raise
        except Exception:  # missing or damaged
            labels = []
        info = {str(k): v for k, v in (self._pdf.metadata or {}).items() if isinstance(v, str)}
        return {"pages": number, "labels": labels, "info": info, "end": self._end, "contents": self._contents()}

    def _contents(self) -> list[tuple[int, str, int]]:
        """Return the bookmarks of the file: level from 1, title, page."""
        entries: list[tuple[int, str, int]] = []
        try:
            numbers = {page.pageid: number for number, page in enumerate(self._pages, 1)}
            for level, title, place, action, _ in islice(self._pdf.doc.get_outlines(), _MAX_PAGES):
                place = place or (resolve1(action) or {}).get("D")
                if isinstance(place, bytes | PSLiteral):
                    place = resolve1(self._pdf.doc.get_dest(place if isinstance(place, bytes) else place.name))
                place = resolve1(place.get("D") if isinstance(place, dict) else place)
                if place and isinstance(place[0], PDFObjRef) and place[0].objid in numbers:
                    entries.append((level, one_line(title), numbers[place[0].objid]))
        except MemoryError:
            raise
        except Exception:  # missing or damaged
            pass
        return entries

    def page(self, number: int) -> dict[str, Any]:
        """Return the lines and tables of a page in reading order; the first page is 1.

        `blocks` lists, for each flow, lines [text, x0, x1, top, bottom, size, bold, pitch] and tables {"cells", "box",
        "title"}. `left_out` counts the parts left out of the text, by kind. `figures`: see figures.py. A recognised
        page also has a `confidence`, and `words` as [text, x0, y0, x1, y1] in shares of the page.
        """
        page = Page(self._pdf, self._pages[number - 1], number)
        try:
            turn = _turn(page.chars)
            if turn:  # the text runs sideways, as wide tables do
                pdf_page = self._pages[number - 1]
                pdf_page.rotate = pdf_page.attrs["Rotate"] = (page.rotation + turn) % 360
                page.close()
                page = Page(self._pdf, pdf_page, number)
            answer = _read(page)
            if self._dpi and (not any(answer["blocks"]) or answer["garbled"] or _is_nonsense(page)):
                answer = recognised(*draw(self._path, number, self._dpi), answer)
            least = _UNREAD * page.width * page.height
            large = (figure for figure in answer["figures"] if not figure.caption)
            unread = sum((x1 - x0) * (y1 - y0) > least for x0, y0, x1, y1 in (figure.box for figure in large))
            answer["left_out"] = {**answer["left_out"], "unread picture": unread}
            return {**answer, "figures": list(self._pictures(number, answer["figures"], _visible(page), turn))}
        finally:
            page.close()

    def _pictures(self, number: int, regions: list[Region], visible: Box, turn: int) -> Iterator[dict[str, Any]]:
        with suppress(PdfiumError):  # pdfium cannot draw every page that pdfminer can read
            for region in regions:
                drawer = self._drawer = self._drawer or Drawer(self._path)
                data = drawer.draw(number, region.box, visible, turn)
                yield {**as_row(figure_of(data, region.caption, number, region.box)), "picture": region.picture}


def _is_nonsense(page: Any) -> bool:
    """Return whether a scan has a text layer of mostly nonsense words, the result of bad recognition."""
    least = _COVERED * page.width * page.height
    if not any((image["x1"] - image["x0"]) * (image["bottom"] - image["top"]) > least for image in page.images):
        return False
    words = [word["text"] for word in extract_words(page.chars, x_tolerance_ratio=0.15)]
    wordlike = sum(_WORDLIKE.fullmatch(word) is not None or _OTHERS.search(word) is not None for word in words)
    return len(words) >= _FEWEST_WORDS and wordlike < _WORDLESS * len(words)


def _turn(chars: list[dict[str, Any]]) -> int:
    """Return the clockwise rotation of a page, in degrees, that sets most of its text upright."""
    ways = Counter(
        _TURNS.get((_sign(c["matrix"][0]), _sign(c["matrix"][1])), 0) for c in chars if not c["text"].isspace()
    )
    most, number = max(ways.items(), key=lambda way: way[1], default=(0, 0))
    return most if number > 0.5 * ways.total() else 0


def _sign(number: float) -> int:
    return 0 if abs(number) < 1e-3 else 1 if number > 0 else -1


def _visible(page: Any) -> tuple[float, float, float, float]:
    """Return the visible part of a page, without the margin that a printer cuts off."""
    crop = place(page, {"Rect": page.page_obj.cropbox}) or page.bbox
    x0, top, x1, bottom = page.bbox
    visible = max(x0, crop[0]), max(top, crop[1]), min(x1, crop[2]), min(bottom, crop[3])
    return visible if visible[0] < visible[2] and visible[1] < visible[3] else (x0, top, x1, bottom)


def _read(page: Any) -> dict[str, Any]:
    x0, top, x1, bottom = _visible(page)
    chars = [
        c for c in page.chars if x0 <= (c["x0"] + c["x1"]) / 2 <= x1 and top <= (c["top"] + c["bottom"]) / 2 <= bottom
    ]
    if len(chars) > _MAX_CHARS:
        raise BadInput(f"holds {len(chars):,} characters, over the limit of {_MAX_CHARS:,}")
    for char in chars:
        if char["text"].startswith("(cid:"):
            char["text"] = _CID.sub("\ufffd", char["text"])
    chars = [c for c in chars if c["text"] and not "\uf8e0" <= c["text"] <= "\uf8fe"]  # parts of large brackets
    places = {(c["text"], round(c["x0"]), round(c["top"])) for c in chars if not c["text"].isspace()}
    if len(places) < 0.9 * sum(not c["text"].isspace() for c in chars):
        chars = dedupe_chars(chars)  # bold made by printing twice
    left_out: Counter[str] = Counter()
    usual = median(c["size"] for c in chars) if chars else _USUAL
    chars = [*with_signs(close_gaps(chars)), *filled_in(page, usual, left_out)]
    layout = laid_out(page, chars, float(bottom - top), (x0, top, x1, bottom), left_out)
    return {**layout, "images": len(page.images)}


def laid_out(
    page: Any, chars: Sequence[Char], height: float, visible: Box | None, left_out: Counter[str]
) -> dict[str, Any]:
    """Return the lines of characters in reading order, tables and figures.

    Args:
        page: a page with ruled lines, with the interface of a pdfplumber page.
        chars: the characters to read.
        height: the height of the page in points.
        visible: the box to search for figures; None for a page that is itself a picture.
        left_out: counts the parts left out of the text, by kind.
    """
    grids, rest = ruled_tables(page, chars)
    ruled = [grid.box for grid in grids]
    upright = [c for c in rest if c["upright"]]
    if len(upright) >= 0.5 * len(rest):
        rest = upright  # text that runs along the margin belongs to no line
    parts = segments(_without_line_numbers(extract_words(rest, x_tolerance_ratio=0.15, return_chars=True)))
    signs = Signs.of(page, parts)
    for grid in grids:
        signs = signs.without(grid.box)
    framed = framed_tables(parts, signs, height)
    figures = [] if visible is None else regions(page, parts, ruled, visible, left_out)
    parts.extend(map(_stand_in, count(), grids))
    parts, signs = _take(parts, grids, framed, signs)
    parts, signs = _take(parts, grids, aligned_tables(parts, _FEW_WORDS, signs), signs)
    blocks = []
    for flow in flows(parts):
        left, signs = _take(flow, grids, aligned_tables(flow, _MANY_WORDS, signs), signs)
        blocks.append([_item(part, grids) for part in _with_code(rows(left))])
    unknown = sum(c["text"] == "\ufffd" for c in chars)
    return {
        "blocks": blocks,
        "height": height,
        "images": 0,
        "figures": figures,
        "left_out": left_out,
        "garbled": unknown > 0.3 * max(1, len(chars)),
    }


def recognised(picture: Any, points: float, answer: dict[str, Any]) -> dict[str, Any]:
    """Recognise the picture of a page and return it in the form of `Pdf.page`.

    Args:
        picture: [height, width] in shades of grey.
        points: the width of a pixel in points.
        answer: the result to return if no text is recognised.
    """
    from kgrag.loaders.recognition import recogniser

    scan = recogniser().recognise(picture, points)
    left_out = {**answer["left_out"], "unsure line": scan.unsure}
    if not scan.chars:
        return {**answer, "left_out": left_out}
    layout = laid_out(scan, scan.chars, scan.height, None, Counter())
    return {
        **layout,
        "images": answer["images"],
        "left_out": left_out,
        "confidence": scan.confidence,
        "words": _in_order(scan, layout["blocks"]),
    }


def _in_order(scan: Any, flows: Sequence[Sequence[Any]]) -> list[list[Any]]:
    """Return the words in reading order, by line, table and cell, so that a highlighted passage is contiguous."""
    items = [item for flow in flows for item in flow]
    boxes = [item["box"] if isinstance(item, dict) else (item[1], item[3], item[2], item[4]) for item in items]
    cells = sorted((cell for table in scan.find_tables() for cell in table.cells), key=lambda box: (box[1], box[0]))

    def key(number: int) -> tuple[int, int]:
        return _first(boxes, *scan.middles[number]), _first(cells, *scan.middles[number])

    return [scan.words[number] for number in sorted(range(len(scan.words)), key=key)]


def _first(boxes: Sequence[Any], x: float, y: float) -> int:
    """Return the index of the first box that contains a point, or the number of boxes if none does."""
    inside = (n for n, (x0, top, x1, bottom) in enumerate(boxes) if x0 <= x <= x1 and top <= y <= bottom)
    return next(inside, len(boxes))


def _take(
    parts: list[Segment], grids: list[Grid], tables: list[tuple[list[Segment], Grid]], signs: Signs
) -> tuple[list[Segment], Signs]:
    """Return the segments with each table's replaced by one placeholder; append the tables to `grids`."""
    for within, grid in tables:
        ids = set(map(id, within))
        parts = [*(part for part in parts if id(part) not in ids), _stand_in(len(grids), grid)]
        grids.append(grid)
        signs = signs.without(grid.box)
    return parts, signs


def _without_line_numbers(words: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Return the words of a page without line numbers, which form an ordered column beside all other text."""
    for sign, edge in ((1, "x0"), (-1, "x1")):  # a column on the left, or on the right
        numbers = [w for w in words if w["text"].isdecimal()]
        others = [sign * w["x0" if sign > 0 else "x1"] for w in words if not w["text"].isdecimal()]
        column = sorted((w for w in numbers if others and sign * w[edge] < min(others) - 4), key=lambda w: w["top"])
        steps = {int(b["text"]) - int(a["text"]) for a, b in pairwise(column)}
        if len(others) >= 5 * len(column) >= 5 * _MIN_NUMBERS and (steps == {1} or steps == {5}):
            ids = set(map(id, column))
            words = [w for w in words if id(w) not in ids]
    return words


def _with_code(lines: list[list[Segment]]) -> list[Segment]:
    """Return the lines with `pitch` set to 0 unless they are code.

    A line next to code with the same pitch also counts as code.
    """
    result = [line(row) for row in lines]
    code = [is_code(part) for part in result]
    for order in (range(1, len(result)), range(len(result) - 2, -1, -1)):
        step = order.step
        for i in order:
            near = result[i - step]
            same = result[i].pitch > 0 and abs(result[i].pitch - near.pitch) < 0.02 * near.pitch
            code[i] = code[i] or (code[i - step] and same and abs(near.top - result[i].top) < 3 * near.size)
    for part, is_so in zip(result, code, strict=True):
        part.pitch = part.pitch if is_so else 0.0
    return result


def _stand_in(number: int, grid: Grid) -> Segment:
    x0, top, x1, bottom = grid.box
    return Segment("", x0, x1, top, bottom, 0, table=number)


def _item(part: Segment, grids: list[Grid]) -> Any:
    if part.table is not None:
        grid = grids[part.table]
        cells = [["\n".join(map(in_reading_order, cell.split("\n"))) for cell in row] for row in grid.cells]
        return {"cells": cells, "box": grid.box, "title": in_reading_order(grid.title)}
    return [in_reading_order(part.text), part.x0, part.x1, part.top, part.bottom, part.size, part.bold, part.pitch]


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
