"""Facts by rules: matches of patterns in sentences, lines and tables, and texts without a match."""

from collections.abc import Callable
from pathlib import Path

import pytest
from scripted import Scripted

from kgrag import KnowledgeGraph
from kgrag.graph.contents import digest
from kgrag.indexing.fact_rules import facts_by_rules, facts_of_table, table_rows
from kgrag.text.languages import language_of
from kgrag.values.documents import Document, Section, Table

Connect = Callable[..., KnowledgeGraph]
_ARCHER = "Colin Archer"
_A = "is a"


@pytest.mark.parametrize(
    ("title", "text", "facts"),
    [
        (_ARCHER, "Colin Archer was a Norwegian naval architect.", {(_ARCHER, _A, "Norwegian naval architect")}),
        (_ARCHER, "Archer sailed. Colin Archer, a shipwright, lived here.", {(_ARCHER, _A, "shipwright")}),
        (
            _ARCHER,
            "Colin Archer (22 July 1832 – 8 February 1921) was a shipbuilder from Larvik.",
            {(_ARCHER, _A, "shipbuilder"), (_ARCHER, "born on", "22 July 1832"),
                 (_ARCHER, "died on", "8 February 1921")},
        ),
        (
            _ARCHER,
            "Colin Archer (22 July 1832, Larvik - 8 February 1921, Oslo) was a builder.",
            {
                (_ARCHER, _A, "builder"), (_ARCHER, "born on", "22 July 1832"), (_ARCHER, "born in", "Larvik"),
                (_ARCHER, "died on", "8 February 1921"), (_ARCHER, "died in", "Oslo"),
            },
        ),
        (
            _ARCHER,
            "Colin Archer (born July 22, 1832 in Larvik) was a builder.",
            {(_ARCHER, _A, "builder"), (_ARCHER, "born on", "July 22, 1832"), (_ARCHER, "born in", "Larvik")},
        ),
        (
            _ARCHER,
            "Colin Archer (1832 – 1921) was a Norwegian builder.",
            {(_ARCHER, _A, "Norwegian builder"), (_ARCHER, "born in", "1832"), (_ARCHER, "died in", "1921")},
        ),
        (_ARCHER, "Sir Colin James Archer was a builder.", {(_ARCHER, _A, "builder")}),
        (_ARCHER, "Born in Larvik, Norway, Archer built ships.", {(_ARCHER, "born in", "Larvik")}),
        (_ARCHER, "Born on 22 July 1832 in Larvik, Archer sailed.",
         {(_ARCHER, "born on", "22 July 1832"), (_ARCHER, "born in", "Larvik")}),
        (_ARCHER, "Colin Archer was born in Larvik.", {(_ARCHER, "born in", "Larvik")}),
        (_ARCHER, "Colin Archer was born on 22 July 1832 in Larvik.",
         {(_ARCHER, "born on", "22 July 1832"), (_ARCHER, "born in", "Larvik")}),
        (_ARCHER, "Colin Archer died on 8 February 1921 in Larvik.",
         {(_ARCHER, "died on", "8 February 1921"), (_ARCHER, "died in", "Larvik")}),
        (
            _ARCHER,
            "Colin Archer (born 1832) was a builder. He was born in Larvik.",
            {(_ARCHER, _A, "builder"), (_ARCHER, "born in", "1832"), (_ARCHER, "born in", "Larvik")},
        ),
        ("Oslo", "Oslo is the capital of Norway.", {("Oslo", "is the capital of", "Norway")}),
        ("Oslo", "Oslo is the largest city in Norway.", {("Oslo", "is the largest city in", "Norway")}),
        ("Larvik", "Larvik is a town in the county of Vestfold, Norway.",
         {("Larvik", _A, "town"), ("Larvik", "located in", "Vestfold")}),
        ("Larvik, Norway", "Larvik is a town. It was founded in 1671.",
         {("Larvik, Norway", _A, "town"), ("Larvik, Norway", "founded in", "1671")}),
        ("Fram", "The Fram was a ship designed by Colin Archer and built in Larvik.",
         {("Fram", _A, "ship"), ("Fram", "designed by", _ARCHER), ("Fram", "built in", "Larvik")}),
        ("Fram (ship)", "Fram was a ship. The ship was launched on 26 October 1892.",
         {("Fram", _A, "ship"), ("Fram", "launched on", "26 October 1892")}),
        ("Fram", "Fram is a novel by the Norwegian writer Colin Archer.",
         {("Fram", _A, "novel"), ("Fram", "novel by", _ARCHER)}),
        ("Fram", "Fram, a novel by Colin Archer, was published in 1892 by Gyldendal.",
         {("Fram", _A, "novel"), ("Fram", "novel by", _ARCHER), ("Fram", "published in", "1892"),
          ("Fram", "published by", "Gyldendal")}),
        ("Fram", "Fram is a film written and directed by Ole Hansen.",
         {("Fram", _A, "film"), ("Fram", "written by", "Ole Hansen"), ("Fram", "directed by", "Ole Hansen")}),
        ("Fram", "Fram is a song recorded by Ole Hansen, Kari Lie and Per Dahl.",
         {("Fram", _A, "song"), *(("Fram", "recorded by", name) for name in ("Ole Hansen", "Kari Lie", "Per Dahl"))}),
        ("Fram", '"Fram" is a song by American country singer James Otto.',
         {("Fram", _A, "song"), ("Fram", "song by", "James Otto")}),
        ("Fram", "``Fram '' is a song.", {("Fram", _A, "song")}),
        ("Fram", "Fram is the second album by Kari Lie, released in 1995.",
         {("Fram", "album by", "Kari Lie"), ("Fram", "released in", "1995")}),
        ("Fram", "Fram is a song sung by Ray Parker, Jr.",
         {("Fram", _A, "song"), ("Fram", "sung by", "Ray Parker, Jr.")}),
        ("Muang Kasi", "Muang Kasi is a river town in Laos.",
         {("Muang Kasi", _A, "river town"), ("Muang Kasi", "located in", "Laos")}),
        ("Boston", "Boston is an intellectual, technological, and political center.", set()),
        ("Fram", "Fram is a league comprising sports teams.", {("Fram", _A, "league")}),
        ("Fram", "Since 1892 he was Partner of Amilton, a group.", set()),
        ("Fram", "Fram is a company based in Oslo.", {("Fram", _A, "company"), ("Fram", "based in", "Oslo")}),
        ("Fram", "Fram was founded in 1892 by Ole Hansen.",
         {("Fram", "founded in", "1892"), ("Fram", "founded by", "Ole Hansen")}),
        ("Fram", "Fram was established on 5 May 1892.", {("Fram", "established on", "5 May 1892")}),
        ("Fram Museum", "The Fram Museum is located in Oslo, Norway.", {("Fram Museum", "located in", "Oslo")}),
        ("Togo", "Togo (), officially the Togolese Republic (), is a country in West Africa.",
         {("Togo", _A, "country")}),
        ("Glomma", "Glomma is a tributary of the Skagerrak.", {("Glomma", "is a tributary of", "Skagerrak")}),
        ("Whales", "A painting was given to Ole Hansen, a botanist.", {("Ole Hansen", _A, "botanist")}),
        ("Whales", "Ole Hansen was a botanist.", {("Ole Hansen", _A, "botanist")}),
        ("Fram", "Fram is an old, wooden ship that never sank.", set()),
        ("Siege", "Siege of Oslo (1 May 1945 – 3 June 1945) was a siege.", {("Siege of Oslo", _A, "siege")}),
        ("Norway", "Capital: Oslo\nLargest city: Oslo\n",
         {("Norway", "Capital", "Oslo"), ("Norway", "Largest city", "Oslo")}),
        ("Norway", "- **Capital**: Oslo\n- **King**: Harald V",
         {("Norway", "Capital", "Oslo"), ("Norway", "King", "Harald V")}),
        ("Norway", "Capital: Oslo", set()), ("Norway", "Capital: Oslo\n\nKing: Harald V", set()),
        ("Norway", "Note: It rains\nSee: Weather", set()), ("Norway", "Capital: -\nKing: none", set()),
        (_ARCHER, "Was Colin Archer a builder?", set()), (_ARCHER, "Colin Archer was a builder?", set()),
        (_ARCHER, "Colin Archer was not a builder.", set()), (_ARCHER, "Colin Archer may be a builder.", set()),
        (_ARCHER, "Colin Archer was never born in Oslo.", set()),
        (_ARCHER, "Colin Archer was perhaps born in Oslo.", set()),
        (_ARCHER, "Colin Archer was an allegedly rich builder.", set()),
        (_ARCHER, "Colin Archer was one of the builders.", set()),
        (_ARCHER, "Colin Archer was a part of it.", set()),
        (_ARCHER, "Colin Archer was the best.", set()),
        (_ARCHER, "Colin Archer's father was a builder.", set()),
        (_ARCHER, "Colin Archer and his father were born in Oslo.", set()),
        (_ARCHER, "He was born in Oslo.", set()),
        (_ARCHER, "She was a builder.", set()),
        ("Fram", "Fram is a film directed by Kari Lie. She was born in Oslo.",
         {("Fram", _A, "film"), ("Fram", "directed by", "Kari Lie")}),
        ("Fram", "Ole Hansen bought a mill. It was founded in 1892.", set()),
        ("Fram", "The company was founded in 1892.", set()),
        ("Fram", "However, Construction was completed in 1892.", set()),
        ("Fram", "Construction was completed in 1892.", set()),
        ("Fram", "Fram was founded by accident.", set()),
        ("Fram", "Fram was written by Kari and Ole's children.", set()),
        ("Fram", "In Oslo, Norway, a town was built.", set()),
        ("Fram", "It happened in Larvik, Norway, a town.", set()),
        ("Fram", "He won in Oslo, a first for Ole Hansen.", set()),
        ("Fram", "Fram is a film that was not directed by Kari Lie.", {("Fram", _A, "film")}),
        ("Fram", "Fram was built in the style of Oslo.", set()),
        ("Fram", "It is a ship.", set()),
        ("List of ships", "Fram Maru was great.", set()),
        ("", "He was a builder.", set()),
    ],
)  # fmt: skip
def test_sentences_and_lines(title: str, text: str, facts: set[tuple[str, str, str]]) -> None:
    triples = facts_by_rules(title, "", text).triples
    assert {(t.subject, t.predicate, t.object) for t in triples} == facts
    assert len(triples) == len(facts)


