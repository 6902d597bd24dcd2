"""Questions as Lucene queries: every special character is taken literally."""

import re

from kgrag.symbols import encoded
from kgrag.text import STOP_WORDS, fold

_SPECIAL = re.compile(r'[+\-&|!(){}\[\]^"~*?:\\/<>=]')
_OPERATORS = frozenset(("AND", "OR", "NOT"))
_LONGEST = 10_000  # characters that are searched for symbols
_MOST_WORDS = 300  # Lucene allows 1,024 clauses, and each word makes one for every indexed field


def escape(text: str) -> str:
    """`text` as a query of plain words, joined by OR; empty when it holds no letter or digit.

    Words are kept once; of a very long text the first 300 different ones count.
    """
    words: dict[str, None] = {}
    for word in _SPECIAL.sub(" ", text).split():
        if any(c.isalnum() for c in word):
            words.setdefault(word.lower() if word in _OPERATORS else word)
            if len(words) == _MOST_WORDS:
                break
    return " ".join(words)


def question_words(text: str) -> str:
    """A question as a query for passages: its words without those of every question ("what does"), and its symbols.

    A question of nothing else is taken as it is.
    """
    words = escape(text)
    telling = [word for word in words.split() if fold(word).lower() not in STOP_WORDS]
    return " ".join([*telling, encoded(text[:_LONGEST])]).strip() or words
