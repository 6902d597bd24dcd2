"""One works on a collection at a time: a program by itself, or a server's job."""

import os
import subprocess
import sys
import threading
import time

import pytest

from kgrag.client import KnowledgeGraph
from kgrag.errors import BusyError, CancelledError
from kgrag.graph import jobs as kept
from kgrag.graph.holding import alone
from kgrag.limits import limited
from kgrag.types import Document, Section

_BOAT = Document("boat", (Section("The boat was built in Larvik."),), "boat")
_HOLDS = """
import sys
from kgrag.client import KnowledgeGraph
from kgrag.graph.holding import alone
with KnowledgeGraph.connect() as kg, alone(kg.graph, sys.argv[1], "extract"):
    print("holds", flush=True)
    sys.stdin.read()
"""


def test_a_job_is_respected(kg: KnowledgeGraph, collection_name: str) -> None:
    kg[collection_name].ingest([_BOAT])
    asked = kept.add_job(kg.graph, "tree", collection_name, {}, "Ada")
    while (job := kept.claim_job(kg.graph, "a server")) is not None and job.id != asked.id:
        kept.end_job(kg.graph, "a server", job.id, "done")  # of another test
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
        assert kg[collection_name].search("boat").hits  # which goes on
        assert not kg[collection_name].resolve().applied  # it only looks
    finally:
        ended.set()
        beating.join()
        kept.end_job(kg.graph, "a server", asked.id, "done")
    kg[collection_name].build_tree()


def test_a_job_waits_for_a_program(kg: KnowledgeGraph, collection_name: str) -> None:
    with alone(kg.graph, collection_name, "ingest"):
        seen = kept.list_jobs(kg.graph, [collection_name], "running")
        assert [(job.kind, f"process {os.getpid()} " in job.owner) for job in seen] == [("ingest", True)]
        waiting = kept.add_job(kg.graph, "prune", collection_name, {})
        assert kept.claim_job(kg.graph, "a server") is None
        kg[collection_name].ingest([_BOAT])  # the same one
    assert [job.id for job in kept.list_jobs(kg.graph, [collection_name])] == [waiting.id]
    claimed = kept.claim_job(kg.graph, "a server")
    assert claimed is not None and claimed.id == waiting.id
    kept.end_job(kg.graph, "a server", waiting.id, "done")


def test_a_server_cancels_it(kg: KnowledgeGraph, collection_name: str) -> None:
    with pytest.raises(CancelledError, match="Run it again"), alone(kg.graph, collection_name, "ingest"):
        kept.cancel_job(kg.graph, kept.list_jobs(kg.graph, [collection_name])[0].id)
        until = time.monotonic() + 30
        while time.monotonic() < until:
            kg.graph.run("search/ping")
    assert kept.list_jobs(kg.graph, [collection_name]) == []


def test_its_callers_cancel_it(kg: KnowledgeGraph, collection_name: str) -> None:
    flag = threading.Event()
    with pytest.raises(CancelledError), limited(cancelled=flag), alone(kg.graph, collection_name, "ingest"):
        flag.set()
        kg.graph.run("search/ping")
    assert kept.list_jobs(kg.graph, [collection_name]) == []


def test_one_that_was_killed_is_not_waited_for(
    kg: KnowledgeGraph, neo4j_env: dict[str, str], collection_name: str
) -> None:
    command = [sys.executable, "-c", _HOLDS, collection_name]
    with subprocess.Popen(
        command, env=os.environ | neo4j_env, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as other:
        assert other.stdout is not None and other.stdout.readline() == "holds\n"
        with pytest.raises(BusyError, match=f"extract for process {other.pid} "):
            kg[collection_name].ingest([_BOAT])
        other.kill()
    left = "MATCH (j:Job {collection: $name}) SET j.lease = datetime() + duration({days: 1}) RETURN count(*) AS number"
    assert kg.graph._driver.execute_query(left, name=collection_name).records[0]["number"] == 1
    assert kg[collection_name].ingest([_BOAT]).added == 1
