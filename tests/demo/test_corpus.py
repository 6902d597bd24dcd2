"""The demo corpus is consistent: every question can be answered only by following its chain of articles."""

import csv
import json
import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from html.parser import HTMLParser
from importlib.resources import as_file, files
from itertools import pairwise
from pathlib import Path

import pytest

SHOWCASES = 3
STOPWORDS = frozenset({"and", "as", "his", "in", "of", "the", "to", "was", "which", "who"})


@dataclass(frozen=True)
class Article:
    title: str
    text: str
    file: str


@dataclass(frozen=True)
class Question:
    question: str
    answer: str
    hops: int
    documents: tuple[str, ...]


class Page(HTMLParser):
    """Collects a page's title and the words between <main> and </main>."""

    def __init__(self) -> None:
        super().__init__()
        self.title = ""
        self.words: list[str] = []
        self._open: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        if tag not in {"meta", "link", "br", "img"}:
            self._open.append(tag)

    def handle_endtag(self, tag: str) -> None:
        assert self._open.pop() == tag, f"</{tag}> closes nothing"

    def handle_data(self, data: str) -> None:
        if "title" in self._open:
            self.title += data
        elif "main" in self._open and data.strip():
            self.words.append(data.strip())


def read(path: Path) -> Iterator[Article]:
    text = path.read_text(encoding="utf-8")
    match path.suffix:
        case ".md":
            heading, _, body = text.partition("\n")
            assert heading.startswith("# "), path
            yield Article(heading.removeprefix("# "), body, path.name)
        case ".txt":
            yield Article(path.stem.replace("_", " "), text, path.name)
        case ".jsonl":
            for line in text.splitlines():
                row = json.loads(line)
                yield Article(row["title"], row["text"], path.name)
        case ".csv":
            for cells in csv.DictReader(text.splitlines()):
                yield Article(cells["title"], cells["text"], path.name)
        case ".html":
            page = Page()
            page.feed(text)
            yield Article(page.title, " ".join(page.words), path.name)
        case _:
            raise AssertionError(f"no loader for {path}")


@cache
def articles() -> tuple[Article, ...]:
    with as_file(files("kgrag").joinpath("demo", "corpus")) as root:
        return tuple(article for path in sorted(root.rglob("*")) if path.is_file() for article in read(path))


@cache
def texts() -> dict[str, str]:
    return {article.title: article.text for article in articles()}


@cache
def questions() -> tuple[Question, ...]:
    raw = files("kgrag").joinpath("demo", "questions.json").read_text(encoding="utf-8")
    return tuple(Question(q["question"], q["answer"], q["hops"], tuple(q["documents"])) for q in json.loads(raw))


def bare(title: str) -> str:
    return re.sub(r"\s*\([^)]*\)$", "", title)


def says(text: str, name: str) -> bool:
    return re.search(rf"(?<!\w){re.escape(name)}(?!\w)", text) is not None


def content_words(text: str) -> set[str]:
    return set(re.findall(r"\w+", text.lower())) - STOPWORDS


def alike(one: str, other: str) -> bool:
    """Return whether two words are equal, or one begins the other ("name", "named"), like a stemmer."""
    return one == other or (min(len(one), len(other)) >= 4 and (one.startswith(other) or other.startswith(one)))


every_question = pytest.mark.parametrize("asked", questions(), ids=lambda q: q.answer)
every_showcase = pytest.mark.parametrize("asked", questions()[:SHOWCASES], ids=lambda q: q.answer)


def test_about_sixty_articles_in_five_formats() -> None:
    assert 55 <= len(articles()) <= 70
    assert {Path(article.file).suffix for article in articles()} == {".md", ".txt", ".jsonl", ".csv", ".html"}


def test_titles_are_unique() -> None:
    assert len(texts()) == len(articles())
    assert all(title == title.strip() and title for title in texts())


def test_ids_are_unique_in_each_table() -> None:
    with as_file(files("kgrag").joinpath("demo", "corpus")) as root:
        for path in [*root.glob("*.jsonl"), *root.glob("*.csv")]:
            lines = path.read_text(encoding="utf-8").splitlines()
            rows = csv.DictReader(lines) if path.suffix == ".csv" else map(json.loads, lines)
            ids = [row["id"] for row in rows]
            assert len(ids) == len(set(ids)), path


@pytest.mark.parametrize("article", articles(), ids=lambda article: article.title)
def test_length(article: Article) -> None:
    assert 60 <= len(article.text.split()) <= 900


def test_a_long_article_needs_several_passages() -> None:
    assert any(len(article.text.split()) >= 500 for article in articles())


def test_names_are_not_only_ascii() -> None:
    assert sum(not title.isascii() for title in texts()) >= 5


def test_enough_questions_of_each_length() -> None:
    assert len(questions()) >= 12
    assert {q.hops for q in questions()} == {2, 3, 4}
    assert [q.hops for q in questions()[:SHOWCASES]] == [2, 3, 3]
    assert len({q.question for q in questions()}) == len(questions())


@every_question
def test_chain_exists(asked: Question) -> None:
    assert len(asked.documents) == asked.hops
    assert set(asked.documents) <= set(texts())


@every_question
def test_question_names_the_start_of_the_chain(asked: Question) -> None:
    assert says(asked.question.lower(), bare(asked.documents[0]).lower())


@every_question
def test_each_document_names_the_next(asked: Question) -> None:
    for here, there in pairwise(asked.documents):
        assert says(texts()[here], bare(there)), f"{here} does not name {there}"


@every_question
def test_no_shortcut_along_the_chain(asked: Question) -> None:
    for position, here in enumerate(asked.documents):
        for later in asked.documents[position + 2 :]:
            assert not says(texts()[here], bare(later)), f"{here} already names {later}"


@every_question
def test_only_the_last_document_holds_the_answer(asked: Question) -> None:
    *earlier, last = asked.documents
    assert says(texts()[last], asked.answer)
    assert asked.answer.lower() not in asked.question.lower()
    for title in earlier:
        assert not says(texts()[title], asked.answer), f"{title} gives the answer away"


@every_showcase
def test_keywords_do_not_reach_the_answer(asked: Question) -> None:
    wanted, last = content_words(asked.question), asked.documents[-1]
    found = content_words(f"{last} {texts()[last]}")
    shared = {(word, other) for word in wanted for other in found if alike(word, other)}
    assert len(shared) <= 2, f"{last} shares {sorted(shared)} with the question"
