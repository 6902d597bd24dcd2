"""Documents -> the files of a bulk load, in two passes: what stands in each document, then what the corpus says of it.

The rows are those that an ingest writes in transactions, made by the same functions. What grows with the corpus waits
on disk; in memory are 64 bits for each name, document and mention, the words of two passages or more, and keywords.
"""

from array import array
from collections import defaultdict, deque
from collections.abc import Iterable, Iterator
from datetime import UTC, datetime
from functools import partial
from itertools import accumulate, islice
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from kgrag.graph import schema
from kgrag.graph.contents import WITH_OWN_LABEL
from kgrag.graph.csv_files import FoundColumns, Lines, Ready, Table, floats, strings
from kgrag.graph.local.bulk import Files
from kgrag.identity import content_hash, document_id, keyword_id, word_id
from kgrag.indexing import documents as local
from kgrag.indexing import neighbours
from kgrag.indexing.bulk_files import Partitions, Spill, VectorFile
from kgrag.indexing.bulk_relations import Counts, Names, Similar, density_of, related_rows
from kgrag.indexing.bulk_workers import spread
from kgrag.indexing.mentions import Gazetteer, bits
from kgrag.indexing.pages import PageRows
from kgrag.indexing.statistics import statistics
from kgrag.indexing.synonyms import is_fit
from kgrag.indexing.writer import Batch, Row
from kgrag.models.embed import Embedder, Vectors
from kgrag.settings import Settings
from kgrag.text import stems
from kgrag.types import Document, Problem, Progress

NUMBER = 1
"""Of the only collection in a database that was just imported."""

_NODES = {
    "Document": ("id:ID(Document)", "content_hash", "updated:datetime"),
    "Passage": ("id:ID(Passage)", "collection", "name", "title", "section", "text", "tokens:long", "stems",
                "ordinal:long", "embedding:float[]", "similar_floor:double", "todo:string[]",
                "page:long", "last_page:long"),
    "Page": ("id:ID(Page)", "collection", "name", "number:long", "label", "text"),
    "Table": ("id:ID(Table)", "collection", "name", "number:long", "caption", "markdown", "page:long",
              "last_page:long"),
    "Triple": ("id:ID(Triple)", "collection", "name", "subject", "predicate", "object", "text", "embedding:float[]"),
    "Entity": ("id:ID(Entity)", "collection", "name", "normal", "df:long", "ntit:long", "phrases:long",
               "named:boolean", "stemmed", "embedding:float[]", "todo:string[]"),
    "Word": ("id:ID(Word)", "collection", "name", "stem", "df:long", "class:long", "upper:long", "lower:long"),
    "Keyword": ("id:ID(Keyword)", "collection", "name", "text", "stem", "df:long"),
    "Collection": ("name:ID(Collection)", "collection", "number:long", "embedder", "dimension:long", "embedding",
                   "settings", "schema_version:long", "created:datetime", "passages:long", "class:long",
                   "density:double"),
    "Schema": ("id:ID(Schema)", "name", "collections:long", "touched:datetime"),
}  # fmt: skip
_EDGES = {
    "HOLDS": ("Collection", "Document"),
    "HAS_PASSAGE": ("Document", "Passage"),
    "NEXT": ("Passage", "Passage"),
    "ABOUT": ("Document", "Entity", "weight:double"),
    "PASSAGE_ABOUT": ("Passage", "Entity", "weight:double"),
    "STATES": ("Passage", "Triple"),
    "SUBJECT": ("Triple", "Entity"),
    "OBJECT": ("Triple", "Entity"),
    "MENTIONS": ("Passage", "Entity", "via", "positions:long[]"),
    "HAS_KEYWORD": ("Passage", "Keyword", "weight:double"),
    "SIMILAR": ("Passage", "Passage", "score:double", "via"),
    "HAS_PAGE": ("Document", "Page"),
    "HAS_TABLE": ("Document", "Table"),
    "PAGE_NEXT": ("Page", "Page"),
    "PAGE_CONTAINS": ("Page", "Table"),
    "CONTAINS": ("Page", "Passage"),
    "OF_TABLE": ("Passage", "Table"),
}

_SEVERAL = {"PASSAGE_ABOUT": "ABOUT", "PAGE_NEXT": "NEXT", "PAGE_CONTAINS": "CONTAINS"}  # between other labels, too

_GROUP = 128  # documents


