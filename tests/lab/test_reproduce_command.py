"""kgrag lab reproduce, and --paper, from the command to the tables, with a scripted language model."""

import json
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from click.testing import Result
from command_line import run_kgrag
from question_set import CORPUS, TRIPLES, write_set
from scripted import TASKS, Scripted

from kgrag import KnowledgeGraph
from kgrag.lab.papers import find_paper
from kgrag.lab.reproduction import Reproduction

pytestmark = [pytest.mark.long, pytest.mark.usefixtures("evaluations_are_deleted")]

QUERIES = [
    {
        "id": "q1",
        "question": "Where was the designer of the Fram born?",
        "gold": ["fram", "archer"],
        "answers": ["Larvik"],
    },
    {"id": "q2", "question": "On which coast is the town Larvik?", "gold": ["larvik"], "answers": ["Norway"]},
    {"id": "q3", "question": "Who designed the Fram?", "gold": ["fram"], "answers": ["Colin Archer"]},
]
Command = Callable[..., Result]


@pytest.fixture
def command(neo4j_env: dict[str, str], scripted: Scripted) -> Command:
    scripted.say("read", {"triples": [["Fram", "designed by", "Colin Archer"]]})
    scripted.say("reason", {"answerable": True, "answer": "Larvik"})
    scripted.say("think", "So the answer is: Larvik")
    scripted.say("name", {"names": ["Fram"]})
    scripted.say("recognise", {"kept": [1]})
    scripted.say("grade", "correct")
    scripted.say("answer", "Larvik")

    def run(*arguments: object, code: int = 0, **chat: Any) -> Result:
        env = {**neo4j_env, **scripted.env(**chat), "COLUMNS": "200"}
        return run_kgrag(env, *arguments, code=code)

    return run


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A question set with answers and triples."""
    return write_set(tmp_path / "answered", CORPUS[:3], QUERIES, TRIPLES)


def test_a_table_with_both_numbers(command: Command, folder: Path, scripted: Scripted, tmp_path: Path) -> None:
    rows = [word for label in ("BM25 + SyncGE", "HippoRAG w/ IRCoT") for word in ("--row", label)]
    arguments = [*"lab reproduce gear --table 2 --embedder wordllama --data".split(), f"2wiki={folder}", *rows]
    result = command(*arguments, "--out", tmp_path / "runs", "--json")
    found = json.loads(result.stdout)
    assert found["rows"]["BM25 + SyncGE"]["2wiki"]["R@10"] == {"paper": 76.1, "ours": 100.0}
    assert found["rows"]["HippoRAG w/ IRCoT"]["2wiki"]["R@5"] == {
        "paper": 82.9,
        "ours": 50.0,
    }  # one passage states triples
    assert set(found["rows"]) == {"BM25 + SyncGE", "HippoRAG w/ IRCoT"}
    assert found["systems"]["BM25 + SyncGE"]["2wiki"] == [f"sync-ge(bm25, passages={k})" for k in (5, 10, 15)]
    said = " ".join(found["differs"])
    assert "Model: other here, gpt-4o-mini-2024-07-18 in the paper." in said
    assert "Embedder: wordllama here, sbert:all-mpnet-base-v2 in the paper." in said
    assert "2wiki: 3 questions (seed 0), 500 in the paper." in said
    assert "2wiki: 3 passages, 490,454 in the paper" in said
    # per question, sync-ge reads once at each of three depths; ircot names, thinks and answers once
    assert found["calls"] == 3 * (3 + 3)
    assert "But as you set it" not in result.stderr
    before = len(scripted.calls)
    again = command(*arguments, "--out", tmp_path / "runs")
    assert len(scripted.calls) == before  # every record exists
    assert "gear, table 2: recall of passages" in again.stdout
    line = next(line for line in again.stdout.splitlines() if "BM25 + SyncGE" in line)
    assert "76.1" in line and "23.9" in line
    assert "What differs from the paper:" in again.stderr


def test_each_set_has_the_papers_number_of_questions(command: Command, tmp_path: Path) -> None:
    """GEAR asks 1,000 questions of HotpotQA and 500 of each other set (appendix A)."""
    queries = [{**QUERIES[0], "id": f"q{n}"} for n in range(501)]
    folder = write_set(tmp_path / "many", CORPUS[:3], queries, TRIPLES)
    data = [word for name in ("2wiki", "hotpotqa") for word in ("--data", f"{name}={folder}")]
    arguments = ["--table", 2, *data, "--embedder", "wordllama", "--row", "SBERT", "--json"]
    said = " ".join(json.loads(command("lab", "reproduce", "gear", *arguments).stdout)["differs"])
    assert "hotpotqa: 501 questions (seed 0), 1000 in the paper." in said
    assert "2wiki: 5" not in said  # the paper's 500 are drawn


def test_answers_are_read_as_the_paper_reads_them(command: Command, folder: Path, scripted: Scripted) -> None:
    arguments = ["--table", 3, "--data", f"musique={folder}", "--embedder", "wordllama", "--sample", 1, "--json"]
    found = json.loads(command("lab", "reproduce", "gear", *arguments, "--row", "Hybrid + SyncGE").stdout)
    prompts = [call["messages"][0]["content"] for call in scripted.calls if call["task"] == "answer"]
    assert len(prompts) == 1  # one question is drawn
    assert "Not in the evidence" not in prompts[0]
    assert set(found["rows"]["Hybrid + SyncGE"]["musique"]) == {"EM", "F1"}


def test_settings_of_a_row(command: Command, folder: Path, scripted: Scripted) -> None:
    rows = ["--row", "l = 2, n = 1", "--row", "l = 4, n = 1"]
    arguments = ["--table", 8, "--data", f"musique={folder}", "--embedder", "wordllama", *rows]
    found = json.loads(command("lab", "reproduce", "gear", *arguments, "--json").stdout)
    assert [its["musique"]["R@5"]["ours"] for its in found["rows"].values()] == [100.0, 100.0]
    before, row = len(scripted.calls), ["--row", "Llama-3.1-8B", "--set", "llama=llama"]
    command("lab", "reproduce", "gear", "--table", 9, *arguments[2:6], *row, models={"read": "small"})
    assert {sent["model"] for sent in scripted.calls[before:]} == {"llama"}  # its own model, for each task


def test_rows_of_hipporag_have_its_settings(command: Command, folder: Path, kg: KnowledgeGraph) -> None:
    """HippoRAG's rows use its own encoder of names, unless another is given, and at most 100 similar names per name."""
    arguments = ["lab", "reproduce", "gear", "--table", 2, "--data", f"musique={folder}", "--sample", 1, "--json"]
    arguments += ["--row", "HippoRAG", "--row", "SBERT", "--embedder", "wordllama"]
    found = json.loads(command(*arguments).stdout)["systems"]
    assert found["HippoRAG"]["musique"] == ["hipporag, embedder=wordllama"]
    name = next(info.name for info in kg.collections() if info.name.startswith("eval-") and info.name.endswith("-gear"))
    assert kg[name].context.reader.collection.indexing.synonyms == 100
    own = find_paper("gear").table("2")
    (row,) = (row for row in own.rows if row.label == "HippoRAG")
    assert Reproduction(find_paper("gear"), own)._special(row) == {"embedder": "sbert:facebook/contriever"}
    assert "nosuch" in command(*arguments, "--set", "contriever=nosuch", code=4).stderr


