"""The features of `made_features` as Word and OpenDocument texts, in the XML of the office programs."""

import zipfile
from html import escape
from itertools import count
from pathlib import Path

from made_features import FEATURES, Block, Cell, Code, Defs, Features, Grid, Head, Items, Mark, Maths, Para, Rule, Tasks

from kgrag.loaders.grid import Cell as Laid
from kgrag.loaders.grid import lay_out

_W = "http://schemas.openxmlformats.org/wordprocessingml/2006/main"
_R = "http://schemas.openxmlformats.org/officeDocument/2006/relationships"
_NAMES = (
    f'xmlns:w="{_W}" xmlns:r="{_R}" xmlns:m="http://schemas.openxmlformats.org/officeDocument/2006/math" '
    'xmlns:wp="http://schemas.openxmlformats.org/drawingml/2006/wordprocessingDrawing" '
    'xmlns:mc="http://schemas.openxmlformats.org/markup-compatibility/2006" '
    'xmlns:wps="http://schemas.microsoft.com/office/word/2010/wordprocessingShape" '
    'xmlns:a="http://schemas.openxmlformats.org/drawingml/2006/main"'
)
_PARTS = {
    "styles": "styles", "numbering": "numbering", "footnotes": "footnotes", "endnotes": "endnotes",
    "comments": "comments", "header1": "header", "footer1": "footer",
}  # fmt: skip
_KINDS = {"-": 11, "1": 12, "a": 13, "i": 14}
_FORMS = {11: "bullet", 12: "decimal", 13: "lowerLetter", 14: "lowerRoman"}


def merged(table: Grid) -> list[list[tuple[Cell, bool, bool]]]:
    """Yield for each place of a table the cell that covers it, and whether it begins in that row and in that column."""
    cells: dict[int, Cell] = {}
    rows = []
    for row in table.rows:
        rows.append([Laid("", cell.down, cell.across) for cell in row])
        cells.update({id(laid): cell for laid, cell in zip(rows[-1], row, strict=True)})
    places = lay_out(rows)
    found = []
    for y, line in enumerate(places):
        found.append(
            [
                (cells[id(laid)], y == 0 or places[y - 1][x] is not laid, x == 0 or line[x - 1] is not laid)
                for x, laid in enumerate(line)
            ]
        )
    return found


# Word


def word(path: Path, features: Features = FEATURES) -> None:
    """Return a Word document with automatic heading numbers, and notes in separate parts."""
    body = _Word()
    blocks = [_styled("Heading1", "All")]
    for feature in features:
        blocks.append(_styled("Heading2", feature.name))
        for block in feature.blocks:
            if isinstance(block, Para) and block.kind == "box":  # anchored to the paragraph before
                blocks[-1] = blocks[-1].removesuffix("</w:p>") + body.block(block) + "</w:p>"
            else:
                blocks.append(body.block(block))
    parts = dict.fromkeys(_PARTS, "")
    parts |= body.notes | {"styles": _styles(), "numbering": body.numbering()}
    parts["header1"] = parts["footer1"] = _paragraph(_run("RUNNING"))
    roots = {"header1": "hdr", "footer1": "ftr"}
    relations = "".join(
        f'<Relationship Id="{name}" Type="{_R}/{kind}" Target="{name}.xml"/>' for name, kind in _PARTS.items()
    )
    kinds = "".join(
        f'<Override PartName="/word/{name}.xml" ContentType="application/vnd.openxmlformats-officedocument.'
        f'wordprocessingml.{"document.main" if name == "document" else kind}+xml"/>'
        for name, kind in {"document": "", **_PARTS}.items()
    )
    section = '<w:sectPr><w:headerReference w:type="default" r:id="header1"/></w:sectPr>'
    files = {
        "[Content_Types].xml": '<Types xmlns="http://schemas.openxmlformats.org/package/2006/content-types"><Default '
        f'Extension="rels" ContentType="application/vnd.openxmlformats-package.relationships+xml"/>{kinds}</Types>',
        "_rels/.rels": _relations(f'<Relationship Id="a" Type="{_R}/officeDocument" Target="word/document.xml"/>'),
        "word/_rels/document.xml.rels": _relations(relations),
        "word/document.xml": f"<w:document {_NAMES}><w:body>{''.join(blocks)}{section}</w:body></w:document>",
    }
    for name, inner in parts.items():
        root = roots.get(name, name)
        files[f"word/{name}.xml"] = f"<w:{root} {_NAMES}>{inner}</w:{root}>"
    with zipfile.ZipFile(path, "w") as archive:
        for name, text in files.items():
            archive.writestr(name, text)


