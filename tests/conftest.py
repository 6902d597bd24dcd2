"""The tests run on a real Neo4j, which they start themselves and stop at the end: one for all workers of a run.

Names of test objects contain the worker's name, so that workers do not collide. A test that reads or changes state
shared by all collections is marked `alone`: no other test runs at the same time.

KGRAG_TEST_NEO4J=2026 selects that line instead of the default. KGRAG_TEST_HOME names a home folder whose server runs
already, and keeps running afterwards.
"""

import fcntl
import gc
import itertools
import os
import signal
import subprocess
import threading
from collections.abc import Callable, Generator, Iterator
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from chromium import MISSING, find_chromium
from filelock import FileLock
from hypothesis import HealthCheck
from hypothesis import settings as hypothesis_settings
from naming import own
from scripted import Scripted
from spare_indexes import make_spare_indexes
from xdist.remote import Producer
from xdist.scheduler import LoadScopeScheduling

from kgrag import KnowledgeGraph
from kgrag.graph.connection import Graph
from kgrag.graph.local.server import Endpoint, LocalServer
from kgrag.graph.schema import stored_version
from kgrag.loaders.reading import Readers
from kgrag.settings import Settings
from kgrag.values.errors import NotFoundError

if TYPE_CHECKING:
    from playwright.sync_api import Browser

_NUMBERS = itertools.count(1)
# Tests for one worker: a server works on any job, and collections of one name serve several files.
_TOGETHER = (
    ("tests/server/", "tests/client/test_remote.py", "tests/cli/test_serve_command.py", "tests/docs/"),
    ("tests/agents/",),
    ("tests/exchange/",),
    ("tests/lab/",),
    ("tests/graph/gateway/",),
)
_MOST, _MOST_LONG = 90.0, 240.0  # seconds for a test, and for a long test, on a busy machine
# Their long tests start, stop, kill and upgrade separate servers.
_OF_SERVERS = (
    "tests/graph/local/", "tests/exchange/test_backup_restore.py", "tests/indexing/test_bulk.py",
    "tests/indexing/test_bulk_hand_over.py", "tests/indexing/test_knowledge_bulk.py",
    "tests/passages/test_opensearch.py",
)  # fmt: skip
_FLAGS = (
    "--no-sandbox --disable-gpu --disable-quic --no-first-run --disable-background-networking "
    "--disable-component-update --disable-sync"
)


def test_settings(home: Path, **values: object) -> Settings:
    """Return settings of a separate server in `home`; downloads are shared with the user's."""
    return Settings(_env_file=None, home=home, **values)  # type: ignore[arg-type, call-arg]


test_settings.__test__ = False  # type: ignore[attr-defined]


def pytest_configure(config: pytest.Config) -> None:
    """Accept Ctrl-C here and in child processes, since a shell makes its background processes ignore it."""
    signal.signal(signal.SIGINT, signal.default_int_handler)
    if not hasattr(config, "workerinput"):  # workers inherit the environment from here
        _no_settings_from_outside()
    if os.environ.get("COVERAGE_PROCESS_CONFIG"):
        _readers_end_by_themselves()
    # The machine's current speed says nothing about the code. Each run has the same examples, so that no change fails
    # for code that it did not touch; --hypothesis-profile=new generates new ones.
    busy = hypothesis_settings(suppress_health_check=[HealthCheck.too_slow], deadline=None)
    hypothesis_settings.register_profile("new", busy)
    hypothesis_settings.register_profile("same", busy, derandomize=True)
    hypothesis_settings.load_profile("same")


def _readers_end_by_themselves() -> None:
    """Let reading processes end by themselves when idle instead of killing them, which would lose their coverage."""
    kill_idle = Readers.__exit__

    def end(readers: Readers, *why: Any) -> None:
        for child in readers._idle:
            assert child._process.stdin is not None
            with suppress(OSError, subprocess.TimeoutExpired):
                child._process.stdin.close()
                child._process.wait(10)
        kill_idle(readers, *why)

    Readers.__exit__ = end  # type: ignore[method-assign]


