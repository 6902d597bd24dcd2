"""A newcomer follows the guide through the demo, in its colours."""

import re
from collections.abc import Iterator
from pathlib import Path

import neo4j
import pytest
from analyst import Analyst, reads_as

from kgrag import KnowledgeGraph
from kgrag.demo import COLLECTION, corpus, questions
from kgrag.graph import schema
from kgrag.graph.browser import style
from kgrag.graph.collections import open_collection
from kgrag.settings import Settings
from kgrag.values.documents import Triple
from kgrag.values.events import Answer, Citation, Judged, Read, Retrieved, Rewritten

pytestmark = pytest.mark.browser

_UNREADABLE = re.compile(r"[-\d\s.,:;…]*|.*\d[.,]\d{3,}.*|.*[0-9a-f]{12,}.*")
"""Numbers, embeddings, and ids."""


@pytest.fixture(scope="module")
def demo(kg: KnowledgeGraph) -> Iterator[str]:
    """The collection of the demo, with a saved answer."""
    with corpus() as folder:
        kg[COLLECTION].ingest(folder)
    kg[COLLECTION].build_tree()
    kg[COLLECTION].build_communities()
    asked = questions()[1]
    ranking = kg[COLLECTION].search(asked.question, k=6)
    found = ranking.hits
    trace = (
        Read(step=1, query=asked.question, triples=(Triple("Robert Bartlett", "commanded", "Roosevelt"),)),
        Retrieved(step=1, query=asked.question, hits=found[:3]),
        Judged(step=1, answerable=False, why="His home is not known."),
        Rewritten(step=2, query="Where did Robert Bartlett live?"),
        Retrieved(step=2, query="Where did Robert Bartlett live?", hits=found[3:]),
        Judged(step=2, answerable=True),
    )
    citation = Citation(1, found[-1].passage)
    kg[COLLECTION].save(Answer(asked.question, asked.answer, True, "gear+pathrank", ranking, (citation,), trace))
    yield COLLECTION
    kg[COLLECTION].delete()


def _names(settings: Settings, numbers: list[str]) -> dict[str, tuple[str, list[str]]]:
    """Return the name and labels of nodes, by Browser's numbers of them."""
    assert settings.neo4j_uri and settings.neo4j_password
    auth = (settings.neo4j_user, settings.neo4j_password.get_secret_value())
    query = "MATCH (n) WHERE id(n) IN $ids RETURN toString(id(n)) AS id, n.name AS name, labels(n) AS labels"
    with neo4j.GraphDatabase.driver(settings.neo4j_uri, auth=auth, notifications_min_severity="OFF") as driver:
        records = driver.execute_query(query, ids=[int(n) for n in numbers], database_=settings.neo4j_database).records
    return {r["id"]: (r["name"], r["labels"]) for r in records}


def test_ten_steps_in_colours(
    analyst: Analyst, kg: KnowledgeGraph, demo: str, graph_settings: Settings, tmp_path: Path
) -> None:
    sheet = style()
    colours = dict(re.findall(r"^node\.(\w+) \{.*?^  color: (#\w+);", sheet, re.MULTILINE | re.DOTALL))
    frames = analyst.page.get_by_test_id("frame").count()
    analyst.guide.get_by_text("give the graph its colours").click()
    analyst.page.get_by_test_id("frame").nth(frames).wait_for()

    seen: set[str] = set()
    titles = []
    for title in analyst.slides():
        titles.append(title)
        analyst.play()
        analyst.screenshot(tmp_path / f"step-{len(titles)}.png")
        captions, fills = analyst.captions(), analyst.colours()
        nodes = _names(graph_settings, list(captions))
        assert captions.keys() == nodes.keys()
        assert [caption for caption in captions.values() if _UNREADABLE.fullmatch(caption)] == [], title
        assert [(captions[n], name) for n, (name, _) in nodes.items() if not reads_as(captions[n], name)] == [], title
        kinds = {n: next(label for label in labels if "_" not in label) for n, (_, labels) in nodes.items()}
        assert fills == {n: colours[kind] for n, kind in kinds.items()}, title
        seen |= set(kinds.values())
    assert [title.partition(".")[0] for title in titles] == [str(n) for n in range(1, 11)]
    assert seen == set("Collection Document Passage Table Entity Keyword Summary Community Run Step Schema".split())


def test_the_legend_has_the_same_colours(analyst: Analyst, kg: KnowledgeGraph, demo: str) -> None:
    """The legend has the graph's colour for both labels; Browser shows the second beside the first."""
    number = open_collection(kg.graph, demo).number
    analyst.enter(f":style {analyst.page.url.partition('?')[0]}kgrag/kgrag.grass")
    analyst.run(f"MATCH path = (:Passage {{collection: '{demo}', title: 'Brigus'}})-[:MENTIONS]->() RETURN path")
    pills = {
        label: analyst.frame.get_by_test_id(f"property-details-overview-node-label-{label}").evaluate(
            "pill => pill.style.backgroundColor"
        )
        for label in ("Passage", schema.label_of("Passage", number), "Entity", schema.label_of("Entity", number))
    }
    assert len(set(pills.values())) == 2
    assert pills["Passage"] == pills[schema.label_of("Passage", number)] == "rgb(63, 133, 207)"
