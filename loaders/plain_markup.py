"""AsciiDoc, Org and notebooks: converted to Markdown, whose reader knows headings, lists, code and tables."""

import csv
import json
import re
from collections import Counter
from collections.abc import Iterator, Sequence
from itertools import zip_longest
from typing import Any

from kgrag.loaders.base import BadInput, Source, clean, one_line, read_text
from kgrag.loaders.front_matter import split_front_matter
from kgrag.loaders.markdown import markdown_document
from kgrag.loaders.reading import Format, single_document
from kgrag.values.documents import Document

_FENCE = "~~~~~~~~"  # longer than any fence in code
_MOST_COLUMNS = 100
_LONGEST_VALUE = 200  # characters; nested references to longer values could expand a small file to a huge text
_LONGEST_MACRO = 2000  # characters
_ADOC_BLOCKS = re.compile(r"(-{2}|-{4,}|\.{4,}|={4,}|_{4,}|\*{4,}|\+{4,}|/{4,}|```\w*)\s*")
_ADOC_HEADING = re.compile(r"(={1,6})\s+(\S.*)")
_ADOC_ITEM = re.compile(r"\s*(\*{1,5}|-|\.{1,5})\s+(\S.*)")
_ADOC_TERM = re.compile(r"(\S.*?):{2,4}(?:\s+(.*))?")
_ADOC_CONDITION = re.compile(r"(?:ifn?def|ifeval|endif)::")
_ADOC_ATTRIBUTE = re.compile(r":!?([\w-]+)!?:(?:\s+(.*))?")
_ADOC_NAME = re.compile(r"(?<!\\)\{([\w-]+)\}")
_ADOC_OPEN = re.compile(r"(?:(?:link|xref|footnote):\S*|https?://\S+)\[[^\]]*$")
"""A macro that continues on the next line."""
_ADOC_FOOTNOTE = re.compile(r"footnote:([\w-]*)\[([^\]]*)\]")
_ADOC_COLUMNS = re.compile(r"\bcols=(?:\"([^\"]*)\"|([^\s,\]]+))")
_ADOC_CELL = re.compile(r"(?:(?:^|(?<=\s))(?:(\d{0,3})(?:\.\d+)?([+*]))?[<^>.]*([a-z])?)?(?<!\\)\|", re.MULTILINE)
_ADOC_FORMAT = re.compile(r"\bformat=\"?(csv|tsv|dsv)")
_ADOC_KINDS = {"loweralpha": "a", "upperalpha": "A", "lowerroman": "i", "upperroman": "I"}
_ADOC_STRUCK = re.compile(r"\[[.\s]*line-through\]#(.+?)#")
_ADOC_LINES = re.compile(r"\[.*\]\s*|'''|<<<|\+|include::.*|toc::.*")
_ADOC_LINK = re.compile(r"(?:(?:link|mailto|xref):)([^\s\[]+)\[([^\]]*)\]|(https?://[^\s\[]+)\[([^\]]*)\]")
_ADOC_REFERENCE = re.compile(r"<<([^,>]+)(?:,\s*([^>]+))?>>")
_ADOC_IMAGE = re.compile(r"image::?[^\s\[]*\[([^\],]*)[^\]]*\]")
_STRONG = re.compile(r"(?<![\w*])\*(?=[^\s*])(.+?)(?<=[^\s*])\*(?![\w*])")
_ORG_HEADING = re.compile(r"(\*+)\s+(?:(TODO|DONE|NEXT|WAITING)\s+)?(?:\[(#[A-Z])\]\s+)?(.*?)(?:\s+(:[\w@#%:]+:))?\s*")
_ORG_LINK = re.compile(r"\[\[([^\]]+)\](?:\[([^\]]*)\])?\]")
_ORG_SIGNS = re.compile(r"(?<![\w/=~+])([/=~+_])(?=[^\s/=~+_])(.+?)(?<=[^\s/=~+_])\1(?![\w/=~+])")
_ORG_RULE = re.compile(r"\|[-+|]+\|?\s*")


def load_asciidoc(source: Source) -> Document:
    """Read an AsciiDoc file as a document, titled by its first heading. Raises BadInput."""
    lines = [line for line in clean(read_text(source)).split("\n") if not _ADOC_CONDITION.match(line)]
    left_out: Counter[str] = Counter()
    return markdown_document(source, "\n".join(_asciidoc(lines, left_out)), left_out=left_out)


