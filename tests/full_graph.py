"""A collection with all possible content: pages, tables, triples, extractions, tags, keywords, runs, a job."""

from itertools import pairwise

from kgrag import KnowledgeGraph
from kgrag.graph.jobs import add_job, cancel_job
from kgrag.indexing.fact_schema import parse_fact_schema
from kgrag.settings import ChatSettings, Settings, TagmeSettings
from kgrag.values import events
from kgrag.values.documents import Document, Figure, Page, Section, Table, Triple
from kgrag.values.results import Hit, Ranking, Usage

SURVEY = Document(
    "survey.pdf",
    (Section(f"{'The Tower of Tromsø was surveyed. ' * 60}It stands.", "", ((0, 1), (1000, 2), (2000, 3))),),
    "Survey",
    pages=(Page(1, 'One,\n"quoted"', "iv"), Page(2, ""), Page(3, "Three")),
    tables=(Table(1, (("Tower", "Height"), ("Tromsø", "9; m")), 'The "Towers"', 2, 3), Table(2, (("a", "b"),))),
    figures=(
        Figure(1, "a" * 64, 'Figure 1: The "Towers"; drawn', 2, (1.5, 2.0, 3.0, 4.25), 40, 50, "image/png"),
        Figure(2, "b" * 64, "The Tower of Tromsø"),
    ),
)
"""A PDF with pages, tables and figures."""
LONG_TITLE = "Colin Archer, who built the Fram and many another boat that came home, and where he lived and died"
QUESTION = "In which small town on the coast of Norway did the man live who designed the ship Fram, and why there?"
_DESIGNED = "was designed, with her round sides which the ice of the north should lift and not crush, by"
_FACT = Triple("Fram", _DESIGNED, "Colin Archer")
_REPLY = {
    "entities": [
        {"name": "Fram", "aliases": ["the ship"], "wikipedia": "Fram (ship)", "type": "Ship"},
        {"name": "Colin Archer", "aliases": ["Archer"], "type": "Person"},
    ],
    "triples": [["the ship", "was built by", "Archer", "1891", "1892"], [_FACT.subject, _FACT.predicate, _FACT.object]],
}
_SCHEMA = {
    "types": {"Ship": {}, "Person": {}},
    "predicates": {"BUILT_BY": {"to": ["Person"]}, "DESIGNED_BY": {"synonyms": [_DESIGNED]}},
}
TYPES = ["Ship", "Person"]
"""Labels of the fact schema."""
_CAPTION = "Table 1: Ships of the north, with their builders and the years in which these were launched and lost again"
SPOTS = {"ship": ["Ship", 0.6], "Fram": ["Fram (ship)", 0.7]}


def documents() -> list[Document]:
    """Return a document with pages, tables and metadata, one with headings and several passages, and two alike."""
    first = "The Fram is a polar ship. She was designed by Colin Archer in Larvik, 1891 to 1892."
    second = "Fridtjof Nansen sailed in her. The table tells of other ships. " * 30
    rows = (("Ship", "Builder"), ("Fram", "Colin Archer"), ("Gjøa", "Knut Skaale"))
    return [
        Document(
            "fram.pdf",
            (Section(f"{first} {second}", "The Fram", breaks=((0, 1), (len(first) + 1, 2))),),
            "Fram",
            metadata={
                "date": "1892-10-26", "year": 1892, "afloat": False, "crew": ["Nansen", "Sverdrup"],
                "yard": "Larvik", "links": ["larvik", "Colin Archer"],
            },
            triples=(_FACT,),
            pages=(Page(1, first, "i"), Page(2, second, confidence=0.93)),
            tables=(Table(1, rows, _CAPTION, 2, 2), Table(2, rows, "", 2, 2)),
            figures=(
                Figure(1, "a" * 64, "Table 1: Ships of the north", 2, (72, 80.5, 200, 160), 400, 300, "image/png"),
                Figure(2, "b" * 64, description="A ship in ice"),
            ),
        ),
        Document(
            "archer",
            (Section("Colin Archer built boats. " * 200, "His boats"), Section("Colin Archer lived there.", "Larvik")),
            LONG_TITLE,
        ),
        Document(
            "larvik",
            (Section("Larvik is a town on the coast of Norway. Its harbour is old. Fridtjof W. Nansen came."),),
            "Larvik",
        ),
        *(
            Document(f"meeting {n}", (Section(f"{one} met {other}."),), "", triples=(Triple(one, "met", other),))
            for n, (one, other) in enumerate(pairwise(("Otto Sverdrup", "Sigurd Hansen", "Bernt Bentsen", "Lars Pet")))
        ),
        Document("larvik town", (Section("Larvik is a town on the coast of Norway. Its harbour is new."),), "Larvik"),
    ]  # fmt: skip


