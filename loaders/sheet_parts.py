"""Read XLSX files in the reading process (ISO/IEC 29500-1, chapter 18)."""

import datetime as dt
import posixpath
import re
from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from decimal import ROUND_HALF_UP, Decimal
from itertools import repeat
from typing import IO, Any
from xml.etree import ElementTree
from xml.etree.ElementTree import Element

from kgrag.loaders.base import BadInput, counted
from kgrag.loaders.grid import Cell, Laid
from kgrag.loaders.inline import Inline
from kgrag.loaders.office_parts import Block, properties, run_text, table_blocks, tag, value

# Numbers and times of a workbook as its readers see them: "12.5%", "€ 3.50", "007", "(1,234.50)", "27:05", "May 2024".
#
# See ISO/IEC 29500-1, section 18.8.31. Digits are never lost, and whole dates in digits are written as in ISO 8601.


_QUOTED = re.compile(  # `skipped`: spaces as wide as a character, and colours
    r"(?P<skipped>_.|\*.|\[(?:black|blue|cyan|green|magenta|red|white|yellow|color ?\d+)\])"
    r"|\[\$(?P<currency>[^\]-]*)(?:-[0-9A-Fa-f]+)?\]|\"(?P<quoted>[^\"]*)\"|\\(?P<escaped>.)",
    re.IGNORECASE,
)
_MASK = re.compile(r"[#0?]+(?:,[#0?]+)*(?:\.[#0?]+)?(?![#0?.,/Ee])")
_SECTIONS = re.compile(r"(?:\"[^\"]*\"|\\.|[^;\"\\])*")
_MAX_PLACES = 4  # decimals added to a format with a sign; numbers with more are quotients, not as entered
_LETTERS = re.compile(r"[A-Za-z@\[/?]")
_TIMES = re.compile(r"(?P<elapsed>\[(?:h+|m+|s+)\])|(?P<half>AM/PM|A/P)|(?P<unit>y+|m+|d+|h+|s+)|\.(?P<parts>0+)", re.I)
_LANGUAGE = re.compile(r"\[\$[^\]-]*-(?:[0-9A-F]{1,4})?([0-9A-F]{3,4})\]", re.IGNORECASE)
_ENGLISH = "09"  # the end of all language codes of English
_MONTHS = "January February March April May June July August September October November December".split()
_DAYS = "Monday Tuesday Wednesday Thursday Friday Saturday Sunday".split()


def shown(value: object, form: str) -> object:
    """Return a number or a time as text if its format adds to it, or shows less than a whole date.

    Other values are returned unchanged.
    """
    if isinstance(value, dt.date | dt.time | dt.timedelta):
        return _moment(value, form.partition(";")[0]) or value
    if isinstance(value, bool) or not isinstance(value, int | float) or form in ("", "General"):
        return value
    sections = [text for text in _SECTIONS.findall(form) if text] or [form]
    negative = value < 0 and len(sections) > 1
    text = _formatted(abs(value) if negative or value < 0 else value, sections[1 if negative else 0])
    return value if text is None else text if negative or value >= 0 else f"-{text}"


