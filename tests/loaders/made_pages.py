"""The features of `made_features` on slides, in sheets and on the pages of a PDF."""

from pathlib import Path
from random import Random
from typing import Any

import matplotlib
import openpyxl
import pptx
from made_features import (
    FEATURES,
    Block,
    Code,
    Defs,
    Feature,
    Features,
    Grid,
    Head,
    Items,
    Line,
    Mark,
    Maths,
    Para,
    Rule,
    Tasks,
)
from made_office import _omml as omml
from made_office import merged
from made_pdfs import prose
from openpyxl.cell.rich_text import CellRichText, TextBlock
from openpyxl.cell.text import InlineFont
from pptx.oxml import parse_xml
from pptx.util import Inches
from reportlab.lib import colors
from reportlab.lib.styles import ParagraphStyle
from reportlab.pdfbase import pdfmetrics
from reportlab.pdfbase.ttfonts import TTFont
from reportlab.platypus import Flowable, HRFlowable, KeepTogether, Paragraph, Preformatted, SimpleDocTemplate, Table

_A = 'xmlns:a="http://schemas.openxmlformats.org/drawingml/2006/main"'
_P = 'xmlns:p="http://schemas.openxmlformats.org/presentationml/2006/main"'
UNPRINTED = ("emoji", "cjk")  # missing in the font
_NUMBERING = {"1": "arabicPeriod", "a": "alphaLcPeriod", "i": "romanLcPeriod"}


def _plain(line: Line) -> str:
    """Return a line without features that the format lacks, as an author would write it."""
    breaks = {"br": "\n", "soft": " ", "hidden": "", "del": "", "comment": "", "note": "", "endnote": "", "image": ""}
    return "".join(part if isinstance(part, str) else breaks.get(part.kind, part.text) for part in line)


# Slides


def slides(path: Path, features: Features = FEATURES) -> None:
    """Return a slide for each feature."""
    file = pptx.Presentation()
    for feature in features:
        slide = file.slides.add_slide(file.slide_layouts[5])
        slide.shapes.title.text = feature.name
        frame: Any = None
        for number, block in enumerate(feature.blocks):
            top = Inches(2 + 0.2 * number)
            if isinstance(block, Grid):
                _slide_table(slide, block, top)
            elif isinstance(block, Para) and block.kind == "running":
                for kind in ("ftr", "sldNum", "dt"):
                    slide.shapes._spTree.append(_running(kind))
            else:
                if frame is None or (isinstance(block, Para) and block.kind == "box"):
                    frame = slide.shapes.add_textbox(Inches(1), top, Inches(4), Inches(1)).text_frame._txBody
                    frame.remove(frame.p_lst[0])
                for paragraph in _slide_texts(block, slide):
                    frame.append(paragraph)
    file.save(str(path))


def _running(kind: str) -> Any:
    return parse_xml(
        f'<p:sp {_P} {_A}><p:nvSpPr><p:cNvPr id="90" name="R"/><p:cNvSpPr/><p:nvPr><p:ph type="{kind}"/></p:nvPr>'
        "</p:nvSpPr><p:spPr/><p:txBody><a:bodyPr/><a:p><a:r><a:t>RUNNING</a:t></a:r></a:p></p:txBody></p:sp>"
    )


def _slide_texts(block: Block, slide: Any = None) -> list[Any]:
    match block:
        case Para(line):
            return [_slide_text("".join(_slide_part(part, slide) for part in line))]
        case Head(_, text, number):
            return [_slide_text(_slide_run(f"{number} {text}".strip()))]
        case Items():
            return _slide_items(block)
        case Code(text):
            return [_slide_text("<a:br/>".join(map(_slide_run, text.split("\n"))))]
        case Maths(tex):
            return [_slide_text(_slide_math(tex))]
        case Defs(pairs):
            return [_slide_text(_slide_run(text)) for pair in pairs for text in pair]
        case Tasks(pairs):
            return _slide_items(Items("-", [(f"[{'x' if done else ' '}] {text}", None) for done, text in pairs]))
        case _:
            return []


def _slide_items(items: Items, level: int = 0) -> list[Any]:
    found = []
    for text, inner in items.items:
        mark = f'<a:buAutoNum type="{_NUMBERING.get(items.kind)}" startAt="{items.start}"/>'
        mark = '<a:buChar char="•"/>' if items.kind == "-" else mark
        found.append(_slide_text(_slide_run(text), f'<a:pPr lvl="{level}">{mark}</a:pPr>'))
        found += _slide_items(inner, level + 1) if inner else []
    return found


