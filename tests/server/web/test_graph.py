"""The drawing: it is expanded, filtered and pinned, and can be read when it is full."""

import re
from itertools import combinations, product
from pathlib import Path
from typing import Any
from urllib.parse import quote

import pytest
from pages import SHIPS, Visit

from kgrag.client import KnowledgeGraph
from kgrag.values.documents import Document, Section

pytestmark = pytest.mark.browser

_FIRST = "Ada Berit Clara Dagny Edvard Frida Gunnar Hedda Ingrid Jakob Kari Lars".split()
_LAST = "Aune Berg Dahl Eide Foss Grieg Holm Lund Moen Nygaard Solheim Vik Aas".split()
_LABELS = """() => {
    const drawn = document.querySelector("canvas").closest("[id^=c]");
    const list = getElement(Number(drawn.id.slice(1))).chart.getZr().storage.getDisplayList();
    return list.filter((its) => its.type === "tspan" && !its.invisible).map((its) => {
        const box = its.getBoundingRect().clone();
        box.applyTransform(its.getComputedTransform());
        return [its.style.text, box.x, box.y, box.x + box.width, box.y + box.height];
    });
}"""
_FIRST_NODE = """(canvas) => {
    const chart = getElement(Number(canvas.closest("[id^=c]").id.slice(1))).chart;
    const data = chart.getModel().getSeriesByIndex(0).getData();
    const place = chart.convertToPixel({seriesIndex: 0}, data.getItemLayout(data.indexOfName("Ingrid Solheim")));
    return place;
}"""
_HALO = 3.0  # pixels around a label that two may share


def test_the_graph_is_expanded_filtered_and_pinned(visit: Visit) -> None:
    page = (visitor := visit()).page
    visitor.go(f"/graph?collection={quote(SHIPS)}&name=Ingrid+Solheim")
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


def test_a_node_that_is_clicked_is_chosen(visit: Visit) -> None:
    page = (visitor := visit()).page
    visitor.go(f"/graph?collection={quote(SHIPS)}&name=Ingrid+Solheim")
    page.get_by_role("checkbox", name="Entity (1)").wait_for()
    visitor.settle()
    canvas = page.locator("canvas").first
    x, y = canvas.evaluate(_FIRST_NODE)
    canvas.click(position={"x": x, "y": y})
    page.get_by_role("button", name="Pin").wait_for()
    page.get_by_text("Ingrid Solheim (Entity)", exact=True).wait_for()


def test_three_hundred_nodes_can_be_read(
    visit: Visit, kg: KnowledgeGraph, collection_name: str, tmp_path: Path
) -> None:
    names = [" ".join(pair) for pair in product(_FIRST, _LAST)]
    texts = [(name, names[(place * 7 + 1) % 156], names[(place * 11 + 5) % 156]) for place, name in enumerate(names)]
    documents = [Document(own, (Section(f"{own} met {one} and {other}."),), own) for own, one, other in texts]
    kg[collection_name].ingest(documents)
    page = (visitor := visit()).page
    visitor.go(f"/queries/map?collection={collection_name}&run=1&p_limit=1000&p_names=200")
    visitor.settle()
    kinds = page.get_by_role("checkbox", name=re.compile(r"^(Entity|Passage) \(\d+\)$"))
    page.get_by_text("Only 300 nodes are drawn").wait_for()
    assert sum(int(found) for kind in kinds.all() for found in re.findall(r"\d+", kind.inner_text())) == 300
    page.locator("canvas").scroll_into_view_if_needed()
    page.wait_for_timeout(1000)
    labels: list[Any] = page.evaluate(_LABELS)
    page.screenshot(path=tmp_path / "graph.png")
    print(f"Screenshot: {tmp_path}; {len(labels)} labels")
    assert len(labels) > 50
    assert {label[0] for label in labels} <= set(names)
    for (one, *a), (other, *b) in combinations(labels, 2):
        apart = a[2] - _HALO <= b[0] or b[2] - _HALO <= a[0] or a[3] - _HALO <= b[1] or b[3] - _HALO <= a[1]
        assert apart, (one, other)
