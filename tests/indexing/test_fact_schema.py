"""A fact schema: facts outside it are dropped and counted, facts inside it are typed, through all changes."""

import json
import random
import tomllib
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from scripted import Scripted
from test_timelines import HISTORIES

from kgrag import KnowledgeGraph
from kgrag.graph.collections import open_collection
from kgrag.graph.contents import digest
from kgrag.indexing.fact_schema import parse_fact_schema, read_fact_schema
from kgrag.values.documents import Document, Section, Triple
from kgrag.values.errors import ConfigurationError, InputError, ModelError
from kgrag.values.results import Filter

Connect = Callable[..., KnowledgeGraph]
SCHEMA = """
[types.Person]
synonyms = ["human being"]
[types.Place]
[types.Ship]
[predicates.BORN_IN]
from = ["Person"]
to = ["Place"]
synonyms = ["birthplace"]
[predicates.DESIGNED]
from = ["Person"]
to = ["Ship"]
[predicates.CAPTAIN_OF]
from = ["Person"]
to = ["Ship"]
one = false
[predicates.LIVES_IN]
from = ["Person"]
to = ["Place"]
one = true
"""
_DOCUMENTS = [
    Document(
        "archer", (Section("Colin Archer was born in Larvik. He lived in Stavern from 1861 to 1865."),), "Colin Archer"
    ),
    Document(
        "fram", (Section("The Fram was designed by Colin Archer, who lived in Larvik from 1865."),), "Fram (ship)"
    ),
]
_ARCHER = {"name": "Colin Archer", "type": "Person"}
_SAID = {
    "archer": {
        "entities": [_ARCHER, {"name": "Larvik", "type": "Place"}, {"name": "Stavern", "type": "Place"}],
        "triples": [
            {"subject": "Colin Archer", "predicate": "was born in", "object": "Larvik", "from": None, "to": None},
            {
                "subject": "Colin Archer",
                "predicate": "LIVES_IN",
                "object": "Stavern",
                "from": "1861-07-14",
                "to": "in 1865",
            },
            ["Larvik", "is older than", "Stavern"],
        ],
    },
    "fram": {
        "entities": [_ARCHER, {"name": "Larvik", "type": "Place"}, {"name": "Fram", "type": "Ship"}],
        "triples": [
            ["Colin Archer", "DESIGNED", "Fram"],
            ["Fram", "DESIGNED", "Colin Archer"],
            ["Colin Archer", "LIVES_IN", "Larvik", "1865", None],
            ["Colin Archer", "LIVES_IN", "Larvik", "1799", None],
        ],
    },
}


def _answer(scripted: Scripted, *keys: str) -> None:
    scripted.say("extract", *(_SAID[key] for key in keys))


def _schema(path: Path) -> Path:
    path.write_text(SCHEMA, encoding="utf-8")
    return path


def _relationships(kg: KnowledgeGraph, name: str) -> set[tuple[Any, ...]]:
    query = (
        "MATCH (s:Entity {collection: $c})-[r]->(o:Entity) WHERE r.facts IS NOT NULL "
        "RETURN s.name AS s, labels(s) AS sl, type(r) AS t, o.name AS o, labels(o) AS ol, "
        "r.valid_from AS a, r.valid_to AS b, size(r.passages) AS n"
    )
    own = {"Person", "Place", "Ship"}
    return {
        (*sorted(own & set(r["sl"])), r["s"], r["t"], *sorted(own & set(r["ol"])), r["o"], r["a"], r["b"], r["n"])
        for r in kg.cypher(query, {"c": name})
    }


_EXPECTED = {
    ("Person", "Colin Archer", "BORN_IN", "Place", "Larvik", None, None, 1),
    ("Person", "Colin Archer", "LIVES_IN", "Place", "Stavern", "1861", "1865", 1),
    ("Person", "Colin Archer", "DESIGNED", "Ship", "Fram", None, None, 1),
    ("Person", "Colin Archer", "LIVES_IN", "Place", "Larvik", "1865", None, 1),
}


