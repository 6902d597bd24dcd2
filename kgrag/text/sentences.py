"""Sentences of a text by the rules of its language; in stems, as one string of the graph: quick to fetch and look into.

Stems stand between spaces and sentences between bars; a caret follows a word that may be a name: one with a capital
that is neither at the beginning of its sentence nor in the passage's title.
"""

from collections.abc import Iterable, Iterator, Sequence
from itertools import pairwise

from sentencex import segment

from kgrag.text.languages import check_language
from kgrag.text.tokens import Token

_BLOCK = 50_000  # characters that are cut at once: runs of opening quotation marks take time in their square


def sentences(paragraph: str, language: str) -> Iterator[str]:
    """Yield the sentences of a paragraph, stripped, by the rules of a language ("en", "de", ...).

    Where a language has no rules of its own, those of a related one or of English serve ("xx": of several). Raises
    ConfigurationError for a code that names no language.
    """
    check_language(language)
    for start in range(0, len(paragraph), _BLOCK):
        yield from filter(None, map(str.strip, segment(language, paragraph[start : start + _BLOCK])))


_BAR, _CARET = "|", "^"


def join_sentences(words: Sequence[Token], stems: Sequence[str], title: Iterable[str]) -> str:
    """Return the sentences of a text, given its words, the stem of each, and the stems of its title."""
    parts = [" "]
    spent = set(title)
    for i, (word, stem) in enumerate(zip(words, stems, strict=True)):
        first = word.starts or i == 0
        if first and i > 0:
            parts.append(f"{_BAR} ")
        parts.append(f"{stem} ")
        if not first and word.raw[0].isupper() and stem not in spent:
            parts.append(f"{_CARET} ")
    return "".join(parts)


def split_sentences(joined: str) -> list[str]:
    """Return the sentences of a text, each with its stems between spaces."""
    return joined.split(_BAR)


def names_in(sentence: str) -> list[str]:
    """Return the stems in a sentence that may be names."""
    return [stem for stem, mark in pairwise(sentence.split()) if mark == _CARET]
