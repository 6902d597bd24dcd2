"""OpenDocument workbooks and slides."""

import zipfile
from pathlib import Path

import pytest
from read_one import with_problems as read

from kgrag.loaders.dispatch import Load
from kgrag.values.documents import Problem

_NAMES = {
    name: f"urn:oasis:names:tc:opendocument:xmlns:{name}:1.0"
    for name in ("office", "text", "table", "style", "presentation")
} | {
    "draw": "urn:oasis:names:tc:opendocument:xmlns:drawing:1.0", "dc": "http://purl.org/dc/elements/1.1/",
    "fo": "urn:oasis:names:tc:opendocument:xmlns:xsl-fo-compatible:1.0",
    "svg": "urn:oasis:names:tc:opendocument:xmlns:svg-compatible:1.0",
}  # fmt: skip
_KINDS = {".ods": "spreadsheet", ".odp": "presentation", ".odt": "text", ".odg": "graphics"}


def file(path: Path, body: str, styles: str = "", kind: str = "") -> Path:
    kind = kind or _KINDS[path.suffix]
    element = {"graphics": "drawing"}.get(kind, kind)
    names = " ".join(f'xmlns:{name}="{address}"' for name, address in _NAMES.items())
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("mimetype", f"application/vnd.oasis.opendocument.{kind}")
        archive.writestr(
            "content.xml",
            f"<office:document-content {names}><office:automatic-styles>{styles}</office:automatic-styles><office:body>"
            f"<office:{element}>{body}</office:{element}></office:body></office:document-content>",
        )
    return path


def row(*cells: str, more: str = "") -> str:
    inner = "".join(
        f"<table:table-cell><text:p>{cell}</text:p></table:table-cell>" if cell else "<table:table-cell/>"
        for cell in cells
    )
    return f'<table:table-row {more}>{inner}<table:table-cell table:number-columns-repeated="1020"/></table:table-row>'


HIDDEN = (
    '<style:style style:name="ta2" style:family="table"><style:table-properties table:display="false"/></style:style>'
)
SHEETS = (
    '<table:table table:name="Fleet"><table:table-column table:number-columns-repeated="2"/>'
    '<table:table-column table:visibility="collapse"/>'
    + row("Ships of 2024")
    + row("Ship", "Built", "Key")
    + row("Fram", "1892", "x")
    + row("Maud", "1916", "y", more='table:visibility="collapse"')
    + row("Gjøa", "1872<text:line-break/>or so", "z")
    + row(more='table:number-rows-repeated="1048000"')
    + row("", "Port", "", "Depth")
    + '<table:table-row><table:table-cell/><table:table-cell table:number-rows-spanned="2"><text:p>Oslo</text:p>'
    "<office:annotation><text:p>Really?</text:p></office:annotation></table:table-cell><table:table-cell/>"
    "<table:table-cell><text:p>12.50 m</text:p></table:table-cell></table:table-row>"
    "<table:table-row><table:table-cell/><table:covered-table-cell/><table:table-cell/>"
    "<table:table-cell><text:p>13.00 m</text:p></table:table-cell></table:table-row>"
    '</table:table><table:table table:name="Remarks">'
    + row("Nothing else is known.")
    + '</table:table><table:table table:name="Secret" table:style-name="ta2">'
    + row("no")
    + "</table:table>"
)


@pytest.mark.parametrize("suffix", [".ods", ".ots"])
def test_workbook_of_opendocument_has_its_tables(tmp_path: Path, suffix: str) -> None:
    document, problems = read(file(tmp_path / f"a{suffix}", SHEETS, HIDDEN, "spreadsheet"))
    assert [(table.caption, table.rows) for table in document.tables] == [
        ("Ships of 2024", (("", ""), ("Ship", "Built"), ("Fram", "1892"), ("Gjøa", "1872 or so"))),
        ("Fleet", (("Port", "Depth"), ("Oslo", "12.50 m"), ("Oslo", "13.00 m"))),
    ]
    assert [(s.heading, s.text) for s in document.sections] == [("Remarks", "Nothing else is known.")]
    assert problems == ["holds 1 hidden sheet, 1 hidden row, 1 hidden column, 1 comment, left out"]


def test_header_of_a_workbook_over_the_second_of_two_columns_is_no_caption(tmp_path: Path) -> None:
    rows = row("", "Sales") + row("North", "10") + row("South", "20")
    document, _ = read(file(tmp_path / "a.ods", f'<table:table table:name="Fleet">{rows}</table:table>'))
    assert [table.rows for table in document.tables] == [(("", "Sales"), ("North", "10"), ("South", "20"))]


