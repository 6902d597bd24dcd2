"""Ids of nodes and hashes of contents depend on every distinguishing property, and on nothing else."""

from dataclasses import replace

import pytest

from kgrag.values import identity
from kgrag.values.documents import Document, FileState, Section, Triple
from kgrag.values.identity import content_hash, node_id


def test_ids_tell_collections_kinds_and_parts_apart() -> None:
    makers = (identity.document_id, identity.entity_id, identity.word_id, identity.keyword_id)
    ids = [make(collection, name) for make in makers for collection in ("a", "b") for name in ("fram", "archer")]
    assert len(set(ids)) == 16
    assert all(len(id) == 32 for id in ids)
    assert identity.entity_id("a", "fram") == node_id("a", "entity", "fram")
    assert identity.page_id("d", 1) not in (
        identity.page_id("d", 2),
        identity.table_id("d", 1),
        identity.page_id("e", 1),
    )
    assert node_id("ab", "c") != node_id("a", "bc")
    assert len({identity.passage_id("d", "text", n) for n in range(3)}) == 3
    assert len({identity.triple_id("p", *parts) for parts in (("a", "b", "c"), ("c", "b", "a"), ("a b", "", "c"))}) == 3


def test_ids_stay_what_they_are() -> None:
    """Ids never change, since existing graphs could not find their own nodes by other ids."""
    assert node_id("a", "document", "b") == "a1390229f9a0fbe4b22d3547d67bfae8"


_DOCUMENT = Document("a", (Section("Text.", "Heading"),), "A", "src", {"x": 1}, (Triple("s", "p", "o"),))


@pytest.mark.parametrize(
    "changed",
    [
        {"title": "B"}, {"sections": (Section("Text!", "Heading"),)},
        {"sections": (Section("Text.", "Other"),)}, {"metadata": {"x": 2}}, {"metadata": {"x": 1, "y": None}},
        {"triples": (Triple("s", "p", "other"),)}, {"triples": ()},
    ],
)  # fmt: skip
def test_what_ends_up_in_the_graph_changes_the_hash(changed: dict[str, object]) -> None:
    assert content_hash(replace(_DOCUMENT, **changed)) != content_hash(_DOCUMENT)  # type: ignore[arg-type]


@pytest.mark.parametrize("changed", [{"source": "elsewhere"}, {"key": "b"}, {"file": FileState("f", "/root")}])
def test_where_it_came_from_does_not(changed: dict[str, object]) -> None:
    assert content_hash(replace(_DOCUMENT, **changed)) == content_hash(_DOCUMENT)  # type: ignore[arg-type]
    mixed = replace(_DOCUMENT, metadata={"b": 1, "a": 2})
    assert content_hash(mixed) == content_hash(replace(_DOCUMENT, metadata={"a": 2, "b": 1}))