def _asciidoc(lines: list[str], left_out: Counter[str]) -> Iterator[str]:
    fence = ""  # the line that closes the open block
    table: list[str] | None = None
    sign = "|"  # the first character of the lines around the table
    style = ""  # the last line in brackets, which describes the next block
    values: dict[str, str] = {}
    notes: dict[str, str] = {}  # label -> text

    def note(match: re.Match[str]) -> str:
        label = match[1] or str(len(notes) + 1)
        notes[label] = match[2] or notes.get(label, "")
        return f"[^{label}]"

    place = 0
    while place < len(lines):
        line = lines[place]
        place += 1
        if not fence:
            while len(line) < _LONGEST_MACRO and _ADOC_OPEN.search(line) and "".join(lines[place : place + 1]).strip():
                line = f"{line} {lines[place].strip()}"
                place += 1
            line = _ADOC_NAME.sub(lambda match: values.get(match[1].lower(), match[0]), line)
            line = _ADOC_FOOTNOTE.sub(note, line)
        if fence:
            if line.rstrip() == fence:
                if not fence.startswith("/"):
                    yield _FENCE
                fence = ""
            elif not fence.startswith("/"):
                yield line
        elif table is not None:
            if line.startswith(f"{sign}==="):
                yield from _cells(table, style, sign)
                table, style = None, ""
            elif not line.startswith("//"):
                table.append(line)
            else:
                left_out["comment line"] += 1
        elif re.match(r"[|,:!]={3,}\s*$", line):
            table, sign = [], line[0]
        elif line.rstrip() == "--" and not style.startswith(("[source", "[listing")):
            yield ""
        elif block := _ADOC_BLOCKS.fullmatch(line):
            if line[0] in "-.+/`":
                style = ""
                fence = "```" if line.startswith("```") else block[1]
                left_out["comment line"] += fence.startswith("/")
                if not fence.startswith("/"):
                    yield f"\n{_FENCE}"
            else:
                yield ""
        elif attribute := _ADOC_ATTRIBUTE.fullmatch(line):
            values[attribute[1].lower()] = (attribute[2] or "")[:_LONGEST_VALUE]
            yield ""
        elif line.startswith("//") or _ADOC_LINES.fullmatch(line):
            left_out["comment line"] += line.startswith("//") and bool(line.strip("/ "))
            left_out["embedded part"] += line.startswith("include::")
            style = line if line.startswith("[") else style
            named = re.match(r"\[(?:(?:quote|verse),\s*(.+)|(NOTE|TIP|IMPORTANT|WARNING|CAUTION))\]", line)
            yield f"\n{named[1] or named[2].capitalize() + ':'}\n" if named else ""
        elif heading := _ADOC_HEADING.fullmatch(line):
            yield f"\n{'#' * len(heading[1])} {_adoc_inline(heading[2])}\n"
        elif re.fullmatch(r"\.[^\s.].*", line):
            yield f"\n{_adoc_inline(line[1:])}\n"
        elif item := _ADOC_ITEM.fullmatch(line):
            mark = "1." if item[1].startswith(".") else "-"
            if mark == "1." and (options := _list_options(style)):
                yield options
            style = ""
            yield f"{'   ' * (len(item[1]) - 1)}{mark} {_adoc_inline(item[2])}"
        elif term := _ADOC_TERM.fullmatch(line):
            yield f"\n{_adoc_inline(term[1])}\n\n{_adoc_inline(term[2] or '')}"
        else:
            style = "" if line.strip() else style
            yield _adoc_inline(line)
    if table:
        yield from _cells(table, style, sign)
    for label, text in notes.items():
        yield f"\n[^{label}]: {_adoc_inline(text)}"


def _list_options(style: str) -> str:
    """Return the start, kind and order of a list as a Markdown attribute line; "" for the default."""
    start = re.search(r"\bstart=\"?(\d{1,9})", style)
    parts = [f'start="{start[1]}"'] if start else []
    parts += [f'type="{kind}"' for name, kind in _ADOC_KINDS.items() if name in style]
    parts += ["reversed=1"] if "%reversed" in style or "options=reversed" in style else []
    return f"\n{{: {' '.join(parts)}}}" if parts else ""


