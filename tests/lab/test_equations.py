"""Equations of the papers with several parts, by hand and without a graph: no part can be left out."""

from collections.abc import Mapping, Sequence
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from kgrag.agents.bdtr import BdtrOptions, _Bdtr
from kgrag.agents.episode import QuestionContext
from kgrag.agents.gear import GearOptions, _Gear, balanced
from kgrag.agents.iter_retgen import IterRetgenOptions, _IterRetgen
from kgrag.agents.rgnn import RgnnOptions, _Rgnn
from kgrag.agents.self_ask import SelfAskOptions, _SelfAsk
from kgrag.lab.papers import PaperRow, PaperTable, find_paper, value_of
from kgrag.lab.reproduction import Reproduction, measured_from
from kgrag.models.facts import key
from kgrag.models.prompted import framed
from kgrag.retrieval.base import Query, Scored
from kgrag.retrieval.gnn_ret import GnnRet, GnnRetOptions, Memory, State, nearest
from kgrag.retrieval.kgp import Kgp, KgpOptions
from kgrag.retrieval.sync_ge import SyncGeOptions
from kgrag.settings import ChatSettings, Settings
from kgrag.values.documents import Triple
from kgrag.values.results import Passage, Usage

FACTS = (Triple("a", "b", "c"), Triple("d", "e", "f"))


def ranked(*ids: str) -> list[Scored]:
    return [Scored(id, 1.0) for id in ids]


def passages(*ids: str) -> dict[str, Passage]:
    return {id: Passage(id, id, id.upper(), f"Text of {id}.") for id in ids}


class Base:
    """A retriever that returns the same hits for every query."""

    name = "base"
    scale = "cosine"
    context = SimpleNamespace(current=lambda read: read())

    def __init__(self, *ids: str) -> None:
        self.ids = ids

    def rank(self, query: Query, n: int) -> list[Scored]:
        return ranked(*self.ids)[:n]

    ranked = rank

    def passages(self, ids: Sequence[str]) -> Mapping[str, Passage]:
        return passages(*ids)


class Told:
    """Tasks that record their input, and always return the same reply."""

    def __init__(self, reply: Any = "") -> None:
        self.reply = reply
        self.given: list[dict[str, Any]] = []

    def with_listener(self, listener: object) -> "Told":
        return self

    def structured(self, task: str, kind: Any, prompt: str = "", **values: Any) -> Any:
        self.given.append(values)
        return kind.model_validate(self.reply)

    def text(self, task: str, prompt: str = "", **values: Any) -> str:
        self.given.append(values)
        return str(self.reply)


def made(kind: Any, **given: Any) -> Any:
    """Make an object without its `__init__`, which requires a graph."""
    one = object.__new__(kind)
    for name, value in given.items():
        setattr(one, name, value)
    return one


def inquiry(base: Base, llm: Told | None = None) -> QuestionContext:
    return QuestionContext(Query("Who?"), base, 8, lambda event: None, llm)  # type: ignore[arg-type]


def scores(found: Sequence[Scored]) -> dict[str, float]:
    return {x.id: x.score for x in found}


def gear(**given: Any) -> Any:
    sync = SimpleNamespace(settings=SyncGeOptions(), context=Base.context)
    return made(_Gear, inquiry=inquiry(Base("p", "t2")), sync=sync, memory={key(f): f for f in FACTS}, **given)


def test_equation_9_of_gear_sums_over_all_lists() -> None:
    links = dict(zip(map(key, FACTS), (ranked("a", "b"), ranked("c", "b")), strict=True))
    agent = gear(settings=GearOptions(fusion="all"), _links=links, rankings=[ranked("d", "b")])
    assert scores(agent.finalise()) == pytest.approx({"b": 3 / 62, "a": 1 / 61, "c": 1 / 61, "d": 1 / 61})
    agent.settings = GearOptions(fusion="balanced")
    assert scores(agent.finalise()) == pytest.approx({"b": 1 / 61 + 1 / 62, "d": 1 / 61, "a": 1 / 62, "c": 1 / 63})
    best = balanced([], [ranked("a", "b", "c"), ranked("c", "b")], 60)  # by the best rank of a passage in any step
    assert [x.id for x in best] == ["c", "a", "b"]


