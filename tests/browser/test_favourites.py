"""An analyst drops the favourites file on Neo4j Browser, sets the parameters, and runs a query."""

import base64
from pathlib import Path

import pytest
from analyst import Analyst

from kgrag import KnowledgeGraph
from kgrag.graph import saved
from kgrag.graph.saved import saved_queries
from kgrag.values.documents import Document, Section, Triple

pytestmark = pytest.mark.browser

DOCUMENTS = [
    Document(
        "fram",
        (Section("The Fram was designed by Colin Archer, and Roald Amundsen took her south."),),
        "Fram (ship)",
        triples=(Triple("Roald Amundsen", "took south", "Fram"),),
    ),
    Document("archer", (Section("Colin Archer built ships in Larvik."),), "Colin Archer"),
]
DROP = """
([data, name]) => {
    const transfer = new DataTransfer();
    const bytes = Uint8Array.from(atob(data), letter => letter.charCodeAt(0));
    transfer.items.add(new File([bytes], name, {type: 'application/zip'}));
    const target = document.querySelector('.filedrop');
    for (const kind of ['dragenter', 'dragover', 'drop'])
        target.dispatchEvent(new DragEvent(kind, {bubbles: true, cancelable: true, dataTransfer: transfer}));
}
"""


def run(analyst: Analyst, title: str) -> str:
    """Run a favourite and return its frame."""
    frames = analyst.page.get_by_test_id("frame").count()
    analyst.page.get_by_test_id(f"scriptTitle-{title}").click()
    analyst.page.get_by_test_id("editor-Run").click()
    analyst.page.get_by_test_id("frame").nth(frames).wait_for()
    analyst.frame.get_by_test_id("frameContents").wait_for()
    return analyst.frame.inner_text()


def test_browser_imports_and_runs_the_favourites(
    analyst: Analyst, kg: KnowledgeGraph, collection_name: str, tmp_path: Path
) -> None:
    kg[collection_name].ingest(DOCUMENTS)
    asked = kg[collection_name].question_parameters("Who designed the ship?")
    made = base64.b64encode(saved.archive(asked)).decode()
    analyst.page.evaluate(DROP, [made, "kgrag.zip"])
    analyst.page.get_by_test_id("navigationFavorites").click()
    analyst.page.get_by_test_id("expandFolder-kgrag").click()
    titles = {f"scriptTitle-{query.title}" for query in saved_queries().values()}
    analyst.page.get_by_test_id(f"scriptTitle-{saved.FIRST}").wait_for()
    shown = {item.get_attribute("data-testid") for item in analyst.page.locator("[data-testid^=scriptTitle-]").all()}
    assert titles <= shown

    assert collection_name in run(analyst, saved.FIRST)
    run(analyst, saved_queries()["connection"].title)
    analyst.frame.locator("g.node").nth(2).wait_for()
    captions = [caption.removesuffix("…") for caption in analyst.captions().values()]
    for name in ("Roald Amundsen", "Colin Archer"):
        assert any(len(caption) > 5 and name.startswith(caption) for caption in captions)
    analyst.screenshot(tmp_path / "connection.png")
    run(analyst, saved_queries()["nearest_passages"].title)
    analyst.frame.locator("g.node").nth(1).wait_for()
    analyst.screenshot(tmp_path / "nearest.png")
    assert "Passage (2)" in analyst.overview()
