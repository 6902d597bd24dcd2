"""Readers of fact sources: original names, languages, places, ranks, dates."""

import gzip
import json
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from kgrag.indexing.knowledge import Selection, format_of, read_source
from kgrag.indexing.knowledge.fact_writer import triple_properties
from kgrag.indexing.knowledge.store import Store
from kgrag.indexing.knowledge.triples import rdf_lines
from kgrag.text.languages import ENGLISH
from kgrag.values.errors import InputError


def facts(path: Path, text: str, format: str, *languages: str) -> tuple[set[str], Counter[str]]:
    """Return the facts of a source in their searchable form, and the counts."""
    path.write_text(text, encoding="utf-8", newline="")
    with Store(path.with_suffix(".sqlite"), "s") as store:
        counts = read_source(path, format, Selection(languages or ("en",)), ENGLISH, store, lambda *_: None)
        store.prepare(part=False)
        return {triple_properties("c", row)["text"] for row in store.facts(part=False)}, counts


@pytest.mark.parametrize(
    ("text", "found", "left"),
    [
        (
            '"Berg, Anna",wrote,"Kilns\nand Ovens"\nAnna,wrote,b\n',
            {"Berg, Anna wrote Kilns and Ovens", "Anna wrote b"},
            0,
        ),
        ('a,says,"one\r\ntwo ""three""\r\nfour"\r\nb,is,c\r\n', {'a says one two "three" four', "b is c"}, 0),
        ('a,is,"never closed\nb,is,c\nd,is,e\n', {"a is never closed", "b is c", "d is e"}, 0),
        ('5" pipe,is,wide\nb,is,c\n', {'5" pipe is wide', "b is c"}, 0),
        ("Steins;Gate,genre,visual novel; drama\n", {"Steins;Gate genre visual novel; drama"}, 0),
        ("a,b\n", set(), 1),
    ],
)
def test_rows_of_csv_are_as_written(tmp_path: Path, text: str, found: set[str], left: int) -> None:
    read, counts = facts(tmp_path / "a.csv", text, "csv")
    assert (read, counts["lines that are no triple"]) == (found, left)


def test_cell_of_tsv_over_lines_is_one_object(tmp_path: Path) -> None:
    assert facts(tmp_path / "a.tsv", 'a\twrote\t"Kilns\nand Ovens"\n', "tsv")[0] == {"a wrote Kilns and Ovens"}


def test_reading_goes_on_after_rows_over_lines(tmp_path: Path) -> None:
    path = tmp_path / "a.csv"
    path.write_text('a,is,"b\nc"\nd,is,e\nf,is,g\n')
    with Store(tmp_path / "s", "s") as store:
        read_source(path, "csv", Selection(), ENGLISH, store, lambda *_: None)
        assert store.lines == 3


def item(key: str, labels: dict[str, str], *statements: tuple[str, Any], **more: Any) -> str:
    claims: dict[str, list[Any]] = {}
    for predicate, statement in statements:
        claims.setdefault(predicate, []).append(statement)
    told = {code: {"language": code, "value": text} for code, text in labels.items()}
    return json.dumps({"id": key, "labels": told, "claims": claims, **more})


def said(type: str, value: Any, rank: str = "normal", **qualifiers: Any) -> Any:
    if type == "item":
        type, value = "wikibase-entityid", {"entity-type": "item", "id": value}
    snaks = {name: [snak("time", it) if it else {"snaktype": "somevalue"}] for name, it in qualifiers.items()}
    return {"mainsnak": snak(type, value), "rank": rank, "qualifiers": snaks}


def snak(type: str, value: Any) -> Any:
    return {"snaktype": "value", "datavalue": {"type": type, "value": value}}


def day(text: str, precision: int = 11) -> dict[str, Any]:
    return {"time": f"+{text}T00:00:00Z", "precision": precision}


