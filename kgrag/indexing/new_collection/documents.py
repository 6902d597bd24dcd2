"""Rows of passages, names and triples for a new collection, one group of documents at a time."""

from array import array
from collections import defaultdict
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

from kgrag.indexing import documents as local
from kgrag.indexing.document_writer import Batch, PageRows, Row
from kgrag.indexing.mentions import id64
from kgrag.indexing.new_collection.tables import Lines, partition, pickled, property_names
from kgrag.indexing.statistics import statistics
from kgrag.indexing.vectors import unembedded
from kgrag.models.embed import Embedder, Vectors, embed_each
from kgrag.settings import IndexingSettings
from kgrag.text.languages import language_of
from kgrag.values.documents import Document, Problem
from kgrag.values.identity import keyword_id


@dataclass(slots=True)
class Prepared:
    """A document: its id, the hash of its content, and whether it holds any text."""

    id: str
    content_hash: str
    has_text: bool


@dataclass(frozen=True, slots=True)
class Group:
    """Some documents that are prepared together; `number` tells which, since groups come back in any order."""

    number: int
    documents: Sequence[Document]


@dataclass(slots=True)
class Part:
    """Some passages of a group of documents.

    `lines`: rows by table; `triples`: rows of Triple without the vector; `texts`: the texts to embed, passages first,
    with their `places`, or else their `vectors`, and `problems` for rows of zeros; `kept`: the pickled passages for the
    second pass, and their `ids`; `words`, `names`: rows to count, for Partitions; `titles`: entities, and titles that
    name them, 64 bits each.
    """

    lines: "defaultdict[str, Lines]"
    passages: int
    texts: list[str]
    places: list[str]
    vectors: Vectors | None = None
    problems: list[Problem] = field(default_factory=list)
    kept: bytes = b""
    ids: list[str] = field(default_factory=list)
    words: list[bytes] = field(default_factory=list)
    names: list[bytes] = field(default_factory=list)
    triples: list[tuple[object, ...]] = field(default_factory=list)
    titles: "tuple[array[int], array[int]]" = field(default_factory=lambda: (array("Q"), array("Q")))

    def embed(self, embedder: Embedder) -> Vectors:
        """Return the vectors, computed at the first call."""
        if self.vectors is None:
            self.vectors, reasons = embed_each(embedder, self.texts)
            self.problems = unembedded(self.texts, self.places, reasons)
            self.texts, self.places = [], []
        return self.vectors


@dataclass(frozen=True, slots=True)
class Reading:
    """Cuts documents into passages and finds names in them, `size` passages at a time; with an embedder it embeds.

    `lines`: makes a place for rows of one table.
    """

    collection: str
    indexing: IndexingSettings
    size: int
    embedder: Embedder | None
    lines: Callable[[], Lines]

    def __call__(self, group: Group) -> tuple[list[Prepared], list[Part]]:
        """Return the rows of documents, their passages in parts."""
        language = language_of(self.indexing.language or "en")
        plans = [local.plan(self.collection, document, self.indexing, language) for document in group.documents]
        about: dict[str, list[str]] = {}  # entities that the title of a document names
        parts = []
        for pieces in local.split((plan for plan in plans if plan.passages), self.size):
            batch, texts = local.build_batch(self.collection, pieces, language)
            part = Part(defaultdict(self.lines), len(batch.passages), texts, local.places(pieces, batch))
            if self.embedder is not None:
                part.embed(self.embedder)
            _add_about(part, about, pieces, batch)
            passages = _add_passages(part, about, pieces, batch)
            _add_pages(part, batch.pages)
            _add_triples(part, self.collection, batch)
            words, names = statistics(
                self.collection,
                (row["tokenised"] for row in passages),
                pipeline=self.indexing.pipeline,
                language=language,
            )
            part.words = partition((r["id"], r["stem"], r["n"], r["upper"], r["lower"]) for r in words)
            part.kept = pickled(passages)  # after counting, so the tokenised texts are included
            part.ids = [row["id"] for row in passages]
            titled = {r["entity"] for r in (*batch.about, *batch.passages_about)}
            part.names = partition(
                [(r["id"], r["normal"], None, r["n"], False, None) for r in names]
                + [
                    (r["id"], r["normal"], r["name"], 0, r["id"] in titled, r["stemmed"])
                    for r in batch.entities.values()
                ]
            )
            parts.append(part)
        return [Prepared(plan.id, plan.content_hash, bool(plan.passages)) for plan in plans], parts


