"""Every query file says of itself what the server says of it."""

import re

import pytest

from kgrag.client import KnowledgeGraph
from kgrag.graph.queries import MODES, Query, catalogue, parse

_SAMPLES = {
    "STRING": "x",
    "INTEGER": 1,
    "FLOAT": 0.5,
    "BOOLEAN": True,
    "MAP": {},
    "DATETIME": None,
    "LIST<STRING>": [],
    "LIST<FLOAT>": [0.5],
    "LIST<LIST<FLOAT>>": [[0.5]],
    "LIST<LIST<STRING>>": [["x"]],
    "LIST<MAP>": [],
    "LIST<INTEGER>": [],
}
_QUERY_TYPES = {"read": {"r"}, "write": {"w", "rw"}, "auto": {"r", "w", "rw"}, "schema": {"s"}}


@pytest.fixture(scope="module")
def migrated(kg: KnowledgeGraph) -> KnowledgeGraph:
    kg.migrate()
    return kg


@pytest.mark.parametrize("query", catalogue().values(), ids=lambda q: q.name)
def test_header_matches_the_statement(query: Query, migrated: KnowledgeGraph) -> None:
    assert {p.name for p in query.parameters} == set(re.findall(r"\$(\w+)", query.text))
    unknown = {p.type for p in query.parameters} - _SAMPLES.keys()
    assert not unknown
    parameters = {p.name: _SAMPLES[p.type] for p in query.parameters}
    query_type, columns = migrated.graph.explain(query, parameters)
    assert query_type in _QUERY_TYPES[query.mode]
    assert columns == [name for name, _, _ in query.columns]


@pytest.mark.parametrize("query", catalogue().values(), ids=lambda q: q.name)
def test_placeholders_stay_in_the_schema(query: Query) -> None:
    if query.mode != "schema":
        assert "{label}" not in query.text
    assert len(query.purpose) > 10


def test_catalogue_is_complete() -> None:
    names = catalogue()
    assert {"search/fulltext", "search/vector", "write/passages", "schema/passage_text"} <= names.keys()
    assert {q.mode for q in names.values()} == set(MODES)


@pytest.mark.parametrize(
    ("content", "complaint"),
    [
        ("RETURN 1", "mode must be"),
        ("// mode: read\nRETURN 1", "does not say what"),
        ("// Purpose here.\n// mode: fast\nRETURN 1", "mode must be"),
        ("// Purpose here.\n// mode: read\n// $x STRING\nRETURN $x", "not a parameter line"),
        ("// Purpose here.\n// mode: read\n// -> x\nRETURN 1 AS x", "not a column line"),
        ("// Purpose here.\n// mode: read\n// chatter\nRETURN 1", "unexpected header line"),
    ],
)
def test_bad_headers_are_refused(content: str, complaint: str) -> None:
    with pytest.raises(ValueError, match=complaint):
        parse("test/query", content)


def test_parameters_are_checked(kg: KnowledgeGraph) -> None:
    with pytest.raises(TypeError, match="search/fulltext takes"):
        kg.graph.run("search/fulltext", index="x")
    with pytest.raises(KeyError):
        kg.graph.run("search/nothing")


@pytest.mark.parametrize("label", ["", "passage", "A-b", "A` ON EACH", "P" + "x" * 61, "Ä"])
def test_only_generated_labels_fill_the_placeholder(kg: KnowledgeGraph, label: str) -> None:
    with pytest.raises(ValueError, match="not a label"):
        kg.graph.run_schema("schema/passage_text", label, index="x")