def _formatted(number: float, section: str) -> str | None:
    """Format a number without its sign by one section of a format; None if that adds nothing or is for dates."""
    literals: list[str] = []

    def keep(match: re.Match[str]) -> str:
        literals.append(match["currency"] or match["quoted"] or match["escaped"] or "")
        return "\0"

    plain = _QUOTED.sub(lambda match: "" if match["skipped"] else keep(match), section)
    masks = list(_MASK.finditer(plain))
    around = _MASK.sub("", plain)
    if len(masks) != 1 or _LETTERS.search(around) or len(literals) != around.count("\0"):
        return None
    mask = masks[0][0]
    whole, _, fraction = mask.partition(".")
    digits = whole.count("0")
    alone = not (around.replace("\0", "").strip() or "".join(literals).strip() or digits > 1)
    exact = (Decimal(number) if isinstance(number, int) else Decimal(f"{number:.15g}")) * 100 ** around.count("%")
    places = _places(exact)
    if alone and places > len(fraction):
        return None
    if places > max(len(fraction), _MAX_PLACES):
        exact = exact.quantize(Decimal(1).scaleb(-len(fraction)), ROUND_HALF_UP)
    text = f"{exact:,.{max(_places(exact), len(fraction.rstrip('#')))}f}"
    text = text if "," in whole else text.replace(",", "")
    text = "0" * (digits - len(re.findall(r"\d", text.partition(".")[0]))) + text
    before, after = plain[: masks[0].start()], plain[masks[0].end() :]
    texts = iter(literals)
    before, after = (re.sub("\0", lambda _: next(texts), part) for part in (before, after))
    return f"{before}{text}{after}".strip()


def _places(number: Decimal) -> int:
    """Return the number of decimals of a number."""
    return len(f"{number:f}".partition(".")[2].rstrip("0"))


def _moment(value: dt.date | dt.time | dt.timedelta, form: str) -> str:
    """Format a time; return "" if the format has no units, or is a whole date in digits."""
    literals: list[str] = []

    def keep(match: re.Match[str]) -> str:
        literals.append(match["quoted"] or match["escaped"] or "")
        return "" if match["skipped"] else f"\0{len(literals) - 1}\0"

    plain = _QUOTED.sub(keep, form)
    tokens = list(_TIMES.finditer(plain))
    units = [(token["unit"] or token["elapsed"] or "").lower() for token in tokens]
    kinds = {unit.strip("[]")[:1] for unit in units} - {""}
    named = any(unit.startswith(("mmm", "ddd")) for unit in units)
    if not kinds or (isinstance(value, dt.date) and {"y", "m", "d"} <= kinds and not named):
        return ""
    language = _LANGUAGE.search(form)
    if named and language is not None and not language[1].endswith(_ENGLISH):  # month names in unknown languages
        return f"{value:%Y-%m}" if isinstance(value, dt.date) and "d" not in kinds else ""
    half = any(token["half"] for token in tokens)
    text, place = "", 0
    for number, token in enumerate(tokens):
        minutes = units[number].strip("[]").startswith("m") and (
            any(u.strip("[]").startswith("h") for u in units[max(0, number - 1) : number])
            or any(u.startswith("s") for u in units[number + 1 : number + 2])
        )
        text += plain[place : token.start()] + _unit(value, token, minutes=minutes, half=half)
        place = token.end()
    text += plain[place:]
    return re.sub("\0(\\d+)\0", lambda match: literals[int(match[1])], text).strip()


def _unit(moment: dt.date | dt.time | dt.timedelta, token: re.Match[str], *, minutes: bool, half: bool) -> str:
    """Return the text of a unit of a format: "05" for "mm" in May."""
    if isinstance(moment, dt.timedelta):
        whole = moment
    elif isinstance(moment, dt.datetime | dt.time):
        whole = dt.timedelta(
            hours=moment.hour, minutes=moment.minute, seconds=moment.second, microseconds=moment.microsecond
        )
    else:
        whole = dt.timedelta()
    seconds = whole // dt.timedelta(seconds=1)
    if token["parts"]:
        return f".{whole.microseconds:06d}"[: 1 + len(token["parts"])]
    hour = seconds // 3600 % 24
    if token["half"]:
        name = "AM" if hour < 12 else "PM"
        return name if len(token["half"]) > 3 else name[0]
    unit = (token["elapsed"] or token["unit"]).lower()
    if token["elapsed"]:
        count = seconds // {"h": 3600, "m": 60, "s": 1}[unit[1]]
        return f"{count:0{len(unit) - 2}d}"
    two = len(unit) > 1
    if unit[0] in "hs" or minutes:
        value = hour if unit[0] == "h" else seconds // 60 % 60 if minutes else seconds % 60
        value = (value + 11) % 12 + 1 if half and unit[0] == "h" else value
    elif not isinstance(moment, dt.date):
        return ""
    elif unit[0] == "y":
        return f"{moment.year:04d}" if len(unit) > 2 else f"{moment.year % 100:02d}"
    elif len(unit) > 2:
        name = _MONTHS[moment.month - 1] if unit[0] == "m" else _DAYS[moment.weekday()]
        return name if len(unit) == 4 else name[: 1 if len(unit) == 5 else 3]
    else:
        value = moment.month if unit[0] == "m" else moment.day
    return f"{value:02d}" if two else str(value)


