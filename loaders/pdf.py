"""Load PDF files in reading processes: pages with their text in reading order, and tables."""

import re
import threading
import time
from collections import deque
from collections.abc import Iterator
from dataclasses import replace
from datetime import datetime
from typing import Any

from kgrag.loaders.base import BadInput, Item, Source, check_size, needs, one_line, tell
from kgrag.loaders.figures import Figures, from_row
from kgrag.loaders.outline import PagedOutline, title_of
from kgrag.loaders.pdf_blocks import is_first_section
from kgrag.loaders.pdf_layout import PageLines
from kgrag.loaders.pdf_reflow import reflow
from kgrag.loaders.reading import Format, Reader, Readers
from kgrag.loaders.recognised import UNSURE, Recognised, how, is_on, remedy
from kgrag.settings import LoadingSettings
from kgrag.values.documents import Document, Problem

_BLOCK = 4  # pages given to a process at once
_ALONE = 12  # a file with fewer pages is not worth a second process
_MAX_DEATHS = 10  # reading processes that one file may crash
_FILE_NAME = re.compile(
    r"\.(?:docx?|pdf|tex|dvi|indd|odt|rtf|xlsx?|pptx?|qxd)$|^(?:untitled|microsoft word|slide 1$)", re.I
)
_NO_NAME = re.compile(r"\(.*\)|unknown|none|author|title|user|admin", re.IGNORECASE)
_DATE = re.compile(r"(?:D:)?(\d{4})(\d{2})?(\d{2})?")


def load_pdf(source: Source, readers: Readers) -> Iterator[Item]:
    """Read a PDF as a document with pages and tables; an unreadable page is a Problem. Raises BadInput."""
    needs("pdfplumber", "a PDF", "pdfplumber", "pdf")
    yield from load_pages(source, readers, "kgrag.loaders.pdf_pages:Pdf")


def load_pages(source: Source, readers: Readers, form: str) -> Iterator[Item]:
    """Read a file page by page into a document, like `load_pdf`. Raises BadInput.

    `form`: the reader of the pages as "module:name"; it has the interface of `Pdf`.
    """
    check_size(source)
    settings = readers.settings
    run = _Run(source, readers, form)
    pages = run.read()
    outline, title = PagedOutline(), ""
    contents = [PageLines.of(n, pages[n]) for n in range(1, run.number + 1)]
    figures = Figures(outline.left_out)
    for number in range(1, run.number + 1):
        outline.left_out.update(pages[number].get("left_out", {}))
        for row in pages[number].get("figures", ()):
            key = str(row.pop("picture") or "")
            figures.add(from_row(row), key=key)
    del pages
    title = reflow(contents, outline, run.header["contents"])
    pictures = figures.all()
    tell(source, outline.left_out)
    yield from _problems(source, contents, settings)
    if run.header["end"]:
        yield Problem(source.shown, f"{run.header['end']}: no page was found after page {run.number}")
    sections = outline.sections()
    if not sections and not outline.tables:
        if any(page.problem for page in contents):
            return
        if not any(page.images for page in contents):
            raise BadInput("holds no text")
        kind = "pictures in which none was recognised" if is_on(settings) else f"scanned images; {remedy(settings)}"
        raise BadInput(f"holds no text, only {kind}")
    info = run.header["info"]
    named = one_line(info.get("Title", ""))
    if not named or _FILE_NAME.search(named) or _NO_NAME.fullmatch(named):
        first = outline.first_heading
        named = title or ("" if is_first_section(first) else first)
        named = title_of(named, sections) or source.title
    author = one_line(info.get("Author", ""))
    metadata = {"author": "" if _NO_NAME.fullmatch(author) else author, "date": _date(info)}
    yield Document(
        source.key,
        sections,
        named[:300],
        source.shown,
        {key: value for key, value in metadata.items() if value},
        pages=tuple(
            replace(page, confidence=content.confidence)
            for page, content in zip(outline.pages(run.number, run.header["labels"]), contents, strict=True)
        ),
        tables=outline.tables,
        figures=pictures,
    )


def _problems(source: Source, pages: list[PageLines], settings: LoadingSettings) -> Iterator[Problem]:
    scanned = [p.number for p in pages if p.is_scanned]
    with_text = any(p.has_content for p in pages)
    for page in pages:
        message = page.problem
        if not message and page.garbled:
            message = f"its fonts do not say which characters they show; {remedy(settings, 'ocrmypdf --force-ocr')}"
        elif not message and page.confidence is not None and page.confidence < UNSURE:
            sure = int(100 * page.confidence)
            message = f"was recognised from a picture, {sure} % sure: what it says may be wrong"
        if message:
            yield Problem(f"{source.shown}:page {page.number}", message, lasting=not page.problem)
    message = "shows a picture in which no text was recognised"
    if not is_on(settings):
        message = f"holds no text, only a scanned image; {remedy(settings)}"
    for first, last in _runs(scanned) if with_text else ():
        place = f"page {first}" if first == last else f"pages {first}-{last}"
        yield Problem(f"{source.shown}:{place}", message, lasting=True)


