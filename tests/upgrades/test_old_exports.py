"""Exports that older versions made of exports/corpus.jsonl are imported, and are then what this version makes of it."""

import threading
from collections.abc import Callable, Iterator
from contextlib import suppress
from datetime import datetime
from pathlib import Path
from typing import Any

import pytest

from kgrag import KnowledgeGraph
from kgrag.exchange import importing
from kgrag.graph import schema
from kgrag.graph.connection import Graph
from kgrag.indexing import migrate
from kgrag.indexing.digest import digest
from kgrag.settings import IndexingSettings, Settings
from kgrag.values.errors import NotFoundError
from kgrag.values.results import Filter

pytestmark = pytest.mark.long

FOLDER = Path(__file__).parent / "exports"
EXPORTS = sorted(FOLDER.glob("schema-*.jsonl.gz"))
OLDEST = FOLDER / "schema-9-681f1f6.jsonl.gz"
NAME = "probe"  # the ids of nodes are made of it
_CONTENT = """
MATCH (d:Document {collection: $name})
RETURN d.key AS key, d {.*, name: null, updated: null, file: null, root: null, source: null, fingerprint: null} AS its
ORDER BY key
"""


@pytest.fixture(scope="module")
def german(graph_settings: Settings) -> Iterator[KnowledgeGraph]:
    """A client that makes collections in German."""
    settings = graph_settings.model_copy(update={"indexing": IndexingSettings(language="de")})
    with KnowledgeGraph.connect(settings=settings) as client:
        yield client


@pytest.fixture(autouse=True)
def removed(kg: KnowledgeGraph) -> Iterator[None]:
    """Afterwards there is no such collection."""
    yield
    with suppress(NotFoundError):
        kg[NAME].delete()


@pytest.fixture(scope="module")
def anew(german: KnowledgeGraph) -> dict[str, Any]:
    """What this version makes of the documents."""
    german[NAME].ingest(str(FOLDER / "corpus.jsonl"))
    found = _seen(german, NAME)
    german[NAME].delete()
    return found


def _seen(kg: KnowledgeGraph, name: str) -> dict[str, Any]:
    collection, later = kg[name], Filter(since=datetime(1900, 1, 1))
    return {
        "digest": digest(kg.graph, name),
        "documents": [dict(row) for row in kg.graph._driver.execute_query(_CONTENT, name=name).records],
        "ranking": [hit.passage.title for hit in collection.search("Wer baute die Fram in Larvik?")],
        "by word": [hit.passage.title for hit in collection.search("Schiffbauer", retriever="bm25")],
        "by vector": [hit.passage.title for hit in collection.search("Werft", retriever="dense")],
        "by date": {hit.passage.title for hit in collection.search("Larvik", filter=later)},
        "by tag": [hit.passage.title for hit in collection.search("Fram", filter=Filter(where={"tags": "Eis"}))],
    }


def test_there_are_exports_of_each_schema() -> None:
    versions = [int(path.name.split("-")[1]) for path in EXPORTS]
    assert {*range(9, schema.SCHEMA_VERSION)} <= set(versions), (
        "make_store.py COMMIT FOLDER makes FOLDER/probe.jsonl.gz"
    )


@pytest.mark.parametrize("path", EXPORTS, ids=lambda path: path.name.partition(".")[0])
def test_it_is_as_if_ingested_today(path: Path, german: KnowledgeGraph, anew: dict[str, Any]) -> None:
    report = german.import_export(str(path))
    steps = [step.partition(":")[0] for step in report.migrated]
    version = int(path.name.split("-")[1])
    assert steps == [f"{v} -> {v + 1}" for v in range(version, schema.SCHEMA_VERSION)]
    assert _seen(german, NAME) == anew
    assert anew["by date"] >= {"Colin Archer"}
    assert "Fram" not in anew["by date"]
    assert anew["by tag"] == ["Fram"]
    again = german[NAME].ingest(str(FOLDER / "corpus.jsonl"))
    assert (again.added, again.changed, again.unchanged) == (0, 0, 3)
    assert _seen(german, NAME)["digest"] == anew["digest"]


@pytest.mark.alone
@pytest.mark.usefixtures("others_aside")
@pytest.mark.parametrize("described", [True, False], ids=["at its end", "before the database was described"])
def test_a_migration_that_was_interrupted_is_finished_by_the_next(
    german: KnowledgeGraph, anew: dict[str, Any], monkeypatch: pytest.MonkeyPatch, described: bool
) -> None:
    def interrupt(*_: object) -> None:
        raise KeyboardInterrupt

    with monkeypatch.context() as patch, pytest.raises(KeyboardInterrupt):
        patch.setattr(migrate, "finish", interrupt)
        german.import_export(str(OLDEST))
    assert digest(german.graph, NAME) != anew["digest"]
    if not described:
        german.graph._driver.execute_query("MATCH (s:Schema) SET s.described = 'of another version'")
    assert german.migrate() == []
    assert _seen(german, NAME) == anew


@pytest.mark.long
@pytest.mark.alone
@pytest.mark.usefixtures("others_aside")
def test_a_migration_may_be_interrupted_anywhere(
    german: KnowledgeGraph, anew: dict[str, Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    left, main = -1, threading.current_thread()

    def counting(work: Callable[..., Any]) -> Callable[..., Any]:
        def counted(*args: Any, **named: Any) -> Any:
            nonlocal left
            if threading.current_thread() is main:
                left -= 1
                if left == 0:
                    raise KeyboardInterrupt
            return work(*args, **named)

        return counted

    def old() -> None:
        with monkeypatch.context() as patch:
            patch.setattr(importing, "migrate_collection", lambda *_: [])
            german.import_export(str(OLDEST))
        german.graph.run("write/set_version", version=9)

    try:
        old()
        with monkeypatch.context() as patch:
            for name in ("run", "write", "stream"):
                patch.setattr(Graph, name, counting(getattr(Graph, name)))
            assert len(german.migrate()) == schema.SCHEMA_VERSION - 9
            number = -1 - left
            assert number > 30
            for at in range(2, number, 4):
                german[NAME].delete()
                left = -1
                old()
                left = at
                with suppress(KeyboardInterrupt):
                    german.migrate()
                left = -1
                german.migrate()
                assert digest(german.graph, NAME) == anew["digest"], f"interrupted at {at} of {number}"
    finally:
        german.graph.run("write/set_version", version=schema.SCHEMA_VERSION)
    assert _seen(german, NAME) == anew
