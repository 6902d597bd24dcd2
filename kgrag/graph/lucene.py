"""Questions as Lucene queries: every special character is taken literally."""

import re

from kgrag.text.languages import ENGLISH, Language
from kgrag.text.letters import fold
from kgrag.text.tokens import question_stems

_SPECIAL = re.compile(r'[+\-&|!(){}\[\]^"~*?:\\/<>=]')
_OPERATORS = frozenset(("AND", "OR", "NOT"))
_LONGEST = 20_000  # characters of a question
_QUOTED = re.compile(r"[\\\"]")
_EDGES = re.compile(r"^\W+|\W+$")
_ESCAPED = r"\\\g<0>"
TITLE = 0.5
"""What a word of a passage's title counts besides what it counts as one of its text: our own choice, on MuSiQue and
the questions of bench/documents.jsonl."""
_MOST_WORDS = 300  # Lucene allows 1,024 clauses, and each word makes one for every indexed field


def escape(text: str) -> str:
    """Return `text` as a query of plain words, joined by OR; empty without a letter or digit.

    Words are kept once; of a very long text the first 300 different ones count.
    """
    words: dict[str, None] = {}
    for word in _SPECIAL.sub(" ", text).split():
        if any(c.isalnum() for c in word):
            words.setdefault(word.lower() if word in _OPERATORS else word)
            if len(words) == _MOST_WORDS:
                break
    return " ".join(words)


def begun_words(text: str) -> str:
    """Return `text` as a query for names with all its words, the last of which may be incomplete.

    Empty as `escape` is.

    Each may be written with its diacritics or without; an article need not be there.
    """
    words = [_EDGES.sub("", word) for word in escape(text).split()]
    if not words:
        return ""
    *whole, last = words
    begun = dict.fromkeys((last.lower(), fold(last.lower())))
    telling = [dict.fromkeys((word, fold(word))) for word in whole if word.lower() not in ENGLISH.articles]
    ways = [*(" ".join(f'"{way}"' for way in word) for word in telling), f'"{last}" {" ".join(f"{w}*" for w in begun)}']
    return " ".join(f"+({way})" for way in ways)


def question_terms(text: str, language: Language = ENGLISH) -> list[str]:
    """Return the terms of a question for the stems of passages; empty without a letter, digit or symbol."""
    return question_stems(text[:_LONGEST], language)[:_MOST_WORDS]


def question_words(text: str, language: Language = ENGLISH) -> str:
    """Return a question as a query for the stems of passages, joined by OR; empty without a letter, digit or symbol."""
    found = question_terms(text, language)
    words = (f'"{_QUOTED.sub(_ESCAPED, stem)}"' for stem in found)
    return " ".join(f"stems:{word} title_stems:{word}^{TITLE}" for word in words)
