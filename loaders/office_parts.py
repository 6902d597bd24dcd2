"""DOCX, PPTX and XLSX files, as the reading process sees them: headings, paragraphs and tables, by slide or sheet."""

import datetime as dt
import re
from collections.abc import Iterable, Iterator, Sequence
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from kgrag.loaders.apart import MAX_TEXT, check_archive
from kgrag.loaders.base import MB, BadInput

Block = list[Any]
"""["heading", level, text], ["text", text], ["item", text], ["caption", text] or ["table", rows of cells]."""

_MAX_CELLS = 4_000_000
_PLAIN_SHEET = re.compile(r"(?:sheet|tabelle|feuil|hoja|foglio|planilha|blad|ark)\s?\d*", re.IGNORECASE)
_PROGRAMS = {  # what a file is -> its name, and the package that reads it
    "word/": ("a Word document", "docx", "python-docx"),
    "ppt/": ("a PowerPoint presentation", "pptx", "python-pptx"),
    "xl/": ("an Excel workbook", "openpyxl", "openpyxl"),
}


def read_office(path: Path) -> dict[str, Any]:
    """`title`, `author`, `date`, and `parts`: one, or one for each slide or sheet, with its `label` and `blocks`.

    Which of them the file is, its content says. Raises BadInput.
    """
    folder = _check_archive(path)
    what, module, package = _PROGRAMS[folder]
    if find_spec(module) is None:
        raise BadInput(f"is {what}, for which {package} is needed: python -m pip install 'kgrag[office]'")
    readers = {"word/": _read_docx, "ppt/": _read_pptx, "xl/": _read_xlsx}
    try:
        found = readers[folder](path)
    except (BadInput, MemoryError):
        raise
    except Exception as error:
        reason = " ".join(str(error).split())[:200] or type(error).__name__
        raise BadInput(f"is {what} that is damaged ({reason})") from error
    size = sum(len(cell) for part in found["parts"] for cell in _strings(part["blocks"]))
    if size > MAX_TEXT:
        raise BadInput(f"holds more than {MAX_TEXT // MB} MB of text; split it")
    return {"paged": folder != "word/", **found}


def _check_archive(path: Path) -> str:
    """The folder that tells the program. Raises BadInput for what is none of its files, or would unpack to too much."""
    names = check_archive(path)
    for folder in _PROGRAMS:
        if "[Content_Types].xml" in names and any(name.startswith(folder) for name in names):
            return folder
    raise BadInput("is a ZIP archive, but no Word, PowerPoint or Excel file; unpack it")


def _strings(value: object) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, list):
        for inner in value:
            yield from _strings(inner)


def _properties(core: Any) -> dict[str, str]:
    """Title, author and date from a file's core properties."""
    when = core.created or core.modified
    author = getattr(core, "author", None) or getattr(core, "creator", None) or ""
    return {
        "title": core.title or "",
        "author": "" if author in ("python-docx", "openpyxl") else author,
        "date": when.date().isoformat() if isinstance(when, dt.datetime) else "",
    }


# Word.


def _read_docx(path: Path) -> dict[str, Any]:
    import docx

    document = docx.Document(str(path))
    blocks = list(_docx_blocks(document.element.body, document))
    return {**_properties(document.core_properties), "parts": [{"label": "", "blocks": blocks}]}


def _docx_blocks(parent: Any, document: Any) -> Iterator[Block]:
    from docx.table import Table
    from docx.text.paragraph import Paragraph

    for child in parent.iterchildren():
        kind = _tag(child)
        if kind == "p":
            text = _docx_text(child)
            if not text.strip():
                continue
            style = (Paragraph(child, document).style.name or "").lower()  # type: ignore[union-attr]
            if style == "title":
                yield ["heading", 1, text]
            elif style.startswith("heading ") and style[8:].isdigit():
                yield ["heading", int(style[8:]) + 1, text]
            elif style == "caption":
                yield ["caption", text]
            else:
                listed = style.startswith("list") or child.find(f".//{_namespace(child)}numPr") is not None
                yield ["item", f"- {text}"] if listed else ["text", text]
        elif kind == "tbl":
            yield ["table", [_docx_row(row, i) for i, row in enumerate(Table(child, document).rows)]]
        elif kind in ("sdt", "sdtContent"):
            yield from _docx_blocks(child, document)


def _docx_row(row: Any, number: int) -> list[str]:
    cells: list[str] = []
    last = None
    for cell in row.cells:
        element = cell._tc
        cells.append("" if element is last and number else _docx_text(element))
        last = element
    return [""] * row.grid_cols_before + cells


