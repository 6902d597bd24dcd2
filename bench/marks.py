"""How exactly the words of passages are marked on the pages of their PDFs: precision and recall of marked words.

    python bench/marks.py PDF ... [--passages 100] [--seed 1] [--misses] [--draw FOLDER]
    python bench/marks.py --print FOLDER       prints the documentation there in two columns, justified and hyphenated

Debian has PDFs of TeX and FOP: bzip2-doc, fontconfig, libtasn1-doc, nettle-dev, shared-mime-info, valgrind, zlib1g-dev.
Passages are cut as ingest does, as many of each file. Which words of a page are a passage's is found in another way
than the server's: words are put in the order in which the loader reads lines, and the best alignment of characters of
passage and pages, of all that there are, tells (Gotoh 1982, with gaps of two kinds). Words of marks and hyphens alone
do not count. `elsewhere`: words marked on the pages before and behind a passage, where none of it stands.
"""

import argparse
import io
import random
import re
import time
import unicodedata
from base64 import b64decode
from collections.abc import Iterator, Sequence
from functools import cached_property
from itertools import chain, zip_longest
from pathlib import Path
from statistics import fmean
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
import pypdfium2
from PIL import Image, ImageDraw

from kgrag.indexing.chunking import Chunk, chunk
from kgrag.loaders import load
from kgrag.loaders.pdf_pages import Pdf
from kgrag.loaders.pdf_pictures import Pictures
from kgrag.server.pictures import Box, Picture
from kgrag.settings import IndexingSettings
from kgrag.values.documents import Document

ALIKE, UNLIKE, SMALL, LARGE, LONGER = 2.0, -3.0, -3.0, -24.0, -0.01
"""What characters are worth that are alike or not, one of a small gap, and a large gap, at first and by its length."""
DOCS = Path(__file__).parents[1] / "docs"
STYLE = """body { font: 10pt/1.35 serif; text-align: justify; hyphens: manual } pre { font-size: 6pt; white-space: pre-wrap }
article { column-count: 2; column-gap: 2em; break-before: page } table { font-size: 7pt } td { border: 1px solid }"""
SYLLABLE = re.compile(r"(?<=[a-z]{2}[aeiou][bcdfglmnprst])(?=[bcdfglmnprst][aeiou][a-z]{2})")


class Page:
    """A page of a PDF: its words as the server marks them, and in the order in which the loader reads them."""

    def __init__(self, path: Path, number: int) -> None:
        self._path, self.number = path, number

    @cached_property
    def picture(self) -> Picture:
        """As the server draws it."""
        drawn = Pictures(self._path)
        made = drawn.page(self.number)
        drawn.close()
        words = tuple((word, Box(*place)) for word, *place in made["words"])
        return Picture(b64decode(made["png"]), words, drawn.header()["pages"] if False else 0)

    @cached_property
    def order(self) -> list[int]:
        """The places of the words on lines and in tables, in reading order."""
        pdf = Pdf(self._path)
        read = pdf.page(self.number)
        pdf.close()
        with pypdfium2.PdfDocument(self._path) as document:
            width, height = document[self.number - 1].get_size()
        parts = [
            (i["box"][0], i["box"][2], i["box"][1], i["box"][3]) if isinstance(i, dict) else tuple(i[1:5])
            for i in chain.from_iterable(read["blocks"])
        ]
        found = []
        for place, (_, box) in enumerate(self.picture.words):
            x, y = (box.x0 + box.x1) / 2 * width, (box.y0 + box.y1) / 2 * height
            near = [
                (abs(y - (top + bottom) / 2), n)
                for n, (x0, x1, top, bottom) in enumerate(parts)
                if x0 - 2 <= x <= x1 + 2 and top - 3 <= y <= bottom + 3
            ]
            if near:
                found.append((min(near)[1], round(y) if isinstance(self._item(read, min(near)[1]), dict) else 0, x, place))
        return [place for *_, place in sorted(found)]

    @staticmethod
    def _item(read: dict[str, Any], number: int) -> Any:
        return list(chain.from_iterable(read["blocks"]))[number]


class Case(NamedTuple):
    """A passage with its pages, and the page before and the one behind."""

    path: Path
    chunk: Chunk
    pages: list[Page]
    near: list[Page]


def plain(text: str) -> str:
    """The characters that are compared."""
    return re.sub(r"[\s\W_]+", "", unicodedata.normalize("NFKC", text).casefold())


