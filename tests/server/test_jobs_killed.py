"""Jobs of killed processes are done by others, and no two jobs work on a collection at once."""

import os
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator
from itertools import pairwise

import pytest
from boats import end, upload

from kgrag import KnowledgeGraph
from kgrag.graph.contents import digest
from kgrag.server.jobs import Jobs

pytestmark = pytest.mark.long

# With a number, the process is killed when its job has written that many documents.
_PROGRAM = """
import os, signal, sys
from kgrag import KnowledgeGraph
from kgrag.server.jobs import Jobs, runner
if len(sys.argv) > 1:
    progress = runner._Running.progress
    def dying(self, stage, done, total):
        progress(self, stage, done, total)
        if stage == "documents" and done >= int(sys.argv[1]):
            os.kill(os.getpid(), signal.SIGKILL)
    runner._Running.progress = dying
with KnowledgeGraph.connect() as kg, Jobs(kg, workers=2):
    print("ready", flush=True)
    sys.stdin.read()
"""
Start = Callable[..., "subprocess.Popen[str]"]


@pytest.fixture
def start(neo4j_env: dict[str, str]) -> Iterator[Start]:
    """Starts processes that work on jobs, in small batches; they are killed at the end."""
    started: list[subprocess.Popen[str]] = []
    env = os.environ | neo4j_env | {"KGRAG_BATCH_PASSAGES": "8"}

    def worker(*dies_at: int) -> "subprocess.Popen[str]":
        process = subprocess.Popen(
            [sys.executable, "-c", _PROGRAM, *map(str, dies_at)],
            env=env,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )
        started.append(process)
        assert process.stdout is not None
        assert process.stdout.readline() == "ready\n"
        return process

    yield worker
    for process in started:
        process.kill()
        process.communicate(timeout=30)


@pytest.fixture
def jobs(kg: KnowledgeGraph) -> Iterator[Jobs]:
    with Jobs(kg, workers=0) as asked:
        yield asked


def test_another_process_goes_on(kg: KnowledgeGraph, jobs: Jobs, start: Start, collection_name: str) -> None:
    first = start()
    names = upload(jobs, collection_name, 300)
    assert end(jobs, jobs.submit("ingest", collection_name, {"uploads": names}).id).state == "done"
    whole = digest(kg.graph, collection_name)
    kg[collection_name].delete()
    first.kill()
    first.wait()

    second = start(64)
    id = jobs.submit("ingest", collection_name, {"uploads": names}).id
    assert second.wait(60) == -signal.SIGKILL
    assert kg[collection_name].info().counts["Document"] < 300
    start()
    last = end(jobs, id)
    assert (last.state, last.attempt, last.died) == ("done", 2, 1)
    assert 0 < last.result["unchanged"] < 300
    assert digest(kg.graph, collection_name) == whole


def test_a_collection_is_written_by_one_job_at_a_time(kg: KnowledgeGraph, jobs: Jobs, start: Start) -> None:
    """Two processes with two threads each run five jobs on each of three collections."""
    collections = ["fleet a", "fleet b", "fleet c"]
    asked = [
        jobs.submit("ingest", name, {"uploads": upload(jobs, name, 10 * number)})
        for number in range(1, 6)
        for name in collections
    ]
    start()
    start()
    ended = [end(jobs, job.id) for job in asked]
    assert {job.state for job in ended} == {"done"}
    assert {job.attempt for job in ended} == {1}
    for name in collections:
        times = [(job.started, job.ended) for job in ended if job.collection == name]
        assert all(before[1] <= after[0] for before, after in pairwise(times))  # sequential
        assert kg[name].info().counts["Document"] == 50
        kg[name].delete()
        jobs.uploads.clear(name)
    spans = [(job.started, job.ended) for job in ended]
    assert any(a != b and a[0] < b[1] and b[0] < a[1] for a in spans for b in spans)  # parallel