@pytest.mark.long
def test_facts_are_typed_and_what_is_outside_is_counted(
    collection_name: str, scripted: Scripted, connect: Connect, tmp_path: Path
) -> None:
    kg = connect()
    notes = kg[collection_name]
    notes.ingest(_DOCUMENTS)
    notes.set_fact_schema(_schema(tmp_path / "schema.toml"))
    _answer(scripted, "archer", "fram")
    report = notes.extract(threads=1)
    assert (report.triples, dict(report.dropped), report.dates) == (5, {"outside the schema": 2}, 1)
    asked = scripted.calls[0]["messages"][0]["content"]
    assert "- BORN_IN (Person -> Place)" in asked
    assert "- Ship" in asked
    assert _relationships(kg, collection_name) == _EXPECTED  # 1799 is not in the passage, so nothing changes
    outside = next(f for f in notes.inspect().findings if f.name == "outside the schema")
    assert outside.number == 2
    assert set(outside.examples) == {"(Ship)-[DESIGNED]->(Person) 1", "(Place)-[is older than]->(Place) 1"}
    assert notes.extract(threads=1).passages == 0  # no new model call

    history = [
        (r["predicate"], r["object"], r["valid_from"], r["valid_to"])
        for r in notes.history("Colin Archer", as_of="1863")
    ]
    assert history == [
        ("BORN_IN", "Larvik", None, None), ("DESIGNED", "Fram", None, None), ("LIVES_IN", "Stavern", "1861", "1865"),
    ]  # fmt: skip
    with pytest.raises(InputError, match="'May 1863' is no date"):
        kg.saved_query("history", collection=collection_name, entity="Colin Archer", as_of="May 1863")

    scripted.say("cypher", "MATCH (p:Person {collection: $collection})-[:BORN_IN]->(o:Place) RETURN o.name AS place")
    assert [row["place"] for row in notes.ask_cypher("Where was Colin Archer born?").rows or ()] == ["Larvik"]
    assert "(:Person)-[:BORN_IN]->(:Place)" in scripted.calls[-1]["messages"][0]["content"]

    scripted.say("answer", "He lived in Stavern [1].")
    answer = notes.ask("Where did Colin Archer live in 1863?", system="single+bm25")
    assert answer.ranking.notes == ("Colin Archer lives in Stavern: since 1861 until 1865.",)

    scripted.say("answer", "He lived in Stavern [1].", "He lived in Stavern [1].")
    for date, notes_then in (("1863-2", answer.ranking.notes), ("1870", ())):
        then = notes.ask("Where did Colin Archer live?", system="single+bm25", filter=Filter(as_of=date))
        assert then.ranking.notes == notes_then
    assert "Where did Colin Archer live? (as of 1870)" in scripted.calls[-1]["messages"][-1]["content"]

    notes.delete(["archer"])
    assert {row for row in _relationships(kg, collection_name) if row[4] == "Stavern" or row[2] == "BORN_IN"} == set()
    labels = kg.cypher(
        "MATCH (e:Entity {collection: $c}) WHERE e.types IS NOT NULL RETURN e.name AS n ORDER BY n",
        {"c": collection_name},
    )
    assert [r["n"] for r in labels] == ["Colin Archer", "Fram", "Larvik"]

    notes.set_fact_schema(None)
    typed = [{"name": "Fram", "type": "Passage"}, {"name": "Colin Archer", "type": "Document"}]  # unrequested types
    scripted.say("extract", {"entities": typed, "triples": [["Colin Archer", "designed", "Fram"]]})
    assert notes.extract(threads=1).triples == 1
    assert _relationships(kg, collection_name) == set()
    assert not list(kg.cypher("MATCH (e:Person|Passage&Entity {collection: $c}) RETURN e", {"c": collection_name}))


