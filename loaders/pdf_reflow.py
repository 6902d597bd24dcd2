"""Turn the lines of a PDF's pages into paragraphs, headings and tables, without line breaks and running heads."""

import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Sequence
from itertools import groupby, pairwise

from kgrag.loaders.grid import with_head
from kgrag.loaders.outline import PagedOutline
from kgrag.loaders.pdf_blocks import (
    HYPHENS,
    ITEM,
    LEADERS,
    Block,
    Contents,
    blocks_of,
    find_captions,
    guessed_levels,
    join_paragraphs,
    join_tables,
    listed_levels,
    lists_of_pages,
    page_of,
    take_headers,
    title_of,
)
from kgrag.loaders.pdf_layout import Line, PageLines

_NEAR = 10  # pages before and after that are searched for the same running head
_MARGIN = 0.1  # share of a page's height at its top and bottom where running heads and feet are
_OUTER = 2  # rows at the top and bottom that may be heads and feet if the margins are wider
_DRIFT = 8.0  # points by which their positions may vary
_PAGE_NUMBER = re.compile(r"\d{1,5}")
_AT_END = re.compile(r"(?P<left>\d{1,5})(?:\s.*)?|.*\s(?P<right>\d{1,5})")
_ANY = "\2"  # replaces the text of a line beside the page number
_ROMAN = re.compile(r"[ivxlc]+|[IVXLC]+")


def drop_running(pages: Sequence[PageLines]) -> dict[str, int]:
    """Remove lines at the edges that repeat on other pages, with or without the page number.

    A line that begins or ends with the page number is removed whatever its text, which may change with the chapter.
    Returns the number of removed heads and feet.
    """
    places_of: defaultdict[tuple[bool, str, int], list[tuple[int, float]]] = defaultdict(list)
    marginal = [list(_marginal(page, few=len(pages) < 3)) for page in pages]
    for page, lines in zip(pages, marginal, strict=True):
        for line, at_top, y in lines:
            for text, offset in set(_signs(line, page)):
                places_of[at_top, text, offset].append((page.number, y))
    needed = min(3, len(pages))  # pages that must have the line
    left_out = {"running head": 0, "running foot": 0}
    for page, lines in zip(pages, marginal, strict=True):
        dropped = set()
        for line, at_top, y in lines:
            for text, offset in _signs(line, page):
                again = {
                    n
                    for n, other in places_of[at_top, text, offset]
                    if abs(n - page.number) <= _NEAR and abs(other - y) <= _DRIFT
                }
                if len(again) >= (3 if text == _ANY else max(2, needed)):
                    dropped.add(id(line))
        rest = [places for flow in page.flows if (places := [i for i in flow if id(i) not in dropped])]
        if rest or len({at_top for _, at_top, _ in lines}) == 2 or all(line.text.isdecimal() for line, _, _ in lines):
            page.flows = rest  # otherwise the lines are all that the page has, so keep them
            for line, at_top, _ in lines:
                if id(line) in dropped and not line.text.isdecimal():
                    left_out["running head" if at_top else "running foot"] += 1
                    dropped.discard(id(line))  # a line may be at both edges of a short page
    return left_out


