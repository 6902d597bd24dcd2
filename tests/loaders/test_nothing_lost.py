"""Every part of a file is in its document, or is counted: one file of each format, with a unique word in each part.

Words that begin with "seen" must be read; words that begin with "gone" must be omitted and counted.
"""

import json
import re
from collections import Counter
from pathlib import Path

import docx
import openpyxl
import pptx
import pyarrow
import pyarrow.parquet
import pytest
import test_opendocument
from docx.oxml import parse_xml
from openpyxl.styles import Font
from pptx.util import Inches

from kgrag.loaders.dispatch import Load
from kgrag.values.documents import Document, Problem

Counts = dict[str, int]
HTML = """<title>seen0</title><h1>seen1</h1><p>seen2 <b>seen3</b><img alt="seen4"> <s>gone1</s><strike>gone2</strike>
<span style="color:red; text-decoration: line-through">gone3</span><del>gone4</del></p><ul><li>seen5<ol><li>seen6</ol>
</ul><dl><dt>seen7<dd>seen8</dl><table><caption>seen9</caption><tr><td>seen10<td>seen11<td>5<tr><td>seen12<td>seen13
<td>6</table><pre><p>seen14</p>seen15<div>seen16</div></pre><blockquote>seen17</blockquote><svg><title>seen18</title>
<text>seen19</text><desc>seen20</desc></svg><details><summary>seen21</summary>seen22</details><textarea>seen23</textarea>
<input value="seen24"><math><mi>seen25</mi></math><figure><figcaption>seen26</figcaption></figure>
<address>seen27</address><ruby>seen28<rt>gone5</rt></ruby><nav>gone6</nav><footer>gone7</footer><dialog>seen29</dialog><canvas>seen30</canvas>"""
HTML_COUNTS = {"deleted piece": 4, "reading of characters": 1, "navigation bar": 1, "page foot": 1}
MARKDOWN = """---
author: seen0
---
# seen1
seen2 **seen3** `seen4` ~~gone1~~ <s>gone2</s> <del>gone3</del> %%gone4%% [seen5](a.md){ .x } ![seen6](b.png) ++seen7++

!!! note "seen8"
    seen9

    - seen10

??? tip
    seen11

=== "seen12"
    seen13

::: seen14.seen15
    gone5: gone5

:::warning seen16
seen17
:::

--8<-- "gone6.md"

*[seen18]: seen19

|  |  |
|--|--|
| seen20 | seen21 |
| seen22 | seen23 |

    seen24

```
seen25
```

seen26[^1] $seen27$ <svg><text>seen28</text></svg>

[^1]: seen29
"""
ASCIIDOC = """= seen1
:product: seen2

{product} *seen3* [line-through]#gone1# footnote:[seen4] image:a.png[seen5]

// gone2

.seen6
|===
|seen7 |seen8
|===

,===
seen9,"seen10, seen11"
,===

[format=dsv]
|===
seen12:seen13
|===

:===
seen14:seen15
:===

|===
seen16
|===

[quote, seen17]
____
seen18
____

[WARNING]
====
seen19
====

seen20:: seen21

include::gone3.adoc[]

[start=4]
. seen22

----
seen23
----

|===
// gone4
|seen24 !seen25
|===
"""
ORG = """#+TITLE: seen0
#+AUTHOR: seen1
# gone1
seen2 +gone2+ =seen3=
* TODO [#A] seen4 :seen5:
SCHEDULED: <2024-05-03 seen6>
:PROPERTIES:
:ID: gone3
:END:
#+BEGIN_COMMENT
gone4
#+END_COMMENT
#+CAPTION: seen7
| seen8 | seen9 |
| seen10 | seen11 |
- seen12 :: seen13
1. [@5] seen14
#+BEGIN_SRC
seen15
#+END_SRC
"""
MAIL = """From: seen0@a.example
To: seen1@a.example
Subject: seen2
Date: Mon, 30 Nov 2026 23:30:00 -0800
Content-Type: multipart/mixed; boundary=m

--m
Content-Type: multipart/alternative; boundary=a

--a
Content-Type: text/plain

Read it in your browser: https://a.example/x
--a
Content-Type: multipart/mixed; boundary=i

--i
Content-Type: text/html

<p>seen3</p><table><tr><th>seen4<th>seen5<tr><td>seen6<td>seen7</table>
--i
Content-Type: application/pdf; name=seen8.pdf

x
--i
Content-Type: text/html

<p>seen9</p>
--i--
--a
Content-Type: text/calendar; method=REQUEST

BEGIN:VCALENDAR
BEGIN:VEVENT
SUMMARY:seen10
DTSTART;TZID=seen11:20261130T093000
LOCATION:see
 n12
DESCRIPTION:seen13\\nseen14
ORGANIZER;CN="seen15":mailto:seen16@a.example
END:VEVENT
END:VCALENDAR
--a--
--m
Content-Type: message/delivery-status

Status: seen17

--m
Content-Type: message/rfc822

Subject: seen18
From: seen19@a.example

seen20
--m--
"""
JSON = {
    "seen1": "seen2", "n": 5, "specs": {"seen3": 4.5, "rooms": ["seen4", "seen5"]},
    "reviews": [{"by": "seen6", "seen7": True, "more": {"seen8": ["seen9 seen10", {"seen11": "seen12"}]}}],
}  # fmt: skip
RTF = r"""{\rtf1{\info{\title seen0}}seen1{\strike gone1}{\striked1 gone2}{\v gone3}{\deleted gone4}
{\footnote seen2}\par{\header gone5}{\footer gone6}{\*\annotation gone7}
\trowd seen3\cell seen4\cell\row seen5\cell 5\cell\row\pard seen6\par}"""
W = 'xmlns:w="http://schemas.openxmlformats.org/wordprocessingml/2006/main"'
WORD = """<w:p><w:r><w:t>seen1</w:t></w:r>{}</w:p><w:customXml><w:p><w:r><w:t>seen2</w:t></w:r></w:p></w:customXml>
<w:sdt><w:sdtContent><w:p><w:hyperlink><w:r><w:t>seen3</w:t></w:r></w:hyperlink></w:p></w:sdtContent></w:sdt>
<w:tbl><w:tblPr><w:tblLook w:firstRow="0"/></w:tblPr><w:tr><w:tc><w:p><w:r><w:t>seen4</w:t></w:r></w:p></w:tc><w:tc>
<w:p><w:r><w:t>seen5</w:t></w:r></w:p></w:tc></w:tr><w:tr><w:tc><w:p><w:r><w:t>seen6</w:t></w:r></w:p></w:tc><w:tc><w:p>
<w:r><w:t>seen7</w:t></w:r></w:p></w:tc></w:tr></w:tbl>"""
PIECES = ("<w:strike/>", "<w:dstrike/>", "<w:vanish/>")
ODT_STYLES = (
    '<style:style style:name="S" style:family="text"><style:text-properties style:text-line-through-style="solid"/>'
    '</style:style><style:style style:name="H" style:family="text"><style:text-properties text:display="none"/>'
    "</style:style>"
)
ODT = """<text:h>seen1</text:h><text:p>seen2 <text:span text:style-name="S">gone1</text:span>
<text:span text:style-name="H">gone2</text:span><text:hidden-text>gone3</text:hidden-text></text:p>
<text:p>gone4<text:hidden-paragraph text:is-hidden="true"/></text:p><text:numbered-paragraph><text:p>seen3</text:p>
</text:numbered-paragraph><text:section text:display="none"><text:p>gone5</text:p></text:section><text:section>
<text:p>seen4</text:p></text:section><text:list><text:list-item><text:p>seen5</text:p><table:table><table:table-row>
<table:table-cell><text:p>seen6</text:p></table:table-cell></table:table-row></table:table></text:list-item></text:list>
<text:alphabetical-index><text:index-body><text:p>seen7</text:p></text:index-body></text:alphabetical-index>
<text:illustration-index><text:illustration-index-source><text:index-title-template>template</text:index-title-template>
</text:illustration-index-source><text:index-body><text:p>seen8</text:p></text:index-body></text:illustration-index>"""
SUBTITLES = "1\n00:00:01 --> 00:00:02\nseen1\n\nseen2\n\n2\n00:00:03,5 --> 00:00:04,0\n<i>seen3</i>\n"
BESIDE = {"deleted piece": 2, "hidden piece": 1}


