"""Recognise the characters and ruled lines on pictures of pages; runs in reading processes only.

The models come with the wheel of RapidOCR (PP-OCRv6: Latin, Chinese and Japanese script) and are given by path, so
nothing is ever downloaded. A picture is set upright first, so that each line is a box that can be cut out directly.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from functools import cache, cached_property
from importlib.util import find_spec
from itertools import pairwise
from pathlib import Path
from statistics import median
from typing import Any

import cv2
import numpy as np
from numpy.typing import NDArray
from pdfplumber.table import TableFinder
from rapidocr import RapidOCR

from kgrag.loaders.base import BadInput
from kgrag.loaders.pdf_characters import Char, upright_char
from kgrag.values.installing import install_hint

_MODELS = {"Det.model_path": "PP-OCRv6_det_small.onnx", "Rec.model_path": "PP-OCRv6_rec_small.onnx"}
_CONTRAST = 24  # grey levels between the darkest and lightest pixel of a page that is not blank
_LOOKED_AT = 1.6e6  # pixels for line detection (A4 at 128 dots an inch); lines are read at full resolution
_SKEW = 0.2  # degrees of skew that are not corrected
_CLEAR = 0.9  # mean confidence from which lines are certainly upright
_SAMPLE = 6  # lines that are read both ways to detect an upside-down page
_LONG = 3.0  # width to height of the lines that measure the skew
_STANDING = 2.5  # height to width of a line along the margin, or on a page that is turned
_UNSURE = 0.5  # lines with less confidence are left out
_SAME = 0.12  # share by which the sizes of lines in one type may differ
_ASCENT, _DESCENT, _SMALL = 0.72, 0.21, 0.52  # shares of the type size: above the line, below it, height of x
_COMMA = 0.12  # share of the type size that commas reach below the line
_BOX = 0.793  # share of the type size that a character's box has above the line
_TALL = frozenset("bdfhkltij|()[]{}/\\")
_DEEP = frozenset("gjpqyQ|()[]{}/\\")
_CJK = 0x2E80  # the first character whose form fills a square
_NARROW = frozenset(" ijltfrI.,:;'|!()[]")
_RULE, _THICK = 24.0, 4.0  # least length and greatest thickness of a ruled line, in points
_MAX_RULES = 2_000  # per page; a photograph yields more, which are not rules

Pixels = NDArray[Any]
Numbers = NDArray[Any]
Box = tuple[float, float, float, float]


@dataclass(slots=True)
class _Line:
    """A line of text, in pixels of the upright picture; `words` holds each word with its left and right end."""

    words: list[tuple[str, float, float]]
    base: float
    size: float
    confidence: float

    @property
    def letters(self) -> int:
        return sum(len(word) for word, _, _ in self.words)


@dataclass(slots=True)
class Scan:
    """A recognised page with the interface of a pdfplumber page; points from the upper left corner when upright.

    `words`: [text, x0, y0, x1, y1] in shares of the original picture; `middles`: their positions on the upright page.
    `confidence`: the mean confidence of the letters, 0 to 1, times the share of the ink that became words. `unsure`:
    the number of lines left out.
    """

    width: float
    height: float
    chars: list[Char] = field(default_factory=list)
    edges: list[dict[str, Any]] = field(default_factory=list)
    words: list[list[Any]] = field(default_factory=list)
    middles: list[tuple[float, float]] = field(default_factory=list)
    confidence: float = 0.0
    unsure: int = 0

    @property
    def bbox(self) -> Box:
        """The box of the page."""
        return 0.0, 0.0, self.width, self.height

    def find_tables(self) -> list[Any]:
        """Return the tables with ruled lines."""
        return list(TableFinder(self).tables)  # type: ignore[arg-type]


class Recogniser:
    """Recognises one picture after the other. Raises BadInput if the models are missing."""

    def __init__(self) -> None:
        cv2.setNumThreads(1)
        spec = find_spec("rapidocr")
        folder = Path(((spec and spec.submodule_search_locations) or [""])[0]) / "models"
        models = {key: folder / name for key, name in _MODELS.items()}
        if not all(map(Path.is_file, models.values())):
            raise BadInput(f"is a picture, and this rapidocr holds no models to read it: {install_hint('ocr')}")
        self._models: dict[str, Any] = {key: str(path) for key, path in models.items()}

    @cached_property
    def _ocr(self) -> Any:
        return RapidOCR(
            params={
                **self._models,
                "Global.log_level": "critical",
                "Global.min_side_len": 1,
                "Global.max_side_len": 1_000_000,
                "Global.use_vertical_padding": False,
                "Det.limit_side_len": 32,
                "EngineConfig.onnxruntime.intra_op_num_threads": 1,
                "EngineConfig.onnxruntime.inter_op_num_threads": 1,
            }
        )

    def recognise(self, picture: Pixels, points: float) -> Scan:
        """Recognise a picture, [height, width] in shades of grey; `points` is the width of a pixel in points."""
        if int(picture.max()) - int(picture.min()) < _CONTRAST:
            return Scan(picture.shape[1] * points, picture.shape[0] * points)
        try:
            return self._recognised(picture, points)
        except Exception as error:
            if "bad_alloc" in str(error) or "Failed to allocate" in str(error):  # onnxruntime's and OpenCV's
                raise MemoryError from error
            raise

    def _recognised(self, picture: Pixels, points: float) -> Scan:
        upright, boxes, turn = self._upright(picture)
        rules, lines, ink = self._lines(upright, boxes, points)
        clear = sum(line.confidence for line in lines) >= _CLEAR * len(lines)
        if not clear and self._is_on_its_head(upright, boxes):
            upright, turn = _turned(*_turned(upright, turn))
            rules, lines, ink = self._lines(upright, _boxes(self._detect(upright)), points)
        height, width = upright.shape
        scan = Scan(width * points, height * points, edges=[_edge(box, points) for box in rules])
        sure = [line for line in lines if line.confidence >= _UNSURE]
        scan.unsure = len(lines) - len(sure)
        if not sure:
            return scan
        _even(sure)
        letters = sum(line.letters for line in lines)
        mean = sum(line.confidence * line.letters for line in lines) / letters
        scan.confidence = round(mean * _read_share(ink, sure), 4)
        back = np.linalg.inv(turn)
        for line in sure:
            scan.chars.extend(_chars(line, points))
            scan.words.extend(_placed(line, back, picture.shape))
            middle = line.base - 0.3 * line.size
            scan.middles.extend(((x0 + x1) / 2 * points, middle * points) for _, x0, x1 in line.words)
        return scan

    def _upright(self, picture: Pixels) -> tuple[Pixels, list[Box], Numbers]:
        """Return a picture set upright, the boxes of its lines, and the matrix from the given to the upright one."""
        turn = np.eye(3)
        corners = self._detect(picture)
        if len(corners) and _standing(corners):
            picture, turn = _turned(picture, turn)
            corners = self._detect(picture)
        if abs(skew := _skew(corners)) > _SKEW:
            height, width = picture.shape
            matrix = cv2.getRotationMatrix2D((width / 2, height / 2), skew, 1.0)
            picture = cv2.warpAffine(picture, matrix, (width, height), flags=cv2.INTER_CUBIC, borderValue=(255,))
            turn = np.vstack([matrix, [0, 0, 1]]) @ turn
            corners = self._detect(picture)
        return picture, _boxes(corners), turn

    def _detect(self, picture: Pixels) -> Numbers:
        """Return the corners of the lines, [n, 4, 2], clockwise from the upper left."""
        height, width = picture.shape
        share = min(1.0, (_LOOKED_AT / (height * width)) ** 0.5)
        small = cv2.resize(picture, None, fx=share, fy=share, interpolation=cv2.INTER_AREA) if share < 1 else picture
        corners = self._ocr(cv2.cvtColor(small, cv2.COLOR_GRAY2BGR), use_det=True, use_cls=False, use_rec=False).boxes
        return np.zeros((0, 4, 2)) if corners is None else np.asarray(corners, dtype=float) / share

    def _read(self, crop: Pixels) -> tuple[str, float, Any]:
        """Return the text of a line, its confidence, and the positions of its characters."""
        output = self._ocr(
            cv2.cvtColor(crop, cv2.COLOR_GRAY2BGR), use_det=False, use_cls=False, use_rec=True, return_word_box=True
        )
        return (output.txts[0], float(output.scores[0]), output.word_results[0]) if output.txts else ("", 0.0, None)

    def _is_on_its_head(self, picture: Pixels, boxes: Sequence[Box]) -> bool:
        """Return whether long lines are recognised better upside down."""
        longest = sorted(boxes, key=lambda box: box[0] - box[2])[:_SAMPLE]
        crops = [_crop(picture, box) for box in longest]
        sure = [sum(self._read(one)[1] for one in those) for those in (crops, [crop[::-1, ::-1] for crop in crops])]
        return sure[1] > sure[0]

    def _lines(self, picture: Pixels, boxes: Sequence[Box], points: float) -> tuple[list[Box], list[_Line], Pixels]:
        """Return the ruled lines of an upright picture, its lines of text, and its ink."""
        ink, rules = _ink(picture, points)
        return rules, [line for box in boxes if (line := self._line(picture, ink, box)) is not None], ink

    def _line(self, picture: Pixels, ink: Pixels, box: Box) -> _Line | None:
        if box[3] - box[1] > _STANDING * (box[2] - box[0]):
            return None
        text, confidence, places = self._read(_crop(picture, box))
        if not text.strip():
            return None
        own = _crop(ink, box)
        rows = _band(own.sum(axis=1))
        columns = np.asarray(own[rows[0] : rows[1]].any(axis=0))
        width = columns.size
        centres = [(column + 0.5) * width / places.line_txt_len for word in places.word_cols for column in word]
        words = [(word, box[0] + x0, box[0] + x1) for word, x0, x1 in _words(text.split(), centres, columns)]
        size, below = _type(text, float(rows[1] - rows[0] - 1))  # each edge is blurred by half a pixel
        return _Line(words, box[1] + rows[1] - below, size, confidence)


@cache
def recogniser() -> Recogniser:
    """Return the recogniser of this process, which loads its models once."""
    return Recogniser()


def _standing(corners: Numbers) -> bool:
    """Return whether most of the text runs up or down a picture."""
    across = np.linalg.norm(corners[:, 1] - corners[:, 0], axis=1)
    down = np.linalg.norm(corners[:, 3] - corners[:, 0], axis=1)
    return bool((across * down)[down > across].sum() > (across * down)[down <= across].sum())


def _turned(picture: Pixels, turn: Numbers) -> tuple[Pixels, Numbers]:
    """Return a picture, and the matrix to it, turned a quarter clockwise."""
    quarter = np.array([[0, -1, picture.shape[0]], [1, 0, 0], [0, 0, 1]], dtype=float)
    return np.ascontiguousarray(np.rot90(picture, -1)), quarter @ turn


def _skew(corners: Numbers) -> float:
    """Return the degrees by which lines fall to the right: the median over lines, weighted by length."""
    ways = corners[:, 1] - corners[:, 0]
    lengths, heights = np.linalg.norm(ways, axis=1), np.linalg.norm(corners[:, 3] - corners[:, 0], axis=1)
    long = lengths > _LONG * heights
    if not long.any():
        return 0.0
    angles, weights = np.degrees(np.arctan2(ways[long, 1], ways[long, 0])), lengths[long]
    order = np.argsort(angles)
    return float(angles[order][np.searchsorted(weights[order].cumsum(), weights.sum() / 2)])


def _boxes(corners: Numbers) -> list[Box]:
    return [(*box.min(axis=0), *box.max(axis=0)) for box in corners]


def _crop(picture: Pixels, box: Box) -> Pixels:
    x0, top, x1, bottom = (max(0, round(edge)) for edge in box)
    return picture[top : max(bottom, top + 1), x0 : max(x1, x0 + 1)]


def _ink(picture: Pixels, points: float) -> tuple[Pixels, list[Box]]:
    """Return the pixels that are darker than their surroundings, without ruled lines, and the boxes of these lines."""
    window = 2 * round(8 / points) + 1
    calm = cv2.medianBlur(picture, 3)
    dark = cv2.adaptiveThreshold(calm, 255, cv2.ADAPTIVE_THRESH_MEAN_C, cv2.THRESH_BINARY_INV, window, 20)
    thin = cv2.adaptiveThreshold(picture, 255, cv2.ADAPTIVE_THRESH_MEAN_C, cv2.THRESH_BINARY_INV, window, 15)
    length = round(_RULE / points)
    boxes: list[Box] = []
    for across in (True, False):
        whole = cv2.dilate(thin, np.ones((3, 1) if across else (1, 3), np.uint8))  # joins a line split over two rows
        runs = cv2.morphologyEx(whole, cv2.MORPH_OPEN, np.ones((1, length) if across else (length, 1), np.uint8))
        for x, y, w, h, _ in cv2.connectedComponentsWithStats(runs)[2][1:]:
            if (h if across else w) * points <= _THICK:
                boxes.append((x, y, x + w, y + h))
                dark[y : y + h, x : x + w] = 0
    return dark > 0, boxes if len(boxes) <= _MAX_RULES else []


def _read_share(ink: Pixels, lines: Sequence[_Line]) -> float:
    """Return the share of the ink of letters that lies in these lines; specks and larger marks do not count."""
    size = median(line.size for line in lines)
    _, _, marks, centres = cv2.connectedComponentsWithStats(ink.astype(np.uint8))
    letters = (marks[:, 3] >= 0.3 * size) & (marks[:, 3] <= 3 * size) & (marks[:, 2] <= 12 * size)
    letters[0] = False  # the paper
    x, y = centres.T
    read = np.zeros_like(letters)
    for line in lines:
        left, right = line.words[0][1], line.words[-1][2]
        high, low = line.base - 0.9 * line.size, line.base + 0.35 * line.size
        read |= (left - 2 <= x) & (x <= right + 2) & (high <= y) & (y <= low)
    areas = marks[:, 4]
    return float(areas[letters & read].sum() / max(1, areas[letters].sum()))


def _edge(box: Box, points: float) -> dict[str, Any]:
    """Return a ruled line in the form of pdfplumber."""
    x0, top, x1, bottom = (float(edge) * points for edge in box)
    edge: dict[str, Any] = {"object_type": "line", "orientation": "h" if x1 - x0 > bottom - top else "v"}
    if edge["orientation"] == "h":
        top = bottom = (top + bottom) / 2
    else:
        x0 = x1 = (x0 + x1) / 2
    return {**edge, "x0": x0, "x1": x1, "top": top, "bottom": bottom, "width": x1 - x0, "height": bottom - top}


def _band(counts: Pixels) -> tuple[int, int]:
    """Return the first row and the end of a line: the rows with ink around the darkest one."""
    if not counts.any():
        return 0, counts.size
    first = last = int(counts.argmax())
    while first > 0 and counts[first - 1]:
        first -= 1
    while last < counts.size - 1 and counts[last + 1]:
        last += 1
    return first, last + 1


def _words(words: Sequence[str], centres: Sequence[float], columns: Pixels) -> Iterator[tuple[str, float, float]]:
    """Yield each word with its ends.

    Args:
        words: the words of a line.
        centres: the approximate centres of their characters.
        columns: for each column of pixels, whether it has ink.
    """
    places = np.flatnonzero(columns)
    left, end = (float(places[0]), float(places[-1] + 1)) if places.size else (0.0, float(columns.size))
    blanks = [(float(a + 1), float(b)) for a, b in pairwise(places) if b > a + 1]
    at = 0
    for number, word in enumerate(words):
        at += len(word)
        right = following = end
        if number < len(words) - 1:
            one, other = centres[at - 1], centres[at]
            between = [blank for blank in blanks if blank[1] > one and blank[0] < other]
            right, following = max(between, key=lambda blank: blank[1] - blank[0], default=((one + other) / 2,) * 2)
        yield word, left, max(left + 1, float(right))
        left = float(following)


def _type(text: str, height: float) -> tuple[float, float]:
    """Return the type size of a line and its depth below the baseline, from the height of its ink."""
    tall = any(c in _TALL or c.isupper() or c.isdigit() or ord(c) >= _CJK for c in text)
    deep = _DESCENT if any(c in _DEEP for c in text) else _COMMA if "," in text or ";" in text else 0.0
    if not any(map(str.isalnum, text)):
        return 0.0, height * _DESCENT
    size = height / ((_ASCENT if tall else _SMALL) + deep)
    return size, deep * size


def _even(lines: Sequence[_Line]) -> None:
    """Set lines of nearly equal size to the same size, first those near the size of the body text."""
    sizes = sorted(line.size for line in lines for _ in range(line.letters) if line.size) or [1.0]
    body = median(sizes)
    for line in lines:
        if not line.size or abs(line.size - body) <= _SAME * body:
            line.size = body
    group: list[_Line] = []
    for one in sorted(lines, key=lambda line: line.size):
        if group and one.size > (1 + _SAME) * group[0].size:
            _level(group, body)
            group = []
        group.append(one)
    _level(group, body)


def _level(group: Sequence[_Line], body: float) -> None:
    size = median(line.size for line in group)
    if all(line.size != body for line in group):
        for line in group:
            line.size = size


def _chars(line: _Line, points: float) -> Iterator[Char]:
    """Yield the characters of a line in the form of pdfplumber."""
    size = line.size * points
    top = line.base * points - _BOX * size
    before: float | None = None
    for word, x0, x1 in line.words:
        if before is not None:
            yield upright_char(" ", before, x0 * points, top, size)
        widths = [1 if sign in _NARROW else 2 for sign in word]
        x, unit = float(x0) * points, float(x1 - x0) * points / sum(widths)
        for sign, width in zip(word, widths, strict=True):
            yield upright_char(sign, x, x + width * unit, top, size)
            x += width * unit
        before = x1 * points


def _placed(line: _Line, back: Numbers, shape: tuple[int, ...]) -> Iterator[list[Any]]:
    """Yield the words of a line with their boxes on the original picture."""
    top, bottom = line.base - _BOX * line.size, line.base + (1 - _BOX) * line.size
    for word, x0, x1 in line.words:
        corners = back @ np.array([[x0, x1, x1, x0], [top, top, bottom, bottom], [1, 1, 1, 1]])
        xs, ys = corners[0] / shape[1], corners[1] / shape[0]
        place = np.clip([xs.min(), ys.min(), xs.max(), ys.max()], 0, 1)
        yield [word, *(round(float(share), 5) for share in place)]
