"""Make the rows of a new collection in two passes: first each document, then everything that needs the whole corpus.

An incremental ingest makes the same graph. The rows wait on disk between the passes, and memory holds 64 bits for each
name, document and mention, frequent words and keywords.
"""

from array import array
from collections import Counter, defaultdict
from collections.abc import Callable, Container, Iterable, Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from contextvars import copy_context
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import partial
from itertools import accumulate, chain, count
from pathlib import Path
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from kgrag.engines import Engine, Processes
from kgrag.graph.property_values import to_properties
from kgrag.indexing import documents as local
from kgrag.indexing.document_writer import Row
from kgrag.indexing.links import linked
from kgrag.indexing.mentions import Gazetteer, id64, is_sure_name, word_stems
from kgrag.indexing.new_collection.documents import Group, Part, Prepared, Reading
from kgrag.indexing.new_collection.relations import Counts, Mentioned, Nearest, Relating, Similar, passage_lines
from kgrag.indexing.new_collection.tables import GraphSink, Partitions, Spill, VectorFile
from kgrag.indexing.similar import is_fit
from kgrag.models.embed import Embedder, Vectors, embed_each
from kgrag.models.parallel import in_parallel
from kgrag.runtime.document_progress import at
from kgrag.settings import Settings
from kgrag.text.languages import language_of
from kgrag.text.tokens import folded_name
from kgrag.values.documents import Document, Problem, Scan
from kgrag.values.events import Progress
from kgrag.values.identity import content_hash, document_id, keyword_id, word_id

T = TypeVar("T")

FEW = 20_000
"""Number of passages up to which neighbours of passages and names are computed at once, in parallel to other work."""
_GROUP = 128  # documents read at once
_GROUP_HERE = 512  # documents read at once if no other process shares the work
_GROUP_CHARS = 512_000  # approximate characters of such a group


@dataclass(frozen=True, slots=True)
class Totals:
    """The record of a collection once all its rows are made: passages, their log2, and the density of names.

    `density0`: the density without mentions known only from triples. `linked`: true if documents have links, else
    None. `finished`: whether all corpus-wide stages are done.
    """

    passages: int
    corpus_class: int
    density: float
    density0: float
    linked: bool | None
    finished: bool


