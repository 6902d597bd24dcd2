"""Characters of a PDF page: in fonts without character names, raised or lowered, and filled into forms."""

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from typing import Any

from pdfminer.pdffont import PDFFont, PDFSimpleFont, PDFType3Font
from pdfminer.pdfinterp import PDFResourceManager
from pdfminer.pdftypes import PDFStream, resolve1
from pdfminer.psparser import PSLiteral, literal_name
from pdfplumber.utils.pdfinternals import decode_text

from kgrag.loaders.base import BadInput
from kgrag.loaders.inline import OPERATORS, lowered, may_be_note, raised

_SMALLER, _SMALLEST = 0.86, 0.5  # size of a raised or lowered character, relative to its base
_RISE, _FALL, _MOST = 0.15, -0.08, 0.9  # distance of its baseline from the base's, in type sizes
_DESCENT = 0.22  # depth of the box of most fonts below the baseline, in type sizes
_GAP = 0.3  # horizontal gap to the base, in type sizes
_LONGEST = 15  # characters of a raised or lowered run
_NUMBERS = re.compile(r"\d{1,3}(?:[,–-]\d{1,3})*")
_LETTERS = re.compile(r"[^\W\d_]*$")
_UNIT = 2  # letters: "m" and "km" have powers, longer words have notes
_SLASHES = "/⁄∕"

Char = dict[str, Any]


def with_signs(chars: Sequence[Char]) -> list[Char]:
    """Return the characters of a page in file order, with raised and lowered ones turned into plain text.

    Small marks after a word or a sentence are note marks: "ship [12]".
    """
    result: list[Char] = []
    place = 0
    before = ""  # the end of the word so far
    while place < len(chars):
        char = chars[place]
        base = result[-1] if result else None
        run = list(_run(chars, place, base)) if base is not None else []
        if base is None or not run or len(run) > _LONGEST:
            before = char["text"] if base is None or not _joins(base, char) else (before + char["text"])[-12:]
            result.append(char)
            place += 1
            continue
        place += len(run)
        after = chars[place] if place < len(chars) and _near(run[-1], chars[place], base["size"]) else None
        text = _sign_text(base, before, run, after)
        result.append(
            {**run[-1], "text": text, "x0": run[0]["x0"], "width": run[-1]["x1"] - run[0]["x0"]}
            | {key: base[key] for key in ("top", "bottom", "y0", "y1", "size", "matrix", "fontname")}
        )
        before += text
    return result


def _run(chars: Sequence[Char], place: int, base: Char | None) -> Iterator[Char]:
    """Yield the run of raised or lowered characters that begins at `place`."""
    first, last = chars[place], base
    if base is None or last is None or not _hangs(base, first):
        return
    for char in chars[place:]:
        same = abs(char["size"] - first["size"]) < 0.05 * first["size"] and abs(_y(char) - _y(first)) < 0.5
        if not same or char["text"].isspace() or not _near(last, char, base["size"]):
            return
        yield char
        last = char


def _hangs(base: Char, char: Char) -> bool:
    if not _SMALLEST * base["size"] <= char["size"] < _SMALLER * base["size"] or base["text"].isspace():
        return False
    rise = _rise(base, char)
    upright = char["upright"] and base["upright"] and not char["text"].isspace()
    return bool(upright and (_RISE < rise < _MOST or -_MOST < rise < _FALL) and _near(base, char, base["size"]))


def _sign_text(base: Char, before: str, run: list[Char], after: Char | None) -> str:
    text = "".join(char["text"] for char in run)
    following = after["text"][:1] if after is not None else ""
    if before[-1:] in _SLASHES or not any(map(str.isalnum, text)):
        return text  # the lower part of a fraction; a star or a dagger
    if _rise(base, run[0]) < 0:
        sign = lowered(before, text)
        parted = following.isdigit() or (following.islower() if text.isdecimal() else following.isalnum())
    elif following and following in _SLASHES:
        return f" {text}"  # "3 1/2"
    elif (
        (may_be_note(before, text) and following not in OPERATORS)
        or (
            _NUMBERS.fullmatch(text)
            and not before[-1:].isdigit()
            and (
                not before[-1:].isalpha() or len(_LETTERS.search(before)[0]) > _UNIT  # type: ignore[index]
            )
            and before[-1:] not in ")]}"
        )
    ):
        return f" [{text}]"
    else:
        sign = raised(before, text)
        parted = following.isalnum() and sign[:1] == "^"
    return f"{sign} " if parted else sign


