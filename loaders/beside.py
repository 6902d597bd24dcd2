"""What stands in a file beside its text and is left out: one list of kinds, told in one way by all formats."""

from collections.abc import Mapping

from kgrag.loaders.base import Source, counted

TOLD = (
    "hidden sheet",
    "hidden slide",
    "hidden row",
    "hidden column",
    "hidden piece",
    "comment",
    "form value",
    "text box",
    "embedded part",
)
"""Somebody wrote it for readers who look for it: said of each file."""
SUMMED = (
    "deleted piece",
    "reading of characters",
    "running head",
    "running foot",
    "navigation bar",
    "page foot",
    "block of every page",
    "output of code",
)
"""Stands on every page, or is not to be read: the numbers of all files together are said."""


def tell(source: Source, left_out: Mapping[str, int]) -> None:
    """Note what was left out of a file, by kind, where its problems and the sums of a load are kept."""
    told = ", ".join(counted(left_out[kind], kind) for kind in TOLD if left_out.get(kind))
    if told:
        source.problems.append(f"holds {told}, left out")
    source.left_out.update({kind: count for kind, count in left_out.items() if kind in SUMMED and count})