def write(path: Path) -> Counts:
    """Write the file of a format; return the counts of its left-out parts."""
    texts: dict[str, tuple[str, Counts]] = {
        ".html": (HTML, HTML_COUNTS),
        ".md": (MARKDOWN, {"deleted piece": 3, "comment": 1, "option of a module": 1, "embedded part": 1}),
        ".adoc": (ASCIIDOC, {"deleted piece": 1, "comment line": 2, "embedded part": 1}),
        ".org": (ORG, {"deleted piece": 1, "comment line": 2, "drawer line": 1}),
        ".eml": (MAIL, {}),
        ".json": (json.dumps(JSON), {}),
        ".csv": ("seen1,,\nseen2,seen3,\n,,\nRegion,Q1,Q2\nseen4,5,6\nseen5,7,seen6\n", {}),
        ".rtf": (RTF, {"deleted piece": 3, "hidden piece": 1, "running head": 1, "running foot": 1, "comment": 1}),
        ".srt": (SUBTITLES, {}),
        ".vtt": ("WEBVTT\n\nNOTE gone1\n\nSTYLE\nx\n\n" + SUBTITLES[2:], {"comment": 1}),
        ".rst": (
            "seen1\n=====\n\nseen2 [1]_\n\n.. note:: seen3\n\n.. x:: seen4\n   :seen: 1\n\n   seen5\n\n.. [1] seen6",
            {},
        ),
        ".txt": ("seen1", {}),
    }
    if path.suffix in texts:
        path.write_text(texts[path.suffix][0])
        return texts[path.suffix][1]
    if path.suffix == ".docx":
        file = docx.Document()
        runs = "".join(f"<w:r><w:rPr>{p}</w:rPr><w:t>gone{n}</w:t></w:r>" for n, p in enumerate(PIECES))
        file.element.body[:0] = list(parse_xml(f"<w:body {W}>{WORD.format(runs)}</w:body>"))
        file.save(str(path))
        return BESIDE
    if path.suffix == ".odt":
        test_opendocument.file(path, ODT, ODT_STYLES)
        return {"deleted piece": 1, "hidden piece": 4}
    if path.suffix == ".xlsx":
        book = openpyxl.Workbook()
        for row in (["seen1", None], [None, None], ["seen2", "seen3"], ["seen4", "gone1"], ["seen5", 5]):
            book.active.append(row)
        book.active["B4"].font = Font(strike=True)
        book.create_sheet("gone2").sheet_state = "hidden"
        book.save(path)
        return {"deleted piece": 1, "hidden sheet": 1}
    if path.suffix == ".pptx":
        slides = pptx.Presentation()
        slide = slides.slides.add_slide(slides.slide_layouts[5])
        slide.shapes.title.text = "seen1"
        for text, key, value in (("seen2", "", ""), ("gone1", "strike", "sngStrike"), ("gone2", "hidden", "1")):
            shape = slide.shapes.add_textbox(Inches(1), Inches(1), Inches(1), Inches(1))
            shape.text_frame.text = text
            if key == "strike":
                shape.text_frame.paragraphs[0].runs[0]._r.get_or_add_rPr().set(key, value)
            elif key:
                shape._element.nvSpPr.cNvPr.set(key, value)
        slide.notes_slide.notes_text_frame.text = "seen3"
        slides.save(str(path))
        return {"deleted piece": 1, "hidden piece": 1}
    pyarrow.parquet.write_table(pyarrow.table({"seen1": ["seen2"], "seen3": [{"seen4": ["seen5"]}]}), path)
    return {}


