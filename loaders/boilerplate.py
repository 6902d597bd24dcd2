"""What the HTML pages of a folder have in common around their text: blocks at the start and end, the end of titles.

Only short blocks go, that stand there in most pages of the folder, and only from the edges inwards: what stands between
other text stays, however often it comes again, and so does a page that holds nothing else.
"""

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from kgrag.values.documents import Document, Section

_SAMPLE = 12  # pages of a folder that are compared
_FEWEST = 4  # pages that must have it
_DEPTH = 4  # blocks at each edge that are looked at
_LONGEST = 200  # characters of a block
_SEPARATORS = (" — ", " – ", " | ", " - ", " :: ", " · ")


@dataclass(frozen=True, slots=True)
class Boilerplate:
    """The blocks that pages begin with, those that they end with, and what their titles end with."""

    head: frozenset[str] = frozenset()
    tail: frozenset[str] = frozenset()
    title: str = ""

    def cut(self, document: Document) -> Document:
        """Return the document without boilerplate; the same when nothing else would remain."""
        sections = _cut(_cut(document.sections, self.head, first=True), self.tail, first=False)
        title = document.title.removesuffix(self.title).strip() or document.title
        return replace(document, sections=sections or document.sections, title=title)


def sample(page: Path, extensions: Sequence[str]) -> list[Path]:
    """Return the pages to compare, of the folder of `page`: the first by name."""
    found = (p for p in page.parent.iterdir() if p.suffix.lower() in extensions and not p.name.startswith("."))
    return sorted(p for p in found if p.is_file() and not p.is_symlink())[:_SAMPLE]


def boilerplate(documents: Sequence[Document]) -> Boilerplate:
    """Return the common beginnings and ends of most of the documents; nothing for fewer than four."""
    needed = max(_FEWEST, len(documents) // 2 + 1)
    blocks = [[b for s in d.sections for b in s.text.split("\n\n")] for d in documents]
    ends = [d.title[d.title.rindex(s) :] for d in documents if (s := _last_separator(d.title))]
    return Boilerplate(
        _common((b[:_DEPTH] for b in blocks), needed),
        _common((b[-_DEPTH:] for b in blocks), needed),
        next(iter(_common(([end] for end in ends), needed)), ""),
    )


def _common(edges: Iterable[Sequence[str]], needed: int) -> frozenset[str]:
    counts = Counter(block for edge in edges for block in set(edge) if len(block) <= _LONGEST)
    return frozenset(block for block, n in counts.items() if n >= needed)


def _last_separator(title: str) -> str:
    return max(_SEPARATORS, key=title.rfind) if any(s in title for s in _SEPARATORS) else ""


def _cut(sections: Sequence[Section], unwanted: frozenset[str], *, first: bool) -> tuple[Section, ...]:
    """Return the sections without unwanted blocks at the first edge, or at the last."""
    left = list(sections)
    place = 0 if first else -1
    while left:
        blocks = left[place].text.split("\n\n")
        while blocks and blocks[place] in unwanted:
            del blocks[place]
        if blocks:
            left[place] = replace(left[place], text="\n\n".join(blocks))
            break
        del left[place]
    return tuple(left)
