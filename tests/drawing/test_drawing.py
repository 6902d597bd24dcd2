"""Drawings of a ranking, an answer and rows as plain nodes and edges. Browser tests check their appearance."""

import sys

import pytest
from hypothesis import given
from hypothesis import strategies as some

from kgrag.drawing import QUESTION, Drawing, DrawnNode, drawing, visualise
from kgrag.retrieval.trail import follow
from kgrag.values.documents import Triple
from kgrag.values.errors import ConfigurationError, InputError
from kgrag.values.events import Answer, Citation, Judged, Linked, Read, Retrieved, Rewritten
from kgrag.values.installing import install_hint
from kgrag.values.results import Hit, Passage, Ranking, Step
from kgrag.values.rows import Edge, Node, Path, Rows

ASKED = "Where did the designer of the Fram live?"
NEXT = "Where did Colin Archer live?"
FACT = Triple("Fram", "designed by", "Colin Archer")


def _passage(id: str, title: str = "", ordinal: int = 0) -> Passage:
    return Passage(id, f"{id}.md", title or id.title(), f"The text of {id}. " * 40, ordinal)


FRAM, ARCHER, LARVIK = _passage("fram"), _passage("archer", "Colin Archer"), _passage("larvik")


def _edges(drawn: Drawing) -> list[tuple[str, str, str]]:
    """Return edges as (caption of the start, caption of the edge, caption of the end)."""
    names = {id: node.caption for id, node in drawn.nodes.items()}
    return [(names[e.start], e.caption, names[e.end]) for e in drawn.edges.values()]


def test_a_trail_is_a_path_from_the_question() -> None:
    steps = (
        Step("names", "Entity", "Fram", 1.0),
        follow("ABOUT", "Passage", "Fram", 0.5),
        follow("MENTIONS", "Entity", "Archer"),
        follow("ABOUT", "Passage", "Colin Archer", 0.9),
    )
    ranking = Ranking(ASKED, "pathrank", (Hit(ARCHER, 0.9, steps), Hit(FRAM, 0.5, steps[:2])))
    drawn = drawing(ranking)
    assert _edges(drawn) == [
        (ASKED, "names", "Fram"),
        ("Fram", "title of", "2. Fram"),
        ("2. Fram", "mentions", "Archer"),
        ("Archer", "title of", "1. Colin Archer"),
    ]
    node = drawn.nodes["archer"]
    assert (node.label, node.properties["rank"], node.properties["score"]) == ("Passage", 1, 0.9)
    assert len(str(node.properties["text"])) <= 300
    assert [e.type for e in drawn.edges.values()] == ["", "ABOUT", "MENTIONS", "ABOUT"]


def test_the_type_of_an_edge_is_what_its_step_says() -> None:
    steps = (Step("names", "Entity", "Fram"), Step("about", "Passage", "Fram", 0.5, edge="ABOUT"))
    drawn = drawing(Ranking(ASKED, "pathrank", (Hit(FRAM, 0.5, steps),)))
    assert [(e.caption, e.type) for e in drawn.edges.values()] == [("names", ""), ("about", "ABOUT")]


def test_ranks_in_indexes_lead_straight_to_the_passage() -> None:
    why = (Step("bm25 rank 3", "Passage", "", 12.1), Step("dense rank 1", "Passage", "", 0.8))
    drawn = drawing(Ranking(ASKED, "hybrid", (Hit(FRAM, 0.03, why), Hit(LARVIK, 0.01))))
    assert _edges(drawn) == [
        (ASKED, "bm25 rank 3", "1. Fram"),
        (ASKED, "dense rank 1", "1. Fram"),
        (ASKED, "rank 2", "2. Larvik"),
    ]


def test_passages_of_one_title_stay_apart() -> None:
    first, second = _passage("a", "Nansen", 0), _passage("b", "Nansen", 1)
    hits = (
        Hit(second, 0.9, (Step("names", "Entity", "Nansen"), Step("title of", "Passage", "2 · Nansen"))),
        Hit(first, 0.8, (Step("resembles", "Passage", "2 · Nansen"), Step("next", "Passage", "1 · Nansen"))),
    )
    drawn = drawing(Ranking(ASKED, "x", hits))
    assert {id for id, node in drawn.nodes.items() if node.label == "Passage"} == {"a", "b"}
    assert ("1. Nansen", "next", "2. Nansen") in _edges(drawn)


