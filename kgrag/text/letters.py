"""Letters: equality of names, the differences that a search ignores, and a cache of word forms.

Names are compared by letters, digits and signs (`same_letters`); a search also ignores diacritics (`fold`).
"""

import re
import sys
import tomllib
import unicodedata
from collections.abc import Callable
from functools import cache
from importlib.resources import files
from typing import Generic, TypeVar

K = TypeVar("K")
V = TypeVar("V")

_LONGEST_KEPT = 100  # characters
_NOT_ASCII = re.compile(r"[^\x00-\x7f]+")
_OTHER_FORM = re.compile(r"[\u3000\ufb00-\ufdfb\ufe70-\ufefc\uff01-\uffee]")  # widths, ligatures, Arabic
APOSTROPHES = "\u02b9\u02bb\u02bc\u02be\u02bf\ua78b\ua78c"
"""Letters treated as an apostrophe: the okina of "Hawai\u02bbi", the hamza of "Qur\u02bean"."""
_NOT_SPOKEN = dict.fromkeys(map(ord, f"{APOSTROPHES}\u0640"))  # and the stroke that lengthens Arabic words
_UNSEEN = re.compile("[\u00ad\u2060\ufeff]")  # soft hyphens and word joiners
_DIACRITICS = re.compile(  # marks of Latin, Greek, Cyrillic, Hebrew and Arabic; those of other scripts are letters
    r"[\u0300-\u036f\u0483-\u0487\u0591-\u05bd\u05bf\u05c1\u05c2\u05c4\u05c5\u05c7\u0610-\u061a\u0640\u064b-\u065f\u0670"
    r"\u06d6-\u06dc\u06df-\u06e4\u06e7\u06e8\u06ea-\u06ed\u1ab0-\u1aff\u1dc0-\u1dff\u20d0-\u20ff\ufe20-\ufe2f]"
)
_OTHER_DIGIT = re.compile(r"(?![0-9])\d")  # digits of Arabic, Devanagari and other scripts
_LATIN = ((0xC0, 0x24F), (0x250, 0x2AF), (0x1D00, 0x1D7F), (0x1E00, 0x1EFF), (0x2C60, 0x2C7F), (0xA720, 0xA7FF))
"""The blocks of Unicode with Latin letters beyond ASCII."""
_LATIN_NAME = re.compile(
    r"LATIN (SMALL|CAPITAL) (?:LETTER|LIGATURE)(?: (?:DOTLESS|LONG|INSULAR|SIDEWAYS))? ([A-Z]{1,2})"
    r"(?: WITH .*| DIGRAPH)?"
)
_CALLED = {  # letters whose Unicode names do not contain their ASCII letters
    "ð": "d", "Ð": "D", "þ": "th", "Þ": "TH", "ß": "ss", "ẞ": "SS", "ŋ": "n", "Ŋ": "N", "ĸ": "q", "ə": "a", "Ə": "A",
    "™": " ", "®": " ", "©": " ", "℠": " ",
    **dict.fromkeys(APOSTROPHES, ""),
}  # fmt: skip

HANGUL = "\u1100-\u11ff\u3130-\u318f\ua960-\ua97f\uac00-\ud7ff"
"""Korean letters, as ranges within brackets of a pattern: nouns carry particles without a space."""
UNSPACED = (
    "\u0e01-\u0e30\u0e32\u0e33\u0e40-\u0e46\u0e81-\u0eb0\u0eb2\u0eb3\u0ebd-\u0ec6\u0edc-\u0edf"  # Thai, Lao
    "\u1000-\u102a\u103f\u1050-\u1055\u1780-\u17b3\u17d7"  # Burmese, Khmer
    "\u3005-\u3007\u3031-\u3035\u3041-\u3096\u309d-\u309f\u30a1-\u30ff\u3105-\u312f\u31a0-\u31bf\u31f0-\u31ff"
    f"\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\U00020000-\U0003fffd{HANGUL}"
)
"""Letters of scripts without spaces between words, and of Korean, as ranges within brackets of a pattern.

Source: Unicode Standard Annex 29, which finds no words in them without a dictionary.
"""
CASELESS = "\u0590-\u109f\u1200-\u139f\u1400-\u1c7f\ua000-\ua63f\ua800-\uab2f\uabc0-\uabff"
"""Other scripts without capitals, such as Arabic, Hebrew and Devanagari, as ranges within brackets of a pattern."""


