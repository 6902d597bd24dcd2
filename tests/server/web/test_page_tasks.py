"""Tasks of a team, each done as a person would."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from pages import QUESTION, SHIPS, Visit, Visitor
from scripted import Scripted

from kgrag import KnowledgeGraph
from kgrag.values.documents import Document, Section

if TYPE_CHECKING:
    from playwright.sync_api import Route

pytestmark = pytest.mark.browser


def _is_done(visitor: Visitor, text: str, timeout: float = 60_000) -> None:
    visitor.page.get_by_text(text).first.wait_for(timeout=timeout)


@pytest.fixture
def slow(scripted: Scripted) -> Iterator[Scripted]:
    """Slows down the language model."""
    scripted.say("extract", {"entities": ["Larvik"], "triples": []})
    scripted.delay(2)
    yield scripted
    scripted.delay(0)


@pytest.mark.timeout(400)
def test_two_thousand_files_and_the_three_that_failed(visit: Visit, kg: KnowledgeGraph, tmp_path: Path) -> None:
    name, folder = "two thousand <i>files", tmp_path / "sea"
    folder.mkdir()
    for number in range(1997):
        (folder / f"ship {number:04}.txt").write_text(f"Ship {number} was built in Larvik by yard {number % 50}.")
    for number in (1, 2, 3):
        (folder / f"broken {number}.pdf").write_bytes(b"no PDF")
    visitor = visit()
    try:
        visitor.upload(name, folder, by="Choose a folder")
        _is_done(visitor, "1,997 files read, 3 failed", 300_000)
        visitor.page.get_by_role("button", name="Only those that failed (3)").click()
        shown = visitor.page.get_by_label("Files", exact=True).get_by_role("listitem")
        assert {its.split("\n")[0] for its in shown.all_inner_texts()} == {f"sea/broken {n}.pdf" for n in (1, 2, 3)}
        assert kg[name].info().counts["Document"] == 1997
    finally:
        kg[name].delete()


def test_a_dropped_folder_is_read(visit: Visit, kg: KnowledgeGraph, tmp_path: Path) -> None:
    name, folder = "uploaded <i>here", tmp_path / "sea"
    (folder / "ships").mkdir(parents=True)
    (folder / "ships" / "fram.txt").write_text("The Fram was designed by Colin Archer.")
    (folder / "Ærøskøbing.md").write_text("# Ærøskøbing\n\nA town on Ærø.")
    (folder / "empty.pdf").write_bytes(b"no PDF")
    page = (visitor := visit()).page
    visitor.go("/library?tab=collections")
    page.get_by_role("button", name="New collection").click()
    page.get_by_role("region", name="New collection").get_by_label("Collection").fill(name)
    box = page.locator(".drop").bounding_box()
    assert box is not None
    browser = page.context.new_cdp_session(page)
    dropped = {"items": [], "files": [str(folder)], "dragOperationsMask": 1}
    for kind in ("dragEnter", "dragOver", "drop"):
        browser.send("Input.dispatchDragEvent", {"type": kind, "x": box["x"] + 9, "y": box["y"] + 9, "data": dropped})
    try:
        _is_done(visitor, "2 files read, 1 failed")
        page.get_by_label("Files", exact=True).get_by_text("sea/empty.pdf").wait_for()
        assert {its.key for its in kg[name].documents()} == {"sea/ships/fram.txt", "sea/Ærøskøbing.md"}
    finally:
        kg[name].delete()


def test_a_folder_is_sent_in_as_many_parts_as_it_takes(
    visit: Visit, kg: KnowledgeGraph, collection_name: str, tmp_path: Path
) -> None:
    for number in range(5):
        (tmp_path / f"{number}.txt").write_text(f"Ship {number} was built in Larvik.")
    page, sent = (visitor := visit()).page, []

    def two_at_once(route: Route) -> None:
        response = route.fetch()
        route.fulfill(response=response, json={**response.json(), "upload_files": 2})

    page.route("**/api/v1/start", two_at_once)
    page.on("request", lambda asked: sent.append(asked.url) if asked.method == "POST" else None)
    visitor.upload(collection_name, *sorted(tmp_path.glob("*.txt")))
    _is_done(visitor, "5 files read")
    assert len([url for url in sent if url.endswith("/documents")]) == 3
    assert {its.key for its in kg[collection_name].documents()} == {f"{number}.txt" for number in range(5)}


def test_how_two_names_are_connected(visit: Visit) -> None:
    page = (visitor := visit()).page
    visitor.go(f"/graph?collection={SHIPS.replace('&', '%26')}")
    page.get_by_role("combobox", name="Find a name").wait_for()
    page.get_by_role("combobox", name="Find a name").fill("ingr")
    page.get_by_role("option", name=re.compile("^Ingrid Solheim")).click()
    page.get_by_role("button", name="Ingrid Solheim, Name").wait_for()
    page.get_by_role("button", name="How two are connected").click()
    page.keyboard.type("mold")
    page.get_by_role("option", name=re.compile("^Molde")).click()
    page.get_by_role("button", name="Molde, Name").wait_for()
    page.wait_for_url(re.compile("name=Ingrid.Solheim&other=Molde"))


def test_a_document_is_removed_with_a_minute_to_think(visit: Visit, kg: KnowledgeGraph, collection_name: str) -> None:
    texts = {"Kari": "Kari Aune keeps a secret in Larvik.", "Ada": "Ada Lund was a maker of maps."}
    kg[collection_name].ingest([Document(title, (Section(text),), title) for title, text in texts.items()])
    page = (visitor := visit()).page
    visitor.go(f"/library?collection={collection_name}")
    page.get_by_role("link", name="Kari", exact=True).wait_for()
    page.get_by_label("Delete Kari").click()
    page.get_by_text("“Kari” will be deleted in 5").wait_for()
    page.get_by_role("button", name="Undo").click()
    page.get_by_text("“Kari” will be deleted in").first.wait_for(state="detached")
    assert kg[collection_name].info().counts["Document"] == 2


def test_twenty_names_are_tied(visit: Visit, kg: KnowledgeGraph, collection_name: str) -> None:
    names = [
        f"{first} Maria {last}"
        for first in ("Ada", "Berit", "Clara", "Dagny", "Edda")
        for last in ("Lund", "Holm", "Vik", "Moe")
    ]
    documents = []
    for place, name in enumerate(names):
        first, _, last = name.split()
        documents.append(Document(name, (Section(f"{name} was a maker of maps."),), name))
        documents.append(
            Document(
                f"Chart {place}",
                (Section(f"Its chart was drawn by {first} M. {last} in 18{place + 10}."),),
                f"Chart {place}",
            )
        )
    kg[collection_name].ingest(documents)
    page = (visitor := visit()).page
    visitor.go(f"/library?collection={collection_name}&tab=names")
    page.get_by_label("Which pairs").select_option("same")
    page.locator(".pairs > li").nth(19).wait_for()
    page.get_by_label("Choose all shown").click()
    page.get_by_role("button", name="The same", exact=True).first.click()
    page.locator(".pairs > li").first.wait_for(state="detached")
    page.wait_for_timeout(6000)  # the time in which it can be undone
    assert _tied(kg, collection_name) >= 20


def _tied(kg: KnowledgeGraph, collection: str) -> int:
    statement = "MATCH (:Entity {collection: $collection})-[tie:SAME_AS]->() RETURN count(tie) AS ties"
    return int(next(iter(kg.cypher(statement, {"collection": collection})))["ties"])


def test_an_expensive_job_is_stopped_before_it_begins(
    visit: Visit, slow: Scripted, kg: KnowledgeGraph, collection_name: str
) -> None:
    kg[collection_name].ingest([Document(f"ship {n}", (Section(f"Ship {n} was built in Larvik."),)) for n in range(24)])
    page = (visitor := visit()).page
    visitor.go(f"/library?collection={collection_name}&tab=work")
    begin = page.get_by_label("Begin: Extract facts")
    begin.wait_for()
    begin.click()
    page.get_by_role("dialog").get_by_text("24 calls").wait_for()
    page.get_by_role("button", name="Not now").click()
    assert not page.get_by_role("progressbar").count()
    begin.click()
    page.get_by_role("dialog").get_by_role("button", name="Begin").click()
    page.get_by_label("Stop: Extract facts").first.click()
    page.get_by_text("Stopped").first.wait_for()
    slow.delay(0)
    page.get_by_role("button", name="Go on").first.click()
    page.get_by_text("Done", exact=True).first.wait_for()


def test_on_a_phone(visit: Visit, scripted: Scripted) -> None:
    scripted.say("answer", "The Aurora was designed by Ingrid Solheim, who was born in Molde [1].")
    page = (visitor := visit(narrow=True)).page
    visitor.go(f"/?collection={SHIPS.replace('&', '%26')}")
    page.get_by_label("Question", exact=True).wait_for()
    visitor.ask(QUESTION, how="Fast")
    page.get_by_role("button", name=re.compile("^Source 1: ")).first.click()
    page.get_by_role("region", name="Sources").get_by_text("Page 3 of 8").wait_for()
    page.get_by_label("Close the sources").click()
    page.get_by_label("Show all pages").click()
    page.get_by_role("link", name="Library").click()
    page.get_by_role("heading", name="Library").wait_for()
    assert page.evaluate("document.documentElement.scrollWidth - innerWidth") <= 0
