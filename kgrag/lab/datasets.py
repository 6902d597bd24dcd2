"""Data sets: questions with their gold, and the corpus that holds the answers."""

import hashlib
import os
import random
import re
from collections.abc import Callable, Container, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Self

from kgrag.settings import IndexingSettings
from kgrag.values.documents import Document, Problem
from kgrag.values.errors import InputError
from kgrag.values.events import Progress
from kgrag.values.identity import content_hash
from kgrag.values.results import IngestReport

if TYPE_CHECKING:
    from kgrag.client.collection import Collection
    from kgrag.client.graph import KnowledgeGraph
    from kgrag.lab.papers import Paper

_UNPLAIN = re.compile(r"[^\w.]+")
_BLOCK = 1 << 20  # bytes read at once
_WORDS = 60  # characters of a collection's name for its settings
MAX_FILE_MB = 64
"""Maximum size, in MB, of a file that must be read as a whole."""


class Corpus:
    """The corpus: documents that are read afresh each time, and a digest of them.

    `read` is called with the maximum size of a file, in MB. `files`: the folder of PDF and other files that the
    documents come from, if there is one; reading it takes long.
    """

    def __init__(self, read: Callable[[int], Iterator[Document | Problem]], files: Path | None = None) -> None:
        self._read, self._files = read, files
        self._digest: str | None = None

    def documents(self, max_file_mb: int = MAX_FILE_MB) -> Iterator[Document | Problem]:
        """Yield the documents, one by one."""
        total = 0
        for item in self._read(max_file_mb):
            if isinstance(item, Document):  # a sum, so the order does not matter
                total = (total + int(content_hash(item), 16)) % 2**128
            yield item
        self._digest = f"{total:032x}"

    def digest(self, max_file_mb: int = MAX_FILE_MB) -> str:
        """Return a digest of the contents, 32 hexadecimal digits; reads the documents unless they were read."""
        if self._digest is None:
            for _ in self.documents(max_file_mb):
                pass
        assert self._digest is not None
        return self._digest

    def identity(self, max_file_mb: int = MAX_FILE_MB) -> str:
        """Return a digest that identifies the corpus: of its files if it has any, else of its contents."""
        if self._files is None:
            return self.digest(max_file_mb)
        digest = hashlib.blake2b(digest_size=16)
        for path in sorted(file for file in self._files.rglob("*") if file.is_file()):
            digest.update(os.fsencode(path.relative_to(self._files)) + b"\0")
            with path.open("rb") as file:
                while block := file.read(_BLOCK):
                    digest.update(block)
        return digest.hexdigest()


@dataclass(frozen=True, slots=True)
class Question:
    """A question with the documents that contain its answer (`gold`: their distinct keys) and its known answers.

    `steps` is the number of its sub-questions, 0 if unknown. `path` is the gold in the order in which it leads to the
    answer, empty if unknown. `structure`: the texts of the pages, tables and sections that the question names.
    `choices`: if not empty, the answer is one of these. `supports`: the sentences of the gold that lead to the answer.
    `singles`: its sub-questions in order, one for each gold in `path` if that is known.
    """

    id: str
    text: str
    gold: tuple[str, ...]
    answers: tuple[str, ...] = ()
    type: str = ""
    steps: int = 0
    path: tuple[str, ...] = ()
    structure: tuple[str, ...] = ()
    choices: tuple[str, ...] = ()
    supports: "tuple[GoldText, ...]" = ()
    singles: tuple[str, ...] = ()

    @property
    def hops(self) -> int:
        """The number of hops to the answer: its steps, else the number of its gold documents."""
        return self.steps or len(self.gold)


@dataclass(frozen=True, slots=True)
class GoldText:
    """A gold passage that is part of a longer document: the document's key, and the passage's own text."""

    document: str
    text: str

    @property
    def key(self) -> str:
        """The key of the passage, distinct from those of other texts."""
        return f"{self.document}: {self.text}"


@dataclass(frozen=True, slots=True)
class Ingested:
    """The result of an ingest of a data set. `others`: documents of the collection that the corpus lacks."""

    collection: "Collection"
    report: IngestReport
    others: int