def test_names_of_the_title_are_one_entity() -> None:
    [entity] = facts_by_rules(_ARCHER, "", "Sir Colin James Archer was a builder.").entities
    assert (entity.name, entity.aliases) == (_ARCHER, ["Sir Colin James Archer"])


def test_lines_under_another_heading_are_of_something_else() -> None:
    lines = "Capital: Oslo\nKing: Harald V"
    assert facts_by_rules("Norway", "Sweden", lines).triples == []
    assert len(facts_by_rules("Norway", "Norway", lines).triples) == 2


def test_another_language_gives_lines_alone() -> None:
    text = "Hauptstadt: Oslo\nKönig: Harald V\nNorwegen is a country."
    triples = facts_by_rules("Norwegen", "", text, language_of("de")).triples
    assert [t.object for t in triples] == ["Oslo", "Harald V"]


_SHIPS = Table(
    1,
    (
        ("No.", "Ship", "Builder", "Launched", ""),
        ("1", "Fram", "Colin Archer", "1892", "x"),
        ("2", "Gjøa", "Knut Skaale", "-", "y"),
        ("3", "Maud", "Colin Archer", "1916", ""),
    ),
)
_ROWS = (
    "No.: 1; Ship: Fram; Builder: Colin Archer; Launched: 1892; x.\n"
    "No.: 2; Ship: Gjøa; Builder: Knut Skaale; Launched: -; y."
)


