"""Parts of a Word document that are in other formats (altChunk), as its blocks."""

from collections import Counter
from collections.abc import Iterator

from kgrag.loaders.base import decode
from kgrag.loaders.html import add_html, declared_encoding
from kgrag.loaders.mail import add_message
from kgrag.loaders.office_parts import Block
from kgrag.loaders.outline import Outline
from kgrag.loaders.rtf import add_rtf

_PAGES = ("text/html", "application/xhtml+xml")
_RTF = ("application/rtf", "text/rtf")
_ARCHIVES = ("message/rfc822", "multipart/related", "application/x-mimearchive")
_WORD = "application/vnd.openxmlformats-officedocument.wordprocessingml."


def chunk_blocks(data: bytes, kind: str, depth: int) -> tuple[list[Block], Counter[str]] | None:
    """The blocks of a part by its media type, and what was left out; None for one that is not read.

    `depth`: of documents that it stands in. Raises BadInput.
    """
    from kgrag.loaders.word_parts import docx_blocks  # which needs this module

    if kind.startswith(_WORD):
        return docx_blocks(data, depth)
    outline = Outline()
    if kind in _PAGES:
        add_html(outline, decode(data, declared_encoding(data)))
    elif kind in _RTF:
        add_rtf(outline, data)
    elif kind in _ARCHIVES:
        add_message(outline, data)
    elif kind == "text/plain":
        for block in decode(data, "windows-1252").replace("\r\n", "\n").split("\n\n"):
            outline.add(block)
    else:
        return None
    return list(_blocks(outline)), outline.left_out


def _blocks(outline: Outline) -> Iterator[Block]:
    path: list[str] = []
    for section in outline.sections():
        names = section.heading.split(" > ") if section.heading else []
        for level, name in enumerate(names, 1):
            if path[:level] != names[:level]:
                yield ["heading", level, name]
        path = names
        yield ["text", section.text]
    for table in outline.tables:
        yield ["table", table.caption, [list(row) for row in table.rows]]
