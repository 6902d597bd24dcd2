"""Numbers of a workbook as its readers see them, where that says more: "12.5%", "€ 3.50", "007", "(1,234.50)"."""

import re

_PARTS = re.compile(  # spaces as wide as a sign, and colours, say nothing
    r"(?P<skipped>_.|\*.|\[(?:black|blue|cyan|green|magenta|red|white|yellow|color ?\d+)\])"
    r"|\[\$(?P<currency>[^\]-]*)(?:-[0-9A-Fa-f]+)?\]|\"(?P<quoted>[^\"]*)\"|\\(?P<escaped>.)",
    re.IGNORECASE,
)
_MASK = re.compile(r"[#0?]+(?:,[#0?]+)*(?:\.[#0?]+)?(?![#0?.,/Ee])")
_SECTIONS = re.compile(r"(?:\"[^\"]*\"|\\.|[^;\"\\])*")
_LETTERS = re.compile(r"[A-Za-z@\[/?]")


def shown(held: object, form: str) -> object:
    """A number in a format that adds a sign, a unit or digits to it, as text; all else as it is."""
    if isinstance(held, bool) or not isinstance(held, int | float) or form in ("", "General"):
        return held
    sections = [text for text in _SECTIONS.findall(form) if text] or [form]
    negative = held < 0 and len(sections) > 1
    text = _said(abs(held) if negative or held < 0 else held, sections[1 if negative else 0])
    return held if text is None else text if negative or held >= 0 else f"-{text}"


def _said(number: float, section: str) -> str | None:
    """A number of no sign in one part of a format; None where that adds nothing, or is of another kind: a date."""
    literals: list[str] = []

    def keep(match: re.Match[str]) -> str:
        literals.append(match["currency"] or match["quoted"] or match["escaped"] or "")
        return "\0"

    plain = _PARTS.sub(lambda match: "" if match["skipped"] else keep(match), section)
    masks = list(_MASK.finditer(plain))
    around = _MASK.sub("", plain)
    if len(masks) != 1 or _LETTERS.search(around) or len(literals) != around.count("\0"):
        return None
    mask = masks[0][0]
    whole, _, fraction = mask.partition(".")
    digits = whole.count("0")
    if not (around.replace("\0", "").strip() or "".join(literals).strip() or digits > 1):
        return None
    text = f"{number * 100 ** around.count('%'):,.{len(fraction)}f}"
    if optional := len(fraction) - len(fraction.rstrip("#")):
        kept = text.rstrip("0") if optional == len(fraction) else text
        text = kept.rstrip(".")
    text = text if "," in whole else text.replace(",", "")
    text = "0" * (digits - len(re.findall(r"\d", text.partition(".")[0]))) + text
    before, after = plain[: masks[0].start()], plain[masks[0].end() :]
    texts = iter(literals)
    before, after = (re.sub("\0", lambda _: next(texts), part) for part in (before, after))
    return f"{before}{text}{after}".strip()
