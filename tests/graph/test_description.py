"""The description of the graph matches a live database exactly."""

from collections import defaultdict
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import pytest
from full_graph import LONG_TITLE, QUESTION, SPOTS, TYPES, make_full_graph, reply
from graph_rows import rows
from scripted import Scripted
from tagging import LocalTagme

from kgrag import KnowledgeGraph
from kgrag.graph import schema
from kgrag.graph.description import Property, describe
from kgrag.settings import Settings
from kgrag.text.tokens import LONGEST_CAPTION

NAME = "described"


@pytest.fixture(scope="module")
def full(kg: KnowledgeGraph, graph_settings: Settings, scripted_server: Scripted) -> Iterator[str]:
    """A collection with every kind of node and relationship."""
    scripted_server.reset()
    scripted_server.say("extract", reply())
    with LocalTagme(SPOTS) as tagme:
        make_full_graph(graph_settings, scripted_server.settings(), tagme.settings(), NAME)
    yield NAME
    kg[NAME].delete()


def _wrong(rows: list[dict[str, Any]], kinds: Mapping[str, tuple[Property, ...]]) -> dict[str, list[str]]:
    """Return the faults in the properties of nodes or relationships: rows of {kind, types: [property, Cypher type]}."""
    types: defaultdict[str, defaultdict[str, set[str]]] = defaultdict(lambda: defaultdict(set))
    everywhere: dict[str, set[str]] = {}
    for row in rows:
        kind, names = row["kind"], {name for name, _ in row["types"]}
        everywhere[kind] = everywhere.get(kind, names) & names
        for name, type in row["types"]:
            types[kind][name] |= {type.replace(" NOT NULL", "")} - {"LIST<NOTHING>"}  # an empty list
    found = {kind: _compare(its, types[kind], everywhere.get(kind, set())) for kind, its in kinds.items()}
    return {kind: wrong for kind, wrong in found.items() if wrong}


def _compare(described: tuple[Property, ...], found: dict[str, set[str]], everywhere: set[str]) -> list[str]:
    """Return the faults in the properties of one kind; `everywhere`: properties of all nodes or relationships."""
    wrong = []
    names = {p.name: p for p in described}
    for name, types in found.items():
        entry = names.get("meta_*") if name.startswith("meta_") else names.get(name)
        if entry is None:
            wrong.append(f"{name} is not described")
        elif entry.type != "ANY" and not types <= {entry.type}:
            wrong.append(f"{name} is {types}, not {entry.type}")
    for entry in described:
        if entry.name == "meta_*":
            continue
        if not entry.optional and entry.name not in everywhere:
            wrong.append(f"{entry.name} is not always there")
        if entry.name not in found and not (entry.optional and entry.upkeep):
            wrong.append(f"{entry.name} is never there")
    return wrong


def test_nodes_are_as_described(kg: KnowledgeGraph, full: str) -> None:
    query = (
        "MATCH (n) WHERE n.collection = $name OR n:Schema "
        "UNWIND [l IN labels(n) WHERE NOT l =~ 'Kgrag|.*_c\\\\d+' AND NOT l IN $types] AS kind "
        "RETURN kind, COLLECT { UNWIND keys(n) AS key RETURN [key, valueType(n[key])] } AS types"
    )
    found = rows(kg, query, name=full, types=TYPES)
    kinds = {node.label: node.properties for node in describe().nodes}
    assert {row["kind"] for row in found} == kinds.keys()
    assert _wrong(found, kinds) == {}


def test_second_labels_are_those_of_indexed_kinds(kg: KnowledgeGraph, full: str) -> None:
    query = "MATCH (n {collection: $name}) WHERE size(labels(n)) > 2 UNWIND labels(n) AS label RETURN DISTINCT label"
    found = [row for row in rows(kg, query, name=full) if row["label"] not in (*TYPES, schema.OURS)]
    indexed = {node.label for node in describe().nodes if node.indexed}
    number = rows(kg, "MATCH (c:Collection {name: $name}) RETURN c.number AS n", name=full)[0]["n"]
    assert {row["label"] for row in found} == indexed | {schema.label_of(label, number) for label in indexed}


def test_relationships_are_as_described(kg: KnowledgeGraph, full: str) -> None:
    query = (
        "MATCH (a)-[r]->(b) WHERE a.collection = $name AND r.facts IS NULL "
        "RETURN type(r) AS kind, [x IN labels(a) WHERE NOT x =~ 'Kgrag|.*_.*' AND NOT x IN $types][0] AS start, "
        "[x IN labels(b) WHERE NOT x =~ 'Kgrag|.*_.*' AND NOT x IN $types][0] AS end, "
        "COLLECT { UNWIND keys(r) AS key RETURN [key, valueType(r[key])] } AS types"
    )
    found = rows(kg, query, name=full, types=TYPES)
    joined: defaultdict[str, set[tuple[str, str]]] = defaultdict(set)
    for row in found:
        joined[row["kind"]].add((row["start"], row["end"]))
    assert dict(joined) == {edge.type: set(edge.between) for edge in describe().edges}
    assert _wrong(found, {edge.type: edge.properties for edge in describe().edges}) == {}


