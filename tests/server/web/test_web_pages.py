"""The web application as people use it: in Chromium, on a real server, with a PDF that is made here."""

from __future__ import annotations

import re
from pathlib import Path
from typing import TYPE_CHECKING
from urllib.parse import quote

import httpx
import pytest
from pages import HOSTILE, LETTERS, QUESTION, SHIPS, Application, Visit, Visitor
from scripted import Scripted

from kgrag.client import KnowledgeGraph
from kgrag.evaluation.kept import kept
from kgrag.server.keys import Keys
from kgrag.values.documents import Document, Section

if TYPE_CHECKING:
    from playwright.sync_api import Browser

pytestmark = pytest.mark.browser


def test_what_documents_say_is_no_html(visit: Visit) -> None:
    page = (visitor := visit()).page
    visitor.go(f"/ask?collection={quote(SHIPS)}&system=search%3A+bm25&q=Solheim+kept+notes")
    page.get_by_role("link", name=re.compile("^1. voyage")).click()
    dialog = page.get_by_role("dialog")
    dialog.get_by_text(HOSTILE).wait_for()
    assert not dialog.locator("script, strong, b, a[href^='javascript']").count()
    assert "broken" not in page.title()


def test_an_answer_is_kept_and_shown_again(visit: Visit, scripted: Scripted) -> None:
    scripted.say("answer", "In Molde [1].")
    page = (visitor := visit()).page
    visitor.go(f"/ask?collection={quote(SHIPS)}&system=single%2Bpathrank&q={quote(QUESTION)}")
    page.get_by_role("button", name="Keep it with its steps").click()
    page.get_by_role("heading", name="How it came about").wait_for()
    page.get_by_role("checkbox", name=re.compile(r"^Step \(1\)")).wait_for()
    visitor.go("/runs")
    page.get_by_role("link", name=QUESTION).first.wait_for()


def test_an_answer_is_shown_again_and_asked_again_at_a_click_alone(
    chromium: Browser, collections: None, neo4j_env: dict[str, str], scripted: Scripted, tmp_path: Path
) -> None:
    scripted.say("answer", "In Molde [1].", "In Molde, once more [1].")
    environment = {**neo4j_env, **scripted.env(), "KGRAG_HOME": str(tmp_path)}
    place = f"/ask?collection={quote(SHIPS)}&system=single%2Bpathrank&q={quote(QUESTION)}"
    with Application(environment) as served, Visitor(chromium, served.url) as visitor:
        page = visitor.page
        visitor.go(place)
        page.get_by_text(re.compile("^In Molde $")).wait_for()
        assert not page.get_by_role("button", name="Ask again").count()
        paid = len(scripted.calls)
        page.reload()
        page.get_by_text(re.compile(r"^Answered 2\d\d\d-")).wait_for()
        page.get_by_text(re.compile("^In Molde $")).wait_for()
        visitor.go("/runs")
        page.go_back()
        page.get_by_role("button", name="Ask again").wait_for()
        page.get_by_text("Steps", exact=True).click()
        page.get_by_text(re.compile("^found$")).first.wait_for()
        assert len(scripted.calls) == paid
    with Application(environment) as served, Visitor(chromium, served.url) as visitor:
        page = visitor.page
        visitor.go(place)
        page.get_by_text(re.compile("^In Molde $")).wait_for()
        page.get_by_role("link", name="[1]", exact=True).click()
        page.get_by_role("dialog").get_by_text("Page 3 of 8").wait_for()
        assert len(scripted.calls) == paid
        visitor.go(place)
        page.get_by_role("button", name="Ask again").click()
        page.get_by_text("In Molde, once more").wait_for()
        assert not page.get_by_role("button", name="Stop").count()
        assert len(scripted.calls) > paid
        page.reload()
        page.get_by_text("In Molde, once more").wait_for()
        assert page.get_by_role("button", name="Ask again").count()
    assert (tmp_path / "answers.sqlite3").stat().st_mode & 0o777 == 0o600


