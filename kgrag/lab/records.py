"""Records of experiments: append-only files, so that an interrupted run resumes, and ranks to publish.

A folder has a JSON Lines file for each system and data set. The first line names them; each further line is one
question's record, written as soon as it is made. If a question has two lines, the later one counts.
The file's name ends in a digest of the first line, so that records of another corpus, embedder, retriever, option or
depth are never taken for these.

A file of ranks is small and contains no text of the data set: compressed JSON Lines. The first line describes the
measurement. Each further line is a question: its id, hops and type, its number of golds, and for each retriever or
system their ranks and the milliseconds.
"""

import gzip
import hashlib
import json
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict
from itertools import groupby, takewhile
from pathlib import Path
from typing import Any, Self

from kgrag.agents.strategy import Strategy
from kgrag.client.collection import Collection
from kgrag.graph.reader import Reader
from kgrag.lab.datasets import Dataset, Question
from kgrag.lab.measures import exact_match, f1, recall_at, structure_match
from kgrag.lab.report import Result
from kgrag.lab.retrieving import AnswerRecord, Record
from kgrag.retrieval.base import Retriever
from kgrag.retrieval.compose import text_of
from kgrag.runtime.files import user_file
from kgrag.runtime.options import Options
from kgrag.values import __version__
from kgrag.values.errors import InputError
from kgrag.values.forms import plain as plain_form
from kgrag.values.forms import read
from kgrag.values.results import Passage

_KEYS = {"identity", "documents", "ranks", "seconds"}
"""The required keys of a line of a record."""

_UNPLAIN = re.compile(r"[^\w.]+")
_VERSION = 1  # version of the file format of ranks


class Ledger:
    """A JSON Lines file open for appending; its first line describes the others. A context manager.

    `rows`: the objects in the file when it was opened, from the first line on; other lines are left out.
    """

    def __init__(self, path: Path, head: Mapping[str, Any]) -> None:
        """Open the file, and create it if needed. Raises InputError when it cannot be written.

        A last line that a kill cut short is dropped.
        """
        self.path = path
        check_folder(path.parent)
        with user_file(path):
            self._file = path.open("ab+", buffering=0)
        self._file.seek(0)
        lines = list(takewhile(lambda line: line.endswith(b"\n"), self._file.readlines()))
        self._file.truncate(sum(map(len, lines)))
        self.rows = [row for line in lines if isinstance(row := _object(line), dict)]
        if not lines:
            self.add(head)
            self.rows = [dict(head)]

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *error: object) -> None:
        self._file.close()

    def add(self, row: Mapping[str, Any]) -> None:
        """Write a line at once."""
        self._file.write(f"{json.dumps(row, ensure_ascii=False)}\n".encode("utf-8", "surrogatepass"))


def _object(line: bytes) -> Any:
    try:
        return json.loads(line)
    except ValueError:  # a kill truncated it
        return None


def check_folder(folder: Path) -> None:
    """Make the folder of the records. Raises InputError if that fails, before a long measurement begins."""
    with user_file(folder):
        folder.mkdir(parents=True, exist_ok=True)


def plain(system: str) -> str:
    """Return the name of a system as a part of a file name."""
    return _UNPLAIN.sub("-", system).strip("-")[:80]


def in_force(part: object) -> dict[str, Any]:
    """Return the effective options and constants of a retriever or a system, and of its parts.

    Names are the same as in the settings.

    A name has only the given options; defaults may change with a release or in a plugin package.
    """
    options: dict[str, Any] = {"class": type(part).__qualname__}
    if isinstance(part, Retriever) and part.constants is not None:
        options["constants"] = asdict(part.constants)
    for name, value in getattr(part, "__dict__", {}).items():
        if isinstance(value, Options):
            options[name] = value.model_dump(mode="json")
        inner = value if isinstance(value, tuple) else (value,)
        if nested := [in_force(one) for one in inner if isinstance(one, Retriever | Strategy)]:
            options[name] = nested
    return options


class RecordFile(Ledger):
    """The records of one system.

    `subject` is everything that a record depends on besides its question; another value of any part has another file.
    Failed questions are not known, so they are asked again.
    """

    def __init__(self, folder: Path, system: str, subject: Mapping[str, Any], collection: str = "") -> None:
        """Open the file, and create it if needed; its first line names the `collection` for human readers.

        Raises InputError when it cannot be written.
        """
        self._system = system
        head = dict(sorted({"system": system, **subject}.items()))
        digest = _digest(json.dumps(head, ensure_ascii=False, sort_keys=True), 6)
        more = {"collection": collection} if collection else {}
        super().__init__(folder / f"{plain(system)}-{digest}.jsonl", {**head, **more})
        self._records: dict[str, dict[str, Any]] = {}
        for row in self.rows:
            if row.keys() >= _KEYS:
                self._records.pop(row["identity"], None)
                if not row.get("error"):
                    self._records[row["identity"]] = row

    def find(self, question: Question) -> Record | None:
        """Return the earlier record of a question, in the same words and with the same gold."""
        record = self._records.get(_identity(question))
        if record is None:
            return None
        return read(Record, {**record, "system": self._system, "question": question})

    def keep(self, record: Record) -> None:
        """Write a record to the file at once."""
        question = record.question
        row = {
            "question": question.id, "identity": _identity(question), "text": question.text, "gold": question.gold,
            "answers": question.answers, "system": record.system, "documents": record.documents, "ranks": record.ranks,
            "seconds": round(record.seconds, 6), "type": question.type, "hops": question.hops,
            **({"answer": _values(record.answer, question)} if record.answer is not None else {}),
            **({"usage": plain_form(record.usage)} if record.usage.calls else {}),
            **({"passages": record.passages} if record.passages else {}),
            **({"error": record.error} if record.error else {}),
        }  # fmt: skip
        self.add(row)


