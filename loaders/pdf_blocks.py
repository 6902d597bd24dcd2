"""Group the lines of a PDF's pages into paragraphs and tables, and find the headings and their levels."""

import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from statistics import median

from kgrag.loaders.grid import with_head
from kgrag.loaders.pdf_layout import Grid, Line, PageLines, caption_number

LARGER = 1.12
"""A heading's type size, relative to the body's."""
ENDS = re.compile(r"[.!?:;…。！？]['\"”’»)\]]*$")
ITEM = re.compile(r"(?:[-–—•▪◦‣*]|\(?(?:\d{1,3}|[a-z]|[ivx]{1,4})[.)])\s")
LEADERS = re.compile(r"\s*(?:\s{0,2}\.){4,}\s*")
"""The dots of a table of contents."""
SECTION = re.compile(r"(\d{1,2}(?:\.\d{1,2}){0,4})\.?\s+[^\W\d_]")
HYPHENS = "-\u2010\u00ad"
_MAX_CAPTION = 500  # characters
_NEAR = 4.5  # type sizes between a table and its caption
_BELOW = 1000.0  # added to the distance of a caption below its table, since most are above
_CONTINUED = re.compile(r"\b(?:continued|cont(?:['’]d|\.))", re.IGNORECASE)


@dataclass(slots=True)
class Block:
    """A paragraph or heading (its lines with their pages), or a table; `headed`: its first row is surely a header."""

    lines: list[tuple[int, Line]] = field(default_factory=list)
    grid: Grid | None = None
    page: int = 0
    last_page: int = 0
    caption: str = ""
    headed: bool = False

    @property
    def text(self) -> str:
        """The lines, joined by spaces."""
        return " ".join(line.text for _, line in self.lines)

    @property
    def is_code(self) -> bool:
        """Whether the lines are code, which is never reflowed."""
        return bool(self.lines) and self.lines[0][1].pitch > 0


def blocks_of(page: PageLines, body: float) -> Iterator[Block]:
    """Yield the blocks of a page in reading order; `body` is the type size of the text in points."""
    for flow in page.flows:
        lines = [item for item in flow if isinstance(item, Line)]
        if lines:
            left, right = min(i.x0 for i in lines), max(i.x1 for i in lines)
            hanging = sum(i.x0 - left > 0.8 * i.size for i in lines) > 0.5 * len(lines)
            gaps = [b.top - a.bottom for a, b in pairwise(lines) if b.top > a.top]
            usual = median(gaps) if gaps else 0.0
        block: Block | None = None
        above: Line | None = None
        for item in flow:
            if isinstance(item, Grid):
                if block is not None:
                    yield block
                block, above = None, None
                last_page = page.number if len(item.cells) > 1 else 0  # a single row may end an earlier table
                yield Block(grid=item, page=page.number, last_page=last_page)
                continue
            if block is not None and above is not None and _breaks(above, item, left, right, usual, hanging, body):
                yield block
                block = None
            block = block or Block()
            block.lines.append((page.number, item))
            above = item
        if block is not None:
            yield block


def _breaks(above: Line, line: Line, left: float, right: float, usual: float, hanging: bool, body: float) -> bool:
    """Return whether a paragraph ends between two lines of one flow; `body` is the type size of the text."""
    size = max(above.size, line.size)
    if above.pitch or line.pitch:
        return not (above.pitch and line.pitch) or line.top - above.bottom > 1.5 * size
    if min(above.size, line.size) >= LARGER * body:
        # a heading may have several lines, unless another one begins
        other = abs(line.size - above.size) >= 0.06 * size or SECTION.match(line.text) is not None
        return other or line.top - above.bottom > 0.9 * size
    indented = line.x0 - left > 0.8 * size
    was_indented = above.x0 - left > 0.8 * size
    return (
        line.top - above.bottom > max(usual, 0) + 0.4 * size
        or abs(line.size - above.size) > 0.12 * size
        or line.bold != above.bold
        or ITEM.match(line.text) is not None
        or LEADERS.search(above.text) is not None
        or caption_number(line.text) is not None
        or (indented != was_indented and indented != hanging)
        or (above.x1 < right - 0.25 * (right - left) and ENDS.search(above.text) is not None)
    )