class CollectionRows:
    """The rows of a new collection, written to a sink: `read` the documents, then `relate` them."""

    def __init__(
        self,
        name: str,
        embedder: Embedder,
        settings: Settings,
        sink: GraphSink,
        scratch: Path,
        engine: Engine,
        scan: Scan | None = None,
    ) -> None:
        """Prepare to collect rows, with temporary files in the folder `scratch`.

        `engine` prepares documents, and embeds them too if its workers are separate. `scan` records files without text.
        """
        self.name = name
        self.problems: list[Problem] = []
        self.added = self.unchanged = self.embedded = self.batches = 0
        self.deferred = Spill(scratch / "deferred.rows")
        self._scan = scan
        self._embedder = embedder
        self._engine = engine
        self._settings = settings
        self._language = language_of(settings.indexing.language or "en")
        self._now = datetime.now(UTC)
        self._sink = sink
        self._seen: dict[int, int] = {}
        self._passages = Spill(scratch / "passages.rows")
        self._ids = Spill(scratch / "ids.rows")
        self._sizes: list[int] = []  # the number of passages in each value of these two
        self._vectors = VectorFile(scratch / "vectors.f32", embedder.dimension)
        self._words, self._names, self._spellings = (
            Partitions(scratch, name) for name in ("words", "names", "spellings")
        )
        self._entities = Spill(scratch / "entities.rows")
        self._documents = Spill(scratch / "documents.rows")
        self._linked: bool | None = None
        self._titles = (array("Q"), array("Q"))  # entity, title: 64 bits each

    @property
    def passages(self) -> int:
        """The number of passages of the documents."""
        return self._vectors.rows

    def counts(self) -> dict[str, Any]:
        """Return the counts of an IngestReport so far."""
        counts = {"added": self.added, "unchanged": self.unchanged, "passages": self.passages}
        embedded = {"embedded": self.embedded, "embedded_batches": self.batches}
        return counts | embedded | {"problems": tuple(self.problems)}

    # The first pass.

    def read(self, items: Iterable[Document | Problem], progress: Progress, total: int | None) -> None:
        """Split documents into passages, embed them and count their words and names.

        Documents that the files cannot represent go to `deferred`: second versions, and metadata with odd names or
        changing types.
        """
        waiting: dict[int, list[tuple[Document, list[object]]]] = {}
        indexing, size, lines = self._settings.indexing, self._settings.batch_passages, self._sink.lines
        with self._vectors:
            embedder = self._embedder if self._engine.place == "apart" else None  # else here, while the next are cut
            prepare = Reading(self.name, indexing, size, embedder, lines)
            results = self._engine.each(prepare, self._groups(items, waiting), models=embedder is not None)
            embed = partial(self._embed, progress)
            for (group, (prepared, parts)), embedded in in_parallel(embed, results, threads=1):
                if isinstance(embedded, Exception):
                    raise embedded
                self._write_documents(prepared, waiting.pop(group.number))
                for part in parts:
                    self._write(part)
                progress("documents", self.added + self.unchanged, total)
        at(progress, "")
        progress("documents", self.added + self.unchanged, total)

    def _embed(self, progress: Progress, result: tuple[Group, tuple[list[Prepared], list[Part]]]) -> None:
        """Embed the parts of a group, and report progress on its longest document."""
        group, (_, parts) = result
        longest = max(group.documents, key=lambda document: len(document.text))
        counts = [0, sum(part.passages for part in parts)]
        for part in parts:
            at(progress, Path(longest.source or longest.key).name, "passages", counts if len(parts) > 1 else ())
            part.embed(self._embedder)
            counts[0] += part.passages

    def _groups(
        self, items: Iterable[Document | Problem], waiting: dict[int, list[tuple[Document, list[object]]]]
    ) -> Iterator[Group]:
        """Yield documents in groups. `waiting` keeps them with the fields of their metadata."""
        stream = self._fresh(items)
        most = min(_GROUP_HERE, self._settings.batch_passages) if self._engine.place == "here" else _GROUP
        for number in count():
            group = waiting[number] = []
            size = 0
            for document, fields in stream:
                group.append((document, fields))
                size += len(document.text)
                if len(group) == most or size >= _GROUP_CHARS:
                    break
            if not group:
                del waiting[number]
                return
            yield Group(number, [document for document, _ in waiting[number]])

    def _fresh(self, items: Iterable[Document | Problem]) -> Iterator[tuple[Document, list[object]]]:
        for item in items:
            if isinstance(item, Problem):
                self.problems.append(item)
                continue
            id = document_id(self.name, item.key)
            key, content = id64(id), id64(content_hash(item))
            if self._seen.get(key) == content:
                self.unchanged += 1
                continue
            properties = local.document_properties(self.name, id, item)
            del properties["id"]
            fields = None if key in self._seen else self._sink.metadata(properties)
            self._seen[key] = content
            if fields is None:
                self.deferred.add(item)
            else:
                yield item, fields

    def _write_documents(self, prepared: list[Prepared], group: list[tuple[Document, list[object]]]) -> None:
        rows: list[Row] = []
        for part, (document, fields) in zip(prepared, group, strict=True):
            if part.has_text:
                links = to_properties({"links": document.metadata.get("links")}).get("meta_links")
                self._linked = self._linked or links is not None or None
                rows.append({"id": part.id, "key": document.key, "title": document.title, "links": links})
                self._sink.write("Document", part.id, part.content_hash, self._now, *fields)
                self._sink.link("HOLDS", self.name, part.id)
                self.added += 1
            else:
                self.problems.append(Problem(document.source or document.key, "holds no text"))
                if self._scan is not None and document.file is not None:
                    self._scan.files[document.file.key] = ""
        self._documents.add(rows)

    def _write(self, part: Part) -> None:
        vectors = part.embed(self._embedder)
        self.embedded += len(vectors) - len(part.problems)
        self.batches += len(vectors) > 0
        self.problems += part.problems
        self._vectors.add(vectors[: part.passages])
        for row, vector in zip(part.triples, self._sink.vectors(vectors[part.passages :]), strict=True):
            self._sink.write("Triple", *row, vector)
        self._sink.take(part.lines)
        self._passages.put(part.kept)
        self._ids.add(part.ids)
        self._sizes.append(part.passages)
        self._words.add(part.words)
        self._names.add(part.names)
        for all_titles, titles in zip(self._titles, part.titles, strict=True):
            all_titles.extend(titles)

    # The second pass.

    def relate(self, progress: Progress) -> Totals:
        """Compute the mentions, keywords and nearest neighbours of every passage, and write the remaining rows."""
        few = self.passages <= FEW and self._engine.place != "forked"  # threads do not stand a fork
        with ThreadPoolExecutor(1, thread_name_prefix="kgrag-neighbours") as pool:
            return self._relate(pool if few else None, progress)

    def _relate(self, pool: ThreadPoolExecutor | None, progress: Progress) -> Totals:
        self._passages.flush()
        near_passages = _in_background(pool, self._near_passages)
        classes, proper = self._write_words()
        gazetteer, rare = self._name_entities(proper)
        near_names = _in_background(pool, self._near_names)
        corpus_class = self.passages.bit_length() - 1
        similar = self._similar(near_passages(), progress)
        starts = [0, *accumulate(self._sizes)]
        mentioned, apart = Mentioned(), Mentioned()
        keywords: defaultdict[str, Counter[str]] = defaultdict(Counter)  # stem -> spellings
        write = partial(passage_lines, self._sink, similar)
        keep, lines = self._settings.indexing.keywords, self._sink.lines
        engine = self._engine if pool else Processes(forked=True)
        remote = engine.place == "apart"
        relate = Relating(self.name, gazetteer, rare, classes, corpus_class, keep, lines, None if remote else write)
        sources: Iterable[Any] = self._passages if remote else map(self._passages.stored, count())
        for (start, source), related in engine.each(relate, zip(starts[:-1], sources, strict=False)):
            self._sink.take(related.lines)
            if remote:
                self._sink.take({"Passage": write(source, start)})
            mentioned.extend(related.mentioned)
            apart.extend(related.apart)
            self._spellings.add(related.spellings)
            for stem, spelling in related.keywords:
                keywords[stem][spelling] += 1
            progress("mentions and keywords", start, self.passages)
        self._passages.close()
        self._link_documents()
        self._sink.complete("Collection", "Document", "Page", "Table", "Figure", "Triple", "Passage")
        self._write_keywords(keywords)
        self._sink.complete("Keyword")
        near = self._write_entities(Counts.of(mentioned.entities), near_names() if pool else None)
        self._sink.complete("Entity")
        density, density0, finished = mentioned.density(), apart.density(), near and not similar.todo
        return Totals(self.passages, corpus_class, density, density0, self._linked, finished)

    def _link_documents(self) -> None:
        if self._linked:
            for row, ends in linked(lambda: chain.from_iterable(self._documents)):
                for end in ends:
                    self._sink.link("LINKS_TO", row["id"], end)
        self._documents.close()

    def _write_words(self) -> tuple[dict[str, int], set[int]]:
        """Write the words. Returns the classes of words of two passages or more, and the proper words (64 bits)."""
        classes: dict[str, int] = {}
        proper: set[int] = set()
        for part in self._words:
            total: dict[str, list[Any]] = {}
            for id, stem, *counts in part:
                row = total.setdefault(id, [stem, 0, 0, 0])
                for i, n in enumerate(counts, start=1):
                    row[i] += n
            for id, (stem, df, upper, lower) in total.items():
                word_class = df.bit_length() - 1
                self._sink.write("Word", id, self.name, stem, stem, df, word_class, upper, lower)
                if word_class > 0:
                    classes[stem] = word_class
                if upper > lower:
                    proper.add(id64(id))
        self._words.close()
        return classes, proper

    def _name_entities(self, proper: set[int]) -> tuple[Gazetteer, NDArray[np.uint64]]:
        """Add up the names. Returns the gazetteer, and the names of one passage alone (64 bits of ids, sorted)."""
        names: set[str] = set()
        title_names: set[str] = set()
        rare = array("Q")
        for part in self._names:
            total: dict[str, list[Any]] = {}
            titles: set[str] = set()
            for id, normal, named, n, is_title, stemmed in part:
                entity = total.setdefault(id, [normal, named, 0, stemmed])
                entity[1] = min(filter(None, (entity[1], named)), default=None)
                entity[2] += n
                entity[3] = entity[3] or stemmed
                if is_title:
                    titles.add(id)
                    title_names.add(normal)
            candidates = {id: e[0] for id, e in total.items() if id in titles or e[2] > 1}
            names.update(candidates[id] for id in self._searchable(candidates, titles, proper))
            once = {id: e[0] for id, e in total.items() if e[2] == 1}
            rare.extend(map(id64, self._searchable(once, (), proper)))
            self._entities.add([(id, *e) for id, e in total.items()])
        self._names.close()
        gazetteer = Gazetteer(self.name, names, title_names, self._settings.indexing.pipeline, self._language)
        return gazetteer, np.sort(np.frombuffer(rare, np.uint64))

    def _searchable(self, names: Mapping[str, str], titles: Container[str], proper: set[int]) -> Iterator[str]:
        """Yield the ids of the names (normal forms by id) that texts are searched for."""
        single = {}
        for id, normal in names.items():
            if is_sure_name(normal, id in titles, self._language):
                yield id
            else:
                single[id] = normal
        for id, stem in zip(single, word_stems([*single.values()], self._language), strict=True):
            if id64(word_id(self.name, stem)) in proper:
                yield id

    def _near_passages(self) -> Nearest | None:
        """Return the nearest neighbours of passages, or None if the vector index must find them."""
        vectors = self._vectors.read()
        if vectors.nbytes > self._settings.exact_neighbours_mb * 2**20:
            return None
        ids = list(chain.from_iterable(self._ids))
        return Nearest.of(np.array(vectors), ids, self._settings.indexing.similar, at_once=self.passages <= FEW)

    def _similar(self, near: Nearest | None, progress: Progress) -> Similar:
        """Write the nearest neighbours of passages."""
        vectors = self._vectors.read()
        if near is None:
            return Similar(vectors, {}, ["similar"])
        floors = near.link(self._sink, "SIMILAR", lambda done: progress("neighbours", done, len(near.ids)))
        progress("neighbours", len(near.ids), len(near.ids))
        return Similar(vectors, floors, [])

    def _write_keywords(self, keywords: Mapping[str, Counter[str]]) -> None:
        for stem, spellings in keywords.items():
            name, n = _commonest(spellings), spellings.total()
            self._sink.write("Keyword", keyword_id(self.name, stem), self.name, name, name, stem, n)

    def _write_entities(self, df: Counts, near: tuple[dict[str, object], Nearest | None] | None) -> bool:
        """Write the entities, and their neighbours if `near` holds them. Returns whether it did."""
        pairs = np.unique(np.array([np.frombuffer(a, np.uint64) for a in self._titles]), axis=1)
        titles = Counts(*np.unique(pairs[0], return_counts=True))
        floors = near[1].link(self._sink, "NAME_SIMILAR") if near and near[1] else None
        for rows, spellings in zip(self._entities, self._spellings, strict=True):
            counted: defaultdict[str, Counter[str]] = defaultdict(Counter)
            for id, text in spellings:
                counted[id][text] += 1
            keys = np.array([id64(row[0]) for row in rows], np.uint64)
            vectors = near[0] if near else self._name_vectors(rows)[1]
            for row, mentioned, titled in zip(rows, df.get(keys), titles.get(keys), strict=True):
                id, normal, named, phrases, stemmed = row
                name, vector = _commonest(counted[id]) if id in counted else named or normal, vectors.get(id)
                floor = floors.get(id) if floors else None
                todo = None if vector is None or floors is not None else ["similar"]
                self._sink.write(
                    "Entity", id, self.name, name, normal, folded_name(normal), mentioned, titled, phrases,
                    None if named is None else True, stemmed, vector, floor, todo,
                )  # fmt: skip
        self._entities.close()
        self._spellings.close()
        return floors is not None

    def _name_vectors(self, rows: Iterable[tuple[Any, ...]]) -> tuple[Vectors, dict[str, object]]:
        """Return the vectors of names, where they have one (link_synonyms): as a matrix, and as values by id."""
        synonyms = self._settings.indexing.synonyms
        fit = [(row[0], row[1]) for row in rows if row[2] is not None and is_fit(row[1])] if synonyms else []
        vectors = embed_each(self._embedder, [name for _, name in fit])[0]
        there = [i for i, row in enumerate(vectors) if row.any()]
        values = self._sink.vectors(vectors)
        return vectors[there], {fit[i][0]: values[i] for i in there}

    def _near_names(self) -> tuple[dict[str, object], Nearest | None]:
        """Return the vectors of all names that have one, and their neighbours unless the index must find these."""
        vectors, values = self._name_vectors(row for rows in self._entities for row in rows)
        if vectors.nbytes > self._settings.exact_neighbours_mb * 2**20:
            return values, None
        indexing = self._settings.indexing
        least = (1 + indexing.synonymy) / 2
        return values, Nearest.of(vectors, list(values), indexing.synonyms, least, at_once=self.passages <= FEW)


def _in_background(pool: ThreadPoolExecutor | None, work: Callable[[], T]) -> Callable[[], T]:
    """Run work in the background, and return a function for its result. Without a pool the call of that runs it."""
    return work if pool is None else pool.submit(copy_context().run, work).result


def _commonest(spellings: Counter[str]) -> str:
    """Return the spelling of most passages, the last of ties, as `write/count_names` has it."""
    return max((n, text) for text, n in spellings.items())[1]
