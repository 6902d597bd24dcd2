"""Documents -> the files of a bulk load, in two passes: what stands in each document, then what the corpus says of it.

The rows are those that an ingest writes in transactions, made by the same functions. What grows with the corpus waits
on disk; in memory are 64 bits for each name, document and mention, the words of two passages or more, and keywords.
"""

from array import array
from collections.abc import Iterable, Iterator
from datetime import UTC, datetime
from itertools import accumulate, count, islice
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from kgrag.engines import Engine, open_engine
from kgrag.engines.processes import Processes
from kgrag.graph import schema
from kgrag.graph.csv_files import CsvField, FoundColumns, Lines, strings
from kgrag.graph.local.bulk import Files
from kgrag.indexing import documents as local
from kgrag.indexing import neighbours
from kgrag.indexing.bulk.documents import BulkPreparing, Group, Part, Prepared
from kgrag.indexing.bulk.files import Partitions, Spill, VectorFile
from kgrag.indexing.bulk.relations import Counts, Mentioned, Similar, fields_of, related_rows
from kgrag.indexing.bulk.tables import NUMBER, Tables
from kgrag.indexing.finish import STAGES
from kgrag.indexing.mentions import Gazetteer, bits, is_sure_name, word_stems
from kgrag.indexing.synonyms import is_fit
from kgrag.models.embed import Embedder, embed_each
from kgrag.settings import Settings
from kgrag.text.languages import language_of
from kgrag.text.tokens import name_stems
from kgrag.values.documents import Document, Problem
from kgrag.values.events import Progress
from kgrag.values.identity import content_hash, document_id, keyword_id, word_id

_GROUP = 128  # documents
_HERE = ("words", "mentions", "keywords", "similar")  # stages whose work is done before the import