class BulkRows:
    """A collection as files: `read` the documents, `relate` them, then `files` names what is to be imported."""

    def __init__(self, folder: Path, name: str, embedder: Embedder, settings: Settings) -> None:
        self.name = name
        self.problems: list[Problem] = []
        self.added = self.unchanged = self.embedded = self.batches = 0
        self.deferred = Spill(folder / "deferred.rows")
        self._embedder = embedder
        self._settings = settings
        self._folder = folder
        self._now = datetime.now(UTC).isoformat(timespec="milliseconds")
        self._nodes = {label: Table(folder, label, columns) for label, columns in _NODES.items()}
        self._edges = {
            kind: Table(folder, kind, (f":START_ID({start})", f":END_ID({end})", *more))
            for kind, (start, end, *more) in _EDGES.items()
        }
        self._metadata = FoundColumns(self._nodes["Document"])
        self._seen: dict[int, int] = {}
        self._own: dict[str, list[str]] = {}
        self._passages = Spill(folder / "passages.rows")
        self._vectors = VectorFile(folder / "vectors.f32", embedder.dimension)
        self._words = Partitions(folder, "words")
        self._names = Partitions(folder, "names")
        self._entities = Spill(folder / "entities.rows")
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
        waiting: deque[list[list[object]]] = deque()
        prepare = partial(_prepare, self.name, self._settings)
        with self._vectors:
            for plans, batches in spread(prepare, self._groups(items, waiting)):
                self._write_documents(plans, waiting.popleft())
                for parts, batch, texts, counts in batches:
                    vectors = self._embedder.embed(texts)
                    self.embedded += len(texts)
                    self.batches += bool(texts)
                    self._write_about(parts, batch)
                    self._keep_passages(parts, batch)
                    self._write_pages(batch.pages)
                    self._vectors.add(vectors[: len(batch.passages)])
                    self._write_triples(batch, vectors[len(batch.passages) :])
                    self._count(batch, *counts)
                progress("documents", self.added + self.unchanged, total)
        progress("documents", self.added + self.unchanged, total)

    def _groups(
        self, items: Iterable[Document | Problem], waiting: "deque[list[list[object]]]"
    ) -> Iterator[list[Document]]:
        """Documents that are loaded, some at a time; the fields of their metadata are put into `waiting`."""
        stream = self._fresh(items)
        while group := list(islice(stream, _GROUP)):
            waiting.append([fields for _, fields in group])
            yield [document for document, _ in group]

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

    def _write_documents(self, plans: list[local.Plan], metadata: list[list[object]]) -> None:
        for plan, fields in zip(plans, metadata, strict=True):
            if plan.passages:
                self._nodes["Document"].write(plan.id, plan.content_hash, self._when(), *fields)
                self._edges["HOLDS"].write(self.name, plan.id)
                self.added += 1
            else:
                self.problems.append(Problem(plan.document.source or plan.document.key, "holds no text"))

    def _when(self) -> Ready:
        return Ready(self._now)

    def _write_about(self, parts: list[tuple[local.Plan, int, int]], batch: Batch) -> None:
        titles = {plan.id: plan.document.title.lower() for plan, start, _ in parts if start == 0}
        for row in batch.about:
            document, entity = row["document"], row["entity"]
            self._edges["ABOUT"].link(document, entity, row["weight"])
            self._own.setdefault(document, []).append(entity)
            self._titles[0].append(bits(entity))
            self._titles[1].append(bits(keyword_id("", titles[document])))
        documents = {row["id"]: row["document"] for row in batch.passages}
        for row in batch.passages_about:
            document, entity = documents[row["passage"]], row["entity"]
            self._edges["PASSAGE_ABOUT"].link(row["passage"], entity, row["weight"])
            if entity not in self._own.get(document, ()):  # as write/count_titles has it
                self._titles[0].append(bits(entity))
                self._titles[1].append(bits(document))

    def _keep_passages(self, parts: list[tuple[local.Plan, int, int]], batch: Batch) -> None:
        stated: defaultdict[str, list[str]] = defaultdict(list)
        for triple in batch.triples:
            stated[triple["passage"]] += [triple["subject"], triple["object"]]
        kept: list[dict[str, Any]] = []
        for plan, start, end in parts:
            title = local.document_name(plan.document)
            own = self._own.get(plan.id, [])
            for i in range(start, end):
                passage = plan.passages[i]
                id = passage["id"]
                name = title if len(plan.passages) == 1 else f"{i + 1} · {title}"
                more: Row = {key: passage[key] for key in ("words", "page", "last_page")}
                more |= {"name": name, "ordinal": i, "own": own, "stated": stated.get(id, [])}
                kept.append(passage["properties"] | more)
                self._edges["HAS_PASSAGE"].link(plan.id, id)
                if i > 0:
                    self._edges["NEXT"].link(plan.passages[i - 1]["id"], id)
            if end >= len(plan.passages):
                self._own.pop(plan.id, None)
        self._passages.add(kept)

    def _write_pages(self, rows: PageRows) -> None:
        for label, of, its in (("Page", "HAS_PAGE", rows.pages), ("Table", "HAS_TABLE", rows.tables)):
            columns = [column.partition(":")[0] for column in _NODES[label]]
            for row in its:
                self._nodes[label].write(*(row["properties"].get(column) for column in columns))
                self._edges[of].link(row["document"], row["id"])
        for row in rows.next:
            self._edges["PAGE_NEXT"].link(row["id"], row["after"])
        for kind, its in (("PAGE_CONTAINS", rows.tables), ("CONTAINS", rows.passages)):
            for row in its:
                for page in row["pages"]:
                    self._edges[kind].link(page, row["id"])
        for row in rows.passages:
            if row["table"] is not None:
                self._edges["OF_TABLE"].link(row["id"], row["table"])

    def _write_triples(self, batch: Batch, vectors: Vectors) -> None:
        table, states, subject, object = (
            self._nodes["Triple"],
            *(self._edges[kind] for kind in ("STATES", "SUBJECT", "OBJECT")),
        )
        for row, vector in zip(batch.triples, floats(vectors), strict=True):
            id, p = row["id"], row["properties"]
            table.write(id, self.name, p["name"], p["subject"], p["predicate"], p["object"], p["text"], vector)
            states.link(row["passage"], id)
            subject.link(id, row["subject"])
            object.link(id, row["object"])

    def _count(self, batch: Batch, words: list[Row], names: list[Row]) -> None:
        self._words.add((r["id"], r["stem"], r["n"], r["upper"], r["lower"]) for r in words)
        self._names.add((r["id"], r["normal"], None, r["name"], r["n"]) for r in names)
        self._names.add((r["id"], r["normal"], r["name"], None, 0) for r in batch.entities.values())

    # The second pass.

    def relate(self, progress: Progress) -> None:
        """Find the mentions, keywords and nearest neighbours of every passage, and write what is left."""
        classes, proper = self._write_words()
        gazetteer, rare = self._name_entities(proper)
        corpus_class = self.passages.bit_length() - 1
        similar = self._similar(progress)
        keep = self._settings.indexing.keywords
        sizes = [len(passages) for passages in self._passages]
        starts = [0, *accumulate(sizes)]
        mentioned, per_passage = array("Q"), array("L")
        keywords: dict[str, tuple[int, str, str]] = {}  # stem -> df, smallest passage id, surface there

        def related(number: int) -> tuple[dict[str, Lines], "array[int]", "array[int]", list[tuple[str, str, str]]]:
            rows = self._passages[number]
            return related_rows(self.name, rows, starts[number], gazetteer, rare, classes, corpus_class, keep, similar)

        for number, (lines, entities, mentions_of, terms) in enumerate(spread(related, range(len(sizes)))):
            for name, its in lines.items():
                (self._edges if name in self._edges else self._nodes)[name].take(its)
            mentioned.extend(entities)
            per_passage.extend(mentions_of)
            for stem, id, surface in terms:
                n, first, written = keywords.get(stem, (0, id, surface))
                keywords[stem] = (n + 1, *min((first, written), (id, surface)))
            progress("mentions and keywords", starts[number + 1], self.passages)
        self._write_keywords(keywords)
        self._write_entities(Counts.of(mentioned))
        self._write_collection(corpus_class, density_of(mentioned, per_passage))

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
                self._nodes["Word"].write(id, self.name, stem, stem, df, word_class, upper, lower)
                if word_class > 0:
                    classes[stem] = word_class
                if upper > lower:
                    proper.add(bits(id))
        self._words.close()
        return classes, proper

    def _name_entities(self, proper: set[int]) -> tuple[Gazetteer, NDArray[np.uint64]]:
        """Add up the names; returns those to be looked for, and (64 bits, sorted) those of one passage alone."""
        known: set[int] = set()
        rare = array("Q")
        for part in self._names:
            total: dict[str, list[Any]] = {}
            for id, normal, named, written, n in part:
                entity = total.setdefault(id, [normal, named, written, 0])
                entity[1] = _smaller(entity[1], named)
                entity[2] = _smaller(entity[2], written)
                entity[3] += n
            looked_for = [e[0] for e in total.values() if e[1] is not None or e[3] > 1]
            known.update(hash(normal) for normal in looked_for if " " in normal)
            single = [normal for normal in looked_for if " " not in normal]
            for normal, stem in zip(single, stems(single), strict=True):
                if bits(word_id(self.name, stem)) in proper:
                    known.add(hash(normal))
            rare.extend(bits(id) for id, e in total.items() if e[3] == 1)
            self._entities.add([(id, *e) for id, e in total.items()])
        self._names.close()
        return Names(self.name, known), np.sort(np.frombuffer(rare, np.uint64))

    def _similar(self, progress: Progress) -> Similar:
        """Write the nearest neighbours, unless there are so many vectors that the index must find them."""
        k = self._settings.indexing.similar
        vectors = self._vectors.read()
        if k == 0:
            return Similar(vectors, None, [])
        if vectors.nbytes > self._settings.exact_neighbours_mb * 2**20:
            return Similar(vectors, None, ["similar"])
        ids = [p["id"] for passages in self._passages for p in passages]
        floors = np.full(len(ids), np.nan)
        in_memory = np.array(vectors)
        for done, (row, found) in enumerate(neighbours.nearest(in_memory, ids, np.arange(len(ids)), k)):
            for other, score in found:
                self._edges["SIMILAR"].link(ids[row], ids[other], f"{score!r},embedding")
            if len(found) == k:
                floors[row] = found[-1][1]
            if done % 1000 == 0:
                progress("neighbours", done, len(ids))
        progress("neighbours", len(ids), len(ids))
        return Similar(vectors, floors, [])

    def _write_keywords(self, keywords: dict[str, tuple[int, str, str]]) -> None:
        for stem, (n, _, surface) in keywords.items():
            self._nodes["Keyword"].write(keyword_id(self.name, stem), self.name, surface, surface, stem, n)

    def _write_entities(self, df: Counts) -> None:
        pairs = np.unique(np.array([np.frombuffer(a, np.uint64) for a in self._titles]), axis=1)
        titles = Counts(*np.unique(pairs[0], return_counts=True))
        for rows in self._entities:
            keys = np.array([bits(row[0]) for row in rows], np.uint64)
            vectors = self._name_vectors([(id, normal) for id, normal, named, *_ in rows if named is not None])
            for row, mentioned, titled in zip(rows, df.get(keys), titles.get(keys), strict=True):
                id, normal, named, written, phrases = row
                stemmed = " ".join(stems(normal.split())) if named is not None else None
                vector = vectors.get(id)
                self._nodes["Entity"].write(
                    id, self.name, written if named is None else named, normal, mentioned, titled, phrases,
                    None if named is None else True, stemmed, vector, strings([] if vector is None else ["similar"]),
                )  # fmt: skip
        self._entities.close()

    def _name_vectors(self, names: list[tuple[str, str]]) -> dict[str, Ready]:
        """The vectors of those names that have one (link_synonyms), by id."""
        fit = [(id, name) for id, name in names if is_fit(name)] if self._settings.indexing.synonyms else []
        vectors = floats(self._embedder.embed([name for _, name in fit]))
        return {id: vector for (id, _), vector in zip(fit, vectors, strict=True)}

    def _write_collection(self, corpus_class: int, density: float) -> None:
        self._nodes["Schema"].write("kgrag", "kgrag schema", NUMBER, self._when())
        self._nodes["Collection"].write(
            self.name, self.name, NUMBER, self._embedder.name, self._embedder.dimension, schema.SLOTS[0],
            self._settings.indexing.model_dump_json(), schema.SCHEMA_VERSION, self._when(), self.passages, corpus_class,
            density,
        )  # fmt: skip

    def files(self) -> Files:
        """The files, complete."""
        tables = [*self._nodes.values(), *self._edges.values()]
        for table in tables:
            table.close()
        self._passages.close()
        nodes = {label: (t.header, t.path) for label, t in self._nodes.items() if t.rows}
        edges = {kind: (t.header, t.path) for kind, t in self._edges.items() if t.rows}
        own = {label: f"{label}:{schema.label_of(label, NUMBER)}" for label in WITH_OWN_LABEL}
        return Files(
            nodes=[(own.get(label, label), paths) for label, paths in nodes.items()],
            relationships=[(_SEVERAL.get(kind, kind), paths) for kind, paths in edges.items()],
            multiline=[t.path for t in tables if t.multiline],
            longest=4 * max(t.longest for t in tables),  # bytes of characters
        )


def _prepare(collection: str, settings: Settings, documents: list[Document]) -> tuple[list[local.Plan], list[Any]]:
    """The plans of documents, and for each batch of passages its parts, rows, texts to embed, and counts."""
    plans = [local.plan(collection, document, settings.indexing) for document in documents]
    batches = []
    for parts in local.split((plan for plan in plans if plan.passages), settings.batch_passages):
        batch, texts = local.lay_out(collection, parts)
        counts = statistics(collection, [row["properties"] for row in batch.passages])
        batches.append((parts, batch, texts, counts))
    for plan in plans:
        plan.triples = []  # they are in the batches
    return plans, batches


def _smaller(one: str | None, other: str | None) -> str | None:
    return other if one is None else one if other is None else min(one, other)
