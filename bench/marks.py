"""How exactly the words of passages are marked on the pages of their PDFs: precision and recall of marked words.

    python bench/marks.py PDF ... [--passages 100] [--seed 1] [--misses] [--draw FOLDER] [--against FILE]
    python bench/marks.py --print FOLDER       prints the documentation there in two columns, justified and hyphenated

Debian has PDFs of TeX and FOP: bzip2-doc, fontconfig, libtasn1-doc, nettle-dev, shared-mime-info, valgrind, zlib1g-dev.
Passages are cut as ingest does, as many of each file. Which words of a page are a passage's is found in another way
than the server's: words are put in the order in which the loader reads lines, and the best alignment of characters of
passage and pages, of all that there are, tells (Gotoh 1982, with gaps of two kinds). Words of marks and hyphens alone
do not count. `elsewhere`: words marked on the pages before and behind a passage, where none of it stands. Of the same
passages the sentences are marked alone, too, as citations do.
"""

import argparse
import gc
import io
import random
import re
import time
import unicodedata
from base64 import b64decode
from collections import Counter, defaultdict
from collections.abc import Callable, Sequence
from functools import cache
from importlib.machinery import SourceFileLoader
from itertools import chain, zip_longest
from pathlib import Path
from shutil import which
from statistics import fmean
from typing import NamedTuple

import numpy as np
import pypdfium2
from PIL import Image, ImageDraw

from kgrag.indexing.chunking import Chunk, chunk
from kgrag.loaders import load
from kgrag.loaders.pdf_pages import Pdf
from kgrag.loaders.pdf_pictures import Pictures
from kgrag.retrieval.support import sentences
from kgrag.server import pictures
from kgrag.server.pictures import Box, Picture
from kgrag.settings import IndexingSettings
from kgrag.values.documents import Document

ALIKE, UNLIKE, SMALL, LARGE, LONGER = 2.0, -3.0, -3.0, -24.0, -0.01
"""What characters are worth that are alike or not, one of a small gap, and a large gap, at first and by its length."""
Finder = Callable[[str, Sequence[str]], Sequence[int]]
SHORT, WORDS, LITTLE = 200, 3, 0.95
"""Characters of passages and words of sentences that are passed over; a share of characters that is told if not met."""
DOCS = Path(__file__).parents[1] / "docs"
STYLE = """body { font: 11pt/1.35 serif; text-align: justify } pre { font-size: 6pt; white-space: pre-wrap }
article { column-count: 2; column-gap: 2em } table { font-size: 7pt } td { border: 1px solid }"""
SYLLABLE = re.compile(
    r"(?<=[a-z]{2}[aeiou])(?=[bcdfgklmnprstv][aeiou][a-z])|(?<=[a-z][aeiou][lmnprst])(?=[bcdfgkmpt][aeiou])"
)


class File:
    """A PDF, open for the server's reading of its pages and for the loader's."""

    def __init__(self, path: Path) -> None:
        self.path, self._drawn, self._read = path, Pictures(path), Pdf(path)
        with pypdfium2.PdfDocument(path) as document:
            self.sizes = [page.get_size() for page in document]

    @cache  # noqa: B019 - as long as the program runs
    def page(self, number: int) -> tuple[Picture, list[int]]:
        """A page, from 1, and the places of its words in the order in which the loader reads its lines and tables."""
        made, (width, height) = self._drawn.page(number), self.sizes[number - 1]
        words = tuple((word, Box(*place)) for word, *place in made["words"])
        order = []
        parts = list(enumerate(chain.from_iterable(self._read.page(number)["blocks"])))
        for place, (_, box) in enumerate(words):
            x, y = (box.x0 + box.x1) / 2 * width, (box.y0 + box.y1) / 2 * height
            near = []
            for n, part in parts:
                x0, top, x1, bottom = part["box"] if isinstance(part, dict) else (part[1], part[3], part[2], part[4])
                if x0 - 2 <= x <= x1 + 2 and top - 3 <= y <= bottom + 3:
                    near.append((abs(y - (top + bottom) / 2), n, round(y) if isinstance(part, dict) else 0))
            if near:
                order.append((*min(near)[1:], x, place))
        return Picture(b64decode(made["png"]), words, len(self.sizes)), [place for *_, place in sorted(order)]


class Case(NamedTuple):
    """A passage of a file."""

    file: File
    chunk: Chunk

    def pages(self) -> range:
        """The numbers of its pages."""
        first = self.chunk.page or 1
        return range(first, (self.chunk.last_page or first) + 1)


def plain(text: str) -> str:
    """The characters that are compared."""
    return re.sub(r"[\W_]+", "", unicodedata.normalize("NFKC", text).casefold())


