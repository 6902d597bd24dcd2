"""A foreign graph of films: proposed, attached, kept up to date, searched, and never changed."""

import hashlib
import json
from collections.abc import Callable, Iterator
from datetime import UTC
from pathlib import Path
from typing import Any

import pytest
from naming import own
from neo4j.time import DateTime, Time

from kgrag import KnowledgeGraph
from kgrag.indexing import foreign, pipeline
from kgrag.indexing.attachment import Attachment, read_attachment
from kgrag.values.documents import Document, Section
from kgrag.values.errors import InputError, MismatchError

FILM, PERSON, STUDIO, TOWN = (own(f"Attach{each}") for each in ("Film", "Person", "Studio", "Town"))
LABELS = [FILM, PERSON, STUDIO, TOWN]
NAME = own("attached")
_TOWNS = ("Kvalsund Quay", "Marrowby", "Port Ellery", "Ostrava Hill", "Tindal Cross", "Lower Fenwick")
_STUDIOS = (
    "Lantern Pictures", "Blue Heron Films", "Ironbark Studio", "Nocturne House", "Halcyon Works",
    "Sixpence Films",
)  # fmt: skip
_PEOPLE = (
    "Agnes Thorvald", "Bruno Castellan", "Clara Whitlock", "Dmitri Halloran", "Edda Rasmussen", "Felix Okonjo",
    "Greta Lindqvist", "Hugo Montreaux", "Ingrid Vasquez", "Jonas Abernathy", "Katya Prentiss", "Leopold Brandt",
    "Mirela Stanescu", "Niall Corrigan", "Odette Marchetti", "Pavel Drummond", "Quentin Yarrow", "Rosalind Achebe",
    "Stellan Kovacs", "Tamsin Bellweather", "Ulrich Pemberton", "Viola Santangelo", "Wendell Nakamura",
    "Yasmin Delacroix",
)  # fmt: skip
_FILMS = (
    "Amber Harvest", "Beneath the Ferry", "Copper Nightingale", "Drowned Orchard", "Eleven Winters", "Foxglove Station",
    "Glass Meridian", "Hollow Regatta", "Ivory Switchboard", "Juniper Verdict", "Kestrel Lane", "The Keeper's Son",
    "Moth and Anvil", "Northbound Letters", "Opal Divide", "Paper Cathedral", "Quarry of Bells", "Rustling Viaduct",
    "Salt Cartographer", "Thimble Conspiracy", "Umber Carnival", "Velvet Almanac", "Willow Telegraph", "Zinc Serenade",
)  # fmt: skip
_TOPICS = ("a stolen map", "two sisters and a mill", "a lost choir", "an island doctor", "a railway strike", "a forger")
_MAKE = """
UNWIND $rows AS row CREATE (n:$(row.labels)) SET n = row.properties
"""
_JOIN = """
UNWIND $rows AS row MATCH (a {tag: row.from, run: $run}), (b {tag: row.to, run: $run})
CREATE (a)-[r:$(row.type)]->(b) SET r = row.properties
"""
# The parts that must not change: nodes, relationships, and indexes and constraints of foreign labels.
_THEIRS = (
    """MATCH (n) WHERE any(label IN labels(n) WHERE label IN $labels)
    RETURN elementId(n) AS id, labels(n) AS labels, properties(n) AS properties ORDER BY id""",
    """MATCH (n)-[r]-(m) WHERE any(label IN labels(n) WHERE label IN $labels)
    RETURN elementId(r) AS id, type(r) AS type, elementId(n) AS n, elementId(m) AS m, properties(r) AS properties
    ORDER BY id, n""",
    *(
        f"SHOW {what} YIELD name, type, labelsOrTypes AS of, properties WHERE any(label IN of WHERE label IN $labels) "
        "RETURN name, type, of, properties ORDER BY name"
        for what in ("INDEXES", "CONSTRAINTS")
    ),
)


def _theirs(kg: KnowledgeGraph) -> str:
    hashed = hashlib.sha256()
    for statement in _THEIRS:
        rows = kg.graph.driver.execute_query(statement, labels=LABELS).records
        hashed.update(json.dumps([row.data() for row in rows], sort_keys=True, default=str).encode())
    return hashed.hexdigest()