def _cells(lines: list[str], style: str, sign: str) -> Iterator[str]:
    """Yield the text before the first cell, and the rows of a table as Markdown.

    Cells begin with "|". A row has as many cells as there are columns, else as the first line. A cell may span columns,
    "2+|", or be repeated, "2*|". In tables with commas, tabs or colons each line is a row.
    """
    named = _ADOC_FORMAT.search(style)
    own = re.search(r"\bseparator=\"?([^\s\"\],])", style)
    separator = own[1] if own else {"csv": ",", "tsv": "\t", "dsv": ":"}[named[1]] if named else sign
    blank = len(lines) > 1 and bool(lines[0].strip()) and not lines[1].strip()
    headed = "noheader" not in style and ("header" in style or blank)
    columns = _ADOC_COLUMNS.search(style)
    labels = [column.strip().endswith("h") for column in re.split("[,;]", columns[1] or columns[2])] if columns else []
    if named or sign in ",:":
        rows = csv.reader(filter(str.strip, lines), delimiter=separator, skipinitialspace=True)
        yield from _table([[_adoc_inline(one_line(cell)) for cell in row] for row in rows], labels, headed=headed)
        return
    text = "\n".join(lines).replace(separator, "|")
    starts = list(_ADOC_CELL.finditer(text))
    ends = [match.start() for match in starts] + [len(text)]
    yield f"\n{_adoc_inline(one_line(text[: ends[0]]))}\n"
    cells: list[str] = []
    width = _columns(columns[1] or columns[2]) if columns else 0
    for start, end in zip(starts, ends[1:], strict=True):
        cell = _adoc_inline(one_line(text[start.end() : end]))
        cell = f"**{cell.strip('*')}**" if start[3] == "h" and cell else cell
        cells += [cell] * (min(int(start[1] or 1), _MOST_COLUMNS) if start[2] else 1)
        if not width and "\n" in text[start.end() : end]:
            width = len(cells)
    width = width or len(cells) or 1
    rows_of_cells = [cells[start : start + width] for start in range(0, len(cells), width)]
    yield from _table(rows_of_cells, labels, headed=headed)


def _columns(text: str) -> int:
    """Return the number of columns in a specification such as "1,2*,a"."""
    counts = (re.match(r"\s*(\d{1,3})\*", column) for column in re.split("[,;]", text))
    return sum(int(count[1]) if count else 1 for count in counts)


def _table(rows: list[list[str]], labels: Sequence[bool] = (), *, headed: bool) -> Iterator[str]:
    """Yield a table in Markdown, its header empty if it has none; `labels` marks the columns of row headers."""
    width = max(map(len, rows), default=0)
    yield ""
    for number, row in enumerate(rows if headed else [[""] * width, *rows] if rows else []):
        bold = [number > 0 and label and bool(cell) for cell, label in zip_longest(row, labels[: len(row)])]
        yield f"| {' | '.join(f'**{cell}**' if mark else cell for cell, mark in zip(row, bold, strict=True))} |"
        if number == 0:
            yield f"|{' --- |' * width}"
    yield ""


def _adoc_inline(text: str) -> str:
    text = _ADOC_IMAGE.sub(lambda match: match[1], text)
    text = _ADOC_LINK.sub(lambda match: match[2] or match[4] or match[1] or match[3], text)
    text = _ADOC_REFERENCE.sub(lambda match: match[2] or match[1], text)
    text = _ADOC_STRUCK.sub(r"~~\1~~", text)
    return _STRONG.sub(r"**\1**", text.removesuffix(" +"))


def load_org(source: Source) -> Document:
    """Read an Org file as a document, titled by its #+TITLE or its first heading. Raises BadInput."""
    text = clean(read_text(source))
    named = re.search(r"^#\+title:\s*(.+)$", text, re.IGNORECASE | re.MULTILINE)
    left_out: Counter[str] = Counter()
    lines = "\n".join(_org(text.split("\n"), left_out))
    return markdown_document(source, lines, one_line(named[1]) if named else "", left_out=left_out)


