"""Find the pictures and drawings of a PDF page and their captions, in the reading process.

Marks drawn close together form a cluster. A caption, "Figure 3: ...", takes the clusters between it and the nearest
text above it, or else below it. Photographs that remain become figures without a caption.
"""

import io
import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

import pypdfium2

from kgrag.loaders.figures import DECORATION, POINTS, SMALLEST
from kgrag.loaders.pdf_layout import Box, Segment, box_of, caption_number, holds, union
from kgrag.text.figure_labels import caption_label

_CELL = 6.0  # points; marks in touching cells belong together
_MOST_MARKS = 20_000  # read per page; a map has more, but more add nothing
_FEWEST_MARKS = 3  # per drawing, so that a frame and a rule are not one
_PAGE = 0.85  # a mark over a larger share of the page's area is a background
_PROSE = 8  # a line with as many words is not a label of a drawing
_LABEL = 16.0  # points between a drawing and its labels
_NEAR = 60.0  # points between a caption and its figure
_PARTS = 100.0  # points between the parts of a figure that are side by side
_LINES = 15  # lines of the longest caption
_NAME = 3  # words of a line that says only "Figure 3 (a)"
_WIDER = 1.3  # caption widths; a wider line belongs to the text beneath
_DOTS = 150 / 72  # pixels per point
_SIDE = 2000  # pixels of the longest side
_HEAVY = 1 << 20  # a PNG of more bytes is a photograph, stored as JPEG
_SPACE = re.compile(r"\s+")


@dataclass(slots=True)
class _Cluster:
    box: Box
    marks: int = 0
    images: list[dict[str, Any]] = field(default_factory=list)

    @property
    def is_figure(self) -> bool:
        x0, top, x1, bottom = self.box
        return min(x1 - x0, bottom - top) >= POINTS and (bool(self.images) or self.marks >= _FEWEST_MARKS)


@dataclass(slots=True)
class Region:
    """A figure on a page: its box, its caption, and the object number of its picture in the file (0: a drawing)."""

    box: Box
    caption: str = ""
    picture: int = 0


def regions(page: Any, parts: Sequence[Segment], tables: Sequence[Box], visible: Box, left_out: Any) -> list[Region]:
    """Return the figures of a pdfplumber page from top to bottom; `visible` is the visible part of the page."""
    clusters = [
        c for c in _clusters(list(_marks(page, tables, visible, bool(parts), left_out)), visible) if c.is_figure
    ]
    captions = [(part, *_caption(part, parts)) for part in parts if caption_label(part.text) is not None]
    if not clusters:
        return []
    walls = [p.box for p in parts if p.words >= _PROSE and not any(holds(c.box, p.box, 1) for c in clusters)]
    boxes = [box for _, box, _ in captions]
    walls += [*boxes, *tables]
    result: list[Region] = []
    ways = [tuple(_beyond(box, clusters, walls, boxes, up=up) for up in (True, False)) for box in boxes]
    below = sum(bool(down and not up) for up, down in ways) > sum(bool(up and not down) for up, down in ways)
    for (_, box, text), (up, down) in sorted(zip(captions, ways, strict=True), key=lambda pair: pair[0][1][1]):
        free = [[c for c in way if c in clusters] for way in ((down, up) if below else (up, down))]
        group = next(filter(None, [*free, [c for c in clusters if _beside(c.box, box)]]), [])
        if group:
            clusters = [c for c in clusters if c not in group]
            around = _with_labels(union(c.box for c in group), page, parts, walls, visible)
            result.append(Region(around, text, _picture(group)))
    for cluster in clusters:
        if cluster.images:
            around = union(map(box_of, cluster.images))
            result.append(Region(_clip(around, visible), "", _picture([cluster])))
    return sorted(result, key=lambda region: (region.box[1], region.box[0]))