def _relations(inner: str) -> str:
    return (
        f'<Relationships xmlns="http://schemas.openxmlformats.org/package/2006/relationships">{inner}</Relationships>'
    )


def _run(text: str, settings: str = "") -> str:
    inner = "<w:br/>".join(f'<w:t xml:space="preserve">{escape(part)}</w:t>' for part in text.split("\n"))
    return f"<w:r><w:rPr>{settings}</w:rPr>{inner}</w:r>"


def _paragraph(runs: str, settings: str = "") -> str:
    return f"<w:p><w:pPr>{settings}</w:pPr>{runs}</w:p>"


def _styled(style: str, text: str, more: str = "") -> str:
    return _paragraph(_run(text), f'<w:pStyle w:val="{style}"/>{more}')


def _styles() -> str:
    names = {f"Heading{n}": f"heading {n}" for n in range(1, 7)}
    names |= {"Caption": "caption", "Quote": "Quote", "Source": "HTML Preformatted"}
    styles = (
        f'<w:style w:type="paragraph" w:styleId="{one}"><w:name w:val="{name}"/></w:style>'
        for one, name in names.items()
    )
    return "".join(styles)


class _Word:
    def __init__(self) -> None:
        self.notes = {"footnotes": "", "endnotes": "", "comments": ""}
        self._numbers: list[tuple[int, int]] = []  # the list of each number, from 1, and its start

    def numbering(self) -> str:
        """Return the lists, and the list of the headings, whose levels show the ones above them."""
        level = '<w:lvl w:ilvl="{}"><w:start w:val="1"/><w:numFmt w:val="{}"/><w:lvlText w:val="{}"/></w:lvl>'
        lists = "".join(
            f'<w:abstractNum w:abstractNumId="{of}">'
            + "".join(level.format(n, form, f"%{n + 1}.") for n in range(5))
            + "</w:abstractNum>"
            for of, form in _FORMS.items()
        )
        heads = "".join(level.format(n, "decimal", text) for n, text in ((2, "%3."), (3, "%3.%4")))
        lists += f'<w:abstractNum w:abstractNumId="20">{heads}</w:abstractNum>'
        numbers = "".join(
            f'<w:num w:numId="{number}"><w:abstractNumId w:val="{of}"/><w:lvlOverride w:ilvl="0"><w:startOverride '
            f'w:val="{start}"/></w:lvlOverride></w:num>'
            for number, (of, start) in enumerate(self._numbers, 1)
        )
        return f'{lists}{numbers}<w:num w:numId="90"><w:abstractNumId w:val="20"/></w:num>'

    def block(self, block: Block) -> str:
        match block:
            case Para(kind="running"):
                return ""
            case Para(line, "box"):
                inner = _paragraph("".join(map(self._part, line)))
                shape = f"<w:txbxContent>{inner}</w:txbxContent>"
                return (
                    "<w:r><mc:AlternateContent><mc:Choice><w:drawing><wp:anchor><a:graphic><a:graphicData><wps:wsp>"
                    f"<wps:txbx>{shape}</wps:txbx></wps:wsp></a:graphicData></a:graphic></wp:anchor></w:drawing>"
                    f"</mc:Choice><mc:Fallback><w:pict>{shape}</w:pict></mc:Fallback></mc:AlternateContent></w:r>"
                )
            case Para(line, kind):
                style = {"quote": "Quote", "caption": "Caption"}.get(kind, "")
                settings = f'<w:pStyle w:val="{style}"/>' if style else ""
                return _paragraph("".join(map(self._part, line)), settings)
            case Head(level, text, number):
                listed = f'<w:numPr><w:ilvl w:val="{level - 1}"/><w:numId w:val="90"/></w:numPr>' if number else ""
                return _styled(f"Heading{level}", text, listed)
            case Items():
                return self._items(block, 0)
            case Code(text):
                return "".join(_styled("Source", line) for line in text.split("\n"))
            case Maths(tex):
                return _paragraph(f"<m:oMathPara>{_omml(tex)}</m:oMathPara>")
            case Rule():
                return _paragraph("", "<w:pBdr><w:bottom w:val='single'/></w:pBdr>")
            case Defs(pairs):
                return "".join(_paragraph(_run(text)) for pair in pairs for text in pair)
            case Tasks(pairs):
                return self._items(Items("-", [(f"[{'x' if done else ' '}] {text}", None) for done, text in pairs]), 0)
            case Grid():
                return self._grid(block)

    def _items(self, items: Items, depth: int) -> str:
        self._numbers.append((_KINDS[items.kind], items.start))
        number = len(self._numbers)
        found = ""
        for text, inner in items.items:
            found += _paragraph(_run(text), f'<w:numPr><w:ilvl w:val="{depth}"/><w:numId w:val="{number}"/></w:numPr>')
            found += self._items(inner, depth + 1) if inner else ""
        return found

    def _grid(self, table: Grid) -> str:
        rows = ""
        for number, row in enumerate(merged(table)):
            cells = ""
            for cell, top, left in row:
                if not left:
                    continue
                span = f'<w:gridSpan w:val="{cell.across}"/>' if cell.across > 1 else ""
                span += (
                    f"<w:vMerge{' w:val=' + chr(34) + 'restart' + chr(34) if top else ''}/>" if cell.down > 1 else ""
                )
                inner = "".join(map(self.block, cell.inner)) if top else _paragraph("")
                cells += f"<w:tc><w:tcPr>{span}</w:tcPr>{inner}</w:tc>"
            head = "<w:trPr><w:tblHeader/></w:trPr>" if number < table.heads else ""
            rows += f"<w:tr>{head}{cells}</w:tr>"
        return f"<w:tbl>{rows}</w:tbl>"

    def _part(self, part: str | Mark) -> str:
        if isinstance(part, str):
            return _run(part)
        text = part.text
        match part.kind:
            case "up" | "low":
                return _run(text, f'<w:vertAlign w:val="{"superscript" if part.kind == "up" else "subscript"}"/>')
            case "math":
                return _omml(part.more)
            case "br":
                return "<w:r><w:br/></w:r>"
            case "soft":
                return _run(" ")
            case "note" | "endnote":
                kind = "footnote" if part.kind == "note" else "endnote"
                inner = _paragraph(f"<w:r><w:{kind}Ref/></w:r>" + _run(f" {text}"))
                self.notes[f"{kind}s"] += f'<w:{kind} w:id="2">{inner}</w:{kind}>'
                return f'<w:r><w:{kind}Reference w:id="2"/></w:r>'
            case "strike":
                return _run(text, "<w:strike/>")
            case "hidden":
                return _run(text, "<w:vanish/>")
            case "ins":
                return f"<w:ins>{_run(text)}</w:ins>"
            case "del":
                return f"<w:del><w:r><w:delText>{text}</w:delText></w:r></w:del>"
            case "comment":
                self.notes["comments"] += f'<w:comment w:id="1">{_paragraph(_run(text))}</w:comment>'
                return '<w:r><w:commentReference w:id="1"/></w:r>'
            case "image":
                picture = f'<wp:inline><wp:docPr id="1" name="Picture 1" descr="{text}"/></wp:inline>'
                return f"<w:r><w:drawing>{picture}</w:drawing></w:r>"
            case "link":
                return f'<w:hyperlink w:anchor="x" w:tooltip="title">{_run(text)}</w:hyperlink>'
            case "symbol":  # alpha, an arrow and a sign in the encoding of older Word versions
                codes = (("Symbol", "F061"), ("Wingdings", "F0E0"), ("Symbol", "F0A3"))
                signs = (f'<w:r><w:sym w:font="{font}" w:char="{code}"/></w:r>' for font, code in codes)
                return _run(" ").join(signs)
            case "field":
                chars = [f'<w:r><w:fldChar w:fldCharType="{kind}"/></w:r>' for kind in ("begin", "separate", "end")]
                return f"{chars[0]}<w:r><w:instrText>PAGE</w:instrText></w:r>{chars[1]}{_run(text)}{chars[2]}"
            case "anchor":
                return f'<w:bookmarkStart w:id="1" w:name="x"/>{_run(text)}<w:bookmarkEnd w:id="1"/>'
            case _:
                return _run(text)


