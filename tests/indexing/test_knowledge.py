"""Facts without passages: a dump in Wikidata's format with its oddities, N-Triples and CSV, and slices."""

import bz2
import gzip
import json
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner
from command_line import run_kgrag

from kgrag import KnowledgeGraph
from kgrag.cli import main
from kgrag.graph.collections import open_collection
from kgrag.graph.connection import Graph
from kgrag.graph.contents import digest
from kgrag.indexing.knowledge import Selection, format_of, lines_of
from kgrag.indexing.knowledge.wikidata import WikidataReader, time
from kgrag.settings import Settings
from kgrag.values.documents import Document, Section
from kgrag.values.errors import InputError, KgragError, MismatchError

sys.path.insert(0, str(Path(__file__).parents[2] / "bench"))
from wikidata import entity_lines, odd_lines

NAME = "test-knowledge"


def _item(key: str, label: str, **claims: Any) -> str:
    def snak(value: Any) -> dict[str, Any]:
        if isinstance(value, str):
            value = {"value": {"entity-type": "item", "id": value}, "type": "wikibase-entityid"}
        return {"mainsnak": {"snaktype": "value", "datavalue": value}, "rank": "normal"}

    labels = {"en": {"language": "en", "value": label}} if label else []
    its = {p: [snak(value) for value in values] for p, values in claims.items()}
    kind = "property" if key[0] == "P" else "item"
    links = {"enwiki": {"site": "enwiki", "title": f"{label} (article)"}}
    return json.dumps({"id": key, "type": kind, "labels": labels, "claims": its or [], "sitelinks": links})


def _amount(amount: str, unit: str) -> dict[str, Any]:
    return {"value": {"amount": amount, "unit": f"http://www.wikidata.org/entity/{unit}"}, "type": "quantity"}


SHIPS = [
    _item("P31", "instance of"), _item("P279", "subclass of"), _item("P287", "designed by"), _item("P19", "born in"),
    _item("P2043", "length"), _item("Q11573", "metre"), _item("Q11446", "ship"), _item("Q170483", "sailing ship"),
    _item("Q5", "human"), _item("Q1", "Fram", P31=["Q170483"], P287=["Q2"], P2043=[_amount("+39", "Q11573")]),
    _item("Q2", "Colin Archer", P31=["Q5"], P19=["Q3"]), _item("Q3", "Larvik"), _item("Q170483x", "odd"),
    _item("Q170483", "sailing ship", P279=["Q11446"]), _item("Q9", "Nansen", P31=["Q5"], P19=["Q77"]),
    json.dumps({"entity": "Q8", "redirect": "Q2"}), _item("Q6", "Maud", P31=["Q11446"], P287=["Q8"]),
]  # fmt: skip


def _texts(kg: KnowledgeGraph, name: str) -> set[str]:
    found = kg.cypher("MATCH (t:Triple {collection: $name}) RETURN t.text AS text", {"name": name})
    return {row["text"] for row in found}


