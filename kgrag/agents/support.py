"""Whether the passages bear an answer out: its names and numbers stand in them, else it is marked.

Words are compared, so what is marked is not in the passages; what is not marked may still be wrong.
"""

import re
from collections.abc import Iterable, Sequence

from kgrag.text import tokens
from kgrag.types import Item, Passage, Summary

_CITATION = re.compile(r"\[\d+\]")
_NAME = re.compile(r"[^\W\d_][\w'’.-]*(?:\s+(?:(?:of|the|de|di|du|la|le|von|van|der|den|af|al)\s+)*[^\W\d_][\w'’.-]*)+")
_NUMBER = re.compile(r"\d+(?:[.,]\d+)*")
_CHOSEN = frozenset(("yes", "no", "true", "false", "both", "neither", "ja", "nein", "oui", "non", "si", "sí"))
"""Short answers that no passage has to hold."""
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
    """Words in a row that are written with capitals."""
    return [name for name in _NAME.findall(text) if all(w[0].isupper() for w in name.split() if len(w) > _LEAST)]