def _slide_text(runs: str, settings: str = "") -> Any:
    return parse_xml(f"<a:p {_A}>{settings}{runs}</a:p>")


def _slide_run(text: str, settings: str = "", inner: str = "") -> str:
    text = text.replace("&", "&amp;").replace("<", "&lt;")
    return f"<a:r><a:rPr {settings}>{inner}</a:rPr><a:t>{text}</a:t></a:r>"


def _slide_math(tex: str) -> str:
    math = 'xmlns:m="http://schemas.openxmlformats.org/officeDocument/2006/math"'
    office = 'xmlns:mc="http://schemas.openxmlformats.org/markup-compatibility/2006"'
    inner = f'<a14:m xmlns:a14="http://schemas.microsoft.com/office/drawing/2010/main">{omml(tex)}</a14:m>'
    return f"<mc:AlternateContent {office} {math}><mc:Choice Requires='a14'>{inner}</mc:Choice></mc:AlternateContent>"


def _slide_part(part: str | Mark, slide: Any) -> str:
    if isinstance(part, str):
        return _slide_run(part)
    match part.kind:
        case "up" | "low":
            return _slide_run(part.text, f'baseline="{30000 if part.kind == "up" else -25000}"')
        case "math":
            return _slide_math(part.more)
        case "br":
            return "<a:br/>"
        case "strike":
            return _slide_run(part.text, 'strike="sngStrike"')
        case "symbol":
            runs = (("Symbol", "\uf061"), ("Wingdings", "à"), ("Symbol", "\uf0a3"))
            return _slide_run(" ").join(_slide_run(text, "", f'<a:sym typeface="{font}"/>') for font, text in runs)
        case "field":
            return (
                f'<a:fld id="{{B6F15528-21DE-4FAA-801E-634DDDAF4B2B}}" type="slidenum"><a:t>{part.text}</a:t></a:fld>'
            )
        case "image":
            slide.shapes._spTree.append(
                parse_xml(
                    f'<p:pic {_P} {_A}><p:nvPicPr><p:cNvPr id="91" name="P" descr="{part.text}"/><p:cNvPicPr/><p:nvPr/>'
                    '</p:nvPicPr><p:blipFill/><p:spPr><a:xfrm><a:off x="0" y="9999999"/><a:ext cx="1" cy="1"/>'
                    "</a:xfrm></p:spPr></p:pic>"
                )
            )
            return ""
        case _:
            return _slide_run(_plain([part])) if _plain([part]) else ""


def _slide_table(slide: Any, table: Grid, top: Any) -> None:
    rows = merged(table)
    shape = slide.shapes.add_table(len(rows), len(rows[0]), Inches(1), top, Inches(4), Inches(1)).table
    for y, row in enumerate(rows):
        for x, (cell, first, left) in enumerate(row):
            if not (first and left):
                continue
            body = shape.cell(y, x).text_frame._txBody
            body.remove(body.p_lst[0])
            for inner in cell.inner:
                for paragraph in _slide_texts(inner):
                    body.append(paragraph)
            if not body.p_lst:
                body.append(_slide_text(""))
            if cell.down > 1 or cell.across > 1:
                shape.cell(y, x).merge(shape.cell(y + cell.down - 1, x + cell.across - 1))


# Sheets


def sheets(path: Path, features: Features = FEATURES) -> None:
    """Return one sheet with a row for each paragraph; tables have their own sheets."""
    book = openpyxl.Workbook()
    texts = book.active
    texts.title = "texts"
    texts.append(["Name", "Text"])
    for feature in features:
        match feature.blocks:
            case [Para(line)]:
                texts.append([feature.name, _cell(line)])
            case [Grid() as table] if not _has_table(feature):
                sheet = book.create_sheet(feature.name)
                for y, row in enumerate(merged(table), 1):
                    for x, (cell, top, left) in enumerate(row, 1):
                        if top and left:
                            sheet.cell(y, x, _cell_text(cell.inner))
                        if top and left and (cell.down > 1 or cell.across > 1):
                            sheet.merge_cells(None, y, x, y + cell.down - 1, x + cell.across - 1)
    book.save(path)


def _cell(line: Line) -> str | CellRichText:
    """Return a cell with some raised or lowered characters."""
    fonts = {"up": InlineFont(vertAlign="superscript"), "low": InlineFont(vertAlign="subscript")}
    if not any(isinstance(part, Mark) and part.kind in fonts for part in line):
        return _plain(line)
    return CellRichText([TextBlock(fonts[p.kind], p.text) if isinstance(p, Mark) else p for p in line])


def _has_table(feature: Feature) -> bool:
    return any(
        isinstance(inner, Grid)
        for block in feature.blocks
        if isinstance(block, Grid)
        for row in block.rows
        for cell in row
        for inner in cell.inner
    )


