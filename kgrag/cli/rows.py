"""What a Cypher statement gave back, for a terminal and for CSV: nodes by their names, paths as one line."""

import csv
import json
import sys
from typing import Any

from kgrag.cli.console import note, number, print_table, visible
from kgrag.rows import Edge, Node, Path, Rows

_LONGEST = 200  # characters of a cell


def print_outcome(rows: Rows, *, as_csv: bool, raw: bool = False) -> None:
    """Print rows on standard output, and on standard error how many there are and how long they took.

    `raw`: texts that a spreadsheet takes for formulas stay as they are in CSV.
    """
    if as_csv:
        _print_csv(rows, raw)
    else:
        _print_rows(rows)
    note(f"{number(len(rows), 'row') if len(rows) else 'No rows'} in {rows.seconds * 1000:.0f} ms")
    if rows.cut:
        note(f"Not all of them: {rows.cut}")


def _print_csv(rows: Rows, raw: bool) -> None:
    """A head and a line a row; lists and maps are JSON, and what is not there is empty."""
    seen = visible if sys.stdout.isatty() else str
    writer = csv.writer(sys.stdout, lineterminator="\n")
    for row in (rows.columns, *rows.values):
        writer.writerow(
            [seen(_cell(value) if raw or _is_number(value) else _no_formula(_cell(value))) for value in row]
        )


def _no_formula(text: str) -> str:
    """The text, after a ' if a spreadsheet would take it for a formula."""
    return f"'{text}" if text.startswith(("=", "+", "-", "@", "\t", "\r")) else text


def _print_rows(rows: Rows) -> None:
    """A table; long texts are cut short. Nothing where there are no rows."""
    if not len(rows):
        return
    words = {column for i, column in enumerate(rows.columns) if not all(_is_number(row[i]) for row in rows.values)}
    print_table(rows.columns, ([_short(_cell(value)) for value in row] for row in rows.values), left=words)


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)


def _cell(value: Any) -> str:
    if value is None:
        return ""
    if isinstance(value, Node | Edge | Path):
        return _drawn(value)
    if isinstance(value, list | tuple):
        if all(isinstance(item, Node | Edge | Path) for item in value) and value:
            return ", ".join(map(_drawn, value))
        if all(isinstance(item, str) for item in value):
            return "; ".join(value)
    if isinstance(value, list | tuple | dict):
        return json.dumps(value, ensure_ascii=False, default=_drawn)
    return str(value)


def _drawn(value: Any) -> str:
    """A node, an edge or a path as Cypher would draw it: (Fram)<-[:MENTIONS]-(Tromsø)."""
    if isinstance(value, Node):
        return f"({value.properties.get('name') or ':'.join(value.labels)})"
    if isinstance(value, Edge):
        return f"-[:{value.type}]->"
    if not isinstance(value, Path):
        return str(value)
    text = _drawn(value.nodes[0])
    for before, edge, after in zip(value.nodes, value.edges, value.nodes[1:], strict=False):
        forward = edge.start == before.element
        text += f"-[:{edge.type}]->" if forward else f"<-[:{edge.type}]-"
        text += _drawn(after)
    return text


def _short(text: str) -> str:
    text = " ".join(text.split())
    return text if len(text) <= _LONGEST else f"{text[: _LONGEST - 1]}…"
