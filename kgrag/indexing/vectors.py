"""Vectors of texts. A text that the embedder refuses is written without a vector, reported, and left to repair."""

import logging
from collections.abc import Mapping, Sequence

from kgrag.models.embed import Embedder, beginning, embed_each, listed
from kgrag.values.documents import Problem
from kgrag.values.errors import ModelError

_LOG = logging.getLogger(__name__)


def embedded(
    embedder: Embedder, texts: Sequence[str], places: Sequence[str]
) -> tuple[list[list[float] | None], list[Problem]]:
    """Return the vector of each text or None, and the problems of texts without a vector by their `places`.

    Raises ModelError if no text gets a vector.
    """
    vectors, reasons = embed_each(embedder, texts)
    return listed(vectors), unembedded(texts, places, reasons)


def unembedded(texts: Sequence[str], places: Sequence[str], reasons: Mapping[int, ModelError]) -> list[Problem]:
    """Return the Problems of the texts without a vector, for `reasons` by their numbers."""
    return [
        Problem(places[i], f"{beginning(texts[i])} has no vector: {reason.in_full}")
        for i, reason in sorted(reasons.items())
    ]


def embedded_or_logged(embedder: Embedder, texts: Sequence[str], kind: str) -> list[list[float] | None]:
    """Return the vector of each text or None, which only the log reports. `kind`: the kind of the texts."""
    vectors, problems = embedded(embedder, texts, [kind] * len(texts))
    for problem in problems:
        _LOG.warning("%s: %s", problem.place, problem.message)
    return vectors
