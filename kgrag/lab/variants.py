"""The same questions under harder conditions: misspelt, over whole articles or long documents, or in merged corpora."""

import bz2
import gzip
import hashlib
import html
import json
import random
import re
import unicodedata
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import count, islice
from pathlib import Path
from typing import TextIO

from kgrag.lab.chains import read_documents
from kgrag.lab.datasets import Corpus, Dataset, GoldText, Question
from kgrag.lab.measures import text_ranks
from kgrag.loaders.base import clean
from kgrag.text.languages import STOP_WORDS
from kgrag.values.documents import Document, Problem, Section
from kgrag.values.errors import InputError
from kgrag.values.events import Progress
from kgrag.values.results import Hit, Passage, Ranking

# Whole Wikipedia articles in place of a question set's paragraphs, from an extract of a dump.
#
# Input formats: JSON Lines with title and text (WikiExtractor with --json) or title and extract (the extracts API of
# Wikipedia), WikiExtractor's files of <doc title="...">, each also as .gz or .bz2, and folders of them (AA/wiki_00).
# Source: KGP, appendix A.1; GNN-Ret, appendix B.


_DOC = re.compile(r'<doc\b[^>]*\btitle="([^"]*)"')
_HEADING = re.compile(r"(={2,6})\s*(.+?)\s*\1")
_FORM = (
    'Each line is an object like {"title": "Larvik", "text": "..."}; or the file holds <doc title="Larvik">, the '
    "article and </doc>, as WikiExtractor writes it."
)
_OPEN: dict[str, Callable[..., TextIO]] = {".gz": gzip.open, ".bz2": bz2.open}


def articles(dataset: Dataset, path: Path, progress: Progress) -> Dataset:
    """Return the data set with whole articles in place of the documents with their titles; `path`: the extract.

    Paragraphs of one article become one document, which is gold if one of them was. If an article lacks a supporting
    text, since articles change over the years, it begins with the set's own paragraph. If the set has no supporting
    sentences, the whole paragraph is the supporting text. The notes list missing articles. Raises InputError for a file
    that cannot be read.
    """
    documents = read_documents(dataset, progress)
    names = {key: _name(document.title) for key, document in documents.items() if document.title}
    texts: dict[str, tuple[str, str]] = {}
    title_names = set(names.values())
    for title, text in read_articles(path):
        if (name := _name(title)) in title_names and text.strip():
            texts.setdefault(name, (title, text))
            progress("articles", len(texts), len(title_names))
    become = {key: f"article {texts[name][0]}" for key, name in names.items() if name in texts}
    questions = [_moved(question, become, documents) for question in dataset.questions]
    whole = {become[key]: texts[names[key]] for key in become}
    begins = _lost(dataset.questions, questions, become, documents, whole)
    whole_documents = {
        key: _document(key, *article_text, begins.get(key, {}), str(path)) for key, article_text in whole.items()
    }
    lost = {key for question in dataset.questions for key in question.gold if key not in become and key in documents}
    notes = [
        f"{len(become):,} of {len(documents):,} documents are whole articles of {path.name} ({len(whole_documents):,})."
    ]
    if lost:
        notes.append(f"{len(lost):,} documents of the gold stay as the set has them: {path.name} lacks their titles.")
    if begins:
        notes.append(
            f"{len(begins):,} articles do not hold what supports an answer as the set has it: they begin with its text."
        )

    def corpus(max_file_mb: int) -> Iterator[Document | Problem]:
        left = dict(whole_documents)
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
        if match := _DOC.match(line):
            title, text = html.unescape(match[1]), []
        elif title and line.startswith("</doc>"):
            yield title, "".join(text[text[:1] == [f"{title}\n"] :])  # the text begins with its title
            title = ""
        elif title:
            text.append(html.unescape(line))
        elif line.strip():
            try:
                row = json.loads(line)
                pair = row["title"], row["text"] if "text" in row else row["extract"]
            except (ValueError, KeyError, TypeError) as error:
                raise InputError(f"{file}:{number}: no article.", _FORM) from error
            if all(isinstance(part, str) for part in pair):
                yield pair


