"""Rich Text Format: plain text, by striprtf."""

import re
from collections.abc import Callable
from pathlib import Path

from kgrag.loaders.apart import Content, content, needs, read_apart
from kgrag.loaders.base import BadInput, Format, one_line
from kgrag.loaders.outline import Outline

_TITLE = re.compile(r"\{\\title ([^{}]*)\}")
_BLOCKS = re.compile(r"\n\s*\n")


def read_rtf(path: Path) -> Content:
    """A text, titled by its properties. Raises BadInput."""
    needs("striprtf", "an RTF text", "striprtf", "office")
    from striprtf import striprtf

    to_text: Callable[..., str] = striprtf.rtf_to_text

    source = path.read_bytes().decode("latin-1")  # it is ASCII, and says itself what its other characters are
    if not source.startswith("{\\rtf"):
        raise BadInput("is no RTF text, whatever its name says")
    outline = Outline()
    for block in _BLOCKS.split(to_text(source, errors="replace")):
        outline.add(block)
    title = _TITLE.search(source)
    return content(outline, one_line(to_text(f"{{\\rtf1 {title[1]}}}")) if title else "")


RTF = Format("RTF text", (".rtf",), read_apart("kgrag.loaders.rtf:read_rtf"), untrusted=True)
