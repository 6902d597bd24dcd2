"""Running heads and feet of a PDF: lines at the edges of pages that come again on other pages, and page numbers."""

import re
from collections import defaultdict
from collections.abc import Iterator, Sequence

from kgrag.loaders.page_lines import Line, PageLines

_NEAR = 10  # pages before and after on which a running head is looked for
_MARGIN = 0.1  # share of a page's height, at its top and bottom, in which running heads and feet stand
_OUTER = 2  # rows at the top and bottom that may be heads and feet where the margins are wider
_DRIFT = 8.0  # points by which they may wander
_NUMBER = re.compile(r"\d{1,5}")
_AT_END = re.compile(r"(?P<left>\d{1,5})(?:\s.*)?|.*\s(?P<right>\d{1,5})")
_ANY = "\2"  # stands for whatever a line says beside the page's number
_ROMAN = re.compile(r"[ivxlc]+|[IVXLC]+")


def drop_running(pages: Sequence[PageLines]) -> dict[str, int]:
    """Take out lines at the edges that come again on other pages, with the page's number or without.

    A line that begins or ends with the page's number goes whatever else it says, which may change with the chapter.
    Returns how many heads and feet those are.
    """
    found: defaultdict[tuple[bool, str, int], list[tuple[int, float]]] = defaultdict(list)
    marginal = [list(_marginal(page, few=len(pages) < 3)) for page in pages]
    for page, lines in zip(pages, marginal, strict=True):
        for line, at_top, y in lines:
            for text, offset in set(_signs(line, page)):
                found[at_top, text, offset].append((page.number, y))
    needed = min(3, len(pages))  # pages that have it
    left_out = {"running head": 0, "running foot": 0}
    for page, lines in zip(pages, marginal, strict=True):
        dropped = set()
        for line, at_top, y in lines:
            for text, offset in _signs(line, page):
                again = {
                    n
                    for n, other in found[at_top, text, offset]
                    if abs(n - page.number) <= _NEAR and abs(other - y) <= _DRIFT
                }
                if len(again) >= (3 if text == _ANY else max(2, needed)):
                    dropped.add(id(line))
        rest = [kept for flow in page.flows if (kept := [i for i in flow if id(i) not in dropped])]
        if rest or len({at_top for _, at_top, _ in lines}) == 2 or all(line.text.isdecimal() for line, _, _ in lines):
            page.flows = rest  # else a page of one line says just that
            for line, at_top, _ in lines:
                if id(line) in dropped and not line.text.isdecimal():
                    left_out["running head" if at_top else "running foot"] += 1
                    dropped.discard(id(line))  # it may stand at both edges of a page of few lines
    return left_out


def _marginal(page: PageLines, *, few: bool) -> Iterator[tuple[Line, bool, float]]:
    """Yield the lines at the edges, whether at the top, and how far from the edge of the page.

    Of `few` pages the outer rows may be alike by chance: there only numbers count.
    """
    lines = [item for flow in page.flows for item in flow if isinstance(item, Line)]
    tops, bottoms = sorted({round(i.top) for i in lines}), sorted({round(i.bottom) for i in lines}, reverse=True)
    for item in lines:
        outer = _OUTER if not few or item.text.isdecimal() else 0
        if item.bottom < _MARGIN * page.height or round(item.top) in tops[:outer]:
            yield item, True, item.top
        elif item.top > (1 - _MARGIN) * page.height or round(item.bottom) in bottoms[:outer]:
            yield item, False, page.height - item.bottom


def _signs(line: Line, page: PageLines) -> Iterator[tuple[str, int]]:
    """Yield the text itself; and for each possible page number in it, the text around it and its offset."""
    text, number = line.text, page.number
    yield text, 0
    at_end = _AT_END.fullmatch(text)
    marginal = line.bottom < _MARGIN * page.height or line.top > (1 - _MARGIN) * page.height or text.isdecimal()
    if marginal or at_end is not None:
        for match in list(_NUMBER.finditer(text))[:4]:
            yield f"{text[: match.start()]}\0{text[match.end() :]}", int(match[0]) - number
    if marginal and at_end is not None:
        yield _ANY, int(at_end["left"] or at_end["right"]) - number
    if len(text) < 8 and _ROMAN.fullmatch(text):
        yield "\1", _roman(text.lower()) - number


def _roman(text: str) -> int:
    values = [{"i": 1, "v": 5, "x": 10, "l": 50, "c": 100}[c] for c in text]
    return sum(-v if after > v else v for v, after in zip(values, [*values[1:], 0], strict=True))
