"""Extraction as a run: in halves, after faults, within a budget, killed; no passage is extracted twice."""

import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import pytest
from graph_rows import rows
from queries_run import queries_run
from scripted import Scripted

from kgrag import KnowledgeGraph
from kgrag.graph.contents import digest
from kgrag.values.documents import Document, Section
from kgrag.values.errors import BudgetError, ConfigurationError, UnavailableError

pytestmark = pytest.mark.long

Make = Callable[..., list[Document]]
Connect = Callable[..., KnowledgeGraph]
_SHARED = "extracted"
_BRAIN = Path(__file__).parent / "reader_brain.py"


def _finished(kg: KnowledgeGraph, name: str) -> bool:
    return next(c.finished for c in kg.collections() if c.name == name)


@pytest.fixture(scope="module")
def made(fill: Callable[..., str], make_documents: Make) -> list[Document]:
    """Thirty documents in a collection that tests of this module share."""
    documents = make_documents(0, 30)
    fill(_SHARED, documents)
    return documents


@pytest.fixture
def corpus(kg: KnowledgeGraph, made: list[Document], scripted: Scripted) -> str:
    """The shared collection with all passages pending, and a model that extracts from them."""
    scripted.brain(_BRAIN)
    rows(kg, "MATCH (p:Passage {collection: $name}) SET p.extracted = null", name=_SHARED)
    return _SHARED


def _passages(kg: KnowledgeGraph, name: str) -> int:
    return next(c.counts["Passage"] for c in kg.collections() if c.name == name)


def test_half_then_half_is_all_at_once(
    made: list[Document], corpus: str, collection_name: str, scripted: Scripted, connect: Connect
) -> None:
    kg = connect()
    report = kg[corpus].extract()
    assert (report.passages, report.failures, report.left) == (_passages(kg, corpus), (), 0)
    assert report.triples >= 30
    whole, triples = digest(kg.graph, corpus), report.triples
    calls = len(scripted.calls)

    with queries_run() as run:
        assert kg[corpus].extract().passages == 0
        assert kg[corpus].ingest(made).unchanged == 30
    assert {query.mode for query in run.values()} == {"read"}
    assert len(scripted.calls) == calls
    assert digest(kg.graph, corpus) == whole

    kg[corpus].delete()
    kg[corpus].ingest(made[15:])
    parts = [kg[corpus].extract(limit=10, threads=3)]
    assert (parts[0].passages, parts[0].left > 0) == (10, True)
    kg[corpus].ingest(made[:15])
    parts += [kg[corpus].extract(limit=20), kg[corpus].extract()]
    assert parts[2].left == 0
    assert digest(kg.graph, corpus) == whole
    assert sum(part.triples for part in parts) == triples
    assert len(scripted.calls) == 2 * calls


def test_another_prompt_extracts_again(corpus: str, scripted: Scripted, connect: Connect, tmp_path: Path) -> None:
    kg = connect()
    kg[corpus].extract()
    before, calls = digest(kg.graph, corpus), len(scripted.calls)
    (tmp_path / "extract.txt").write_text(
        "[system]\nAll facts as JSON.\n[user]\n<passage>\nTitle: $title\n$text\n</passage>\n"
    )
    other = connect(prompts=tmp_path)
    half = other[corpus].extract(limit=20)
    assert (half.passages, half.left) == (20, calls - 20)
    other[corpus].extract()
    assert len(scripted.calls) == 2 * calls
    after = digest(kg.graph, corpus)
    assert after["triples"] != before["triples"]  # the triples record another prompt
    assert {k: after[k] for k in ("entities", "words")} == {k: before[k] for k in ("entities", "words")}
    kg[corpus].extract()
    assert digest(kg.graph, corpus) == before


def test_faults_of_all_kinds(corpus: str, scripted: Scripted, connect: Connect) -> None:
    kg = connect()
    faults = ["429", "500", "bad-json", "empty", "malformed", "truncated", "cut", "html"] * 2
    scripted.fail(*faults, task="extract")
    report = kg[corpus].extract()
    assert report.passages + len(report.failures) == _passages(kg, corpus)
    assert report.left == len(report.failures)
    assert report.stopped is None
    assert kg[corpus].extract().left == 0

    ids = [kg.passage(f"d{n}", corpus).id for n in range(8)]
    kg.graph.run("write/extracted", rows=[{"id": id} for id in ids], version="old")
    scripted.fail("500", "bad-json", "empty", "400:The text is not for this model", task="extract")
    report = connect(retries=0)[corpus].extract(threads=1)
    waiting = kg.graph.run("stages/unread", collection=corpus, property="extracted", version="new")
    keys = {kg.passage(f"d{n}", corpus).id: f"d{n}" for n in range(8)}
    assert [f.document for f in report.failures] == [keys[row["id"]] for row in waiting if row["id"] in keys][:3]
    wrong, twice, long = (f.reason for f in report.failures)
    assert "The server had an error" in wrong
    assert "no usable JSON" in twice
    assert "not for this model" in long
    assert (report.passages, report.left) == (5, 3)
    assert _finished(kg, corpus)
    calls = len(scripted.calls)
    assert kg[corpus].extract().passages == 3 == len(scripted.calls) - calls


