"""A long report of known tables and text: how much of it is recovered, and how fast."""

import json
import random
from pathlib import Path

import pytest
from made_pdfs import HEIGHT, Maker, prose, words
from read_one import only

Rows = list[tuple[str, ...]]


def make_table(chance: random.Random, number: int) -> Rows:
    """Return a table of 2 to 6 columns and 3 to 14 rows: names, numbers, empty cells, cells of two lines."""
    columns = chance.randint(2, 5)
    head = tuple(words(chance, chance.choice((1, 1, 2)))[:-1] for _ in range(columns))
    rows: Rows = [head]
    for n in range(chance.randint(2, 13)):
        cells = [f"{words(chance, 1)[:-1]} {number}.{n}"]
        for _ in range(columns - 1):
            kind = chance.random()
            two = f"{words(chance, 1)[:-1]}\n{words(chance, 1)[:-1]}"
            number_cell = f"{chance.randint(1, 99999):,}"
            cells.append(
                "" if kind < 0.08 else number_cell if kind < 0.6 else two if kind < 0.7 else words(chance, 1)[:-1]
            )
        rows.append(tuple(cells))
    return rows


def make_report(path: Path, pages: int, *, ruled: bool) -> tuple[list[tuple[str, int, Rows]], list[str]]:
    """Write the report; return its tables (caption, page, rows) and the paragraphs of its pages."""
    chance = random.Random(pages)
    maker = Maker(path)
    tables: list[tuple[str, int, Rows]] = []
    texts: list[str] = []
    for page in range(1, pages + 1):
        maker.at(70, HEIGHT - 40, "Annual Report of the Harbour Board", 8)
        maker.at(290, 30, f"{page} / {pages}", 8)
        paragraphs = [prose(chance, chance.randint(2, 4)) for _ in range(3)]
        if page % 3 == 0:
            maker.columns(paragraphs[:2], [prose(chance, 8)])
            paragraphs = []
        for paragraph in paragraphs:
            maker.text(paragraph)
        texts.extend(paragraphs)
        for _ in range(chance.randint(0, 1) + (page % 2)):
            rows = make_table(chance, len(tables) + 1)
            if maker.y - 14 * sum(max(c.count("\n") + 1 for c in row) for row in rows) < 100:
                break
            caption = f"Table {len(tables) + 1}: {words(chance, 4)[:-1]}"
            maker.lines([caption])
            maker.table(rows, [450 / len(rows[0])] * len(rows[0]), ruled=ruled)
            tables.append((caption, page, rows))
        maker.page()
    maker.save()
    return tables, texts


def cells_of(rows: Rows | tuple[tuple[str, ...], ...]) -> list[tuple[int, int, str]]:
    return [(i, j, " ".join(cell.split())) for i, row in enumerate(rows) for j, cell in enumerate(row)]


@pytest.mark.parametrize(
    ("pages", "ruled", "wanted"),
    [
        (12, True, 0.97),
        pytest.param(300, True, 0.97, marks=pytest.mark.slow),
        pytest.param(300, False, 0.8, marks=pytest.mark.slow),
    ],
)
def test_tables_and_text_of_a_report(tmp_path: Path, pages: int, ruled: bool, wanted: float) -> None:
    tables, texts = make_report(tmp_path / "a.pdf", pages, ruled=ruled)
    document = only(tmp_path / "a.pdf")
    found = {(t.caption, t.page): t.rows[not any(t.rows[0]) :] for t in document.tables}  # without an empty header
    total = right = 0
    for caption, page, rows in tables:
        cells = cells_of(rows)
        total += len(cells)
        right += len(set(cells) & set(cells_of(found.get((caption, page), ()))))
    whole = sum(text in document.text for text in texts)
    print(f"{len(tables)} tables: {right / total:.4f} of {total} cells; {whole} of {len(texts)} paragraphs")
    assert right >= wanted * total
    assert whole >= 0.97 * len(texts)
    assert len(document.pages) == pages
    assert "Annual Report of the Harbour Board" not in document.text


@pytest.mark.parametrize("ruled", [True, False])
def test_headers_of_tables_are_those_a_reader_sees(tmp_path: Path, ruled: bool) -> None:
    """The recognised headers of 50 tables match hand-written ones, printed with rules and without."""
    tables = json.loads(Path(__file__).with_name("judged_headers.json").read_text(encoding="utf-8"))
    chance, maker = random.Random(1), Maker(tmp_path / "a.pdf")
    for number, rows in enumerate(tables, 1):
        maker.lines([f"Table {number}: {words(chance, 3)[:-1]}"])
        maker.table(rows, [450 / len(rows[0])] * len(rows[0]), ruled=ruled)
        maker.page()
    maker.save()
    headers = {table.rows[0] for table in only(tmp_path / "a.pdf").tables if any(table.rows[0])}
    assert headers <= {tuple(rows[0]) for rows in tables} and len(headers) >= 0.8 * len(tables)