def test_a_row_that_cannot_be_measured_is_a_row_with_its_reason(command: Command, folder: Path) -> None:
    rows = ("BM25", "HippoRAG", "ColBERTv2", "IRCoT (ColBERTv2)")
    arguments = ["lab", "reproduce", "gear", "--table", 2, "--data", f"musique={folder}", "--sample", 1, "--json"]
    arguments += [word for label in rows for word in ("--row", label)]
    found = json.loads(command(*arguments, "--embedder", "wordllama", "--set", "contriever=sbert:/nothing").stdout)
    assert set(found["rows"]) == {"BM25"} and found["rows"]["BM25"]["musique"]["R@5"]["ours"] == 100.0
    why = found["missing"]
    assert set(why) == {f"{label} (musique)" for label in rows[1:]}
    assert all("sentence-transformers" in text and "Install it" in text for text in why.values())


def test_documents_of_a_question_can_be_whole_articles(command: Command, folder: Path, tmp_path: Path) -> None:
    """KGP's graphs have 12 whole articles; their number of passages is shown beside the paper's."""
    (tmp_path / "wiki.jsonl").write_text(json.dumps({"title": "Larvik", "text": "A town. By the sea. With a harbour."}))
    arguments = ["lab", "reproduce", "kgp", "--table", 2, "--data", f"musique={folder}", "--embedder", "wordllama"]
    arguments += ["--row", "None", "--sample", 1, "--json"]
    found = [json.loads(command(*arguments, *its).stdout) for its in ((), ("--articles", tmp_path / "wiki.jsonl"))]
    said = [next(text for text in its["differs"] if "passages" in text) for its in found]
    assert said[0] == "musique: 3 passages a question, 748 in the paper: the fewer, the easier to find."
    assert said[1] == "musique: 6 passages a question, 748 in the paper: the fewer, the easier to find."


