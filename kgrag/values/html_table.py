"""A table as HTML, as notebooks show it: every cell is escaped, and loads nothing from elsewhere."""

from collections.abc import Iterable
from html import escape

_LONGEST = 300


def html_table(head: Iterable[str], rows: Iterable[Iterable[str]], notes: Iterable[str] = ()) -> str:
    """Return an HTML table of texts under their names, long ones cut to 300 characters, with notes below."""
    lines = [_line(head, "th"), *(_line(row, "td") for row in rows)]
    return f"<table>{''.join(lines)}</table>{paragraphs(notes)}"


def paragraphs(texts: Iterable[str]) -> str:
    """Return an HTML paragraph for each text."""
    return "".join(f"<p>{escape(text)}</p>" for text in texts)


def _line(cells: Iterable[str], tag: str) -> str:
    return f"<tr>{''.join(f'<{tag} style=text-align:left>{escape(_cut(cell))}</{tag}>' for cell in cells)}</tr>"


def _cut(text: str) -> str:
    if len(text) <= _LONGEST:
        return text
    words = text[:_LONGEST].rpartition(" ")[0]
    return f"{words or text[:_LONGEST]} …"
