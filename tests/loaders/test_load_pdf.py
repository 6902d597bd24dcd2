"""PDFs become documents with pages and tables, whatever their layout."""

import io
import random
import re
from functools import partial
from pathlib import Path
from typing import Literal

import pytest
from made_pdfs import HEIGHT, LEADING, Maker, prose, words
from read_one import only
from reportlab.lib.pagesizes import A4
from reportlab.lib.pdfencrypt import StandardEncryption
from reportlab.pdfbase import pdfmetrics
from reportlab.pdfbase.cidfonts import UnicodeCIDFont
from reportlab.pdfgen.canvas import Canvas

from kgrag.loaders import load
from kgrag.settings import LoadingSettings
from kgrag.values.documents import Document, Problem, Table
from kgrag.values.installing import install_hint

ONE = LoadingSettings(processes=1)
read = partial(only, loading=ONE)


def text_of(document: Document) -> str:
    return " ".join(document.text.split())


@pytest.fixture
def chance() -> random.Random:
    return random.Random(7)


def test_pages_sections_and_metadata(tmp_path: Path, chance: random.Random) -> None:
    maker = Maker(tmp_path / "ships_of_oslo.pdf")
    maker.canvas.setTitle("Ships of Oslo")
    maker.canvas.setAuthor("Ada Lund")
    first, second, third = (prose(chance, 6) for _ in range(3))
    maker.text("1 Introduction", size=15)
    maker.text(first)
    maker.text("1.1 Scope", size=13)
    maker.text(second)
    maker.page()
    maker.text("2 Results", size=15)
    maker.text(third)
    maker.save()
    document = read(tmp_path / "ships_of_oslo.pdf")
    assert (document.title, document.metadata["author"]) == ("Ships of Oslo", "Ada Lund")
    assert len(document.metadata["date"]) == 10
    sections = [(s.heading, s.text, s.breaks) for s in document.sections]
    assert sections == [
        ("1 Introduction", first, ((0, 1),)),
        ("1 Introduction > 1.1 Scope", second, ((0, 1),)),
        ("2 Results", third, ((0, 2),)),
    ]
    assert [p.number for p in document.pages] == [1, 2]
    assert document.pages[1].text == f"2 Results\n\n{third}"
    assert document.pages[0].text.startswith("1 Introduction\n\n")
    assert document.tables == ()


def test_headings_over_both_columns(tmp_path: Path, chance: random.Random) -> None:
    """Short headings extend only over the first column, but separate the text above from the text below."""
    maker = Maker(tmp_path / "parts of one.pdf")
    wanted = []
    for number in (1, 2, 3):
        left, right = ([prose(chance, 3) for _ in range(n)] for n in (1, 2))
        maker.text(f"{number} Part", size=15)
        maker.columns(left, right)
        wanted.append((f"{number} Part", "\n\n".join(left + right)))
    maker.save()
    document = read(tmp_path / "parts of one.pdf")
    assert [(s.heading, s.text) for s in document.sections] == wanted
    assert document.title == "parts of one"  # "1 Part" is not a title


def test_two_columns_under_a_title(tmp_path: Path, chance: random.Random) -> None:
    maker = Maker(tmp_path / "a.pdf")
    left, right, below = ([prose(chance, 4) for _ in range(3)] for _ in range(3))
    abstract, spanning = prose(chance, 5), prose(chance, 3)
    maker.text("A study of two columns side by side", size=18)
    maker.text(abstract)
    maker.columns(left, right)
    maker.text(spanning)
    maker.columns(below[:2], below[2:])
    maker.save()
    document = read(tmp_path / "a.pdf")
    paragraphs = [p for s in document.sections for p in s.text.split("\n\n")]
    assert paragraphs == [abstract, *left, *right, spanning, *below]
    assert document.title == "A study of two columns side by side"


def test_a_sentence_goes_on_in_the_next_column_and_on_the_next_page(tmp_path: Path) -> None:
    maker = Maker(tmp_path / "a.pdf")
    text = [f"Of part {n} the survey says that many ships came to the old harbour" for n in range(100)]
    lines = maker.wrap(", and ".join(text) + ".", 225)
    for page in (lines[:90], lines[90:]):
        top = maker.y
        maker.lines(page[:45], 60)
        maker.y = top
        maker.lines(page[45:], 312)
        maker.page()
    maker.save()
    document = read(tmp_path / "a.pdf")
    (section,) = document.sections
    assert section.text == ", and ".join(text) + "."
    assert [number for _, number in section.breaks] == [1, 2]
    assert section.text[section.breaks[1][0] :].split()[:3] == " ".join(lines[90:]).split()[:3]
    assert document.pages[0].text == " ".join(lines[:90])
    assert document.pages[1].text == " ".join(lines[90:])


