"""The Library of a collection whose folder the server watches."""

from __future__ import annotations

import json
import time
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from pages import Application, Visitor

from kgrag import KnowledgeGraph
from kgrag.graph.jobs import list_jobs

if TYPE_CHECKING:
    from playwright.sync_api import Browser

pytestmark = pytest.mark.browser


def _wait(fits: Callable[[], bool]) -> None:
    for _ in range(600):
        if fits():
            return
        time.sleep(0.1)
    raise AssertionError


def test_a_watched_folder_is_told_and_looked_at_after_a_kill(
    chromium: Browser, kg: KnowledgeGraph, collection_name: str, neo4j_env: dict[str, str], tmp_path: Path
) -> None:
    folder, home = tmp_path / "minutes", tmp_path / "home"
    folder.mkdir()
    home.mkdir()
    (folder / "bad.pdf").write_text("no PDF")
    for number in range(40):
        (folder / f"boat_{number}.md").write_text(f"# Boat {number}\n\nBoat {number} was built by Kari in Larvik.")
    environment = {
        **neo4j_env, "KGRAG_HOME": str(home), "KGRAG_SERVE__WATCH": json.dumps({collection_name: str(folder)})
    }  # fmt: skip
    with Application(environment) as killed:
        _wait(lambda: bool(list_jobs(kg.graph, [collection_name], "running")))
        killed.kill()
    with Application(environment) as served, Visitor(chromium, served.url) as visitor:
        _wait(lambda: bool(list_jobs(kg.graph, [collection_name], "done")))
        page = visitor.page
        visitor.go(f"/library?collection={collection_name}")
        panel = page.get_by_role("region", name="Watched folder")
        panel.get_by_text("40 documents, 1 failed").wait_for()
        assert panel.get_by_text("Watched folder: minutes").count() == 1
        panel.get_by_text("1 problem").click()
        panel.get_by_text("bad.pdf: ").wait_for()
        assert str(tmp_path) not in page.content()
        (folder / "boat_0.md").unlink()
        (folder / "bad.pdf").unlink()
        panel.get_by_role("button", name="Look now").click()
        panel.get_by_text("39 documents").wait_for()
        assert panel.get_by_text("failed").count() == 0
        page.locator(".more", has_text="39 documents shown").wait_for()
        assert visitor.wrong == []
