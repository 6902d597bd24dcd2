"""Experiments as a Python user runs them: objects and names together; the result as values, tables, a picture."""

from dataclasses import replace
from importlib.metadata import EntryPoint
from pathlib import Path
from typing import Any

import pytest
from question_set import CORPUS, QUERIES, write_set
from test_asking import ONE_STEP, Scripted
from test_retrieving import Fixed

from kgrag import Collection, Dense, Experiment, KnowledgeGraph, read_dataset
from kgrag.lab.datasets import Dataset
from kgrag.lab.records import in_force
from kgrag.lab.retrieving import retrieve_all
from kgrag.lab.variants import PERTURBATIONS, join, merge
from kgrag.models.prompted import Listener
from kgrag.retrieval.base import RETRIEVERS, VectorOptions
from kgrag.runtime.options import Count
from kgrag.values.errors import ConfigurationError, NotFoundError
from kgrag.values.events import Answer
from kgrag.wire import dumps

pytestmark = pytest.mark.long


class Best(Fixed):
    """A user's own retriever."""

    def __init__(self, name: str, *documents: str) -> None:
        super().__init__(*documents)
        self.name = name


class Oracle:
    """A user's own system, which gives every question the same answer."""

    name = "oracle"

    def ask(
        self, question: str, /, *, short: bool = False, depth: int = 15, listener: Listener | None = None
    ) -> Answer:
        return replace(ONE_STEP, question=question)


@pytest.fixture
def data(tmp_path: Path) -> Dataset:
    return read_dataset(str(write_set(tmp_path / "small", CORPUS[:3], QUERIES[:2])))


@pytest.fixture
def searched(kg: KnowledgeGraph, data: Dataset, collection_name: str) -> Collection:
    return data.ingest(kg, collection=collection_name).collection


def test_objects_need_no_collection_and_the_result_is_plain(data: Dataset, tmp_path: Path) -> None:
    found = Experiment(
        [Oracle(), Best("all", "fram", "archer", "larvik"), Best("one", "larvik")],
        data,
        baseline=Best("none", "x"),
        by=("type", "hops"),
        seed=3,
    ).run()
    frames = found.frames()
    main = frames["small: 2 questions, 8 threads"]
    assert list(main.index) == ["all", "one", "none", "oracle"] and main["R@5"].tolist()[:2] == [100, 50]
    assert main.loc["one", "questions"] == 2 and main["EM"].notna().tolist() == [False, False, False, True]
    assert frames["by hops"].loc[("2", "one"), "R@5"] == found.groups["hops"]["2"]["one"]["R@5"]
    assert (found.baseline, found.differences["all"]["R@5"].value) == ("none", 100)
    assert list(found.groups["hops"]) == ["1", "2"]
    assert [(r.system, r.question.id) for r in found.records[:2]] == [("all", "q1"), ("all", "q2")]
    form = found.values()
    assert (form["version"], form["dataset"], form["depth"], form["seed"]) == (1, "small", 15, 3)
    assert "Neo4j" not in form["machine"]
    assert dumps(form)
    assert "| all " in str(found)
    html = found._repr_html_()
    assert html.count("<table ") == len(frames) == 6
    assert "<p>small: 2 questions, 8 threads</p>" in html
    pytest.importorskip("matplotlib")
    found.plot(tmp_path / "recall.svg")
    assert "oracle" in (tmp_path / "recall.svg").read_text()


def test_names_are_looked_up_in_the_collection(data: Dataset, searched: Collection) -> None:
    systems = ["look-up", " rrf( bm25,dense )", Best("mine", "fram", "archer")]
    found = Experiment(systems, data, collection=searched, baseline="bm25", by=["density"]).run()
    assert list(found.rows) == ["rrf(bm25, dense)", "mine", "bm25", "look-up"]
    assert found.title == "small: 2 questions, wordllama, 8 threads"
    assert found.about == {"dataset": "small", "embedder": "wordllama", "collection": searched.name}
    assert "Neo4j" in found.conditions["machine"]
    by_hand = retrieve_all({"bm25": searched.retriever("bm25")}, data.questions, lambda *_: None)
    assert [r.ranks for r in found.records if r.system == "bm25"] == [r.ranks for r in by_hand]


def test_a_run_goes_on_in_its_folder(data: Dataset, searched: Collection, tmp_path: Path) -> None:
    first = Experiment(["bm25"], data.first(1), collection=searched, out=tmp_path / "runs").run()
    assert first.notes == ()
    mine = Best("mine", "fram")
    again = Experiment(["bm25", mine], data, out=str(tmp_path / "runs")).run(collection=searched)
    assert again.notes == (f"1 of 4 records were in {tmp_path / 'runs'} already.",)
    assert Experiment([mine], data, collection=searched, out=tmp_path / "runs").run().records == tuple(
        replace(r, seconds=round(r.seconds, 6)) for r in again.records if r.system == "mine"
    )


class Wider(VectorOptions):
    over_fetch: Count = 51


class OtherDense(Dense):
    """A package's retriever under an existing name."""

    options = Wider


