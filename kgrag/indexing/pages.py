"""Pages and tables of documents: their nodes, and the edges that hold the passages to them."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from typing import Any

from kgrag.graph.connection import Transaction
from kgrag.text.tokens import caption
from kgrag.values import identity
from kgrag.values.documents import Document

_ROWS = 1000  # a statement


@dataclass(slots=True)
class PageRows:
    """What a transaction writes of pages and tables; rows as in the headers of `cypher/write`.

    `documents` are those that hold no other pages and tables afterwards.
    """

    documents: list[dict[str, Any]] = field(default_factory=list)
    pages: list[dict[str, Any]] = field(default_factory=list)
    next: list[dict[str, Any]] = field(default_factory=list)
    tables: list[dict[str, Any]] = field(default_factory=list)
    passages: list[dict[str, Any]] = field(default_factory=list)


def add_pages(rows: PageRows, collection: str, id: str, document: Document, passages: Sequence[dict[str, Any]]) -> None:
    """Add the rows for a document with that id, whose passages know their `page`, `last_page` and `table`."""
    numbers = {page.number: identity.page_id(id, page.number) for page in document.pages}
    tables = {table.number: identity.table_id(id, table.number) for table in document.tables}
    rows.documents.append({"id": id, "pages": len(numbers), "tables": len(tables)})
    for page in document.pages:
        properties = {
            "id": numbers[page.number],
            "name": caption(page.name),
            "collection": collection,
            "number": page.number,
            "label": page.label,
            "text": page.text,
        }
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
    if numbers or tables:
        for passage in passages:
            place = {key: passage[key] for key in ("id", "page", "last_page")}
            on = _between(numbers, passage["page"], passage["last_page"])
            rows.passages.append(place | {"pages": on, "table": tables.get(passage["table"])})


def write_pages(tx: Transaction, rows: PageRows) -> None:
    """Write them within a transaction, after the passages; pages and tables that are gone are removed."""
    if rows.documents:
        tx.run("write/remove_pages", rows=rows.documents)
    for query, parts in (
        ("write/pages", rows.pages),
        ("write/next_pages", rows.next),
        ("write/tables", rows.tables),
        ("write/page_passages", rows.passages),
    ):
        for start in range(0, len(parts), _ROWS):
            tx.run(query, rows=parts[start : start + _ROWS])


def _between(ids: dict[int, str], first: int | None, last: int | None) -> list[str]:
    return [ids[n] for n in range(first, (last or first) + 1) if n in ids] if first else []