def test_a_table_gives_facts_by_rows() -> None:
    rows = table_rows(f"Ships | all\n\n{_SHIPS.markdown}")
    assert rows == [list(row) for row in _SHIPS.rows]
    triples = facts_of_table(rows, _ROWS).triples
    assert [(t.subject, t.predicate, t.object, getattr(t, "cell")) for t in triples] == [  # noqa: B009
        ("Fram", "Builder", "Colin Archer", "2:3"),
        ("Fram", "Launched", "1892", "2:4"),
        ("Gjøa", "Builder", "Knut Skaale", "3:3"),
    ]


@pytest.mark.parametrize(
    "rows",
    [
        [["Ship", "Built"], ["Fram", "1892"]],  # a single row
        [["Ship", "Built"], ["Fram", "1892"], ["Fram", "1893"]],
        [["Year", "Built"], ["1892", "5"], ["1893", "6"]],
        [["Ship", "2019"], ["Fram", "5"], ["Maud", "6"]],  # years as columns
        [["Ship", "Built"]],
    ],
)
def test_a_table_without_a_key_gives_none(rows: list[list[str]]) -> None:
    head = rows[0]
    text = "\n".join(f"{head[0]}: {row[0]}; {head[1]}: {row[1]}." for row in rows[1:])
    assert facts_of_table(rows, text).triples == []


