"""Documents -> passages: bounded in tokens, cut between sentences, never across a document."""

import re
from bisect import bisect_right
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise

from kgrag.settings import IndexingSettings
from kgrag.text.sentences import sentence_spans
from kgrag.values.documents import Document, Section, Table

_CJK = "\u3040-\u30ff\u3400-\u9fff\uf900-\ufaff"
_TOKEN = re.compile(rf"[{_CJK}]|[^\W{_CJK}]{{1,24}}|[^\w\s]")
_LONGEST_LABEL = 60  # characters
_PARAGRAPH = re.compile(r"\n\s*\n")


DESCRIPTION = "[Description of the picture]"
"""The start of a passage that a model has written, behind the caption."""


@dataclass(frozen=True, slots=True)
class Chunk:
    """The text of a passage, the headings above it, its pages, and the number of its table or figure, if any."""

    text: str
    section: str
    tokens: int
    page: int | None = None
    last_page: int | None = None
    table: int | None = None
    figure: int | None = None


def count_tokens(text: str) -> int:
    """Count the tokens of `text`.

    Words (long ones count several times), punctuation marks, and single CJK characters.
    """
    return len(_TOKEN.findall(text))


def chunk(document: Document, settings: IndexingSettings) -> list[Chunk]:
    """Split a document into one chunk of at most `whole_tokens`, or else chunks of at most `passage_tokens` each.

    Short sections share a chunk if they fit. A sentence is split only if it is too long alone. With `unit=sentence`
    each sentence is a chunk. Tables come after the text, by rows, and then the descriptions of figures.
    """
    cut = _sentence_chunks if settings.unit == "sentence" else _text_chunks
    limit = settings.passage_tokens
    return [*cut(document, settings), *table_chunks(document, limit), *figure_chunks(document, limit)]


def _sentence_chunks(document: Document, settings: IndexingSettings) -> Iterator[Chunk]:
    """Yield each sentence alone; its heading is no part of its text (KGP, appendix A.1.1)."""
    for section in document.sections:
        pages = _Pages(section, several=False)
        for paragraph in _PARAGRAPH.split(section.text):
            for start, end, tokens in _sentences(paragraph, settings.passage_tokens, settings.language or "en"):
                sentence = paragraph[start:end]
                yield Chunk(sentence, section.heading, tokens, *pages.of(sentence))


def _text_chunks(document: Document, settings: IndexingSettings) -> list[Chunk]:
    pieces = [s for s in document.sections if s.text.strip()]
    if not pieces:
        return []
    several = len(pieces) > 1
    whole = "\n\n".join(_under_heading(s, several) for s in pieces)
    size = count_tokens(whole)
    if size <= settings.whole_tokens:
        first, last = _Pages(pieces[0], several).whole(), _Pages(pieces[-1], several).whole()
        return [Chunk(whole, pieces[0].heading if not several else "", size, first[0], last[1])]
    chunks: list[Chunk] = []
    for section in pieces:
        text = _under_heading(section, several)
        size = count_tokens(text)
        pages = _Pages(section, several)
        last_chunk = chunks[-1] if chunks else None
        if last_chunk is not None and last_chunk.tokens + size <= settings.passage_tokens:
            joined = f"{last_chunk.text}\n\n{text}"
            size += last_chunk.tokens
            chunks[-1] = Chunk(joined, last_chunk.section, size, last_chunk.page, pages.whole()[1])
        elif size <= settings.passage_tokens:
            chunks.append(Chunk(text, section.heading, size, *pages.whole()))
        else:
            for part, tokens in _pack(text, settings.passage_tokens, settings.language or "en"):
                chunks.append(Chunk(part, section.heading, tokens, *pages.of(part)))
    return chunks


class _Pages:
    """Finds the pages of the parts of a section, which must be asked for in order."""

    def __init__(self, section: Section, several: bool) -> None:
        text, breaks = section.text, section.breaks
        self._numbers = [number for _, number in breaks]
        self._at = 0  # characters that are not white space: the only ones that parts have in common with the text
        self._starts: list[int] = []
        before = _size(_under_heading(section, several)) - _size(text) if breaks else 0
        for (start, _), (end, _) in pairwise([*breaks, (len(text), 0)]):
            self._starts.append(before)
            before += _size(text[start:end])

    def whole(self) -> tuple[int | None, int | None]:
        """Return the first and the last page of the section."""
        return (self._numbers[0], self._numbers[-1]) if self._numbers else (None, None)

    def of(self, part: str) -> tuple[int | None, int | None]:
        """Return the first and the last page of the next part of the text. White space may differ."""
        if not self._numbers:
            return None, None
        first = bisect_right(self._starts, self._at) - 1
        self._at += _size(part)
        last = bisect_right(self._starts, self._at - 1) - 1
        return self._numbers[max(0, first)], self._numbers[max(0, first, last)]