def join_paragraphs(blocks: Sequence[Block], body: float) -> list[Block]:
    """Join paragraphs that continue in the next column or on the next page; `body`: the type size of the text."""
    joined: list[Block] = []
    last: Block | None = None  # the last paragraph; tables may follow it
    for block in blocks:
        if block.grid is None and not block.caption and last is not None and _continues(last, block, body):
            last.lines.extend(block.lines)
            continue
        joined.append(block)
        if block.grid is None and not block.caption:
            last = block
    return joined


def _continues(one: Block, other: Block, body: float) -> bool:
    (page, above), (next_page, below) = one.lines[-1], other.lines[0]
    if above.pitch or below.pitch or below.size >= LARGER * body:  # headings never continue elsewhere
        return False
    if abs(above.size - below.size) > 0.06 * above.size or above.bold != below.bold or next_page - page > 1:
        return False
    moved = next_page != page or below.top < above.top
    if not moved and below.top - above.bottom < 3 * above.size:
        return False  # one is right below the other, so they were separated for a reason
    if ITEM.match(below.text):
        return False
    hyphenated = above.text[-1] in HYPHENS
    return below.text[0].islower() and (hyphenated or ENDS.search(above.text) is None)


# Tables.


def join_tables(blocks: Sequence[Block]) -> list[Block]:
    """Join tables that continue over a page break; a single row that remains becomes text."""
    joined: list[Block] = []
    for i, block in enumerate(blocks):
        grid = block.grid
        if grid is None:
            joined.append(block)
            continue
        place = len(joined) - 1
        if (
            place >= 0
            and joined[place].grid is None
            and _CONTINUED.search(joined[place].text)
            and len(joined[place].lines) == 1
        ):
            place -= 1  # "Table 2 (continued)"
        before = joined[place] if place >= 0 else None
        first_on_page = i == 0 or page_of(blocks[i - 1]) != block.page or place < len(joined) - 1
        if (
            before is not None
            and before.grid is not None
            and first_on_page
            and before.last_page == block.page - 1
            and _fit(before.grid, grid)
        ):
            rows = grid.cells[1:] if grid.cells[0] == before.grid.cells[0] else grid.cells
            before.grid = Grid(before.grid.cells + rows, before.grid.box, before.grid.title)
            before.last_page = block.page
            del joined[place + 1 :]
        elif len(grid.cells) > 1 or _goes_on(block, grid, blocks[i + 1 :]):
            joined.append(block)
            block.last_page = block.page
        else:
            x0, top, x1, bottom = grid.box
            text = " ".join(filter(None, grid.cells[0]))
            joined.append(Block([(block.page, Line(text, x0, x1, top, bottom, 0.0, False))]))
    return joined


def _goes_on(block: Block, grid: Grid, after: Sequence[Block]) -> bool:
    """Return whether a row at the end of a page is the header of the table that begins the next one."""
    other = after[0].grid if after else None
    return other is not None and after[0].page == block.page + 1 and _fit(grid, other)


def page_of(block: Block) -> int:
    """Return the page on which a block ends, or begins if it is a table."""
    return block.lines[-1][0] if block.grid is None else block.page


def _fit(one: Grid, other: Grid) -> bool:
    """Return whether two grids have the same columns."""
    near = max(8.0, 0.06 * (one.box[2] - one.box[0]))
    return (
        len(one.cells[0]) == len(other.cells[0])
        and abs(one.box[0] - other.box[0]) <= near
        and abs(one.box[2] - other.box[2]) <= 3 * near
    )


