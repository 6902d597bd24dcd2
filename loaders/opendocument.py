"""OpenDocument texts, workbooks and slides: headings, lists, notes and tables (OpenDocument 1.3, part 3)."""

import re
import zipfile
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import groupby
from pathlib import Path
from xml.etree import ElementTree
from xml.etree.ElementTree import Element

from kgrag.loaders.base import BadInput, brief, one_line
from kgrag.loaders.grid import NO_HEAD, Cell, cell_text, lay_out, only_lays_out
from kgrag.loaders.inline import Inline, Node, formula, ordinal
from kgrag.loaders.office_parts import tag, value
from kgrag.loaders.outline import Outline
from kgrag.loaders.reading import Format
from kgrag.loaders.sheet_parts import area_blocks
from kgrag.loaders.worker_formats import Content, check_archive, content, parse_xml, read_apart

_BESIDE = re.compile(r".*-(?:source|decls)|scripts|settings|styles|master-styles")
"""Elements without text of the document."""
_SILENT = frozenset("annotation annotation-end note forms sequence-decls object ruby-text text-box".split())
_SHAPES = frozenset("custom-shape rect ellipse circle polygon regular-polygon path line connector caption".split())
_DRAWN = _SHAPES | {"frame"}
_FRAMES = {
    **dict.fromkeys(("header", "header-left", "header-first"), "running head"),
    **dict.fromkeys(("footer", "footer-left", "footer-first"), "running foot"),
}
"""Parts that a style repeats on every page, and the kind under which they are counted."""
_RUNNING = frozenset(("header", "footer", "date-time", "page-number"))
"""Classes of frames that repeat on all slides."""
_CODE = re.compile(r"Preformatted|Code|Listing|Verbatim")
"""Styles of code, whose spaces are kept."""
_OUTLINE = "\n"  # our key for the style that numbers headings; the file gives it no name
_VALUES = ("value", "date-value", "time-value", "string-value", "boolean-value")
_MAX_DEPTH = 50  # nesting of lists, and of elements in a paragraph
_MAX_REPEATED = 100  # copies of a repeated cell


def read_odt(path: Path) -> Content:
    """Read a text with its title, author and date. Raises BadInput."""
    if "content.xml" not in check_archive(path):
        raise BadInput("is a ZIP archive, but no OpenDocument text; unpack it")
    try:
        with zipfile.ZipFile(path) as archive:
            names = set(archive.namelist())
            parts = [parse_xml(archive, n) for n in ("content.xml", "styles.xml", "meta.xml") if n in names]
            formulas = {
                name.removesuffix("/content.xml"): root
                for name in sorted(names)
                if name.endswith("/content.xml")
                and tag(root := parse_xml(archive, name)) == "math"
            }  # fmt: skip
    except (zipfile.BadZipFile, ElementTree.ParseError, EOFError, OSError, ValueError, NotImplementedError) as error:
        raise BadInput(f"is an OpenDocument text that is damaged ({brief(error)})") from error
    body = parts[0].find("{*}body")
    kind = "" if body is None or not len(body) else tag(body[0])
    reader = _Reader(_Styles.of(parts), formulas)
    if body is None or kind not in ("text", "spreadsheet", "presentation"):
        raise BadInput(f"is an OpenDocument {kind or 'file'}, of which only texts, spreadsheets and presentations are "
                       "read; save it as PDF")  # fmt: skip
    getattr(reader, "add" if kind == "text" else f"add_{kind}")(body[0])
    for style in (style for part in parts for style in part.iter() if tag(style) == "master-page"):
        for element in style:
            if (frame := _FRAMES.get(tag(element))) and "".join(element.itertext()).strip():
                reader.left_out[frame] += 1
    return reader.content({tag(e): "".join(e.itertext()) for part in parts for e in part.iterfind("{*}meta/*")})


def _number(element: Element, name: str, default: int) -> int:
    text = value(element, name)
    return int(text) if text.isdecimal() and len(text) < 9 else default