def _name(title: str) -> str:
    """Return a title as Wikipedia compares titles: the first letter in either case."""
    name = " ".join(unicodedata.normalize("NFC", html.unescape(title)).replace("_", " ").split())
    return name[:1].upper() + name[1:]


def _moved(question: Question, become: Mapping[str, str], documents: Mapping[str, Document]) -> Question:
    """Return the question with articles as gold."""

    def keys(item: Iterable[str]) -> tuple[str, ...]:
        return tuple(dict.fromkeys(become.get(key, key) for key in item))

    paragraphs = [GoldText(key, documents[key].text) for key in question.path or question.gold if key in documents]
    supports = question.supports or (paragraphs if become.keys() & set(question.gold) else ())
    moved = tuple(GoldText(become.get(item.document, item.document), item.text) for item in supports)
    return replace(question, gold=keys(question.gold), path=keys(question.path), supports=moved)


def _lost(
    before: Iterable[Question],
    after: Iterable[Question],
    become: Mapping[str, str],
    documents: Mapping[str, Document],
    whole: Mapping[str, tuple[str, str]],
) -> dict[str, dict[str, None]]:
    """Return article -> the set's paragraphs whose supporting texts the article lacks."""
    titles: dict[str, dict[str, None]] = {}
    gold: dict[GoldText, bool] = {}
    for one, other in zip(before, after, strict=True):
        for key in one.gold:
            for support in other.supports:
                if support.document != become.get(key) or _plain(support.text) not in _plain(documents[key].text):
                    continue
                if support not in gold:
                    gold[support] = _holds(whole[support.document][1], support)
                if not gold[support]:
                    titles.setdefault(support.document, {})[documents[key].text] = None
    return titles


def _holds(text: str, support: GoldText) -> bool:
    """Return whether an article contains a text, word for word or for the most part (see `measures.text_ranks`)."""
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
        if match := _HEADING.fullmatch(line.strip()):
            sections.append((match[2], []))
        elif line.strip():
            sections[-1][1].append(line.strip())
    parts = tuple(Section("\n\n".join(lines), heading) for heading, lines in sections if lines)
    return Document(key, parts, title=title, source=source)


_WORD = re.compile(r"[^\W\d_]{4,}")  # in a shorter word, a dropped letter makes another word


def typo(question: Question, seed: int = 0) -> Question:
    """Return the question with one letter dropped from one capitalised word, as a hasty user writes a name.

    The word is drawn among the capitalised words of at least four letters other than stop words. The question's first
    word is always capitalised, so it counts only if there is no other. Without any, the longest word is taken. The
    letter is any but the first. The draw depends on the seed and the question's id alone.
    """
    words = list(_WORD.finditer(question.text))
    names = [w for w in words if w.group()[0].isupper() and w.group().lower() not in STOP_WORDS]
    inner = [w for w in names if question.text[: w.start()].strip()]
    candidates = inner or names or sorted(words, key=lambda w: -len(w.group()))[:1]
    if not candidates:
        return question
    draw = random.Random(f"{seed}:{question.id}")
    word = draw.choice(candidates)
    at = draw.randrange(word.start() + 1, word.end())
    return replace(question, text=question.text[:at] + question.text[at + 1 :])


def lower(question: Question, seed: int = 0) -> Question:
    """Return the question in lower case."""
    return replace(question, text=question.text.lower())


PERTURBATIONS: dict[str, Callable[[Question, int], Question]] = {"typo": typo, "lower": lower}
"""Name -> the change of a question; called with the question and a seed."""


def long_document(key: str, parts: Sequence[Document]) -> Document:
    """Join short documents into a long one without its own title; their titles become headings.

    This imitates users who keep many articles in one file. A title then describes only one section of a document. The
    chunker puts each heading before the text under it, and cuts and packs sections like those of any other file.
    Metadata is left out, triples are kept.
    """
    return Document(
        key=key,
        sections=tuple(Section(part.text, part.title) for part in parts),
        source=parts[0].source,
        triples=tuple(triple for part in parts for triple in part.triples),
    )


