"""The sentences of a passage in stems, as one string of the graph: quick to fetch and to look into.

Stems stand between spaces and sentences between bars; a caret follows a word that may be a name: one with a capital
that is neither at the beginning of its sentence nor in the passage's title.
"""

from collections.abc import Sequence
from itertools import pairwise

from kgrag.text import Token

_BAR, _CARET = "|", "^"


def sentences_in_stems(words: Sequence[Token], stems: Sequence[str], title: int) -> str:
    """The sentences of a passage whose words, with their stems, begin with the `title` words of its title."""
    parts = [" "]
    spent = set(stems[:title])
    for i in range(title, len(words)):
        word, stem = words[i], stems[i]
        first = word.starts or i == title
        if first and i > title:
            parts.append(f"{_BAR} ")
        parts.append(f"{stem} ")
        if not first and word.raw[0].isupper() and stem not in spent:
            parts.append(f"{_CARET} ")
    return "".join(parts)


def split_sentences(kept: str) -> list[str]:
    """The sentences of that string, each with its stems between spaces."""
    return kept.split(_BAR)


def names_in(sentence: str) -> list[str]:
    """The stems in a sentence that may be names."""
    stems = sentence.split()
    return [stem for stem, mark in pairwise(stems) if mark == _CARET]
