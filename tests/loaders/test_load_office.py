"""Word, PowerPoint and Excel files become documents with their headings, slides, sheets and tables."""

import datetime as dt
import io
import zipfile
from pathlib import Path

import docx
import openpyxl
import pptx
import pytest
from docx.oxml import parse_xml
from pptx.util import Inches
from read_one import only as read

from kgrag.loaders import load
from kgrag.values.documents import Problem, Table

W = 'xmlns:w="http://schemas.openxmlformats.org/wordprocessingml/2006/main"'
M = 'xmlns:m="http://schemas.openxmlformats.org/officeDocument/2006/math"'
MC = "http://schemas.openxmlformats.org/markup-compatibility/2006"
SHIPS = (("Ship", "Built"), ("Fram", "1892"), ("Maud", "1916"))


def test_word(tmp_path: Path) -> None:
    file = docx.Document()
    file.core_properties.title, file.core_properties.author = "On Ships", "Ada Lund"
    file.core_properties.created = dt.datetime(2024, 5, 31, 12)
    file.add_paragraph("Before all headings.")
    file.add_heading("Ships", 1)
    file.add_paragraph("They sail.\nFar.")
    for item in ("north", "south"):
        file.add_paragraph(item, style="List Bullet")
    file.add_paragraph("Table 1: All of them", style="Caption")
    table = file.add_table(0, 2)
    for row in SHIPS:
        for cell, text in zip(table.add_row().cells, row, strict=True):
            cell.text = text
    file.add_heading("Names", 2)
    file.add_paragraph("They have names.")
    file.save(str(tmp_path / "a.docx"))
    document = read(tmp_path / "a.docx")
    assert (document.title, document.metadata) == ("On Ships", {"author": "Ada Lund", "date": "2024-05-31"})
    assert [(s.heading, s.text) for s in document.sections] == [
        ("", "Before all headings."),
        ("Ships", "They sail.\nFar.\n\n- north\n- south"),
        ("Ships > Names", "They have names."),
    ]
    assert document.tables == (Table(1, SHIPS, "Table 1: All of them"),)
    assert document.pages == ()


def test_paragraph_with_a_level_of_the_outline_is_a_heading(tmp_path: Path) -> None:
    file = docx.Document()
    chapter, contents, clause = (file.styles.add_style(name, 1) for name in ("Chapter", "Contents", "Clause"))
    chapter.base_style = contents.base_style = file.styles["Heading 1"]
    for style, level in ((contents, 9), (clause, 1)):
        style.element.get_or_add_pPr().append(parse_xml(f'<w:outlineLvl {W} w:val="{level}"/>'))
    for text, style in (("Kilns", "Chapter"), ("One.", "Normal"), ("Bricks", "Clause"), ("Two.", "Contents"),
                        ("Mortar", "Normal"), ("clay " * 50, "Clause")):  # fmt: skip
        paragraph = file.add_paragraph(text, style=style)
        if text == "Mortar":
            paragraph._p.get_or_add_pPr().append(parse_xml(f'<w:outlineLvl {W} w:val="2"/>'))
    file.save(str(tmp_path / "a.docx"))
    assert [(s.heading, s.text) for s in read(tmp_path / "a.docx").sections] == [
        ("Kilns", "One."), ("Kilns > Bricks", "Two."), ("Kilns > Bricks > Mortar", ("clay " * 50).strip()),
    ]  # fmt: skip


def test_paragraph_in_a_style_of_lists_without_a_mark_is_no_item(tmp_path: Path) -> None:
    file = docx.Document()
    for style in ("List Bullet", "List Continue", "List Paragraph", "List Bullet"):
        paragraph = file.add_paragraph(style, style=style)
    paragraph._p.get_or_add_pPr().append(parse_xml(f'<w:numPr {W}><w:numId w:val="0"/></w:numPr>'))
    file.save(str(tmp_path / "a.docx"))
    assert read(tmp_path / "a.docx").text == "- List Bullet\n\nList Continue\n\nList Paragraph\n\nList Bullet"


