"""A saved run: its answer becomes a subgraph, which is listed, drawn, and removed."""

from collections.abc import Callable, Iterator
from dataclasses import replace

import neo4j
import pytest
from graph_rows import rows

from kgrag import KnowledgeGraph
from kgrag.graph.contents import digest
from kgrag.graph.runs import drawing
from kgrag.values import events
from kgrag.values.documents import Document, Section, Triple
from kgrag.values.errors import NotFoundError
from kgrag.values.results import CollectionInfo, Hit, Ranking, Usage

FACT = Triple("Fram", "designed by", "Colin Archer")
HOME = Triple("Colin Archer", "lived in", "Larvik")
QUESTION = "Where did the designer of the Fram live?"
NEXT = "Where did Colin Archer live?"
DOCUMENTS = [
    Document("fram", (Section("The Fram was designed by Colin Archer."),), "Fram", triples=(FACT,)),
    Document("archer", (Section("Colin Archer lived in Larvik."),), "Colin Archer", triples=(HOME,)),
    Document("larvik", (Section("Larvik is a town."),), "Larvik"),
]


@pytest.fixture(scope="module")
def lasting(fill: Callable[..., str]) -> str:
    """A collection that the tests do not change, except for its runs."""
    return fill("runs", DOCUMENTS)


@pytest.fixture
def ships(kg: KnowledgeGraph, lasting: str) -> Iterator[str]:
    """The same without runs."""
    yield lasting
    kg.delete_runs([run.id for run in kg[lasting].runs()])


def _answer(kg: KnowledgeGraph, collection: str) -> events.Answer:
    """Return the answer of an agent with two steps; the second step retrieves twice."""
    fram, archer, larvik = (kg.passage(key, collection) for key in ("fram", "archer", "larvik"))
    triple = rows(kg, "MATCH (t:Triple {collection: $c, subject: 'Fram'}) RETURN t.id AS id", c=collection)[0]
    trace = (
        events.Called(step=1, task="read", model="m", usage=Usage(1, 0, 100, 10, 0.5), seconds=0.1),
        events.Read(step=1, query=QUESTION, triples=(FACT,)),
        events.Linked(step=1, fact=FACT, id=triple["id"], text=FACT.text, score=0.9),
        events.Retrieved(step=1, query=QUESTION, hits=(Hit(fram, 0.9), Hit(larvik, 0.5))),
        events.Remembered(step=1, triples=(FACT,)),
        events.Judged(step=1, answerable=False, why="His home is not known."), events.Rewritten(step=2, query=NEXT),
        events.Retrieved(step=2, query=NEXT, role="fast", hits=(Hit(fram, 0.7), Hit(archer, 0.6))),
        events.Retrieved(step=2, query="Archer's home", role="slow", hits=(Hit(archer, 0.8),)),
        events.Remembered(step=2, triples=(HOME,)), events.Judged(step=2, answerable=True, answer="Larvik"),
        events.Answered(text="In Larvik [1]."),
    )  # fmt: skip
    return events.Answer(
        question=QUESTION,
        text="In Larvik [1].",
        found=True,
        system="gear+hybrid",
        ranking=Ranking(QUESTION, "gear+hybrid", (Hit(archer, 0.03), Hit(fram, 0.02))),
        citations=(events.Citation(1, archer),),
        trace=trace,
        usage=Usage(1, 0, 100, 10, 0.5),
        seconds=2.5,
    )


def _info(kg: KnowledgeGraph, name: str) -> CollectionInfo:
    return next(info for info in kg.collections() if info.name == name)


