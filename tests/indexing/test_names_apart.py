"""Names that differ by a sign, a mark or a digit stay separate; searches find them in any spelling."""

from pathlib import Path

import neo4j
import pytest

from kgrag import KnowledgeGraph
from kgrag.graph.contents import digest
from kgrag.settings import Settings
from kgrag.values.documents import Document, Section
from kgrag.values.errors import MismatchError


def titled(*titles: str, text: str = "It is described in a note.") -> list[Document]:
    return [Document(title, (Section(text),), title) for title in titles]


def about(kg: KnowledgeGraph, collection: str) -> dict[str, set[str]]:
    """Return document -> the entities that its title names."""
    rows = kg[collection].cypher(
        "MATCH (d:Document {collection: $collection}) "
        "RETURN d.key AS key, [(d)-[:ABOUT]->(e:Entity) | e.normal] AS names"
    )
    return {row["key"]: set(row["names"]) for row in rows}


def keys(kg: KnowledgeGraph, collection: str, query: str, retriever: str = "bm25", k: int = 8) -> list[str]:
    ranking = kg[collection].search(query, retriever=retriever, k=k)
    return [hit.passage.title for hit in ranking.hits if hit.score > 0]


@pytest.mark.parametrize(
    "titles",
    [
        ("Java 1.7", "Java 17"), ("Qt 5.1", "Qt 51"), ("St. John's", "St. John"), ("C++", "C#", "C"), ("-5", "5"),
        ("Malmö", "Malmo"),
    ],
)  # fmt: skip
def test_titles_that_differ_are_entities_of_their_own(
    kg: KnowledgeGraph, collection_name: str, titles: tuple[str, ...]
) -> None:
    kg[collection_name].ingest(titled(*titles))
    named = about(kg, collection_name)
    assert len(set.union(*named.values())) == sum(map(len, named.values())) >= len(titles)


@pytest.mark.parametrize("at_once", [True, False])
def test_letters_with_signs_are_mentioned_where_they_stand(
    kg: KnowledgeGraph, collection_name: str, at_once: bool
) -> None:
    texts = {
        "C++": "C++ is a language. It was designed by Brita Strand.",
        "C#": "C# is a language. It was designed by Anton Hjell.",
        "Brita Strand": "Brita Strand was born in Aarhus.",
        "Anton Hjell": "Anton Hjell was born in Kolding. He wrote tools for F# and played in C.",
        "Unreel": "Unreel is an engine in C++ and F#.",
        "Unify": "Unify is an engine that is written in C# by others.",
    }
    documents = [Document(title, (Section(text),), title) for title, text in texts.items()]
    for part in [documents] if at_once else [[document] for document in documents]:
        kg[collection_name].ingest(part)
    rows = kg[collection_name].cypher(
        "MATCH (p:Passage {collection: $collection})-[:MENTIONS]->(e:Entity) WHERE size(e.normal) < 4 "
        "RETURN e.normal AS name, collect(p.title) AS titles"
    )
    assert {row["name"]: set(row["titles"]) for row in rows} == {
        "c++": {"C++", "Unreel"}, "c#": {"C#", "Unify"}, "f#": {"Anton Hjell", "Unreel"},
    }  # fmt: skip
    for name in ("C++", "C#"):
        assert keys(kg, collection_name, f"Who designed {name}?", "pathrank")[0] == name


@pytest.mark.parametrize(
    ("one", "other", "language"), [("パリ", "バリ", "ja"), ("ガス", "カス", "ja"), ("हिन्दी", "हन्दी", "hi")]
)
def test_marks_are_letters_of_their_script(
    kg: KnowledgeGraph, collection_name: str, one: str, other: str, language: str
) -> None:
    kg[collection_name].ingest(titled(one, other), language=language)
    named = about(kg, collection_name)
    assert not named[one] & named[other] and all(named.values())


