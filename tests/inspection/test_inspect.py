"""An inspection describes the collection correctly, and its remedies work."""

import re
from collections import Counter
from collections.abc import Callable, Sequence
from html import unescape
from pathlib import Path
from typing import Any

import pytest
from command_line import run_kgrag

from kgrag import KnowledgeGraph
from kgrag.graph.collections import create_collection, open_collection
from kgrag.graph.schema import collection_indexes
from kgrag.indexing.repair import repair
from kgrag.inspection import inspect
from kgrag.inspection.result import Finding, Inspection, html
from kgrag.models.embed import Vectors
from kgrag.settings import IndexingSettings
from kgrag.values.documents import Document, Section, Triple
from kgrag.values.errors import ConfigurationError, MismatchError, NotFoundError

FLEET = "inspected <fleet>"
SAME = "The harbour office keeps the log of every ship that calls at the port of Larvik."
DOCUMENTS = [
    Document(
        "fram",
        (Section("The Fram was designed by Colin Archer."),),
        "Fram",
        triples=(Triple("Fram", "designed by", "Colin Archer"), Triple("Fram", "sailed with", "sailors")),
    ),
    Document(
        "archer",
        (Section("Colin Archer lived in Larvik among sailors and a sailor's sons."),),
        "Colin Archer",
        triples=(Triple("Colin Archer", "lived in", "Larvik"), Triple("Colin Archer", "was", "sailor")),
    ),
    Document("larvik", (Section("Larvik is a town. The Fram and Colin Archer are remembered in Larvik."),), "Larvik"),
    Document("log-1", (Section(SAME),), "Log"),
    Document("log-2", (Section(SAME),), "Log"),
    Document("log-3", (Section(SAME),), "Office"),
]


def _run(kg: KnowledgeGraph, text: str, **parameters: Any) -> list[dict[str, Any]]:
    with kg.graph.driver.session(database=kg.graph.database) as session:
        return [dict(record) for record in session.run(text, parameters)]  # type: ignore[arg-type]


@pytest.fixture(scope="module")
def fleet(fill: Callable[..., str]) -> str:
    return fill(FLEET, DOCUMENTS)


@pytest.fixture(scope="module")
def found(kg: KnowledgeGraph, fleet: str) -> Inspection:
    return kg[fleet].inspect()


def _finding(inspection: Inspection, name: str) -> Finding:
    return next(finding for finding in inspection.findings if finding.name == name)


def test_counts_are_those_of_the_graph(kg: KnowledgeGraph, fleet: str, found: Inspection) -> None:
    rows = _run(
        kg,
        "MATCH (n {collection: $c}) WHERE NOT n:Collection "
        "RETURN [l IN labels(n) WHERE NOT l =~ 'Kgrag|.*_.*'][0] AS label, count(*) AS number",
        c=fleet,
    )
    assert {label: number for label, number in found.nodes.items() if number} == {r["label"]: r["number"] for r in rows}
    rows = _run(
        kg,
        "MATCH (n {collection: $c})-[r]->(m) "
        "RETURN [l IN labels(n) WHERE NOT l =~ 'Kgrag|.*_.*'][0] AS source, type(r) AS type, "
        "[l IN labels(m) WHERE NOT l =~ 'Kgrag|.*_.*'][0] AS target, count(*) AS number",
        c=fleet,
    )
    assert {(e.source, e.type, e.target, e.number) for e in found.edges} == {tuple(r.values()) for r in rows}


