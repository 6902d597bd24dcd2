"""Shared parts of the readers: rows of large files, distinct passages, errors that name the place."""

import csv
import hashlib
import json
import re
from codecs import BOM_UTF8
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from itertools import chain
from pathlib import Path
from typing import Any, TextIO

from kgrag.lab.datasets import Corpus, Dataset, Question
from kgrag.loaders.base import BadInput, clean, one_line
from kgrag.loaders.named_rows import row_key
from kgrag.values.documents import Document, Problem, Section
from kgrag.values.errors import InputError

BLOCK = 1 << 16  # bytes read at once
_LONGEST = 1 << 28  # characters of one column
Place = tuple[str, dict[str, Any]]
"""The place of an object, "path:line" or "path#number", and the object."""


def json_lines(path: Path, form: str) -> Iterator[Place]:
    """Yield the objects of a JSON Lines file.

    Raises InputError with the line and the expected `form`.
    """
    with _opened(path, form) as file:
        yield from _lines(path, file, form)


def json_rows(path: Path, form: str) -> Iterator[Place]:
    """Yield the objects of a JSON Lines file, or of a JSON file with a list of them, read one by one.

    Raises InputError, naming the place and the expected form (`form`).
    """
    with _opened(path, form) as file:
        if _first_character(file) != "[":
            yield from _lines(path, file, form)
            return
        for number, (_, value) in enumerate(_streamed(path, file, form), 1):
            place = f"{path}#{number}"
            yield place, _object(place, value, form)


def json_pairs(path: Path, form: str) -> Iterator[tuple[str, Any]]:
    """Yield the names and values of a file with one large JSON object, read one by one. Raises InputError."""
    with _opened(path, form) as file:
        for name, value in _streamed(path, file, form):
            if name is None:
                raise InputError(f"{path}: not an object.", form)
            yield name, value


def tsv_rows(path: Path, form: str) -> Iterator[tuple[str, dict[str, str]]]:
    """Yield the rows of a tab-separated file, whose first line is the header. Raises InputError."""
    csv.field_size_limit(_LONGEST)
    with _opened(path, form, newline="") as file:
        reader = csv.DictReader(file, delimiter="\t")
        try:
            for row in reader:
                yield (
                    f"{path}:{reader.line_num}",
                    {k: v for k, v in row.items() if isinstance(k, str) and isinstance(v, str)},
                )
        except csv.Error as error:
            raise InputError(f"{path}:{reader.line_num}: no table ({error}).", form) from error


def first_row(path: Path) -> dict[str, Any]:
    """Return the first object or row of a file, for recognising its format; {} if it has none."""
    try:
        if path.suffix.lower() == ".tsv":
            return dict(next(tsv_rows(path, ""), ("", {}))[1])
        with path.open(encoding="utf-8-sig") as file:
            if _first_character(file) not in ("[", "{"):
                return {}
            if _first_character(file) == "{" and len(file.readline(1 << 24)) == 1 << 24:
                return {}  # one large object
        return next(json_rows(path, ""), ("", {}))[1]
    except (InputError, OSError, UnicodeDecodeError):
        return {}


@contextmanager
def _opened(path: Path, form: str, newline: str | None = None) -> Iterator[TextIO]:
    """Open a text file; errors while reading it become InputErrors."""
    try:
        with path.open(encoding="utf-8-sig", newline=newline) as file:
            yield file
    except UnicodeDecodeError as error:
        raise InputError(f"{path} is not UTF-8 ({error.reason}).", "Save it as UTF-8.") from error
    except OSError as error:
        reason = "does not exist" if isinstance(error, FileNotFoundError) else f"cannot be read ({error.strerror})"
        raise InputError(f"{path} {reason}.", form) from error


def _first_character(file: TextIO) -> str:
    """Return the first character that is not white space, and rewind the file."""
    while (character := file.read(1)).isspace():
        pass
    file.seek(0)
    return character


def _lines(path: Path, file: TextIO, form: str) -> Iterator[Place]:
    for number, line in enumerate(file, 1):
        if line.strip():
            place = f"{path}:{number}"
            try:
                yield place, _object(place, json.loads(line, strict=False), form)
            except (ValueError, RecursionError) as error:
                raise InputError(f"{place}: not JSON ({error}).", form) from error


def _object(place: str, value: Any, form: str) -> dict[str, Any]:
    if not isinstance(value, dict):
        raise InputError(f"{place}: not an object.", form)
    return value


def _streamed(path: Path, file: TextIO, form: str) -> Iterator[tuple[str | None, Any]]:
    """Yield the items of a JSON list, or the names and values of an object, one by one. Raises InputError."""
    import ijson

    source = file.buffer
    if source.read(len(BOM_UTF8)) != BOM_UTF8:
        source.seek(0)
    name, number, depth, builder = None, 0, 0, ijson.ObjectBuilder()
    try:
        # not ijson.items: it keeps the path of each value, which is quadratic in the nesting depth of a damaged file
        for event, value in ijson.basic_parse(source, use_float=True, buf_size=BLOCK):
            depth -= event.startswith("end")
            if depth == 1 and event == "map_key":
                name = value
            elif depth:
                builder.event(event, value)
                if depth == 1 and not event.startswith("start"):
                    number += 1
                    yield name, builder.value
                    builder = ijson.ObjectBuilder()
            depth += event.startswith("start")
    except (ijson.JSONError, ValueError) as error:
        reason = " ".join(str(error).split())
        raise InputError(f"{path}#{number + 1}: not JSON ({reason}).", form) from error