def word_lists(package: str) -> dict[str, frozenset[str]]:
    """Return the lists of words in the file `words.toml` of a package, by name."""
    lists = tomllib.loads(files(package).joinpath("words.toml").read_text(encoding="utf-8"))
    return {name: frozenset(words.split()) for name, words in lists.items()}


class Memo(dict[K, V], Generic[K, V]):
    """A cache of a function's results by argument, read without a call; emptied at its limit.

    Long strings are never cached, since a text without spaces is one word.
    """

    def __init__(self, make: Callable[[K], V], most: int = 1 << 16) -> None:
        super().__init__()
        self._make = make
        self._most = most

    def __missing__(self, key: K) -> V:
        value = self._make(key)
        if not isinstance(key, str) or len(key) <= _LONGEST_KEPT:
            if len(self) >= self._most:
                self.clear()
            self[key] = value
        return value


def same_letters(text: str) -> str:
    """Return `text` with a single form of each letter and sign.

    Letters are composed (NFC) and of the usual width ("ＡＢ" -> "AB"), and ligatures are split. Letters that only look
    alike stay; soft hyphens are removed. Source: Unicode Standard Annex 15.
    """
    if text.isascii():
        return text
    if _UNSEEN.search(text) is not None:
        text = _UNSEEN.sub("", text)
    if _OTHER_FORM.search(text) is not None:
        text = _OTHER_FORM.sub(lambda match: unicodedata.normalize("NFKC", match[0]), text)
    return text if unicodedata.is_normalized("NFC", text) else unicodedata.normalize("NFC", text)


def fold(text: str, exceptions: str = "") -> str:
    """Return `text` without diacritics ("Tromsø" -> "Tromso", "Cœur" -> "Coeur"), except on the letters `exceptions`.

    Digits of other scripts become ASCII digits ("३" -> "3"). Marks stay in scripts where they are letters
    ("パリ", "हिन्दी").
    """
    if text.isascii():
        return text
    without = _folding(exceptions)
    folded = _NOT_ASCII.sub(lambda run: without[run[0]], text)
    return folded if folded.isascii() else unicodedata.normalize("NFC", folded)


@cache
def _folding(exceptions: str) -> Memo[str, str]:
    if not exceptions:
        return Memo(_without_marks)
    letter = re.compile(f"([{exceptions}])")

    def folded(text: str) -> str:
        parts = letter.split(unicodedata.normalize("NFC", text))
        return "".join([part if i % 2 else _without_marks(part) for i, part in enumerate(parts)])

    return Memo(folded)


def _without_marks(text: str) -> str:
    plain = _DIACRITICS.sub("", unicodedata.normalize("NFKD", text.translate(_latin())))
    plain = _OTHER_DIGIT.sub(lambda digit: str(unicodedata.digit(digit[0])), plain)
    return plain.translate(_latin())  # again, since "ǿ" without its accent is "ø"


@cache
def _latin() -> dict[int, str]:
    """Return the ASCII letters for Latin letters without a decomposition, derived from their Unicode names."""
    table = {ord(letter): plain for letter, plain in _CALLED.items()}
    for first, last in _LATIN:
        for code in range(first, last + 1):
            if code not in table and not unicodedata.decomposition(chr(code)):
                match = _LATIN_NAME.fullmatch(unicodedata.name(chr(code), ""))
                if match is not None:
                    table[code] = match[2] if match[1] == "CAPITAL" else match[2].lower()
    return table


# The rule for equality of names, word by word; docs/SCHEMA.md documents it.
#
# Names are compared by their letters with marks, their digits, and their distinguishing signs. Case, width, and the
# composition of letters are ignored, and so are quotation marks, brackets, and points or apostrophes between letters.
# Hyphens of all kinds separate words.


