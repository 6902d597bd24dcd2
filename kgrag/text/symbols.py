"""Words that hold signs: `$@`, `--flag`, `/var/cache`, `Essential:`. They are searched beside words of letters.

And what else a word may be searched by: the parts of a code, and a number without what parts its thousands.
"""

import re
from collections.abc import Iterator

_ALIKE = str.maketrans({"−": "-", "–": "-", "‐": "-", "‑": "-", "˜": "~", "ˆ": "^", "…": " ", "¶": " "})
_QUOTES = "'\"‘’“”`´«»"
_AROUND = f"{_QUOTES}()[]{{}},;."  # stand around a word in a sentence
_STOPS = ".,;:!?"
_SIGNS = re.compile(r"[^\w\s]+")
_INNER = re.compile(r"\w(?:[$@*#!?&|<>=~^%\\{}\[\]]|::)+\w")
_FIELD = re.compile(r"[A-Z]\w+(?:-\w+)*:")
_DIGITS = re.compile(r"\d\d\d")
_NO_DIGIT = re.compile(r"\D")
_BEFORE = r"(?<![\w.,])(?<!\d )"  # a number that is not the rest of another
_SPACED = rf"{_BEFORE}\d{{1,3}}(?:[\u00a0\u2009\u202f'’]\d{{3}})+(?!\d)|{_BEFORE}\d{{1,3}} \d{{3}}(?! ?\d)"
_THOUSANDS = re.compile(rf"(?<![\w.,])\d{{1,3}}(?:,\d{{3}})+(?![\d,])|{_SPACED}")
_POINTED_THOUSANDS = re.compile(rf"(?<![\w.,])\d{{1,3}}(?:\.\d{{3}})+(?![\d.]\d?)|{_SPACED}")
_POINTED = frozenset("ca da de el es eu gl hr id is it lb mk nb nl nn no pt ro sl sr tr vi".split())
"""Languages that part thousands by a point."""
_CODE = re.compile(r"(?<![^\W_])(?=[A-Za-z]*\d+[A-Za-z]|[A-Za-z]+\d)(?=[A-Za-z0-9]*\d{3})[A-Za-z0-9]{4,20}(?![^\W_])")
_CODE_BEGIN = re.compile(r"[a-z]+\d{3,}(?=[a-z])")
_CODE_END = re.compile(r"(?<=[a-z])\d{3,}[a-z]+")
_PUNCTUATION = frozenset("- -- — . , ; : ( ) [ ] | • · .. ... /".split())
_LONGEST = 40  # characters; what is longer is an address or a line of code


def symbols(text: str, language: str = "en") -> list[str]:
    """Return the words of a text with meaningful signs, each once, without the quotes and brackets around them.

    Of `&>word` the signs count by themselves, too; dashes are hyphens. `1,000` is 1000 as well, and so is 1.000 where
    the `language` writes it so. A code is there with its parts, marked: "M5799DWF" is "~m5799dwf" and "~m5799".
    """
    found: dict[str, None] = {}
    if _DIGITS.search(text) is not None:
        found = dict.fromkeys([*_numbers(text, language), *_codes(text)])
    for raw in text.translate(_ALIKE).split():
        if raw.isalnum():
            continue
        for word in _meanings(raw):
            if word not in _PUNCTUATION and len(word) <= _LONGEST:
                found.setdefault(word)
    return list(found)


def _numbers(text: str, language: str) -> Iterator[str]:
    pattern = _POINTED_THOUSANDS if language in _POINTED else _THOUSANDS
    return (_NO_DIGIT.sub("", match[0]) for match in pattern.finditer(text))


def _codes(text: str) -> Iterator[str]:
    for match in _CODE.finditer(text):
        word = match[0].lower()
        if not word.isdigit():
            yield from (f"~{part}" for part in (word, *_CODE_BEGIN.findall(word), *_CODE_END.findall(word)))


def _meanings(raw: str) -> list[str]:
    word = raw.strip(_QUOTES)
    if not any(c.isalnum() for c in word):
        bare = word.strip("()" + _QUOTES).rstrip(",;." + _QUOTES) or word.rstrip(_STOPS)
        return [w for w in (bare, bare.rstrip(_STOPS) if len(bare) > 2 else "") if w]
    if _FIELD.fullmatch(word):
        return [word]
    word = word.rstrip(_STOPS + _QUOTES).strip(_AROUND).rstrip(_STOPS + _QUOTES)
    if len(word) > 2 and word[0] in "/~":
        word = word.rstrip("/")
    signs = _SIGNS.match(word)
    if signs is not None:
        return [word] if len(signs[0]) == 1 or word[0] in "/~" else [word, signs[0]]
    return [word] if _INNER.search(word) or word.endswith(("+", "*", "=", "#")) else []
