"""Transactions that write or remove documents, with their pages, tables and figures. Each can be run again."""

from collections.abc import Sequence, Set
from dataclasses import dataclass, field
from itertools import pairwise
from typing import Any

from kgrag.graph import schema
from kgrag.graph.collections import Collection
from kgrag.graph.connection import Graph, Transaction
from kgrag.graph.description import describe
from kgrag.indexing.corpus_stages import STAGES
from kgrag.indexing.figure_references import figure_references
from kgrag.indexing.statistics import difference, statistics, write_statistics
from kgrag.indexing.timelines import timeline
from kgrag.text.tokenised import tokenised
from kgrag.text.tokens import caption
from kgrag.values import identity
from kgrag.values.documents import Document, Triple
from kgrag.values.errors import MismatchError

_ROWS = 1000  # a statement


@dataclass(slots=True)
class PageRows:
    """The rows of pages, tables and figures in one transaction, as in the headers of `cypher/write`.

    `documents`: documents whose other pages, tables and figures are removed.
    """

    documents: list[dict[str, Any]] = field(default_factory=list)
    pages: list[dict[str, Any]] = field(default_factory=list)
    next: list[dict[str, Any]] = field(default_factory=list)
    tables: list[dict[str, Any]] = field(default_factory=list)
    figures: list[dict[str, Any]] = field(default_factory=list)
    passages: list[dict[str, Any]] = field(default_factory=list)


def add_pages(rows: PageRows, collection: str, id: str, document: Document, passages: Sequence[dict[str, Any]]) -> None:
    """Add the rows of a document, whose passages know their `page`, `last_page` and `table`."""
    numbers = {page.number: identity.page_id(id, page.number) for page in document.pages}
    tables = {table.number: identity.table_id(id, table.number) for table in document.tables}
    figures = {figure.number: identity.figure_id(id, figure.number) for figure in document.figures}
    rows.documents.append({"id": id, "pages": len(numbers), "tables": len(tables), "figures": len(figures)})
    for page in document.pages:
        properties = {
            "id": numbers[page.number], "name": caption(page.name), "collection": collection, "number": page.number,
            "label": page.label, "text": page.text, "confidence": page.confidence,
        }  # fmt: skip
        rows.pages.append({"document": id, "id": numbers[page.number], "properties": properties})
    rows.next.extend({"id": a, "after": b} for a, b in pairwise(numbers[n] for n in sorted(numbers)))
    for table in document.tables:
        properties = {
            "id": tables[table.number],
            "name": caption(table.name),
            "collection": collection,
            "number": table.number,
            "caption": table.caption,
            "markdown": table.markdown,
        }
        if table.page:
            properties |= {"page": table.page, "last_page": table.last_page}
        on = _between(numbers, table.page, table.last_page)
        rows.tables.append({"document": id, "id": tables[table.number], "properties": properties, "pages": on})
    for figure in document.figures:
        size = {"box": list(figure.box), "width": figure.width, "height": figure.height}
        properties = {
            "id": figures[figure.number], "name": caption(figure.name), "collection": collection,
            "number": figure.number, "caption": figure.caption, "media_type": figure.media_type, "sha": figure.sha,
            **{key: value for key, value in size.items() if value},
        }  # fmt: skip
        if figure.page:
            properties["page"] = figure.page
        if figure.description:
            properties["description"] = figure.description
        shown_by = numbers.get(figure.page)
        place = {"page": shown_by, "document": id if shown_by is None else None}
        rows.figures.append({"id": figures[figure.number], "properties": properties, **place})
    if numbers or tables or figures:
        refers = figure_references(document.figures, passages)
        for passage, references in zip(passages, refers, strict=True):
            place = {key: passage[key] for key in ("id", "page", "last_page")}
            on = _between(numbers, passage["page"], passage["last_page"])
            to = {"table": tables.get(passage["table"]), "figures": [figures[number] for number in references]}
            rows.passages.append(place | {"pages": on, **to})


def write_pages(tx: Transaction, rows: PageRows) -> None:
    """Write the rows within a transaction, after the passages, and remove what the document no longer has."""
    if rows.documents:
        tx.run("write/remove_pages", rows=rows.documents)
    for query, parts in (
        ("write/pages", rows.pages),
        ("write/next_pages", rows.next),
        ("write/tables", rows.tables),
        ("write/figures", rows.figures),
        ("write/page_passages", rows.passages),
    ):
        for start in range(0, len(parts), _ROWS):
            tx.run(query, rows=parts[start : start + _ROWS])


