"""The sentences of a passage in stems, as one string of the graph: quick to fetch and to look into.

Stems stand between spaces and sentences between bars; a caret follows a word that may be a name: one with a capital
that is neither at the beginning of its sentence nor in the passage's title.
"""

from itertools import pairwise

from kgrag.text.languages import ENGLISH, Language
from kgrag.text.tokens import stems, text_words, tokens, words_of

_BAR, _CARET = "|", "^"


def passage_sentences(title: str | None, text: str, language: Language = ENGLISH) -> str:
    """The sentences of a passage."""
    parts = [" "]
    spent = set(stems(words_of(title or "", language), language))
    words = tokens(text, language)
    for i, (word, stem) in enumerate(zip(words, stems(text_words(words, language), language), strict=True)):
        first = word.starts or i == 0
        if first and i > 0:
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
    return [stem for stem, mark in pairwise(sentence.split()) if mark == _CARET]
