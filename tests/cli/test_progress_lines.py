"""Progress without a terminal: a line when a stage begins, and occasional lines while it lasts."""

import queue
import random
import time
from collections.abc import Sequence
from io import StringIO
from pathlib import Path
from typing import Any

import pytest
from made_pdfs import Maker, prose
from rich.console import Console

from kgrag import KnowledgeGraph
from kgrag.cli import console
from kgrag.models.embed import Vectors, WordLlamaEmbedder
from kgrag.runtime import document_progress
from kgrag.runtime.document_progress import DocumentProgress

Told = tuple[str, int, int | None]


def test_a_stage_that_lasts_is_told_now_and_then(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    now = 100.0
    monkeypatch.setattr(console.time, "monotonic", lambda: now)
    with console.progress_bars() as progress:
        for done in range(61):
            progress("documents", done * 10, None)
            now += 0.5
        for _ in range(30):  # one large document is being read
            progress("documents", 600, None)
            now += 5
        progress("documents", 601, None)
        progress("Starting Neo4j", 0, None)
        now += 10
        progress("Starting Neo4j", 10, None)
        progress("mentions", 0, 50)
        now += 9
        progress("mentions", 25, 50)
        now += 9
        progress("mentions", 40, 50)
    assert capsys.readouterr().err.splitlines() == [
        "documents ...", "documents: 200", "documents: 400", "documents: 600", "documents: 601",
        "Starting Neo4j ...", "Starting Neo4j: 10 s", "mentions: 50", "mentions: 40 of 50",
    ]  # fmt: skip


def test_bars_within_a_document_go_with_it(monkeypatch: pytest.MonkeyPatch) -> None:
    out = StringIO()
    monkeypatch.setattr(console, "stderr_console", lambda: Console(file=out, force_terminal=True, width=100))
    with console.progress_bars() as progress:
        progress("documents", 3, None)
        progress("pages of a.pdf (2.0 MB)", 120, 300)
        progress("seconds for b.txt (9.0 MB)", 2, None)
        progress("documents", 5, 10)
    shown = out.getvalue()
    frame = shown[shown.rindex("\x1b[2K") :]
    assert "documents" in frame
    assert "5 of 10" in frame
    assert "a.pdf" not in frame
    assert "b.txt" not in frame


@pytest.fixture
def impatient(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(document_progress, "PATIENCE", 0.05)
    monkeypatch.setattr(document_progress, "EVERY", 0.01)


@pytest.mark.usefixtures("impatient")
def test_what_takes_long_is_named_until_it_is_over() -> None:
    told: queue.Queue[Told] = queue.Queue()
    pages: list[int] = []
    with DocumentProgress(lambda *said: told.put(said)) as progress:
        progress("documents", 0, None)
        assert told.get(timeout=10) == ("documents", 0, None)
        document_progress.at(progress, "a.pdf (2.0 MB)", "pages", pages)
        assert told.get(timeout=10)[0] == "seconds for a.pdf (2.0 MB)"
        pages[:] = 120, 300
        while (said := told.get(timeout=10))[0].startswith("seconds"):
            pass
        assert said == ("pages of a.pdf (2.0 MB)", 120, 300)
        document_progress.at(progress, "")
        with told.mutex:
            told.queue.clear()
        with pytest.raises(queue.Empty):
            told.get(timeout=0.2)
        progress("similar", 1, 2)
    assert told.get() == ("similar", 1, 2)


def test_news_are_waited_for(monkeypatch: pytest.MonkeyPatch) -> None:
    now, looked = 100.0, queue.Queue[Told]()
    monkeypatch.setattr(document_progress, "EVERY", 0.001)
    monkeypatch.setattr(document_progress.time, "monotonic", lambda: now)
    with DocumentProgress(lambda *said: looked.put(said)) as progress:
        document_progress.at(progress, "a.csv (2.0 MB)")
        for done in range(4):
            progress("documents", done, None)
            now += 1.5
        progress("documents", 3, None)  # no progress
        while (said := looked.get(timeout=10))[0] == "documents":
            now += 0.5
    assert said == ("seconds for a.csv (2.0 MB)", 8, None)


@pytest.mark.usefixtures("impatient")
def test_whoever_stops_the_work_stops_it_there_too() -> None:
    def stop(stage: str, done: int, total: int | None) -> None:
        raise KeyError(stage)

    with DocumentProgress(stop) as progress:
        document_progress.at(progress, "a.txt (9.0 MB)")
        progress._thread.join(10)
        with pytest.raises(KeyError, match=r"a\.txt"):
            progress("documents", 1, None)


class _Slow(WordLlamaEmbedder):
    """An operation slow enough to show progress."""

    def embed(self, texts: Sequence[str]) -> Vectors:
        time.sleep(0.05)
        return super().embed(texts)


def test_a_long_document_is_told_page_by_page(
    kg: KnowledgeGraph, collection_name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(document_progress, "PATIENCE", 0.0)
    monkeypatch.setattr(document_progress, "EVERY", 0.005)
    chance, maker = random.Random(1), Maker(tmp_path / "survey.pdf")
    for _ in range(20):
        maker.text(prose(chance, 25))
        maker.canvas.showPage()
        maker.y = 700
    maker.canvas.save()
    told: list[Any] = []
    small = KnowledgeGraph(kg.graph, kg.settings.model_copy(update={"batch_passages": 4}))
    report = small[collection_name].ingest(
        tmp_path / "survey.pdf", embedder=_Slow(), progress=lambda *said: told.append(said)
    )
    size = f"{(tmp_path / 'survey.pdf').stat().st_size / 1e6:.1f} MB"
    pages = [said[1:] for said in told if said[0] == f"pages of survey.pdf ({size})"]
    assert pages == sorted(pages)
    assert {total for _, total in pages} == {20}
    assert len({done for done, _ in pages}) > 2
    passages = [said[1:] for said in told if said[0] == "passages of survey.pdf"]
    assert passages == sorted(passages)
    assert {total for _, total in passages} == {report.passages}
    assert len({done for done, _ in passages}) > 2
    last = max(place for place, said in enumerate(told) if said[0] == "documents")
    assert not any(said[0].startswith(document_progress.WITHIN) for said in told[last:])
