"""What is made of documents before it is written: passages, names, vectors; it follows from them alone."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from kgrag.indexing import documents as local
from kgrag.indexing.document_writer import Batch
from kgrag.indexing.documents import ExistingDocument
from kgrag.indexing.vectors import embedded
from kgrag.models.embed import Embedder
from kgrag.settings import IndexingSettings
from kgrag.text.languages import Language
from kgrag.values.documents import Document, Problem, Replaced


@dataclass(frozen=True, slots=True)
class PendingDocument:
    """A document, by its id, that is new or has changed; `replaced`: what it takes the place of."""

    id: str
    document: Document
    held: ExistingDocument
    replaced: Replaced | None


@dataclass(frozen=True, slots=True)
class Prepared:
    """What one transaction writes, how many vectors were computed for it, and what has none.

    `alone`: it holds a part of a long document, and these must be committed in order, since the last one seals it; or
    it takes something back, and so changes words and entities wherever it comes upon them. `of`: of a long document,
    how many passages there are up to the end of this part, and in all.
    """

    batch: Batch
    embedded: int
    alone: bool
    problems: list[Problem]
    of: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class Preparing:
    """Cuts documents into passages, finds names in them and embeds what is new. `size`: passages of a transaction."""

    collection: str
    indexing: IndexingSettings
    language: Language
    embedder: Embedder
    size: int

    def __call__(self, due: Sequence[PendingDocument]) -> Iterator[Prepared]:
        """What is written of documents; nothing of those that hold no text."""
        for parts in local.split(self._plans(due), self.size):
            batch, texts = local.build_batch(self.collection, parts, self.language)
            places = local.places(parts, batch)
            vectors, problems = embedded(self.embedder, texts, places)
            for row, vector in zip([*batch.passages, *batch.triples], vectors, strict=True):
                row["vector"] = vector
            alone = any(start > 0 or end < len(p.passages) or p.held.known for p, start, end in parts)
            last, start, end = parts[-1]
            of = (end, len(last.passages)) if start > 0 or end < len(last.passages) else ()
            yield Prepared(batch, len(texts) - len(problems), alone, problems, of)

    def _plans(self, due: Sequence[PendingDocument]) -> Iterator[local.Plan]:
        for item in due:
            plan = local.plan(self.collection, item.document, self.indexing, self.language)
            plan.held = item.held
            if plan.passages:
                yield plan