def find_captions(blocks: list[Block]) -> None:
    """Assign captions to tables: from the text above or below, or from the first row."""
    captions = [
        b for b in blocks if b.grid is None and caption_number(b.text) is not None and len(b.text) < _MAX_CAPTION
    ]
    tables = [(b, b.grid) for b in blocks if b.grid is not None]
    pairs = [
        (distance, i, j)
        for i, (block, grid) in enumerate(tables)
        for j, caption in enumerate(captions)
        if caption.lines[0][0] == block.page and (distance := _distance(grid, [line for _, line in caption.lines])) >= 0
    ]
    near = Counter(i for _, i, _ in pairs)
    below = Counter(distance >= _BELOW for distance, i, j in pairs if near[i] == 1)
    if below[True] > below[False]:  # a document has all its captions on one side
        pairs = [(distance % _BELOW + _BELOW * (distance < _BELOW), i, j) for distance, i, j in pairs]
    for _, i, j in sorted(pairs):
        block, caption = tables[i][0], captions[j]
        if not block.caption and not caption.caption:
            block.caption = caption.caption = caption.text
    for block, grid in tables:
        block.caption = block.caption or grid.title


def take_headers(blocks: Sequence[Block]) -> list[Block]:
    """Move a line close above a table without a header into it if it has a word for each column: "File Size"."""
    for above, block in pairwise(blocks):
        grid = block.grid
        if grid is None or not above.lines or above.caption or with_head(grid.cells, usual=True) == grid.cells:
            continue
        page, last = above.lines[-1]
        names = last.text.split()
        close = page == block.page and 0 < grid.box[1] - last.bottom < last.size
        if close and len(names) == len(grid.cells[0]) and all(name.istitle() for name in names):
            block.grid, block.headed = Grid([names, *grid.cells], grid.box, grid.title), True
            above.lines.pop()
    return [block for block in blocks if block.lines or block.grid is not None]


def _distance(grid: Grid, caption: Sequence[Line]) -> float:
    """Return how far a caption is above a table in points, plus _BELOW if it is below; -1 if it is not near."""
    x0, top, x1, bottom = grid.box
    if min(line.x0 for line in caption) > x1 or max(line.x1 for line in caption) < x0:
        return -1.0
    above, below = top - caption[-1].bottom, caption[0].top - bottom
    near = _NEAR * caption[0].size
    if -near < above < near:
        return abs(above)
    return _BELOW + abs(below) if -near < below < near else -1.0


_MAX_HEADING = 180  # characters
_NUMBERING = re.compile(
    r"^(?:(?:chapter|section|appendix|part)\s+)?(?:\d+|[A-Z]|[IVX]+)(?:\.\d+)*[.:]?\s+(?=\S)", re.IGNORECASE
)
_ENTRY = re.compile(r".*(?:\s{0,2}\.){4,}\s*[\divxlc]{1,6}", re.DOTALL)
_NEAR_ENTRIES = re.compile(r".{0,90}\s[\divxlc]{1,6}|.{1,3}")  # a chapter without leaders, or a letter of an index
_FEWEST_ENTRIES = 4

Contents = Sequence[tuple[int, str, int]]
"""The bookmarks of a file: level from 1, title, page."""


def guessed_levels(blocks: Iterable[Block], body: float) -> dict[int, int]:
    """Return the level of each heading, by the id of its block.

    A heading is set in larger type than the body, or is a numbered line in bold.
    """
    headings: list[tuple[Block, float, int | None]] = []
    paragraphs = 0
    for block in blocks:
        if block.grid is not None or block.caption or block.is_code:
            continue
        paragraphs += 1
        text, (_, line) = block.text, block.lines[0]
        if len(text) > _MAX_HEADING or len(block.lines) > 3 or not any(map(str.isalpha, text)) or LEADERS.search(text):
            continue
        numbered = SECTION.match(text)
        depth = numbered[1].count(".") + 1 if numbered else None
        if line.size >= LARGER * body or (
            line.bold and line.size >= 0.95 * body and (numbered or len(text) < 80) and not ENDS.search(text)
        ):
            headings.append((block, round(line.size, 1), depth))
    if len(headings) > 0.5 * paragraphs and paragraphs > 3:
        return {}  # on slides and forms, large type does not mark headings
    sizes = sorted({size for _, size, _ in headings}, reverse=True)
    return {id(block): depth or min(6, sizes.index(size) + 1) for block, size, depth in headings}


