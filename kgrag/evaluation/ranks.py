"""Where the gold of each question stood, kept small: a file that can be published, without a word of the data.

Compressed JSON Lines. The first line says what was measured and how; each further one is a question: its id, its hops
and type, how many golds it has, and for each retriever or system their ranks and the milliseconds.
"""

import gzip
import json
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from kgrag import __version__
from kgrag.evaluation.datasets import Question
from kgrag.evaluation.metrics import Ranks, recall_at
from kgrag.evaluation.report import Result, Sheet
from kgrag.evaluation.retrieving import Record
from kgrag.values.errors import InputError

_VERSION = 1


def write_ranks(path: Path, result: Result, command: str = "") -> None:
    """Write the ranks of a result. Raises InputError when the file cannot be written."""
    head = {
        "version": _VERSION,
        "kgrag": __version__,
        "title": result.title,
        "depth": result.conditions["depth"],
        "machine": result.conditions.get("machine"),
        "command": command,
    }
    lines: dict[str, dict[str, Any]] = {}
    for record in result.records:
        q = record.question
        line = lines.setdefault(q.id, {"id": q.id, "hops": q.hops, "type": q.type, "gold": len(q.gold), "ranks": {}})
        line["ranks"][record.system] = [
            list(record.ranks),
            round(1000 * record.seconds, 1),
            *([1] if record.error else []),
        ]
    text = "".join(f"{json.dumps(line, ensure_ascii=False)}\n" for line in (head, *lines.values()))
    try:
        # no name and no time in it: the same ranks, the same file
        path.write_bytes(gzip.compress(text.encode("utf-8", "surrogatepass"), mtime=0))
    except OSError as error:
        raise InputError(f"{path} cannot be written ({error.strerror}).", "Name another file with --ranks.") from error


def read_ranks(path: Path, *, baseline: str | None = None, at: Sequence[int] = (), seed: int = 0) -> Result:
    """The result whose ranks are in a file; it has no answers. Raises InputError when it is no such file."""
    try:
        head, *lines = map(json.loads, gzip.decompress(path.read_bytes()).decode("utf-8").splitlines())
        names = list(dict.fromkeys(name for line in lines for name in line["ranks"]))
        questions = {
            line["id"]: Question(
                line["id"], "", tuple(map(str, range(line["gold"]))), type=line["type"], steps=line["hops"]
            )
            for line in lines
        }
        records = [
            Record(name, questions[line["id"]], (), tuple(ranks), ms / 1000, "it failed" if failed else "")
            for name in names
            for line in lines
            for ranks, ms, *failed in [line["ranks"][name]]
        ]
        title, depth = head["title"], head["depth"]
    except (OSError, EOFError, ValueError, KeyError, TypeError) as error:
        raise InputError(
            f"{path} is no file of ranks: {error}", "Make one with `kgrag lab eval ... --ranks FILE`."
        ) from error
    if baseline is not None and baseline not in names:
        raise InputError(f"{path} holds no ranks of {baseline!r}.", f"It holds: {', '.join(names)}.")
    conditions = {"depth": depth, "machine": head.get("machine")}
    notes = tuple(filter(None, [head.get("command")]))
    return Result.of(title, records, depth, {}, baseline, seed, at, conditions=conditions, notes=notes)


@dataclass(frozen=True, slots=True)
class Change:
    """A question of which `system` finds more or less gold among the first k than the baseline.

    `before` and `after`: the ranks of its gold in the baseline and in the system, None beyond the depth; `gained`: how
    much more of it is found, from -1 to 1.
    """

    system: str
    question: str
    type: str
    before: Ranks
    after: Ranks
    gained: float


def changes(result: Result, k: int) -> list[Change]:
    """What each system changes against the baseline of a result, what is gained first and what is lost last.

    Raises InputError without a baseline. Questions without gold are left out.
    """
    if result.baseline is None:
        raise InputError("Changes are those against a baseline.", "Name it with --baseline.")
    before = {r.question.id: r.ranks for r in result.records if r.system == result.baseline}
    found = [
        Change(
            record.system,
            record.question.id,
            record.question.type or "",
            its,
            record.ranks,
            round(recall_at(record.ranks, k) - recall_at(its, k), 3),
        )
        for record in result.records
        if record.system != result.baseline and record.question.gold and (its := before.get(record.question.id))
    ]
    return sorted((c for c in found if c.gained), key=lambda c: (c.system, -c.gained, c.question))


def changes_sheet(result: Result, k: int) -> Sheet:
    """The changes as a table. Raises InputError without a baseline."""

    def shown(ranks: Ranks) -> str:
        return " ".join("-" if rank is None else str(rank) for rank in ranks)

    rows = [
        (c.system, c.question, c.type, shown(c.before), shown(c.after), f"{100 * c.gained:+.0f}")
        for c in changes(result, k)
    ]
    head = ("system", "question", "type", "before", "after", f"R@{k}")
    return Sheet(f"ranks of gold that change against {result.baseline}", head, tuple(rows))
