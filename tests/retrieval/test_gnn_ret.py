"""GNN-Ret: the layers by hand and against a computation over all passages, the trail, and the edges of passages."""

from collections.abc import Callable, Sequence

import numpy as np
import pytest
from coast import TEXTS, coast_documents
from queries_run import queries_of

from kgrag import KnowledgeGraph
from kgrag.retrieval.base import Query, check_retriever
from kgrag.retrieval.gnn_ret import Edge, GnnRet, distance, neighbours_of, propagate
from kgrag.values.documents import Document, Section
from kgrag.values.errors import ConfigurationError
from kgrag.values.results import Filter

_NAME = "gnn-ret"
_TITLES = ("Fjord Queen", "Ole Brandvik", "Nordvika", "Stilla", "Marta Holm")
_QUESTION = "What was the childhood of the captain of the steamer Fjord Queen?"
_EVERY = "gnn-ret(edges=(next, keyword, mention, title), alphas=(0.3, 0.6), k=3)"


@pytest.fixture(scope="module")
def coast(fill: Callable[..., str]) -> str:
    """Five documents that form a chain of names, and sixty letters that share names, one of them in several parts."""
    documents = coast_documents(_TITLES)
    parts = "\n\n".join(f"The steamer log, part {i}: " + "wind and rain and fog all day. " * 40 for i in range(8))
    documents.append(Document("log", (Section(parts),), "Log"))
    return fill(_NAME, documents)


def edges(*ties: tuple[str, str, float]) -> dict[str, list[Edge]]:
    by_sender: dict[str, list[Edge]] = {}
    for sender, receiver, own in ties:
        by_sender.setdefault(sender, []).append(Edge(sender, receiver, own, "next"))
    return by_sender


def test_the_single_questions_of_a_question_add_up(kg: KnowledgeGraph, coast: str) -> None:
    retriever = GnnRet(kg[coast], beta=0.6, alphas=(0.5,))
    plain = GnnRet(kg[coast], alphas=(0.5,))
    question = Query(_QUESTION)
    one = {x.id: 2 - 2 * x.score for x in plain.rank(question, 500)}
    assert {x.id: 2 - 2 * x.score for x in retriever.rank(question, 500)} == pytest.approx(one, abs=1e-6)
    then = Query("At the mouth of which river lies Nordvika?", memory=question.memory)
    two = {x.id: 2 - 2 * x.score for x in plain.rank(Query(then.text), 500)}
    expected = {id: 0.6 * two[id] + 0.4 * one[id] for id in one}
    found = {x.id: 2 - 2 * x.score for x in retriever.rank(then, 500)}
    assert found == pytest.approx(expected, abs=1e-6)
    again = Query(then.text, memory={retriever: question.memory[retriever]})
    best = [x.id for x in retriever.rank(again, 8)]
    memory = question.memory[retriever]
    assert memory is not again.memory[retriever] and len(best) == 8
    fresh = {x.id: 2 - 2 * x.score for x in retriever.rank(Query(then.text), 500)}
    assert fresh == pytest.approx(two, abs=1e-6)  # no state is left from the earlier question


def test_gradients_are_those_of_the_distances() -> None:
    ties = edges(("a", "b", 0.9), ("b", "c", 1.2), ("b", "a", 0.2), ("x", "c", 1.2))

    def run(alphas: Sequence[float]) -> dict[str, tuple[float, tuple[float, ...]]]:
        states = propagate(
            {"a": 0.2, "x": 0.7}, alphas, 2, lambda senders: [e for s in senders for e in ties.get(s, [])]
        )
        return {id: (state.distance, state.gradient) for id, state in states.items()}

    at, step = np.array([0.3, 0.6, 0.8]), 1e-6
    for layer in range(3):
        more = run(at + step * np.eye(3)[layer])
        for id, (value, gradient) in run(at).items():
            assert (more[id][0] - value) / step == pytest.approx(gradient[layer], abs=1e-5)


@pytest.mark.parametrize("question", [_QUESTION, "Who sold wool in Bergvik?", "wind and fog"])
@pytest.mark.parametrize("expression", ["gnn-ret", _EVERY])
def test_it_is_exact_though_it_looks_at_few_passages(
    kg: KnowledgeGraph, coast: str, expression: str, question: str
) -> None:
    """The ranking equals the result of the layers over all passages of the collection."""
    retriever = kg[coast].retriever(expression)
    ranking = retriever.retrieve(question, 12)
    everything = kg[coast].search(question, retriever="dense", k=1000)
    start = {hit.passage.id: distance(hit.score) for hit in everything}
    vector = retriever.context.embedder.embed([question])[0].tolist()
    assert isinstance(retriever, GnnRet)
    s = retriever.settings
    h = dict(start)
    for a in s.alphas:
        senders = sorted(h, key=lambda id: (h[id], id))[: s.k]
        message: dict[str, float] = {}
        for edge in neighbours_of(retriever.context, s, vector)(senders):
            assert edge.distance == pytest.approx(start[edge.receiver], abs=1e-6)
            message[edge.receiver] = min(message.get(edge.receiver, 9.0), h[edge.sender])
        h |= {id: a * h[id] + (1 - a) * m for id, m in message.items()}
    best = sorted(h, key=lambda id: (h[id], id))[:12]
    assert [hit.score for hit in ranking] == pytest.approx([1 - h[id] / 2 for id in best], abs=1e-6)
    assert len({hit.passage.id for hit in ranking} & set(best)) >= 11  # except for rounding ties


