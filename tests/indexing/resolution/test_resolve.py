"""Names of one entity are linked, used by searches, unlinked, and judged by a model if in doubt."""

import json
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from command_line import run_kgrag
from graph_rows import rows
from scripted import Scripted

from kgrag import KnowledgeGraph, PathRank, Ppr
from kgrag.graph.contents import digest
from kgrag.graph.queries import catalogue
from kgrag.indexing.resolution.resolve import Resolution
from kgrag.retrieval.base import Query
from kgrag.retrieval.beam import BeamOptions, beam_search
from kgrag.retrieval.linking import link_question
from kgrag.values.documents import Document, Section, Triple

COLLECTION = "resolved"
_TEXTS = {
    "Ada Maria Lund": "Ada Maria Lund was a maker of maps. She went to school in Trondheim and never married.",
    "Hvalvik": "Hvalvik is a harbour in the north. Its first chart was drawn in 1871 by Ada M. Lund for the navy.",
    "Coast Survey": "The Coast Survey of Hvalvik (CSH) printed charts. In 1880 CSH was sold to Warner Bros. of Bergen.",
    "Printing in Bergen": "Warner Brothers printed most charts. The Tern Press printed the others.",
    "Mercury (planet)": "Mercury is near the sun. Few have seen Mercury from Hvalvik.",
    "Mercury (ship)": "Mercury was a schooner. She sank near Hvalvik.",
    "The war at sea": "In World War I the harbour was closed. In World War II it was open.",
    "Two captains": "Kari Berg and Nils Berg were captains. It is said that Berg could not swim.",
    "Jon Vik": "Jon Vik was a physician who wrote of cold. The book of Dr. Vik is lost.",
    "The Gull": "The Gull Club met on Mondays. Later the Gull Society met there.",
}
_FACTS = {
    "Hvalvik": (Triple("Hvalvik", "was charted by", "Ada M. Lund"),),
    "Ada Maria Lund": (Triple("Ada Maria Lund", "went to school in", "Trondheim"),),
}
_DOCUMENTS = [Document(title, (Section(text),), title, triples=_FACTS.get(title, ())) for title, text in _TEXTS.items()]


@pytest.fixture(scope="module")
def resolved(fill: Callable[..., str]) -> str:
    """A collection with names of the same entity, and names that only look like it."""
    return fill(COLLECTION, _DOCUMENTS)


@pytest.fixture
def untied(kg: KnowledgeGraph, resolved: str) -> Iterator[str]:
    """The same without SAME_AS edges, before and after."""
    kg[resolved].unresolve()
    yield resolved
    kg[resolved].unresolve()


def _ties(kg: KnowledgeGraph, name: str) -> set[frozenset[str]]:
    query = "MATCH (a:Entity {collection: $c})-[:SAME_AS]->(b) RETURN a.name AS a, b.name AS b"
    return {frozenset((row["a"], row["b"])) for row in rows(kg, query, c=name)}


def _names(pairs: Any) -> set[frozenset[str]]:
    return {frozenset((x.one, x.other)) for x in pairs}


def test_what_it_would_tie(kg: KnowledgeGraph, untied: str) -> None:
    before = digest(kg.graph, untied)
    found = kg[untied].resolve()
    same, doubtful = _names(found.same), _names(found.doubtful)
    assert {"Ada M. Lund", "Ada Maria Lund"} in same
    assert {"Warner Bros.", "Warner Brothers"} in same
    assert {"CSH", "Coast Survey of Hvalvik"} in same
    both = same | doubtful
    assert not {frozenset(p) for p in (("World War I", "World War II"), ("Kari Berg", "Nils Berg"))} & both
    assert not any("Mercury (planet)" in p and "Mercury (ship)" in p for p in both)
    assert not any("Mercury" in p for p in same)  # two documents have this name
    assert not any("Berg" in p for p in same)  # it may be either captain
    assert any("Berg" in p for p in doubtful)
    assert all(x.evidence and 0.5 <= x.score <= 1 for x in (*found.same, *found.doubtful))
    assert not found.applied
    assert digest(kg.graph, untied) == before
    assert not _ties(kg, untied)
    assert kg[untied].resolve(score=0.95).same != found.same