def _add_about(
    part: Part, about: dict[str, list[str]], pieces: list[tuple[local.Plan, int, int]], batch: Batch
) -> None:
    titles = {plan.id: plan.document.title.lower() for plan, start, _ in pieces if start == 0}
    entities, named_by = part.titles
    for row in batch.about:
        document, entity = row["id"], row["entity"]
        part.lines["ABOUT"].link(document, entity, row["weight"], row["text"])
        about.setdefault(document, []).append(entity)
        entities.append(id64(entity))
        named_by.append(id64(keyword_id("", titles[document])))
    documents = {row["id"]: row["document"] for row in batch.passages}
    for row in batch.passages_about:
        document, entity = documents[row["id"]], row["entity"]
        part.lines["PASSAGE_ABOUT"].link(row["id"], entity, row["weight"], row["text"])
        if entity not in about.get(document, ()):  # as write/count_names has it
            entities.append(id64(entity))
            named_by.append(id64(document))


def _add_passages(
    part: Part, about: dict[str, list[str]], pieces: list[tuple[local.Plan, int, int]], batch: Batch
) -> list[Row]:
    stated: defaultdict[str, list[str]] = defaultdict(list)
    for triple in batch.triples:
        stated[triple["passage"]] += [batch.entities[triple[end]]["normal"] for end in ("subject", "object")]
    rows: list[Row] = []
    has, follows = part.lines["HAS_PASSAGE"], part.lines["NEXT"]
    for plan, start, end in pieces:
        own = about.get(plan.id, [])
        for i in range(start, end):
            passage = plan.passages[i]
            id = passage["id"]
            more: Row = {key: passage[key] for key in ("tokenised", "document", "page", "last_page")}
            more |= {"ordinal": i, "own": own, "stated": stated.get(id, [])}
            rows.append(passage["properties"] | more)
            has.link(plan.id, id)
            if i > 0:
                follows.link(plan.passages[i - 1]["id"], id)
    return rows


def _add_pages(part: Part, rows: PageRows) -> None:
    for label, of, entries in (("Page", "HAS_PAGE", rows.pages), ("Table", "HAS_TABLE", rows.tables)):
        for row in entries:
            part.lines[label].write(*map(row["properties"].get, property_names(label)))
            part.lines[of].link(row["document"], row["id"])
    for row in rows.figures:
        part.lines["Figure"].write(*map(row["properties"].get, property_names("Figure")))
        part.lines["SHOWS" if row["page"] else "DOCUMENT_SHOWS"].link(row["page"] or row["document"], row["id"])
    for row in rows.next:
        part.lines["PAGE_NEXT"].link(row["id"], row["after"])
    for kind, entries in (("PAGE_CONTAINS", rows.tables), ("CONTAINS", rows.passages)):
        for row in entries:
            for page in row["pages"]:
                part.lines[kind].link(page, row["id"])
    for row in rows.passages:
        if row["table"] is not None:
            part.lines["OF_TABLE"].link(row["id"], row["table"])
        for figure in row["figures"]:
            part.lines["REFERS_TO"].link(row["id"], figure)


def _add_triples(part: Part, collection: str, batch: Batch) -> None:
    states, subject, object = (part.lines[kind] for kind in ("STATES", "SUBJECT", "OBJECT"))
    for row in batch.triples:
        id, p = row["id"], row["properties"]
        part.triples.append((id, collection, p["name"], p["subject"], p["predicate"], p["object"], p["text"]))
        states.link(row["passage"], id)
        subject.link(id, row["subject"])
        object.link(id, row["object"])
