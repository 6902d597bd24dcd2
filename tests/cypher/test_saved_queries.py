"""Every saved query runs unchanged on the demo corpus, starts from an index, and describes itself."""

import io
import json
import re
import zipfile
from collections import defaultdict
from collections.abc import Callable, Iterator
from dataclasses import replace
from datetime import UTC, datetime
from itertools import chain
from typing import Any

import neo4j
import pytest

from kgrag import KnowledgeGraph
from kgrag.client.connection import Connection
from kgrag.demo import corpus
from kgrag.graph import saved
from kgrag.graph.collections import open_collection
from kgrag.graph.description import describe
from kgrag.graph.gateway import run_read
from kgrag.graph.queries import Query
from kgrag.graph.saved import defaults, fill, find_query, from_text, saved_queries
from kgrag.graph.schema import collection_indexes
from kgrag.loaders import load
from kgrag.settings import GatewaySettings, Settings
from kgrag.values.documents import Document, Page, Section, Table, Triple
from kgrag.values.errors import ConfigurationError, NotFoundError, StatementError
from kgrag.values.events import Answer, Answered, Citation, Linked, Retrieved
from kgrag.values.results import Hit, Ranking
from kgrag.values.rows import Node, Path

pytestmark = pytest.mark.long

COLLECTION = "analysed"
QUESTION = "Where did the designer of the Fram live?"
DESIGNED = Triple("Fram", "designed by", "Colin Archer")
FACTS = (
    DESIGNED, Triple("Roald Amundsen", "took south", "Fram"), Triple("Colin Archer", "lived in", "Larvik"),
    Triple("Fram", "launched in", "Larvik"), Triple("Maud", "built by", "Christian Jensen"),
    Triple("Maud", "built by", "Anton Hansen"), Triple("Maud", "lies in", "Cambridge Bay"),
    Triple("Maud", "moored in", "Vollen"),
)  # fmt: skip
LOG_FACTS = (
    Triple("Fram", "launched in", "Oslo"),
    Triple("Maud", "lies in", "1930"),
    Triple("Maud", "moored in", "Vollen Bay"),
)
YARD = Document(
    "yard",
    (Section("Colin Archer built the Fram at Larvik, and Roald Amundsen took the Fram south."),),
    title="Yard book",
    triples=FACTS,
    pages=(Page(1, "Ships"), Page(2, "More ships")),
    tables=(Table(1, (("Ship", "Year"), ("Fram", "1892")), "Ships of the yard", page=1, last_page=1),),
)
LOG = replace(YARD, key="log", triples=LOG_FACTS, pages=(), tables=())
"""It repeats the yard book; one of its additional facts contradicts a fact there."""
SCANS = {"AllNodesScan", "NodeByLabelScan", "UnionNodeByLabelsScan", "DirectedAllRelationshipsScan"}
EVERY = saved_queries()


@pytest.fixture(scope="module")
def analysed(kg: KnowledgeGraph) -> Iterator[str]:
    """The demo corpus, with added triples, pages, a table and a saved answer."""
    with corpus() as folder:
        kg[COLLECTION].ingest(chain(load([folder]), [YARD, LOG]))
    nansen = "MATCH (d:Document {collection: $name, title: 'Fridtjof Nansen'}) SET d.meta_element = elementId(d)"
    kg.graph.driver.execute_query(nansen, name=COLLECTION)  # imitates an attached graph
    led = (
        "MATCH (s:Entity {collection: $name, name: 'Roald Amundsen'})<-[:SUBJECT|OBJECT]-(t:Triple)<-[:STATES]-(p), "
        "(t)-[:OBJECT]->(o) WITH s, t, p, o ORDER BY t.id LIMIT 1 "
        "CREATE (s)-[:LED {facts: [t.id], passages: [p.id], valid_from: '1910'}]->(o)"
    )
    kg[COLLECTION].resolve(apply=True)
    kg.graph.driver.execute_query(led, name=COLLECTION)  # imitates a fact schema
    kg[COLLECTION].build_tree(size=4)  # two levels
    kg[COLLECTION].build_communities()
    yard = kg.passage("yard", COLLECTION)
    triple = kg.saved_query("facts", collection=COLLECTION, entity="Colin Archer").values[0][-1].nodes[1]
    trace = (
        Retrieved(step=1, query=QUESTION, hits=(Hit(yard, 0.9),)),
        Linked(step=1, fact=DESIGNED, id=triple.properties["id"], text=DESIGNED.text, score=0.9),
        Answered(text="In Larvik [1]."),
    )
    ranking = Ranking(QUESTION, "gear+hybrid", (Hit(yard, 0.9),))
    answer = Answer(QUESTION, "In Larvik [1].", True, "gear+hybrid", ranking, (Citation(1, yard),), trace)
    run = kg[COLLECTION].save(answer)
    yield COLLECTION
    kg.delete_runs([run])
    kg[COLLECTION].delete()


