"""What questions are made from: passages of a collection, and what its graph ties them by."""

import random
from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import chain
from typing import Any

from kgrag.graph.reader import Reader
from kgrag.values.results import Passage

_TRIED = 24  # passages, drawn at once, of which one is to be tied to another document


@dataclass(frozen=True, slots=True)
class Material:
    """The passages that a question is made from, one or two; `bridge`: the name that ties two, else empty.

    `by_title`: that name is the title of the second one's document.
    """

    passages: tuple[Passage, ...]
    bridge: str = ""
    by_title: bool = False


class Sources:
    """The passages of a collection by their ids, and what a draw takes of them. Holds ids, no texts."""

    def __init__(self, reader: Reader) -> None:
        self._reader = reader
        self.documents: dict[str, list[str]] = defaultdict(list)
        """Document key -> the ids of its passages, sorted."""
        for row in self.rows():
            self.documents[row["document"]].append(row["id"])
        for passages in self.documents.values():
            passages.sort()
        self.ids = sorted(chain.from_iterable(self.documents.values()))

    def rows(self) -> Iterator[dict[str, Any]]:
        """Yield every passage: see `cypher/evaluate/question_passages.cypher`."""
        for record in self._reader.graph.stream("evaluate/question_passages", collection=self._reader.collection.name):
            yield dict(record)

    def passages(self, ids: Sequence[str]) -> dict[str, Passage]:
        """Return passages by their ids."""
        return self._reader.passages(ids)

    def draw(self, lot: random.Random, number: int, *, by_title: bool = False) -> Material:
        """Draw one passage, or two of different documents with a common name; one, where no tried one has any.

        `by_title`: rather two of which the second is about a name that the first one mentions.
        """
        tried = [lot.choice(self.ids) for _ in range(_TRIED if number > 1 else 1)]
        if number > 1:
            found: dict[str, list[dict[str, Any]]] = defaultdict(list)
            for row in self._reader.rows("evaluate/question_bridges", ids=sorted(set(tried)), most=20, limit=20):
                found[row["id"]].append(row)
            for id in tried:
                bridges = found[id]
                bridges = [row for row in bridges if row["kind"] == "title"] or ([] if by_title else bridges)
                if bridges:
                    bridge = lot.choice(bridges)
                    held = self.passages([id, bridge["other"]])
                    if len(held) == 2:
                        pair = (held[id], held[bridge["other"]])
                        return Material(pair, bridge["name"], bridge["kind"] == "title")
            if by_title:
                return self.draw(lot, number)
        return Material((self.passages(tried[:1])[tried[0]],))
