"""The schema is made once, versioned, and migrated; collections are opened only with what they were made with."""

import pytest

from kgrag.client import KnowledgeGraph
from kgrag.errors import ConfigurationError, MismatchError, NotFoundError
from kgrag.graph import collections, schema
from kgrag.settings import IndexingSettings, Settings
from kgrag.types import Document, Section

DOCUMENT = Document("a", (Section("Alpha lies on the Beta."),), "Alpha")


def _indexes(kg: KnowledgeGraph) -> set[str]:
    with kg.graph._driver.session() as session:
        return {r["name"] for r in session.run("SHOW INDEXES YIELD name")}


def test_schema_is_idempotent(kg: KnowledgeGraph) -> None:
    schema.ensure_schema(kg.graph)
    before = _indexes(kg)
    schema.ensure_schema(kg.graph)
    schema.MIGRATIONS[1][1](kg.graph)
    assert _indexes(kg) == before
    assert {"passage_id", "entity_id", "passage_todo", "collection_name"} <= before


def test_every_version_has_a_step() -> None:
    assert sorted(schema.MIGRATIONS) == list(range(1, schema.SCHEMA_VERSION + 1))


def test_old_and_new_versions(kg: KnowledgeGraph, collection_name: str) -> None:
    kg.ingest([DOCUMENT], collection_name)
    try:
        kg.graph.run("write/set_version", version=schema.SCHEMA_VERSION - 1)
        with pytest.raises(MismatchError) as error:
            kg.search("Alpha", collection_name)
        assert "kgrag migrate" in error.value.remedy
        assert kg.migrate()
        assert [h.passage.title for h in kg.search("Alpha", collection_name)] == ["Alpha"]
        assert kg.migrate() == []
        kg.graph.run("write/set_version", version=schema.SCHEMA_VERSION + 1)
        with pytest.raises(MismatchError, match="knows only"):
            kg.search("Alpha", collection_name)
        with pytest.raises(MismatchError):
            kg.migrate()
    finally:
        kg.graph.run("write/set_version", version=schema.SCHEMA_VERSION)


def test_wrong_embedder_names_reembed(kg: KnowledgeGraph, collection_name: str) -> None:
    kg.ingest([DOCUMENT], collection_name)
    found = collections.open_collection(kg.graph, collection_name)
    with pytest.raises(MismatchError) as error:
        collections.check_embedder(found, "minilm")
    assert f"kgrag reembed {collection_name} --embedder minilm" in error.value.remedy
    with pytest.raises(MismatchError, match="vectors of 256"):
        collections.check_embedder(found, "wordllama", 64)


def test_other_settings_are_refused(kg: KnowledgeGraph, collection_name: str, graph_settings: Settings) -> None:
    kg.ingest([DOCUMENT], collection_name)
    other = graph_settings.model_copy(update={"indexing": IndexingSettings(passage_tokens=99)})
    with (
        KnowledgeGraph.connect(settings=other) as second,
        pytest.raises(MismatchError, match="passage_tokens = 256, not 99"),
    ):
        second.ingest([DOCUMENT], collection_name)


def test_unknown_collection_names_those_there_are(kg: KnowledgeGraph, collection_name: str) -> None:
    kg.ingest([DOCUMENT], collection_name)
    with pytest.raises(NotFoundError, match=collection_name):
        kg.search("x", "no-such-collection")


@pytest.mark.parametrize("name", ["", "a\nb", "x" * 201])
def test_names_that_cannot_be(kg: KnowledgeGraph, name: str) -> None:
    with pytest.raises(ConfigurationError):
        kg.ingest([DOCUMENT], name)


def test_two_makers_of_one_collection(kg: KnowledgeGraph, collection_name: str) -> None:
    from concurrent.futures import ThreadPoolExecutor

    with ThreadPoolExecutor(4) as pool:
        made = list(
            pool.map(
                lambda _: collections.create_collection(
                    kg.graph, collection_name, "wordllama", 256, IndexingSettings()
                ),
                range(4),
            )
        )
    assert len({c.number for c in made}) == 1
    assert sum(c.name == collection_name for c in collections.list_collections(kg.graph)) == 1