def test_an_answer_is_not_shown_once_its_document_is_gone(
    visit: Visit, kg: KnowledgeGraph, scripted: Scripted, collection_name: str
) -> None:
    scripted.say("answer", "In Larvik [1].", "Nobody says.")
    kg[collection_name].ingest([Document("Kari", (Section("Kari Aune keeps a secret in Larvik."),), "Kari")])
    place = f"/ask?collection={collection_name}&system=single%2Bpathrank&q=Where+is+the+secret%3F"
    page = (visitor := visit()).page
    visitor.go(place)
    page.get_by_text("In Larvik").first.wait_for()
    kg[collection_name].delete(["Kari"])
    kg[collection_name].ingest([Document("Ada", (Section("Ada Lund keeps no secret."),), "Ada")])
    page.reload()
    page.get_by_text("Nobody says.").first.wait_for()


def test_what_goes_wrong_is_said_where_the_answer_would_be(visit: Visit, scripted: Scripted) -> None:
    page = (visitor := visit()).page
    visitor.go(f"/ask?collection={quote(SHIPS)}&system=single%2Bno-such-retriever&q={quote(QUESTION)}")
    page.get_by_role("alert").get_by_text("no-such-retriever").first.wait_for()
    visitor.settle()
    assert not page.get_by_role("button", name="Stop").count()


def test_what_is_not_there_makes_no_client(application: Application) -> None:
    for place in ("/_nicegui/anything", "/_nicegui/0/components/none", "/nothing"):
        reply = httpx.get(f"{application.url}{place}", trust_env=False)
        assert (reply.status_code, len(reply.content) < 500) == (404, True), place


def test_nothing_of_the_pages_comes_without_a_key(neo4j_env: dict[str, str], tmp_path: Path) -> None:
    Keys(tmp_path / "keys.json").add("ships", "read")
    with Application({**neo4j_env, "KGRAG_HOME": str(tmp_path)}) as served:
        for place in ("/_nicegui/anything", "/_nicegui_ws/socket.io/?EIO=4&transport=polling"):
            assert httpx.get(f"{served.url}{place}", trust_env=False).status_code == 401, place
        assert httpx.get(f"{served.url}/login", trust_env=False).is_success


def test_each_key_sees_its_collections_alone(
    chromium: Browser, evaluations: Path, neo4j_env: dict[str, str], tmp_path: Path
) -> None:
    keys = Keys(tmp_path / "keys.json")
    ships, letters = keys.add("ships", "write", [SHIPS]), keys.add("letters", "read", [LETTERS])
    with (
        Application({**neo4j_env, "KGRAG_HOME": str(tmp_path), "KGRAG_SERVE__EVALUATIONS": str(evaluations)}) as served,
        Visitor(chromium, served.url) as one,
        Visitor(chromium, served.url) as other,
    ):
        one.log_in(ships)
        other.log_in(letters)
        one.page.get_by_role("link", name=SHIPS, exact=True).wait_for()
        other.page.get_by_role("link", name=LETTERS, exact=True).wait_for()
        assert not one.page.get_by_text(LETTERS, exact=True).count()
        assert not other.page.get_by_text(SHIPS).count()
        for place in (
            f"/ask?collection={quote(SHIPS)}&q=Solheim",
            f"/collections/{quote(SHIPS, safe='')}",
            f"/graph?collection={quote(SHIPS)}&name=Ingrid+Solheim",
            f"/queries/names?collection={quote(SHIPS)}&run=1",
        ):
            other.go(place)
            other.page.get_by_role("alert").get_by_text("There is no collection").wait_for()
        one.go("/evaluations")
        one.page.get_by_role("link", name="bm25").wait_for()
        other.go("/evaluations")
        other.page.get_by_text("Nothing was measured yet").wait_for()
        other.go(f"/evaluations/{kept(evaluations)[0].id}")
        other.page.get_by_role("alert").get_by_text("There is no evaluation").wait_for()
        other.go("/upload")
        other.page.get_by_text("it takes a key of role write").wait_for()
        assert other.page.context.cookies()[0]["httpOnly"]
        assert other.page.context.cookies()[0]["sameSite"] == "Lax"

        one.go(f"/ask?collection={quote(SHIPS)}&system=search%3A+bm25")
        one.page.get_by_label("Question").wait_for()
        keys.remove("ships")
        one.page.get_by_label("Question").fill("Solheim")
        one.page.get_by_label("Question").press("Enter")
        one.page.get_by_text("The key of this page is no longer known here.").wait_for()
        assert one.wrong == other.wrong == []