@dataclass(frozen=True, slots=True)
class Dataset:
    """A question set. `keys` are the ids of its corpus, whose texts are read only when they are ingested.

    `path`: the file or folder that was read. `notes`: the omissions. `variants`: the differences of its corpus from the
    one in `path`. `gold_texts`: gold key -> its text, if gold is only part of a document (see `variants.join`).
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
        """The name of its folder or file, prefixed with the folder's name if the file's is generic: "dev"."""
        stem = self.path.name if self.path.is_dir() else self.path.stem
        if stem.lower() in ("train", "dev", "test", "data", "validation"):
            stem = f"{self.path.parent.name}-{stem}"
        return "+".join([stem, *(_UNPLAIN.sub("", Path(v).name) for v in self.variants)])

    def documents(self, max_file_mb: int = MAX_FILE_MB) -> Iterator[Document | Problem]:
        """Return the corpus as documents, read one by one."""
        return self.corpus.documents(max_file_mb)

    def collection(
        self,
        embedder: str,
        max_file_mb: int = MAX_FILE_MB,
        indexing: IndexingSettings | None = None,
        paper: "Paper | None" = None,
    ) -> str:
        """Return the name of its default collection: a separate one for each corpus and embedder.

        Settings that differ from the paper's, else from the defaults, give a separate collection, too, as does each
        paper. The name lists these settings, or a digest if there are many. Question sets over the same corpus share a
        collection. Reads the corpus once, for its digest.
        """
        name = [
            "eval",
            _UNPLAIN.sub("_", embedder)[:80],
            _digest(self.corpus.identity(max_file_mb), *sorted(self.keys)),
        ]
        usual = IndexingSettings()
        if paper is not None:
            name.append(paper.name)
            usual = paper.indexing
        others = [
            f"{key}_{_UNPLAIN.sub('_', str(value))}" for key, value in indexing or usual if value != getattr(usual, key)
        ]
        if others:
            words = "-".join(others)
            name.append(words if len(words) <= _WORDS else _digest(words))
        return "-".join(name)

    def ingest(
        self,
        into: "KnowledgeGraph | Collection",
        *,
        collection: str | None = None,
        embedder: str | None = None,
        progress: Progress | None = None,
    ) -> Ingested:
        """Bring a collection up to date with the corpus, by default the corpus's own (see `collection`).

        `into`: a KnowledgeGraph, or the collection itself. Raises MismatchError when it has another embedder.
        """
        from kgrag.client.graph import KnowledgeGraph

        settings = into.settings if isinstance(into, KnowledgeGraph) else into.kg.settings
        most = settings.max_file_mb
        if isinstance(into, KnowledgeGraph):
            into = into[collection or self.collection(embedder or settings.embedder, most, settings.indexing)]
        report = into.ingest(self.documents(most), embedder=embedder, progress=progress)
        if not report.added + report.changed + report.unchanged:
            why = next((f"{problem.place}: {problem.message}" for problem in report.problems), "it is empty")
            raise InputError(f"{self.name}: no document of the corpus can be read.", f"The first reason: {why}")
        total = into.info().counts.get("Document", 0)
        return Ingested(into, report, total - report.added - report.changed - report.unchanged)

    def first(self, number: int | None) -> Self:
        """Return the data set with the first questions only; None: all."""
        return self.with_questions(self.questions[:number])

    def sample(self, number: int | None, seed: int = 0) -> Self:
        """Return the data set with `number` random questions, in their order; all of them, if there are no more.

        The draw depends on the seed and on the questions' ids only, not on their order.
        """
        if number is None or number >= len(self.questions):
            return self
        ids = set(random.Random(seed).sample(sorted(q.id for q in self.questions), number))
        return self.with_questions(q for q in self.questions if q.id in ids)

    def without(self, ids: Container[str]) -> Self:
        """Return the data set without the questions of these ids, with a note of their number."""
        left = [q for q in self.questions if q.id not in ids]
        if len(left) == len(self.questions):
            return self
        note = f"{self.name}: {len(self.questions) - len(left)} questions that trained a measured part are left out."
        return replace(self, questions=tuple(left), notes=(*self.notes, note))

    def with_questions(self, questions: Iterable[Question]) -> Self:
        """Return the corpus with other questions."""
        return replace(self, questions=tuple(questions))

    def unreachable(self, questions: Sequence[Question]) -> dict[str, tuple[str, ...]]:
        """Return question id -> its gold that is missing from the corpus, for questions with missing gold."""
        corpus = self.gold_texts or self.keys
        missing = {q.id: tuple(key for key in q.gold if key not in corpus) for q in questions}
        return {id: keys for id, keys in missing.items() if keys}


def _digest(*parts: str) -> str:
    return hashlib.blake2b("\0".join(parts).encode("utf-8", "surrogatepass"), digest_size=5).hexdigest()


@dataclass(frozen=True, slots=True)
class Format:
    """A format: its reader, its description, and a check of a file's first row.

    Formats without `fits` are folders, which are recognised by the names in them.
    """

    read: Callable[[Path], Dataset]
    expected: str
    fits: Callable[[dict[str, Any]], bool] | None = None


def has(*columns: str) -> Callable[[dict[str, Any]], bool]:
    """Return a `fits` that accepts rows with at least these columns."""
    return lambda row: row.keys() >= set(columns)
