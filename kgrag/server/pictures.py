"""Draw the page of a passage as a picture, with boxes around its words.

The position of a passage is found when the page is drawn, by comparing letters: its text was put into reading order and
lost hyphens, running heads and tables when the document was read. Separate processes draw the pages.
"""

import base64
import re
import unicodedata
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from difflib import Match, SequenceMatcher
from itertools import accumulate, chain, pairwise
from pathlib import Path
from typing import Any, NamedTuple, Self

from kgrag.client.graph import KnowledgeGraph
from kgrag.graph.collections import open_collection
from kgrag.indexing.removal import known_files
from kgrag.loaders.base import BadInput, clean
from kgrag.loaders.folder_walk import Fingerprint, Stamp
from kgrag.loaders.images import FORM, IMAGE
from kgrag.loaders.reading import Readers
from kgrag.loaders.recognised import Recognised, how
from kgrag.server.uploads import Uploads
from kgrag.settings import LoadingSettings
from kgrag.values.errors import InputError, NotFoundError

_DRAWN = ("pdf", "image")  # readers of files whose pages are drawn
_SHINGLE = 8  # consecutive letters compared at once
_LEAST = 40  # matching letters (or half of a short text) that rule out coincidence
_FAR = 120  # matching letters that rule out coincidence if the text continues elsewhere
_GAP = 50  # letters between two runs that belong together, such as another spelling, a formula or a line number
_LIKE = 0.7  # share of common letters from the first to the last of such runs
_NAME = re.compile(r"(?:^|(?<=; ))[^;:\n]+: ", re.MULTILINE)  # column names in the text form of table rows
_TAKEN, _GIVEN = "", " "  # replace matched shingles; no shingle equals them
_PDF, _IMAGE = "kgrag.loaders.pdf_pictures:Pictures", "kgrag.loaders.images:PicturePages"


class Box(NamedTuple):
    """A part of a line, as shares of the page's width and height from its top left corner, 0 to 1."""

    x0: float
    y0: float
    x1: float
    y1: float


@dataclass(frozen=True, slots=True)
class Picture:
    """A page as PNG, its words with their boxes, and the number of pages.

    `confidence`: of a recognised page, 0 to 1.
    """

    png: bytes
    words: tuple[tuple[str, Box], ...]
    pages: int
    confidence: float | None = None

    def boxes(self, text: str) -> list[Box]:
        """Return the boxes of a text on the page, one for each line or part of a line; empty if it is absent."""
        return list(_lines([self.words[place][1] for place in self.places(text)]))

    def places(self, text: str) -> list[int]:
        """Return the positions of the words of a text among the words of the page, from 0."""
        return _places_of(text, [word for word, _ in self.words])


class Pictures:
    """Draws pages in separate processes; close it, or use `with`. Safe to share between threads."""

    def __init__(self, settings: LoadingSettings, cache: Path | None = None) -> None:
        """Start no process yet; `cache`: the folder of recognised pages."""
        self._readers = Readers(settings, cache)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """End the processes."""
        self._readers.__exit__(None, None, None)

    def draw(self, path: Path, number: int) -> Picture:
        """Draw a page by its number, from 1. Raises InputError if the file or the page cannot be drawn."""
        is_image = path.suffix.lower() in IMAGE.extensions
        try:
            header, answer = self._answer(path, _IMAGE if is_image else _PDF, number)
            seen = self._recognised(path, number, FORM if is_image else "kgrag.loaders.pdf_pages:Pdf", answer["words"])
        except BadInput as error:
            raise _undrawn(number, str(error)) from error
        words = tuple((word, Box(*place)) for word, *place in seen["words"])
        return Picture(base64.b64decode(answer["png"]), words, header["pages"], seen.get("confidence"))

    def _answer(self, path: Path, form: str, number: int, **options: object) -> tuple[dict[str, Any], dict[str, Any]]:
        """Return the reply of a process about a file and one of its pages. Raises BadInput."""
        seconds = self._readers.settings.page_seconds
        reader, header = self._readers.open(path, form, seconds, **options)
        answer = reader.ask(seconds, page=number)
        if "problem" in answer:
            reader.kill()
            raise BadInput(answer["problem"])
        self._readers.give(reader)
        return header, answer

    def _recognised(self, path: Path, number: int, form: str, layer: list[Any]) -> dict[str, Any]:
        """Return the recognised words of a page, or those of its text layer."""
        settings = self._readers.settings
        recognised = Recognised.of(self._readers.cache, path, settings)
        seen = None if recognised is None else recognised.find(number)
        if seen is None and recognised is not None and not layer:
            seen = self._answer(path, form, number, **how(settings))[1]
            if "confidence" in seen:
                recognised.keep(number, seen)
        return seen if seen is not None and "words" in seen else {"words": layer}


