"""Work that is begun and followed on pages: dropped folders, jobs cancelled and retried, names tied."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from pages import Application, Visit, Visitor
from scripted import Scripted

from kgrag.client import KnowledgeGraph
from kgrag.values.documents import Document, Section

if TYPE_CHECKING:
    from playwright.sync_api import Browser

pytestmark = pytest.mark.browser


@pytest.fixture
def slow(scripted: Scripted) -> Iterator[Scripted]:
    """The language model takes its time."""
    scripted.say("extract", {"entities": ["Larvik"], "triples": []})
    scripted.delay(2)
    yield scripted
    scripted.delay(0)


def test_a_dropped_folder_is_read(visit: Visit, kg: KnowledgeGraph, tmp_path: Path) -> None:
    name, folder = "uploaded <i>here", tmp_path / "sea"
    (folder / "ships").mkdir(parents=True)
    (folder / "ships" / "fram.txt").write_text("The Fram was designed by Colin Archer.")
    (folder / "Ærøskøbing.md").write_text("# Ærøskøbing\n\nA town on Ærø.")
    (folder / "empty.pdf").write_bytes(b"no PDF")
    page = (visitor := visit()).page
    visitor.go("/")
    page.get_by_label("Its name").fill(name)
    place = page.locator(".drop")
    box = place.bounding_box()
    assert box is not None
    browser = page.context.new_cdp_session(page)
    dropped = {"items": [], "files": [str(folder)], "dragOperationsMask": 1}
    for kind in ("dragEnter", "dragOver", "drop"):
        browser.send("Input.dispatchDragEvent", {"type": kind, "x": box["x"] + 9, "y": box["y"] + 9, "data": dropped})
    try:
        job = page.get_by_role("article").filter(has_text=name)
        job.get_by_text("done", exact=True).wait_for()
        job.get_by_text(re.compile("^sea/empty.pdf: ")).wait_for()
        assert {its.key for its in kg[name].documents()} == {"sea/ships/fram.txt", "sea/Ærøskøbing.md"}
    finally:
        kg[name].delete()


def test_a_folder_is_sent_in_as_many_parts_as_it_takes(
    chromium: Browser, neo4j_env: dict[str, str], kg: KnowledgeGraph, collection_name: str, tmp_path: Path
) -> None:
    (folder := tmp_path / "sea").mkdir()
    for number in range(5):
        (folder / f"{number}.txt").write_text(f"Ship {number} was built in Larvik.")
    environment = {**neo4j_env, "KGRAG_HOME": str(tmp_path / "home"), "KGRAG_SERVE__UPLOAD_FILES": "2"}
    with Application(environment) as served, Visitor(chromium, served.url) as visitor:
        page, sent = visitor.page, []
        page.on("request", lambda asked: sent.append(asked.url) if asked.method == "POST" else None)
        visitor.go(f"/upload?collection={collection_name}")
        field = page.locator("input[webkitdirectory]")
        field.wait_for()
        field.set_input_files(folder)
        page.get_by_text("5 files are sent.").wait_for()
        assert len(sent) == 3
        jobs = page.get_by_role("article").filter(has_text=collection_name)
        jobs.get_by_text("done", exact=True).nth(2).wait_for()
    assert {its.key for its in kg[collection_name].documents()} == {f"sea/{number}.txt" for number in range(5)}


def test_a_job_is_cancelled_and_retried(visit: Visit, slow: Scripted, kg: KnowledgeGraph, collection_name: str) -> None:
    kg[collection_name].ingest([Document(f"ship {n}", (Section(f"Ship {n} was built in Larvik."),)) for n in range(24)])
    page = (visitor := visit()).page
    visitor.go(f"/collections/{collection_name}")
    page.get_by_role("button", name="Extract facts").click()
    page.get_by_text("24 calls of ").wait_for()
    page.get_by_role("button", name="Not now").click()
    assert not page.get_by_role("progressbar", name="extract").count()
    page.get_by_role("button", name="Extract facts").click()
    page.get_by_role("button", name="Start").click()
    page.get_by_role("progressbar", name="extract").wait_for()
    page.get_by_role("button", name="Cancel").click()
    page.get_by_text("cancelled", exact=True).wait_for()
    slow.delay(0)
    page.get_by_role("button", name="Retry").click()
    page.get_by_text("done", exact=True).wait_for()
    assert not page.get_by_role("button", name="Retry").count()


def test_names_are_tied_and_untied(visit: Visit, kg: KnowledgeGraph, collection_name: str) -> None:
    texts = {
        "Ada Maria Lund": "Ada Maria Lund was a maker of maps.",
        "Hvalvik": "Hvalvik is a harbour. Its first chart was drawn by Ada M. Lund for the navy.",
    }
    kg[collection_name].ingest([Document(title, (Section(text),), title) for title, text in texts.items()])
    page = (visitor := visit()).page

    def look() -> str:
        """Open the page, and name the pair."""
        visitor.go(f"/names?collection={collection_name}")
        button = page.get_by_role("button", name=re.compile("^The same: Ada"))
        button.wait_for()
        return (button.get_attribute("aria-label") or "").partition(": ")[2]

    pair = look()
    assert set(pair.split(", ")) == {"Ada Maria Lund", "Ada M Lund"}
    page.get_by_role("button", name=f"The same: {pair}", exact=True).click()
    page.get_by_text("Tied.", exact=True).wait_for()
    assert _tied(kg, collection_name) == 1
    assert look() == pair
    page.get_by_text("somebody says so").wait_for()
    page.get_by_role("button", name=f"Not the same: {pair}").click()
    page.get_by_text("Kept apart.", exact=True).wait_for()
    assert _tied(kg, collection_name) == 0
    page.get_by_role("button", name=f"The same: {pair}", exact=True).click()
    page.get_by_text("Tied.", exact=True).wait_for()
    assert _tied(kg, collection_name) == 1


def _tied(kg: KnowledgeGraph, collection: str) -> int:
    statement = "MATCH (:Entity {collection: $collection})-[tie:SAME_AS]->() RETURN count(tie) AS ties"
    return int(next(iter(kg.cypher(statement, {"collection": collection})))["ties"])
