"""The ids of nodes: hashes of what identifies a node, its collection included, never of its whole content."""

import hashlib
import json
from collections.abc import Mapping
from functools import lru_cache
from typing import Any

from kgrag.values.documents import Document


def node_id(*parts: str | int) -> str:
    """Return a 32-digit hexadecimal id of the parts, in order; different lists of parts share none in practice."""
    return hashlib.blake2b("\x1f".join(map(str, parts)).encode(), digest_size=16).hexdigest()


def _named(collection: str, kind: str, name: str) -> str:
    """Return node_id(collection, kind, name), quicker: these are made by the million."""
    hashed = _beginning(collection, kind).copy()
    hashed.update(name.encode())
    return str(hashed.hexdigest())


@lru_cache(maxsize=256)
def _beginning(collection: str, kind: str) -> Any:
    return hashlib.blake2b(f"{collection}\x1f{kind}\x1f".encode(), digest_size=16)


def document_id(collection: str, key: str) -> str:
    """Return the id of a document: its collection and the user's own key."""
    return node_id(collection, "document", key)


def passage_id(document: str, text: str, occurrence: int) -> str:
    """Return the id of the `occurrence`-th passage (from 0) with exactly this text in a document."""
    return node_id(document, "passage", text, occurrence)


def entity_id(collection: str, name: str) -> str:
    """Return the id of an entity by its normalised name."""
    return _named(collection, "entity", name)


def word_id(collection: str, stem: str) -> str:
    """Return the id of a word by its stem."""
    return _named(collection, "word", stem)


def keyword_id(collection: str, stem: str) -> str:
    """Return the id of a keyword by its stem."""
    return _named(collection, "keyword", stem)


def triple_id(passage: str, subject: str, predicate: str, obj: str) -> str:
    """Return the id of a triple within its passage."""
    return node_id(passage, "triple", subject, predicate, obj)


def page_id(document: str, number: int) -> str:
    """Return the id of a page by its number in the document with that id."""
    return node_id(document, "page", number)


def table_id(document: str, number: int) -> str:
    """Return the id of a table by its number in the document with that id."""
    return node_id(document, "table", number)


def figure_id(document: str, number: int) -> str:
    """Return the id of a figure by its number in the document with that id."""
    return node_id(document, "figure", number)


def content_hash(document: Document) -> str:
    """Return a hash of everything in a document that ends up in the graph, to detect changes.

    The source is left out: the same file reached by another path has not changed.
    """
    content: Mapping[str, Any] = {
        "title": document.title,
        "sections": [(s.heading, s.text) for s in document.sections],
        "metadata": document.metadata,
        "triples": [(t.subject, t.predicate, t.object) for t in document.triples],
    }
    if document.pages or document.tables:
        content = {
            **content,
            "pages": [(p.number, p.label, p.text) for p in document.pages],
            "breaks": [s.breaks for s in document.sections],
            "tables": [(t.caption, t.rows, t.page, t.last_page) for t in document.tables],
        }
    if document.figures:
        content = {**content, "figures": [(f.sha, f.caption, f.page, f.box, f.description) for f in document.figures]}
    return hashlib.blake2b(
        json.dumps(content, sort_keys=True, default=str).encode("utf-8", "surrogatepass"), digest_size=16
    ).hexdigest()