def cases(paths: Sequence[Path], number: int, seed: int) -> list[Case]:
    """Passages of running text, drawn from each file in turn."""
    drawn = []
    for path in paths:
        (document,) = (item for item in load(path) if isinstance(item, Document))
        chunks = [c for c in chunk(document, IndexingSettings()) if c.page and c.table is None and len(c.text) > SHORT]
        random.Random(seed).shuffle(chunks)
        file = File(path)
        drawn.append([Case(file, c) for c in chunks])
    return [case for case in chain.from_iterable(zip_longest(*drawn)) if case][:number]


class Truth:
    """Which words of its pages a passage consists of, and `share`: that of its characters that stand there."""

    def __init__(self, case: Case) -> None:
        self._owners, there = list[tuple[int, int]](), ""
        for number in case.pages():
            picture, order = case.file.page(number)
            for place in order:
                characters = plain(picture.words[place][0])
                self._owners += [(number, place)] * len(characters)
                there += characters
        wanted = plain(case.chunk.text)
        self._pairs = align(wanted, there)
        self._sizes = Counter(self._owners)
        self.share = len(self._pairs) / max(1, len(wanted))

    def words(self, number: int, start: int, end: int) -> set[int]:
        """The places on a page of the words of which most characters are among these of the passage."""
        hits = Counter(self._owners[at] for wanted, at in self._pairs if start <= wanted < end)
        return {place for (page, place), hit in hits.items() if page == number and hit > self._sizes[page, place] / 2}


def align(wanted: str, there: str) -> list[tuple[int, int]]:
    """The places of the equal characters that the best alignment pairs; the ends of `there` may stay over."""
    a, b = (np.array([ord(character) for character in text], np.int32) for text in (wanted, there))
    width = len(b) + 1
    along = np.arange(width)
    best, gap = np.zeros(width), np.full(width, -np.inf)  # gap: what is best within a large one of the wanted
    began = np.zeros(width, np.int32)  # the row in which it began
    moves = np.zeros((len(a) + 1, width), np.int32)  # 0: a pair; characters left out of `there`, or -n of the wanted
    for row in range(1, len(a) + 1):
        begins = best + LARGE >= gap + LONGER
        gap, began = np.where(begins, best + LARGE, gap + LONGER), np.where(begins, row - 1, began)
        now = np.concatenate([[-np.inf], best[:-1] + np.where(b == a[row - 1], ALIKE, UNLIKE)])
        move = np.zeros(width, np.int32)
        ways = [(gap, began - row), (best + SMALL, np.full(width, -1))]
        for value, step in ways:
            now, move = np.where(value > now, value, now), np.where(value > now, step, move)
        for first, each in ((0.0, SMALL), (LARGE, LONGER)):
            height = now - each * along
            top = np.maximum.accumulate(height)
            source = np.maximum.accumulate(np.where(height == top, along, 0))
            value = np.concatenate([[-np.inf], (top + first)[:-1] + each * along[1:]])
            step = along - np.concatenate([[0], source[:-1]])
            now, move = np.where(value > now, value, now), np.where(value > now, step, move)
        best, moves[row] = now, move
    row, column, found = len(a), int(np.argmax(best)), []
    while row > 0 and column > 0:
        moved = int(moves[row, column])
        if moved == 0 and a[row - 1] == b[column - 1]:
            found.append((row - 1, column - 1))
        row, column = row - max(-moved, moved == 0), column - max(moved, moved == 0)
    return found


def print_columns(folder: Path) -> None:
    """The documentation as PDFs whose words are broken at the ends of lines."""
    from markdown_it import MarkdownIt
    from playwright.sync_api import sync_playwright

    markdown = MarkdownIt("commonmark").enable("table")
    with sync_playwright() as playwright:
        chromium = playwright.chromium.launch(executable_path=which("chromium"), args=["--no-sandbox"])
        page = chromium.new_page()
        texts = [SYLLABLE.sub("\u00ad", path.read_text(encoding="utf-8")) for path in sorted(DOCS.glob("*.md"))]
        articles = "".join(f"<article>{markdown.render(text)}</article>" for text in texts)
        page.set_content(f"<!doctype html><style>{STYLE}</style>{articles}")
        page.pdf(
            path=folder / "columns.pdf",
            format="A4",
            margin={"top": "18mm", "bottom": "18mm", "left": "18mm", "right": "18mm"},
        )
        chromium.close()


class Count(NamedTuple):
    """Words of passages: rightly marked, wrongly, and not; and those marked on the pages next to them."""

    right: int = 0
    wrong: int = 0
    missed: int = 0
    elsewhere: int = 0

    def shares(self) -> tuple[float, float]:
        """Precision and recall."""
        return self.right / max(1, self.right + self.wrong), self.right / max(1, self.right + self.missed)


