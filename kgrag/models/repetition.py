"""Replies that repeat themselves without end, as those of small models do."""

import re

_END = re.compile(r"[.!?,;\]}\n]")
_WINDOW = 600
"""Characters, some 170 tokens: the end of a text that consists of nothing but repetition."""
STEP = 50
"""Characters that a text grows by before it is looked at again."""


def repeats_from(text: str) -> int | None:
    """Where a text begins to say again what it just said, to its end; None: it does not.

    Its last 600 characters are then one piece of at most half that length over and over.
    """
    end = text[-_WINDOW:]
    half = _WINDOW // 2
    if len(end) < _WINDOW or not end.strip():
        return None
    before = end.rfind(end[half:], 0, -1)
    period = half - before
    if before < 0 or end[period:] != end[:-period]:
        return None
    start = len(text) - _WINDOW
    while start and text[start - 1] == text[start - 1 + period]:
        start -= 1
    said_once = start + period  # or a few letters before: what stood before it may end alike
    whole = len(text[:said_once].rstrip())
    end_of_part = _END.search(text, whole - 1)
    return end_of_part.end() if end_of_part and end_of_part.end() < said_once + period else said_once
