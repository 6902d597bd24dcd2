"""kgrag lab eval --system, from the command to the tables, with a scripted language model."""

import json
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from click.testing import Result
from command_line import run_kgrag
from question_set import CORPUS, TRIPLES, evaluated, write_set
from scripted import TASKS, Scripted

from kgrag import KnowledgeGraph

pytestmark = [pytest.mark.long, pytest.mark.usefixtures("evaluations_are_deleted")]

QUERIES = [
    {"id": "q1", "question": "Where was the designer of the Fram born?", "gold": ["fram", "archer"]},
    {"id": "q2", "question": "On which coast is the town Larvik?", "gold": ["larvik"]},
    {"id": "q3", "question": "Who designed the Fram?", "gold": ["fram"]},
]
ANSWERS: dict[str, list[str]] = {"q1": ["Larvik", "in Larvik, Norway"], "q2": ["Norway"], "q3": ["Colin Archer"]}
KNOWN = [{**q, "answers": ANSWERS[str(q["id"])]} for q in QUERIES]
BRAIN = """
def reply(task, messages, request):
    if task == "answer":
        return "{silent}" if "coast is" in messages[-1]["content"] else None
"""
Evaluate = Callable[..., Result]


@pytest.fixture
def evaluate(neo4j_env: dict[str, str], scripted: Scripted) -> Evaluate:
    scripted.say("read", {"triples": [["Fram", "designed by", "Colin Archer"]]})
    scripted.say("reason", {"answerable": False, "why": "It is not known where he was born."})
    scripted.say("rewrite", "Where was Colin Archer born?")
    scripted.say("think", "So the answer is: Larvik")
    scripted.say("answer", "Larvik.")

    def run(*arguments: object, code: int = 0, **chat: Any) -> Result:
        env = {**neo4j_env, **scripted.env(**chat), "COLUMNS": "200"}
        return run_kgrag(env, "lab", "eval", *arguments, code=code)

    return run


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A question set with answers."""
    return write_set(tmp_path / "answered", CORPUS[:3], KNOWN, TRIPLES)


def tokens(calls: list[dict[str, Any]], *said: str) -> int:
    """Return the counts of the scripted server: words of the prompts and of its replies."""
    asked = " ".join(message["content"] for call in calls for message in call["messages"])
    return len(asked.split()) + len(" ".join(said).split())


def test_answers_iterations_and_usage_by_hand(evaluate: Evaluate, folder: Path, scripted: Scripted) -> None:
    result = evaluate(folder, "--system", "gear(steps=2, reread=true)+bm25", "-r", "bm25", "--limit", 1, "--json")
    found = json.loads(result.stdout)
    assert list(found["systems"]) == ["bm25", "gear(steps=2, reread=true)+bm25"]
    assert "EM" not in found["systems"]["bm25"]
    row = found["systems"]["gear(steps=2, reread=true)+bm25"]
    assert (row["R@5"], row["EM"], row["F1"], row["questions"]) == (100, 100, 100, 1)
    llm = scripted.tasks
    assert llm == ["read", "reason", "rewrite", "read", "read", "answer"]  # no reasoning after the last step
    assert row["calls"] == 6
    triples = '{"triples": [["Fram", "designed by", "Colin Archer"]]}'
    reason = '{"answerable": false, "why": "It is not known where he was born."}'
    said = [triples, reason, "Where was Colin Archer born?", triples, triples, "Larvik."]
    assert row["tokens"] == tokens(scripted.calls, *said)
    assert (row["cost"], found["threads"]) == (None, 8)
    assert list(found["iterations"]) == ["gear(steps=2, reread=true)+bm25"]
    first, second, after = found["iterations"]["gear(steps=2, reread=true)+bm25"]
    assert (first["calls"], second["calls"], after["calls"]) == (2, 3, 1)
    assert first["tokens"] == tokens(scripted.calls[:2], *said[:2])
    assert second["tokens"] == tokens(scripted.calls[2:5], *said[2:5])
    assert first["tokens"] + second["tokens"] + after["tokens"] == row["tokens"]


def test_a_data_set_without_answers(evaluate: Evaluate, folder: Path) -> None:
    write_set(folder, CORPUS[:3], QUERIES, TRIPLES)
    row = json.loads(evaluate(folder, "--system", "single+bm25", "--json").stdout)["systems"]["single+bm25"]
    assert row["R@5"] == 100
    assert not {"EM", "F1"} & row.keys()


def test_a_later_run_asks_only_what_is_open(
    evaluate: Evaluate, folder: Path, scripted: Scripted, tmp_path: Path
) -> None:
    """One question of three fails; only that one is asked again, and no call with a saved answer is repeated."""
    brain, out = tmp_path / "brain.py", tmp_path / "runs"
    brain.write_text(BRAIN.format(silent=""))
    scripted.brain(brain)
    arguments = [folder, "--system", "single+bm25", "--out", out, "--json"]
    result = evaluate(*arguments)
    found = json.loads(result.stdout)
    assert (found["systems"]["single+bm25"]["errors"], found["systems"]["single+bm25"]["EM"]) == (1, 33.3)
    assert "replied nothing" in found["errors"]["single+bm25"]["q2"]
    assert "single+bm25 failed on 1 questions" in result.stderr
    asked = len(scripted.calls)
    brain.write_text(BRAIN.format(silent="Norway"))
    scripted.brain(brain)
    again = evaluate(*arguments)
    assert "2 of 3 records" in again.stderr
    new = scripted.calls[asked:]
    assert len(new) == 1
    assert "On which coast" in new[0]["messages"][-1]["content"]
    row = json.loads(again.stdout)["systems"]["single+bm25"]
    assert (row["EM"], row.get("errors")) == (66.7, None)
    assert "3 of 3 records" in evaluate(*arguments).stderr
    assert len(scripted.calls) == asked + 1


def test_what_answers_depend_on_has_records_of_its_own(
    evaluate: Evaluate, folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    out, prompts = tmp_path / "runs", tmp_path / "prompts"
    arguments = [folder, "--system", "single+bm25", "--limit", 1, "--out", out]
    evaluate(*arguments)
    assert "1 of 1 records" in evaluate(*arguments, "--threads", 1).stderr
    prompts.mkdir()
    (prompts / "answer-short.txt").write_text("[user]\n$passages\n\nQuestion: $question\nIn $language, $words:")
    assert "records were in" not in evaluate(*arguments, prompts=prompts).stderr
    assert "records were in" not in evaluate(*arguments, temperature=1.0).stderr
    assert "records were in" not in evaluate(*arguments, models={"answer": "reason"}).stderr
    monkeypatch.chdir(tmp_path)
    (tmp_path / "kgrag.toml").write_text("[agents.answer]\nevidence = 2\n")
    assert "records were in" not in evaluate(*arguments).stderr
    assert len(list(out.iterdir())) == 5


def test_answers_are_marked_once(evaluate: Evaluate, folder: Path, scripted: Scripted, tmp_path: Path) -> None:
    """A later run adds grades to saved answers, and saves them."""
    scripted.say("answer", "It is Larvik, I think")
    arguments = [folder, "--system", "single+bm25", "--threads", 1, "--out", tmp_path / "runs"]
    evaluate(*arguments)
    scripted.reset()
    scripted.say("grade", {"correct": True}, {"correct": False})
    marked = evaluate(*arguments, "--grade", "--markdown")
    text = marked.stdout
    assert re.search(r"\| +EM \| +F1 \| +Acc \| +calls \|", text)
    assert "Marking took 3 calls (0 cached), " in marked.stderr
    assert "--system single+bm25 --grade" in text
    assert scripted.tasks == ["grade"] * 3
    assert (
        "Right: Larvik; or in Larvik, Norway\nSaid: It is Larvik, I think"
        in (scripted.calls[0]["messages"][-1]["content"])
    )
    again = json.loads(evaluate(*arguments, "--grade", "--json").stdout)
    row = again["systems"]["single+bm25"]
    assert again["marking"]["calls"] == 0
    assert (row["Acc"], row["EM"], row["calls"]) == (33.3, 0, 1)
    assert len(scripted.calls) == 3
    (file,) = (tmp_path / "runs").iterdir()
    assert [json.loads(line)["answer"]["Acc"] for line in file.read_text().splitlines()[-3:]] == [1, 0, 0]


def test_the_gold_alone_is_read(evaluate: Evaluate, folder: Path, scripted: Scripted) -> None:
    arguments = [folder, "--system", "golden", "--system", "closed-book", "--baseline", "closed-book", "--limit", 1]
    found = json.loads(evaluate(*arguments, "--json").stdout)
    assert list(found["systems"]) == ["golden", "closed-book"]
    row = found["systems"]["golden"]
    assert (row["R@2"], row["MRR"], row["EM"], row["calls"]) == (100, 1, 100, 1)
    shown = scripted.calls[0]["messages"][-1]["content"]
    assert shown.index("Fram (ship)") < shown.index("Colin Archer\n")
    assert "coast" not in shown
    joined = evaluate(folder, "--system", "golden", "--join", 2, "--limit", 1, "--json").stdout
    assert json.loads(joined)["systems"]["golden"]["R@2"] == 100
    assert "Colin Archer was a naval architect" in scripted.calls[-1]["messages"][-1]["content"]


def test_the_sentences_that_support_the_answer_are_read_alone(
    evaluate: Evaluate, scripted: Scripted, tmp_path: Path
) -> None:
    """KGP's Golden with supporting sentences shows only these; the gold passages contain more."""
    said = "Colin Archer was born in Larvik."
    corpus = [{**CORPUS[0]}, {**CORPUS[1], "text": f"He built pilot boats. {said} He was buried there."}]
    supports = [{"passage": "archer", "text": said}]
    folder = write_set(tmp_path / "facts", corpus, [{**KNOWN[0], "supports": supports}], None)
    found = json.loads(evaluate(folder, "--system", "golden-facts", "--system", "golden", "--json").stdout)["systems"]
    facts, passages = (call["messages"][-1]["content"] for call in scripted.calls)
    assert "Colin Archer" in facts.split(said)[0]  # under the title
    assert said in facts
    assert "pilot boats" not in facts
    assert "Fram was" not in facts
    assert "pilot boats" in passages
    assert found["golden-facts"]["EM"] == 100
    write_set(folder, corpus, KNOWN[:1], None)
    evaluate(folder, "--system", "golden-facts")
    assert "pilot boats" in scripted.calls[-1]["messages"][-1]["content"]  # no sentences are known