@dataclass(slots=True)
class _Styles:
    """Styles by name: marks of raised and lowered text, hidden text, and the numbering of list levels."""

    signs: dict[str, str]
    hidden: set[str]
    lists: dict[str, dict[int, tuple[int, str] | None]]
    shown: dict[str, dict[int, tuple[str, str, int]]]
    """For each level of a list: the text before and after its number, and how many levels are shown."""
    parents: dict[str, str]
    unnumbered: set[str]
    bold: set[str]
    struck: set[str]

    @classmethod
    def of(cls, parts: list[Element]) -> "_Styles":
        styles = cls({}, set(), {}, {}, {}, set(), set(), set())
        kinds = ("style", "list-style", "outline-style")
        for style in (e for part in parts for e in part.iter() if tag(e) in kinds):
            name = _OUTLINE if tag(style) == "outline-style" else value(style, "name")
            styles.parents[name] = value(style, "parent-style-name")
            if not value(style, "list-style-name", "any"):
                styles.unnumbered.add(name)
            if tag(style) != "style":
                levels = styles.lists.setdefault(name, {})
                for level in style:
                    form = value(level, "num-format") if not tag(level).endswith("-bullet") else ""
                    number = _number(level, "level", 1)
                    levels[number] = (_number(level, "start-value", 1), form) if form else None
                    around = value(level, "num-prefix"), value(level, "num-suffix")
                    styles.shown.setdefault(name, {})[number] = *around, _number(level, "display-levels", 1)
            for properties in style.iterfind("{*}text-properties"):
                position = value(properties, "text-position").split(" ")[0]
                if position and position not in ("0%", "0"):
                    styles.signs[name] = "_" if position.startswith(("sub", "-")) else "^"
                if value(properties, "display") == "none":
                    styles.hidden.add(name)
                if value(properties, "text-line-through-style", "none") != "none":
                    styles.struck.add(name)
                if value(properties, "font-weight") == "bold":
                    styles.bold.add(name)
            for properties in (e for e in style if tag(e) in ("table-properties", "drawing-page-properties")):
                if value(properties, "display") == "false" or value(properties, "visibility") == "hidden":
                    styles.hidden.add(name)
        return styles

    def is_head(self, cell: Element) -> bool:
        """Return whether all text of a cell is bold, or in a style of headings."""
        texts = [p for p, _ in _paragraphs(cell) if "".join(p.itertext()).strip()]
        return bool(texts) and all(self._is_bold(p) for p in texts)

    def _is_bold(self, element: Element) -> bool:
        style = value(element, "style-name")
        parent = self.parents.get(style, "")
        if "Heading" in style + parent or not self.bold.isdisjoint((style, parent)):
            return True
        return len(element) == 1 and not (element.text or element[0].tail or "").strip() and self._is_bold(element[0])

    def is_code(self, style: str) -> bool:
        """Return whether a style, or a style that it is based on, marks code."""
        return _CODE.search(style + self.parents.get(style, "")) is not None


