"""The web application as people use it: in Chromium, on a real server, with a PDF that is made here."""

from __future__ import annotations

import re
from pathlib import Path
from typing import TYPE_CHECKING
from urllib.parse import quote

import pytest
from pages import HOSTILE, LETTERS, QUESTION, SHIPS, Application, Visit, Visitor
from scripted import Scripted

from kgrag.evaluation.kept import kept
from kgrag.server.keys import Keys

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