def _nodes() -> list[dict[str, Any]]:
    def node(labels: list[str], **properties: Any) -> dict[str, Any]:
        return {"labels": labels, "properties": properties | {"run": own("run")}}

    films = [
        node(
            [FILM],
            tag=f"f{n}",
            imdbId=f"tt{1000 + n}",
            title=title,
            released=1951 + 2 * n,
            lastUpdated=f"2024-03-{n + 1:02}",
            plot=f"The story is about {_TOPICS[n % 6]}. " + "It was shot in black and white over one long summer. " * 3,
        )
        for n, title in enumerate(_FILMS)
    ]
    people = [node([PERSON], tag=f"p{n}", name=name, born=1921 + n) for n, name in enumerate(_PEOPLE)]
    studios = [node([STUDIO], tag=f"s{n}", name=name) for n, name in enumerate(_STUDIOS)]
    towns = [
        node([TOWN, own("AttachPlace")], tag=f"t{n}", name=name, coastal=n % 2 == 0) for n, name in enumerate(_TOWNS)
    ]
    return [*films, *people, *studios, *towns]


def _edges() -> Iterator[dict[str, Any]]:
    for n in range(24):
        yield {"type": "DIRECTED", "from": f"p{n}", "to": f"f{n}", "properties": {}}
        yield {"type": "PRODUCED_BY", "from": f"f{n}", "to": f"s{n % 6}", "properties": {"budget": 100 + n}}
        yield {"type": "BORN_IN", "from": f"p{n}", "to": f"t{(n * 5) % 6}", "properties": {}}
        for other in (7, 11):
            end = f"f{(n + other) % 24}"
            yield {"type": "ACTED_IN", "from": f"p{n}", "to": end, "properties": {"roles": [f"Captain {n}"]}}
    for n in range(6):
        yield {"type": "LOCATED_IN", "from": f"s{n}", "to": f"t{n}", "properties": {}}


@pytest.fixture(scope="module")
def films(kg: KnowledgeGraph) -> Iterator[KnowledgeGraph]:
    run = own("run")
    kg.graph.driver.execute_query(_MAKE, rows=_nodes())
    kg.graph.driver.execute_query(_JOIN, rows=list(_edges()), run=run)
    constraint = own("attach_films").replace("-", "_")
    kg.graph.driver.execute_query(f"CREATE CONSTRAINT {constraint} FOR (f:`{FILM}`) REQUIRE f.imdbId IS UNIQUE")
    yield kg
    kg.graph.driver.execute_query(f"DROP CONSTRAINT {constraint}")
    kg.graph.driver.execute_query("MATCH (n {run: $run}) DETACH DELETE n", run=run)


@pytest.fixture(scope="module")
def before(films: KnowledgeGraph) -> str:
    return _theirs(films)


@pytest.fixture(scope="module")
def mapping(films: KnowledgeGraph) -> Attachment:
    """The proposal, without the properties by which the tests recognise their own nodes."""
    plain = films.propose_attachment(LABELS).model_dump(by_alias=True)
    for its in plain["labels"].values():
        its["facts"] = [key for key in its["facts"] if key not in ("tag", "run")]
    return Attachment.model_validate(plain)


@pytest.fixture(scope="module")
def attached(films: KnowledgeGraph, before: str, mapping: Attachment) -> Iterator[KnowledgeGraph]:
    report = films[NAME].attach(mapping)
    assert (report.added, report.problems) == (60, ())
    assert _theirs(films) == before
    yield films
    now = _theirs(films)
    films[NAME].delete()
    left = films.graph.driver.execute_query("MATCH (n {collection: $name}) RETURN count(n) AS number", name=NAME)
    assert left.records[0]["number"] == 0
    assert _theirs(films) == now


def test_a_proposal_says_what_is_a_name_a_text_a_fact_a_key_and_a_version(films: KnowledgeGraph) -> None:
    proposal = films.propose_attachment(LABELS)
    film = proposal.labels[FILM]
    assert (film.name, film.key, film.texts, film.version) == ("title", "imdbId", ("plot",), "lastUpdated")
    assert "released" in film.facts
    assert (film.nodes, proposal.labels[PERSON].nodes) == (24, 24)
    assert (proposal.labels[PERSON].name, proposal.labels[PERSON].key) == ("name", "name")
    acted = proposal.relationships["ACTED_IN"]
    assert (acted.starts, acted.ends, acted.facts, acted.number) == ((PERSON,), (FILM,), ("roles",), 48)
    assert acted.words == "acted in"


def test_a_proposal_is_a_file_that_gives_itself(films: KnowledgeGraph, tmp_path: Path) -> None:
    proposal = films.propose_attachment([TOWN, FILM])
    assert set(proposal.relationships) == set()
    text = proposal.to_toml()
    assert f"[labels.{FILM}]  # 24 nodes" in text
    (tmp_path / "films.toml").write_text(text, encoding="utf-8")
    assert read_attachment(tmp_path / "films.toml").to_json() == proposal.to_json()