def test_every_node_has_a_name_that_reads(kg: KnowledgeGraph, full: str) -> None:
    found = rows(
        kg,
        "MATCH (n) WHERE n.collection = $name OR n:Schema "
        "RETURN labels(n) AS labels, n.name AS name, n.title AS title, n.ordinal AS ordinal, n.section AS section",
        name=full,
    )
    for row in found:
        assert row["name"] and row["name"] == row["name"].strip(), row
        assert any(c.isalpha() for c in row["name"]) or {"Word", "Keyword", "Entity"} & set(row["labels"]), row
        assert len(row["name"]) <= LONGEST_CAPTION + len("10 · ") or "Entity" in row["labels"], row
    passages = [row for row in found if "Passage" in row["labels"] and row["title"] == LONG_TITLE]
    beginning = "Colin Archer, who built the Fram and many another boat that came home, and"
    assert len({row["name"] for row in passages}) == len(passages) > 1
    for row in passages:
        start = f"{row['ordinal'] + 1} · {row['section']} · Colin Archer, who built the Fram and"
        assert row["section"] in ("His boats", "Larvik") and row["name"].startswith(start)
    named = {row["name"] for row in found}
    assert {"Fram", "p. 1 (i)", "p. 2", "Table 2", "was built by", f"{beginning}…"} <= named
    cut = [name for name in named if name.endswith("…")]
    assert {name[:9] for name in cut} >= {"Table 1: ", "In which ", "1. In whi", "was desig"}
    assert rows(kg, "MATCH (r:Run {collection: $name}) RETURN r.question AS q", name=full) == [{"q": QUESTION}]
    assert [run.question for run in kg[full].runs()] == [QUESTION]


@pytest.mark.alone
def test_the_database_describes_itself(kg: KnowledgeGraph) -> None:
    schema.ensure_schema(kg.graph)
    lines = describe().lines()
    query = "MATCH (s:Schema) RETURN s.labels AS labels, s.relationships AS relationships, s.properties AS properties"
    assert rows(kg, query) == [lines]
    assert "Passage.text: STRING. Its text." in lines["properties"]
    assert "STATES (Passage to Triple): The passage states the fact." in lines["relationships"]

    rows(kg, "MATCH (s:Schema) SET s.labels = ['kept']")
    schema.ensure_schema(kg.graph)  # nothing changed, so nothing is written
    assert rows(kg, query)[0]["labels"] == ["kept"]
    rows(kg, "MATCH (s:Schema) SET s.described = 'of another version'")
    schema.ensure_schema(kg.graph)
    assert rows(kg, query) == [lines]


def test_the_documentation_is_made_from_the_description() -> None:
    page = Path(__file__).parents[2] / "docs" / "SCHEMA.md"
    assert page.read_text(encoding="utf-8") == describe().markdown(), (
        "python -m kgrag.graph.description > docs/SCHEMA.md"
    )


def test_a_prompt_gets_what_a_question_needs() -> None:
    text = describe().text()
    assert len(text) < 9100
    parts = ("Passage: ", "  ordinal INTEGER?: ", "(:Passage)-[:MENTIONS]->(:Entity)", "  aliases LIST<STRING>?: ")
    for part in (*parts, "  normal: What it is known by", "  wikipedia?: ", "  name: What it is about", "  caption: "):
        assert part in text
    for part in ("embedding LIST", "todo", "similar_floor", "Word: ", "Schema: ", "  name: Its caption"):
        assert part not in text


def test_an_arrow_that_no_kind_of_edge_has_is_told() -> None:
    hints = {
        "(e:Entity {collection: $collection})-[:MENTIONS]->(p:Passage_c7)": "(:Passage)-[:MENTIONS]->(:Entity)",
        "(p:Passage)-[:NEXT]->(q:Passage)<-[s:STATES]-(t:Triple)": "(:Passage)-[:STATES]->(:Triple)",
        "(p:Passage)-[:MENTIONS]->(e:Entity)<-[:MENTIONS]-(q:Passage)": None,
        "(e:Entity)-[:MENTIONS]-(p:Passage), (e)-[:MENTIONS|ABOUT]->(d:Document)": None,
        "(a:Ship)-[:LED]->(b:Person)": None,
    }
    for pattern, right in hints.items():
        told = [hint.partition(": ")[2] for hint in describe().reversed_arrows(f"MATCH {pattern} RETURN *")]
        assert told == ([] if right is None else [f"{right}."])
