"""Files with figures like papers, reports and manuals: pictures, drawings, captions, and references to them."""

import io
import random
import zipfile
from collections.abc import Mapping
from itertools import pairwise
from pathlib import Path

import docx
import pptx
from docx.shared import Pt as DocxPt
from PIL import Image
from pptx.util import Pt
from reportlab.lib.utils import ImageReader
from reportlab.pdfgen.canvas import Canvas

HULL, MAST, SAIL, LOGO = 1, 2, 3, 9
"""Seeds of pictures."""


def png(seed: int, width: int = 200, height: int = 120) -> bytes:
    """Return a picture that is unique to a seed."""
    draw = random.Random(seed)
    image = Image.new("RGB", (width, height), (40 * seed % 256, 90, 160))
    for _ in range(60):
        image.putpixel((draw.randrange(width), draw.randrange(height)), (255, 200, draw.randrange(256)))
    out = io.BytesIO()
    image.save(out, "PNG")
    return out.getvalue()


class Paper:
    """A PDF that is drawn page by page, in points from the top left corner of A4."""

    def __init__(self, path: Path) -> None:
        self.canvas = Canvas(str(path), (595, 842), invariant=True)

    def text(self, top: float, *lines: str, left: float = 72, size: float = 10) -> None:
        self.canvas.setFont("Helvetica", size)
        for number, line in enumerate(lines):
            self.canvas.drawString(left, 842 - top - size - 1.2 * size * number, line)

    def picture(self, seed: int, left: float, top: float, width: float, height: float, side: int = 200) -> None:
        picture = ImageReader(io.BytesIO(png(seed, side, max(1, int(side * height / width)))))
        self.canvas.drawImage(picture, left, 842 - top - height, width, height)

    def chart(self, left: float, top: float, width: float, height: float, label: str = "Knots") -> None:
        """Draw axes with ticks and their numbers, a curve, and the label of an axis."""
        base = 842 - top - height
        self.canvas.line(left, base, left + width, base)
        self.canvas.line(left, base, left, base + height)
        for tick in range(6):
            x = left + tick * width / 5
            self.canvas.line(x, base - 3, x, base)
            self.canvas.setFont("Helvetica", 7)
            self.canvas.drawCentredString(x, base - 11, str(10 * tick))
        points = [(left + n * width / 20, base + height * (0.5 + 0.4 * (-1) ** n * n / 20)) for n in range(21)]
        for (x0, y0), (x1, y1) in pairwise(points):
            self.canvas.line(x0, y0, x1, y1)
        self.canvas.drawString(left + 4, base + height - 8, label)

    def page(self) -> None:
        self.canvas.showPage()

    def save(self) -> None:
        self.canvas.save()


PROSE = "The ship sailed north along the coast for many days until the ice closed in around her hull again"


def paper(path: Path) -> Path:
    """Write a picture and a chart with captions below, a frame, an icon, logos, and a picture without a caption."""
    made = Paper(path)
    made.text(60, "Ships of the North", size=20)
    made.text(100, f"{PROSE}.", f"{PROSE}, as Figure 1 shows.", f"{PROSE}; the speeds are those of Fig. 2a.")
    made.picture(HULL, 150, 160, 240, 144)
    made.text(310, "Figure 1: The hull of the Fram, with the ice belt that was laid", "around it in 1893.", size=8)
    made.text(350, *[f"{PROSE}."] * 6)
    made.chart(150, 460, 240, 120)
    made.text(605, "Figure 2: Speed under sail", size=8)
    made.text(640, *[f"{PROSE}."] * 4, f"{PROSE}, see overleaf.")
    made.picture(LOGO, 500, 20, 60, 30)
    made.picture(8, 72, 800, 12, 12)
    made.page()
    made.text(60, *[f"{PROSE}."] * 8)
    made.picture(MAST, 150, 200, 200, 120)
    made.text(400, *[f"{PROSE}."] * 8)
    made.picture(LOGO, 500, 20, 60, 30)
    made.page()
    made.picture(SAIL, 0, 0, 595, 842)
    made.text(60, *[f"{PROSE}."] * 8)
    made.picture(LOGO, 500, 20, 60, 30)
    made.page()
    made.save()
    return path


