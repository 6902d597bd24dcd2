"""Parts beside, above or in place of a text are read in their visual position, or counted."""

import zipfile
from pathlib import Path

import docx
import openpyxl
import pptx
import pytest
from docx.opc.packuri import PackURI
from docx.opc.part import Part
from docx.oxml import parse_xml
from made_pdfs import HEIGHT
from openpyxl.comments import Comment
from read_one import with_omissions as read
from reportlab.pdfgen.canvas import Canvas

W = 'xmlns:w="http://schemas.openxmlformats.org/wordprocessingml/2006/main"'


def word(path: Path, *paragraphs: str) -> Path:
    file = docx.Document()
    for paragraph in paragraphs:
        file.element.body.insert(len(file.element.body) - 1, parse_xml(f"<w:p {W}>{paragraph}</w:p>"))
    file.save(str(path))
    return path


def odt(path: Path, body: str) -> Path:
    names = " ".join(
        f'xmlns:{name}="urn:oasis:names:tc:opendocument:xmlns:{name}:1.0"' for name in ("office", "text", "table")
    )
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("mimetype", "application/vnd.oasis.opendocument.text")
        archive.writestr(
            "content.xml",
            f"<office:document-content {names}><office:body><office:text>{body}</office:text></office:body>"
            "</office:document-content>",
        )
    return path


DELETED = {
    "a.html": "<p>The price was <del>400</del><ins>250</ins> kroner.</p>",
    "a.md": "The price was <del>4**0**0</del><ins>250</ins> kroner.",
    "a.rtf": r"{\rtf1\ansi The price was {\deleted\revauthdel1 400}{\revised 250} kroner.\par}",
}


@pytest.mark.parametrize("name", DELETED)
def test_price_deleted_and_inserted_is_the_inserted_one(tmp_path: Path, name: str) -> None:
    document, problems, left_out = read(tmp_path / name, DELETED[name])
    assert (document.text, problems, left_out) == ("The price was 250 kroner.", [], {"deleted piece": 1})


def test_deleted_text_of_word_and_opendocument_is_counted(tmp_path: Path) -> None:
    text = "<w:r><w:t>Now </w:t></w:r><w:del><w:r><w:delText>400</w:delText></w:r></w:del><w:r><w:t>250.</w:t></w:r>"
    document, _, left_out = read(word(tmp_path / "a.docx", text))
    assert (document.text, left_out) == ("Now 250.", {"deleted piece": 1})
    gone = "<text:tracked-changes><text:changed-region><text:deletion><text:p>400</text:p></text:deletion>"
    gone += "</text:changed-region></text:tracked-changes><text:p>Now 250.</text:p>"
    document, _, left_out = read(odt(tmp_path / "a.odt", gone))
    assert (document.text, left_out) == ("Now 250.", {"deleted piece": 1})


def test_word_with_readings_above_it_stays_one_word(tmp_path: Path) -> None:
    ruby = "".join(
        f"<w:r><w:ruby><w:rubyPr/><w:rt><w:r><w:t>{above}</w:t></w:r></w:rt><w:rubyBase><w:r><w:t>{base}</w:t></w:r>"
        "</w:rubyBase></w:ruby></w:r>"
        for base, above in (("東", "とう"), ("京", "きょう"))
    )
    document, _, left_out = read(word(tmp_path / "a.docx", f"{ruby}<w:r><w:t>駅</w:t></w:r>"))
    assert (document.text, left_out) == ("東京駅", {"reading of characters": 2})
    page = "<p><ruby>東<rp>(</rp><rt>とう</rt><rp>)</rp>京<rp>(</rp><rt>きょう</rt><rp>)</rp></ruby>駅</p>"
    document, _, left_out = read(tmp_path / "a.html", page)
    assert (document.text, left_out) == ("東京駅", {"reading of characters": 2})
    text = "<ruby>東<rp>(</rp><rt>とう</rt><rp>)</rp>京<rp>(</rp><rt>きょう</rt><rp>)</rp></ruby>駅"
    document, _, left_out = read(tmp_path / "a.md", text)
    assert (document.text, left_out) == ("東京駅", {"reading of characters": 2})
    ruby = "".join(
        f"<text:ruby><text:ruby-base>{base}</text:ruby-base><text:ruby-text>{above}</text:ruby-text></text:ruby>"
        for base, above in (("東", "とう"), ("京", "きょう"))
    )
    document, _, left_out = read(odt(tmp_path / "a.odt", f"<text:p>{ruby}駅</text:p>"))
    assert (document.text, left_out) == ("東京駅", {"reading of characters": 2})


