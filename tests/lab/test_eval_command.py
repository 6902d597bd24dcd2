import json
import re
from collections.abc import Callable
from pathlib import Path

import pytest
from click.testing import Result
from command_line import run_kgrag
from in_thread import Handler, InThread
from question_set import CORPUS, QUERIES, evaluated, write_set

from kgrag import KnowledgeGraph
from kgrag.lab.readers import read_dataset

pytestmark = [pytest.mark.long, pytest.mark.usefixtures("evaluations_are_deleted")]

Evaluate = Callable[..., Result]
MEASURES = ["R@2", "R@5", "R@10", "R@15", "perfect@8", "MRR", "nDCG@10", "p50_ms", "p95_ms"]


@pytest.fixture
def evaluate(neo4j_env: dict[str, str]) -> Evaluate:
    def run(*arguments: object, code: int = 0) -> Result:
        env = {**neo4j_env, "COLUMNS": "120", "KGRAG_COLLECTION": "must-not-be-used"}
        return run_kgrag(env, "lab", "eval", *arguments, code=code)

    return run


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A question set."""
    return write_set(tmp_path / "small")


def test_answers_that_stand_nowhere_are_told(evaluate: Evaluate, tmp_path: Path) -> None:
    asked = {"q1": "Larvik", "q2": "Bergen"}
    queries = [{"id": id, "question": "Where was he born?", "answers": [answer]} for id, answer in asked.items()]
    result = evaluate(write_set(tmp_path / "answers", queries=queries), "-r", "bm25", "--json")
    assert json.loads(result.stdout)["systems"]["bm25"]["answer@5"] == 50
    assert "1 of 2 questions have answers that stand in no document of the corpus:\n  q2: Bergen" in result.stderr


def test_json_has_the_measures_of_every_retriever_and_nothing_else_is_on_stdout(
    evaluate: Evaluate, folder: Path, kg: KnowledgeGraph
) -> None:
    result = evaluate(folder, "--json")
    found = json.loads(result.stdout)
    assert (found["dataset"], found["embedder"], found["depth"]) == ("small", "wordllama", 15)
    assert found["collection"] == read_dataset(folder).collection("wordllama")
    assert found["baseline"] is None
    assert found["by"] == found["differences"] == found["errors"] == {}
    assert "Neo4j 5." in found["machine"]
    assert {"bm25", "dense", "hybrid"} <= set(found["systems"])
    for row in found["systems"].values():
        assert list(row)[: len(MEASURES)] == MEASURES
        assert row["questions"] == 3
        assert row["R@5"] == 100
        assert row["perfect@8"] == 1
        assert 0 < row["p50_ms"] <= row["p95_ms"]
    assert "documents" in result.stderr
    names = {info.name: info for info in kg.collections()}
    assert "must-not-be-used" not in names
    assert names[read_dataset(folder).collection("wordllama")].counts["Triple"] == 1


def test_another_question_set_over_the_same_corpus_ingests_nothing(
    evaluate: Evaluate, folder: Path, tmp_path: Path, kg: KnowledgeGraph
) -> None:
    evaluate(folder, "-r", "bm25")
    before = evaluated(kg)
    other = write_set(tmp_path / "other", queries=QUERIES[:1])
    result = evaluate(other, "-r", "bm25", "--json")
    assert json.loads(result.stdout)["dataset"] == "other"
    assert "vectors" not in result.stderr
    assert evaluated(kg) == before


def test_another_collection(evaluate: Evaluate, folder: Path, kg: KnowledgeGraph, collection_name: str) -> None:
    write_set(folder, corpus=CORPUS[:3], queries=QUERIES[:2])
    evaluate(folder, "-r", "bm25", "--collection", collection_name)
    names = {info.name: info.counts for info in kg.collections()}
    assert names[collection_name]["Document"] == 3
    assert read_dataset(folder).collection("wordllama") not in names


def test_documents_that_left_the_corpus_are_reported(evaluate: Evaluate, folder: Path, collection_name: str) -> None:
    arguments = [folder, "-r", "bm25", "--collection", collection_name]
    assert "does not have" not in evaluate(*arguments).stderr
    write_set(folder, corpus=CORPUS[:3], queries=QUERIES[:2])
    assert "holds 1 documents that the corpus does not have" in evaluate(*arguments).stderr


def test_when_every_question_fails_it_says_why(
    evaluate: Evaluate, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "none")
    monkeypatch.setenv("KGRAG_CHAT__MODEL", "gone")
    monkeypatch.setenv("KGRAG_CHAT__BASE_URL", "http://127.0.0.1:9/v1")
    monkeypatch.setenv("KGRAG_CHAT__RETRIES", "0")
    result = evaluate(folder, "-r", "bm25", "--system", "single+bm25", "--json", code=7)
    assert "No connection to http://127.0.0.1:9/v1" in result.stderr and "KGRAG_CHAT__BASE_URL" in result.stderr
    with InThread(Fails) as server:
        monkeypatch.setenv("KGRAG_CHAT__BASE_URL", server.base_url)
        result = evaluate(folder, "-r", "bm25", "--system", "single+bm25", "--json", code=1)
    assert json.loads(result.stdout)["systems"]["single+bm25"]["errors"] == 3
    assert "out of memory" in result.stderr.split("Every question failed. single+bm25: ")[1]


class Fails(Handler):
    """A retriever that fails on every query."""

    def post(self) -> None:
        self.body()
        self.say(500, b'{"error": "out of memory"}')


def test_gold_that_is_not_in_the_corpus_is_told(evaluate: Evaluate, folder: Path) -> None:
    write_set(folder, queries=[*QUERIES, {"id": "q4", "question": "Fram?", "gold": ["fram", "lost"]}])
    result = evaluate(folder, "-r", "bm25", "--json")
    assert "1 of 4 questions" in result.stderr
    assert "q4: lost" in result.stderr
    assert json.loads(result.stdout)["systems"]["bm25"]["R@15"] == 87.5
    assert "lost" not in evaluate(folder, "-r", "bm25", "--limit", 3).stderr


@pytest.mark.parametrize(
    ("arguments", "code", "words"),
    [
        (["--retriever", "bm25", "--retriever", "nonsense"], 4, ["nonsense", "bm25,", "hybrid,"]),
        (["--retriever", "rrf(bm25, nonsense)"], 4, ["nonsense"]), (["--baseline", "nonsense"], 4, ["nonsense"]),
        (["--markdown"], 2, ["--markdown", "--json"]), (["--plot", "picture.gif"], 2, ["picture.gif", ".png"]),
        (["--out", "/dev/null/runs"], 5, ["/dev/null/runs", "Is the path right"]),
        (["--format", "squad"], 4, ["squad", "musique"]), (["--join", "1"], 2, ["--join"]),
        (["--limit", "0"], 2, ["--limit"]), (["--embedder", "nonsense"], 4, ["nonsense", "wordllama"]),
    ],
)  # fmt: skip
def test_what_cannot_be_measured_is_said_before_anything_is_ingested(
    evaluate: Evaluate, folder: Path, kg: KnowledgeGraph, arguments: list[str], code: int, words: list[str]
) -> None:
    before = evaluated(kg)
    result = evaluate(folder, *arguments, "--json", code=code)
    assert result.stdout == ""
    assert all(word in result.stderr for word in words)
    assert evaluated(kg) == before


def test_malformed_files_end_with_5_and_the_line(evaluate: Evaluate, folder: Path, kg: KnowledgeGraph) -> None:
    before = evaluated(kg)
    write_set(folder, queries="")
    assert "queries.jsonl is empty" in evaluate(folder, code=5).stderr
    write_set(folder, triples='{"passage": "fram"}\n')
    assert "triples.jsonl:1" in evaluate(folder, code=5).stderr
    assert "is not a folder" in evaluate(folder / "nothing", code=5).stderr
    assert evaluated(kg) == before


def test_groups_and_differences(evaluate: Evaluate, folder: Path) -> None:
    result = evaluate(folder, "-r", "bm25", "--baseline", "dense", "--by", "type", "--by", "hops", "--json")
    found = json.loads(result.stdout)
    assert list(found["systems"]) == ["bm25", "dense"]
    assert {group: rows["bm25"]["questions"] for group, rows in found["by"]["type"].items()} == {"(none)": 2, "2hop": 1}
    assert list(found["by"]["hops"]) == ["1", "2"]
    assert list(found["differences"]) == ["bm25"]
    difference = found["differences"]["bm25"]["R@5"]
    assert difference == {"difference": 0, "low": 0, "high": 0, "noise": True}


def test_markdown_holds_tables_the_command_and_the_machine(evaluate: Evaluate, folder: Path) -> None:
    arguments = ["--retriever", "rrf(bm25, dense)", "--by", "hops", "--baseline", "bm25", "--markdown"]
    text = evaluate(folder, *arguments, "--seed", 3).stdout
    head, row = (re.split(r" *\| *", line) for line in (text.splitlines()[2], text.splitlines()[4]))
    assert (head[1:4], row[1]) == (["retriever", "R@2", "R@5"], "rrf(bm25, dense)")
    assert re.search(r"\| +hops \| retriever +\|", text) and "| noise" in text
    command = f"$ kgrag lab eval {folder} --retriever 'rrf(bm25, dense)' --by hops --seed 3 --baseline bm25 --markdown"
    assert command in text
    assert "GiB of memory, Python 3" in text.splitlines()[-1]


def test_a_second_run_asks_nothing_that_is_kept(evaluate: Evaluate, folder: Path, tmp_path: Path) -> None:
    out = tmp_path / "runs"
    evaluate(folder, "-r", "bm25", "--limit", 2, "--out", out)
    (file,) = out.iterdir()
    assert [json.loads(line).get("question") for line in file.read_text().splitlines()] == [None, "q1", "q2"]
    again = evaluate(folder, "-r", "bm25", "-r", "dense", "--out", out)
    assert "2 of 6 records were in" in again.stderr
    assert [json.loads(line).get("question") for line in file.read_text().splitlines()] == [None, "q1", "q2", "q3"]
    assert "6 of 6 records" in evaluate(folder, "-r", "bm25", "-r", "dense", "--out", out).stderr
    assert "records were in" not in evaluate(folder, "-r", "bm25", "--out", out, "--depth", 20).stderr
    assert "records were in" not in evaluate(folder, "-r", "bm25", "--out", out, "--perturb", "lower").stderr
    write_set(folder, corpus=[{**CORPUS[0], "text": "Another text."}, *CORPUS[1:]])
    assert "records were in" not in evaluate(folder, "-r", "bm25", "--out", out).stderr


def test_long_documents_and_other_corpora_at_once(
    evaluate: Evaluate, folder: Path, tmp_path: Path, kg: KnowledgeGraph, collection_name: str
) -> None:
    other = write_set(tmp_path / "other", corpus=CORPUS[:2], queries=QUERIES[:1])
    arguments = ["-r", "bm25", "--join", 3, "--with", other, "--collection", collection_name, "--json"]
    found = json.loads(evaluate(folder, *arguments).stdout)
    assert found["dataset"] == "small+other+join3"
    counts = next(info.counts for info in kg.collections() if info.name == collection_name)
    assert counts["Document"] == 2
    row = found["systems"]["bm25"]
    assert row["R@5"] == 66.7  # five passages contain far less than half of the long text's words
    assert row["questions"] == 3


def test_a_graph_for_each_question(
    evaluate: Evaluate, folder: Path, kg: KnowledgeGraph, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """Each question is asked over its own two documents, sentence by sentence; nothing is left behind."""
    monkeypatch.setenv("KGRAG_INDEXING__UNIT", "sentence")
    before = evaluated(kg)
    given = ("--per-question", 2, "-r", "bm25", "-r", "dense", "--out", tmp_path / "out", "--json")
    found = json.loads(evaluate(folder, *given).stdout)
    assert evaluated(kg) == before
    assert found["systems"]["dense"]["R@5"] == 100
    records = [json.loads(line) for f in (tmp_path / "out").iterdir() for line in f.read_text().splitlines()[1:]]
    asked = {r["question"]: r["documents"] for r in records if r["system"] == "dense"}
    assert set(asked["q1"]) == {"fram", "archer"}
    assert len(asked["q2"]) == len(asked["q3"]) == 2  # one of them drawn at random
    assert "larvik" in asked["q2"]
    again = evaluate(folder, *given)
    assert "6 of 6 records were in" in again.stderr
    assert json.loads(again.stdout)["systems"]["dense"]["R@5"] == 100
    assert evaluated(kg) == before
