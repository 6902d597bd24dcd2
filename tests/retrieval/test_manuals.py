"""What is searched of manuals: headings and symbols as well as words, and no words of every question."""

from collections.abc import Iterator

import pytest

from kgrag import KnowledgeGraph
from kgrag.graph import schema
from kgrag.indexing.digest import digest
from kgrag.values.documents import Document, Section

_NAME = "manuals"
_FILLER = "The shell reads a line and does what it says there, one after the other, until nothing is left of it. " * 12
_SECTIONS = {
    "Shell > Special Parameters": (
        "($@) Expands to the positional parameters, each a word of its own.\n\n"
        "($?) Expands to the status of what ran last.\n\n" + _FILLER
    ),
    "Shell > Word Splitting > Field Separators": _FILLER + "Those of white space are dropped at both ends.",
    "Shell > Options": "With -e it stops at once when a pipeline fails.\n\n--posix follows the standard.\n\n" + _FILLER,
    "Shell > The Queue": "globwide lets two asterisks match folders.\n\n" + _FILLER,
    "Questions": "What does this do? What does that do? How does one do it, and what does it do then? " * 8,
    "Package > Fields": "Essential: yes keeps a package from being taken away.\n\n" + _FILLER,
    "Package > Praise": "It is essential to read on, most essential. " + _FILLER,
}
_MODELS = {
    "Cox Models": "After all, Cox models are what this is about. " + _FILLER,
    "Ties": "The Cox model handles tied times by an average over their orders. " + _FILLER,
    **{f"Part {n}": f"A Cox model was fitted to data set {n}. " + _FILLER for n in range(9)},
}


@pytest.fixture(scope="module")
def manuals(kg: KnowledgeGraph) -> Iterator[str]:
    shell = tuple(Section(text, heading) for heading, text in _SECTIONS.items())
    models = tuple(Section(text, heading) for heading, text in _MODELS.items())
    kg[_NAME].ingest([Document("shell", shell, "Shell manual"), Document("cox", models, "On survival")])
    yield _NAME
    kg[_NAME].delete()


@pytest.mark.parametrize("retriever", ["bm25", "pathrank"])
@pytest.mark.parametrize(
    ("question", "answer"),
    [
        ("What does $@ do?", "($@) Expands"),
        ("What does $? do?", "($?) Expands"),
        ("What is --posix?", "--posix follows"),
        ("What does -e do?", "With -e it stops"),
        ("What does Essential: do?", "Essential: yes"),
        ("What does globwide do?", "globwide lets"),  # the words of every question stand in another passage, often
        ("What about field separators?", "dropped at both ends"),  # only the headings say so
    ],
)
def test_what_is_asked_for_is_found_first(
    kg: KnowledgeGraph, manuals: str, retriever: str, question: str, answer: str
) -> None:
    texts = [hit.passage.text for hit in kg[manuals].search(question, retriever=retriever, k=3)]
    if "separators" in question:  # two passages stand under these headings
        assert any(answer in text for text in texts[:2])
    else:
        assert answer in texts[0]


def test_a_name_that_all_passages_hold_does_not_lead_the_walk(kg: KnowledgeGraph, manuals: str) -> None:
    hits = kg[manuals].search("How does the Cox model handle tied times?", retriever="pathrank", k=3).hits
    assert "tied times by an average" in hits[0].passage.text


def test_what_shows_no_evidence_is_left_out(kg: KnowledgeGraph, manuals: str) -> None:
    hits = kg[manuals].search("What does globwide do?", retriever="pathrank", k=100).hits
    assert hits
    assert all(hit.score > 0 for hit in hits)


def test_texts_and_citations_are_as_they_were(kg: KnowledgeGraph, manuals: str) -> None:
    hit = kg[manuals].search("What is --posix?", retriever="bm25", k=1).hits[0]
    assert hit.passage.section == "Shell > Options"
    assert "sx" not in hit.passage.text.split()


def test_a_word_of_the_title_counts_more_than_one_of_the_text(kg: KnowledgeGraph, collection_name: str) -> None:
    texts = {"Harbour": "They sleep by day.", "Lamps": "The harbour is theirs, all of the harbour.", "Bells": "Rung."}
    kg[collection_name].ingest([Document(t, (Section(f"{x} {_FILLER}"),), t) for t, x in texts.items()])
    hits = kg[collection_name].search("Which harbour?", retriever="bm25", k=2).hits
    assert [hit.passage.title for hit in hits] == ["Harbour", "Lamps"]


