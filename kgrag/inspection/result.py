"""The result of an inspection: plain values for the terminal, a report and scripts."""

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import datetime
from html import escape
from importlib.metadata import version
from importlib.resources import files
from string import Template
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
    """The number of passages processed by extraction or TAGME (`kind`) with one version of a prompt or of settings.

    `version`: empty for unprocessed passages; `current`: whether it matches the current settings.
    """

    kind: Literal["extract", "tag"]
    version: str
    current: bool
    number: int

    @property
    def name(self) -> str:
        """The completed work, in words."""
        done = "extracted" if self.kind == "extract" else "tagged by TAGME"
        if not self.version:
            return f"passages not {done}"
        how = "prompt" if self.kind == "extract" else "settings"
        return f"passages {done}, {'present' if self.current else 'another'} {how} ({self.version})"


@dataclass(frozen=True, slots=True)
class Finding:
    """A finding on a collection, with its remedy; `examples` name some of the nodes."""

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
        """Return the page in a frame of its own, so that its style stays in it."""
        return f'<iframe sandbox srcdoc="{escape(html(self))}" style="width: 100%; height: 40em; border: 0"></iframe>'


_CODE = re.compile(r"`([^`]*)`")


def html(inspection: Inspection) -> str:
    """Return the whole page; it follows the reader's choice of light or dark."""
    template = Template(files("kgrag.inspection").joinpath("report.html").read_text(encoding="utf-8"))
    coverage = [
        (c.name, _bar(c.share), f"{c.having:,} of {c.number:,}", f"{c.share:.1%}")
        for c in inspection.coverage
        if c.share is not None
    ]
    return template.substitute(
        title=escape(inspection.collection),
        facts=escape(
            f"{inspection.embedder}, {inspection.dimension} dimensions, schema version {inspection.schema_version}"
        ),
        when=f"{datetime.now().astimezone():%Y-%m-%d %H:%M}",
        version=version("kgrag"),
        state="healthy" if inspection.healthy else "unhealthy",
        verdict="All indexes answer, no work is left." if inspection.healthy else "Something is to be done.",
        findings="".join(map(_finding, inspection.findings)) or "<p>Nothing else was found.</p>",
        nodes=_table((escape(label), f"{number:,}") for label, number in inspection.nodes.items() if number),
        edges=_table(
            (f"{escape(e.source)} <em>—{escape(e.type)}→</em> {escape(e.target)}", f"{e.number:,}")
            for e in inspection.edges
        ),
        coverage=_table((escape(name), *rest) for name, *rest in coverage),
        indexes=_table((f"vector index {escape(name)}", kind) for name, kind in inspection.quantization.items()),
        readings=_table((escape(reading.name), f"{reading.number:,}") for reading in inspection.readings),
        distributions="".join(map(_distribution, inspection.distributions)),
    )


def _distribution(distribution: Distribution) -> str:
    largest = max(b.number for b in distribution.bins)
    rows = _table((b.name, _bar(b.number / largest), f"{b.number:,}") for b in distribution.bins)
    facts = f"median {distribution.median:,}, mean {distribution.mean:.1f}, most {distribution.most:,}"
    top = ", ".join(f"{escape(name)} {number:,}" for name, number in distribution.top)
    most = f"<p class='facts'>most: {top}</p>" if top else ""
    return f"<section><h3>{escape(distribution.name)}</h3><p class='facts'>{facts}</p>{rows}{most}</section>"


def _finding(finding: Finding) -> str:
    examples = "".join(f"<li>{escape(example)}</li>" for example in finding.examples)
    listing = f"<ul>{examples}</ul>" if examples else ""
    remedy = _CODE.sub(r"<code>\1</code>", escape(finding.remedy))
    return (
        f"<article class='{finding.level}'><h3><span>{finding.level}</span> {escape(finding.message)}</h3>"
        f"{listing}<p>{remedy}</p></article>"
    )


def _bar(share: float) -> str:
    return f"<div class='bar'><div style='width:{share:.2%}'></div></div>"


def _table(rows: Iterable[Iterable[str]]) -> str:
    """Return a table; cells are HTML already."""
    body = "".join("<tr>" + "".join(f"<td>{cell}</td>" for cell in row) + "</tr>" for row in rows)
    return f"<table>{body}</table>"
