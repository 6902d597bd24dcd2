"""Rankings in which a text stands once, however many documents hold it."""

from collections.abc import Iterable
from dataclasses import replace

from kgrag.retrieval.base import Query, Retriever
from kgrag.values.results import Hit, Passage, Ranking

_WORDS = 12
"""A text of at least so many words is a copy under any heading; a shorter one says something else under another."""
_DEEPEST = 1_000


def retrieve_folded(retriever: Retriever, query: Query, k: int) -> Ranking:
    """The best `k` passages of different texts; each hit names the `copies` that were ranked below it.

    Where copies take places, the ranking is made again four times as deep, to a thousand passages at the most.
    """
    depth = k
    while True:
        ranking = retriever.retrieve(query, depth)
        hits = fold(ranking)
        if len(hits) >= k or len(ranking) < depth or depth >= _DEEPEST:
            return replace(ranking, hits=hits[:k])
        depth = min(4 * depth, _DEEPEST)


def fold(hits: Iterable[Hit]) -> tuple[Hit, ...]:
    """The hits without those whose text an earlier one has, which names them."""
    first: dict[tuple[str, str], Hit] = {}
    for hit in hits:
        text = _text(hit.passage)
        known = first.get(text)
        first[text] = replace(known, copies=(*known.copies, hit.passage)) if known else hit
    return tuple(first.values())


def _text(passage: Passage) -> tuple[str, str]:
    words = passage.text.split()
    return " ".join(words), "" if len(words) >= _WORDS else passage.heading