def test_a_run_holds_the_answer_and_its_steps_in_order(kg: KnowledgeGraph, ships: str) -> None:
    answer = _answer(kg, ships)
    id = kg[ships].save(answer)
    steps = rows(
        kg,
        """MATCH (:Run {id: $id, collection: $c})-[:HAS_STEP]->(s:Step {collection: $c})
        OPTIONAL MATCH (s)-[:NEXT]->(next)
        RETURN s.number AS number, s.name AS name, s.facts AS facts, s.verdict AS verdict, s.why AS why,
               next.number AS next, s.queries AS queries, s.roles AS roles,
               COLLECT { MATCH (s)-[r:RETRIEVED]->(p) RETURN [p.title, r.query, r.rank, r.score] ORDER BY
               r.query, r.rank } AS retrieved ORDER BY number""",
        id=id,
        c=ships,
    )
    assert steps == [
        {
            "number": 1, "name": f"1. {QUESTION}", "facts": ["Fram | designed by | Colin Archer"],
            "verdict": "not yet", "why": "His home is not known.", "next": 2, "queries": [QUESTION],
            "roles": [""], "retrieved": [["Fram", QUESTION, 1, 0.9], ["Larvik", QUESTION, 2, 0.5]],
        },
        {
            "number": 2, "name": f"2. {NEXT}", "facts": ["Colin Archer | lived in | Larvik"], "verdict": "answerable",
            "why": "Larvik", "next": None, "queries": [NEXT, "Archer's home"], "roles": ["fast", "slow"],
            "retrieved": [
                ["Colin Archer", "Archer's home", 1, 0.8],
                ["Fram", NEXT, 1, 0.7],
                ["Colin Archer", NEXT, 2, 0.6],
            ],
        },
    ]  # fmt: skip
    edges = rows(
        kg,
        """MATCH (r:Run {id: $id}) RETURN
        COLLECT { MATCH (r)-[f:FOUND]->(p) RETURN [f.rank, f.score, p.title] ORDER BY f.rank } AS found,
        COLLECT { MATCH (r)-[c:CITES]->(p) RETURN [c.number, p.title] } AS cited,
        COLLECT { MATCH (r)-[:HAS_STEP]->(s)-[l:LINKED]->(t) RETURN [s.number, l.fact, l.score, t.text] } AS linked""",
        id=id,
    )
    assert edges == [
        {
            "found": [[1, 0.03, "Colin Archer"], [2, 0.02, "Fram"]],
            "cited": [[1, "Colin Archer"]],
            "linked": [[1, "Fram | designed by | Colin Archer", 0.9, "Fram designed by Colin Archer"]],
        }
    ]


def test_runs_are_listed_newest_first_and_deleted_by_a_beginning(kg: KnowledgeGraph, ships: str) -> None:
    answer = _answer(kg, ships)
    first = kg[ships].save(answer)
    unknown_price = replace(answer, usage=Usage(2, 1, 5, 5, None), text="", found=False, problem="down")
    second = kg[ships].save(unknown_price)
    newest, oldest = kg[ships].runs()
    assert (newest.id, oldest.id) == (second, first)
    assert (oldest.question, oldest.answer, oldest.found, oldest.steps) == (QUESTION, "In Larvik [1].", True, 2)
    assert (oldest.calls, oldest.tokens, oldest.cost, oldest.seconds) == (1, 110, 0.5, 2.5)
    assert (newest.cost, newest.found, newest.problem) == (None, False, "down")
    assert kg["elsewhere"].runs() == []
    for wrong in ("ffffffffff", first[:5], ""):
        with pytest.raises(NotFoundError, match="no run"):
            kg.delete_runs([second, wrong])
    assert [run.id for run in kg.delete_runs([first[:6], first])] == [first]
    assert [run.id for run in kg[ships].runs()] == [second]
    assert len(rows(kg, "MATCH (s:Step {collection: $c}) RETURN s", c=ships)) == 2


def test_what_a_step_said_beside_its_searches(kg: KnowledgeGraph, ships: str) -> None:
    fram, archer = (kg.passage(key, ships).id for key in ("fram", "archer"))
    trace = (
        events.SubAnswered(step=1, question=NEXT, answer="Larvik"),
        events.SubAnswered(step=1, question=QUESTION, answer="unknown"),
        events.HypotheticalPassage(step=1, text="Archer lived by the sea."),
        events.Chained(step=1, text="Fram -> Archer -> Larvik"),
        events.Verified(step=1, ids=(archer, fram)),
        events.Filtered(step=1, kept=(archer,), dropped=(fram,)),
    )
    id = kg[ships].save(replace(_answer(kg, ships), trace=trace))
    (step,) = rows(kg, "MATCH (:Run {id: $id})-[:HAS_STEP]->(s) RETURN s {.*} AS step", id=id)
    told = {key: step["step"].get(key) for key in ("sub_answers", "imagined", "chain", "verified", "kept", "dropped")}
    assert told == {
        "sub_answers": [f"{NEXT} | Larvik", f"{QUESTION} | unknown"],
        "imagined": ["Archer lived by the sea."],
        "chain": "Fram -> Archer -> Larvik",
        "verified": [archer, fram],
        "kept": [archer],
        "dropped": [fram],
    }


