"""Passages as a model is shown them: numbered, in frames that they cannot leave, and harmless."""

import re
from collections.abc import Iterable

from kgrag.values.results import Item, Passage, Summary

_TAG = re.compile(r"[<＜﹤](?=\s*/?\s*(?:passage|text)\b)|<(?=\|)|(?<=\|)>", re.IGNORECASE)
"""What could end the frame around a passage or a text, or is a sign of a chat template."""
_NUMBER = re.compile(r"^([ \t]*)\[(\d+)\]", re.MULTILINE)
_NEXT = re.compile(r"(?<=</passage>)\n\n(?=\[\d+\]\n<passage>)")


def numbered(passages: Iterable[Passage | Item]) -> str:
    """Return passages for a model: numbers from 1, and titles and texts in frames that they cannot leave.

    A path of several passages has one number, and so has a summary.
    """
    return "\n\n".join(f"[{n}]\n{_shown(item)}" for n, item in enumerate(passages, 1))


def framed(text: str) -> str:
    """Return a harmless text between <passage> and </passage>, which the prompts call data, never instructions."""
    return f"<passage>\n{text}\n</passage>"


def harmless(text: str) -> str:
    """Return a text without marks that end its frame, begin another passage, or steer a chat template.

    That is broken up, and can still be read.
    """
    return _NUMBER.sub(r"\1(\2)", _TAG.sub("‹", text))


def titled(*titles: str) -> str:
    """Return titles of a document for a model: harmless, and on one line."""
    return harmless(": ".join(" ".join(title.split()) for title in titles if title))


def passages_in(shown: str) -> list[str]:
    """Return the passages of a text by `numbered`, each with its number; text before the first is part of it."""
    return _NEXT.split(shown)


def fewer(shown: str, letters: int) -> str:
    """Return passages without the last ones, by so many letters shorter if one remains; empty where there is one.

    At least one is left out.
    """
    kept = passages_in(shown)
    if len(kept) == 1:
        return ""
    letters -= len(kept.pop()) + 2
    while len(kept) > 1 and letters > 0:
        letters -= len(kept.pop()) + 2
    return "\n\n".join(kept)


def _shown(item: Passage | Item) -> str:
    path = [item] if isinstance(item, Passage | Summary) else item
    return "\n".join(framed(f"{_heading(p)}{harmless(p.text)}") for p in path)


def _heading(text: Passage | Summary) -> str:
    title = titled("Summary", text.title) if isinstance(text, Summary) else titled(text.title, text.section)
    return f"Title: {title}\n" if title else ""