def test_hyphenation_is_mended(tmp_path: Path) -> None:
    maker = Maker(tmp_path / "a.pdf")
    maker.lines(
        [
            "The committee spoke of the long-term plan for the har-", "bour, which is a matter of con-",
            "siderable weight. It is a well-", "known matter and well-known to all, a long-", "term matter of North-",
            "Eastern ports in 1914-", "1918.",
        ]
    )  # fmt: skip
    maker.save()
    assert text_of(read(tmp_path / "a.pdf")) == (
        "The committee spoke of the long-term plan for the harbour, which is a matter of considerable weight. "
        "It is a well-known matter and well-known to all, a long-term matter of North- Eastern ports in 1914- 1918."
    )


@pytest.mark.parametrize(
    "number", [lambda n: f"Page {n} of 9", lambda n: ["iv", "v", "vi", "vii", "viii", "ix"][n - 1]]
)
def test_running_heads_and_feet_are_dropped(tmp_path: Path, chance: random.Random, number: object) -> None:
    maker = Maker(tmp_path / "a.pdf")
    bodies = []
    for n in range(1, 7):
        bodies.append(f"In {1900 + n} the harbour was enlarged. {prose(chance, 5)}")
        maker.at(70, HEIGHT - 40, "Annual Report" if n % 2 else "Northern Harbour Board", 8)
        maker.at(300, 30, number(n), 8)  # type: ignore[operator]
        maker.text(bodies[-1])
        maker.page()
    maker.save()
    document = read(tmp_path / "a.pdf")
    assert document.text == "\n\n".join(bodies)
    assert [p.text for p in document.pages] == bodies


def test_page_labels(tmp_path: Path) -> None:
    maker = Maker(tmp_path / "a.pdf")
    for n in range(1, 5):
        maker.text(f"This is the text of page number {n}, and no other.")
        maker.page()
    maker.canvas.addPageLabel(0, style="ROMAN_LOWER", start=1)
    maker.canvas.addPageLabel(2, style="ARABIC", start=1)
    maker.save()
    pages = read(tmp_path / "a.pdf").pages
    assert [p.label for p in pages] == ["i", "ii", "1", "2"]
    assert [p.name for p in pages] == ["p. 1 (i)", "p. 2 (ii)", "p. 3 (1)", "p. 4 (2)"]


SHIPS = (("Ship", "Built", "Tons"), ("Fram", "1892", "402"), ("Gjøa", "1872", "47"), ("Maud", "1916", "292"))


@pytest.mark.parametrize("ruled", [True, False])
def test_a_table_with_a_caption(tmp_path: Path, chance: random.Random, ruled: bool) -> None:
    maker = Maker(tmp_path / "a.pdf")
    before, after = prose(chance, 4), prose(chance, 4)
    maker.text(before)
    maker.text("Table 1: Ships of the north")
    maker.table(SHIPS, (120, 90, 90), ruled=ruled)
    maker.text(after)
    maker.save()
    document = read(tmp_path / "a.pdf")
    assert document.tables == (Table(1, SHIPS, "Table 1: Ships of the north", 1, 1),)
    assert document.text == f"{before}\n\n{after}"
    assert document.pages[0].text == f"{before}\n\nTable 1: Ships of the north\n\n{after}"
    assert document.tables[0].markdown.splitlines()[:3] == [
        "| Ship | Built | Tons |",
        "| --- | --- | --- |",
        "| Fram | 1892 | 402 |",
    ]


def test_cells_of_several_lines_and_empty_ones(tmp_path: Path) -> None:
    rows = (("Name", "Remarks"), ("Fram", "built by\nColin Archer"), ("", "a | b"), ("Maud", ""))
    maker = Maker(tmp_path / "a.pdf")
    maker.table(rows, (90, 160))
    maker.save()
    (table,) = read(tmp_path / "a.pdf").tables
    assert table.rows == (("Name", "Remarks"), ("Fram", "built by Colin Archer"), ("", "a | b"), ("Maud", ""))
    assert table.markdown.splitlines()[3] == "|  | a \\| b |"


