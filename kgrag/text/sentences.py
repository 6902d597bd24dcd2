"""The sentences of a passage in stems, as one string of the graph: quick to fetch and to look into.

Stems stand between spaces and sentences between bars; a caret follows a word that may be a name: one with a capital
that is neither at the beginning of its sentence nor in the passage's title.
"""

from collections.abc import Iterable, Sequence
from itertools import pairwise

from kgrag.text.tokens import Token

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


def split_sentences(kept: str) -> list[str]:
    """Return the sentences of a text, each with its stems between spaces."""
    return kept.split(_BAR)


def names_in(sentence: str) -> list[str]:
    """Return the stems in a sentence that may be names."""
    return [stem for stem, mark in pairwise(sentence.split()) if mark == _CARET]