def test_marks_and_the_budget(command: Command, folder: Path, scripted: Scripted, tmp_path: Path) -> None:
    arguments = ["lab", "reproduce", "kgp", "--table", 2, "--data", f"musique={folder}", "--embedder", "wordllama"]
    arguments += ["--row", "BM25", "--out", str(tmp_path / "runs")]
    prices = {"prices": dict.fromkeys((*TASKS, "other"), (1000.0, 1000.0))}
    spent = command("lab", "eval", folder, "-r", "sync-ge(bm25)", "--budget", 5.2, code=7, **prices)
    assert "budget" in spent.stderr
    row = json.loads(command("lab", "eval", folder, "-r", "sync-ge(bm25)", "--json", **prices).stdout)["systems"]
    assert row["sync-ge(bm25)"]["calls"] == 1 and row["sync-ge(bm25)"]["cost"] > 0.1
    stopped = command(*arguments, "--budget", 5.2, "--threads", 1, code=7, **prices)
    assert "goes on from there" in stopped.stderr
    found = json.loads(command(*arguments, "--json", **prices).stdout)
    assert found["rows"]["BM25"]["musique"]["Acc"]["ours"] == 100.0
    assert found["cost"] > 0


def test_what_there_is_none_of(command: Command, folder: Path) -> None:
    assert "8: length l of the beam search" in command("lab", "reproduce", "gear").stdout
    listed = json.loads(command("lab", "reproduce", "bdtr", "--json").stdout)
    assert [its["table"] for its in listed if "table" in its] == list("12345")
    assert "no table 12" in command("lab", "reproduce", "gear", "--table", 12, code=4).stderr
    assert "NAME=DATASET with one of: musique" in command("lab", "reproduce", "gear", "--table", 8, code=2).stderr
    wrong = command("lab", "reproduce", "gear", "--table", 8, "--data", f"iirc={folder}", code=2)
    assert "iirc" in wrong.stderr
    row = command("lab", "reproduce", "gear", "--table", 8, "--data", f"musique={folder}", "--row", "l = 9", code=4)
    assert "l = 2, n = 1" in row.stderr