@pytest.mark.long
def test_the_order_of_documents_leaves_no_trace(scripted: Scripted, connect: Connect, tmp_path: Path) -> None:
    kg = connect()
    digests = []
    for order in (("archer", "fram"), ("fram", "archer")):
        notes = kg["schema-order"]
        for key in order:
            notes.ingest([next(d for d in _DOCUMENTS if d.key == key)])
            if notes.fact_schema() is None:
                notes.set_fact_schema(_schema(tmp_path / "schema.toml"))
            _answer(scripted, key)
            notes.extract(threads=1)
        digests.append(digest(kg.graph, "schema-order"))
        if len(digests) == 1:
            notes.export(str(tmp_path / "out.jsonl"))
        notes.delete()
    kg.import_export(str(tmp_path / "out.jsonl"))
    digests.append(digest(kg.graph, "schema-order"))
    assert kg["schema-order"].fact_schema() is not None
    kg["schema-order"].delete()
    assert digests[0] == digests[1] == digests[2]


def test_a_type_is_no_label_of_others(kg: KnowledgeGraph, collection_name: str) -> None:
    kg[collection_name].ingest(_DOCUMENTS)
    page = (Path(__file__).parents[2] / "docs" / "schema.md").read_text(encoding="utf-8")
    schema = parse_fact_schema(tomllib.loads(page.partition("```toml\n")[2].partition("```")[0]), "the page")
    kg[collection_name].set_fact_schema(schema)
    kg.graph.driver.execute_query("CREATE (:Office {name: 'theirs'})")
    try:
        with pytest.raises(InputError, match=r"^Office: other nodes"):
            kg[collection_name].set_fact_schema(schema)
        assert kg[collection_name].fact_schema() == schema
    finally:
        kg.graph.driver.execute_query("MATCH (n:Office) DELETE n")


def test_linked_goes_without_a_schema(collection_name: str, connect: Connect, tmp_path: Path) -> None:
    kg = connect()
    kg[collection_name].ingest(_DOCUMENTS)
    kg[collection_name].set_fact_schema(_schema(tmp_path / "schema.toml"))
    with pytest.raises(ConfigurationError, match="schema of facts"):
        kg[collection_name].estimate_extraction(linked=True)
    assert open_collection(kg.graph, collection_name).fact_schema


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("[types.Passage]\n[predicates.IN]\n", "Passage: kgrag uses this name itself"),
        ("[types.Person]\n[predicates.MENTIONS]\n", "MENTIONS: kgrag uses this name itself"),
        ("[types.Person]\n[predicates.KNOWS]\nto = ['Place']\n", "Place: a predicate leads from or to it"),
        ("[types.Person]\n[predicates.knows]\n", "predicates.knows: String should match"),
        ("[types.Person]\n", "predicates: Field required"),
        (
            "[types.Person]\n[predicates.KNOWS]\nsynonyms=['met']\n[predicates.MET]\n",
            "KNOWS and MET are both called 'met'",
        ),
        ("[types.Person]\ncolour = 'red'\n[predicates.KNOWS]\n", "types.Person.colour: Extra inputs"),
        ("types = 3", "types: Input should be"),
        ("types = [", "cannot be read"),
    ],
)
def test_a_faulty_schema_says_where(tmp_path: Path, text: str, problem: str) -> None:
    path = tmp_path / "schema.toml"
    path.write_text(text, encoding="utf-8")
    with pytest.raises(InputError) as caught:
        read_fact_schema(path)
    assert problem in caught.value.message


def test_a_schema_is_the_same_as_toml_and_json(tmp_path: Path) -> None:
    one = read_fact_schema(_schema(tmp_path / "schema.toml"))
    (tmp_path / "again.toml").write_text(one.to_toml(), encoding="utf-8")
    (tmp_path / "schema.json").write_text(one.to_json(), encoding="utf-8")
    assert one == read_fact_schema(tmp_path / "again.toml") == read_fact_schema(tmp_path / "schema.json")
    shuffled = dict(reversed(json.loads(one.to_json()).items()))
    assert parse_fact_schema(shuffled, "here").version == one.version
    names = ("born in", "was born in", "BORN_IN", "bornIn", "birthplace", "Born-In", "born")
    assert [one.predicate(name) for name in names] == ["BORN_IN"] * 6 + [None]
    assert [one.entity_type(name) for name in ("person", "Human Being", "PLACE", "River")] == [
        "Person",
        "Person",
        "Place",
        None,
    ]