def file_of(kg: KnowledgeGraph, collection: str, document: str, readers: tuple[str, ...] = _DRAWN) -> Path:
    """Return the file of a document if it is unchanged since it was read; by default only a PDF or picture.

    Raises NotFoundError otherwise.
    """
    uploads, graph = Uploads(kg.settings.home), kg.graph
    for state in known_files(graph, open_collection(graph, collection), [document]).get(document, ()):
        read, path = Fingerprint.parse(state.fingerprint), Path(state.path)
        if state.root == clean(uploads.folder(collection).resolve().as_posix()):
            path = uploads.find(collection, state.key).path
        stamp = Stamp.of([path])
        if read is not None and stamp is not None and read.reader.startswith(readers) and read.still([path], stamp):
            return path
    raise NotFoundError(
        f"The file of {document!r} is not held.", "It has changed or moved since it was read: ingest it again."
    )


def _places_of(text: str, words: Sequence[str]) -> list[int]:
    """Return the positions of the words of a page that form a text, with or without the column names of cells."""
    return max((_compared(form, words) for form in dict.fromkeys((text, _NAME.sub("", text)))), key=len)


def _compared(text: str, words: Sequence[str]) -> list[int]:
    """Return the positions of the words of a page that form a text, whose parts may be in another order on the page.

    Compares letters, since words may be hyphenated at the end of a line, joined, or contain other signs.
    """
    spelt = [_letters(word) for word in words]
    letters, there = _letters(text), "".join(spelt)
    least = min(_LEAST, (len(letters) + 1) // 2, len(there))
    size = min(_SHINGLE, least)
    if not least:
        return []
    ours, theirs = _shingles(letters, size), _shingles(there, size)
    marked = bytearray(len(there))
    while chains := [runs for runs in _chains(ours, theirs, size) if _is_alike(runs, least)]:
        for run in chain.from_iterable(chains):
            count = run.size - size + 1
            ours[run.a : run.a + count], theirs[run.b : run.b + count] = [_TAKEN] * count, [_GIVEN] * count
            marked[run.b : run.b + run.size] = b"\1" * run.size
        for one, other in chain.from_iterable(map(pairwise, chains)):
            if other.a > one.a + one.size and other.b > (end := one.b + one.size):
                marked[end : other.b] = b"\1" * (other.b - end)
        least = max(least, _FAR)
    ends = list(accumulate(map(len, spelt)))
    return [
        n for n, (end, word) in enumerate(zip(ends, spelt, strict=True)) if _is_marked(marked, end - len(word), end)
    ]


def _is_marked(marked: bytearray, start: int, end: int) -> bool:
    """Return whether most letters of a word match; for a word without letters, those on both sides."""
    return sum(marked[start:end]) > (end - start) / 2 if end > start else marked[start - 1 : start + 1] == b"\1\1"


def _chains(ours: Sequence[str], there: Sequence[str], size: int) -> list[list[Match]]:
    """Return the common runs of letters that have the same order and are near each other in both texts."""
    chains: list[list[Match]] = []
    for a, b, count in SequenceMatcher(None, ours, there).get_matching_blocks():
        if count:
            last = chains[-1][-1] if chains else None
            if last is None or max(a - last.a, b - last.b) > last.size + _GAP:
                chains.append([])
            chains[-1].append(Match(a, b, count + size - 1))
    return chains


def _is_alike(runs: Sequence[Match], least: int) -> bool:
    """Return whether the runs have enough letters, close enough together, to rule out coincidence."""
    first, last = runs[0], runs[-1]
    letters = sum(run.size for run in runs)
    return letters >= max(least, _LIKE * (last.size + max(last.a - first.a, last.b - first.b)))


def _shingles(letters: str, size: int) -> list[str]:
    return [letters[at : at + size] for at in range(len(letters) - size + 1)]


def _letters(text: str) -> str:
    """Return the letters and digits of a text, without case, marks, spaces and ligatures."""
    return re.sub(r"[\W_]+", "", unicodedata.normalize("NFKC", text).casefold())


def _lines(boxes: Sequence[Box]) -> Iterator[Box]:
    """Yield boxes of successive words, joined on one line."""
    line: Box | None = None
    for box in boxes:
        if line is not None and _beside(line, box):
            line = Box(line.x0, min(line.y0, box.y0), max(line.x1, box.x1), max(line.y1, box.y1))
            continue
        if line is not None:
            yield line
        line = box
    if line is not None:
        yield line


def _beside(line: Box, box: Box) -> bool:
    """Return whether a box continues a line: on the same row by half its height, and at most three heights away."""
    common = min(line.y1, box.y1) - max(line.y0, box.y0)
    height = min(line.y1 - line.y0, box.y1 - box.y0)
    return common > height / 2 and box.x1 - line.x1 >= 0 and box.x0 - line.x1 < 3 * max(height, 0.01)


def _undrawn(number: int, why: str) -> InputError:
    return InputError(f"Page {number} cannot be drawn: the file {why}.", "The passage itself is shown without it.")
