"""A drawing in a notebook: neo4j-viz draws it in kgrag's colours, and loads nothing from elsewhere."""

import re
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from kgrag import KnowledgeGraph
from kgrag.drawing import drawing, visualise
from kgrag.graph.browser import style
from kgrag.values.documents import Document, Section
from kgrag.values.results import Hit, Passage, Ranking, Step
from kgrag.values.rows import Edge, Node, Rows

if TYPE_CHECKING:
    from playwright.sync_api import Browser

pytestmark = pytest.mark.browser

_COUNT = """colour => {
    const canvases = [...document.querySelectorAll('canvas')];
    return Math.max(0, ...canvases.filter(c => c.width && c.height).map(canvas => {
        const context = canvas.getContext('2d');
        if (!context) return 0;
        const pixels = context.getImageData(0, 0, canvas.width, canvas.height).data;
        let found = 0;
        for (let i = 0; i < pixels.length; i += 4) {
            found += pixels[i] === colour[0] && pixels[i + 1] === colour[1] && pixels[i + 2] === colour[2];
        }
        return found;
    }));
}"""


def test_a_ranking_is_drawn(chromium: "Browser", tmp_path: Path) -> None:
    passage = Passage("fram", "fram.md", "Fram </script><script>document.title = 'broken'</script>", "A ship.")
    why = (Step("names", "Entity", "Fram", 1.0), Step("title of", "Passage", "Fram", 0.5))
    graph = visualise(drawing(Ranking("Who designed the Fram?", "pathrank", (Hit(passage, 0.5, why),))))
    assert {node.caption for node in graph.nodes} >= {"Fram", "Who designed the Fram?"}
    page_file = tmp_path / "drawing.html"
    page_file.write_text(graph.render(theme="light").data, encoding="utf-8")

    asked: list[str] = []
    with chromium.new_context(viewport={"width": 1200, "height": 700}) as context:
        page = context.new_page()
        page.on("request", lambda request: asked.append(request.url))
        page.goto(page_file.as_uri())
        page.locator("canvas").first.wait_for()
        page.get_by_text("Entity", exact=True).wait_for()
        colours = {node.color.as_rgb_tuple() for node in graph.nodes}
        assert len(colours) == 3  # question, entity, passage
        for colour in colours:
            page.wait_for_function(f"colour => ({_COUNT})(colour) > 100", arg=list(colour))
        page.screenshot(path=tmp_path / "drawing.png")
        assert page.title() != "broken"
    assert [url for url in asked if not url.startswith(("file:", "data:", "blob:"))] == []


def test_of_many_nodes_the_largest_have_captions() -> None:
    names = ["Fram", *(f"name {n}" for n in range(99))]
    nodes = [Node(str(n), ("Entity",), {"name": name}) for n, name in enumerate(names)]
    ends = [("0", str(n)) for n in range(1, 60)] + [("1", str(n)) for n in range(60, 80)]
    edges = [Edge(f"e{n}", "SIMILAR", *end, {}) for n, end in enumerate(ends)]
    drawn = visualise(drawing(Rows(("n", "e"), (tuple(nodes), tuple(edges))))).nodes
    by_size = sorted(drawn, key=lambda node: -(node.size or 0))
    assert [node.caption for node in by_size[:2]] == ["Fram", "name 0"]
    captions = [node.size or 0 for node in drawn if node.caption]
    assert len(captions) == 30 and min(captions) > 1.3 * (by_size[-1].size or 0)
    few = visualise(drawing(Rows(("n", "e"), (tuple(nodes[:20]), tuple(edges[:19]))))).nodes
    assert {node.caption for node in few} == set(names[:20]) and len({node.size for node in few}) == 1


def test_what_a_client_draws(kg: KnowledgeGraph, collection_name: str) -> None:
    kg[collection_name].ingest([Document("fram", (Section("The Fram was designed by Colin Archer."),), "Fram")])
    statement = "MATCH path = (:Passage {collection: $collection})-[:MENTIONS]->(:Entity) RETURN path"
    graph = kg.draw(statement, {"collection": collection_name})
    looks = {(node.properties["labels"], node.caption): node.color.as_hex("long") for node in graph.nodes}
    assert {("Passage", "Fram"), ("Entity", "Colin Archer")} <= looks.keys()
    for (label, _), colour in looks.items():
        assert re.search(rf"^node\.{label} {{[^}}]*color: {colour}", style(()), re.IGNORECASE | re.MULTILINE)
    assert {edge.caption for edge in graph.relationships} == {"MENTIONS"}
    assert not any("embedding" in node.properties for node in graph.nodes)
    ranking = kg[collection_name].search("Who is Colin Archer?")
    assert len(kg.draw(ranking).nodes) > len(ranking) > 0