def _y(char: Char) -> float:
    """Return the height of a character's baseline, in points from the bottom of the page."""
    return float(char["matrix"][5])


def _rise(base: Char, char: Char) -> float:
    """Return how far a character is raised above the baseline of another, in type sizes of that one."""
    rise = _y(char) - _y(base)
    if abs(rise) < 0.5 and char["fontname"] == base["fontname"]:  # the operator Ts moves only the box
        rise = char["y0"] - base["y0"] + _DESCENT * (char["size"] - base["size"])
    return rise / float(base["size"])


def _near(one: Char, other: Char, size: float) -> bool:
    return bool(-_GAP * size <= other["x0"] - one["x1"] <= _GAP * size)


def _joins(one: Char, other: Char) -> bool:
    """Return whether a character continues the word of the one before it."""
    return bool(
        not other["text"].isspace() and abs(_y(one) - _y(other)) < 0.5 and _near(one, other, 0.5 * other["size"])
    )


# The values of form fields and the notes typed on a PDF page, as characters at their positions.
#
# See ISO 32000-1, sections 12.5 (annotations) and 12.7 (forms).


_INVISIBLE = 2 | 32  # flags of an annotation: Hidden and NoView
_PUSH_BUTTON, _PASSWORD = 1 << 16, 1 << 13  # flags of a field
_REMARKS = frozenset("Text Highlight Underline Squiggly StrikeOut Stamp Caret Square Circle Line Ink".split())
"""Annotations whose text is shown in a pop-up window beside the page."""
_SIZE = re.compile(rb"(\d+(?:\.\d+)?)\s+Tf")
_NARROW = frozenset(" ijltfr.,:;'|!()[]")
_LEADING = 1.15  # type sizes
_MAX_PARENTS = 20
_MAX_TEXT = 20_000  # characters per page


def filled_in(page: Any, usual: float, left_out: Counter[str]) -> list[Char]:
    """Return the characters of form values and typed notes on a pdfplumber page; count comments and hidden ones.

    `usual`: the type size of the page. Values are set no larger, since they would look like headings.
    """
    result: list[Char] = []
    try:
        annotations = [resolve1(one) for one in resolve1(page.page_obj.annots) or ()]
    except (TypeError, ValueError):
        return []
    for annotation in annotations:
        if not isinstance(annotation, dict):
            continue
        kind = _name(annotation.get("Subtype"))
        text = _value(annotation) if kind == "Widget" else _text(annotation.get("Contents"))
        flags = resolve1(annotation.get("F"))
        if not text.strip():
            continue
        if (isinstance(flags, int) and flags & _INVISIBLE) or _is_password(annotation):
            left_out["form value" if kind == "Widget" else "hidden piece"] += 1
        elif kind in ("Widget", "FreeText") and (box := place(page, annotation)) is not None:
            result.extend(_characters(text, box, min(usual, _size(annotation) or usual)))
        elif kind in _REMARKS:
            left_out["comment"] += 1
        if len(result) > _MAX_TEXT:
            raise BadInput(f"holds more than {_MAX_TEXT:,} characters in its forms")
    return result


def _name(value: object) -> str:
    value = resolve1(value)
    return str(value.name) if isinstance(value, PSLiteral) else ""


def _text(value: object) -> str:
    value = resolve1(value)
    if isinstance(value, PDFStream):
        value = value.get_data()
    if not isinstance(value, bytes):
        return ""
    if value.startswith(b"\xef\xbb\xbf"):  # PDF 2.0
        return value[3:].decode("utf-8", "replace")
    return str(decode_text(value)).replace("\r\n", "\n").replace("\r", "\n")


def _inherited(annotation: dict[str, Any], key: str) -> Any:
    """Return an entry of a field or of its nearest ancestor that has it."""
    field: Any = annotation
    for _ in range(_MAX_PARENTS):
        if not isinstance(field, dict):
            return None
        if (value := resolve1(field.get(key))) is not None:
            return value
        field = resolve1(field.get("Parent"))
    return None


def _is_password(annotation: dict[str, Any]) -> bool:
    return _name(_inherited(annotation, "FT")) == "Tx" and bool((_inherited(annotation, "Ff") or 0) & _PASSWORD)