def test_merged_cells(tmp_path: Path) -> None:
    maker = Maker(tmp_path / "a.pdf")
    canvas = maker.canvas
    for x, y, width, height, text in (
        (70, 700, 100, 20, "Region"), (170, 700, 200, 20, "Ships"),
        (70, 660, 100, 40, "North"), (170, 680, 100, 20, "Fram"), (270, 680, 100, 20, "Gjoa"),
        (170, 660, 100, 20, "Maud"), (270, 660, 100, 20, "Tordenskjold"),
    ):  # fmt: skip
        canvas.rect(x, y, width, height)
        canvas.drawString(x + 5, y + 6, text)
    maker.save()
    (table,) = read(tmp_path / "a.pdf").tables
    assert table.rows == (("Region", "Ships", "Ships"), ("North", "Fram", "Gjoa"), ("North", "Maud", "Tordenskjold"))


@pytest.mark.parametrize("repeat", [True, False])
@pytest.mark.parametrize("ruled", [True, False])
def test_a_table_that_goes_on_over_page_breaks(
    tmp_path: Path, chance: random.Random, ruled: bool, repeat: bool
) -> None:
    maker = Maker(tmp_path / "a.pdf")
    head = ("Ship", "Built", "Master")
    rows = [(words(chance, 1)[:-1] + str(n), str(1800 + n), words(chance, 2)[:-1]) for n in range(100)]
    parts = [rows[:20], rows[20:60], rows[60:99], rows[99:]] if ruled else [rows[:20], rows[20:60], rows[60:90]]
    maker.text(prose(chance, 3))
    for n, part in enumerate(parts):
        maker.at(70, HEIGHT - 40, "Northern Harbour Board", 8)
        maker.at(300, 30, str(n + 1), 8)
        if n:
            maker.lines(["Table 1 (continued)"])
        else:
            maker.lines(["Table 1. The fleet"])
        maker.table([head, *part] if repeat or n == 0 else part, (120, 60, 140), ruled=ruled)
        if n < len(parts) - 1:
            maker.page()
    maker.text(prose(chance, 3))
    maker.text("Table 2. Another of the same columns")
    maker.table([head, *rows[:3]], (120, 60, 140), ruled=ruled)
    maker.save()
    document = read(tmp_path / "a.pdf")
    assert [(t.name, t.page, t.last_page) for t in document.tables] == [
        ("Table 1. The fleet", 1, len(parts)),
        ("Table 2. Another of the same columns", len(parts), len(parts)),
    ]
    assert document.tables[0].rows == (head, *(row for part in parts for row in part))
    assert "continued" not in document.text


def test_lists_and_contents_are_no_tables(tmp_path: Path) -> None:
    maker = Maker(tmp_path / "a.pdf")
    for n in range(1, 8):
        maker.at(70, maker.y, f"{n}.")
        maker.at(100, maker.y, f"The matter number {n} of the council")
        maker.y -= LEADING
    maker.y -= 30
    for n in range(1, 8):
        maker.at(70, maker.y, f"Chapter about the {n}. matter " + ". " * 30)
        maker.at(420, maker.y, str(n * 7))
        maker.y -= LEADING
    maker.save()
    document = read(tmp_path / "a.pdf")
    assert document.tables == ()
    assert "3. The matter number 3 of the council" in document.text
    assert "Chapter about the 3. matter … 21" in document.pages[0].text
    assert "Chapter about" not in document.text  # contents are dropped


def test_any_script(tmp_path: Path) -> None:
    pdfmetrics.registerFont(UnicodeCIDFont("HeiseiMin-W3"))
    path = tmp_path / "a.pdf"
    canvas = Canvas(str(path), pagesize=A4)
    canvas.setFont("HeiseiMin-W3", 12)
    canvas.drawString(70, 700, "探検船は北極海を")
    canvas.drawString(70, 684, "航海した。")
    canvas.setFont("Helvetica", 12)
    canvas.drawString(70, 640, "Ångström – Crème brûlée – fi ligature")
    canvas.save()
    text = read(path).text
    assert "探検船は北極海を航海した。" in text
    assert "Ångström – Crème brûlée – fi ligature" in text