@pytest.mark.parametrize(
    ("object", "kind", "ends"),
    [
        ("Larvik", None, ("Person", "Place")), ("1832", None, None), ("22 July 1832", None, None),
        ("July 22, 1832", None, None), ("May 1832", None, None), ("1832-07-22", None, None),
        ("Street 1832", None, ("Person", "Place")), ("1832", "Place", ("Person", "Place")),
    ],
)  # fmt: skip
def test_a_date_is_no_place(tmp_path: Path, object: str, kind: str | None, ends: tuple[str, ...] | None) -> None:
    fits = read_fact_schema(_schema(tmp_path / "s.toml")).conform(Triple("Ada", "born in", object), [None, kind])
    assert fits == (ends and ("BORN_IN", False, ends))


@pytest.mark.parametrize(
    ("words", "predicate", "turned"),
    [
        ("designed", "DESIGNED", False), ("was designed by", "DESIGNED", True), ("owned by", "OWNS", True),
        ("owns", "OWNS", False), ("built by", "BUILT_BY", False), ("built", "BUILT", False),
        ("sailed", "SAILED_BY", True), ("led by", "LED", True), ("born in by", None, False),
    ],
)  # fmt: skip
def test_the_other_voice_turns_a_fact_round(words: str, predicate: str | None, turned: bool) -> None:
    """A passive that is a predicate itself keeps its direction; a passive of another predicate reverses the fact."""
    ends = {"from": ["Person"], "to": ["Ship"]}
    passive = {"from": ["Ship"], "to": ["Person"]}
    predicates = {"DESIGNED": ends, "OWNS": ends | {"inverse": ["owned by"]}, "BUILT": ends, "BUILT_BY": passive,
                  "SAILED_BY": passive, "LED": ends | {"synonyms": ["led by"]}}  # fmt: skip
    schema = parse_fact_schema({"types": {"Person": {}, "Ship": {}}, "predicates": predicates}, "here")
    kinds = ("Ship", "Person") if words.endswith("by") else ("Person", "Ship")
    fits = schema.conform(Triple("A", words, "B"), [None, None])
    assert fits == (predicate and (predicate, turned, kinds))


@pytest.mark.long
def test_the_passive_of_rules_has_its_direction(collection_name: str, connect: Connect) -> None:
    notes = connect()[collection_name]
    notes.ingest([Document("fram", (Section("Fram is a ship designed by Colin Archer."),), "Fram")])
    ends = {"from": ["Person"], "to": ["Ship"]}
    notes.set_fact_schema({"types": {"Person": {}, "Ship": {}}, "predicates": {"DESIGNED": ends}})
    notes.extract(rules=True)
    rows = notes.cypher(
        "MATCH (p:Person)-[:DESIGNED]->(s:Ship {collection: $collection}) RETURN p.name AS p, s.name AS s"
    )
    assert [(row["p"], row["s"]) for row in rows] == [("Colin Archer", "Fram")]


# A history of test_timelines -> the holders at some dates; "may" marks facts that no date contradicts.
AS_OF = {
    "offices in a row": {"1997": "", "1998": "A", "2005": "A B", "2005-07": "A B", "2006": "B", "2022": ""},
    "an office that is held": {"2030-01-01": "B", "2001": "A"},
    "a gap between two": {"1997": "", "1995": "A", "2000-02-03": "B"},
    "the same again": {"1992": "A", "1997": "B", "2010": "A"},
    "days": {"2012-02-29": "A", "2012-03-02": "B", "2012": "A B", "2010-01-30": ""},
    "three in a row": {"2000": "A", "2007-01-01": "B", "2010": "C", "1990": ""},
    "months": {"2010-04": "", "2010-06-30": "A", "2010-10": "B", "2010": "A B"},
    "both in one year": {"2009": "", "2010": "A B", "2015": "A B"}, "a third after both": {"2012": "C"},
    "no dates at all": {"1900": "A B"}, "one without a date": {"2000": "A", "2012": "A B"},
    "two that contradict each other": {"2003": "A", "2007": "A B", "2012": "B"},
    "prices": {"2009": "5 7", "2011-01-01": "5 7"}, "what was, in a later text": {"2009": "2", "2021": "5 2"},
    "stated, then since": {"2011": "A", "2013": "A B"},
    "since, until, and the next since": {"1999": "A", "2004": "", "2007": "B"},
    "who stands in ends nothing": {"2001": "A", "2004": "A B", "2006": "A"},
    "a later document on what is over": {"2003": "A", "2021": "B"},
    "a beginning by the end before": {"1995": "A B", "2003": "B", "2006": ""},
    "names of a city": {"1900": "Kristiania", "1925-01-01": "Kristiania Oslo", "1950": "Oslo"},
    "a name that came back": {"1800": "Petersburg", "1920": "Petrograd", "1950": "Leningrad", "2000": "Petersburg"},
}  # fmt: skip