@pytest.mark.parametrize(
    ("wanted", "labels", "name"),
    [
        (("zh",), {"de": "Tokio", "zh-hant": "東京", "zh-hans": "东京"}, "东京"),
        (("zh-hant",), {"zh-hans": "东京", "zh-tw": "東京"}, "東京"),
        (("en",), {"ar": "طوكيو", "en-gb": "Tokyo"}, "Tokyo"),
        (("pt",), {"es": "Tokio", "pt-br": "Tóquio"}, "Tóquio"),
        (("no",), {"da": "a", "nb": "Kristiania"}, "Kristiania"),
        (("de", "fr"), {"en": "Vienna", "fr": "Vienne", "de-at": "Wien"}, "Wien"),
        (("de",), {"ar": "a", "mul": "M", "en": "E"}, "M"),
        (("sr",), {"bg": "a", "sr-el": "Beograd", "sr-ec": "Београд"}, "Београд"),
        (("de",), {"ar": "a", "en-ca": "E"}, "E"), (("fy",), {"ar": "a", "fy-x": "F"}, "F"),
    ],
)  # fmt: skip
def test_label_in_a_variant_of_the_language_is_taken(
    tmp_path: Path, wanted: tuple[str, ...], labels: dict[str, str], name: str
) -> None:
    lines = [item("Q1", labels, ("P1", said("item", "Q1"))), item("P1", {"mul": "is"})]
    assert facts(tmp_path / "a.json", "\n".join(lines), "wikidata", *wanted)[0] == {f"{name} is {name}"}
    triples = [f'<http://x/1> <http://www.w3.org/2000/01/rdf-schema#label> "{t}"@{c} .' for c, t in labels.items()]
    if name not in (labels.get("mul"), labels.get("en-ca")):
        text = "\n".join([*triples, "<http://x/1> <http://x/is> <http://x/1> ."])
        assert facts(tmp_path / "a.nt", text, "ntriples", *wanted)[0] == {f"{name} is {name}"}


@pytest.mark.parametrize(
    ("at", "text"),
    [
        ({"latitude": 35.6586, "longitude": 139.7454, "precision": 0.0001}, "35.6586 N, 139.7454 E"),
        ({"latitude": -0.000277, "longitude": 139.745433, "precision": 1 / 3600}, "0.0003 S, 139.7454 E"),
        ({"latitude": 35.65861, "longitude": -139.74543, "precision": 1e-05}, "35.65861 N, 139.74543 W"),
        ({"latitude": 60, "longitude": 100.0, "precision": 1}, "60 N, 100 E"),
        ({"latitude": 35.6586, "longitude": 139.7454, "precision": None}, "35.6586 N, 139.7454 E"),
        ({"latitude": 1.5, "longitude": 2, "precision": 0.1, "globe": "http://www.wikidata.org/entity/Q405"},
         "1.5 N, 2 E on Moon"),
        ({"latitude": 1.5, "longitude": 2, "precision": 0.1, "globe": "http://www.wikidata.org/entity/Q2"},
         "1.5 N, 2 E"),
    ],
)  # fmt: skip
def test_place_has_every_digit_and_its_globe(tmp_path: Path, at: dict[str, Any], text: str) -> None:
    lines = [
        item("Q1", {"en": "Tower"}, ("P625", said("globecoordinate", at))),
        item("P625", {"en": "at"}),
        item("Q405", {"en": "Moon"}),
    ]
    assert facts(tmp_path / "a.json", "\n".join(lines), "wikidata")[0] == {f"Tower at {text}"}


def test_best_statements_are_kept_with_when_they_held(tmp_path: Path) -> None:
    lines = [
        item(
            "Q1", {"en": "Town"},
            ("P6", said("item", "Q2", "preferred", P580=day("2020-01-01", 9))), ("P6", said("item", "Q3")),
            ("P6", said("item", "Q3", "deprecated")),
            ("P17", said("item", "Q2", P582=day("1994-05-03"), P1=day("2000-01-01"))), ("P17", said("item", "Q3")),
            ("P39", said("item", "Q2", P582=day("1990-01-01", 9))),
            ("P39", said("item", "Q2", P582=day("2004-01-01", 9))),
            ("P40", said("item", "Q2", P582=day("1990-01-01", 9))), ("P40", said("item", "Q2")),
            ("P41", said("item", "Q2", P582=None)),
        ),
        item("P6", {"en": "mayor"}), item("P17", {"en": "country"}), item("P39", {"en": "twin"}),
        item("P40", {"en": "seat"}), item("P41", {"en": "owner"}), item("Q2", {"en": "B"}), item("Q3", {"en": "C"}),
    ]  # fmt: skip
    found, counts = facts(tmp_path / "a.json", "\n".join(lines), "wikidata")
    assert found == {
        "Town mayor B (from 2020)",
        "Town country B (until 3 May 1994)",
        "Town country C",
        "Town twin B (until 1990, until 2004)",
        "Town seat B",  # valid today, too
        "Town owner B (ended)",
    }
    assert counts["statements beside preferred ones"] == 1
    assert (counts["statements that are deprecated"], counts["qualifiers left out"]) == (1, 1)


