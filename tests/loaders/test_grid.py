"""Tables with cells that span rows and columns, from every format."""

import io
import re
import zipfile
from pathlib import Path

import docx
import made_features
import made_markup
import made_office
import openpyxl
import pptx
import pytest
from docx.oxml.ns import qn
from openpyxl.cell.rich_text import CellRichText, TextBlock
from openpyxl.cell.text import InlineFont
from openpyxl.styles import Font
from pptx.chart.data import CategoryChartData
from pptx.enum.chart import XL_CHART_TYPE
from pptx.opc.package import Part
from pptx.opc.packuri import PackURI
from pptx.oxml import parse_xml
from pptx.util import Inches
from read_one import with_problems as read

from kgrag.indexing.chunking import chunk
from kgrag.indexing.fact_rules import facts_by_rules, facts_of_table, table_rows
from kgrag.loaders.grid import Cell, lay_out, table_of
from kgrag.settings import IndexingSettings
from kgrag.values.documents import Table


def test_spans_are_laid_out() -> None:
    rows = [[Cell("a", down=2), Cell("b", across=2)], [Cell("c"), Cell("d", down=5)], [Cell("e", across=2)]]
    laid = [[cell.text if cell else "" for cell in row] for row in lay_out(rows)]
    assert laid == [["a", "b", "b"], ["a", "c", "d"], ["e", "e", "d"]]
    endless = lay_out([[Cell("x", down=65534, across=1000)] for _ in range(500)])
    assert sum(map(len, endless)) <= 500


def test_headers_of_two_rows_are_joined() -> None:
    two = [
        [Cell("Region", down=2), Cell("Sales", across=2)],
        [Cell("2020"), Cell("2021")],
        [Cell("North"), Cell("1"), Cell("2")],
    ]
    assert table_of(lay_out(two))[1] == [["Region", "Sales 2020", "Sales 2021"], ["North", "1", "2"]]
    two[0][0].down, two[1] = 1, [Cell(""), *two[1]]
    assert table_of(lay_out(two))[1][0] == ["Region", "Sales 2020", "Sales 2021"]
    body = [
        [Cell("Name"), Cell("Score", across=2)],
        [Cell("Ada"), Cell("1"), Cell("2")],
        [Cell("Bob"), Cell("3"), Cell("4")],
    ]
    assert table_of(lay_out(body))[1][:2] == [["Name", "Score", "Score"], ["Ada", "1", "2"]]


def test_a_row_of_one_cell_says_it_once() -> None:
    rows = [[Cell("All", across=2)], [Cell("a"), Cell("b")], [Cell("North", across=2)], [Cell("1"), Cell("2")]]
    assert table_of(lay_out(rows), heads=2) == ("All", [["a", "b"], ["North", ""], ["1", "2"]])


def test_tables_of_pages(tmp_path: Path) -> None:
    path = tmp_path / "a.html"
    path.write_text(
        "<h1>Sales</h1><table><tr><th>Region<th>City<th>Sales</tr><tr><td rowspan=2>North<td>Aalborg<td>5</tr>"
        "<tr><td>Viborg<td>7</tr></table><table><tr><th>Born<td>1861</tr><tr><th>Died<td>1930</tr></table>"
        "<table><tr><td>alone<td>here</tr></table>"
    )
    document, _ = read(path)
    assert document.tables == (
        Table(1, (("Region", "City", "Sales"), ("North", "Aalborg", "5"), ("North", "Viborg", "7")), "Sales"),
    )
    assert document.text == "Born: 1861\nDied: 1930\n\nalone | here"


TWO = (("Price", "900 kr"), ("Colour", "red"))
ROWS = "Ada; 36; Oslo.\nPer; 40; Bergen."
PEOPLE = (("Ada", "36", "Oslo"), ("Per", "40", "Bergen"))
SHIPS = (("Ship", "Built", "Yard"), ("Fram", "1892", "Larvik"), ("Maud", "1916", "Vollen"))
Cells = tuple[tuple[str, ...], ...]