class BulkRows:
    """A collection as files: `read` the documents, `relate` them, then `files` names what is to be imported."""

    def __init__(
        self, folder: Path, name: str, embedder: Embedder, settings: Settings, *, part: int | None = None
    ) -> None:
        """The tables are written into `folder`, in files of about `part` bytes; what waits, into `scratch` in there."""
        self.name = name
        self.scratch = folder / "scratch"
        self.scratch.mkdir()
        self.problems: list[Problem] = []
        self.added = self.unchanged = self.embedded = self.batches = 0
        self.deferred = Spill(self.scratch / "deferred.rows")
        self._embedder = embedder
        self._processes = Processes(forked=True)
        self._settings = settings
        self._language = language_of(settings.indexing.language or "en")
        self._now = datetime.now(UTC).isoformat(timespec="milliseconds")
        self._tables = Tables(folder, part)
        self._metadata = FoundColumns(self._tables["Document"])
        self._seen: dict[int, int] = {}
        self._passages = Spill(self.scratch / "passages.rows")
        self._sizes: list[int] = []  # of the values in there
        self._vectors = VectorFile(self.scratch / "vectors.f32", embedder.dimension)
        self._words = Partitions(self.scratch, "words")
        self._names = Partitions(self.scratch, "names")
        self._entities = Spill(self.scratch / "entities.rows")
        self._titles = (array("Q"), array("Q"))  # entity, title: 64 bits each

    @property
    def passages(self) -> int:
        """How many passages the documents have."""
        return self._vectors.rows

    # The first pass.

    def read(self, items: Iterable[Document | Problem], progress: Progress, total: int | None) -> None:
        """Cut documents into passages, embed them and count their words and names.

        What cannot stand in the files as the graph would hold it is put into `deferred`: a second version of a
        document, and metadata of an odd name or of changing types.
        """
        waiting: dict[int, list[tuple[Document, list[object]]]] = {}
        settings = self._settings
        with self._vectors, self._preparing() as engine:
            embedder = None if engine is self._processes else self._embedder  # models do not stand a fork
            prepare = BulkPreparing(self.name, settings.indexing, settings.batch_passages, embedder)
            groups = self._groups(items, waiting)
            for group, (prepared, parts) in engine.each(prepare, groups, models=embedder is not None):
                self._write_documents(prepared, waiting.pop(group.number))
                for part in parts:
                    self._write(part)
                progress("documents", self.added + self.unchanged, total)
        progress("documents", self.added + self.unchanged, total)

    def _preparing(self) -> Engine:
        """The engine that the settings name; unless they do, processes of this machine."""
        return self._processes if self._settings.engine.name == "here" else open_engine(self._settings.engine)

    def _groups(
        self, items: Iterable[Document | Problem], waiting: dict[int, list[tuple[Document, list[object]]]]
    ) -> Iterator[Group]:
        """Documents that are loaded, some at a time; with the fields of their metadata they are put into `waiting`."""
        stream = self._fresh(items)
        for number in count():
            waiting[number] = list(islice(stream, _GROUP))
            if not waiting[number]:
                return
            yield Group(number, [document for document, _ in waiting[number]])

    def _fresh(self, items: Iterable[Document | Problem]) -> Iterator[tuple[Document, list[object]]]:
        for item in items:
            if isinstance(item, Problem):
                self.problems.append(item)
                continue
            id = document_id(self.name, item.key)
            key, content = bits(id), bits(content_hash(item))
            if self._seen.get(key) == content:
                self.unchanged += 1
                continue
            properties = local.document_properties(self.name, id, item)
            del properties["id"]
            fields = None if key in self._seen else self._metadata.values(properties)
            self._seen[key] = content
            if fields is None:
                self.deferred.add(item)
            else:
                yield item, fields

    def _write_documents(self, prepared: list[Prepared], group: list[tuple[Document, list[object]]]) -> None:
        for its, (document, fields) in zip(prepared, group, strict=True):
            if its.has_text:
                self._tables["Document"].write(its.id, its.content_hash, self._when(), *fields)
                self._tables["HOLDS"].write(self.name, its.id)
                self.added += 1
            else:
                self.problems.append(Problem(document.source or document.key, "holds no text"))

    def _when(self) -> CsvField:
        return CsvField(self._now)

    def _write(self, part: Part) -> None:
        vectors = part.embed(self._embedder)
        self.embedded += len(vectors) - len(part.problems)
        self.batches += len(vectors) > 0
        self.problems += part.problems
        self._vectors.add(vectors[: part.passages])
        for row, vector in zip(part.triples, fields_of(vectors[part.passages :]), strict=True):
            self._tables["Triple"].write(row, vector)
        self._tables.take(part.lines)
        self._passages.put(part.kept)
        self._sizes.append(part.passages)
        self._words.add(part.words)
        self._names.add(part.names)
        for all_titles, titles in zip(self._titles, part.titles, strict=True):
            all_titles.extend(titles)

    # The second pass.

    def relate(self, progress: Progress) -> None:
        """Find the mentions, keywords and nearest neighbours of every passage, and write what is left."""
        classes, proper = self._write_words()
        gazetteer, rare = self._name_entities(proper)
        corpus_class = self.passages.bit_length() - 1
        similar = self._similar(progress)
        keep = self._settings.indexing.keywords
        self._passages.flush()
        starts = [0, *accumulate(self._sizes)]
        mentioned, apart = Mentioned(), Mentioned()
        keywords: dict[str, tuple[int, str, str]] = {}  # stem -> df, smallest passage id, surface there

        def related(number: int) -> tuple[dict[str, Lines], Mentioned, Mentioned, list[tuple[str, str, str]]]:
            rows = self._passages[number]
            return related_rows(self.name, rows, starts[number], gazetteer, rare, classes, corpus_class, keep, similar)

        for number, (lines, its, its_apart, terms) in self._processes.each(related, range(len(self._sizes))):
            self._tables.take(lines)
            mentioned.extend(its)
            apart.extend(its_apart)
            for stem, id, surface in terms:
                n, first, written = keywords.get(stem, (0, id, surface))
                keywords[stem] = (n + 1, *min((first, written), (id, surface)))
            progress("mentions and keywords", starts[number + 1], self.passages)
        self._write_keywords(keywords)
        self._write_entities(Counts.of(mentioned.entities))
        self._write_collection(corpus_class, mentioned.density(), apart.density())

    def _write_words(self) -> tuple[dict[str, int], set[int]]:
        """Write the words; returns the classes of those of two passages or more, and which are proper (64 bits)."""
        classes: dict[str, int] = {}
        proper: set[int] = set()
        for part in self._words:
            total: dict[str, list[Any]] = {}
            for id, stem, *counts in part:
                known = total.setdefault(id, [stem, 0, 0, 0])
                for i, n in enumerate(counts, start=1):
                    known[i] += n
            for id, (stem, df, upper, lower) in total.items():
                word_class = df.bit_length() - 1
                self._tables["Word"].write(id, self.name, stem, stem, df, word_class, upper, lower)
                if word_class > 0:
                    classes[stem] = word_class
                if upper > lower:
                    proper.add(bits(id))
        self._words.close()
        return classes, proper

    def _name_entities(self, proper: set[int]) -> tuple[Gazetteer, NDArray[np.uint64]]:
        """Add up the names; returns those to be looked for, and (64 bits, sorted) those of one passage alone."""
        known: set[str] = set()
        rare = array("Q")
        for part in self._names:
            total: dict[str, list[Any]] = {}
            titles: set[str] = set()
            for id, normal, named, written, n, is_title in part:
                entity = total.setdefault(id, [normal, named, written, 0])
                entity[1] = _smaller(entity[1], named)
                entity[2] = _smaller(entity[2], written)
                entity[3] += n
                if is_title:
                    titles.add(id)
            looked_for = [(id, e[0]) for id, e in total.items() if id in titles or e[3] > 1]
            sure = {id for id, normal in looked_for if is_sure_name(normal, id in titles, self._language)}
            known.update(normal for id, normal in looked_for if id in sure)
            single = [normal for id, normal in looked_for if id not in sure]
            for normal, stem in zip(single, word_stems(single, self._language), strict=True):
                if bits(word_id(self.name, stem)) in proper:
                    known.add(normal)
            once = [(id, e[0]) for id, e in total.items() if e[3] == 1]
            for (id, normal), stem in zip(
                once, word_stems([normal for _, normal in once], self._language), strict=True
            ):
                if " " in normal or bits(word_id(self.name, stem)) in proper:
                    rare.append(bits(id))
            self._entities.add([(id, *e) for id, e in total.items()])
        self._names.close()
        return Gazetteer(self.name, known, self._settings.indexing.pipeline, self._language), np.sort(
            np.frombuffer(rare, np.uint64)
        )

    def _similar(self, progress: Progress) -> Similar:
        """Write the nearest neighbours, unless there are so many vectors that the index must find them."""
        k = self._settings.indexing.similar
        vectors = self._vectors.read()
        left = [stage for stage in STAGES if stage not in _HERE]
        if k == 0:
            return Similar(vectors, None, left)
        if vectors.nbytes > self._settings.exact_neighbours_mb * 2**20:
            return Similar(vectors, None, [*left, "similar"])
        ids = [p["id"] for passages in self._passages for p in passages]
        floors = np.full(len(vectors), np.nan)
        in_memory = np.array(vectors)
        there = np.flatnonzero(in_memory.any(axis=1))
        if len(there) < len(ids):  # what has no vector is near nothing
            ids, in_memory = [ids[i] for i in there], in_memory[there]
        for done, (row, found) in enumerate(neighbours.nearest(in_memory, ids, np.arange(len(ids)), k)):
            for other, score in found:
                self._tables["SIMILAR"].link(ids[row], ids[other], f"{score!r},embedding")
            if len(found) == k:
                floors[there[row]] = found[-1][1]
            if done % 1000 == 0:
                progress("neighbours", done, len(ids))
        progress("neighbours", len(ids), len(ids))
        return Similar(vectors, floors, left)

    def _write_keywords(self, keywords: dict[str, tuple[int, str, str]]) -> None:
        for stem, (n, _, surface) in keywords.items():
            self._tables["Keyword"].write(keyword_id(self.name, stem), self.name, surface, surface, stem, n)

    def _write_entities(self, df: Counts) -> None:
        pairs = np.unique(np.array([np.frombuffer(a, np.uint64) for a in self._titles]), axis=1)
        titles = Counts(*np.unique(pairs[0], return_counts=True))
        for rows in self._entities:
            keys = np.array([bits(row[0]) for row in rows], np.uint64)
            vectors = self._name_vectors([(id, normal) for id, normal, named, *_ in rows if named is not None])
            for row, mentioned, titled in zip(rows, df.get(keys), titles.get(keys), strict=True):
                id, normal, named, written, phrases = row
                stemmed = " ".join(name_stems(normal, self._language)) if named is not None else None
                vector = vectors.get(id)
                self._tables["Entity"].write(
                    id, self.name, written if named is None else named, normal, mentioned, titled, phrases,
                    None if named is None else True, stemmed, vector, strings([] if vector is None else ["similar"]),
                )  # fmt: skip
        self._entities.close()

    def _name_vectors(self, names: list[tuple[str, str]]) -> dict[str, CsvField]:
        """The vectors of those names that have one (link_synonyms), by id."""
        fit = [(id, name) for id, name in names if is_fit(name)] if self._settings.indexing.synonyms else []
        vectors = fields_of(embed_each(self._embedder, [name for _, name in fit])[0])
        return {id: vector for (id, _), vector in zip(fit, vectors, strict=True) if vector is not None}

    def _write_collection(self, corpus_class: int, density: float, density0: float) -> None:
        self._tables["Schema"].write("kgrag", "kgrag schema", NUMBER, self._when())
        self._tables["Collection"].write(
            self.name, self.name, NUMBER, self._embedder.name, self._embedder.dimension, schema.SLOTS[0],
            self._settings.indexing.model_dump_json(), self._language.code, schema.SCHEMA_VERSION, self._when(),
            self.passages, corpus_class, density, density0,
        )  # fmt: skip

    def files(self) -> Files:
        """The files, complete."""
        self._passages.close()
        return self._tables.close()


def _smaller(one: str | None, other: str | None) -> str | None:
    return other if one is None else one if other is None else min(one, other)