def _org(lines: list[str], left_out: Counter[str]) -> Iterator[str]:
    fence = drawer = ""
    table: list[list[str]] = []
    headed = False
    for line in [*lines, ""]:
        bare = line.strip()
        if table and not bare.startswith("|"):
            yield from _table(table, headed=headed)
            table, headed = [], False
        if fence:
            if bare.lower() == fence:
                if fence != "#+end_comment":
                    yield _FENCE
                fence = ""
            elif fence != "#+end_comment":
                yield line
        elif drawer:
            left_out["drawer line"] += bare.upper() != ":END:"
            drawer = "" if bare.upper() == ":END:" else drawer
        elif begin := re.fullmatch(r"#\+begin_(src|example|export|comment)\b.*", bare, re.IGNORECASE):
            fence = f"#+end_{begin[1].lower()}"
            left_out["comment line"] += fence == "#+end_comment"
            if fence != "#+end_comment":
                yield f"\n{_FENCE}"
        elif re.fullmatch(r":[A-Za-z_-]+:", bare):
            drawer = bare
        elif bare.startswith(("#+", "# ")):
            caption = re.match(r"#\+(?:caption|author|date|subtitle|description):\s*(.+)", bare, re.IGNORECASE)
            left_out["comment line"] += bare.startswith("# ")
            yield f"\n{caption[1]}\n" if caption else ""
        elif re.match(r"(?:SCHEDULED|DEADLINE|CLOSED):", bare):
            yield f"\n{re.sub(r'[<>]', '', bare)}\n"
        elif heading := _ORG_HEADING.fullmatch(line):
            yield f"\n{'#' * min(6, len(heading[1]))} {_org_inline(heading[4])}\n"
            yield ", ".join(filter(None, (heading[2], heading[3], (heading[5] or "").strip(":").replace(":", ", "))))
        elif bare.startswith("|"):
            if _ORG_RULE.fullmatch(bare):
                headed = headed or len(table) == 1
            else:
                table.append([_org_inline(cell.strip()) for cell in bare.strip("|").split("|")])
        else:
            item = re.fullmatch(r"(\s*)(?:[-+]|\d+[.)])\s+(\[[ X-]\]\s+)?(?:(.*?)\s+::\s+)?(.*)", line)
            yield _org_item(line, item) if item else _org_inline(line)


def _org_item(line: str, item: re.Match[str]) -> str:
    mark = re.match(r"\s*(\d+[.)]|.)", line)
    text = f"{item[3]}: {item[4]}" if item[3] else item[4]
    counter = re.match(r"\[@(\d{1,9})\]\s*", text)
    if counter and mark and mark[1][0].isdigit():
        return f"{item[1]}{counter[1]}. {_org_inline(text[counter.end() :])}"
    task = (item[2] or "").replace("X", "x").replace("[-]", "[ ]")
    return f"{item[1]}{mark[1].replace('+', '-') if mark else '-'} {task}{_org_inline(text)}"


def _org_inline(text: str) -> str:
    text = _ORG_LINK.sub(lambda match: match[2] or match[1].removeprefix("file:"), text)
    text = _ORG_SIGNS.sub(
        lambda match: f"`{match[2]}`" if match[1] in "=~" else f"~~{match[2]}~~" if match[1] == "+" else match[2], text
    )
    return _STRONG.sub(r"**\1**", text)


def load_notebook(source: Source) -> Document:
    """Read a Jupyter notebook (nbformat 4, and 3): its texts and code, with a count of outputs. Raises BadInput."""
    try:
        book = json.loads(read_text(source))
    except (ValueError, RecursionError) as error:
        raise BadInput(f"is no notebook: {one_line(str(error))[:200]}") from error
    if not isinstance(book, dict):
        raise BadInput("is no notebook: it holds no cells")
    cells = book.get("cells") or [c for sheet in book.get("worksheets") or () for c in sheet.get("cells") or ()]
    parts: list[str] = []
    metadata: dict[str, Any] = {}
    for cell in cells if isinstance(cells, list) else ():
        if not isinstance(cell, dict):
            continue
        content = cell.get("source", cell.get("input", ""))
        text = clean("".join(map(str, content)) if isinstance(content, list) else str(content or ""))
        kind = cell.get("cell_type")
        source.left_out["output of code"] += bool(cell.get("outputs"))
        if kind == "heading":
            level = cell.get("level")
            text = f"{'#' * (level if isinstance(level, int) and 0 < level < 7 else 1)} {text}"
        elif kind == "raw" and not parts:  # front matter, as Quarto and Jupytext write it
            metadata, text = split_front_matter(text)
        literal = kind in ("code", "raw") and text.strip()
        parts.append(f"{_FENCE}\n{text}\n{_FENCE}" if literal else text)
    return markdown_document(source, "\n\n".join(parts), metadata=metadata)


ASCIIDOC = Format("AsciiDoc file", (".adoc", ".asciidoc"), single_document(load_asciidoc), version=3)
ORG = Format("Org file", (".org",), single_document(load_org), version=2)
NOTEBOOK = Format("notebook", (".ipynb",), single_document(load_notebook), version=3)