def _size(text: str) -> int:
    """Count the characters that are not white space."""
    return len("".join(text.split()))


def table_chunks(document: Document, limit: int) -> Iterator[Chunk]:
    """Yield the rows of each table as text, "Ship: Fram; Launched: 1892.", under its caption, in chunks."""
    for table in document.tables:
        first, last = (table.page, table.last_page) if table.page else (None, None)
        top = [table.caption] if table.caption else []  # "Table 2" would be taken for a name that documents share
        before = count_tokens(table.caption)
        part: list[str] = []
        size = before
        for line in _rows_as_text(table):
            for start, end, tokens in _cut(line, limit):
                if part and size + tokens > limit:
                    yield Chunk("\n".join(top + part), table.caption, size, first, last, table.number)
                    part, size = [], before
                part.append(line[start:end])
                size += tokens
        if part:
            yield Chunk("\n".join(top + part), table.caption, size, first, last, table.number)


def figure_chunks(document: Document, limit: int) -> Iterator[Chunk]:
    """Yield the descriptions of figures by a model, each under its caption."""
    for figure in document.figures:
        for start, end, _ in _cut(figure.description, limit) if figure.description else ():
            text = "\n".join(filter(None, (figure.caption, f"{DESCRIPTION} {figure.description[start:end]}")))
            page = figure.page or None
            yield Chunk(text, figure.caption, count_tokens(text), page, page, figure=figure.number)


def _rows_as_text(table: Table) -> Iterator[str]:
    head, *body = table.rows or ((),)
    if not body and any(head):
        yield "; ".join(filter(None, head)) + "."
    yield from filter(None, (row_text(head, row) for row in body))


def row_text(head: Sequence[str], row: Sequence[str]) -> str:
    """Return a row of a table as text: "Ship: Fram; Launched: 1892." A row of empty cells gives an empty text.

    Without a header the cells stand alone: "Fram; 1892; Larvik." The first of two cells is a label: "Price: 900 kr."
    """
    if not any(head) and len(row) == 2 and all(row) and row[0][-1] not in ".!?" and len(row[0]) <= _LONGEST_LABEL:
        return f"{row[0].rstrip(' :')}: {row[1]}."
    cells = []
    for i, cell in enumerate(row):
        name = head[i].strip(" :") if i < len(head) else ""
        if cell:
            cells.append(f"{name}: {cell}" if name else cell)
    return f"{'; '.join(cells)}." if cells else ""


def _under_heading(section: Section, several: bool) -> str:
    heading, text = section.heading, section.text.strip()
    return f"{heading.rsplit(' > ', 1)[-1]}\n\n{text}" if heading and several else text


def _pack(text: str, limit: int, language: str) -> Iterator[tuple[str, int]]:
    """Yield passages of as many sentences as fit, unchanged, with their tokens."""
    begin = last = size = 0
    for start, end, tokens in _sentences(text, limit, language):
        if size and size + tokens > limit:
            yield text[begin:last], size
            size = 0
        begin = begin if size else start
        last, size = end, size + tokens
    if size:
        yield text[begin:last], size


def _sentences(text: str, limit: int, language: str) -> Iterator[tuple[int, int, int]]:
    """Yield the start, end and tokens of each sentence. A sentence of more than `limit` tokens is split."""
    for start, end in sentence_spans(text, language):
        for first, last, tokens in _cut(text[start:end], limit):
            yield start + first, start + last, tokens


def _cut(sentence: str, limit: int) -> Iterator[tuple[int, int, int]]:
    """Yield the start, end and tokens of pieces of at most `limit` tokens of a sentence."""
    starts = [match.start() for match in _TOKEN.finditer(sentence)]
    for i in range(0, len(starts), limit):
        end = starts[i + limit] if i + limit < len(starts) else len(sentence)
        yield starts[i], starts[i] + len(sentence[starts[i] : end].rstrip()), min(limit, len(starts) - i)