TITLES = {
    r"{\rtf1\ansi\ansicpg1251{\info{\title \'cf\'e5\'f7\'fc}}Text.\par}": "Печь",
    r"{\rtf1\ansi\ansicpg1251{\info{\title\'cf\'e5\'f7\'fc}}Text.\par}": "Печь",
    r"{\rtf1\ansi\ansicpg932{\info{\title \'93\'8c\'8b\'9e}}Text.\par}": "東京",
    r"{\rtf1\mac{\info{\title Z\'9frich}}Text.\par}": "Zürich",
    r"{\rtf1\ansi\ansicpg1252{\info{\title Kilns \{new\} {\b and} ovens}}Text.\par}": "Kilns {new} and ovens",
    r"{\rtf1\ansi\ansicpg1252{\info{\title \u1055?\u1077?\u1095?\u1100? \u-10179?\u-8704?}}Text.\par}": "Печь 😀",
}


@pytest.mark.parametrize("source", TITLES)
def test_title_of_rtf_is_in_the_code_page_of_the_file(tmp_path: Path, source: str) -> None:
    document, _, _ = read(tmp_path / "a.rtf", source)
    assert (document.title, document.text) == (TITLES[source], "Text.")


def test_text_of_rtf_beside_the_body_is_read_or_counted(tmp_path: Path) -> None:
    source = (
        r"{\rtf1\ansi{\header Running}{\footerl Page}{\footerr Page}Before.{\*\annotation Really?}"
        r"{\shp{\*\shpinst\shpleft0{\sp{\sn shapeType}{\sv 202}}{\shptxt \pard In the box.\par}}{\shprslt Drawn}}"
        r"\par\par After \u-10179?\u-8704?.\par}"
    )
    document, problems, left_out = read(tmp_path / "a.rtf", source)
    assert document.text == "Before.\n\nIn the box.\n\nAfter 😀."
    assert problems == ["holds 1 comment, left out"]
    assert left_out == {"running head": 1, "running foot": 2}


def test_values_in_the_fields_of_a_page_are_read(tmp_path: Path) -> None:
    page = (
        '<p>Name: <input value="Astrid Lund"> of <select><option>Sweden</option><option selected>Norway</option>'
        '</select>, <input type="radio" checked>married, key <input type="password" value="secret"></p>'
    )
    document, problems, _ = read(tmp_path / "a.html", page)
    assert " ".join(document.text.split()) == "Name: Astrid Lund of Norway , [x] married, key"
    assert problems == ["holds 1 form value, left out"]


def test_values_in_the_fields_of_word_are_read(tmp_path: Path) -> None:
    text = (
        '<w:r><w:t xml:space="preserve">Country: </w:t></w:r><w:r><w:fldChar w:fldCharType="begin"><w:ffData>'
        '<w:ddList><w:result w:val="1"/><w:listEntry w:val="Sweden"/><w:listEntry w:val="Norway"/></w:ddList>'
        "</w:ffData></w:fldChar></w:r><w:r><w:t>, married: </w:t></w:r><w:r><w:fldChar w:fldCharType='begin'>"
        "<w:ffData><w:checkBox><w:default w:val='0'/><w:checked/></w:checkBox></w:ffData></w:fldChar></w:r>"
    )
    assert read(word(tmp_path / "a.docx", text))[0].text == "Country: Norway, married: [x]"


def nested(path: Path) -> bytes:
    file = docx.Document()
    file.add_heading("Ovens", 1)
    file.add_paragraph("An oven is hot.")
    file.save(str(path))
    return path.read_bytes()


CHUNKS = {
    "text/html": (b"<h2>Ovens</h2><p>An <b>oven</b> is hot.</p>", "Ovens"),
    "application/xhtml+xml": (b"<html><body><p>An oven is hot.</p></body></html>", ""),
    "application/rtf": (rb"{\rtf1\ansi An oven {\v not }is hot.\par}", ""),
    "text/plain": (b"An oven is hot.", ""),
    "message/rfc822": (b"MIME-Version: 1.0\r\nContent-Type: text/html\r\n\r\n<p>An oven is hot.</p>", ""),
    "application/vnd.openxmlformats-officedocument.wordprocessingml.document.main+xml": (b"", "Ovens"),
    "application/pdf": (b"%PDF", None),
}


@pytest.mark.parametrize("kind", CHUNKS)
def test_part_of_another_format_in_word_is_read_or_counted(tmp_path: Path, kind: str) -> None:
    data, heading = CHUNKS[kind]
    file = docx.Document()
    file.add_paragraph("Before.")
    part = Part(PackURI("/word/afchunk1.bin"), kind, data or nested(tmp_path / "b.docx"), file.part.package)
    id = file.part.relate_to(part, "http://schemas.openxmlformats.org/officeDocument/2006/relationships/aFChunk")
    relations = 'xmlns:r="http://schemas.openxmlformats.org/officeDocument/2006/relationships"'
    file.element.body.insert(1, parse_xml(f'<w:altChunk {W} {relations} r:id="{id}"/>'))
    file.save(str(tmp_path / "a.docx"))
    document, problems, _ = read(tmp_path / "a.docx")
    if heading is None:
        assert (document.text, problems) == ("Before.", ["holds 1 embedded part, left out"])
    else:
        assert document.text == "Before.\n\nAn oven is hot."
        assert document.sections[-1].heading == heading
        assert problems == (["holds 1 hidden piece, left out"] if "rtf" in kind else [])