def _marginal(page: PageLines, *, few: bool) -> Iterator[tuple[Line, bool, float]]:
    """Yield the lines at the edges, whether each is at the top, and its distance from the edge of the page.

    With only a `few` pages, outer rows may be equal by chance, so only lines with numbers count.
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
    """Yield the text of a line, then for each possible page number in it the text around it and its offset."""
    text, number = line.text, page.number
    yield text, 0
    at_end = _AT_END.fullmatch(text)
    marginal = line.bottom < _MARGIN * page.height or line.top > (1 - _MARGIN) * page.height or text.isdecimal()
    if marginal or at_end is not None:
        for match in list(_PAGE_NUMBER.finditer(text))[:4]:
            yield f"{text[: match.start()]}\0{text[match.end() :]}", int(match[0]) - number
    if marginal and at_end is not None:
        yield _ANY, int(at_end["left"] or at_end["right"]) - number
    if len(text) < 8 and _ROMAN.fullmatch(text):
        yield "\1", _roman(text.lower()) - number


def _roman(text: str) -> int:
    values = [{"i": 1, "v": 5, "x": 10, "l": 50, "c": 100}[c] for c in text]
    return sum(-v if after > v else v for v, after in zip(values, [*values[1:], 0], strict=True))


_NUMBER = re.compile(r"[-−–]?\d[\d,]*(?:\.\d+)?(?:%|[kKM]\b)?")
_FEWEST = 4  # numbers on one axis, or on two together
_SHORTEST = 3  # numbers on an axis next to another


def ticks(blocks: Iterable[Block]) -> set[int]:
    """Return the ids of blocks of axis labels: runs of nothing but numbers that go up or down in steps."""
    ids: set[int] = set()
    for (_, numeric), group in groupby(
        blocks, key=lambda block: (page_of(block) if block.lines else 0, _is_row(block))
    ):
        run = list(group)
        numbers = [number for block in run for number in _numbers(block.text)] if numeric else []
        if len(numbers) >= _FEWEST and _are_steps(numbers):
            ids.update(map(id, run))
    return ids


def _is_row(block: Block) -> bool:
    """Return whether a block consists of numbers only."""
    return (
        block.grid is None
        and not block.caption
        and not block.is_code
        and bool(block.lines)
        and not _NUMBER.sub("", block.text).strip()
    )


def _numbers(text: str) -> list[float]:
    cleaned = (re.sub(r"[,%kKM]", "", token).replace("−", "-").replace("–", "-") for token in _NUMBER.findall(text))
    return [float(token) for token in cleaned]


def _are_steps(numbers: Sequence[float]) -> bool:
    """Return whether numbers are one or more series with equal steps or equal ratios."""
    while numbers:
        length = max(_length([b - a for a, b in pairwise(numbers)]), _length(_ratios(numbers)))
        if length < _SHORTEST:
            return False
        numbers = numbers[length:]
    return True


def _ratios(numbers: Sequence[float]) -> list[float]:
    return [b / a if a and b != a else 0.0 for a, b in pairwise(numbers)]


def _length(steps: Sequence[float]) -> int:
    """Return how many numbers, from the first on, share the same nonzero step."""
    if not steps or not steps[0]:
        return 0
    return 1 + next((i for i, s in enumerate(steps) if abs(s - steps[0]) > 1e-6 * abs(steps[0])), len(steps))


_WORD = re.compile(r"[^\W\d_]+(?:-[^\W\d_]+)*")


def reflow(pages: Sequence[PageLines], outline: PagedOutline, contents: Contents = ()) -> str:
    """Put the pages' text and tables into an outline; return the largest text of the first pages, or "".

    `contents`: the bookmarks of the file as (level, title, page); without them, type and numbers show the headings.
    """
    outline.left_out.update(drop_running(pages))
    sizes = _sizes(pages)
    body = max(sizes, key=lambda size: (sizes[size], -size), default=0.0)
    words = Counter(w.lower() for line in _all_lines(pages) for w in _WORD.findall(line.text)[:-1])
    blocks = join_tables([block for page in pages for block in blocks_of(page, body)])
    find_captions(blocks)
    blocks = join_paragraphs(take_headers(blocks), body)
    levels = guessed_levels(blocks, body)
    levels = listed_levels(blocks, levels, contents) or levels
    lists = lists_of_pages(blocks)
    axes = ticks(blocks)
    for block in blocks:
        if block.grid is not None:
            if block.caption:
                outline.note(block.caption, block.page)
            cells = block.grid.cells if block.headed else with_head(block.grid.cells, usual=True)
            outline.table(cells, block.caption, block.page, block.last_page, headed=True)
        elif block.caption or not block.lines:  # already added with its table or with the heading before
            continue
        elif id(block) in lists or id(block) in axes:  # a table of contents, an index, or the labels of a chart
            for page, text in _text(block, words):
                outline.note(text, page, tight=True)
        elif (level := levels.get(id(block))) is not None:
            text = " ".join(text for _, text in _text(block, words))
            if level:
                outline.heading(level, text, block.lines[0][0])
            else:
                outline.note(text, block.lines[0][0])
        else:
            tight = ITEM.match(block.lines[0][1].text) is not None
            outline.add(_text(block, words), tight=tight)
    return title_of(pages, body)


def _text(block: Block, words: Counter[str]) -> list[tuple[int, str]]:
    """Return the block's text by pages; a word divided between pages is whole on the first.

    Lines of code stay separate and keep their indentation.
    """
    if block.is_code:
        left = min(line.x0 for _, line in block.lines)
        lines = (" " * round((line.x0 - left) / line.pitch) + line.text for _, line in block.lines)
        return [(block.lines[0][0], "\n".join(lines))]
    pieces: list[tuple[int, str]] = []
    for page, line in block.lines:
        text = LEADERS.sub(" … ", line.text).strip()
        if pieces and pieces[-1][1][-1:] in HYPHENS and text[:1].islower() and pieces[-1][1][-2:-1].isalpha():
            before, text = pieces[-1][1], text
            rest, _, text = text.partition(" ")
            pieces[-1] = (pieces[-1][0], _mend(before, rest, words))
            if not text:
                continue
        if pieces and pieces[-1][0] == page:
            joint = "" if "\u3040" <= pieces[-1][1][-1] <= "\u9fff" and "\u3040" <= text[0] <= "\u9fff" else " "
            pieces[-1] = (page, f"{pieces[-1][1]}{joint}{text}")
        else:
            pieces.append((page, text))
    return pieces


def _mend(before: str, rest: str, words: Counter[str]) -> str:
    """Join a divided word; it keeps its hyphen only if the document has it with a hyphen and never without."""
    if before[-1] == "-":
        start, end = _WORD.findall(before[:-1])[-1:], _WORD.match(rest)
        if start and end:
            one, other = f"{start[0]}{end[0]}".lower(), f"{start[0]}-{end[0]}".lower()
            if words[other] and not words[one]:
                return before + rest
    return before[:-1] + rest


def _all_lines(pages: Sequence[PageLines]) -> Iterator[Line]:
    return (item for page in pages for flow in page.flows for item in flow if isinstance(item, Line))


def _sizes(pages: Sequence[PageLines]) -> Counter[float]:
    """Return the number of characters set in each type size."""
    sizes: Counter[float] = Counter()
    for line in _all_lines(pages):
        sizes[round(line.size, 1)] += len(line.text)
    return sizes