def page(rows: Cells, mark: str = "{}") -> str:
    lines = ("<td>".join(["", mark.format(first), *rest]) for first, *rest in rows)
    return f"<table><tr>{'<tr>'.join(lines)}</table>"


def bars(rows: Cells, head: str = "") -> str:
    above = [f"|{f'{head}|' * len(rows[0])}", f"|{'--|' * len(rows[0])}"] if head else []
    return "\n".join([*above, *(f"|{'|'.join(row)}|" for row in rows)])


@pytest.mark.parametrize(
    ("name", "source", "text", "predicates"),
    [
        ("a.html", page(TWO), "Price: 900 kr.\nColour: red.", []),
        ("a.html", page(TWO, "<b>{}</b>"), "Price: 900 kr\nColour: red", ["Price", "Colour"]),
        ("a.html", page(TWO, "{}:"), "Price: 900 kr\nColour: red", ["Price", "Colour"]),
        ("a.html", page((("Maker", "Lund"), ("Built", "1892"))), "Maker: Lund.\nBuilt: 1892.", []),
        ("a.html", page(PEOPLE), ROWS, []),
        ("a.html", page(SHIPS), "Ship: Fram; Built: 1892; Yard: Larvik.\nShip: Maud; Built: 1916; Yard: Vollen.",
         ["Built", "Yard", "Built", "Yard"]),
        ("a.md", bars(TWO, " "), "Price: 900 kr.\nColour: red.", []),
        ("a.md", bars(PEOPLE, " "), ROWS, []),
        ("a.org", bars(PEOPLE), ROWS, []),
        ("a.adoc", "|===\n|Ada |36 |Oslo\n|Per |40 |Bergen\n|===\n", ROWS, []),
        ("a.adoc", '[cols="h,1"]\n|===\n|Price |900 kr\n|Colour |red\n|===\n', "Price: 900 kr\nColour: red",
         ["Price", "Colour"]),
        ("a.rst", "=====  ==  ======\nAda    36  Oslo\nPer    40  Bergen\n=====  ==  ======\n", ROWS, []),
        ("a.csv", "Ada,36,Oslo\nPer,40,Bergen\n", ROWS, []),
        ("a.csv", "Colour,red\nPrice,900\nWeight,4\n", "Colour: red.\nPrice: 900.\nWeight: 4.", []),
        ("a.rtf", r"{\rtf1\trowd Ada\cell 36\cell Oslo\cell\row Per\cell 40\cell Bergen\cell\row\pard\par}",
         ROWS, []),
    ],
)  # fmt: skip
def test_rows_without_a_header_name_no_columns(
    tmp_path: Path, name: str, source: str, text: str, predicates: list[str]
) -> None:
    (tmp_path / name).write_text(source)
    document, _ = read(tmp_path / name)
    (part,) = chunk(document, IndexingSettings())
    assert part.text == text
    rules = [facts_of_table(table_rows(table.markdown), text) for table in document.tables]
    triples = (rules[0] if rules else facts_by_rules("K7", "", text)).triples
    assert [triple.predicate for triple in triples] == predicates


@pytest.mark.parametrize(
    ("look", "bold", "head"), [("0", False, False), ("1", False, False), ("0", True, False), ("1", True, True)]
)
def test_header_row_of_word_is_an_option_or_bold(tmp_path: Path, look: str, bold: bool, head: bool) -> None:
    file = docx.Document()
    table = file.add_table(2, 2)
    for cell, text in zip(table._cells, ("Ship", "Yard", "Fram", "Larvik"), strict=True):
        cell.paragraphs[0].add_run(text).bold = bold and text in ("Ship", "Yard")
    table._tbl.tblPr.find(qn("w:tblLook")).set(qn("w:firstRow"), look)
    file.save(str(tmp_path / "a.docx"))
    assert any(read(tmp_path / "a.docx")[0].tables[0].rows[0]) is (bold and look == "1")


