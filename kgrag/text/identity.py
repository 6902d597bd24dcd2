"""What makes two names one: the rule, a word at a time. docs/SCHEMA.md has it on a page.

A name is known by its letters with their marks, its digits, and the signs that tell things apart; case, width, and the
composition of letters do not count, neither do quotation marks, brackets, and points or apostrophes between letters.
Hyphens part words, whichever they are.
"""

import re
import sys
import unicodedata
from functools import cache

from kgrag.text.letters import Memo

_HYPHENS = str.maketrans({"−": "-", "–": "-", "‐": "-", "‑": "-"})
_NUMBERS = ".'’"
"""What within a word counts beside a digit: "1.5" is not "15"."""
_CURRENCIES = "".join(c for c in map(chr, range(0x24, 0x20D0)) if unicodedata.category(c) == "Sc")
_AFTER = f"+−#%‰*°′″§♯♭&{_CURRENCIES}⁺⁻₊₋±"
"""Signs that belong to the word before them: "C++", "C#", "5%", "Na⁺"."""
_BEFORE = f"+&@§°×{_CURRENCIES}"
"""Signs that belong to the word after them: "€5", "@home"."""
_BEFORE_NUMBERS = f"-#<>≤≥~±≈=¬{_BEFORE}"
_BETWEEN_NUMBERS = "-,/:'’×=^·"
"""Signs that part two numbers, and count: "1/2" is neither "1 2" nor "12"."""
_ALONE = "+&×"
"""Signs between two words that count with space around them, too."""
_SIGNS = "".join({*_AFTER, *_BEFORE_NUMBERS, *_BETWEEN_NUMBERS} - {"'", "’", "."})
_TRAILING = re.compile(f"[{re.escape(_BEFORE_NUMBERS)}]+$")
_LEADING = re.compile(f"[{re.escape(_AFTER)}]+")
_FINAL = re.compile(f"[{re.escape(_AFTER)}]+-?|[-‐‑](?=$)")
_POSSESSIVE = re.compile(r"(?<=\w)(?:'s|\*+)$")


def identity(word: str) -> str:
    """Return a word in its form in names, without the signs around it: in one case, with marks, "1.5" with its point.

    `word`: composed, of the usual width (`same_letters`). A possessive 's belongs to it ("st john's").
    """
    word = unicodedata.normalize("NFC", word.casefold())
    if word.isalpha():
        return word
    own = word[-2:] in ("'s", "’s")
    kept = _kept(word[:-2] if own else word)
    return f"{kept}'s" if own else kept


def searched(word: str) -> str:
    """Return the letters, marks and digits, and the points of numbers, of a folded word in lower case."""
    return "".join([c for i, c in enumerate(word) if _is_letter(c) or (c == "." and _between_digits(word, i))])


def _kept(word: str) -> str:
    return "".join(
        [
            c
            for i, c in enumerate(word)
            if _is_letter(c) or (c in _NUMBERS and _beside_digit(word, i)) or (c == "_" and 0 < i < len(word) - 1)
        ]
    ).replace("’", "'")


def _is_letter(c: str) -> bool:
    return c.isalnum() or unicodedata.category(c)[0] == "M"


def _beside_digit(word: str, place: int) -> bool:
    return word[place - 1 : place].isdigit() or word[place + 1 : place + 2].isdigit()


def _between_digits(word: str, place: int) -> bool:
    return word[place - 1 : place].isdigit() and word[place + 1 : place + 2].isdigit()


def is_number(word: str) -> bool:
    """Return whether a word is digits, and points between them."""
    return word.replace(".", "").isdigit()


def is_plain(word: str) -> bool:
    """Return whether a word of a name is letters alone, of which a stem may stand for it."""
    return all(map(_is_letter, word.removesuffix("'s"))) and not any(map(str.isdigit, word))


def without_possessive(name: str) -> str:
    """Return a name without a 's, or an asterisk, behind it: "scott's" -> "scott"."""
    return _POSSESSIVE.sub("", name)


def signs_of(name: str) -> str:
    """Return the signs of a name that distinguish it; "AT&T" may be written without."""
    return "".join([c for c in name if c in _SIGNS and c != "&"])


def with_signs(name: str, raw: str) -> str:
    """Return how a word is written (`raw`), with the signs that its name has: "C++"."""
    bare = name.lstrip(_SIGNS)
    lead, rest = name[: len(name) - len(bare)], bare.rstrip(_SIGNS)
    own = "'s" if rest.endswith("'s") else ""
    return f"{lead}{raw}{own}{bare[len(rest) :]}"


def sign_between(one: str, gap: str, other: str) -> str:
    """Return the sign that parts two numbers, or parts of words that end and begin on one."""
    if len(gap) == 1 and one[-1].isdigit() and other[0].isdigit():
        sign = gap.translate(_HYPHENS)
        return sign if sign in _BETWEEN_NUMBERS else ""
    return ""


def signs_after(gap: str, ends: bool = False) -> str:
    """Return the signs at the beginning of a gap that belong to the word before it; `ends`: the text ends there."""
    return _AFTERS[gap, ends]


def signs_before(gap: str, number: bool, first: bool) -> str:
    """Return the signs at the end of a gap that belong to the word behind it, a `number`, or the `first` of all."""
    return _BEFORES[gap, number, first]


def _signs_after(key: tuple[str, bool]) -> str:
    gap, ends = key
    match = (_FINAL if ends else _LEADING).match(gap)
    if match is None or (not ends and match.end() == len(gap)):
        return ""  # all of it stands before the next word: "AT&T"
    return match[0].translate(_HYPHENS)


def _signs_before(key: tuple[str, bool, bool]) -> str:
    gap, number, first = key
    gap = gap.translate(_HYPHENS)
    if (core := gap.strip()) and all(c in _ALONE for c in core) and not first:
        return core if gap[0].isspace() or gap == core else ""
    match = _TRAILING.search(gap)
    if match is None:
        return ""
    signs, before = match[0], gap[: match.start()]
    if not number:
        return "".join([c for c in signs if c in _BEFORE])
    apart = (first and not before) or (before != "" and not before[-1].isalnum() and before[-1] not in ")]}")
    return signs if apart or before else "".join([c for c in signs if c != "-"])


_AFTERS: Memo[tuple[str, bool], str] = Memo(_signs_after, 4096)
_BEFORES: Memo[tuple[str, bool, bool], str] = Memo(_signs_before, 4096)


@cache
def marks() -> str:
    """Return all combining marks of Unicode, as ranges within brackets of a pattern."""
    found = {i for i in range(0x300, sys.maxunicode + 1) if unicodedata.category(chr(i))[0] == "M"}
    starts, ends = sorted(i for i in found if i - 1 not in found), sorted(i for i in found if i + 1 not in found)
    return "".join([f"{chr(a)}-{chr(b)}" for a, b in zip(starts, ends, strict=True)])