def pytest_itemcollected(item: pytest.Item) -> None:
    """Mark tests as long that make their own collection (an ingest runs about forty queries) or server."""
    if {"collection_name", "shared"} & set(getattr(item, "fixturenames", ())):
        item.add_marker(pytest.mark.long)
    if item.get_closest_marker("long") and item.nodeid.startswith(_OF_SERVERS):
        item.add_marker(pytest.mark.servers)


def pytest_collection_finish() -> None:
    """Exclude existing objects from garbage collection: all test modules cost half a second each time."""
    gc.collect()
    gc.freeze()


def pytest_xdist_make_scheduler(config: pytest.Config, log: Producer) -> LoadScopeScheduling:
    """Return the scheduler that assigns tests to workers."""
    return ByFolder(config, log)


class ByFolder(LoadScopeScheduling):
    """Gives the tests of a file, and all tests of `_TOGETHER`, to one worker, since they share fixtures."""

    def _split_scope(self, nodeid: str) -> str:
        path = nodeid.partition("::")[0]
        return next((group[0] for group in _TOGETHER if path.startswith(group)), path)


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(item: pytest.Item, call: pytest.CallInfo[None]) -> Generator[None, Any, Any]:
    """Fail a test that takes far longer than its kind may; make it faster, or mark it long."""
    report = yield
    slow = any(map(item.get_closest_marker, ("slow", "models", "llm", "browser", "adapters", "wheel", "quality")))
    most = _MOST_LONG if item.get_closest_marker("long") else _MOST
    if not slow and report.when == "call" and report.passed and call.duration > most:
        report.outcome = "failed"
        report.longrepr = f"{item.nodeid} took {call.duration:.0f} s of the {most:.0f} s that such a test has"
    return report


@pytest.hookimpl(wrapper=True)
def pytest_runtest_protocol(item: pytest.Item) -> Generator[None, Any, Any]:
    """Run tests marked `alone` apart from those of other workers; a test waiting to be alone has priority."""
    folder = _shared_folder(item.config)
    kind = fcntl.LOCK_EX if item.get_closest_marker("alone") else fcntl.LOCK_SH
    with (folder / "alone.lock").open("w") as lock:
        with (folder / "queue.lock").open("w") as queue:
            fcntl.flock(queue, fcntl.LOCK_EX)
            fcntl.flock(lock, kind)
        return (yield)


def pytest_sessionstart(session: pytest.Session) -> None:
    """Start the Neo4j of the run while the workers collect the tests."""
    if getattr(session.config.option, "numprocesses", None) and not hasattr(session.config, "workerinput"):
        starting = threading.Thread(target=_started, args=(session.config,))
        starting.start()
        session.config.add_cleanup(starting.join)


@pytest.hookimpl(trylast=True)
def pytest_sessionfinish(session: pytest.Session) -> None:
    """Stop the Neo4j of the run when all workers have finished."""
    home = _home(session.config)
    if not hasattr(session.config, "workerinput") and "KGRAG_TEST_HOME" not in os.environ and home.exists():
        with FileLock(_shared_folder(session.config) / "starting.lock"):
            LocalServer(test_settings(home)).stop()


def _shared_folder(config: pytest.Config) -> Path:
    """Return the folder that the workers of a run share."""
    base: Path = config._tmp_path_factory.getbasetemp()  # type: ignore[attr-defined]
    return base.parent if hasattr(config, "workerinput") else base


def _no_settings_from_outside() -> None:
    """Keep the developer's KGRAG_* settings from the tests, except for the folder of downloads."""
    line = os.environ.get("KGRAG_TEST_NEO4J")
    for name in list(os.environ):
        if name.startswith("KGRAG_") and name not in ("KGRAG_CACHE", "KGRAG_TEST_HOME"):
            del os.environ[name]
    if line:
        os.environ["KGRAG_LOCAL__VERSION"] = line
    os.environ["KGRAG_LOCAL__ARCHIVE"] = "false"  # making it takes two processors for half a minute
    os.environ["KGRAG_OLD_VECTORS_SECONDS"] = "0"  # no search runs while a test re-embeds


def _home(config: pytest.Config) -> Path:
    return Path(os.environ.get("KGRAG_TEST_HOME", _shared_folder(config) / "home"))