def test_records_under_other_defaults_are_not_taken_for_todays(
    data: Dataset, searched: Collection, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    names = ["bm25", "dense", "rrf(bm25, dense)"]

    def kept(collection: Collection = searched) -> list[int]:
        """Return how many records of each system existed already."""
        return [
            sum(int(note.split()[0]) for note in experiment.run(collection=collection).notes)
            for experiment in (Experiment([name], data, out=tmp_path / "runs") for name in names)
        ]

    assert kept() == [0, 0, 0]
    assert kept() == [2, 2, 2]
    with monkeypatch.context() as patch:
        patch.setitem(
            RETRIEVERS._entry_points, "dense", EntryPoint("dense", "test_experiment:OtherDense", RETRIEVERS.group)
        )
        assert kept() == [2, 0, 0]
    settings = searched.kg.settings.model_copy(update={"retrieval": {"dense": {"over_fetch": 52}}})
    assert kept(KnowledgeGraph(searched.kg.graph, settings)[searched.name]) == [2, 0, 0]
    assert kept() == [2, 2, 2]


def test_the_options_in_force_are_those_of_all_parts(searched: Collection) -> None:
    def dense(its: dict[str, Any]) -> Any:
        return its["settings"]["over_fetch"]

    fused = in_force(searched.retriever("rrf(bm25, dense(over_fetch=7))"))
    assert [part["class"] for part in fused["parts"]] == ["Bm25", "Dense"]
    assert dense(fused["parts"][1]) == 7
    assert dense(in_force(searched.retriever("communities"))["_dense"][0]) == VectorOptions().over_fetch
    auto = in_force(searched.system("auto(then='ircot(steps=3)')+top(bm25, k=4)"))
    assert auto["_then"][0]["settings"]["steps"] == 3
    assert (auto["retriever"][0]["settings"]["k"], auto["retriever"][0]["parts"][0]["class"]) == (4, "Bm25")


def test_sweeps_and_perturbed_questions(data: Dataset, searched: Collection) -> None:
    experiment = Experiment(["kgp", "bm25"], data, vary="branch=1,2", perturb="lower")
    assert experiment.names == ("kgp(branch=1)", "kgp(branch=2)", "bm25")
    found = experiment.run(collection=searched)
    assert found.sweep is not None
    assert {r.question.text for r in found.records} == {q.text.lower() for q in data.questions}
    assert found.title.endswith("lower case")
    for seed in (0, 3):
        typed = Experiment([Best("mine", "fram")], data, perturb="typo", seed=seed).run()
        assert [r.question for r in typed.records] == [PERTURBATIONS["typo"](q, seed) for q in data.questions]


def test_variants_of_a_corpus_are_ingested_apart(data: Dataset, kg: KnowledgeGraph, tmp_path: Path) -> None:
    texts = [row | {"text": f"Once more: {row['text']}"} for row in CORPUS[1:3]]
    other = read_dataset(write_set(tmp_path / "other", texts, QUERIES[1:2]))
    done = [variant.ingest(kg) for variant in (merge(data, [other]), join(data, 3))]
    try:
        assert [ingested.report.added for ingested in done] == [5, 1]
        found = Experiment(["bm25"], join(data, 3), collection=done[1].collection).run()
        assert found.rows["bm25"]["R@5"] == 100
        again = data.ingest(done[1].collection)
        assert (again.collection.name, again.report.added, again.others) == (done[1].collection.name, 3, 1)
    finally:
        for ingested in done:
            ingested.collection.delete()


def test_a_system_that_fails_on_every_question_is_named(data: Dataset) -> None:
    silent = Scripted({question.text: ValueError("no words") for question in data.questions})
    silent.name = "silent"  # type: ignore[attr-defined]
    found = Experiment([silent, Best("mine", "fram")], data, threads=2).run()  # type: ignore[list-item]
    assert found.failed == {"silent": "ValueError: no words"}


@pytest.mark.parametrize(
    ("systems", "options", "error", "words"),
    [
        (["nonsense"], {}, NotFoundError, "nonsense"),
        (["bm25"], {"baseline": "gear+nonsense"}, NotFoundError, "nonsense"),
        (["bm25"], {"vary": "branch=1"}, ConfigurationError, "None of bm25 has a setting"),
        (["kgp"], {"vary": "branch=1,2", "baseline": "kgp"}, ConfigurationError, "vary replaces the baseline kgp"),
        (["bm25"], {"grade": True}, ConfigurationError, "marks the answers of systems"),
        (["bm25"], {"perturb": "noise"}, ConfigurationError, "typo, lower"),
    ],
)
def test_what_cannot_be_measured_is_said_at_once(
    data: Dataset, systems: list[str], options: dict[str, object], error: type[Exception], words: str
) -> None:
    with pytest.raises(error, match=words):
        Experiment(systems, data, **options)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("systems", "options", "words"),
    [
        (["bm25"], {}, "find 'bm25' without a collection"),
        ([Best("mine")], {"by": ["density"]}, "count triples without a collection"),
        ([Best("mine")], {"out": "runs"}, "keep records without a collection"),
        ([Oracle()], {"grade": True}, "mark answers without a collection"),
        ([Best("mine")], {"by": ["colour"]}, "grouped by 'colour'"),
    ],
)
def test_what_a_collection_is_needed_for(
    data: Dataset,
    systems: list[str | Best | Oracle],
    options: dict[str, object],
    words: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.chdir(tmp_path)
    with pytest.raises(ConfigurationError, match=words):
        Experiment(systems, data, **options).run()  # type: ignore[arg-type]
