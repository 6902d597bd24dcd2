"""What a Cypher statement gave back, for a terminal and for CSV: nodes by their names, paths as one line."""

import csv
import sys
from typing import Any

from kgrag.cli.console import note, number, print_table, visible
from kgrag.values.rows import Rows, cell

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
    for line in rows.notes:
        note(line)


def _print_csv(rows: Rows, raw: bool) -> None:
    """Print a header and a line a row; lists and maps are JSON, and missing values empty."""
    seen = visible if sys.stdout.isatty() else str
    writer = csv.writer(sys.stdout, lineterminator="\n")
    for row in (rows.columns, *rows.values):
        writer.writerow([seen(cell(value) if raw or _is_number(value) else _no_formula(cell(value))) for value in row])


def _no_formula(text: str) -> str:
    """Return the text, after a ' if a spreadsheet would read it as a formula."""
    return f"'{text}" if text.startswith(("=", "+", "-", "@", "\t", "\r")) else text


def _print_rows(rows: Rows) -> None:
    """Print a table with long texts cut short; nothing without rows."""
    if not len(rows):
        return
    words = {column for i, column in enumerate(rows.columns) if not all(_is_number(row[i]) for row in rows.values)}
    print_table(rows.columns, ([_short(cell(value)) for value in row] for row in rows.values), left=words)


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)


def _short(text: str) -> str:
    text = " ".join(text.split())
    return text if len(text) <= _LONGEST else f"{text[: _LONGEST - 1]}…"
