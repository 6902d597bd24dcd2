import pytest

from kgrag.retrieval.trail import score, trail
from kgrag.values.results import Hit, Passage, Step

_BM25, _FRAM = Step("bm25 rank 3", "Passage", "", 12.13), Step("names", "Entity", "Fram")
_MENTIONED = Step("mentioned in", "Passage", "Colin Archer", 0.5)


@pytest.mark.parametrize(
    ("why", "expected"),
    [
        ((), ""),
        ((_BM25, Step("dense rank 1", "Passage", "", 0.8)), "bm25 rank 3 (12.1) + dense rank 1 (0.800)"),
        ((_FRAM, _MENTIONED), "question —names→ Name Fram —mentioned in→ Passage Colin Archer (0.500)"),
        ((_FRAM, _BM25), "question —names→ Name Fram + bm25 rank 3 (12.1)"),
        ((_BM25, _FRAM), "bm25 rank 3 (12.1) + question —names→ Name Fram"),
    ],
    ids=["no step", "ranks in two indexes", "path", "path and index", "index and path"],
)
def test_trail_of_steps_reads_as_path_and_ranks(why: tuple[Step, ...], expected: str) -> None:
    assert trail(Hit(Passage("id", "key", "Fram", "text"), 1.0, why)) == expected


def test_scores_keep_three_digits() -> None:
    assert [score(x) for x in (0.0303, 12.13, 999.4, 1e-9, 123456.0)] == ["0.0303", "12.1", "999", "1e-09", "1.23e+05"]
