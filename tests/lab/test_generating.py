"""Questions generated from a collection: their kinds, rejected drafts, resumed runs, and the resulting set."""

import json
import random
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from command_line import run_kgrag
from scripted import TASKS, Scripted

from kgrag import KnowledgeGraph
from kgrag.lab.generating import estimate, from_opinions, generate
from kgrag.lab.question_templates import FORMULATIONS, Draft, draw_kind, select
from kgrag.lab.readers import read_dataset
from kgrag.settings import Settings
from kgrag.text.languages import ENGLISH
from kgrag.values.documents import Document, Section, Table, Triple
from kgrag.values.errors import InputError
from kgrag.values.events import Answer, Citation, no_progress
from kgrag.values.results import Ranking

pytestmark = pytest.mark.long

BRAIN = Path(__file__).with_name("question_brain.py")
FACTS = {
    title: (text, Triple(*fact.split(" | ")))
    for title, text, fact in (
        ("Fram", "The Fram was designed by Colin Archer. It lies in Oslo.", "Fram | designed by | Colin Archer"),
        ("Maud", "The Maud was designed by Jensen at Vollen near Oslo.", "Maud | designed by | Jensen"),
        ("Pollux", "The Pollux was designed by Colin Archer for seals.", "Pollux | designed by | Colin Archer"),
        ("Colin Archer", "Colin Archer grew up in the port of Larvik.", "Colin Archer | grew up in | Larvik"),
        ("Larvik", "Larvik is a port on the Skagerrak, south of Oslo.", "Larvik | lies on | Skagerrak"),
    )
}


@pytest.fixture(scope="module")
def ships(kg: KnowledgeGraph, fill: Callable[..., str]) -> Any:
    """Five short documents with facts, and one with a table."""
    rows = (("Ship", "Length"), ("Fram", "39 m"), ("Maud", "36 m"))
    documents = [Document(t, (Section(text),), title=t, triples=(fact,)) for t, (text, fact) in FACTS.items()]
    documents.append(
        Document(
            "list",
            (Section("The museum measured its ships."),),
            title="Lengths",
            tables=(Table(1, rows, "Museum ships"),),
        )
    )
    fill("question-ships", documents)
    return kg["question-ships"]


@pytest.fixture
def asked(kg: KnowledgeGraph, ships: Any, graph_settings: Settings, scripted: Scripted) -> Iterator[Any]:
    """The same with a model that writes a question on the first words of each text, and calls each sound."""
    scripted.brain(BRAIN)
    with KnowledgeGraph.connect(settings=graph_settings.model_copy(update={"chat": scripted.settings()})) as client:
        yield client[ships.name]


def test_kinds_are_drawn_by_normalised_weights() -> None:
    lot = random.Random(3)
    kinds = [draw_kind(lot) for _ in range(8000)]
    formulations = Counter(kind.formulation.name for kind in kinds)
    assert len(formulations) == len(FORMULATIONS) == 8
    assert all(0.105 < count / 8000 < 0.145 for count in formulations.values())  # an eighth each, not a tenth
    types = Counter(kind.answer_type.name for kind in kinds)
    assert types["comparison"] > types["multi-aspect"] > types["factoid"]
    assert 0.27 < Counter(kind.premise.name for kind in kinds)["premise"] / 8000 < 0.33


def test_leaks_duplicates_and_needless_passages_are_dropped_and_counted() -> None:
    good = Draft(
        "Where did the designer of the Fram grow up?", "Larvik", ("a", "b"), "path-following", needed=("a", "b")
    )
    drafts = [
        good,
        Draft("Where did the Fram's designer grow up?", "Larvik", ("b", "a"), "path-following"),
        Draft("Where did the designer of the Fram, a ship, retire?", "Larvik", ("a", "b"), "path-following"),
        Draft("Which port is Larvik on the Skagerrak?", "The port of Larvik", ("a",), "factoid"),
        Draft("Which is longer, the Fram or the Maud?", "The Fram", ("a", "b"), "comparison"),
        Draft("Where is the Maud?", "Oslo", ("a", "b"), "multi-aspect", needed=("a",)),
        Draft("What does the passage say?", "Nothing", ("a",), "factoid"),
        Draft("Who was it?", "Nobody", ("a",), "factoid", sound=False),
        Draft("", "Nobody", ("a",), "factoid"),
    ]
    found = select(drafts, 10, ENGLISH)
    assert [draft.question for draft in found.kept] == [drafts[0].question, drafts[2].question, drafts[4].question]
    assert found.dropped == {
        "asked before": 1, "gives its answer away": 1, "needs fewer passages": 1, "speaks of its texts": 1,
        "not sound by the second reading": 1, "no question or no answer": 1,
    }  # fmt: skip


