"""Claims that passages support, claims on something else, and claims that no rule can check, told apart."""

import json
from collections import Counter
from pathlib import Path

import pytest

from kgrag.retrieval.support import verdict
from kgrag.values.results import Passage

_ROWS = json.loads((Path(__file__).parents[1] / "quality" / "checked_claims.json").read_text(encoding="utf-8"))
"""Claims (kind, truth, claim). At first 13 of 14 "supported" and 24 of 27 "not supported" of "kept" were right, 9 of 11
and 36 of 45 of "independent", 14 of 18 and 32 of 46 of "second independent", 14 of 16 and 44 of 54 of "third
independent", which no rule was chosen on."""
_LEAST = {
    "first chosen": (400, 0.98, 0.62, 0.99, 0.73), "first kept": (200, 1, 0.22, 1, 0.68),
    "chosen": (110, 1, 0.77, 1, 0.9), "kept": (53, 0.94, 0.7, 1, 0.76),
    "independent": (210, 0.9, 0.11, 0.96, 0.29), "second independent": (210, 0.92, 0.13, 0.87, 0.26),
    "third independent": (210, 0.87, 0.14, 0.81, 0.38),
}  # fmt: skip  # claims; precision and recall of "supported", then of "not supported"


@pytest.mark.parametrize("which", _LEAST)
def test_precision_and_recall(which: str) -> None:
    told = [
        (verdict(said, [[Passage(title, "d", title, text)] for title, text in row["passages"]]), truth)
        for row in _ROWS if row["set"] == which for _, truth, said in row["claims"]
    ]  # fmt: skip
    outcomes, truths = map(Counter, zip(*told, strict=True))
    yes, no = told.count(("supported", "true")), told.count(("not supported", "false"))
    shares = (yes / outcomes["supported"], yes / truths["true"], no / outcomes["not supported"], no / truths["false"])
    assert all(share >= least for share, least in zip((len(told), *shares), _LEAST[which], strict=True)), shares
