"""Raised and lowered characters of a PDF's page: "10" and a small, raised "24" are "10^24", as in other formats."""

import re
from collections.abc import Iterator, Sequence
from typing import Any

from kgrag.loaders.inline import OPERATORS, lowered, may_be_note, raised

_SMALLER, _SMALLEST = 0.86, 0.5  # sizes, in that of the character that they hang on
_RISE, _FALL, _MOST = 0.15, -0.08, 0.9  # how far the lines that they stand on differ, in sizes
_DESCENT = 0.22  # sizes, of most fonts: how far their boxes reach below the line
_GAP = 0.3  # sizes between them
_LONGEST = 15  # characters
_NUMBERS = re.compile(r"\d{1,3}(?:[,–-]\d{1,3})*")
_LETTERS = re.compile(r"[^\W\d_]*$")
_UNIT = 2  # letters: "m" and "km" have powers, longer words have notes
_SLASHES = "/⁄∕"

Char = dict[str, Any]


def with_signs(chars: Sequence[Char]) -> list[Char]:
    """Return the characters of a page in the order of the file, raised and lowered ones as text on a line.

    Small marks after a word or a sentence are those of notes: "ship [12]".
    """
    found: list[Char] = []
    place = 0
    before = ""  # the text that the next character goes on
    while place < len(chars):
        char = chars[place]
        base = found[-1] if found else None
        run = list(_run(chars, place, base)) if base is not None else []
        if base is None or not run or len(run) > _LONGEST:
            before = char["text"] if base is None or not _joins(base, char) else (before + char["text"])[-12:]
            found.append(char)
            place += 1
            continue
        place += len(run)
        after = chars[place] if place < len(chars) and _near(run[-1], chars[place], base["size"]) else None
        text = _said(base, before, run, after)
        found.append(
            {**run[-1], "text": text, "x0": run[0]["x0"], "width": run[-1]["x1"] - run[0]["x0"]}
            | {key: base[key] for key in ("top", "bottom", "y0", "y1", "size", "matrix", "fontname")}
        )
        before += text
    return found


def _run(chars: Sequence[Char], place: int, base: Char | None) -> Iterator[Char]:
    """Yield the characters from a place on that hang on the one before them."""
    first, last = chars[place], base
    if base is None or last is None or not _hangs(base, first):
        return
    for char in chars[place:]:
        same = abs(char["size"] - first["size"]) < 0.05 * first["size"] and abs(_y(char) - _y(first)) < 0.5
        if not same or char["text"].isspace() or not _near(last, char, base["size"]):
            return
        yield char
        last = char


def _hangs(base: Char, char: Char) -> bool:
    if not _SMALLEST * base["size"] <= char["size"] < _SMALLER * base["size"] or base["text"].isspace():
        return False
    rise = _rise(base, char)
    upright = char["upright"] and base["upright"] and not char["text"].isspace()
    return bool(upright and (_RISE < rise < _MOST or -_MOST < rise < _FALL) and _near(base, char, base["size"]))


def _said(base: Char, before: str, run: list[Char], after: Char | None) -> str:
    text = "".join(char["text"] for char in run)
    following = after["text"][:1] if after is not None else ""
    if before[-1:] in _SLASHES or not any(map(str.isalnum, text)):
        return text  # the lower part of a fraction; a star or a dagger
    if _rise(base, run[0]) < 0:
        said = lowered(before, text)
        parted = following.isdigit() or (following.islower() if text.isdecimal() else following.isalnum())
    elif following and following in _SLASHES:
        return f" {text}"  # "3 1/2"
    elif (
        (may_be_note(before, text) and following not in OPERATORS)
        or (
            _NUMBERS.fullmatch(text)
            and not before[-1:].isdigit()
            and (
                not before[-1:].isalpha() or len(_LETTERS.search(before)[0]) > _UNIT  # type: ignore[index]
            )
            and before[-1:] not in ")]}"
        )
    ):
        return f" [{text}]"
    else:
        said = raised(before, text)
        parted = following.isalnum() and said[:1] == "^"
    return f"{said} " if parted else said


def _y(char: Char) -> float:
    """Return the height of a character's line, in points from below."""
    return float(char["matrix"][5])


def _rise(base: Char, char: Char) -> float:
    """Return how far a character stands above the line of another, in sizes of that."""
    rise = _y(char) - _y(base)
    if abs(rise) < 0.5 and char["fontname"] == base["fontname"]:  # raised by the operator Ts, which moves its box alone
        rise = char["y0"] - base["y0"] + _DESCENT * (char["size"] - base["size"])
    return rise / float(base["size"])


def _near(one: Char, other: Char, size: float) -> bool:
    return bool(-_GAP * size <= other["x0"] - one["x1"] <= _GAP * size)


def _joins(one: Char, other: Char) -> bool:
    """Return whether a character goes on the word of the one before it."""
    return bool(
        not other["text"].isspace() and abs(_y(one) - _y(other)) < 0.5 and _near(one, other, 0.5 * other["size"])
    )
