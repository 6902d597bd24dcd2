"""The records of an experiment on disk, so that an interrupted run resumes.

A folder holds a JSON Lines file for each system and what it was measured on. The first line says what that is; each
further line is one question's record, written as soon as it is made; of two lines of a question the later one counts.
The file's name ends in a digest of the first line, so that records of another corpus, embedder, retriever, option or
depth are never taken for these.
"""

import hashlib
import json
import re
from collections.abc import Mapping
from dataclasses import asdict
from pathlib import Path
from types import TracebackType
from typing import Any, Self

from kgrag.agents.strategy import Strategy
from kgrag.evaluation.answers import exact_match, f1, structure_match
from kgrag.evaluation.datasets import Question
from kgrag.evaluation.ledger import Ledger
from kgrag.evaluation.retrieving import AnswerRecord, Grade, Iteration, Record
from kgrag.retrieval.base import Retriever
from kgrag.runtime.options import Options
from kgrag.values.errors import InputError
from kgrag.values.results import Usage

_KEYS = {"identity", "documents", "ranks", "seconds"}
"""What the line of a record has at least."""

_UNPLAIN = re.compile(r"[^\w.]+")


def check_folder(folder: Path) -> None:
    """Make the folder of the records. Raises InputError when it cannot be; measuring comes long after."""
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise _unwritable(folder, error) from error


def plain(system: str) -> str:
    """The name of a system as a part of a file's."""
    return _UNPLAIN.sub("-", system).strip("-")[:80]


def in_force(part: object) -> dict[str, Any]:
    """The options in force and the constants of a retriever or a system and, under the same names as there, of all that
    it works with.

    Its name has only the options that were given; a default may be another one tomorrow, or in a package of that name.
    """
    found: dict[str, Any] = {"class": type(part).__qualname__}
    if isinstance(part, Retriever) and part.constants is not None:
        found["constants"] = asdict(part.constants)
    for name, value in getattr(part, "__dict__", {}).items():
        if isinstance(value, Options):
            found[name] = value.model_dump(mode="json")
        inner = value if isinstance(value, tuple) else (value,)
        if its := [in_force(one) for one in inner if isinstance(one, Retriever | Strategy)]:
            found[name] = its
    return found


class RecordFile:
    """The records of one system. A context manager.

    `subject` is everything that a record depends on besides its question: what differs in any of it has another file.
    Questions that failed are not known, so that they are asked again.
    """

    def __init__(self, folder: Path, system: str, subject: Mapping[str, Any], collection: str = "") -> None:
        """Open the file, which is made if need be; its first line names the `collection`, for people.

        Raises InputError when it cannot be written.
        """
        self._system = system
        head = dict(sorted({"system": system, **subject}.items()))
        written = json.dumps(head, ensure_ascii=False, sort_keys=True)
        digest = hashlib.blake2b(written.encode(), digest_size=6).hexdigest()
        self.path = folder / f"{plain(system)}-{digest}.jsonl"
        self._records: dict[str, dict[str, Any]] = {}
        self._file = Ledger(self.path, {**head, **({"collection": collection} if collection else {})})
        for row in self._file.rows:
            if row.keys() >= _KEYS:
                self._records.pop(row["identity"], None)
                if not row.get("error"):
                    self._records[row["identity"]] = row

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._file.__exit__(kind, error, trace)

    def find(self, question: Question) -> Record | None:
        """The record of a question that was answered before, in the same words and with the same gold."""
        found = self._records.get(_identity(question))
        return None if found is None else _record_of(self._system, question, found)

    def add(self, record: Record) -> None:
        """Write a record to the file at once."""
        question = record.question
        row = {
            "question": question.id,
            "identity": _identity(question),
            "text": question.text,
            "gold": question.gold,
            "answers": question.answers,
            "system": record.system,
            "documents": record.documents,
            "ranks": record.ranks,
            "seconds": round(record.seconds, 6),
            "type": question.type,
            "hops": question.hops,
            **({"answer": _values(record.answer, question)} if record.answer is not None else {}),
            **({"usage": asdict(record.usage)} if record.usage.calls else {}),
            **({"passages": record.passages} if record.passages else {}),
            **({"error": record.error} if record.error else {}),
        }
        self._file.add(row)


def _record_of(system: str, question: Question, row: Mapping[str, Any]) -> Record:
    """The record that a line of a file holds."""
    return Record(
        system,
        question,
        tuple(row["documents"]),
        tuple(row["ranks"]),
        float(row["seconds"]),
        row.get("error", ""),
        _answer(row["answer"]) if "answer" in row else None,
        Usage(**row.get("usage", {})),
        tuple(row.get("passages", ())),
    )


def _values(answer: AnswerRecord, question: Question) -> dict[str, Any]:
    """An answer as it is written; its measures are for people, since they are worked out again when it is read."""
    known = question.answers
    measured = {"EM": exact_match(answer.text, known), "F1": round(f1(answer.text, known), 4)} if known else {}
    if answer.grade is not None:
        measured["Acc"] = float(answer.grade.correct)
    if question.structure:
        measured["Struct-EM"] = structure_match(answer.structure, question.structure)
    return {**asdict(answer), **measured}


def _answer(row: dict[str, Any]) -> AnswerRecord:
    steps = tuple(
        Iteration(tuple(i["ranks"]), i["calls"], i["tokens"], tuple(i.get("ranked") or i["ranks"]))
        for i in row["iterations"]
    )
    grade = Grade(**row["grade"]) if row.get("grade") else None
    structure = tuple(row.get("structure", ()))
    return AnswerRecord(row["text"], steps, Usage(**row["usage"]), row["began"], row["problem"], structure, grade)


def _unwritable(path: Path, error: OSError) -> InputError:
    return InputError(f"{path} cannot be written ({error.strerror}).", "Name another folder with --out.")


def _identity(question: Question) -> str:
    more = [part for part in (question.structure, question.choices) if part]
    parts = [question.id, question.text, question.gold, *more]
    content = json.dumps(parts, ensure_ascii=False)
    return hashlib.blake2b(content.encode("utf-8", "surrogatepass"), digest_size=8).hexdigest()
