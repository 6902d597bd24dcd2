"""What is measured on: questions with their gold, and the corpus in which it is to be found."""

import hashlib
import os
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Self

from kgrag.types import Document, Problem

_UNPLAIN = re.compile(r"[^\w.]+")

Corpus = Callable[[int], Iterator[Document | Problem]]
"""Reads a corpus anew; called with the greatest size of a file, in MB, where a whole file must be held."""


@dataclass(frozen=True, slots=True)
class Question:
    """A question with the documents that hold its answer (`gold`: their keys, distinct) and its known answers.

    `steps` is the number of single questions that it is made of, 0 where the data set does not say. `path` is the gold
    in the order in which it leads to the answer, empty where the data set does not say. `structure`: the texts of the
    pages, tables and sections that the question names, empty where it names none.
    """

    id: str
    text: str
    gold: tuple[str, ...]
    answers: tuple[str, ...] = ()
    type: str = ""
    steps: int = 0
    path: tuple[str, ...] = ()
    structure: tuple[str, ...] = ()

    @property
    def hops(self) -> int:
        """How many hops lead to the answer: its steps, else the number of its gold documents."""
        return self.steps or len(self.gold)


@dataclass(frozen=True, slots=True)
class GoldText:
    """A gold passage that is part of a longer document: the document's key, and the passage's own text."""

    document: str
    text: str


@dataclass(frozen=True, slots=True)
class Dataset:
    """A question set. `keys` are the ids of its corpus, whose texts are read only when they are ingested.

    `path` is where it was read from. `notes` say what was left out. `variants` say how its corpus differs from what
    is read there. `gold_texts`: gold key -> its text, where gold is only part of a document (see `variants.join`).
    """

    path: Path
    questions: tuple[Question, ...]
    keys: frozenset[str]
    corpus: Corpus
    notes: tuple[str, ...] = ()
    variants: tuple[str, ...] = ()
    gold_texts: Mapping[str, GoldText] = field(default_factory=dict)

    @property
    def name(self) -> str:
        """The name of its folder or file; that of the folder, too, where the file's says only which part it is."""
        stem = self.path.name if self.path.is_dir() else self.path.stem
        if stem.lower() in ("train", "dev", "test", "data", "validation"):
            stem = f"{self.path.parent.name}-{stem}"
        return "+".join([stem, *(_UNPLAIN.sub("", Path(v).name) for v in self.variants)])

    def documents(self, max_file_mb: int = 64) -> Iterator[Document | Problem]:
        """The corpus as documents, read one by one."""
        return self.corpus(max_file_mb)

    def collection(self, embedder: str) -> str:
        """The name of the collection that it is ingested into by default: its own for each corpus and embedder."""
        identity = "\0".join([os.fsdecode(self.path), *self.variants])
        digest = hashlib.blake2b(os.fsencode(identity), digest_size=4).hexdigest()[:7]
        return "-".join(["eval", *(_UNPLAIN.sub("_", part)[:80] for part in (self.name, embedder)), digest])

    def first(self, number: int | None) -> Self:
        """The same with the first questions only; None: all."""
        return self.with_questions(self.questions[:number])

    def with_questions(self, questions: Iterable[Question]) -> Self:
        """The same corpus with other questions."""
        return replace(self, questions=tuple(questions))

    def unreachable(self, questions: Sequence[Question]) -> dict[str, tuple[str, ...]]:
        """Question id -> its gold that is not in the corpus, for the questions that have such."""
        known = self.gold_texts or self.keys
        missing = {q.id: tuple(key for key in q.gold if key not in known) for q in questions}
        return {id: keys for id, keys in missing.items() if keys}