SUFFIXES = ".html .md .adoc .org .eml .json .csv .rtf .srt .vtt .rst .txt .docx .odt .xlsx .pptx .parquet".split()


@pytest.mark.parametrize("suffix", SUFFIXES)
def test_each_part_is_read_or_counted(tmp_path: Path, suffix: str) -> None:
    path = tmp_path / f"a{suffix}"
    counts = write(path)
    content = {".odt": ODT, ".docx": WORD}.get(suffix, "")
    loading = Load(path)
    items = list(loading)
    documents = [item for item in items if isinstance(item, Document)]
    problems = " ".join(item.message for item in items if isinstance(item, Problem))
    text = repr([(d.title, dict(d.metadata), d.sections, d.tables) for d in documents])
    words = Counter(re.findall(r"(?:seen|gone)\d+", text))
    source = content or path.read_text(errors="replace").replace("see\n n", "seen")
    wanted = set(re.findall(r"seen\d+", source)) | {f"seen{n}" for n in range(1, 3 if suffix == ".pptx" else 1)}
    assert wanted - words.keys() == set()
    assert [word for word in words if word.startswith("gone")] == []
    told = {kind: int(n) for n, kind in re.findall(r"(\d+) ([a-z ]+?)s?(?=, )", problems)}
    assert told | loading.scan.left_out == counts