class Drawer:
    """Renders parts of a PDF's pages; close it."""

    def __init__(self, path: Any) -> None:
        self._pdf = pypdfium2.PdfDocument(path)

    def close(self) -> None:
        """Close the file."""
        self._pdf.close()

    def draw(self, number: int, box: Box, visible: Box, turn: int) -> bytes:
        """Render a box of a page, turned clockwise by `turn` degrees, as a PNG, or as a JPEG if that is too large."""
        page = self._pdf[number - 1]
        x0, top, x1, bottom = box
        scale = min(_DOTS, _SIDE / max(x1 - x0, bottom - top))
        crop = (x0 - visible[0], visible[3] - bottom, visible[2] - x1, top - visible[1])
        picture = page.render(scale=scale, rotation=turn, crop=tuple(max(0.0, edge) for edge in crop)).to_pil()
        page.close()
        out = io.BytesIO()
        picture.save(out, "PNG")
        if out.tell() > _HEAVY:
            out = io.BytesIO()
            picture.convert("RGB").save(out, "JPEG", quality=85)
        return out.getvalue()


def _marks(
    page: Any, tables: Sequence[Box], visible: Box, with_text: bool, left_out: Any
) -> Iterator[tuple[Box, dict[str, Any] | None]]:
    """Yield the boxes of the marks on a page, each with its picture or None for a drawing."""
    area = (visible[2] - visible[0]) * (visible[3] - visible[1])
    marks = [
        *((i, i) for i in page.images),
        *((o, None) for k in ("rects", "curves", "lines") for o in getattr(page, k)),
    ]
    for one, image in marks[:_MOST_MARKS]:
        box = _clip(box_of(one), visible)
        width, height = box[2] - box[0], box[3] - box[1]
        if width < 0 or height < 0:
            continue
        if width * height > _PAGE * area:
            left_out[DECORATION] += image is not None and with_text
        elif image is not None and (min(width, height) < POINTS or min(image["srcsize"]) < SMALLEST):
            left_out[DECORATION] += 1
        elif image is not None or not any(holds(table, box, 1) for table in tables):
            yield box, image


def _clusters(marks: list[tuple[Box, dict[str, Any] | None]], visible: Box) -> list[_Cluster]:
    """Group marks that lie in touching cells of the page."""
    across = int((visible[2] - visible[0]) / _CELL) + 2
    owner: dict[int, int] = {}  # cell -> mark
    parent = list(range(len(marks)))

    def root(of: int) -> int:
        while parent[of] != of:
            parent[of] = of = parent[parent[of]]
        return of

    for number, (box, _) in enumerate(marks):
        x0, top, x1, bottom = (int((edge - visible[i % 2]) / _CELL) for i, edge in enumerate(box))
        for row in range(top - 1, bottom + 2):
            for column in range(x0 - 1, x1 + 2):
                other = owner.setdefault(row * across + column, number)
                if other != number:
                    parent[root(other)] = root(number)
    clusters: dict[int, _Cluster] = {}
    for number, (box, image) in enumerate(marks):
        cluster = clusters.setdefault(root(number), _Cluster(box))
        cluster.box = union((cluster.box, box))
        cluster.marks += 1
        cluster.images.extend([] if image is None else [image])
    return list(clusters.values())


def _caption(first: Segment, parts: Sequence[Segment]) -> tuple[Box, str]:
    """Return the box and the text of the caption that begins with a segment."""
    box, lines, last = first.box, [first.text], first
    for part in sorted(parts, key=lambda p: (round(p.top), p.x0)):
        if part is first or part.table is not None or part.middle < first.top or len(lines) > _LINES:
            continue
        same = abs(part.middle - last.middle) < 0.4 * first.size
        beside = same and 0 <= part.x0 - last.x1 < 2.5 * first.size
        under = not same and part.top - last.bottom < 0.75 * first.size and part.x0 < box[2] and part.x1 > box[0]
        other = abs(part.size - first.size) > 0.06 * first.size or caption_label(part.text) or caption_number(part.text)
        ended = under and last.words > _NAME and part.x1 - part.x0 > _WIDER * (box[2] - box[0])
        if ended or ((beside or under) and other):
            break
        if beside or under:
            box, last = union((box, part.box)), part
            lines.append(part.text)
        elif part.top - last.bottom > 2 * first.size:
            break
    text = " ".join(lines).replace("\u00ad ", "")
    return box, _SPACE.sub(" ", re.sub(r"(?<=[^\W\d_])[-\u2010] (?=[^\W\d_A-Z])", "", text))