class _Reader:
    def __init__(self, styles: _Styles, formulas: dict[str, Element]) -> None:
        self._styles = styles
        self._formulas = formulas
        self._counts: dict[int, int] = defaultdict(int)  # numbered headings so far, by level
        self._following: dict[tuple[str, int], int] = {}  # a style of lists and a level -> the number of the next item
        self._boxes: list[Element] = []  # text frames anchored to the current paragraph
        self._in_code = False
        self._outline = Outline()
        self.left_out = self._outline.left_out
        self._notes: list[tuple[str, Element]] = []  # the notes of this section

    def content(self, meta: dict[str, str]) -> Content:
        """Return the content."""
        self._add_notes()
        author = meta.get("creator") or meta.get("initial-creator", "")
        date = (meta.get("creation-date") or meta.get("date", ""))[:10]
        return content(self._outline, one_line(meta.get("title", "")), {"author": one_line(author), "date": date})

    def add_spreadsheet(self, body: Element) -> None:
        """Add the visible sheets, each as a table under its name."""
        for sheet in body.iterfind("{*}table"):
            if value(sheet, "style-name") in self._styles.hidden:
                self.left_out["hidden sheet"] += 1
            elif "".join(sheet.itertext()).strip() or any(map(_stored, sheet.iterfind(".//{*}table-cell"))):
                self._outline.heading(1, value(sheet, "name"))
                self._sheet(sheet)

    def add_presentation(self, body: Element) -> None:
        """Add the visible slides, each under its title."""
        for number, page in enumerate(body.iterfind("{*}page"), 1):
            if value(page, "style-name") in self._styles.hidden:
                self.left_out["hidden slide"] += 1
                continue
            frames = [e for e in page.iter() if tag(e) in (*_DRAWN, "annotation", "notes")]
            notes = [e for e in frames if tag(e) == "notes"]
            spoken = {id(e) for note in notes for e in note.iter()}
            title = next((e for e in frames if value(e, "class") == "title" and id(e) not in spoken), None)
            named = (
                "" if title is None else one_line(" ".join("".join(p.itertext()) for p in title.iterfind(".//{*}p")))
            )
            self._outline.heading(1, named or value(page, "name") or f"Slide {number}")
            for frame in frames:
                if id(frame) not in spoken and frame is not title:
                    self._add_frame(frame)
            for note in notes:
                texts = (self._text(p) for p in note.iterfind(".//{*}text-box/{*}p"))
                if text := "\n".join(filter(None, texts)):
                    self._outline.block(f"Notes: {text}")
            self._add_boxes()

    def _add_frame(self, frame: Element, depth: int = 1) -> None:
        if tag(frame) == "annotation":
            self.left_out["comment"] += 1
        elif tag(frame) in _SHAPES:
            self.add(frame, depth)
        elif value(frame, "class") not in _RUNNING:
            for part in frame:
                if tag(part) == "text-box":
                    self.add(part, depth)
                elif tag(part) == "table":
                    self._table(part, depth)
                elif tag(part) in ("title", "desc"):
                    self._outline.block(one_line("".join(part.itertext())))

    def add(self, parent: Iterable[Element], depth: int = 0) -> None:
        """Add the contents of an element, block by block."""
        for element in parent:
            name = tag(element)
            if name == "h":
                self._heading(element, _OUTLINE, _number(element, "outline-level", 1))
            elif name == "p":
                self._paragraph(element)
            elif name == "list" and element.find(".//{*}h") is not None:
                self._headings(element, value(element, "style-name"))
            elif name == "list" and depth < _MAX_DEPTH:
                on = value(element, "continue-numbering") == "true" or bool(value(element, "continue-list"))
                self._list(element, value(element, "style-name"), depth, on=on)
            elif name == "table":
                self._table(element, depth)
            elif name == "forms":
                values = (value(e, "current-value") or value(e, "current-state") == "checked" for e in element.iter())
                self.left_out["form value"] += sum(map(bool, values))
            elif name == "tracked-changes":
                self.left_out["deleted piece"] += len(element.findall(".//{*}deletion"))
            elif name in _DRAWN and depth < _MAX_DEPTH:  # anchored to the page
                self._add_frame(element, depth + 1)
            elif name == "numbered-paragraph":
                self._list((element,), value(element, "style-name"), depth, _number(element, "level", 1), on=True)
            elif value(element, "display") == "none" or value(element, "is-hidden") == "true":
                self.left_out["hidden piece"] += bool("".join(element.itertext()).strip())
            elif name in ("annotation", "note"):
                self.left_out["comment"] += name == "annotation"
            elif depth < _MAX_DEPTH and not _BESIDE.fullmatch(name):
                self.add(element, depth + 1)

    def _headings(self, element: Element, style: str, level: int = 1) -> None:
        """Add headings inside a list, which numbers them."""
        for part in (part for item in element for part in item):
            if tag(part) == "list" and level < _MAX_DEPTH:
                self._headings(part, value(part, "style-name", style), level + 1)
            elif tag(part) == "h":
                self._heading(part, style, level)
            elif tag(part) == "p":
                self._paragraph(part)

    def _heading(self, element: Element, style: str, level: int) -> None:
        self._add_notes()
        text = self._text(element)
        if text and (number := self._numbered(element, style, level)):
            text = f"{number} {text}"
        self._outline.heading(min(6, _number(element, "outline-level", 1)), text)
        self._add_boxes()

    def _numbered(self, element: Element, style: str, level: int) -> str:
        """Return the number shown before a heading, "2.1"."""
        levels = self._styles.lists.get(style, {})
        own = value(element, "style-name")
        plain = not {own, self._styles.parents.get(own, "")}.isdisjoint(self._styles.unnumbered)
        if levels.get(level) is None or value(element, "is-list-header") == "true" or (plain and style == _OUTLINE):
            return ""
        for deeper in [other for other in self._counts if other > level]:
            del self._counts[deeper]
        for other in range(1, level + 1):
            start = (levels.get(other) or (1, ""))[0]
            self._counts[other] = self._counts[other] + (other == level) if other in self._counts else start
        before, after, display_levels = self._styles.shown[style][level]
        parts = [(self._counts[n], levels.get(n)) for n in range(max(1, level - display_levels + 1), level + 1)]
        return before + ".".join(ordinal(number, form[1]) for number, form in parts if form) + after

    def _paragraph(self, element: Element) -> None:
        if any(value(e, "is-hidden", "true") == "true" for e in element.iterfind(".//{*}hidden-paragraph")):
            self.left_out["hidden piece"] += 1
            return
        in_code, self._in_code = self._in_code, self._styles.is_code(value(element, "style-name"))
        if self._in_code:
            self._outline.add(self._text(element, keep=True), tight=in_code)
        else:
            self._outline.block(self._text(element))
        self._add_boxes()

    def _add_boxes(self) -> None:
        while self._boxes:
            self.add(self._boxes.pop(0), 1)

    def _add_notes(self) -> None:
        while self._notes:
            label, body = self._notes.pop(0)
            self._outline.mark(f"[{label}] ")
            self._outline.block(" ".join(filter(None, map(self._text, body))))

    def _list(self, element: Iterable[Element], style: str, depth: int, level: int = 1, *, on: bool = False) -> None:
        """Add a list; `on`: it continues the numbering of the last list with its style and level."""
        number, form = self._styles.lists.get(style, {}).get(level) or (None, "1")
        if number is not None and on:
            number = self._following.get((style, level), number)
        self._outline.begin_list(number, form)
        for item in element:
            own = _number(item, "start-value", 0) or None
            if any(tag(part) != "list" for part in item):  # an item of deeper lists only has no number
                self._outline.item(own)
                number = number and (own or number) + 1
            for part in item:
                if tag(part) == "list" and depth < _MAX_DEPTH:
                    self._list(part, value(part, "style-name", style), depth + 1, level + 1)
                elif tag(part) in ("p", "h"):
                    self._paragraph(part)
                else:
                    self.add((part,), depth + 1)
            self._outline.mark("")
        self._outline.end_list()
        if number is not None:
            self._following[style, level] = number

    def _table(self, table: Element, depth: int) -> None:
        inner = table.findall(".//{*}table")
        if inner and depth < _MAX_DEPTH:
            cells = [cell for row, _ in _rows(table) for cell in row if tag(cell) == "table-cell"]
            if only_lays_out(len(cells), _length(table), sum(map(_length, inner))):
                for cell in cells:
                    self.add(cell, depth + 1)
                return
        rows = list(_rows(table))
        laid = [self._cells(row) for row, _ in rows]
        self._outline.table(laid, heads=sum(head for _, head in rows), usual=True)
        self._add_boxes()

    def _cells(self, row: Element) -> list[Cell]:
        """Return the cells whose first row is this one."""
        cells: list[Cell] = []
        for cell in row:
            times = min(_number(cell, "number-columns-repeated", 1), _MAX_REPEATED)
            if tag(cell) == "table-cell":
                self.left_out["comment"] += cell.find("{*}annotation") is not None
                text = cell_text((self._text(p), item) for p, item in _paragraphs(cell))
                text = text if len(cell) else _stored(cell)
                down, across = (_number(cell, f"number-{what}-spanned", 1) for what in ("rows", "columns"))
                head = self._styles.is_head(cell)
                cells.extend(
                    Cell(text, down if times == 1 else 1, across if times == 1 else 1, head) for _ in range(times)
                )
        return cells

    def _sheet(self, sheet: Element) -> None:
        """Add the tables of a sheet, which empty rows separate, without hidden parts."""
        rows: list[list[Cell]] = []
        hidden_rows: set[int] = set()
        for row, _ in _rows(sheet):
            own = self._cells(row)
            times = min(_number(row, "number-rows-repeated", 1), _MAX_REPEATED) if _has_text(own) else 1
            if value(row, "visibility") in ("collapse", "filter"):
                hidden_rows.update(range(len(rows), len(rows) + times))
            rows.extend([own, *([replace(cell) for cell in own] for _ in range(times - 1))])
        laid = lay_out(rows)
        for column in _hidden_columns(sheet, len(laid[0]) if laid else 0):
            self.left_out["hidden column"] += any(_has_text([cells[column]]) for cells in laid)
            for cells in laid:
                cells[column] = None
        self.left_out["hidden row"] += sum(_has_text(laid[number]) for number in hidden_rows)
        visible = [row for number, row in enumerate(laid) if number not in hidden_rows]
        for filled, area in groupby(visible, key=_has_text):
            caption = ""
            for block in area_blocks(list(area)) if filled else ():
                if block[0] == "table":
                    heads = 1 if any(block[2][0]) else NO_HEAD
                    self._outline.table([list(map(Cell, row)) for row in block[2]], caption or block[1], heads)
                elif block[0] == "caption":
                    caption = block[1]
                else:
                    self._outline.block(block[1], tight=False)
        for frame in sheet.iterfind("{*}shapes/*"):
            self._add_frame(frame)

    def _text(self, element: Element, *, keep: bool = False) -> str:
        """Return the text of a paragraph; `keep` preserves its spaces."""
        line = Inline()
        self._read(element, line)
        if keep:
            return line.take().rstrip()
        return "\n".join(map(one_line, line.take().split("\n"))).strip()

    def _read(self, element: Element, line: Inline, depth: int = 0) -> None:
        name = tag(element)
        style = value(element, "style-name")
        above = {style, self._styles.parents.get(style, "")}
        if above & self._styles.hidden or (name == "hidden-text" and value(element, "is-hidden", "true") == "true"):
            self.left_out["hidden piece"] += 1
            return
        if above & self._styles.struck:
            self.left_out["deleted piece"] += bool("".join(element.itertext()).strip())
            return
        if name in _SILENT or depth > 2 * _MAX_DEPTH:
            self.left_out["comment"] += name == "annotation"
            if name == "note":
                self._note(element, line)
            elif name == "text-box":
                self._boxes.append(element)
            elif name == "object":
                root = self._formulas.get(value(element, "href").removeprefix("./").removesuffix("/"))
                line.word("" if root is None else formula(_math(root)))
            elif name == "ruby-text":
                self.left_out["reading of characters"] += 1
            return
        if name in ("title", "desc"):  # the description of a picture
            line.word("".join(element.itertext()))
            return
        sign = self._styles.signs.get(style, "") if name == "span" else ""
        if sign:
            line.begin(sign)
        if name == "s":
            line.text(" " * min(_number(element, "c", 1), _MAX_REPEATED))
        elif name in ("tab", "line-break"):
            line.text("\t" if name == "tab" else "\n")
        elif name in ("p", "h", "list-item", "table-cell") and depth:
            line.text(" ")
        line.text(_spaced(element.text))
        for inner in element:
            self._read(inner, line, depth + 1)
            line.text(_spaced(inner.tail))
        if sign:
            line.end()

    def _note(self, element: Element, line: Inline) -> None:
        body = element.find("{*}note-body")
        label = "".join(e.text or "" for e in element.iterfind("{*}note-citation")) or str(len(self._notes) + 1)
        line.note(label)
        if body is not None:
            self._notes.append((label, body))