@pytest.fixture(scope="module")
def session(graph_settings: Settings) -> Iterator[neo4j.Session]:
    """A database session without kgrag."""
    assert graph_settings.neo4j_uri and graph_settings.neo4j_password
    auth = (graph_settings.neo4j_user, graph_settings.neo4j_password.get_secret_value())
    with neo4j.GraphDatabase.driver(graph_settings.neo4j_uri, auth=auth) as driver, driver.session() as session:
        yield session


def as_in_browser(query: Query) -> dict[str, Any]:
    """Return the defaults as Neo4j Browser sends them, with every number as a FLOAT."""
    values = defaults([query])
    if "collection" in values:
        values["collection"] = COLLECTION
    return {k: float(v) if type(v) is int else v for k, v in values.items()}


def operators(plan: dict[str, Any]) -> Iterator[str]:
    yield plan["operatorType"].partition("@")[0]
    for child in plan.get("children", ()):
        yield from operators(child)


@pytest.mark.parametrize("name", EVERY)
def test_runs_at_once_through_the_gateway(name: str, kg: KnowledgeGraph, analysed: str) -> None:
    query = EVERY[name]
    rows = run_read(kg.graph, query.text, as_in_browser(query), kg.settings.gateway, "owner")
    assert rows.columns == tuple(column for column, _, _ in query.columns)
    assert len(rows) > 0
    assert rows.cut is None
    for (column, type, _), value in zip(query.columns, rows.values[0], strict=True):
        if type in ("PATH", "NODE"):
            assert isinstance(value, Path if type == "PATH" else Node), column


@pytest.mark.parametrize("name", EVERY)
def test_starts_from_an_index(name: str, session: neo4j.Session, analysed: str) -> None:
    query = EVERY[name]
    plan = session.run(f"EXPLAIN {query.text}", as_in_browser(query)).consume().plan  # type: ignore[arg-type]
    assert plan is not None
    scans = SCANS.intersection(operators(plan))
    assert bool(scans) == bool(query.scan), scans


def test_headers_are_fit_for_a_list() -> None:
    assert len(EVERY) >= 30
    titles = [query.title for query in EVERY.values()]
    assert len(set(titles)) == len(titles)
    known = defaultdict(set)
    for name, query in EVERY.items():
        assert query.mode == "read" and 10 < len(query.title) <= 60, name
        assert query.purpose.endswith("."), name
        assert name == "collections" or query.parameters[0].name == "collection"
        for parameter in query.parameters:
            assert parameter.default is not None, (name, parameter.name)
            known[parameter.name].add((parameter.type, parameter.default))
    assert {name: kinds for name, kinds in known.items() if len(kinds) > 1} == {}  # one :params line serves all queries


def test_indexes_and_edges_are_those_that_there_are(kg: KnowledgeGraph, analysed: str) -> None:
    indexes = {row["index"] for row in kg.saved_query("indexes", collection=analysed)}
    found = open_collection(kg.graph, analysed)
    assert indexes == set(collection_indexes(found.number, found.embedding, found.indexed))
    counts = {row["kind"]: row["number"] for row in kg.saved_query("contents", collection=analysed)}
    for kind in ("(Passage)-[:STATES]->(Triple)", "(Triple)-[:SUBJECT]->(Entity)", "(Triple)-[:OBJECT]->(Entity)"):
        assert counts[kind] == counts["Triple"] == len(FACTS + LOG_FACTS)


def test_the_schema_has_an_example_of_each_kind_of_edge(kg: KnowledgeGraph, analysed: str) -> None:
    patterns = [f"-[:{edge.type}]->(:{end})" for edge in describe().edges for _, end in edge.between]
    assert re.findall(r"-\[:\w+\]->\(:\w+\)", EVERY["schema"].text) == patterns
    drawn = [edge.type for row in kg.saved_query("schema", collection=analysed) for edge in row["path"].edges]
    assert {"HOLDS", "HAS_PAGE", "OF_TABLE", "NEXT", "SIMILAR", "STATES", "CITES", "IN_COMMUNITY"} <= set(drawn)
    assert drawn.count("SUBJECT") == 1


