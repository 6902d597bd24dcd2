"""Render pages of a PDF as pictures, with the positions of their words, in the reading process."""

import base64
import io
from collections.abc import Iterator
from ctypes import byref, c_int
from pathlib import Path
from typing import Any

import pypdfium2
from pypdfium2 import raw

from kgrag.loaders.base import BadInput

WIDTH, HEIGHT = 1240, 3200
"""Largest picture in pixels; the width is a portrait A4 page's at 150 dots an inch."""

_MOST = 30e6  # pixels of a page for recognition
_GRID = 10_000  # steps across a page to which the corners of words are rounded
_MAX_CHARS = 100_000  # per page


class Pictures:
    """An open PDF, which the caller closes. Raises BadInput if it cannot be opened."""

    def __init__(self, path: Path) -> None:
        try:
            self._pdf = pypdfium2.PdfDocument(path)
        except pypdfium2.PdfiumError as error:
            raise BadInput(f"cannot be drawn ({error})") from error

    def close(self) -> None:
        """Close the file."""
        self._pdf.close()

    def header(self) -> dict[str, Any]:
        """Return the number of `pages`."""
        return {"pages": len(self._pdf)}

    def page(self, number: int) -> dict[str, Any]:
        """Return a page as `png` (base64) with its `words` in file order; the first page is 1.

        A word is [text, x0, y0, x1, y1], in shares of the page from its top left corner.
        """
        if not 1 <= number <= len(self._pdf):
            raise BadInput(f"has no page {number}")
        page = self._pdf[number - 1]
        width, height = page.get_size()
        picture = page.render(scale=min(WIDTH / width, HEIGHT / height)).to_pil()
        return {"png": png_of(picture), "words": list(_words(page))}


def png_of(picture: Any) -> str:
    """Return a Pillow image as PNG in base64."""
    png = io.BytesIO()
    picture.save(png, "PNG")
    return base64.b64encode(png.getvalue()).decode()


def draw(path: Path, number: int, dpi: int) -> tuple[Any, float]:
    """Render a page in shades of grey, [height, width]; return also the points per pixel. Raises BadInput."""
    try:
        with pypdfium2.PdfDocument(path) as pdf:
            page = pdf[number - 1]
            width, height = page.get_size()
            scale = min(dpi / 72, (_MOST / (width * height)) ** 0.5)
            return page.render(scale=scale, grayscale=True).to_numpy().squeeze(), 1 / scale
    except pypdfium2.PdfiumError as error:
        raise BadInput(f"cannot be drawn ({error})") from error


def _words(page: Any) -> Iterator[list[Any]]:
    text = page.get_textpage()
    word, boxes = "", list[tuple[float, float, float, float]]()
    for place in range(min(text.count_chars(), _MAX_CHARS)):
        character = chr(raw.FPDFText_GetUnicode(text, place))
        if not character.isspace() and character.isprintable():
            word += character
            boxes.append(text.get_charbox(place, loose=True))
        elif word:
            yield _placed(page, word, boxes)
            word, boxes = "", []
    if word:
        yield _placed(page, word, boxes)


def _placed(page: Any, word: str, boxes: list[tuple[float, float, float, float]]) -> list[Any]:
    """Return a word with its box on the page as it is turned."""
    left, bottom, right, top = zip(*boxes, strict=True)
    one = _on_picture(page, min(left), max(top))
    other = _on_picture(page, max(right), min(bottom))
    (x0, x1), (y0, y1) = sorted((one[0], other[0])), sorted((one[1], other[1]))
    return [word, x0, y0, x1, y1]


def _on_picture(page: Any, x: float, y: float) -> tuple[float, float]:
    across, down = c_int(), c_int()
    raw.FPDF_PageToDevice(page, 0, 0, _GRID, _GRID, 0, x, y, byref(across), byref(down))
    return across.value / _GRID, down.value / _GRID