def picture() -> bytes:
    from PIL import Image

    out = io.BytesIO()
    Image.new("L", (60, 80), 128).save(out, "PNG")
    return out.getvalue()


@pytest.mark.parametrize(("recognition", "said"), [("off", "ocrmypdf"), ("auto", "none was recognised")])
def test_scanned_pages_are_named(recognition: Literal["off", "auto"], said: str, tmp_path: Path) -> None:
    from reportlab.lib.utils import ImageReader

    (tmp_path / "in").mkdir()
    for name, pages in (("all.pdf", "iii"), ("some.pdf", "tiit")):
        maker = Maker(tmp_path / "in" / name)
        for page in pages:
            if page == "i":
                maker.canvas.drawImage(ImageReader(io.BytesIO(picture())), 0, 0, *A4)
            else:
                maker.text("A page that has words, which can be read.")
            maker.page()
        maker.save()
    items = list(load(tmp_path / "in", loading=LoadingSettings(processes=1, recognition=recognition)))
    problems = {Path(i.place).name: i.message for i in items if isinstance(i, Problem)}
    assert set(problems) == {"all.pdf", "some.pdf:pages 2-3"}
    assert said in problems["all.pdf"]
    (document,) = (i for i in items if isinstance(i, Document))
    assert [bool(p.text) for p in document.pages] == [True, False, False, True]


def test_encrypted_files(tmp_path: Path) -> None:
    for name, encryption in (
        ("user.pdf", StandardEncryption("secret", ownerPassword="other")),
        ("owner.pdf", StandardEncryption("", ownerPassword="other", canCopy=0)),
    ):
        maker = Maker(tmp_path / name, encrypt=encryption)
        maker.text("What stands here is kept from some.")
        maker.save()
    document, problem = load(tmp_path, loading=ONE)
    assert isinstance(document, Document)
    assert document.text == "What stands here is kept from some."
    assert isinstance(problem, Problem)
    assert "password" in problem.message


def test_content_tells_what_a_file_is(tmp_path: Path) -> None:
    maker = Maker(tmp_path / "real.txt")
    maker.text("This is a PDF, whatever its name says.")
    maker.save()
    (tmp_path / "fake.pdf").write_text("This is no PDF, whatever its name says.")
    (tmp_path / "empty.pdf").write_text("")
    items = {Path(getattr(i, "place", None) or i.source).name: i for i in load(tmp_path, loading=ONE)}
    assert isinstance(items["real.txt"], Document)
    assert len(items["real.txt"].pages) == 1
    assert "no PDF" in items["fake.pdf"].message  # type: ignore[union-attr]
    assert items["empty.pdf"].message == "is empty"  # type: ignore[union-attr]


