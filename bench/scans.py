"""Measure the recognition of scanned pages: words, order, boxes, marks and time, on pages with known text.

Pages of docs/ are set in one column, in two and in tables, and rendered at 150 dots an inch: straight, turned by two
degrees, and grey with noise. The recognised text is compared with the true one.

    python bench/scans.py                  60 pages; --pages 6 is a quick try
    python bench/scans.py --pdf FILE ...   pages of your own PDFs
    python bench/scans.py --tesseract      the same pages by tesseract, if it is installed
    python bench/scans.py --odd            200 damaged and odd files: none may crash, each is reported
"""

import argparse
import io
import random
import re
import resource
import shutil
import subprocess
import tempfile
import time
from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from difflib import SequenceMatcher
from itertools import islice
from math import cos, radians, sin
from pathlib import Path
from statistics import mean
from xml.sax.saxutils import escape

import numpy as np
import pypdfium2
from PIL import Image, ImageDraw
from reportlab.lib.pagesizes import A4
from reportlab.lib.styles import getSampleStyleSheet
from reportlab.lib.utils import ImageReader
from reportlab.pdfgen.canvas import Canvas
from reportlab.platypus import BaseDocTemplate, Frame, PageTemplate, Paragraph, Table, TableStyle

from kgrag.loaders.dispatch import Load
from kgrag.loaders.pdf_pictures import Pictures
from kgrag.loaders.recognised import Recognised
from kgrag.server.pictures import Box, Picture
from kgrag.settings import LoadingSettings
from kgrag.values.documents import Document, Problem

DOCS = Path(__file__).parents[1] / "docs"
VARIANTS = {"straight": (0.0, 0.0), "turned by 2 degrees": (2.0, 0.0), "grey with noise": (0.0, 18.0)}
DPI = 150
NEAR = 3.0  # points

Words = Sequence[tuple[str, Box]]


def plain(markdown: str) -> str:
    text = re.sub(r"```.*?```", "", markdown, flags=re.DOTALL)
    return re.sub(r"[`*#>]|\[([^\]]*)\]\([^)]*\)", lambda m: m[1] or "", text)


def drawn(folder: Path) -> Iterator[Path]:
    """Yield three PDFs of this project's documentation: in one column, in two columns, and in tables."""
    style = getSampleStyleSheet()["BodyText"]
    style.fontSize, style.leading = 10, 12.5
    texts = [path.read_text() for path in sorted(DOCS.glob("*.md"))]
    blocks = [b for text in texts for b in plain(text).split("\n\n") if b.strip() and "|" not in b]
    latin = [b for b in blocks if all(ord(c) < 256 for c in b)]  # Helvetica's characters
    rows = [row for text in texts for row in re.findall(r"^\|(.+)\|\s*$", text, re.MULTILINE) if "---" not in row]
    cells = [[plain(cell).strip()[:160] for cell in row.split("|")][:3] for row in rows]
    cells = [row for row in cells if len(row) == 3 and all(ord(c) < 256 for cell in row for c in cell)]
    width, height = A4
    for columns in (1, 2):
        each = (width - 120 - 18 * (columns - 1)) / columns
        frames = [Frame(60 + n * (each + 18), 60, each, height - 120, 0, 0, 0, 0) for n in range(columns)]
        path = folder / f"columns{columns}.pdf"
        document = BaseDocTemplate(str(path), pagesize=A4)
        document.addPageTemplates(PageTemplate(frames=frames))
        document.build([Paragraph(escape(block), style) for block in latin])
        yield path
    path = folder / "tables.pdf"
    document = BaseDocTemplate(str(path), pagesize=A4)
    document.addPageTemplates(PageTemplate(frames=[Frame(60, 60, width - 120, height - 120, 0, 0, 0, 0)]))
    grid = TableStyle([("GRID", (0, 0), (-1, -1), 0.5, "black"), ("VALIGN", (0, 0), (-1, -1), "TOP")])
    flow: list[object] = []
    for start in range(0, len(cells), 8):
        flow.append(Paragraph(escape(latin[start % len(latin)][:600]), style))
        part = [[Paragraph(escape(cell), style) for cell in row] for row in cells[start : start + 8]]
        flow.append(Table(part, colWidths=[110, 150, 200], style=grid))
    document.build(flow)
    yield path


def chosen(pdfs: Sequence[Path], number: int, into: Path) -> int:
    """Write `number` pages of each PDF into one; return how many there are."""
    whole = pypdfium2.PdfDocument.new()
    for place, path in enumerate(pdfs):
        source = pypdfium2.PdfDocument(path)
        wanted = (number - len(whole)) // (len(pdfs) - place)
        texted = [n for n in range(len(source)) if source[n].get_textpage().count_chars() > 200]
        whole.import_pages(source, texted[:wanted])
    whole.save(into)
    return len(whole)


