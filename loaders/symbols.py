"""Characters of symbol fonts, which files name by their place in the font: those of Symbol and of Wingdings."""

_SYMBOL = (  # Adobe's encoding, from 0x20
    " !∀#∃%&∋()∗+,−./0123456789:;<=>?≅ΑΒΧΔΕΦΓΗΙϑΚΛΜΝΟΠΘΡΣΤΥςΩΞΨΖ[∴]⊥_‾αβχδεφγηιϕκλμνοπθρστυϖωξψζ{|}∼\0"
    "\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0€ϒ′≤⁄∞ƒ♣♦♥♠↔←↑→↓°±″≥×∝∂•÷≠≡≈…⏐⎯↵"
    "ℵℑℜ℘⊗⊕∅∩∪⊃⊇⊄⊂⊆∈∉∠∇®©™∏√⋅¬∧∨⇔⇐⇑⇒⇓◊⟨®©™∑⎛⎜⎝⎡⎢⎣⎧⎨⎩⎪\0⟩∫⌠⎮⌡⎞⎟⎠⎤⎥⎦⎫⎬⎭\0"
)
_WINGDINGS = {
    0x21: "✏", 0x22: "✂", 0x28: "☎", 0x2A: "✉", 0x36: "⌛", 0x3F: "✍", 0x45: "☜", 0x46: "☞", 0x4A: "☺", 0x4B: "😐",
    0x4C: "☹", 0x4E: "☠", 0x52: "☼", 0x58: "✠", 0x59: "✡", 0x5A: "☪", 0x5B: "☯", 0x6C: "●", 0x6E: "■", 0x6F: "□",
    0x71: "❑", 0x72: "❒", 0x75: "◆", 0x76: "❖", 0x7B: "❀", 0x9F: "•", 0xA1: "○", 0xA7: "▪", 0xA8: "◻", 0xAB: "★",
    0xD8: "➢", 0xDC: "➲", 0xDF: "←", 0xE0: "→", 0xE1: "↑", 0xE2: "↓", 0xE3: "↖", 0xE4: "↗", 0xE5: "↙", 0xE6: "↘",
    0xE7: "←", 0xE8: "➔", 0xE9: "↑", 0xEA: "↓", 0xEF: "⇦", 0xF0: "⇨", 0xF1: "⇧", 0xF2: "⇩", 0xF3: "⬄", 0xFB: "✗",
    0xFC: "✓", 0xFD: "☒", 0xFE: "☑",
}  # fmt: skip


def sign(font: str, code: int) -> str:
    """Return the character at a place of a font, with or without the 0xF000 of private characters; "" if unknown."""
    place = code - 0xF000 if 0xF020 <= code <= 0xF0FF else code
    name = font.strip().lower()
    if name == "symbol":
        return _SYMBOL[place - 0x20].strip("\0") if 0x20 <= place < 0x20 + len(_SYMBOL) else ""
    if name == "wingdings":
        return _WINGDINGS.get(place, "")
    return "" if 0xF000 <= code <= 0xF0FF or not 0x20 <= code <= 0xFFFF else chr(code)


def signs(font: str, text: str) -> str:
    """Return the text of a run, with the font's characters for private ones and, on slides, for those beyond ASCII."""
    if font.strip().lower() not in ("symbol", "wingdings") or text.isascii():
        return text
    return "".join(c if c.isascii() else sign(font, ord(c)) or c for c in text)
