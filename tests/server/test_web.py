"""The web application as people use it: in Chromium, on a real server, with a PDF that is made here."""

from __future__ import annotations

import random
import re
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING
from urllib.parse import quote

import pypdfium2
import pytest
from made_pdfs import Maker, prose
from pages import Application, Visitor
from scripted import Scripted

from kgrag.client import KnowledgeGraph
from kgrag.server.keys import Keys
from kgrag.settings import Settings
from kgrag.types import Document, Section

if TYPE_CHECKING:
    from playwright.sync_api import Browser

pytestmark = pytest.mark.browser

_SHIPS, _LETTERS = "ships & <b>boats", "letters"
_QUESTION = "Where was the designer of the Aurora born?"
_DESIGNED = "The schooner Aurora was designed by Ingrid Solheim, who was born in Molde in 1861."
_HOSTILE = "Solheim kept <script>document.title = 'broken'</script> **notes** and [links](javascript:alert(1))."
_PLACES = (
    "/", "/ask?collection={c}&q=Solheim", "/upload", "/explore?collection={c}&name=Ingrid+Solheim",
    "/graph?collection={c}&name=Ingrid+Solheim", "/queries?collection={c}", "/queries/names?collection={c}&run=1",
    "/compare?collection={c}", "/runs", "/names?collection={c}", "/collections/{p}",
)  # fmt: skip

Visit = Callable[..., Visitor]


