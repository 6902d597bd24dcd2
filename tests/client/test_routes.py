"""Routes: what names a collection goes where it leads, and no part of a password in its address is told."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any
from urllib.parse import quote

import pytest
from pydantic import SecretStr

from kgrag.client import KnowledgeGraph
from kgrag.graph.connection import Graph
from kgrag.graph.queries import catalogue
from kgrag.graph.routes import open_route
from kgrag.models.endpoint import Endpoint
from kgrag.settings import Settings
from kgrag.values.documents import Document, Section
from kgrag.values.errors import ConfigurationError, DatabaseError, KgragError, NotFoundError


@pytest.mark.parametrize(
    ("address", "kind"),
    [
        ("bolt://neo4j:se/cr#et@127.0.0.1:1/neo4j", ConfigurationError),
        ("bolt://neo4j:p@se/cret@127.0.0.1:1/neo4j", ConfigurationError),
        ("bolt://neo4j:p@secret?x@127.0.0.1:1/neo4j", ConfigurationError),
        ("bolt://neo4j:secret", ConfigurationError),
        ("neo4j:secret@127.0.0.1", ConfigurationError),
        ("bolt://neo4j:p@secret@127.0.0.1:1/neo4j", DatabaseError),
        ("bolt://neo4j:p%40se%2Fcret@127.0.0.1:1/neo4j", DatabaseError),
    ],
)
def test_a_route_that_cannot_be_followed(address: str, kind: type[KgragError]) -> None:
    with pytest.raises(kind) as raised:
        open_route(Settings.model_validate({"routes": {"far-*": address}}), "far-*")
    said = str(raised.value)
    assert "KGRAG_ROUTES" in said and "far-*" in said
    assert not {"se", "cret", "secret", "cr#et"} & set(said.replace("/", " ").replace("@", " ").split()), said
    assert "cret" not in said and "cr#et" not in said


def test_the_address_of_a_models_server_is_shown_without_its_password() -> None:
    for address in ("http://me:se/cret@127.0.0.1:1/v1", "http://me:secr#et@127.0.0.1:1/v1"):
        shown = Endpoint.of("CHAT", "m", address, None, {}).address
        assert "cret" not in shown and "secr" not in shown and "et@" not in shown, shown


class Apart(Graph):
    """A database in which there is nothing, and which notes what is asked of it."""

    def __init__(self) -> None:
        self.uri, self.database = "bolt://apart", "neo4j"
        self.asked: list[str] = []

    def run(self, name: str, /, **parameters: Any) -> list[Any]:
        self.asked.append(name)
        return []

    def close(self) -> None:
        pass


@pytest.fixture
def main(graph_settings: Settings) -> Iterator[KnowledgeGraph]:
    """A client of a database that holds nothing, from which all collections of these tests are led elsewhere."""
    assert graph_settings.neo4j_uri and graph_settings.neo4j_password
    scheme, _, host = graph_settings.neo4j_uri.partition("://")
    password = quote(graph_settings.neo4j_password.get_secret_value(), safe="")
    routes = {"test-*": SecretStr(f"{scheme}://{graph_settings.neo4j_user}:{password}@{host}")}
    with KnowledgeGraph(Apart(), graph_settings.model_copy(update={"routes": routes})) as made:
        yield made


def test_all_that_names_a_collection_goes_where_it_lies(
    main: KnowledgeGraph, kg: KnowledgeGraph, collection_name: str, tmp_path: Path
) -> None:
    main[collection_name].ingest([Document("a", (Section("The Fram was built in Larvik."),), "Fram")])
    run = main[collection_name].save(main[collection_name].search("Where was the Fram built?"))
    assert run in {kept.id for kept in main.runs()}
    assert [kept.id for kept in main.delete_runs([run])] == [run]
    assert run not in {kept.id for kept in kg.runs()}
    with pytest.raises(NotFoundError, match="There is no run"):
        main.delete_runs([run])
    main[collection_name].export(str(tmp_path / "kept.jsonl"))
    facts = tmp_path / "facts.csv"
    facts.write_text("subject,predicate,object\nFram,built in,Larvik\n")
    copy, known = f"{collection_name}-copy", f"{collection_name}-facts"
    try:
        main.import_export(str(tmp_path / "kept.jsonl"), copy)
        KnowledgeGraph.import_knowledge(facts, known, settings=main.settings)
        assert {collection_name, copy, known} <= {found.name for found in kg.records()}
    finally:
        for name in (copy, known):
            if name in kg:
                kg[name].delete()
    assert isinstance(main.graph, Apart)
    assert not [name for name in main.graph.asked if catalogue()[name].mode in ("write", "auto")]
