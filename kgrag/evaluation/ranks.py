"""Where the gold of each question stood, kept small: a file that can be published, without a word of the data.

Compressed JSON Lines. The first line says what was measured and how; each further one is a question: its id, its hops
and type, how many golds it has, and for each retriever or system their ranks and the milliseconds.
"""

import gzip
import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from kgrag import __version__
from kgrag.errors import InputError
from kgrag.evaluation.datasets import Question
from kgrag.evaluation.report import Result
from kgrag.evaluation.retrieving import Record

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
            f"{path} is no file of ranks: {error}", "Make one with `kgrag eval ... --ranks FILE`."
        ) from error
    if baseline is not None and baseline not in names:
        raise InputError(f"{path} holds no ranks of {baseline!r}.", f"It holds: {', '.join(names)}.")
    conditions = {"depth": depth, "machine": head.get("machine")}
    notes = tuple(filter(None, [head.get("command")]))
    return Result.of(title, records, depth, {}, baseline, seed, at, conditions=conditions, notes=notes)