def test_a_server_out_of_reach_stops_it(corpus: str, scripted: Scripted, connect: Connect) -> None:
    report = connect(base_url="http://127.0.0.1:9/v1")[corpus].extract(threads=2)
    assert isinstance(report.stopped, UnavailableError)
    assert (report.passages, report.failures) == (0, ())
    kg = connect(retries=0)
    scripted.fail("quota", task="extract")
    report = kg[corpus].extract(threads=1)
    assert isinstance(report.stopped, UnavailableError)
    assert len(scripted.attempts) <= 2  # the refused call, and the one waiting behind it
    assert report.passages == len(scripted.calls)  # running calls are kept
    scripted.fail(*["400"] * 40, task="extract")
    report = kg[corpus].extract(threads=2)
    assert report.stopped is not None
    assert 32 <= len(report.failures) < 40
    assert report.left == _passages(kg, corpus) - len(scripted.calls)


def test_the_budget_is_not_crossed(corpus: str, scripted: Scripted, connect: Connect) -> None:
    prices = dict.fromkeys(["other", *scripted.settings().models], (0.0, 0.0)) | {"extract": (1.0, 2.0)}
    kg = connect(prices=prices, budget=0.02, max_tokens=1000)
    report = kg[corpus].extract()
    assert isinstance(report.stopped, BudgetError)
    assert report.usage.cost is not None
    assert 0 < report.usage.cost <= 0.02
    assert report.passages == len(scripted.calls) == report.usage.calls > 0
    assert report.left == _passages(kg, corpus) - report.passages
    assert _finished(kg, corpus)
    calls = len(scripted.calls)
    assert connect()[corpus].extract().passages == report.left == len(scripted.calls) - calls


_PROGRAM = """
import sys
from pathlib import Path
from kgrag import KnowledgeGraph
from kgrag.cli.outcome import interruptible
from kgrag.indexing import ask_each as asking
asking._BATCH = 4
with interruptible(), KnowledgeGraph.connect() as kg:
    kg[sys.argv[1]].extract(threads=2)
"""


@pytest.mark.parametrize("how", [signal.SIGKILL, signal.SIGINT])
def test_interrupted_and_run_again(
    corpus: str, scripted: Scripted, connect: Connect, neo4j_env: dict[str, str], how: signal.Signals
) -> None:
    kg = connect()
    scripted.fail(*[""] * 16, "timeout", "timeout")  # answers so many calls; later ones wait until the interrupt
    env = os.environ | neo4j_env | scripted.env()
    process = subprocess.Popen([sys.executable, "-c", _PROGRAM, corpus], env=env, stderr=subprocess.DEVNULL)
    while len(scripted.calls) < 16:
        assert process.poll() is None
        time.sleep(0.02)
    process.send_signal(how)
    assert process.wait(30) != 0
    missing = _settled(kg, corpus)
    first = len(scripted.calls)
    assert _passages(kg, corpus) - first <= missing < _passages(kg, corpus)
    kept = {asked for asked, done in _done(kg, corpus).items() if done}
    report = kg[corpus].extract()
    assert report.passages == len(scripted.calls) - first == missing
    assert not kept & set(scripted.prompts[first:])
    state = digest(kg.graph, corpus)
    rows(kg, "MATCH (p:Passage {collection: $name}) SET p.extracted = null", name=corpus)
    kg[corpus].extract()
    assert digest(kg.graph, corpus) == state


def _done(kg: KnowledgeGraph, name: str) -> dict[str, bool]:
    query = "MATCH (p:Passage {collection: $name}) RETURN p.title AS title, p.text AS text, p.extracted AS done"
    found = rows(kg, query, name=name)
    return {f"<passage>\nTitle: {r['title']}\n{r['text']}\n</passage>": bool(r["done"]) for r in found}


def _settled(kg: KnowledgeGraph, name: str) -> int:
    """Return the number of pending passages after the server has ended a killed client's transactions."""
    before = -1
    while (now := sum(not done for done in _done(kg, name).values())) != before:
        before = now
        time.sleep(0.3)
    return now


def test_without_a_model(kg: KnowledgeGraph, corpus: str) -> None:
    with pytest.raises(ConfigurationError, match=r"No language model"):
        kg[corpus].extract()


def test_what_leads_on_is_read_first(collection_name: str, scripted: Scripted, connect: Connect) -> None:
    """Documents that others name come first, then passages that share rare names, so an early end costs least."""
    texts = {
        "a": ("Wool", "Wool costs seven crowns."), "b": ("Sheep", "A sheep of Hans Rask was sheared."),
        "c": ("Goats", "The goat of Hans Rask was not."), "d": ("Larvik", "A town on the coast."),
        "e": ("Fram", "She was built in Larvik."), "f": ("Archer", "He lived in Larvik."),
    }  # fmt: skip
    kg = connect()
    kg[collection_name].ingest([Document(key, (Section(text),), title) for key, (title, text) in texts.items()])
    scripted.say("extract", {"entities": [], "triples": []})
    kg[collection_name].extract(threads=1)
    told = [call["messages"][-1]["content"] for call in scripted.calls]
    order = [next(key for key, (title, _) in texts.items() if f"Title: {title}" in text) for text in told]
    assert (order[0], set(order[1:5]), order[5]) == ("d", set("bcef"), "a")