def test_a_setting_is_varied(evaluate: Evaluate, folder: Path, tmp_path: Path) -> None:
    arguments = [folder, "-r", "kgp", "-r", "bm25", "--vary", "branch=1,2", "--json"]
    assert list(json.loads(evaluate(*arguments).stdout)["systems"]) == ["kgp(branch=1)", "kgp(branch=2)", "bm25"]
    assert "vary replaces the baseline kgp" in evaluate(*arguments, "--baseline", "kgp", code=2).stderr
    system = [folder, "--system", "single+bm25", "--vary", "evidence=1,2", "--limit", 1, "--markdown"]
    text = evaluate(*system, "--plot", tmp_path / "sweep.png").stdout
    assert "| single(evidence=2)+bm25 | " in text
    assert (tmp_path / "sweep.png").stat().st_size > 1000


def test_questions_of_structure_on_files(evaluate: Evaluate, scripted: Scripted, tmp_path: Path) -> None:
    """For a set of files, the text under a heading is the gold, and its look-up needs no model."""
    (tmp_path / "documents").mkdir()
    sails, oars = ("Sail cloth of hemp is heavy. " * 60).strip(), ("Oars of *ash* bend. " * 60).strip()
    (tmp_path / "documents" / "notes.md").write_text(f"# Rigging\n\n## Sails\n\n{sails}\n\n## Oars\n\n{oars}\n")
    plain = f"Oars {oars.replace('*', '')}"
    asked = {"What does section 2 say?": plain, "Show section 7": plain, "How heavy is hemp?": [sails, plain]}
    rows = [
        {"id": f"q{n}", "question": q, "gold": ["notes.md"], "answers": ["x"], "structure": text}
        for n, (q, text) in enumerate(asked.items())
    ]
    (tmp_path / "queries.jsonl").write_text("".join(f"{json.dumps(row)}\n" for row in rows))
    arguments = [tmp_path, "--system", "look-up", "--system", "golden", "--out", tmp_path / "runs", "--json"]
    found = json.loads(evaluate(*arguments).stdout)["systems"]
    again = json.loads(evaluate(*arguments).stdout)["systems"]
    assert (found["look-up"]["Struct-EM"], found["golden"]["Struct-EM"]) == (33.3, 100)
    assert again["look-up"]["Struct-EM"] == 33.3
    assert found["look-up"]["R@5"] == 33.3
    assert found["look-up"]["calls"] == 0
    assert len(scripted.calls) == 3