def test_a_node_becomes_a_document_in_words(attached: KnowledgeGraph) -> None:
    film = attached[NAME].document(f"{FILM}:tt1000")
    assert film.passages[0].title == "Amber Harvest"
    text = "\n".join(passage.text for passage in film.passages)
    assert "The story is about a stolen map." in text
    assert "Released: 1951." in text
    assert "2024-03-01" not in text
    assert "Produced by Lantern Pictures (budget 100)." in text
    assert "Agnes Thorvald directed Amber Harvest." in text
    assert "Niall Corrigan (as Captain 13), Rosalind Achebe (as Captain 17) acted in Amber Harvest." in text
    person = attached[NAME].document(f"{PERSON}:Agnes Thorvald")
    assert "Acted in Hollow Regatta (as Captain 0), The Keeper's Son (as Captain 0)." in person.passages[0].text


def test_its_relationships_are_links(attached: KnowledgeGraph) -> None:
    rows = attached.cypher(
        "MATCH (:Document {collection: $name, key: $key})-[:LINKS_TO]->(d:Document) RETURN d.title ORDER BY d.title",
        {"name": NAME, "key": f"{FILM}:tt1000"},
    )
    assert [row["d.title"] for row in rows] == [
        "Agnes Thorvald",
        "Lantern Pictures",
        "Niall Corrigan",
        "Rosalind Achebe",
    ]


QUESTIONS = {
    "In which town was the director of Amber Harvest born?": {"Amber Harvest", "Agnes Thorvald"},
    "Where is the studio that produced Beneath the Ferry?": {"Beneath the Ferry", "Blue Heron Films"},
    "When was the director of Copper Nightingale born?": {"Copper Nightingale", "Clara Whitlock"},
    "Is the town where the director of Drowned Orchard was born coastal?": {"Drowned Orchard", "Dmitri Halloran"},
    "Which other films did the director of Eleven Winters act in?": {"Eleven Winters", "Edda Rasmussen"},
    "In which town is the studio of Foxglove Station located?": {"Foxglove Station", "Felix Okonjo"},
    "When was the director of Glass Meridian born?": {"Glass Meridian", "Greta Lindqvist"},
    "Where was the director of Paper Cathedral born?": {"Paper Cathedral", "Pavel Drummond"},
    "In which town is the studio that made Zinc Serenade located?": {"Zinc Serenade", "Sixpence Films"},
    "Which films did the director of Velvet Almanac act in?": {"Velvet Almanac", "Viola Santangelo"},
}


@pytest.mark.parametrize("question", QUESTIONS)
def test_questions_of_several_hops_have_their_nodes_in_five(attached: KnowledgeGraph, question: str) -> None:
    titles = {hit.passage.title for hit in attached[NAME].search(question, retriever="pathrank", k=5)}
    assert titles >= QUESTIONS[question]


def test_what_changed_came_and_went_is_brought_in_step(attached: KnowledgeGraph) -> None:
    run = {"run": own("run")}
    change = attached.graph.driver.execute_query
    assert attached[NAME].attach().unchanged == 60
    change("MATCH (f {tag: 'f3', run: $run}) SET f.released = 2001", run)
    change("MATCH (p {tag: 'p23', run: $run}) DETACH DELETE p", run)
    change(f"CREATE (:`{FILM}` {{tag: 'f24', run: $run, title: 'Quiet Ballast', imdbId: 'tt2000'}})", run)
    changed = _theirs(attached)
    report = attached[NAME].attach()
    assert _theirs(attached) == changed
    # deleting the person removed his lines in three films and a town
    assert (report.added, report.changed, report.pruned, report.gone) == (1, 5, 1, (f"{PERSON}:Yasmin Delacroix",))
    assert "Released: 2001." in attached[NAME].document(f"{FILM}:tt1003").passages[0].text
    assert attached[NAME].document(f"{FILM}:tt2000").passages[0].title == "Quiet Ballast"
    change("MATCH (f {tag: 'f3', run: $run}) SET f.released = 1957", run)
    assert attached[NAME].attach().changed == 1