def test_queries_about_triples_say_that_there_are_none(kg: KnowledgeGraph, fill: Callable[..., str]) -> None:
    bare = fill("bare", [Document("fram", (Section("The Fram was designed by Colin Archer."),), "Fram")])
    queries = ("beam_search", "conflicts", "evidence", "fact_chains", "facts", "nearest_triples", "predicates")
    notes = {note for name in queries for note in kg[bare].saved_query(name).notes or ("none",)}
    assert notes == {"The collection 'bare' has no triples. `kgrag enrich extract -c bare` finds some."}


def test_a_topic_leads_down_to_its_passages(kg: KnowledgeGraph, analysed: str) -> None:
    """The tree of a topic, and the passages beneath it and beneath a name's community."""
    top = kg.saved_query("topics", collection=analysed, limit=1).values[0]
    name, level, members = top[:3]
    assert level > 1
    below = kg.saved_query("topics", collection=analysed, under=name, limit=500)
    assert {row["level"] for row in below} == {level - 1}
    assert len(below) == members
    drawn = {node.properties["name"] for node in top[-1]}
    assert name in drawn and drawn - {name} <= {row["topic"] for row in below}

    topic = top[-1][0].element  # a community, or a lower summary, may have the same name
    rows = kg.saved_query("report", collection=analysed, about=name, limit=5000)
    rests = [row for row in rows if row["path"].nodes[0].element == topic]
    passages = [row["path"].nodes[-2].properties["id"] for row in rests]
    assert len(passages) == len(set(passages)) >= members
    assert [row["weight"] for row in rests] == sorted((row["weight"] for row in rests), reverse=True)
    assert all(0 < row["weight"] <= 1 and len(row["path"].nodes) == level + 2 for row in rests)
    assert {row["path"].nodes[1].properties["name"] for row in rests} <= {row["topic"] for row in below}

    finest = kg.saved_query("communities", collection=analysed, starting="Colin Archer").values[0]
    report = kg.saved_query("report", collection=analysed, about=finest[0])
    assert len(report) and all(row["topic"] == finest[0] for row in report)
    assert any("Colin Archer" in row["passage"] for row in report)


def test_connections_are_short_and_go_over_whole_and_rare_names(kg: KnowledgeGraph, fill: Callable[..., str]) -> None:
    """John is only in John Ritter, Danish before a noun, Mary not a place; Zanzibar is in more passages than others."""
    known = "met John Ritter. {0} was in Zanzibar. {0} met Danish poets. {0} saw Mary"
    texts = {
        "Colin Archer": f"Colin Archer {known.format('Colin Archer')}.", "A": "Colin Archer lived in Quebec.",
        "Tom Crean": f"Tom Crean {known.format('Tom Crean')}.", "B": "Tom Crean lived in Quebec.",
        "John": "John is a name.", "Zanzibar": "Zanzibar is a town.", "Quebec": "A town.", "C": "They saw Zanzibar.",
        "Danish": "A word.", "Mary": "Mary is a name.",
    }  # fmt: skip
    ways = fill("ways", [Document(title, (Section(text),), title) for title, text in texts.items()])
    part = "MATCH (e:Entity {collection: $name, normal: 'john'}), (p:Passage {collection: $name}) "
    kg.graph.driver.execute_query(f"{part} WHERE p.text CONTAINS 'Ritter' CREATE (p)-[:MENTIONS]->(e)", name=ways)
    rows = kg[ways].saved_query("connection", entity="Colin Archer", other="Tom Crean")
    over = [name for _, _, name, _, _ in (row["steps"] for row in rows)]
    assert [set(over[:2]), over[2], set(over[3:])] == [
        {"Quebec", "John Ritter"},
        "Zanzibar",
        {"John", "Danish", "Mary"},
    ]


