"""Progress where there is no terminal: a line when a stage begins, and now and then one while it lasts."""

import pytest

from kgrag.cli import console


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
        "documents ...",
        "documents: 200",
        "documents: 400",
        "documents: 600",
        "documents: 601",
        "Starting Neo4j ...",
        "Starting Neo4j: 10 s",
        "mentions: 50",
        "mentions: 40 of 50",
    ]
