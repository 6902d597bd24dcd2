"""Sweeps: the names that a setting generates from a retriever or a system, and the picture."""

from pathlib import Path
from typing import Any

import pytest

from kgrag.lab.report import plot_sweep
from kgrag.lab.summary import Rows, Sweep
from kgrag.values.errors import ConfigurationError


@pytest.mark.parametrize(
    ("text", "retrievers", "systems", "names"),
    [
        ("branch=1,3", ["kgp"], [], ["kgp(branch=1)", "kgp(branch=3)"]),
        ("branch=1..3", ["kgp(guide=encoder, branch=9)"], [], [f"kgp(guide=encoder, branch={n})" for n in (1, 2, 3)]),
        ("branch = 1, 8..9", ["kgp"], [], [f"kgp(branch={n})" for n in (1, 8, 9)]),
        ("guide=words,encoder", ["kgp"], [], ["kgp(guide=words)", "kgp(guide=encoder)"]),
        (
            "edges=(keyword,),(title, mention)",
            ["kgp(seeds=5)"],
            [],
            ["kgp(seeds=5, edges=(keyword,))", "kgp(seeds=5, edges=(title, mention))"],
        ),
        ("branch=2", ["rrf(bm25, kgp)", "bm25"], [], ["rrf(bm25, kgp(branch=2))", "bm25"]),
        ("branch=2", ["bm25"], ["gear+kgp", "closed-book"], ["bm25", "gear+kgp(branch=2)", "closed-book"]),
        ("steps=1,2", [], ["gear+kgp"], ["gear(steps=1)+kgp", "gear(steps=2)+kgp"]),
        ("evidence=1,2", [], ["single(words=3)+bm25"], [f"single(words=3, evidence={n})+bm25" for n in (1, 2)]),
    ],
)
def test_names(text: str, retrievers: list[str], systems: list[str], names: list[str]) -> None:
    sweep = Sweep.of(text, retrievers, systems)
    assert list(sweep.names([*retrievers, *systems])) == names


@pytest.mark.parametrize(
    ("text", "complaint"),
    [
        ("branch", "names no setting to vary"), ("branch=", "names no setting"),
        ("branch=1;2", "names no setting"), ("kgp.branch=1", "names no setting"),
        ("branch=0,1", "branch=0 is invalid"), ("depth=1,2", "has a setting 'depth'"),
        ("branch=x y", "names no setting"),
    ],
)  # fmt: skip
def test_what_cannot_be_varied(text: str, complaint: str) -> None:
    with pytest.raises(ConfigurationError, match=complaint):
        Sweep.of(text, ["kgp"], ["gear+bm25"])


def test_recall_and_latency_are_drawn_at_the_values(monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("matplotlib")
    kept: list[Any] = []
    monkeypatch.setattr("kgrag.lab.report.save", lambda figure, path: kept.append(figure))
    sweep = Sweep.of("branch=2,5", ["kgp"], [])
    measured = {"kgp(branch=2)": (20.0, 1.0), "kgp(branch=5)": (40.0, 3.0), "bm25": (5.0, 7.0)}
    rows: Rows = {name: {"R@5": 1.0, "R@30": recall, "p50_ms": ms} for name, (recall, ms) in measured.items()}
    plot_sweep(sweep, rows, "", Path("sweep.svg"))
    drawn = [{line.get_label(): line.get_xydata().tolist() for line in axes.lines} for axes in kept[0].axes]
    assert drawn == [
        {"kgp": [[2, 20], [5, 40]], "bm25": [[2, 5], [5, 5]]},
        {"kgp": [[2, 1], [5, 3]], "bm25": [[2, 7], [5, 7]]},
    ]