def _values(answer: AnswerRecord, question: Question) -> dict[str, Any]:
    """Return an answer as it is written; its measures are for human readers, since kgrag recomputes them."""
    answers = question.answers
    measured = {"EM": exact_match(answer.text, answers), "F1": round(f1(answer.text, answers), 4)} if answers else {}
    if answer.grade is not None:
        measured["Acc"] = float(answer.grade.correct)
    if question.structure:
        measured["Struct-EM"] = structure_match(answer.structure, question.structure)
    return {**plain_form(answer), **measured}


def _identity(question: Question) -> str:
    more = [part for part in (question.structure, question.choices) if part]
    return _digest(json.dumps([question.id, question.text, question.gold, *more], ensure_ascii=False), 8)


def _digest(text: str, size: int) -> str:
    return hashlib.blake2b(text.encode("utf-8", "surrogatepass"), digest_size=size).hexdigest()


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
    with user_file(path):
        # no name and no time in the header: equal ranks give equal files
        path.write_bytes(gzip.compress(text.encode("utf-8", "surrogatepass"), mtime=0))


def read_ranks(path: Path, *, baseline: str | None = None, at: Sequence[int] = (), seed: int = 0) -> Result:
    """Return the result with the ranks of a file, without answers. Raises InputError for another kind of file."""
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


def changes(result: Result, k: int) -> list[dict[str, Any]]:
    """Return the questions with more or less gold among a system's first k than in the baseline.

    Each row has the ranks of its gold `before` (in the baseline) and `after`, None beyond the depth, and the change of
    the found share (`gained`, -1 to 1). Gains of a system come first. Raises InputError without a baseline.
    """
    if result.baseline is None:
        raise InputError("Changes are those against a baseline.", "Name it with --baseline.")
    ranks = {r.question.id: r.ranks for r in result.records if r.system == result.baseline and r.question.gold}
    rows = []
    for r in result.records:
        before = ranks.get(r.question.id, r.ranks)
        if gained := round(recall_at(r.ranks, k) - recall_at(before, k), 3) if r.question.gold else 0:
            row = {"system": r.system, "question": r.question.id, "type": r.question.type}
            rows.append({**row, "before": before, "after": r.ranks, "gained": gained})
    return sorted(rows, key=lambda row: (row["system"], -row["gained"], row["question"]))


_AT_ONCE = 100  # questions


def write_samples(
    folder: Path, records: Iterable[Record], data: Dataset, collection: Collection
) -> tuple[list[Path], int]:
    """Write the records of each system to a file of JSON Lines in `folder`, and replace a file that is there.

    The columns are `user_input`, `retrieved_contexts` with `retrieved_context_ids` (the ranked passages),
    `reference_contexts` with `reference_context_ids` (the gold passages), `reference` (the first known answer), and for
    answering systems `response`; missing values are left out. Texts are read from `collection`, which the records come
    from. Returns the files, and how many records have no passages: older ones, which are left out. Raises InputError
    when the folder cannot be made.
    """
    check_folder(folder)
    files: list[Path] = []
    names: Counter[str] = Counter()
    without = 0
    for system, group in groupby(records, key=lambda record: record.system):
        own = list(group)
        whole = [record for record in own if record.passages or not record.documents]
        without += len(own) - len(whole)
        name = plain(system)
        names[name] += 1
        files.append(folder / f"{name}{'' if names[name] == 1 else f'-{names[name]}'}.jsonl")
        with files[-1].open("w", encoding="utf-8") as file:
            for sample in _samples(whole, data, collection.context.reader):
                file.write(f"{json.dumps(sample, ensure_ascii=False)}\n")
    return files, without


def _samples(records: Sequence[Record], data: Dataset, reader: Reader) -> Iterator[dict[str, Any]]:
    """Yield the samples of records, in their order; texts are read for `_AT_ONCE` records together."""
    for start in range(0, len(records), _AT_ONCE):
        part = records[start : start + _AT_ONCE]
        gold = list({key for record in part for key in record.question.gold} - data.gold_texts.keys())
        by_document = reader.document_passages(gold) if gold else {}
        ids = {id for record in part for id in record.passages}.union(*by_document.values())
        texts = reader.passages(list(ids))
        for record in part:
            yield _sample(record, data, by_document, texts)


def _sample(
    record: Record, data: Dataset, by_document: Mapping[str, Sequence[str]], texts: Mapping[str, Passage]
) -> dict[str, Any]:
    question = record.question
    sample = {
        "user_input": question.text,
        **_contexts("retrieved", [texts[id] for id in record.passages if id in texts]),
    }
    if data.gold_texts:
        sample["reference_contexts"] = [data.gold_texts[key].text for key in question.gold if key in data.gold_texts]
    elif question.gold:
        gold = [texts[id] for key in question.gold for id in by_document.get(key, ()) if id in texts]
        sample |= _contexts("reference", sorted(gold, key=lambda passage: (passage.document, passage.ordinal)))
    if record.answer is not None:
        sample["response"] = record.answer.text
    if question.answers:
        sample["reference"] = question.answers[0]
    return sample


def _contexts(kind: str, passages: Iterable[Passage]) -> dict[str, list[str]]:
    """Return the texts of passages as evidence, and their ids."""
    evidence = list(passages)
    return {f"{kind}_contexts": [text_of(p) for p in evidence], f"{kind}_context_ids": [p.id for p in evidence]}
