"""Scans of pages with known text: rendered, turned, and put into PDFs and picture files."""

from collections.abc import Sequence
from pathlib import Path

import pypdfium2
from PIL import Image
from reportlab.lib.utils import ImageReader
from reportlab.pdfgen.canvas import Canvas


def pictures(pdf: Path, *, skew: float = 0.0, turn: int = 0) -> list[Image.Image]:
    """Return the pages of a PDF as pictures at 150 dots an inch, turned counterclockwise."""
    found = []
    for page in pypdfium2.PdfDocument(pdf):
        picture = page.render(scale=150 / 72, grayscale=True).to_pil().convert("L")
        skewed = picture.rotate(skew, fillcolor=255, resample=Image.Resampling.BICUBIC)
        found.append(skewed.rotate(turn, expand=True))
    return found


def scan(pdf: Path, into: Path, *, skew: float = 0.0, turn: int = 0) -> Path:
    """Write a PDF of pictures of the pages of another."""
    return bound(pictures(pdf, skew=skew, turn=turn), into)


def bound(pages: Sequence[Image.Image], into: Path) -> Path:
    """Write a PDF of pictures."""
    canvas = Canvas(str(into))
    for picture in pages:
        size = picture.width * 72 / 150, picture.height * 72 / 150
        canvas.setPageSize(size)
        canvas.drawImage(ImageReader(picture), 0, 0, *size)
        canvas.showPage()
    canvas.save()
    return into
