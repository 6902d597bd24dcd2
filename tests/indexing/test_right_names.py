"""Mentions, keywords and ABOUT edges against judgements by reading, and other names from first sentences.

A mention is right if the passage names this thing as a whole and under this spelling. A keyword is right if it is a
noun or a name that tells what the passage is about. Judge the cases that the tests report as unjudged, and add them to
the file. An ABOUT edge is right if a reader calls the title's thing by this name. 83 edges of the demo were read, and
116 of titles with a first sentence were written down before kgrag saw them (judged_abouts.json).
"""

import json
from pathlib import Path
from typing import Any

import pytest

from kgrag import KnowledgeGraph
from kgrag.demo import corpus
from kgrag.text.aliases import title_aliases

JUDGED: dict[str, dict[str, list[str]]] = json.loads(
    Path(__file__).with_name("judged_names.json").read_text(encoding="utf-8")
)
ABOUTS = json.loads(Path(__file__).with_name("judged_abouts.json").read_text(encoding="utf-8"))
_ABOUTS = "MATCH (d:Document {collection: $collection})-[:ABOUT]->(e) RETURN d.key AS key, e.name AS name"
_ROWS = """
MATCH (d:Document {collection: $collection})-[:HAS_PASSAGE]->(p)
RETURN split(d.key, '/')[-1] + ' ' + toString(p.ordinal) AS passage,
       [(p)-[m:MENTIONS]->(e) | coalesce(m.text, e.name)] AS names, [(p)-[h:HAS_KEYWORD]->() | h.text] AS keywords
"""


@pytest.fixture(scope="module")
def demo(kg: KnowledgeGraph) -> list[dict[str, Any]]:
    with corpus() as folder:
        kg["rightnames"].ingest(folder)
    rows = [dict(row) for row in kg["rightnames"].cypher(_ROWS)]
    abouts = [[row["key"].split("/")[-1], row["name"]] for row in kg["rightnames"].cypher(_ABOUTS)]
    assert sorted(abouts) == ABOUTS["demo"]
    kg["rightnames"].delete()
    return rows


@pytest.mark.parametrize(("kind", "precision", "recall"), [("names", 0.98, 0.99), ("keywords", 0.88, 0.98)])
def test_mentions_and_keywords_are_right(
    demo: list[dict[str, Any]], kind: str, precision: float, recall: float
) -> None:
    made = {(row["passage"], name) for row in demo for name in row[kind] if kind in JUDGED[row["passage"]]}
    right = {(passage, name) for passage, lists in JUDGED.items() for name in lists.get(kind, [])}
    wrong = {(passage, name) for passage, lists in JUDGED.items() for name in lists.get(f"no_{kind}", [])}
    assert len(right) > 300
    assert made - right - wrong == set(), "unjudged"
    assert len(made & right) >= precision * len(made)
    assert len(made & right) >= recall * len(right), right - made


def test_titles_are_about_their_own_names() -> None:
    made = {(title, alias.surface) for title, text, _ in ABOUTS["made"] for alias in title_aliases(title, text)}
    right = {(title, name) for title, _, names in ABOUTS["made"] for name in names}
    assert len(made & right) >= 0.98 * len(made), made - right
    assert len(made & right) >= 0.97 * len(right), right - made


@pytest.mark.parametrize(("title", "text", "names"), ABOUTS["exact"])
def test_first_sentence_gives_other_names_of_the_same_thing(title: str, text: str, names: list[str]) -> None:
    assert sorted(alias.surface for alias in title_aliases(title, text) if alias.weight == 0.8) == names