def test_header_of_a_sheet_is_bold_or_has_a_filter(tmp_path: Path) -> None:
    for name, mark in (("plain", ""), ("bold", "bold"), ("filter", "filter")):
        book = openpyxl.Workbook()
        for row in (("Ship", "Yard"), ("Fram", "Larvik"), ("Maud", "Vollen")):
            book.active.append(row)
        if mark == "bold":
            book.active["A1"].font = book.active["B1"].font = Font(bold=True)
        elif mark:
            book.active.auto_filter.ref = "A1:B3"
        book.save(tmp_path / f"{name}.xlsx")
        assert any(read(tmp_path / f"{name}.xlsx")[0].tables[0].rows[0]) is bool(mark)


def test_sheets(tmp_path: Path) -> None:
    book = openpyxl.Workbook()
    sheet = book.active
    sheet.title = "Sales"
    for row in (["Region", "Sales", None, "Area"], [None, "2020", "2021", None], ["North", 1, 2, None],
                [None, 3, 4, None], ["hidden", 5, 6, None], ["Sum", "=SUM(B3:B4)", None, None]):  # fmt: skip
        sheet.append(row)
    for cells in ("A1:A2", "B1:C1", "A3:A4"):
        sheet.merge_cells(cells)
    sheet["D3"] = CellRichText("10", TextBlock(InlineFont(vertAlign="superscript"), "24"), " m")
    sheet.row_dimensions[5].hidden = True
    sheet["E3"] = "secret"
    sheet.column_dimensions["E"].hidden = True
    book.create_sheet("Notes").append(["not seen"])
    book["Notes"].sheet_state = "hidden"
    book.save(tmp_path / "a.xlsx")
    document, problems = read(tmp_path / "a.xlsx")
    assert document.tables == (
        Table(
            1,
            (("Region", "Sales 2020", "Sales 2021", "Area"), ("North", "1", "2", "10^24 m"), ("North", "3", "4", ""),
             ("Sum", "=SUM(B3:B4)", "", "")),
            "Sales", 1, 1,
        ),
    )  # fmt: skip
    assert problems == [
        "holds 1 hidden sheet, 1 hidden row, 1 hidden column, left out",
        "holds 1 formula without a stored value, read as written; "
        "open and save it with a spreadsheet program to have the values",
    ]


@pytest.mark.parametrize("known", [False, True])
def test_zeros_of_formulas_that_nothing_calculated(tmp_path: Path, known: bool) -> None:
    """XlsxWriter, and so pandas, stores 0 for each formula, and requests a calculation when the workbook is opened."""
    book = openpyxl.Workbook()
    for row in (("Pump", "Bar", "Twice"), ("Halcyon", 4, "=B2*2"), ("Maud", 5, "=B3*2")):
        book.active.append(row)
    book.save(tmp_path / "made.xlsx")
    with zipfile.ZipFile(tmp_path / "made.xlsx") as made, zipfile.ZipFile(tmp_path / "a.xlsx", "w") as file:
        for name in made.namelist():
            data = made.read(name)
            if name.endswith("sheet1.xml"):
                data = re.sub(rb"</f><v ?/>|</f><v></v>", b"</f><v>0</v>", data)
                assert data.count(b"<v>0</v>") == 2
                data = data.replace(b"<v>0</v>", b"<v>8</v>", known)
            file.writestr(name, data)
    document, problems = read(tmp_path / "a.xlsx")
    twice = [row[2] for row in document.tables[0].rows[1:]]
    assert twice == (["8", "0"] if known else ["=B2*2", "=B3*2"])
    assert [text[:44] for text in problems] == ([] if known else ["holds 2 formulas without a stored value, rea"])


