"""The page of conversations in use: asked, continued, revisited, shared, stopped, and without a model."""

from __future__ import annotations

import re
from pathlib import Path
from typing import TYPE_CHECKING
from urllib.parse import quote

import pytest
from pages import DESIGNED, HOSTILE, LETTERS, QUESTION, SHIPS, Application, Visit, Visitor
from scripted import Scripted

from kgrag import KnowledgeGraph
from kgrag.server.keys import Keys
from kgrag.values.documents import Document, Section

if TYPE_CHECKING:
    from playwright.sync_api import Browser

pytestmark = pytest.mark.browser


def test_asked_followed_up_and_shared(
    chromium: Browser, environment: dict[str, str], scripted: Scripted, tmp_path: Path
) -> None:
    """Ask, follow up twice, open the cited page, share the address with a colleague of another key."""
    scripted.say("answer", "In **Molde** [1].", "In 1861 [1].", "A schooner [1].")
    scripted.say("follow-up", "When was Ingrid Solheim born?", "Which ship did Ingrid Solheim design?")
    keys = Keys(tmp_path / "keys.json")
    mine, theirs, foreign = (
        keys.add("anna", "read"),
        keys.add("bela", "read", [SHIPS]),
        keys.add("kari", "read", [LETTERS]),
    )
    with Application(environment) as served, Visitor(chromium, served.url) as anna:
        page = anna.page
        anna.log_in(mine)
        anna.ask(QUESTION, SHIPS, "Fast")
        page.locator(".answer strong", has_text="Molde").wait_for()
        page.get_by_text("Page 3 of 8").wait_for()
        page.locator(".page-picture mark.dark").first.wait_for()
        anna.ask("And when?")
        page.get_by_text("Understood as: When was Ingrid Solheim born?").wait_for()
        page.locator(".answer", has_text="In 1861").wait_for()
        anna.ask("What did she design?")
        page.locator(".answer", has_text="A schooner").wait_for()
        assert page.locator(".turn").count() == 3
        page.get_by_role("button", name=re.compile("^Source 1: ")).last.click()
        page.get_by_label("Copy the address of this answer").last.click()
        page.get_by_text("The address is copied.").wait_for()
        address = page.evaluate("navigator.clipboard.readText()").removeprefix(served.url)
        paid = len(scripted.calls)
        with Visitor(chromium, served.url) as bela, Visitor(chromium, served.url) as kari:
            bela.log_in(theirs)
            bela.go(address)
            bela.page.locator(".answer", has_text="A schooner").wait_for()
            bela.page.get_by_text("This conversation belongs to somebody else").wait_for()
            assert not bela.page.get_by_label("Ask again").count()
            kari.log_in(foreign)
            kari.go(address)
            kari.page.get_by_role("alert").get_by_text("There is no such conversation.").wait_for()
            assert bela.wrong == kari.wrong == []
        assert (len(scripted.calls), anna.wrong) == (paid, [])


def test_come_back_to_yesterdays_answer(chromium: Browser, environment: dict[str, str], scripted: Scripted) -> None:
    scripted.say("answer", "In Molde [1].", "In Molde, once more [1].", "In 1861 [1].", "In Molde, a third time [1].")
    with Application(environment) as served, Visitor(chromium, served.url) as visitor:
        visitor.ask(QUESTION, SHIPS, "Fast")
        visitor.page.locator(".answer", has_text="In Molde").wait_for()
        paid = len(scripted.calls)
        visitor.page.reload()
        visitor.page.locator(".answer", has_text="In Molde").wait_for()
        visitor.go("/graph")
        visitor.page.go_back()
        visitor.page.locator(".answer", has_text="In Molde").wait_for()
    with Application(environment) as served, Visitor(chromium, served.url) as visitor:
        page = visitor.page
        visitor.go("/")
        page.locator(".history").get_by_role("link", name=QUESTION).click()
        page.locator(".answer", has_text="In Molde").wait_for()
        page.get_by_text("How it came about: 1 step").click()
        page.locator(".steps .line", has_text="found").first.wait_for()
        assert len(scripted.calls) == paid
        page.get_by_label("Ask again").first.click()
        page.locator(".answer", has_text="In Molde, once more").wait_for()
        assert len(scripted.calls) > paid
        visitor.ask("And when?")
        page.locator(".answer", has_text="In 1861").wait_for()
        page.get_by_label("Ask again").first.click()
        page.locator(".question-bar", has_text="3 of 3").wait_for()
        assert page.locator(".answer").all_inner_texts() == ["In Molde, a third time1."]
        page.get_by_role("button", name="Undo").click()
        page.locator(".question-bar", has_text="2 of 3").wait_for()
        page.locator(".answer", has_text="In 1861").wait_for()
        page.get_by_label("Version before").click()
        page.locator(".question-bar", has_text="1 of 3").wait_for()
        page.reload()
        page.locator(".question-bar", has_text="1 of 3").wait_for()
        assert page.locator(".answer").all_inner_texts() == ["In Molde1."]
        page.get_by_label("Remove this conversation").click()
        page.get_by_role("button", name="Remove", exact=True).click()
        page.get_by_role("heading", name="Ask about").wait_for()
        page.locator(".history a").first.wait_for(state="detached")
        assert visitor.wrong == []


