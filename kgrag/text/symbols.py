"""Words that hold signs: `$@`, `--flag`, `/var/cache`, `Essential:`. They are searched beside words of letters."""

import re

_ALIKE = str.maketrans({"−": "-", "–": "-", "‐": "-", "‑": "-", "˜": "~", "ˆ": "^", "…": " ", "¶": " "})
_QUOTES = "'\"‘’“”`´«»"
_AROUND = f"{_QUOTES}()[]{{}},;."  # stand around a word in a sentence
_STOPS = ".,;:!?"
_SIGNS = re.compile(r"[^\w\s]+")
_INNER = re.compile(r"\w(?:[$@*#!?&|<>=~^%\\{}\[\]]|::)+\w")
_FIELD = re.compile(r"[A-Z]\w+(?:-\w+)*:")
_PUNCTUATION = frozenset("- -- — . , ; : ( ) [ ] | • · .. ... /".split())
_LONGEST = 40  # characters; what is longer is an address or a line of code


def symbols(text: str) -> list[str]:
    """The words of a text that hold signs with a meaning, each once, without the quotes and brackets around them.

    Of `&>word` the signs count by themselves, too; dashes are hyphens.
    """
    found: dict[str, None] = {}
    for raw in text.translate(_ALIKE).split():
        if raw.isalnum():
            continue
        for word in _meanings(raw):
            if word not in _PUNCTUATION and len(word) <= _LONGEST:
                found.setdefault(word)
    return list(found)


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
