"""A schema of facts: what is outside is dropped and counted, what is inside is typed, whatever comes and goes."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from scripted import Scripted

from kgrag import KnowledgeGraph
from kgrag.graph.collections import open_collection
from kgrag.graph.contents import digest
from kgrag.indexing.fact_schema import parse_fact_schema, read_fact_schema
from kgrag.values.documents import Document, Section
from kgrag.values.errors import ConfigurationError, InputError

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
            {"subject": "Colin Archer", "predicate": "LIVES_IN", "object": "Stavern", "from": "1861", "to": "1865"},
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
        "RETURN s.name AS s, labels(s) AS sl, type(r) AS t, o.name AS o, labels(o) AS ol, r.valid_from AS a, r.valid_to AS b, "
        "size(r.passages) AS n"
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
    assert (report.triples, dict(report.dropped)) == (5, {"outside the schema": 2})
    asked = scripted.calls[0]["messages"][0]["content"]
    assert "- BORN_IN (Person -> Place)" in asked
    assert "- Ship" in asked
    undated = ("Person", "Colin Archer", "LIVES_IN", "Place", "Larvik", None, None, 1)  # 1799 stands in no passage
    assert _relationships(kg, collection_name) == _EXPECTED | {undated}
    outside = next(f for f in notes.inspect().findings if f.kind == "outside the schema")
    assert outside.number == 2
    assert set(outside.examples) == {"(Ship)-[DESIGNED]->(Person) 1", "(Place)-[is older than]->(Place) 1"}
    assert notes.extract(threads=1).passages == 0  # nothing is asked again

    history = [
        (r["predicate"], r["object"], r["valid_from"], r["valid_to"])
        for r in notes.history("Colin Archer", as_of="1863")
    ]
    assert history == [
        ("BORN_IN", "Larvik", None, None), ("DESIGNED", "Fram", None, None), ("LIVES_IN", "Larvik", None, None),
        ("LIVES_IN", "Stavern", "1861", "1865"),
    ]  # fmt: skip

    notes.delete("archer")
    assert {row for row in _relationships(kg, collection_name) if row[4] == "Stavern" or row[2] == "BORN_IN"} == set()
    labels = kg.cypher(
        "MATCH (e:Entity {collection: $c}) WHERE e.types IS NOT NULL RETURN e.name AS n ORDER BY n",
        {"c": collection_name},
    )
    assert [r["n"] for r in labels] == ["Colin Archer", "Fram", "Larvik"]

    notes.set_fact_schema(None)
    scripted.say("extract", {"entities": ["Fram", "Colin Archer"], "triples": [["Colin Archer", "designed", "Fram"]]})
    assert notes.extract(threads=1).triples == 1
    assert _relationships(kg, collection_name) == set()
    assert not list(kg.cypher("MATCH (e:Person {collection: $c}) RETURN e", {"c": collection_name}))


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
