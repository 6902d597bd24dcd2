"""Addresses that routes lead to: one that cannot be read is told without any part of its password."""

import pytest

from kgrag.errors import ConfigurationError, DatabaseError, KgragError
from kgrag.graph.routes import open_route
from kgrag.models.endpoint import Endpoint
from kgrag.settings import Settings


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
