"""Readers of the pages see new text, find collections by address, and lose nothing."""

from __future__ import annotations

import re
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import TYPE_CHECKING
from urllib.parse import quote

import pytest
from pages import LETTERS, QUESTION, SHIPS, Application, Visit, Visitor
from scripted import Scripted

from kgrag import KnowledgeGraph
from kgrag.server.conversations import Conversations, Turn
from kgrag.server.keys import Keys
from kgrag.values.documents import Document, Section

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Page

pytestmark = pytest.mark.browser

_CREW = "crew"
_TEXTS = {
    "Fjord Queen": "The Fjord Queen was a steamer. Her captain was Ole Brandvik.",
    "Ole Brandvik": "Ole Brandvik was born in Nordvika. His ship was sold later.",
}
_CAPTAIN = "Where was the captain of the Fjord Queen born?"
_FRAME = 1000 / 60  # milliseconds


@pytest.fixture
def crew(kg: KnowledgeGraph) -> Iterator[KnowledgeGraph]:
    """A collection whose answers need two documents."""
    kg[_CREW].ingest([Document(title, (Section(text),), title) for title, text in _TEXTS.items()])
    yield kg
    kg[_CREW].delete()


def _wait_for_end(page: Page, number: int = 1) -> None:
    page.locator(".turn .bar").nth(number - 1).wait_for()
    page.locator(".spinner").first.wait_for(state="detached")


def test_a_thousand_conversations_are_read_and_found(
    chromium: Browser, collections: None, neo4j_env: dict[str, str], tmp_path: Path
) -> None:
    now = datetime.now(UTC)
    kept = Conversations(tmp_path / "conversations.sqlite3", 2000)
    for number in range(1000):
        when = (now - timedelta(hours=number)).isoformat()
        kept.add(Turn(f"t{number}", f"c{number}", "", (LETTERS,), f"Question {number} of Kari", "", "bm25", when))
    with Application({**neo4j_env, "KGRAG_HOME": str(tmp_path)}) as served, Visitor(chromium, served.url) as visitor:
        page = visitor.page
        visitor.go("/")
        rows = page.locator(".history a")
        rows.nth(99).wait_for(state="attached")
        assert min(box["height"] for n in (0, 20, 40) if (box := rows.nth(n).bounding_box())) > 20
        assert page.locator(".history h2").all_inner_texts()[:2] == ["Today", "Yesterday"] and rows.count() == 100
        took = page.evaluate(
            """async () => { const box = document.querySelector(".history"), times = [];
            for (let n = 0, last = performance.now(); n < 600 && box.scrollTop < 10000; n++) { box.scrollTop += 300;
              await new Promise(requestAnimationFrame);
              times.push(performance.now() - last); last = performance.now(); }
            return [box.scrollTop, times.sort((a, b) => a - b)[Math.floor(times.length / 2)]]; }"""
        )
        assert took[0] >= 10_000, "older ones come while one scrolls"
        assert took[1] < 2 * _FRAME
        page.locator(".history").evaluate("its => { its.scrollTop = 5000; }")
        rows.nth(190).click()
        page.locator(".question", has_text="Question 190 of Kari").wait_for()
        assert page.locator(".history").evaluate("its => its.scrollTop") == 5000
        page.get_by_label("Find a conversation").fill("of 777")
        rows.nth(1).wait_for(state="detached")
        visitor.ask("Who is Kari?", how="Search only")
        page.locator(".question", has_text="Who is Kari?").wait_for()
        assert rows.all_inner_texts() == ["Question 777 of Kari"], "a question does not end the search"
        assert visitor.wrong == []