def test_what_kgp_wants_next_is_told_by_the_question_and_the_path() -> None:
    path = list(passages("a", "b").values())
    by_words, encoder = (made(Kgp, settings=KgpOptions(guide=guide)) for guide in ("words", "encoder"))
    assert by_words._next_queries(Query("Who?"), [path]) == ["Who?"]
    assert encoder._next_queries(Query("Who?"), [path, path[1:]]) == [
        "Who?\nA: Text of a.\nB: Text of b.",
        "Who?\nB: Text of b.",
    ]
    llm = Told("What follows.")
    chat = made(Kgp, settings=KgpOptions(guide="chat"), context=SimpleNamespace(llm=llm))
    assert chat._next_queries(Query("Who?"), [path]) == ["What follows."]
    assert llm.given == [{"question": "Who?", "evidence": framed("A: Text of a.\n\nB: Text of b.")}]


@pytest.mark.parametrize(("kind", "options"), [(_SelfAsk, SelfAskOptions), (_Rgnn, RgnnOptions)])
def test_a_single_question_is_answered_from_what_is_found_for_it_alone(kind: Any, options: Any) -> None:
    llm = Told({"enough": False})
    agent = kind(inquiry(Base(), llm), options(passages=1))
    for query, found in (("one", ranked("a", "x")), ("two", ranked("b", "x"))):
        agent.absorb(query, found)
    shown = [given["passages"] for given in llm.given if "passages" in given]
    assert [[id for id in "abx" if f"Text of {id}." in text] for text in shown] == [["a"], ["b"]]
    assert [x.id for x in agent.finalise()] == ["a", "b"]


def test_equation_4_of_rgnn_looks_behind_what_moved_away() -> None:
    """a is the nearest by the vector alone, but farther than b after adding messages."""
    near = {"a": 0.9, "b": 0.8, "c": 0.7}
    reader = SimpleNamespace(vector=lambda vector, n, *_: list(near.items())[:n])
    retriever = made(GnnRet, settings=GnnRetOptions(), context=SimpleNamespace(reader=reader))
    found = retriever._add_up(Memory(np.array([1.0, 0.0]), {"a": 0.5}, {"a": State(0.7, ())}), Query("Who?"), 1)
    assert {id: found[id].distance for id in nearest(found)} == pytest.approx({"b": 0.4, "a": 0.7})


def test_thoughts_of_bdtr_come_from_the_pool_so_far() -> None:
    llm = Told({"fast": "f", "slow": "s"})
    agent = _Bdtr(inquiry(Base(), llm), BdtrOptions(read=1))
    agent.next_queries()
    for id, score in (("a", 0.5), ("b", 0.9), ("c", 0.1)):
        agent.absorb("?", [Scored(id, score)])
        agent.next_queries()
    shown = [given["passages"] for given in llm.given]
    assert ["Text of a." in text for text in shown] == [True, False, False]
    assert ["Text of b." in text for text in shown] == [False, True, True]
    assert [given["thoughts"] for given in llm.given] == ["(none)", "f\ns", "f\ns\nf\ns"]
    wide = _Bdtr(inquiry(Base(*"abcdefghijkl")), BdtrOptions(pool=10))  # 8 is the final number
    assert len(wide.retrieve(Query("?"))) == 10
    turns = _IterRetgen(inquiry(Base()), IterRetgenOptions(passages=1))
    turns.absorb("?", ranked("a", "b"))
    assert [x.id for x in turns.finalise()] == ["a"]


