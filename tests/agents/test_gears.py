"""Facts of a knowledge graph beside documents: links, beams and bridges; and Millions of GEAR-s, step by step."""

from collections.abc import Callable, Iterator

import pytest
from harbour import documents
from scripted import Scripted
from world import world

from kgrag import KnowledgeGraph
from kgrag.agents.system import make_system
from kgrag.graph.connection import Graph
from kgrag.lab.papers import find_paper
from kgrag.retrieval.base import Query
from kgrag.retrieval.beam import Link
from kgrag.retrieval.bridges import Knowledge, KnowledgeOptions, TextVectors, names_in, passages_of
from kgrag.retrieval.trail import trail
from kgrag.text.languages import ENGLISH
from kgrag.values.documents import Triple
from kgrag.values.errors import ConfigurationError, MismatchError
from kgrag.values.events import Failed, Filtered, Judged, Linked, Read, Remembered, Retrieved, Rewritten
from kgrag.values.results import Filter

WORLD, BARE = "test_world", "test-bare-coast"
QUESTION = "Which fish is the river known for at whose mouth the captain of the Fjord Queen grew up?"
_CAPTAIN = ["Ole Brandvik", "captain of", "Fjord Queen"]
_HOME = ["Ole Brandvik", "place of birth", "Nordvika"]
SYSTEM = f"gears(passages=2, knowledge=({WORLD},))+bm25"


