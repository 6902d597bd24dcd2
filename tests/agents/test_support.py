"""Unsupported claims are marked, with bounded effort."""

import pytest
from scripted import Scripted

from kgrag import Auto, Gear, GlobalSearch, KnowledgeGraph, Single
from kgrag.agents.answering import AnswerOptions, answer
from kgrag.models.openai_chat import OpenAIChat
from kgrag.models.prompted import PromptedModel
from kgrag.retrieval.base import make_retriever
from kgrag.retrieval.support import doubts_of
from kgrag.values.documents import Document, Section
from kgrag.values.results import Passage, Summary

_FRAM = "The Fram was designed by Colin Archer in Larvik, and launched on 26 October 1892."
FRAM = Passage("p1", "d1", "Fram (ship)", _FRAM)
ARCHER = Passage("p2", "d2", "Colin Archer", "Colin Archer's parents came from Scotland. He built 200 boats.")
ITEMS = [[FRAM], [ARCHER]]


@pytest.mark.parametrize(
    ("said", "marked"),
    [
        *((said, False) for said in "Larvik|larvik.|Archer, Colin|26 October 1892|the Fram|200|yes|Neither".split("|")),
        *((said, True) for said in "Igor Stravinsky|Colin Stravinsky|27 October 1892|1893".split("|")),
        ("Larvik, Scotland", True),  # no single passage has both
    ],
)
def test_short_answers(said: str, marked: bool) -> None:
    assert doubts_of(said, ITEMS, "Who designed the Fram?", short=True).unsupported == ((said,) if marked else ())


@pytest.mark.parametrize(
    ("said", "marked"),
    [
        ("Colin Archer designed the Fram [1]. He built 200 boats [2].", ()),
        ("He built 200 boats [1].", ("He built 200 boats.",)),  # passage 2 says so
        ("The Fram was launched in 1892 [1]. It was Igor Stravinsky, who designed it in 1893 [1].",
         ("It was Igor Stravinsky, who designed it in 1893.",)),
        ("The Fram was not designed by Colin Archer [1].", ("The Fram was not designed by Colin Archer.",)),
        ("The Fram was launched in 1892 [1], and Colin Archer's parents came from Scotland [2].", ()),
        ("The Fram was launched in 1892 [1], and Colin Archer came from Iceland [2].",
         ("The Fram was launched in 1892, and Colin Archer came from Iceland.",)),
        ("Der Entwerfer wurde 1893 gefunden [1].", ("Der Entwerfer wurde 1893 gefunden.",)),
        ("Colin Archer came from Scotland [2].", ("Colin Archer came from Scotland.",)),
        *((said, ()) for said in ("He built 200 boats.", "There is one [12].", "Not in the evidence.")),
    ],
)  # fmt: skip
def test_longer_answers(said: str, marked: tuple[str, ...]) -> None:
    assert doubts_of(said, ITEMS, "Who designed the Fram, before 1904?", short=False) == (marked, ())


def test_a_summary_is_a_source() -> None:
    report = Summary("Ships of Larvik", "Colin Archer designed the Fram.", (FRAM,))
    assert doubts_of("Das war Colin Archer [1].", [report], "?", short=False) == ((), ("Das war Colin Archer.",))
    assert doubts_of("Roald Amundsen", [report], "Who?", short=True) == (("Roald Amundsen",), ())


def test_an_answer_is_marked(talking: KnowledgeGraph, coast: str, scripted: Scripted) -> None:
    scripted.say("answer", "Igor Stravinsky")
    asked = talking[coast].system("single+bm25")
    given = asked.ask("What did the merchant of port 3 sell?", short=True)
    assert given.unsupported == ("Igor Stravinsky",)
    assert given.doubt == "Not supported by the passages: “Igor Stravinsky”."
    scripted.say("answer", "Not in the evidence.")
    assert asked.ask("What did the merchant of port 3 sell?", short=True).unsupported == ()


def test_passages_that_disagree_are_told(talking: KnowledgeGraph, collection_name: str, scripted: Scripted) -> None:
    texts = [f"The Harbour Museum is closed on {day}." for day in ("Mondays", "Tuesdays")]
    talking[collection_name].ingest(Document(text, (Section(text),), "Guide") for text in texts)
    scripted.say("answer", "Mondays")
    asked = talking[collection_name].system("single+bm25").ask("When is the Harbour Museum closed?", short=True)
    assert asked.ranking.notes and all(text in asked.ranking.notes[0] for text in ("disagree", *texts))


def test_an_answer_that_is_worked_out_first(scripted: Scripted) -> None:
    said = {
        "Steps: The Fram was designed by Colin Archer [2]; he lived in Larvik [1].\nAnswer: Larvik [1]": "Larvik",
        "It was Larvik, so the answer: Larvik": "Larvik",
        "Steps: Nothing is told.\n**Answer:** Not in the evidence": "Not in the evidence.",
        "Colin Archer lived there.\nLarvik": "Larvik",
    }
    for reply, expected in said.items():
        scripted.say("answer", reply)
        with OpenAIChat(scripted.settings()) as model:
            reasoned = AnswerOptions(reason=True)
            given = answer(PromptedModel(model), "Where?", ITEMS, reasoned, short=True)
        assert given.text == expected
        assert [c.passage.id for c in given.citations] == (["p1", "p2"] if "[2]" in reply else [])
    assert "Steps:" in scripted.calls[-1]["messages"][-1]["content"]


def test_effort(talking: KnowledgeGraph, coast: str) -> None:
    usual, low, high = (Gear(talking[coast], effort=effort) for effort in ("medium", "low", "high"))
    assert [each.settings.steps for each in (low, usual, high)] == [2, 4, 6]
    assert [each.settings.evidence for each in (low, usual, high)] == [3, 5, 8]
    assert [each.settings.reason for each in (low, usual, high)] == [False, True, True]
    assert [each.settings.sentences for each in (usual, low, high)] == [0, 3, 0]
    assert Gear(talking[coast], effort="low", steps=3).settings.steps == 3
    assert [each.at_most()[0] for each in (low, usual, high)] == [6, 14, 22]
    assert Single(talking[coast]).at_most() == (1, 500 + 5 * 200)
    assert Single(make_retriever("rrf(bm25, hipporag2)", talking[coast].context)).at_most()[0] == 2
    assert Auto(talking[coast]).at_most()[0] == 15
    assert GlobalSearch(talking[coast]).at_most() == (0, 0)  # depends on the number of report batches


def test_no_more_calls_than_were_said(talking: KnowledgeGraph, coast: str, scripted: Scripted) -> None:
    """A question that nothing suffices for uses exactly the announced maximum of calls."""
    scripted.say("read", {"triples": [["Fram", "designed by", "Colin Archer"]]})
    scripted.say("reason", {"answerable": False, "why": "more is wanted"})
    for task, text in (("rewrite", "What else?"), ("think", "It is not known yet."), ("answer", "Larvik")):
        scripted.say(task, text)
    for name in ("gear(steps=3)+hybrid", "ircot(steps=3)+bm25", "iter-retgen+bm25", "self-ask(steps=2)+bm25"):
        system = talking[coast].system(name)
        taken = system.ask("Who designed the Fram?", short=True).usage.calls
        assert 0 < taken <= system.at_most()[0], name