def report(path: Path) -> Path:
    """Write a Word document with two pictures and an icon: one has a caption below, one an alternative text."""
    document = docx.Document()
    document.add_paragraph("The hull is drawn in Figure 1, and the chart below shows more.")
    document.add_picture(io.BytesIO(png(HULL)), width=DocxPt(200))
    document.add_paragraph("Figure 1: The hull of the Fram", style="Caption")
    document.add_paragraph("She was built at Larvik.")
    document.add_picture(io.BytesIO(png(MAST)), width=DocxPt(200))
    document.paragraphs[-1]._p.xpath(".//wp:docPr")[0].set("descr", "The mast in winter")
    document.add_paragraph("She had three masts.")
    document.add_picture(io.BytesIO(png(LOGO, 64, 64)), width=DocxPt(14))
    document.save(str(path))
    return path


def slides(path: Path) -> Path:
    """Write three slides with a logo each: a picture with a caption, one without, and a background."""
    presentation = pptx.Presentation()
    for number, seed in enumerate((HULL, MAST, SAIL)):
        slide = presentation.slides.add_slide(presentation.slide_layouts[5])
        slide.shapes.title.text = f"Ships {number + 1}"
        slide.shapes.add_picture(io.BytesIO(png(LOGO)), Pt(600), Pt(10), Pt(60))
        if number == 2:
            slide.shapes.add_picture(io.BytesIO(png(seed)), 0, 0, presentation.slide_width, presentation.slide_height)
            continue
        slide.shapes.add_picture(io.BytesIO(png(seed)), Pt(100), Pt(150), Pt(300))
        if number == 0:
            box = slide.shapes.add_textbox(Pt(100), Pt(400), Pt(300), Pt(30))
            box.text_frame.text = "Figure 7: Sails of the Fram"
    presentation.save(str(path))
    return path


PAGE = """<html><title>Ships</title><body><h1>Ships</h1><p>As figure 2 shows, she had a mast.</p>
<figure><img src="img/hull.png" alt="A hull"><figcaption>Figure 1: The hull of the Fram</figcaption></figure>
<p>She was built at Larvik.</p><p><img src="img/mast.png" alt="A mast"></p><p>Figure 2: The mast</p>
<p><img src="img/icon.png"> <img src="../outside.png"> <img src="https://example.org/a.png"> <img src="gone.png">
<img src="img/sail.png" width="16"> <img src="img/drawing.svg" alt="A drawing"> text</p></body></html>"""
DRAWING = b'<?xml version="1.0"?><svg xmlns="http://www.w3.org/2000/svg"><script>alert(1)</script></svg>'


def pictures() -> Mapping[str, bytes]:
    """Return the pictures of PAGE by name."""
    return {
        "hull.png": png(HULL),
        "mast.png": png(MAST),
        "sail.png": png(SAIL),
        "icon.png": png(LOGO, 16, 16),
        "drawing.svg": DRAWING,
    }


def web(folder: Path) -> Path:
    """Write a page with pictures below its folder, and a picture beside the folder, which it may not use."""
    (folder / "site" / "img").mkdir(parents=True)
    for name, data in pictures().items():
        (folder / "site" / "img" / name).write_bytes(data)
    (folder / "outside.png").write_bytes(png(5))
    (folder / "site" / "ships.html").write_text(PAGE)
    return folder / "site" / "ships.html"


def book(path: Path) -> Path:
    """Write a book whose one chapter is PAGE."""
    item = '<item id="a" href="text/a.xhtml" media-type="application/xhtml+xml"/>'
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("mimetype", "application/epub+zip")
        archive.writestr(
            "META-INF/container.xml",
            '<container xmlns="urn:oasis:names:tc:opendocument:xmlns:container"><rootfiles>'
            '<rootfile full-path="OPS/p.opf"/></rootfiles></container>',
        )
        archive.writestr(
            "OPS/p.opf",
            '<package xmlns="http://www.idpf.org/2007/opf"><metadata xmlns:dc="http://purl.org/dc/elements/1.1/">'
            f"<dc:title>Ships</dc:title></metadata><manifest>{item}</manifest>"
            '<spine><itemref idref="a"/></spine></package>',
        )
        archive.writestr("OPS/text/a.xhtml", PAGE)
        for name, data in pictures().items():
            archive.writestr(f"OPS/text/img/{name}", data)
    return path