_ADDRESSES = {
    "ENTITY": "http://www.wikidata.org/entity", "DIRECT": "http://www.wikidata.org/prop/direct",
    "LABEL": "http://www.w3.org/2000/01/rdf-schema#label", "ONTOLOGY": "http://wikiba.se/ontology",
    "XSD": "http://www.w3.org/2001/XMLSchema#", "GEO": "http://www.opengis.net/ont/geosparql#",
}  # fmt: skip
TRUTHY = """
<ENTITY/Q42> <DIRECT/P31> <ENTITY/Q5> .
<ENTITY/Q42> <DIRECT/P569> "1952-03-11T00:00:00Z"^^<XSDdateTime> .
<ENTITY/Q42> <DIRECT/P570> "2001-01-01T00:00:00Z"^^<XSDdateTime> .
<ENTITY/Q42> <DIRECT/P571> "-0043-03-15T00:00:00Z"^^<XSDdateTime> .
<ENTITY/Q42> <DIRECT/P2048> "+1.96"^^<XSDdecimal> .
<ENTITY/Q42> <DIRECT/P625> "Point(-139.7454 35.6586)"^^<GEOwktLiteral> .
<ENTITY/Q42> <DIRECT/P19> <http://www.wikidata.org/.well-known/genid/1> .
<ENTITY/Q42> <http://schema.org/name> "Douglas Adams"@en .
<ENTITY/Q42> <http://www.wikidata.org/prop/direct-normalized/P214> <http://viaf.org/viaf/113230702> .
<ENTITY/Q42> <DIRECT/P26> <ENTITY/Q9> .
<ENTITY/Q9> <http://www.w3.org/2002/07/owl#sameAs> <ENTITY/Q10> .
<ENTITY/Q10> <LABEL> "Jane"@en .
<ENTITY/Q5> <LABEL> "human"@en .
<ENTITY/P31> <LABEL> "instance of"@en .
<ENTITY/P31> <ONTOLOGY#directClaim> <DIRECT/P31> .
<ENTITY/P31> <http://www.w3.org/1999/02/22-rdf-syntax-ns#type> <ONTOLOGY#Property> .
<ENTITY/P569> <LABEL> "born"@en .
<ENTITY/P569> <ONTOLOGY#directClaim> <DIRECT/P569> .
<http://www.wikidata.org/wiki/Special:EntityData/Q42> <http://schema.org/about> <ENTITY/Q42> .
<https://en.wikipedia.org/wiki/Douglas_Adams> <http://schema.org/about> <ENTITY/Q42> .
"""
for short, address in _ADDRESSES.items():
    TRUTHY = TRUTHY.replace(short, address)


def test_triples_of_the_truthy_dump_have_names_and_dates_in_words(tmp_path: Path) -> None:
    found, counts = facts(tmp_path / "a.nt", TRUTHY, "ntriples")
    assert found == {
        "Douglas Adams instance of human", "Douglas Adams born 11 March 1952", "Douglas Adams P26 Jane",
        "Douglas Adams P570 2001", "Douglas Adams P571 15 March 44 BC", "Douglas Adams P2048 1.96",
        "Douglas Adams P625 35.6586 N, 139.7454 W",
    }  # fmt: skip
    assert (counts["statements of an unknown value"], counts["statements on the dump itself"]) == (1, 3)