def test_names_lead_to_what_the_question_does_not_resemble(kg: KnowledgeGraph, coast: str) -> None:
    dense = [h.passage.title for h in kg[coast].search("steamer Fjord Queen", retriever="dense", k=20)]
    ranking = kg[coast].search("steamer Fjord Queen", retriever="gnn-ret", k=20)
    titles = [h.passage.title for h in ranking]
    assert titles.index("Ole Brandvik") < dense.index("Ole Brandvik")
    hit = ranking.hits[titles.index("Ole Brandvik")]
    assert [(s.via, s.label, s.name) for s in hit.why] == [
        ("resembles the question", "Passage", "Fjord Queen"),
        ("mentions", "Entity", "Ole Brandvik"),
        ("title of", "Passage", "Ole Brandvik"),
    ]
    assert hit.why[-1].score == hit.score


@pytest.mark.parametrize(
    ("kind", "kinds"),
    [("next", {"next"}), ("keyword", {"keyword"}), ("mention", {"mention"}), ("title", {"title", "titled"})],
)
def test_each_kind_of_edge_is_made_by_itself(kg: KnowledgeGraph, coast: str, kind: str, kinds: set[str]) -> None:
    retriever = kg[coast].retriever(f"gnn-ret(edges=({kind},))")
    passages = [h.passage for h in kg[coast].search("steamer", retriever="dense", k=1000)]
    assert isinstance(retriever, GnnRet)
    context = retriever.context
    found = list(
        neighbours_of(context, retriever.settings, context.embedder.embed(["steamer"])[0].tolist())(
            [p.id for p in passages]
        )
    )
    assert {edge.kind for edge in found} == kinds
    assert all(edge.sender != edge.receiver for edge in found)
    tied = {(edge.sender, edge.receiver) for edge in found}
    assert tied == {(receiver, sender) for sender, receiver in tied}  # the graph of passages is undirected
    if kind == "next":
        parts = {p.id: p.ordinal for p in passages if p.title == "Log"}
        assert len(tied) == 2 * (len(parts) - 1) > 2
        assert all(abs(parts[a] - parts[b]) == 1 for a, b in tied)


def test_headings_are_titles_of_their_passages(kg: KnowledgeGraph, collection_name: str) -> None:
    sections = tuple(Section(TEXTS[title], title) for title in ("Stilla", "Nordvika"))
    kg[collection_name].ingest([Document("notes", sections), *coast_documents(["Ole Brandvik"])])
    ranking = kg[collection_name].search("Ole Brandvik", retriever="gnn-ret(edges=(title,))", k=20)
    (hit,) = (hit for hit in ranking if hit.passage.document == "notes")
    assert [(s.via, s.name) for s in hit.why[1:]] == [("mentions", "Nordvika"), ("title of", "notes")]


def test_hubs_tie_nothing(kg: KnowledgeGraph, coast: str) -> None:
    for expression, many in (
        ("gnn-ret(edges=(mention,), mention_cap=60)", True),
        ("gnn-ret(edges=(mention,), mention_cap=0)", True),  # no limit
        ("gnn-ret(edges=(mention,), mention_cap=2)", False),
    ):
        hits = kg[coast].search("Torvald Lunde sold wool", retriever=expression, k=10).hits
        assert any(len(hit.why) > 1 for hit in hits) == many


def test_a_layer_is_a_round_trip(kg: KnowledgeGraph, coast: str) -> None:
    calls = queries_of(kg[coast].retriever("gnn-ret(alphas=(0.5, 0.5))"), _QUESTION, 5)
    assert calls == ["retrieve/vector", *["retrieve/gnn_ret"] * 2, "retrieve/entity_captions", "look_up/passages"]


def test_messages_pass_through_what_a_filter_keeps_out(kg: KnowledgeGraph, coast: str) -> None:
    only = Filter(where={"letter": "O"})
    ranking = kg[coast].search("steamer Fjord Queen", retriever="gnn-ret", k=5, filter=only)
    assert [h.passage.title for h in ranking] == ["Ole Brandvik"]
    assert ranking.hits[0].why[0].name == "Fjord Queen"


@pytest.mark.parametrize("text", ["alphas=()", "alphas=(1.5,)", "edges=(magic,)", "k=0", "alphas=0.3"])
def test_settings_that_make_no_sense(text: str) -> None:
    with pytest.raises(ConfigurationError, match="is invalid"):
        check_retriever(f"gnn-ret({text})")