_STEPS = some.builds(
    Step,
    some.sampled_from(["names", "mentions", "title of", "bm25 rank 1"]),
    some.sampled_from(["Entity", "Passage", "Triple", "Fact"]),
    some.sampled_from(["", "Fram", "Archer", "Larvik", "1 · Fram"]),
    some.none() | some.floats(0, 1),
)


@given(some.lists(some.lists(_STEPS, max_size=5), max_size=4))
def test_every_hit_hangs_on_the_question(trails: list[list[Step]]) -> None:
    hits = tuple(Hit(_passage(f"p{i}", "Fram"), 1 / (i + 1), tuple(why)) for i, why in enumerate(trails))
    drawn = drawing(Ranking(ASKED, "x", hits))
    reached = {QUESTION}
    for _ in drawn.edges:
        reached |= {e.end for e in drawn.edges.values() if e.start in reached}
    assert {hit.passage.id for hit in hits} <= reached
    assert reached == set(drawn.nodes)
    assert all(e.start != e.end for e in drawn.edges.values())


def test_an_answer_is_its_run() -> None:
    trace = (
        Read(step=1, query=ASKED, triples=(FACT,)),
        Linked(step=1, fact=FACT, id="t1", text=FACT.text, score=0.9),
        Retrieved(step=1, query=ASKED, hits=(Hit(FRAM, 0.9), *(Hit(_passage(f"x{i}"), 0.1) for i in range(5)))),
        Judged(step=1, answerable=False, why="His home is not known."),
        Rewritten(step=2, query=NEXT),
        Retrieved(step=2, query=NEXT, hits=(Hit(ARCHER, 0.8),)),
    )
    ranking = Ranking(ASKED, "gear", (Hit(ARCHER, 0.3), Hit(FRAM, 0.2)))
    answer = Answer(ASKED, "In Larvik [1].", True, "gear", ranking, (Citation(1, ARCHER),), trace)
    drawn = drawing(answer)
    edges = _edges(drawn)
    assert [e for e in edges if "RETRIEVED" not in e] == [
        (ASKED, "HAS_STEP", f"1. {ASKED}"), (f"1. {ASKED}", "LINKED", FACT.text),
        (ASKED, "HAS_STEP", f"2. {NEXT}"), (f"1. {ASKED}", "NEXT", f"2. {NEXT}"),
        (ASKED, "FOUND", "Colin Archer"), (ASKED, "FOUND", "Fram"), (ASKED, "CITES [1]", "Colin Archer"),
    ]  # fmt: skip
    assert [end for _, caption, end in edges if caption == "RETRIEVED"] == ["Fram", "X0", "X1", "Colin Archer"]
    step = next(node for node in drawn.nodes.values() if node.caption.startswith("1."))
    assert step.properties["why"] == "His home is not known."
    assert drawn.nodes["run"].properties["answer"] == "In Larvik [1]."
    alone = drawing(Answer(ASKED, "", False, "closed-book", Ranking(ASKED, "closed-book")))
    assert list(alone.nodes) == ["run"] and not alone.edges


def test_rows_give_their_nodes_and_edges_once() -> None:
    fram = Node(
        "1",
        ("Passage_c7", "Passage"),
        {"name": "Fram", "id": "x", "label": "iv", "embedding": [0.1], "tags": ["a"], "none": None},
    )
    archer = Node("2", ("Entity",), {"name": "Colin Archer"})
    edge = Edge("9", "MENTIONS", "1", "2", {"via": "title", "type": "x", "start": 3})
    elsewhere = Edge("8", "MENTIONS", "1", "77", {})
    rows = Rows(("p", "x"), ((Path((fram, archer), (edge,)), 1), ([{"n": fram}, edge], elsewhere)))
    drawn = drawing(rows)
    assert drawn.nodes["1"] == DrawnNode(
        "1", "Passage", "Fram", {"name": "Fram", "id": "x", "label": "iv", "tags": "['a']"}
    )
    assert _edges(drawn) == [("Fram", "MENTIONS", "Colin Archer")]
    with pytest.raises(InputError, match="no node"):
        drawing(Rows(("n",), ((1,),)))


def test_what_cannot_be_drawn() -> None:
    with pytest.raises(InputError, match="A str cannot be drawn"):
        drawing("MATCH (n) RETURN n")  # type: ignore[arg-type]


def test_without_the_package_it_says_how_to_get_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "neo4j_viz", None)
    with pytest.raises(ConfigurationError, match="neo4j-viz") as caught:
        visualise(drawing(Ranking(ASKED, "x")))
    assert install_hint("viz") in caught.value.remedy
