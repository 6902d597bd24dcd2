"""What `kgrag lab eval --out` keeps, read again: a system with what it was measured on, or two of them."""

from dataclasses import dataclass, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from kgrag.evaluation import summary
from kgrag.evaluation.datasets import Question
from kgrag.evaluation.ledger import objects
from kgrag.evaluation.records import KEYS, record_of
from kgrag.evaluation.retrieving import Record
from kgrag.evaluation.significance import Difference

FIRST = 5
"""Documents in which two systems are compared, question by question."""

_HEAD = {"system", "dataset", "depth", "embedder"}
_ASKED = {"question", "text", "gold", "answers"}


@dataclass(frozen=True, slots=True)
class Kept:
    """A system that was measured, and when its last question was asked.

    `id` is the name of its file. `collection` is empty where each question had one of its own.
    """

    id: str
    system: str
    dataset: str
    embedder: str
    collection: str
    depth: int
    written: datetime
    records: tuple[Record, ...]

    @property
    def measures(self) -> dict[str, float | None]:
        """Its row of the table that `kgrag lab eval` prints."""
        return summary.table(self.records, self.depth)[self.system]


def kept(folder: Path) -> list[Kept]:
    """What a folder and those in it hold, the newest first; other files are passed over."""
    found = filter(None, map(_read, folder.rglob("*.jsonl")))
    return sorted(found, key=lambda its: its.written, reverse=True)


def shared(one: Kept, other: Kept) -> list[tuple[Record, Record]]:
    """The records of the questions that both were asked."""
    known = {record.question: record for record in other.records}
    return [(record, known[record.question]) for record in one.records if record.question in known]


def differ(one: Record, other: Record) -> bool:
    """Whether two systems have other gold of a question among the first `FIRST`, or answered it in other words."""
    said, heard = (None if its.answer is None else its.answer.text for its in (one, other))
    found, known = ([rank is not None and rank <= FIRST for rank in its.ranks] for its in (one, other))
    return found != known or said != heard


def differences(pairs: list[tuple[Record, Record]], depth: int) -> dict[str, Difference]:
    """Measure -> how much better the first of each pair is than the second."""
    ones = [replace(one, system="one") for one, _ in pairs]
    others = [replace(other, system="other") for _, other in pairs]
    return summary.differences(ones + others, "other", depth).get("one", {})


def _read(path: Path) -> Kept | None:
    """A file of records. None for another, and for one that holds none yet."""
    with path.open("rb") as file:
        head = next(objects([file.readline()]), {})
        if not head.keys() >= _HEAD:
            return None
        rows = {row["identity"]: row for row in objects(file) if row.keys() >= KEYS | _ASKED}
    if not rows:
        return None
    system = str(head["system"])
    return Kept(
        path.stem,
        system,
        str(head["dataset"]),
        str(head["embedder"]),
        str(head.get("collection", "")),
        int(head["depth"]),
        datetime.fromtimestamp(path.stat().st_mtime, UTC),
        tuple(record_of(system, _question(row), row) for row in rows.values()),
    )


def _question(row: dict[str, Any]) -> Question:
    return Question(row["question"], row["text"], tuple(row["gold"]), tuple(row["answers"]))
