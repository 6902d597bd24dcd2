"""MuSiQue: JSON Lines, a question a line with its paragraphs and its sub-questions.

As published at github.com/StonyBrookNLP/musique (musique_ans_*.jsonl, musique_full_*.jsonl): id ("2hop__13548_13529",
with the type before "__"), question, answer, answer_aliases, answerable, paragraphs (title, paragraph_text,
is_supporting), question_decomposition. Questions that their paragraphs do not answer are left out.
"""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

from kgrag.lab.datasets import Dataset, Format, Question, has
from kgrag.lab.readers.passages import (
    Row,
    context_dataset,
    id_of,
    json_rows,
    list_of,
    passage_key,
    question_of,
    single_questions,
    text_of,
)
from kgrag.values.errors import InputError

EXPECTED = "a .jsonl file whose lines hold id, question, answer, paragraphs and question_decomposition"
_FORM = (
    'Each line is an object like {"id": "2hop__1_2", "question": "...", "answer": "...", "paragraphs": '
    '[{"title": "...", "paragraph_text": "...", "is_supporting": true}, ...], "question_decomposition": [...]}.'
)


def read(path: Path) -> Dataset:
    """Read a file. Raises InputError, naming the place."""
    return context_dataset(path, lambda: _rows(path), _FORM, "no paragraph supports an answer")


def _rows(path: Path) -> Iterator[Row]:
    for place, item in json_rows(path, _FORM):
        paragraphs, gold = [], []
        for paragraph in list_of(place, item, "paragraphs", _FORM):
            if not isinstance(paragraph, dict):
                raise InputError(f"{place}: paragraphs holds an item that is not an object.", _FORM)
            title, text = (text_of(place, paragraph, name, _FORM) for name in ("title", "paragraph_text"))
            paragraphs.append((title, text))
            if paragraph.get("is_supporting"):
                gold.append(passage_key(title, text))
        if not gold or item.get("answerable") is False:
            yield None, paragraphs
            continue
        id = id_of(place, item.get("id"), "id", _FORM)
        answers = [item.get("answer"), *(item.get("answer_aliases") or [])]
        question = Question(
            id=id,
            text=question_of(place, item, _FORM),
            gold=tuple(dict.fromkeys(gold)),
            answers=tuple(dict.fromkeys(str(answer) for answer in answers if answer)),
            type=id.partition("__")[0] if "__" in id else "",
            steps=len(item.get("question_decomposition") or []),
            path=_path(item, paragraphs, set(gold)),
            singles=single_questions(item.get("question_decomposition") or []),
        )
        yield question, paragraphs


def _path(item: dict[str, Any], paragraphs: list[tuple[str, str]], gold: set[str]) -> tuple[str, ...]:
    """Return the gold in the order of the sub-questions, if these name all of it."""
    steps = [step for step in item.get("question_decomposition") or [] if isinstance(step, dict)]
    places = [step.get("paragraph_support_idx") for step in steps]
    valid = [place for place in places if isinstance(place, int) and 0 <= place < len(paragraphs)]
    path = tuple(dict.fromkeys(passage_key(*paragraphs[place]) for place in valid))
    return path if set(path) == gold else ()


FORMAT = Format(read, EXPECTED, has("question", "paragraphs"))
