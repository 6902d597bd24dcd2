"""Rich Text Format: the text, by striprtf, with raised and lowered characters, notes and tables (RTF 1.9.1)."""

import codecs
import re
from collections import Counter
from collections.abc import Callable
from itertools import groupby
from pathlib import Path

from kgrag.loaders.base import BadInput, needs, one_line
from kgrag.loaders.grid import Cell
from kgrag.loaders.inline import Inline
from kgrag.loaders.outline import Outline
from kgrag.loaders.reading import Format
from kgrag.loaders.worker_formats import Content, content, read_apart

_TITLE = re.compile(r"\{(?:\\\*)?\\title(?![a-z])")
_CODE_PAGE = re.compile(r"\\ansicpg(\d{1,5})|\\(mac|pca?)(?![a-z])")
_ENCODINGS = {
    "mac": "mac_roman", "pc": "cp437", "pca": "cp850", "10000": "mac_roman", "10006": "mac_greek",
    "10007": "mac_cyrillic", "10029": "mac_latin2", "10081": "mac_turkish",
}  # fmt: skip
_BESIDE = (
    (re.compile(r"\{\\header[lrf]?(?![a-z])"), "running head"),
    (re.compile(r"\{\\footer[lrf]?(?![a-z])"), "running foot"),
    (re.compile(r"\{\\\*\\annotation(?![a-z])"), "comment"),
)
_HEAD = 2000  # characters of a file that are searched for its code page
_BLOCKS = re.compile(r"\n\s*\n")
_TOKEN = re.compile(r"\\([a-z]{1,32})(-?\d{1,10})? ?|\\'[0-9a-f]{2}|\\.|[{}]", re.DOTALL)
_FOOTNOTE = re.compile(r"\{(?:\\\*)?\\footnote(?![a-z])")
_BOX = re.compile(r"\{\\shp(?![a-z])")
_FIELD_CODE = re.compile(r"\{(?:\\\*\s*)?\\fldinst(?![a-z])")
_BOX_TEXT = re.compile(r"\{\\shptxt(?![a-z]) ?")
# private characters for these marks in the text
_UP, _LOW, _HIDDEN, _DELETED, _NOTE, _END = map(chr, range(0xE000, 0xE006))
_BEGINS = {"super": _UP, "sub": _LOW, "v": _HIDDEN, "deleted": _DELETED, "strike": _DELETED, "striked": _DELETED}
_LEFT_OUT = {_HIDDEN: "hidden piece", _DELETED: "deleted piece"}
_PARTS = re.compile(f"([{_UP}{_LOW}{_HIDDEN}{_DELETED}{_NOTE}{_END}])")


def read_rtf(path: Path) -> Content:
    """Read a text, titled by its properties. Raises BadInput."""
    needs("striprtf", "an RTF text", "striprtf", "office")
    outline = Outline()
    return content(outline, add_rtf(outline, path.read_bytes()))


def add_rtf(outline: Outline, data: bytes) -> str:
    """Add a text to an outline; returns its title, or "". Raises BadInput."""
    from striprtf import striprtf

    to_text: Callable[..., str] = striprtf.rtf_to_text
    source = data.decode("latin-1")  # RTF is ASCII and escapes all other characters
    if not source.startswith("{\\rtf"):
        raise BadInput("is no RTF text, whatever its name says")
    encoding = _encoding(source)
    source = _CODE_PAGE.sub("", source, 2)  # striprtf would assume UTF-8 for unknown code pages

    def plain(part: str) -> str:
        pairs = to_text(part, encoding, errors="replace")  # a character beyond 16 bits is written as two
        return pairs.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")

    body = _replaced(_replaced(source, _FIELD_CODE, lambda _: ""), _BOX, _box_text)
    for block in _BLOCKS.split(plain(_marked(_with_notes(body)))):
        text, left_out = _plain(block)
        outline.left_out += left_out
        _add(outline, text, heads=int("\\trhdr" in source))
    for form, kind in _BESIDE:
        outline.left_out[kind] += len(form.findall(source))
    title = ""
    if (start := _TITLE.search(source)) is not None:
        named = source[start.end() : _group_end(source, start.start()) - 1]
        title = one_line(plain(f"{{\\rtf1 {{{named}}}}}"))
    return title