def _value(annotation: dict[str, Any]) -> str:
    """Return the value of a field as text: typed text, the choice, or "[x]" for a ticked box."""
    kind, flags = _name(_inherited(annotation, "FT")), _inherited(annotation, "Ff") or 0
    content = _inherited(annotation, "V")
    if kind == "Tx":
        return _text(content)
    if kind == "Ch":
        choices = [_text(one) for one in content] if isinstance(content, list) else [_text(content)]
        labels = dict(_options(_inherited(annotation, "Opt")))
        return "\n".join(labels.get(one, one) for one in choices)
    if kind == "Btn" and not flags & _PUSH_BUTTON:
        return "[x]" if _name(annotation.get("AS")) not in ("", "Off") else ""
    return ""


def _options(options: Any) -> Iterator[tuple[str, str]]:
    """Yield the stored value and the shown text of each choice."""
    for option in map(resolve1, options if isinstance(options, list) else ()):
        if isinstance(option, list) and len(option) == 2:
            yield _text(option[0]), _text(option[1])


def _size(annotation: dict[str, Any]) -> float:
    """Return the type size; 0 means that the text is fitted to its box."""
    appearance = _inherited(annotation, "DA")
    match = _SIZE.search(appearance) if isinstance(appearance, bytes) else None
    return float(match[1]) if match else 0.0


def place(page: Any, annotation: dict[str, Any]) -> tuple[float, float, float, float] | None:
    """Return left, top, right and bottom of an annotation on the turned page, or None if it has no valid box."""
    try:
        xs, ys = ([float(resolve1(resolve1(annotation["Rect"])[i])) for i in place] for place in ((0, 2), (1, 3)))
    except (KeyError, TypeError, ValueError, IndexError):
        return None
    left, low, right, high = (float(resolve1(edge)) for edge in page.page_obj.mediabox)
    corners = list(zip(xs, ys, strict=True))
    match page.rotation % 360:
        case 90:
            turned = [(y - low, x - left) for x, y in corners]
        case 180:
            turned = [(right - x, y - low) for x, y in corners]
        case 270:
            turned = [(high - y, right - x) for x, y in corners]
        case _:
            turned = [(x - left, high - y) for x, y in corners]
    x0, top = page.bbox[0], page.bbox[1]
    across, down = zip(*turned, strict=True)
    return min(across) + x0, min(down) + top, max(across) + x0, max(down) + top


def _characters(text: str, box: tuple[float, float, float, float], size: float) -> Iterator[Char]:
    """Yield the characters of a text laid out in a box, in the form of pdfplumber."""
    x0, top, x1, bottom = box
    lines = [line for line in text.split("\n") if line.strip()]
    size = min(size, max(2.0, (bottom - top) / len(lines) / _LEADING))
    above = max(0.0, (bottom - top - size * _LEADING * len(lines)) / 2) if len(lines) == 1 else 0.0
    for number, line in enumerate(lines):
        widths = [size * (0.28 if sign in _NARROW else 0.55) for sign in line]
        squeeze = min(1.0, (x1 - x0 - 2) / sum(widths)) if x1 - x0 > 2 else 1.0
        x, y = x0 + 1, top + above + number * size * _LEADING
        for sign, width in zip(line, widths, strict=True):
            yield upright_char(sign, x, x + width * squeeze, y, size)
            x += width * squeeze


def upright_char(text: str, x0: float, x1: float, top: float, size: float) -> Char:
    """Return a character in the form of pdfplumber."""
    return {
        "text": text, "x0": x0, "x1": x1, "width": x1 - x0, "top": top, "doctop": top, "bottom": top + size,
        "height": size, "size": size, "fontname": "", "upright": True, "object_type": "char",
        "matrix": (1, 0, 0, 1, x0, -top - size), "y0": -top - size, "y1": -top,
    }  # fmt: skip


