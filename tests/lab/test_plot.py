import re
from itertools import pairwise
from pathlib import Path

import pytest

from kgrag.lab.figures import plot
from kgrag.lab.summary import Rows
from kgrag.values.errors import ConfigurationError, InputError

pytest.importorskip("matplotlib")

ROWS: Rows = {
    "bm25": {"R@5": 66.5, "p50_ms": 4.0},
    "rrf(bm25, pathrank)": {"R@5": 97.5, "p50_ms": 61.0},
    "pathrank": {"R@5": 97.9, "p50_ms": 60.0},
    "failed": {"R@5": 0.0, "p50_ms": None},
}


def test_every_system_has_a_point_and_a_name(tmp_path: Path) -> None:
    plot(ROWS, "2wiki: 47 questions", tmp_path / "recall.svg")
    svg = (tmp_path / "recall.svg").read_text()
    assert all(f"<!-- {name} -->" in svg for name in ("bm25", "rrf(bm25, pathrank)", "pathrank", "2wiki: 47 questions"))
    assert "<!-- failed -->" not in svg
    assert "<!-- median latency, ms -->" in svg
    plot(ROWS, "2wiki: 47 questions", tmp_path / "recall.png")
    assert (tmp_path / "recall.png").read_bytes().startswith(b"\x89PNG")


def test_names_of_near_points_do_not_cover_each_other(tmp_path: Path) -> None:
    crowd: Rows = {f"system {n}": {"R@5": 50.0 + n / 100, "p50_ms": 10.0} for n in range(8)}
    plot(crowd, "crowd", tmp_path / "crowd.svg")
    svg = (tmp_path / "crowd.svg").read_text()
    heights = sorted(
        float(found.group(1))
        for found in re.finditer(r"<!-- system \d -->\s*<g [^>]*translate\([\d.]+ ([\d.]+)\)", svg)
    )
    assert len(heights) == 8
    assert min(b - a for a, b in pairwise(heights)) > 11


def test_what_cannot_be_drawn(tmp_path: Path) -> None:
    with pytest.raises(ConfigurationError, match="not a picture"):
        plot(ROWS, "x", tmp_path / "recall.txt")
    with pytest.raises(InputError, match="cannot be written"):
        plot(ROWS, "x", tmp_path / "nowhere" / "recall.png")
    plot({"only": {"MRR": 0.5, "p50_ms": 1.0}}, "shallow", tmp_path / "one.png")