def test_text_box_of_a_sheet_is_read_and_its_notes_are_counted(tmp_path: Path) -> None:
    book = openpyxl.Workbook()
    for row in (["Ship", "Built"], ["Fram", 1892]):
        book.active.append(row)
    book.active["A2"].comment = Comment("Check this", "Anna")
    book.active.oddHeader.center.text = "Running"
    book.active.oddFooter.center.text = "Page &P"
    book.save(tmp_path / "b.xlsx")
    drawing = (
        '<xdr:wsDr xmlns:xdr="http://schemas.openxmlformats.org/drawingml/2006/spreadsheetDrawing" '
        'xmlns:a="http://schemas.openxmlformats.org/drawingml/2006/main"><xdr:sp><xdr:txBody><a:p><a:r><a:t>All of '
        "</a:t></a:r><a:r><a:t>them.</a:t></a:r></a:p><a:p><a:r><a:t>Afloat.</a:t></a:r></a:p></xdr:txBody></xdr:sp>"
        "</xdr:wsDr>"
    )
    relation = (
        b'<Relationship Type="http://schemas.openxmlformats.org/officeDocument/2006/relationships/drawing" '
        b'Target="../drawings/drawing1.xml" Id="d"/></Relationships>'
    )
    with zipfile.ZipFile(tmp_path / "b.xlsx") as old, zipfile.ZipFile(tmp_path / "a.xlsx", "w") as new:
        for name in old.namelist():
            data = old.read(name)
            if name.endswith("sheet1.xml.rels"):
                data = data.replace(b"</Relationships>", relation)
            new.writestr(name, data)
        new.writestr("xl/drawings/drawing1.xml", drawing)
    document, problems, left_out = read(tmp_path / "a.xlsx")
    assert [s.text for s in document.sections] == ["All of them.\nAfloat."]
    assert document.tables[0].rows == (("Ship", "Built"), ("Fram", "1892"))
    assert (problems, left_out) == (["holds 1 comment, left out"], {"running head": 2})


def test_frame_of_a_page_is_counted(tmp_path: Path) -> None:
    page = (
        "<nav>Home</nav><div role=navigation>Up</div><nav></nav><p>The kiln is hot, and it is so all day long.</p>"
        "<footer>Imprint</footer>"
    )
    document, problems, left_out = read(tmp_path / "a.html", page)
    assert (document.text, problems) == ("The kiln is hot, and it is so all day long.", [])
    assert left_out == {"navigation bar": 2, "page foot": 1}


def test_running_heads_of_word_slides_and_pdf_are_counted(tmp_path: Path) -> None:
    file = docx.Document()
    file.add_paragraph("Body.")
    file.sections[0].header.paragraphs[0].text = "Running"
    file.sections[0].footer.paragraphs[0].text = "Foot"
    file.save(str(tmp_path / "a.docx"))
    document, _, left_out = read(tmp_path / "a.docx")
    assert (document.text, left_out) == ("Body.", {"running head": 1, "running foot": 1})

    slides = pptx.Presentation()
    slide = slides.slides.add_slide(slides.slide_layouts[5])
    slide.shapes.title.text = "Kilns"
    box = slide.shapes.add_textbox(0, 0, 10, 10)
    box.text_frame.text = "Running"
    kind = parse_xml('<p:ph xmlns:p="http://schemas.openxmlformats.org/presentationml/2006/main" type="ftr"/>')
    box._element.nvSpPr.nvPr.append(kind)
    slides.save(str(tmp_path / "a.pptx"))
    assert read(tmp_path / "a.pptx")[2] == {"running foot": 1}

    canvas = Canvas(str(tmp_path / "a.pdf"))
    for number in range(1, 5):
        canvas.drawString(70, HEIGHT - 30, "On kilns of the north")
        canvas.drawString(70, 600, f"This is what stands on page number {number} of them all.")
        canvas.drawString(70, 500, f"And so it goes on, {'very ' * number}slowly.")
        canvas.drawString(300, 30, str(number))
        canvas.showPage()
    canvas.save()
    document, _, left_out = read(tmp_path / "a.pdf")
    assert "On kilns of the north" not in document.text
    assert left_out == {"running head": 4}
