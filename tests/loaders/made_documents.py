"""One document with many features, in each format."""

import io
import zipfile
from pathlib import Path
from typing import Any

import docx
import openpyxl
import pptx
from docx.oxml import OxmlElement
from docx.oxml.ns import qn
from docx.oxml.parser import parse_xml
from pptx.util import Inches

MARKDOWN = r"""# Star survey

The star has 10<sup>24</sup> kg and the mill cost 45[^1] million. Water is H<sub>2</sub>O,
x<sub>i</sub> is 5 m<sup>2</sup>. The 19<sup>th</sup> ship, `a*b*c`, List<String> and <your-key>.<br>A new line with
*stress* and a [link](https://x.example).

## Steps

3. third
4. fourth
   1. inner
   2. last

- plain
- dotted

## Sales

Table 1: Sales by region

| Region | City | Sales 2020 | Sales 2021 |
| ------ | ---- | ---------- | ---------- |
| North | Aalborg | 5 | 6 |
| North | Viborg | 7 | 8 |
| South | Odense | closed | closed |

After the table.

[^1]: The note about the *mill*, 3<sup>4</sup>.
"""

_TABLE = """<table><thead><tr><th rowspan="2">Region</th><th rowspan="2">City</th><th colspan="2">Sales</th></tr>
<tr><th>2020</th><th>2021</th></tr></thead><tbody>
<tr><td rowspan="2">North</td><td>Aalborg</td><td>5</td><td>6</td></tr><tr><td>Viborg</td><td>7</td><td>8</td></tr>
<tr><td>South</td><td>Odense</td><td colspan="2">closed</td></tr></tbody></table>"""

BODY = f"""<h1>Star survey</h1>
<p>The star has 10<sup>24</sup> kg and the mill cost 45<sup><a href="#fn1" id="ref1">1</a></sup> million. Water is
H<sub>2</sub>O, x<sub>i</sub> is 5 m<sup>2</sup>. The 19<sup>th</sup> ship, <code>a*b*c</code>, List&lt;String&gt; and
&lt;your-key&gt;.<br/>A new line with <em>stress</em> and a <a href="https://x.example">link</a>.
<span style="display: none">HIDDEN</span></p>
<h2>Steps</h2>
<ol start="3"><li>third</li><li>fourth<ol><li>inner</li><li>last</li></ol></li></ol>
<ul><li>plain</li><li>dotted</li></ul>
<h2>Sales</h2><p>Table 1: Sales by region</p>
{_TABLE}
<p>After the table.</p>
<ol><li id="fn1">The note about the <em>mill</em>, 3<sup>4</sup>. <a href="#ref1">↩</a></li></ol>"""

RST = r"""
Star survey
===========

The star has 10\ :sup:`24` kg and the mill cost 45\ [1]_ million. Water is H\ :sub:`2`\ O, x\ :sub:`i` is 5 m\ :sup:`2`.
The 19\ :sup:`th` ship, ``a*b*c``, List<String> and <your-key>.

A new line with *stress* and a `link <https://x.example>`_.

Steps
-----

3. third
4. fourth

   1. inner
   2. last

- plain
- dotted

Sales
-----

Table 1: Sales by region

+--------+---------+-----------+
| Region | City    | Sales     |
|        |         +-----+-----+
|        |         |2020 |2021 |
+========+=========+=====+=====+
| North  | Aalborg | 5   | 6   |
|        +---------+-----+-----+
|        | Viborg  | 7   | 8   |
+--------+---------+-----+-----+
| South  | Odense  | closed    |
+--------+---------+-----------+

After the table.

.. [1] The note about the *mill*, 3\ :sup:`4`.
"""

