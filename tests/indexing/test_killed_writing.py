"""A tree and communities of two thousand passages, by commands that are killed: no model call is repeated."""

import os
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from graph_rows import rows
from made_summaries import SUMMARY
from scripted import TASKS, Scripted

from kgrag import KnowledgeGraph
from kgrag.graph.contents import digest
from kgrag.models.budget import HIGH
from kgrag.values.documents import Document

pytestmark = pytest.mark.slow

Make = Callable[..., list[Document]]
_NAME = "killed-writing"
_NUMBER = 2000
_THREADS = 4
_PRICES = dict.fromkeys((*TASKS, "other"), (1.0, 1.0))
_FINDINGS = [f"Banor Dunor ruled {n} places on the coast, and was ruled by none of the others." for n in range(5)]
_REPORT = {"title": "Made places", "summary": SUMMARY, "findings": _FINDINGS}
_SUMMARY = {"title": "Made places", "summary": SUMMARY}


@pytest.fixture(scope="module")
def collection(kg: KnowledgeGraph, make_documents: Make) -> Iterator[str]:
    """2,000 documents, ingested in halves, with communities and a tree after each."""
    for low in (0, _NUMBER // 2):
        kg[_NAME].ingest(make_documents(low, low + _NUMBER // 2))
        kg[_NAME].build_communities()
        kg[_NAME].build_tree()
    yield _NAME
    kg[_NAME].delete()


@pytest.mark.parametrize(
    ("command", "label", "task", "reply"),
    [("communities", "Community", "report", _REPORT), ("tree", "Summary", "summarise", _SUMMARY)],
)
def test_killed_at_five_moments_nothing_is_asked_twice(
    kg: KnowledgeGraph,
    collection: str,
    scripted: Scripted,
    connect: Callable[..., KnowledgeGraph],
    neo4j_env: dict[str, str],
    tmp_path: Path,
    command: str,
    label: str,
    task: str,
    reply: dict[str, Any],
) -> None:
    section = {"communities": "communities", "tree": "summaries"}[command]
    halves = digest(kg.graph, collection)[section]
    words = [sys.executable, "-m", "kgrag", "enrich", command, collection, "--threads", str(_THREADS)]
    env = {**os.environ, **neo4j_env, **scripted.env(prices=_PRICES, cache=True), "KGRAG_CACHE": str(tmp_path)}
    subprocess.run([*words, "--remove"], env=env, check=True, capture_output=True)
    began = time.monotonic()
    subprocess.run(words, env=env, check=True, capture_output=True)
    took = time.monotonic() - began
    whole = digest(kg.graph, collection)[section]
    if command == "communities":  # communities are recomputed after large growth; a tree keeps its layout
        assert halves == whole
    subprocess.run([*words, "--remove"], env=env, check=True, capture_output=True)

    scripted.say(task, reply)
    scripted.delay(0.05)
    for share in (0.4, 0.7):  # during grouping and writing without a model
        _kill(words, env, lambda share=share: time.sleep(share * took))
    subprocess.run(words, env=env, check=True, capture_output=True)
    assert digest(kg.graph, collection)[section] == whole
    estimated = connect(prices=_PRICES)[collection]
    estimate = estimated.estimate_communities() if command == "communities" else estimated.estimate_tree()
    written = f"MATCH (n:{label} {{collection: $collection}}) WHERE n.made <> 'sentences' RETURN count(n) AS n"
    number = _number(kg, f"MATCH (n:{label} {{collection: $collection}}) RETURN count(n) AS n")
    assert number > 50
    assert estimate.calls == number
    for share in (0.1, 0.4, 0.8):  # while a model writes

        def wait(share: float = share) -> None:
            while len(scripted.calls) < share * number:
                time.sleep(0.02)

        _kill([*words, "--ask"], env, wait)
    subprocess.run([*words, "--ask"], env=env, check=True, capture_output=True)
    assert _number(kg, written) == number
    calls = scripted.calls
    asked = {tuple(m["content"] for m in call["messages"]) for call in calls}
    assert len(asked) <= number  # equal summaries are requested once, unless at the same time
    assert len(calls) <= number + 3 * _THREADS  # plus calls in progress at each kill
    sent = sum(len(m["content"].encode()) for call in calls for m in call["messages"]) * number / len(calls)
    assert 0.85 * sent / HIGH <= estimate.prompt_tokens[1] <= 1.15 * sent / HIGH


def test_deleting_most_leaves_no_orphan(kg: KnowledgeGraph, collection: str) -> None:
    """After the test above, a model's texts are removed with their sources."""
    kg[collection].delete([f"d{i}" for i in range(_NUMBER) if i % 10])
    bare = "WHERE NOT (n)-[:SUMMARISES]->() RETURN count(n) AS n"
    assert _number(kg, f"MATCH (n:Summary {{collection: $collection}}) {bare}") == 0
    empty = "WHERE NOT (n)<-[:PART_OF*0..6]-()<-[:IN_COMMUNITY]-() RETURN count(n) AS n"
    assert _number(kg, f"MATCH (n:Community {{collection: $collection}}) {empty}") == 0
    assert kg[collection].build_tree().levels
    assert kg[collection].build_communities().levels
    assert _number(kg, f"MATCH (n:Summary {{collection: $collection}}) {bare}") == 0
    kg[collection].remove_tree()
    kg[collection].remove_communities()
    gone = "MATCH (n:Summary|Community {collection: $collection}) RETURN count(n) AS n"
    assert _number(kg, gone) == 0


def _number(kg: KnowledgeGraph, query: str) -> int:
    return int(rows(kg, query, collection=_NAME)[0]["n"])


def _kill(command: list[str], env: dict[str, str], wait: Callable[[], None]) -> None:
    """Start a command, and kill it after a while."""
    process = subprocess.Popen(command, env=env, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    try:
        wait()
        assert process.poll() is None, "it was through before"
    finally:
        process.kill()
        process.wait()
