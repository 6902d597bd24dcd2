"""kgrag ask, systems, runs."""

import signal
import subprocess
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from command_line import CommandLine
from scripted import Scripted

from kgrag import KnowledgeGraph
from kgrag.values.documents import Document, Section, Triple
from kgrag.values.events import Answer
from kgrag.wire import from_json

QUESTION = "Where did the designer of the Fram live?"
DOCUMENTS = [
    Document(
        "fram",
        (Section("The Fram was designed by Colin Archer. Captains praised her."),),
        title="Fram (ship)",
        metadata={"kind": "ship"},
        triples=(Triple("Fram", "designed by", "Colin Archer"),),
    ),
    Document("archer", (Section("Colin Archer was an architect. He lived in Larvik."),), title="Colin Archer"),
    Document("larvik", (Section("Larvik is a town on the coast of Norway."),), title="Larvik"),
]


@pytest.fixture(scope="module")
def fleet(fill: Callable[..., str]) -> str:
    """A collection that all these tests ask."""
    return fill("fleet", DOCUMENTS)


@pytest.fixture
def asked(cli: CommandLine, scripted: Scripted, fleet: str, kg: KnowledgeGraph) -> Iterator[CommandLine]:
    """The command line with a model that needs two steps; saved runs are deleted afterwards."""
    scripted.say(
        "read",
        {"triples": [["Fram", "designed by", "Colin Archer"]]},
        {"triples": [["Colin Archer", "lived in", "Larvik"]]},
    )
    scripted.say("reason", {"answerable": False, "why": "His home is not known."}, {"answerable": True})
    scripted.say("rewrite", "Where did Colin Archer live?")
    scripted.say("answer", "In Larvik [1]. Archer designed her [2].")
    yield CommandLine({**cli.env, **scripted.env(), "KGRAG_COLLECTION": fleet})
    kg.delete_runs([run.id for run in kg[fleet].runs()])


def test_the_trace_goes_before_and_the_answer_cites(asked: CommandLine, kg: KnowledgeGraph, fleet: str) -> None:
    result = asked("ask", *QUESTION.split(), "--system", "gear+hybrid")
    answer, blank, *cited = result.stdout.splitlines()
    assert (answer, blank, len(cited)) == ("In Larvik [1]. Archer designed her [2].", "", 4)
    ids = {kg.passage(key, fleet).id[:8] for key in ("fram", "archer", "larvik")}
    assert [line.split()[0] for line in cited[::2]] == ["[1]", "[2]"]
    assert {line.split()[1] for line in cited[::2]} <= ids
    assert all(line.startswith("     ") and line.strip() for line in cited[1::2])
    lines = result.stderr.splitlines()
    assert lines[0] == f"gear+hybrid on {fleet}: 14 calls at most, some 35,000 tokens"
    assert lines[1] == f"1  {QUESTION}"
    assert "   fact     Fram | designed by | Colin Archer" in lines
    assert "   not yet  His home is not known." in lines
    second = next(i for i, line in enumerate(lines) if line.startswith("2  Where did Colin Archer live?  (3 calls, "))
    assert any(line.startswith("   found    ") and "Colin Archer" in line for line in lines[second:])
    assert lines[second:].count("   fact     Colin Archer | lived in | Larvik") == 1
    assert "gear+hybrid on fleet: 6 calls, " in lines[-1] and "unknown price" in lines[-1] and lines[-1].endswith(" s")
    assert "\x1b" not in result.output and "INFO" not in result.stderr


def test_on_a_terminal_the_answer_is_shown_as_it_is_written(asked: CommandLine, scripted: Scripted) -> None:
    scripted.say("answer", "In Larvik [1], a town [7].\n\n\x1b]0;owned\x07Yes.")
    output = asked.on_terminal("ask", QUESTION, "-s", "single")
    assert "\x1b[1mIn Larvik [1], a town.\x1b[0m" in output and "\x07" not in output
    assert "\x1b[1;36mWhere did the designer" in output
    assert output.index("1 call, ") < output.index("\x1b[1mIn Larvik") < output.rindex("single+pathrank on fleet: ")


def test_json_holds_all_of_it_and_nothing_else(asked: CommandLine, scripted: Scripted) -> None:
    asked.env["KGRAG_CHAT__PRICES"] = '{"read": [1, 1], "reason": [1, 1], "rewrite": [1, 1], "answer": [1, 1]}'
    found = asked.json("ask", QUESTION, "-s", "gear+hybrid", "-k", "2")
    assert (found["question"], found["system"], found["collection"]) == (QUESTION, "gear+hybrid", "fleet")
    assert (found["text"], found["found"], found["problem"], found["run"]) == (
        "In Larvik [1]. Archer designed her [2].", True, "", None,
    )  # fmt: skip
    assert [c["number"] for c in found["citations"]] == [1, 2] and found["citations"][0]["passage"]["text"]
    assert [h["rank"] for h in found["ranking"]["hits"]] == [1, 2] and found["ranking"]["hits"][0]["trail"]
    types = [event["type"] for event in found["trace"]]
    assert {"Called", "Read", "Retrieved", "Remembered", "Judged", "Rewritten", "Answered"} <= set(types)
    rewritten = next(event for event in found["trace"] if event["type"] == "Rewritten")
    assert rewritten == {"type": "Rewritten", "step": 2, "query": "Where did Colin Archer live?"}
    hit = next(event for event in found["trace"] if event["type"] == "Retrieved")["hits"][0]
    assert set(hit) == {"rank", "score", "id", "title", "why"}
    assert from_json(Answer, found).trace[-1].step == 0
    assert found["usage"]["calls"] == len(scripted.calls) == sum(u["calls"] for u in found["by_task"].values())
    assert found["usage"]["cost"] > 0 and found["seconds"] > 0