def join(dataset: Dataset, size: int, max_file_mb: int = 64) -> Dataset:
    """Return the data set with every `size` documents of its corpus, in order, joined into a `long_document`.

    Gold is then part of a document, and is found by its text (see `measures.text_ranks`): ranks count passages.
    `max_file_mb`: maximum size of a corpus file, which is read once for this.
    """
    gold = {key for question in dataset.questions for key in question.gold}
    texts: dict[str, GoldText] = {}
    keys: set[str] = set()

    def corpus(max_file_mb: int) -> Iterator[Document | Problem]:
        problems: list[Problem] = []
        whole = _documents(dataset, max_file_mb, problems)
        for number, parts in enumerate(_groups(whole, size), 1):
            yield long_document(f"long {number}", parts)
        yield from problems

    for number, parts in enumerate(_groups(_documents(dataset, max_file_mb, []), size), 1):
        keys.add(f"long {number}")
        texts.update({p.key: GoldText(f"long {number}", p.text) for p in parts if p.key in gold})
    variants = (*dataset.variants, f"join{size}")
    return replace(dataset, keys=frozenset(keys), corpus=Corpus(corpus), variants=variants, gold_texts=texts)


def sentences(dataset: Dataset) -> Dataset:
    """Return the data set with the sentences that support the answers as gold, in place of whole documents.

    Gold is then found by its text (see `measures.text_ranks`): ranks count passages. Questions without such sentences
    are left out. Raises InputError if no question is left (KGP, section 3: supporting facts).
    """
    texts: dict[str, GoldText] = {}
    questions = []
    for question in dataset.questions:
        keys = []
        for support in question.supports:
            texts[support.key] = support
            keys.append(support.key)
        if keys:
            questions.append(replace(question, gold=tuple(dict.fromkeys(keys)), path=()))
    if not questions:
        raise InputError(
            f"{dataset.path} names no supporting sentences.",
            "HotpotQA, 2WikiMultiHopQA and IIRC do; in kgrag's own form they stand under supports.",
        )
    lost = len(dataset.questions) - len(questions)
    notes = (*dataset.notes, *([f"{lost:,} questions are left out: they name no supporting sentences."] * (lost > 0)))
    return replace(dataset, questions=tuple(questions), gold_texts=texts, notes=notes)


def merge(dataset: Dataset, others: Sequence[Dataset]) -> Dataset:
    """Return the data set with the corpora of others added to its own, so that finding its gold is harder.

    The keys of another corpus are its name, a colon, and the key there; equal names are numbered. A document of another
    corpus with the same title and text as an earlier one is left out: it would compete with the gold.
    Raises InputError if its own corpus already has one of the keys.
    """
    used: set[str] = set()
    named: list[tuple[str, Dataset]] = []
    for other in others:
        names = (other.name if n == 1 else f"{other.name}{n}" for n in count(1))
        name = next(n for n in names if n not in used)
        used.add(name)
        named.append((name, other))
    foreign = frozenset(f"{name}:{key}" for name, other in named for key in other.keys)
    if clash := dataset.keys & foreign:
        raise InputError(f"{dataset.path} has a passage {min(clash)!r}, as has another corpus.", "Rename its folder.")

    def corpus(max_file_mb: int) -> Iterator[Document | Problem]:
        seen = set()
        for item in dataset.documents(max_file_mb):
            if isinstance(item, Document):
                seen.add(_words(item))
            yield item
        for name, other in named:
            for item in other.documents(max_file_mb):
                if isinstance(item, Problem):
                    yield item
                elif (words := _words(item)) not in seen:
                    seen.add(words)
                    yield replace(item, key=f"{name}:{item.key}")

    variants = (*dataset.variants, *(str(other.path) for other in others))
    return replace(dataset, keys=dataset.keys | foreign, corpus=Corpus(corpus), variants=variants)


def _words(document: Document) -> bytes:
    """Return a hash of a document's title and text."""
    text = f"{document.title}\0{document.text}"
    return hashlib.blake2b(text.encode("utf-8", "surrogatepass"), digest_size=8).digest()


def _documents(dataset: Dataset, max_file_mb: int, problems: list[Problem]) -> Iterator[Document]:
    for item in dataset.documents(max_file_mb):
        if isinstance(item, Document):
            yield item
        else:
            problems.append(item)


def _groups(documents: Iterable[Document], size: int) -> Iterator[tuple[Document, ...]]:
    stream = iter(documents)
    while group := tuple(islice(stream, size)):
        yield group
