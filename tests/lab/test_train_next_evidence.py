"""Rows for models that write the next fact, and their fine-tuning with tiny models."""

import json
from pathlib import Path

import pytest
from click.testing import CliRunner
from made_models import generator
from published_formats import HOTPOT
from question_set import write_set

from kgrag import KnowledgeGraph
from kgrag.cli import main
from kgrag.lab.readers import read_dataset
from kgrag.lab.train_next import NO_EVIDENCE

_CORPUS = [
    {"id": f"d{i}{j}", "title": title, "text": text}
    for i in range(6)
    for j, (title, text) in enumerate(
        ((f"Ship{i}", f"Ship{i} was led by Captain{i}."), (f"Captain{i}", f"Captain{i} came from Town{i}."))
    )
]
_QUERIES = [
    {"id": f"q{i}", "question": f"Where did the captain of Ship{i} come from?", "gold": [f"d{i}0", f"d{i}1"]}
    for i in range(6)
]


def run(*arguments: object, code: int = 0) -> str:
    result = CliRunner().invoke(main, ["lab", "train", "next-evidence", *map(str, arguments)], prog_name="kgrag")
    assert result.exit_code == code, result.output
    return result.stdout if code == 0 else result.stderr


def test_rows_are_exported_as_the_retriever_asks(tmp_path: Path) -> None:
    folder, file = write_set(tmp_path / "set", _CORPUS, _QUERIES, None), tmp_path / "rows" / "rows.jsonl"
    found = json.loads(run(folder, "--export", file, "--json"))
    assert (found["questions"], found["rows"]) == (6, 12)
    rows = [json.loads(line)["messages"] for line in file.read_text().splitlines()]
    assert [m["role"] for m in rows[0]] == ["system", "user", "assistant"]
    assert "the captain of Ship0" in rows[0][1]["content"]
    assert NO_EVIDENCE in rows[0][1]["content"]
    assert rows[0][2]["content"] == "Ship0: Ship0 was led by Captain0."
    assert "Ship0: Ship0 was led by Captain0." in rows[1][1]["content"]
    assert rows[1][2]["content"] == "Captain0: Captain0 came from Town0."


def test_facts_are_the_sentences_that_the_set_names(tmp_path: Path) -> None:
    """Listing 1 of KGP: of a paragraph of two sentences the one that supports the answer, in the order of the steps."""
    paragraph = [["Larvik", ["Larvik is a town.", "It lies in Norway."]], ["Archer (man)", ["He was born in Larvik."]]]
    item = {**HOTPOT[0], "context": paragraph, "supporting_facts": [["Larvik", 1], ["Archer (man)", 0]]}
    triples = [["Archer", "born in", "Larvik"], ["Larvik", "country", "Norway"]]
    data, file = tmp_path / "2wiki.json", tmp_path / "rows.jsonl"
    data.write_text(json.dumps([{**item, "evidences": triples}]))
    found = json.loads(run(data, "--export", file, "--json"))
    rows = [json.loads(line)["messages"] for line in file.read_text().splitlines()]
    assert found["rows"] == 2
    assert [row[2]["content"] for row in rows] == ["Archer (man): He was born in Larvik.", "Larvik: It lies in Norway."]
    assert "Archer (man): He was born in Larvik." in rows[1][1]["content"]
    assert "Larvik is a town" not in file.read_text()


def test_wrong_options_are_refused(tmp_path: Path) -> None:
    folder = write_set(tmp_path / "set", _CORPUS, _QUERIES, None)
    assert "Nothing to do" in run(folder, code=2)
    assert "belong together" in run(folder, "--base", "x", code=2)
    assert "cannot be written" in run(folder, "--export", folder / "corpus.jsonl" / "x", code=5)


@pytest.mark.models
@pytest.mark.parametrize("kind", ["t5", "llama"])
def test_a_model_is_tuned_by_lora(tmp_path: Path, kind: str, kg: KnowledgeGraph, collection_name: str) -> None:
    pytest.importorskip("peft")
    folder, out = write_set(tmp_path / "set", _CORPUS, _QUERIES, None), tmp_path / "model"
    base = generator(tmp_path / "base", [row["text"] for row in _CORPUS] + [q["question"] for q in _QUERIES], kind)
    options = ("--base", base, "--epochs", 20, "--rate", 0.02, "--held-out", 0.34, "--tokens", 160, "--json")
    found = json.loads(run(folder, "--out", out, *options))
    assert (found["learned"], found["held_out"]) == (8, 4)
    assert found["held_out_after"] < found["held_out_before"]
    assert (out / "adapter_config.json").exists()
    kg[collection_name].ingest(read_dataset(folder).documents())
    retriever = f"kgp(bm25, guide=generator, generator='{out}', similarity=tfidf, edges=(mention, title), hops=2)"
    ranking = kg[collection_name].search(_QUERIES[0]["question"], retriever=retriever, k=3)  # type: ignore[arg-type]
    assert "d00" in {hit.passage.document for hit in ranking}
    merged = tmp_path / "merged"
    run(folder, "--out", merged, "--merge", *options, "--steps", 1)
    assert (merged / "config.json").exists()
    assert not (merged / "adapter_config.json").exists()
    from transformers import AutoTokenizer

    assert len(AutoTokenizer.from_pretrained(merged)) > 10
