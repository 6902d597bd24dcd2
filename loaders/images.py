"""Load pictures as documents: the text on photographs and scans of pages is recognised."""

from collections.abc import Iterator
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from kgrag.loaders.base import BadInput, Item, Source, damage_as
from kgrag.loaders.reading import Format, Readers
from kgrag.loaders.recognised import is_on, remedy

FORM = "kgrag.loaders.images:Images"
"""The class that reads pictures in another process."""
_DAMAGED = "is damaged, or no picture"
_MOST = 100_000_000  # pixels per picture, 400 MB in colour
_MOST_PAGES = 5_000
_A4 = 595.0 * 842.0  # square points; the assumed size of a picture
_SCREEN = 96 / 72  # pixels per point of a small picture


class Images:
    """The pages of a picture file (only a TIFF has several); close it. Raises BadInput if it cannot be opened."""

    def __init__(self, path: Path, dpi: int) -> None:
        from PIL import Image

        Image.MAX_IMAGE_PIXELS = None  # the size of each page is checked below, before decoding
        self._dpi = dpi
        with damage_as(_DAMAGED):
            self._image: Any = Image.open(path)
        self._pages = min(_MOST_PAGES, self._frames()) if self._image.format == "TIFF" else 1

    def _frames(self) -> int:
        try:
            return int(self._image.n_frames)
        except Exception:  # the chain of pages is damaged; the earlier pages are read
            return 1

    def close(self) -> None:
        """Close the file."""
        self._image.close()

    def header(self) -> dict[str, Any]:
        """Return a header in the form of a PDF's, with only the number of `pages`."""
        return {"pages": self._pages, "labels": [], "info": {}, "end": "", "contents": []}

    def picture(self, number: int, mode: str) -> Any:
        """Return a page in Pillow's mode "L" or "RGB", rotated upright. Raises BadInput."""
        from PIL import ImageOps

        with damage_as(_DAMAGED):
            self._image.seek(number - 1)
            width, height = self._image.size
            if width * height > _MOST:
                raise BadInput(f"is {width:,} x {height:,} pixels, over the limit of {_MOST:,}")
            if not width * height:
                raise BadInput("is a picture without pixels")
            return _on_white(ImageOps.exif_transpose(self._image), mode)

    def page(self, number: int) -> dict[str, Any]:
        """Return the recognised text of a page (the first is 1) in the form of a PDF page of the size of a sheet."""
        import numpy as np

        from kgrag.loaders.pdf_pages import recognised

        image = self.picture(number, "L")
        scale = max(_SCREEN, (image.width * image.height / _A4) ** 0.5)  # pixels per point
        if scale > self._dpi / 72:
            small = self._dpi / 72 / scale
            image = image.resize((max(1, round(image.width * small)), max(1, round(image.height * small))))
            scale *= small
        nothing = {"blocks": [], "height": 0.0, "images": 1, "figures": [], "left_out": {}, "garbled": False}
        return recognised(np.asarray(image), 1 / scale, nothing)


class PicturePages(Images):
    """The pages of a picture file for display, with the interface of `pdf_pictures.Pictures`, without words."""

    def __init__(self, path: Path) -> None:
        super().__init__(path, dpi=0)

    def page(self, number: int) -> dict[str, Any]:
        """Return a page as `png` in base64; the first page is 1."""
        from kgrag.loaders.pdf_pictures import HEIGHT, WIDTH, png_of

        image = self.picture(number, "RGB")
        image.thumbnail((WIDTH, HEIGHT))
        return {"png": png_of(image), "words": []}


def _on_white(image: Any, mode: str) -> Any:
    """Return a picture in an 8-bit mode, with transparent parts white."""
    from PIL import Image

    if image.mode.startswith("I") or image.mode == "F":  # 16 or 32 bits, which Pillow would clip at 255
        low, high = image.getextrema()
        return Image.eval(image.convert("F"), lambda x: (x - low) * (255.0 / max(1, high - low))).convert(mode)
    if image.has_transparency_data:
        image = image.convert("RGBA")
        return Image.alpha_composite(Image.new("RGBA", image.size, "white"), image).convert(mode)
    return image.convert(mode)


def load_image(source: Source, readers: Readers) -> Iterator[Item]:
    """Recognise a picture file as a document with pages; an unreadable page is a Problem. Raises BadInput."""
    from kgrag.loaders.pdf import load_pages

    if not is_on(readers.settings) or find_spec("pdfplumber") is None:
        raise BadInput(f"is a picture; {remedy(readers.settings, 'tesseract')}")
    yield from load_pages(source, readers, FORM)


IMAGE = Format(
    "picture",
    (".png", ".jpg", ".jpeg", ".tif", ".tiff", ".webp", ".bmp", ".gif"),
    lambda source, reading: load_image(source, reading.readers),
)
