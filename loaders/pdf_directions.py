"""Put lines of right-to-left scripts into reading order, since a PDF page yields their letters from left to right."""

import re
import unicodedata

_RIGHT = "\u0590-\u08ff\ufb1d-\ufdff\ufe70-\ufefc"  # Hebrew, Arabic, Syriac and others
RIGHT_TO_LEFT = re.compile(f"[{_RIGHT}]")
_OTHERS = re.compile(rf"(?![{_RIGHT}])[^\W_](?:[^{_RIGHT}]*(?![{_RIGHT}])[^\W_])?")  # left-to-right words, numbers
_NUMBERS = re.compile(r"\d(?:[\d.,:/]*\d)?")
_RUN = re.compile(rf"[{_RIGHT}](?:(?:(?![^\W\d_])[^\n]|[{_RIGHT}])*[{_RIGHT}])?")
_SHAPES = re.compile("[\ufb1d-\ufdff\ufe70-\ufefc]+")  # letter shapes for the start, middle or end of a word
_BRACKETS = str.maketrans("()[]{}«»", ")(][}{»«")
_CLOSING = re.compile(r"[^()\[\]{}«»]*[)\]}»]")


def in_reading_order(text: str) -> str:
    """Return a line in reading order, given its letters from left to right.

    A line runs from right to left if most of its letters do. Positional letter shapes become plain letters.
    Source: Unicode Standard Annex 9; two of its levels suffice for a line of a page.
    """
    letters = len(RIGHT_TO_LEFT.findall(text))
    if not letters:
        return text
    if 2 * letters > sum(map(str.isalpha, text)):
        text = _OTHERS.sub(_turned, text[::-1])
        text = text.translate(_BRACKETS) if _CLOSING.match(text) else text
    else:
        text = _RUN.sub(lambda run: _NUMBERS.sub(_turned, run[0][::-1]), text)
    return _SHAPES.sub(lambda run: unicodedata.normalize("NFKC", run[0]), text)


def _turned(match: re.Match[str]) -> str:
    return match[0][::-1]
