"""BEIR: a folder with corpus.jsonl, queries.jsonl and judgements in qrels/SPLIT.tsv.

As published at github.com/beir-cellar/beir: corpus.jsonl with _id, title, text; queries.jsonl with _id, text; qrels
with the columns query-id, corpus-id, score, and a header line. Gold are the documents with a score above 0, all with
the same weight. A folder is read with its test split, else dev, else train; name a file of qrels for another.
"""

from collections.abc import Iterator
from pathlib import Path

from kgrag.lab.datasets import Corpus, Dataset, Format, Question
from kgrag.lab.readers.passages import checked, distinct, id_of, json_lines, question_of, text_of, tsv_rows
from kgrag.loaders.base import clean, one_line
from kgrag.values.documents import Document, Problem, Section
from kgrag.values.errors import InputError

CORPUS, QUERIES, QRELS = "corpus.jsonl", "queries.jsonl", "qrels"
EXPECTED = f"a folder with {CORPUS} (_id, title, text), {QUERIES} (_id, text) and {QRELS}/test.tsv"
_CORPUS_FORM = 'Each line is an object like {"_id": "d1", "title": "...", "text": "..."}; every _id occurs once.'
_QUERIES_FORM = 'Each line is an object like {"_id": "q1", "text": "..."}; every _id occurs once.'
_QRELS_FORM = "A heading, then lines of query-id, corpus-id and score, separated by tabs."


def read(path: Path) -> Dataset:
    """Read a folder, or the folder above a file of qrels. Raises InputError, naming file and line."""
    folder = path if path.is_dir() else path.parent.parent
    qrels = _split(path) if path.is_dir() else path
    gold = _gold(qrels)
    queries: dict[str, str] = {}
    for place, row in json_lines(folder / QUERIES, _QUERIES_FORM):
        id = id_of(place, row.get("_id"), "_id", _QUERIES_FORM)
        if id in gold:
            queries[id] = question_of(place, row, _QUERIES_FORM, "text")
    questions = [Question(id, queries[id], tuple(keys)) for id, keys in gold.items() if id in queries]
    lost = len(gold) - len(questions)
    notes = (f"{lost:,} queries of {qrels.name} are left out: {QUERIES} does not have them.",) if lost else ()
    corpus = folder / CORPUS
    ids = []
    for place, row in json_lines(corpus, _CORPUS_FORM):
        text_of(place, row, "text", _CORPUS_FORM)
        ids.append(id_of(place, row.get("_id"), "_id", _CORPUS_FORM))
    keys = distinct(ids, corpus, _CORPUS_FORM)
    return Dataset(path, checked(questions, qrels, _QRELS_FORM), keys, Corpus(lambda _: documents(corpus)), notes)


def documents(corpus: Path) -> Iterator[Document | Problem]:
    """Yield the documents of a corpus.jsonl that have at least one word."""
    for place, row in json_lines(corpus, _CORPUS_FORM):
        text = clean(text_of(place, row, "text", _CORPUS_FORM)).strip()
        title = one_line(str(row.get("title") or ""))
        key = id_of(place, row.get("_id", row.get("id")), "_id", _CORPUS_FORM)
        if text or title:
            yield Document(key, (Section(text or title),), title=title, source=place)


def _split(folder: Path) -> Path:
    for name in ("test", "dev", "train"):
        if (folder / QRELS / f"{name}.tsv").is_file():
            return folder / QRELS / f"{name}.tsv"
    raise InputError(f"{folder / QRELS} holds neither test.tsv, dev.tsv nor train.tsv.", _QRELS_FORM)


def _gold(path: Path) -> dict[str, list[str]]:
    """Return query id -> its relevant documents."""
    gold: dict[str, list[str]] = {}
    for place, row in tsv_rows(path, _QRELS_FORM):
        try:
            query, document, score = (text.strip() for text in list(row.values())[:3])
            relevant = float(score) > 0
        except ValueError as error:
            raise InputError(f"{place}: not a query-id, a corpus-id and a score.", _QRELS_FORM) from error
        if relevant and document not in gold.setdefault(query, []):
            gold[query].append(document)
    return {query: documents for query, documents in gold.items() if documents}


FORMAT = Format(read, EXPECTED)
