"""Records as RAGAS reads them (`EvaluationDataset.from_jsonl`): a sample of a single turn for each question."""

import json
from collections import Counter
from collections.abc import Iterable, Iterator
from itertools import groupby
from pathlib import Path
from typing import Any

from kgrag.client import Collection
from kgrag.evaluation.datasets import Dataset
from kgrag.evaluation.records import check_folder, plain
from kgrag.evaluation.retrieving import Record
from kgrag.graph.reader import Reader
from kgrag.retrieval.second_stage import text_of


def write_samples(
    folder: Path, records: Iterable[Record], data: Dataset, collection: Collection
) -> tuple[list[Path], int]:
    """Write the records of each system to a file of JSON Lines in `folder`, where they replace what was there.

    The columns are `user_input`, `retrieved_contexts` with `retrieved_context_ids` (the passages that were ranked),
    `reference_contexts` with `reference_context_ids` (those of the gold), `reference` (the first known answer), and of
    a system that answers `response`; what a question does not have is left out. Texts are read in `collection`, which
    the records are of. Returns the files, and how many records have no passages: older ones, which are left out.
    Raises InputError when the folder cannot be made.
    """
    check_folder(folder)
    files: list[Path] = []
    names: Counter[str] = Counter()
    without = 0
    for system, its in groupby(records, key=lambda record: record.system):
        kept = list(its)
        whole = [record for record in kept if record.passages or not record.documents]
        without += len(kept) - len(whole)
        name = plain(system)
        names[name] += 1
        files.append(folder / f"{name}{'' if names[name] == 1 else f'-{names[name]}'}.jsonl")
        with files[-1].open("w", encoding="utf-8") as file:
            for sample in _samples(whole, data, collection.context.reader):
                file.write(f"{json.dumps(sample, ensure_ascii=False)}\n")
    return files, without


def _samples(records: Iterable[Record], data: Dataset, reader: Reader) -> Iterator[dict[str, Any]]:
    for record in records:
        question = record.question
        found = {"user_input": question.text, **_contexts("retrieved", record.passages, reader)}
        if data.gold_texts:
            found["reference_contexts"] = [data.gold_texts[key].text for key in question.gold if key in data.gold_texts]
        elif question.gold:
            held = reader.document_passages(question.gold)
            found |= _contexts("reference", [id for key in question.gold for id in held.get(key, ())], reader)
        if record.answer is not None:
            found["response"] = record.answer.text
        if question.answers:
            found["reference"] = question.answers[0]
        yield found


def _contexts(kind: str, ids: Iterable[str], reader: Reader) -> dict[str, list[str]]:
    """The texts of passages as a reader is shown them, and their ids; those that are gone are left out."""
    found = reader.passages(list(ids))
    shown = [found[id] for id in ids if id in found]
    if kind == "reference":
        shown.sort(key=lambda passage: (passage.document, passage.ordinal))
    return {f"{kind}_contexts": [text_of(p) for p in shown], f"{kind}_context_ids": [p.id for p in shown]}
