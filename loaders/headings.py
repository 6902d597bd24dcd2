"""Which blocks of a PDF are headings, and of what level; its title; which lead to other pages: contents and indexes."""

import re
from collections import defaultdict
from collections.abc import Iterable, Sequence
from itertools import pairwise

from kgrag.loaders.blocks import ENDS, LARGER, LEADERS, SECTION, Block, page_of
from kgrag.loaders.page_lines import Line, PageLines

_MAX_HEADING = 180  # characters
_NUMBERING = re.compile(
    r"^(?:(?:chapter|section|appendix|part)\s+)?(?:\d+|[A-Z]|[IVX]+)(?:\.\d+)*[.:]?\s+(?=\S)", re.IGNORECASE
)
_ENTRY = re.compile(r".*(?:\s{0,2}\.){4,}\s*[\divxlc]{1,6}", re.DOTALL)
_NEAR_ENTRIES = re.compile(r".{0,90}\s[\divxlc]{1,6}|.{1,3}")  # a chapter without leaders, a letter of an index
_FEWEST_ENTRIES = 4

Contents = Sequence[tuple[int, str, int]]
"""The headings that a file itself names: level from 1, title, page."""


def guessed_levels(blocks: Iterable[Block], body: float) -> dict[int, int]:
    """Return the level of each heading, by the id of its block.

    Larger type than the body's, or a numbered line in bold.
    """
    found: list[tuple[Block, float, int | None]] = []
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
            found.append((block, round(line.size, 1), depth))
    if len(found) > 0.5 * paragraphs and paragraphs > 3:
        return {}  # slides, forms: what is large there heads nothing
    sizes = sorted({size for _, size, _ in found}, reverse=True)
    return {id(block): depth or min(6, sizes.index(size) + 1) for block, size, depth in found}


def listed_levels(blocks: Sequence[Block], guessed: dict[int, int], contents: Contents) -> dict[int, int]:
    """Return the levels of the headings in `contents`, by the id of their blocks; {} if most are missing.

    A heading that goes over several blocks becomes one. What was `guessed` to be a heading right above a listed one,
    "CHAPTER TWO", has level 0: it heads nothing.
    """
    wanted: defaultdict[tuple[int, str], list[int]] = defaultdict(list)
    for level, title, page in contents:
        wanted[page, _plain(title)].append(level)
    found: dict[int, int] = {}
    for i, block in enumerate(blocks):
        parts = [block]
        if block.grid is not None or block.caption or not 1 <= len(block.lines) <= 3:
            continue
        while True:
            page, text = block.lines[0][0], " ".join(part.text for part in parts)
            key = next((k for n in (page, page - 1) if (k := (n, _plain(text))) in wanted), None)
            if key is not None or len(parts) == 3 or i + len(parts) >= len(blocks):
                break
            more = blocks[i + len(parts)]
            if more.grid is not None or more.caption or len(more.lines) > 3 or len(text) > _MAX_HEADING:
                break
            parts.append(more)
        if key is None or id(block) in found:
            continue
        found[id(block)] = wanted[key].pop(0)
        if not wanted[key]:
            del wanted[key]
        for part in parts[1:]:
            block.lines.extend(part.lines)
            part.lines = []
    if len(found) < max(3, len(contents) / 2):
        return {}
    for one, other in pairwise([block for block in reversed(blocks) if block.lines]):
        if id(one) in found and id(other) in guessed and id(other) not in found and page_of(one) == page_of(other):
            found[id(other)] = 0
    return found


def _plain(text: str) -> str:
    """Return a heading without its number, its spaces and signs, in lower case."""
    return "".join(filter(str.isalnum, _NUMBERING.sub("", text, count=1).casefold()))


def title_of(pages: Sequence[PageLines], body: float) -> str:
    """Return the largest lines of the first page that has any, if they are larger than the body."""
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
    """Return whether a heading is the first of numbered ones, "1 Introduction", and so no title."""
    number = SECTION.match(heading)
    return number is not None and number[1] in ("1", "1.1")


def lists_of_pages(blocks: Iterable[Block]) -> set[int]:
    """Return the ids of the blocks of a table of contents or an index: several with leaders to a number."""
    found: set[int] = set()
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
                found.update(map(id, run))
            run, entries = [], 0
    return found