@pytest.fixture(scope="module")
def book(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A PDF of eight pages, of which the third says who designed the Aurora."""
    path, chance = tmp_path_factory.mktemp("books") / "voyage.pdf", random.Random(4)
    maker = Maker(path)
    for number in range(1, 9):
        maker.text(f"Chapter {number}", size=16, font="Helvetica-Bold")
        for place in range(5):
            maker.text(prose(chance, 5))
            if (number, place) == (3, 2):
                maker.text(_DESIGNED)
            if (number, place) == (6, 2):
                maker.text(_HOSTILE)
        maker.page()
    maker.canvas.save()
    return path


@pytest.fixture(scope="module")
def settings(graph_settings: Settings, kg: KnowledgeGraph, book: Path) -> Iterator[Settings]:
    """Settings of a home with a collection of ships, and one of letters."""
    kg[_SHIPS].ingest([book])
    kg[_LETTERS].ingest([Document("Kari", (Section("Kari Aune keeps a secret in Larvik."),), "Kari")])
    yield graph_settings
    for name in (_SHIPS, _LETTERS):
        kg[name].delete()


@pytest.fixture(scope="module")
def application(settings: Settings, neo4j_env: dict[str, str], scripted_server: Scripted) -> Iterator[Application]:
    with Application({**neo4j_env, **scripted_server.env()}) as served:
        yield served


@pytest.fixture
def visit(chromium: Browser, application: Application) -> Iterator[Visit]:
    """Opens browsers; in the end nothing went wrong in them."""
    visitors: list[Visitor] = []

    def opened(**options: bool) -> Visitor:
        visitors.append(Visitor(chromium, application.url, **options))
        return visitors[-1]

    yield opened
    for visitor in visitors:
        visitor.page.context.close()
        assert visitor.wrong == []


def test_a_citation_opens_the_page_with_its_words_marked(visit: Visit, scripted: Scripted, book: Path) -> None:
    scripted.say("answer", "In Molde [1]. <script>document.title = 'broken'</script> **so it is**")
    page = (visitor := visit()).page
    visitor.go(f"/ask?collection={quote(_SHIPS)}&system=single%2Bpathrank")
    page.get_by_label("Question").fill(_QUESTION)
    page.get_by_label("Question").press("Enter")
    page.get_by_text("**so it is**").wait_for()
    page.get_by_text(re.compile("^found$")).first.wait_for()
    page.get_by_role("link", name="[1]", exact=True).click()
    dialog = page.get_by_role("dialog")
    dialog.locator(".page-picture mark").first.wait_for()
    dialog.get_by_text("Page 3 of 8").wait_for()
    picture = dialog.locator(".page-picture").bounding_box()
    assert picture is not None
    boxes = []
    for mark in dialog.locator(".page-picture mark").all():
        box = mark.bounding_box()
        assert box is not None
        x, y = (box["x"] - picture["x"]) / picture["width"], (box["y"] - picture["y"]) / picture["height"]
        boxes.append((x, y, x + box["width"] / picture["width"], y + box["height"] / picture["height"]))
    for x, y in _middles(book, 3, _DESIGNED):
        assert any(x0 <= x <= x1 and y0 <= y <= y1 for x0, y0, x1, y1 in boxes), (x, y)
    for x, y in _middles(book, 3, "Chapter 3"):
        assert not any(x0 <= x <= x1 and y0 <= y <= y1 for x0, y0, x1, y1 in boxes)
    dialog.get_by_role("button", name="Next page").click()
    dialog.get_by_text("Page 4 of 8").wait_for()
    assert "broken" not in page.title()


def test_what_documents_say_is_no_html(visit: Visit) -> None:
    page = (visitor := visit()).page
    visitor.go(f"/ask?collection={quote(_SHIPS)}&system=search%3A+bm25&q=Solheim+kept+notes")
    page.get_by_role("link", name=re.compile("^1. voyage")).click()
    dialog = page.get_by_role("dialog")
    dialog.get_by_text(_HOSTILE).wait_for()
    assert not dialog.locator("script, strong, b, a[href^='javascript']").count()
    assert "broken" not in page.title()


def test_a_pdf_is_uploaded_watched_and_found(visit: Visit, kg: KnowledgeGraph, book: Path) -> None:
    page = (visitor := visit()).page
    name = "uploaded <i>here"
    visitor.go("/")
    page.get_by_label("Its name").fill(name)
    with_files = page.locator("input[type=file]:not([webkitdirectory])")
    with_files.wait_for()
    with_files.set_input_files([book, Path(__file__).parent.parent / "made_pdfs.py"])
    job = page.get_by_role("article").filter(has_text=name)
    job.get_by_text("done", exact=True).wait_for(timeout=120_000)
    try:
        visitor.go(f"/ask?collection={quote(name)}&system=search%3A+pathrank&q={quote(_QUESTION)}")
        page.get_by_role("link", name=re.compile(r"^1\. voyage, pp?\. 3")).click()
        page.get_by_role("dialog").locator(".page-picture mark").first.wait_for()
        assert kg[name].info().counts["Page"] >= 8
    finally:
        kg[name].delete()


def test_the_graph_is_expanded_filtered_and_pinned(visit: Visit) -> None:
    page = (visitor := visit()).page
    visitor.go(f"/graph?collection={quote(_SHIPS)}&name=Ingrid+Solheim")
    page.get_by_role("checkbox", name="Entity (1)").wait_for()
    before = page.get_by_role("checkbox", name=re.compile(r"^Passage \(\d")).inner_text()
    page.get_by_label("Node", exact=True).click()
    page.get_by_role("option", name=re.compile(r"\(Passage\)")).first.click()
    page.get_by_role("button", name="Pin").click()
    page.get_by_role("button", name="Let go").wait_for()
    page.get_by_role("button", name="Expand").click()
    page.get_by_role("checkbox", name=re.compile(r"^Page \(\d")).wait_for()
    assert page.get_by_role("checkbox", name=re.compile(r"^Passage \(\d")).inner_text() != before
    page.get_by_role("checkbox", name=re.compile(r"^Passage \(\d")).click()
    page.get_by_label("Node", exact=True).click()
    page.get_by_role("option", name=re.compile(r"\(Page\)")).first.wait_for()
    assert not page.get_by_role("option", name=re.compile(r"\(Passage\)")).count()


@pytest.mark.parametrize("narrow", [False, True], ids=["wide", "narrow"])
def test_every_page_fits_and_has_a_heading(visit: Visit, narrow: bool, tmp_path: Path) -> None:
    page = (visitor := visit(narrow=narrow)).page
    for number, place in enumerate(_PLACES):
        visitor.go(place.format(c=quote(_SHIPS), p=quote(_SHIPS, safe="")))
        page.get_by_role("heading", level=1).wait_for()
        page.locator(".q-spinner").wait_for(state="detached")
        page.screenshot(path=tmp_path / f"{number}.png")
        assert page.evaluate("document.documentElement.scrollWidth - innerWidth") <= 0, place
        assert not page.get_by_role("alert").count(), page.get_by_role("alert").inner_text()
    print(f"Screenshots: {tmp_path}")


def test_an_answer_is_kept_and_shown_again(visit: Visit, scripted: Scripted) -> None:
    scripted.say("answer", "In Molde [1].")
    page = (visitor := visit()).page
    visitor.go(f"/ask?collection={quote(_SHIPS)}&system=single%2Bpathrank&q={quote(_QUESTION)}")
    page.get_by_role("button", name="Keep it with its steps").click()
    page.get_by_role("heading", name="How it came about").wait_for()
    page.get_by_role("checkbox", name=re.compile(r"^Step \(1\)")).wait_for()
    visitor.go("/runs")
    page.get_by_role("link", name=_QUESTION).first.wait_for()


def test_each_key_sees_its_collections_alone(
    chromium: Browser, settings: Settings, neo4j_env: dict[str, str], tmp_path: Path
) -> None:
    keys = Keys(tmp_path / "keys.json")
    ships, letters = keys.add("ships", "write", [_SHIPS]), keys.add("letters", "read", [_LETTERS])
    with (
        Application({**neo4j_env, "KGRAG_HOME": str(tmp_path)}) as served,
        Visitor(chromium, served.url) as one,
        Visitor(chromium, served.url) as other,
    ):
        one.log_in(ships)
        other.log_in(letters)
        one.page.get_by_role("link", name=_SHIPS, exact=True).wait_for()
        other.page.get_by_role("link", name=_LETTERS, exact=True).wait_for()
        assert not one.page.get_by_text(_LETTERS, exact=True).count()
        assert not other.page.get_by_text(_SHIPS).count()
        for place in (
            f"/ask?collection={quote(_SHIPS)}&q=Solheim",
            f"/collections/{quote(_SHIPS, safe='')}",
            f"/graph?collection={quote(_SHIPS)}&name=Ingrid+Solheim",
            f"/queries/names?collection={quote(_SHIPS)}&run=1",
        ):
            other.go(place)
            other.page.get_by_role("alert").get_by_text("There is no collection").wait_for()
        other.go("/upload")
        other.page.get_by_text("it takes a key of role write").wait_for()
        assert other.page.context.cookies()[0]["httpOnly"]
        assert other.page.context.cookies()[0]["sameSite"] == "Strict"

        one.go(f"/ask?collection={quote(_SHIPS)}&system=search%3A+bm25")
        one.page.get_by_label("Question").wait_for()
        keys.remove("ships")
        one.page.get_by_label("Question").fill("Solheim")
        one.page.get_by_label("Question").press("Enter")
        one.page.get_by_text("The key of this page is no longer known here.").wait_for()
        assert one.wrong == other.wrong == []


def _middles(book: Path, number: int, text: str) -> list[tuple[float, float]]:
    """The middle of each character of a text on a page, as shares of the page from its top left corner."""
    with pypdfium2.PdfDocument(book) as pdf:
        page = pdf[number - 1]
        words = page.get_textpage()
        width, height = page.get_size()
        there = [place for place in range(words.count_chars()) if words.get_text_range(place, 1).strip()]
        letters, wanted = "".join(words.get_text_range(place, 1) for place in there), "".join(text.split())
        start = letters.find(wanted)
        assert start >= 0
        boxes = [words.get_charbox(place) for place in there[start : start + len(wanted)]]
        return [((left + right) / 2 / width, 1 - (low + high) / 2 / height) for left, low, right, high in boxes]