def scanned(pdf: Path, into: Path, turn: float, noise: float) -> None:
    """Render the pages of a PDF as pictures into another PDF."""
    chance = np.random.default_rng(0)
    canvas = Canvas(str(into))
    for page in pypdfium2.PdfDocument(pdf):
        picture = page.render(scale=DPI / 72, grayscale=True).to_pil().convert("L")
        picture = picture.rotate(turn, fillcolor=255, resample=Image.Resampling.BICUBIC)
        if noise:
            grey = 60 + np.asarray(picture, float) * 0.65 + chance.normal(0, noise, (picture.height, picture.width))
            picture = Image.fromarray(grey.clip(0, 255).astype(np.uint8))
        canvas.setPageSize(page.get_size())
        out = io.BytesIO()
        picture.save(out, "JPEG", quality=80)  # as scanners do; uncompressed, 60 pages of noise would be too large
        canvas.drawImage(ImageReader(out), 0, 0, *page.get_size())
        canvas.showPage()
    canvas.save()


def read(path: Path, cache: Path, settings: LoadingSettings) -> Document:
    items = list(Load([path], cache=cache, loading=settings))
    for item in items:
        if isinstance(item, Problem):
            print(item.place.removeprefix(str(path)), item.message)
    (document,) = (item for item in items if isinstance(item, Document))
    return document


def text_of(document: Document, page: int) -> list[str]:
    """Return the words of a page in order, then the words of its tables."""
    cells = [cell for t in document.tables if t.page == page for row in t.rows for cell in row]
    return " ".join([document.pages[page - 1].text, *cells]).split()


def turned(box: Box, size: tuple[float, float], turn: float) -> Box:
    """Return the position of a box (in shares of the page) after PIL turned its picture counterclockwise."""
    width, height = size
    xs, ys = [], []
    for x, y in ((box.x0, box.y0), (box.x1, box.y0), (box.x1, box.y1), (box.x0, box.y1)):
        dx, dy = (x - 0.5) * width, (y - 0.5) * height
        xs.append((dx * cos(radians(turn)) + dy * sin(radians(turn))) / width + 0.5)
        ys.append((-dx * sin(radians(turn)) + dy * cos(radians(turn))) / height + 0.5)
    return Box(min(xs), min(ys), max(xs), max(ys))


def near(wanted: Words, there: Words, size: tuple[float, float]) -> list[bool]:
    """Return for each correctly recognised word whether all edges of its box are near those of the text."""
    width, height = size
    places: defaultdict[str, list[Box]] = defaultdict(list)
    for word, box in there:
        places[word].append(box)
    found = []
    for word, box in wanted:
        if word in places:
            far = min(
                max(abs(a - b) * s for a, b, s in zip(box, one, (width, height, width, height), strict=True))
                for one in places[word]
            )
            found.append(far <= NEAR)
    return found


def marks(sentence: str, truth: Words, there: Words) -> tuple[int, int, int]:
    """Return how many words are marked for a sentence, how many rightly, and how many that should be are."""
    wanted = [truth[place][1] for place in Picture(b"", tuple(truth), 1).places(sentence)]
    marked = [there[place][1] for place in Picture(b"", tuple(there), 1).places(sentence)]
    right = sum(any(_holds(box, one) for box in wanted) for one in marked)
    hit = sum(any(_holds(box, one) for one in marked) for box in wanted)
    return len(marked), right, hit if wanted else 0


def _holds(box: Box, other: Box) -> bool:
    x, y = (other.x0 + other.x1) / 2, (other.y0 + other.y1) / 2
    a, b = (box.x0 + box.x1) / 2, (box.y0 + box.y1) / 2
    inside = box.x0 <= x <= box.x1 and box.y0 <= y <= box.y1
    return inside or (other.x0 <= a <= other.x1 and other.y0 <= b <= other.y1)


def tesseract(pdf: Path, number: int) -> list[tuple[str, Box]]:
    with tempfile.TemporaryDirectory() as folder:
        picture = pypdfium2.PdfDocument(pdf)[number - 1].render(scale=DPI / 72).to_pil()
        picture.save(f"{folder}/page.png", dpi=(DPI, DPI))
        command = ["tesseract", f"{folder}/page.png", "-", "--dpi", str(DPI), "tsv"]
        told = subprocess.run(command, capture_output=True, text=True, check=True).stdout
    rows = [row.split("\t") for row in told.splitlines()[1:]]
    found = [(r[11], list(map(int, r[6:10]))) for r in rows if r[0] == "5" and r[11].strip()]
    w, h = picture.size
    return [(text, Box(x / w, y / h, (x + dx) / w, (y + dy) / h)) for text, (x, y, dx, dy) in found]


