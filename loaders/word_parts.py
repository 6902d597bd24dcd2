"""Read DOCX files in the reading process (ISO/IEC 29500-1, chapter 17)."""

import io
import re
from collections import Counter, defaultdict
from collections.abc import Iterator
from contextlib import suppress
from typing import IO, Any

from kgrag.loaders.base import decode, one_line
from kgrag.loaders.figures import DECORATION, POINTS
from kgrag.loaders.grid import NO_HEAD, Cell, Laid, cell_text, only_lays_out
from kgrag.loaders.html import add_html, declared_encoding
from kgrag.loaders.inline import Inline, formula, ordinal
from kgrag.loaders.mail import add_message
from kgrag.loaders.office_parts import (
    EMU,
    Block,
    Pictures,
    alternative,
    chart_blocks,
    child,
    diagram_texts,
    math_node,
    properties,
    run_text,
    setting,
    sign,
    signs,
    table_blocks,
    tag,
    value,
)
from kgrag.loaders.outline import Outline
from kgrag.loaders.rtf import add_rtf
from kgrag.loaders.word_numbering import WordNumbering

_PAGES = ("text/html", "application/xhtml+xml")
_RTF = ("application/rtf", "text/rtf")
_ARCHIVES = ("message/rfc822", "multipart/related", "application/x-mimearchive")
_WORD = "application/vnd.openxmlformats-officedocument.wordprocessingml."


def chunk_blocks(data: bytes, kind: str, depth: int) -> tuple[list[Block], Counter[str]] | None:
    """Return the blocks of a part by its media type, and the counts of omitted parts; None for an unknown type.

    `depth`: the number of documents around it. Raises BadInput.
    """
    if kind.startswith(_WORD):
        return docx_blocks(data, depth)
    outline = Outline()
    if kind in _PAGES:
        add_html(outline, decode(data, declared_encoding(data)))
    elif kind in _RTF:
        add_rtf(outline, data)
    elif kind in _ARCHIVES:
        add_message(outline, data)
    elif kind == "text/plain":
        for block in decode(data, "windows-1252").replace("\r\n", "\n").split("\n\n"):
            outline.add(block)
    else:
        return None
    return list(_blocks(outline)), outline.left_out


def _blocks(outline: Outline) -> Iterator[Block]:
    path: list[str] = []
    for section in outline.sections():
        names = section.heading.split(" > ") if section.heading else []
        for level, name in enumerate(names, 1):
            if path[:level] != names[:level]:
                yield ["heading", level, name]
        path = names
        yield ["text", section.text]
    for table in outline.tables:
        yield ["table", table.caption, [list(row) for row in table.rows]]


_PASSED = frozenset("Fallback pPr rPr moveFrom delText instrText sectPr tblPr".split())
"""Elements without text of their own: a fallback repeats its neighbour, and moved text is read at its new place."""
_RUNNING = {"header": "running head", "footer": "running foot"}
"""Parts that repeat on every page, and the kinds under which they are counted."""
_LEFT_OUT = {"del": "deleted piece", "rt": "reading of characters"}
_SIGNS = {"superscript": "^", "subscript": "_"}
_CODE = re.compile(r"\b(?:code|listing|preformatted|verbatim)\b", re.IGNORECASE)
"""Styles of code, whose spaces are kept."""
_ITEM = re.compile("list(?! continue| paragraph)")
"""Styles whose paragraphs are list items, even without a list."""
_HEADING = re.compile(r"heading (\d+)", re.IGNORECASE)
_BODY = 9  # the outline level of body text
_OFF = ("0", "false", "off")
_FIRST_ROW = 0x20  # the bit of w:tblLook that means Header Row
_MAX_HEADING = 200  # characters; contracts give whole clauses an outline level
_MAX_DEPTH = 200
_MAX_COLUMNS = 1000
_MAX_CHUNKS = 3  # nesting of documents in documents


