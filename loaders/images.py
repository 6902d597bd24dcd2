"""Pictures as documents: photographs and scans of pages, which are recognised."""

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
_MOST = 100_000_000  # pixels of a picture: 400 MB in colours
_MOST_PAGES = 5_000
_A4 = 595.0 * 842.0  # square points: the size that a picture is taken to have
_SCREEN = 96 / 72  # pixels in a point of a small picture


class Images:
    """The pages of a picture file, one if it is no TIFF; close it. Raises BadInput if it cannot be opened."""

    def __init__(self, path: Path, dpi: int) -> None:
        from PIL import Image

        Image.MAX_IMAGE_PIXELS = None  # each page is checked below, before it is unpacked
        self._dpi = dpi
        with damage_as(_DAMAGED):
            self._image: Any = Image.open(path)
        self._pages = min(_MOST_PAGES, self._frames()) if self._image.format == "TIFF" else 1

    def _frames(self) -> int:
        try:
            return int(self._image.n_frames)
        except Exception:  # the chain of pages is damaged: those before are read
            return 1

    def close(self) -> None:
        """Close the file."""
        self._image.close()

    def header(self) -> dict[str, Any]:
        """Return the header of a PDF with the number of `pages`, and nothing else."""
        return {"pages": self._pages, "labels": [], "info": {}, "end": "", "contents": []}

    def picture(self, number: int, mode: str) -> Any:
        """Return a page in Pillow's "L" or "RGB", the right way round. Raises BadInput."""
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
        """Return the recognised text of a page, from 1, in the form of a PDF's page of the size of a sheet."""
        import numpy as np

        from kgrag.loaders.pdf_pages import recognised

        image = self.picture(number, "L")
        scale = max(_SCREEN, (image.width * image.height / _A4) ** 0.5)  # pixels in a point
        if scale > self._dpi / 72:
            small = self._dpi / 72 / scale
            image = image.resize((max(1, round(image.width * small)), max(1, round(image.height * small))))
            scale *= small
        nothing = {"blocks": [], "height": 0.0, "images": 1, "figures": [], "left_out": {}, "garbled": False}
        return recognised(np.asarray(image), 1 / scale, nothing)


class PicturePages(Images):
    """The pages of a picture file to look at, as `pdf_pictures.Pictures` has those of a PDF; without words."""

    def __init__(self, path: Path) -> None:
        super().__init__(path, dpi=0)

    def page(self, number: int) -> dict[str, Any]:
        """Return the page with that number, from 1: `png`, base64."""
        from kgrag.loaders.pdf_pictures import HEIGHT, WIDTH, png_of

        image = self.picture(number, "RGB")
        image.thumbnail((WIDTH, HEIGHT))
        return {"png": png_of(image), "words": []}


def _on_white(image: Any, mode: str) -> Any:
    """Return a picture in a mode of 8 bits, white where nothing is."""
    from PIL import Image

    if image.mode.startswith("I") or image.mode == "F":  # 16 or 32 bits, which Pillow cuts off at 255
        low, high = image.getextrema()
        return Image.eval(image.convert("F"), lambda x: (x - low) * (255.0 / max(1, high - low))).convert(mode)
    if image.has_transparency_data:
        image = image.convert("RGBA")
        return Image.alpha_composite(Image.new("RGBA", image.size, "white"), image).convert(mode)
    return image.convert(mode)


def load_image(source: Source, readers: Readers) -> Iterator[Item]:
    """Recognise a picture file as a document with pages; a Problem for each unreadable one. Raises BadInput."""
    from kgrag.loaders.pdf import load_pages

    if not is_on(readers.settings) or find_spec("pdfplumber") is None:
        raise BadInput(f"is a picture; {remedy(readers.settings, 'tesseract')}")
    yield from load_pages(source, readers, FORM)


IMAGE = Format(
    "picture",
    (".png", ".jpg", ".jpeg", ".tif", ".tiff", ".webp", ".bmp", ".gif"),
    lambda source, reading: load_image(source, reading.readers),
)
