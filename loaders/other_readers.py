"""Third-party readers, Docling and MarkItDown, chosen with `--reader`; each runs in its own process."""

from collections.abc import Iterator
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from kgrag.loaders.base import BadInput, Item, Source, clean, one_line
from kgrag.loaders.markdown import read_into
from kgrag.loaders.outline import Outline, PagedOutline
from kgrag.loaders.reading import Format, Reading
from kgrag.loaders.worker_formats import Content, check_archive, content, read_apart
from kgrag.text.letters import word_lists
from kgrag.values.documents import Document

_ARCHIVES = (".docx", ".pptx", ".xlsx", ".epub")
_LISTS = word_lists("kgrag.loaders")
_TEXTS = _LISTS["texts"]
"""Docling's labels of items that are part of the document, unlike running heads and feet."""


def docling(path: Path) -> dict[str, Any]:
    """Read a file with Docling: `blocks` in reading order, and the number of `pages`.

    A block is [kind, level, text or rows, caption, page]; kinds are "heading", "text", "item" and "table".

    Raises BadInput.
    """
    _check(path, "docling", "docling")
    from docling.document_converter import DocumentConverter

    document: Any = DocumentConverter().convert(path).document
    blocks: list[list[Any]] = []
    for item, _ in document.iterate_items():
        page = item.prov[0].page_no if getattr(item, "prov", None) else 0
        label, text = str(item.label.value), getattr(item, "text", "")
        if label == "table":
            rows = [[cell.text for cell in row] for row in item.data.grid]
            blocks.append(["table", 0, rows, item.caption_text(document), page])
        elif label in ("title", "section_header"):
            blocks.append(["heading", 1 + getattr(item, "level", 0), text, "", page])
        elif label in _TEXTS and text:
            marker = f"{item.marker} " if label == "list_item" and item.enumerated else "- "
            kind = "item" if label == "list_item" else "text"
            blocks.append([kind, 0, f"{marker}{text}" if kind == "item" else text, "", page])
    return {"blocks": blocks, "pages": len(document.pages)}


def markitdown(path: Path) -> Content:
    """Convert a file to Markdown with MarkItDown and return its sections and tables. Raises BadInput."""
    _check(path, "markitdown", "'markitdown[docx,pptx,xlsx,xls,outlook,pdf]'")
    from markitdown import MarkItDown

    result = MarkItDown(enable_plugins=False).convert_local(path)
    outline = Outline()
    read_into(outline, clean(result.markdown))
    return content(outline, one_line(result.title or ""))


def _check(path: Path, name: str, package: str) -> None:
    """Raise BadInput if a reader is not installed, or if an archive is damaged or unpacks to too much data."""
    if find_spec(name) is None:
        raise BadInput(f"is to be read by {name}, which is not installed: python -m pip install {package}")
    if path.suffix.lower() in _ARCHIVES:
        check_archive(path)


def _load_docling(source: Source, reading: Reading) -> Iterator[Item]:
    answer = reading.readers.read(source, f"{__name__}:docling")
    outline = PagedOutline()
    for kind, level, part, caption, page in answer["blocks"]:
        if kind == "table":
            outline.table([[clean(cell) for cell in row] for row in part], clean(caption), page)
        elif kind == "heading":
            outline.heading(level, clean(part), page)
        else:
            outline.add([(page, clean(part))], tight=kind == "item")
    sections = outline.sections()
    if not sections and not outline.tables:
        raise BadInput("holds no text")
    title = outline.first_heading or source.title
    pages = outline.pages(answer["pages"])
    yield Document(source.key, sections, title[:300], source.shown, pages=pages, tables=outline.tables)


DOCLING = Format(
    "file for Docling",
    (".pdf", ".docx", ".pptx", ".xlsx", ".html", ".htm", ".png", ".jpg", ".jpeg", ".tif", ".tiff", ".webp", ".bmp"),
    _load_docling,
    untrusted=True,
)
MARKITDOWN = Format(
    "file for MarkItDown",
    (".pdf", ".docx", ".pptx", ".xlsx", ".xls", ".html", ".htm", ".epub", ".msg"),
    read_apart(f"{__name__}:markitdown"),
    untrusted=True,
)
