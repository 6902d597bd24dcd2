"""Describe in one line why a passage was found, in the same words in the command line and the web UI."""

from collections.abc import Iterable

from kgrag.values.results import Hit, Step

ORIGIN = "question"
"""The start of a path through the graph."""


_PHRASES = {
    ("MENTIONS", "Entity"): "mentions", ("MENTIONS", "Passage"): "mentioned in", ("ABOUT", "Entity"): "is titled",
    ("ABOUT", "Passage"): "title of", ("HAS_KEYWORD", "Keyword"): "has keyword",
    ("HAS_KEYWORD", "Passage"): "keyword of", ("NAMES", "Keyword"): "names", ("NAMES", "Passage"): "named in",
    ("SIMILAR", "Entity"): "resembles", ("SIMILAR", "Passage"): "similar to", ("NEXT", "Passage"): "next to",
    ("CONTAINS", "Page"): "on", ("CONTAINS", "Passage"): "holds", ("STATES", "Passage"): "stated in",
    ("HAS_PASSAGE", "Document"): "part of", ("HAS_PASSAGE", "Passage"): "has part",
}  # fmt: skip
"""The type of an edge and the label of its target -> the wording in a trail."""
_KINDS = {"Entity": "Name", "Triple": "Fact"}
"""Label -> the word for such a node in the interface, if it differs."""


def follow(edge: str, label: str, name: str, score: float | None = None) -> Step:
    """Return the step over an edge of the graph to a node."""
    return Step(_PHRASES[edge, label], label, name, score, edge)


def trail(hit: Hit) -> str:
    """Return the trail of a hit as text, such as "bm25 rank 3 (12.1) + dense rank 1 (0.83)".

    Steps that only name an index and a rank are listed side by side; steps that lead to a named node form a path.
    """
    return " + ".join(_parts(hit.why))


def score(value: float) -> str:
    """Return a score with three significant digits, without an exponent if that stays short."""
    return f"{value:#.3g}".rstrip(".") if 1e-4 <= abs(value) < 1000 else f"{value:.3g}"


def _parts(steps: Iterable[Step]) -> list[str]:
    parts: list[str] = []
    on_path = False
    for step in steps:
        rated = "" if step.score is None else f" ({score(step.score)})"
        if not step.name:
            parts.append(f"{step.via}{rated}")
        else:
            start = parts.pop() if on_path else ORIGIN
            kind = _KINDS.get(step.label, step.label)
            parts.append(f"{start} —{step.via}→ {kind} {step.name}{rated}")
        on_path = bool(step.name)
    return parts
