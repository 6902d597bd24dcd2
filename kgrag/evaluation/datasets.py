"""Question sets: a folder with corpus.jsonl, queries.jsonl and perhaps triples.jsonl, read and checked.

corpus.jsonl: id, text and perhaps title, a passage a line. queries.jsonl: id, question, gold (ids of the corpus) and
perhaps answers and type. triples.jsonl: passage (id of the corpus), subject, predicate, object.
"""

import hashlib
import json
import os
import re
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from kgrag.errors import InputError
from kgrag.loaders import load
from kgrag.loaders.base import BadInput
from kgrag.loaders.rows import row_key
from kgrag.types import Document, Problem

CORPUS, QUERIES, TRIPLES = "corpus.jsonl", "queries.jsonl", "triples.jsonl"
_CORPUS_FORM = 'Each line is an object like {"id": "m0", "title": "...", "text": "..."}; every id occurs once.'
_QUERIES_FORM = 'Each line is an object like {"id": "q0", "question": "...", "gold": ["m0"]}; every id occurs once.'
_TRIPLES_FORM = 'Each line is an object like {"passage": "m0", "subject": "...", "predicate": "...", "object": "..."}.'
_UNPLAIN = re.compile(r"[^\w.]+")


@dataclass(frozen=True, slots=True)
class Question:
    """A question with the documents that hold its answer (`gold`: their keys, distinct) and its known answers."""

    id: str
    text: str
    gold: tuple[str, ...]
    answers: tuple[str, ...] = ()
    type: str = ""


@dataclass(frozen=True, slots=True)
class Dataset:
    """A question set. `keys` are the ids of its corpus, whose texts are read only when they are ingested."""

    folder: Path
    questions: tuple[Question, ...]
    keys: frozenset[str]

    @property
    def name(self) -> str:
        """The name of its folder."""
        return self.folder.name

    def documents(self, max_file_mb: int = 64) -> Iterator[Document | Problem]:
        """The corpus as documents with their triples, read one by one; other files of the folder are left out."""
        items = load(self.folder, max_file_mb=max_file_mb)
        return (item for item in items if isinstance(item, Problem) or item.key in self.keys)

    def collection(self, embedder: str) -> str:
        """The name of the collection that it is ingested into by default: its own for each folder and embedder."""
        digest = hashlib.blake2b(os.fsencode(self.folder), digest_size=4).hexdigest()[:7]
        return "-".join(["eval", *(_UNPLAIN.sub("_", part)[:80] for part in (self.name, embedder)), digest])

    def unreachable(self, questions: Sequence[Question]) -> dict[str, tuple[str, ...]]:
        """Question id -> its gold that is not in the corpus, for the questions that have such."""
        missing = {q.id: tuple(key for key in q.gold if key not in self.keys) for q in questions}
        return {id: keys for id, keys in missing.items() if keys}


def read_dataset(folder: Path) -> Dataset:
    """Read a question set's questions and check every line of its files.

    Raises InputError, naming file and line, for a file that is missing, empty or not in the form above.
    """
    folder = folder.resolve()
    if not folder.is_dir():
        raise InputError(f"{folder} is not a folder.", f"Name a folder that holds {CORPUS} and {QUERIES}.")
    questions = tuple(_question(*record) for record in _records(folder / QUERIES, _QUERIES_FORM))
    _distinct([q.id for q in questions], folder / QUERIES, _QUERIES_FORM)
    keys = [_passage(*record) for record in _records(folder / CORPUS, _CORPUS_FORM)]
    if (folder / TRIPLES).exists():
        for record in _records(folder / TRIPLES, _TRIPLES_FORM):
            _triple(*record)
    return Dataset(folder, questions, _distinct(keys, folder / CORPUS, _CORPUS_FORM))


def _records(path: Path, form: str) -> Iterator[tuple[str, dict[str, Any]]]:
    """("path:line", object) of each line that is not blank."""
    try:
        with path.open(encoding="utf-8-sig") as lines:
            for number, line in enumerate(lines, 1):
                if line.strip():
                    place = f"{path}:{number}"
                    yield place, _object(place, line, form)
    except OSError as error:
        reason = "does not exist" if isinstance(error, FileNotFoundError) else f"cannot be read ({error.strerror})"
        raise InputError(f"{path} {reason}.", f"A question set holds {CORPUS} and {QUERIES}. {form}") from error
    except UnicodeDecodeError as error:
        raise InputError(f"{path} is not UTF-8 ({error.reason}).", "Save it as UTF-8.") from error


def _object(place: str, line: str, form: str) -> dict[str, Any]:
    try:
        record = json.loads(line, strict=False)
    except (ValueError, RecursionError) as error:
        raise InputError(f"{place}: not JSON ({error}).", form) from error
    if not isinstance(record, dict):
        raise InputError(f"{place}: not an object.", form)
    return record


def _question(place: str, record: dict[str, Any]) -> Question:
    gold, answers = record.get("gold"), record.get("answers") or []
    if not isinstance(gold, list) or not gold:
        raise InputError(f"{place}: gold is no list of passages, so there is nothing to find.", _QUERIES_FORM)
    if not isinstance(answers, list):
        raise InputError(f"{place}: answers is no list.", _QUERIES_FORM)
    text = _text(place, record, "question", _QUERIES_FORM)
    if not text.strip():
        raise InputError(f"{place}: question is empty.", _QUERIES_FORM)
    return Question(
        id=_id(place, record.get("id"), "id", _QUERIES_FORM),
        text=text,
        gold=tuple(dict.fromkeys(_id(place, key, "gold", _QUERIES_FORM) for key in gold)),
        answers=tuple(map(str, answers)),
        type=str(record.get("type") or ""),
    )


def _passage(place: str, record: dict[str, Any]) -> str:
    """The id of a line of the corpus."""
    _text(place, record, "text", _CORPUS_FORM)
    return _id(place, record.get("id"), "id", _CORPUS_FORM)


def _triple(place: str, record: dict[str, Any]) -> None:
    _id(place, record.get("passage"), "passage", _TRIPLES_FORM)
    for name in ("subject", "predicate", "object"):
        _text(place, record, name, _TRIPLES_FORM)


def _id(place: str, value: object, name: str, form: str) -> str:
    """An id as the key of a document, which is how the loaders write it."""
    try:
        key = row_key(value)
    except BadInput as error:
        raise InputError(f"{place}: {error}.", form) from error
    if not key:
        raise InputError(f"{place}: {name} is missing.", form)
    return key


def _text(place: str, record: dict[str, Any], name: str, form: str) -> str:
    value = record.get(name)
    if not isinstance(value, str):
        raise InputError(f"{place}: {name} is missing or no text.", form)
    return value


def _distinct(ids: Sequence[str], path: Path, form: str) -> frozenset[str]:
    """The ids as a set. Raises InputError when there are none, or one occurs twice."""
    if not ids:
        raise InputError(f"{path} is empty.", form)
    found = frozenset(ids)
    if len(found) < len(ids):
        twice = next(id for id, number in Counter(ids).items() if number > 1)
        raise InputError(f"{path}: id {twice!r} occurs more than once.", form)
    return found
