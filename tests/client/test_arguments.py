"""Invalid arguments are reported in kgrag's own words, before any search."""

from typing import Any

import pandas as pd
import pytest

from kgrag import KnowledgeGraph, RemoteKnowledgeGraph
from kgrag.settings import Settings
from kgrag.values.documents import Document, Section
from kgrag.values.errors import ConfigurationError, DatabaseError, InputError


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ({"query": None}, "A question is a text, not None"), ({"query": 5}, "not an object of type int"),
        ({"query": " \n"}, "The question is empty"), ({"query": "x", "k": "5"}, "'5' is no whole number"),
        ({"query": "x", "k": 2.5}, "2.5 is no whole number"), ({"query": "x", "k": True}, "True is no whole number"),
        ({"query": "x", "k": 0}, "0 passages"), ({"query": "x", "retreiver": "bm25"}, "Did you mean retriever"),
        ({"query": "x", "top_k": 5}, "Did you mean k"),
        ({"query": "x", "where": {"year": 1893}}, "Did you mean filter"),
        ({"query": "x", "colour": "red"}, "It has: query, k, retriever"),
    ],
)  # fmt: skip
def test_what_a_search_is_given(kg: KnowledgeGraph, given: dict[str, Any], said: str) -> None:
    remote = RemoteKnowledgeGraph("http://127.0.0.1:1")
    with pytest.raises(ConfigurationError, match="Settings go by name"):
        KnowledgeGraph.connect(Settings())  # type: ignore[arg-type]
    for searched in (kg["anything"], kg["one", "two"], remote["anything"]):
        with pytest.raises(ConfigurationError) as raised:
            searched.search(**given)
        assert said in str(raised.value)
    with pytest.raises(ConfigurationError) as raised:
        given = {"question" if name == "query" else name: value for name, value in given.items()}
        kg["anything"].ask(**given)
    assert said.replace("query, k, retriever", "question, system") in str(raised.value) or "retr" in said


@pytest.mark.parametrize("part", [5, None, object, ["bm25"]])
def test_a_retriever_or_system_that_is_none(kg: KnowledgeGraph, part: Any) -> None:
    for searched in (kg["anything"], kg["one", "two"]):
        with pytest.raises(ConfigurationError, match="kgrag list retrievers"):
            searched.search("Who?", retriever=part)
        if part is not None:
            with pytest.raises(ConfigurationError, match="kgrag list systems"):
                searched.ask("Who?", system=part)


def test_rows_are_refused_by_name_and_nothing_is_made(kg: KnowledgeGraph) -> None:
    row = {"id": "a", "text": "The Fram sailed."}
    for rows, kind in (([row], "dict"), (row, "dict"), (pd.DataFrame([row]), "DataFrame"), ([1], "int")):
        with pytest.raises(InputError, match=f"{kind} is no document") as caught:
            kg["rows"].ingest(rows)  # type: ignore[arg-type]
        assert "Section(text)" in caught.value.remedy
    with pytest.raises(InputError, match="1 is no text"):
        Document(1, (Section("The Fram sailed."),))  # type: ignore[arg-type]
    with pytest.raises(InputError, match="sections are a text"):
        Document("a", "The Fram sailed.")  # type: ignore[arg-type]
    with pytest.raises(ConfigurationError, match="filter is an object of type dict"):
        kg["rows"].search("Fram", filter={"owner": "ann"})  # type: ignore[arg-type]
    assert "rows" not in [each.name for each in kg.collections()]


def test_what_an_ingest_is_given(kg: KnowledgeGraph) -> None:
    with pytest.raises(ConfigurationError, match=r"ingest\(\) has no argument 'langauge'[\s\S]*Did you mean language"):
        kg["anything"].ingest([Document("a", (Section("x"),))], langauge="en")  # type: ignore[call-arg]


def test_a_client_that_is_closed(graph_settings: Settings) -> None:
    with KnowledgeGraph.connect(settings=graph_settings) as closed:
        pass
    for use in (closed.collections, closed["anything"].info, closed.runs):
        with pytest.raises(DatabaseError, match="is closed") as raised:
            use()
        assert "KnowledgeGraph.connect()" in raised.value.remedy