class Rows:
    """What is counted for one way of finding words, by file, of passages and of sentences."""

    def __init__(self, found: Finder) -> None:
        self._found = found
        self.counts: defaultdict[tuple[str, str], list[Count]] = defaultdict(list)
        self.seconds = 0.0

    def add(self, case: Case, truth: Truth, misses: bool, folder: Path | None) -> None:
        """Mark a passage and its sentences."""
        text, name = case.chunk.text, case.file.path.name
        self._count("passages", name, self._marked(case, truth, text, 0, misses=misses, folder=folder))
        for start, end in sentences(text):
            if len(text[start:end].split()) > WORDS:
                self._count("sentences", name, self._marked(case, truth, text[start:end], len(plain(text[:start]))))

    def _count(self, kind: str, name: str, count: Count) -> None:
        for key in ((kind, "all"), (kind, name)):
            self.counts[key].append(count)

    def _marked(
        self, case: Case, truth: Truth, text: str, start: int, *, misses: bool = False, folder: Path | None = None
    ) -> Count:
        right, wrong, missed, elsewhere = 0, 0, 0, 0
        pages = case.pages()
        for number in range(max(1, pages[0] - 1), min(len(case.file.sizes), pages[-1] + 1) + 1):
            picture, _ = case.file.page(number)
            words = [word for word, _ in picture.words]
            began = time.process_time()
            places = self._found(text, words)
            self.seconds = max(self.seconds, time.process_time() - began)
            marked = {place for place in places if plain(words[place])}
            if number not in pages:
                elsewhere += len(marked)
                continue
            true = truth.words(number, start, start + len(plain(text)))
            right, wrong, missed = right + len(marked & true), wrong + len(marked - true), missed + len(true - marked)
            for label, others in (("wrong", marked - true), ("missed", true - marked)):
                if others and misses:
                    print(f"  {case.file.path.name} {number} {label}:", *(words[place] for place in sorted(others)))
            if folder:
                folder.mkdir(parents=True, exist_ok=True)
                name = f"{case.file.path.stem}-{number}-{len(self.counts['passages', 'all'])}.png"
                draw(picture, marked, true).save(folder / name)
        return Count(right, wrong, missed, elsewhere)

    def table(self) -> None:
        """Print it."""
        print("| of | file | number | precision | recall | mean precision | mean recall | elsewhere |")
        print("|---|---" + "|---:" * 6 + "|")
        for (kind, name), counts in sorted(self.counts.items()):
            whole = Count(*map(sum, zip(*counts, strict=True)))
            each = [fmean(shares) for shares in zip(*(count.shares() for count in counts), strict=True)]
            shown = " | ".join(f"{share:.3f}" for share in (*whole.shares(), *each))
            print(f"| {kind} | {name} | {len(counts)} | {shown} | {whole.elsewhere} |")
        print(f"A page took {self.seconds:.3f} s of a processor at most.")


def draw(picture: Picture, marked: set[int], true: set[int]) -> Image.Image:
    """The page: green what is rightly marked, red what is not, blue what is missed."""
    image = Image.open(io.BytesIO(picture.png)).convert("RGB")
    pen = ImageDraw.Draw(image)
    for places, colour in ((marked & true, "green"), (marked - true, "red"), (true - marked, "blue")):
        for place in places:
            box = picture.words[place][1]
            pen.rectangle([x * size for x, size in zip(box, image.size * 2, strict=True)], outline=colour, width=2)
    return image


def main() -> None:
    """See the top of the file."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("files", nargs="*", type=Path, metavar="PDF")
    parser.add_argument("--passages", type=int, default=100)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--misses", action="store_true", help="show the words")
    parser.add_argument("--draw", type=Path, metavar="FOLDER", help="pictures of the pages, with boxes")
    parser.add_argument("--against", type=Path, metavar="FILE", help="kgrag/server/pictures.py of another commit")
    parser.add_argument("--print", type=Path, metavar="FOLDER", dest="printed")
    options = parser.parse_args()
    if options.printed:
        print_columns(options.printed)
    ways = {"now": Rows(pictures._found)}
    if options.against:
        loader = SourceFileLoader("before", str(options.against))
        ways["before"] = Rows(loader.load_module()._found)
    gc.disable()  # all pages are kept: a collection takes longer than what is timed
    for case in cases(options.files, options.passages, options.seed):
        truth = Truth(case)
        for way, rows in ways.items():
            rows.add(case, truth, options.misses and way == "now", options.draw if way == "now" else None)
        if truth.share < LITTLE:
            print(f"  {case.file.path.name} {case.pages()[0]}: {truth.share:.0%} of the characters stand there")
    for way, rows in ways.items():
        print(f"\n{way}\n")
        rows.table()


if __name__ == "__main__":
    main()