def test_questions_of_no_words(kg: KnowledgeGraph, manuals: str) -> None:
    for question in ("what is it", "?!", '"\\', "東京"):
        for retriever in ("bm25", "pathrank", "tfidf"):
            kg[manuals].search(question, retriever=retriever, k=2)


@pytest.mark.alone
@pytest.mark.usefixtures("others_aside")
@pytest.mark.long
def test_a_database_of_version_7_is_searched_like_a_new_one(kg: KnowledgeGraph, manuals: str) -> None:
    expected = digest(kg.graph, manuals)
    number = kg.graph.run("look_up/collections", name=manuals)[0]["collection"]["number"]
    with kg.graph._driver.session() as session:
        session.run("MATCH (p:Passage {collection: $c}) SET p.title_stems = null", c=manuals).consume()
        session.run(f"DROP INDEX passage_stems_c{number}").consume()
    kg.graph.run(
        "schema/fulltext",
        index=f"passage_stems_c{number}",
        label=f"Passage_c{number}",
        properties=["stems"],
        analyzer="whitespace",
    )
    try:
        kg.graph.run("write/set_version", version=7)
        assert kg.migrate()[0].startswith("7 -> 8")
    finally:
        kg.graph.run("write/set_version", version=schema.SCHEMA_VERSION)
    assert digest(kg.graph, manuals) == expected
    with kg.graph._driver.session() as session:
        index = "SHOW INDEXES YIELD name, properties WHERE name = $name RETURN properties"
        assert session.run(index, name=f"passage_stems_c{number}").single(strict=True)[0] == ["stems", "title_stems"]
        titles = "MATCH (p:Passage {collection: $c}) WHERE p.section = 'Ties' RETURN p.title_stems AS title"
        assert {r["title"] for r in session.run(titles, c=manuals)} == {"on surviv"}


@pytest.mark.alone
@pytest.mark.usefixtures("others_aside")
def test_a_database_of_version_8_gets_the_names_of_new_rules(kg: KnowledgeGraph, collection_name: str) -> None:
    """A name that the old rules left out is counted and mentioned as in a new collection, in the language of it."""
    texts = ("El agua del río Ebro viene de Reinosa.", "Los barcos de Reinosa bajan por el Ebro.")
    kg[collection_name].ingest([Document(text, (Section(text),)) for text in texts], language="es")
    expected = digest(kg.graph, collection_name)
    with kg.graph._driver.session() as session:
        session.run("MATCH (e:Entity {collection: $c, normal: 'ebro'}) DETACH DELETE e", c=collection_name).consume()
    assert digest(kg.graph, collection_name) != expected
    try:
        kg.graph.run("write/set_version", version=8)
        assert kg.migrate()[0].startswith("8 -> 9")
    finally:
        kg.graph.run("write/set_version", version=schema.SCHEMA_VERSION)
    assert digest(kg.graph, collection_name) == expected


@pytest.mark.alone
@pytest.mark.usefixtures("others_aside")
@pytest.mark.long
def test_a_database_of_version_5_is_searched_like_a_new_one(kg: KnowledgeGraph, manuals: str) -> None:
    expected = digest(kg.graph, manuals)
    with kg.graph._driver.session() as session:  # as version 5 left it: no headings, no symbols, names of all capitals
        session.run(
            "MATCH (p:Passage {collection: $c}) SET p.stems = ' shell ' "
            "WITH count(*) AS n MATCH (w:Word {collection: $c}) SET w.df = w.df + 1, w.upper = w.upper + 2",
            c=manuals,
        ).consume()
        session.run(
            "MATCH (p:Passage {collection: $c}) WITH p LIMIT 1 "
            "CREATE (e:Entity {id: 'old', collection: $c, name: 'See', normal: 'see', df: 1, ntit: 0, phrases: 1}) "
            "CREATE (p)-[:MENTIONS {via: 'phrase'}]->(e)",
            c=manuals,
        ).consume()
    assert digest(kg.graph, manuals) != expected
    try:
        kg.graph.run("write/set_version", version=5)
        assert kg.migrate()[0].startswith("5 -> 6")
    finally:
        kg.graph.run("write/set_version", version=schema.SCHEMA_VERSION)
    assert digest(kg.graph, manuals) == expected
    assert "--posix" in kg[manuals].search("What is --posix?", retriever="bm25", k=1).hits[0].passage.text
