"""Letter-spaced type of a PDF's page: "A N N U A L  R E P O R T" as it is printed is ANNUAL REPORT as it is read."""

from collections.abc import Iterator, Sequence
from itertools import pairwise
from statistics import median
from typing import Any

_SPACED = 0.08  # sizes that letters of one word stand apart
_EVEN = 0.1  # sizes by which these gaps differ
_WORD = 0.25  # sizes: a word space; without anything wider, letters so far apart are words of one letter
_FEWEST = 3  # gaps that tell
_LETTERS = 5  # of a word by itself

Char = dict[str, Any]


def close_gaps(chars: Sequence[Char]) -> list[Char]:
    """The characters of a page in the order of the file, those of spaced words wide enough to touch the next one."""
    found: list[Char] = []
    for run in _runs(chars):
        found.extend(_closed(run))
    return found


def _runs(chars: Sequence[Char]) -> Iterator[list[Char]]:
    """Stretches of one type and line, from left to right."""
    run: list[Char] = []
    for char in chars:
        if run and not _goes_on(run[-1], char):
            yield run
            run = []
        run.append(char)
    if run:
        yield run


def _goes_on(one: Char, other: Char) -> bool:
    if one["fontname"] != other["fontname"] or abs(one["size"] - other["size"]) > 0.05 * one["size"]:
        return False
    if not (one["upright"] and other["upright"] and abs(one["top"] - other["top"]) < 0.5):
        return False
    return bool(one["x0"] < other["x0"] < one["x1"] + 3 * one["size"])


def _closed(run: list[Char]) -> list[Char]:
    if len(run) <= _FEWEST:
        return run
    size = run[0]["size"]
    pairs = [(a, b) for a, b in pairwise(run) if not (a["text"].isspace() or b["text"].isspace())]
    gaps = sorted(b["x0"] - a["x1"] for a, b in pairs)
    if len(gaps) < _FEWEST or gaps[0] < _SPACED * size:
        return run
    base = median(gaps[: max(_FEWEST, len(gaps) // 2)])
    even = [gap for gap in gaps if gap <= base + _EVEN * size]
    told = len(pairs) < len(run) - 1 or len(even) < len(gaps)  # by spaces, or wider gaps
    if len(even) < max(_FEWEST, len(gaps) / 2):
        return run
    if base > _WORD * size and not told and not _is_word([char["text"] for char in run]):
        return run
    touching = {id(a): b["x0"] for a, b in pairs if b["x0"] - a["x1"] <= base + _EVEN * size}
    return [{**char, "x1": touching[id(char)]} if id(char) in touching else char for char in run]


def _is_word(letters: list[str]) -> bool:
    """Whether single letters are a word: many, and not in the order of the alphabet, as names of things are."""
    return len(letters) >= _LETTERS and all(map(str.isalpha, letters)) and letters != sorted(letters)