_OFFICES = {"types": {"Office": {}, "Person": {}}, "predicates": {"HELD_BY": {"from": ["Office"], "one": True}}}
_HOLDERS = {"types": {"Office": {}, "Person": {}}, "predicates": {"HAS_OFFICE": {"to": ["Office"], "one": "from"}}}
_BRAIN = Path(__file__).parent / "fact_brain.py"


@pytest.mark.long
@pytest.mark.parametrize(("schema", "holder"), [(_OFFICES, "object"), (_HOLDERS, "subject")], ids=["to", "from"])
def test_what_held_when(
    collection_name: str, scripted: Scripted, connect: Connect, schema: dict[str, Any], holder: str
) -> None:
    """An office has one holder at a time, at either end of the predicate."""
    scripted.brain(_BRAIN)
    notes = connect()[collection_name]
    documents = []
    for number, name in enumerate(AS_OF):
        for part in HISTORIES[name][0].split(" | "):
            value, since, until, *dated = part.split()
            key = f"d{len(documents):03}"
            verb = "is held by" if holder == "object" else "has as holder"
            text = f"Office {number} {verb} Mr {value} ({key}): {since} to {until}."
            documents.append(Document(key, (Section(text),), key, metadata={"date": dated[0]} if dated else {}))
    notes.ingest(documents)
    notes.set_fact_schema(parse_fact_schema(schema, "here"))
    assert notes.extract().triples == len(documents)
    for number, (name, probes) in enumerate(AS_OF.items()):
        for date, objects in probes.items():
            held = {row[holder].removeprefix("Mr ") for row in notes.history(f"Office {number}", as_of=date)}
            assert held == set(objects.split()), (name, date)
            ranking = notes.search(f"Office {number} {verb}", k=100, retriever="bm25", filter=Filter(as_of=date))
            texts = [hit.passage.text for hit in ranking if hit.passage.text.startswith(f"Office {number} {verb} ")]
            dated = all(part.split()[1:3] != ["-", "-"] for part in HISTORIES[name][0].split(" | "))
            assert {text.split()[6] for text in texts} == held or not dated, (name, date)
            assert {text.split()[6] for text in texts} >= held, (name, date)
    both = [notes.search("Office 1", k=1000, retriever=r, filter=Filter(as_of="2001")) for r in ("bm25", "dense")]
    assert len(both[0]) == len(both[1]) < len(documents)
    with pytest.raises(InputError, match="'lately' is no date"):
        notes.search("Office 1", filter=Filter(as_of="lately"))


