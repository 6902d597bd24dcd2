"""Answers graded by a model and by words; agreement with human grades; resumed runs."""

import json
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner
from scripted import TASKS, Scripted

from kgrag.cli import main
from kgrag.lab.grading import LexicalGrader, SaidAnswer, read_answers, read_marks
from kgrag.lab.measures import agreement
from kgrag.values.errors import InputError

FRAM = "Colin Archer designed the Fram, a schooner with three masts, at Larvik in 1892."
PAID = "Colin Archer designed the Fram at Larvik. He was paid 20,000 crowns by the parliament."
ANSWERS = [
    {"id": id, "question": "Who designed the Fram?", "answers": ["Colin Archer"], "said": said, "shown": shown}
    for id, said, shown in (
        ("a", "Colin Archer", [FRAM]),
        ("b", PAID, [FRAM]),
        ("c", "Jensen did.", []),
        ("d", "", [FRAM]),
    )
]
CLAIMS = {"claims": [{"claim": "He designed it.", "supported": True}, {"claim": "He was paid.", "supported": False}]}
BY_HAND = [
    {"id": "a", "correctness": 1},
    {"id": "b", "correctness": 1, "faithfulness": 0.5},
    {"id": "c", "correctness": 0},
]


@pytest.fixture
def files(tmp_path: Path) -> tuple[str, str]:
    for name, rows in (("answers", ANSWERS), ("by-hand", BY_HAND)):
        tmp_path.joinpath(f"{name}.jsonl").write_text("".join(f"{json.dumps(row)}\n" for row in rows))
    return str(tmp_path / "answers.jsonl"), str(tmp_path / "by-hand.jsonl")


def run(*more: str, env: dict[str, str] | None = None) -> Any:
    return CliRunner().invoke(main, ["lab", "grade", *more], env=env)


def test_words_are_the_floor(files: tuple[str, str]) -> None:
    found = json.loads(run(files[0], "--lexical", "--against", files[1], "--json").stdout)
    assert {id: (m["correctness"], m["faithfulness"]) for id, m in found["marks"].items()} == {
        "a": (1, 1), "b": (1, 0.5), "c": (0, None), "d": (0, None),
    }  # fmt: skip
    assert found["marks"]["b"]["unsupported"] == ["He was paid 20,000 crowns by the parliament."]
    assert found["agreement"]["correctness"] == {"answers": 3, "same": 1, "kappa": 1, "error": 0, "correlation": 1}
    assert found["agreement"]["faithfulness"]["answers"] == 1
    half = LexicalGrader().mark(SaidAnswer("x", "Who?", "It was a man called Archer.", ("Colin Archer",)))
    assert (half.correctness, half.faithfulness) == (0.5, None)
    table = run(files[0], "--lexical", "--against", files[1]).stdout
    assert "kappa" in table and "Marked by words" in table


def test_a_model_marks_what_words_cannot_and_its_marks_are_kept(
    files: tuple[str, str], scripted: Scripted, tmp_path: Path
) -> None:
    scripted.say("correctness", {"mark": 3}, {"mark": 1}, {"mark": 0})  # the first is invalid, and is retried
    scripted.say("claims", CLAIMS)
    out = str(tmp_path / "marks.jsonl")
    env = scripted.env()
    found = json.loads(run(files[0], "--threads", "1", "--out", out, "--against", files[1], "--json", env=env).stdout)
    assert {id: (m["correctness"], m["faithfulness"]) for id, m in found["marks"].items()} == {
        "a": (1, 0.5), "b": (0.5, 0.5), "c": (0, None), "d": (0, None),
    }  # fmt: skip
    assert found["marks"]["b"]["unsupported"] == ["He was paid."]
    assert scripted.tasks.count("claims") == 2  # not for "c", which was shown nothing
    assert found["agreement"]["correctness"]["same"] == pytest.approx(2 / 3)
    asked = len(scripted.calls)
    again = run(files[0], "--out", out, env=env)
    assert again.exit_code == 0 and len(scripted.calls) == asked
    other = run(files[0], "--lexical", "--out", out, env=env)
    assert other.exit_code != 0 and "other marks" in other.stderr


def test_marking_is_priced_and_ends_at_the_budget(files: tuple[str, str], scripted: Scripted, tmp_path: Path) -> None:
    scripted.say("correctness", {"mark": 2})
    scripted.say("claims", CLAIMS)
    env = scripted.env(prices=dict.fromkeys((*TASKS, "other"), (1000.0, 1000.0)))
    priced = json.loads(run(files[0], "--dry-run", "--json", env=env).stdout)["tasks"]
    assert (priced["correctness"]["calls"], priced["claims"]["calls"]) == (2, 2)
    assert not scripted.calls
    out = str(tmp_path / "marks.jsonl")
    stopped = run(files[0], "--budget", "0.5", "--out", out, "--threads", "1", env=env)
    assert stopped.exit_code != 0 and "budget" in stopped.stderr and "left" in stopped.stderr
    assert run(files[0], "--out", out, env=env).exit_code == 0


def test_printed_answers_are_read_and_faults_are_told_by_line(tmp_path: Path) -> None:
    path = tmp_path / "answers.jsonl"
    passage = {"title": "Fram", "text": FRAM}
    printed = {"question": "Who?", "text": "Colin Archer [1].", "citations": [{"number": 1, "passage": passage}]}
    path.write_text(json.dumps(printed))
    assert read_answers(path) == [SaidAnswer("1", "Who?", "Colin Archer [1].", (), (f"Fram\n{FRAM}",))]
    path.write_text('{"question": "Who?", "said": "He"}\n{"question": "Who?"}\n')
    with pytest.raises(InputError, match=r"answers\.jsonl:2"):
        read_answers(path)
    path.write_text('{"id": "a", "correctness": 2}\n')
    with pytest.raises(InputError, match="0 to 1"):
        read_marks(path)


def test_agreement_is_beyond_chance() -> None:
    perfect = agreement([0, 0.5, 1, 1], [0, 0.5, 1, 1])
    assert (perfect.same, perfect.kappa, perfect.error) == (1, 1, 0)
    # two graders with weights 0, .5, 1: on average 0.25 apart, 0.375 by chance
    found = agreement([0, 0.5, 1, 1], [0.5, 0.5, 1, 0.5])
    assert found.kappa == pytest.approx(1 / 3)
    constant = agreement([1, 1], [1, 1])
    assert (constant.kappa, constant.correlation) == (None, None)