def _started(config: pytest.Config) -> Endpoint:
    """Return the run's Neo4j, started by the first caller."""
    settings = test_settings(_home(config))
    # Node counts change all the time here, and plans for other counts are as good.
    settings.local.conf["dbms.cypher.min_replan_interval"] = "1h"
    with FileLock(_shared_folder(config) / "starting.lock"):
        endpoint = LocalServer(settings).ensure_running()
        with Graph(endpoint.uri, endpoint.user, endpoint.password, endpoint.database) as graph:
            if stored_version(graph) is None:
                make_spare_indexes(graph)
    return endpoint


@pytest.fixture(scope="session")
def graph_settings(pytestconfig: pytest.Config) -> Settings:
    """Settings that name the run's Neo4j."""
    endpoint = _started(pytestconfig)
    return test_settings(
        _home(pytestconfig),
        neo4j_uri=endpoint.uri,
        neo4j_user=endpoint.user,
        neo4j_password=endpoint.password,
        neo4j_database=endpoint.database,
    )


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


@pytest.fixture(scope="module")
def fill(kg: KnowledgeGraph) -> Iterator[Callable[..., str]]:
    """Ingests into a collection for the tests of one module, and returns its name; deletes it after them."""
    names: dict[str, None] = {}

    def ingest(name: str, source: Any, **options: Any) -> str:
        names[name] = None
        kg[name].ingest(source, **options)
        return name

    yield ingest
    for name in names:
        kg[name].delete()


@pytest.fixture(scope="session")
def scripted_server() -> Iterator[Scripted]:
    """The scripted language model of all tests."""
    with Scripted() as server:
        yield server


@pytest.fixture
def scripted(scripted_server: Scripted) -> Scripted:
    """A scripted language model without replies yet, and without requests from earlier tests."""
    for thread in threading.enumerate():
        if thread.name == "kgrag-ask":  # an earlier test did not wait for its answer
            thread.join(30)
    scripted_server.reset()
    return scripted_server


@pytest.fixture(scope="module")
def asking(graph_settings: Settings, scripted_server: Scripted) -> Iterator[KnowledgeGraph]:
    """A client with the scripted language model, for fixtures of a module."""
    settings = graph_settings.model_copy(update={"chat": scripted_server.settings()})
    with KnowledgeGraph.connect(settings=settings) as client:
        yield client


@pytest.fixture
def talking(graph_settings: Settings, scripted: Scripted) -> Iterator[KnowledgeGraph]:
    """A client with the scripted language model."""
    with KnowledgeGraph.connect(settings=graph_settings.model_copy(update={"chat": scripted.settings()})) as client:
        yield client


@pytest.fixture
def collection_name(kg: KnowledgeGraph) -> Iterator[str]:
    """A collection name that no other test uses; the collection is deleted afterwards."""
    name = own(f"test-{next(_NUMBERS)}")
    yield name
    with suppress(NotFoundError):
        kg[name].delete()


@pytest.fixture
def others_aside(request: pytest.FixtureRequest, kg: KnowledgeGraph) -> Iterator[None]:
    """For a test that runs alone: only the collections of its module's fixtures exist, and no spare indexes."""
    own = [value for value in request.node.funcargs.values() if isinstance(value, str)]
    text = "MATCH (c:Collection) WHERE NOT c.name IN $own REMOVE c:Collection SET c:Aside"
    kg.graph.driver.execute_query(text, own=own)
    kg.graph.driver.execute_query("MATCH (s:Schema) SET s.aside = s.spare_indexes, s.spare_indexes = []")
    yield
    kg.graph.driver.execute_query("MATCH (c:Aside) REMOVE c:Aside SET c:Collection")
    text = "MATCH (s:Schema) SET s.spare_indexes = s.aside + coalesce(s.spare_indexes, []) REMOVE s.aside"
    kg.graph.driver.execute_query(text)


@pytest.fixture(scope="session")
def chromium() -> "Iterator[Browser]":
    """The Chromium of this machine; without one, the tests fail."""
    from playwright.sync_api import sync_playwright

    path = find_chromium()
    if path is None:
        pytest.fail(MISSING, pytrace=False)
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=path, headless=True, args=_FLAGS.split())
        yield browser
        browser.close()