def _beyond(
    caption: Box, clusters: Sequence[_Cluster], walls: Sequence[Box], captions: Sequence[Box], *, up: bool
) -> list[_Cluster]:
    """Return the clusters between a caption and the next text above (`up`) or below it, if the first is near."""
    sign = -1 if up else 1
    edge = caption[1] if up else caption[3]  # distances are measured from here, away from the caption
    near = [
        (sign * ((c.box[3] if up else c.box[1]) - edge), c)
        for c in clusters
        if _overlap(c.box, caption) > 0 and sign * ((c.box[1] + c.box[3]) / 2 - edge) > 0
    ]
    if not near:
        return []
    distance, first = min(near, key=lambda pair: pair[0])
    band = union((first.box, caption))
    stops = [
        sign * ((wall[3] if up else wall[1]) - edge)
        for wall in walls
        if wall != caption and _overlap(wall, band) > 0 and sign * ((wall[1] + wall[3]) / 2 - edge) > 0
    ]
    stop = min(stops, default=float("inf"))
    if distance > min(_NEAR, stop + 1):
        return []
    within = [c for _, c in near if sign * ((c.box[1] + c.box[3]) / 2 - edge) < stop]
    others = [c for c in captions if c != caption]
    beside = [c for c in clusters if c not in within and not any(_captions(other, c.box) for other in others)]
    beside = [
        c
        for c in beside
        if any(_beside(c.box, o.box) and _overlap(c.box, o.box) > -_PARTS for o in within)
        and not any(_beside(wall, c.box) and _between(wall, c.box, band) for wall in walls)
    ]
    return [*within, *beside]


def _with_labels(box: Box, page: Any, parts: Sequence[Segment], walls: Sequence[Box], visible: Box) -> Box:
    """Return the box of a drawing with the labels beside it."""
    texts = [p.box for p in parts if p.words < _PROSE and p.table is None]
    texts += [box_of(char) for char in page.chars if not char["upright"]]
    texts = [text for text in texts if text not in walls and not any(holds(wall, text, 1) for wall in walls)]
    for reach in (_LABEL, _LABEL / 2):
        x0, top, x1, bottom = box
        near = (x0 - reach, top - reach, x1 + reach, bottom + reach)
        box = union((box, *(text for text in texts if _meet(near, text) and text[2] - text[0] <= 1.2 * (x1 - x0))))
    stops = [wall for wall in walls if _overlap(wall, box) > 0]
    top = max([box[1] - 2, *(wall[3] for wall in stops if wall[3] <= box[1])])
    bottom = min([box[3] + 2, *(wall[1] for wall in stops if wall[1] >= box[3])])
    return _clip((box[0] - 4, top, box[2] + 4, bottom), visible)


def _picture(clusters: Iterable[_Cluster]) -> int:
    """Return the object number of the clusters' only picture, or 0 unless there is exactly one."""
    images = [image for cluster in clusters for image in cluster.images]
    return int(getattr(images[0].get("stream"), "objid", 0) or 0) if len(images) == 1 else 0


def _clip(box: Box, visible: Box) -> Box:
    return max(box[0], visible[0]), max(box[1], visible[1]), min(box[2], visible[2]), min(box[3], visible[3])


def _meet(one: Box, other: Box) -> bool:
    return one[0] <= other[2] and other[0] <= one[2] and one[1] <= other[3] and other[1] <= one[3]


def _overlap(one: Box, other: Box) -> float:
    """Return the horizontal overlap of two boxes, negative if they do not overlap."""
    return min(one[2], other[2]) - max(one[0], other[0])


def _beside(one: Box, other: Box) -> bool:
    """Return whether two boxes are side by side: they share more than half of the smaller height."""
    shared = min(one[3], other[3]) - max(one[1], other[1])
    return shared > 0.5 * min(one[3] - one[1], other[3] - other[1])


def _captions(caption: Box, box: Box) -> bool:
    """Return whether a caption is close above or below a box."""
    return _overlap(caption, box) > 0 and -_CELL < max(box[1] - caption[3], caption[1] - box[3]) < _NEAR


def _between(wall: Box, one: Box, other: Box) -> bool:
    return min(one[2], other[2]) <= (wall[0] + wall[2]) / 2 <= max(one[0], other[0])
