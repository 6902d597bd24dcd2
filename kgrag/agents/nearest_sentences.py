"""The sentences of a passage that a reader needs for a question: what a small model reads, it reads sooner and better.

The first sentence says what a passage is about; the others count by the words of the question that they have, and by
the other passages whose titles they name, over which the question goes on. Source: our own experiment (docs/local.md).
"""

import re
from collections.abc import Sequence
from dataclasses import replace

from kgrag.text.aliases import without_parenthesis
from kgrag.text.tokens import is_content, stems, words_of
from kgrag.values.results import Item, Passage, Summary

_END = re.compile(r"(?<=[.!?])\s+(?![a-z])|(?<=[。！？])|\s*\n\s*")
_TITLE, _FIRST = 1.5, 1.0
"""What a title named and being the first weigh, beside one shared word."""


def nearest_sentences(items: Sequence[Item], question: str, most: int) -> list[Item]:
    """The items with, of each passage, its `most` best sentences for the question, as they follow each other."""
    wanted = _words(question)
    titles = {without_parenthesis(p.title) for item in items if not isinstance(item, Summary) for p in item} - {""}

    def shortened(passage: Passage) -> Passage:
        sentences = [part for part in _END.split(passage.text) if part]
        others = titles - {without_parenthesis(passage.title)}
        worth = [
            len(_words(sentence) & wanted) + _TITLE * sum(title in sentence for title in others) + _FIRST * (i == 0)
            for i, sentence in enumerate(sentences)
        ]
        best = sorted(range(len(sentences)), key=lambda i: (-worth[i], i))[:most]
        return replace(passage, text=" ".join(sentences[i] for i in sorted(best)))

    return [item if isinstance(item, Summary) else [shortened(p) for p in item] for item in items]


def _words(text: str) -> set[str]:
    return set(stems(word for word in words_of(text) if is_content(word)))