def test_stopped_edited_and_rated(visit: Visit, scripted: Scripted, kg: KnowledgeGraph) -> None:
    scripted.say("answer", "In Molde [1].")
    scripted.delay(3)
    page = (visitor := visit()).page
    visitor.ask("Where was she born?", SHIPS, "Fast")
    page.get_by_role("button", name="Stop").click()
    page.get_by_text("Stopped.").wait_for()
    scripted.delay(0)
    page.get_by_label("Edit the question").click()
    assert page.get_by_label("Question", exact=True).input_value() == "Where was she born?"
    visitor.ask(QUESTION)
    page.locator(".answer", has_text="In Molde").wait_for()
    assert page.locator(".turn").count() == 1
    page.get_by_label("Not a good answer").click()
    assert page.get_by_role("textbox", name="What is wrong with it?").evaluate("its => its === document.activeElement")
    page.get_by_role("textbox", name="What is wrong with it?").fill("It says too little.")
    page.get_by_role("button", name="Send").click()
    page.get_by_text("Thank you.").wait_for()
    page.locator("[aria-pressed=true][aria-label='Not a good answer']").wait_for()
    (run,) = [run for run in kg[SHIPS].runs() if run.good is False]
    assert (run.remark, run.question) == ("It says too little.", QUESTION)
    kg.delete_runs([run.id])
    with page.expect_download() as begun:
        page.get_by_label("Download").click()
        page.get_by_role("button", name="Markdown, for reading").click()
    assert DESIGNED in Path(begun.value.path()).read_text(encoding="utf-8").replace("\n> ", " ")
    page.get_by_label("Draw the trail").click()
    page.get_by_role("dialog").locator("svg [role=button]").first.wait_for()


def test_without_a_model_there_is_search(
    chromium: Browser, collections: None, neo4j_env: dict[str, str], tmp_path: Path
) -> None:
    with Application({**neo4j_env, "KGRAG_HOME": str(tmp_path)}) as served, Visitor(chromium, served.url) as visitor:
        page = visitor.page
        visitor.go(f"/?collection={LETTERS}")
        page.get_by_text("Search only: no language model configured.").wait_for()
        assert page.get_by_label("How it is answered").inner_text().split("\n") == ["Search only", "Advanced …"]
        visitor.ask("Who keeps a secret?", LETTERS)
        page.locator(".found").get_by_text("Kari Aune keeps a").wait_for()
        page.locator(".found .hop-title").first.click()
        page.get_by_role("region", name="Sources").locator("mark", has_text="Kari Aune keeps a secret").wait_for()
        assert visitor.wrong == []


def test_what_documents_and_models_say_is_no_html(visit: Visit, scripted: Scripted) -> None:
    said = (
        "So **it is** [1]. <script>document.title = 'broken'</script> <img src=x onerror=\"document.title='broken'\"> "
        "![p](https://evil.example/p.png) [a](javascript:document.title='broken') [b](https://example.org/)\n\n"
        "| a | b |\n|---|--:|\n| <b>c</b> | `d` |\n\n- [x] done\n- [ ] open\n\n```\n<i>e</i>\n```"
    )
    scripted.say("answer", said)
    page = (visitor := visit()).page
    visitor.ask("Solheim kept notes", SHIPS, "Fast")
    answer = page.locator(".answer")
    answer.locator("table td", has_text="<b>c</b>").wait_for()
    assert answer.locator("td").last.evaluate("its => getComputedStyle(its).textAlign") == "right"
    assert answer.locator("li").all_inner_texts() == ["☑ done", "☐ open"]
    assert not answer.locator("script, img, b, i, [onerror], a[href^='javascript']").count()
    assert answer.locator("a[href='https://example.org/']").get_attribute("rel") == "noreferrer noopener"
    assert answer.locator("pre code", has_text="<i>e</i>").count() == 1
    visitor.ask("Solheim kept notes", SHIPS, "Search only")
    page.locator(".found").get_by_text("[links](javascript:alert(1))").first.wait_for()
    page.locator(".found .hop-title").first.click()
    page.locator(".passage-text").get_by_text("The passage", exact=True).click()
    page.locator(".passage-text .text", has_text=HOSTILE).wait_for()
    assert not page.locator("main script, main .text b, main a[href^='javascript']").count()
    assert "broken" not in page.title()