_LIGATURES = ("ff", "fi", "fl", "ffi", "ffl")
_OT1_ONLY = {34: "”", 92: "“", 123: "–", 124: "—"}
_LOW = {  # codes below 32 in TeX's text encodings T1 and OT1, if both agree or one of the characters is rare
    **dict(enumerate(_LIGATURES, 11)), **dict(enumerate(_LIGATURES, 27)),
    16: "“", 17: "”", 18: "„", 19: "«", 20: "»", 21: "–", 22: "—", 25: "ı",
}  # fmt: skip
_HIGH = dict(
    zip(
        range(128, 256),
        "ĂĄĆČĎĚĘĞĹĽŁŃŇŊŐŔŘŚŠŞŤŢŰŮŸŹŽŻĲİđ§ăąćčďěęğĺľłńňŋőŕřśšşťţűůÿźžżĳ¡¿£"
        "ÀÁÂÃÄÅÆÇÈÉÊËÌÍÎÏÐÑÒÓÔÕÖŒØÙÚÛÜÝÞ\u1e9eàáâãäåæçèéêëìíîïðñòóôõöœøùúûüýþß",
        strict=True,
    )
)
_T1 = {**_LOW, **{code: chr(code) for code in range(32, 127)}, 39: "’", 96: "‘", **_HIGH}
_MATH = re.compile(r"math|symbol|dingbat|(?:cm|lm|eu|ms)(?:mi|sy|ex|bsy|mib|am|bm)|extension", re.IGNORECASE)
_EXTENSION = re.compile(r"cmex|lmex|mathextension", re.IGNORECASE)
_LARGE = {  # TeX's font of large symbols; its other codes are parts of brackets
    **{code + size: sign for code, sign in enumerate("()[]⌊⌋⌈⌉{}⟨⟩") for size in (0, 32)},
    16: "(", 17: ")", **dict(enumerate("()[]⌊⌋⌈⌉{}⟨⟩", 18)),
    **dict.fromkeys((80, 88), "∑"), **dict.fromkeys((81, 89), "∏"), **dict.fromkeys((82, 90), "∫"),
    **dict.fromkeys(range(112, 117), "√"), 12: "|", 13: "‖",
}  # fmt: skip
_SOFT_HYPHEN = 0xAD
_NUMBERED = re.compile(r"[A-Za-z](\d{1,3})")


class Fonts(PDFResourceManager):
    """The fonts of a PDF. A font without character names is read in TeX's encodings (T1, OT1)."""

    def get_font(self, objid: object, spec: Any) -> PDFFont:
        """Return the font of the dictionary `spec`; cached under `objid`."""
        cached = objid in self._cached_fonts
        font = super().get_font(objid, spec)
        if not cached and isinstance(font, PDFSimpleFont):
            _complete(font, spec)
        return font


def _complete(font: PDFSimpleFont, spec: Any) -> None:
    codes = _numbered_glyphs(spec) if isinstance(font, PDFType3Font) else None
    if codes is not None:
        # bitmaps of dvips and pdfTeX: glyph "a101" is code 101; ToUnicode may wrongly take the name for a dingbat
        table = dict(_T1)
        if not any(chr(code).isalpha() for code in codes if code < 128):
            table.update({15: "•", 136: "•"})  # a font of symbols
        elif codes & set(range(11, 16)) and not codes & {16, 17, *range(27, 32)}:
            table.update(_OT1_ONLY)
        font.unicode_map = None
        font.cid2unicode = {code: table[code] for code in codes if code in table}
        return
    name = str(getattr(font, "basefont", ""))
    if _EXTENSION.search(name):
        font.cid2unicode = {**dict.fromkeys(range(256), ""), **font.cid2unicode, **_LARGE}
    elif _MATH.search(name):  # a prime, an epsilon; an unknown code is the stroke of a crossed sign
        own = {48: "′"} if "SY" in name.upper() or "Symbols" in name else {15: "ϵ"}
        font.cid2unicode = {**dict.fromkeys(range(256), ""), **own, **font.cid2unicode}
    else:
        font.cid2unicode = {**_LOW, **font.cid2unicode}
    if font.cid2unicode.get(_SOFT_HYPHEN) == " " and _base_encoding(spec) == "WinAnsiEncoding":
        font.cid2unicode[_SOFT_HYPHEN] = chr(_SOFT_HYPHEN)  # ISO 32000-1, annex D.2, note 6; pdfminer has a space


def _base_encoding(spec: Any) -> str:
    encoding = resolve1(spec.get("Encoding"))
    named = resolve1(encoding.get("BaseEncoding")) if isinstance(encoding, dict) else encoding
    return "" if named is None else str(literal_name(named))


def _numbered_glyphs(spec: Any) -> set[int] | None:
    """Return the codes of a font whose glyphs are named after their codes, or None for one that names them."""
    encoding = resolve1(spec.get("Encoding"))
    codes: set[int] = set()
    code = 0
    for entry in resolve1(encoding.get("Differences")) or () if isinstance(encoding, dict) else ():
        if isinstance(entry, int):
            code = entry
            continue
        name = literal_name(entry)
        match = _NUMBERED.fullmatch(name)
        if name != ".notdef":
            if match is None or int(match[1]) != code:
                return None
            codes.add(code)
        code += 1
    return codes or None
