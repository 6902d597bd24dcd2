"""The demo corpus: articles on polar ships, on the people who built and sailed them, and on their home towns."""

import json
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from importlib.resources import as_file, files
from pathlib import Path

COLLECTION = "demo"


@dataclass(frozen=True, slots=True)
class Question:
    """A question of several hops; `documents` are the titles of the articles that lead to the answer, in order."""

    question: str
    answer: str
    hops: int
    documents: tuple[str, ...]


@contextmanager
def corpus() -> Iterator[Path]:
    """Hold the folder of the corpus, which loaders can read."""
    with as_file(files(__name__) / "corpus") as folder:
        yield folder


def questions() -> list[Question]:
    """Return the questions on the corpus; the first three are the ones to show."""
    entries = json.loads((files(__name__) / "questions.json").read_text(encoding="utf-8"))
    return [Question(e["question"], e["answer"], e["hops"], tuple(e["documents"])) for e in entries]
