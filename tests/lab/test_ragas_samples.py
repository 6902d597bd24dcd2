"""The samples for RAGAS: its columns, with texts from the graph."""

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from command_line import run_kgrag
from question_set import CORPUS, write_set
from scripted import Scripted

from kgrag import KnowledgeGraph
from kgrag.lab.experiment import Experiment
from kgrag.lab.readers import read_dataset
from kgrag.lab.records import write_samples
from kgrag.lab.variants import join

_QUERIES = [
    {"id": "q1", "question": "Where was the designer of the Fram born?", "gold": ["fram", "archer"]},
    {"id": "q2", "question": "On which coast is Larvik?", "gold": ["larvik"], "answers": ["Norway", "the Norwegian"]},
    {"id": "q3", "question": "Which ships did captains describe?", "gold": ["ships"]},
]
_TEXTS = {row["id"]: f"{row['title']}\n{row['text']}" for row in CORPUS}
_CONTEXTS = {"retrieved_contexts", "retrieved_context_ids", "reference_contexts", "reference_context_ids"}


def _read(path: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]


def test_samples_of_a_retriever_and_of_a_system(
    talking: KnowledgeGraph, collection_name: str, scripted: Scripted, tmp_path: Path
) -> None:
    scripted.say("answer", "In Larvik.")
    scripted.say("reason", {"answerable": False})
    data = read_dataset(write_set(tmp_path / "set", CORPUS, _QUERIES, None))
    searched = talking[collection_name]
    data.ingest(searched)
    experiment = Experiment(
        ["rrf(bm25, dense)", "single(reason=false)+bm25"], data, collection=searched, depth=3, out=tmp_path / "out"
    )
    records = experiment.run().records
    kept = experiment.run().records  # as read from their files
    assert [record.passages for record in kept] == [record.passages for record in records]
    files, without = write_samples(tmp_path / "samples", kept, data, searched)
    held = {p.id: p for key in _TEXTS for p in searched.document(key).passages}
    assert without == 0
    assert [file.name for file in files] == ["rrf-bm25-dense.jsonl", "single-reason-false-bm25.jsonl"]
    found, answered = map(_read, files)
    assert [sample["user_input"] for sample in found] == [query["question"] for query in _QUERIES]
    first, second, third = found
    assert first.keys() == {"user_input", *_CONTEXTS}
    assert second.keys() == {"user_input", "reference", *_CONTEXTS}
    assert second["reference"] == "Norway"
    assert set(first["reference_contexts"]) == {_TEXTS["fram"], _TEXTS["archer"]}
    assert first["retrieved_contexts"][0] in first["reference_contexts"]
    assert len(first["retrieved_contexts"]) == 3
    for sample in found + answered:
        for kind in ("retrieved", "reference"):
            passages = [held[id] for id in sample[f"{kind}_context_ids"]]
            assert sample[f"{kind}_contexts"] == [f"{p.title}\n{p.text}" for p in passages]
    ordinals = [held[id].ordinal for id in third["reference_context_ids"]]
    assert ordinals == list(range(len(ordinals)))
    assert len(ordinals) > 5  # all passages of the long document
    assert [sample["response"] for sample in answered] == ["In Larvik."] * 3
    assert answered[1]["retrieved_contexts"][0] == _TEXTS["larvik"]


def test_gold_that_is_a_part_of_a_document(kg: KnowledgeGraph, collection_name: str, tmp_path: Path) -> None:
    data = join(read_dataset(write_set(tmp_path / "set", CORPUS[:3], _QUERIES[:2], None)), 3, 64)
    searched = kg[collection_name]
    data.ingest(searched)
    records = Experiment(["bm25"], data, collection=searched).run().records
    (file,), _ = write_samples(tmp_path / "samples", records, data, searched)
    first, second = _read(file)
    assert first["reference_contexts"] == [CORPUS[0]["text"], CORPUS[1]["text"]]
    assert second["reference_contexts"] == [CORPUS[2]["text"]]
    assert "reference_context_ids" not in first


def test_systems_of_like_names_and_records_without_passages(
    kg: KnowledgeGraph, collection_name: str, tmp_path: Path
) -> None:
    data = read_dataset(write_set(tmp_path / "set", CORPUS[:3], _QUERIES[:2], None))
    searched = kg[collection_name]
    data.ingest(searched)
    records = Experiment(["bm25"], data, collection=searched).run().records
    older = [replace(record, system="bm25()", passages=()) for record in records]
    failed = [replace(record, system="(bm25)", passages=(), documents=(), error="gone") for record in records]
    files, without = write_samples(tmp_path / "samples", [*records, *older, *failed], data, searched)
    assert [file.name for file in files] == ["bm25.jsonl", "bm25-2.jsonl", "bm25-3.jsonl"]
    assert without == 2
    assert _read(files[1]) == []
    assert [sample["retrieved_contexts"] for sample in _read(files[2])] == [[], []]


@pytest.mark.long
@pytest.mark.usefixtures("evaluations_are_deleted")
def test_the_option_of_the_command(neo4j_env: dict[str, str], tmp_path: Path) -> None:
    folder, samples = write_set(tmp_path / "set", CORPUS[:3], _QUERIES[:2], None), tmp_path / "samples"
    asked = ["lab", "eval", folder, "-r", "bm25", "--ragas", samples]
    for _ in range(2):  # the second run replaces the first
        result = run_kgrag(neo4j_env, *asked)
    assert "Samples for RAGAS: " in result.stderr
    assert [sample["user_input"] for sample in _read(samples / "bm25.jsonl")] == [q["question"] for q in _QUERIES[:2]]
    assert "leave out --per-question" in run_kgrag(neo4j_env, *asked, "--per-question", 2, code=2).stderr