def test_what_is_written_is_in_sight_and_does_not_move(crew: KnowledgeGraph, visit: Visit, scripted: Scripted) -> None:
    scripted.say("answer", *["In Nordvika [2]. " + "He was a captain [2]. " * 150] * 2)
    scripted.say("follow-up", _CAPTAIN)
    page = (visitor := visit()).page
    visitor.ask(_CAPTAIN, _CREW, "Fast")
    _wait_for_end(page)
    scripted.drip(0.01)
    try:
        visitor.ask("And where was he born?")
        page.locator(".turn").nth(1).locator(".answer .cite").first.wait_for()
        talk, question = page.locator(".talk").bounding_box(), page.locator(".question").nth(1).bounding_box()
        assert talk and question
        assert question["y"] < talk["y"] + 200, "the question is at the top"
        page.locator(".turn").nth(1).locator(".cite").first.click()
        page.locator(".source-head").get_by_text("Ole Brandvik").wait_for()
        _wait_for_end(page, 2)
        after = page.locator(".talk").bounding_box()
        assert after and after["width"] == talk["width"]
        end, shown = page.locator(".turn").nth(1).locator(".answer").bounding_box(), after["y"] + after["height"]
        assert end and question["y"] - talk["y"] < 200 and end["y"] < shown
    finally:
        scripted.drip(0)


def test_what_is_written_keeps_selection_and_focus_and_is_spoken_once(
    crew: KnowledgeGraph, visit: Visit, scripted: Scripted
) -> None:
    years = " ".join(f"He sailed in {year} [2]." for year in range(1861, 1961))
    scripted.say("answer", f"Ole was born in Nordvika [2]. {years}")
    scripted.drip(0.01)
    page = (visitor := visit()).page
    visitor.ask(_CAPTAIN, _CREW, "Fast")
    cite = page.locator(".answer .cite").first
    cite.focus()
    page.evaluate("getSelection().selectAllChildren(document.querySelector('.answer').firstChild)")
    before = page.evaluate("getSelection().toString()")
    _wait_for_end(page)
    scripted.drip(0)
    assert page.evaluate("getSelection().toString()").startswith(before) and before.startswith("Ole was born")
    assert cite.evaluate("its => its === document.activeElement")
    spoken, shown = page.locator("[role=log]").inner_text(), page.locator(".answer").inner_text()
    assert "".join(spoken.split()) == "".join(shown.split())
    assert page.locator("[aria-live]").count() == 0
    page.keyboard.press("Enter")
    assert page.locator(".source-head h2").evaluate("its => its === document.activeElement")
    page.locator("mark.dark", has_text="Ole Brandvik was born in Nordvika.").wait_for()
    assert page.locator("[role=tab][tabindex='0']").inner_text() == "2"
    page.keyboard.press("Escape")
    assert cite.evaluate("its => its === document.activeElement")


def test_each_tab_and_address_has_its_own_collection(visit: Visit) -> None:
    visitor = visit()
    first = visitor.page
    visitor.go(f"/?collection={quote(SHIPS)}")
    first.get_by_role("heading", name=f"Ask about {SHIPS}").wait_for()
    second = first.context.new_page()
    second.goto(first.url.partition("?")[0] + f"?collection={LETTERS}")
    second.get_by_role("heading", name=f"Ask about {LETTERS}").wait_for()
    first.get_by_role("link", name="Library").click()
    first.wait_for_url(f"**/library?collection={quote(SHIPS, safe='')}".replace("%20", "*").replace("%3C", "*"))
    assert first.get_by_label("Collection", exact=True).first.input_value() == SHIPS
    first.reload()
    assert first.get_by_label("Collection", exact=True).first.input_value() == SHIPS
    visitor.go("/?collection=hidden")
    first.get_by_text("There is no collection “hidden”").wait_for()
    visitor.go(f"/graph?collection={LETTERS}&name=Larvik")
    first.locator(".graph-spot").first.wait_for()
    first.wait_for_url(re.compile(f"collection={LETTERS}"))


