"""Load office files in reading processes: Word, PowerPoint (slides are pages) and Excel (sheets are pages)."""

from collections import Counter
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

from kgrag.loaders.base import BadInput, Item, Source, one_line, tell
from kgrag.loaders.figures import Figures, from_row
from kgrag.loaders.grid import is_caption
from kgrag.loaders.outline import PagedOutline, title_of
from kgrag.loaders.reading import Format, Readers, Reading
from kgrag.values.documents import Document

Block = list[Any]


def load_office(source: Source, readers: Readers) -> Document:
    """Read a DOCX, PPTX or XLSX file as a document with its headings and tables. Raises BadInput."""
    content = readers.read(source, "kgrag.loaders.office_parts:read_office")
    left_out = Counter(content["left_out"])
    figures = Figures(left_out)
    outline = PagedOutline()
    parts = content["parts"]
    for number, part in enumerate(parts, 1):
        page = number if content["paged"] else 0
        for block in part["blocks"]:
            if block[0] == "figure":
                figures.add(replace(from_row(block[1]), page=page))
            elif block[0] != "table":
                figures.text_block(block[-1], caption=block[0] == "caption" and not is_caption(block[-1]))
        _add(outline, [block for block in part["blocks"] if block[0] != "figure"], page)
    pictures = figures.all()
    tell(source, left_out)
    source.problems.extend(content["problems"])
    sections = outline.sections()
    if not any(s.text for s in sections) and not outline.tables:
        raise BadInput("holds no text")
    first = "" if content["paged"] else title_of(outline.first_heading, sections)
    title = one_line(content["title"]) or first or source.title
    metadata = {key: one_line(content[key]) for key in ("author", "date") if content[key]}
    pages = outline.pages(len(parts), [part["label"] for part in parts]) if content["paged"] else ()
    return Document(
        source.key, sections, title[:300], source.shown, metadata,
        pages=pages, tables=outline.tables, figures=pictures,
    )  # fmt: skip


def _add(outline: PagedOutline, blocks: list[Block], page: int) -> None:
    captions: dict[int, int] = {}  # position of a table -> position of its caption
    for i, block in enumerate(blocks):
        if block[0] == "table":
            for near in (i - 1, i + 1):
                free = near in range(len(blocks)) and near not in captions.values()
                if free and not block[1] and _may_caption(blocks[near]):
                    captions[i] = near
                    break
    used = set(captions.values())
    for i, block in enumerate(blocks):
        kind, text = block[0], block[-1]
        if kind == "table":
            caption = blocks[captions[i]][-1] if i in captions else ""
            outline.table(text, caption or block[1], page, headed=True)
        elif i in used:
            outline.note(one_line(text), page)
        elif kind == "heading":
            outline.heading(block[1], text, page)
        else:
            outline.add([(page, text)], tight=kind in ("item", "code") and i > 0 and blocks[i - 1][:2] == block[:2])


def _may_caption(block: Block) -> bool:
    return block[0] == "caption" or (block[0] == "text" and is_caption(block[-1]))


def _load(source: Source, reading: Reading) -> Iterator[Item]:
    yield load_office(source, reading.readers)


WORD = Format("Word document", (".docx", ".docm", ".dotx", ".dotm"), _load, untrusted=True, version=8)
POWERPOINT = Format(
    "PowerPoint presentation", (".pptx", ".pptm", ".ppsx", ".ppsm", ".potx", ".potm"), _load, untrusted=True, version=8
)
EXCEL = Format("Excel workbook", (".xlsx", ".xlsm", ".xltx", ".xltm"), _load, untrusted=True, version=7)
