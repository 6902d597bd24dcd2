"""Relations of passages that need the whole corpus: mentions, keywords, counts by id, nearest neighbours."""

from array import array
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from kgrag.indexing.document_writer import Row
from kgrag.indexing.mentions import Gazetteer, add_rare, id64, mentions
from kgrag.indexing.new_collection.tables import GraphSink, Lines, partition
from kgrag.indexing.similar import nearest
from kgrag.indexing.statistics import sample_bound, terms, top_terms
from kgrag.models.embed import Vectors
from kgrag.settings import BRIDGE_CAP, DENSITY_SAMPLE
from kgrag.values.identity import keyword_id

_TOLD = 1000  # nodes between two signs of progress


@dataclass(frozen=True, slots=True)
class Nearest:
    """The `k` nearest of nodes with these ids, at most: (place, [(place of a neighbour, score), ...])."""

    ids: list[str]
    k: int
    rows: Iterable[tuple[int, list[tuple[int, float]]]]

    @classmethod
    def of(cls, vectors: Vectors, ids: list[str], k: int, least: float = 0.0, *, at_once: bool) -> "Nearest":
        """Compare vectors of float32 [n, d]; a row of zeros is no vector and near nothing.

        Args:
            vectors: The vectors.
            ids: The id of each.
            k: Neighbours at most; 0 for none at all.
            least: The score that a neighbour has at least.
            at_once: Whether to compare now; else as `link` asks for the rows, which takes less memory.
        """
        there = np.flatnonzero(vectors.any(axis=1))
        if len(there) < len(ids):
            vectors, ids = vectors[there], [ids[i] for i in there]
        rows = nearest(vectors, ids, np.arange(len(ids)), k, least) if k else iter(())
        return cls(ids, k, list(rows) if at_once else rows)

    def link(
        self, sink: GraphSink, table: str, progress: Callable[[int], None] = lambda done: None
    ) -> dict[str, float]:
        """Write the relationships; returns the score of the last one by id, where there are as many as wanted."""
        floors: dict[str, float] = {}
        for done, (row, near) in enumerate(self.rows):
            id = self.ids[row]
            for other, score in near:
                sink.link(table, id, self.ids[other], score, "embedding")
            if len(near) == self.k:
                floors[id] = near[-1][1]
            if done % _TOLD == 0:
                progress(done)
        return floors


@dataclass(frozen=True, slots=True)
class Similar:
    """The vectors of the passages, the score of the last neighbour of each that has all, and the stages still due."""

    vectors: Vectors
    floors: Mapping[str, float]
    todo: list[str]


class Counts:
    """Numbers by 64 bits of an id; 0 for an unknown id."""

    def __init__(self, keys: NDArray[np.uint64], numbers: NDArray[np.int64]) -> None:
        self._keys = keys
        self._numbers = numbers

    @classmethod
    def of(cls, keys: "array[int]") -> "Counts":
        """Return how often each key stands in the array."""
        return cls(*np.unique(np.frombuffer(keys, np.uint64), return_counts=True))

    def get(self, keys: NDArray[np.uint64]) -> list[int]:
        """Return the number of each key."""
        if not len(self._keys):
            return [0] * len(keys)
        at = np.minimum(np.searchsorted(self._keys, keys), len(self._keys) - 1)
        numbers: list[int] = np.where(self._keys[at] == keys, self._numbers[at], 0).tolist()
        return numbers


def among(keys: NDArray[np.uint64], ids: Iterable[str]) -> set[str]:
    """Return the ids whose 64 bits are among the sorted keys."""
    candidates = list(ids)
    if not len(keys):
        return set()
    hashes = np.array([id64(id) for id in candidates], np.uint64)
    mask = keys[np.minimum(np.searchsorted(keys, hashes), len(keys) - 1)] == hashes
    return {id for id, hit in zip(candidates, mask.tolist(), strict=True) if hit}


