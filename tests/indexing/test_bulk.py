"""A bulk load into an empty database makes the same graph as an ingest, or changes nothing."""

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner
from full_graph import SURVEY
from neighbours import overlap, similar
from own_server import own_server

from kgrag import KnowledgeGraph
from kgrag.cli.documents import ingest
from kgrag.graph.collections import open_collection
from kgrag.graph.contents import digest
from kgrag.graph.csv_files import Table as CsvTable
from kgrag.graph.local import bulk
from kgrag.graph.local.server import LocalServer
from kgrag.indexing.bulk import BulkReport
from kgrag.settings import Settings
from kgrag.values.documents import Document, Section, Triple
from kgrag.values.errors import ConfigurationError, LocalServerError, MismatchError

pytestmark = pytest.mark.long

Make = Callable[..., list[Document]]
_COLLECTION = "büro; \"notes\", 'all'"
_QUESTION = "Who came to rule Banor Dunor, built near the Angstrom Tower of Tromsø?"
_RETRIEVERS = ("pathrank", "bm25", "dense")
_STRANGE = [
    Document(
        "ü/1",
        (Section('He said "no".\r\nThen; — Ελλάδα 東京 \\ , back\\\n\n  The Ångström Tower of Tromsø.', "One, two"),),
        'A "Quoted", Title\nin two lines',
        "src",
        {"number": -1, "even": False, "note": 'x,"y"\n;', "ratio": 0.1, "deep": ["list", 1], "none": None, "empty": ""},
        (Triple("Ångström Tower", 'lies "in", or near;', "Tromsø\n(city)"), Triple("Tromsø", "is", "Tromsø")),
    ),
    Document(
        "odd", (Section("The Odd Fellow of London met Banor Dunor."),), "Odd {Fellow}", metadata={"number": "one"}
    ),
    Document("brace", (Section("In Paris the Odd Fellow met Loki."),), metadata={"a{b}": 1}),
    Document(
        "lists",
        (Section("The Odd Fellow has lists."),),
        metadata={"tags": ['é, "x"\n', ""], "years": [1897, -2], "flags": [True, False], "shares": [0.1, 1e-7]},
    ),
    Document("semicolon", (Section("The Odd Fellow has more."),), metadata={"tags": ["a;b"], "mixed": [1, "a", True]}),
    Document(
        "guide",
        tuple(Section(f"The {n} Gate of Tromsø lies here. " * 60, f"Guide > {n} Gate") for n in ("North", "South")),
        "City Guide",
        metadata={"links": ["ü/1", "odd {fellow}", "./SURVEY.PDF", "nowhere"]},
    ),
    Document("blank", (Section(" \n "),), "Blank"),
    SURVEY,
]


@dataclass
class Loaded:
    settings: Settings
    report: BulkReport
    documents: list[Document]

    def state(self) -> tuple[dict[str, str], dict[str, frozenset[str]]]:
        with KnowledgeGraph.local(self.settings) as kg:
            return digest(kg.graph, _COLLECTION), similar(kg.graph, _COLLECTION)


@pytest.fixture(scope="module")
def loaded(tmp_path_factory: pytest.TempPathFactory, make_documents: Make) -> Iterator[Loaded]:
    """A separate server with documents loaded in bulk."""
    settings = own_server(tmp_path_factory.mktemp("a home, with späces"))
    documents = make_documents(0, 60) + _STRANGE
    try:
        yield Loaded(settings, KnowledgeGraph.load_in_bulk(documents, _COLLECTION, settings=settings), documents)
    finally:
        LocalServer(settings).stop()


def test_the_graph_is_that_of_an_ingest(loaded: Loaded, kg: KnowledgeGraph) -> None:
    ingested = kg[_COLLECTION].ingest(loaded.documents)
    try:
        with KnowledgeGraph.local(loaded.settings) as other:
            assert digest(other.graph, _COLLECTION) == digest(kg.graph, _COLLECTION)
            near = similar(other.graph, _COLLECTION)
            assert overlap(near, similar(kg.graph, _COLLECTION)) > 0.99
            assert _nodes(other) == _nodes(kg)
            one, two = (next(c for c in g.collections() if c.name == _COLLECTION) for g in (other, kg))
            assert one.finished
            assert one.counts == two.counts
            assert one.counts["LINKS_TO"] == 3
            for retriever in _RETRIEVERS:
                rankings = [g[_COLLECTION].search(_QUESTION, retriever=retriever) for g in (other, kg)]
                found, expected = ([(round(hit.score, 4), hit.passage.id) for hit in r] for r in rankings)
                assert [score for score, _ in found] == [score for score, _ in expected] != []
                least = found[-1][0]  # ties at the end of a ranking are arbitrary
                assert {hit for hit in found if hit[0] > least} == {hit for hit in expected if hit[0] > least}
    finally:
        kg[_COLLECTION].delete()
    report = loaded.report
    assert (report.added, report.passages, report.embedded) == (ingested.added, ingested.passages, ingested.embedded)
    assert [p.message for p in report.problems] == ["holds no text"]
    assert report.stages["import"] > 0


@pytest.mark.parametrize("code", ["de", "zh"])
def test_the_graph_is_that_of_an_ingest_in_any_language(kg: KnowledgeGraph, tmp_path: Path, code: str) -> None:
    passages = json.loads((Path(__file__).parents[1] / f"languages/{code}.json").read_text())["passages"]
    documents = [Document(title, (Section(text),), title) for title, text in passages.items()]
    name, settings = f"bulk-{code}", own_server(tmp_path)
    try:
        KnowledgeGraph.load_in_bulk(documents, name, settings=settings)
        kg[name].ingest(documents)
        with KnowledgeGraph.local(settings) as other:
            assert digest(other.graph, name) == digest(kg.graph, name)
            assert open_collection(other.graph, name).language.code == code
    finally:
        LocalServer(settings).stop()
        kg[name].delete()


