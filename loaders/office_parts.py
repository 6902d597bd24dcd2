"""Read DOCX, PPTX and XLSX files in the reading process: headings, paragraphs and tables, by slide or sheet."""

import datetime as dt
import io
import re
import zipfile
from collections.abc import Iterator, Sequence
from dataclasses import replace
from importlib import import_module
from pathlib import Path
from typing import Any

from kgrag.loaders.base import MB, BadInput, damage_as, needs
from kgrag.loaders.figures import TOTAL, as_row, figure_of
from kgrag.loaders.grid import Cell, as_text, table_of
from kgrag.loaders.inline import Node
from kgrag.loaders.worker_formats import MAX_TEXT, check_archive

_SYMBOL = (  # Adobe's encoding, from 0x20
    " !∀#∃%&∋()∗+,−./0123456789:;<=>?≅ΑΒΧΔΕΦΓΗΙϑΚΛΜΝΟΠΘΡΣΤΥςΩΞΨΖ[∴]⊥_‾αβχδεφγηιϕκλμνοπθρστυϖωξψζ{|}∼\0"
    "\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0€ϒ′≤⁄∞ƒ♣♦♥♠↔←↑→↓°±″≥×∝∂•÷≠≡≈…⏐⎯↵"
    "ℵℑℜ℘⊗⊕∅∩∪⊃⊇⊄⊂⊆∈∉∠∇®©™∏√⋅¬∧∨⇔⇐⇑⇒⇓◊⟨®©™∑⎛⎜⎝⎡⎢⎣⎧⎨⎩⎪\0⟩∫⌠⎮⌡⎞⎟⎠⎤⎥⎦⎫⎬⎭\0"
)
_WINGDINGS = {
    0x21: "✏", 0x22: "✂", 0x28: "☎", 0x2A: "✉", 0x36: "⌛", 0x3F: "✍", 0x45: "☜", 0x46: "☞", 0x4A: "☺", 0x4B: "😐",
    0x4C: "☹", 0x4E: "☠", 0x52: "☼", 0x58: "✠", 0x59: "✡", 0x5A: "☪", 0x5B: "☯", 0x6C: "●", 0x6E: "■", 0x6F: "□",
    0x71: "❑", 0x72: "❒", 0x75: "◆", 0x76: "❖", 0x7B: "❀", 0x9F: "•", 0xA1: "○", 0xA7: "▪", 0xA8: "◻", 0xAB: "★",
    0xD8: "➢", 0xDC: "➲", 0xDF: "←", 0xE0: "→", 0xE1: "↑", 0xE2: "↓", 0xE3: "↖", 0xE4: "↗", 0xE5: "↙", 0xE6: "↘",
    0xE7: "←", 0xE8: "➔", 0xE9: "↑", 0xEA: "↓", 0xEF: "⇦", 0xF0: "⇨", 0xF1: "⇧", 0xF2: "⇩", 0xF3: "⬄", 0xFB: "✗",
    0xFC: "✓", 0xFD: "☒", 0xFE: "☑",
}  # fmt: skip


def sign(font: str, code: int) -> str:
    """Return the character at a code of a font, with or without the private offset 0xF000; "" if unknown."""
    place = code - 0xF000 if 0xF020 <= code <= 0xF0FF else code
    name = font.strip().lower()
    if name == "symbol":
        return _SYMBOL[place - 0x20].strip("\0") if 0x20 <= place < 0x20 + len(_SYMBOL) else ""
    if name == "wingdings":
        return _WINGDINGS.get(place, "")
    return "" if 0xF000 <= code <= 0xF0FF or not 0x20 <= code <= 0xFFFF else chr(code)


def signs(font: str, text: str) -> str:
    """Return the text of a run, with private (and on slides, non-ASCII) characters replaced according to the font."""
    if font.strip().lower() not in ("symbol", "wingdings") or text.isascii():
        return text
    return "".join(c if c.isascii() else sign(font, ord(c)) or c for c in text)


EMU = 12_700
"""Drawing units per point."""
Block = list[Any]
"""["heading", level, text], ["text", text], ["item", list, text], ["code", "", text],
["caption", text], ["table", title, rows] or ["figure", figure as in figures.py]."""