def _docx_text(element: Any) -> str:
    """The text below an element, with insertions and without deletions; paragraphs in a cell are parted by spaces."""
    parts: list[str] = []
    stack = [iter((element,))]
    while stack:
        node = next(stack[-1], None)
        if node is None:
            stack.pop()
            continue
        kind = _tag(node)
        if kind == "t":
            parts.append(node.text or "")
        elif kind in ("tab", "p"):
            parts.append(" ")
        elif kind in ("br", "cr"):
            parts.append("\n")
        elif kind in ("noBreakHyphen",):
            parts.append("-")
        if kind not in ("Fallback", "pPr", "rPr"):  # a fallback says again what stands before it
            stack.append(node.iterchildren())
    return "".join(parts).strip()


def _tag(element: Any) -> str:
    return element.tag.rpartition("}")[2] if isinstance(element.tag, str) else ""


def _namespace(element: Any) -> str:
    return str(element.tag).partition("}")[0] + "}"


# PowerPoint.


def _read_pptx(path: Path) -> dict[str, Any]:
    import pptx

    presentation = pptx.Presentation(str(path))
    parts = [{"label": "", "blocks": list(_slide_blocks(slide))} for slide in presentation.slides]
    return {**_properties(presentation.core_properties), "parts": parts}


def _slide_blocks(slide: Any) -> Iterator[Block]:
    title = slide.shapes.title
    if title is not None and title.has_text_frame and title.text_frame.text.strip():
        yield ["heading", 1, title.text_frame.text]
    shapes = [s for s in _shapes(slide.shapes) if title is None or s.shape_id != title.shape_id]
    for shape in sorted(shapes, key=lambda s: (s.top or 0, s.left or 0)):
        if getattr(shape, "has_table", False) and shape.has_table:
            rows = [["" if c.is_spanned else c.text for c in row.cells] for row in shape.table.rows]
            yield ["table", rows]
        elif shape.has_text_frame:
            for paragraph in shape.text_frame.paragraphs:
                text = "".join(run.text for run in paragraph.runs) or paragraph.text
                if text.strip():
                    yield ["item", text]
    if slide.has_notes_slide and slide.notes_slide.notes_text_frame is not None:
        notes = slide.notes_slide.notes_text_frame.text
        if notes.strip():
            yield ["text", f"Notes: {notes}"]


def _shapes(shapes: Iterable[Any], depth: int = 0) -> Iterator[Any]:
    for shape in shapes:
        if hasattr(shape, "shapes") and depth < 20:  # a group
            yield from _shapes(shape.shapes, depth + 1)
        else:
            yield shape


# Excel.


def _read_xlsx(path: Path) -> dict[str, Any]:
    import openpyxl

    book = openpyxl.load_workbook(path, read_only=True, data_only=True, keep_links=False)
    try:
        budget = [_MAX_CELLS]
        parts = [{"label": sheet.title, "blocks": list(_sheet_blocks(sheet, budget))} for sheet in book.worksheets]
        return {**_properties(book.properties), "parts": parts}
    finally:
        book.close()


def _sheet_blocks(sheet: Any, budget: list[int]) -> Iterator[Block]:
    """A table for each run of rows between empty ones, under its own caption or the sheet's name; and single cells."""
    areas = [list(_area(rows)) for rows in _row_runs(sheet, budget)]
    if any(block[0] == "text" for area in areas for block in area):
        yield ["heading", 1, sheet.title]
    for area in areas:
        if area[0][0] == "table" and not _PLAIN_SHEET.fullmatch(sheet.title):
            yield ["caption", sheet.title]
        yield from area


def _row_runs(sheet: Any, budget: list[int]) -> Iterator[list[list[str]]]:
    sheet.reset_dimensions()  # what the file says of its size may be wrong
    block: list[list[str]] = []
    for values in sheet.iter_rows(values_only=True):
        budget[0] -= len(values) + 1
        if budget[0] < 0:
            raise BadInput(f"holds more than {_MAX_CELLS:,} cells; split it, or save its sheets as CSV")
        row = [_value(value) for value in values]
        if any(row):
            block.append(row)
        elif block:
            yield block
            block = []
    if block:
        yield block


def _area(rows: Sequence[list[str]]) -> Iterator[Block]:
    """A run of rows as a table; what stands alone in the first rows is a caption, and single cells are text."""
    first, last = (f(i for row in rows for i, cell in enumerate(row) if cell) for f in (min, max))
    cells = [(row + [""] * (last + 1 - len(row)))[first : last + 1] for row in rows]
    while cells and sum(map(bool, cells[0])) == 1 and len(cells[0]) > 1 and len(cells) > 2:
        yield ["caption", "".join(cells.pop(0))]
    if len(cells) > 1 and len(cells[0]) > 1:
        yield ["table", cells]
    else:
        for row in cells:
            yield ["text", " ".join(filter(None, row))]


def _value(value: object) -> str:
    if value is None:
        return ""
    if isinstance(value, bool):
        return "TRUE" if value else "FALSE"
    if isinstance(value, float):
        return f"{value:.15g}"
    if isinstance(value, dt.datetime):
        return value.date().isoformat() if value.time() == dt.time() else value.isoformat(" ", "seconds")
    if isinstance(value, dt.date | dt.time):
        return value.isoformat()
    return str(value).strip()
