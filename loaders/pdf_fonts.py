"""Fonts of a PDF that do not say which characters they show, as TeX makes them."""

import re
from typing import Any

from pdfminer.pdffont import PDFFont, PDFSimpleFont, PDFType3Font
from pdfminer.pdfinterp import PDFResourceManager
from pdfminer.pdftypes import resolve1
from pdfminer.psparser import literal_name

_LIGATURES = ("ff", "fi", "fl", "ffi", "ffl")
_OT1_ONLY = {34: "”", 92: "“", 123: "–", 124: "—"}
_LOW = {  # codes below 32 in TeX's encodings of text, T1 and OT1, where both have them or the other's is rare
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
_LARGE = {  # of TeX's font of large symbols; the rest are parts of brackets
    **{code + size: sign for code, sign in enumerate("()[]⌊⌋⌈⌉{}⟨⟩") for size in (0, 32)},
    16: "(", 17: ")", **dict(enumerate("()[]⌊⌋⌈⌉{}⟨⟩", 18)),
    **dict.fromkeys((80, 88), "∑"), **dict.fromkeys((81, 89), "∏"), **dict.fromkeys((82, 90), "∫"),
    **dict.fromkeys(range(112, 117), "√"), 12: "|", 13: "‖",
}  # fmt: skip
_SOFT_HYPHEN = 0xAD
_NUMBERED = re.compile(r"[A-Za-z](\d{1,3})")


class Fonts(PDFResourceManager):
    """The fonts of a PDF. Where one does not name its characters, they are those of TeX's encodings (T1, OT1)."""

    def get_font(self, objid: object, spec: Any) -> PDFFont:
        """Return the font of `spec`, its dictionary; cached under `objid`."""
        known = objid in self._cached_fonts
        font = super().get_font(objid, spec)
        if not known and isinstance(font, PDFSimpleFont):
            _complete(font, spec)
        return font


def _complete(font: PDFSimpleFont, spec: Any) -> None:
    codes = _numbered_glyphs(spec) if isinstance(font, PDFType3Font) else None
    if codes is not None:
        # Bitmaps of dvips and pdfTeX: glyph "a101" is code 101. As a name it is a dingbat, as ToUnicode may say.
        table = dict(_T1)
        if not any(chr(code).isalpha() for code in codes if code < 128):
            table.update({15: "•", 136: "•"})  # of fonts of symbols
        elif codes & set(range(11, 16)) and not codes & {16, 17, *range(27, 32)}:
            table.update(_OT1_ONLY)
        font.unicode_map = None
        font.cid2unicode = {code: table[code] for code in codes if code in table}
        return
    name = str(getattr(font, "basefont", ""))
    if _EXTENSION.search(name):
        font.cid2unicode = {**dict.fromkeys(range(256), ""), **font.cid2unicode, **_LARGE}
    elif _MATH.search(name):  # a prime, an epsilon; what is not known is the stroke of a crossed sign
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
    found: set[int] = set()
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
            found.add(code)
        code += 1
    return found or None
