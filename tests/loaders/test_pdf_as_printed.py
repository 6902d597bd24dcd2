"""PDFs of manuals and papers: fonts without names, definition lists, code, heads and feet, bookmarks."""

import random
from functools import partial
from pathlib import Path

import pytest
from made_pdfs import HEIGHT, LEADING, Maker, prose, type3_pdf
from read_one import only

from kgrag.loaders.pdf_layout import caption_number
from kgrag.settings import LoadingSettings

read = partial(only, loading=LoadingSettings(processes=1))


@pytest.fixture
def chance() -> random.Random:
    return random.Random(11)


@pytest.mark.parametrize(
    ("codes", "text"),
    [
        ([101, 27, 101, 99, 116, 44, 28, 116, 44, 97, 30, 110, 101], "eﬀect,ﬁt,aﬃne"),  # T1
        ([101, 11, 101, 99, 116, 44, 12, 116, 44, 97, 14, 110, 101], "eﬀect,ﬁt,aﬃne"),  # OT1
        ([16, 97, 17, 21, 98], "“a”–b"),
    ],
)
def test_bitmap_fonts_of_tex(tmp_path: Path, codes: list[int], text: str) -> None:
    type3_pdf(tmp_path / "a.pdf", codes)
    plain = text.replace("ﬀ", "ff").replace("ﬁ", "fi").replace("ﬃ", "ffi")
    assert read(tmp_path / "a.pdf").text == plain


def test_a_list_of_definitions_is_text(tmp_path: Path) -> None:
    maker = Maker(tmp_path / "a.pdf")
    maker.text("Options, if specified, have the following meanings:")
    for option, lines in (
        ("-a", ["Each variable that is created", "is given the export attribute."]),
        ("-b", ["Report the status of jobs", "immediately."]),
        ("-e", ["Exit immediately if a pipeline", "returns a non-zero status."]),
        ("-f", ["Disable file name generation."]),
    ):
        maker.at(70, maker.y, option)
        for line in lines:
            maker.at(120, maker.y, line)
            maker.y -= LEADING
    maker.save()
    document = read(tmp_path / "a.pdf")
    assert document.tables == ()
    assert "-e Exit immediately if a pipeline returns a non-zero status." in " ".join(document.text.split())


def test_a_table_between_rules(tmp_path: Path, chance: random.Random) -> None:
    maker = Maker(tmp_path / "a.pdf")
    maker.text(prose(chance, 3))
    rows = [("Module", "Function", "Description"), ("Formula", "lFormula", "Accepts a formula, and"),
            ("", "", "makes of it what is needed"), ("Output", "mkMerMod", "Gives the fitted model")]  # fmt: skip
    line = maker.canvas.line
    line(70, maker.y + 12, 470, maker.y + 12)
    for row in rows:
        for x, cell in zip((75, 180, 280), row, strict=True):
            maker.at(x, maker.y, cell)
        if row is rows[0]:
            line(70, maker.y - 3, 470, maker.y - 3)
        maker.y -= LEADING
    line(70, maker.y + 9, 470, maker.y + 9)
    maker.y -= LEADING
    maker.text("Table 4: The modules, with their functions.")
    maker.text(prose(chance, 3))
    maker.save()
    (table,) = read(tmp_path / "a.pdf").tables
    assert (table.number, table.caption) == (4, "Table 4: The modules, with their functions.")
    assert table.rows == (
        ("Module", "Function", "Description"),
        ("Formula", "lFormula", "Accepts a formula, and makes of it what is needed"),
        ("Output", "mkMerMod", "Gives the fitted model"),
    )


def test_code_keeps_its_lines(tmp_path: Path) -> None:
    maker = Maker(tmp_path / "a.pdf")
    maker.text("The loop goes over all files of the folder and prints their names, as the manual has it there:")
    maker.lines(["for name in files:", "    if name.ends:", "        show(name)", "1  2  3  4"], font="Courier")
    maker.text("Then it ends.")
    maker.save()
    assert read(tmp_path / "a.pdf").text.split("\n\n")[1:] == [
        "for name in files:\n    if name.ends:\n        show(name)\n1  2  3  4",
        "Then it ends.",
    ]