def test_number_of_a_cell_is_read_and_counts(tmp_path: Path) -> None:
    file = docx.Document()
    file.add_paragraph("First", style="List Number")
    table = file.add_table(2, 2)
    for place, text in enumerate(("Nr", "Rule", "", "Fire")):
        table.cell(place // 2, place % 2).text = text
    table.cell(1, 0).paragraphs[0].style = "List Number"
    file.add_paragraph("Third", style="List Number")
    file.save(str(tmp_path / "a.docx"))
    document = read(tmp_path / "a.docx")
    assert (document.text, document.tables[0].rows) == ("1. First\n\n3. Third", (("Nr", "Rule"), ("2.", "Fire")))


def test_list_of_a_style_of_lists_has_its_numbers(tmp_path: Path) -> None:
    file = docx.Document()
    numbering = file.part.numbering_part.element
    level = '<w:lvl w:ilvl="0"><w:start w:val="1"/><w:numFmt w:val="upperRoman"/><w:lvlText w:val="§ %1"/></w:lvl>'
    for number, inner in ((90, f'<w:styleLink w:val="Clauses"/>{level}'), (91, '<w:numStyleLink w:val="Clauses"/>')):
        numbering.insert(0, parse_xml(f'<w:abstractNum {W} w:abstractNumId="{number}">{inner}</w:abstractNum>'))
    numbering.append(parse_xml(f'<w:num {W} w:numId="92"><w:abstractNumId w:val="91"/></w:num>'))
    for text in ("Fire", "Clay"):
        settings = file.add_paragraph(text)._p.get_or_add_pPr()
        settings.append(parse_xml(f'<w:numPr {W}><w:ilvl w:val="0"/><w:numId w:val="92"/></w:numPr>'))
    file.save(str(tmp_path / "a.docx"))
    assert read(tmp_path / "a.docx").text == "§ I Fire\n§ II Clay"


def _run(text: str) -> str:
    return f"<m:r><m:t>{text}</m:t></m:r>"


def _of(kind: str, *parts: tuple[str, str], **signs: str) -> str:
    settings = "".join(f'<m:{name} m:val="{sign}"/>' for name, sign in signs.items())
    inner = "".join(f"<m:{name}>{part}</m:{name}>" for name, part in parts)
    return f"<m:{kind}><m:{kind}Pr>{settings}</m:{kind}Pr>{inner}</m:{kind}>"


_X, _PLUS = ("e", _run("x")), ("e", _run("x+1"))


@pytest.mark.parametrize(
    ("source", "text"),
    [
        (_of("d", _X, begChr="|", endChr="|"), "|x|"), (_of("d", _X), "(x)"), (_of("d", _X, ("e", _run("y"))), "(x|y)"),
        (_of("d", ("e", _of("eqArr", _X, ("e", _run("y")))), begChr="{", endChr=""), "{x; y"),
        (_of("func", ("fName", _run("sin")), _X), "sin x"), (_of("func", ("fName", _run("sin")), _PLUS), "sin(x+1)"),
        (_of("func", ("fName", _run("sin")), ("e", _of("d", _PLUS))), "sin(x+1)"),
        (_of("limLow", ("e", _run("lim")), ("lim", _run("n→0"))), "lim_(n→0)"),
        (_of("limUpp", ("e", _run("lim")), ("lim", _run("n"))), "lim^n"),
        (_of("acc", _X, chr="\u0304"), "x\u0304"), (_of("acc", _X), "x\u0302"), (_of("bar", _X, pos="top"), "x\u0305"),
        (_of("acc", _PLUS, chr="\u0304"), "(x+1)\u0304"),
        (_of("nary", ("sub", _run("i")), ("sup", ""), _X, chr="∑"), "∑_i x"),
        (_of("nary", ("sub", _run("0")), ("sup", _run("1")), _X), "∫_0^1 x"),
        (_of("nary", ("sub", ""), ("sup", ""), _X), "∫ x"),
    ],
)  # fmt: skip
def test_formula_of_word_is_read_on_a_line(tmp_path: Path, source: str, text: str) -> None:
    file = docx.Document()
    file.add_paragraph()._p.append(parse_xml(f"<m:oMath {M}>{source}</m:oMath>"))
    file.save(str(tmp_path / "a.docx"))
    assert read(tmp_path / "a.docx").text == text


def test_merged_cells_and_revisions_in_word(tmp_path: Path) -> None:
    file = docx.Document()
    paragraph = file.add_paragraph("kept ")
    for tag, text, run in (("ins", "t", "inserted"), ("del", "delText", "deleted")):
        change = paragraph._p.makeelement(f"{{{paragraph._p.nsmap['w']}}}{tag}", {})
        run_element = paragraph.add_run()._r
        text_element = run_element.makeelement(f"{{{paragraph._p.nsmap['w']}}}{text}", {})
        text_element.text = run
        run_element.append(text_element)
        change.append(run_element)
        paragraph._p.append(change)
    table = file.add_table(3, 3)
    for i, row in enumerate(table.rows):
        for j, cell in enumerate(row.cells):
            cell.text = f"{i}{j}"
    table.cell(0, 1).merge(table.cell(0, 2)).text = "both"
    table.cell(1, 0).merge(table.cell(2, 0)).text = "down"
    table.cell(2, 1).merge(table.cell(2, 2)).text = "wide"
    file.save(str(tmp_path / "a.docx"))
    document = read(tmp_path / "a.docx")
    assert document.text == "kept inserted"
    rows = (("", "", ""), ("00", "both", "both"), ("down", "11", "12"), ("down", "wide", "wide"))
    assert document.tables[0].rows == rows


def test_powerpoint(tmp_path: Path) -> None:
    file = pptx.Presentation()
    for n in (1, 2):
        slide = file.slides.add_slide(file.slide_layouts[1])
        slide.shapes.title.text = f"Slide about {n}"
        slide.placeholders[1].text = f"First point of {n}\nSecond point"
        slide.notes_slide.notes_text_frame.text = f"Say {n}."
    shape = slide.shapes.add_table(3, 2, Inches(1), Inches(5), Inches(4), Inches(1))
    for i, row in enumerate(SHIPS):
        for j, text in enumerate(row):
            shape.table.cell(i, j).text = text
    file.save(str(tmp_path / "talk.pptx"))
    document = read(tmp_path / "talk.pptx")
    assert [(s.heading, s.text, s.breaks) for s in document.sections] == [
        (f"Slide about {n}", f"First point of {n}\nSecond point\n\nNotes: Say {n}.", ((0, n),)) for n in (1, 2)
    ]
    assert [(p.number, p.text.splitlines()[0]) for p in document.pages] == [(1, "Slide about 1"), (2, "Slide about 2")]
    assert document.tables == (Table(1, SHIPS, "Slide about 2", 2, 2),)


@pytest.mark.parametrize("kind", ["Choice", "Fallback"])
def test_shape_that_has_alternatives_is_read(tmp_path: Path, kind: str) -> None:
    file = pptx.Presentation()
    shapes = file.slides.add_slide(file.slide_layouts[6]).shapes
    for tree, text in ((shapes, "On the slide."), (shapes.add_group_shape().shapes, "In a group.")):
        for alternative in (text, "Older."):
            tree.add_textbox(Inches(1), Inches(1), Inches(4), Inches(1)).text_frame.text = alternative
        shape, older = (shape._element for shape in list(tree)[-2:])
        wrapper = shape.makeelement(f"{{{MC}}}AlternateContent", {})
        shape.addprevious(wrapper)
        for name, element in ((kind, shape), ("Fallback", older)):
            wrapper.append(shape.makeelement(f"{{{MC}}}{name}", {}))
            wrapper[-1].append(element)
    file.save(str(tmp_path / "a.pptx"))
    assert read(tmp_path / "a.pptx").text == "In a group.\nOn the slide."


def test_excel(tmp_path: Path) -> None:
    book = openpyxl.Workbook()
    sheet = book.active
    sheet.title = "Fleet"
    for row in (["All ships"], ["Ship", "Built", "Seen", "Afloat"], ["Fram", 1892, dt.date(2024, 5, 31), False],
                ["Maud", 1916.5, None, True], [], [None, "Port", "Depth"], [None, "Oslo", 0.1]):  # fmt: skip
        sheet.append(row)
    book.create_sheet("Remarks").append(["Nothing else is known."])
    book.save(tmp_path / "fleet.xlsx")
    document = read(tmp_path / "fleet.xlsx")
    assert document.tables == (
        Table(
            1,
            (("Ship", "Built", "Seen", "Afloat"), ("Fram", "1892", "2024-05-31", "FALSE"),
             ("Maud", "1916.5", "", "TRUE")),
            "All ships", 1, 1,
        ),
        Table(2, (("Port", "Depth"), ("Oslo", "0.1")), "Fleet", 1, 1),
    )  # fmt: skip
    assert [(p.number, p.label) for p in document.pages] == [(1, "Fleet"), (2, "Remarks")]
    assert [s.text for s in document.sections] == ["Nothing else is known."]
    assert document.title == "fleet"


def test_header_over_the_second_of_two_columns_is_no_caption(tmp_path: Path) -> None:
    book = openpyxl.Workbook()
    for row in ([None, "Sales"], ["North", 10], ["South", 20]):
        book.active.append(row)
    other = book.create_sheet()
    for row in ([None, None, "in EUR"], ["Place", "2023", "2024"], ["North", 1, 2]):
        other.append(row)
    book.save(tmp_path / "a.xlsx")
    assert [(table.caption, table.rows) for table in read(tmp_path / "a.xlsx").tables] == [
        ("", (("", "Sales"), ("North", "10"), ("South", "20"))),
        ("in EUR", (("Place", "2023", "2024"), ("North", "1", "2"))),
    ]


def bomb(path: Path, name: str) -> None:
    """Return a Word file that unpacks to 1.5 GB of one paragraph."""
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("[Content_Types].xml", "<Types/>")
        with archive.open(name, "w", force_zip64=True) as part:
            for _ in range(1500):
                part.write(b" " * 2**20)


@pytest.mark.slow
def test_zip_bombs_are_not_opened(tmp_path: Path) -> None:
    bomb(tmp_path / "a.docx", "word/document.xml")
    (problem,) = load(tmp_path / "a.docx")
    assert isinstance(problem, Problem)
    assert "would unpack" in problem.message


def test_archives_that_are_something_else(tmp_path: Path) -> None:
    with zipfile.ZipFile(tmp_path / "a.zip", "w") as archive:
        archive.writestr("notes.txt", "x")
    (tmp_path / "old.doc").write_bytes(b"\xd0\xcf\x11\xe0" + b"\0" * 600)
    (tmp_path / "cut.docx").write_bytes(b"PK\3\4" + b"\0" * 600)
    (tmp_path / "text.xlsx").write_text("a,b\n1,2\n")
    messages = [i.message for i in load([tmp_path / n for n in ("a.zip", "old.doc", "cut.docx", "text.xlsx")])]  # type: ignore[union-attr]
    assert [m.split(",")[0].split(" (")[0] for m in messages] == [
        "is a ZIP archive",
        "is an office file encrypted with a password",
        "is a damaged archive",
        "is no Excel workbook",
    ]


_PRESENTATION = "openxmlformats-officedocument.presentationml.{}.main+xml"


@pytest.mark.parametrize(
    ("suffix", "kind"),
    [
        (".docm", "ms-word.document.macroEnabled.main+xml"),
        (".dotx", "openxmlformats-officedocument.wordprocessingml.template.main+xml"),
        (".dotm", "ms-word.template.macroEnabledTemplate.main+xml"),
        (".pptm", "ms-powerpoint.presentation.macroEnabled.main+xml"),
        (".ppsx", _PRESENTATION.format("slideshow")), (".potx", _PRESENTATION.format("template")),
        (".ppsm", "ms-powerpoint.slideshow.macroEnabled.main+xml"),
        (".potm", "ms-powerpoint.template.macroEnabled.main+xml"),
        (".xlsm", "ms-excel.sheet.macroEnabled.main+xml"), (".xltm", "ms-excel.template.macroEnabled.main+xml"),
        (".xltx", "openxmlformats-officedocument.spreadsheetml.template.main+xml"),
    ],
)  # fmt: skip
def test_template_or_file_with_macros_is_read_as_a_plain_one(tmp_path: Path, suffix: str, kind: str) -> None:
    if suffix[1] == "d":
        file, plain = docx.Document(), "wordprocessingml.document"
        file.add_paragraph("Fram")
    elif suffix[1] == "p":
        file, plain = pptx.Presentation(), "presentationml.presentation"
        file.slides.add_slide(file.slide_layouts[1]).placeholders[1].text = "Fram"
    else:
        file, plain = openpyxl.Workbook(), "spreadsheetml.sheet"
        file.active.append(["Fram"])
    out = io.BytesIO()
    file.save(out)
    (tmp_path / "in").mkdir()
    with zipfile.ZipFile(out) as old, zipfile.ZipFile(tmp_path / "in" / f"a{suffix}", "w") as new:
        for name in old.namelist():
            own = f"application/vnd.openxmlformats-officedocument.{plain}.main+xml".encode()
            new.writestr(name, old.read(name).replace(own, f"application/vnd.{kind}".encode()))
    assert read(tmp_path / "in").text == "Fram"


def test_a_workbook_that_lies_about_its_size(tmp_path: Path) -> None:
    book = openpyxl.Workbook()
    book.active.append(["Ship", "Built"])
    book.active.append(["Fram", 1892])
    out = io.BytesIO()
    book.save(out)
    with zipfile.ZipFile(out) as old, zipfile.ZipFile(tmp_path / "a.xlsx", "w") as new:
        for name in old.namelist():
            data = old.read(name)
            new.writestr(name, data.replace(b'ref="A1:B2"', b'ref="A1:XFD1048576"'))
    assert read(tmp_path / "a.xlsx").tables[0].rows == (("Ship", "Built"), ("Fram", "1892"))


@pytest.mark.parametrize(
    ("held", "form", "text"),
    [
        (0.125, "0.0%", "12.5%"), (0.07, "0%", "7%"), (1234.5, '"$"#,##0.00', "$1,234.50"), (7, "000", "007"),
        (-1234.5, "#,##0.00_);(#,##0.00)", "(1,234.50)"), (1234.5, "#,##0.00_);(#,##0.00)", "1,234.50"),
        (-3.5, "[$€-407] #,##0.00", "-€ 3.50"), (12, '0" kg"', "12 kg"), (1234567, "#,##0", "1,234,567"),
        (0.5, '_-* #,##0.00\\ "kr"_-;[Red]-* #,##0.00\\ "kr"_-;_-* "-"??_-', "0.50 kr"), (3.14159, "0.00", "3.14159"),
        (1.5e9, "0.00E+00", "1500000000"), (0.5, "# ?/?", "0.5"), (2500, "#,##0,", "2500"), (True, "0%", "TRUE"),
    ],
)  # fmt: skip
def test_numbers_as_a_sheet_shows_them(tmp_path: Path, held: float, form: str, text: str) -> None:
    book = openpyxl.Workbook()
    book.active.append(["Ship", "Share"])
    book.active.append(["Fram", held])
    book.active["B2"].number_format = form
    book.save(tmp_path / "a.xlsx")
    assert read(tmp_path / "a.xlsx").tables[0].rows == (("Ship", "Share"), ("Fram", text))
