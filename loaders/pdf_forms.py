"""What was filled into the forms of a PDF's page, and typed on it, as characters where they stand.

See ISO 32000-1, sections 12.5 (annotations) and 12.7 (forms).
"""

import re
from collections import Counter
from collections.abc import Iterator
from typing import Any

from pdfminer.pdftypes import PDFStream, resolve1
from pdfminer.psparser import PSLiteral
from pdfplumber.utils.pdfinternals import decode_text

from kgrag.loaders.base import BadInput

_INVISIBLE = 2 | 32  # flags of an annotation: hidden, not to be seen
_PUSH_BUTTON, _PASSWORD = 1 << 16, 1 << 13  # flags of a field
_REMARKS = frozenset("Text Highlight Underline Squiggly StrikeOut Stamp Caret Square Circle Line Ink".split())
"""Annotations whose text shows in a window beside the page."""
_SIZE = re.compile(rb"(\d+(?:\.\d+)?)\s+Tf")
_NARROW = frozenset(" ijltfr.,:;'|!()[]")
_LEADING = 1.15  # sizes
_MAX_PARENTS = 20
_MAX_TEXT = 20_000  # characters of a page

Char = dict[str, Any]


def filled_in(page: Any, usual: float, left_out: Counter[str]) -> list[Char]:
    """Return the characters of values and typed notes of a pdfplumber page; comments and hidden ones are counted.

    `usual`: the type size of the page, which they do not exceed: else they would look like headings.
    """
    found: list[Char] = []
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
            found.extend(_characters(text, box, min(usual, _size(annotation) or usual)))
        elif kind in _REMARKS:
            left_out["comment"] += 1
        if len(found) > _MAX_TEXT:
            raise BadInput(f"holds more than {_MAX_TEXT:,} characters in its forms")
    return found


def _name(held: object) -> str:
    held = resolve1(held)
    return str(held.name) if isinstance(held, PSLiteral) else ""


def _text(held: object) -> str:
    held = resolve1(held)
    if isinstance(held, PDFStream):
        held = held.get_data()
    if not isinstance(held, bytes):
        return ""
    if held.startswith(b"\xef\xbb\xbf"):  # PDF 2.0
        return held[3:].decode("utf-8", "replace")
    return str(decode_text(held)).replace("\r\n", "\n").replace("\r", "\n")


def _inherited(annotation: dict[str, Any], key: str) -> Any:
    """Return an entry of a field, or of one above it."""
    field: Any = annotation
    for _ in range(_MAX_PARENTS):
        if not isinstance(field, dict):
            return None
        if (held := resolve1(field.get(key))) is not None:
            return held
        field = resolve1(field.get("Parent"))
    return None


def _is_password(annotation: dict[str, Any]) -> bool:
    return _name(_inherited(annotation, "FT")) == "Tx" and bool((_inherited(annotation, "Ff") or 0) & _PASSWORD)


def _value(annotation: dict[str, Any]) -> str:
    """Return the text of a field: text, a choice, "[x]" where it is ticked."""
    kind, flags = _name(_inherited(annotation, "FT")), _inherited(annotation, "Ff") or 0
    held = _inherited(annotation, "V")
    if kind == "Tx":
        return _text(held)
    if kind == "Ch":
        chosen = [_text(one) for one in held] if isinstance(held, list) else [_text(held)]
        shown = dict(_options(_inherited(annotation, "Opt")))
        return "\n".join(shown.get(one, one) for one in chosen)
    if kind == "Btn" and not flags & _PUSH_BUTTON:
        return "[x]" if _name(annotation.get("AS")) not in ("", "Off") else ""
    return ""


def _options(options: Any) -> Iterator[tuple[str, str]]:
    """Yield the stored value of a choice, and its text."""
    for option in map(resolve1, options if isinstance(options, list) else ()):
        if isinstance(option, list) and len(option) == 2:
            yield _text(option[0]), _text(option[1])


def _size(annotation: dict[str, Any]) -> float:
    """Return the type size, 0 for one that fits."""
    appearance = _inherited(annotation, "DA")
    found = _SIZE.search(appearance) if isinstance(appearance, bytes) else None
    return float(found[1]) if found else 0.0


def place(page: Any, annotation: dict[str, Any]) -> tuple[float, float, float, float] | None:
    """Return left, top, right and bottom on the turned page."""
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
    """Yield the characters of a text in a box, as pdfplumber has them."""
    x0, top, x1, bottom = box
    lines = [line for line in text.split("\n") if line.strip()]
    size = min(size, max(2.0, (bottom - top) / len(lines) / _LEADING))
    above = max(0.0, (bottom - top - size * _LEADING * len(lines)) / 2) if len(lines) == 1 else 0.0
    for number, line in enumerate(lines):
        widths = [size * (0.28 if sign in _NARROW else 0.55) for sign in line]
        squeeze = min(1.0, (x1 - x0 - 2) / sum(widths)) if x1 - x0 > 2 else 1.0
        x, y = x0 + 1, top + above + number * size * _LEADING
        for sign, width in zip(line, widths, strict=True):
            width *= squeeze
            yield {
                "text": sign, "x0": x, "x1": x + width, "width": width, "top": y, "doctop": y, "bottom": y + size,
                "height": size, "size": size, "fontname": "", "upright": True, "object_type": "char",
                "matrix": (1, 0, 0, 1, x, -y - size), "y0": -y - size, "y1": -y,
            }  # fmt: skip
            x += width