def test_templates_ask_facts_chains_comparisons_cells_and_gaps(ships: Any, tmp_path: Path) -> None:
    report = generate(ships, tmp_path / "set", 100, seed=1, ask=False, progress=no_progress)
    data = read_dataset(tmp_path / "set")
    asked = {q.text: q for q in data.questions}
    assert report.questions == len(asked) == 100 - report.left
    chain = asked['"Fram", designed by: X. X, grew up in: what?']
    titles = {d.key: d.title for d in data.documents() if isinstance(d, Document)}
    assert ([titles[key] for key in chain.path], chain.answers, chain.hops) == (
        ["Fram", "Colin Archer"],
        ("Larvik",),
        2,
    )
    assert chain.singles == ('"Fram", designed by: what?', '"Colin Archer", grew up in: what?')
    same = asked['Is it the same for both: "Fram", designed by: what? and "Pollux", designed by: what?']
    assert (same.answers, same.type) == (("yes",), "comparison")
    cell = asked['By the table "Lengths, Museum ships": Ship "Maud", what is its Length?']
    assert (cell.answers, [titles[key] for key in cell.gold]) == (("36 m",), ["Lengths"])
    gaps = [q for q in data.questions if "____" in q.text]
    assert gaps and all(q.answers[0] not in q.text for q in gaps)
    assert any(d.triples for d in data.documents() if isinstance(d, Document))
    again = generate(ships, tmp_path / "again", 100, seed=1, ask=False, progress=no_progress)
    assert (tmp_path / "again" / "queries.jsonl").read_text() == (tmp_path / "set" / "queries.jsonl").read_text()
    assert again.by_type == report.by_type and set(report.by_type) >= {"factoid", "comparison", "path-following"}


def test_a_model_writes_from_tied_passages_and_reads_them_again(asked: Any, scripted: Scripted, tmp_path: Path) -> None:
    report = generate(asked, tmp_path / "set", 8, seed=2, progress=no_progress)
    assert (report.questions, report.left, report.failures) == (8, 0, ())
    calls = Counter(call["task"] for call in scripted.calls)
    assert calls["make-question"] == calls["check-question"] == report.usage.calls / 2
    assert report.usage.calls == 2 * (8 + sum(report.dropped.values()))
    rows = [json.loads(line) for line in (tmp_path / "set" / "queries.jsonl").read_text().splitlines()]
    pairs = [row for row in rows if len(row["gold"]) == 2]
    assert pairs and all(row["type"] != "factoid" for row in pairs)
    assert all(row["supports"] and row["user"] and row["formulation"] for row in rows)
    tied = [call for call in scripted.calls if "What ties the texts: " in call["messages"][-1]["content"]]
    assert len(tied) >= len(pairs)
    assert read_dataset(tmp_path / "set").unreachable(read_dataset(tmp_path / "set").questions) == {}


def test_an_interrupted_run_goes_on_and_gives_the_same_set(asked: Any, scripted: Scripted, tmp_path: Path) -> None:
    generate(asked, tmp_path / "whole", 8, seed=2, progress=no_progress)
    whole = (tmp_path / "whole" / "queries.jsonl").read_text()
    folder = tmp_path / "parts"
    generate(asked, folder, 3, seed=2, progress=no_progress)
    ledger = folder / ".drafts.jsonl"
    ledger.write_text(ledger.read_text()[:-20])  # a kill in the middle of a line
    before = len(scripted.calls)
    kept = len(ledger.read_text().splitlines()) - 2
    report = generate(asked, folder, 8, seed=2, progress=no_progress)
    assert (folder / "queries.jsonl").read_text() == whole
    drafts = len(ledger.read_text().splitlines()) - 1
    assert len(scripted.calls) - before == 2 * (drafts - kept) == report.usage.calls
    before = len(scripted.calls)
    assert generate(asked, folder, 8, seed=2, progress=no_progress).questions == 8
    assert len(scripted.calls) == before
    with pytest.raises(InputError, match="seed"):
        generate(asked, folder, 8, seed=3, progress=no_progress)
    (tmp_path / "own").mkdir()
    (tmp_path / "own" / "corpus.jsonl").write_text("mine")
    with pytest.raises(InputError, match="another question set"):
        generate(asked, tmp_path / "own", 8, progress=no_progress)
    assert (tmp_path / "own" / "corpus.jsonl").read_text() == "mine"


