"""Records as RAGAS reads them (`EvaluationDataset.from_jsonl`): a sample of a single turn for each question."""

import json
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import groupby
from pathlib import Path
from typing import Any

from kgrag.client.collection import Collection
from kgrag.graph.reader import Reader
from kgrag.lab.datasets import Dataset
from kgrag.lab.records import check_folder, plain
from kgrag.lab.retrieving import Record
from kgrag.retrieval.second_stage import text_of
from kgrag.values.results import Passage

_AT_ONCE = 100  # questions


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


def _samples(records: Sequence[Record], data: Dataset, reader: Reader) -> Iterator[dict[str, Any]]:
    """Yield the samples of records, in their order; texts are read for `_AT_ONCE` of them together."""
    for start in range(0, len(records), _AT_ONCE):
        part = records[start : start + _AT_ONCE]
        gold = list({key for record in part for key in record.question.gold} - data.gold_texts.keys())
        held = reader.document_passages(gold) if gold else {}
        ids = {id for record in part for id in record.passages}.union(*held.values())
        texts = reader.passages(list(ids))
        for record in part:
            yield _sample(record, data, held, texts)


def _sample(
    record: Record, data: Dataset, held: Mapping[str, Sequence[str]], texts: Mapping[str, Passage]
) -> dict[str, Any]:
    question = record.question
    found = {
        "user_input": question.text,
        **_contexts("retrieved", [texts[id] for id in record.passages if id in texts]),
    }
    if data.gold_texts:
        found["reference_contexts"] = [data.gold_texts[key].text for key in question.gold if key in data.gold_texts]
    elif question.gold:
        gold = [texts[id] for key in question.gold for id in held.get(key, ()) if id in texts]
        found |= _contexts("reference", sorted(gold, key=lambda passage: (passage.document, passage.ordinal)))
    if record.answer is not None:
        found["response"] = record.answer.text
    if question.answers:
        found["reference"] = question.answers[0]
    return found


def _contexts(kind: str, passages: Iterable[Passage]) -> dict[str, list[str]]:
    """Return the texts of passages as evidence, and their ids."""
    shown = list(passages)
    return {f"{kind}_contexts": [text_of(p) for p in shown], f"{kind}_context_ids": [p.id for p in shown]}
