"""The pictures of the documentation: taken anew from the demo, of pages that match the text beside them.

`make screenshots` writes them to docs/images; the test only checks that they can be taken.
"""

from __future__ import annotations

import io
import os
import re
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from markdown_it import MarkdownIt
from pages import Application, Visitor, print_pdf
from PIL import Image
from scripted import Scripted

from kgrag import KnowledgeGraph
from kgrag.demo import COLLECTION, corpus, questions
from kgrag.server.keys import Keys
from kgrag.values.errors import NotFoundError

if TYPE_CHECKING:
    from playwright.sync_api import Browser

pytestmark = pytest.mark.browser

_DOCS = Path(__file__).parents[3] / "docs"
_REPORTS = "reports"
_MOST = 600_000  # bytes of all pictures
_STYLE = "body { font: 12pt/1.5 serif; margin: 0 2em } article { break-after: page }"
_QUESTION, _ANSWER = (
    "Where did Colin Archer grow up?",
    "He grew up in Larvik, in the waterfront house called Tollerodden [1].",
)


@pytest.fixture
def printed(chromium: Browser, tmp_path: Path) -> Path:
    """Articles of the demo as a PDF."""
    with corpus() as files:
        markdown = [path.read_text(encoding="utf-8") for path in sorted((files / "people").glob("*.md"))]
    articles = "".join(f"<article>{MarkdownIt().render(text)}</article>" for text in markdown)
    html = f"<title>Polar people</title><style>{_STYLE}</style>{articles}"
    return print_pdf(chromium, tmp_path / "Polar people.pdf", html)


@pytest.fixture
def demo(kg: KnowledgeGraph) -> Iterator[None]:
    """The demo, ingested."""
    with corpus() as files:
        kg[COLLECTION].ingest(files)
    yield
    kg[COLLECTION].delete()
    with suppress(NotFoundError):
        kg[_REPORTS].delete()


@pytest.fixture
def visitor(
    chromium: Browser, demo: None, neo4j_env: dict[str, str], scripted: Scripted, tmp_path: Path
) -> Iterator[Visitor]:
    """A visitor who sees these two collections."""
    key = Keys(tmp_path / "keys.json").add("anna", "write", [COLLECTION, _REPORTS])
    scripted.say("answer", _ANSWER)
    environment = {**neo4j_env, **scripted.env(), "KGRAG_HOME": str(tmp_path)}
    with Application(environment) as served, Visitor(chromium, served.url) as visitor:
        visitor.log_in(key)
        yield visitor
        assert visitor.wrong == []


@pytest.mark.timeout(600)
def test_the_pictures_of_the_documentation(visitor: Visitor, printed: Path, tmp_path: Path) -> None:
    folder, page = Path(os.environ.get("SCREENSHOTS", tmp_path)), visitor.page
    question = questions()[0].question

    def keep(name: str) -> None:
        visitor.settle()
        page.wait_for_timeout(1000)  # until animations end
        Image.open(io.BytesIO(page.screenshot())).save(folder / f"{name}.webp", quality=80, method=6)

    visitor.upload(_REPORTS, printed)
    page.get_by_role("heading", name="1 file read").wait_for(timeout=120_000)

    visitor.ask(_QUESTION, _REPORTS, "Fast")
    page.get_by_role("button", name=re.compile("^Source 1: ")).first.click()
    page.locator(".page-picture mark.dark").first.wait_for()
    keep("ask")

    visitor.ask(question, COLLECTION, "Search only")
    page.get_by_role("region", name="The trail").first.wait_for()
    keep("trail")

    visitor.go(f"/graph?collection={COLLECTION}")
    page.get_by_role("button", name="Roald Amundsen, Name").wait_for()
    keep("graph")

    texts = "".join(path.read_text(encoding="utf-8") for path in (*_DOCS.glob("*.md"), _DOCS.parent / "README.md"))
    made = {path.name for path in folder.glob("*.webp")}
    assert made == set(re.findall(r"images/([\w-]+\.webp)\)", texts))
    assert made == {path.name for path in (_DOCS / "images").glob("*.webp")}
    assert sum(path.stat().st_size for path in (_DOCS / "images").iterdir()) < _MOST