def test_an_attach_that_was_interrupted_goes_on(
    films: KnowledgeGraph, mapping: Attachment, collection_name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    whole = foreign.documents
    kg = KnowledgeGraph(films.graph, films.settings.model_copy(update={"batch_passages": 8}))

    def broken(*given: Any) -> Iterator[Document]:
        for number, document in enumerate(whole(*given)):
            if number == 55:
                raise RuntimeError("pulled the plug")
            yield document

    monkeypatch.setattr(foreign, "documents", broken)
    monkeypatch.setattr(pipeline, "_GROUP", 8)
    with pytest.raises(RuntimeError, match="pulled the plug"):
        kg[collection_name].attach(mapping)
    monkeypatch.undo()
    report = kg[collection_name].attach(mapping)
    assert report.unchanged > 0
    assert report.added > 0
    assert report.unchanged + report.added == len(kg[collection_name].documents(limit=1000))
    assert kg[collection_name].attach().added == 0


def test_the_saved_query_leads_to_the_node_and_its_neighbours(attached: KnowledgeGraph) -> None:
    rows = attached[NAME].saved_query("attached", document="Glass Meridian")
    assert {row["relationship"] for row in rows} == {"DIRECTED", "ACTED_IN", "PRODUCED_BY"}


def _wrong(mapping: Attachment, label: str, **update: Any) -> Attachment:
    labels = {**mapping.labels, label: mapping.labels[label].model_copy(update=update)}
    return mapping.model_copy(update={"labels": labels})


@pytest.mark.parametrize(
    ("call", "message", "remedy"),
    [
        (lambda kg, _: kg.propose_attachment(["Flim"]), "no node with the label Flim", FILM),
        (lambda kg, _: kg.propose_attachment(["Entity"]), "no node with the label Entity", FILM),
        (lambda kg, m: kg[NAME].attach(_wrong(m, FILM, name="nope")), "no property of these nodes is a name", "leave"),
        (lambda kg, m: kg[NAME].attach(_wrong(m, TOWN, key="coastal")), "that another one has", "Leave key"),
        (lambda kg, _: kg[NAME].attach("nowhere.toml"), "cannot be read", "Begin with a proposal"),
        (lambda kg, m: kg[NAME].attach(_wrong(m, FILM, facts=("plotz",))), rf"has no {FILM}\.plotz", "spelling"),
    ],
    ids=["no such label", "kgrag's label", "no name", "shared key", "no file", "no such fact"],
)
def test_what_does_not_fit_is_told(
    films: KnowledgeGraph, mapping: Attachment, call: Callable[..., Any], message: str, remedy: str
) -> None:
    with pytest.raises(InputError, match=message) as error:
        call(films, mapping)
    assert remedy in error.value.remedy


def test_a_collection_of_other_documents_is_refused(
    films: KnowledgeGraph, mapping: Attachment, collection_name: str
) -> None:
    films[collection_name].ingest([Document("a", (Section("Colin Archer designed the Fram."),))])
    with pytest.raises(MismatchError, match="not made of nodes"):
        films[collection_name].attach(mapping)


def test_documents_are_refused_where_nodes_are_attached(attached: KnowledgeGraph) -> None:
    with pytest.raises(MismatchError, match="is attached to nodes"):
        attached[NAME].ingest([Document("a", (Section("Colin Archer designed the Fram."),))])


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (0.7462247028618879, "0.746225"), (2.5, "2.5"), (1e-9, "1e-09"), (float("nan"), "NaN"), (7, "7"),
        (True, "true"),
        (DateTime(2024, 1, 1, 1, 22, tzinfo=UTC), "2024-01-01T01:22:00+00:00"), (Time(1, 2, 3), "01:02:03"),
        (Time(1, 2, 3, 5 * 10**8), "01:02:03.500000000"), ("at 1:00:00.0", "at 1:00:00.0"), ([0.1 + 0.2, 1], "0.3, 1"),
    ],
)  # fmt: skip
def test_values_as_people_write_them(value: Any, text: str) -> None:
    assert foreign._as_text(value) == text


def test_nodes_without_a_name_are_counted(films: KnowledgeGraph, mapping: Attachment, collection_name: str) -> None:
    films.graph.driver.execute_query(f"CREATE (:`{STUDIO}` {{run: $run}})", run=own("run"))
    try:
        studios = Attachment(labels={STUDIO: mapping.labels[STUDIO].model_copy(update={"key": ""})})
        report = films[collection_name].attach(studios)
    finally:
        films.graph.driver.execute_query(f"MATCH (n:`{STUDIO}`) WHERE n.name IS NULL DETACH DELETE n")
    assert report.added == 6
    assert [problem.message for problem in report.problems] == ["1 nodes without name, left out"]


def test_many_ends_are_counted_beyond_the_first(
    films: KnowledgeGraph, mapping: Attachment, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(foreign, "_ENDS", 2)
    town = next(each for each in foreign.documents(films.graph, mapping) if each.title == "Kvalsund Quay")
    assert "Agnes Thorvald, Greta Lindqvist and 2 more born in Kvalsund Quay." in town.text