def test_drawings_hang_together_and_are_small(kg: KnowledgeGraph, analysed: str) -> None:
    around = [row["path"] for row in kg.saved_query("around", collection=analysed, entity="Fram", edges=12)]
    mentions = [path for path in around if path.edges[0].type == "MENTIONS"]
    kinds = {edge.type for path in around for edge in path.edges}
    assert len(mentions) == 3 and {"SUBJECT", "OBJECT", "HAS_PASSAGE"} <= kinds
    for row in kg.saved_query("facts", collection=analysed, entity="Fram"):
        assert row["ends"].nodes[0].properties["name"] == row["subject"]
        assert row["path"].nodes[1] == row["ends"].nodes[1]
    ranked = list(kg.saved_query("pagerank", collection=analysed, entity="Fram", cap=20))
    seeds = {row["path"].nodes[-1].element for row in ranked if row["seed"]}
    assert 0 < len(seeds) < len(ranked)
    for row in ranked:
        first = row["path"].nodes[0]
        assert first.properties["name"] == "Fram" if row["seed"] else first.element in seeds


def test_conflicts_and_chains_are_those_of_the_triples(kg: KnowledgeGraph, analysed: str) -> None:
    """Two builders in one passage are a list, 1930 is not a place, and Vollen Bay is in Vollen."""
    (conflict,) = kg.saved_query("conflicts", collection=analysed)
    assert (conflict["subject"], conflict["predicate"], conflict["passages"]) == ("Fram", "launched in", 2)
    assert conflict["objects"] == ["Larvik", "Oslo"]
    chains = {row["chain"] for row in kg.saved_query("fact_chains", collection=analysed, entity="Oslo")}
    assert chains == {
        f"Fram launched in Oslo / {fact}"
        for fact in ("Fram designed by Colin Archer", "Roald Amundsen took south Fram", "Fram launched in Larvik")
    }


def test_pagerank_is_a_distribution_that_a_longer_walk_spreads(kg: KnowledgeGraph, analysed: str) -> None:
    def ranks(damping: float) -> list[dict[str, Any]]:
        return list(kg.saved_query("pagerank", collection=analysed, damping=damping, limit=1000))

    for damping in (0.0, 0.5, 0.9):
        assert sum(row["rank"] for row in ranks(damping)) == pytest.approx(1, abs=0.01)
    assert all(row["rank"] == 0 for row in ranks(0.0) if not row["seed"])
    seeded = [sum(row["rank"] for row in ranks(damping) if row["seed"]) for damping in (0.5, 0.9)]
    assert 1 > seeded[0] > seeded[1] > 0


def test_a_vector_goes_before_the_words(kg: KnowledgeGraph, analysed: str) -> None:
    asked = kg[analysed].question_parameters(QUESTION)
    assert {"collection", "query", "vector", "passage_vectors", "passage_text", "embedding"} <= asked.keys()
    rows = kg.saved_query("nearest_passages", collection=analysed, vector=asked["vector"], query="nothing", limit=4)
    scores = [row["score"] for row in rows]
    assert scores == sorted(scores, reverse=True) and len(rows) == 4
    assert scores[0] < 0.999  # not the passage matching the words, which would be nearest to itself
    dense = kg[analysed].search(QUESTION, retriever="dense", k=3)
    texts = dict.fromkeys(row["text"] for row in rows)  # a ranking leaves out copies
    assert [*texts][:3] == [hit.passage.text for hit in dense]


def test_cut_rows_warn(kg: KnowledgeGraph, analysed: str) -> None:
    small = Connection(kg.graph, kg.settings.model_copy(update={"gateway": GatewaySettings(rows=1)}))
    with pytest.warns(UserWarning, match="first 1 rows"):
        small.saved_query("hubs", collection=analysed)


def test_names_are_forgiving_and_say_what_is_near() -> None:
    assert find_query("analyst/near-duplicates") is EVERY["near_duplicates"]
    with pytest.raises(NotFoundError, match="'connection'"):
        find_query("conection")
    with pytest.raises(NotFoundError, match="'pagerank'"):
        find_query("random walk")


def test_what_does_not_fit_a_query_is_refused(kg: KnowledgeGraph, analysed: str) -> None:
    hubs = EVERY["hubs"]
    with pytest.raises(ConfigurationError, match=r"takes no parameter 'limt'[\s\S]*limit \(INTEGER = 25\)"):
        fill(hubs, {"limt": 3})
    for value in ("3", 2.5, True):
        with pytest.raises(ConfigurationError, match="wants limit as INTEGER"):
            fill(hubs, {"limit": value})
    assert fill(hubs, {"limit": 3}) == {"collection": "default", "limit": 3}
    with pytest.raises(NotFoundError, match="no collection 'nowhere'"):
        kg.saved_query("hubs", collection="nowhere")


