"""PopQA: a table of questions about more or less popular entities, without passages; users bring their own corpus.

As published at github.com/AlexTMallen/adaptive-retrieval (popQA.tsv): id, subj, prop, obj, s_wiki_title, s_pop,
question, possible_answers (a JSON list). A file corpus.jsonl (id or _id, title, text) must lie beside it, such as
paragraphs of Wikipedia. PopQA has no gold, so kgrag makes it: the documents with the title of the subject's page
(s_wiki_title, in any case) that contain one of the possible answers word for word. Answers elsewhere in the corpus do
not count: "politician" occurs in thousands of passages. Questions without gold are left out and counted.
"""

import json
from pathlib import Path

from kgrag.lab.datasets import Corpus, Dataset, Format, Question, has
from kgrag.lab.readers import beir
from kgrag.lab.readers.passages import checked, distinct, id_of, question_of, text_of, tsv_rows
from kgrag.text.tokens import search_form
from kgrag.values.documents import Document
from kgrag.values.errors import InputError

CORPUS = "corpus.jsonl"
EXPECTED = f"a .tsv file with the columns question, possible_answers and s_wiki_title, with {CORPUS} beside it"
_FORM = (
    "Its first line names the columns: id, prop, s_wiki_title, question, possible_answers (a JSON list), and others."
)


def read(path: Path) -> Dataset:
    """Read a table with the corpus beside it. Raises InputError, naming file and line."""
    corpus = path.parent / CORPUS
    if not corpus.is_file():
        raise InputError(
            f"{corpus} does not exist.",
            f"PopQA has no passages of its own: put the corpus to search beside it as {CORPUS} (id, title, text).",
        )
    rows = [(_row(*row), search_form(row[1].get("s_wiki_title", ""))) for row in tsv_rows(path, _FORM)]
    by_title: dict[str, list[tuple[str, str]]] = {title: [] for _, title in rows if title}
    keys = []
    for document in beir.documents(corpus):
        assert isinstance(document, Document)
        keys.append(document.key)
        title = search_form(document.title)
        if title in by_title:
            by_title[title].append((document.key, f" {search_form(document.text)} "))
    questions = []
    for question, title in rows:
        answers = [f" {search_form(answer)} " for answer in question.answers]
        gold = [key for key, text in by_title.get(title, ()) if any(answer in text for answer in answers)]
        if gold:
            questions.append(Question(question.id, question.text, tuple(gold), question.answers, question.type))
    lost = len(rows) - len(questions)
    notes = (f"{lost:,} questions are left out: {CORPUS} has no passage that answers them.",) if lost else ()
    if rows and not questions:
        raise InputError(
            f"{corpus} answers none of the {len(rows):,} questions of {path.name}.",
            "Titles must be those of the Wikipedia pages that s_wiki_title names.",
        )
    ids = distinct(keys, corpus, _FORM)
    return Dataset(path, checked(questions, path, _FORM), ids, Corpus(lambda _: beir.documents(corpus)), notes)


def _row(place: str, row: dict[str, str]) -> Question:
    """Return a question without its gold."""
    try:
        answers = json.loads(text_of(place, row, "possible_answers", _FORM))
    except ValueError as error:
        raise InputError(f"{place}: possible_answers is not a JSON list.", _FORM) from error
    if not isinstance(answers, list):
        raise InputError(f"{place}: possible_answers is not a JSON list.", _FORM)
    names = tuple(str(answer) for answer in answers if search_form(str(answer)))
    id = id_of(place, row.get("id") or place.rpartition(":")[2], "id", _FORM)
    return Question(id, question_of(place, row, _FORM), (), names, row.get("prop", ""))


FORMAT = Format(read, EXPECTED, has("question", "possible_answers", "s_wiki_title"))
