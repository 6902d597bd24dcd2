"""Cells of workbooks as programs show them."""

import datetime as dt
from pathlib import Path

import openpyxl
import pytest
from openpyxl.cell.rich_text import CellRichText, TextBlock
from openpyxl.cell.text import InlineFont
from read_one import only

DAY = dt.datetime(2024, 5, 3, 13, 5, 9)


def cell(path: Path, held: object, form: str = "General") -> str:
    book = openpyxl.Workbook()
    book.active.append(["Name", "Value"])
    book.active.append(["a", held])
    book.active["B2"].number_format = form
    book.save(path)
    document = only(path)
    return document.tables[0].rows[1][1]


@pytest.mark.parametrize(
    ("held", "form", "text"),
    [
        (dt.timedelta(hours=27, minutes=5), "[h]:mm", "27:05"),
        (dt.timedelta(hours=127, minutes=5, seconds=7), "[h]:mm:ss", "127:05:07"),
        (dt.timedelta(minutes=95), "[mm]:ss", "95:00"),
        (dt.timedelta(hours=30), '[h]" hours"', "30 hours"),
        (DAY, "mmm yyyy", "May 2024"), (DAY, "mmmm\\ yyyy", "May 2024"), (DAY, "[$-409]mmm\\-yy;@", "May-24"),
        (DAY, "yyyy", "2024"), (DAY, "mm/yyyy", "05/2024"), (DAY, "d. mmmm", "3. May"), (DAY, "dddd", "Friday"),
        (DAY, "[$-407]mmmm yyyy", "2024-05"), (DAY, "d mmmm yyyy", "3 May 2024"),
        (DAY, "dd.mm.yyyy", "2024-05-03 13:05:09"), (dt.date(2024, 5, 3), "mm-dd-yy", "2024-05-03"),
        (DAY, "h:mm AM/PM", "1:05 PM"), (DAY, "hh:mm", "13:05"), (DAY, "mm:ss", "05:09"),
        (dt.time(9, 30), "h:mm", "9:30"), (dt.time(0, 30), "h:mm AM/PM", "12:30 AM"), (dt.time(9, 30), "h\\h", "9h"),
        (27412, "#,##0", "27,412"), (-27412, "#,##0", "-27,412"), (27412.25, "#,##0", "27412.25"),
        (1234.5, "#,##0.00", "1,234.50"), (999, "#,##0", "999"),
        (3.5, "0.00", "3.50"), (3.14159, "0.00", "3.14159"), (12, "0", "12"), (2024, "0", "2024"),
        (2.5, "$#,##0", "$2.5"), (1234.56, "$#,##0", "$1,234.56"), (-1234.56, "$#,##0", "-$1,234.56"),
        (0.285, "0%", "28.5%"), (0.125, "0%", "12.5%"), (1.005, "$0.00", "$1.005"), (0.1 + 0.2, "0.00", "0.30"),
        (1 / 3, "0%", "33%"), (2 / 3, "0.0%", "66.7%"), (1.00005, "$0.0000", "$1.0001"), (0.9999999, "0.##%", "100%"),
        (1.5, "0.0#", "1.5"), (1.25, "0.0#", "1.25"), (3, "0.##", "3"), (7.5, "000", "007.5"),
    ],
)  # fmt: skip
def test_cell_with_a_format_is_as_the_sheet_shows_it(tmp_path: Path, held: object, form: str, text: str) -> None:
    assert cell(tmp_path / "a.xlsx", held, form) == text


@pytest.mark.parametrize(
    ("held", "text"),
    [
        ("a_x000D_b", "a b"), ("a_x000D_\nb", "a b"), ("caf_x00E9_", "café"),
        ("my_x_name and _x12_", "my_x_name and _x12_"),
        ("a_x005F_x000D_b", "a_x000D_b"),
        (CellRichText("a_x000D_", TextBlock(InlineFont(b=True), "b")), "a b"),
    ],
)  # fmt: skip
def test_character_written_by_its_code_is_the_character(tmp_path: Path, held: object, text: str) -> None:
    assert cell(tmp_path / "a.xlsx", held) == text