@pytest.mark.parametrize(
    ("index", "remedy"), [("triple_embedding_c987654", "with the first triple"), ("nowhere", "kgrag cypher indexes")]
)
def test_a_search_in_an_index_that_is_missing_says_so(kg: KnowledgeGraph, index: str, remedy: str) -> None:
    statement = f"CALL db.index.vector.queryNodes('{index}', 5, [1.0]) YIELD node RETURN node"
    with pytest.raises(StatementError, match=rf"^The index {index} is missing\.\n.*{remedy}"):
        kg.cypher(statement)


def test_what_a_query_asks_of_the_demo_is_told_elsewhere(kg: KnowledgeGraph, analysed: str) -> None:
    assert kg.saved_query("names", collection=analysed).notes == (
        "name is 'amundsen~', which is about the demo: give your own.",
    )
    left = kg.saved_query("connection", collection=analysed, entity="Oslo").notes
    assert left == ("other is 'Colin Archer', which is about the demo: give your own.",)
    assert kg.saved_query("names", collection=analysed, name="oslo").notes == ()
    assert kg.saved_query("changes", collection=analysed).notes == ()


def test_texts_become_what_the_header_says() -> None:
    dense, duplicates = EVERY["nearest_passages"], EVERY["near_duplicates"]
    assert from_text(dense, [("vector", "[0.5, 1]"), ("limit", " 7 "), ("query", "7")]) == {
        "vector": [0.5, 1],
        "limit": 7,
        "query": "7",
    }
    assert from_text(dense, [("vector", "null")]) == {"vector": None}
    assert type(from_text(duplicates, [("score", "1")])["score"]) is float
    for name, text in (("limit", "many"), ("limit", "2.5"), ("vector", "0.5"), ("vector", "[")):
        with pytest.raises(ConfigurationError, match=f"wants {name}"):
            from_text(dense, [(name, text)])
    with pytest.raises(ConfigurationError, match="takes no parameter"):
        from_text(duplicates, [("vector", "[]")])


def test_favourites_hold_every_query_and_one_line_for_their_parameters() -> None:
    given = {"collection": "ships", "vector": [0.5]}
    made = saved.archive(given)
    assert made == saved.archive(given)
    with zipfile.ZipFile(io.BytesIO(made)) as files:
        texts = {name: files.read(name).decode() for name in files.namelist()}
    assert len(texts) == len(EVERY) + 1
    first, *rest = texts.values()
    values = json.loads(first.partition(":params ")[2])
    for name, text in zip(EVERY, rest, strict=True):
        query = EVERY[name]
        assert text.startswith(f"// {query.title}\n") and text.endswith(query.text)
        assert {p.name for p in query.parameters} <= values.keys()
    assert values["collection"] == "ships" and values["vector"] == [0.5]
    script = saved.script(given)
    assert script.count("\n:params {") == len(EVERY)
    assert all(f"{query.text};\n" in script for query in EVERY.values())


def test_changes_begin_at_the_moment(kg: KnowledgeGraph, analysed: str) -> None:
    assert {"Document", "Run"} == {r["kind"] for r in kg.saved_query("changes", collection=analysed, limit=1000)}
    later = datetime.now(UTC).isoformat()
    assert len(kg.saved_query("changes", collection=analysed, since=later)) == 0


def test_a_map_is_drawn_of_names_that_are_everywhere_and_of_one_alone(
    kg: KnowledgeGraph, fill: Callable[..., str]
) -> None:
    """Names in more passages than the limit, then names in one passage each, then a passage with one name."""
    texts = [f"Ole Brandvik and Kari Aune sailed to Port Alpha{n}." for n in range(60)]
    drawn = kg[fill("many", [Document(str(n), (Section(text),), "Log") for n, text in enumerate(texts)])]
    first = next(iter(drawn.saved_query("map")))
    assert {first["name"], first["other"]} == {"Ole Brandvik", "Kari Aune"} and first["together"] >= 50
    alone = kg[fill("alone", [Document("a", (Section("Here lives Kari Aune in peace."),), "log")])]
    (row,) = alone.saved_query("map")
    assert (row["name"], row["other"], len(row["path"].nodes)) == ("Kari Aune", None, 2)
