"""The header of every query file agrees with the server's view of the query."""

import re

import pytest

from kgrag import KnowledgeGraph
from kgrag.graph.description import describe
from kgrag.graph.queries import Query, catalogue, parse, sample

_QUERY_TYPES = {"read": {"r"}, "write": {"w", "rw"}, "auto": {"r", "w", "rw"}, "schema": {"s"}}


@pytest.mark.parametrize("query", catalogue().values(), ids=lambda q: q.name)
@pytest.mark.long
def test_header_matches_the_statement(query: Query, kg: KnowledgeGraph) -> None:
    assert {p.name for p in query.parameters} == set(re.findall(r"\$(\w+)", query.text))
    parameters = {p.name: sample(p.type) for p in query.parameters}
    for statement in _statements(query):
        query_type, columns = kg.graph.explain(statement, parameters)
        assert query_type in _QUERY_TYPES[query.mode]
        assert columns == [name for name, _, _ in query.columns]


def _statements(query: Query) -> list[Query]:
    """Return a query, or a template filled with every label that it allows."""
    if not query.placeholders:
        return [query]
    properties = ["name"] if "properties" in query.placeholders else []
    labels = describe().labels(query.label) or [f"{label}_c7" for label in describe().labels("indexed")]
    return [query.filled(label, properties) for label in labels]


@pytest.mark.parametrize("query", catalogue().values(), ids=lambda q: q.name)
def test_placeholders_stay_out_of_what_an_analyst_runs(query: Query) -> None:
    parameters = {p.name for p in query.parameters}
    assert query.placeholders <= ({"label", "properties"} if query.mode == "schema" else {"label"}) - parameters
    if query.name.startswith("analyst/"):
        assert not query.placeholders
    assert len(query.purpose) > 10


_LOOKED_UP = re.compile(r"\(\w*:([^()]*?) \{id: |MATCH[^\n]*\((\w+):([^()]*?)\) WHERE \2\.id (?:=|IN) ")


@pytest.mark.parametrize("query", catalogue().values(), ids=lambda q: q.name)
def test_ids_are_looked_up_in_the_index_of_the_constraint(query: Query) -> None:
    """Without the label Kgrag, Neo4j reads every node of a label to find an id."""
    asked = [first or second for first, _, second in _LOOKED_UP.findall(query.text)]
    assert [labels for labels in asked if not labels.startswith("Kgrag") and labels != "Schema"] == []


def test_a_line_is_repeated_for_each_label() -> None:
    header = "// Purpose here.\n// mode: read\n// each: worked\n"
    query = parse("test/query", f"{header}CALL () {{\n  MATCH (n:{{label}}) RETURN n\n}}\nRETURN n")
    assert query.text == (
        "CALL () {\n  MATCH (n:Passage) RETURN n\n  UNION ALL\n  MATCH (n:Entity) RETURN n\n  UNION ALL\n"
        "  MATCH (n:Word) RETURN n\n}\nRETURN n"
    )
    assert query.placeholders == set()


@pytest.mark.parametrize(
    ("content", "complaint"),
    [
        ("RETURN 1", "mode must be"),
        ("// mode: read\nRETURN 1", "does not say what"),
        ("// Purpose here.\n// mode: fast\nRETURN 1", "mode must be"),
        ("// Purpose here.\n// mode: read\n// $x STRING\nRETURN $x", "not a parameter line"),
        ("// Purpose here.\n// mode: read\n// -> x\nRETURN 1 AS x", "not a column line"),
        ("// Purpose here.\n// mode: read\n// chatter\nRETURN 1", "unexpected header line"),
        ("// Purpose here.\n// mode: read\nMATCH (n:{label}) RETURN n", "has `label` if"),
        ("// Purpose here.\n// mode: read\n// label: held\nRETURN 1", "has `label` if"),
    ],
)
def test_bad_headers_are_refused(content: str, complaint: str) -> None:
    with pytest.raises(ValueError, match=complaint):
        parse("test/query", content)


def test_parameters_are_checked(kg: KnowledgeGraph) -> None:
    with pytest.raises(TypeError, match="retrieve/fulltext takes"):
        kg.graph.run("retrieve/fulltext", index="x")
    with pytest.raises(KeyError):
        kg.graph.run("look_up/nothing")
    with pytest.raises(TypeError, match="write/clear takes"):
        kg.graph.run("write/clear", collection="x")


@pytest.mark.parametrize(
    "label",
    ["", "passage", "A-b", "A` ON EACH", "P" + "x" * 61, "Ä", "Document", "Passage", "Document_c1", "Passage_cx"],
)
def test_only_generated_labels_take_a_place_in_the_indexes_of_a_collection(kg: KnowledgeGraph, label: str) -> None:
    with pytest.raises(ValueError, match="not a label"):
        kg.graph.run("schema/fulltext", label=label, properties=["text"], index="x", analyzer="english")
    with pytest.raises(ValueError, match="has no properties"):
        kg.graph.run("schema/fulltext", label="Passage_c1", properties=["text] //"], index="x", analyzer="english")


@pytest.mark.parametrize("label", ["Schema", "Collection", "Passage_c1", "Nothing", "Passage) //"])
def test_only_labels_that_a_header_allows_take_a_place(kg: KnowledgeGraph, label: str) -> None:
    with pytest.raises(ValueError, match="not a label"):
        kg.graph.run("write/clear", label=label, collection="x")
