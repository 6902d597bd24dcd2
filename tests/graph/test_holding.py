"""Only one process works on a collection at a time: a client, or a server's job."""

import os
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from kgrag import KnowledgeGraph
from kgrag.graph import jobs as kept
from kgrag.graph.jobs import collection_lock
from kgrag.indexing.resolution.resolve import NamePair
from kgrag.runtime.limits import limited
from kgrag.values.documents import Document, Section
from kgrag.values.errors import BusyError, CancelledError

_BOAT = Document("boat", (Section("The boat was built in Larvik."),), "boat")
_HOLDS = """
import sys
from kgrag import KnowledgeGraph
from kgrag.graph.jobs import collection_lock
with KnowledgeGraph.connect() as kg, collection_lock(kg.graph, sys.argv[1], "extract"):
    print("holds", flush=True)
    sys.stdin.read()
"""


@contextmanager
def _held_by_another(env: dict[str, str], collection: str) -> Iterator["subprocess.Popen[str]"]:
    """Let another process hold the lock for an extraction in this block."""
    command = [sys.executable, "-c", _HOLDS, collection]
    pipe = subprocess.PIPE
    with subprocess.Popen(command, env=os.environ | env, stdin=pipe, stdout=pipe, text=True) as other:
        assert other.stdout is not None and other.stdout.readline() == "holds\n"
        yield other


def test_a_job_is_respected(kg: KnowledgeGraph, collection_name: str) -> None:
    kg[collection_name].ingest([_BOAT])
    asked = kept.add_job(kg.graph, "tree", collection_name, {}, "Ada")
    while (job := kept.claim_job(kg.graph, "a server")) is not None and job.id != asked.id:
        kept.end_job(kg.graph, "a server", job.id, "done")  # left over from another test
    ended = threading.Event()

    def beat() -> None:
        while not ended.wait(0.2):
            kept.beat_job(kg.graph, "a server", asked.id, "summaries", 1, None)

    beating = threading.Thread(target=beat)
    beating.start()
    try:
        with pytest.raises(BusyError) as busy:
            kg[collection_name].build_tree()
        assert "tree for Ada, since 20" in busy.value.message and asked.id in busy.value.remedy
        assert kg[collection_name].search("boat").hits  # searches are not blocked
        assert not kg[collection_name].resolve().applied  # a dry run
    finally:
        ended.set()
        beating.join()
        kept.end_job(kg.graph, "a server", asked.id, "done")
    kg[collection_name].build_tree()


def test_a_job_waits_for_a_program(kg: KnowledgeGraph, collection_name: str) -> None:
    with collection_lock(kg.graph, collection_name, "ingest"):
        seen = kept.list_jobs(kg.graph, [collection_name], "running")
        assert [(job.kind, f"process {os.getpid()} " in job.owner) for job in seen] == [("ingest", True)]
        waiting = kept.add_job(kg.graph, "prune", collection_name, {})
        assert kept.claim_job(kg.graph, "a server") is None
        kg[collection_name].ingest([_BOAT])  # the same process
    assert [job.id for job in kept.list_jobs(kg.graph, [collection_name])] == [waiting.id]
    claimed = kept.claim_job(kg.graph, "a server")
    assert claimed is not None and claimed.id == waiting.id
    kept.end_job(kg.graph, "a server", waiting.id, "done")


@pytest.mark.alone
def test_imports_keep_to_it(
    kg: KnowledgeGraph, neo4j_env: dict[str, str], collection_name: str, tmp_path: Path
) -> None:
    export, facts = tmp_path / "notes.jsonl", tmp_path / "facts.csv"
    facts.write_text("Fram,built in,Larvik\n")
    other = f"{collection_name}-other"
    for name in (collection_name, other):
        kg[name].ingest([_BOAT])
    kg[other].export(str(export))
    kg[other].delete()
    with _held_by_another(neo4j_env, other):
        for work in (
            lambda: kg.import_export(str(export)),
            lambda: KnowledgeGraph.import_knowledge(facts, other, settings=kg.settings),
        ):
            with pytest.raises(BusyError, match="extract"):
                work()
        pair = NamePair("Fram", "Polar ship Fram", 1.0, "", "joined", "rules", ("1", "2"))
        with _held_by_another(neo4j_env, collection_name), pytest.raises(BusyError):
            kg[collection_name].decide(pair, same=True)
    kg.import_export(str(export))
    kg[other].delete()


def test_a_server_cancels_it(kg: KnowledgeGraph, collection_name: str) -> None:
    with pytest.raises(CancelledError, match="Run it again"), collection_lock(kg.graph, collection_name, "ingest"):
        kept.cancel_job(kg.graph, kept.list_jobs(kg.graph, [collection_name])[0].id)
        until = time.monotonic() + 30
        while time.monotonic() < until:
            kg.graph.run("inspect/ping")
    assert kept.list_jobs(kg.graph, [collection_name]) == []


def test_its_callers_cancel_it(kg: KnowledgeGraph, collection_name: str) -> None:
    flag = threading.Event()
    with pytest.raises(CancelledError), limited(cancelled=flag), collection_lock(kg.graph, collection_name, "ingest"):
        flag.set()
        kg.graph.run("inspect/ping")
    assert kept.list_jobs(kg.graph, [collection_name]) == []


def test_one_that_was_killed_is_not_waited_for(
    kg: KnowledgeGraph, neo4j_env: dict[str, str], collection_name: str
) -> None:
    with _held_by_another(neo4j_env, collection_name) as other:
        with pytest.raises(BusyError, match=f"extract for process {other.pid} "):
            kg[collection_name].ingest([_BOAT])
        other.kill()
    left = "MATCH (j:Job {collection: $name}) SET j.lease = datetime() + duration({days: 1}) RETURN count(*) AS number"
    assert kg.graph.driver.execute_query(left, name=collection_name).records[0]["number"] == 1
    assert kg[collection_name].ingest([_BOAT]).added == 1
