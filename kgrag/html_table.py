"""A table as HTML, as notebooks show it: every cell is escaped, and names nothing from elsewhere."""

from collections.abc import Iterable
from html import escape


def html_table(head: Iterable[str], rows: Iterable[Iterable[str]], notes: Iterable[str] = ()) -> str:
    """A table of texts under their names, with a line for each note below it."""
    lines = [_line(head, "th"), *(_line(row, "td") for row in rows)]
    below = "".join(f"<p>{escape(note)}</p>" for note in notes)
    return f"<table>{''.join(lines)}</table>{below}"


def _line(cells: Iterable[str], tag: str) -> str:
    return f"<tr>{''.join(f'<{tag} style=text-align:left>{escape(cell)}</{tag}>' for cell in cells)}</tr>"
