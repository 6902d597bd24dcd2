"""Rules of every page: visibility by role, permissions of the browser, missing pages."""

from __future__ import annotations

import re
from pathlib import Path
from typing import TYPE_CHECKING
from urllib.parse import quote

import httpx
import pytest
from pages import LETTERS, SHIPS, Application, Visit, Visitor

from kgrag.server.keys import Keys

if TYPE_CHECKING:
    from playwright.sync_api import Browser

pytestmark = pytest.mark.browser


def test_nothing_runs_but_what_the_server_sends(application: Application) -> None:
    for place in ("/", "/ask/x", "/library", "/graph", "/admin", "/login", "/nothing"):
        reply = httpx.get(f"{application.url}{place}", trust_env=False)
        policy = reply.headers["content-security-policy"]
        assert "unsafe" not in policy and "script-src 'self'" in policy, place
        assert reply.status_code == (404 if place == "/nothing" else 200)
        assert not re.search("<script>|style=|onclick", reply.text)
    for place in ("/assets/nothing.js", "/assets/../pages.py", "/assets/%2e%2e/mount.py", "/assets/"):
        assert httpx.get(f"{application.url}{place}", trust_env=False).status_code == 404, place
    assert httpx.get(f"{application.url}/api/v1/nothing", trust_env=False).json()["kind"]


def test_nothing_of_the_data_comes_without_a_key(neo4j_env: dict[str, str], tmp_path: Path) -> None:
    Keys(tmp_path / "keys.json").add("ships", "read")
    with Application({**neo4j_env, "KGRAG_HOME": str(tmp_path)}) as served:
        for place in ("/", "/api/v1/start", "/ask/x", "/nothing"):
            assert httpx.get(f"{served.url}{place}", trust_env=False).status_code == 401, place
        asked = httpx.get(f"{served.url}/graph?name=x", headers={"Accept": "text/html"}, trust_env=False)
        assert (asked.status_code, asked.headers["location"]) == (303, "/login?next=/graph%3Fname%3Dx")
        for place in ("/login", "/assets/app.js", "/assets/style.css"):
            assert httpx.get(f"{served.url}{place}", trust_env=False).is_success, place


def test_each_key_sees_its_collections_alone(
    chromium: Browser, collections: None, neo4j_env: dict[str, str], tmp_path: Path
) -> None:
    keys = Keys(tmp_path / "keys.json")
    ships, letters = keys.add("ships", "write", [SHIPS]), keys.add("letters", "read", [LETTERS])
    with (
        Application({**neo4j_env, "KGRAG_HOME": str(tmp_path)}) as served,
        Visitor(chromium, served.url) as one,
        Visitor(chromium, served.url) as other,
    ):
        one.log_in(ships)
        other.log_in(letters)
        for visitor, own in ((one, SHIPS), (other, LETTERS)):
            chosen = visitor.page.get_by_label("Collection", exact=True)
            chosen.wait_for()
            assert chosen.inner_text().split("\n") == [own]
            assert not visitor.page.get_by_role("link", name="Admin").count()
        for place in (f"/passage/{quote(SHIPS, safe='')}/x", f"/document/{quote(SHIPS, safe='')}/voyage"):
            other.go(place)
            other.page.get_by_text("There is no collection").wait_for()
        other.go("/admin")
        other.page.get_by_text("There is no such page.").wait_for()
        cookie = other.page.context.cookies()[0]
        assert (cookie["httpOnly"], cookie["sameSite"]) == (True, "Lax")

        one.go("/")
        one.page.get_by_label("Question", exact=True).wait_for()
        keys.remove("ships")
        one.page.get_by_label("Question", exact=True).fill("Solheim")
        one.page.get_by_label("Question", exact=True).press("Enter")
        one.page.get_by_label("Your key").wait_for()
        assert one.wrong == other.wrong == []


def test_logged_in_one_comes_where_one_wanted_to(
    chromium: Browser, collections: None, neo4j_env: dict[str, str], tmp_path: Path
) -> None:
    token = Keys(tmp_path / "keys.json").add("anna", "admin")
    with Application({**neo4j_env, "KGRAG_HOME": str(tmp_path)}) as served, Visitor(chromium, served.url) as visitor:
        page = visitor.page
        visitor.go(f"/graph?collection={LETTERS}&name=Kari+Aune")
        page.get_by_label("Your key").fill("wrong")
        page.get_by_role("button", name="Log in").click()
        page.get_by_role("alert").get_by_text("This key is not known here.").wait_for()
        page.get_by_label("Your key").fill(token)
        page.get_by_role("button", name="Log in").click()
        page.wait_for_url(f"**/graph?collection={LETTERS}&name=Kari+Aune")
        page.get_by_role("button", name="Kari Aune, Name").wait_for()
        visitor.go(f"/?collection={LETTERS}")
        page.get_by_label("Question", exact=True).fill("Who is Kari?")
        page.context.clear_cookies()
        page.get_by_label("Question", exact=True).press("Enter")
        page.get_by_label("Your key").fill(token)
        page.get_by_role("button", name="Log in").click()
        page.get_by_role("heading", name=f"Ask about {LETTERS}").wait_for()
        assert page.get_by_label("Question", exact=True).input_value() == "Who is Kari?"
        page.get_by_label("Log out anna").click()
        page.get_by_label("Your key").wait_for()
        assert visitor.wrong == []


def test_a_page_tries_again_when_the_server_was_away(chromium: Browser, application: Application) -> None:
    away = iter([True, True, False, True])  # twice before the page appears, once before its documents
    missing = {"error": "The database does not answer now.", "remedy": ""}
    with Visitor(chromium, application.url) as visitor:
        visitor.page.route(
            re.compile("/api/v1/(start$|.*/documents)"),
            lambda route: route.fulfill(status=503, json=missing) if next(away, False) else route.continue_(),
        )
        visitor.go(f"/library?collection={LETTERS}")
        visitor.page.get_by_text("kgrag will try again.").first.wait_for()
        visitor.page.get_by_role("link", name="Kari", exact=True).wait_for()
        assert next(away, None) is None
    with Visitor(chromium, application.url) as visitor:
        with visitor.page.expect_request("**/api/v1/start") as asked:
            visitor.go("/")
        assert asked.value.all_headers()["cache-control"] == "no-cache", "else one tab waits for another's reply"


def test_the_theme_is_kept(visit: Visit) -> None:
    page = (visitor := visit()).page
    visitor.go("/")
    visitor.settle()
    light = page.evaluate("getComputedStyle(document.body).backgroundColor")
    page.get_by_label("Light or dark").click()
    dark = page.evaluate("getComputedStyle(document.body).backgroundColor")
    page.reload()
    visitor.settle()
    assert (page.evaluate("getComputedStyle(document.body).backgroundColor"), light != dark) == (dark, True)
