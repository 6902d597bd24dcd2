"""Questions about pages, tables and sections of PDFs with known text, from the file to the answer."""

import random
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field

import pytest
from made_pdfs import HEIGHT, Maker, prose, words

from kgrag import KnowledgeGraph
from kgrag.lab.measures import normalised

COLLECTION = "structure-pdfs"
Rows = list[tuple[str, ...]]


@dataclass
class Made:
    """A PDF with the content of its pages (from 1) in reading order, in tables and under headings."""

    name: str
    maker: Maker
    chance: random.Random
    number: int = 1
    texts: dict[int, list[str]] = field(default_factory=dict)
    tables: list[tuple[str, int, int, Rows]] = field(default_factory=list)
    sections: list[tuple[str, int, list[str]]] = field(default_factory=list)

    def say(self, text: str) -> None:
        self.texts.setdefault(self.number, []).append(text)
        if self.sections:
            self.sections[-1][2].append(text)

    def heading(self, text: str) -> None:
        self.maker.text(text, size=15)
        self.texts.setdefault(self.number, []).append(text)
        self.sections.append((text, self.number, []))

    def paragraph(self, sentences: int = 4) -> None:
        text = prose(self.chance, sentences)
        self.maker.text(text)
        self.say(text)

    def columns(self, left: int, right: int) -> None:
        sides = [[prose(self.chance, 4) for _ in range(n)] for n in (left, right)]
        self.maker.columns(*sides)
        for text in sides[0] + sides[1]:
            self.say(text)

    def rows(self, count: int, columns: int) -> Rows:
        number = len(self.tables) + 1
        head = tuple(words(self.chance, 1)[:-1] for _ in range(columns))
        body = [
            (f"Ship {number}.{n}", *(f"{self.chance.randint(10, 9999):,}" for _ in range(columns - 1)))
            for n in range(1, count)
        ]
        return [head, *body]

    def table(self, count: int, columns: int, *, ruled: bool, caption: bool = True) -> None:
        rows = self.rows(count, columns)
        name = self.caption() if caption else ""
        self.maker.table(rows, [440 / columns] * columns, ruled=ruled)
        self.tables.append((name, self.number, self.number, rows))
        if caption:
            self.texts.setdefault(self.number, []).append(table_text(name, rows))

    def caption(self) -> str:
        text = f"Table {len(self.tables) + 1}: {words(self.chance, 4)[:-1]}"
        self.maker.lines([text])
        return text

    def page(self) -> None:
        self.maker.page()
        self.number += 1

    def running(self, title: str) -> None:
        self.maker.at(70, HEIGHT - 40, title, 8)
        self.maker.at(290, 30, f"- {self.number} -", 8)


def two_columns(m: Made) -> None:
    """Return a paper with sections of all lengths, in two columns."""
    for number, name in enumerate(("Introduction", "Related work", "Methods", "Results", "Outlook", "Thanks"), 1):
        m.heading(f"{number} {name}")
        m.columns(1 + number % 2, 1 + number % 2)
        if number % 2 == 0:
            m.page()
            m.paragraph()
    m.paragraph(2)


def paper(m: Made) -> None:
    """Return a paper whose sections flow from the left column into the right one, over four pages."""
    m.maker.text("Of harbours and their ships", size=20)
    m.texts[1] = ["Of harbours and their ships"]
    number = 0
    for _ in range(4):
        top = m.maker.y
        for x in (60, 312):
            m.maker.y = top
            for paragraphs in (2, 3):
                number += 1
                heading = f"{number} {words(m.chance, 2)[:-1]}"
                m.maker.text(heading, x, 225, size=13)
                m.texts.setdefault(m.number, []).append(heading)
                m.sections.append((heading, m.number, []))
                for _ in range(paragraphs):
                    text = prose(m.chance, m.chance.randint(2, 4))
                    m.maker.text(text, x, 225)
                    m.say(text)
        m.page()
    m.paragraph()


def ruled(m: Made) -> None:
    """Return a report with one or two ruled tables on a page, between paragraphs."""
    for number in range(1, 13):
        m.paragraph()
        m.table(3 + number % 5, 2 + number % 4, ruled=True, caption=number != 7)
        m.paragraph()
        if number % 3 == 0:
            m.table(4, 3, ruled=True)
        m.page()
    m.paragraph()


def aligned(m: Made) -> None:
    """Return the same without lines."""
    for number in range(1, 11):
        m.paragraph()
        m.table(4 + number % 4, 3 + number % 3, ruled=False)
        m.paragraph()
        m.page()
    m.paragraph()


def over_breaks(m: Made) -> None:
    """Return tables that continue on the next page, with and without a repeated header."""
    for again in (False, True):
        m.paragraph()
        rows = m.rows(80, 3)
        caption = m.caption()
        first, parts = m.number, [rows[:40], rows[40:]]
        m.maker.table(parts[0], [140] * 3)
        m.page()
        m.maker.table([rows[0], *parts[1]] if again else parts[1], [140] * 3)
        m.tables.append((caption, first, m.number, rows))
        m.texts.setdefault(first, []).append(table_text(caption, rows))
        m.paragraph()
        m.page()
    m.paragraph()