def test_numbers_of_lines_are_dropped(tmp_path: Path, chance: random.Random) -> None:
    maker = Maker(tmp_path / "a.pdf")
    text = prose(chance, 12)
    for number, line in enumerate(maker.wrap(text, 400), 31):
        maker.at(40, maker.y, str(number), 7)
        maker.at(70, maker.y, line)
        maker.y -= LEADING
    maker.save()
    assert read(tmp_path / "a.pdf").text == text


def test_feet_that_name_the_chapter_and_wide_margins(tmp_path: Path, chance: random.Random) -> None:
    """A word divided at a page's end is joined across a foot, or a page number far from the edge."""
    for name, y, foot in (
        ("chapters.pdf", 30.0, lambda n: f"{n} Chapter {n // 3}. Of ships" if n % 2 else f"{n // 3}.{n}. On ice {n}"),
        ("numbers.pdf", 130.0, str),
    ):
        maker = Maker(tmp_path / name)
        for n in range(1, 10):
            maker.text(f"guage of part {n} is known to all of them.")
            maker.text(prose(chance, 6))
            maker.lines([f"It goes on in part {n}, where this is lan-"])
            maker.at(300, y, foot(n))
            maker.page()
        maker.save()
        text = read(tmp_path / name).text
        assert text.count("this is language of part") == 8, text
        assert "Chapter" not in text
        assert "ice" not in text


def test_heads_below_a_wide_margin_that_end_on_the_number(tmp_path: Path, chance: random.Random) -> None:
    maker = Maker(tmp_path / "a.pdf")
    for page in range(1, 9):
        maker.at(70, HEIGHT - 0.13 * HEIGHT, f"Ada Lund, Bo Berg {page}" if page % 2 else f"{page} Polar Ships")
        maker.y = HEIGHT - 0.2 * HEIGHT
        maker.text(prose(chance, 6))
        maker.page()
    maker.save()
    text = read(tmp_path / "a.pdf").text
    assert "Bo Berg" not in text
    assert "Polar Ships" not in text


def test_a_sentence_that_ends_on_a_table_is_no_caption() -> None:
    assert caption_number("table 3. The scores at zero are above.") is None
    assert [caption_number(t) for t in ("Table 3. Scores", "table 3: scores", "TABLE IV", "表 2：船")] == [
        "3",
        "3",
        "IV",
        "2",
    ]


def test_bookmarks_name_the_headings(tmp_path: Path, chance: random.Random) -> None:
    maker = Maker(tmp_path / "a.pdf")
    listed = (("The Debian Archive", 0), ("2.1 The Free Software Guidelines of this Archive", 1), ("Copyright", 1),
              ("Binary packages", 0))  # fmt: skip
    for title, level in listed:
        if level == 0:
            maker.page()
            maker.lines(["CHAPTER TWO"], size=22)
        maker.canvas.bookmarkPage(title)
        maker.canvas.addOutlineEntry(title.removeprefix("2.1 "), title, level)
        half = title.rfind(" ") if len(title) > 30 else len(title)
        maker.lines([title[:half]], x=70, size=14)
        if half < len(title):
            maker.lines([title[half + 1 :]], x=130, size=13)
        maker.text("Note", font="Helvetica-Bold")
        for _ in range(4):
            maker.text(prose(chance, 3))
    maker.save()
    headings = [s.heading for s in read(tmp_path / "a.pdf").sections]
    assert headings == [
        "The Debian Archive",
        "The Debian Archive > 2.1 The Free Software Guidelines of this Archive",
        "The Debian Archive > Copyright",
        "Binary packages",
    ]