_MAX_CELLS = 4_000_000
_MAX_SPAN = 200  # columns of the widest merged cell
_PLAIN_SHEET = re.compile(r"(?:sheet|tabelle|feuil|hoja|foglio|planilha|blad|ark)\s?\d*", re.IGNORECASE)
_RANGE = re.compile(r"\$?([A-Z]{1,3})\$?(\d{1,7})(?::\$?([A-Z]{1,3})\$?(\d{1,7}))?")
_PARTS = {"ctrlProp": "form value", "oleObject": "embedded part", "package": "embedded part"}
"""Parts attached to a sheet that are not read, and the kinds under which they are counted."""
_ROW, _CELL, _COLUMN, _MERGED, _FORMULA, _VALUE, _INLINE = (
    f"{{http://schemas.openxmlformats.org/spreadsheetml/2006/main}}{name}"
    for name in "row c col mergeCell f v is".split()
)
_ESCAPED = re.compile(r"_x([0-9A-Fa-f]{4})_")
_HEADS = frozenset("oddHeader evenHeader firstHeader oddFooter evenFooter firstFooter".split())
_SIGNS = {"superscript": "^", "subscript": "_"}

Row = list[Cell | None]
Covered = dict[int, tuple[Cell, int]]
"""Column -> the merged cell that covers it, and the last row of that cell."""


@dataclass(slots=True)
class _Marks:
    """The properties of a sheet besides its rows: merged cells, hidden parts, cells without a stored value."""

    merged: dict[int, list[tuple[int, int, int]]] = field(default_factory=lambda: defaultdict(list))
    """First row -> first column, last row and last column."""
    rows: set[int] = field(default_factory=set)
    columns: list[tuple[int, int]] = field(default_factory=list)
    unknown: set[tuple[int, int]] = field(default_factory=set)
    zero: set[tuple[int, int]] = field(default_factory=set)
    """Formulas whose stored value is 0; `known` has their other properties."""
    known: int = 0
    heads: int = 0
    """The number of headers and footers printed on every page."""
    bold: set[int] = field(default_factory=set)
    """Columns of the bold cells of the current row."""
    named: set[tuple[int, int]] = field(default_factory=set)
    """Cells in the header rows of filters and tables."""
    texts: dict[tuple[int, int], str] = field(default_factory=dict)
    """Text of the cells with raised or lowered parts."""


@dataclass(slots=True)
class _Counts:
    """The number of cells that may still be read, and counts of the parts left out or replaced."""

    cells: int = _MAX_CELLS
    formulas: int = 0
    left_out: Counter[str] = field(default_factory=Counter)