def read_docx(file: IO[bytes]) -> dict[str, Any]:
    """Return a document as a single part."""
    import docx

    _keep_chunks()
    document = docx.Document(file)
    word = _Word(document.part)
    blocks = word.all()
    about = properties(document.core_properties)
    return {**about, "parts": [{"label": "", "blocks": blocks}], "left_out": word.left_out}


def _keep_chunks() -> None:
    """Make python-docx keep embedded documents as bytes, since it would parse them as XML."""
    from docx.opc.part import PartFactory

    PartFactory.part_class_selector = _part_class


def _part_class(kind: str, relation: str) -> Any:
    from docx.opc.part import Part
    from docx.parts.image import ImagePart

    name = relation.rpartition("/")[2]
    return Part if name == "aFChunk" else ImagePart if name == "image" else None


def docx_blocks(data: bytes, depth: int) -> tuple[list[Block], Counter[str]]:
    """Return the blocks of a document embedded at `depth`, and the counts of its parts that were left out."""
    import docx

    word = _Word(docx.Document(io.BytesIO(data)).part, depth)
    return [block for block in word.all() if block[0] != "figure"], word.left_out


class _Word:
    def __init__(self, part: Any, depth: int = 0) -> None:
        from docx.oxml import parse_xml

        self._part = part
        self._depth = depth
        self._styles = {value(s, "styleId"): s for s in self._related("styles") if tag(s) == "style"}
        self._numbering = WordNumbering(self._related("numbering"))
        self._texts = {kind: {value(e, "id"): e for e in self._related(f"{kind}s")} for kind in ("footnote", "endnote")}
        self._waiting: list[tuple[str, Any]] = []  # the notes of this section
        self._noted: dict[str, int] = defaultdict(int)
        self.left_out = Counter({"comment": len(self._related("comments"))})
        for relation in part.rels.values():
            kind = _RUNNING.get(relation.reltype.rpartition("/")[2])
            if kind is not None and not relation.is_external:
                root = parse_xml(relation.target_part.blob)
                self.left_out[kind] += bool(run_text(root).strip())
        self._list = ""  # the list of the last item
        self._charts: list[Any] = []
        self._boxes: list[Any] = []  # text frames anchored to the current paragraph
        self._pictures = Pictures()
        self._drawings: list[Any] = []  # the drawings of the last paragraph

    def _related(self, name: str) -> list[Any]:
        """Return the elements of another part of the file."""
        from docx.oxml import parse_xml

        for relation in self._part.rels.values():
            if relation.reltype.endswith(f"/{name}") and not relation.is_external:
                return list(parse_xml(relation.target_part.blob))
        return []

    def _target(self, element: Any, name: str = "id") -> Any:
        """Return the part of the file that an attribute refers to, or None if it is missing."""
        relation = self._part.rels.get(value(element, name))
        return None if relation is None or relation.is_external else relation.target_part

    def all(self) -> list[Block]:
        """Return all blocks of the document."""
        return [*self.blocks(self._part.element.body), *self.notes()]

    def notes(self) -> Iterator[Block]:
        """Yield the notes referred to since the last call."""
        while self._waiting:
            label, element = self._waiting.pop(0)
            text = self._text(element)
            if text:
                yield ["text", f"[{label}] {one_line(text)}"]

    def blocks(self, parent: Any) -> Iterator[Block]:
        """Yield the blocks of a part of the document, the notes of a section at its end."""
        for element in parent.iterchildren():
            kind = tag(element)
            if kind == "p":
                yield from self._paragraph(element)
            elif kind == "tbl":
                yield from self._table(element)
            elif kind == "altChunk":
                yield from self._chunk(element)
            elif kind not in _PASSED:  # an invisible wrapper around paragraphs and tables
                yield from self.blocks(element)

    def _chunk(self, element: Any) -> Iterator[Block]:
        """Yield the blocks of a part in another format (section 17.17.2.1)."""
        blocks = None
        if self._depth < _MAX_CHUNKS and (part := self._target(element)) is not None:
            with suppress(Exception):  # a damaged part must not cost the rest
                blocks = chunk_blocks(part.blob, part.content_type, self._depth + 1)
        if blocks is None:
            self.left_out["embedded part"] += 1
        else:
            inner, left_out = blocks
            self.left_out.update(left_out)
            yield from inner

    def _paragraph(self, element: Any) -> Iterator[Block]:
        style = self._style(element)
        code = _CODE.search(style) is not None
        text = self._text(element, keep=code)
        if level := self._level(element, text):
            yield from self.notes()
            number = (self._numbering.marker(self._listed(element)) or "- ").strip().removeprefix("-") if text else ""
            yield ["heading", level, f"{number} {text}".strip()]
        elif style == "caption" and text:
            yield ["caption", text]
        elif code and text.strip():
            yield ["code", "", text]
        elif text:
            listed = self._listed(element)
            marker = self._marker(element)
            if marker is None:
                yield ["text", text]
            else:
                if listed is None or listed[1] == 0:  # deeper items may have another list id, but belong to this list
                    self._list = listed[0] if listed is not None else style
                yield ["item", self._list, marker + text]
        yield from self._beside()

    def _beside(self) -> Iterator[Block]:
        """Yield the blocks attached to the last paragraph."""
        while self._drawings:
            drawing = self._drawings.pop(0)
            named = next((e for e in drawing.iter() if tag(e) in ("docPr", "shape")), None)
            extent = next((e for e in drawing.iter() if tag(e) == "extent"), None)
            small = extent is not None and min(int(extent.get(side) or 0) for side in ("cx", "cy")) < POINTS * EMU
            if small:
                self.left_out[DECORATION] += any(tag(e) == "blip" for e in drawing.iter())
                continue
            caption = "" if named is None else alternative(named) or value(named, "title")
            yield from self._pictures.block(self._part, drawing, caption)
        while self._boxes:
            yield from self.blocks(self._boxes.pop(0))
        while self._charts:
            yield from chart_blocks(self._charts.pop(0))

    def _chain(self, style: str) -> Iterator[Any]:
        """Yield a style and every style that it is based on."""
        for _ in range(20):
            if (element := self._styles.get(style)) is None:
                return
            yield element
            style = setting(element, "basedOn")

    def _style(self, paragraph: Any) -> str:
        return setting(self._styles.get(setting(child(paragraph, "pPr"), "pStyle")), "name").lower()

    def _level(self, paragraph: Any, text: str) -> int:
        """Return the level of a heading, 1 for a title, 0 for any other paragraph."""
        if self._style(paragraph) == "title":
            return 1
        for element in (*self._chain(setting(child(paragraph, "pPr"), "pStyle")), paragraph):
            if heading := _HEADING.fullmatch(setting(element, "name")):
                return int(heading[1]) + 1
            if (level := setting(child(element, "pPr"), "outlineLvl")).isdecimal():
                return int(level) + 2 if int(level) < _BODY and len(text) <= _MAX_HEADING else 0
        return 0

    def _listed(self, paragraph: Any) -> tuple[str, int] | None:
        """Return the id of a paragraph's list and the level in it, or None."""
        own = child(paragraph, "pPr")
        style = setting(own, "pStyle")
        for holder in (own, *(child(style, "pPr") for style in self._chain(style))):
            numbering = child(holder, "numPr")
            if child(numbering, "numId") is not None:
                number = setting(numbering, "numId")
                if child(numbering, "ilvl") is None and style:
                    return number, self._numbering.level(number, style)
                return number, int(setting(numbering, "ilvl") or 0)
        return None

    def _marker(self, paragraph: Any) -> str | None:
        """Return the marker of the next paragraph, or None if it is not a list item."""
        listed = self._listed(paragraph)
        return "- " if listed is None and _ITEM.match(self._style(paragraph)) else self._numbering.marker(listed)

    def _text(self, element: Any, *, keep: bool = False) -> str:
        """Return the text below an element, with insertions and without deletions; spaces separate its paragraphs.

        `keep` preserves the spaces in it.
        """
        line = Inline()
        self._read(element, line)
        if keep:
            return line.take().removeprefix(" ").rstrip()
        return "\n".join(text.strip() for text in line.take().strip().split("\n"))

    def _read(self, element: Any, line: Inline, depth: int = 0) -> None:
        kind = tag(element)
        if kind in _PASSED or depth > _MAX_DEPTH:
            return
        if kind in _LEFT_OUT:
            texts = (e.text or "" for e in element.iter() if tag(e) in ("t", "delText"))
            self.left_out[_LEFT_OUT[kind]] += any(map(str.strip, texts))
            line.skip()
            return
        position = ""
        if kind == "r":
            for name in ("vanish", "strike", "dstrike"):
                if self._is_on(element, name):
                    kind = "hidden piece" if name == "vanish" else "deleted piece"
                    self.left_out[kind] += any(tag(e) == "t" and (e.text or "").strip() for e in element)
                    line.skip()
                    return
            position = _SIGNS.get(self._property(element, "vertAlign"), "")
        elif kind == "t":
            line.text(_text_of(element))
        elif kind == "sym":
            line.text(sign(value(element, "font"), int(value(element, "char") or "0", 16)))
        elif kind in ("drawing", "pict", "object"):
            self._drawings.append(element)
        elif kind == "docPr":
            line.word(alternative(element))
        elif kind == "txbxContent":
            self._boxes.append(element)
            return
        elif kind in ("tab", "ptab", "p"):
            line.text(" ")
        elif kind in ("br", "cr"):
            line.text("\n")
        elif kind == "noBreakHyphen":
            line.text("-")
        elif kind in ("footnoteReference", "endnoteReference"):
            self._note(kind.removesuffix("Reference"), element, line)
        elif kind == "ffData":  # a form field, whose value is not in the text
            line.word(_filled_in(element))
            return
        elif kind == "oMath":
            line.text(formula(math_node(element)))
            return
        elif kind == "chart":
            from docx.oxml import parse_xml

            part = self._target(element)
            self._charts += [] if part is None else [parse_xml(part.blob)]
        elif kind == "relIds":
            self._diagram(element, line)
        elif kind == "OLEObject":
            self.left_out["embedded part"] += 1
        if position:
            line.begin(position)
        for inner in element.iterchildren():
            self._read(inner, line, depth + 1)
        if position:
            line.end()

    def _diagram(self, element: Any, line: Inline) -> None:
        from docx.oxml import parse_xml

        if (part := self._target(element, "dm")) is not None:
            for text in diagram_texts(parse_xml(part.blob)):
                line.text(f"\n{text}")

    def _note(self, kind: str, element: Any, line: Inline) -> None:
        note = self._texts[kind].get(value(element, "id"))
        if note is not None:
            self._noted[kind] += 1
            label = ordinal(self._noted[kind], "1" if kind == "footnote" else "i")
            self._waiting.append((label, note))
            line.note(label)

    def _property(self, run: Any, name: str) -> str:
        """Return a property of a run or of its style, or "" if neither has it."""
        own = child(run, "rPr")
        for holder in (own, *(child(style, "rPr") for style in self._chain(setting(own, "rStyle")))):
            if child(holder, name) is not None:
                return setting(holder, name) or "true"
        return ""

    def _is_on(self, run: Any, name: str) -> bool:
        return self._property(run, name) not in ("", *_OFF)

    def _cell(self, element: Any) -> str:
        pieces = ((self._marker(p), self._text(p)) for p in _paragraphs(element))
        return cell_text((f"{(mark or '').strip(' -')} {text}".strip(), mark is not None) for mark, text in pieces)

    def _table(self, table: Any) -> Iterator[Block]:
        inner = [part for part in table.iterdescendants() if tag(part) == "tbl"]
        if inner:
            cells_of_layout = [cell for row in _rows(table) for cell in _cells(row)]
            if only_lays_out(len(cells_of_layout), _length(table), sum(map(_length, inner))):
                for cell in cells_of_layout:
                    yield from self.blocks(cell)
                return
        laid: Laid = []
        heads = self._heads(table)
        above: list[Cell | None] = []
        for row in _rows(table):
            settings = child(row, "trPr")
            if child(settings, "del") is not None or child(settings, "hidden") is not None:
                self.left_out["hidden piece"] += child(settings, "hidden") is not None
                continue
            cells: list[Cell | None] = [None] * _columns(settings, "gridBefore", 0)
            for element in _cells(row):
                form, place = child(element, "tcPr"), len(cells)
                goes_on = child(form, "vMerge") is not None and setting(form, "vMerge") != "restart"
                is_new = not goes_on or place >= len(above)
                cell = Cell(self._cell(element), head=self._is_head(element)) if is_new else above[place]
                cells.extend([cell] * _columns(form, "gridSpan", 1))
            laid.append(cells)
            if child(settings, "tblHeader") is not None and setting(settings, "tblHeader") not in _OFF:
                heads = max(heads, len(laid))
            above = cells
        width = max(map(len, laid), default=0)
        yield from table_blocks([row + [None] * (width - len(row)) for row in laid], heads, usual=True)
        yield from self._beside()

    def _heads(self, table: Any) -> int:
        """Return the number of header rows according to the options and style of a table, or 0 if unknown.

        Word sets the option Header Row in every new table, so the option alone proves nothing.
        """
        options = child(table, "tblPr")
        if (look := child(options, "tblLook")) is None:
            return 0
        own = value(look, "firstRow")
        if own in _OFF or (not own and not int(value(look, "val") or "0", 16) & _FIRST_ROW):
            return NO_HEAD
        parts = (part for style in self._chain(setting(options, "tblStyle")) for part in style)
        return int(any(tag(part) == "tblStylePr" and value(part, "type") == "firstRow" for part in parts))

    def _is_head(self, cell: Any) -> bool:
        """Return whether all text of a cell is bold, or in a style of headings."""
        runs = [(p, r) for p in _paragraphs(cell) for r in p.iter() if tag(r) == "r" and any(tag(e) == "t" for e in r)]
        return bool(runs) and all("heading" in self._style(p) or self._is_on(r, "b") for p, r in runs)


