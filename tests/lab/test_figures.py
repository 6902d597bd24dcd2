"""Pictures: recall against latency, and figures of papers, compared with values computed by hand."""

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from kgrag.lab.papers import PaperTable, find_paper, papers
from kgrag.lab.report import Result, draw, plot, points
from kgrag.lab.summary import Rows
from kgrag.values.errors import ConfigurationError, InputError

FIGURES = [(name, figure) for name in papers() for figure in find_paper(name).figures.values()]
RESULT = Result(
    title="",
    records=(),
    rows={"a": {"R@5": 40.0, "R@200": 90.0, "calls": 2.0, "Acc": 30.0}, "b": {"R@5": 50.0, "R@200": 95.0, "Acc": 20.0}},
    iterations={
        "a": [
            {"iteration": "1", "questions": 4, "R@15": 50.0, "tokens": 100},
            {"iteration": "2", "questions": 1, "R@15": 75.0, "tokens": 60},
            {"iteration": "after", "questions": 4, "R@15": 75.0, "tokens": 9},
        ]
    },
    groups={"hops": {"2": {"a": {"R@15": 80.0}}, "3": {"a": {"R@15": 40.0}, "b": {"R@15": 20.0}}}},
    baseline="b",
    differences={},
    errors={},
    problems={},
    overlaps={
        "a": {"by": "EM", "questions": 4, "both": 50.0, "it alone": 25.0, "baseline alone": 0.0, "neither": 25.0}
    },
)


def figure(drawn: str, measure: str) -> PaperTable:
    return PaperTable("1", "", ("musique",), (measure,), (), drawn=drawn)


def test_what_each_kind_shows() -> None:
    def shown(drawn: str, measure: str) -> dict[Any, Any]:
        return {name: its.dropna().to_dict() for name, its in points(figure(drawn, measure), RESULT).items()}

    assert shown("iterations", "R@15") == {"a": {1: 50, 2: 75}}
    assert shown("iterations", "tokens") == {"a": {1: 400, 2: 460}}
    assert shown("ranks", "R@200")["a"] == {5: 40, 200: 90}
    assert shown("points", "Acc") == {"a": {2: 30}, "b": {0: 20}}
    assert shown("hops", "R@15") == {"a": {"2": 80, "3": 40}, "b": {"3": 20}}
    assert shown("systems", "Acc") == {"a": {"": 30}, "b": {"": 20}}
    assert shown("alone", "EM")["a"] == {"both": 50, "it alone": 25, "baseline alone": 0, "neither": 25}


def test_bars_stand_beside_each_other(monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("matplotlib")
    kept: list[Any] = []
    monkeypatch.setattr("kgrag.lab.report.save", lambda figure, path: kept.append(figure))
    draw(figure("hops", "R@15"), RESULT, "", Path("bars.svg"))
    bars = [(round(bar.get_x() + bar.get_width() / 2, 9), bar.get_height()) for bar in kept[0].axes[0].patches]
    assert [bar for bar in bars if bar[1] > 0] == [(-0.125, 80), (0.875, 40), (1.125, 20)]
    plot({"a": {"R@2": 10.0, "R@5": 66.5, "p50_ms": 4.0}}, "", Path("recall.svg"))
    (axes,) = kept[1].axes
    assert axes.get_ylabel() == "R@5, %" and [line.get_xydata().tolist() for line in axes.lines] == [[[4.0, 66.5]]]


@pytest.mark.parametrize("drawn", ["iterations", "ranks", "points", "hops", "alone"])
def test_it_is_drawn(drawn: str, tmp_path: Path) -> None:
    path = tmp_path / "figure.svg"
    measure = {"points": "Acc", "ranks": "R@200"}.get(drawn, "R@15")
    draw(figure(drawn, measure), RESULT, "title of it", path)
    assert "title of it" in path.read_text()
    if drawn == "iterations":
        with pytest.raises(ConfigurationError, match="nothing to draw"):
            draw(figure(drawn, measure), replace(RESULT, iterations={}), "", path)


def test_every_figure_that_rests_on_data_is_held() -> None:
    held = {name: list(find_paper(name).figures) for name in ("gear", "kgp", "bdtr", "gnn-ret")}
    assert held == {
        "gear": ["2", "3", "4", "5"],
        "kgp": ["4", "6a", "6a-knn", "6a-mdr", "6a-tagme", "6b", "9a", "9b-knn", "9b-mdr", "9b-tagme"],
        "bdtr": ["1", "2", "3", "4a", "4b", "4c", "4d", "6"],
        "gnn-ret": ["2", "4a", "4b", "5"],
    }


@pytest.mark.parametrize(("name", "its"), FIGURES, ids=[f"{name}-{its.number}" for name, its in FIGURES])
def test_a_figure_says_how_it_is_measured(name: str, its: PaperTable) -> None:
    assert its.caption and its.data
    assert bool(its.command) != bool(its.rows)
    assert its.command or its.drawn in {"iterations", "ranks", "vary", "type", "hops", "systems", "alone", "points"}
    assert (its.drawn == "vary") == ("vary" in its.options)


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


def test_what_cannot_be_drawn(tmp_path: Path) -> None:
    with pytest.raises(ConfigurationError, match="not a picture"):
        plot(ROWS, "x", tmp_path / "recall.txt")
    with pytest.raises(InputError, match="cannot be written"):
        plot(ROWS, "x", tmp_path / "nowhere" / "recall.png")
    plot({"only": {"MRR": 0.5, "p50_ms": 1.0}}, "shallow", tmp_path / "one.png")
