"""OpenDocument texts (ODT): headings, paragraphs, lists and tables, by odfdo."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

from kgrag.loaders.apart import Content, check_archive, content, needs, read_apart
from kgrag.loaders.base import BadInput, Format, one_line
from kgrag.loaders.outline import Outline, table_text

_CONTAINERS = ("text:section", "text:index-body", "text:text-content", "text:user-index", "text:list-header")
_MAX_DEPTH = 50  # of lists in lists


def read_odt(path: Path) -> Content:
    """A text with its title, author and date. Raises BadInput."""
    if "content.xml" not in check_archive(path):
        raise BadInput("is a ZIP archive, but no OpenDocument text; unpack it")
    needs("odfdo", "an OpenDocument text", "odfdo", "office")
    from odfdo import Document

    try:
        document = Document(str(path))
        if document.get_type() not in ("text", "text-template"):
            raise BadInput(f"is an OpenDocument {document.get_type()}, of which only texts are read; save it as PDF")
        outline = Outline()
        _add(outline, document.body)
        meta = document.meta
        found = {
            "author": meta.creator or meta.initial_creator or "",
            "date": str(meta.creation_date or meta.date or "")[:10],
        }
        return content(outline, one_line(meta.title or ""), found)
    except (BadInput, MemoryError, RecursionError):
        raise
    except Exception as error:
        reason = " ".join(str(error).split())[:200] or type(error).__name__
        raise BadInput(f"is an OpenDocument text that is damaged ({reason})") from error


def _add(outline: Outline, parent: Any) -> None:
    for element in parent.children:
        if element.tag == "text:h":
            outline.heading(min(6, int(element.get_attribute_string("text:outline-level") or 1)), _text(element))
        elif element.tag == "text:p":
            outline.add(_text(element))
        elif element.tag == "text:list":
            for number, (depth, text) in enumerate(_items(element, 0)):
                outline.add(f"{'  ' * depth}- {text}", tight=number > 0)
        elif element.tag == "table:table":
            outline.add(table_text([[_text(cell) for cell in row] for row in _rows(element)]))
        elif element.tag in _CONTAINERS:
            _add(outline, element)


def _items(element: Any, depth: int) -> Iterator[tuple[int, str]]:
    """(depth, text) of the items of a list and of the lists in it."""
    for item in element.children:
        own = [_text(part) for part in item.children if part.tag in ("text:p", "text:h")]
        if any(own):
            yield depth, " ".join(filter(None, own))
        if depth < _MAX_DEPTH:
            for part in item.children:
                if part.tag == "text:list":
                    yield from _items(part, depth + 1)


def _rows(table: Any) -> Iterator[list[Any]]:
    """The cells of each row that is there; those that stand for many equal ones (repeated) count once."""
    for row in table.get_elements("descendant::table:table-row"):
        yield [cell for cell in row.children if cell.tag == "table:table-cell"]


def _text(element: Any) -> str:
    """The text of an element with all that stands in it, as it is read: not the styles, nor the notes."""
    return one_line(element.inner_text)


ODT = Format("OpenDocument text", (".odt",), read_apart("kgrag.loaders.opendocument:read_odt"), untrusted=True)