def _filled_in(field: Any) -> str:
    """Return the value of a form field: the choice from a list, or a mark if a box is ticked."""
    if (choices := child(field, "ddList")) is not None:
        names = [value(e, "val") for e in choices if tag(e) == "listEntry"]
        kind = "default" if child(choices, "result") is None else "result"
        place = setting(choices, kind) or "0"
        return names[int(place)] if place.isdecimal() and int(place) < len(names) else ""
    if (box := child(field, "checkBox")) is not None:
        kind = "default" if child(box, "checked") is None else "checked"
        return "[ ]" if child(box, kind) is None or setting(box, kind) in _OFF else "[x]"
    return ""


def _length(table: Any) -> int:
    """Return the number of characters in a table."""
    return len(run_text(table))


def _paragraphs(element: Any) -> Iterator[Any]:
    for inner in element.iterchildren():
        if tag(inner) == "p":
            yield inner
        elif tag(inner) not in _PASSED:  # a small table inside a cell is part of the cell's text
            yield from _paragraphs(inner)


def _text_of(element: Any) -> str:
    """Return the text of an element, with private characters replaced according to the font."""
    text: str = element.text or ""
    if text.isascii() or not any("\uf020" <= character <= "\uf0ff" for character in text):
        return text
    fonts = child(child(element.getparent(), "rPr"), "rFonts")
    return signs("" if fonts is None else value(fonts, "ascii"), text)


def _columns(settings: Any, name: str, least: int) -> int:
    return max(least, min(_MAX_COLUMNS, int(setting(settings, name) or 0)))


def _rows(table: Any) -> Iterator[Any]:
    for element in table.iterchildren():
        if tag(element) == "tr":
            yield element
        elif tag(element) not in _PASSED:
            yield from _rows(element)


def _cells(row: Any) -> Iterator[Any]:
    for element in row.iterchildren():
        if tag(element) == "tc":
            yield element
        elif tag(element) not in _PASSED:
            yield from _cells(element)
