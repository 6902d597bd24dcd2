"""The tests run against a real Neo4j, which they start themselves and stop at the end.

KGRAG_TEST_NEO4J=2026 runs them against that line instead of the default.
"""

import itertools
import os
import signal
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from chromium import MISSING, find_chromium
from hypothesis import HealthCheck
from hypothesis import settings as hypothesis_settings
from scripted import Scripted

from kgrag.client import KnowledgeGraph
from kgrag.errors import NotFoundError
from kgrag.graph.local import LocalServer
from kgrag.settings import Settings

if TYPE_CHECKING:
    from playwright.sync_api import Browser

_NUMBERS = itertools.count(1)
_FLAGS = (
    "--no-sandbox --disable-gpu --disable-quic --no-first-run --disable-background-networking "
    "--disable-component-update --disable-sync"
)


def test_settings(home: Path, **values: object) -> Settings:
    """Settings of a server of its own in `home`; downloads are shared with the user's own."""
    return Settings(_env_file=None, home=home, **values)  # type: ignore[arg-type, call-arg]


test_settings.__test__ = False  # type: ignore[attr-defined]


def pytest_configure() -> None:
    """Take Ctrl-C, and let processes that tests start take it: a shell has those in its background ignore it."""
    signal.signal(signal.SIGINT, signal.default_int_handler)
    # How fast a machine is at the moment says nothing of the code. Each run has the same examples, so that no change
    # fails for what it did not touch; --hypothesis-profile=new looks for new ones.
    busy = hypothesis_settings(suppress_health_check=[HealthCheck.too_slow], deadline=None)
    hypothesis_settings.register_profile("new", busy)
    hypothesis_settings.register_profile("same", busy, derandomize=True)
    hypothesis_settings.load_profile("same")


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """A test that makes a collection of its own is long: Neo4j plans every query for it anew, which takes seconds."""
    for item in items:
        if isinstance(item, pytest.Function) and "collection_name" in item.fixturenames:
            item.add_marker(pytest.mark.long)


@pytest.fixture(scope="session", autouse=True)
def _no_settings_from_outside() -> Iterator[None]:
    """Whatever KGRAG_* the developer has set does not reach the tests, the place of downloads apart."""
    with pytest.MonkeyPatch.context() as patch:
        line = os.environ.get("KGRAG_TEST_NEO4J")
        for name in list(os.environ):
            if name.startswith("KGRAG_") and name != "KGRAG_CACHE":
                patch.delenv(name)
        if line:
            patch.setenv("KGRAG_LOCAL__VERSION", line)
        patch.setenv("KGRAG_OLD_VECTORS_SECONDS", "0")  # nobody searches while a test embeds again
        yield


@pytest.fixture(scope="session")
def graph_settings(_no_settings_from_outside: None, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Settings]:
    """Settings that name a running, empty Neo4j."""
    home = tmp_path_factory.mktemp("home")
    server = LocalServer(test_settings(home))
    endpoint = server.ensure_running()
    try:
        yield test_settings(
            home,
            neo4j_uri=endpoint.uri,
            neo4j_user=endpoint.user,
            neo4j_password=endpoint.password,
            neo4j_database=endpoint.database,
        )
    finally:
        server.stop()


@pytest.fixture(scope="session")
def neo4j_env(graph_settings: Settings) -> dict[str, str]:
    """The environment that makes `kgrag` in a subprocess use the tests' Neo4j."""
    assert graph_settings.neo4j_uri is not None
    assert graph_settings.neo4j_password is not None
    return {
        "KGRAG_NEO4J_URI": graph_settings.neo4j_uri,
        "KGRAG_NEO4J_USER": graph_settings.neo4j_user,
        "KGRAG_NEO4J_PASSWORD": graph_settings.neo4j_password.get_secret_value(),
        "KGRAG_HOME": str(graph_settings.home),
    }


@pytest.fixture(scope="session")
def kg(graph_settings: Settings) -> Iterator[KnowledgeGraph]:
    """A client of the tests' Neo4j."""
    with KnowledgeGraph.connect(settings=graph_settings) as client:
        yield client


@pytest.fixture(scope="session")
def scripted_server() -> Iterator[Scripted]:
    """The scripted language model of all tests."""
    with Scripted() as server:
        yield server


@pytest.fixture
def scripted(scripted_server: Scripted) -> Scripted:
    """A scripted language model that was told nothing yet."""
    scripted_server.reset()
    return scripted_server


@pytest.fixture
def collection_name(kg: KnowledgeGraph) -> Iterator[str]:
    """A name that no other test uses; what was made under it is deleted afterwards."""
    name = f"test-{next(_NUMBERS)}"
    yield name
    with suppress(NotFoundError):
        kg[name].delete()


@pytest.fixture(scope="session")
def chromium() -> "Iterator[Browser]":
    """The Chromium of this machine. Without one the tests fail."""
    from playwright.sync_api import sync_playwright

    path = find_chromium()
    if path is None:
        pytest.fail(MISSING, pytrace=False)
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=path, headless=True, args=_FLAGS.split())
        yield browser
        browser.close()