def _between(ids: dict[int, str], first: int | None, last: int | None) -> list[str]:
    return [ids[n] for n in range(first, (last or first) + 1) if n in ids] if first else []


Row = dict[str, Any]
_OWN = ("id", "passage", "properties", "vector")  # properties of the triple itself
_ENDS = ("id", "subject", "object")
EMPTIED = 20_000  # nodes whose indexes are emptied when their collection is removed, in place of being dropped
_SPARE = 50  # removed collections whose indexes stay


@dataclass(slots=True)
class Batch:
    """The rows of one transaction: dictionaries with the keys of the headers of `cypher/write`.

    `rewritten`, `renamed`: existing documents and passages, with the entities that they stay about. `sealed`: documents
    whose last part this is. `stale_*`: ids of nodes that they no longer have.
    """

    documents: list[Row] = field(default_factory=list)
    passages: list[Row] = field(default_factory=list)
    entities: dict[str, Row] = field(default_factory=dict)
    about: list[Row] = field(default_factory=list)
    passages_about: list[Row] = field(default_factory=list)
    triples: list[Row] = field(default_factory=list)
    sealed: list[Row] = field(default_factory=list)
    rewritten: list[Row] = field(default_factory=list)
    renamed: list[Row] = field(default_factory=list)
    stale_passages: list[str] = field(default_factory=list)
    stale_triples: list[str] = field(default_factory=list)
    pages: PageRows = field(default_factory=PageRows)


def write_batch(graph: Graph, collection: Collection, batch: Batch) -> None:
    """Write a batch of documents in one transaction. Raises MismatchError when the collection was removed meanwhile.

    Nodes that belong to one document are written first. Other transactions also write the entities, so these are locked
    last, all at once and in the order of their ids. Transactions can therefore not deadlock.
    """

    def work(tx: Transaction) -> None:
        touched: set[str] = set()
        if batch.stale_triples:
            touched.update(r["entity"] for r in tx.run("write/remove_triples", ids=batch.stale_triples))
        if batch.documents:
            tx.run("write/documents", rows=batch.documents)
        if batch.passages:
            tx.run(
                "write/passages",
                rows=batch.passages,
                labels=[collection.label("Passage")],
                embedding=collection.embedding,
                todo=list(STAGES),
            )
        if batch.stale_passages:
            touched |= remove_passages(tx, collection, batch.stale_passages, [row["id"] for row in batch.passages])
        if batch.sealed:
            tx.run("write/order", rows=batch.sealed)
        if batch.triples:
            tx.run(
                "write/triples",
                rows=[{key: row[key] for key in _OWN} for row in batch.triples],
                labels=[collection.label("Triple")],
                embedding=collection.embedding,
            )
        write_pages(tx, batch.pages)
        if batch.entities:
            rows = sorted(batch.entities.values(), key=lambda row: str(row["id"]))
            tx.run("write/entities", rows=rows, collection=collection.name, labels=[collection.label("Entity")])
        for label, rows in (("Document", batch.rewritten), ("Passage", batch.renamed)):
            if rows:
                touched.update(r["entity"] for r in tx.run("write/not_about", label=label, rows=rows))
        for label, rows in (("Document", batch.about), ("Passage", batch.passages_about)):
            if rows:
                tx.run("write/about", label=label, rows=sorted(rows, key=lambda row: str(row["entity"])))
        if batch.triples:
            tx.run("write/triple_ends", rows=[{key: row[key] for key in _ENDS} for row in batch.triples])
        settle_entities(tx, touched)
        if batch.sealed:
            tx.run("write/seal", rows=batch.sealed, collection=collection.name)
        if stale := len(batch.stale_passages) + len(batch.stale_triples):
            tx.run("write/count_stale", collection=collection.name, number=stale)
        check_there(tx, collection)  # last: it holds the collection's lock until it is committed

    graph.write(work)


def settle_entities(tx: Transaction, lost: Set[str], typed: Set[str] = frozenset()) -> None:
    """Update entities that lost a mention or a title, and entities with new facts of a schema (`typed`)."""
    settle_facts(tx, lost - typed, typed)
    if lost:
        tx.run("write/settle_entities", ids=sorted(lost))


def settle_facts(tx: Transaction, lost: Set[str], typed: Set[str]) -> None:
    """Bring the labels and relationships of entities in step with their facts of a schema (see the statement)."""
    rows: list[dict[str, Any]] = []
    if lost or typed:
        for group in tx.run("write/settle_facts", lost=sorted(lost), typed=sorted(typed)):
            for period in timeline(group["facts"], one=group["one"]):
                ends = group["key"], period.object
                subject, object = reversed(ends) if group["turned"] else ends
                if subject in group["settled"]:
                    row = {"subject": subject, "relation": group["relation"], "object": object}
                    rows.append(row | {"properties": period.properties()})
    if rows:
        tx.run("write/fact_relationships", rows=rows)
    if dated := sorted({row["subject"] for row in rows if row["properties"].keys() & {"valid_from", "valid_to"}}):
        tx.run("write/held", ids=dated, collection="")


