"""Whether the passages bear an answer out: its names and numbers stand in them, else it is marked.

Words are compared, so what is marked is not in the passages; what is not marked may still be wrong.
"""

import re
from collections.abc import Iterable, Sequence

from kgrag.text.languages import ENGLISH
from kgrag.text.tokens import tokens
from kgrag.values.results import Item, Passage, Summary

_CITATION = re.compile(r"\[\d+\]")
_WORD = re.compile(r"[^\W\d_][\w'’-]*")
_BETWEEN = re.compile(r"\s+(?:(?:of|the|de|di|du|la|le|von|van|der|den|af|al)\s+)*")
_NUMBER = re.compile(r"\d+(?:[.,]\d+)*")
_CHOSEN = frozenset(("yes", "no", "true", "false", "both", "neither", "ja", "nein", "oui", "non", "si", "sí"))
"""Short answers that no passage has to hold."""
_ARTICLES = ENGLISH.stop_words | frozenset("der die das ein eine le la les un une el los las".split())
_LEAST = 3
"""Letters of a word that counts."""


def unsupported(text: str, items: Sequence[Item], question: str, *, short: bool) -> tuple[str, ...]:
    """What an answer says that stands neither in what it was read from nor in the question.

    Of a short answer this is all of it, unless one passage, or the question, has each of its words; of a longer one its
    names of several words of which none is there, and its numbers.
    """
    texts = [_words(f"{part.title} {part.text}") for item in items for part in _parts(item)]
    asked = _words(question)
    if short:
        words = [word for word in _words(text) if len(word) >= _LEAST or word.isdigit()]
        bare = not words or set(words) <= _CHOSEN
        return () if bare or any(their | asked >= set(words) for their in texts) else (text,)
    known = asked.union(*texts)
    said = _CITATION.sub("", text)
    doubtful = [name for name in _names(said) if not _words(name) & known]
    doubtful += [number for number in _NUMBER.findall(said) if len(number) > 1 and not _words(number) <= known]
    return tuple(dict.fromkeys(doubtful))


def _parts(item: Item) -> Iterable[Passage | Summary]:
    return [item] if isinstance(item, Summary) else item


def _words(text: str) -> frozenset[str]:
    return frozenset(word.norm for word in tokens(text))


def _names(text: str) -> list[str]:
    """Two words or more in a row that are written with capitals, without an article before them."""
    found: list[str] = []
    row: list[re.Match[str]] = []
    for word in _WORD.finditer(text):
        if not word[0][0].isupper():
            continue
        if row and not _BETWEEN.fullmatch(text, row[-1].end(), word.start()):
            found, row = [*found, _name(text, row)], []
        if row or word[0].lower() not in _ARTICLES:
            row.append(word)
    return [name for name in [*found, _name(text, row)] if " " in name]


def _name(text: str, row: Sequence[re.Match[str]]) -> str:
    return text[row[0].start() : row[-1].end()] if row else ""