def test_short_answers_and_filters(asked: CommandLine, scripted: Scripted) -> None:
    scripted.say("answer", "Larvik")
    result = asked("ask", QUESTION, "--short", "-s", "single", "--where", "kind=ship", "-q")
    assert (result.stdout, result.stderr) == ("Larvik\n", "Not supported by the passages: “Larvik”.\n")
    shown = scripted.calls[-1]["messages"][-1]["content"]
    assert "Fram (ship)" in shown and "on the coast" not in shown


def test_what_the_evidence_lacks_is_told_with_the_evidence(asked: CommandLine, scripted: Scripted) -> None:
    scripted.say("answer", "Not in the evidence. The passages do not name a street.")
    result = asked("ask", "In which street did Colin Archer live?", "-s", "single")
    lines = result.stdout.splitlines()
    assert lines[:2] == ["Not in the evidence. The passages do not name a street.", ""]
    assert lines[2].startswith("1  ") and "Colin Archer" in lines[2] and "evidence" in result.stderr
    assert asked.json("ask", QUESTION, "-s", "single")["found"] is False


def test_a_model_that_fails_leaves_the_evidence(asked: CommandLine, scripted: Scripted) -> None:
    asked.env["KGRAG_CHAT__BASE_URL"] = "http://127.0.0.1:1/v1"
    result = asked("ask", QUESTION, "-s", "gear+hybrid", code=7)
    assert result.stdout.startswith("1  ") and "There is no answer: No connection to http:" in result.stderr
    found = asked.json("ask", QUESTION, "-s", "single", code=7)
    assert found["text"] == "" and "No connection" in found["problem"] and found["ranking"]["hits"]


def test_without_a_model_it_says_how_to_set_one_and_shows_the_evidence(cli: CommandLine, fleet: str) -> None:
    result = cli("ask", QUESTION, "-c", fleet, "-s", "gear+bm25", "-k", "2", "--save", code=2)
    how, head, *rest = result.stderr.splitlines()
    assert "KGRAG_CHAT__MODEL" in how and "OPENAI_API_KEY" in how and "http://localhost:11434/v1" in how
    assert "fleet by bm25" in head and rest == []
    assert result.stdout == cli("search", QUESTION, "-c", fleet, "-r", "bm25", "-k", "2").stdout != ""
    found = cli.json("ask", QUESTION, "-c", fleet, code=2)
    assert found["text"] == "" and "KGRAG_CHAT__MODEL" in found["problem"] and found["ranking"]["hits"]
    assert cli.json("ask", QUESTION, "-c", fleet, "-s", "sync-ge", code=2)["ranking"]["hits"]


@pytest.mark.parametrize(
    ("arguments", "code", "message"),
    [
        ([" "], 2, "The question is empty"),
        (["x", "-k", "0"], 2, "-k"),
        (["x", "-s", "geer"], 4, "Did you mean 'gear'?"),
        (["x", "-s", "gear+pathrnk"], 4, "Did you mean 'pathrank'?"),
        (["x", "-c", "no-such"], 4, "no collection 'no-such'"),
        (["x", "--where", "kind"], 2, "key=value"),
    ],
)
def test_mistakes(asked: CommandLine, arguments: list[str], code: int, message: str) -> None:
    result = asked("ask", *arguments, code=code)
    assert message in result.stderr and result.stdout == ""


def test_what_is_found_nowhere_and_odd_questions(asked: CommandLine, kg: KnowledgeGraph, scripted: Scripted) -> None:
    kg["emptied"].ingest([Document("a", (Section("Gone soon."),))])
    kg["emptied"].delete(documents=["a"])
    try:
        empty = asked("ask", QUESTION, "-c", "emptied", "-s", "single")
        assert empty.stdout == "Not in the evidence.\n"
    finally:
        kg["emptied"].delete()
    odd = "Wo wohnte der Konstrukteur — 日本語 🚢 \udcff?"
    assert asked("ask", odd, "-s", "single", "-q").stdout.startswith("In Larvik [1]")
    assert "日本語 🚢 �?" in scripted.calls[-1]["messages"][-1]["content"]