def _runs(numbers: list[int]) -> Iterator[tuple[int, int]]:
    """Yield (first, last) of each run of consecutive numbers."""
    first = last = 0
    for number in [*numbers, 0]:
        if first and number != last + 1:
            yield first, last
            first = 0
        first, last = first or number, number


def _date(info: dict[str, str]) -> str:
    """Return the time of creation as an ISO date, or ""."""
    match = _DATE.match(info.get("CreationDate") or info.get("ModDate") or "")
    if match is None:
        return ""
    year, month, day = (int(part or 1) for part in match.groups())
    try:
        return datetime(year, month, day).date().isoformat()
    except ValueError:
        return ""


class _Run:
    """Reads one file with several processes, a few pages at a time."""

    def __init__(self, source: Source, readers: Readers, form: str) -> None:
        self._source = source
        self._readers = readers
        self._form = form
        self._recognised = Recognised.of(readers.cache, source.path, readers.settings)
        self._seconds = readers.settings.page_seconds
        self._until = time.monotonic() + readers.settings.file_seconds
        self._results: dict[int, dict[str, Any]] = {}
        self._deaths = 0
        self._size = 0
        self._stopped = ""
        self._working: set[Reader] = set()
        self._lock = threading.Lock()
        self._first: Reader | None
        self._first, self.header = self._open()
        self.number: int = self.header["pages"]
        self._todo = deque((first, min(first + _BLOCK - 1, self.number)) for first in range(1, self.number + 1, _BLOCK))

    def read(self) -> dict[int, dict[str, Any]]:
        """Return the reply for each page; a page without a reply gets a problem."""
        processes = min(self._readers.processes(), 1 + self.number // _ALONE)
        threads = [threading.Thread(target=self._work, daemon=True) for _ in range(processes)]
        try:
            for thread in threads:
                thread.start()
            for thread in threads:
                thread.join()
        finally:
            self._stopped = self._stopped or "was not read"
            with self._lock:
                for reader in filter(None, (*self._working, self._first)):
                    reader.kill()
        reason = f"was not read: {self._stopped}"
        return {n: self._results.get(n, {"problem": reason}) for n in range(1, self.number + 1)}

    def _open(self) -> tuple[Reader, dict[str, Any]]:
        return self._readers.open(self._source.path, self._form, 4 * self._seconds, **how(self._readers.settings))

    def _work(self) -> None:
        reader: Reader | None = None
        try:
            while not self._stopped:
                try:
                    first, last = self._todo.popleft()
                except IndexError:
                    break
                for number in range(first, last + 1):
                    if self._stopped or (reader := reader or self._begin()) is None:
                        return
                    if not self._page(reader, number) or (number == last and self._readers.is_tired(reader)):
                        with self._lock:
                            self._working.discard(reader)
                        reader.kill()
                        reader = None
        finally:
            if reader is not None:
                with self._lock:
                    self._working.discard(reader)
                    if self._stopped:
                        reader.kill()
                    else:
                        self._readers.give(reader)

    def _begin(self) -> Reader | None:
        with self._lock:
            reader, self._first = self._first, None
        if reader is None:
            try:
                reader, _ = self._open()
            except BadInput as error:
                self._stopped = self._stopped or str(error)
                return None
        with self._lock:
            self._working.add(reader)
        return reader

    def _page(self, reader: Reader, number: int) -> bool:
        """Have a process read a page; return whether the process can continue."""
        if self._recognised is not None and (recognised := self._recognised.find(number)) is not None:
            self._keep(number, recognised)
            return True
        start = time.monotonic()
        left = self._until - start
        if left <= 0:
            self._stopped = f"the file took longer than {self._readers.settings.file_seconds:.0f} s"
            return False
        try:
            answer = reader.ask(min(self._seconds, left), page=number)
        except BadInput as error:
            if not self._stopped:
                self._results[number] = {"problem": str(error)}
            self._count_death()
            return False
        self._keep(number, answer)
        if "confidence" in answer:
            self._note_recognition(number, answer, time.monotonic() - start)
        if answer.get("fatal"):
            self._count_death()
        return not answer.get("fatal")

    def _note_recognition(self, number: int, answer: dict[str, Any], seconds: float) -> None:
        """Cache a recognised page and record its duration for the file's progress."""
        self._until += seconds
        self._source.pages[2:] = [max(1, round(seconds))]
        if self._recognised is not None:
            self._recognised.keep(number, answer)

    def _keep(self, number: int, answer: dict[str, Any]) -> None:
        self._results[number] = answer
        self._source.pages[:2] = len(self._results), self.number
        self._size += sum(len(item[0]) for flow in answer.get("blocks", ()) for item in flow if isinstance(item, list))
        if self._size > self._source.limit:
            self._stopped = f"the file holds more than {self._source.limit >> 20} MB of text"

    def _count_death(self) -> None:
        self._deaths += 1
        if self._deaths > _MAX_DEATHS:
            self._stopped = f"{_MAX_DEATHS} pages before made their reader fail"


PDF = Format(
    "PDF file", (".pdf",), lambda source, reading: load_pdf(source, reading.readers), untrusted=True, version=8
)
