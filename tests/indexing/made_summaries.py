"""Replies of a scripted model about communities and clusters of the small corpus."""

from scripted import TASKS

from kgrag import KnowledgeGraph
from kgrag.values.results import Filter, Ranking

PRICES = dict.fromkeys((*TASKS, "other"), (1.0, 1.0))
_PLACES = "Banor Dunor Ragol Kavan Bavak Torin Meldo Suvat Perin Halgo Vistu Ormek Jatun Cyral Fendo Wexil".split()
SUMMARY = " ".join(
    f"{a} was built near {b} by {n} of them, who ruled."
    for n, (a, b) in enumerate(zip(_PLACES, _PLACES[5:] + _PLACES[:5], strict=True))
)


def is_filtered_and_repaired(kg: KnowledgeGraph, name: str, retriever: str, found: Ranking, lost: int) -> None:
    """Assert that a filter applies, and that repairing `lost` vectors of summaries restores the ranking `found`."""
    even = kg[name].search(found.query, k=5, retriever=retriever, filter=Filter(where={"even": "true"}))
    assert even.hits and all(hit.passage.metadata["even"] for hit in even.hits)
    assert list(kg[name].repair().vectors.values()) == [lost] != [0]
    assert kg[name].search(found.query, k=10, retriever=retriever) == found