def measure(pdf: Path, number: int, folder: Path, by_tesseract: bool) -> None:
    settings = LoadingSettings()
    truth, pictures = read(pdf, folder, settings), Pictures(pdf)
    sizes = [page.get_size() for page in pypdfium2.PdfDocument(pdf)]
    print(f"{number} pages", *("variant", "words", "order", "boxes", "marks", "s a page", "MB"), sep="\t", flush=True)
    for name, (turn, noise) in VARIANTS.items():
        path = folder / f"{name.replace(' ', '-')}.pdf"
        scanned(pdf, path, turn, noise)
        begun = time.monotonic()
        document = None if by_tesseract else read(path, folder, settings)
        seconds = (time.monotonic() - begun) / number
        kept = Recognised.of(folder, path, settings)
        right, total, ordered, boxes, marked = 0, 0, 0, [], []
        for n in range(1, number + 1):
            if document is None:
                begun = time.monotonic()
                there = tesseract(path, n)
                seconds += (time.monotonic() - begun) / number
                ours = [word for word, _ in there]
            else:
                there = [(word, Box(*box)) for word, *box in ((kept and kept.find(n)) or {"words": []})["words"]]
                ours = text_of(document, n)
            wanted = text_of(truth, n)
            same = sum((Counter(wanted) & Counter(ours)).values())
            right, total = right + same, total + len(wanted)
            blocks = SequenceMatcher(None, wanted, ours, autojunk=False).get_matching_blocks()
            ordered += sum(block.size for block in blocks) >= 0.97 * same > 0
            layer = [(word, Box(*box)) for word, *box in pictures.page(n)["words"]]
            moved = [(word, turned(box, sizes[n - 1], turn)) for word, box in layer]
            boxes += near(moved, there, sizes[n - 1])
            text = " ".join(truth.pages[n - 1].text.split())
            sentences = [s for s in re.split(r"(?<=[.!?])\s+", text) if 6 <= len(s.split()) <= 40]
            if sentences:
                claim = sentences[n % len(sentences)]
                wanted_marks = Picture(b"", tuple(moved), 1).places(claim)
                marked.append((*marks(claim, moved, there), len(wanted_marks)))
        precision = sum(m[1] for m in marked) / max(1, sum(m[0] for m in marked))
        recall = sum(m[2] for m in marked) / max(1, sum(m[3] for m in marked))
        peak = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss // 1024
        print(
            "tesseract" if by_tesseract else "kgrag", name, f"{right / total:.1%}", f"{ordered} of {number}",
            f"{mean(boxes):.1%}", f"{precision:.3f} {recall:.3f} of {len(marked)}", f"{seconds:.1f}", peak,
            sep="\t", flush=True,
        )  # fmt: skip


def odd_files(folder: Path) -> Iterator[Path]:
    """Yield 200 pictures and PDFs that are odd, damaged or hostile."""
    chance = random.Random(0)
    page = Image.new("L", (400, 300), 255)
    for line in range(8):
        ImageDraw.Draw(page).text((20, 20 + 30 * line), "Of the timber only a part was measured.", 0, font_size=16)
    wide = {"strip.png": (30_000, 20), "tower.png": (20, 30_000), "dot.png": (1, 1), "row.png": (300, 1)}
    for name, size in wide.items():
        Image.new("1", size, 1).save(folder / name)
        yield folder / name
    modes = ("1", "L", "LA", "P", "RGB", "RGBA", "CMYK", "I", "F", "YCbCr")
    for mode in modes:
        page.convert(mode).save(folder / f"mode-{mode}.tiff")
        yield folder / f"mode-{mode}.tiff"
    wholes: dict[str, bytes] = {}
    for ending in ("png", "jpg", "tiff", "webp", "bmp", "gif", "pdf"):
        out = io.BytesIO()
        page.save(out, {"jpg": "JPEG"}.get(ending, ending.upper()))
        wholes[ending] = out.getvalue()
    for n in range(200 - len(wide) - len(modes)):
        ending = chance.choice(list(wholes))
        data = bytearray(wholes[ending])
        match n % 4:
            case 0:
                del data[chance.randrange(len(data)) :]
            case 1:
                for _ in range(20):
                    data[chance.randrange(len(data))] = chance.randrange(256)
            case 2:
                for at in range(8, min(40, len(data))):
                    if chance.random() < 0.3:
                        data[at] = 255
            case _:
                data = bytearray(wholes[chance.choice(list(wholes))])  # the wrong extension
        path = folder / f"odd{n}.{ending}"
        path.write_bytes(data)
        yield path


def odd(folder: Path) -> None:
    paths = list(odd_files(folder))
    told: Counter[str] = Counter()
    for path in paths:
        items = list(Load([path], loading=LoadingSettings(page_seconds=60)))
        kinds = {type(item).__name__ for item in items} or {"nothing"}
        told["+".join(sorted(kinds))] += 1
        for item in items:
            if isinstance(item, Problem) and (
                "made its reader fail" in item.message or "cannot be read (" in item.message
            ):
                print(path.name, item.message)
    print(len(paths), "files:", dict(told))


def main() -> None:
    """Parse the command line and measure."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--pages", type=int, default=60)
    parser.add_argument("--pdf", type=Path, nargs="+", default=[])
    parser.add_argument("--tesseract", action="store_true")
    parser.add_argument("--odd", action="store_true")
    its = parser.parse_args()
    if its.tesseract and shutil.which("tesseract") is None:
        raise SystemExit("tesseract is not installed")
    with tempfile.TemporaryDirectory() as place:
        folder = Path(place)
        if its.odd:
            odd(folder)
            return
        pdf = folder / "text.pdf"
        number = chosen(its.pdf or list(islice(drawn(folder), 3)), its.pages, pdf)
        measure(pdf, number, folder, its.tesseract)


if __name__ == "__main__":
    main()
