"""Every interface refuses a database with another schema, with a remedy, and writes nothing."""

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


@pytest.fixture(params=[-2, 1], ids=["older", "newer"])
def other(kg: KnowledgeGraph, collection_name: str, request: pytest.FixtureRequest) -> Iterator[tuple[str, ...]]:
    """The message about a database with such a collection."""
    kg[collection_name].ingest([DOCUMENT])
    version = schema.SCHEMA_VERSION + request.param
    kg.graph.run("write/set_version", version=version)
    its = update_hint() if request.param > 0 else "Go on with the kgrag that made it"
    yield f"made by a kgrag with schema {version}; this one has {schema.SCHEMA_VERSION}", its, "into a new database"
    kg.graph.run("write/set_version", version=schema.SCHEMA_VERSION)


def _all(kg: KnowledgeGraph) -> Any:
    records = kg.graph.driver.execute_query("MATCH (n) WITH n ORDER BY elementId(n) RETURN collect(properties(n)) AS n")
    return records.records[0]["n"]


def test_by_python(kg: KnowledgeGraph, collection_name: str, other: tuple[str, ...], tmp_path: Path) -> None:
    before = _all(kg)
    doors: dict[str, Callable[[], object]] = {
        "search": lambda: kg[collection_name].search("Larvik"),
        "ingest": lambda: kg[collection_name].ingest([DOCUMENT]),
        "a new collection": lambda: kg[f"{collection_name}-new"].ingest([DOCUMENT]),
        "delete": lambda: kg[collection_name].delete(), "repair": lambda: kg[collection_name].repair(),
        "export": lambda: kg[collection_name].export(str(tmp_path / "x.jsonl")),
        "collections": lambda: kg.collections(), "runs": lambda: kg.runs(),
        "saved query": lambda: kg[collection_name].saved_query("hubs"),
    }  # fmt: skip
    for name, door in doors.items():
        with pytest.raises(MismatchError) as refused:
            door()
        assert all(part in f"{refused.value.message} {refused.value.remedy}" for part in other), name
    assert _all(kg) == before
    assert not (tmp_path / "x.jsonl").exists()


def test_by_the_command_line(
    kg: KnowledgeGraph, collection_name: str, other: tuple[str, ...], neo4j_env: dict[str, str], tmp_path: Path
) -> None:
    before = _all(kg)
    (tmp_path / "a.txt").write_text("Fram")
    for arguments in (
        ("search", "Larvik", "-c", collection_name),
        ("ingest", str(tmp_path / "a.txt"), "-c", collection_name),
        ("collections",),
        ("inspect", collection_name),
        ("delete", "--collection", collection_name, "--yes"),
        ("list", "runs"),
        ("db", "repair", collection_name),
        ("doctor",),
        ("serve", "--port", "0"),
    ):
        refused = CliRunner().invoke(main, arguments, env=neo4j_env, prog_name="kgrag")
        said = " ".join(refused.output.split())
        assert refused.exit_code, arguments
        assert all(part in said for part in other), arguments
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
        assert open_already.status_code == 200, "what it has open is searched on"
        for reply in replies:
            assert reply.status_code == 409, reply.request.url
            assert f"schema {schema.SCHEMA_VERSION + 1}; this one has {schema.SCHEMA_VERSION}" in reply.text
