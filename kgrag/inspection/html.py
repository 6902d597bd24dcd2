"""An inspection as a page of HTML that needs nothing else: no script, no font, no picture from anywhere."""

import re
from collections.abc import Iterable
from datetime import datetime
from html import escape
from importlib.metadata import version
from importlib.resources import files
from string import Template

from kgrag.inspection.result import Distribution, Finding, Inspection

_CODE = re.compile(r"`([^`]*)`")


def html(found: Inspection) -> str:
    """The whole page; it follows the reader's choice of light or dark."""
    template = Template(files("kgrag.inspection").joinpath("report.html").read_text(encoding="utf-8"))
    coverage = [
        (c.name, _bar(c.share), f"{c.having:,} of {c.number:,}", f"{c.share:.1%}")
        for c in found.coverage
        if c.share is not None
    ]
    return template.substitute(
        title=escape(found.collection),
        facts=escape(f"{found.embedder}, {found.dimension} dimensions, schema version {found.schema_version}"),
        when=f"{datetime.now().astimezone():%Y-%m-%d %H:%M}",
        version=version("kgrag"),
        state="healthy" if found.healthy else "unhealthy",
        verdict="All indexes answer, no work is left." if found.healthy else "Something is to be done.",
        findings="".join(map(_finding, found.findings)) or "<p>Nothing else was found.</p>",
        nodes=_table((escape(label), f"{number:,}") for label, number in found.nodes.items() if number),
        edges=_table(
            (f"{escape(e.source)} <em>—{escape(e.type)}→</em> {escape(e.target)}", f"{e.number:,}") for e in found.edges
        ),
        coverage=_table((escape(name), *rest) for name, *rest in coverage),
        indexes=_table((f"vector index {escape(name)}", kind) for name, kind in found.quantization.items()),
        readings=_table((escape(reading.name), f"{reading.number:,}") for reading in found.readings),
        distributions="".join(map(_distribution, found.distributions)),
    )


def _distribution(found: Distribution) -> str:
    largest = max(b.number for b in found.bins)
    rows = _table((b.name, _bar(b.number / largest), f"{b.number:,}") for b in found.bins)
    facts = f"median {found.median:,}, mean {found.mean:.1f}, most {found.most:,}"
    top = ", ".join(f"{escape(name)} {number:,}" for name, number in found.top)
    most = f"<p class='facts'>most: {top}</p>" if top else ""
    return f"<section><h3>{escape(found.name)}</h3><p class='facts'>{facts}</p>{rows}{most}</section>"


def _finding(found: Finding) -> str:
    examples = "".join(f"<li>{escape(example)}</li>" for example in found.examples)
    shown = f"<ul>{examples}</ul>" if examples else ""
    remedy = _CODE.sub(r"<code>\1</code>", escape(found.remedy))
    return (
        f"<article class='{found.level}'><h3><span>{found.level}</span> {escape(found.message)}</h3>"
        f"{shown}<p>{remedy}</p></article>"
    )


def _bar(share: float) -> str:
    return f"<div class='bar'><div style='width:{share:.2%}'></div></div>"


def _table(rows: Iterable[Iterable[str]]) -> str:
    """Cells are HTML already."""
    body = "".join("<tr>" + "".join(f"<td>{cell}</td>" for cell in row) + "</tr>" for row in rows)
    return f"<table>{body}</table>"