_FIRMS = {
    "types": {"Person": {}, "Firm": {}, "Town": {}},
    "predicates": {
        "WORKED_FOR": {"from": ["Person"], "to": ["Firm"], "one": True},
        "LOCATED_IN": {"from": ["Firm"], "to": ["Town"]},
        "LEADER_OF": {"from": ["Person"], "to": ["Firm"], "one": "from"},
    },
}
_LINES = """Ada Lund WORKED_FOR Hanssen Bros.: 1901 to -
Ada M. Lund WORKED_FOR Hanssen Brothers: - to 1907
Hanssen Brothers LOCATED_IN Bergen: - to -
Ada M. Lund WORKED_FOR Coast Survey of Hvalvik: 1908 to -
CSH LOCATED_IN Hvalvik (CSH, the Coast Survey of Hvalvik): - to -
Ada Maria Lund WORKED_FOR CSH: 1908 to -
Kari Voss LEADER_OF Hanssen Bros.: 1890 to -
Per Aas LEADER_OF Hanssen Brothers: 1899 to -
K. Voss WORKED_FOR Hanssen Bros.: - to -""".splitlines()
_TYPED = """MATCH (s:Entity {collection: $c})-[r]->(o:Entity) WHERE r.facts IS NOT NULL UNWIND r.facts AS fact
RETURN fact, s.name AS s, type(r) AS r, o.name AS o, r.valid_from AS since, r.valid_to AS until"""
_STATED = """MATCH (s:Entity {collection: $c})<-[:SUBJECT]-(t:Triple)-[:OBJECT]->(o:Entity) WHERE t.relation IS NOT NULL
RETURN t.id AS fact, s.name AS s, t.relation AS r, o.name AS o"""
_TIES = "MATCH (a:Entity {collection: $c})-[:SAME_AS]-(b) RETURN a.name AS a, b.name AS b"
_LABELS = """MATCH (e:Entity {collection: $c}) WHERE e:Person OR e:Firm OR e:Town OR e.types IS NOT NULL
RETURN e.name AS name, e.types = [x IN labels(e) WHERE x IN ['Person', 'Firm', 'Town']] AS right"""


def _steps_out(kg: KnowledgeGraph, name: str) -> list[Any]:
    """Return relationships and labels that do not follow from facts and links; an independent check of the rule."""

    def all_of(query: str) -> list[dict[str, Any]]:
        return [dict(row) for row in kg.cypher(query, {"c": name})]

    stated = all_of(_STATED)
    facts = {fact[end] for fact in stated for end in "so"}
    same: dict[str, set[str]] = {name: {name} for name in facts}
    for tie in all_of(_TIES):
        one, other = (same.get(tie[end], {tie[end]}) for end in "ab")
        same |= dict.fromkeys(one | other, one | other)
    place = {
        x: max(names & facts, key=lambda n: (len(n), [-ord(c) for c in n]))
        for x, names in same.items()
        if names & facts
    }
    wanted = sorted((fact["fact"], place[fact["s"]], fact["r"], place[fact["o"]]) for fact in stated)
    made = sorted((row["fact"], row["s"], row["r"], row["o"]) for row in all_of(_TYPED))
    labels = all_of(_LABELS)
    return [
        *(set(wanted) ^ set(made)),
        *([] if len(made) == len(wanted) else ["twice"]),
        *(row for row in labels if not row["right"]),
        *(facts ^ {row["name"] for row in labels}),
    ]


@pytest.mark.long
def test_names_of_one_entity_meet_in_the_typed_graph(
    collection_name: str, scripted: Scripted, connect: Connect
) -> None:
    scripted.brain(_BRAIN)
    kg = connect()
    notes = kg[collection_name]
    documents = [Document(f"d{number}", (Section(line),), f"d{number}") for number, line in enumerate(_LINES)]
    notes.ingest(documents)
    notes.set_fact_schema(parse_fact_schema(_FIRMS, "here"))
    assert notes.extract().triples == len(documents)
    apart = digest(kg.graph, collection_name)
    assert _steps_out(kg, collection_name) == []
    assert {frozenset((x.one, x.other)) for x in notes.resolve(apply=True).same} >= {
        frozenset(("Ada M. Lund", "Ada Maria Lund")),
        frozenset(("Hanssen Bros.", "Hanssen Brothers")),
    }
    assert _steps_out(kg, collection_name) == []
    together = digest(kg.graph, collection_name)
    path = "MATCH (p:Person {collection: $c})-[:WORKED_FOR]->(:Firm)-[:LOCATED_IN]->(t:Town) RETURN t.name AS town"
    assert "Bergen" in {row["town"] for row in kg.cypher(path, {"c": collection_name})}
    leaders = [row for row in notes.history("Hanssen Bros.") if row["predicate"] == "LEADER_OF"]
    led = {row["subject"]: (row["valid_from"], row["valid_to"], row["ended_by"]) for row in leaders}
    assert led == {"Kari Voss": ("1890", "1899", "Per Aas"), "Per Aas": ("1899", None, None)}
    assert notes.history("Hanssen Brothers").values == notes.history("Hanssen Bros.").values
    chance = random.Random(7)
    for _ in range(6):
        removed = chance.sample(documents, chance.randint(1, 6))
        notes.delete([document.key for document in removed])
        assert _steps_out(kg, collection_name) == []
        notes.ingest(removed)
        notes.extract()
        assert _steps_out(kg, collection_name) == []
        if chance.random() < 0.5:
            notes.resolve(apply=True)
            assert _steps_out(kg, collection_name) == []
    notes.resolve(apply=True)
    assert digest(kg.graph, collection_name) == together
    pair = notes.resolve().same[0]
    for verdict in (False, True, None):
        notes.decide(pair, same=verdict)
        assert _steps_out(kg, collection_name) == []
    notes.unresolve()
    assert _steps_out(kg, collection_name) == []
    assert digest(kg.graph, collection_name) == apart