def test_a_conversation_chooses_its_collection_and_opens_its_sources(
    crew: KnowledgeGraph, visit: Visit, scripted: Scripted
) -> None:
    scripted.say("answer", "In Nordvika [2].")
    page = (visitor := visit()).page
    visitor.ask(_CAPTAIN, _CREW, "Fast")
    _wait_for_end(page)
    talk = page.url
    visitor.go(f"/?collection={LETTERS}")
    page.goto(talk)
    page.locator(".source-head").get_by_text("Ole Brandvik").wait_for()
    assert page.get_by_label("Collection", exact=True).first.input_value() == _CREW
    page.get_by_role("tab", name="Source 2").focus()
    page.keyboard.press("ArrowRight")
    page.locator("[role=tab][aria-selected=true]", has_text="·").wait_for()
    visitor.ask(_CAPTAIN, _CREW, "Search only")
    page.locator(".found").first.wait_for()
    page.locator(".source-head").wait_for()
    page.get_by_label("Draw the trail").click()
    page.locator("dialog .graph-spot").first.wait_for()
    labels = page.locator("dialog .graph-spot").evaluate_all(
        "all => all.map((one) => one.ariaLabel.split(', ').at(-1))"
    )
    assert set(labels) == {"Question", "Name", "Passage"}
    box = page.locator("dialog").bounding_box()
    assert box and box["width"] > 1000
    assert page.locator("dialog .graph-legend[open]").count() == 0


def test_back_on_a_phone_closes_a_source(crew: KnowledgeGraph, visit: Visit, scripted: Scripted) -> None:
    scripted.say("answer", "In Nordvika [2].")
    page = (visitor := visit(narrow=True)).page
    visitor.ask(_CAPTAIN, _CREW, "Fast")
    _wait_for_end(page)
    talk = page.url
    page.locator(".cite").first.click()
    page.locator(".source-head").wait_for()
    page.go_back()
    page.locator(".sources").wait_for(state="hidden")
    assert page.url == talk
    page.locator(".answer", has_text="In Nordvika").wait_for()
    page.locator(".turn").evaluate("its => { its.dataset.mine = 'same'; }")
    page.locator(".cite").first.click()
    page.get_by_label("Close the sources").click()
    page.wait_for_function("!history.state?.source")
    page.wait_for_timeout(300)
    assert page.locator(".turn[data-mine=same]").count() == 1, "the page was not drawn again"
    brand = page.locator(".brand").bounding_box()
    assert brand and brand["height"] < 40


def test_what_no_source_says_is_named_and_not_marked(crew: KnowledgeGraph, visit: Visit, scripted: Scripted) -> None:
    scripted.say("answer", "He was born in Nordvika [2]. Ole Brandvik emigrated to Boston in 1901 [2].")
    page = (visitor := visit()).page
    visitor.ask(_CAPTAIN, _CREW, "Fast")
    _wait_for_end(page)
    page.get_by_text("Not supported by the passages: “Ole Brandvik emigrated to Boston in 1901.”").wait_for()
    page.locator("mark.dark", has_text="Ole Brandvik was born in Nordvika.").wait_for()
    page.locator(".cite").nth(1).click()
    page.locator("mark.dark").wait_for(state="detached")


def test_a_model_that_fails_leaves_what_there_is(crew: KnowledgeGraph, visit: Visit, scripted: Scripted) -> None:
    scripted.fail(*["500"] * 5, "401", task="answer")
    page = (visitor := visit()).page
    visitor.ask(_CAPTAIN, _CREW, "Fast")
    page.get_by_text("The language model does not answer; trying again (").wait_for()
    page.locator(".source-head").wait_for()
    page.get_by_role("alert").wait_for()
    page.get_by_text("These passages were found:").wait_for()
    page.locator(".found li").nth(1).wait_for()


def test_sent_twice_it_is_asked_once_and_renamed(crew: KnowledgeGraph, visit: Visit, scripted: Scripted) -> None:
    scripted.say("answer", "ولد في نوردفيكا [2].")
    page = (visitor := visit()).page
    visitor.go(f"/?collection={_CREW}")
    field = page.get_by_label("Question", exact=True)
    field.fill(_CAPTAIN)
    field.evaluate("its => { for (const n of [1, 2]) its.form.requestSubmit(); }")
    _wait_for_end(page)
    assert page.locator(".turn").count() == 1
    assert page.locator(".answer p").first.evaluate("its => getComputedStyle(its).direction") == "rtl"
    page.get_by_label("Rename this conversation").click()
    page.get_by_role("textbox", name="Name").fill("The captain")
    page.keyboard.press("Enter")
    page.locator(".history").get_by_role("link", name="The captain", exact=True).wait_for()


