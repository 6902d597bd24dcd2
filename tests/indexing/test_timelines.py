"""When facts hold: one ends another only where there is one at a time, and their order is certain."""

import random

import pytest

from kgrag.indexing.timelines import timeline

# A fact: object, since, until, date of the document. A history: facts -> (object, since, until) in order of time.
HISTORIES = {
    "two chancellors with dates": (
        [("A", "1998", "2005", ""), ("B", "2005", "2021", "")],
        [("A", "1998", "2005"), ("B", "2005", "2021")],
    ),
}


def _facts(rows: list[tuple[str, str, str, str]]) -> list[dict[str, object]]:
    return [
        {
            "id": str(i),
            "object": o,
            "name": o,
            "valid_from": a or None,
            "valid_to": b or None,
            "stated_at": s or None,
            "passages": [f"p{i}"],
        }
        for i, (o, a, b, s) in enumerate(rows)
    ]


@pytest.mark.parametrize("name", HISTORIES)
def test_histories(name: str) -> None:
    rows, expected = HISTORIES[name]
    for seed in range(5):
        facts = _facts(rows)
        random.Random(seed).shuffle(facts)
        assert [(p.object, p.valid_from, p.valid_to) for p in timeline(facts, one=True)] == expected
