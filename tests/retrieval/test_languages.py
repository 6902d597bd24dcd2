"""Collections in German, Russian and Chinese: two- and three-hop questions among passages that share words."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from kgrag import KnowledgeGraph
from kgrag.graph.collections import open_collection
from kgrag.graph.contents import digest
from kgrag.values.documents import Document, Section
from kgrag.values.errors import ConfigurationError, MismatchError

pytestmark = pytest.mark.long

_SETS = {
    code: json.loads((Path(__file__).parents[1] / f"languages/{code}.json").read_text()) for code in ("de", "ru", "zh")
}


def _documents(code: str) -> list[Document]:
    return [Document(title, (Section(text),), title) for title, text in _SETS[code]["passages"].items()]


@pytest.fixture(scope="module")
def collections(kg: KnowledgeGraph) -> Iterator[dict[str, str]]:
    """A collection for each language; the language is detected."""
    names = {code: f"in-{code}" for code in _SETS}
    for code, name in names.items():
        kg[name].ingest(_documents(code))
    yield names
    for name in names.values():
        kg[name].delete()


def _recall(kg: KnowledgeGraph, collection: str, questions: list[dict[str, Any]], retriever: str) -> float:
    """Return the mean share of gold passages among the first five, in per cent."""
    shares = []
    for question in questions:
        found = {hit.passage.title for hit in kg[collection].search(question["question"], k=5, retriever=retriever)}
        shares.append(len(found.intersection(question["gold"])) / len(question["gold"]))
    return 100 * sum(shares) / len(shares)


@pytest.mark.parametrize(("code", "ahead"), [("de", 15), ("ru", 15), ("zh", 0)])
def test_the_walk_follows_names(kg: KnowledgeGraph, collections: dict[str, str], code: str, ahead: float) -> None:
    name = collections[code]
    assert open_collection(kg.graph, name).language.code == code
    questions = _SETS[code]["questions"]
    assert len(questions) == 20
    walked = _recall(kg, name, questions, "pathrank")
    assert walked >= 90
    assert walked >= _recall(kg, name, questions, "hybrid") + ahead


def _entities(kg: KnowledgeGraph, collection: str) -> dict[str, dict[str, Any]]:
    rows = kg.cypher(
        "MATCH (e:Entity {collection: $collection}) "
        "RETURN e.normal AS normal, e.name AS name, e.df AS df, e.ntit AS ntit",
        parameters={"collection": collection},
    )
    return {row["normal"]: dict(row) for row in rows}


def test_names_are_one_in_all_their_forms(kg: KnowledgeGraph, collections: dict[str, str]) -> None:
    """«Аркадия Сомова», «Аркадий Сомов» are one name; "Handwerk" is not a name, in spite of its capital."""
    russian = _entities(kg, collections["ru"])
    assert russian["тихогорск"]["df"] >= 2  # "в Тихогорске"
    assert russian["анфис бел"]["name"] == "Анфиса Белова"
    german = _entities(kg, collections["de"])
    assert german["nordwiek"]["df"] >= 2
    assert german["seeadl"]["ntit"] == 1
    assert "handwerk" not in {name for name, row in german.items() if row["df"] > 0}
    chinese = _entities(kg, collections["zh"])
    assert chinese["静谷镇"]["df"] >= 2


def test_a_question_links_to_a_name_in_another_form(kg: KnowledgeGraph, collections: dict[str, str]) -> None:
    ranking = kg[collections["ru"]].search("Кто учил Анфису Белову?", k=2)
    assert ranking.hits[0].passage.title == "Анфиса Белова"
    assert ("names", "Анфиса Белова") in [(step.via, step.name) for step in ranking.hits[0].why]
    german = kg[collections["de"]].search("Wo liegt das Grab Valentin Osterlohs?", k=1)
    assert german.hits[0].passage.title == "Valentin Osterloh"


def test_words_are_searched_in_the_collections_language(kg: KnowledgeGraph, collections: dict[str, str]) -> None:
    found = kg[collections["de"]].search("entdeckte Kometen", k=2, retriever="bm25")  # "den Kometen", "einen Kometen"
    assert {hit.passage.title for hit in found} == {"Clara Unterbach", "Klöster und Sternwarten"}
    found = kg[collections["zh"]].search("彗星", k=5, retriever="bm25")
    assert {hit.passage.title for hit in found} == {"温克拉", "寺院与天文台"}
    assert kg[collections["ru"]].search("комету", k=1, retriever="tfidf").hits[0].score > 0


def test_the_language_is_that_of_the_collection(kg: KnowledgeGraph, collections: dict[str, str]) -> None:
    with pytest.raises(MismatchError, match="language 'de', not 'fr'"):
        kg[collections["de"]].ingest([Document("x", (Section("Texte"),), "x")], language="fr")
    with pytest.raises(ConfigurationError, match="knows no language 'qq'"):
        kg["nowhere"].ingest(_documents("de"), language="qq")


def test_documents_come_and_go_without_a_trace(kg: KnowledgeGraph, collections: dict[str, str]) -> None:
    """Deleting a document restores the counts of words and names by the rules of the language."""
    name = collections["zh"]
    before = digest(kg.graph, name)
    kg[name].ingest([*_documents("zh"), Document("新", (Section("新港的船长在静谷镇出生。"),), "新港")])
    assert digest(kg.graph, name) != before
    kg[name].delete(["新"])
    assert digest(kg.graph, name) == before
