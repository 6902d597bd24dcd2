"""Strangers' statements: nothing is written, nothing outside is read, each ends in time, and the server stays well."""

import threading
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import neo4j
import pytest
from gateway_attacks import BOMBS, CUT, ELSEWHERE, HEAVIER, HEAVY, LONG, ODD, SECRET, WRITES

from kgrag import KnowledgeGraph
from kgrag.graph.gateway import Trust, run_read
from kgrag.settings import GatewaySettings
from kgrag.values.errors import DatabaseError, KgragError, RefusedError
from kgrag.values.rows import Rows

pytestmark = pytest.mark.long

LIMITS = GatewaySettings(seconds=2, rows=500, megabytes=4)
MARGIN = 8.0  # seconds beyond the time-out: the server looks at the clock about once a second, machines are busy


def _answer(
    kg: KnowledgeGraph, statement: str, parameters: dict[str, Any], trust: Trust = "guest"
) -> Rows | KgragError:
    """What comes of a statement; it ends in time, and what is asked beside it is answered."""
    waited: list[float] = []

    def beside() -> None:
        started = time.monotonic()
        kg.graph.run("inspect/ping")
        waited.append(time.monotonic() - started)

    other = threading.Thread(target=beside)
    started = time.monotonic()
    other.start()
    found: Rows | KgragError
    try:
        found = run_read(kg.graph, statement, parameters, LIMITS, trust)
    except KgragError as error:
        found = error
    seconds = time.monotonic() - started
    other.join(LIMITS.seconds + MARGIN)
    assert seconds < LIMITS.seconds + MARGIN, f"{seconds:.1f} s: {statement[:200]}"
    assert waited and waited[0] < LIMITS.seconds + MARGIN, f"nobody else was answered: {statement[:200]}"
    assert SECRET not in str(found)
    return found


def _running(driver: neo4j.Driver) -> list[str]:
    records = driver.execute_query("SHOW TRANSACTIONS YIELD currentQuery RETURN currentQuery AS q").records
    return [r["q"] for r in records if not r["q"].startswith("SHOW TRANSACTIONS")]


@pytest.fixture(scope="module")
def attacked(
    gateway_graph: KnowledgeGraph,
    gateway_digest: Callable[[], str],
    gateway_traps: tuple[int, list[str]],
) -> Iterator[KnowledgeGraph]:
    """The graph; when all tests are through, it is as it was, nothing outside was touched, and nothing runs on."""
    _, touched = gateway_traps
    driver = gateway_graph.graph.driver
    before, started = gateway_digest(), _started(driver)
    yield gateway_graph
    deadline = time.monotonic() + 60  # a statement that is being planned ends when its plan is made
    while (running := _running(driver)) and time.monotonic() < deadline:
        time.sleep(0.2)
    assert not running
    assert gateway_digest() == before
    assert not touched
    assert _started(driver) == started, "the server was started again"
    assert len(gateway_graph.cypher("MATCH (d:Document {collection: 'gateway'}) RETURN d")) == 3


def _started(driver: neo4j.Driver) -> Any:
    jmx = driver.execute_query("CALL dbms.queryJmx('java.lang:type=Runtime') YIELD attributes RETURN attributes AS a")
    return jmx.records[0]["a"]["StartTime"]["value"]


_LISTED = ("SHOW FUNCTIONS", "SHOW PROCEDURES", "SHOW INDEXES", "EXPLAIN MATCH", "PROFILE MATCH", "EXPLAIN EXPLAIN")
"""Statements that only the owner may ask."""


@pytest.mark.parametrize("statement", [s for s in WRITES + ELSEWHERE if not s.startswith(_LISTED)])
def test_owner_is_refused_what_does_not_only_read(
    attacked: KnowledgeGraph, gateway_traps: tuple[int, list[str]], statement: str
) -> None:
    text = statement.replace("{port}", str(gateway_traps[0]))
    found = _answer(attacked, text, {"key": "x", "url": "file:///secret.csv"}, "owner")
    assert isinstance(found, KgragError) or not found.values or statement in _ANSWERED, found


_ANSWERED = ("CYPHER runtime=interpreted MATCH (n) RETURN n", "RETURN 1;;", "RETURN file()", "RETURN linenumber()")
"""Statements that read, and that a guest's grammar refuses all the same."""


@pytest.mark.parametrize(("statement", "parameters"), BOMBS, ids=[s[:60] for s, _ in BOMBS])
def test_guest_is_refused_bombs(attacked: KnowledgeGraph, statement: str, parameters: dict[str, Any]) -> None:
    assert isinstance(_answer(attacked, statement, parameters), RefusedError)


@pytest.mark.parametrize("trust", ["owner", "guest"])
@pytest.mark.parametrize(("statement", "parameters"), LONG, ids=[s[:60] for s, _ in LONG])
def test_long_lists_are_answered(
    attacked: KnowledgeGraph, statement: str, parameters: dict[str, Any], trust: Trust
) -> None:
    assert isinstance(_answer(attacked, statement, parameters, trust), Rows)


@pytest.mark.parametrize(("statement", "parameters"), ODD, ids=[s[:60] for s, _ in ODD])
def test_odd_ones_are_answered(attacked: KnowledgeGraph, statement: str, parameters: dict[str, Any]) -> None:
    assert isinstance(_answer(attacked, statement, parameters), Rows | DatabaseError)


@pytest.mark.parametrize(("statement", "parameters"), CUT, ids=[s[:60] for s, _ in CUT])
def test_large_answers_are_cut(attacked: KnowledgeGraph, statement: str, parameters: dict[str, Any]) -> None:
    found = _answer(attacked, statement, parameters)
    assert isinstance(found, Rows)
    assert found.cut
    assert 0 < len(found) <= LIMITS.rows


@pytest.mark.parametrize(("statement", "parameters"), HEAVY, ids=[s[:60] for s, _ in HEAVY])
@pytest.mark.parametrize("trust", ["owner", "guest"])
def test_heavy_ones_are_ended(
    attacked: KnowledgeGraph, statement: str, parameters: dict[str, Any], trust: Trust
) -> None:
    found = _answer(attacked, statement, parameters, trust)
    assert isinstance(found, DatabaseError)
    assert "seconds" in found.message or "memory" in found.message


@pytest.mark.slow
@pytest.mark.parametrize(("statement", "parameters"), HEAVIER, ids=[s[:60] for s, _ in HEAVIER])
def test_heavier_ones_end_somehow(attacked: KnowledgeGraph, statement: str, parameters: dict[str, Any]) -> None:
    _answer(attacked, statement, parameters)


@pytest.mark.slow
def test_many_at_once(attacked: KnowledgeGraph) -> None:
    """Four heavy ones at a time: each is ended, and the server's heap lasts."""
    chosen = [a for a in HEAVIER if "collect" in a[0] or "ORDER" in a[0]]
    with ThreadPoolExecutor(4) as pool:
        for found in pool.map(lambda a: _quietly(attacked, *a), chosen):
            assert isinstance(found, Rows | KgragError)


def _quietly(kg: KnowledgeGraph, statement: str, parameters: dict[str, Any]) -> Rows | KgragError:
    try:
        return run_read(kg.graph, statement, parameters, LIMITS, "guest")
    except KgragError as error:
        return error
