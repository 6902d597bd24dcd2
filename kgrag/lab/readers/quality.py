"""QuALITY: JSON Lines, an article and its multiple-choice questions a line.

As published at github.com/nyu-mll/quality (QuALITY.v1.0.1.htmlstripped.dev, QuALITY.v1.0.1.dev, ...): article_id,
set_unique_id, title, article, questions (question, options, gold_label from 1, difficult). An article has two lines,
with the questions of two writers; it is one document of many passages. The gold of a question is its article: the data
set does not say where in it the answer is. The answer is the option at `gold_label`, if that is given.
"""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

from kgrag.lab.datasets import Corpus, Dataset, Format, Question, has
from kgrag.lab.readers.passages import checked, id_of, json_rows, list_of, question_of, text_of
from kgrag.loaders.base import BadInput, clean, one_line
from kgrag.loaders.html import add_html
from kgrag.loaders.outline import Outline
from kgrag.values.documents import Document, Problem, Section
from kgrag.values.errors import InputError

EXPECTED = "a file of JSON Lines with article_id, title, article and questions (question, options, gold_label)"
_FORM = (
    'Each line is an object like {"article_id": "...", "set_unique_id": "...", "title": "...", "article": "...", '
    '"questions": [{"question": "...", "options": ["...", ...], "gold_label": 1}, ...]}.'
)


def read(path: Path) -> Dataset:
    """Read a file. Raises InputError, naming the place."""
    questions: list[Question] = []
    keys: set[str] = set()
    for place, item in json_rows(path, _FORM):
        article = id_of(place, item.get("article_id"), "article_id", _FORM)
        text_of(place, item, "article", _FORM)
        keys.add(article)
        for number, entry in enumerate(list_of(place, item, "questions", _FORM), 1):
            if not isinstance(entry, dict):
                raise InputError(f"{place}: questions holds an item that is not an object.", _FORM)
            questions.append(_question(place, item, entry, article, number))
    return Dataset(path, checked(questions, path, _FORM), frozenset(keys), Corpus(lambda _: _articles(path)))


def _question(place: str, item: dict[str, Any], entry: dict[str, Any], article: str, number: int) -> Question:
    options, label = list_of(place, entry, "options", _FORM), entry.get("gold_label")
    right = options[label - 1 : label] if isinstance(label, int) and label > 0 else []
    difficult = entry.get("difficult")
    return Question(
        id=str(entry.get("question_unique_id") or f"{item.get('set_unique_id') or article}_{number}"),
        text=question_of(place, entry, _FORM),
        gold=(article,),
        answers=tuple(map(str, right)),
        choices=tuple(map(str, options)),
        type="" if difficult is None else "hard" if difficult else "easy",
    )


def _articles(path: Path) -> Iterator[Document | Problem]:
    seen: set[str] = set()
    for place, item in json_rows(path, _FORM):
        key = id_of(place, item.get("article_id"), "article_id", _FORM)
        if key in seen:
            continue
        seen.add(key)
        text = text_of(place, item, "article", _FORM)
        sections: tuple[Section, ...] = (Section(clean(text).strip()),)
        if "<p>" in text or "<br" in text:
            outline = Outline()
            try:
                add_html(outline, text)
            except BadInput as error:
                yield Problem(place, f"article {error}")
                continue
            sections = outline.sections()
        yield Document(key, sections, title=one_line(str(item.get("title") or "")), source=str(path))


FORMAT = Format(read, EXPECTED, has("article", "article_id", "questions"))