def test_the_page_of_a_document_begins_at_its_top_and_marks_what_is_cited(
    visit: Visit, scripted: Scripted, book: Path
) -> None:
    scripted.say("answer", "Ingrid Solheim, who designed the schooner Aurora, was born in Molde [1].")
    page = (visitor := visit()).page
    visitor.ask(QUESTION, SHIPS, "Fast")
    _wait_for_end(page)
    page.locator(".page-picture mark.dark").first.wait_for()
    page.get_by_role("link", name="In its document").click()
    page.locator(".page-picture mark.dark").first.wait_for()
    page.get_by_text("Page 3 of 8").wait_for()
    assert page.locator("dt", has_text="Before and after it").locator(".badge").inner_text() == "2"
    page.get_by_label("Larger").click()
    picture, frame = page.locator(".page-picture").bounding_box(), page.locator(".page-frame").bounding_box()
    assert picture and frame and 1.4 < picture["width"] / frame["width"] < 1.6
    with page.expect_response("**/original?*") as reply:
        page.get_by_role("button", name="Open the original").click()
    assert reply.value.headers["content-type"] == "application/pdf"
    page.locator(".page-body header a").nth(1).click()
    page.get_by_text("Page 1 of 8").wait_for()
    page.locator(".page-picture img").wait_for()
    assert page.locator("#main").evaluate("its => its.scrollTop") == 0


def test_a_server_without_documents_and_an_unknown_price(
    chromium: Browser, crew: KnowledgeGraph, environment: dict[str, str], scripted: Scripted, tmp_path: Path
) -> None:
    scripted.say("answer", "In Nordvika [2].")
    keys = Keys(tmp_path / "keys.json")
    nothing, ruler = keys.add("nothing", "read", ["none"]), keys.add("ruler", "admin")
    with Application(environment) as served:
        with Visitor(chromium, served.url) as visitor:
            visitor.log_in(nothing)
            visitor.go("/graph")
            visitor.page.get_by_text("Nothing to draw yet").wait_for()
        with Visitor(chromium, served.url) as visitor:
            visitor.log_in(ruler)
            visitor.ask(_CAPTAIN, _CREW, "Fast")
            _wait_for_end(visitor.page)
            visitor.go("/admin?tab=spending")
            visitor.page.get_by_role("cell", name="not known").first.wait_for()
            visitor.go(f"/graph?collection={_CREW}&name=Ole%20Brandvik")
            visitor.page.locator(".graph-details dl").wait_for()
            shown = visitor.page.locator(".graph-details dt").all_inner_texts()
            assert not {"ntit", "df", "similar_floor", "normal", "id"} & set(shown), shown


def test_what_an_answer_leads_on_to_is_asked_by_a_button(
    crew: KnowledgeGraph, visit: Visit, scripted: Scripted
) -> None:
    text = "Nordvika is a village in a fjord. The Fjord Queen was built there by a firm of shipwrights."
    crew[_CREW].ingest([Document("Nordvika", (Section(text),), "Nordvika")])
    scripted.say("answer", "In Nordvika [2], after the Fjord Queen [1].", "It is a village [1].")
    scripted.say("follow-up", "What is Nordvika?")
    page = (visitor := visit()).page
    visitor.ask(_CAPTAIN, _CREW, "Fast")
    _wait_for_end(page)
    buttons = page.locator(".follow-ups:visible button")
    buttons.first.wait_for()
    assert buttons.all_inner_texts() == ["How are Fjord Queen and Nordvika connected?", "What is Nordvika?"]
    buttons.nth(1).click()
    page.locator(".question", has_text="What is Nordvika?").wait_for()
    _wait_for_end(page, 2)
    assert page.locator(".turn").nth(0).locator(".follow-ups:visible").count() == 0
    assert "What is Nordvika?" not in buttons.all_inner_texts()
