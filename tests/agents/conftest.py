"""A small coast with triples, and a client whose language model says what a test tells it to."""

from collections.abc import Iterator

import pytest
from harbour import FACTS, documents
from naming import own
from scripted import Scripted

from kgrag import KnowledgeGraph
from kgrag.settings import Settings

COAST = own("agents-coast")


@pytest.fixture(scope="module")
def coast(kg: KnowledgeGraph) -> Iterator[str]:
    kg[COAST].ingest(documents(FACTS))
    yield COAST
    kg[COAST].delete()


@pytest.fixture
def talking(graph_settings: Settings, scripted: Scripted) -> Iterator[KnowledgeGraph]:
    """A client with the scripted language model."""
    with KnowledgeGraph.connect(settings=graph_settings.model_copy(update={"chat": scripted.settings()})) as client:
        yield client