@pytest.mark.long
def test_a_model_that_ignores_the_schema(collection_name: str, scripted: Scripted, connect: Connect) -> None:
    """1,000 facts, a third with another predicate; half of them is extracted, then the rest."""
    scripted.brain(_BRAIN)
    kg = connect()
    notes = kg[collection_name]
    lines = [f"Office {n} is held by Mr M{n % 7} (k{n}): 19{n % 90 + 10} to -." for n in range(1000)]
    notes.ingest([Document(f"d{n:03}", (Section(f"{line} wild {n}"),), f"d{n:03}") for n, line in enumerate(lines)])
    notes.set_fact_schema(parse_fact_schema(_OFFICES, "here"))
    first = notes.extract(limit=400)
    second = notes.extract()
    assert (first.passages, second.passages, second.left) == (400, 600, 0)
    assert first.triples + second.triples == 333 + 334  # "is held by" is a paraphrase of HELD_BY
    assert {*first.dropped, *second.dropped} == {"outside the schema"}
    assert sum((*first.dropped.values(), *second.dropped.values())) == 333
    count = "MATCH (:Office {collection: $c})-[r:HELD_BY]->(:Person) RETURN count(r) AS n"
    assert next(iter(kg.cypher(count, {"c": collection_name})))["n"] == 667
    types = "MATCH (e:Entity {collection: $c})-[r]->(:Entity) WHERE r.facts IS NOT NULL RETURN DISTINCT type(r) AS t"
    assert [row["t"] for row in kg.cypher(types, {"c": collection_name})] == ["HELD_BY"]
    held = [n for n in range(1000) if n % 7 == 3 and n % 3 != 2]
    assert len(notes.history("Mr M3").values) == len(held) > 90  # all are included
    outside = next(f for f in notes.inspect().findings if f.name == "outside the schema")
    assert (outside.number, outside.examples) == (333, ("(Office)-[sat in]->(Person) 333",))


@pytest.mark.long
def test_a_proposal_is_a_schema(collection_name: str, scripted: Scripted, connect: Connect) -> None:
    notes = connect()[collection_name]
    notes.ingest(_DOCUMENTS)
    types = [{"name": "person", "description": "somebody"}, {"name": "Ship"}, {"name": "Passage"}, {"name": None}]
    designed = {"name": "designed", "from": ["Person"], "to": ["Ship", "River"], "one": False, "synonyms": ["drew"]}
    built = {"name": "built by", "from": ["Ship"], "to": [], "one": True, "synonyms": ["drew"]}
    scripted.say("fact-schema", {"types": types, "predicates": [designed, built, {"name": "mentions"}, {"name": ""}]})
    assert json.loads(notes.propose_fact_schema(sample=2).to_json()) == {
        "types": {"Person": {"description": "somebody"}, "Ship": {}},
        "predicates": {
            "DESIGNED": {"from": ["Person"], "to": ["Ship"], "synonyms": ["drew"]},
            "BUILT_BY": {"from": ["Ship"], "one": True},
        },
    }
    assert scripted.calls[0]["messages"][1]["content"].count("<passage>") == 2
    assert notes.fact_schema() is None
    scripted.reset()
    scripted.say("fact-schema", {"types": [{"name": "Passage"}], "predicates": []})
    with pytest.raises(ModelError, match="no schema that can be used"):
        notes.propose_fact_schema()
