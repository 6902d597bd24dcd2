"""A write transaction detects that its collection was removed, even if another one has its name."""

from collections.abc import Callable
from dataclasses import replace

import pytest

from kgrag import KnowledgeGraph
from kgrag.graph.collections import Collection, open_collection
from kgrag.indexing.document_writer import Batch, write_batch
from kgrag.values.documents import Document, Section
from kgrag.values.errors import MismatchError


def batch(collection: Collection, id: str) -> Batch:
    properties = {"id": id, "name": id, "collection": collection.name, "key": id, "title": id, "source": id}
    return Batch(documents=[{"id": id, "properties": properties}])


@pytest.mark.parametrize(
    "opened",
    [lambda c: replace(c, created="2020-01-01T00:00:00.000000000+00:00"), lambda c: replace(c, number=c.number + 1)],
    ids=["made again with the same indexes", "made again with others"],
)
def test_what_was_opened_before_a_removal_writes_nothing(
    kg: KnowledgeGraph, collection_name: str, opened: Callable[[Collection], Collection]
) -> None:
    kg[collection_name].ingest([Document("a", (Section("The Fram lay at Larvik."),))])
    found = open_collection(kg.graph, collection_name)
    with pytest.raises(MismatchError, match="was removed while documents were written into it") as error:
        write_batch(kg.graph, opened(found), batch(found, f"{collection_name}-late"))
    assert "Run the same command again" in error.value.remedy
    assert kg[collection_name].info().counts["Document"] == 1
    write_batch(kg.graph, found, batch(found, f"{collection_name}-more"))
    assert kg[collection_name].info().counts["Document"] == 2


def test_nothing_is_written_into_what_is_being_removed(kg: KnowledgeGraph, collection_name: str) -> None:
    kg[collection_name].ingest([Document("a", (Section("The Fram lay at Larvik."),))])
    found = open_collection(kg.graph, collection_name)
    kg.graph.run("write/close_collection", collection=collection_name, indexed=[], most=0)
    with pytest.raises(MismatchError, match="was removed while"):
        write_batch(kg.graph, found, batch(found, f"{collection_name}-late"))
    kg[collection_name].delete()
    left = kg.graph.driver.execute_query("MATCH (n {id: $id}) RETURN count(n) AS n", id=f"{collection_name}-late")
    assert left.records[0]["n"] == 0