def _nodes(kg: KnowledgeGraph) -> dict[str, Any]:
    """Return the properties of every passage, triple, name and document, vectors rounded, without write times."""
    found = {}
    for label in ("Document", "Page", "Table", "Passage", "Triple", "Entity", "Word", "Keyword"):
        for record in kg.graph.run("inspect/count_nodes", collection=_COLLECTION):
            found[record["label"]] = record["number"]
        query = f"MATCH (n:{label} {{collection: $name}}) RETURN properties(n) AS properties"
        for record in kg.graph.driver.execute_query(query, name=_COLLECTION).records:
            node = {key: _rounded(value) for key, value in record["properties"].items() if key != "updated"}
            found[node["id"]] = node
    return found


def _rounded(value: object) -> object:
    if isinstance(value, list) and value and isinstance(value[0], float):
        return [round(x, 5) for x in value]
    return round(value, 5) if isinstance(value, float) else value


def test_a_database_that_holds_something_is_refused(loaded: Loaded) -> None:
    before = loaded.state()
    with pytest.raises(MismatchError, match="büro"):
        KnowledgeGraph.load_in_bulk(loaded.documents, "other", settings=loaded.settings)
    assert loaded.state() == before


def test_afterwards_it_is_a_collection_like_any_other(loaded: Loaded) -> None:
    with KnowledgeGraph.local(loaded.settings) as kg:
        report = kg[_COLLECTION].ingest([*loaded.documents[:59], replace(loaded.documents[59], title="New Title")])
        assert (report.unchanged, report.changed) == (59, 1)
        assert kg[_COLLECTION].delete(documents=["odd"]) == 1


def test_only_the_local_server(graph_settings: Settings) -> None:
    with pytest.raises(ConfigurationError, match="KGRAG_NEO4J_URI"):
        KnowledgeGraph.load_in_bulk([Document("a", (Section("b"),))], settings=graph_settings)


def test_to_replace_the_database_takes_both_options(tmp_path: Path) -> None:
    result = CliRunner().invoke(ingest, [str(tmp_path), "--replace-database"])
    assert result.exit_code == 2
    assert "--bulk" in result.output


@pytest.mark.slow
def test_a_failed_import_brings_back_what_was_there(loaded: Loaded, monkeypatch: pytest.MonkeyPatch) -> None:
    before = loaded.state()

    def broken(self: CsvTable) -> None:
        self._file.write('"unbalanced\n')
        self._file.close()
        self.header.write_text(",".join(self.columns) + "\n")

    monkeypatch.setattr(CsvTable, "close", broken)
    with pytest.raises(LocalServerError, match="import failed"):
        KnowledgeGraph.load_in_bulk(loaded.documents, "other", settings=loaded.settings, replace_database=True)
    assert loaded.state() == before
    assert not list((loaded.settings.home / "dumps").iterdir())


@pytest.mark.slow
def test_a_failed_import_leaves_an_empty_database_empty(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    settings = own_server(tmp_path)
    documents = [Document("a", (Section("One text."),))]
    try:
        with monkeypatch.context() as patch:
            patch.setattr(bulk, "arguments", lambda files, home: ["--nodes=No=no.csv"])
            with pytest.raises(LocalServerError, match="import failed"):
                KnowledgeGraph.load_in_bulk(documents, settings=settings)
        with KnowledgeGraph.local(settings) as kg:
            assert kg.collections() == []
        assert KnowledgeGraph.load_in_bulk(documents, settings=settings).added == 1
        documents.append(Document("b", (Section("Another."),)))
        report = KnowledgeGraph.load_in_bulk(documents, "both", settings=settings, replace_database=True)
        assert report.dump is not None
        assert list(report.dump.iterdir())
        with KnowledgeGraph.local(settings) as kg:
            assert [(c.name, c.counts["Document"]) for c in kg.collections()] == [("both", 2)]
    finally:
        LocalServer(settings).stop()


@pytest.mark.slow
def test_a_killed_load_is_undone_by_the_next_start(loaded: Loaded, tmp_path: Path, make_documents: Make) -> None:
    before = loaded.state()
    rows = [{"id": d.key, "title": d.title, "text": d.text} for d in make_documents(0, 3000)]
    corpus = tmp_path / "corpus.jsonl"
    corpus.write_text("".join(json.dumps(row) + "\n" for row in rows))
    local, home = loaded.settings.local, loaded.settings.home
    env = {
        "KGRAG_HOME": str(home),
        "KGRAG_LOCAL__BOLT_PORT": str(local.bolt_port),
        "KGRAG_LOCAL__HTTP_PORT": str(local.http_port),
    }
    command = [sys.executable, "-m", "kgrag", "ingest", str(corpus), "--bulk", "--replace-database", "-c", "killed"]
    process = subprocess.Popen(command, env=os.environ | env)
    deadline = time.monotonic() + 300
    while (note := bulk.read_note(LocalServer(loaded.settings).home)) is None or note.step != "import":
        assert process.poll() is None
        assert time.monotonic() < deadline
        time.sleep(0.02)
    time.sleep(0.5)  # the import tool, which survives kgrag, is working
    process.send_signal(signal.SIGKILL)
    process.wait()
    assert json.loads((home / "bulk.json").read_text())["step"] == "import"
    assert loaded.state() == before
    assert not (home / "bulk.json").exists()
