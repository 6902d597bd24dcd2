"""The data of IRCoT: HotpotQA, 2WikiMultiHopQA, MuSiQue and IIRC in one format, JSON Lines, a question a line.

As written by the scripts of github.com/StonyBrookNLP/ircot (processed_data/musique/train.jsonl, dev.jsonl,
test_subsampled.jsonl, ...): question_id, question_text, contexts (title, paragraph_text, is_supporting),
answers_objects (spans, number, date) and perhaps reasoning_steps ("question >>>> answer"), pinned_contexts (the source
paragraph of an IIRC question), type and level. The corpus are the paragraphs of all such files in the folder, like
IRCoT's search corpus (GEAR, appendix A: 139,416 of MuSiQue, 430,225 of 2WikiMultiHopQA); questions come from the one
file.
"""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

from kgrag.lab.datasets import Dataset, Format, Question, has
from kgrag.lab.readers.passages import (
    Row,
    context_dataset,
    first_row,
    id_of,
    json_rows,
    list_of,
    passage_key,
    question_of,
    text_of,
)
from kgrag.values.errors import InputError

EXPECTED = "a .jsonl file whose lines hold question_id, question_text, contexts and answers_objects"
_FORM = (
    'Each line is an object like {"question_id": "...", "question_text": "...", "contexts": [{"title": "...", '
    '"paragraph_text": "...", "is_supporting": true}, ...], "answers_objects": [{"spans": ["..."]}]}.'
)
_COLUMNS = ("question_id", "question_text", "contexts")


def read(path: Path) -> Dataset:
    """Read the questions of a file, and the paragraphs of its sibling files. Raises InputError, naming the place."""
    fits = has(*_COLUMNS)
    beside = sorted(f for f in path.parent.glob("*.jsonl") if f != path and fits(first_row(f)))

    def others() -> Iterator[Row]:
        for file in beside:
            yield from _rows(file)

    return context_dataset(path, lambda: _rows(path), _FORM, "no paragraph supports an answer", others)


def _rows(path: Path) -> Iterator[Row]:
    for place, item in json_rows(path, _FORM):
        contexts = [*list_of(place, item, "contexts", _FORM), *(item.get("pinned_contexts") or [])]
        paragraphs, gold = [], []
        for paragraph in contexts:
            if not isinstance(paragraph, dict):
                raise InputError(f"{place}: contexts holds an item that is not an object.", _FORM)
            title, text = (text_of(place, paragraph, name, _FORM) for name in ("title", "paragraph_text"))
            paragraphs.append((title, text))
            if paragraph.get("is_supporting"):
                gold.append(passage_key(title, text))
        if not gold:
            yield None, paragraphs
            continue
        id = id_of(place, item.get("question_id"), "question_id", _FORM)
        steps = [step for step in item.get("reasoning_steps") or [] if isinstance(step, str)]
        kind, level = str(item.get("type") or ""), item.get("level")
        question = Question(
            id=id,
            text=question_of(place, item, _FORM, "question_text"),
            gold=tuple(dict.fromkeys(gold)),
            answers=tuple(dict.fromkeys(_answers(item.get("answers_objects") or []))),
            type=f"{kind}/{level}" if kind and level else kind or (id.partition("__")[0] if "__" in id else ""),
            steps=len(steps),
            singles=tuple(step.partition(">>>>")[0].strip() for step in steps),
        )
        yield question, paragraphs


def _answers(objects: list[Any]) -> Iterator[str]:
    """Yield the texts of answers: spans, a number, or a date as "12 May 1901"."""
    for entry in objects:
        if isinstance(entry, dict):
            yield from (str(span) for span in entry.get("spans") or [] if span)
            if entry.get("number"):
                yield str(entry["number"])
            date: dict[str, Any] = entry.get("date") or {}
            if parts := [str(date[part]) for part in ("day", "month", "year") if date.get(part)]:
                yield " ".join(parts)


FORMAT = Format(read, EXPECTED, has(*_COLUMNS))
