"""Jobs on collections: uploads are ingested in the background, stopped and resumed."""

import gc
import os
import re
import signal
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import psutil
import pytest
from boats import end, upload, watch
from served import finish_late

from kgrag import KnowledgeGraph
from kgrag.graph import jobs as kept
from kgrag.graph.connection import Graph, Transaction
from kgrag.graph.contents import digest
from kgrag.server.jobs import Jobs
from kgrag.server.jobs.runner import _Running
from kgrag.server.uploads import Uploads
from kgrag.values.errors import ConfigurationError, DatabaseError, InputError, KgragError, NotFoundError


@pytest.fixture(scope="module")
def slow(kg: KnowledgeGraph) -> KnowledgeGraph:
    """The same database, with writes in small batches."""
    return KnowledgeGraph(kg.graph, kg.settings.model_copy(update={"batch_passages": 4}))


@pytest.fixture
def jobs(slow: KnowledgeGraph) -> Iterator[Jobs]:
    with Jobs(slow) as running:
        yield running


@contextmanager
def _waiting_at(documents: int) -> Iterator[None]:
    """Pause each job that has ingested this many documents until it is stopped or the block ends; none ends early."""
    progress, over = _Running.progress, threading.Event()

    def waits(self: _Running, stage: str, done: int, total: int | None) -> None:
        progress(self, stage, done, total)
        while stage == "documents" and done >= documents and not over.is_set():
            time.sleep(0.01)
            progress(self, stage, done, total)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(_Running, "progress", waits)
        yield
        over.set()