def test_a_model_that_is_gone_or_talks_nonsense_is_told_and_nothing_is_lost(
    asked: Any, scripted: Scripted, tmp_path: Path
) -> None:
    scripted.fail(*["bad-json"] * 2, task="make-question")
    report = generate(asked, tmp_path / "set", 4, seed=2, threads=1, progress=no_progress)
    assert report.failures and "usable JSON" in report.failures[0].reason
    assert report.questions == 4  # another draw replaced it


def test_the_command_prices_makes_and_stops_at_the_budget(
    asked: Any, scripted: Scripted, neo4j_env: dict[str, str], tmp_path: Path
) -> None:
    prices = dict.fromkeys((*TASKS, "other"), (1000.0, 1000.0))
    env = {**neo4j_env, **scripted.env(prices=prices)}

    def run(*more: str, code: int = 0) -> Any:
        command = ["lab", "generate-questions", asked.name, "-n", 6, "--out", tmp_path / "set"]
        return run_kgrag(env, *command, *more, code=code)

    priced = json.loads(run("--dry-run", "--json").stdout)["tasks"]
    assert priced["make-question"]["calls"] == priced["check-question"]["calls"] == 6
    assert priced["make-question"]["cost"][0] > 0
    assert not scripted.calls
    assert estimate(asked, 6, progress=no_progress)["make-question"].calls == 6
    stopped = run("--budget", "2", "--threads", "1", code=7)
    assert "budget" in stopped.stderr and "questions left" in stopped.stderr
    assert json.loads(run("--json").stdout)["questions"] == 6
    found = run_kgrag(env, "lab", "eval", tmp_path / "set", "-r", "bm25", "--by", "type", "--json")
    assert json.loads(found.stdout)["systems"]["bm25"]["R@5"] > 50


def test_good_answers_are_a_question_set(ships: Any, neo4j_env: dict[str, str], tmp_path: Path) -> None:
    with pytest.raises(InputError, match="Nobody called"):
        from_opinions(ships, tmp_path / "none")
    hits = ships.search("Who designed the Fram?", retriever="bm25", k=3).hits
    ranking = Ranking("", "bm25", hits)
    said = [
        ("Who designed the Fram?", "Colin **Archer** [1].", (1,), True),
        (
            "Where does the Fram lie?",
            "It lies in Oslo, and it was designed by Colin Archer, as they say [1].",
            (1,),
            True,
        ),
        ("who designed the fram? ", "Archer did [2].", (2,), True),
        ("Who sank it?", "Nobody.", (), True),
        ("Who sold it?", "Jensen [1].", (1,), False),
    ]
    runs = []
    try:
        for question, text, cited, good in said:
            citations = tuple(Citation(number, hits[number - 1].passage) for number in cited)
            runs.append(ships.save(Answer(question, text, True, "single+bm25", ranking, citations)))
            ships.rate(runs[-1], good=good)
        report = from_opinions(ships, tmp_path / "rated")
        assert (report.questions, dict(report.dropped)) == (2, {"asked again": 1, "without a passage": 1})
        dataset = read_dataset(tmp_path / "rated")
        found = {its.text.strip(): (its.gold, its.answers) for its in dataset.questions}
        assert found == {
            "Where does the Fram lie?": ((hits[0].passage.id,), ()),
            "who designed the fram?": ((hits[1].passage.id,), ("Archer did",)),
        }
        assert len(dataset.keys) == ships.info().counts["Passage"]
        command = ["lab", "generate-questions", ships.name, "--from-opinions", "--out", tmp_path / "again"]
        assert "2 questions" in run_kgrag(neo4j_env, *command).output
    finally:
        ships.kg.delete_runs(runs)
