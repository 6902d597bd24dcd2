"""Questions as Lucene queries: every special character is taken literally."""

import re

_SPECIAL = re.compile(r'[+\-&|!(){}\[\]^"~*?:\\/<>=]')
_OPERATORS = frozenset(("AND", "OR", "NOT"))
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
