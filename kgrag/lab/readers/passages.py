"""What the readers make of rows: passages without repeats, questions, errors that name the place."""

import hashlib
import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import chain
from pathlib import Path
from typing import Any

from kgrag.lab.datasets import Corpus, Dataset, Question
from kgrag.loaders.base import BadInput, clean, one_line
from kgrag.loaders.named_rows import row_key
from kgrag.values.documents import Document, Problem, Section
from kgrag.values.errors import InputError

_REFERENCE = re.compile(r"#(\d+)")


@dataclass(slots=True)
class Pool:
    """Collects passages from the contexts of many questions: each title and text once."""

    seen: set[str] = field(default_factory=set)

    def new(self, passages: Iterable[tuple[str, str]], source: str) -> Iterator[Document]:
        """Yield documents of the new passages (title, text) with text."""
        for title, text in passages:
            key = passage_key(title, text)
            if key not in self.seen and clean(text).strip():
                self.seen.add(key)
                yield Document(key, (Section(clean(text).strip()),), title=one_line(title), source=source)


def passage_key(title: str, text: str) -> str:
    """Return the key of a passage without an id of its own: a digest of its title and text."""
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
    """Return the data set of questions that bring their passages: the distinct passages of all are the corpus.

    `rows` reads the file again each time; `left_out` says why a question would be left out. `others`: rows of which
    only the passages are taken.
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
    """Check questions. Raises InputError when there are none, or an id occurs twice."""
    found = tuple(questions)
    distinct([q.id for q in found], path, form)
    return found


def distinct(ids: Sequence[str], path: Path, form: str) -> frozenset[str]:
    """Return the ids as a set. Raises InputError when there are none, or one occurs twice."""
    if not ids:
        raise InputError(f"{path} is empty.", form)
    found = frozenset(ids)
    if len(found) < len(ids):
        twice = next(id for id, number in Counter(ids).items() if number > 1)
        raise InputError(f"{path}: id {twice!r} occurs more than once.", form)
    return found


def text_of(place: str, record: dict[str, Any], name: str, form: str) -> str:
    """Return a field that must hold text. Raises InputError."""
    value = record.get(name)
    if not isinstance(value, str):
        raise InputError(f"{place}: {name} is missing or no text.", form)
    return value


def question_of(place: str, record: dict[str, Any], form: str, name: str = "question") -> str:
    """Return the words of a question. Raises InputError when there are none."""
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
    """Return single questions as they can be asked: #1 and the like become the answers of the earlier ones.

    `steps`: each {"question", "answer"}; empty where one of them is anything else.
    """
    answers: list[str] = []
    found: list[str] = []
    for step in steps:
        if not isinstance(step, dict) or not isinstance(step.get("question"), str):
            return ()

        def filled(match: re.Match[str]) -> str:
            place = int(match[1]) - 1
            return answers[place] if 0 <= place < len(answers) else match[0]

        found.append(_REFERENCE.sub(filled, step["question"]))
        answers.append(str(step.get("answer") or ""))
    return tuple(found)