_PROGRAMS = {  # folder in the archive -> name of the kind of file, and the package that reads it
    "word/": ("a Word document", "docx", "python-docx", "word_parts:read_docx"),
    "ppt/": ("a PowerPoint presentation", "pptx", "python-pptx", "slide_parts:read_pptx"),
    "xl/": ("an Excel workbook", "openpyxl", "openpyxl", "sheet_parts:read_xlsx"),
}
_TYPES = "[Content_Types].xml"
_MAIN = {  # the types that the packages accept; they refuse templates, shows and files with macros
    "word/": b"application/vnd.openxmlformats-officedocument.wordprocessingml.document.main+xml",
    "ppt/": b"application/vnd.openxmlformats-officedocument.presentationml.presentation.main+xml",
}
_OTHER_MAIN = re.compile(
    rb"application/vnd\.[\w.-]+\.(?:document|presentation|slideshow|template)(?:\.macroEnabled\w*)?\.main\+xml"
)
_STRICT = re.compile(rb"http://purl\.oclc\.org/ooxml/(\w+)/")
_GUESSED = re.compile(r"(?:\s*(?:Description automatically generated|AI-generated content)[^\n]*)+$")
_PICTURE = re.compile(r"\S+\.(?:png|jpe?g|gif|bmp|tiff?|svg|emf|wmf|webp)", re.IGNORECASE)
_HYPHENS = ((b"/extendedProperties", b"/extended-properties"), (b"/customProperties", b"/custom-properties"))


def read_office(path: Path) -> dict[str, Any]:
    """Return `title`, `author`, `date`, `problems` and `parts` of an office file; its content determines its kind.

    A document is one part; slides and sheets are one part each. A part has a `label` and `blocks`.

    `left_out` counts the parts left out of the text, by kind. Raises BadInput.
    """
    folder, named = _check_archive(path)
    what, module, package, reader = _PROGRAMS[folder]
    needs(module, what, package, "office")
    name, _, function = reader.partition(":")
    with damage_as(f"is {what} that is damaged"):
        content: dict[str, Any] = getattr(import_module(f"kgrag.loaders.{name}"), function)(_plain(path, folder))
    texts = ([block for block in part["blocks"] if block[0] != "figure"] for part in content["parts"])
    size = sum(len(cell) for part in texts for cell in _strings(part))
    if size > MAX_TEXT:
        raise BadInput(f"holds more than {MAX_TEXT // MB} MB of text; split it")
    if not named:  # the packages invent missing properties, such as today's date
        content |= {"title": "", "author": "", "date": ""}
    return {"paged": folder != "word/", "problems": [], **content}


def _check_archive(path: Path) -> tuple[str, bool]:
    """Return the folder that identifies the program, and whether the file has properties.

    Raises BadInput for other kinds of files, and for files that would unpack to too much data.
    """
    names = check_archive(path)
    for folder in _PROGRAMS:
        if _TYPES in names and any(name.startswith(folder) for name in names):
            return folder, any(name.endswith("core.xml") for name in names)
    raise BadInput("is a ZIP archive, but no Word, PowerPoint or Excel file; unpack it")


def _plain(path: Path, folder: str) -> io.BytesIO:
    """Return the file in a form that the packages read.

    Templates, shows and files with macros become plain ones; strict files (ISO/IEC 29500-1) get the common namespaces.
    """
    data = path.read_bytes()
    with zipfile.ZipFile(io.BytesIO(data)) as archive:
        strict = "_rels/.rels" in archive.namelist() and _STRICT.search(archive.read("_rels/.rels"))
        kinds = archive.read(_TYPES)
        plain = _OTHER_MAIN.sub(_MAIN[folder], kinds) if folder in _MAIN else kinds
        if not strict and plain == kinds:
            return io.BytesIO(data)
        out = io.BytesIO()
        with zipfile.ZipFile(out, "w") as renamed:
            for name in archive.namelist():
                part = plain if name == _TYPES else archive.read(name)
                if strict and name.endswith((".xml", ".rels")):
                    part = _STRICT.sub(rb"http://schemas.openxmlformats.org/\1/2006/", part)
                    for own, usual in _HYPHENS:
                        part = part.replace(own, usual) if b"/2006/" in part else part
                renamed.writestr(name, part)
    out.seek(0)
    return out


def _strings(value: object) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, list):
        for inner in value:
            yield from _strings(inner)


def properties(core: Any) -> dict[str, str]:
    """Return the title, author and date from a file's core properties."""
    when = core.created or core.modified
    author = getattr(core, "author", None) or getattr(core, "creator", None) or ""
    return {
        "title": core.title or "",
        "author": "" if author in ("python-docx", "openpyxl") else author,
        "date": when.date().isoformat() if isinstance(when, dt.datetime) else "",
    }


def tag(element: Any) -> str:
    """Return the name of an XML element without its namespace."""
    return element.tag.rpartition("}")[2] if isinstance(element.tag, str) else ""


def value(element: Any, name: str, default: str = "") -> str:
    """Return an attribute of an XML element in any namespace."""
    return next((text for key, text in element.items() if key.rpartition("}")[2] == name), default)


def child(element: Any, name: str) -> Any:
    """Return the first child of that name, or None."""
    return None if element is None else next((inner for inner in element if tag(inner) == name), None)