_REFERENCE = re.compile(r"#(\d+)")


@dataclass(slots=True)
class Pool:
    """Collects passages from the contexts of many questions, each title and text once."""

    seen: set[str] = field(default_factory=set)

    def new(self, passages: Iterable[tuple[str, str]], source: str) -> Iterator[Document]:
        """Yield documents of the new passages (title, text) with text."""
        for title, text in passages:
            key = passage_key(title, text)
            if key not in self.seen and clean(text).strip():
                self.seen.add(key)
                yield Document(key, (Section(clean(text).strip()),), title=one_line(title), source=source)


def passage_key(title: str, text: str) -> str:
    """Return the key of a passage without its own id: a digest of its title and text."""
    content = f"{one_line(title)}\x1f{clean(text).strip()}"
    return hashlib.blake2b(content.encode("utf-8", "surrogatepass"), digest_size=8).hexdigest()


Row = tuple[Question | None, Sequence[tuple[str, str]]]
"""A question, None if it is left out, and the passages (title, text) of its context."""


def context_dataset(
    path: Path,
    rows: Callable[[], Iterator[Row]],
    form: str,
    left_out: str,
    others: Callable[[], Iterator[Row]] = lambda: iter(()),
) -> Dataset:
    """Return a data set of questions that come with passages; the distinct passages of all form the corpus.

    `rows` reads the file again at each call; `left_out`: the reason for leaving out a question. `others`: rows that
    contribute only passages.
    """
    questions: list[Question] = []
    pool = Pool()
    missing = 0
    for question, passages in rows():
        missing += question is None
        questions.extend([question] if question is not None else [])
        for _ in pool.new(passages, ""):
            pass
    for _, passages in others():
        for _ in pool.new(passages, ""):
            pass
    notes = (f"{missing:,} questions are left out: {left_out}.",) if missing else ()

    def corpus(max_file_mb: int) -> Iterator[Document | Problem]:
        fresh = Pool()
        for _, passages in chain(rows(), others()):
            yield from fresh.new(passages, str(path))

    return Dataset(path, checked(questions, path, form), frozenset(pool.seen), Corpus(corpus), notes)


def checked(questions: Iterable[Question], path: Path, form: str) -> tuple[Question, ...]:
    """Check questions. Raises InputError if the list is empty, or an id occurs twice."""
    all_questions = tuple(questions)
    distinct([q.id for q in all_questions], path, form)
    return all_questions


def distinct(ids: Sequence[str], path: Path, form: str) -> frozenset[str]:
    """Return the ids as a set. Raises InputError if the list is empty, or an id occurs twice."""
    if not ids:
        raise InputError(f"{path} is empty.", form)
    unique = frozenset(ids)
    if len(unique) < len(ids):
        twice = next(id for id, number in Counter(ids).items() if number > 1)
        raise InputError(f"{path}: id {twice!r} occurs more than once.", form)
    return unique


def text_of(place: str, record: dict[str, Any], name: str, form: str) -> str:
    """Return a field that must hold text. Raises InputError."""
    value = record.get(name)
    if not isinstance(value, str):
        raise InputError(f"{place}: {name} is missing or no text.", form)
    return value


def question_of(place: str, record: dict[str, Any], form: str, name: str = "question") -> str:
    """Return the words of a question. Raises InputError if there are none."""
    text = text_of(place, record, name, form)
    if not text.strip():
        raise InputError(f"{place}: {name} is empty.", form)
    return text


def id_of(place: str, value: object, name: str, form: str) -> str:
    """Return an id as the key of a document, in the loaders' form. Raises InputError."""
    try:
        key = row_key(value)
    except BadInput as error:
        raise InputError(f"{place}: {error}.", form) from error
    if not key:
        raise InputError(f"{place}: {name} is missing.", form)
    return key


def list_of(place: str, record: dict[str, Any], name: str, form: str) -> list[Any]:
    """Return a field that must hold a list. Raises InputError."""
    value = record.get(name)
    if not isinstance(value, list):
        raise InputError(f"{place}: {name} is missing or not a list.", form)
    return value


def single_questions(steps: Iterable[object]) -> tuple[str, ...]:
    """Return complete sub-questions: #1 and the like become the answers of the earlier ones.

    `steps`: each {"question", "answer"}; empty if one of them is anything else.
    """
    answers: list[str] = []
    texts: list[str] = []
    for step in steps:
        if not isinstance(step, dict) or not isinstance(step.get("question"), str):
            return ()

        def filled(match: re.Match[str]) -> str:
            place = int(match[1]) - 1
            return answers[place] if 0 <= place < len(answers) else match[0]

        texts.append(_REFERENCE.sub(filled, step["question"]))
        answers.append(str(step.get("answer") or ""))
    return tuple(texts)