def _encoding(source: str) -> str:
    """Return the encoding of text whose font declares none."""
    named = _CODE_PAGE.findall(source, 0, _HEAD)  # use the last, which may refine \\mac
    word = "".join(named[-1]) if named else ""
    name = _ENCODINGS.get(word, f"cp{word}")
    try:
        return codecs.lookup(name).name
    except LookupError:
        return "cp1252"


def _replaced(source: str, begin: re.Pattern[str], replacement: Callable[[str], str]) -> str:
    """Replace each group that begins with `begin`; `replacement` receives the rest of the group."""
    parts: list[str] = []
    place = 0
    while match := begin.search(source, place):
        end = _group_end(source, match.start())
        parts += [source[place : match.start()], replacement(source[match.end() : end])]
        place = end
    return "".join([*parts, source[place:]])


def _box_text(box: str) -> str:
    """Return the text of a box as paragraphs."""
    inner = _BOX_TEXT.search(box)
    return "" if inner is None else f"\\par\\par{{{box[inner.end() : _group_end(box, inner.start()) - 1]}}}\\par "


def _with_notes(source: str) -> str:
    """Return RTF with its notes moved to the end, after their marks."""
    notes: list[str] = []

    def mark(note: str) -> str:
        notes.append(note[:-1].replace("\\chftn", ""))
        return f"{_code(_NOTE)}{len(notes)}{_code(_END)}"

    text = _replaced(source, _FOOTNOTE, mark)
    last = text.find("}", text.rfind(_code(_END)) + len(_code(_END))) if notes else -1
    if last < 0:
        return source
    texts = "".join(f"\\par\\par\\plain [{n}] {{{note}}}" for n, note in enumerate(notes, 1))
    return f"{text[: text.rindex('}')]}{texts}}}"


def _group_end(source: str, start: int) -> int:
    """Return the place after a group that begins at `start`."""
    depth = 0
    for token in _TOKEN.finditer(source, start):
        depth += (token[0] == "{") - (token[0] == "}")
        if not depth:
            return token.end()
    return len(source)


def _marked(source: str) -> str:
    """Return RTF with marks around raised, lowered and hidden parts, and with cells of one line each."""
    parts: list[str] = []
    groups = [""]  # for each open group, the mark that began in it
    place = 0
    cell = False
    for token in _TOKEN.finditer(source):
        word, number = token[1], token[2]
        cell = word == "intbl" or (cell and word not in ("pard", "row"))
        begins = _BEGINS.get(word or "", "") if number != "0" else ""
        ends = word in ("nosupersub", "plain") or (word in _BEGINS and number == "0") or token[0] == "}"
        parts.append(source[place : token.start()])
        if (begins or ends) and groups[-1]:
            parts.append(_code(_END))
            groups[-1] = ""
        parts.append(" " if cell and word in ("par", "line") else token[0])
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


def _plain(text: str) -> tuple[str, Counter[str]]:
    """Return text with the marks of `_marked` resolved, and the counts of the parts left out."""
    line = Inline()
    left_out: Counter[str] = Counter()
    open_: list[str] = []
    label = ""
    for part in _PARTS.split(text):
        if part in (_UP, _LOW):
            line.begin("^" if part == _UP else "_")
            open_.append(part)
        elif part in (*_LEFT_OUT, _NOTE):
            open_.append(part)
            left_out.update([_LEFT_OUT[part]] if part in _LEFT_OUT else ())
        elif part == _END:
            kind = open_.pop() if open_ else ""
            if kind == _NOTE:
                line.note(label)
            elif kind in (_UP, _LOW):
                line.end()
            label = ""
        elif _NOTE in open_:
            label += part
        elif not any(kind in _LEFT_OUT for kind in open_):
            line.text(part)
    return line.take(), left_out


def _add(outline: Outline, block: str, heads: int) -> None:
    """Add lines to an outline; lines of cells become a table."""
    for table, lines in groupby(block.split("\n"), key=lambda line: line.endswith("|")):
        if table:
            outline.table([[Cell(cell) for cell in line[:-1].split("|")] for line in lines], heads=heads, usual=True)
        else:
            outline.add("\n".join(lines))


RTF = Format("RTF text", (".rtf",), read_apart("kgrag.loaders.rtf:read_rtf"), untrusted=True, version=6)