_ODF = "urn:oasis:names:tc:opendocument:xmlns:"
_ODT = f"""<office:document-content xmlns:office="{_ODF}office:1.0" xmlns:text="{_ODF}text:1.0"
 xmlns:table="{_ODF}table:1.0" xmlns:style="{_ODF}style:1.0" xmlns:fo="{_ODF}xsl-fo-compatible:1.0">
<office:automatic-styles>
<style:style style:name="up" style:family="text"><style:text-properties style:text-position="super 58%"/></style:style>
<style:style style:name="low" style:family="text"><style:text-properties style:text-position="sub 58%"/></style:style>
<style:style style:name="gone" style:family="text"><style:text-properties text:display="none"/></style:style>
<text:list-style style:name="L"><text:list-level-style-number text:level="1" style:num-format="1" text:start-value="3"/>
<text:list-level-style-number text:level="2" style:num-format="1"/></text:list-style>
</office:automatic-styles><office:body><office:text>BODY</office:text></office:body></office:document-content>"""
_ODT_BODY = """<text:h text:outline-level="1">Star survey</text:h>
<text:p>The star has 10<text:span text:style-name="up">24</text:span> kg and the mill cost 45 million. Water is
H<text:span text:style-name="low">2</text:span>O, x<text:span text:style-name="low">i</text:span> is 5
m<text:span text:style-name="up">2</text:span>. The 19<text:span text:style-name="up">th</text:span> ship, a*b*c,
List&lt;String&gt; and &lt;your-key&gt;.<text:line-break/>A new line with stress and a link.
<text:span text:style-name="gone">HIDDEN</text:span></text:p>
<text:h text:outline-level="2">Steps</text:h>
<text:list text:style-name="L"><text:list-item><text:p>third</text:p></text:list-item><text:list-item>
<text:p>fourth</text:p><text:list><text:list-item><text:p>inner</text:p></text:list-item><text:list-item>
<text:p>last</text:p></text:list-item></text:list></text:list-item></text:list>
<text:list><text:list-item><text:p>plain</text:p></text:list-item><text:list-item><text:p>dotted</text:p>
</text:list-item></text:list>
<text:h text:outline-level="2">Sales</text:h><text:p>Table 1: Sales by region</text:p>
<table:table><table:table-header-rows>
<table:table-row><table:table-cell table:number-rows-spanned="2"><text:p>Region</text:p></table:table-cell>
<table:table-cell table:number-rows-spanned="2"><text:p>City</text:p></table:table-cell>
<table:table-cell table:number-columns-spanned="2"><text:p>Sales</text:p></table:table-cell>
<table:covered-table-cell/></table:table-row>
<table:table-row><table:covered-table-cell/><table:covered-table-cell/><table:table-cell><text:p>2020</text:p>
</table:table-cell><table:table-cell><text:p>2021</text:p></table:table-cell></table:table-row>
</table:table-header-rows>
<table:table-row><table:table-cell table:number-rows-spanned="2"><text:p>North</text:p></table:table-cell>
<table:table-cell><text:p>Aalborg</text:p></table:table-cell><table:table-cell><text:p>5</text:p></table:table-cell>
<table:table-cell><text:p>6</text:p></table:table-cell></table:table-row>
<table:table-row><table:covered-table-cell/><table:table-cell><text:p>Viborg</text:p></table:table-cell>
<table:table-cell><text:p>7</text:p></table:table-cell><table:table-cell><text:p>8</text:p></table:table-cell>
</table:table-row>
<table:table-row><table:table-cell><text:p>South</text:p></table:table-cell>
<table:table-cell><text:p>Odense</text:p></table:table-cell>
<table:table-cell table:number-columns-spanned="2"><text:p>closed</text:p></table:table-cell><table:covered-table-cell/>
</table:table-row></table:table>
<text:p>After the table.</text:p>"""
_ODT_NOTE = """45<text:note text:note-class="footnote"><text:note-citation>1</text:note-citation><text:note-body>
<text:p>The note about the mill, 3<text:span text:style-name="up">4</text:span>.</text:p></text:note-body>
</text:note> m"""


def odt(path: Path) -> None:
    """Return it as OpenDocument; the first section refers to the note, which is at the section's end."""
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("mimetype", "application/vnd.oasis.opendocument.text")
        archive.writestr("content.xml", _ODT.replace("BODY", _ODT_BODY.replace("45 m", _ODT_NOTE)))


def epub(path: Path) -> None:
    """Return it as a book of one chapter."""
    book(path, BODY)


def book(path: Path, body: str) -> None:
    """Return a book of one chapter with this body."""
    package = """<package xmlns="http://www.idpf.org/2007/opf"><metadata/><manifest><item id="a" href="a.xhtml"
     media-type="application/xhtml+xml"/></manifest><spine><itemref idref="a"/></spine></package>"""
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("mimetype", "application/epub+zip")
        archive.writestr("META-INF/container.xml", "<c><rootfile full-path='book.opf'/></c>")
        archive.writestr("book.opf", package)
        archive.writestr("a.xhtml", f"<html xmlns='http://www.w3.org/1999/xhtml'><body>{body}</body></html>")


_RUNS = [
    ("The star has 10", ""), ("24", "superscript"), (" kg and the mill cost 45", ""), ("", "note"),
    (" million. Water is H", ""), ("2", "subscript"), ("O, x", ""), ("i", "subscript"), (" is 5 m", ""),
    ("2", "superscript"), (". The 19", ""), ("th", "superscript"),
    (" ship, a*b*c, List<String> and <your-key>.\nA new line with stress and a link.", ""), ("HIDDEN", "hidden"),
]  # fmt: skip
_FOOTNOTES = """<w:footnotes xmlns:w="http://schemas.openxmlformats.org/wordprocessingml/2006/main">
<w:footnote w:type="separator" w:id="-1"><w:p/></w:footnote><w:footnote w:id="2"><w:p><w:r><w:footnoteRef/></w:r><w:r>
<w:t xml:space="preserve"> The note about the mill, 3</w:t></w:r><w:r><w:rPr><w:vertAlign w:val="superscript"/></w:rPr>
<w:t>4</w:t></w:r><w:r><w:t>.</w:t></w:r></w:p></w:footnote></w:footnotes>"""
_LIST = """<w:abstractNum xmlns:w="http://schemas.openxmlformats.org/wordprocessingml/2006/main" w:abstractNumId="90">
<w:lvl w:ilvl="0"><w:start w:val="3"/><w:numFmt w:val="decimal"/><w:lvlText w:val="%1."/></w:lvl>
<w:lvl w:ilvl="1"><w:start w:val="1"/><w:numFmt w:val="decimal"/><w:lvlText w:val="%2."/></w:lvl></w:abstractNum>"""


