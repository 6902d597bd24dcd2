"""Running heads and feet of a PDF: lines in the margins that come again on other pages."""

import re
from collections import defaultdict
from collections.abc import Iterator, Sequence

from kgrag.loaders.page_lines import Line, PageLines

_NEAR = 10  # pages before and after on which a running head is looked for
_MARGIN = 0.1  # share of a page's height, at its top and bottom, in which running heads and feet stand
_DRIFT = 8.0  # points by which they may wander
_NUMBER = re.compile(r"\d{1,5}")
_ROMAN = re.compile(r"[ivxlc]+|[IVXLC]+")


def drop_running(pages: Sequence[PageLines]) -> None:
    """Take out lines in the margins that come again on other pages, with the page's number or without."""
    found: defaultdict[tuple[bool, str, int], list[tuple[int, float]]] = defaultdict(list)
    marginal = [list(_marginal(page)) for page in pages]
    for page, lines in zip(pages, marginal, strict=True):
        for line, at_top, y in lines:
            for text, offset in _signs(line.text, page.number):
                found[at_top, text, offset].append((page.number, y))
    needed = min(3, len(pages))
    for page, lines in zip(pages, marginal, strict=True):
        dropped = set()
        for line, at_top, y in lines:
            for text, offset in _signs(line.text, page.number):
                again = {
                    n
                    for n, other in found[at_top, text, offset]
                    if abs(n - page.number) <= _NEAR and abs(other - y) <= _DRIFT
                }
                if needed > 1 and len(again) >= needed:
                    dropped.add(id(line))
        rest = [kept for flow in page.flows if (kept := [i for i in flow if id(i) not in dropped])]
        page.flows = rest or page.flows  # a page of nothing else says just that


def _marginal(page: PageLines) -> Iterator[tuple[Line, bool, float]]:
    """The lines in the margins, whether at the top, and how far from the edge."""
    for flow in page.flows:
        for item in flow:
            if isinstance(item, Line):
                if item.bottom < _MARGIN * page.height:
                    yield item, True, item.top
                elif item.top > (1 - _MARGIN) * page.height:
                    yield item, False, page.height - item.bottom


def _signs(text: str, page: int) -> Iterator[tuple[str, int]]:
    """The text itself; and for each number in it that may be the page's, the text around it and its offset."""
    yield text, 0
    for match in list(_NUMBER.finditer(text))[:4]:
        yield f"{text[: match.start()]}\0{text[match.end() :]}", int(match[0]) - page
    if len(text) < 8 and _ROMAN.fullmatch(text):
        yield "\1", _roman(text.lower()) - page


def _roman(text: str) -> int:
    values = [{"i": 1, "v": 5, "x": 10, "l": 50, "c": 100}[c] for c in text]
    return sum(-v if after > v else v for v, after in zip(values, [*values[1:], 0], strict=True))