@dataclass(slots=True)
class Mentioned:
    """The entities that passages mention, one passage after the other: 64 bits of each, and how many a passage has."""

    passages: "array[int]" = field(default_factory=lambda: array("Q"))
    entities: "array[int]" = field(default_factory=lambda: array("Q"))
    sizes: "array[int]" = field(default_factory=lambda: array("L"))

    def add(self, passage: str, entities: Iterable[str]) -> None:
        """Add a passage's."""
        before = len(self.entities)
        self.passages.append(id64(passage))
        self.entities.extend(map(id64, entities))
        self.sizes.append(len(self.entities) - before)

    def extend(self, other: "Mentioned") -> None:
        """Add those of the passages that follow."""
        self.passages.extend(other.passages)
        self.entities.extend(other.entities)
        self.sizes.extend(other.sizes)

    def density(self, sample: int = DENSITY_SAMPLE) -> float:
        """Return the share of the passages that mention two names or more that can serve as bridges (write/density)."""
        keys = np.frombuffer(self.entities, np.uint64)
        df = np.array(Counts.of(self.entities).get(keys), np.int64)
        bridges = np.concatenate([[0], np.cumsum((df > 1) & (df <= BRIDGE_CAP))])
        ends = np.cumsum(np.frombuffer(self.sizes, np.dtype("L")))
        begins = np.concatenate([[0], ends[:-1]]).astype(np.int64)
        joining = bridges[ends.astype(np.int64)] - bridges[begins] > 1
        bound = sample_bound(len(joining), sample)
        if bound is not None:
            joining = joining[np.frombuffer(self.passages, np.uint64) < bound]
        return float(np.mean(joining)) if len(joining) else 0.0


@dataclass(slots=True)
class Related:
    """Mentions and keywords of some passages, and the rows of these by table.

    `mentioned`: the mentioned entities; `apart`: the same without entities named only in triples; `keywords`:
    (stem, spelling); `spellings`: (entity, spelling) of mentions, for Partitions.
    """

    lines: dict[str, Lines]
    mentioned: Mentioned = field(default_factory=Mentioned)
    apart: Mentioned = field(default_factory=Mentioned)
    keywords: list[tuple[str, str]] = field(default_factory=list)
    spellings: list[bytes] = field(default_factory=list)


@dataclass(frozen=True, slots=True)
class Relating:
    """Finds the mentions and keywords of passages by the corpus's counts of names and words.

    `rare`: entities of a single passage, 64 bits each; `classes`, `corpus_class`, `keep`: see `top_terms`; `lines`
    creates a container for the rows of one table; `write_passages` returns the rows of passages, given the number of
    the first, or is None if they are written already.
    """

    collection: str
    gazetteer: Gazetteer
    rare: NDArray[np.uint64]
    classes: Mapping[str, int]
    corpus_class: int
    keep: int
    lines: Callable[[], Lines]
    write_passages: Callable[[list[Row], int], Lines] | None

    def __call__(self, item: tuple[int, Callable[[], list[Row]] | list[Row]]) -> Related:
        """Relate passages, given the number of the first, and the passages or a function that reads them from disk."""
        start, source = item
        passages = source if isinstance(source, list) else source()
        related = Related({name: self.lines() for name in ("MENTIONS", "HAS_KEYWORD")})
        link_mention, link_keyword = related.lines["MENTIONS"].link, related.lines["HAS_KEYWORD"].link
        rows: dict[str, dict[str, Row]] = {}
        phrases: dict[str, dict[str, Row]] = {}
        spellings: list[tuple[str, str]] = []
        for p in passages:
            rows[p["id"]], phrases[p["id"]] = mentions(p, p["tokenised"], self.gazetteer)
        candidates = {row["entity"] for counts in phrases.values() for row in counts.values()}
        add_rare(rows, phrases, among(self.rare, candidates))
        for p in passages:
            id = p["id"]
            for entity, row in rows[id].items():
                link_mention(id, entity, row["via"], row["positions"], row["text"], row["stated"], row["about"])
                if row["text"] is not None:
                    spellings.append((entity, row["text"]))
            related.mentioned.add(id, rows[id])
            related.apart.add(id, (entity for entity, row in rows[id].items() if row["via"] != "triple"))
            counts = terms(p["tokenised"])
            for stem, weight in top_terms(counts, self.classes, self.corpus_class, self.keep):
                related.keywords.append((stem, counts.surfaces[stem]))
                link_keyword(id, keyword_id(self.collection, stem), weight, counts.surfaces[stem])
        if self.write_passages is not None:
            related.lines["Passage"] = self.write_passages(passages, start)
        related.spellings = partition(spellings)
        return related


def passage_lines(sink: GraphSink, similar: Similar, passages: list[Row], start: int) -> Lines:
    """Return the rows of passages; `start` is the index of the first one's vector."""
    lines: Lines = sink.lines()
    vectors = sink.vectors(similar.vectors[start : start + len(passages)])
    for p, vector in zip(passages, vectors, strict=True):
        lines.write(*passage_values(p, vector, similar.floors.get(p["id"]), similar.todo))
    return lines


def passage_values(p: Row, vector: object, floor: float | None, todo: list[str]) -> tuple[object, ...]:
    """Return the row of a passage."""
    return (
        p["id"], p["collection"], p["name"], p["title"], p["section"], p["text"], p["tokens"], p["stems"],
        p["title_stems"], p["sentences"], p["ordinal"], vector, floor, todo or None, p["page"], p["last_page"],
    )  # fmt: skip