def test_a_pipe_within_a_cell() -> None:
    table = Table(1, (("Key", "Value"), ("A|B Gate", "x")))
    assert table_rows(table.markdown) == [["Key", "Value"], ["A|B Gate", "x"]]


_SCHEMA = """
[types.Person]
[types.Place]
[types.Ship]
[predicates.BORN_IN]
from = ["Person"]
to = ["Place"]
[predicates.BUILT_BY]
from = ["Ship"]
to = ["Person"]
synonyms = ["Builder"]
"""
_DOCUMENTS = [
    Document("archer", (Section("Colin Archer was a shipbuilder. Colin Archer was born in Larvik."),), _ARCHER),
    Document("ships", (Section("Ships of the north."),), "Polar ships", tables=(_SHIPS,)),
]
_FACTS = "MATCH (t:Triple {collection: $c}) RETURN t.text AS text, t.cell AS cell, t.relation AS relation ORDER BY text"


@pytest.mark.long
def test_rules_and_a_model_replace_each_other(
    collection_name: str, scripted: Scripted, connect: Connect, tmp_path: Path
) -> None:
    kg = connect()
    notes = kg[collection_name]
    notes.ingest(_DOCUMENTS)
    assert (notes.extract(rules=True, limit=1).passages, len(scripted.calls)) == (1, 0)
    report = notes.extract(rules=True)
    assert (report.passages, report.left, dict(report.dropped)) == (2, 0, {})
    facts = [(r["text"], r["cell"], r["relation"]) for r in kg.cypher(_FACTS, {"c": collection_name})]
    assert facts == [
        ("Colin Archer born in Larvik", None, None), ("Colin Archer is a shipbuilder", None, None),
        ("Fram Builder Colin Archer", "2:3", None), ("Fram Launched 1892", "2:4", None),
        ("Gjøa Builder Knut Skaale", "3:3", None), ("Maud Builder Colin Archer", "4:3", None),
        ("Maud Launched 1916", "4:4", None),
    ]  # fmt: skip
    before = digest(kg.graph, collection_name)
    assert notes.extract(rules=True).passages == 0
    assert digest(kg.graph, collection_name) == before
    assert [reading.current for reading in notes.inspect().readings if reading.version] == [True]

    (tmp_path / "schema.toml").write_text(_SCHEMA, encoding="utf-8")
    notes.set_fact_schema(tmp_path / "schema.toml")
    report = notes.extract(rules=True)
    assert (report.passages, report.triples, dict(report.dropped)) == (3, 4, {"outside the schema": 3})
    typed = {(r["text"], r["cell"], r["relation"]) for r in kg.cypher(_FACTS, {"c": collection_name})}
    assert ("Fram Builder Colin Archer", "2:3", "BUILT_BY") in typed
    ships = kg.cypher("MATCH (e:Ship {collection: $c}) RETURN e.name AS n ORDER BY n", {"c": collection_name})
    assert [r["n"] for r in ships] == ["Fram", "Gjøa", "Maud"]

    notes.set_fact_schema(None)
    scripted.say("extract", {"entities": ["Larvik"], "triples": [["Larvik", "is", "old"]]})
    assert notes.extract(threads=1).triples == 0  # the fact comes from another passage
    assert list(kg.cypher(_FACTS, {"c": collection_name})) == []
    notes.extract(rules=True)
    assert digest(kg.graph, collection_name) == before


@pytest.mark.long
def test_the_order_of_documents_leaves_no_trace(connect: Connect) -> None:
    kg = connect()
    digests = []
    for order in (_DOCUMENTS, _DOCUMENTS[::-1]):
        work = kg["rules-in-any-order"]
        for document in order:
            work.ingest([document])
            work.extract(rules=True)
        digests.append(digest(kg.graph, "rules-in-any-order"))
        work.delete()
    assert digests[0] == digests[1]
