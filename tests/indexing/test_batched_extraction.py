"""Extraction through a Batch API: results that are late, partial, out of order or missing, and a killed run."""

import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import pytest
from graph_rows import rows
from scripted import Scripted

from kgrag import KnowledgeGraph
from kgrag.graph.contents import digest
from kgrag.values.documents import Document
from kgrag.values.errors import BudgetError, MismatchError

pytestmark = pytest.mark.long
Make = Callable[..., list[Document]]
Connect = Callable[..., KnowledgeGraph]
_BRAIN = Path(__file__).parent / "reader_brain.py"
_NAME = "batched"


@pytest.fixture(autouse=True)
def _asked_often(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("kgrag.indexing.batched._SECONDS", 0.01)


@pytest.fixture(scope="module")
def made(fill: Callable[..., str], make_documents: Make) -> str:
    """Eight documents in a collection that tests of this module share."""
    return fill(_NAME, make_documents(1, 9))


@pytest.fixture
def corpus(kg: KnowledgeGraph, made: str, scripted: Scripted) -> str:
    """The same collection with all passages pending, and a model that extracts from them."""
    scripted.brain(_BRAIN)
    rows(kg, "MATCH (p:Passage {collection: $name}) SET p.extracted = null", name=made)
    rows(kg, "MATCH (c:Collection {name: $name}) SET c.batches = null", name=made)
    return made


def _under_way(kg: KnowledgeGraph) -> object:
    return kg.graph.run("stages/batches", collection=_NAME)[0]["batches"]


def test_a_batch_gives_what_calls_give_at_half_the_price(corpus: str, scripted: Scripted, connect: Connect) -> None:
    prices = {"extract": (1.0, 2.0), "other": (0.0, 0.0)}
    kg = connect(prices=prices, models={"extract": "extract"})
    whole = kg[corpus].estimate_extraction()
    half = kg[corpus].estimate_extraction(batch=True)
    assert whole.cost is not None and half.cost == pytest.approx([cost / 2 for cost in whole.cost])
    report = kg[corpus].extract(batch=True)
    assert (report.passages, report.left, report.failures, report.stopped) == (8, 0, (), None)
    assert not scripted.attempts and len(scripted.sent) == 1 and not scripted.files and _under_way(kg) is None
    usage, state = report.usage, digest(kg.graph, corpus)
    assert usage.cost == pytest.approx((usage.prompt_tokens + 2 * usage.completion_tokens) / 2e6) and usage.calls == 8
    assert kg[corpus].extract(batch=True).passages == 0 and len(scripted.sent) == 1
    rows(kg, "MATCH (p:Passage {collection: $name}) SET p.extracted = null", name=corpus)
    kg[corpus].extract()
    assert digest(kg.graph, corpus) == state


def test_what_a_batch_fails_at_is_part_of_the_next(corpus: str, scripted: Scripted, connect: Connect) -> None:
    kg = connect()
    scripted.fail("400:The text is not for this model", "bad-json", task="extract")
    scripted.batches("completed", "expired", "failed")
    report = kg[corpus].extract(batch=True)
    assert (report.passages, report.left) == (6, 2)
    assert sorted(failed.document for failed in report.failures) == ["d4", "d7"]  # in the order of extraction
    reasons = " ".join(failed.reason for failed in report.failures)
    assert "not for this model" in reasons and "no usable JSON" in reasons
    report = kg[corpus].extract(batch=True)
    assert (report.passages, report.left, report.failures) == (1, 1, ())
    report = kg[corpus].extract(batch=True)
    assert report.stopped is not None and "not parseable" in report.stopped.message and report.left == 1
    assert kg[corpus].extract(batch=True).left == 0 and _under_way(kg) is None


def test_a_batch_that_is_cancelled_gives_what_was_done(corpus: str, scripted: Scripted, connect: Connect) -> None:
    kg = connect(retries=0)
    assert kg[corpus].extract(cancel=True).left == 8 and not scripted.sent
    scripted.batches(hold=1)
    assert _interrupted(scripted, connect, corpus) == 130
    report = kg[corpus].extract(cancel=True)
    assert (report.passages, report.left) == (4, 4) and len(scripted.sent) == 1


def _interrupted(scripted: Scripted, connect: Connect, corpus: str, how: signal.Signals = signal.SIGINT) -> int:
    """Return the exit code of a command that is interrupted while it waits for a batch."""
    scripted.batches(hold=10**6)
    settings = connect().settings
    assert settings.neo4j_uri is not None and settings.neo4j_password is not None
    env = os.environ | scripted.env() | {
        "KGRAG_NEO4J_URI": settings.neo4j_uri,
        "KGRAG_NEO4J_PASSWORD": settings.neo4j_password.get_secret_value(),
    }  # fmt: skip
    command = [sys.executable, "-m", "kgrag", "enrich", "extract", "-c", corpus, "--batch"]
    process = subprocess.Popen(command, env=env, stderr=subprocess.DEVNULL)
    while not any(batch["status"] == "in_progress" for batch in scripted.sent):
        assert process.poll() is None
        time.sleep(0.02)
    process.send_signal(how)
    code = process.wait(30)
    scripted.batches()
    return code


def test_a_killed_run_finds_its_batch_again(corpus: str, scripted: Scripted, connect: Connect) -> None:
    assert _interrupted(scripted, connect, corpus, signal.SIGKILL) == -signal.SIGKILL
    kg = connect()
    report = kg[corpus].extract(batch=True)
    assert (report.passages, report.left) == (8, 0) and len(scripted.sent) == 1


def test_a_batch_that_may_have_begun_is_looked_for(corpus: str, scripted: Scripted, connect: Connect) -> None:
    kg = connect(retries=0)
    with pytest.MonkeyPatch.context() as patch:
        write = kg.graph.run

        def once(name: str, /, **parameters: object) -> object:
            if name == "write/batches" and '"id": "batch' in str(parameters):
                raise KeyboardInterrupt  # after the batch has begun, but before it is recorded
            return write(name, **parameters)

        patch.setattr(kg.graph, "run", once)
        with pytest.raises(KeyboardInterrupt):
            kg[corpus].extract(batch=True)
    assert len(scripted.sent) == 1
    assert kg[corpus].extract(batch=True).left == 0 and len(scripted.sent) == 1


def test_a_batch_keeps_to_the_budget_and_to_its_server(corpus: str, scripted: Scripted, connect: Connect) -> None:
    prices = {"extract": (1.0, 2.0), "other": (0.0, 0.0)}
    kg = connect(prices=prices, models={"extract": "extract"}, budget=0.012, max_tokens=2000)
    report = kg[corpus].extract(batch=True)
    assert isinstance(report.stopped, BudgetError) and 0 < report.passages < 8
    assert report.usage.cost is not None and report.usage.cost < 0.012
    scripted.fail("500", task="batch")
    other = connect(retries=0)
    report = other[corpus].extract(batch=True)
    assert report.passages == 0 and report.stopped is not None and "server had an error" in report.stopped.message
    kg.graph.run(
        "write/batches", collection=corpus,
        batches=['{"server": "https://elsewhere/v1", "file": "f", "prompt": "extract", "version": "1", "id": "b"}'],
    )  # fmt: skip
    with pytest.raises(MismatchError, match=r"elsewhere"):
        other[corpus].extract(batch=True)


def test_replies_that_are_interrupted_are_fetched_again(corpus: str, scripted: Scripted, connect: Connect) -> None:
    kg = connect(retries=0)
    stopped = []
    for before in (0, 1, 2, 2, 2, 9):
        scripted.fail(*[""] * before, "cut", task="batch")
        report = kg[corpus].extract(batch=True)
        if report.stopped is None:
            break
        stopped.append(report.stopped.message)
    assert len(stopped) >= 3 and all("No whole reply" in message for message in stopped)
    assert report.left == 0
    assert len(scripted.sent) == 1