def test_facts_of_a_file_keep_to_their_own(kg: KnowledgeGraph, collection_name: str, tmp_path: Path) -> None:
    rows = [
        ("Fram", "top speed knots", "1.5"), ("Maud", "top speed knots", "15"),
        ("Oslo", "lowest temperature", "-5"), ("Rome", "lowest temperature", "5"),
        ("C++", "designed by", "Xenia"), ("C#", "designed by", "Yvonne"), ("C", "designed by", "Zoe"),
        ("Java 1.7", "released in", "2011"), ("Java 17", "released in", "2021"),
    ]  # fmt: skip
    path = tmp_path / "facts.csv"
    path.write_text("".join(f"{','.join(row)}\n" for row in rows))
    KnowledgeGraph.import_knowledge(path, collection_name, settings=kg.settings)
    found = kg[collection_name].cypher(
        "MATCH (s:Entity)<-[:SUBJECT]-(t:Triple {collection: $collection})-[:OBJECT]->(o:Entity)"
        " RETURN s.name AS s, t.predicate AS p, o.name AS o"
    )
    assert {(row["s"], row["p"], row["o"]) for row in found} == set(rows)


def test_a_number_is_searched_as_it_is(kg: KnowledgeGraph, collection_name: str) -> None:
    texts = {
        "a": "Version 12.3 of the Halcyon pump firmware is old.",
        "b": "Version 1.23 of the Halcyon pump firmware is new.",
        "c": "There are 1,000 waterfalls.",
        "d": "The printer is a WF-M5799DWF.",
        "e": "The printer is an M5799 of last year, with a longer text on the paper that it takes.",
        "f": "Le chœur de la basilique du Sacré-Cœur.",
    }
    kg[collection_name].ingest([Document(key, (Section(text),), key) for key, text in texts.items()])
    assert keys(kg, collection_name, "1.23") == ["b"]
    assert keys(kg, collection_name, "Which is version 1.23 of the Halcyon firmware?", "pathrank")[0] == "b"
    assert keys(kg, collection_name, "1000") == ["c"]
    assert keys(kg, collection_name, "M5799") == ["e", "d"]
    assert keys(kg, collection_name, "coeur") == keys(kg, collection_name, "chœur") == ["f"]
    assert keys(kg, collection_name, "choeur") == ["f"]


def test_a_name_of_stop_words_is_a_name(kg: KnowledgeGraph, collection_name: str) -> None:
    kg[collection_name].ingest(
        [
            *titled("The The", "Will Smith", "It", "The Who", "Ås", "Malmö"),
            Document("text", (Section("Stephen King wrote It in Maine."),), "Stephen King"),
        ]
    )
    here = kg[collection_name]
    for typed, name in [("The The", "The The"), ("Will", "Will Smith"), ("It", "It"), ("Malmo", "Malmö"), ("Ås", "Ås")]:
        assert name in [found for found, _ in here.names(typed)], typed
    assert here.names("the malm")[0][0] == "Malmö"
    assert here.saved_query("around", entity="The The")
    assert keys(kg, collection_name, "Who wrote It?", "pathrank")[0] in ("It", "Stephen King")


def test_stems_of_another_stemmer_are_made_anew(
    kg: KnowledgeGraph, graph_settings: Settings, collection_name: str
) -> None:
    here = kg[collection_name]
    here.ingest([Document("a", (Section("Two universities stand there."),), "A note")])
    after = digest(kg.graph, collection_name)
    kg.graph.run("write/end_rereading", name=collection_name, stemmer="PyStemmer 2.2.0")
    assert graph_settings.neo4j_password
    auth = (graph_settings.neo4j_user, graph_settings.neo4j_password.get_secret_value())
    with neo4j.GraphDatabase.driver(graph_settings.neo4j_uri or "", auth=auth) as driver:
        driver.execute_query(  # stems of that version
            "MATCH (p:Passage {collection: $c}) SET p.stems = replace(p.stems, 'universiti', 'univers')",
            {"c": collection_name},
        )
    for work in (lambda: here.search("universities"), lambda: here.ingest([])):
        with pytest.raises(MismatchError, match=r"(?s)PyStemmer 2\.2\.0.*db repair"):
            work()
    (finding,) = [f for f in here.inspect().findings if f.level == "error"]
    assert finding.name == "stems of another stemmer"
    assert here.repair().finished
    assert keys(kg, collection_name, "universities") == ["A note"]
    assert digest(kg.graph, collection_name) == after and not [f for f in here.inspect().findings if f.level == "error"]