def _omml(tex: str) -> str:
    base, _, up = tex.replace("{", "").replace("}", "").partition("^")
    runs = [f"<m:{name}><m:r><m:t>{text}</m:t></m:r></m:{name}>" for name, text in (("e", base), ("sup", up))]
    return f"<m:oMath><m:sSup>{''.join(runs)}</m:sSup></m:oMath>"


# OpenDocument

_ODF = "urn:oasis:names:tc:opendocument:xmlns:"
_ODF_NAMES = (
    " ".join(f'xmlns:{name}="{_ODF}{name}:1.0"' for name in ("office", "text", "table", "style", "drawing"))
    + f' xmlns:draw="{_ODF}drawing:1.0" xmlns:fo="{_ODF}xsl-fo-compatible:1.0" xmlns:svg="{_ODF}svg-compatible:1.0"'
    ' xmlns:xlink="http://www.w3.org/1999/xlink"'
)


def odt(path: Path, features: Features = FEATURES, outline: str = "") -> None:
    """Return an OpenDocument text; `outline`: the form of the numbers of its headings."""
    writer = _Odt()
    blocks = []
    for feature in features:
        blocks.append(_heading(2, feature.name))
        for block in feature.blocks:
            if isinstance(block, Para) and block.kind == "box":
                blocks[-1] = blocks[-1].removesuffix("</text:p>") + writer.block(block) + "</text:p>"
            else:
                blocks.append(writer.block(block))
    styles = "".join(
        f'<style:style style:name="{name}" style:family="{family}"><style:text-properties {values}/></style:style>'
        for name, family, values in (
            ("up", "text", 'style:text-position="super 58%"'), ("low", "text", 'style:text-position="sub 58%"'),
            ("gone", "text", 'text:display="none"'), ("strike", "text", 'style:text-line-through-style="solid"'),
        )
    )  # fmt: skip
    levels = "".join(
        f'<text:outline-level-style text:level="{n}" style:num-format="{outline}" style:num-suffix="." '
        f'text:display-levels="{n}"/>'
        for n in (1, 2)
    )
    content = (
        f"<office:document-content {_ODF_NAMES}><office:automatic-styles>{styles}{''.join(writer.styles)}"
        f"</office:automatic-styles><office:body><office:text>"
        f"{''.join(writer.changes())}{_heading(1, 'All')}{''.join(blocks)}"
        "</office:text></office:body></office:document-content>"
    )
    master = (
        f"<office:document-styles {_ODF_NAMES}><office:styles><text:outline-style>{levels}"
        "</text:outline-style></office:styles><office:master-styles>"
        "<style:master-page><style:header><text:p>RUNNING</text:p></style:header></style:master-page>"
        "</office:master-styles></office:document-styles>"
    )
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("mimetype", "application/vnd.oasis.opendocument.text")
        archive.writestr("content.xml", content)
        archive.writestr("styles.xml", master)
        for number, tex in enumerate(writer.formulas, 1):
            archive.writestr(f"Object {number}/content.xml", _mathml(tex))