def make_full_graph(settings: Settings, chat: ChatSettings, tagme: TagmeSettings, name: str) -> str:
    """Make the collection; return its saved run's id. `chat`: a scripted model that replies `reply()` to "extract"."""
    with KnowledgeGraph.connect(settings=settings.model_copy(update={"chat": chat, "tagme": tagme})) as kg:
        kg[name].ingest(documents())
        kg[name].set_fact_schema(parse_fact_schema(_SCHEMA, "here"))
        assert not kg[name].extract(threads=2).failures
        assert not kg[name].tag().failures
        kg[name].ingest([])
        assert kg[name].resolve(apply=True).written
        assert len(kg[name].build_tree(size=2).levels) > 1
        assert len(kg[name].build_communities(size=2).levels) > 1
        cancel_job(kg.graph, add_job(kg.graph, "ingest", name, {}).id)
        kg.graph.run("write/attachment", collection=name, attachment='{"labels": {"Ship": {"name": "name"}}}')
        run = kg[name].save(_answer(kg, name))
        kg[name].rate(run, good=True, remark="It says where.")
        return run


def reply() -> dict[str, object]:
    """Return the scripted model's replies to "extract"."""
    return dict(_REPLY)


def _answer(kg: KnowledgeGraph, name: str) -> events.Answer:
    fram, larvik = (kg.passage(key, name) for key in ("fram.pdf", "larvik"))
    query = "MATCH (t:Triple {collection: $name}) RETURN t.id AS id, t.text AS text ORDER BY id LIMIT 1"
    triple = kg.graph.driver.execute_query(query, name=name).records[0]
    hits = (Hit(fram, 0.9), Hit(larvik, 0.5))
    return events.Answer(
        question=QUESTION,
        text="In Larvik [1].",
        found=True,
        system="gear+hybrid",
        ranking=Ranking(QUESTION, "gear+hybrid", hits),
        citations=(events.Citation(1, larvik),),
        trace=(
            events.Read(step=1, query=QUESTION, triples=(_FACT,)),
            events.Linked(step=1, fact=_FACT, id=triple["id"], text=triple["text"], score=0.9),
            events.Retrieved(step=1, query=QUESTION, hits=hits),
            events.Judged(step=1, answerable=False, why="His home is not known."),
            events.Rewritten(step=2, query="Where did Colin Archer live?"),
            events.Retrieved(step=2, query="Where did Colin Archer live?", hits=hits),
            events.Thought(step=2, text="He lived in Larvik."),
            events.SubAnswered(step=2, question="Where did Colin Archer live?", answer="Larvik"),
            events.HypotheticalPassage(step=2, text="Archer lived in a town by the sea."),
            events.Chained(step=2, text="Fram -> Colin Archer -> Larvik"),
            events.Verified(step=2, ids=(larvik.id,)),
            events.Filtered(step=2, kept=(larvik.id,), dropped=(fram.id,)),
            events.Failed(step=2, problem="no answer within 30 s"),
        ),
        usage=Usage(3, 0, 100, 10, 0.5),
        seconds=2.5,
    )
