"""What a Cypher statement gave back, for a terminal, for CSV and for JSON: nodes by their names, paths as one line."""

import csv
import json
import sys
from typing import Any

from kgrag.cli.console import stdout_console
from kgrag.rows import Edge, Node, Path, Rows

_LONGEST = 200  # characters of a cell
_WIDTH = 200  # characters of a line where there is no terminal


def as_json(rows: Rows) -> dict[str, Any]:
    """The columns, a map a row, and whether any are missing."""
    return {"columns": rows.columns, "rows": list(rows), "cut": rows.cut, "seconds": round(rows.seconds, 4)}


def print_csv(rows: Rows) -> None:
    """A head and a line a row; lists and maps are JSON, and what is not there is empty."""
    writer = csv.writer(sys.stdout, lineterminator="\n")
    writer.writerow(rows.columns)
    writer.writerows([_cell(value) for value in row] for row in rows.values)


def print_table(rows: Rows) -> None:
    """A table; long texts are cut short. Nothing where there are no rows."""
    if not len(rows):
        return
    from rich.table import Table
    from rich.text import Text

    console = stdout_console()
    if not console.is_terminal:
        console.width = max(console.width, _WIDTH)
    table = Table(box=None, pad_edge=False, header_style="bold", padding=(0, 2, 0, 0))
    for i, column in enumerate(rows.columns):
        numbers = all(isinstance(row[i], int | float) and not isinstance(row[i], bool) for row in rows.values)
        table.add_column(column, justify="right" if numbers else "left", no_wrap=numbers)
    for row in rows.values:
        table.add_row(*(Text(_short(_cell(value))) for value in row))
    console.print(table)


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
