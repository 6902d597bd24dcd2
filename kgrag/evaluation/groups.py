"""Groups of questions that tables are broken down by: type, hops, and how many triples a gold passage has."""

from bisect import bisect_right
from collections.abc import Mapping, Sequence
from itertools import pairwise

from kgrag.evaluation.datasets import Dataset, Question
from kgrag.evaluation.summary import Group
from kgrag.graph.reader import Reader
from kgrag.values.errors import ConfigurationError

BOUNDS = (9, 11, 13)
"""Triples per gold passage at which a group of densities ends (GEAR, appendix G)."""


def grouped(dataset: Dataset, what: str, reader: Reader | None = None) -> dict[str, Group]:
    """Question id -> its group by type, hops or density; `reader`: of the collection whose densities are meant.

    Raises ConfigurationError for another grouping, or densities without a reader.
    """
    if what not in ("type", "hops", "density") or (what == "density" and reader is None):
        raise ConfigurationError(f"Questions cannot be grouped by {what!r}.", "Choose type, hops or density.")
    if reader is not None and what == "density":
        return _densities(dataset, reader)
    return {q.id: (q.hops, str(q.hops)) if what == "hops" else (0, q.type or "(none)") for q in dataset.questions}


def density_group(density: float | None) -> Group:
    """The group of a number of triples per gold passage; None: no gold passage is in the graph."""
    if density is None:
        return len(BOUNDS) + 1, "(none)"
    number = bisect_right(BOUNDS, density)
    names = [f"< {BOUNDS[0]}", *(f"{a}-{b}" for a, b in pairwise(BOUNDS)), f">= {BOUNDS[-1]}"]
    return number, names[number]


def _densities(dataset: Dataset, reader: Reader) -> dict[str, Group]:
    golds = {q.id: _gold_documents(q, dataset) for q in dataset.questions}
    counts = reader.triple_counts(sorted({key for keys in golds.values() for key in keys}))
    return {id: density_group(_density(keys, counts)) for id, keys in golds.items()}


def _gold_documents(question: Question, dataset: Dataset) -> Sequence[str]:
    """The documents that hold a question's gold, each once."""
    texts = dataset.gold_texts
    return list(dict.fromkeys(texts[key].document if key in texts else key for key in question.gold))


def _density(documents: Sequence[str], counts: Mapping[str, tuple[int, int]]) -> float | None:
    passages = sum(counts[key][0] for key in documents if key in counts)
    return sum(counts[key][1] for key in documents if key in counts) / passages if passages else None
