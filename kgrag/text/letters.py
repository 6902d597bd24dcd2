"""Letters: what makes two spellings one name, what a search looks past, and a cache of what is worked out of each word.

A name is known by its letters, digits and signs (`same_letters`); a search looks past diacritics, too (`fold`).
"""

import re
import unicodedata
from collections.abc import Callable
from functools import cache
from typing import Generic, TypeVar

K = TypeVar("K")
V = TypeVar("V")

_LONGEST_KEPT = 100  # characters
_NOT_ASCII = re.compile(r"[^\x00-\x7f]+")
_OTHER_FORM = re.compile(r"[\u3000\ufb00-\ufdfb\ufe70-\ufefc\uff01-\uffee]")  # widths, ligatures, Arabic
_DIACRITICS = re.compile(  # of Latin, Greek, Cyrillic, Hebrew and Arabic; marks of other scripts are letters
    r"[\u0300-\u036f\u0483-\u0487\u0591-\u05bd\u05bf\u05c1\u05c2\u05c4\u05c5\u05c7\u0610-\u061a\u064b-\u065f\u0670"
    r"\u06d6-\u06dc\u06df-\u06e4\u06e7\u06e8\u06ea-\u06ed\u1ab0-\u1aff\u1dc0-\u1dff\u20d0-\u20ff\ufe20-\ufe2f]"
)
_LATIN = ((0xC0, 0x24F), (0x250, 0x2AF), (0x1D00, 0x1D7F), (0x1E00, 0x1EFF), (0x2C60, 0x2C7F), (0xA720, 0xA7FF))
"""The blocks of Unicode with Latin letters beyond ASCII."""
_LATIN_NAME = re.compile(
    r"LATIN (SMALL|CAPITAL) (?:LETTER|LIGATURE)(?: (?:DOTLESS|LONG|INSULAR|SIDEWAYS))? ([A-Z]{1,2})"
    r"(?: WITH .*| DIGRAPH)?"
)
_CALLED = {  # letters whose names do not say which others stand for them in ASCII
    "ð": "d", "Ð": "D", "þ": "th", "Þ": "TH", "ß": "ss", "ẞ": "SS", "ŋ": "n", "Ŋ": "N", "ĸ": "q", "ə": "a", "Ə": "A",
    "™": " ", "®": " ", "©": " ", "℠": " ",
}  # fmt: skip


class Memo(dict[K, V], Generic[K, V]):
    """What a function gives for each argument, looked up without a call; emptied when it holds too much.

    A long string is made again each time: text without spaces is one word.
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
    """Return `text` with each letter and sign in one form.

    Composed (NFC), of the usual width ("ＡＢ" -> "AB"), no ligature.

    Letters that only look alike stay what they are. Source: Unicode Standard Annex 15.
    """
    if text.isascii():
        return text
    if _OTHER_FORM.search(text) is not None:
        text = _OTHER_FORM.sub(lambda match: unicodedata.normalize("NFKC", match[0]), text)
    return text if unicodedata.is_normalized("NFC", text) else unicodedata.normalize("NFC", text)


def fold(text: str, kept: str = "") -> str:
    """Return `text` without diacritics ("Tromsø" -> "Tromso", "Cœur" -> "Coeur"), but for the letters `kept`.

    Marks of scripts in which they are letters stay ("パリ", "हिन्दी").
    """
    if text.isascii():
        return text
    without = _folding(kept)
    folded = _NOT_ASCII.sub(lambda run: without[run[0]], text)
    return folded if folded.isascii() else unicodedata.normalize("NFC", folded)


@cache
def _folding(kept: str) -> Memo[str, str]:
    if not kept:
        return Memo(_without_marks)
    letter = re.compile(f"([{kept}])")

    def folded(text: str) -> str:
        parts = letter.split(unicodedata.normalize("NFC", text))
        return "".join([part if i % 2 else _without_marks(part) for i, part in enumerate(parts)])

    return Memo(folded)


def _without_marks(text: str) -> str:
    plain = _DIACRITICS.sub("", unicodedata.normalize("NFKD", text.translate(_latin())))
    return plain.translate(_latin())  # of "ǿ" the "ø" is left


@cache
def _latin() -> dict[int, str]:
    """Return Latin letters without a decomposition -> ASCII letters, by Unicode's names of letters."""
    table = {ord(letter): plain for letter, plain in _CALLED.items()}
    for first, last in _LATIN:
        for code in range(first, last + 1):
            if code not in table and not unicodedata.decomposition(chr(code)):
                match = _LATIN_NAME.fullmatch(unicodedata.name(chr(code), ""))
                if match is not None:
                    table[code] = match[2] if match[1] == "CAPITAL" else match[2].lower()
    return table