_HYPHENS = str.maketrans({"−": "-", "–": "-", "‐": "-", "‑": "-"})
_NUMBERS = ".'’"
"""Signs within a word that count next to a digit: "1.5" is not "15"."""
_CURRENCIES = "".join(c for c in map(chr, range(0x24, 0x20D0)) if unicodedata.category(c) == "Sc")
_AFTER = f"+−#%‰*°′″§♯♭&{_CURRENCIES}⁺⁻₊₋±"
"""Signs that belong to the word before them: "C++", "C#", "5%", "Na⁺"."""
_BEFORE = f"+&@§°×{_CURRENCIES}"
"""Signs that belong to the word after them: "€5", "@home"."""
_BEFORE_NUMBERS = f"-#<>≤≥~±≈=¬{_BEFORE}"
_BETWEEN_NUMBERS = "-,/:'’×=^·"
"""Signs that separate two numbers and count: "1/2" is neither "1 2" nor "12"."""
_ALONE = "+&×"
"""Signs between two words that also count with space around them."""
JOINING = frozenset(_ALONE)
"""Signs that join two words into one name, with or without space around them: "Simon & Garfunkel"."""
_SIGNS = "".join({*_AFTER, *_BEFORE_NUMBERS, *_BETWEEN_NUMBERS} - {"'", "’", "."})
_TRAILING = re.compile(f"[{re.escape(_BEFORE_NUMBERS)}]+$")
_LEADING = re.compile(f"[{re.escape(_AFTER)}]+")
_FINAL = re.compile(f"[{re.escape(_AFTER)}]+-?|[-‐‑](?=$)")
_POSSESSIVE = re.compile(r"(?<=\w)(?:'s|\*+)$")


def identity(word: str) -> str:
    """Return the form of a word in names, without the signs around it: case-folded, with marks, "1.5" with its point.

    `word`: composed, of the usual width (`same_letters`). A possessive 's is part of it ("st john's").
    """
    word = unicodedata.normalize("NFC", word.casefold())
    if not word.isascii():
        word = word.translate(_NOT_SPOKEN)
    if word.isalpha():
        return word
    own = word[-2:] in ("'s", "’s", "‘s")
    base = _without_signs(word[:-2] if own else word)
    return f"{base}'s" if own else base


def searched(word: str) -> str:
    """Return the letters, marks and digits, and the points of numbers, of a folded word in lower case."""
    points = {i for i in range(1, len(word) - 1) if word[i] == "." and (word[i - 1] + word[i + 1]).isdigit()}
    return "".join([c for i, c in enumerate(word) if _is_letter(c) or i in points])


def _without_signs(word: str) -> str:
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


def is_number(word: str) -> bool:
    """Return whether a word consists of digits and points between them."""
    return word.replace(".", "").isdigit()


def is_plain(word: str) -> bool:
    """Return whether a word of a name consists of letters, so that its stem may replace it."""
    return all(map(_is_letter, word.removesuffix("'s"))) and not any(map(str.isdigit, word))


def without_possessive(name: str) -> str:
    """Return a name without a trailing 's or asterisk: "scott's" -> "scott"."""
    return _POSSESSIVE.sub("", name)


def signs_of(name: str) -> str:
    """Return the distinguishing signs of a name; the sign of "AT&T" may be omitted and is not one."""
    return "".join([c for c in name if c in _SIGNS and c != "&"])


def signs_around(name: str) -> tuple[str, str]:
    """Return the signs before and after the word of a name: "C++" has "" and "++"."""
    bare = name.lstrip(_SIGNS)
    return name[: len(name) - len(bare)], bare[len(bare.rstrip(_SIGNS)) :]


def sign_between(one: str, gap: str, other: str) -> str:
    """Return the sign between two numbers, or between words that end and begin with a digit."""
    if len(gap) == 1 and one[-1].isdigit() and other[0].isdigit():
        sign = gap.translate(_HYPHENS)
        return sign if sign in _BETWEEN_NUMBERS else ""
    return ""


def joins(gap: str) -> bool:
    """Return whether a sign between two words makes them one name: "Simon & Garfunkel", "AT&T"."""
    return gap.strip() in JOINING


def signs_after(gap: str, ends: bool = False) -> str:
    """Return the signs at the beginning of a gap that belong to the word before it; `ends`: the text ends there."""
    return _AFTERS[gap, ends]


def signs_before(gap: str, number: bool, first: bool) -> str:
    """Return the signs at the end of a gap that belong to the next word, which may be a `number` or the `first` one."""
    return _BEFORES[gap, number, first]


def _signs_after(key: tuple[str, bool]) -> str:
    gap, ends = key
    match = (_FINAL if ends else _LEADING).match(gap)
    if match is None or (not ends and match.end() == len(gap)):
        return ""  # the sign joins two words: "AT&T"
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
    codes = {i for i in range(0x300, sys.maxunicode + 1) if unicodedata.category(chr(i))[0] == "M"}
    starts, ends = sorted(i for i in codes if i - 1 not in codes), sorted(i for i in codes if i + 1 not in codes)
    return "".join([f"{chr(a)}-{chr(b)}" for a, b in zip(starts, ends, strict=True)])
