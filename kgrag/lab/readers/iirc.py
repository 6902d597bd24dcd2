"""IIRC: paragraphs with questions that they answer only in part, and the articles that they link to.

As published at allenai.org/data/iirc: a list of paragraphs (title, text, links, questions) in train.json, dev.json or
iirc_test.json. Beside it or in the folder above lies context_articles.json, one object of lower-case title -> article
with links as HTML. A question has qid, question, answer (type: span, value, binary or none) and context: the evidence
(passage: "main" for the paragraph, else the title of an article; text).

The corpus is every article and every paragraph of the file. Gold are the documents with the evidence: the paragraph,
and whole articles of many passages each. Unanswerable questions are left out.
"""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

from kgrag.lab.datasets import Corpus, Dataset, Format, GoldText, Question, has
from kgrag.lab.readers.passages import checked, id_of, json_pairs, json_rows, list_of, passage_key, question_of, text_of
from kgrag.loaders.base import clean, one_line
from kgrag.values.documents import Document, Problem, Section
from kgrag.values.errors import InputError

ARTICLES = "context_articles.json"
EXPECTED = f"a .json file whose items hold title, text, links and questions, with {ARTICLES} beside it"
_FORM = (
    'Each item is an object like {"title": "...", "text": "...", "links": [{"target": "...", "indices": [0, 4]}], '
    '"questions": [{"qid": "...", "question": "...", "answer": {...}, "context": [{"passage": "main", ...}]}]}.'
)
_ARTICLES_FORM = 'It is one object like {"title in lower case": "the article as HTML", ...}.'


def read(path: Path) -> Dataset:
    """Read a file of questions with its articles. Raises InputError, naming the place."""
    articles = next((a for a in (path.parent / ARTICLES, path.parent.parent / ARTICLES) if a.is_file()), None)
    if articles is None:
        raise InputError(f"{path.parent / ARTICLES} does not exist.", f"Put {ARTICLES} of IIRC beside {path.name}.")
    questions: list[Question] = []
    titles: dict[str, str] = {}  # lower-case title -> original title
    paragraphs: list[Document] = []
    unanswerable = 0
    for place, item in json_rows(path, _FORM):
        title, text = (text_of(place, item, name, _FORM) for name in ("title", "text"))
        key = f"paragraph {passage_key(title, text)}"
        paragraphs.append(Document(key, (Section(clean(text).strip()),), title=one_line(title), source=str(path)))
        titles.setdefault(_key(title), one_line(title))
        for link in item.get("links") or []:
            if isinstance(link, dict) and isinstance(link.get("target"), str):
                titles.setdefault(_key(link["target"]), one_line(link["target"]))
        for entry in list_of(place, item, "questions", _FORM):
            if not isinstance(entry, dict):
                raise InputError(f"{place}: questions holds an item that is not an object.", _FORM)
            question = _question(place, entry, key)
            unanswerable += question is None
            questions.extend([question] if question is not None else [])
    paragraphs = list({d.key: d for d in paragraphs}.values())
    keys = {d.key for d in paragraphs} | {_key(name) for name, _ in json_pairs(articles, _ARTICLES_FORM)}

    def corpus(max_file_mb: int) -> Iterator[Document | Problem]:
        yield from paragraphs
        yield from _articles(articles, titles)

    notes = (f"{unanswerable:,} questions are left out: they have no answer.",) if unanswerable else ()
    return Dataset(path, checked(questions, path, _FORM), frozenset(keys), Corpus(corpus), notes)


def _question(place: str, entry: dict[str, Any], paragraph: str) -> Question | None:
    answer = entry.get("answer") if isinstance(entry.get("answer"), dict) else {}
    evidence = [c for c in list_of(place, entry, "context", _FORM) if isinstance(c, dict)]
    if not evidence or not answer or answer.get("type") == "none":
        return None
    spans = [s.get("text") for s in answer.get("answer_spans") or [] if isinstance(s, dict)]
    value = [f"{answer['answer_value']} {answer.get('answer_unit') or ''}"] if answer.get("answer_value") else []
    names = [text_of(place, c, "passage", _FORM) for c in evidence]
    return Question(
        id=id_of(place, entry.get("qid"), "qid", _FORM),
        text=question_of(place, entry, _FORM),
        gold=tuple(dict.fromkeys(paragraph if name == "main" else _key(name) for name in names)),
        answers=tuple(str(text).strip() for text in (*spans, *value) if text),
        type=str(answer.get("type") or ""),
        supports=tuple(
            GoldText(paragraph if name == "main" else _key(name), clean(c["text"]).strip())
            for name, c in zip(names, evidence, strict=True)
            if isinstance(c.get("text"), str) and clean(c["text"]).strip()
        ),
    )


def _articles(path: Path, titles: dict[str, str]) -> Iterator[Document]:
    from bs4 import BeautifulSoup

    seen: set[str] = set()
    for name, markup in json_pairs(path, _ARTICLES_FORM):
        key = _key(name)
        if key in seen or not isinstance(markup, str):
            continue
        seen.add(key)
        # Its lines are paragraphs; HTML itself would turn line breaks into spaces.
        lines = BeautifulSoup(markup, "html.parser").get_text().split("\n")
        text = clean("\n\n".join(line.strip() for line in lines if line.strip()))
        yield Document(key, (Section(text),), title=titles.get(key, one_line(name)), source=str(path))


def _key(title: str) -> str:
    return one_line(title).lower()


FORMAT = Format(read, EXPECTED, has("title", "text", "links", "questions"))
