"""A small graph with all possible content of a collection, and an analyst's possible additions."""

from itertools import pairwise

from full_graph import SURVEY
from graph_rows import rows

from kgrag import KnowledgeGraph
from kgrag.values.documents import Document, Section, Triple
from kgrag.values.events import Answer, Citation, Linked, Retrieved, Rewritten

_MET = pairwise(("Otto Sverdrup", "Sigurd Hansen", "Bernt Bentsen", "Lars Pet"))  # communities of two levels
QUESTION = "Who came from Tromsø to the Ångström Tower?"
DOCUMENTS = [
    Document(
        "ü/1",
        (Section('He said "no".\r\nThen; — Ελλάδα 東京 \\ , back\\\n\n  The Ångström Tower of Tromsø.\f', "One, two"),),
        'A "Quoted", Title\nin two lines',
        "src",
        {"number": -1, "even": False, "note": 'x,"y"\n;', "ratio": 0.1, "deep": ["list", 1], "empty": "", "_x000C_": 1},
        (Triple("Ångström Tower", 'lies "in", or near;', "Tromsø\n(city)"), Triple("Tromsø", "is", "Tromsø")),
    ),
    Document(
        "odd",
        (Section("The Odd Fellow met Banor Dunor."),),
        "Odd {Fellow}",
        metadata={"number": "one", "a{b}": 1, "tags": ["é", "b;c"]},
    ),
    Document(
        "guide",
        tuple(Section(f"The {n} Gate of Tromsø lies here. " * 60, f"Guide > {n} Gate") for n in ("North", "South")),
        "City Guide",
        metadata={"links": ["odd {fellow}", "nowhere"]},
    ),
    Document("twice", (Section(f"{'Twice the same words stand here. ' * 130}"),), "Twice"),
    *(
        Document(f"meeting {n}", (Section(f"{one} met {other}."),), "", triples=(Triple(one, "met", other),))
        for n, (one, other) in enumerate(_MET)
    ),
    SURVEY,
]
BY_HAND = """
MATCH (d:Document {collection: $c, key: 'odd'}), (o:Document {collection: $c, key: 'guide'})
MATCH (:Triple {collection: $c, subject: 'Tromsø'})-[:SUBJECT]->(e:Entity)
MATCH (tower:Entity {collection: $c, normal: 'ångström tower'})
SET d:Reviewed, d.at = datetime('2026-11-21T18:00:00.123456789+01:00[Europe/Berlin]'), d.day = date('2026-01-02'),
    d.local = localdatetime('2026-01-02T03:04'), d.hour = time('18:00:00.5+02:00'), d.clock = localtime('12:00'),
    d.took = duration('P1Y2M3DT4.5S'), d.spot = point({longitude: 18.95, latitude: 69.65}),
    d.spots = [point({x: 1, y: 2, z: 3})], d.days = [date('2026-01-02')], d.huge = 9223372036854775807,
    d.tiny = 5e-324, d.nan = 0.0 / 0, d.endless = [1.5, -1.0 / 0], d.flags = [true, false],
    d.words = ['a;b', '"', '', 'c\n'], d.plain = ['a', 'b, c'], d.none = [], d.blank = [''],
    d.`odd "name",` = 'x\\u0001y', e.aliases = ['Tower; the', 'Å'], e.note = ''
CREATE (d)-[:SEE_ALSO {why: 'odd', since: date('2026-01-02'), pages: [1, 2]}]->(o)
CREATE (d)-[:SEE_ALSO {why: 'twice'}]->(o)
CREATE (e)-[:SAME_AS {score: 1.0, evidence: 'I saw "both"', by: 'me'}]->(tower)
CREATE (d)-[:LEADS_OUT]->(:Elsewhere {name: 'not of the collection'})
"""


def make_whole(kg: KnowledgeGraph, collection: str) -> None:
    """Make the graph: ingested, with a saved run and an analyst's additions."""
    kg[collection].ingest(DOCUMENTS)
    ranking = kg[collection].search(QUESTION, retriever="bm25")
    triple = rows(kg, "MATCH (t:Triple {collection: $c}) RETURN t.id AS id ORDER BY id LIMIT 1", c=collection)[0]["id"]
    trace = (
        Rewritten(query=QUESTION, step=1),
        Retrieved(query=QUESTION, hits=ranking.hits, step=1),
        Linked(fact=Triple("a", "b", "c"), id=triple, text="a b c", score=0.5, step=1),
        Retrieved(query="Which tower?", hits=ranking.hits[:1], step=2),
    )
    best = ranking.hits[0].passage
    answer = Answer(
        QUESTION, "Loki [1][2].", True, "gear", ranking, citations=(Citation(1, best), Citation(2, best)), trace=trace
    )
    kg[collection].save(answer)
    rows(kg, BY_HAND, c=collection)
    assert kg[collection].build_tree(size=2).levels
    assert len(kg[collection].build_communities(size=2).levels) > 1
