"""Whole Wikipedia articles in place of the paragraphs of a question set, from an extract of a dump.

Read are JSON Lines with title and text (WikiExtractor with --json) or title and extract (the extracts API of
Wikipedia), WikiExtractor's files of <doc title="...">, any of them as .gz or .bz2, and folders of such (AA/wiki_00).
Source: KGP, appendix A.1; GNN-Ret, appendix B.
"""

import bz2
import gzip
import html
import json
import re
import unicodedata
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import replace
from pathlib import Path
from typing import TextIO

from kgrag.lab.chains import read_documents
from kgrag.lab.datasets import Corpus, Dataset, GoldText, Question
from kgrag.lab.gold import text_ranks
from kgrag.loaders.base import clean
from kgrag.values.documents import Document, Problem, Section
from kgrag.values.errors import InputError
from kgrag.values.events import Progress
from kgrag.values.results import Hit, Passage, Ranking

_DOC = re.compile(r'<doc\b[^>]*\btitle="([^"]*)"')
_HEADING = re.compile(r"(={2,6})\s*(.+?)\s*\1")
_FORM = (
    'Each line is an object like {"title": "Larvik", "text": "..."}; or the file holds <doc title="Larvik">, the '
    "article and </doc>, as WikiExtractor writes it."
)
_OPEN: dict[str, Callable[..., TextIO]] = {".gz": gzip.open, ".bz2": bz2.open}


def articles(dataset: Dataset, path: Path, progress: Progress) -> Dataset:
    """Return the data set with whole articles in place of the documents with their titles; `path`: the extract.

    Paragraphs of one article become one document, which is gold where one of them was. What supports an answer is
    looked for in the article; where it is not found (an article changes over the years), the article begins with the
    set's own paragraph. Where the set names no sentences, the paragraph is what supports the answer. The notes say what
    is missing. Raises InputError for a file that cannot be read.
    """
    documents = read_documents(dataset, progress)
    names = {key: _name(document.title) for key, document in documents.items() if document.title}
    texts: dict[str, tuple[str, str]] = {}
    wanted = set(names.values())
    for title, text in read_articles(path):
        if (name := _name(title)) in wanted and text.strip():
            texts.setdefault(name, (title, text))
            progress("articles", len(texts), len(wanted))
    become = {key: f"article {texts[name][0]}" for key, name in names.items() if name in texts}
    questions = [_moved(question, become, documents) for question in dataset.questions]
    whole = {become[key]: texts[names[key]] for key in become}
    begins = _lost(dataset.questions, questions, become, documents, whole)
    made = {key: _document(key, *its, begins.get(key, {}), str(path)) for key, its in whole.items()}
    lost = {key for question in dataset.questions for key in question.gold if key not in become and key in documents}
    notes = [f"{len(become):,} of {len(documents):,} documents are whole articles of {path.name} ({len(made):,})."]
    if lost:
        notes.append(f"{len(lost):,} documents of the gold stay as the set has them: {path.name} lacks their titles.")
    if begins:
        notes.append(
            f"{len(begins):,} articles do not hold what supports an answer as the set has it: they begin with its text."
        )

    def corpus(max_file_mb: int) -> Iterator[Document | Problem]:
        left = dict(made)
        for item in dataset.documents(max_file_mb):
            if not isinstance(item, Document) or item.key not in become:
                yield item
            elif article := left.pop(become[item.key], None):
                yield article

    return replace(
        dataset,
        questions=tuple(questions),
        keys=frozenset(become.get(key, key) for key in dataset.keys),
        corpus=Corpus(corpus),
        notes=(*dataset.notes, *notes),
        variants=(*dataset.variants, path.name),
    )