def listed_levels(blocks: Sequence[Block], guessed: dict[int, int], contents: Contents) -> dict[int, int]:
    """Return the levels of the headings in `contents`, by the id of their blocks; {} if most are missing.

    A heading split over several blocks becomes one. A `guessed` heading right above a listed one, "CHAPTER TWO", gets
    level 0 because it heads nothing.
    """
    open_titles: defaultdict[tuple[int, str], list[int]] = defaultdict(list)
    for level, title, page in contents:
        open_titles[page, _plain(title)].append(level)
    levels: dict[int, int] = {}
    for i, block in enumerate(blocks):
        parts = [block]
        if block.grid is not None or block.caption or not 1 <= len(block.lines) <= 3:
            continue
        while True:
            page, text = block.lines[0][0], " ".join(part.text for part in parts)
            key = next((k for n in (page, page - 1) if (k := (n, _plain(text))) in open_titles), None)
            if key is not None or len(parts) == 3 or i + len(parts) >= len(blocks):
                break
            more = blocks[i + len(parts)]
            if more.grid is not None or more.caption or len(more.lines) > 3 or len(text) > _MAX_HEADING:
                break
            parts.append(more)
        if key is None or id(block) in levels:
            continue
        levels[id(block)] = open_titles[key].pop(0)
        if not open_titles[key]:
            del open_titles[key]
        for part in parts[1:]:
            block.lines.extend(part.lines)
            part.lines = []
    if len(levels) < max(3, len(contents) / 2):
        return {}
    for one, other in pairwise([block for block in reversed(blocks) if block.lines]):
        if id(one) in levels and id(other) in guessed and id(other) not in levels and page_of(one) == page_of(other):
            levels[id(other)] = 0
    return levels


def _plain(text: str) -> str:
    """Return a heading in lower case without its number, spaces and punctuation."""
    return "".join(filter(str.isalnum, _NUMBERING.sub("", text, count=1).casefold()))


def title_of(pages: Sequence[PageLines], body: float) -> str:
    """Return the largest lines of the first page with text, if they are larger than the body."""
    for page in pages[:3]:
        lines = [item for flow in page.flows for item in flow if isinstance(item, Line)]
        if not lines:
            continue
        largest = max(line.size for line in lines)
        if largest < 1.2 * body:
            return ""
        text = " ".join(line.text for line in lines if line.size > 0.95 * largest)
        return text if len(text) <= 2 * _MAX_HEADING and not is_first_section(text) else ""
    return ""


def is_first_section(heading: str) -> bool:
    """Return whether a heading is the first numbered one, "1 Introduction", and so not a title."""
    number = SECTION.match(heading)
    return number is not None and number[1] in ("1", "1.1")


def lists_of_pages(blocks: Iterable[Block]) -> set[int]:
    """Return the ids of the blocks of tables of contents and indexes: several blocks with leaders to a number."""
    ids: set[int] = set()
    run: list[Block] = []
    entries = 0
    for block in [*blocks, None]:
        text = block.text if block is not None and block.grid is None and not block.is_code else None
        if block is not None and text is not None and _ENTRY.fullmatch(text):
            run.append(block)
            entries += 1
        elif block is not None and text is not None and run and _NEAR_ENTRIES.fullmatch(text):
            run.append(block)
        else:
            if entries >= max(_FEWEST_ENTRIES, len(run) / 2):
                ids.update(map(id, run))
            run, entries = [], 0
    return ids
