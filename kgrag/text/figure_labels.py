"""References to figures in texts: captions such as "Figure 3: The hull", and "Figs. 2a and 3" or "the chart below"."""

import re
from collections.abc import Iterator
from typing import Literal

Side = Literal["above", "below", "overleaf"]

_KIND = (
    r"(?:figures?|figs?\.?|charts?|diagrams?|exhibits?|schemes?|plates?|photos?|abbildungen|abbildung|abb\.?|bild|"
    r"schaubild|grafik|figuras?|figur|figuur|afbeelding|graphique|gráfico|grafico|рисунок|рис\.?|rysunek|rys\.|"
    r"obrázek|obr\.|kuva|図|图|圖|그림)"
)
_LABEL = r"(?:[A-Z]\.?)?\d+(?:[.\-\u2011]\d+)*|[IVXLC]+\b"
_PART = r"(?:\s?\(?[a-h]\)|[a-h]\b)?"  # the part of a figure: 3a, 3 (b)
_CAPTION = re.compile(rf"(?i:{_KIND})\s*({_LABEL}){_PART}(?=\s*[.:：|—–\-(]|\s*$|\s+[^\W\d_a-z])")
_JOINT = r"\s*(?:,\s*(?:and|und)?|and|und|et|y|e|&|to|bis|[-–])\s*"
_NAMED = re.compile(rf"(?<![^\W_])(?i:{_KIND})\s*((?:{_LABEL}){_PART}(?:{_JOINT}(?:{_LABEL}){_PART})*)")
_ONE = re.compile(rf"({_LABEL}){_PART}(\s*[-–]\s*|\s*to\s+|\s*bis\s+)?")
_THING = r"(?:figure|chart|diagram|graph|plot|picture|photograph|photo|drawing|image|illustration|map)"
_POINTED = re.compile(
    rf"\b(?:(?:the|this)\s+(?:(?P<side>above|following|next|preceding|previous)\s+{_THING}|{_THING}\s+"
    rf"(?P<after>above|below|overleaf|on the (?:next|following|previous) page))|see\s+(?P<see>overleaf))\b",
    re.IGNORECASE,
)
_SIDES: dict[str, Side] = {
    **dict.fromkeys(("above", "preceding", "previous"), "above"),
    **dict.fromkeys(("below", "following", "next"), "below"),
}
_MOST = 20  # figures in a range; larger ranges are about something else


def caption_label(text: str) -> str | None:
    """Return the printed number of a figure caption ("3" for "Figure 3a: Ships"), or None for other text."""
    match = _CAPTION.match(text)
    if match is None or (text[0].islower() and text[match.end() :].lstrip().startswith(".")):
        return None  # the middle of a sentence: "fig. 3. The scores ..." after a line that ends in "as in"
    return match[1]


def named_figures(text: str) -> Iterator[tuple[int, str]]:
    """Yield the position and number of each figure named in a text; "Figs. 2-4" names three."""
    for match in _NAMED.finditer(text):
        first = 0
        for one in _ONE.finditer(match[1]):
            label = one[1].rstrip(".-")
            low, _, high = label.partition("-")
            if high.isdecimal():  # "2-4" means the fourth figure of chapter 2, or three figures
                yield from _between(match.start(), int(low) - 1 if low.isdecimal() else 0, int(high) + 1)
            elif first and label.isdecimal():
                yield from _between(match.start(), first, int(label))
            first = int(label) if one[2] and label.isdecimal() else 0
            yield match.start(), label


def _between(place: int, first: int, last: int) -> Iterator[tuple[int, str]]:
    return ((place, str(number)) for number in range(first + 1, last) if last - first <= _MOST)


def pointed_figures(text: str) -> Iterator[tuple[int, Side]]:
    """Yield the positions where a text points to a figure above or below, with the direction."""
    for match in _POINTED.finditer(text):
        place = (match["side"] or match["after"] or match["see"]).lower()
        if "page" in place:
            place = "above" if "previous" in place else "overleaf"
        yield match.start(), _SIDES.get(place, "overleaf")
