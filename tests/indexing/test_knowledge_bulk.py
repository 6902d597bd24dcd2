"""Facts through Neo4j's import tool: the same graph as by transactions, and a resume after kill -9."""

import gzip
import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
from own_server import own_server

from kgrag import KnowledgeGraph
from kgrag.graph.contents import digest
from kgrag.graph.local import bulk
from kgrag.graph.local.server import LocalServer
from kgrag.indexing.knowledge.store import Store
from kgrag.settings import Settings

sys.path.insert(0, str(Path(__file__).parents[2] / "bench"))
from wikidata import write

pytestmark = pytest.mark.long

NAME = "world"


def _state(kg: KnowledgeGraph, name: str) -> dict[str, object]:
    rows = kg.cypher("MATCH (e:Entity {collection: $name}) RETURN e {.*} AS e ORDER BY e.id LIMIT 300", {"name": name})
    return {"digest": digest(kg.graph, name), "entities": [dict(row["e"]) for row in rows]}


def test_the_graph_is_that_of_transactions(kg: KnowledgeGraph, tmp_path: Path) -> None:
    dump = tmp_path / "world.json.gz"
    write(dump, 3_000, odd=100)
    named = {"labels": {"en": {"value": "Visual novel"}}, "aliases": {"en": [{"value": "Steins;Gate"}]}}
    with gzip.open(dump, "ab") as file:
        file.write(json.dumps({"id": "Q999999999", **named}).encode())
    settings = own_server(tmp_path / "home")
    try:
        loaded = KnowledgeGraph.import_knowledge(dump, NAME, settings=settings)
        written = KnowledgeGraph.import_knowledge(dump, NAME, settings=kg.settings)
        assert loaded.bulk and not written.bulk
        assert (loaded.facts, loaded.entities, loaded.counts) == (written.facts, written.entities, written.counts)
        with KnowledgeGraph.local(settings) as other:
            assert _state(other, NAME) == _state(kg, NAME)
            found = other.cypher("MATCH (e:Entity {key: 'Q999999999'}) RETURN e.aliases AS aliases")
            assert [row["aliases"] for row in found] == [["Steins;Gate"]]  # files separate lists by semicolons
            assert [f.name for f in other[NAME].inspect().findings if f.level == "error"] == []
            assert other[NAME].info().kind == "knowledge"
        assert KnowledgeGraph.import_knowledge(dump, NAME, settings=settings).known
        more = tmp_path / "more.csv"
        more.write_text("Fram,designed by,Colin Archer\n")
        assert not KnowledgeGraph.import_knowledge(more, NAME, settings=settings).bulk  # the database is not empty now
    finally:
        LocalServer(settings).stop()
        kg[NAME].delete()


def _stop_when(process: "subprocess.Popen[bytes]", settings: Settings, moment: str) -> None:
    """Kill the process while it reads, while it writes files, or while the import tool works."""
    home = LocalServer(settings).home
    deadline = time.monotonic() + 400
    while time.monotonic() < deadline:
        assert process.poll() is None, "it was over before it could be killed"
        logs = list((settings.home / "imports").glob("*.sqlite-wal"))
        triples = home.root / "bulk" / "Triple.csv"
        note = bulk.read_note(home)
        if (
            (moment == "reading" and logs and logs[0].stat().st_size > 1_000_000)
            or (moment == "files" and triples.exists() and triples.stat().st_size > 1_000_000)
            or (moment == "import" and note is not None and note.step == "import")
        ):
            process.send_signal(signal.SIGKILL)
            process.wait()
            return
        time.sleep(0.01)
    raise AssertionError(f"{moment} never came")


@pytest.mark.slow
@pytest.mark.timeout(1800)  # five imports, each with server starts
def test_killed_at_three_moments_it_goes_on(kg: KnowledgeGraph, tmp_path: Path) -> None:
    dump = tmp_path / "world.json.gz"
    write(dump, 150_000, odd=100)
    settings = own_server(tmp_path / "home")
    env = {
        "KGRAG_HOME": str(settings.home),
        "KGRAG_LOCAL__BOLT_PORT": str(settings.local.bolt_port),
        "KGRAG_LOCAL__HTTP_PORT": str(settings.local.http_port),
    }
    command = [sys.executable, "-m", "kgrag", "import", "--format", "wikidata", str(dump), "-c", NAME, "--json"]
    try:
        for moment in ("reading", "files", "import"):
            _stop_when(subprocess.Popen(command, env=os.environ | env), settings, moment)
        result = subprocess.run(command, env=os.environ | env, check=True, capture_output=True)
        report = json.loads(result.stdout)
        assert report["bulk"] and report["resumed"] > 1000
        assert "reading, MB" not in result.stderr.decode()  # reading was complete
        whole = own_server(tmp_path / "whole")
        try:
            other = KnowledgeGraph.import_knowledge(dump, NAME, settings=whole)
            assert (other.facts, other.entities) == (report["facts"], report["entities"])
            assert dict(other.counts) == report["counts"]
            with KnowledgeGraph.local(settings) as one, KnowledgeGraph.local(whole) as two:
                assert digest(one.graph, NAME) == digest(two.graph, NAME)
        finally:
            LocalServer(whole).stop()
    finally:
        LocalServer(settings).stop()


def test_a_store_of_another_source_begins_again(tmp_path: Path) -> None:
    path = tmp_path / "imports" / "x.sqlite"
    with Store(path, "one") as store:
        store.written = 7
    with Store(path, "one") as store:
        assert store.written == 7
    with Store(path, "two") as store:
        assert store.written == 0
        store.remove()
    assert not list(path.parent.iterdir())