def test_a_removed_document_changes_the_answer(
    visit: Visit, kg: KnowledgeGraph, scripted: Scripted, collection_name: str
) -> None:
    scripted.say("answer", "In Larvik [1].", "Nobody says.")
    kg[collection_name].ingest([Document("Kari", (Section("Kari Aune keeps a secret in Larvik."),), "Kari")])
    page = (visitor := visit()).page
    visitor.ask("Where is the secret?", collection_name, "Fast")
    page.locator(".answer", has_text="In Larvik").wait_for()
    kg[collection_name].delete(["Kari"])
    kg[collection_name].ingest([Document("Ada", (Section("Ada Lund keeps no secret."),), "Ada")])
    page.reload()
    page.get_by_text("Documents behind this answer were removed or changed since.").wait_for()
    assert not page.get_by_text("Kari Aune keeps a secret").count()
    page.get_by_role("note").get_by_role("button", name="Ask again").click()
    page.locator(".answer", has_text="Nobody says.").wait_for()


def test_what_goes_wrong_is_said_where_the_answer_would_be(visit: Visit, scripted: Scripted) -> None:
    scripted.fail("400:The model is on holiday.", "400:The model is on holiday.")
    page = (visitor := visit()).page
    visitor.ask(QUESTION, SHIPS, "Fast")
    page.get_by_role("alert").get_by_text("on holiday").wait_for()
    assert not page.get_by_role("button", name="Stop").count()
    visitor.go(f"/?collection={quote(SHIPS)}&q=Solheim&system=single%2Bno-such-retriever")
    page.get_by_role("alert").get_by_text("no-such-retriever").wait_for()


def test_how_an_answer_ended_is_said(chromium: Browser, environment: dict[str, str], scripted: Scripted) -> None:
    long = " ".join(f"She sailed in {year} [1]." for year in range(1861, 2161))
    scripted.say("answer", "Not in the evidence.", "She was painted green.", f"In Molde [1]. {long}")
    with (
        Application({**environment, "KGRAG_SERVE__DEADLINE": "20"}) as served,
        Visitor(chromium, served.url) as visitor,
    ):
        page = visitor.page
        pane = page.get_by_role("region", name="Sources")
        missing, uncited = (
            "did not find it in the passage that was read.",
            "cites nothing from the passage that was read.",
        )
        for said in (f"The model {missing}", f"This answer {uncited}"):
            visitor.ask(QUESTION, SHIPS, "Fast")
            page.locator(".ending ~ .answer").wait_for()
            assert page.locator(".ending").inner_text() == said
            pane.locator(".chip:not(.more)").wait_for()
            pane.get_by_label("Close the sources").click()
            page.get_by_role("button", name="1 passage").click()
            pane.locator(".source-head").wait_for()
        scripted.drip(0.1)
        visitor.ask(QUESTION, SHIPS, "Fast")
        page.locator(".ending", has_text="Cut short: the answer timed out.").wait_for()
        scripted.drip(0)
        assert page.locator(".answer").inner_text().startswith("In Molde")
        assert page.get_by_role("alert").get_by_role("button", name="Ask again").count() and visitor.wrong == []


def test_what_is_typed_is_kept(chromium: Browser, environment: dict[str, str]) -> None:
    with Visitor(chromium, "http://127.0.0.1") as visitor:
        page = visitor.page
        with Application(environment) as served:
            page.goto(f"{served.url}/?collection={LETTERS}")
            field = page.get_by_label("Question", exact=True)
            field.fill("Who? " * 2001)
            field.press("Enter")
            page.get_by_role("button", name="Add as a document").wait_for()
            page.reload()
            assert len(field.input_value()) == 10_005, "nothing of it is cut off"
            field.fill("Who?")
        field.press("Enter")
        page.get_by_role("alert").get_by_text("The server cannot be reached.").wait_for()
        assert field.input_value() == "Who?"


def test_a_collection_without_documents_says_so(visit: Visit, kg: KnowledgeGraph, collection_name: str) -> None:
    kg[collection_name].ingest([Document("one", (Section("One boat."),), "one")])
    kg[collection_name].delete(["one"])
    page = (visitor := visit()).page
    visitor.ask("Which boat?", collection_name)
    page.locator(".note:not(.wrong)", has_text="holds no documents yet.").wait_for()
    with page.expect_response("**/api/v1/collections/*"):
        page.get_by_label("Question", exact=True).press("Enter")
    page.locator(".note").get_by_role("button", name="Add documents").click()  # shown once
    page.get_by_text("Drop files or a folder here").wait_for()