def test_threads_are_calls_at_once(evaluate: Evaluate, folder: Path, scripted: Scripted) -> None:
    scripted.delay(0.3)
    evaluate(folder, "--system", "single+bm25", "--threads", 1)
    assert scripted.most_under_way == 1
    evaluate(folder, "--system", "single+bm25", "--threads", 3)
    assert scripted.most_under_way == 3


def test_a_budget_ends_the_run_before_it_is_crossed(
    evaluate: Evaluate, folder: Path, scripted: Scripted, tmp_path: Path
) -> None:
    prices = dict.fromkeys(["other", *TASKS], (1.0, 0.0))
    arguments = [folder, "--system", "single+bm25", "--threads", 1, "--out", tmp_path / "runs"]
    assert "no price" in evaluate(*arguments, "--budget", 1, code=2).stderr
    result = evaluate(*arguments, "--budget", "0.000001", code=7, prices=prices)
    assert "of the budget of 1e-06" in result.stderr
    assert "the same command goes on" in result.stderr
    assert scripted.calls == []
    row = json.loads(evaluate(*arguments, "--budget", 1, "--json", prices=prices).stdout)["systems"]["single+bm25"]
    assert row["questions"] == len(scripted.calls) == 3
    assert row["cost"] == pytest.approx(tokens(scripted.calls) / 1e6, abs=1e-4)


