"""Documents -> passages: bounded in tokens, cut between sentences, never across a document."""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from typing import Any

from kgrag.settings import IndexingSettings
from kgrag.types import Document

_CJK = "\u3040-\u30ff\u3400-\u9fff\uf900-\ufaff"
_TOKEN = re.compile(rf"[{_CJK}]|[^\W{_CJK}]{{1,24}}|[^\w\s]")
_PARAGRAPH = re.compile(r"\n\s*\n")
_BLOCK = 50_000  # characters that spaCy is given at once; its memory grows with the text


@dataclass(frozen=True, slots=True)
class Chunk:
    """The text of a passage and the path of headings that it begins under."""

    text: str
    section: str
    tokens: int


def count_tokens(text: str) -> int:
    """Tokens of `text`: words (long ones count for several), punctuation marks, and single CJK characters."""
    return sum(1 for _ in _TOKEN.finditer(text))


def chunk(document: Document, settings: IndexingSettings) -> list[Chunk]:
    """Cut a document into chunks: one if it has at most `whole_tokens`, else of at most `passage_tokens` each.

    Sections are kept apart unless several fit into one chunk together; a sentence is cut only if it is too long alone.
    """
    pieces = [(s.heading, s.text.strip()) for s in document.sections if s.text.strip()]
    if not pieces:
        return []
    several = len(pieces) > 1
    whole = "\n\n".join(_under_heading(heading, text, several) for heading, text in pieces)
    size = count_tokens(whole)
    if size <= settings.whole_tokens:
        return [Chunk(whole, pieces[0][0] if not several else "", size)]
    chunks: list[Chunk] = []
    for heading, text in pieces:
        text = _under_heading(heading, text, several)
        size = count_tokens(text)
        last = chunks[-1] if chunks else None
        if last is not None and last.tokens + size <= settings.passage_tokens:
            chunks[-1] = Chunk(f"{last.text}\n\n{text}", last.section, last.tokens + size)
        elif size <= settings.passage_tokens:
            chunks.append(Chunk(text, heading, size))
        else:
            chunks.extend(Chunk(part, heading, tokens) for part, tokens in _pack(text, settings.passage_tokens))
    return chunks


def _under_heading(heading: str, text: str, several: bool) -> str:
    return f"{heading.rsplit(' > ', 1)[-1]}\n\n{text}" if heading and several else text


def _pack(text: str, limit: int) -> Iterator[tuple[str, int]]:
    """Fill passages with sentences; a paragraph's end is kept as a blank line."""
    parts: list[str] = []
    size = 0
    for paragraph in _PARAGRAPH.split(text):
        joint = "\n\n"
        for sentence in _sentences(paragraph.strip()):
            for piece in _cut(sentence, limit):
                tokens = count_tokens(piece)
                if parts and size + tokens > limit:
                    yield "".join(parts), size
                    parts, size = [], 0
                parts.append((joint if parts else "") + piece)
                size += tokens
                joint = " "
    if parts:
        yield "".join(parts), size


def _sentences(paragraph: str) -> Iterator[str]:
    for start in range(0, len(paragraph), _BLOCK):
        for sentence in _sentencizer()(paragraph[start : start + _BLOCK]).sents:
            text = sentence.text.strip()
            if text:
                yield text


def _cut(sentence: str, limit: int) -> Iterator[str]:
    """A sentence in pieces of at most `limit` tokens."""
    starts = [match.start() for match in _TOKEN.finditer(sentence)]
    if len(starts) <= limit:
        yield sentence
        return
    for i in range(0, len(starts), limit):
        end = starts[i + limit] if i + limit < len(starts) else len(sentence)
        yield sentence[starts[i] : end].strip()


@cache
def _sentencizer() -> Any:
    import spacy  # takes a second to import, and short documents never need it

    pipeline = spacy.blank("en")
    pipeline.add_pipe("sentencizer")
    return pipeline
