"""One complete graph for all tests of export and import, and its exports."""

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from graph_rows import rows
from whole_graph import make_whole

from kgrag import KnowledgeGraph
from kgrag.graph.contents import Fingerprint, fingerprint


@pytest.fixture(scope="module")
def whole(kg: KnowledgeGraph) -> Iterator[str]:
    """The collection; tests that delete it must import it again."""
    make_whole(kg, "büro; \"whole\", 'all' & <1>")
    yield "büro; \"whole\", 'all' & <1>"
    kg["büro; \"whole\", 'all' & <1>"].delete()
    rows(kg, "MATCH (n:Elsewhere) DETACH DELETE n")


@pytest.fixture(scope="module")
def state(kg: KnowledgeGraph, whole: str) -> Fingerprint:
    """The contents of the collection."""
    return fingerprint(kg.graph, whole)


@pytest.fixture(scope="module")
def exported(
    kg: KnowledgeGraph, whole: str, state: Fingerprint, tmp_path_factory: pytest.TempPathFactory
) -> Callable[[str], Path]:
    """The path of an export of it, made once."""
    folder = tmp_path_factory.mktemp("exports")

    def make(name: str) -> Path:
        path = folder / name
        if not path.exists():
            report = kg[whole].export(str(path))
            assert report.digest == state.total()
        return path

    return make
