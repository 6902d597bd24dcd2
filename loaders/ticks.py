"""The numbers along the axes of a PDF's charts, which say nothing without the chart."""

import re
from collections.abc import Iterable, Sequence
from itertools import groupby, pairwise

from kgrag.loaders.blocks import Block, page_of

_NUMBER = re.compile(r"[-−–]?\d[\d,]*(?:\.\d+)?(?:%|[kKM]\b)?")
_FEWEST = 4  # numbers of an axis, or of two
_SHORTEST = 3  # numbers of one axis beside another


def ticks(blocks: Iterable[Block]) -> set[int]:
    """The ids of the blocks that are such numbers: runs of blocks of nothing else, which count up or down by steps."""
    found: set[int] = set()
    for (_, numeric), group in groupby(
        blocks, key=lambda block: (page_of(block) if block.lines else 0, _is_row(block))
    ):
        run = list(group)
        numbers = [number for block in run for number in _numbers(block.text)] if numeric else []
        if len(numbers) >= _FEWEST and _are_steps(numbers):
            found.update(map(id, run))
    return found


def _is_row(block: Block) -> bool:
    """Whether a block is numbers alone."""
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
    """Whether numbers are rows of equal steps, or of equal ratios, one after the other."""
    while numbers:
        length = max(_length([b - a for a, b in pairwise(numbers)]), _length(_ratios(numbers)))
        if length < _SHORTEST:
            return False
        numbers = numbers[length:]
    return True


def _ratios(numbers: Sequence[float]) -> list[float]:
    return [b / a if a and b != a else 0.0 for a, b in pairwise(numbers)]


def _length(steps: Sequence[float]) -> int:
    """How many numbers from the first on have the same step, which is not 0."""
    if not steps or not steps[0]:
        return 0
    return 1 + next((i for i, s in enumerate(steps) if abs(s - steps[0]) > 1e-6 * abs(steps[0])), len(steps))