@pytest.mark.parametrize(
    ("literal", "text"),
    [
        ('"2024-01-01"^^<XSDdate>', "1 January 2024"), ('"2024-05"^^<XSDgYearMonth>', "May 2024"),
        ('"2024"^^<XSDgYear>', "2024"), ('"2024-01-01T00:00:00Z"^^<XSDdateTime>', "1 January 2024"),
        ('"2024-05-03T10:30:00Z"^^<XSDdateTime>', "2024-05-03T10:30:00Z"), ('"soon"^^<XSDdate>', "soon"),
        ('"+5"^^<XSDinteger>', "5"), ('"true"^^<XSDboolean>', "true"),
    ],
)  # fmt: skip
def test_literal_of_a_type_is_in_words(tmp_path: Path, literal: str, text: str) -> None:
    line = f"<http://x/Fair> <http://x/is> {literal} .".replace("XSD", "http://www.w3.org/2001/XMLSchema#")
    assert facts(tmp_path / "a.nt", line, "ntriples")[0] == {f"Fair is {text}"}


TURTLE = """
@prefix skos: <http://www.w3.org/2004/02/skos/core#> .
@prefix : <http://x.example/> .
:kiln a skos:Concept ; skos:prefLabel "kiln"@en, "Ofen"@de ; skos:broader :oven ;
    skos:definition \"\"\"Burns
clay.\"\"\"@en ; :made [ :by :anna ] .
:oven skos:prefLabel "oven"@en .
:anna skos:prefLabel "Anna; Berg"@en .
"""
RDF_XML = """<rdf:RDF xmlns:rdf="http://www.w3.org/1999/02/22-rdf-syntax-ns#" xmlns:x="http://x.example/">
<rdf:Description rdf:about="http://x.example/kiln"><x:broader rdf:resource="http://x.example/oven"/></rdf:Description>
</rdf:RDF>"""


@pytest.mark.parametrize("name", ["a.ttl", "a.ttl.gz", "a.rdf", "a.trig"])
def test_glossary_in_turtle_is_read(tmp_path: Path, name: str) -> None:
    source = {"a.rdf": RDF_XML, "a.trig": "@prefix : <http://x.example/> . :g { :kiln :broader :oven }"}
    data = source.get(name, TURTLE).encode()
    path = tmp_path / name
    path.write_bytes(gzip.compress(data) if name.endswith(".gz") else data)
    assert format_of(path) == "rdf"
    read = []
    for place in ("one", "two"):
        with Store(tmp_path / place, "s") as store:
            counts = read_source(path, "rdf", Selection(), ENGLISH, store, lambda *_: None)
            store.prepare(part=False)
            read.append(list(store.facts(part=False)))
    texts = {triple_properties("c", row)["text"] for row in read[0]}
    assert "kiln broader oven" in texts
    assert read[0] == read[1]  # including the names of unnamed nodes
    if name.startswith("a.ttl"):
        assert any(text.endswith("by Anna; Berg") for text in texts)
        assert (counts["statements whose object is a text"], counts["names in another language"]) == (1, 1)


def test_values_in_turtle_stay_as_written(tmp_path: Path) -> None:
    path = tmp_path / "a.ttl"
    path.write_text("""@prefix xsd: <http://www.w3.org/2001/XMLSchema#> . @prefix : <http://x.example/> .
:pump :number "007"^^xsd:integer ; :rest "PT36H"^^xsd:duration ; :made "2024-05-01+02:00"^^xsd:date .
""")
    lines = b"".join(line for line, _, _ in rdf_lines(path)).decode()
    assert all(f'"{value}"^^' in lines for value in ("007", "PT36H", "2024-05-01+02:00"))


def test_damaged_turtle_says_so(tmp_path: Path) -> None:
    path = tmp_path / "a.ttl"
    path.write_text("@prefix : <http://x.example/> . :kiln :is")
    with pytest.raises(InputError, match="is no turtle"), Store(tmp_path / "s", "s") as store:
        read_source(path, "rdf", Selection(), ENGLISH, store, lambda *_: None)