def triple_properties(id: str, collection: str, triple: Triple) -> Row:
    """Return the properties of a triple's node, without its vector."""
    texts = {"subject": triple.subject, "predicate": triple.predicate, "object": triple.object, "text": triple.text}
    return {"id": id, "name": caption(triple.predicate or triple.text), "collection": collection, **texts}


def check_there(tx: Transaction, collection: Collection) -> str:
    """Lock the node of a collection until the transaction ends, and return its element id in the server.

    Rows for a removed collection would belong to no collection, and the next one of its name would find them. Raises
    MismatchError if the collection is gone.
    """
    rows = tx.run("write/join_collection", name=collection.name)
    if [(c["number"], str(c["created"]), c["removing"]) for c in rows] != [
        (collection.number, collection.created, False)
    ]:
        raise MismatchError(
            f"Collection {collection.name!r} was removed while documents were written into it.",
            "Run the same command again to make it again with all of them.",
        )
    return str(rows[0]["element"])


def remove_passages(
    tx: Transaction, collection: Collection, ids: Sequence[str], successors: Sequence[str] = ()
) -> set[str]:
    """Remove passages within a transaction and subtract their counts. Returns the entities to settle.

    `successors`: new passages of the same documents, which are counted here, too. Most words and names stand in both,
    so their counts stay the same and no other passage has to be visited.
    """
    texts = tx.run("look_up/counted_texts", ids=list(ids))
    new_texts = tx.run("write/take_uncounted", ids=list(successors)) if successors else []
    name, pipeline, language = collection.name, collection.indexing.pipeline, collection.language
    removed = statistics(name, [tokenised(row, language) for row in texts], -1, pipeline, language)
    added = statistics(name, [tokenised(row, language) for row in new_texts], 1, pipeline, language)
    words, phrases = difference(removed, added)
    write_statistics(tx, collection, words, phrases)
    tx.run("write/remove_unused_words", ids=[row["id"] for row in words])
    neighbours = tx.run("write/remove_passages", ids=list(ids))
    keywords = {k for r in neighbours for k in r["keywords"]}
    if keywords:
        tx.run("write/settle_keywords", ids=sorted(keywords))
    return {e for r in neighbours for e in r["entities"]} | {row["id"] for row in phrases}


def remove_document(graph: Graph, collection: Collection, document: str, *, batch: int = 1000) -> int:
    """Remove a document and its passages in several transactions. Returns the number of passages.

    The document is unsealed first, so after an interruption it is written or removed again, and never looks complete.
    """
    graph.run("write/unseal", ids=[document])
    passages = [r["passage"] for r in graph.run("look_up/passage_ids", ids=[document])]
    for start in range(0, len(passages), batch):
        part = passages[start : start + batch]

        def remove(tx: Transaction, part: list[str] = part) -> None:
            settle_entities(tx, remove_passages(tx, collection, part))
            tx.run("write/count_stale", collection=collection.name, number=len(part))

        graph.write(remove)

    def finish(tx: Transaction) -> None:
        settle_entities(tx, {r["entity"] for r in tx.run("write/remove_documents", ids=[document])})
        tx.run("write/unlink", collection=collection.name)

    graph.write(finish)
    return len(passages)


def remove_collection(graph: Graph, collection: Collection, nodes: int) -> None:
    """Remove a collection and its nodes, a few thousand in each transaction. An interrupted run resumes.

    Indexes of a small collection (few `nodes`) are emptied and kept for the next one. Others are dropped first, since
    nodes are removed faster without them.
    """
    whole = collection.embedding != schema.SLOTS[1] and collection.reembedding is None and collection.discard is None
    name, indexed = collection.name, list(collection.indexed) if whole and nodes <= EMPTIED else []
    if not graph.run("write/close_collection", collection=name, indexed=indexed, most=_SPARE)[0]["indexed"]:
        schema.drop_collection_indexes(graph, collection.number)
    for node in sorted(describe().nodes, key=lambda node: node.hub):  # a hub's edges go with the nodes around it
        if node.held:
            graph.run("write/clear", label=node.label, collection=name)
    graph.run("write/remove_collection", collection=name)
