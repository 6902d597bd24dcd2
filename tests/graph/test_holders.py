"""Dead holders of a collection are detected only among this machine's own processes."""

import os
import subprocess
import sys

from kgrag.graph.jobs import LEASE, Job, busy, has_died, this_place


def test_a_process_of_this_machine_that_is_gone() -> None:
    ended = subprocess.Popen([sys.executable, "-c", ""])
    ended.wait()
    assert has_died(f"{this_place()} {ended.pid}")
    assert not has_died(f"{this_place()} {os.getpid()}")
    assert not has_died(f"another-machine 1f {ended.pid}")
    assert not has_died("a-server's-id")


def test_who_is_at_work_is_told() -> None:
    job = Job("j1", "extract", "ships", {}, "running", owner="process 7 on ada", started="2026-11-21T18:00:01+00:00")
    error = busy(job)
    assert error.message.startswith(
        "Collection 'ships' is being worked on: extract for process 7 on ada, since 2026-11-21"
    )
    assert "shows and cancels it as job j1" in error.remedy
    assert error.seconds == LEASE