def test_without_pdfplumber(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    maker = Maker(tmp_path / "a.pdf")
    maker.text("Words.")
    maker.save()
    monkeypatch.setattr("kgrag.loaders.base.find_spec", lambda name: None)
    (problem,) = load(tmp_path, loading=ONE)
    assert isinstance(problem, Problem)
    assert problem.message.endswith(install_hint("pdf"))


def test_several_processes_give_the_same(tmp_path: Path, chance: random.Random) -> None:
    maker = Maker(tmp_path / "a.pdf")
    for _ in range(30):
        maker.text(prose(chance, 6))
        maker.table(SHIPS, (100, 80, 80))
        maker.page()
    maker.save()
    several, one = (list(load(tmp_path, loading=LoadingSettings(processes=n))) for n in (2, 1))
    assert several == one
    assert isinstance(one[0], Document)
    assert len(one[0].tables) == 30


def test_raised_and_lowered_characters(tmp_path: Path) -> None:
    maker = Maker(tmp_path / "a.pdf")
    for words_, y in (
        ([("It has 10", 0), ("24", 4), (" kg of H", 0), ("2", -2), ("O, x", 0), ("i", -2), (" and 5 km", 0), ("2", 4),
          (" here.", 0)], 700),
        ([("The ship", 0), ("12", 4), (" sailed.", 0), ("3,4", 4), (" It was the 19", 0), ("th", 4), (" one", 0),
          ("*", 4), (", as was said.", 0)], 680),
    ):  # fmt: skip
        x = 70.0
        for text, rise in words_:
            size = 7 if rise else 10
            maker.canvas.setFont("Helvetica", size)
            maker.canvas.drawString(x, y + rise, text)
            x += maker.canvas.stringWidth(text, "Helvetica", size)
    maker.canvas.setFont("Helvetica", 24)
    maker.canvas.drawString(70, 630, "O")
    maker.canvas.setFont("Helvetica", 10)
    maker.canvas.drawString(90, 641, "nce there was a ship")
    maker.save()
    text = read(tmp_path / "a.pdf").text
    assert "It has 10^24 kg of H2O, x_i and 5 km^2 here." in text
    assert "The ship [12] sailed. [3,4] It was the 19th one*, as was said." in text
    assert "^" not in text.partition("as was said.")[2]  # text after a drop cap of two lines is not raised


def test_numbers_along_the_axes_of_a_chart_are_on_the_page_alone(tmp_path: Path, chance: random.Random) -> None:
    maker = Maker(tmp_path / "a.pdf")
    first, last = prose(chance, 12), prose(chance, 12)
    maker.text(first)
    maker.y -= 40
    for number in (80, 60, 40, 20, 0):
        maker.at(70, maker.y, str(number))
        maker.y -= 30
    for number, year in enumerate((1990, 2000, 2010)):
        maker.at(100 + 90 * number, maker.y, str(year))
    maker.y -= 40
    maker.text("Figure 1: Ships of each year")
    maker.text("17 4 1892")
    maker.text(last)
    maker.save()
    document = read(tmp_path / "a.pdf")
    assert document.text == f"{first}\n\nFigure 1: Ships of each year\n\n17 4 1892\n\n{last}"
    assert "1990" in document.pages[0].text and "60" in document.pages[0].text


@pytest.mark.parametrize("turn", [90, 180, 270])
@pytest.mark.parametrize("shown", [0, 90])
def test_text_that_is_set_sideways(tmp_path: Path, turn: int, shown: int) -> None:
    """Wide tables on upright pages are set sideways, and the page numbers are then sideways to them."""
    lines = [f"Pump {name} ran at {bar} bar in its first year." for name, bar in (("Halcyon", 12), ("Maud", 15))]
    page = Canvas(str(tmp_path / "a.pdf"), pagesize=(600, 600))
    page.setPageRotation(shown)
    page.drawString(290, 20, "7")
    page.translate(300, 300)
    page.rotate(turn)
    for number, line in enumerate(lines):
        page.drawString(-200, -16 * number, line)
    page.save()
    assert " ".join(lines) in text_of(read(tmp_path / "a.pdf"))


@pytest.mark.parametrize("shown", [0, 90, 180, 270])
def test_what_a_page_crops_away_is_no_text_of_it(tmp_path: Path, shown: int) -> None:
    page = Canvas(str(tmp_path / "a.pdf"), pagesize=(600, 600))
    page.setPageRotation(shown)
    page.setCropBox((20, 50, 590, 600))
    page.saveState()
    page.translate(300, 300)
    page.rotate(shown)
    page.drawString(-200, 0, "Pump Halcyon ran at twelve bar.")
    page.restoreState()
    page.drawString(60, 20, "job 4711 do not print")
    page.save()
    assert text_of(read(tmp_path / "a.pdf")) == "Pump Halcyon ran at twelve bar."


def test_heading_beside_a_column_with_a_narrow_gutter_stays_in_its_own(tmp_path: Path) -> None:
    canvas = Canvas(str(tmp_path / "a.pdf"))
    left, right = (
        [(f"{side} {n} of the pots was fired all of the", 10) for n in range(20)] for side in ("left", "right")
    )
    right.insert(8, ("Glazes", 16))
    for column, lines in ((70, left), (273, right)):
        for row, (text, size) in enumerate(lines):
            canvas.setFont("Helvetica", size)
            wide = canvas.stringWidth(text, "Helvetica", size)
            spaces = (193 - wide) / text.count(" ") if size == 10 else 0  # justified, up to a gutter of ten points
            canvas.drawString(column, 700 - 13 * row, text, wordSpace=spaces)
    canvas.save()
    whole = " ".join(f"{section.heading} {section.text}" for section in read(tmp_path / "a.pdf").sections)
    assert re.findall(r"(?:left|right) \d+|Glazes", whole) == [
        " ".join(text.split()[:2]) for text, _ in (*left, *right)
    ]