def test_steps_of_thoughts_and_failures(kg: KnowledgeGraph, ships: str) -> None:
    answer = _answer(kg, ships)
    trace = (events.Thought(step=1, text="So the answer is Larvik."), events.Failed(step=2, problem="no reply"))
    id = kg[ships].save(replace(answer, trace=trace))
    steps = rows(
        kg,
        "MATCH (:Run {id: $id})-[:HAS_STEP]->(s) RETURN s.name AS name, s.problem AS problem ORDER BY s.number",
        id=id,
    )
    assert steps == [
        {"name": "1. So the answer is Larvik.", "problem": None},
        {"name": "step 2", "problem": "no reply"},
    ]
    bare = kg[ships].save(replace(answer, trace=(), citations=(), ranking=Ranking("q", "closed-book")))
    assert {run.id: run.steps for run in kg[ships].runs()} == {id: 2, bare: 0}


def test_what_browser_draws_is_the_run_with_all_it_touched(kg: KnowledgeGraph, ships: str) -> None:
    answer = _answer(kg, ships)
    id = kg[ships].save(answer)
    parameter, statement = drawing(id)
    assert parameter == f":param id => '{id}'"
    drawn = kg.graph.driver.execute_query(statement, id=id, result_transformer_=neo4j.Result.graph)
    kinds = [label for node in drawn.nodes for label in node.labels if "_c" not in label and label != "Kgrag"]
    assert sorted(kinds) == ["Passage"] * 3 + ["Run", "Step", "Step", "Triple"]
    assert all(node["name"] and node["collection"] == ships for node in drawn.nodes)
    assert {edge.type for edge in drawn.relationships} == {"HAS_STEP", "NEXT", "RETRIEVED", "LINKED", "CITES", "FOUND"}


def test_runs_count_but_change_no_digest(kg: KnowledgeGraph, ships: str) -> None:
    answer = _answer(kg, ships)
    before = digest(kg.graph, ships)
    kg[ships].save(answer)
    assert digest(kg.graph, ships) == before
    info = _info(kg, ships)
    assert (info.counts["Run"], info.counts["Step"], info.counts["HAS_STEP"], info.counts["RETRIEVED"]) == (1, 2, 2, 5)
    assert info.finished


def test_a_deleted_document_takes_its_edges_along(kg: KnowledgeGraph, collection_name: str) -> None:
    kg[collection_name].ingest(DOCUMENTS)
    answer = _answer(kg, collection_name)
    kg[collection_name].save(answer)
    kg[collection_name].delete(documents=["fram"])
    info = _info(kg, collection_name)
    assert (info.counts["Run"], info.counts["Step"], info.counts["RETRIEVED"]) == (1, 2, 3)
    assert (info.counts["FOUND"], info.counts.get("LINKED")) == (1, None)
    late = kg[collection_name].save(answer)  # some of its passages have been deleted
    assert {run.id for run in kg.runs()} >= {late}
    kg[collection_name].ingest(DOCUMENTS)
    assert _info(kg, collection_name).finished


def test_a_deleted_collection_takes_its_runs_along(kg: KnowledgeGraph, collection_name: str) -> None:
    kg[collection_name].ingest(DOCUMENTS)
    answer = _answer(kg, collection_name)
    kg[collection_name].save(answer)
    kg[collection_name].delete()
    left = "MATCH (n {collection: $c}) WHERE n:Run OR n:Step RETURN n"
    assert rows(kg, left, c=collection_name) == []
    with pytest.raises(NotFoundError):
        kg[collection_name].save(answer)