@pytest.fixture(scope="module")
def both(kg: KnowledgeGraph, fill: Callable[..., str], tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """The coast without triples, and a collection of common knowledge."""
    fill(BARE, documents({}))
    with world(kg, WORLD, tmp_path_factory.mktemp("world")):
        yield BARE


@pytest.fixture(scope="module")
def known(kg: KnowledgeGraph, both: str) -> Knowledge:
    return Knowledge.of(kg[both].context, WORLD)


def _two_steps(scripted: Scripted) -> None:
    scripted.say("read", {"triples": [_CAPTAIN]}, {"triples": [_CAPTAIN, _HOME]})
    scripted.say("rewrite-or-stop", "{No} {Where did Ole Brandvik grow up?}")
    scripted.say("filter", "[2] > [1]")
    scripted.say("answer", "The river Stilla is known for salmon [1].")


def _link(known: Knowledge, *facts: tuple[str, str, str], **options: object) -> list[str]:
    return [x.text for x in known.link([Triple(*f) for f in facts], KnowledgeOptions(**options))]  # type: ignore[arg-type]


def test_a_fact_is_linked_by_words_to_one_of_the_graph(known: Knowledge) -> None:
    assert _link(known, ("Brandvik", "was captain of the", "Fjord Queen")) == ["Ole Brandvik captain of Fjord Queen"]
    assert _link(known, ("a merchant", "sold", "wool at the exchange")) == ["Wool Exchange trades in wool"]
    assert _link(known, ("Qx", "zz", "yy"), ("?", "!", "*")) == []
    assert len(_link(known, ("Stilla", "has", "salmon"), ("salmon", "live in the", "Stilla"))) == 1  # each once


def test_a_floor_and_a_shared_name_hold_against_drift(known: Knowledge) -> None:
    drifting = ("hot tub", "instance of", "person heater")
    assert _link(known, drifting) != []
    assert _link(known, drifting, shared_name=True) == []
    assert _link(known, drifting, floor=0.9) == []
    fact = ("Brandvik", "captain of", "Fjord Queen")
    for options in ({"shared_name": True}, {"floor": 0.5}, {"link": "hybrid"}):
        assert _link(known, fact, **options) == ["Ole Brandvik captain of Fjord Queen"]


def test_beams_lead_on_over_facts_without_passages(known: Knowledge) -> None:
    (linked,) = known.link([Triple(*_CAPTAIN)], KnowledgeOptions())
    first = [Link(linked.id, linked.text, "", "", 0.0)]
    beams = known.beams(Query("What is the place of birth of Ole Brandvik?"), first, KnowledgeOptions())
    assert [link.text for link in beams[0].links] == [
        "Ole Brandvik captain of Fjord Queen", "Ole Brandvik place of birth Nordvika",
    ]  # fmt: skip
    assert beams[0].links[1].entity == "Ole Brandvik"
    three = known.beams(Query("Which river?"), first, KnowledgeOptions(length=3))
    assert "Nordvika located at the mouth of Stilla" in {beam.links[-1].text for beam in three}
    exact = known.beams(Query("What is the place of birth of Ole Brandvik?"), first, KnowledgeOptions(exact=True))
    assert exact[0].links[1].text == beams[0].links[1].text


def test_a_hub_gives_what_the_question_asks_for_alone(
    kg: KnowledgeGraph, both: str, known: Knowledge, monkeypatch: pytest.MonkeyPatch
) -> None:
    (linked,) = known.link([Triple("Ole Brandvik", "instance of", "human")], KnowledgeOptions())
    first = [Link(linked.id, linked.text, "", "", 0.0)]

    def reached(question: str, **options: int) -> set[str]:
        kept = KnowledgeOptions(beams=200, neighbours=500, **options)  # type: ignore[arg-type]
        return {beam.links[-1].text for beam in known.beams(Query(question), first, kept)}

    assert "Person 77 instance of human" in reached("Who is Person 77?")
    assert len(reached("Which ship did he command?")) < 10
    assert len(reached("Which ship did he command?", hub=1000)) > 150
    seen: list[int] = []
    rows = Graph.run

    def counted(self: Graph, name: str, /, **parameters: object) -> list[object]:
        found: list[object] = rows(self, name, **parameters)  # type: ignore[assignment]
        if name == "retrieve/knowledge_step":
            seen.extend(len(entity["facts"]) for row in found for entity in row["entities"])  # type: ignore[index]
        return found

    monkeypatch.setattr(Graph, "run", counted)
    reached("Who is Person 77?")
    assert seen and max(seen) <= 51


def test_a_fact_leads_to_the_passage_of_its_words(kg: KnowledgeGraph, both: str, known: Knowledge) -> None:
    context, options = kg[both].context, KnowledgeOptions()
    beams = known.beams(Query("Which river?"), known.about("Where is Nordvika?", options), options)
    found = kg[both].retriever("bm25").hits(passages_of(context, WORLD, beams, Filter()))
    assert "Nordvika" in {hit.passage.title for hit in found}
    only = Filter(where={"n": len("Stilla")})
    assert {h.passage.title for h in kg[both].retriever("bm25").hits(passages_of(context, WORLD, beams, only))} == {
        "Stilla"
    }


def test_bridges_for_any_retriever_are_shown_apart(kg: KnowledgeGraph, both: str) -> None:
    question = "Where did the captain Ole Brandvik see a river?"
    for retriever in ("bm25", "ppr", "naive-ge(bm25)", "pathrank"):
        plain = kg[both].search(question, retriever=retriever, k=15)
        found = kg[both].search(question, retriever=retriever, k=15, knowledge=[WORLD])
        bridged = {h.passage.title: trail(h) for h in found if any(s.via == f"known from {WORLD}" for s in h.why)}
        assert "Nordvika" in bridged and "Fact Ole Brandvik place of birth Nordvika" in bridged["Nordvika"]
        assert not [s for h in plain for s in h.why if "known from" in s.via]
        assert {h.passage.id for h in plain[:3]} <= {h.passage.id for h in found}
    assert [h.passage.title for h in kg[both].search(question, retriever=f"bridges(bm25, knowledge=({WORLD},))")][:1]


def test_what_is_no_knowledge_is_an_error_with_a_remedy(kg: KnowledgeGraph, both: str) -> None:
    with pytest.raises(MismatchError, match="holds documents"):
        kg[both].search("Who?", knowledge=[both])
    with pytest.raises(ConfigurationError, match="knowledge") as raised:
        kg[both].search("Who?", retriever="bridges(bm25)")
    assert "--knowledge" in raised.value.remedy


def test_vectors_of_texts_are_kept_within_bounds(kg: KnowledgeGraph) -> None:
    vectors = TextVectors(kg.embedder(), most=3)
    one = vectors(["a b", "c d", "a b"])
    assert one.shape == (3, 256) and (one[0] == one[2]).all()
    vectors(["e", "f", "g", "h"])
    assert len(vectors._cache) == 3 and vectors([]).shape == (0, 256)


def test_names_of_a_question() -> None:
    assert "fjord queen" in names_in("Who was captain of the Fjord Queen?", ENGLISH)
    assert "nordvika" in names_in("where is nordvika", ENGLISH)
    assert names_in("", ENGLISH) == []


def test_it_goes_as_printed(talking: KnowledgeGraph, scripted: Scripted, both: str) -> None:
    _two_steps(scripted)
    answer = talking[both].ask(QUESTION, system=SYSTEM)
    assert answer.text == "The river Stilla is known for salmon [1]." and answer.problem == ""
    assert scripted.tasks == ["read", "rewrite-or-stop", "read", "filter", "answer"]
    kinds = [(e.step, type(e)) for e in answer.trace]
    assert (1, Linked) not in kinds and (2, Linked) in kinds  # step 1 does not use the graph (section 5)
    linked = [e.text for e in answer.trace if isinstance(e, Linked)]
    assert linked == ["Ole Brandvik captain of Fjord Queen", "Ole Brandvik place of birth Nordvika"]
    remembered = [e.triples for e in answer.trace if isinstance(e, Remembered)]
    assert remembered == [(Triple(*_CAPTAIN),), (Triple(*_HOME),)]  # each once
    first, second = (e for e in answer.trace if isinstance(e, Retrieved))
    assert len(first.hits) == 2
    assert "Nordvika" in {h.passage.title for h in second.hits}
    assert any("known from" in s.via for h in second.hits for s in h.why)
    rewritten = [e.query for e in answer.trace if isinstance(e, Rewritten)]
    assert rewritten == ["Where did Ole Brandvik grow up?"]
    (filtered,) = (e for e in answer.trace if isinstance(e, Filtered))
    assert [h.passage.id for h in answer.ranking][:2] == list(filtered.kept) and len(filtered.kept) == 2
    assert set(filtered.dropped) == {h.passage.id for h in answer.ranking[2:]}
    reader = scripted.calls[-1]["messages"][-1]["content"]
    assert reader.count("<passage>") == 2 and '["Ole Brandvik", "place of birth", "Nordvika"]' in reader


@pytest.mark.parametrize(
    ("said", "answerable"),
    [
        ("{Yes}", True), ("yes", True), ("I cannot say.", False), ("{No} {" + QUESTION.upper() + "}", False),
        ("{No}", False),
    ],
)  # fmt: skip
def test_it_stops_when_it_knows_or_has_nothing_new_to_ask(
    talking: KnowledgeGraph, scripted: Scripted, both: str, said: str, answerable: bool
) -> None:
    _two_steps(scripted)
    scripted.say("rewrite-or-stop", said)
    answer = talking[both].ask(QUESTION, system=SYSTEM, short=True)
    assert scripted.tasks == ["read", "rewrite-or-stop", "filter", "answer"]
    assert [e.answerable for e in answer.trace if isinstance(e, Judged)] == [answerable]
    assert answer.text and answer.problem == ""


@pytest.mark.parametrize(
    ("said", "kept"), [("None", 0), ("nothing to say of it", 2), ("[2] > [9] > [2]", 1), ("Ranking: [1] > [2]", 2)]
)
def test_what_the_filter_says(talking: KnowledgeGraph, scripted: Scripted, both: str, said: str, kept: int) -> None:
    _two_steps(scripted)
    scripted.say("filter", said)
    system = SYSTEM.replace("passages=2", "passages=2, steps=1")
    answer = talking[both].ask(QUESTION, system=system, short=True)
    (filtered,) = (e for e in answer.trace if isinstance(e, Filtered))
    assert (len(filtered.kept), len(filtered.kept) + len(filtered.dropped)) == (kept, 2)
    assert len(answer.ranking) == 2  # dropped passages are ranked last
    shown = scripted.calls[-1]["messages"][-1]["content"]
    assert shown.count("<passage>") == kept and "captain of" in shown  # with None, only facts are shown


@pytest.mark.parametrize("task", ["read", "rewrite-or-stop", "filter", "answer"])
def test_a_fault_at_each_call(talking: KnowledgeGraph, scripted: Scripted, both: str, task: str) -> None:
    _two_steps(scripted)
    scripted.say(task, " " if task != "read" else "no JSON here")
    answer = talking[both].ask(QUESTION, system=SYSTEM)
    assert repr(task) in answer.problem
    assert [e for e in answer.trace if isinstance(e, Failed)]
    assert len(answer.ranking) > 0
    assert bool(answer.text) is (task != "answer")


def test_the_graph_may_be_used_from_the_first_step(
    talking: KnowledgeGraph, scripted: Scripted, both: str, known: Knowledge
) -> None:
    _two_steps(scripted)
    fact = ("Brandvik", "was captain of the", "Fjord Queen")
    scripted.say("read", {"triples": [fact]})
    scripted.say("rewrite-or-stop", "{Yes}")
    system = SYSTEM.replace("passages=2", "passages=2, graph_from=1")
    answer = talking[both].ask(QUESTION, system=system)
    (linked,) = known.link([Triple(*fact)], KnowledgeOptions())
    (told,) = (e for e in answer.trace if isinstance(e, Linked))
    assert (told.step, told.id, told.score) == (1, linked.id, pytest.approx((1 + linked.score) / 2))
    assert linked.score < 0.99 and [e for e in answer.trace if isinstance(e, Read)]


def test_the_knowledge_of_a_question(talking: KnowledgeGraph, scripted: Scripted, both: str) -> None:
    _two_steps(scripted)
    answer = talking[both].ask(QUESTION, system="gears(passages=2)+bm25", knowledge=[WORLD])
    assert [e for e in answer.trace if isinstance(e, Linked)]
    with pytest.raises(ConfigurationError, match="knowledge"):
        talking[both].ask(QUESTION, system="gears+bm25")
    scripted.say("reason", {"answerable": True})
    other = talking[both].ask("Where did the captain Ole Brandvik see a river?", system="gear+bm25", knowledge=[WORLD])
    assert any(s.via == f"known from {WORLD}" for hit in other.ranking for s in hit.why)


def test_the_profile_of_millions_of_gears(kg: KnowledgeGraph, both: str) -> None:
    paper = find_paper("gears")
    assert paper.system.startswith("gears+rrf")
    settings = paper.apply(kg.settings)
    with KnowledgeGraph.connect(settings=settings.model_copy(update={"embedder": kg.settings.embedder})) as client:
        its = make_system(paper.system, client[both].context).settings
    assert (its.steps, its.graph_from, its.beams, its.exact, its.link) == (2, 2, 10, True, "sparse")  # type: ignore[attr-defined]