def read_xlsx(file: IO[bytes]) -> dict[str, Any]:
    """Return a workbook, with one part for each visible sheet."""
    import openpyxl

    book = openpyxl.load_workbook(file, read_only=True, data_only=True, keep_links=False, rich_text=True)
    formulas = None
    counts = _Counts()
    parts: list[dict[str, Any]] = []
    try:
        for sheet in book.worksheets:
            if sheet.sheet_state != "visible":
                counts.left_out["hidden sheet"] += 1
                continue
            marks = _marks(sheet)
            if book.calculation.fullCalcOnLoad and not marks.known:
                marks.unknown |= marks.zero  # XlsxWriter stores 0 for formulas, which it does not calculate
            other = None
            if marks.unknown:
                formulas = formulas or openpyxl.load_workbook(file, read_only=True, keep_links=False)
                other = formulas[sheet.title]
            counts.formulas += len(marks.unknown)
            counts.left_out["running head"] += marks.heads
            blocks = [*_blocks(sheet, other, marks, counts), *_beside(sheet, counts.left_out)]
            parts.append({"label": sheet.title, "blocks": blocks})
        problems = [
            f"holds {counted(counts.formulas, 'formula')} without a stored value, read as written; "
            "open and save it with a spreadsheet program to have the values"
        ]
        about = {"problems": problems if counts.formulas else [], "left_out": counts.left_out}
        return {**properties(book.properties), "parts": parts, **about}
    finally:
        book.close()


def _marks(sheet: Any) -> _Marks:
    marks = _Marks()
    row = 0
    with sheet._get_source() as source:
        for event, element in ElementTree.iterparse(source, events=("start", "end")):
            if event == "start":
                if element.tag == _ROW:
                    row = int(element.get("r") or row + 1)
                    if element.get("hidden") in ("1", "true"):
                        marks.rows.add(row)
            elif element.tag == _CELL:
                if element.find(_FORMULA) is not None or element.get("t") == "inlineStr":
                    _look(element, marks)
            elif element.tag == _ROW:
                element.clear()
            elif tag(element) in _HEADS:
                marks.heads += bool((element.text or "").strip())
            elif element.tag == _COLUMN and element.get("hidden") in ("1", "true"):
                marks.columns.append((int(element.get("min") or 0), int(element.get("max") or 0)))
            elif element.tag == _MERGED and (place := _RANGE.fullmatch(element.get("ref") or "")) and place[3]:
                marks.merged[int(place[2])].append((_column(place[1]), int(place[4]), _column(place[3])))
            elif tag(element) == "autoFilter":
                _note_head(element, marks)
    for kind, data in _related(sheet):
        if kind == "table" and (table := ElementTree.fromstring(data)).get("headerRowCount") != "0":
            _note_head(table, marks)
    return marks


def _note_head(element: Element, marks: _Marks) -> None:
    """Record the header row of a filter or a table."""
    if (place := _RANGE.fullmatch(element.get("ref") or "")) and place[3]:
        last = min(_column(place[3]), _column(place[1]) + _MAX_SPAN)
        marks.named.update((int(place[2]), column) for column in range(_column(place[1]), last + 1))


def _related(sheet: Any) -> Iterator[tuple[str, bytes]]:
    """Yield the kind and the contents of each part of the file attached to a sheet."""
    archive, path = sheet.parent._archive, sheet._worksheet_path
    folder, name = posixpath.split(path)
    relations = f"{folder}/_rels/{name}.rels"
    for relation in ElementTree.fromstring(archive.read(relations)) if relations in archive.NameToInfo else ():
        target = relation.get("Target") or ""
        place = target[1:] if target.startswith("/") else posixpath.normpath(posixpath.join(folder, target))
        if relation.get("TargetMode") != "External" and place in archive.NameToInfo:
            yield (relation.get("Type") or "").rpartition("/")[2], archive.read(place)


def _beside(sheet: Any, left_out: Counter[str]) -> Iterator[Block]:
    """Yield the text boxes of a sheet; notes and comments on cells are counted."""
    for kind, data in _related(sheet):
        if kind in _PARTS:
            left_out[_PARTS[kind]] += 1
        elif kind in ("comments", "drawing"):
            root = ElementTree.fromstring(data)
            if kind == "comments":
                left_out["comment"] += sum(tag(element) == "comment" for element in root.iter())
            else:
                left_out["chart"] += sum(tag(element) == "chart" for element in root.iter())
                yield from (["text", text] for text in _boxes(root) if text)


