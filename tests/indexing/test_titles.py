"""Tagging without a server: rho by hand, the titles behind a name, and the resulting graph."""

import math

import pytest
from command_line import run_kgrag

from kgrag import KnowledgeGraph
from kgrag.indexing.tagging import Titles
from kgrag.values.documents import Document, Section

pytestmark = pytest.mark.long

TEXTS = {
    "Fram (ship)": "The Fram was designed by Colin Archer. The Fram sailed.",
    "Fram (film)": "Fram is a film of Berlin.",
    "Colin Archer": "Colin Archer built the Fram in Larvik.",
    "Berlin": "Berlin is a city.",
    "Larvik": "Larvik is the town of Colin Archer; a berlin is a coach.",
}
TITLES = Titles({"document": title, "title": title, "text": text} for title, text in TEXTS.items())


def found(text: str) -> dict[str, tuple[float, str]]:
    """Return title -> rho, and the text from its position on."""
    return {its.title: (its.rho, text[its.start :]) for its in TITLES.annotate(text)}


def test_rho_by_hand() -> None:
    """Three of five documents name Archer, two the ship, two both: their relatedness is 1 - log(3/2) / log(5/2)."""
    rho = (1 + (1 - math.log(3 / 2) / math.log(5 / 2))) / 2
    its = found("Colin Archer drew the Fram.")
    assert its == {
        "Colin Archer": (pytest.approx(rho), "Colin Archer drew the Fram."),
        "Fram (ship)": (pytest.approx(rho), "Fram."),
    }
    assert found("the wine of Larvik") == {"Larvik": (0.5, "Larvik")}  # no other name to relate to
    # three documents contain the word Berlin, two of them as a name
    assert found("Berlin")["Berlin"][0] == pytest.approx(2 / 3 / 2)
    assert found("nothing here") == {}


def test_a_name_of_several_titles_means_the_one_that_the_others_speak_for() -> None:
    assert set(found("In Berlin they saw the Fram.")) == {"Berlin", "Fram (film)"}
    assert set(found("In Larvik they saw the Fram.")) == {"Larvik", "Fram (ship)"}


def test_whole_titles_make_a_title_common() -> None:
    """Without votes of other names, the title that more documents contain in full wins."""
    texts = {"Mercury (planet)": "Hot.", "Mercury (god)": "Swift.", "a": "The Mercury god.", "b": "A Mercury god flew."}
    titles = Titles({"document": t, "title": t, "text": text} for t, text in texts.items())
    assert [its.title for its in titles.annotate("Mercury shone")] == ["Mercury (god)"]


def test_the_command_links_to_the_collections_own_documents(
    kg: KnowledgeGraph, collection_name: str, neo4j_env: dict[str, str]
) -> None:
    def run(*arguments: str) -> str:
        return run_kgrag(neo4j_env, "enrich", "tag", "-c", collection_name, "--local", *arguments).stdout

    def linked() -> set[tuple[str, str, bool]]:
        query = (
            "MATCH (d:Document {collection: $name})-[:HAS_PASSAGE]->()-[m:MENTIONS]->(e) WHERE m.tagme IS NOT NULL "
            "RETURN d.key AS document, e.name AS name, m.wikipedia IS NULL AS none"
        )
        records = kg.graph.driver.execute_query(query, name=collection_name).records
        return {(r["document"], r["name"], r["none"]) for r in records}

    kg[collection_name].ingest(Document(t, (Section(text),), t) for t, text in TEXTS.items() if t != "Larvik")
    assert "4 passages to tag, no call" in run("--dry-run")
    assert "3 passages tagged by the titles of its own documents, 1 left" in run("--limit", "3")
    assert "1 passage tagged by the titles of its own documents, 0 left" in run()  # the run resumes
    assert ("Fram (ship)", "Colin Archer", True) in linked()
    assert ("Colin Archer", "Larvik", True) not in linked()
    kg[collection_name].ingest([Document("Larvik", (Section(TEXTS["Larvik"]),), "Larvik")])
    assert "5 passages tagged" in run()  # there is one more title to link to
    assert {("Colin Archer", "Larvik", True), ("Fram (film)", "Berlin", True)} <= linked()
    assert "0 passages tagged" in run()
    ranking = kg[collection_name].search("coach", retriever="kgp(edges=(tagme,), seeds=1)")
    assert ranking.hits[0].passage.document == "Larvik"
    assert {hit.passage.document for hit in ranking.hits[1:]} >= {"Fram (ship)", "Colin Archer"}