def test_slides(tmp_path: Path) -> None:
    file = pptx.Presentation()
    slide = file.slides.add_slide(file.slide_layouts[5])
    slide.shapes.title.text = "Sales"
    data = CategoryChartData()
    data.categories = ["North", "South"]
    data.add_series("2020", (1.5, 2))
    data.add_series("2021", (3, 4.1))
    size = (Inches(1), Inches(1), Inches(4), Inches(3))
    slide.shapes.add_chart(XL_CHART_TYPE.COLUMN_CLUSTERED, *size, data)
    table = slide.shapes.add_table(3, 2, Inches(1), Inches(5), Inches(4), Inches(1)).table
    for place, text in {(0, 0): "Ship", (0, 1): "Yard", (1, 0): "Fram", (1, 1): "Larvik", (2, 0): "Maud"}.items():
        table.cell(*place).text = text
    table.cell(1, 1).merge(table.cell(2, 1))
    frame = slide.shapes.add_textbox(Inches(1), Inches(6), Inches(4), Inches(1)).text_frame
    frame.text = "The star has 10"
    run = frame.paragraphs[0].add_run()
    run.text = "24"
    run.font._element.set("baseline", "30000")
    frame.paragraphs[0].add_run().text = " kg"
    frame.paragraphs[0].add_line_break()
    frame.paragraphs[0].add_run().text = "more"
    for text in ("third", "fourth"):
        paragraph = frame.add_paragraph()
        paragraph.text = text
        numbering = paragraph._p.get_or_add_pPr().makeelement(
            "{http://schemas.openxmlformats.org/drawingml/2006/main}buAutoNum", {"type": "arabicPeriod", "startAt": "3"}
        )
        paragraph._p.get_or_add_pPr().append(numbering)
    hidden = file.slides.add_slide(file.slide_layouts[5])
    hidden.shapes.title.text = "Not shown"
    hidden._element.set("show", "0")
    file.save(str(tmp_path / "a.pptx"))
    document, problems = read(tmp_path / "a.pptx")
    assert [t.rows for t in document.tables] == [
        (("Category", "2020", "2021"), ("North", "1.5", "3"), ("South", "2", "4.1")),
        (("Ship", "Yard"), ("Fram", "Larvik"), ("Maud", "Larvik")),
    ]
    assert document.text == "The star has 10^24 kg\nmore\n3. third\n4. fourth"
    assert problems == ["holds 1 hidden slide, left out"]


WORD = """<?xml version="1.0"?><w:document xmlns:w="http://purl.oclc.org/ooxml/wordprocessingml/main"><w:body>
<w:p><w:r><w:t xml:space="preserve">The fee is </w:t></w:r><w:del w:id="1"><w:r><w:delText>ten</w:delText></w:r></w:del>
<w:ins w:id="2"><w:r><w:t>twenty</w:t></w:r></w:ins></w:p>
<w:p><w:moveFrom w:id="3"><w:r><w:t>moved</w:t></w:r></w:moveFrom></w:p>
<w:p><w:moveTo w:id="4"><w:r><w:t>moved</w:t></w:r></w:moveTo></w:p>
<w:p><m:oMath xmlns:m="http://purl.oclc.org/ooxml/officeDocument/math"><m:sSup><m:e><m:r><m:t>x</m:t></m:r></m:e>
<m:sup><m:r><m:t>2</m:t></m:r></m:sup></m:sSup></m:oMath></w:p></w:body></w:document>"""
TYPES = """<Types xmlns="http://schemas.openxmlformats.org/package/2006/content-types"><Default Extension="rels"
 ContentType="application/vnd.openxmlformats-package.relationships+xml"/><Override PartName="/word/document.xml"
 ContentType="application/vnd.openxmlformats-officedocument.wordprocessingml.document.main+xml"/></Types>"""
RELATIONS = """<Relationships xmlns="http://schemas.openxmlformats.org/package/2006/relationships"><Relationship Id="r"
 Type="%s/relationships/officeDocument" Target="word/document.xml"/></Relationships>"""