def _boxes(drawing: Element) -> Iterator[str]:
    """Yield the text of each box of a drawing."""
    for body in drawing.iter():
        if tag(body) == "txBody":
            paragraphs = (run_text(part) for part in body if tag(part) == "p")
            yield "\n".join(text for text in paragraphs if text.strip())


def _look(cell: Element, marks: _Marks) -> None:
    """Record a cell whose formula has no stored value, or whose text consists of several formatted parts."""
    named = _RANGE.fullmatch(cell.get("r") or "")
    if named is None:
        return
    place = int(named[2]), _column(named[1])
    if cell.find(_FORMULA) is not None:
        match cell.findtext(_VALUE):
            case None | "":
                marks.unknown.add(place)
            case "0":
                marks.zero.add(place)
            case _:
                marks.known += 1
    inline = cell.find(_INLINE)
    if inline is not None and any(tag(part) == "r" for part in inline):
        line = Inline()
        for run in (part for part in inline if tag(part) == "r"):
            position = next((value(e, "val") for e in run.iter() if tag(e) == "vertAlign"), "")
            line.signed(_SIGNS.get(position, ""), unescape(run_text(run)))
        marks.texts[place] = line.take()


def _column(letters: str) -> int:
    number = 0
    for letter in letters:
        number = 26 * number + ord(letter) - 64
    return number


def _blocks(sheet: Any, formulas: Any, marks: _Marks, counts: _Counts) -> Iterator[Block]:
    """Yield a table for each run of rows between empty ones, under its own caption or the sheet's name.

    Single cells become text.
    """
    areas = [list(area_blocks(rows)) for rows in _row_runs(sheet, formulas, marks, counts)]
    if any(block[0] == "text" for area in areas for block in area):
        yield ["heading", 1, sheet.title]
    for area in areas:
        if area[0][0] == "table" and not area[0][1] and not _PLAIN_SHEET.fullmatch(sheet.title):
            yield ["caption", sheet.title]
        yield from area


def _row_runs(sheet: Any, formulas: Any, marks: _Marks, counts: _Counts) -> Iterator[Laid]:
    sheet.reset_dimensions()  # the stored size of the sheet may be wrong
    if formulas is not None:
        formulas.reset_dimensions()
    others = repeat(()) if formulas is None else formulas.iter_rows(values_only=True)
    rows = (_values(row, marks, counts) for row in sheet.iter_rows())
    covered: Covered = {}
    block: Laid = []
    hidden_columns: set[int] = set()
    for number, (values, formula_values) in enumerate(zip(rows, others, strict=False), 1):
        counts.cells -= max(len(values), *covered, 0) + 1
        if counts.cells < 0:
            raise BadInput(f"holds more than {_MAX_CELLS:,} cells; split it, or save its sheets as CSV")
        if not values and not covered and number not in marks.merged:
            row: Row = []
        else:
            row = _row(number, values, formula_values, marks, covered)
        if number in marks.rows:
            counts.left_out["hidden row"] += any(cell is not None and cell.text for cell in row)
            continue
        for column in (c for first, last in marks.columns for c in range(first, min(last, len(row)) + 1)):
            if (hidden := row[column - 1]) is not None and hidden.text:
                hidden_columns.add(column)
            row[column - 1] = None
        if any(cell is not None and cell.text and cell.down == number for cell in row):
            block.append(row)
        elif block and not any(cell is not None and cell.text for cell in row):
            yield block
            block = []
    counts.left_out["hidden column"] += len(hidden_columns)
    if block:
        yield block


