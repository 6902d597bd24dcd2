"""Contexts of rows of tables: 3,500 tokens for GNN-Ret (section 4.1), if the collection has them; leaves for BDTR."""

import re
from collections.abc import Iterator

import pytest
from naming import own
from scripted import Scripted

from kgrag import KnowledgeGraph
from kgrag.lab.papers import find_paper
from kgrag.retrieval.base import RETRIEVERS, SummaryOptions
from kgrag.retrieval.kgp import Kgp
from kgrag.settings import Settings
from kgrag.values.documents import Document, Section

PAPER = find_paper("gnn-ret")
ROWS = {row.label: row for row in PAPER.table("1").rows if row.label != "Direct"}
BUDGET, DEPTH = 3500, 100
NAME = own("what-is-read")
QUESTION = "Which keeper of which lighthouse wrote about the storm?"
_PASSAGE = re.compile(r"<passage>\nTitle: (.*?)\n(.*?)\n</passage>", re.DOTALL)


@pytest.fixture(scope="module")
def logs(graph_settings: Settings) -> Iterator[str]:
    """8 logs of 25 pages each, with one passage of about 50 tokens per page."""
    settings = PAPER.apply(graph_settings.model_copy(update={"embedder": "wordllama"}))
    settings = settings.model_copy(
        update={"indexing": settings.indexing.model_copy(update={"passage_tokens": 40, "whole_tokens": 40})}
    )
    with KnowledgeGraph.connect(settings=settings) as kg:
        kg[NAME].ingest(
            Document(f"log-{n}", tuple(Section(_page(n, page)) for page in range(25)), f"Log {n}") for n in range(8)
        )
        assert kg[NAME].info().counts["Passage"] == 200
        yield NAME
        kg[NAME].delete()


def _page(n: int, page: int) -> str:
    return (
        f"On day {7 * n + page} the keeper of lighthouse {n} wrote about a storm that had come over the skerries, "
        f"and said that {page + 1} boats had not come home to harbour {n % 9} before the lamp was lit again at dusk."
    )


def _tokens(shown: str) -> float:
    return sum(len(title) + len(text) for title, text in _PASSAGE.findall(shown)) / 4


@pytest.mark.parametrize("label", ROWS)
def test_every_row_of_table_1_reads_as_many_tokens(
    graph_settings: Settings, scripted: Scripted, logs: str, label: str
) -> None:
    given = dict.fromkeys(PAPER.inputs, "(0.4,)") | {"beta": "0.9", "repeat": "false"}
    system = (ROWS[label].system or "").format(**given)
    scripted.say("self-ask", "Follow up: Which lighthouse stood on the skerries?", "So the final answer is: 3")
    scripted.say("sub-question", "Which lighthouse stood on the skerries?")
    scripted.say("sub-answer", "The lighthouse on the skerries was lighthouse 3.")
    scripted.say("critique", {"enough": True})
    scripted.say("retgen", "The keeper of lighthouse 3 wrote about it. So the answer is: lighthouse 3")
    scripted.say("think", "The storm came over harbour 4.", "So the answer is: lighthouse 3")
    scripted.say("evidence", "The keeper wrote that boats had not come home.")
    scripted.say("answer", "lighthouse 3")
    settings = graph_settings.model_copy(update={"embedder": "wordllama", "chat": scripted.settings()})
    with KnowledgeGraph.connect(settings=PAPER.apply(settings)) as kg:
        answer = kg[logs].ask(QUESTION, system=system, short=True, k=DEPTH)
    assert not answer.problem
    read = [
        _tokens(call["messages"][-1]["content"])
        for call in scripted.calls
        if call["task"] in ("answer", "sub-answer", "retgen")
    ]
    assert read and all(0.95 * BUDGET <= tokens <= BUDGET for tokens in read), read


def test_kgp_as_gnn_ret_runs_it(graph_settings: Settings, scripted: Scripted, logs: str) -> None:
    settings = graph_settings.model_copy(update={"embedder": "wordllama", "chat": scripted.settings()})
    row = (ROWS["KGP"].system or "").format(repeat="true")
    with KnowledgeGraph.connect(settings=PAPER.apply(settings)) as kg:
        kgp = kg[logs].system(row).retriever
        assert isinstance(kgp, Kgp) and [part.name for part in kgp.parts] == ["dense"]
        assert (kgp.settings.guide, kgp.settings.similarity, kgp.settings.cap) == ("chat", None, 0)
        assert kgp.settings.edges == ("next", "named") and kgp.missing_layers() == {"keywords"}
        scripted.say("evidence", "lamp")
        found = kg[logs].search(QUESTION, retriever=kgp.name, k=100)
        nearest = kg[logs].search(QUESTION, retriever="dense", k=10)
    assert [hit.passage.id for hit in found][:10] == [hit.passage.id for hit in nearest]


def test_as_bdtr_has_it_every_strategy_reads_passages_alone(graph_settings: Settings) -> None:
    """Summaries and reports lead to passages, but are never shown, so that all strategies read the same evidence."""
    applied = find_paper("bdtr").apply(graph_settings)
    for name in ("raptor", "communities"):
        settings = RETRIEVERS.find(name).check({}, (), applied.retrieval)
        assert isinstance(settings, SummaryOptions) and settings.shown == "leaves"
    assert settings.model_dump()["score"] == "sum"