_CELLS = {
    (0, 0): "Region", (0, 1): "City", (0, 2): "Sales", (1, 2): "2020", (1, 3): "2021",
    (2, 0): "North", (2, 1): "Aalborg", (2, 2): "5", (2, 3): "6", (3, 1): "Viborg", (3, 2): "7", (3, 3): "8",
    (4, 0): "South", (4, 1): "Odense", (4, 2): "closed",
}  # fmt: skip
_MERGED = (((0, 0), (1, 0)), ((0, 1), (1, 1)), ((0, 2), (0, 3)), ((2, 0), (3, 0)), ((4, 2), (4, 3)))


def word(path: Path) -> None:
    """Return it as a Word document."""
    file = docx.Document()
    file.core_properties.title = ""
    file.add_heading("Star survey", 1)
    paragraph = file.add_paragraph()
    for text, kind in _RUNS:
        run = paragraph.add_run(text)
        if kind == "note":
            reference = OxmlElement("w:footnoteReference")
            reference.set(qn("w:id"), "2")
            run._r.append(reference)
        run.font.superscript = True if kind == "superscript" else None
        run.font.subscript = True if kind == "subscript" else run.font.subscript
        run.font.hidden = True if kind == "hidden" else None
    file.add_heading("Steps", 2)
    _numbering(file)
    for text, level in (("third", 0), ("fourth", 0), ("inner", 1), ("last", 1)):
        _listed(file.add_paragraph(text), level)
    file.add_paragraph("plain", style="List Bullet")
    file.add_paragraph("dotted", style="List Bullet")
    file.add_heading("Sales", 2)
    file.add_paragraph("Table 1: Sales by region")
    table = file.add_table(5, 4)
    for place, text in _CELLS.items():
        table.cell(*place).text = text
    for one, other in _MERGED:
        table.cell(*one).merge(table.cell(*other))
    file.add_paragraph("After the table.")
    out = io.BytesIO()
    file.save(out)
    with zipfile.ZipFile(out) as old, zipfile.ZipFile(path, "w") as new:
        for name in old.namelist():
            data = old.read(name)
            if name == "word/_rels/document.xml.rels":
                data = data.replace(b"</Relationships>", b"<Relationship Id='notes' Type='http://schemas.openxmlformats.org"
                                    b"/officeDocument/2006/relationships/footnotes' Target='footnotes.xml'/>"
                                    b"</Relationships>")  # fmt: skip
            new.writestr(name, data)
        new.writestr("word/footnotes.xml", _FOOTNOTES)


def _numbering(file: Any) -> None:
    numbering = file.part.numbering_part.element
    numbering.insert(0, parse_xml(_LIST))
    number = OxmlElement("w:num")
    number.set(qn("w:numId"), "90")
    of = OxmlElement("w:abstractNumId")
    of.set(qn("w:val"), "90")
    number.append(of)
    numbering.append(number)


def _listed(paragraph: Any, level: int) -> None:
    properties = paragraph._p.get_or_add_pPr().get_or_add_numPr()
    properties.get_or_add_ilvl().val = level
    properties.get_or_add_numId().val = 90


def slides(path: Path) -> None:
    """Return the first paragraph and the table on a slide each."""
    file = pptx.Presentation()
    slide = file.slides.add_slide(file.slide_layouts[5])
    slide.shapes.title.text = "Star survey"
    paragraph = slide.shapes.add_textbox(Inches(1), Inches(2), Inches(4), Inches(1)).text_frame.paragraphs[0]
    for text, kind in _RUNS:
        if kind in ("note", "hidden"):  # slides have neither
            continue
        for number, line in enumerate(text.split("\n")):
            if number:
                paragraph.add_line_break()
            run = paragraph.add_run()
            run.text = line
            if kind:
                run.font._element.set("baseline", "30000" if kind == "superscript" else "-25000")
    slide = file.slides.add_slide(file.slide_layouts[5])
    slide.shapes.title.text = "Table 1: Sales by region"
    table = slide.shapes.add_table(5, 4, Inches(1), Inches(5), Inches(4), Inches(1)).table
    for place, text in _CELLS.items():
        table.cell(*place).text = text
    for one, other in _MERGED:
        table.cell(*one).merge(table.cell(*other))
    file.save(str(path))


def sheet(path: Path) -> None:
    """Return the table under its caption."""
    book = openpyxl.Workbook()
    book.active.append(["Table 1: Sales by region"])
    for (row, column), text in _CELLS.items():
        book.active.cell(row + 2, column + 1, int(text) if text.isdigit() else text)
    for (top, left), (bottom, right) in _MERGED:
        book.active.merge_cells(start_row=top + 2, start_column=left + 1, end_row=bottom + 2, end_column=right + 1)
    book.save(path)
