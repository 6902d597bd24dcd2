"""Citations open the page of the PDF with exactly the cited words marked."""

from __future__ import annotations

import re
from collections import Counter
from pathlib import Path
from random import Random
from typing import TYPE_CHECKING, NamedTuple

import pdfplumber
import pytest
from made_pdfs import prose
from markdown_it import MarkdownIt
from openai import OpenAI
from pages import DESIGNED, QUESTION, SHIPS, Application, Visit, print_pdf
from scripted import Scripted

from kgrag import KnowledgeGraph

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Locator

pytestmark = pytest.mark.browser

_DOCS = sorted((Path(__file__).parents[3] / "docs").glob("*.md"))
_CHAPTER = f"<h2>A schooner</h2><p class=whole>She sailed for forty years. {DESIGNED} Nobody else drew a line.</p>"
# A separate page with prose in columns: marks must not depend on the documentation beside it. Lines and cells fit their
# columns; overflowing words would mix with the next column's.
_STYLE = (
    "body { font: 13pt/1.5 serif } article { column-count: 2; column-gap: 3em } .whole { break-inside: avoid }"
    ".apart { break-before: page; break-after: page }"
    "table { font-size: 8pt; table-layout: fixed; width: 100% }"
    "pre { white-space: pre-wrap } * { overflow-wrap: anywhere }"
)
# Wait for the picture's height, and read all boxes at once, since the page moves when a picture loads.
_BOXES = """async (picture, kind) => {
    await picture.querySelector("img").decode();
    const page = picture.getBoundingClientRect();
    return [...picture.querySelectorAll(kind)].map(mark => mark.getBoundingClientRect()).map(box => [
        (box.left - page.left) / page.width, (box.top - page.top) / page.height,
        (box.right - page.left) / page.width, (box.bottom - page.top) / page.height,
    ]);
}"""
_EDGE = '<div style="font-size: 8px; width: 100%; text-align: center">'


class Word(NamedTuple):
    """A word of a page; its centre as shares of the page from its top left corner."""

    text: str
    x: float
    y: float


@pytest.fixture(scope="module")
def manual(chromium: Browser, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The project's own documentation as a book: headings, tables, columns and a footer on each page."""
    markdown = MarkdownIt("commonmark").enable("table")
    articles = [f"<article>{markdown.render(path.read_text(encoding='utf-8'))}</article>" for path in _DOCS]
    chance = Random(7)
    before, after = ("".join(f"<p>{prose(chance, 6)}</p>" for _ in range(4)) for _ in range(2))
    articles.insert(len(articles) // 2, f"<article class=apart>{before}{_CHAPTER}{after}</article>")
    return print_pdf(
        chromium,
        tmp_path_factory.mktemp("manual") / "manual.pdf",
        f"<title>Manual</title><style>{_STYLE}</style>{''.join(articles)}",
        display_header_footer=True,
        header_template=f"{_EDGE}The manual</div>",
        footer_template=f"{_EDGE}Leaf <span class='pageNumber'></span></div>",
        margin={"top": "18mm", "bottom": "18mm", "left": "12mm", "right": "12mm"},
    )


def test_what_is_cited_is_marked(visit: Visit, scripted: Scripted, book: Path) -> None:
    scripted.say("answer", "The Aurora was designed by Ingrid Solheim, who was born in Molde [1].")
    page = (visitor := visit()).page
    visitor.ask(QUESTION, SHIPS, "Fast")
    page.get_by_role("button", name=re.compile("^Source 1: ")).first.click()
    pane = page.get_by_role("region", name="Sources")
    pane.get_by_text("Page 3 of 8").wait_for()
    marked, others = _parted(_words(book, 3), pane)
    assert set(DESIGNED.split()) <= {word.text for word in marked}
    assert {"Chapter"} <= {word.text for word in others}
    darker, _ = _parted(_words(book, 3), pane, "mark.dark")
    assert [word.text for word in darker] == DESIGNED.split(), "the sentence that bears it out, and no other"
    pane.get_by_role("button", name="Next page").click()
    pane.get_by_text("Page 4 of 8").wait_for()
    pane.get_by_label("Close the sources").click()
    assert not pane.is_visible()


def test_a_citation_of_a_chat_client_opens_the_passage(
    visit: Visit, application: Application, scripted: Scripted
) -> None:
    scripted.say("answer", "In Molde [1].")
    with OpenAI(base_url=f"{application.url}/v1", api_key="none") as client:
        completion = client.chat.completions.create(
            model=f"{SHIPS}:single+pathrank", messages=[{"role": "user", "content": QUESTION}]
        )
    (annotation,) = completion.choices[0].message.annotations or ()
    page = (visitor := visit()).page
    visitor.go(annotation.url_citation.url.removeprefix(application.url))
    page.get_by_text(DESIGNED).wait_for()
    page.get_by_text("Page 3 of 8").wait_for()
    page.get_by_text("Names in it").wait_for()
    page.get_by_role("link", name="Ingrid Solheim").first.click()
    page.get_by_role("button", name="Ingrid Solheim, Name").wait_for()


@pytest.mark.timeout(600)
def test_a_book_is_uploaded_asked_and_its_words_found(
    visit: Visit, scripted: Scripted, kg: KnowledgeGraph, collection_name: str, manual: Path
) -> None:
    scripted.say("answer", "In Molde [1].")
    page = (visitor := visit()).page
    visitor.upload(collection_name, manual)
    page.get_by_role("heading", name="1 file read").wait_for(timeout=240_000)
    assert kg[collection_name].info().counts["Page"] >= 60

    page.wait_for_url(f"**/library?collection={collection_name}")  # a new one is opened
    page.get_by_role("link", name="Ask", exact=True).click()
    visitor.ask(QUESTION, how="Fast")
    page.get_by_role("button", name=re.compile("^Source 1: ")).first.click()
    pane = page.get_by_role("region", name="Sources")
    shown = pane.get_by_text(re.compile(r"^Page \d+ of \d+$"))
    shown.wait_for()
    number, pages = map(int, re.findall(r"\d+", shown.inner_text()))
    assert pages >= 60
    marked, others = _parted(_words(manual, number), pane)
    passage = kg[collection_name].search(QUESTION, k=1)[0].passage
    assert set(DESIGNED.split()) <= {word.text for word in marked}
    others_too = Counter(word.text for word in marked) - Counter(passage.text.split())
    assert [word for word in others_too if word.rstrip("-") not in "".join(passage.text.split())] == []
    assert {"manual", "Leaf", str(number)} <= {word.text for word in others}
    assert not {word.text for word in others} & {"Aurora", "Ingrid", "Solheim,", "Molde"}


def _words(book: Path, number: int) -> list[Word]:
    """Return the words on a page."""
    with pdfplumber.open(book) as pdf:
        page = pdf.pages[number - 1]
        return [
            Word(its["text"], (its["x0"] + its["x1"]) / 2 / page.width, (its["top"] + its["bottom"]) / 2 / page.height)
            for its in page.extract_words()
        ]


def _parted(words: list[Word], pane: Locator, kind: str = "mark") -> tuple[list[Word], list[Word]]:
    """Return the words whose centre lies in a box drawn over the page, and the others."""
    pane.locator(f".page-picture {kind}").first.wait_for()
    boxes = pane.locator(".page-picture").evaluate(_BOXES, kind)
    assert boxes
    inside = [any(x0 <= word.x <= x1 and y0 <= word.y <= y1 for x0, y0, x1, y1 in boxes) for word in words]
    return (
        [word for word, within in zip(words, inside, strict=True) if within],
        [word for word, within in zip(words, inside, strict=True) if not within],
    )