def _mathml(tex: str) -> str:
    base, _, up = tex.replace("{", "").replace("}", "").partition("^")
    return (
        '<math xmlns="http://www.w3.org/1998/Math/MathML"><semantics><msup><mi>'
        f"{base}</mi><mn>{up}</mn></msup><annotation encoding='StarMath 5.0'>"
        f"{base}^{up}</annotation></semantics></math>"
    )


def _heading(level: int, text: str, style: str = "") -> str:
    return f'<text:h text:outline-level="{level}"{style}>{text}</text:h>'


class _Odt:
    def __init__(self) -> None:
        self.styles: list[str] = []
        self.formulas: list[str] = []
        self._numbers = count(1)

    def changes(self) -> list[str]:
        """Return a deleted part."""
        return [
            '<text:tracked-changes><text:changed-region text:id="c1"><text:deletion><text:p>OLD</text:p>'
            "</text:deletion></text:changed-region></text:tracked-changes>"
        ]

    def block(self, block: Block) -> str:
        match block:
            case Para(kind="running"):
                return ""
            case Para(line, "box"):
                inner = f"<draw:text-box><text:p>{''.join(map(self._part, line))}</text:p></draw:text-box>"
                return f"<draw:frame>{inner}</draw:frame>"
            case Para(line, _):
                return f"<text:p>{''.join(map(self._part, line))}</text:p>"
            case Head(level, text, number):
                if not number:
                    return _heading(level, text)
                self.styles.append(self._numbered())
                return (
                    '<text:list text:style-name="H" text:continue-numbering="true"><text:list-item>' * (level - 2)
                    + _heading(level, text)
                    + "</text:list-item></text:list>" * (level - 2)
                )
            case Items():
                return self._items(block)
            case Code(text):
                lines = (line.replace("    ", '<text:s text:c="4"/>') for line in text.split("\n"))
                return "".join(f'<text:p text:style-name="Preformatted_20_Text">{line}</text:p>' for line in lines)
            case Maths(tex):
                return f"<text:p>{self._formula(tex)}</text:p>"
            case Rule():
                return '<text:p text:style-name="Horizontal_20_Line"/>'
            case Defs(pairs):
                return "".join(f"<text:p>{text}</text:p>" for pair in pairs for text in pair)
            case Tasks(pairs):
                return self._items(Items("-", [(f"[{'x' if done else ' '}] {text}", None) for done, text in pairs]))
            case Grid():
                return self._grid(block)

    def _numbered(self) -> str:
        levels = "".join(
            f'<text:list-level-style-number text:level="{n}" style:num-format="1" style:num-suffix="{after}" '
            f'text:display-levels="{n}"/>'
            for n, after in ((1, "."), (2, ""))
        )
        return f'<text:list-style style:name="H">{levels}</text:list-style>'

    def _items(self, items: Items) -> str:
        name = f"L{next(self._numbers)}"
        levels = ""
        kinds, inner = [items.kind], items
        while (deeper := next((more for _, more in inner.items if more), None)) is not None:
            kinds, inner = [*kinds, deeper.kind], deeper
        for level, kind in enumerate(kinds, 1):
            start = f' text:start-value="{items.start}"' if level == 1 and kind != "-" else ""
            form = "bullet" if kind == "-" else f'number style:num-format="{kind}"'
            levels += f'<text:list-level-style-{form} text:level="{level}"{start}/>'
        self.styles.append(f'<text:list-style style:name="{name}">{levels}</text:list-style>')
        return self._list(items, f' text:style-name="{name}"')

    def _list(self, items: Items, style: str = "") -> str:
        inner = "".join(
            f"<text:list-item><text:p>{text}</text:p>{self._list(more) if more else ''}</text:list-item>"
            for text, more in items.items
        )
        return f"<text:list{style}>{inner}</text:list>"

    def _grid(self, table: Grid) -> str:
        rows = []
        for row in merged(table):
            cells = ""
            for cell, top, left in row:
                if not (top and left):
                    cells += "<table:covered-table-cell/>"
                    continue
                spans = f'table:number-rows-spanned="{cell.down}" table:number-columns-spanned="{cell.across}"'
                cells += f"<table:table-cell {spans}>{''.join(map(self.block, cell.inner))}</table:table-cell>"
            rows.append(f"<table:table-row>{cells}</table:table-row>")
        heads = f"<table:table-header-rows>{''.join(rows[: table.heads])}</table:table-header-rows>"
        return f"<table:table>{heads}{''.join(rows[table.heads :])}</table:table>"

    def _formula(self, tex: str) -> str:
        self.formulas.append(tex)
        return f'<draw:frame><draw:object xlink:href="./Object {len(self.formulas)}"/></draw:frame>'

    def _part(self, part: str | Mark) -> str:
        if isinstance(part, str):
            return escape(part)
        text = escape(part.text)
        match part.kind:
            case "up" | "low" | "strike":
                return f'<text:span text:style-name="{part.kind}">{text}</text:span>'
            case "hidden":
                return f'<text:span text:style-name="gone">{text}</text:span>'
            case "math":
                return self._formula(part.more)
            case "br":
                return "<text:line-break/>"
            case "soft":
                return "\n"
            case "note" | "endnote":
                return (
                    f'<text:note text:note-class="{part.kind}"><text:note-citation>{part.more}</text:note-citation>'
                    f"<text:note-body><text:p>{text}</text:p></text:note-body></text:note>"
                )
            case "ins":
                return f'<text:change-start text:change-id="c2"/>{text}<text:change-end text:change-id="c2"/>'
            case "del":
                return '<text:change text:change-id="c1"/>'
            case "comment":
                return f"<office:annotation><text:p>{text}</text:p></office:annotation>"
            case "image":
                return f'<draw:frame><draw:image xlink:href="a.png"/><svg:desc>{text}</svg:desc></draw:frame>'
            case "link":
                return f'<text:a xlink:href="{part.more}" office:title="title">{text}</text:a>'
            case "field":
                return f"<text:page-number>{text}</text:page-number>"
            case "anchor":
                return f'<text:bookmark-start text:name="x"/>{text}<text:bookmark-end text:name="x"/>'
            case _:
                return text
