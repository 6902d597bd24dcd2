"""Malicious statements write nothing, read nothing outside, end in time, and leave the server healthy."""

import threading
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import neo4j
import pytest
from gateway_statements import SECRET, Asked, statements

from kgrag import KnowledgeGraph
from kgrag.graph.gateway import Trust, run_read
from kgrag.settings import GatewaySettings
from kgrag.values.errors import DatabaseError, KgragError, RefusedError
from kgrag.values.rows import Rows

pytestmark = pytest.mark.long

LIMITS = GatewaySettings(seconds=2, rows=500, megabytes=4)
MARGIN = 8.0  # seconds beyond the time-out: the server checks the clock about once a second, and machines are busy


def _answer(kg: KnowledgeGraph, asked: Asked, trust: Trust = "guest") -> Rows | KgragError:
    """Return the outcome of a statement, which ends in time while other queries are answered."""
    waited: list[float] = []

    def beside() -> None:
        started = time.monotonic()
        kg.graph.run("inspect/ping")
        waited.append(time.monotonic() - started)

    other = threading.Thread(target=beside)
    started = time.monotonic()
    other.start()
    found = _quietly(kg, asked, trust)
    seconds = time.monotonic() - started
    other.join(LIMITS.seconds + MARGIN)
    assert seconds < LIMITS.seconds + MARGIN, f"{seconds:.1f} s: {asked.text[:200]}"
    assert waited and waited[0] < LIMITS.seconds + MARGIN, f"nobody else was answered: {asked.text[:200]}"
    assert SECRET not in str(found)
    return found


def _quietly(kg: KnowledgeGraph, asked: Asked, trust: Trust) -> Rows | KgragError:
    limits = LIMITS.model_copy(update={"seconds": 6}) if asked.kind == "cut" else LIMITS  # its first rows count
    try:
        return run_read(kg.graph, asked.text, asked.parameters, limits, trust)
    except KgragError as error:
        return error


def _running(driver: neo4j.Driver) -> list[str]:
    records = driver.execute_query("SHOW TRANSACTIONS YIELD currentQuery RETURN currentQuery AS q").records
    return [r["q"] for r in records if not r["q"].startswith("SHOW TRANSACTIONS")]


@pytest.fixture(scope="module")
def attacked(
    gateway_graph: KnowledgeGraph, gateway_digest: Callable[[], str], gateway_traps: tuple[int, list[str]]
) -> Iterator[KnowledgeGraph]:
    """The graph; after all tests it is unchanged, nothing outside was touched, and no statement runs."""
    _, touched = gateway_traps
    driver = gateway_graph.graph.driver
    before, started = gateway_digest(), _started(driver)
    yield gateway_graph
    deadline = time.monotonic() + 60  # planning is not interrupted, so such a statement ends with its plan
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
"""Statements reserved for the owner."""
_ANSWERED = ("CYPHER runtime=interpreted MATCH (n) RETURN n", "RETURN 1;;", "RETURN file()", "RETURN linenumber()")
"""Reading statements that a guest's grammar refuses anyway."""


@pytest.mark.parametrize("asked", statements("attacks", "writes", "elsewhere"), ids=str)
def test_owner_is_refused_what_does_not_only_read(
    attacked: KnowledgeGraph, gateway_traps: tuple[int, list[str]], asked: Asked
) -> None:
    if not asked.text.startswith(_LISTED):
        found = _answer(attacked, asked._replace(text=asked.text.replace("{port}", str(gateway_traps[0]))), "owner")
        assert isinstance(found, KgragError) or not found.values or asked.text in _ANSWERED, found


@pytest.mark.parametrize("asked", statements("attacks", "bomb"), ids=str)
def test_guest_is_refused_bombs(attacked: KnowledgeGraph, asked: Asked) -> None:
    assert isinstance(_answer(attacked, asked), RefusedError)


@pytest.mark.parametrize("trust", ["owner", "guest"])
@pytest.mark.parametrize("asked", statements("attacks", "long"), ids=str)
def test_long_lists_are_answered(attacked: KnowledgeGraph, asked: Asked, trust: Trust) -> None:
    refused = asked.refused and trust == "guest"
    assert isinstance(_answer(attacked, asked, trust), RefusedError if refused else Rows)


@pytest.mark.parametrize("asked", statements("attacks", "odd"), ids=str)
def test_odd_ones_are_answered(attacked: KnowledgeGraph, asked: Asked) -> None:
    assert isinstance(_answer(attacked, asked), Rows | DatabaseError)


@pytest.mark.parametrize("asked", statements("attacks", "cut"), ids=str)
def test_large_answers_are_cut(attacked: KnowledgeGraph, asked: Asked) -> None:
    found = _answer(attacked, asked)
    assert isinstance(found, Rows)
    assert found.cut
    assert 0 < len(found) <= LIMITS.rows


@pytest.mark.parametrize("asked", statements("attacks", "heavy"), ids=str)
@pytest.mark.parametrize("trust", ["owner", "guest"])
def test_heavy_ones_are_ended(attacked: KnowledgeGraph, asked: Asked, trust: Trust) -> None:
    found = _answer(attacked, asked, trust)
    assert isinstance(found, DatabaseError)
    assert "seconds" in found.message or "memory" in found.message


@pytest.mark.slow
@pytest.mark.parametrize("asked", statements("attacks", "heavier"), ids=str)
def test_heavier_ones_end_somehow(attacked: KnowledgeGraph, asked: Asked) -> None:
    _answer(attacked, asked)


@pytest.mark.slow
def test_many_at_once(attacked: KnowledgeGraph) -> None:
    """Four heavy statements at a time are all ended, and the server's heap suffices."""
    chosen = [a for a in statements("attacks", "heavier") if "collect" in a.text or "ORDER" in a.text]
    with ThreadPoolExecutor(4) as pool:
        for found in pool.map(lambda asked: _quietly(attacked, asked, "guest"), chosen):
            assert isinstance(found, Rows | KgragError)