def read_articles(path: Path) -> Iterator[tuple[str, str]]:
    """Yield the titles and texts of an extract. Raises InputError with the place."""
    files = [path] if not path.is_dir() else sorted(f for f in path.rglob("*") if f.is_file() and f.name[0] != ".")
    for file in files:
        try:
            with _OPEN.get(file.suffix, open)(file, "rt", encoding="utf-8") as lines:
                yield from _articles(file, lines)
        except (OSError, EOFError, UnicodeDecodeError) as error:
            raise InputError(f"{file} cannot be read ({error}).", _FORM) from error


def _articles(file: Path, lines: TextIO) -> Iterator[tuple[str, str]]:
    title, text = "", list[str]()
    for number, line in enumerate(lines, 1):
        if found := _DOC.match(line):
            title, text = html.unescape(found[1]), []
        elif title and line.startswith("</doc>"):
            yield title, "".join(text[text[:1] == [f"{title}\n"] :])  # it begins with its title
            title = ""
        elif title:
            text.append(html.unescape(line))
        elif line.strip():
            try:
                row = json.loads(line)
                its = row["title"], row["text"] if "text" in row else row["extract"]
            except (ValueError, KeyError, TypeError) as error:
                raise InputError(f"{file}:{number}: no article.", _FORM) from error
            if all(isinstance(part, str) for part in its):
                yield its


def _name(title: str) -> str:
    """Return a title as Wikipedia compares titles: whatever the case of its first letter."""
    name = " ".join(unicodedata.normalize("NFC", html.unescape(title)).replace("_", " ").split())
    return name[:1].upper() + name[1:]


def _moved(question: Question, become: Mapping[str, str], documents: Mapping[str, Document]) -> Question:
    """Return the question with articles as gold."""

    def keys(its: Iterable[str]) -> tuple[str, ...]:
        return tuple(dict.fromkeys(become.get(key, key) for key in its))

    paragraphs = [GoldText(key, documents[key].text) for key in question.path or question.gold if key in documents]
    supports = question.supports or (paragraphs if become.keys() & set(question.gold) else ())
    moved = tuple(GoldText(become.get(its.document, its.document), its.text) for its in supports)
    return replace(question, gold=keys(question.gold), path=keys(question.path), supports=moved)


def _lost(
    before: Iterable[Question],
    after: Iterable[Question],
    become: Mapping[str, str],
    documents: Mapping[str, Document],
    whole: Mapping[str, tuple[str, str]],
) -> dict[str, dict[str, None]]:
    """Return article -> the paragraphs of the set that support an answer, where the article lacks them."""
    found: dict[str, dict[str, None]] = {}
    known: dict[GoldText, bool] = {}
    for one, other in zip(before, after, strict=True):
        for key in one.gold:
            for its in other.supports:
                if its.document != become.get(key) or _plain(its.text) not in _plain(documents[key].text):
                    continue
                if its not in known:
                    known[its] = _holds(whole[its.document][1], its)
                if not known[its]:
                    found.setdefault(its.document, {})[documents[key].text] = None
    return found


def _holds(text: str, support: GoldText) -> bool:
    """Return whether a text stands in an article, word by word or in the main (see `gold.text_ranks`)."""
    if _plain(support.text) in _plain(text):
        return True
    whole = Ranking("", "", (Hit(Passage("", support.document, "", text), 0.0, ()),))
    return text_ranks(whole, [""], {"": support})[0] is not None


def _plain(text: str) -> str:
    return " ".join(text.split())


def _document(key: str, title: str, text: str, begins: Iterable[str], source: str) -> Document:
    """Return an article as a Document: lines are paragraphs, `== Lines ==` headings; `begins`: the text before it."""
    sections: list[tuple[str, list[str]]] = [("", list(begins))]
    for line in clean(text).splitlines():
        if found := _HEADING.fullmatch(line.strip()):
            sections.append((found[2], []))
        elif line.strip():
            sections[-1][1].append(line.strip())
    made = tuple(Section("\n\n".join(lines), heading) for heading, lines in sections if lines)
    return Document(key, made, title=title, source=source)
