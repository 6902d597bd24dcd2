"""kgrag's own format: a folder with corpus.jsonl, queries.jsonl and perhaps triples.jsonl, read and checked.

corpus.jsonl: id, text and perhaps title, a passage a line. A folder documents/ of PDF, office and other files may
replace it; their ids are their paths in it. queries.jsonl: id, question, gold (ids of the corpus; it may be empty if
there are answers, which passages must then contain) and perhaps answers, type, steps (a list of its sub-questions,
{question, answer, gold}, in which #1 stands for the answer of the first), supports (the sentences that lead to the
answer, {passage, text}) and structure (the text of the page, table or section that it names, or a list of such).
triples.jsonl: passage (id of the corpus), subject, predicate, object.
"""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

from kgrag.lab.datasets import Corpus, Dataset, Format, GoldText, Question
from kgrag.lab.readers.passages import checked, distinct, id_of, json_lines, question_of, single_questions, text_of
from kgrag.loaders import load
from kgrag.loaders.base import clean
from kgrag.settings import LoadingSettings
from kgrag.values.documents import Document, Problem
from kgrag.values.errors import InputError

CORPUS, QUERIES, TRIPLES = "corpus.jsonl", "queries.jsonl", "triples.jsonl"
DOCUMENTS = "documents"
EXPECTED = f"a folder with {CORPUS} (id, title, text), or {DOCUMENTS}/, and {QUERIES} (id, question, gold)"
_CORPUS_FORM = 'Each line is an object like {"id": "m0", "title": "...", "text": "..."}; every id occurs once.'
_QUERIES_FORM = 'Each line is an object like {"id": "q0", "question": "...", "gold": ["m0"]}; every id occurs once.'
_TRIPLES_FORM = 'Each line is an object like {"passage": "m0", "subject": "...", "predicate": "...", "object": "..."}.'


def read(path: Path) -> Dataset:
    """Read the questions and check every line of the files. Raises InputError, naming file and line."""
    if not path.is_dir():
        raise InputError(f"{path} is not a folder.", f"Name a folder that holds {CORPUS} and {QUERIES}.")
    files = path / DOCUMENTS
    of_files = files.is_dir() and not (path / CORPUS).exists()
    for name in (QUERIES, *(() if of_files else (CORPUS,))):
        if not (path / name).exists():
            raise InputError(f"{path / name} does not exist.", f"A question set holds {CORPUS} and {QUERIES}.")
    questions = checked(
        (_question(*row) for row in json_lines(path / QUERIES, _QUERIES_FORM)), path / QUERIES, _QUERIES_FORM
    )
    if len({bool(question.gold) for question in questions}) > 1:
        raise InputError(
            f"{path / QUERIES}: some questions have gold and others none, which are measured differently.",
            "Give all of them gold, or none, and measure the two parts one after the other.",
        )
    if of_files:
        corpus_of_files = Corpus(lambda mb: load(files, max_file_mb=mb, root=files), files)
        return Dataset(path, questions, _keys(files), corpus_of_files)
    keys = distinct([_passage(*row) for row in json_lines(path / CORPUS, _CORPUS_FORM)], path / CORPUS, _CORPUS_FORM)
    if (path / TRIPLES).exists():
        for row in json_lines(path / TRIPLES, _TRIPLES_FORM):
            _triple(*row)

    def corpus(max_file_mb: int) -> Iterator[Document | Problem]:
        """Return the corpus with its triples, without other files of the folder."""
        items = load(path, max_file_mb=max_file_mb, loading=LoadingSettings(follow_links=True))
        return (item for item in items if isinstance(item, Problem) or item.key in keys)

    return Dataset(path, questions, keys, Corpus(corpus))


def _keys(files: Path) -> frozenset[str]:
    """Return the keys that the loaders give to the files of a folder."""
    keys = (f.relative_to(files) for f in files.rglob("*") if f.is_file())
    return frozenset(clean(f.as_posix()) for f in keys if not any(part.startswith(".") for part in f.parts))


def _question(place: str, record: dict[str, Any]) -> Question:
    gold, answers, steps = record.get("gold") or [], record.get("answers") or [], record.get("steps") or []
    if not isinstance(gold, list) or not (gold or answers):
        raise InputError(
            f"{place}: gold is not a list of passages, and there are no answers either: nothing to find.", _QUERIES_FORM
        )
    if not isinstance(answers, list):
        raise InputError(f"{place}: answers is not a list.", _QUERIES_FORM)
    if not isinstance(steps, list):
        raise InputError(f"{place}: steps is not a list.", _QUERIES_FORM)
    return Question(
        id=id_of(place, record.get("id"), "id", _QUERIES_FORM),
        text=question_of(place, record, _QUERIES_FORM),
        gold=tuple(dict.fromkeys(id_of(place, key, "gold", _QUERIES_FORM) for key in gold)),
        answers=tuple(map(str, answers)),
        type=str(record.get("type") or ""),
        steps=len(steps),
        path=_path(place, steps, {str(key) for key in gold}),
        structure=_structure(place, record.get("structure") or []),
        supports=tuple(_supports(place, record.get("supports") or [])),
        singles=single_questions(steps),
    )


def _supports(place: str, value: object) -> Iterator[GoldText]:
    """Yield the sentences that lead to the answer."""
    if not isinstance(value, list) or not all(isinstance(item, dict) for item in value):
        raise InputError(f"{place}: supports is not a list of objects.", _QUERIES_FORM)
    for item in value:
        key = id_of(place, item.get("passage"), "passage of supports", _QUERIES_FORM)
        yield GoldText(key, text_of(place, item, "text", _QUERIES_FORM))


def _structure(place: str, value: object) -> tuple[str, ...]:
    """Return the texts of the pages, tables and sections that a question names."""
    texts = [value] if isinstance(value, str) else value
    if not isinstance(texts, list) or not all(isinstance(text, str) for text in texts):
        raise InputError(f"{place}: structure is neither a text nor a list of texts.", _QUERIES_FORM)
    return tuple(texts)


def _path(place: str, steps: list[Any], gold: set[str]) -> tuple[str, ...]:
    """Return the gold of the steps, if each names its own (`gold`) and together they name all."""
    named = [step.get("gold") for step in steps if isinstance(step, dict)]
    if not named or None in named:
        return ()
    path = tuple(dict.fromkeys(id_of(place, key, "gold", _QUERIES_FORM) for key in named))
    return path if set(path) == gold else ()


def _passage(place: str, record: dict[str, Any]) -> str:
    """Return the id of a corpus line."""
    text_of(place, record, "text", _CORPUS_FORM)
    return id_of(place, record.get("id"), "id", _CORPUS_FORM)


def _triple(place: str, record: dict[str, Any]) -> None:
    id_of(place, record.get("passage"), "passage", _TRIPLES_FORM)
    for name in ("subject", "predicate", "object"):
        text_of(place, record, name, _TRIPLES_FORM)


FORMAT = Format(read, EXPECTED)