@pytest.mark.parametrize("strict", [True, False])
def test_strict_files_revisions_and_formulas(tmp_path: Path, strict: bool) -> None:
    usual = "http://schemas.openxmlformats.org/officeDocument/2006"
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w") as archive:
        archive.writestr("[Content_Types].xml", TYPES)
        archive.writestr("_rels/.rels", RELATIONS % ("http://purl.oclc.org/ooxml/officeDocument" if strict else usual))
        text = re.sub(r"http://purl.oclc.org/ooxml/(\w+)/", r"http://schemas.openxmlformats.org/\1/2006/", WORD)
        archive.writestr("word/document.xml", WORD if strict else text)
    (tmp_path / "a.docx").write_bytes(out.getvalue())
    document, problems = read(tmp_path / "a.docx")
    assert (document.text, problems) == ("The fee is twenty\n\nmoved\n\nx^2", [])
    assert (document.title, dict(document.metadata)) == ("a", {})


DIAGRAM = """<dgm:dataModel xmlns:dgm="http://schemas.openxmlformats.org/drawingml/2006/diagram"
 xmlns:a="http://schemas.openxmlformats.org/drawingml/2006/main"><dgm:ptLst>
<dgm:pt><dgm:t><a:p><a:r><a:t>Plan</a:t></a:r></a:p></dgm:t></dgm:pt><dgm:pt><dgm:t><a:p/></dgm:t></dgm:pt>
<dgm:pt><dgm:t><a:p><a:r><a:t>Bu</a:t></a:r><a:r><a:t>ild</a:t></a:r></a:p></dgm:t></dgm:pt>
</dgm:ptLst></dgm:dataModel>"""
FRAME = """<p:graphicFrame xmlns:p="http://schemas.openxmlformats.org/presentationml/2006/main"
 xmlns:a="http://schemas.openxmlformats.org/drawingml/2006/main"><p:nvGraphicFramePr><p:cNvPr id="9" name="D"/>
<p:cNvGraphicFramePr/><p:nvPr/></p:nvGraphicFramePr><p:xfrm><a:off x="0" y="0"/><a:ext cx="1" cy="1"/></p:xfrm>
<a:graphic><a:graphicData uri="http://schemas.openxmlformats.org/drawingml/2006/diagram"><dgm:relIds
 xmlns:dgm="http://schemas.openxmlformats.org/drawingml/2006/diagram"
 xmlns:r="http://schemas.openxmlformats.org/officeDocument/2006/relationships" r:dm="%s"/></a:graphicData></a:graphic>
</p:graphicFrame>"""


def test_diagrams_of_slides(tmp_path: Path) -> None:
    file = pptx.Presentation()
    slide = file.slides.add_slide(file.slide_layouts[6])
    kind = "http://schemas.openxmlformats.org/officeDocument/2006/relationships/diagramData"
    part = Part(PackURI("/ppt/diagrams/data1.xml"), "application/xml", slide.part.package, DIAGRAM.encode())
    slide.shapes._spTree.append(parse_xml(FRAME % slide.part.relate_to(part, kind)))
    file.save(str(tmp_path / "a.pptx"))
    assert read(tmp_path / "a.pptx")[0].text == "Plan\nBuild"


@pytest.mark.parametrize("suffix", [".html", ".docx", ".odt"])
def test_a_small_table_in_a_cell_is_text_of_it(tmp_path: Path, suffix: str) -> None:
    inner = made_features.grid(["a", "b"], ["c", "d"])
    table = made_features.grid(
        ["Ship", "Harbour"], ["The Fram", "Christiania"], ["The Maud", made_features.Cell([inner])]
    )
    writers = {".html": made_markup.html, ".docx": made_office.word, ".odt": made_office.odt}
    writers[suffix](tmp_path / f"a{suffix}", [made_features.Feature("Ships", [table])])
    (found,) = read(tmp_path / f"a{suffix}")[0].tables
    assert found.rows == (("Ship", "Harbour"), ("The Fram", "Christiania"), ("The Maud", "a b c d"))