@pytest.fixture(scope="module")
def dump(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("dump") / "ships.json.gz"
    path.write_bytes(gzip.compress(("[\n" + ",\n".join(SHIPS) + "\n]\n").encode()))
    return path


@pytest.fixture(scope="module")
def ships(kg: KnowledgeGraph, dump: Path) -> Iterator[str]:
    KnowledgeGraph.import_knowledge(dump, NAME, settings=kg.settings)
    yield NAME
    kg[NAME].delete()


@pytest.mark.long
def test_facts_of_a_dump(kg: KnowledgeGraph, ships: str, dump: Path) -> None:
    assert _texts(kg, ships) == {
        "Fram instance of sailing ship", "Fram designed by Colin Archer", "Fram length 39 metre",
        "Colin Archer instance of human", "Colin Archer born in Larvik", "sailing ship subclass of ship",
        "Nansen instance of human", "Maud instance of ship",
        "Maud designed by Colin Archer",  # through the redirect
    }  # Nansen's birthplace has no line of its own  # fmt: skip
    rows = kg.cypher(
        "MATCH (e:Entity {collection: $name, key: 'Q1'}) RETURN e.name, e.wikipedia, e.normal", {"name": ships}
    )
    assert [list(row) for row in rows.values] == [["Fram", "Fram (article)", "fram"]]
    info = kg[ships].info()
    assert (info.kind, info.counts["Triple"], info.counts.get("Passage", 0)) == ("knowledge", 9, 0)
    again = KnowledgeGraph.import_knowledge(dump, ships, settings=kg.settings)
    assert again.known and again.facts == 0
    assert not list((Path(kg.settings.home) / "imports").glob("*"))


@pytest.mark.long
def test_what_makes_no_sense_for_facts_says_what_does(kg: KnowledgeGraph, ships: str) -> None:
    collection = kg[ships]
    doors = (
        lambda: collection.search("Who designed the Fram?"), lambda: collection.ask("Who designed the Fram?"),
        lambda: collection.ingest([Document("a", (Section("b"),))]), lambda: collection.reembed("wordllama"),
        lambda: collection.resolve(), lambda: collection.build_tree(), lambda: collection.delete(documents=["a"]),
        lambda: collection.untagged(), lambda: collection.estimate_extraction(),
    )  # fmt: skip
    for door in doors:
        with pytest.raises(MismatchError, match="no passages") as raised:
            door()
        assert "--knowledge" in raised.value.remedy


@pytest.mark.long
def test_the_doors_that_know_it(kg: KnowledgeGraph, ships: str, tmp_path: Path) -> None:
    inspection = kg[ships].inspect()
    assert [f.name for f in inspection.findings if f.level == "error"] == []
    report = kg[ships].repair()
    assert (report.indexes, report.vectors) == ((), {})
    before, texts = digest(kg.graph, ships), _texts(kg, ships)
    kg[ships].export(str(tmp_path / "ships.jsonl"))
    kg[ships].delete()
    kg.import_export(str(tmp_path / "ships.jsonl"))
    assert open_collection(kg.graph, ships).kind == "knowledge"
    assert _texts(kg, ships) == texts
    path = tmp_path / "few.json"
    path.write_text("\n".join(SHIPS))
    KnowledgeGraph.import_knowledge(path, ships, settings=kg.settings)
    assert kg[ships].info().counts["Triple"] == 9  # ids follow from the name
    assert digest(kg.graph, ships) == before


def test_deleted_and_imported_again_it_is_the_same(kg: KnowledgeGraph, dump: Path, collection_name: str) -> None:
    KnowledgeGraph.import_knowledge(dump, collection_name, settings=kg.settings)
    before, facts = digest(kg.graph, collection_name), _texts(kg, collection_name)
    kg[collection_name].delete()
    assert _texts(kg, collection_name) == set()
    assert not KnowledgeGraph.import_knowledge(dump, collection_name, settings=kg.settings).known
    assert (digest(kg.graph, collection_name), _texts(kg, collection_name)) == (before, facts)


def test_a_collection_of_documents_takes_no_facts(kg: KnowledgeGraph, dump: Path, collection_name: str) -> None:
    kg[collection_name].ingest([Document("a", (Section("The Fram sailed."),), "Fram")])
    with pytest.raises(MismatchError, match="holds documents"):
        KnowledgeGraph.import_knowledge(dump, collection_name, settings=kg.settings)
    try:
        chosen = Selection(about=collection_name)
        KnowledgeGraph.import_knowledge(dump, "test-slice", selection=chosen, settings=kg.settings)
        assert _texts(kg, "test-slice") == _texts_of("Fram")
    finally:
        kg["test-slice"].delete()


def _texts_of(*subjects: str) -> set[str]:
    all_ = {"Fram": {"Fram instance of sailing ship", "Fram designed by Colin Archer", "Fram length 39 metre"},
            "Colin Archer": {"Colin Archer instance of human", "Colin Archer born in Larvik"},
            "sailing ship": {"sailing ship subclass of ship"},
            "Maud": {"Maud instance of ship", "Maud designed by Colin Archer"}}  # fmt: skip
    return {text for subject in subjects for text in all_[subject]}


@pytest.mark.parametrize(
    ("chosen", "subjects"),
    [
        (Selection(ids=("Q1",)), ("Fram",)),
        (Selection(ids=("Q1",), hops=2), ("Fram", "Colin Archer", "sailing ship")),
        (Selection(classes=("Q11446",)), ("Fram", "Maud")),
        (Selection(classes=("Q170483",)), ("Fram",)),
    ],
)
def test_slices(kg: KnowledgeGraph, dump: Path, collection_name: str, chosen: Selection, subjects: Any) -> None:
    KnowledgeGraph.import_knowledge(dump, collection_name, selection=chosen, settings=kg.settings)
    assert _texts(kg, collection_name) == _texts_of(*subjects)


def test_properties_and_languages(kg: KnowledgeGraph, tmp_path: Path, collection_name: str) -> None:
    path = tmp_path / "few.jsonl.bz2"
    german = SHIPS[6].replace(
        '"en": {"language": "en", "value": "ship"}', '"de": {"language": "de", "value": "Schiff"}'
    )
    path.write_bytes(bz2.compress("\n".join([*SHIPS, german]).encode()))
    chosen = Selection(languages=("de", "en"), properties=("P31",))
    KnowledgeGraph.import_knowledge(path, collection_name, selection=chosen, settings=kg.settings)
    assert {text.split(" instance of ")[0] for text in _texts(kg, collection_name)} == {
        "Fram", "Colin Archer", "Nansen", "Maud",
    }  # fmt: skip


def test_every_oddity_is_read_or_counted() -> None:
    read = WikidataReader()
    for line in entity_lines(7_000):
        assert read(line.encode()) is not None
    before = dict(read.counts)
    assert before["statements"] == 7_000 and before["statements whose object is a text"] == 1_000
    for told, line in odd_lines(1_000):
        had = read.counts[told]
        read(line.encode())
        assert read.counts[told] > had, (told, line)


def test_times_in_words() -> None:
    assert [time(t, p) for t, p in (
        ("+1952-03-11T00:00:00Z", 11), ("+1952-03-00T00:00:00Z", 11), ("+1952-03-11T00:00:00Z", 10),
        ("+1952-00-00T00:00:00Z", 9), ("+1952-01-01T00:00:00Z", 8), ("+1901-01-01T00:00:00Z", 7),
        ("-0044-03-15T00:00:00Z", 11), ("-13798000000-00-00T00:00:00Z", 3),
    )] == ["11 March 1952", "March 1952", "March 1952", "1952", "1950s", "20th century", "15 March 44 BC",
           "about 13,798,000,000 BC"]  # fmt: skip


def test_a_file_that_is_cut_off_gives_what_precedes(kg: KnowledgeGraph, tmp_path: Path, collection_name: str) -> None:
    whole = gzip.compress("\n".join([*SHIPS, *entity_lines(3000)]).encode())
    path = tmp_path / "cut.json.gz"
    path.write_bytes(whole[: len(whole) // 2])
    report = KnowledgeGraph.import_knowledge(path, collection_name, settings=kg.settings)
    assert report.counts["files that are cut off or damaged"] == 1
    assert report.facts > 9


def test_transactions_that_were_interrupted_go_on(
    kg: KnowledgeGraph, dump: Path, collection_name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("kgrag.indexing.knowledge.fact_writer.FACTS", 3)
    sent: list[set[str]] = []
    run = Graph.run

    def interrupted(self: Graph, name: str, /, **parameters: Any) -> Any:
        if name == "write/knowledge_triples":
            sent.append({row["properties"]["text"] for row in parameters["rows"]})
            if len(sent) == 2:
                raise KeyboardInterrupt
        return run(self, name, **parameters)

    monkeypatch.setattr(Graph, "run", interrupted)
    with pytest.raises(KeyboardInterrupt):
        KnowledgeGraph.import_knowledge(dump, collection_name, settings=kg.settings)
    assert _texts(kg, collection_name) == sent[0]
    report = KnowledgeGraph.import_knowledge(dump, collection_name, settings=kg.settings)
    assert report.resumed == len(SHIPS) + 2 and report.facts == 9
    assert sent[0] not in sent[2:] and sent[1] == sent[2]  # committed batches are not sent again
    assert len(_texts(kg, collection_name)) == 9


def test_n_triples(kg: KnowledgeGraph, tmp_path: Path, collection_name: str) -> None:
    path = tmp_path / "own.nt"
    label, x = "<http://www.w3.org/2000/01/rdf-schema#label>", "http://example.org/"
    path.write_text(
        f'<{x}a1> {label} "Gyro \\u0041"@en . # a comment\n<{x}a1> {label} "Kreisel"@de .\n'
        f"<{x}a1> <{x}ns#partOf> <{x}Auto_Pilot> .\n_:b0 <{x}ns#partOf> <{x}a1>.\n"
        f'<{x}a1> <{x}ns#madeIn> "1950"^^<http://www.w3.org/2001/XMLSchema#gYear> .\n'
        f'<{x}a1> <{x}ns#note> "a long text" .\n'
        f'<{x}a1> <http://www.w3.org/2004/02/skos/core#altLabel> "Gyroscope A" .\n'
        "nonsense\n"
    )
    result = run_kgrag(_env(kg), "import", "--format", "triples", path, "-c", collection_name, "--json")
    counts = json.loads(result.stdout)["counts"]
    assert (counts["lines that are no triple"], counts["statements whose object is a text"]) == (1, 1)
    assert _texts(kg, collection_name) == {
        "Gyro A part Of Auto Pilot", "b0 part Of Gyro A", "Gyro A made In 1950", "Gyro A alias Gyroscope A",
    }  # fmt: skip


def test_rows_of_a_glossary(kg: KnowledgeGraph, tmp_path: Path, collection_name: str) -> None:
    path = tmp_path / "glossary.csv"
    path.write_text('Subject,predicate,object\nFRAM,designed by,"Archer, Colin"\nFram,is a,ship\n"Archer, Colin",was\n')
    result = run_kgrag(_env(kg), "import", "--format", "triples", path, "-c", collection_name)
    assert "2 facts on 3 entities" in result.stdout and "1 lines that are no triple" in result.stderr
    assert {text.lower() for text in _texts(kg, collection_name)} == {
        "fram designed by archer, colin",
        "fram is a ship",
    }


@pytest.mark.long
def test_a_wrong_file_is_an_error_with_a_remedy(kg: KnowledgeGraph, tmp_path: Path) -> None:
    with pytest.raises(InputError, match="format"):
        format_of(tmp_path / "x.parquet")
    with pytest.raises(KgragError):
        KnowledgeGraph.import_knowledge(tmp_path / "missing.json", "x", settings=kg.settings)
    result = CliRunner().invoke(main, ["import", "--format", "wikidata", str(tmp_path / "missing.json"), "-c", "x"])
    assert result.exit_code == 2


def test_a_line_beyond_all_bounds_is_counted(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from collections import Counter

    monkeypatch.setattr("kgrag.indexing.knowledge.LONGEST", 100)
    path = tmp_path / "long.json"
    path.write_bytes(b"a" * 250 + b"\nshort\n")
    counts: Counter[str] = Counter()
    assert [line for line, *_ in lines_of(path, counts)] == [b"", b"short\n"]
    assert counts == {"lines that are too long": 1}


def _env(kg: KnowledgeGraph) -> dict[str, str]:
    settings: Settings = kg.settings
    assert settings.neo4j_uri is not None and settings.neo4j_password is not None
    return {
        "KGRAG_NEO4J_URI": settings.neo4j_uri,
        "KGRAG_NEO4J_PASSWORD": settings.neo4j_password.get_secret_value(),
        "KGRAG_HOME": str(settings.home),
    }