@pytest.mark.parametrize(
    ("arguments", "chat", "code", "words"),
    [
        (["--system", "nonsense"], {}, 4, ["nonsense", "gear+pathrank"]),
        (["--system", "gear+nonsense"], {}, 4, ["nonsense"]),
        (["--system", "gear", "--baseline", "gear+nonsense"], {}, 4, ["nonsense"]),
        (["--system", "gear"], {"model": None}, 2, ["No language model", "KGRAG_CHAT__MODEL"]),
        (["--system", "gear", "--threads", "0"], {}, 2, ["--threads"]),
        (["--system", "gear", "--budget", "-1"], {}, 2, ["--budget"]),
        (["--system", "golden"], {"model": None}, 2, ["No language model", "KGRAG_CHAT__MODEL"]),
        (["--system", "look-up", "--grade"], {"model": None}, 2, ["No language model"]),
        (["-r", "bm25", "--grade"], {}, 2, ["grade marks the answers of systems"]),
        (["-r", "bm25", "--vary", "branch=1"], {}, 2, ["None of bm25 has a setting 'branch'"]),
        (["-r", "kgp", "--vary", "branch=0"], {}, 2, ["branch=0 is invalid"]),
    ],
)
def test_what_cannot_be_asked_is_said_before_anything_is_ingested(
    evaluate: Evaluate, folder: Path, kg: KnowledgeGraph, arguments: list[str], chat: Any, code: int, words: list[str]
) -> None:
    before = evaluated(kg)
    result = evaluate(folder, *arguments, "--json", code=code, **chat)
    assert result.stdout == ""
    assert all(word in result.stderr for word in words)
    assert evaluated(kg) == before
