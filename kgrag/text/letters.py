"""Letters in one form: without diacritics. And a cache of what is worked out of each word."""

import re
import unicodedata
from collections.abc import Callable
from functools import cache
from typing import Generic, TypeVar

K = TypeVar("K")
V = TypeVar("V")

_LONGEST_KEPT = 100  # characters
_NOT_ASCII = re.compile(r"[^\x00-\x7f]+")
_UNDECOMPOSED = str.maketrans({"ø": "o", "Ø": "O", "ł": "l", "Ł": "L", "đ": "d", "Đ": "D", "ı": "i", "ß": "ss"})


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


def fold(text: str, kept: str = "") -> str:
    """`text` without diacritics ("Tromsø" -> "Tromso"), but for the letters `kept`."""
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
    decomposed = unicodedata.normalize("NFKD", text.translate(_UNDECOMPOSED))
    return "".join([c for c in decomposed if not unicodedata.combining(c)])