def test_apply_follow_and_undo(kg: KnowledgeGraph, untied: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("kgrag.retrieval.context.REFRESH_SECONDS", 600.0)  # opening it again would count as a query
    before = digest(kg.graph, untied)
    question = "Where did the person go to school who drew the first chart of Hvalvik?"
    context = kg[untied].context
    assert "Ada Maria Lund" not in {x.name for x in link_question(context, "Who was Ada M. Lund?").links}
    found = kg[untied].resolve(apply=True)
    assert found.applied
    assert found.written == len(found.same) > 0
    assert _ties(kg, untied) == _names(found.same)
    assert digest(kg.graph, untied)["entities"] != before["entities"]
    again = kg[untied].resolve(apply=True)
    assert (again.written, again.removed, again.same) == (0, 0, found.same)

    links = {x.name: x.weight for x in link_question(context, "Who was Ada M. Lund?").links}
    assert 0 < links["Ada Maria Lund"] < links["Ada M. Lund"]
    assert "Ada Maria Lund" not in {x.name for x in link_question(context, "Who was Ada M. Lund?", False).links}
    for kind in (PathRank, Ppr):
        for exact in ({"exact": True}, {}) if kind is Ppr else ({},):
            on, off = (
                {h.passage.title: h.score for h in kind(kg[untied], same_as=same_as, **exact).retrieve(question).hits}
                for same_as in (True, False)
            )
            assert on["Ada Maria Lund"] != off["Ada Maria Lund"]
            assert kind is Ppr or on["Ada Maria Lund"] > off["Ada Maria Lund"]
    stating = [kg[untied].passage("Hvalvik").id]
    for same_as in (True, False):
        beams = beam_search(context, Query(question), BeamOptions(same_as=same_as), passages=stating)
        chains = [[x.text for x in beam.links] for beam in beams]
        went_on = ["Hvalvik was charted by Ada M. Lund", "Ada Maria Lund went to school in Trondheim"] in chains
        assert went_on is same_as
    with kg.graph.listening(lambda name, _: asked.append(name)):
        asked: list[str] = []
        kg[untied].search(question)
        queries = len(asked)
        kg[untied].unresolve()
        asked.clear()
        kg[untied].search(question)
    assert len(asked) == queries
    assert digest(kg.graph, untied) == before


def test_a_thousand_names_are_tied_in_little_memory(kg: KnowledgeGraph, untied: str) -> None:
    """A thousand names are linked in little memory; rows with the list of all names once took half a gigabyte."""
    text = catalogue()["write/settle_facts"].text
    ids = [f"crowd{n}" for n in range(1000)]
    rows(kg, "UNWIND $ids AS id CREATE (:Kgrag:Entity:New {id: id, collection: $c, normal: 'x'})", c=untied, ids=ids)
    plan = kg.graph.driver.execute_query(f"PROFILE {text}", lost=[], typed=ids).summary.profile
    rows(kg, "MATCH (n:New) DETACH DELETE n")
    assert plan is not None and 100_000 < plan["args"]["GlobalMemory"] < 10_000_000


def test_ties_of_ones_own_and_removed_documents(kg: KnowledgeGraph, collection_name: str) -> None:
    kg[collection_name].ingest(_DOCUMENTS[:4])
    names = "MATCH (a:Entity {collection: $c, normal: 'hvalvik'}), (b:Entity {collection: $c, normal: 'coast survey'})"
    rows(kg, names + " CREATE (a)-[:SAME_AS {score: 1.0, evidence: 'I know', by: 'me'}]->(b)", c=collection_name)
    kg[collection_name].resolve(apply=True)
    ties = _ties(kg, collection_name)
    assert {"Warner Bros.", "Warner Brothers"} in ties
    kg[collection_name].delete(["Printing in Bergen"])
    assert {"Warner Bros.", "Warner Brothers"} not in _ties(kg, collection_name)
    assert kg[collection_name].resolve(apply=True).written == 0
    kg[collection_name].ingest(_DOCUMENTS)
    assert kg[collection_name].resolve(apply=True).written > 0
    kg[collection_name].unresolve()
    assert _ties(kg, collection_name) == {frozenset(("Hvalvik", "Coast Survey"))}


def test_what_somebody_says_of_names_is_kept_to(kg: KnowledgeGraph, untied: str) -> None:
    plan = kg[untied].resolve()
    tied, parted = plan.doubtful[0], plan.same[0]
    kg[untied].decide(tied, same=True)
    kg[untied].decide(parted, same=False)
    found = kg[untied].resolve(apply=True)
    assert parted.ids not in {x.ids for x in (*found.same, *found.doubtful)}
    assert frozenset((tied.one, tied.other)) in _ties(kg, untied)
    assert {(x.by, x.evidence) for x in found.same if x.ids == tied.ids} <= {("person", "somebody says so")}
    assert kg[untied].resolve(apply=True).written == 0
    kg[untied].unresolve()
    assert _ties(kg, untied) == {frozenset((tied.one, tied.other))}  # undo removes edges by rules, and keeps a person's
    kg[untied].decide(tied, same=False)
    assert _ties(kg, untied) == set()
    kg[untied].unresolve()


def _judge(kg: KnowledgeGraph, scripted: Scripted, name: str, **options: Any) -> Resolution:
    chat = scripted.settings(models={"resolve": "resolve"}, prices={"resolve": (1.0, 2.0), "other": (0.0, 0.0)})
    settings = kg.settings.model_copy(update={"chat": chat.model_copy(update=options.pop("chat", {}))})
    with KnowledgeGraph.connect(settings=settings) as other:
        return other[name].resolve(**options)


def test_a_model_decides_what_is_doubtful_and_is_not_asked_again(
    kg: KnowledgeGraph, untied: str, scripted: Scripted
) -> None:
    plan = _judge(kg, scripted, untied)
    assert len(plan.doubtful) > 1
    assert plan.estimate.calls == -(-len(plan.doubtful) // 10)
    ranges = zip(plan.estimate.prompt_tokens, plan.estimate.completion_tokens, strict=True)
    assert plan.estimate.cost == pytest.approx([(read + 2 * written) / 1e6 for read, written in ranges])
    assert not scripted.calls

    scripted.say("resolve", {"same": [1]})
    found = _judge(kg, scripted, untied, ask=True, apply=True)
    asked = scripted.calls[0]["messages"][-1]["content"]
    assert "Pair 1\nName: " in asked
    assert "Berg could not swim" in asked
    assert found.usage.calls == plan.estimate.calls
    assert {x.by for x in found.same} == {"rules", "model"}
    assert len([x for x in found.same if x.by == "model"]) == found.usage.calls
    assert not found.doubtful
    again = _judge(kg, scripted, untied, ask=True, apply=True)
    assert len(scripted.calls) == found.usage.calls
    assert (again.written, again.removed, again.usage.calls) == (0, 0, 0)
    assert _names(again.same) == _names(found.same)
    kg[untied].unresolve()
    assert len(_judge(kg, scripted, untied).doubtful) == len(plan.doubtful)


def test_a_budget_is_kept(kg: KnowledgeGraph, untied: str, scripted: Scripted) -> None:
    scripted.say("resolve", {"same": []})
    found = _judge(kg, scripted, untied, ask=True, apply=True, chat={"budget": 0.000001})
    assert found.stopped is not None
    assert not scripted.calls
    assert found.written == len(found.same) > 0
    assert found.doubtful


def test_an_export_holds_the_ties(kg: KnowledgeGraph, untied: str, tmp_path: Path) -> None:
    kg[untied].resolve(apply=True)
    before, ties = digest(kg.graph, untied), _ties(kg, untied)
    kg[untied].export(str(tmp_path / "x.jsonl"))
    kg[untied].delete()
    kg.import_export(str(tmp_path / "x.jsonl"))
    assert _ties(kg, untied) == ties
    assert digest(kg.graph, untied) == before
    rows = kg[untied].saved_query("same_names")
    assert ["Ada M. Lund", "Ada Maria Lund"] in [sorted(row["names"]) for row in rows]


def test_the_command(kg: KnowledgeGraph, untied: str, neo4j_env: dict[str, str]) -> None:
    def run(*args: str, code: int = 0) -> str:
        return run_kgrag(neo4j_env, "enrich", "resolve", untied, *args, code=code).stdout

    said = run()
    assert f"Collection {untied}: " in said
    assert "Ada M. Lund" in said
    assert "initials of the other" in said
    assert not _ties(kg, untied)
    report = json.loads(run("--json"))
    assert {"one", "other", "score", "evidence", "by"} <= report["same"][0].keys()
    assert f"{len(report['same'])} edges written, 0 removed" in run("--apply", "--limit", "0")
    assert f"Collection {untied}: {len(report['same'])} edges removed" in run("--undo")
    run("--undo", "--apply", code=2)