def _cell_text(inner: Any) -> str | int | None:
    parts = [_plain(b.line) if isinstance(b, Para) else "\n".join(text for text, _ in b.items) for b in inner]
    text = "\n".join(parts)
    return int(text) if text.isdecimal() else text or None


# Pages


def pdf(path: Path, features: Features = FEATURES) -> None:
    """Return headings in larger type, with prose below each feature, since pages are read by their appearance."""
    folder = Path(matplotlib.get_data_path()) / "fonts/ttf"
    for name in ("DejaVuSans", "DejaVuSans-Bold", "DejaVuSansMono"):
        pdfmetrics.registerFont(TTFont(name, folder / f"{name}.ttf"))
    body = ParagraphStyle("body", fontName="DejaVuSans", fontSize=10, leading=13, spaceAfter=9)
    story: list[Flowable] = [Paragraph("All", _larger(body, 26))]
    for feature in features:
        story.append(Paragraph(feature.name, _larger(body, 18)))
        for block in feature.blocks if feature.name not in UNPRINTED else ():
            story += _on_page(block, body)
        story.append(Paragraph(f"Whoever reads on. {prose(Random(feature.name), 6)} As here.", body))
    SimpleDocTemplate(str(path)).build(story, onFirstPage=_head, onLaterPages=_head)


def _head(canvas: Any, template: Any) -> None:
    canvas.setFont("Helvetica", 8)
    canvas.drawString(72, 810, "RUNNING")


def _larger(style: ParagraphStyle, size: float) -> ParagraphStyle:
    return ParagraphStyle(f"s{size}", style, fontSize=size, leading=1.3 * size, fontName="DejaVuSans-Bold")


def _on_page(block: Block, body: ParagraphStyle) -> list[Flowable]:
    match block:
        case Para(kind="running"):
            return []
        case Para(line):
            return [Paragraph("".join(map(_page_part, line)), body)]
        case Head(level, text, number):
            return [Paragraph(f"{number} {text}".strip(), _larger(body, 18 - 1.8 * (level - 2)))]
        case Items(kind, items, start):
            marks = {"-": "•", "1": "{}.", "a": "{}.", "i": "{}."}
            shown = {"a": ["", "a", "b"], "i": ["", "i", "ii", "iii", "iv"]}.get(kind, list(map(str, range(9))))
            found: list[Flowable] = []
            for number, (text, inner) in enumerate(items, start):
                found.append(Paragraph(f"{marks[kind].format(shown[number])} {text}", body))
                found += _on_page(inner, ParagraphStyle("in", body, leftIndent=body.leftIndent + 15)) if inner else []
            return found
        case Code(text):
            return [KeepTogether([Preformatted(text, ParagraphStyle("code", body, fontName="DejaVuSansMono"))])]
        case Rule():
            return [HRFlowable()]
        case Maths(tex):
            return [Paragraph(tex.replace("{", "").replace("}", ""), body)]
        case Tasks(pairs):
            return _on_page(Items("-", [(f"[{'x' if done else ' '}] {text}", None) for done, text in pairs]), body)
        case Defs(pairs):
            return [Paragraph(text, body) for pair in pairs for text in pair]
        case Grid():
            return [_page_table(block, body)]
        case _:
            return []


_PRINTED = {"שלום עולם and العربية": "ةيبرعلا and םלוע םולש"}
"""Letters in their visual order, from left to right."""


def _page_part(part: str | Mark) -> str:
    text = _plain([part]).replace("&", "&amp;").replace("<", "&lt;").replace("\n", "<br/>")
    text = _PRINTED.get(text, text)
    tags = {"up": "super", "low": "sub", "strike": "strike"}
    if isinstance(part, Mark) and part.kind in tags:
        return f"<{tags[part.kind]}>{text}</{tags[part.kind]}>"
    return text


def _page_table(table: Grid, body: ParagraphStyle) -> Table:
    rows = merged(table)
    style: list[tuple[Any, ...]] = [("GRID", (0, 0), (-1, -1), 0.5, colors.black)]
    cells: list[list[Any]] = []
    for y, row in enumerate(rows):
        cells.append([])
        for x, (cell, top, left) in enumerate(row):
            own = top and left
            cells[-1].append([f for inner in cell.inner for f in _on_page(inner, body)] if own else "")
            if own and (cell.down > 1 or cell.across > 1):
                style.append(("SPAN", (x, y), (x + cell.across - 1, y + cell.down - 1)))
    return Table(cells, colWidths=[90] * len(rows[0]), style=style)
