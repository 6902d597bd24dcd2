"""A first load as files makes the same graph when the printed command imports them elsewhere."""

import os
import re
import shlex
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path

import pytest
from click.testing import CliRunner

from kgrag import KnowledgeGraph
from kgrag.cli.documents import ingest
from kgrag.graph.collections import needed_labels, open_collection
from kgrag.graph.contents import digest
from kgrag.graph.counts import count_nodes
from kgrag.graph.local.java import find_java
from kgrag.graph.local.server import LocalServer
from kgrag.graph.schema import index_states
from kgrag.settings import LocalSettings, Settings
from kgrag.values.documents import Document
from kgrag.values.errors import InputError

pytestmark = pytest.mark.long

Make = Callable[..., list[Document]]
_NAME = "handed over"


@pytest.fixture
def elsewhere(tmp_path: Path) -> Iterator[Settings]:
    """A second, empty Neo4j."""
    local = LocalSettings(heap="512m", page_cache="64m")
    settings = Settings(_env_file=None, home=tmp_path / "elsewhere", local=local)  # type: ignore[call-arg]
    yield settings
    LocalServer(settings).stop()


def _run_as_admin(settings: Settings, command: str) -> None:
    """Run a command line of neo4j-admin on the stopped server of these settings."""
    folder, arguments = re.fullmatch(r"cd (.*)\nneo4j-admin (.*)", command).groups()  # type: ignore[union-attr]
    server = LocalServer(settings)
    with server.offline():
        java = [str(find_java(server.line().java).path), *server.home.admin_command(*shlex.split(arguments))]
        environment = os.environ | server.home.admin_environment()
        subprocess.run(java, cwd=shlex.split(folder)[0], env=environment, check=True)


@pytest.mark.parametrize("engine", ["here", "processes"])
def test_files_make_the_graph_that_an_ingest_makes(
    kg: KnowledgeGraph, collection_name: str, make_documents: Make, elsewhere: Settings, tmp_path: Path, engine: str
) -> None:
    *others, last = make_documents(0, 300)
    documents = [*others, replace(last, metadata={**last.metadata, "links": [others[0].key, last.key]})]
    settings = elsewhere.model_copy(
        update={"bulk_part_mb": 1, "engine": elsewhere.engine.model_copy(update={"name": engine, "workers": 2})}
    )
    report = KnowledgeGraph.write_bulk_files(documents, tmp_path / "to go", collection_name, settings=settings)
    assert (report.added, report.left) == (300, 0)
    assert len(list(report.folder.glob("Passage-?.csv"))) > 1  # several parts
    assert report.bytes == sum(f.stat().st_size for f in report.folder.glob("*.csv"))
    assert not list(tmp_path.glob(".*"))
    _run_as_admin(elsewhere, "\n".join(report.commands("neo4j")))
    kg[collection_name].ingest(documents)
    with KnowledgeGraph.local(elsewhere) as other:
        assert other[collection_name].info().counts["LINKS_TO"] == 1
        missing = other[collection_name].repair().indexes
        assert "passage_embedding_c1" in missing
        assert digest(other.graph, collection_name) == digest(kg.graph, collection_name)
        states = index_states(
            other.graph,
            1,
            "embedding",
            needed_labels(open_collection(other.graph, collection_name), count_nodes(other.graph, collection_name)),
        )
        assert {row.get("state") for row in states.values()} == {"ONLINE"}
        assert other[collection_name].repair().indexes == ()
        assert other[collection_name].search("Who ruled Banor Dunor?").hits
        assert other[collection_name].ingest(documents).unchanged == 300


def test_what_csv_cannot_hold_is_left(make_documents: Make, tmp_path: Path, graph_settings: Settings) -> None:
    one, two = make_documents(0, 2)
    odd = Document("odd", one.sections, one.title, metadata={"number": "text", "a{b}": 1})
    report = KnowledgeGraph.write_bulk_files([one, two, odd], tmp_path / "to go", settings=graph_settings)
    assert (report.added, report.left) == (2, 1)


def test_a_folder_that_holds_anything_is_refused(
    make_documents: Make, tmp_path: Path, graph_settings: Settings
) -> None:
    kept = tmp_path / "note.txt"
    kept.write_text("mine")
    with pytest.raises(InputError, match="not an empty folder"):
        KnowledgeGraph.write_bulk_files(make_documents(0, 2), tmp_path, settings=graph_settings)
    assert kept.read_text() == "mine"


def test_killed_and_run_again(tmp_path: Path) -> None:
    corpus, target = tmp_path / "corpus.jsonl", tmp_path / "to go"
    corpus.write_text("".join(f'{{"id": "{i}", "text": "Number {i} is near London."}}\n' for i in range(30_000)))
    command = [sys.executable, "-m", "kgrag", "ingest", str(corpus), "--bulk", "--files", str(target), "-c", _NAME]
    with subprocess.Popen(command) as process:
        written = tmp_path / ".to go.part" / "Document.csv"
        deadline = time.monotonic() + 120
        while not written.exists() or not written.stat().st_size:
            assert process.poll() is None
            assert time.monotonic() < deadline
            time.sleep(0.02)
        process.send_signal(signal.SIGKILL)
    assert not target.exists()
    corpus.write_text(corpus.read_text().splitlines()[0] + "\n")
    result = CliRunner().invoke(ingest, command[4:])
    assert result.exit_code == 0, result.output
    assert "kgrag db repair 'handed over'" in result.output
    assert "neo4j-admin database import full neo4j" in result.output
    assert sorted(path.name for path in tmp_path.iterdir()) == ["corpus.jsonl", "to go"]
    assert "London" in (target / "Passage.csv").read_text()
    assert len((target / "Document.csv").read_text().splitlines()) == 1


def test_files_go_with_bulk_alone(tmp_path: Path) -> None:
    for more in ([], ["--bulk", "--replace-database"]):
        result = CliRunner().invoke(ingest, [str(tmp_path), "--files", "out", *more])
        assert result.exit_code == 2
        assert "--files goes with --bulk" in result.output