def test_settings_that_the_paper_does_not_have_make_another_collection(
    command: Command, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    arguments = ["lab", "eval", folder, "-r", "dense", "--json"]
    plain = json.loads(command(*arguments).stdout)["collection"]
    monkeypatch.setenv("KGRAG_INDEXING__UNIT", "sentence")
    assert json.loads(command(*arguments).stdout)["collection"] == f"{plain}-unit_sentence"
    monkeypatch.setenv("KGRAG_INDEXING__PASSAGE_TOKENS", "99")
    row = ["--row", "BM25", "--embedder", "wordllama", "--json"]
    said = command("lab", "reproduce", "gear", "--table", 2, "--data", f"2wiki={folder}", *row).stdout
    assert json.loads(said)["rows"]["BM25"]["2wiki"]["R@5"]["ours"] == 100.0
    held = [info["name"] for info in json.loads(command("collections", "--json").stdout)]
    assert f"{plain}-gear-unit_sentence-passage_tokens_99" in held


def test_eval_as_a_paper_has_it(command: Command, folder: Path, scripted: Scripted, kg: KnowledgeGraph) -> None:
    result = command("lab", "eval", folder, "--paper", "gnn-ret", "--embedder", "wordllama", "--anyway", "--json")
    found = json.loads(result.stdout)
    assert list(found["systems"]) == ["single+gnn-ret"]
    assert found["depth"] == 100
    assert found["collection"].endswith("-gnn-ret")
    assert "kgrag list systems --paper gnn-ret" in result.stderr
    assert kg[found["collection"]].context.reader.collection.indexing.whole_tokens == 200
    prompt = scripted.calls[0]["messages"][0]["content"]
    assert "Not in the evidence" not in prompt
    own = command("lab", "eval", folder, "--paper", "gear", "--system", "single+bm25", "--embedder", "wordllama",
                  "--depth", 5,
                  "--sample", 2, "--json")  # fmt: skip
    found = json.loads(own.stdout)
    assert (list(found["systems"]), found["depth"]) == (["single+bm25"], 5)
    assert found["systems"]["single+bm25"]["questions"] == 2


def test_ranks_matrix_and_cutoffs(command: Command, folder: Path, tmp_path: Path) -> None:
    path = tmp_path / "ranks.jsonl.gz"
    grid = ["--system", "single", "--system", "ircot", "--over", "bm25", "--over", "dense"]
    arguments = [*grid, "--at", 1, "--at", 5, "--baseline", "single+bm25", "--ranks", path]
    text = command("lab", "eval", folder, *arguments).stdout
    assert "F1 by strategy and retriever" in text
    assert "% correct, compared with single+bm25" in text
    for name in ("single+bm25", "ircot+bm25", "single+dense", "ircot+dense"):
        assert name in text
    head = text.splitlines()[1]
    assert "perfect@1" in head and "R@15" not in head
    again = command("lab", "ranks", path, "--at", 5, "--baseline", "single+bm25")
    assert "perfect@5" in again.stdout and "kgrag lab eval" in again.stderr
    assert "No gold comes" in command("lab", "ranks", path, "--baseline", "single+bm25", "--changes", 1).stderr
    kept = Path(__file__).parents[2] / "docs" / "ranks" / "2wiki-1000.jsonl.gz"
    shown = command("lab", "ranks", kept, "--baseline", "bm25", "--changes", 5).stdout
    assert "ranks of gold that change against bm25" in shown and re.search(r"pathrank +\w+ +\S+ +\(", shown)
    row = json.loads(command("lab", "ranks", path, "--json").stdout)["systems"]["ircot+dense"]
    assert (row["R@5"], row["perfect@8"]) == (100.0, 1.0)


def test_backbones_that_a_model_writes_first(command: Command, tmp_path: Path, scripted: Scripted) -> None:
    names = [
        f"{first}{last}" for first in ("Bar", "Dun", "Kel", "Lom", "Mar", "Sul") for last in ("vik", "nor", "holm")
    ]
    corpus = [
        {"id": name, "title": name, "text": f"The port of {name} was built near {names[i - 1]} and {names[i - 2]}."}
        for i, name in enumerate(names)
    ]
    question = {"id": "q", "question": f"What was {names[4]} built near?", "gold": [names[4]], "answers": [names[3]]}
    folder = write_set(tmp_path / "ports", corpus, [question])
    scripted.say("summarise", {"title": "Ports", "summary": "They were built near each other. " * 9})
    scripted.say("report", {"title": "Ports", "summary": "They were built near each other. " * 9, "findings": []})
    rows = [word for label in ("RAPTOR: original", "GraphRAG: IRCoT") for word in ("--row", label)]
    arguments = [*"lab reproduce bdtr --table 1 --embedder wordllama --data".split(), f"musique={folder}", *rows]
    refused = command(*arguments, code=2)
    assert "RAPTOR: original (musique): " in refused.stderr
    assert "holds no tree of summaries: `kgrag enrich tree --ask -c" in refused.stderr
    assert "GraphRAG: IRCoT (musique): " in refused.stderr and "+" not in refused.stdout
    assert not scripted.calls
    planned = command(*arguments, "--prepare", "--dry-run")
    assert "holds no communities; `kgrag enrich communities` takes:" in planned.stderr and not scripted.calls
    found = json.loads(command(*arguments, "--prepare", "--json").stdout)
    llm = scripted.tasks
    assert {"summarise", "report", "answer", "think"} <= set(llm)
    assert max(i for i, task in enumerate(llm) if task in ("summarise", "report")) < llm.index("answer")
    assert all(found["rows"][label]["musique"]["F1"]["ours"] is not None for label in found["rows"])
    assert len(found["rows"]) == 2
    written = llm.count("summarise") + llm.count("report")
    command(*arguments)
    llm = scripted.tasks
    assert llm.count("summarise") + llm.count("report") == written
    name = next(info["name"] for info in json.loads(command("collections", "--json").stdout) if "bdtr" in info["name"])
    command("enrich", "tree", name, "--remove")
    command("enrich", "tree", name)
    said = " ".join(json.loads(command(*arguments[:-2], "--json").stdout)["differs"])
    assert "texts of its tree are sentences of passages" in said and f"`kgrag enrich tree --ask -c {name}`" in said


def _plain_set(tmp_path: Path) -> Path:
    """Return three passages without triples that no other test has."""
    own = {**CORPUS[0], "text": f"{CORPUS[0]['text']} ({tmp_path.name})"}
    return write_set(tmp_path / "plain", [own, *CORPUS[1:3]], QUERIES, None)


def test_rows_that_lack_triples_are_refused_by_name_until_these_are_there(
    command: Command, tmp_path: Path, scripted: Scripted
) -> None:
    folder = _plain_set(tmp_path)
    arguments = ["--data", f"musique={folder}", "--embedder", "wordllama"]
    rows = [word for label in ("with diversity", "without diversity") for word in ("--row", label)]
    refused = command("lab", "reproduce", "gear", "--table", 4, *arguments, *rows, code=2)
    assert "with diversity (musique): " in refused.stderr
    assert "holds no triples: `kgrag enrich extract -c eval-" in refused.stderr
    assert "Nothing could be measured." in refused.stderr
    partly = json.loads(
        command("lab", "reproduce", "gear", "--table", 2, *arguments, "--row", "BM25", "--row", "GEAR", "--json").stdout
    )
    assert list(partly["rows"]) == ["BM25"] == list(partly["systems"])
    assert "no triples" in partly["missing"]["GEAR (musique)"]
    planned = command("lab", "reproduce", "gear", *arguments, "--prepare", "--dry-run").stderr
    assert planned.count("`kgrag enrich extract` takes:") == 1  # however many tables need them
    scripted.say(
        "extract",
        {
            "entities": [{"name": "Fram"}, {"name": "Colin Archer"}],
            "triples": [["Fram", "designed by", "Colin Archer"], ["Archer", "born in", "Larvik"]],
        },
    )
    found = json.loads(
        command("lab", "reproduce", "gear", "--table", 4, *arguments, *rows, "--prepare", "--json").stdout
    )
    assert found["missing"] == {} and {call["task"] for call in scripted.calls} >= {"extract", "read"}
    assert all(its["musique"]["R@5"]["ours"] == 100.0 for its in found["rows"].values())
    extracted = sum(call["task"] == "extract" for call in scripted.calls)
    command("lab", "reproduce", "gear", *arguments, "--prepare")
    assert sum(call["task"] == "extract" for call in scripted.calls) == extracted


def test_what_eval_does_not_measure(command: Command, tmp_path: Path) -> None:
    folder = _plain_set(tmp_path)
    systems = ["-r", "bm25", "-r", "naive-ge(bm25)", "-r", "gnn-ret(edges=(next, named))", "--system", "gear+bm25"]
    found = json.loads(command("lab", "eval", folder, *systems, "--json").stdout)
    assert list(found["systems"]) == ["bm25"]
    assert {name: "no triples" in why for name, why in found["refused"].items()} == {
        "naive-ge(bm25)": True,
        "gnn-ret(edges=(next, named))": False,
        "gear+bm25": True,
    }
    assert "no keywords of a language model" in found["refused"]["gnn-ret(edges=(next, named))"]
    assert "--anyway" in command("lab", "eval", folder, "-r", "naive-ge(bm25)", code=2).stderr
    anyway = command("lab", "eval", folder, *systems, "--anyway", "--json")
    assert "gear+bm25 runs without a requirement: eval-" in anyway.stderr
    measured = json.loads(anyway.stdout)
    assert len(measured["systems"]) == 4 and measured["refused"] == {}


def test_rows_take_what_the_user_has(command: Command, folder: Path, scripted: Scripted) -> None:
    arguments = ["lab", "reproduce", "gnn-ret", "--table", 1, "--data", f"musique={folder}", "--embedder", "wordllama"]
    arguments += ["--row", "GNN-Ret (trained)", "--json"]
    assert "it takes the a of a trained network" in command(*arguments, code=2).stderr
    scripted.say(
        "extract",
        {
            "entities": [{"name": "Fram"}, {"name": "Colin Archer"}],
            "triples": [["Fram", "designed by", "Colin Archer"]],
        },
    )
    found = json.loads(command(*arguments, "--set", "alphas=(0.25,)", "--prepare").stdout)
    assert found["systems"]["GNN-Ret (trained)"]["musique"] == ["single(repeat=false)+gnn-ret(k=5, alphas=(0.25,))"]
    assert "They take: dpr, alphas, rgnn_alphas, beta." in command(*arguments, "--set", "weights=x.pt", code=4).stderr
    assert "NAME=VALUE" in command(*arguments, "--set", "alphas", code=2).stderr
    arguments[arguments.index("GNN-Ret (trained)")] = "DPR"
    other = json.loads(command(*arguments, "--set", "dpr=minilm").stdout)
    assert other["rows"]["DPR"]["musique"]["EM"]["ours"] is not None


def test_a_figure_is_measured_and_drawn(command: Command, folder: Path, tmp_path: Path) -> None:
    picture = tmp_path / "iterations.svg"
    arguments = ["lab", "reproduce", "gear", "--figure", 2, "--data", f"musique={folder}", "--embedder", "wordllama"]
    shown = command(*arguments, "--plot", picture).stdout
    assert "by iteration" in shown and "gear(steps=4)+rrf" in shown
    assert "gear, figure 2: recall over 4 iterations (musique)" in picture.read_text()
    (result,) = json.loads(command(*arguments, "--json").stdout)["results"]["musique"]
    assert result["iterations"]["gear(steps=4)+rrf"][0]["R@15"] == 100.0
    assert "kgrag lab graph-quality DATASET" in command("lab", "reproduce", "kgp", "--figure", 4).stdout
    assert "no figure 9" in command("lab", "reproduce", "gear", "--figure", 9, code=4).stderr
    assert "--plot draws one --figure" in command("lab", "reproduce", "gear", "--plot", picture, code=2).stderr
    varied = command("lab", "reproduce", "bdtr", "--figure", "4d", *arguments[5:], code=0)
    assert "ircot(steps=6)+hipporag2" in varied.stdout


def test_each_value_of_a_sweep_is_measured_as_it_says(command: Command, tmp_path: Path, scripted: Scripted) -> None:
    """BDTR, figures 4a and 4c: each value reads more passages, but ranks as many as recall counts."""
    words = ("harbour", "ice", "rope", "salt", "lamp", "wool", "mast", "bell")
    corpus = [
        {
            "id": f"d{i}",
            "title": f"Note {i}",
            "text": f"The {words[i % 8]} and the {words[i // 8 % 8]} of day {i}. " * 9,
        }
        for i in range(220)
    ]
    triples = [{"passage": "d0", "subject": "harbour", "predicate": "has", "object": "ice"}]
    question = {"id": "q", "question": "Which harbour has ice and rope?", "gold": ["d0"], "answers": ["none"]}
    folder = write_set(tmp_path / "many", corpus, [question], triples)
    given = ["--data", f"musique={folder}", "--embedder", "wordllama", "--json"]
    (read,) = json.loads(command("lab", "reproduce", "bdtr", "--figure", "4c", *given).stdout)["results"]["musique"]
    for system in ("single(evidence={n})", "ircot(passages=200, evidence={n})"):
        systems = [f"{system.format(n=n)}+hipporag2" for n in (5, 10, 20, 50, 100)]
        tokens = [read["systems"][name]["tokens"] for name in systems]
        assert tokens == sorted(set(tokens)), system
    (ranked,) = json.loads(command("lab", "reproduce", "bdtr", "--figure", "4a", *given).stdout)["results"]["musique"]
    curve = ranked["systems"]["ircot(passages=200)+hipporag2"]
    assert set(ranked["systems"]) == {"single+hipporag2", "ircot(passages=200)+hipporag2"} and curve["R@200"] == 100.0


def test_a_figure_of_which_nothing_was_measured_is_an_error(
    command: Command, tmp_path: Path, scripted: Scripted
) -> None:
    plain = write_set(
        tmp_path / "plain", [{**row, "text": f"{row['text']} ({tmp_path.name})"} for row in CORPUS[:3]], QUERIES, None
    )
    given = ["--data", f"musique={plain}", "--embedder", "wordllama"]
    refused = command("lab", "reproduce", "bdtr", "--figure", "4c", *given, code=2)
    assert "Nothing could be measured." in refused.stderr and "holds no triples" in refused.stderr
    assert "What was measured" not in refused.stdout


def test_questions_that_trained_are_not_measured(command: Command, tmp_path: Path) -> None:
    folder = write_set(tmp_path / "answered", CORPUS[:3], QUERIES, TRIPLES)
    out = tmp_path / "alphas.json"
    command("lab", "train", "gnn-ret", folder, "--limit", 2, "--out", out)
    assert json.loads(out.read_text())["trained_on"] == ["q1", "q2"]
    row = ["--table", 2, "--row", "GNN-Ret, trained", "--row", "SBERT", "--set", f"alphas={out}"]
    given = ["--data", f"musique={folder}", "--embedder", "wordllama"]
    extracted = ["--prepare"]
    shown = command("lab", "reproduce", "gnn-ret", *row, *given, *extracted, "--json")
    assert "2 questions that trained a measured part are left out" in shown.stderr
    assert "musique: 1 questions (seed 0), 480 in the paper." in json.loads(shown.stdout)["differs"]