def long(m: Made) -> None:
    """Return 300 pages with running heads, chapters, columns and tables."""
    for number in range(1, 301):
        m.running("Annual Report of the Harbour Board")
        if number % 20 == 1:
            m.heading(f"{number // 20 + 1} {words(m.chance, 3)[:-1]}")
        if number % 3 == 0:
            m.columns(2, 2)
        else:
            m.paragraph()
            m.paragraph()
        if number % 7 == 0:
            m.table(6, 4, ruled=True)
        m.page()
    m.paragraph()


def labelled(m: Made) -> None:
    """Return a preface on pages i to iv, and pages 1 to 8."""
    m.maker.canvas.addPageLabel(0, style="ROMAN_LOWER", start=1)
    m.maker.canvas.addPageLabel(4, style="ARABIC", start=1)
    for number in range(1, 13):
        m.paragraph(6)
        if number == 8:
            m.table(5, 3, ruled=True)
        if number < 12:
            m.page()


MAKERS: dict[str, Callable[[Made], None]] = {
    "columns.pdf": two_columns, "paper.pdf": paper, "ruled.pdf": ruled, "aligned.pdf": aligned,
    "breaks.pdf": over_breaks, "long.pdf": long, "labels.pdf": labelled,
}  # fmt: skip


@pytest.fixture(scope="module")
def made(kg: KnowledgeGraph, tmp_path_factory: pytest.TempPathFactory) -> Iterator[list[Made]]:
    folder = tmp_path_factory.mktemp("pdfs")
    documents = []
    for seed, (name, make) in enumerate(MAKERS.items()):
        document = Made(name, Maker(folder / name), random.Random(seed))
        make(document)
        document.maker.save()
        documents.append(document)
    report = kg[COLLECTION].ingest(folder)
    assert not report.problems
    yield documents
    kg[COLLECTION].delete()


def table_text(caption: str, rows: Rows) -> str:
    return " ".join([caption, *(cell for row in rows for cell in row)])


def page_text(m: Made, number: int) -> str:
    """Return the contents of a page: tables with a caption at its place, others at the end."""
    own = [t for t in m.tables if t[1] <= number <= t[2] and not (t[0] and t[1] == number)]
    return " ".join([*m.texts.get(number, []), *(table_text(caption, rows) for caption, _, _, rows in own)])


def asked(m: Made) -> Iterator[tuple[str, str, str]]:
    """Yield (kind, question, expected answer)."""
    pages = sorted(set(m.texts) | {n for _, a, b, _ in m.tables for n in (a, b)})
    forms = (
        "page {} of {}",
        "What does page {} of {} say?",
        "In {1}, show page {0}",
        "What is written on p. {} in {}?",
    )
    labels = (
        ["i", "ii", "iii", "iv", *map(str, range(1, 9))] if m.name == "labels.pdf" else list(map(str, range(1, 400)))
    )
    for n in pages if len(pages) < 20 else pages[::9]:
        yield "page", forms[n % 4].format(labels[n - 1], m.name), page_text(m, n)
    yield "page", f"What does the last page of {m.name} say?", page_text(m, pages[-1])
    yield "page", f"the penultimate page of {m.name}", page_text(m, pages[-2])
    yield "count", f"How many pages does {m.name} have?", f"{m.name} has {len(pages)} pages."
    yield "count", f"How many tables are in {m.name}?", f"{m.name} has {number(len(m.tables), 'table')}."
    for n, (caption, first, last, rows) in enumerate(m.tables, 1):
        text = table_text(caption, rows)
        yield "table", f"What does table {n} of {m.name} say?", text
        here = [t for t in m.tables if t[1] <= first <= t[2]]
        at = labels[first - 1]
        yield "table", f"table {here.index((caption, first, last, rows)) + 1} on page {at} of {m.name}", text
        if len(here) == 1:
            yield "table", f"Show the table on page {at} of {m.name}", text
    for n, (heading, _, texts) in enumerate(m.sections, 1):
        yield "section", f"What does section {n} of {m.name} say?", " ".join([heading, *texts])
    if m.sections:
        yield "count", f"How many sections does {m.name} have?", f"{m.name} has {len(m.sections)} sections."


def number(count: int, kind: str) -> str:
    return f"{count} {kind}{'' if count == 1 else 's'}"


@pytest.mark.slow
def test_questions_about_generated_pdfs(kg: KnowledgeGraph, made: list[Made]) -> None:
    total: Counter[tuple[str, str]] = Counter()
    right: Counter[tuple[str, str]] = Counter()
    for m in made:
        for kind, question, answer in asked(m):
            lookup = kg[COLLECTION].look_up(question)
            total[m.name, kind] += 1
            if lookup is not None and lookup.found and normalised(lookup.text) == normalised(answer):
                right[m.name, kind] += 1
            else:
                print(f"WRONG {question}\n  wanted: {_shown(answer)}\n  found:  {_shown(lookup and lookup.text)}")
    for key, count in total.items():
        print(f"{key[0]:<12} {key[1]:<8} {right[key]} of {count}")
    share = right.total() / total.total()
    print(f"{right.total()} of {total.total()} questions: {share:.4f}")
    assert share >= 0.95


def _shown(text: str | None) -> str:
    return "nothing" if text is None else normalised(text)[:300]