def test_an_interrupted_question_ends_at_once(
    asked: CommandLine, scripted: Scripted, kg: KnowledgeGraph, fleet: str
) -> None:
    scripted.delay(60)
    run = asked.start("ask", QUESTION, "--save", stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    deadline = time.monotonic() + 30
    while not scripted.most_under_way and time.monotonic() < deadline:
        time.sleep(0.05)
    run.send_signal(signal.SIGINT)
    out, errors = run.communicate(timeout=30)  # the reply takes 60 s
    assert (run.returncode, out) == (130, b"") and errors.decode().rstrip().endswith("Interrupted.")
    assert kg[fleet].runs() == []


@pytest.mark.alone
@pytest.mark.usefixtures("others_aside")
def test_kept_runs_are_listed_drawn_and_deleted(asked: CommandLine, kg: KnowledgeGraph, fleet: str) -> None:
    first = asked("ask", QUESTION, "-s", "single", "--save", "-q")
    (kept,) = kg[fleet].runs()
    doubt, *lines = first.stderr.splitlines()
    assert doubt.startswith(
        "Not supported by the passages: “In Larvik.”. Not checked, being in other words or another "
    )
    assert kept.id in lines[0] and lines[1] == f":param id => '{kept.id}'" and lines[2].startswith("MATCH path = (:K")
    saved = asked.json("ask", "Where is Larvik?", "-s", "gear+hybrid", "--save")["run"]
    listed = asked("list", "runs").stdout.splitlines()
    assert listed[0].startswith(saved[:8]) and listed[0].endswith("fleet  gear+hybrid")
    assert [line.strip() for line in listed[1:3]] == ["Where is Larvik?", "In Larvik [1]. Archer designed her [2]."]
    assert listed[3].startswith(kept.id[:8]) and len(listed) == 6
    assert [run["id"] for run in asked.json("list", "runs")] == [saved, kept.id]
    assert f":param id => '{kept.id}'" in asked("list", "runs", kept.id[:8]).stdout
    assert "  Runs" in asked("collections").stdout
    assert "no run 'ffffffff'" in asked("list", "runs", "--delete", "ffffffff", code=4).stderr
    assert "Say which" in asked("list", "runs", "--delete", code=2).stderr
    assert asked("list", "runs", "--delete", kept.id[:8], saved[:8]).stdout == "Deleted 2 runs.\n"
    nothing = asked("list", "runs")
    assert nothing.stdout == "" and "--save" in nothing.stderr and "Runs" not in asked("collections").stdout


def test_systems_are_listed_without_a_database(cli: CommandLine) -> None:
    nowhere = {"KGRAG_NEO4J_URI": "bolt://127.0.0.1:1"}
    text = cli("list", "systems", env=nowhere).stdout
    assert "gear " in text and "ircot+hybrid" in text and "The default is gear+pathrank." in text
    listed = cli.json("list", "systems")
    assert {entry["name"] for entry in listed["strategies"]} >= {"gear", "ircot", "single", "closed-book"}
    assert "[GEAR, section 5]" in text
    needs = {entry["name"]: (entry["paper"], entry["needs"]) for entry in listed["retrievers"]}
    assert needs["hipporag2"] == ("HippoRAG 2, section 3", ["triples", "vectors", "a language model"])
    assert needs["colbert"][1][-1].startswith("the extra colbert") and needs["bm25"][1] == ["words"]


def test_every_setting_of_a_paper_is_listed_with_its_section(
    cli: CommandLine, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "kgrag.toml").write_text("[agents.gear]\nsteps = 2\n")
    own = {"KGRAG_NEO4J_URI": "bolt://127.0.0.1:1"}
    text = cli("list", "systems", "--paper", "gear", env=own).stdout
    assert "System: gear+rrf (sections 4 and 5). The paper's model: gpt-4o-mini-2024-07-18." in text
    line = next(line for line in text.splitlines() if line.startswith("agents.gear.steps"))
    assert line.split()[1:3] == ["2", "4"] and "appendix B.1" in line
    assert "Its tables here: 2, 3, 4, 5, 6, 7, 8, 9, 10, 11; figures: 2, 3, 4, 5 (" in text
    found = cli.json("list", "systems", "--paper", "kgp")
    assert {"setting": "agents.answer.evidence", "paper": "30", "value": "30", "source": "appendix A.2.3"} in found[
        "settings"
    ]
    assert "Choose one of: bdtr, gear" in cli("list", "systems", "--paper", "gera", code=4).stderr
    assert cli("list", "systems", "gear", "--paper", "gear", code=2)


def test_a_question_as_a_paper_asks_it(
    asked: CommandLine, scripted: Scripted, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    scripted.say("recognise", {"kept": []})
    scripted.say("answer", "Larvik")
    monkeypatch.chdir(tmp_path)
    (tmp_path / "kgrag.toml").write_text("[agents.answer]\nevidence = 2\n")
    result = asked("ask", QUESTION, "--short", "--paper", "hipporag2")
    assert result.stdout.startswith("Larvik\n")
    assert "single+hipporag2 on fleet" in result.stderr and "kgrag list systems --paper hipporag2" in result.stderr
    assert "  agents.answer.evidence=2" in result.stderr.splitlines()
    assert scripted.tasks == ["recognise", "answer"]
    prompt = scripted.calls[-1]["messages"]
    assert "Not in the evidence" not in prompt[0]["content"]  # the paper's reader always answers
    assert prompt[-1]["content"].count("<passage>") == 2
