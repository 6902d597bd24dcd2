"""Replies that repeat themselves without end, as those of small models do."""

import re
import zlib

_END = re.compile(r"[.!?,;\]}\n]")
_WINDOW = 600
"""Characters, some 170 tokens: the end of a text that consists of nothing but repetition."""
_NEAR = 700
"""Characters, some 200 tokens, of a text that repeats itself but for a word or a number."""
_LITTLE = 0.15
STEP = 50
"""Characters that a text grows by before it is looked at again."""


def repeats_from(text: str) -> int | None:
    """Where a text begins to say again what it just said, to its end; None: it does not.

    Its last 600 characters are then one piece of at most half that length over and over. Where its last 700 are so but
    for a word or a number that changes, it is the end of the text: nothing of it is the same.
    """
    end = text[-_WINDOW:]
    half = _WINDOW // 2
    if len(end) < _WINDOW or not end.strip():
        return None
    before = end.rfind(end[half:], 0, -1)
    period = half - before
    if before < 0 or end[period:] != end[:-period]:
        return len(text) if _nearly(text) else None
    start = len(text) - _WINDOW
    while start and text[start - 1] == text[start - 1 + period]:
        start -= 1
    said_once = start + period  # or a few letters before: what stood before it may end alike
    whole = len(text[:said_once].rstrip())
    end_of_part = _END.search(text, whole - 1)
    return end_of_part.end() if end_of_part and end_of_part.end() < said_once + period else said_once


def _nearly(text: str) -> bool:
    """Whether the end of a text says hardly anything new: its letters fit in a seventh of their room.

    Of 4,086 lists of given triples none compressed below .16; sentences that count up come to .15 and less.
    """
    end = text[-_NEAR:]
    return len(end) == _NEAR and len(zlib.compress(end.encode(), 9)) < _LITTLE * len(end.encode())
