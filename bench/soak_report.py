"""The report of a soak test: tables as Markdown and JSON, and a picture of memory and latency."""

import json
from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np
from soak_users import Ledger, Operation

from kgrag.lab.report import drawing

_NOISE = 2.0  # standard errors within which a slope counts as zero
_BIN = 60.0  # seconds: memory is averaged over each bin before a line is fitted, latencies are drawn for each


@dataclass(frozen=True, slots=True)
class Sample:
    """The resident memory of a process, `at` seconds from the start."""

    at: float
    part: str
    pid: int
    megabytes: float


@dataclass(frozen=True, slots=True)
class Slope:
    """Growth of the second half in MB a minute with its standard error; `mean`: MB of that half."""

    slope: float
    error: float
    mean: float
    minutes: int

    @property
    def flat(self) -> bool:
        """Whether memory falls, or its growth is within noise."""
        return self.slope <= _NOISE * self.error


def slope(samples: Sequence[Sample], seconds: float) -> Slope | None:
    """Return the growth of a part's last process in the second half; None if its samples are too few.

    Fits a line through the means of each minute. The residuals of successive minutes are correlated, so the standard
    error is widened to the effective sample size of a first-order autoregression.
    """
    last = samples[-1].pid
    late = [s for s in samples if s.pid == last and s.at >= seconds / 2]
    minutes = defaultdict(list)
    for sample in late:
        minutes[sample.at // _BIN].append(sample.megabytes)
    if len(minutes) < 5:
        return None
    x, y = np.array([*minutes]), np.array([np.mean(values) for values in minutes.values()])
    growth, start = np.polyfit(x, y, 1)
    rest = y - growth * x - start
    error = np.sqrt((rest @ rest) / (len(x) - 2) / ((x - x.mean()) @ (x - x.mean())))
    related = max(0.0, float(rest[1:] @ rest[:-1] / (rest @ rest))) if rest.any() else 0.0
    return Slope(float(growth), float(error * np.sqrt((1 + related) / (1 - related))), float(y.mean()), len(x))


def report(
    folder: Path,
    ledger: Ledger,
    samples: Sequence[Sample],
    seconds: float,
    about: dict[str, Any],
    digests: dict[str, bool],
    findings: list[str],
) -> None:
    """Write report.md, report.json and report.svg into a folder."""
    slopes = {part: slope(found, seconds) for part, found in by_part(samples).items()}
    value = about | {
        "findings": findings,
        "operations": rows([o for o in ledger.operations if o.at < seconds], seconds),
        "errors": errors(ledger.operations),
        "kills": [{"at": at, "what": what, "seconds": took} for at, what, took in ledger.kills],
        "memory": {part: found and asdict(found) | {"flat": found.flat} for part, found in slopes.items()},
        "digests": digests,
        "samples": [asdict(sample) for sample in samples],
    }
    (folder / "report.json").write_text(json.dumps(value, indent=1) + "\n", encoding="utf-8")
    (folder / "report.md").write_text(_markdown(value), encoding="utf-8")
    draw(folder / "report.svg", ledger, samples)


def by_part(samples: Iterable[Sample]) -> dict[str, list[Sample]]:
    """Return the samples of each part."""
    parts = defaultdict(list)
    for sample in samples:
        parts[sample.part].append(sample)
    return dict(parts)


def rows(operations: Iterable[Operation], seconds: float) -> list[dict[str, Any]]:
    """Return, by user and kind: the count, the errors, and the times of the others in each half, in ms."""
    kinds = defaultdict(list)
    for operation in operations:
        kinds[operation.who, operation.kind].append(operation)
    found = []
    for (who, kind), done in sorted(kinds.items()):
        failed = [o for o in done if o.error or o.outcome.endswith("Error") or o.outcome == "killed"]
        times = [[1000 * o.seconds for o in done if o not in failed and half(o.at)] for half in _halves(seconds)]
        quantiles = [[round(float(np.quantile(t, q)), 1) if t else None for q in (0.5, 0.95)] for t in times]
        found.append({"who": who, "kind": kind, "number": len(done), "failed": len(failed), "ms": quantiles})
    return found


def errors(operations: Iterable[Operation]) -> list[dict[str, Any]]:
    """Return the errors by text, the most frequent first, each with one of its remedies."""
    told = [o for o in operations if o.error or o.outcome.endswith("Error")]
    remedies = {(o.who, o.text): " ".join(o.remedy.split()) for o in told}
    counts = Counter((o.who, o.text) for o in told)
    return [
        {"who": who, "number": n, "error": text, "remedy": remedies[who, text]}
        for (who, text), n in counts.most_common()
    ]


def draw(path: Path, ledger: Ledger, samples: Sequence[Sample]) -> None:
    """Draw the memory of each part over time, and below it the search times; lines mark kills."""
    figure_class, _ = drawing()
    figure = figure_class(figsize=(8, 6), layout="constrained")
    above, below = figure.subplots(2, 1, sharex=True)
    for part, found in by_part(samples).items():
        above.plot([s.at / 60 for s in found], [s.megabytes for s in found], linewidth=1, label=part)
    above.set(ylabel="resident memory, MB", yscale="log")
    searches = [o for o in ledger.operations if (o.who, o.kind, o.outcome) == ("REST", "search", "200")]
    minutes = defaultdict(list)
    for search in searches:
        minutes[search.at // _BIN].append(1000 * search.seconds)
    for share in (0.5, 0.95):
        times = [np.quantile(values, share) for _, values in sorted(minutes.items())]
        below.plot([minute + 0.5 for minute in sorted(minutes)], times, linewidth=1, label=f"p{100 * share:.0f}")
    below.set(xlabel="minutes", ylabel="a search over REST, ms", yscale="log")
    for at, what, took in ledger.kills:
        if took:
            above.axvline(at / 60, color="grey", linewidth=0.5)
            above.annotate(what, (at / 60, 1), xycoords=("data", "axes fraction"), fontsize=6, rotation=90, va="top")
    for axes in (above, below):
        axes.legend(loc="lower right", fontsize=8)
        axes.grid(True, alpha=0.3)
    figure.savefig(path)


def _halves(seconds: float) -> tuple[Any, Any]:
    return (lambda at: at < seconds / 2), (lambda at: at >= seconds / 2)


def _markdown(value: dict[str, Any]) -> str:
    """Return the report as Markdown."""
    lines = [
        f"# Soak of {value['hours']:g} hours, seed {value['seed']}\n",
        f"Load averages at the end: {value['load']}. {len(value['kills'])} kills.\n",
        "## Findings\n", *([f"- {finding}" for finding in value["findings"]] or ["None."]),
        "\n## Digests against the same work done quietly\n",
        *(f"- {name}: {'equal' if equal else 'DIFFERENT'}" for name, equal in value["digests"].items()),
        "\n## Memory, second half\n",
        "| part | mean MB | slope, MB a minute | standard error | |", "|---|---:|---:|---:|---|",
        *(
            f"| {part} | {m['mean']:.0f} | {m['slope']:+.3f} | {m['error']:.3f} | {'flat' if m['flat'] else 'RISES'} |"
            if m else f"| {part} | | too short | | |"
            for part, m in value["memory"].items()
        ),
        "\n![Memory and latency](report.svg)\n",
        "## Operations\n", "| who | kind | number | failed or killed | p50, p95 ms, first half | second half |",
        "|---|---|---:|---:|---:|---:|",
        *(
            f"| {r['who']} | {r['kind']} | {r['number']} | {r['failed']} | {_pair(r['ms'][0])} | {_pair(r['ms'][1])} |"
            for r in value["operations"]
        ),
        "\n## Kills\n", *(f"- {k['at'] / 60:.1f} min: {k['what']}{_back(k['seconds'])}" for k in value["kills"]),
        "\n## Errors that a user saw\n", "| who | number | error | remedy |", "|---|---:|---|---|",
        *(f"| {e['who']} | {e['number']} | {_cell(e['error'])} | {_cell(e['remedy'])} |" for e in value["errors"]),
    ]  # fmt: skip
    return "\n".join(lines) + "\n"


def _pair(times: list[float | None]) -> str:
    return "" if times[0] is None else f"{times[0]:,.0f}, {times[1]:,.0f}"


def _back(seconds: float) -> str:
    return f", back after {seconds:.1f} s" if seconds else ""


def _cell(text: str) -> str:
    return text[:300].replace("|", "\\|")
