"""What an inspection finds: plain values, for the terminal, for a report and for scripts."""

from collections.abc import Mapping
from dataclasses import dataclass
from html import escape
from typing import Literal

NEAR = 0.98
"""Score from which passages nearly say the same, and names may be one and the same: (1 + cosine) / 2."""

Level = Literal["error", "warning", "note"]
"""An error: searches fail or miss things. A warning: work is left. A note: worth a look, retrieval works."""


@dataclass(frozen=True, slots=True)
class Edges:
    """How many edges of a type lead from one label to another; several targets are joined by a bar."""

    source: str
    type: str
    target: str
    number: int


@dataclass(frozen=True, slots=True)
class Bin:
    """How many nodes have `low` to `high` edges."""

    low: int
    high: int
    number: int

    @property
    def name(self) -> str:
        """The range as text: "0", "3-4"."""
        return str(self.low) if self.low == self.high else f"{self.low:,}-{self.high:,}"


@dataclass(frozen=True, slots=True)
class Distribution:
    """How many edges of a kind nodes have. `top`: names of the nodes that have most, with their number."""

    name: str
    number: int
    mean: float
    median: int
    most: int
    bins: tuple[Bin, ...]
    top: tuple[tuple[str, int], ...] = ()


@dataclass(frozen=True, slots=True)
class Coverage:
    """How many nodes, of `number`, have something; `share` is None where there are no nodes."""

    name: str
    having: int
    number: int

    @property
    def share(self) -> float | None:
        """The part of them that has it, 0 to 1."""
        return self.having / self.number if self.number else None


@dataclass(frozen=True, slots=True)
class Reading:
    """How many passages were read by an extraction or by TAGME (`kind`) with one version of a prompt or of settings.

    `version`: empty where they were not read; `current`: whether it is that of the present settings.
    """

    kind: Literal["extract", "tag"]
    version: str
    current: bool
    number: int

    @property
    def name(self) -> str:
        """What was done, in words."""
        done = "extracted" if self.kind == "extract" else "tagged by TAGME"
        if not self.version:
            return f"passages not {done}"
        how = "prompt" if self.kind == "extract" else "settings"
        return f"passages {done}, {'present' if self.current else 'another'} {how} ({self.version})"


@dataclass(frozen=True, slots=True)
class Finding:
    """Something to know of a collection, with what to do about it; `examples` name some of the nodes."""

    name: str
    level: Level
    number: int
    message: str
    remedy: str
    examples: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Inspection:
    """A collection as it is now.

    `nodes`: label -> number; `near`: the score that counted as nearly the same; `quantization`: vector index -> SCALAR
    (a byte a number), BINARY (a bit) or NONE.
    """

    collection: str
    embedder: str
    dimension: int
    schema_version: int
    near: float
    nodes: Mapping[str, int]
    edges: tuple[Edges, ...]
    quantization: Mapping[str, str]
    coverage: tuple[Coverage, ...]
    distributions: tuple[Distribution, ...]
    readings: tuple[Reading, ...]
    findings: tuple[Finding, ...]
    seconds: float

    @property
    def healthy(self) -> bool:
        """Whether nothing is broken and no work is left."""
        return all(finding.level == "note" for finding in self.findings)

    def _repr_html_(self) -> str:
        """The page in a frame of its own, so that its style stays in it."""
        from kgrag.inspection.html import html

        return f'<iframe sandbox srcdoc="{escape(html(self))}" style="width: 100%; height: 40em; border: 0"></iframe>'