def _values(row: Sequence[Any], marks: _Marks, counts: _Counts) -> list[object]:
    """Return the values of a row as shown, without struck text; records the bold cells in `marks`."""
    marks.bold.clear()
    values: list[object] = []
    for column, cell in enumerate(row, 1):
        content = cell.value
        if isinstance(content, list):
            parts = [part for part in content if not getattr(getattr(part, "font", None), "strike", False)]
            counts.left_out["deleted piece"] += len(parts) < len(content)
            content = parts
        elif content is not None and cell.font.strike:
            counts.left_out["deleted piece"] += 1
            content = None
        elif isinstance(content, str) and cell.font.b:
            marks.bold.add(column)
        values.append(None if content is None else shown(content, cell.number_format or ""))
    return values


def _row(
    number: int, values: Sequence[object], formula_values: Sequence[object], marks: _Marks, covered: Covered
) -> Row:
    """Return the cells of a row, where `down` is the row in which a cell begins."""
    row: Row = []
    for column, cell in enumerate(values, 1):
        place = number, column
        if place in marks.unknown and column <= len(formula_values):
            cell = getattr(
                formula_values[column - 1], "text", formula_values[column - 1]
            )  # a formula for several cells
        row.append(
            Cell(marks.texts.get(place) or _text(cell), down=number, head=column in marks.bold or place in marks.named)
        )
    for first, last_row, last in marks.merged.get(number, ()):
        owner = row[first - 1] if first <= len(row) else None
        if owner is not None and owner.text:
            covered.update(dict.fromkeys(range(first, min(last, first + _MAX_SPAN) + 1), (owner, last_row)))
    for column in [column for column, (_, last_row) in covered.items() if last_row < number]:
        del covered[column]
    for column, (owner, _) in covered.items():
        row.extend([None] * (column - len(row)))
        row[column - 1] = owner
    return row


def area_blocks(rows: Laid) -> Iterator[Block]:
    """Yield a run of rows as a table; a lone cell in the first rows is a caption, and single cells are text.

    A lone cell in the second of two columns is a header, since the first column, of names, often has none.
    """
    filled = [i for row in rows for i, cell in enumerate(row) if cell is not None and cell.text]
    used = sorted(set(filled))
    if not used:
        return
    hollow = {i for i in range(used[0], used[-1]) if all(i >= len(r) or r[i] is None for r in rows)}  # hidden ones
    columns = [i for i in range(used[0], used[-1] + 1) if i not in hollow]
    cells = [[row[i] if i < len(row) else None for i in columns] for row in rows]
    while len(cells) > 2 and len(columns) > 1 and len(own := _own(cells[0])) == 1:
        if len(columns) == 2 and own[0] is not cells[0][0]:
            break
        yield ["caption", " ".join(own[0].text.split())]
        cells.pop(0)
    if len(cells) > 1 and len(columns) > 1:
        yield from table_blocks(cells, usual=True)
    else:
        for row in cells:
            yield ["text", " ".join(cell.text for cell in _own(row))]


def _own(row: Sequence[Cell | None]) -> list[Cell]:
    """Return the cells of a row that have text, each once."""
    return list({id(cell): cell for cell in row if cell is not None and cell.text}.values())


def unescape(text: str) -> str:
    """Return text with the escaped characters of workbooks, "_x000D_", decoded (section 22.9.2.19 of the standard)."""
    return _ESCAPED.sub(lambda match: chr(int(match[1], 16)), text) if "_x" in text else text


def _text(content: object) -> str:
    if content is None:
        return ""
    if isinstance(content, bool):
        return "TRUE" if content else "FALSE"
    if isinstance(content, float):
        return f"{content:.15g}"
    if isinstance(content, dt.datetime):
        return content.date().isoformat() if content.time() == dt.time() else content.isoformat(" ", "seconds")
    if isinstance(content, dt.date | dt.time):
        return content.isoformat()
    if isinstance(content, list):  # text in several formats
        line = Inline()
        for part in content:
            position = getattr(getattr(part, "font", None), "vertAlign", None)
            line.signed(_SIGNS.get(position or "", ""), unescape(str(getattr(part, "text", part))))
        return line.take().strip()
    return unescape(str(content)).strip()