def test_rows_of_a_table_have_their_own_settings_and_each_set_its_own_values() -> None:
    paper = find_paper("gear")
    lengths = {}
    for change, rows in Reproduction(paper, paper.table("8")).parts():
        settings = change(paper.apply(Settings(_env_file=None)))  # type: ignore[call-arg]
        lengths |= {row.label: value_of(settings, ("retrieval", "sync_ge", "length")) for row in rows}
    assert lengths == {f"l = {length}, n = {n}": length for length in (2, 3, 4) for n in (1, 2, 3, 4)}
    models = Reproduction(paper, paper.table("9"), ["Llama-3.1-8B"], {"llama": "small"})
    ((change, _),) = models.parts()
    chat = change(Settings(_env_file=None, chat=ChatSettings(model="mine"))).chat  # type: ignore[call-arg]
    assert (chat.model, chat.models) == ("small", {"grade": "mine"})  # one model grades all rows
    other = find_paper("gnn-ret")
    assert Reproduction(other, other.table("1"))._options()["depth"] == 100
    table = Reproduction(paper, paper.table("2"))
    row = next(row for row in table.rows if row.label == "GEAR")
    assert [table._system(row, place, "R@5") for place in range(3)] == [f"gear(steps={n})+rrf" for n in (4, 2, 2)]


def test_numbers_of_a_cell_and_what_was_spent(monkeypatch: pytest.MonkeyPatch) -> None:
    """A sweep fails on the second of three data sets, and on one refused value of a setting."""
    asked: list[dict[str, Any]] = []
    lines = {"bm25": {"1": "bm25(a=1)", "2": "bm25(a=2)"}}
    result = SimpleNamespace(
        rows={"bm25": {"R@5": 50.0}, "dense": {"R@50": 70.0}}, errors={"bm25": {"q1": "x", "q2": "y"}},
        failed={"bm25(a=1)": "No."}, refused={}, sweep=SimpleNamespace(lines=lines), about={}, records=[],
        marking=Usage(2, 0, 10, 1, 0.5), problems={},
    )  # fmt: skip

    def experiment(systems: object, data: object, **options: Any) -> Any:
        asked.append(options)
        return SimpleNamespace(run=lambda progress, collection: result)

    monkeypatch.setattr("kgrag.lab.reproduction.Experiment", experiment)
    rows = (PaperRow("B", ((1.0, 2.0), (40.0, 60.5)), "bm25"), PaperRow("D", ((3.0, 4.0), (5.0, 6.0)), "dense"))
    run = Reproduction(find_paper("kgp"), PaperTable("1", "", ("musique", "2wiki"), ("R@5", "R@50"), rows))
    info = SimpleNamespace(info=lambda: SimpleNamespace(counts={"Passage": 3}))
    run.measure("2wiki", SimpleNamespace(questions=()), info, run.rows, lambda *_: None)  # type: ignore[arg-type]
    assert asked[0]["depth"] == 50
    assert run.cells["B"]["2wiki"] == {"R@5": (40.0, 50.0), "R@50": (60.5, None)}
    assert run.cells["D"]["2wiki"]["R@50"] == (6.0, 70.0)
    (shown,) = run.frames().values()
    assert shown.loc[("B", "2wiki")].tolist()[:4] == [40, 50, 10, 60.5] and shown.isna().loc[("B", "2wiki")].sum() == 2
    assert run.missing == {"bm25(a=1) (2wiki)": "No."}
    assert (run.errors, run.plain([])["calls"], run.plain([])["tokens"]) == (2, 2, 11)


def test_hours_and_groups_of_a_measure() -> None:
    rows = {"a": {"wall_s": 7200.0, "R@15": 50.0}}
    groups = {"density": {"< 9": {"a": {"R@15": 10.0}}, "9-11": {"a": {"R@15": 20.0}}}}
    result = SimpleNamespace(rows=rows, groups=groups)
    assert measured_from(result, "a", "hours", None) == 2.0  # type: ignore[arg-type]
    assert measured_from(result, "a", "R@15", None) == 50.0  # type: ignore[arg-type]
    assert measured_from(result, "a", "R@15 9-11", "density") == 20.0  # type: ignore[arg-type]
    assert measured_from(result, "a", "R@15 >= 13", "density") is None  # type: ignore[arg-type]