def test_uploads_are_ingested_under_their_names(
    jobs: Jobs, collection_name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    finish_late(monkeypatch)
    names = upload(jobs, collection_name, 20)
    jobs.uploads.keep(collection_name, "bad.pdf", [b"no ", b"PDF"])
    asked = jobs.submit("ingest", collection_name, {"uploads": [*names, "bad.pdf", names[0]]}, owner="Ada")
    seen = list(watch(jobs, asked.id))
    last = seen[-1]
    assert (last.state, last.owner, last.attempt, last.error) == ("done", "Ada", 1, "")
    assert last.created <= last.started <= last.ended
    assert {job.stage for job in seen} >= {"documents"}
    assert last.result["added"] == 20
    assert [p["place"] for p in last.result["problems"]] == ["bad.pdf"]
    passage = jobs.kg[collection_name].passage("boats/boat_3.txt")
    assert (passage.title, passage.source) == ("boat 3", "boats/boat_3.txt")

    jobs.uploads.keep(collection_name, "boats/boat_3.txt", [b"Boat 3 sank."])
    again = end(jobs, jobs.submit("ingest", collection_name, {"uploads": names}).id)
    assert (again.result["changed"], again.result["unchanged"]) == (1, 19)
    assert jobs.kg[collection_name].passage("boats/boat_3.txt").text == "Boat 3 sank."
    assert {jobs.kg[collection_name].passage(text).text for text in ("boat_3", "boat_3.txt")} == {"Boat 3 sank."}

    jobs.uploads.remove(collection_name, "boats/boat_4.txt")
    pruned = end(jobs, jobs.submit("prune", collection_name).id)
    assert pruned.result["documents"] == ["boats/boat_4.txt"]
    deleted = end(jobs, jobs.submit("delete", collection_name, {"documents": names[:2]}).id)
    assert (deleted.state, deleted.result["passages"]) == ("done", 2)
    assert len(jobs.uploads.list(collection_name)) == 17  # unreadable files are removed
    assert jobs.kg[collection_name].info().counts["Document"] == 17
    assert end(jobs, jobs.submit("delete", collection_name).id).state == "done"
    assert jobs.uploads.list(collection_name) == []
    with pytest.raises(NotFoundError):
        jobs.kg[collection_name].info()


def test_a_cancelled_job_stops_and_a_retried_one_goes_on(jobs: Jobs, collection_name: str) -> None:
    names = upload(jobs, collection_name, 60)
    id = jobs.submit("ingest", collection_name, {"uploads": names}).id
    assert end(jobs, id).state == "done"
    whole = digest(jobs.kg.graph, collection_name)
    jobs.kg[collection_name].delete()

    with _waiting_at(8):
        id = jobs.submit("ingest", collection_name, {"uploads": names}).id
        for job in watch(jobs, id):
            if job.done >= 8:
                jobs.cancel(id)
                break
        assert end(jobs, id).state == "cancelled"
    assert 8 <= jobs.kg[collection_name].info().counts["Document"] < 60
    assert jobs.kg[collection_name].search("Who built boat 1?", k=1).hits
    assert jobs.cancel(id).state == "cancelled"

    assert jobs.retry(id).state in ("queued", "running")
    last = end(jobs, id)
    assert (last.state, last.attempt) == ("done", 2)
    assert last.result["unchanged"] >= 8
    assert digest(jobs.kg.graph, collection_name) == whole
    assert jobs.retry(id) == last  # a finished job stays done


def test_what_waits_is_cancelled_at_once(slow: KnowledgeGraph, collection_name: str) -> None:
    jobs = Jobs(slow, workers=0)
    with jobs:
        id = jobs.submit("ingest", collection_name, {"uploads": upload(jobs, collection_name, 1)}).id
        assert [job.id for job in jobs.list([collection_name], "queued")] == [id]
        assert jobs.list(["another"]) == []
        assert jobs.cancel(id).state == "cancelled"
        assert [job.state for job in watch(jobs, id)] == ["cancelled"]
    with pytest.raises(NotFoundError):
        jobs.get("none")


def test_a_server_that_ends_leaves_its_job_to_the_next(slow: KnowledgeGraph, collection_name: str) -> None:
    with _waiting_at(8), Jobs(slow) as first:
        id = first.submit("ingest", collection_name, {"uploads": upload(first, collection_name, 60)}).id
        for job in watch(first, id):
            if job.done >= 8:
                break
    assert first.get(id).state == "queued"
    with Jobs(slow) as second:
        last = end(second, id)
    assert (last.state, last.attempt, last.died) == ("done", 2, 0)
    assert slow[collection_name].info().counts["Document"] == 60


def test_a_job_that_another_process_took_writes_no_more(jobs: Jobs, collection_name: str) -> None:
    with _waiting_at(8):
        id = jobs.submit("ingest", collection_name, {"uploads": upload(jobs, collection_name, 60)}).id
        for job in watch(jobs, id):
            if job.done >= 8:
                break
        jobs.kg.graph.driver.execute_query("MATCH (j:Job {id: $id}) SET j.holder = 'another'", id=id)
        while id in jobs._running:
            time.sleep(0.01)
    assert jobs.kg[collection_name].info().counts["Document"] < 60
    assert jobs.get(id).state == "running"  # only its own server ends it
    kept.end_job(jobs.kg.graph, "another", id, "failed", error=DatabaseError("It is gone.", "Look for it."))
    failed = jobs.get(id)
    assert (failed.state, failed.error, failed.remedy, failed.error_kind) == (
        "failed", "It is gone.", "Look for it.", "DatabaseError"
    )  # fmt: skip


@pytest.mark.long  # it waits for a lease to expire
def test_a_process_that_cannot_say_that_it_lives_stops(
    slow: KnowledgeGraph, collection_name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(kept, "LEASE", 2)
    with KnowledgeGraph.connect(settings=slow.settings) as own, Jobs(own) as first:
        cut_off = threading.Event()

        def unless_cut_off(call: Callable[..., Any]) -> Callable[..., Any]:
            def called(graph: Graph, holder: str, *state: Any) -> Any:
                if holder == first._holder and cut_off.is_set():
                    raise DatabaseError("Nobody answers.")
                return call(graph, holder, *state)

            return called

        for name in ("beat_job", "claim_job"):
            monkeypatch.setattr(kept, name, unless_cut_off(getattr(kept, name)))
        with _waiting_at(8):  # it works longer than its lease lasts
            id = first.submit("ingest", collection_name, {"uploads": upload(first, collection_name, 60)}).id
            while (running := first._running.get(id)) is None:
                time.sleep(0.01)
            cut_off.set()
            assert running.lost.wait(60)
            while id in first._running:  # it is told to stop
                time.sleep(0.01)
        monkeypatch.undo()
        first._ending.set()  # it claims no more jobs
        with Jobs(slow) as second:
            last = end(second, id)
    assert (last.state, last.attempt) == ("done", 2)
    assert slow[collection_name].info().counts["Document"] == 60


def _pid(jobs: Jobs, id: str) -> int:
    """Return the process that works on a job, once it has written eight documents."""
    for job in watch(jobs, id):
        assert not job.over, (job.state, job.error, job.result)
        if job.done >= 8:
            break
    return jobs._running[id].process._process.pid


def test_a_process_that_stands_still_is_ended_by_cancel(jobs: Jobs, collection_name: str) -> None:
    with _waiting_at(8):
        id = jobs.submit("ingest", collection_name, {"uploads": upload(jobs, collection_name, 20)}).id
        os.kill(pid := _pid(jobs, id), signal.SIGSTOP)
    jobs.cancel(id)
    assert end(jobs, id).state == "cancelled"
    while id in jobs._running:
        time.sleep(0.01)
    assert not psutil.pid_exists(pid)
    jobs.retry(id)
    assert end(jobs, id).state == "done"
    assert jobs.kg[collection_name].info().counts["Document"] == 20


def test_another_process_goes_on_where_one_died(jobs: Jobs, collection_name: str) -> None:
    with _waiting_at(8):
        id = jobs.submit("ingest", collection_name, {"uploads": upload(jobs, collection_name, 20)}).id
        os.kill(_pid(jobs, id), signal.SIGKILL)
    last = end(jobs, id)
    assert (last.state, last.attempt, last.result["added"]) == ("done", 1, 20 - last.result["unchanged"])
    assert last.result["unchanged"] >= 4


def test_a_job_whose_processes_die_at_the_same_place_is_given_up(
    jobs: Jobs, collection_name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    died = []

    def dying(self: _Running, stage: str, done: int, total: int | None) -> None:
        died.append(stage)
        self.at = ("documents", 3, 7)
        self.process.kill()

    with monkeypatch.context() as patch:
        patch.setattr(_Running, "progress", dying)
        id = jobs.submit("ingest", collection_name, {"uploads": upload(jobs, collection_name, 7)}).id
        last = end(jobs, id)
    assert (last.state, last.error) == (
        "failed", "Its process ended (signal 9) again and again, at documents 3 of 7."
    )  # fmt: skip
    assert len(died) == 2
    assert jobs.retry(id).died == 0
    assert end(jobs, id).state == "done"


def test_a_job_that_takes_too_long_is_ended(slow: KnowledgeGraph, collection_name: str) -> None:
    serve = slow.settings.serve.model_copy(update={"job_seconds": 4.0})
    with _waiting_at(8), Jobs(KnowledgeGraph(slow.graph, slow.settings.model_copy(update={"serve": serve}))) as jobs:
        id = jobs.submit("ingest", collection_name, {"uploads": upload(jobs, collection_name, 20)}).id
        last = end(jobs, id)
    assert (last.state, last.error_kind, last.error) == ("failed", "DeadlineError", "It took longer than 4 s.")
    assert "KGRAG_SERVE__JOB_SECONDS" in last.remedy


def test_a_job_that_needs_too_much_memory_is_ended(slow: KnowledgeGraph, collection_name: str) -> None:
    serve = slow.settings.serve.model_copy(update={"job_memory_mb": 512})
    with Jobs(KnowledgeGraph(slow.graph, slow.settings.model_copy(update={"serve": serve}))) as jobs:
        jobs.uploads.keep(collection_name, "bold.html", [b"<html><body>", b"<b>x" * 2_000_000])
        used = psutil.Process().memory_info().rss
        id = jobs.submit("ingest", collection_name, {"uploads": ["bold.html"]}).id
        last = end(jobs, id)
        assert psutil.Process().memory_info().rss - used < 50e6
        place = r"at (its beginning|bold\.html \(8\.0 MB\))"  # reported after two seconds
        assert last.state == "failed"
        assert re.fullmatch(f"It needed more than 512 MB of memory, {place}\\.", last.error or "")
        assert "KGRAG_SERVE__JOB_MEMORY_MB" in last.remedy
        jobs.uploads.remove(collection_name, "bold.html")
        id = jobs.submit("ingest", collection_name, {"uploads": upload(jobs, collection_name, 3)}).id
        assert end(jobs, id).state == "done"


def test_a_cancelled_job_is_not_begun_again_when_its_server_died(kg: KnowledgeGraph, collection_name: str) -> None:
    kg[collection_name].ingest([])
    id = kept.add_job(kg.graph, "prune", collection_name, {}).id
    claimed = kept.claim_job(kg.graph, "one")
    assert claimed is not None
    assert claimed.id == id
    kept.cancel_job(kg.graph, id)
    assert kept.find_job(kg.graph, id).state == "running"
    kg.graph.driver.execute_query("MATCH (j:Job {id: $id}) SET j.lease = datetime() - duration('PT1S')", id=id)
    assert kept.claim_job(kg.graph, "another") is None
    assert kept.find_job(kg.graph, id).state == "cancelled"


def test_failures_say_what_to_do(jobs: Jobs, collection_name: str) -> None:
    jobs.uploads.keep(collection_name, "empty.pdf", [b"\x00"])
    last = end(jobs, jobs.submit("ingest", collection_name, {"uploads": ["empty.pdf"]}).id)
    assert (last.state, last.error, last.error_kind) == ("failed", "Nothing could be read.", "InputError")
    assert jobs.uploads.list(collection_name) == []
    assert last.remedy
    assert last.result["problems"]
    last = end(jobs, jobs.submit("delete", collection_name).id)
    assert (last.state, "no collection" in last.error, bool(last.remedy)) == ("failed", True, True)


@pytest.mark.parametrize(
    ("kind", "options", "error"),
    [
        ("sing", {}, NotFoundError), ("ingest", {}, ConfigurationError),
        ("ingest", {"uploads": []}, ConfigurationError), ("ingest", {"uploads": ["a.txt"]}, NotFoundError),
        ("ingest", {"uploads": ["../a.txt"]}, InputError), ("ingest", {"uploads": ["/etc/passwd"]}, InputError),
        ("ingest", {"uploads": ["a.txt"], "embedder": "sbert:/tmp"}, ConfigurationError),
        ("ingest", {"uploads": ["a.txt"], "language": "/e"}, ConfigurationError),
        ("tree", {"size": 1}, ConfigurationError),
        ("tree", {}, NotFoundError),  # no such collection
        ("prune", {"force": True}, ConfigurationError),
        ("delete", {"documents": []}, ConfigurationError),
        ("delete", {"documents": "all"}, ConfigurationError),
    ],
)  # fmt: skip
def test_options_are_checked_when_a_job_is_asked_for(
    kg: KnowledgeGraph, collection_name: str, kind: str, options: dict[str, object], error: type[KgragError]
) -> None:
    jobs = Jobs(kg, workers=0)
    with pytest.raises(error) as raised:
        jobs.submit(kind, collection_name, options)
    assert raised.value.remedy
    assert jobs.list([collection_name]) == []


def test_a_model_that_is_missing_is_said_at_once(jobs: Jobs, collection_name: str) -> None:
    end(jobs, jobs.submit("ingest", collection_name, {"uploads": upload(jobs, collection_name, 2)}).id)
    for kind, options in (("extract", {}), ("tree", {"ask": True}), ("tag", {})):
        with pytest.raises(ConfigurationError):
            jobs.submit(kind, collection_name, options)


@pytest.mark.alone
def test_old_jobs_are_forgotten(kg: KnowledgeGraph, monkeypatch: pytest.MonkeyPatch) -> None:
    every = len(kept.list_jobs(kg.graph, limit=10_000))
    monkeypatch.setattr(kept, "KEPT", every + 2)
    waiting = kept.add_job(kg.graph, "prune", "forgotten", {})
    ended = [kept.add_job(kg.graph, "prune", "forgotten", {}) for _ in range(2)]
    for job in ended:
        kept.cancel_job(kg.graph, job.id)
    monkeypatch.setattr(kept, "KEPT", 1)
    last = kept.add_job(kg.graph, "prune", "forgotten", {})
    assert {job.id for job in kept.list_jobs(kg.graph, ["forgotten"])} == {waiting.id, last.id}
    for job in (waiting, last):
        kept.cancel_job(kg.graph, job.id)


@pytest.mark.parametrize(
    "name",
    [
        "", ".", "..", "../a.txt", "a/../b.txt", "/etc/passwd", "a//b", "a/", "C:/a.txt", "C:\\a.txt", "..\\a.txt",
        "a\x00.txt", "a\n.txt", "a\u202egpj.exe", "\ud800", " ", "a/ /b", "a/. ./b", "x" * 501, "a\x7f",
        "\u0041\u030a.txt",
    ],
)  # fmt: skip
def test_hostile_names_of_uploads_are_refused(tmp_path: Path, name: str) -> None:
    uploads = Uploads(tmp_path)
    with pytest.raises(InputError) as raised:
        uploads.keep("notes", name, [b"text"])
    assert raised.value.remedy
    with pytest.raises(InputError):
        uploads.find("notes", name)
    assert list(tmp_path.rglob("*")) == []


def test_uploads_lie_under_hashes_whole_or_not_at_all(tmp_path: Path) -> None:
    uploads = Uploads(tmp_path)
    names = ["Report (final).PDF", "a/b/Ünï.txt", "x.tar.gz", ".hidden", "no suffix", "a.b;rm -rf ~", "%2e%2e%2fa.md"]
    for name in names:
        uploads.keep("../../notes", name, [name.encode()])
    held = uploads.list("../../notes")
    assert [upload.name for upload in held] == sorted(names)
    assert all(upload.path.read_text() == upload.name for upload in held)
    assert all(upload.path.resolve().is_relative_to(tmp_path.resolve() / "uploads") for upload in held)
    assert {upload.path.suffix for upload in held} == {".pdf", ".txt", ".gz", ".hidden", "", ".md"}
    assert uploads.list("notes") == []
    kept = sorted(tmp_path.rglob("*"))

    def interrupted() -> Iterator[bytes]:
        yield b"1234"
        raise ConnectionError

    with pytest.raises(ConnectionError):
        uploads.keep("../../notes", "x.tar.gz", interrupted())
    assert sorted(tmp_path.rglob("*")) == kept
    assert uploads.find("../../notes", "x.tar.gz").path.read_text() == "x.tar.gz"
    files = len(list(tmp_path.rglob("*")))
    uploads.keep("../../notes", "x.tar.gz", [b"new"])
    assert len(list(tmp_path.rglob("*"))) == files
    assert uploads.remove("../../notes", "x.tar.gz")
    assert not uploads.remove("../../notes", "x.tar.gz")
    uploads.clear("../../notes")
    assert uploads.list("../../notes") == []


@pytest.mark.parametrize("late", ["beat", "cancel"])
def test_what_is_told_of_a_job_while_it_ends_comes_too_late(
    kg: KnowledgeGraph, collection_name: str, late: str
) -> None:
    kg[collection_name].ingest([])
    id = kept.add_job(kg.graph, "prune", collection_name, {}).id
    claimed = kept.claim_job(kg.graph, "one")
    assert claimed is not None
    assert claimed.id == id

    def tell() -> None:
        if late == "beat":
            kept.beat_job(kg.graph, "one", id, "names", 3, 4)
        else:
            kept.cancel_job(kg.graph, id)

    telling = threading.Thread(target=tell)
    outcome = {"error": None, "remedy": None, "error_kind": None, "result": None}

    def end(tx: Transaction) -> None:
        tx.run("jobs/end", id=id, holder="one", state="failed", **outcome)
        telling.start()
        time.sleep(0.5)  # so that the other has begun

    kg.graph.write(end)
    telling.join()
    ended = kept.find_job(kg.graph, id)
    assert (ended.state, ended.stage, ended.done) == ("failed", "", 0)
    kept.retry_job(kg.graph, id)
    assert kept.claim_job(kg.graph, "another") is not None
    assert kept.beat_job(kg.graph, "another", id, "names", 1, 4) is False  # nobody wants to stop it
    kept.end_job(kg.graph, "another", id, "done")


def test_memory_that_a_thread_needed_once_goes_back_to_the_system(jobs: Jobs, collection_name: str) -> None:
    used = psutil.Process().memory_info
    left: list[bytes] = []

    def need() -> None:
        much: list[Any] = [bytes(4000) for _ in range(50_000)]
        left.extend(much[::1000])  # so that whole ranges of memory cannot be freed
        much.append(much)
        gc.collect()  # collects now, so Python does not collect again soon

    before = used().rss
    thread = threading.Thread(target=need)
    thread.start()
    thread.join()
    assert used().rss - before > 150e6
    upload(jobs, collection_name, 1)
    end(jobs, jobs.submit("ingest", collection_name, {"uploads": ["boats/boat_0.txt"]}).id)
    assert len(left) == 50
    until = time.monotonic() + 10
    while used().rss - before > 100e6 and time.monotonic() < until:
        time.sleep(0.05)
    assert used().rss - before < 100e6  # including the job's own modules