def cases(paths: Sequence[Path], number: int, seed: int) -> list[Case]:
    """Passages of running text, drawn from each file in turn."""
    drawn = []
    for path in paths:
        (document,) = (item for item in load(path) if isinstance(item, Document))
        chunks = [c for c in chunk(document, IndexingSettings()) if c.page and c.table is None and len(c.text) > 200]
        random.Random(seed).shuffle(chunks)
        pages = [Page(path, n) for n in range(1, len(pypdfium2.PdfDocument(path)) + 1)]
        drawn.append([_case(path, c, pages) for c in chunks])
    return [case for case in chain.from_iterable(zip_longest(*drawn)) if case][:number]


def _case(path: Path, its: Chunk, pages: Sequence[Page]) -> Case:
    first, last = its.page or 1, its.last_page or its.page or 1
    return Case(path, its, list(pages[first - 1 : last]), [*pages[max(0, first - 2) : first - 1], *pages[last : last + 1]])


def true_words(text: str, pages: Sequence[Page]) -> tuple[list[set[int]], float]:
    """The places of a passage's words on each of its pages, and the share of its characters that stand there."""
    owners = [
        (n, place, character)
        for n, page in enumerate(pages)
        for place in page.order
        for character in plain(page.picture.words[place][0])
    ]
    wanted, matched = plain(text), [0] * len(owners)
    pairs = align(wanted, "".join(character for *_, character in owners))
    for at in pairs:
        matched[at] = 1
    shares: dict[tuple[int, int], list[int]] = {}
    for (n, place, _), hit in zip(owners, matched, strict=True):
        shares.setdefault((n, place), []).append(hit)
    found: list[set[int]] = [set() for _ in pages]
    for (n, place), hits in shares.items():
        if fmean(hits) > 0.5:
            found[n].add(place)
    return found, len(pairs) / max(1, len(wanted))


def align(wanted: str, there: str) -> list[int]:
    """The places in `there` of the characters that the best alignment pairs with equal ones; its ends may stay over."""
    a, b = (np.array([ord(c) for c in text], np.int32) for text in (wanted, there))
    width = len(b) + 1
    along = np.arange(width, dtype=np.float64)
    best: npt.NDArray[np.float64] = np.zeros(width)
    down = np.full(width, -np.inf)  # within a large gap of the page
    began = np.zeros(width, np.int32)  # in which row
    moves = np.zeros((len(a) + 1, width), np.int32)  # 0: a pair; n > 0: n characters of the page are left out; < 0: ...
    moves[0] = 0
    for row in range(1, len(a) + 1):
        pair = np.concatenate([[-np.inf], best[:-1] + np.where(b == a[row - 1], ALIKE, UNLIKE)])
        opened = best + LARGE
        begins = opened >= down + LONGER
        down = np.where(begins, opened, down + LONGER)
        began = np.where(begins, row - 1, began)
        small = best + SMALL
        now, move = pair, np.zeros(width, np.int32)
        for value, step in ((down, began - row), (small, np.full(width, -1, np.int32))):
            better = value > now
            now, move = np.where(better, value, now), np.where(better, step, move)
        for first, each in ((0.0, SMALL), (LARGE, LONGER)):
            lifted = now - each * along
            top = np.maximum.accumulate(lifted)
            source = np.maximum.accumulate(np.where(lifted == top, np.arange(width), 0))
            value = np.concatenate([[-np.inf], (top + first)[:-1] + each * along[1:]])
            better = value > now
            now = np.where(better, value, now)
            move = np.where(better, np.arange(width) - np.concatenate([[0], source[:-1]]), move)
        best = now
        moves[row] = move
    row, column = len(a), int(np.argmax(best))
    found = []
    while row > 0 and column > 0:
        move = int(moves[row, column])
        if move == 0:
            if a[row - 1] == b[column - 1]:
                found.append(column - 1)
            row, column = row - 1, column - 1
        elif move > 0:
            column -= move
        else:
            row += move
    return found


def print_columns(folder: Path) -> Iterator[Path]:
    """The documentation as PDFs whose words are broken at the ends of lines."""
    from markdown_it import MarkdownIt
    from playwright.sync_api import sync_playwright

    markdown = MarkdownIt("commonmark").enable("table")
    with sync_playwright() as playwright:
        chromium = playwright.chromium.launch(executable_path="/usr/bin/chromium", args=["--no-sandbox"])
        page = chromium.new_page()
        for name in ("operating", "serving"):
            text = SYLLABLE.sub("\u00ad", (DOCS / f"{name}.md").read_text(encoding="utf-8"))
            page.set_content(f"<!doctype html><style>{STYLE}</style><article>{markdown.render(text)}</article>")
            page.pdf(path=folder / f"{name}.pdf", format="A4", margin=dict.fromkeys(("top", "bottom", "left"), "18mm"))
            yield folder / f"{name}.pdf"
        chromium.close()


def main() -> None:
    """See the top of the file."""
