"""A graph for each question, made from its gold documents and a few random ones.

Source: KGP, section 3 and appendix A.1: users have a folder of about a dozen documents, and ask about some of them.
"""

import random
from contextlib import suppress
from statistics import fmean

from kgrag.client.collection import Collection
from kgrag.lab.chains import read_documents
from kgrag.lab.datasets import Dataset, Question
from kgrag.values.errors import NotFoundError
from kgrag.values.events import Progress


class QuestionGraphs:
    """A collection that holds one question's documents at a time; deleted at the beginning and at the end.

    It is named NAME-each after the given collection, which need not exist and is not changed.

    `size`: documents of a question, its gold included. The other ones depend on `seed` and the question's id alone.
    `tag`: whether TAGME annotates them, too.
    """

    def __init__(
        self, collection: Collection, data: Dataset, size: int, seed: int, progress: Progress, *, tag: bool = False
    ) -> None:
        self.collection = Collection(collection.kg, f"{collection.name}-each")
        self._texts = data.gold_texts
        self._documents = read_documents(data, progress)
        self._keys = sorted(self._documents)
        self._size, self._seed, self._tag = size, seed, tag
        self._ingested: set[str] = set()
        self._passages: dict[str, int] = {}

    @property
    def passages(self) -> float | None:
        """The mean number of passages in a question's graph; None before the first."""
        return fmean(self._passages.values()) if self._passages else None

    def open(self, question: Question) -> Collection:
        """Return the collection with the graph of one question. Raises DatabaseError, ConfigurationError."""
        targets = self.documents(question)
        if not self._ingested:  # remove the leftovers of an interrupted run
            with suppress(NotFoundError):
                self.collection.delete()
        self.collection.ingest([self._documents[key] for key in targets])
        if outdated := self._ingested.difference(targets):
            self.collection.delete(sorted(outdated))
        self._ingested = set(targets)
        if self._tag:
            self.collection.tag()
        self._passages[question.id] = self.collection.info().counts.get("Passage", 0)
        return self.collection

    def documents(self, question: Question) -> list[str]:
        """Return the keys of a question's documents: its gold, and others up to `size`."""
        named = (self._texts[key].document if key in self._texts else key for key in question.gold)
        gold = [key for key in dict.fromkeys(named) if key in self._documents]
        draw = random.Random(f"{self._seed}:{question.id}")
        others = (key for key in draw.sample(self._keys, min(len(self._keys), self._size)) if key not in gold)
        return [*gold, *others][: max(self._size, len(gold))]

    def close(self) -> None:
        """Delete the collection, if there was any question."""
        if self._ingested:
            self.collection.delete()
