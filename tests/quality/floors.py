"""The recorded figures of each set and system, below which a change may not fall, and ranks of the gold.

A figure may fall below its record by one question: a vector index is approximate, and a change that helps many
questions may harm one. The ranks show which questions were lost.
"""

import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from statistics import fmean
from typing import Any

from kgrag.lab.measures import Ranks
from kgrag.lab.summary import measures

PATH = Path(__file__).with_name("floors.json")
TOLERANCE = 1
_ROUNDING = 0.05  # questions
_CUTS = (2, 5, 8)
_MEASURES = {name: measures(at=_CUTS)[name] for name in ("R@2", "R@5", "perfect@5", "perfect@8")}

Found = Mapping[str, Ranks]
"""Question -> the ranks of its gold."""


@dataclass(frozen=True)
class Change:
    """A new measurement of a figure: how many questions it `lost` or (negative) won, and which questions lost gold."""

    set: str
    system: str
    measure: str
    recorded: float
    measured: float
    lost: float
    questions: tuple[str, ...]

    @property
    def falls(self) -> bool:
        """Whether the figure is below its floor."""
        return self.lost > TOLERANCE + _ROUNDING

    @property
    def rises(self) -> bool:
        """Whether it should be recorded."""
        return self.lost < -TOLERANCE - _ROUNDING


def figures(found: Found) -> dict[str, float]:
    """Return measure -> value, named and scaled as `kgrag lab eval` prints them."""
    return {name: round(fmean(map(measure, found.values())), 4) for name, measure in _MEASURES.items()}


def read() -> dict[str, Any]:
    """Return set -> system -> recorded values."""
    floors: dict[str, Any] = json.loads(PATH.read_text(encoding="utf-8")) if PATH.exists() else {}
    return floors


def ranks(set: str, system: str) -> Found:
    """Return the recorded ranks."""
    shown: dict[str, str] = read()[set][system]["ranks"]
    return {id: [None if rank == "-" else int(rank) for rank in text.split()] for id, text in shown.items()}


def write(found: Mapping[str, Mapping[str, Found]]) -> None:
    """Record set -> system -> ranks; other sets keep their record."""
    new = {name: {system: _record(ranks) for system, ranks in its.items()} for name, its in found.items()}
    text = json.dumps(read() | new, indent=1, ensure_ascii=False, sort_keys=True)
    PATH.write_text(f"{text}\n", encoding="utf-8")


def compare(set: str, system: str, found: Found) -> list[Change]:
    """Yield each figure of a system with its record."""
    recorded, before = read()[set][system], ranks(set, system)
    assert before.keys() == found.keys(), f"{set} has other questions than those recorded: record it again"
    changes = []
    for measure, now in figures(found).items():
        of = _MEASURES[measure]
        whole = of([1])  # 100, since recall is in per cent
        lost = (recorded[measure] - now) * len(found) / whole
        fell = tuple(id for id in found if of(found[id]) < of(before[id]))
        changes.append(Change(set, system, measure, recorded[measure], now, lost, fell))
    return changes


def table(changes: Iterable[Change]) -> str:
    """Return the changes, a line each."""
    head = ("set", "system", "measure", "recorded", "measured", "lost", "questions that lost gold")
    rows = [head] + [
        (c.set, c.system, c.measure, f"{c.recorded:.4g}", f"{c.measured:.4g}", f"{c.lost:.1f}", ", ".join(c.questions))
        for c in changes
    ]
    *widths, _ = (max(map(len, column)) for column in zip(*rows, strict=True))
    return "\n".join("  ".join([*map(str.ljust, row, widths), row[-1]]) for row in rows)


def _record(found: Found) -> dict[str, Any]:
    shown = {id: " ".join("-" if rank is None else str(rank) for rank in ranks) for id, ranks in found.items()}
    return {**figures(found), "ranks": shown}
