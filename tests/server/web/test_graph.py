"""The drawing of the graph: search, expand, filter and pin, and legible when it is full."""

import json
import re
from itertools import combinations, product
from pathlib import Path
from typing import Any
from urllib.parse import quote

import pytest
from pages import LETTERS, SHIPS, Visit

from kgrag import KnowledgeGraph
from kgrag.values.documents import Document, Section

pytestmark = pytest.mark.browser

_FIRST = "Ada Berit Clara Dagny Edvard Frida Gunnar Hedda Ingrid Jakob Kari Lars".split()
_LAST = "Aune Berg Dahl Eide Foss Grieg Holm Lund Moen Nygaard Solheim Vik Aas".split()
_CAPTIONS = """() => [...document.querySelectorAll(".graph-names text")].filter((its) => its.getClientRects().length
    && getComputedStyle(its).visibility === "visible" && getComputedStyle(its).opacity > 0).map((its) => {
    const box = its.getBoundingClientRect();
    return [its.textContent, box.left, box.top, box.right, box.bottom];
})"""
_HALO = 3.0  # pixels around a caption that two captions may share


def _kind(page: Any, label: str) -> Any:
    return page.get_by_role("checkbox", name=re.compile(rf"^{label}\s*\d"))


def test_the_graph_is_expanded_filtered_and_pinned(visit: Visit) -> None:
    page = (visitor := visit()).page
    visitor.go(f"/graph?collection={LETTERS}")
    page.get_by_role("button", name="Larvik, Name").wait_for()
    visitor.go(f"/graph?collection={quote(SHIPS)}&name=Ingrid+Solheim")
    page.get_by_role("button", name="Ingrid Solheim, Name").wait_for()
    passage = page.get_by_role("button", name=re.compile(", Passage$")).first
    passage.wait_for()
    before = page.locator(".graph-kinds").inner_text()
    assert "Page" not in before.split("\n")
    passage.click()
    details = page.get_by_role("region", name="Details")
    details.get_by_role("button", name="Pin").click()
    details.get_by_role("button", name="Let go").wait_for()
    details.get_by_role("button", name="Expand").click()
    _kind(page, "Page").wait_for()
    assert page.locator(".graph-kinds").inner_text() != before
    _kind(page, "Passage").click()
    assert not page.get_by_role("button", name=re.compile(", Passage$")).count()
    assert page.get_by_role("button", name=re.compile(", Page$")).count()


def test_it_is_gone_through_by_keys(visit: Visit) -> None:
    page = (visitor := visit()).page
    visitor.go(f"/graph?collection={quote(SHIPS)}&name=Ingrid+Solheim")
    page.get_by_role("button", name="Ingrid Solheim, Name").focus()
    page.keyboard.press("n")
    page.keyboard.press("Enter")
    page.get_by_role("region", name="Details").wait_for()
    page.get_by_role("region", name="Details").get_by_role("button", name="Open").click()
    page.get_by_role("heading", name="Its text").wait_for()


def test_three_hundred_nodes_can_be_read(
    visit: Visit, kg: KnowledgeGraph, collection_name: str, tmp_path: Path
) -> None:
    names = [" ".join(pair) for pair in product(_FIRST, _LAST)]
    texts = [(name, names[(place * 7 + 1) % 156], names[(place * 11 + 5) % 156]) for place, name in enumerate(names)]
    documents = [Document(own, (Section(f"{own} met {one} and {other}."),), own) for own, one, other in texts]
    kg[collection_name].ingest(documents)
    page = (visitor := visit()).page
    whole = json.dumps({"parameters": {"limit": 1000, "names": 200}})
    page.route("**/drawings/queries/map", lambda route: route.continue_(post_data=whole))
    visitor.go(f"/graph?collection={collection_name}")
    page.get_by_text("Only 300 nodes are drawn").wait_for()
    counts = page.locator(".graph-kinds .graph-count")
    assert sum(int(text) for text in counts.all_inner_texts()) == 300
    page.locator(".graph-canvas").scroll_into_view_if_needed()
    page.wait_for_timeout(2000)
    captions: list[Any] = page.evaluate(_CAPTIONS)
    page.screenshot(path=tmp_path / "graph.png")
    print(f"Screenshot: {tmp_path}; {len(captions)} captions")
    assert len(captions) > 15
    for (one, *a), (other, *b) in combinations(captions, 2):
        apart = a[2] - _HALO <= b[0] or b[2] - _HALO <= a[0] or a[3] - _HALO <= b[1] or b[3] - _HALO <= a[1]
        assert apart, (one, other)


def test_a_connection_is_told_in_quoted_sentences(visit: Visit, kg: KnowledgeGraph, collection_name: str) -> None:
    texts = {
        "Fjord Queen": "The Fjord Queen was a steamer. It was calm. Her captain was Ole Brandvik.",
        "Ole Brandvik": "Ole Brandvik was born in Nordvika. His ship was sold later.",
    }
    kg[collection_name].ingest([Document(title, (Section(text),), title) for title, text in texts.items()])
    page = (visitor := visit()).page
    visitor.go(f"/graph?collection={collection_name}&name=Fjord+Queen&other=Nordvika")
    steps = page.locator(".graph-way li")
    steps.nth(1).wait_for()
    assert steps.locator("p").all_inner_texts() == [
        "The Fjord Queen was a steamer. … Her captain was Ole Brandvik. Fjord Queen",
        "Ole Brandvik was born in Nordvika. Ole Brandvik",
    ]
    assert steps.nth(1).locator("mark").all_inner_texts() == ["Ole Brandvik", "Nordvika"]
    steps.nth(1).get_by_role("button", name="Ole Brandvik").click()
    details = page.get_by_role("region", name="Details")
    details.locator(".graph-label", has_text="Name").wait_for()
    assert "Entity" not in page.locator("#main").inner_text()
    steps.nth(1).get_by_role("link", name="Ole Brandvik").click()
    page.get_by_role("heading", name="Its text").wait_for()