def test_distributions_are_those_of_the_graph(kg: KnowledgeGraph, fleet: str, found: Inspection) -> None:
    rows = _run(
        kg, "MATCH (e:Entity {collection: $c}) RETURN e.name AS name, COUNT { (e)<-[:MENTIONS]-() } AS n", c=fleet
    )
    degrees = sorted(row["n"] for row in rows)
    mentions = found.distributions[0]
    assert mentions.name == "mentions of an entity"
    assert (mentions.number, mentions.most, mentions.median) == (
        len(degrees),
        degrees[-1],
        degrees[(len(degrees) - 1) // 2],
    )
    assert mentions.mean == pytest.approx(sum(degrees) / len(degrees))
    counts = Counter(degrees)
    for b in mentions.bins:
        assert b.number == sum(n for degree, n in counts.items() if b.low <= degree <= b.high), b
    assert sum(b.number for b in mentions.bins) == len(degrees)
    assert mentions.bins[0].number and mentions.bins[-1].number
    named = {row["name"]: row["n"] for row in rows}
    assert mentions.top and all(named[name] == n for name, n in mentions.top)
    assert mentions.top[0][1] == degrees[-1]
    assert {d.name for d in found.distributions} >= {"triples of an entity", "triples of a passage"}


def test_coverage_and_health(found: Inspection) -> None:
    covered = {c.name: (c.having, c.number) for c in found.coverage}
    assert covered["passages with triples"] == (2, 6)
    assert covered["passages with a vector"] == (6, 6)
    assert covered["triples with a vector"] == (4, 4)
    assert found.healthy and found.readings == ()


def test_copies_and_names_that_may_be_one(kg: KnowledgeGraph, fleet: str, found: Inspection) -> None:
    twins = _finding(found, "same text")
    assert twins.number == 2
    (example,) = twins.examples
    match = re.fullmatch(r"Log ([0-9a-f]{8}) \(3 times\)", example)
    assert match and kg.passage(match[1], fleet).text == SAME
    names = _finding(found, "names to merge")
    assert names.number == 1 and sorted(names.examples[0].split(" = ")) == ["sailor", "sailors"]
    near = kg[fleet].inspect(near=0.5)
    assert _finding(near, "nearly the same text").number > 0
    assert not any(f.name == "nearly the same text" for f in kg[fleet].inspect(near=1).findings)
    with pytest.raises(ConfigurationError, match="is not a score"):
        kg[fleet].inspect(near=1.5)
    with pytest.raises(NotFoundError):
        kg["no such"].inspect()


def test_texts_are_compared_a_part_at_a_time(
    kg: KnowledgeGraph, fleet: str, found: Inspection, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(inspect, "MEMORY", 100)
    row = _run(kg, "MATCH (p:Passage {collection: $name}) RETURN sum(size(p.text)) AS all", name=fleet)[0]
    assert row["all"] > 300  # so in more than three batches
    assert kg[fleet].inspect().findings == found.findings


def test_the_page_stands_alone(found: Inspection) -> None:
    page = html(found)
    framed = re.fullmatch(r'<iframe sandbox srcdoc="([^"]*)" style="[^"]*"></iframe>', found._repr_html_(), re.DOTALL)
    moment = re.compile(r"\d{4}-\d\d-\d\d \d\d:\d\d")  # the time of creation, twice
    assert framed is not None and moment.sub("", unescape(framed[1])) == moment.sub("", page) != page
    assert not re.search(r"https?:|src=|<script|<link|url\(|@import", page)
    assert "<title>inspected &lt;fleet&gt;</title>" in page and "<fleet>" not in page
    assert "prefers-color-scheme: dark" in page
    assert "$" not in page
    assert page.count("class='bar'") == len(found.coverage) + sum(len(d.bins) for d in found.distributions)
    for finding in found.findings:
        assert finding.message in page


def test_damage_is_found_and_the_remedies_work(kg: KnowledgeGraph, collection_name: str) -> None:
    create_collection(kg.graph, collection_name, "wordllama", 256, IndexingSettings(), 0.0)
    empty = kg[collection_name].inspect()
    assert empty.distributions == () and empty.findings == () and empty.healthy
    assert "All indexes answer" in html(empty)

    kg[collection_name].ingest(DOCUMENTS[:3])
    number = _run(kg, "MATCH (c:Collection {name: $c}) RETURN c.number AS n", c=collection_name)[0]["n"]
    _run(kg, f"DROP INDEX passage_stems_c{number}")
    _run(
        kg,
        """MATCH (d:Document {collection: $c, key: 'larvik'})-[h:HAS_PASSAGE]->(p:Passage)
        SET p.embedding = null DELETE h
        WITH p MATCH (t:Triple {collection: $c, subject: 'Fram'})<-[s:STATES]-() DELETE s
        WITH DISTINCT p MATCH (q:Passage {collection: $c, title: 'Fram'})
        SET q.extracted = 'older', q.tagged = 'older', q.todo = ['similar']""",
        c=collection_name,
    )
    damaged = kg[collection_name].inspect()
    assert not damaged.healthy
    assert [f.level for f in damaged.findings] == sorted(
        (f.level for f in damaged.findings), key=("error", "warning", "note").index
    )
    numbers = {f.name: f.number for f in damaged.findings}
    expected = {
        "indexes missing": 1, "passages without a vector": 1, "passages without a document": 1,
        "triples without a passage": 2, "documents without passages": 1, "unfinished": 1,
        "extracted otherwise": 1, "not extracted": 2, "tagged otherwise": 1, "not tagged": 2,
    }  # fmt: skip
    assert numbers | expected == numbers
    assert all(f.message and f.remedy for f in damaged.findings)
    assert _finding(damaged, "indexes missing").examples == (f"passage_stems_c{number}",)

    with pytest.raises(MismatchError, match=f"passage_stems_c{number} is missing") as refused:
        kg[collection_name].search("Colin Archer", retriever="bm25")
    assert refused.value.remedy.endswith("make it again: kgrag db repair")
    assert f"kgrag db repair {collection_name}" in _finding(damaged, "indexes missing").remedy
    report = kg[collection_name].repair()
    assert (report.indexes, dict(report.vectors)) == ((f"passage_stems_c{number}",), {"passages": 1})
    assert report.finished == 2, "the passage with a new vector, and the one that was marked"
    mended = {f.name for f in kg[collection_name].inspect().findings}
    assert not mended & {"indexes missing", "unfinished", "passages without a vector"}
    assert kg[collection_name].search("Colin Archer", retriever="bm25").hits
    again = kg[collection_name].repair()
    assert (again.indexes, dict(again.vectors), again.finished) == ((), {}, 0)

    class Gone:
        name, dimension = "wordllama", 256

        def embed(self, texts: Sequence[str]) -> Vectors:
            raise ConnectionError("the embedder is gone")

    _run(kg, "MATCH (p:Passage {collection: $c, title: 'Fram'}) SET p.embedding = null", c=collection_name)
    with pytest.raises(ConnectionError):
        repair(kg.graph, collection_name, Gone(), kg.settings, lambda *_: None)
    assert kg[collection_name].repair().finished == 1, "its neighbours, too, are found when it goes on"


def test_vector_indexes_are_scalar(kg: KnowledgeGraph, collection_name: str) -> None:
    kg[collection_name].ingest(DOCUMENTS[:3])
    found = kg[collection_name].inspect()
    own = open_collection(kg.graph, collection_name)
    number = own.number
    assert {"Passage", "Entity", "Triple"} <= {*own.indexed}  # more if a removed collection left its indexes
    indexes = [name for name in collection_indexes(number, own.embedding, own.indexed) if "_embedding_" in name]
    assert dict(found.quantization) == dict.fromkeys(indexes, "SCALAR")
    assert all(f"<td>vector index {index}</td><td>SCALAR</td>" in html(found) for index in indexes)

    index = f"passage_embedding_c{number}"
    _run(kg, f"DROP INDEX {index}")
    _run(kg, f"CREATE VECTOR INDEX {index} FOR (n:Passage_c{number}) ON (n.embedding)")
    _run(kg, "CALL db.awaitIndexes()")
    line = kg.graph.run("schema/server_version")[0]["version"].partition(".")[0]
    kind = "BINARY" if int(line) >= 2026 else "SCALAR"  # the default of a server
    other = kg[collection_name].inspect()
    assert other.quantization[index] == kind
    binary = [finding for finding in other.findings if finding.name == "binary indexes"]
    assert [f.examples for f in binary] == ([(index,)] if kind == "BINARY" else [])
    assert all(f.level == "warning" and f"kgrag db repair {collection_name}" in f.remedy for f in binary)
    report = kg[collection_name].repair()
    assert report.indexes == ((index,) if kind == "BINARY" else ())
    assert dict(kg[collection_name].inspect().quantization) == dict.fromkeys(indexes, "SCALAR")
    assert kg[collection_name].search("Colin Archer", retriever="dense").hits


def test_command(neo4j_env: dict[str, str], fleet: str, found: Inspection, tmp_path: Path) -> None:
    import json

    def run(*args: str, code: int = 0) -> Any:
        return run_kgrag(neo4j_env, "inspect", *args, code=code)

    report = tmp_path / "fleet.html"
    shown = run(fleet, "--html", str(report)).stdout
    assert fleet in shown and "Passage —MENTIONS→ Entity" in shown and "Healthy" in shown
    assert "2 passages repeat the text of another." in shown
    assert report.read_text(encoding="utf-8").startswith("<!doctype html>")
    listed = json.loads(run("-c", fleet, "--json").stdout)
    assert listed["nodes"] == dict(found.nodes)
    assert [f["name"] for f in listed["findings"]] == [f.name for f in found.findings]
    assert "cannot be written" in run(fleet, "--html", str(tmp_path / "no" / "x.html"), code=5).stderr
    assert "There is no collection" in run("nothing", code=4).stderr