def _stored(cell: Element) -> str:
    """Return the value of a cell without stored text."""
    return next((text for name in _VALUES if (text := value(cell, name))), "").removesuffix("T00:00:00")


def _has_text(row: Sequence[Cell | None]) -> bool:
    return any(cell is not None and cell.text for cell in row)


def _hidden_columns(sheet: Element, most: int) -> Iterator[int]:
    """Yield the hidden columns of a sheet, from 0."""
    column = 0
    for element in sheet.iter():
        if tag(element) == "table-column":
            after = column + _number(element, "number-columns-repeated", 1)
            if value(element, "visibility") in ("collapse", "filter"):
                yield from range(column, min(after, most))
            column = after


def _length(table: Element) -> int:
    """Return the number of characters in a table."""
    return sum(len(text.strip()) for text in table.itertext())


def _paragraphs(cell: Element, item: bool = False) -> Iterator[tuple[Element, bool]]:
    """Yield the paragraphs of a cell, and whether each is an item of a list."""
    for part in cell:
        if tag(part) in ("p", "h"):
            yield part, item
        elif tag(part) != "annotation":
            yield from _paragraphs(part, item or tag(part) == "list")


def _math(element: Element, depth: int = 0) -> Node:
    """Return the node of a formula in MathML."""
    inner = [_math(part, depth + 1) for part in element if "annotation" not in part.tag] if depth < 100 else []
    return Node(tag(element), "" if inner else (element.text or "").strip(), inner)


def _spaced(text: str | None) -> str:
    """Return text with line breaks of the source as spaces."""
    return (text or "").replace("\n", " ")


def _rows(table: Element, head: bool = False) -> Iterator[tuple[Element, bool]]:
    """Yield the rows of a table, repeated ones once, and whether each belongs to the header."""
    for element in table:
        name = tag(element)
        if name == "table-row":
            yield element, head
        elif name in ("table-header-rows", "table-rows", "table-row-group"):
            yield from _rows(element, head or name == "table-header-rows")


ODT = Format(
    "OpenDocument file",
    (".odt", ".ods", ".odp", ".ott", ".ots", ".otp"),
    read_apart("kgrag.loaders.opendocument:read_odt"),
    untrusted=True,
    version=6,
)
