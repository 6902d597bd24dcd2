"""A database that a newer kgrag has migrated is refused at every door, with what to do, and nothing is written."""

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner
from served import Served

from kgrag import KnowledgeGraph
from kgrag.cli import main
from kgrag.graph import schema
from kgrag.values.documents import Document, Section
from kgrag.values.errors import MismatchError
from kgrag.values.installing import update_hint

pytestmark = [pytest.mark.alone, pytest.mark.long]

DOCUMENT = Document("fram", (Section("The Fram lay at Larvik."),), "Fram")
EXPORT = str(Path(__file__).parent / "exports" / "schema-9-681f1f6.jsonl.gz")
SAYS = f"schema version {schema.SCHEMA_VERSION + 1}; this kgrag knows only {schema.SCHEMA_VERSION}"
REMEDIES = (update_hint(), "kgrag db restore")


@pytest.fixture
def newer(kg: KnowledgeGraph, collection_name: str) -> Iterator[str]:
    """A collection of such a database."""
    kg[collection_name].ingest([DOCUMENT])
    kg.graph.run("write/set_version", version=schema.SCHEMA_VERSION + 1)
    yield collection_name
    kg.graph.run("write/set_version", version=schema.SCHEMA_VERSION)


def _all(kg: KnowledgeGraph) -> Any:
    records = kg.graph._driver.execute_query(
        "MATCH (n) WITH n ORDER BY elementId(n) RETURN collect(properties(n)) AS n"
    )
    return records.records[0]["n"]


def test_by_python(kg: KnowledgeGraph, newer: str, tmp_path: Path) -> None:
    before = _all(kg)
    doors: dict[str, Callable[[], object]] = {
        "search": lambda: kg[newer].search("Larvik"),
        "ingest": lambda: kg[newer].ingest([DOCUMENT]),
        "a new collection": lambda: kg[f"{newer}-new"].ingest([DOCUMENT]),
        "delete": lambda: kg[newer].delete(),
        "export": lambda: kg[newer].export(str(tmp_path / "x.jsonl")),
        "import": lambda: kg.import_export(EXPORT),
        "collections": lambda: kg.collections(),
        "runs": lambda: kg.runs(),
        "saved query": lambda: kg[newer].saved_query("hubs"),
        "migrate": kg.migrate,
    }
    for name, door in doors.items():
        with pytest.raises(MismatchError, match=SAYS) as refused:
            door()
        assert all(remedy in refused.value.remedy for remedy in REMEDIES), name
    assert _all(kg) == before
    assert not (tmp_path / "x.jsonl").exists()


def test_by_the_command_line(kg: KnowledgeGraph, newer: str, neo4j_env: dict[str, str], tmp_path: Path) -> None:
    before = _all(kg)
    (tmp_path / "a.txt").write_text("Fram")
    for arguments in (
        ("search", "Larvik", "-c", newer),
        ("ingest", str(tmp_path / "a.txt"), "-c", newer),
        ("collections",),
        ("inspect", newer),
        ("delete", "--collection", newer, "--yes"),
        ("import", EXPORT),
        ("list", "runs"),
        ("db", "migrate"),
        ("db", "repair", newer),
        ("doctor",),
        ("serve", "--port", "0"),
    ):
        refused = CliRunner().invoke(main, arguments, env=neo4j_env, prog_name="kgrag")
        said = " ".join(refused.output.split())
        assert refused.exit_code, arguments
        assert SAYS in said, arguments
        assert all(remedy in said for remedy in REMEDIES), arguments
    assert _all(kg) == before


def test_by_a_server(kg: KnowledgeGraph, collection_name: str, tmp_path: Path) -> None:
    kg[collection_name].ingest([DOCUMENT])
    with Served(kg, tmp_path, job_workers=1) as served, served.client() as client:
        own = f"/api/v1/collections/{collection_name}"
        assert client.post(f"{own}/search", json={"question": "Larvik"}).status_code == 200
        try:
            kg.graph.run("write/set_version", version=schema.SCHEMA_VERSION + 1)
            open_already = client.post(f"{own}/search", json={"question": "Where did the Fram lie?"})
            replies = [
                client.get("/api/v1/collections"),
                client.post(f"{own}/texts", json={"texts": [{"name": "a.md", "text": "Fram"}]}),
                client.delete(own),
            ]
        finally:
            kg.graph.run("write/set_version", version=schema.SCHEMA_VERSION)
        assert open_already.status_code == 200, "what it has open is searched while the database is migrated"
        for reply in replies:
            assert reply.status_code == 409, reply.request.url
            assert SAYS in reply.text