def test_slides_of_opendocument_are_read_with_their_notes(tmp_path: Path) -> None:
    styles = (
        '<style:style style:name="dp2" style:family="drawing-page"><style:drawing-page-properties '
        'presentation:visibility="hidden"/></style:style>'
    )
    body = (
        '<draw:page draw:name="page1"><draw:frame presentation:class="title"><draw:text-box><text:p>Ships</text:p>'
        '</draw:text-box></draw:frame><draw:frame presentation:class="outline"><draw:text-box><text:list>'
        "<text:list-item><text:p>They sail.</text:p></text:list-item>"
        "<text:list-item><text:p>Far.</text:p></text:list-item></text:list>"
        "</draw:text-box></draw:frame><draw:custom-shape><text:p>In a shape.</text:p></draw:custom-shape>"
        '<draw:frame presentation:class="footer"><draw:text-box><text:p>Running</text:p></draw:text-box></draw:frame>'
        f"<draw:frame><table:table>{row('Ship', 'Built')}{row('Fram', '1892')}</table:table></draw:frame>"
        "<draw:frame><svg:desc>A red mill</svg:desc></draw:frame>"
        "<office:annotation><text:p>Really?</text:p></office:annotation>"
        '<presentation:notes><draw:frame presentation:class="notes"><draw:text-box><text:p>Say this.</text:p>'
        "</draw:text-box></draw:frame></presentation:notes></draw:page>"
        '<draw:page draw:name="page2" draw:style-name="dp2"><draw:frame><draw:text-box><text:p>Hidden</text:p>'
        "</draw:text-box></draw:frame></draw:page>"
    )
    document, problems = read(file(tmp_path / "a.odp", body, styles))
    assert [(s.heading, s.text) for s in document.sections] == [
        ("Ships", "- They sail.\n- Far.\n\nIn a shape.\n\nA red mill\n\nNotes: Say this.")
    ]
    assert document.tables[0].rows == (("Ship", "Built"), ("Fram", "1892"))
    assert problems == ["holds 1 hidden slide, 1 comment, left out"]


NUMBERED = (
    '<text:list-style style:name="L1"><text:list-level-style-number text:level="1" style:num-format="1"/>'
    '<text:list-level-style-number text:level="2" style:num-format="a"/></text:list-style>'
)


@pytest.mark.parametrize("more", ['text:continue-numbering="true"', 'text:continue-list="list1"'])
def test_list_that_continues_counts_on(tmp_path: Path, more: str) -> None:
    def items(*texts: str) -> str:
        return "".join(f"<text:list-item><text:p>{text}</text:p></text:list-item>" for text in texts)

    body = (
        f'<text:list text:style-name="L1">{items("one", "two")}</text:list><text:p>Between.</text:p>'
        f'<text:list text:style-name="L1" {more}><text:list-item><text:list>{items("deep")}</text:list>'
        f"</text:list-item>{items('three')}</text:list><text:p>After.</text:p>"
        f'<text:list text:style-name="L1">{items("anew")}</text:list>'
    )
    document, _ = read(file(tmp_path / "a.odt", body, NUMBERED))
    assert document.text == "1. one\n2. two\n\nBetween.\n  a. deep\n3. three\n\nAfter.\n\n1. anew"


def test_bibliography_of_opendocument_is_read(tmp_path: Path) -> None:
    body = "<text:bibliography><text:index-body><text:p>Lund: On Ships.</text:p></text:index-body></text:bibliography>"
    document, _ = read(file(tmp_path / "a.odt", body))
    assert document.text == "Lund: On Ships."


def test_frame_and_shapes_of_a_page_are_read(tmp_path: Path) -> None:
    drawn = "<draw:frame><draw:text-box><text:p>In a frame.</text:p></draw:text-box></draw:frame>" + "".join(
        f"<draw:{kind}><text:p>In a {kind}.</text:p></draw:{kind}>" for kind in ("rect", "ellipse", "custom-shape")
    )
    texts = "In a frame.\n\nIn a rect.\n\nIn a ellipse.\n\nIn a custom-shape."
    document, _ = read(file(tmp_path / "a.odt", f"{drawn}<text:p>On the page.</text:p>"))
    assert document.text == f"{texts}\n\nOn the page."
    document, _ = read(file(tmp_path / "a.odp", f"<draw:page>{drawn}</draw:page>"))
    assert document.text == texts


def test_formula_of_opendocument_is_read_from_any_folder(tmp_path: Path) -> None:
    link = '<draw:object xmlns:xlink="http://www.w3.org/1999/xlink" xlink:href="./Formula-0/"/>'
    path = file(tmp_path / "a.odt", f"<text:p>It is <draw:frame>{link}</draw:frame>.</text:p>")
    with zipfile.ZipFile(path, "a") as archive:
        archive.writestr("Formula-0/content.xml", "<math><msup><mi>x</mi><mn>2</mn></msup></math>")
    assert read(path)[0].text == "It is x^2."


def test_cell_with_a_value_alone_has_the_value(tmp_path: Path) -> None:
    values = (("value", "1892"), ("date-value", "2024-05-31T00:00:00"), ("string-value", "Fram"))
    cells = "".join(f'<table:table-cell office:{name}="{text}"/>' for name, text in values)
    rows = f"<table:table-row>{cells}</table:table-row>" * 2
    document, _ = read(file(tmp_path / "a.ods", f'<table:table table:name="Fleet">{rows}</table:table>'))
    assert document.tables[0].rows == (("1892", "2024-05-31", "Fram"),) * 2


def test_drawing_of_opendocument_says_what_is_read(tmp_path: Path) -> None:
    path = file(tmp_path / "a.odt", "<draw:page/>", kind="graphics")
    (problem,) = Load(path)
    assert isinstance(problem, Problem)
    assert problem.message.startswith("is an OpenDocument drawing, of which only texts, spreadsheets and presentations")
