"""Rich Text Format: the text, by striprtf, with raised and lowered characters, notes and tables (RTF 1.9.1)."""

import re
from collections.abc import Callable
from itertools import groupby
from pathlib import Path

from kgrag.loaders.apart import Content, content, needs, read_apart
from kgrag.loaders.base import BadInput, Format, counted, one_line
from kgrag.loaders.grid import Cell
from kgrag.loaders.inline import Inline
from kgrag.loaders.outline import Outline

_TITLE = re.compile(r"\{\\title ([^{}]*)\}")
_BLOCKS = re.compile(r"\n\s*\n")
_TOKEN = re.compile(r"\\([a-z]{1,32})(-?\d{1,10})? ?|\\'[0-9a-f]{2}|\\.|[{}]", re.DOTALL)
_FOOTNOTE = re.compile(r"\{(?:\\\*)?\\footnote(?![a-z])")
_UP, _LOW, _HIDDEN, _NOTE, _END = map(chr, range(0xE000, 0xE005))  # private characters that stand in the text for them
_BEGINS = {"super": _UP, "sub": _LOW, "v": _HIDDEN}
_PARTS = re.compile(f"([{_UP}{_LOW}{_HIDDEN}{_NOTE}{_END}])")


def read_rtf(path: Path) -> Content:
    """A text, titled by its properties. Raises BadInput."""
    needs("striprtf", "an RTF text", "striprtf", "office")
    from striprtf import striprtf

    to_text: Callable[..., str] = striprtf.rtf_to_text

    source = path.read_bytes().decode("latin-1")  # it is ASCII, and says itself what its other characters are
    if not source.startswith("{\\rtf"):
        raise BadInput("is no RTF text, whatever its name says")
    outline = Outline()
    hidden = 0
    for block in _BLOCKS.split(to_text(_marked(_with_notes(source)), errors="replace")):
        text, more = _plain(block)
        hidden += more
        _add(outline, text)
    if hidden:
        outline.problems.append(f"holds {counted(hidden, 'hidden piece')}, left out")
    title = _TITLE.search(source)
    return content(outline, one_line(to_text(f"{{\\rtf1 {title[1]}}}")) if title else "")


def _with_notes(source: str) -> str:
    """RTF whose notes stand at its end, after their marks."""
    parts: list[str] = []
    notes: list[str] = []
    place = 0
    while found := _FOOTNOTE.search(source, place):
        end = _group_end(source, found.start())
        parts.append(source[place : found.start()] + _code(_NOTE) + str(len(notes) + 1) + _code(_END))
        notes.append(source[found.end() : end - 1].replace("\\chftn", ""))
        place = end
    last = source.rfind("}", place)
    if not notes or last < 0:
        return source
    texts = "".join(f"\\par\\par\\plain [{n}] {{{note}}}" for n, note in enumerate(notes, 1))
    return f"{''.join(parts)}{source[place:last]}{texts}}}"


def _group_end(source: str, start: int) -> int:
    """The place after a group that begins at `start`."""
    depth = 0
    for token in _TOKEN.finditer(source, start):
        depth += (token[0] == "{") - (token[0] == "}")
        if not depth:
            return token.end()
    return len(source)


def _marked(source: str) -> str:
    """RTF with characters where something raised, lowered or hidden begins and ends."""
    parts: list[str] = []
    groups = [""]  # of each that is open, what began in it
    place = 0
    for token in _TOKEN.finditer(source):
        word, number = token[1], token[2]
        begins = _BEGINS.get(word or "", "") if number != "0" else ""
        ends = word in ("nosupersub", "plain") or (word in _BEGINS and number == "0") or token[0] == "}"
        parts.append(source[place : token.start()])
        if (begins or ends) and groups[-1]:
            parts.append(_code(_END))
            groups[-1] = ""
        parts.append(token[0])
        if begins:
            parts.append(_code(begins))
            groups[-1] = begins
        elif token[0] == "{":
            groups.append("")
        elif token[0] == "}" and len(groups) > 1:
            groups.pop()
        place = token.end()
    return "".join([*parts, source[place:]])


def _code(character: str) -> str:
    return f"{{\\uc1\\u{ord(character)}?}}"


def _plain(text: str) -> tuple[str, int]:
    """Text without those characters, and how many hidden pieces were left out."""
    line = Inline()
    hidden = 0
    open_: list[str] = []
    label = ""
    for part in _PARTS.split(text):
        if part in (_UP, _LOW):
            line.begin("^" if part == _UP else "_")
            open_.append(part)
        elif part in (_HIDDEN, _NOTE):
            open_.append(part)
            hidden += part == _HIDDEN
        elif part == _END:
            kind = open_.pop() if open_ else ""
            if kind == _NOTE:
                line.note(label)
            elif kind in (_UP, _LOW):
                line.end()
            label = ""
        elif _NOTE in open_:
            label += part
        elif _HIDDEN not in open_:
            line.text(part)
    return line.take(), hidden


def _add(outline: Outline, block: str) -> None:
    """Add lines, those of cells as a table."""
    for table, lines in groupby(block.split("\n"), key=lambda line: line.endswith("|")):
        if table:
            outline.table([[Cell(cell) for cell in line[:-1].split("|")] for line in lines])
        else:
            outline.add("\n".join(lines))


RTF = Format("RTF text", (".rtf",), read_apart("kgrag.loaders.rtf:read_rtf"), untrusted=True, version=3)