def setting(element: Any, name: str) -> str:
    """Return the value of the first child of that name, or "" if there is none."""
    inner = child(element, name)
    return "" if inner is None else value(inner, "val")


def table_blocks(laid: Sequence[Sequence[Cell | None]], heads: int = 0, *, usual: bool = False) -> Iterator[Block]:
    """Yield a table, or text if it has a single row or column. `heads` and `usual`: as in `table_of`."""
    title, rows = table_of(laid, heads, usual=usual)
    if len(rows) > 1 and len(rows[0]) > 1:
        yield ["table", title, rows]
    else:
        for text in (title, as_text(rows)):
            if text:
                yield ["text", text]


_MATH_SIGNS = ("chr", "begChr", "sepChr", "endChr", "pos")


def math_node(element: Any, depth: int = 0) -> Node:
    """Convert a formula of Office Math to a node."""
    own = value(element, "val") if tag(element) in _MATH_SIGNS else element.text if tag(element) == "t" else ""
    inner = [] if depth > 100 else [math_node(part, depth + 1) for part in element.iterchildren() if tag(part) != "rPr"]
    return Node(tag(element), own or "", inner)


def run_text(element: Any) -> str:
    """Return the text of all "t" elements in an element."""
    return "".join(part.text or "" for part in element.iter() if tag(part) == "t")


def alternative(element: Any) -> str:
    """Return the author's description of a picture, ignoring file names and generated descriptions."""
    text = _GUESSED.sub("", value(element, "descr")).strip()
    return "" if _PICTURE.fullmatch(text) else text


class Pictures:
    """Makes figures of the pictures of a file; the bytes of each picture are passed on only once."""

    def __init__(self) -> None:
        self._reported: set[str] = set()
        self._size = 0

    def block(self, part: Any, drawing: Any, caption: str = "", box: Sequence[float] = ()) -> Iterator[Block]:
        """Yield the figure of a drawing in a part of the file, if the drawing has a picture."""
        for element in drawing.iter():
            name = {"blip": "embed", "imagedata": "id"}.get(tag(element))
            relation = part.rels.get(value(element, name)) if name else None
            if relation is None or relation.is_external:
                continue
            figure = figure_of(relation.target_part.blob, caption, box=box)
            self._size += len(figure.data) * (figure.sha not in self._reported)
            if figure.sha in self._reported or self._size > TOTAL:
                figure = replace(figure, data=b"")
            self._reported.add(figure.sha)
            yield ["figure", as_row(figure)]
            return


def diagram_texts(data: Any) -> Iterator[str]:
    """Yield the texts in the boxes of a diagram (SmartArt)."""
    for body in (child(point, "t") for point in data.iter() if tag(point) == "pt"):
        paragraphs = [] if body is None else [part for part in body if tag(part) == "p"]
        if text := " ".join(map(run_text, paragraphs)).strip():
            yield text


def chart_blocks(chart: Any) -> Iterator[Block]:
    """Yield the data of a chart as a table under its title, with a column for each series and a row per category."""
    heading = next((e for e in chart.iter() if tag(e) == "title"), None)
    title = "" if heading is None else run_text(heading)
    series = [element for element in chart.iter() if tag(element) == "ser"]
    names: list[str] = []
    columns: list[dict[int, str]] = []
    categories: dict[int, str] = {}
    for number, one in enumerate(series, 1):
        names.append(" ".join(_points(one, "tx").values()) or f"Series {number}")
        categories = _points(one, "cat") | _points(one, "xVal") | categories
        columns.append(_points(one, "val") | _points(one, "yVal"))
    places = sorted({place for column in columns for place in column})
    rows = [[categories.get(p, str(p + 1)), *(column.get(p, "") for column in columns)] for p in places]
    if rows:
        named = [[Cell(title)] * (len(names) + 1)] if title else []
        yield from table_blocks([*named, *(list(map(Cell, row)) for row in (["Category", *names], *rows))], 1)


def _points(series: Any, name: str) -> dict[int, str]:
    """Return the cached points of a part of a series, by their index."""
    points: dict[int, str] = {}
    part = child(series, name)
    for point in [] if part is None else part.iter():
        if tag(point) == "pt":
            level = points.get(int(point.get("idx") or 0), "")
            text = "".join(e.text or "" for e in point if tag(e) == "v")
            points[int(point.get("idx") or 0)] = f"{text} {level}".strip()  # the outer of several levels comes last
        elif tag(point) == "v" and tag(point.getparent()) == "tx":
            points[0] = point.text or ""
    return {place: _short(text) for place, text in points.items()}


def _short(text: str) -> str:
    """Round a number to its intended precision; charts store 15 digits."""
    try:
        return f"{float(text):.15g}" if re.fullmatch(r"-?\d+\.\d{8,}(?:E[-+]?\d+)?", text) else text
    except ValueError:
        return text
