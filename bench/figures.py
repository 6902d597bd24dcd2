"""Measure how many figures of papers, reports, slides and pages are found, with their captions and references.

    python bench/figures.py
    python bench/figures.py --keep FOLDER        keeps the files and the extracted pictures for inspection

Papers are not on every machine, so the files imitate papers and manuals: matplotlib (charts as paths), ReportLab (PDF
of one and two columns, captions above or below), python-docx, python-pptx, and HTML. `found`: a figure whose box covers
the drawing and little else, or whose bytes equal the original; `captions`: the complete text; `tied`: exactly the
passages that refer to it. Exits with 1 if a rate is below its requirement.
"""

import argparse
import io
import random
import sys
import tempfile
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import docx
import matplotlib as mpl
import pptx
from docx.shared import Pt as DocxPt
from matplotlib.backends.backend_pdf import PdfPages
from matplotlib.figure import Figure as Drawing
from PIL import Image
from pptx.util import Pt
from reportlab.lib.utils import ImageReader
from reportlab.pdfbase.pdfmetrics import stringWidth
from reportlab.pdfgen.canvas import Canvas

from kgrag.indexing.chunking import chunk
from kgrag.indexing.figure_references import figure_references
from kgrag.loaders import load
from kgrag.settings import IndexingSettings
from kgrag.values.documents import Document, Figure

ASKED = {"found": 36, "captions": 34, "tied": 30}
JPEG = b"\xff\xd8"
Box = tuple[float, float, float, float]
_WORDS = (
    "the ship sailed north along a coast of ice and the crew measured depth wind and drift each day while salt air "
    "froze on every rope that held her masts and the log kept count of fathoms hours and miles made good since dawn"
).split()
_SUBJECTS = "speed drift depth wind salinity pressure temperature ice coal crew hull sail mast rudder keel".split()


@dataclass(frozen=True, slots=True)
class Drawn:
    """A figure as drawn: its position or its bytes; its caption and its label."""

    caption: str
    label: str
    page: int = 0
    box: Box | None = None
    data: bytes = b""


def prose(draw: random.Random, words: int) -> str:
    """Return random sentences."""
    made = [draw.choice(_WORDS) for _ in range(words)]
    for at in range(0, words, 14):
        made[at] = made[at].capitalize()
        made[min(words, at + 14) - 1] += "."
    return " ".join(made)


def photograph(seed: int, width: int = 320, height: int = 200) -> bytes:
    """Return a picture that looks like a photograph."""
    draw = random.Random(seed)
    small = Image.frombytes("RGB", (16, 10), draw.randbytes(480))
    out = io.BytesIO()
    small.resize((width, height), Image.Resampling.BICUBIC).save(out, "JPEG" if seed % 2 else "PNG")
    return out.getvalue()


def caption(draw: random.Random, form: str, label: str) -> str:
    """Return a caption of one to three sentences."""
    subject = f"The {draw.choice(_SUBJECTS)} of ship {draw.randrange(100, 999)} by {draw.choice(_SUBJECTS)}."
    return f"{form.format(label)} {subject}" + draw.choice(["", f" {prose(draw, 14)}", f" {prose(draw, 28)}"])


class Paper:
    """A PDF of one or two columns that text and figures flow into, by ReportLab."""

    def __init__(self, path: Path, draw: random.Random, columns: int, form: str, above: bool) -> None:
        self._canvas = Canvas(str(path), (595, 842), invariant=True)
        self._draw, self._columns, self._form, self._above = draw, columns, form, above
        self.width = (595 - 120 - 20 * (columns - 1)) / columns
        self._column, self._top, self.page = 0, 60.0, 1
        self.drawn: list[Drawn] = []

    def _left(self) -> float:
        return 60 + self._column * (self.width + 20)

    def _room(self, height: float) -> None:
        if self._top + height > 780:
            self._column, self._top = self._column + 1, 60.0
            if self._column == self._columns:
                self._canvas.setFont("Helvetica", 8)
                self._canvas.drawCentredString(297, 30, str(self.page))
                self._canvas.showPage()
                self._column, self.page = 0, self.page + 1

    def text(self, text: str, size: float = 10, after: float = 8) -> None:
        """Add a paragraph."""
        line = ""
        for word in [*text.split(), ""]:
            if line and (not word or stringWidth(f"{line} {word}", "Times-Roman", size) > self.width):
                self._room(size * 1.2)
                self._canvas.setFont("Times-Roman", size)
                self._canvas.drawString(self._left(), 842 - self._top - size, line)
                self._top += size * 1.2
                line = ""
            line = f"{line} {word}".strip()
        self._top += after

    def figure(self, label: str, kind: int, height: float = 130) -> None:
        """Draw a photograph, a chart, boxes with arrows, or two charts side by side, with its caption."""
        words = caption(self._draw, self._form, label)
        self._room(height + 80)
        if self._above:
            self.text(words, 9, 6)
        left, top, width = self._left() + 14, self._top, self.width - 28
        self._draw_one(kind, left, top, width, height)
        self.drawn.append(Drawn(words, label, self.page, (left, top, left + width, top + height)))
        self._top += height + 16
        if not self._above:
            self.text(words, 9, 6)
        self._top += 12

    def _draw_one(self, kind: int, left: float, top: float, width: float, height: float) -> None:
        low = 842 - top - height
        if kind == 0:
            picture = ImageReader(io.BytesIO(photograph(self._draw.randrange(10**6))))
            self._canvas.drawImage(picture, left, low, width, height)
        elif kind == 1:
            self._chart(left, low, width, height)
        elif kind == 2:
            for n in range(3):
                x = left + n * width / 3
                self._canvas.roundRect(x, low + height / 3, width / 4, height / 3, 4)
                self._canvas.setFont("Helvetica", 7)
                self._canvas.drawString(x + 4, low + height / 2, _SUBJECTS[n])
                if n < 2:
                    self._canvas.line(x + width / 4, low + height / 2, x + width / 3, low + height / 2)
            self._canvas.rect(left, low, width, height)
        else:
            for n in range(2):
                self._chart(left + n * width * 0.55, low, width * 0.45, height)

    def _chart(self, left: float, low: float, width: float, height: float) -> None:
        self._canvas.line(left, low, left + width, low)
        self._canvas.line(left, low, left, low + height)
        self._canvas.setFont("Helvetica", 6)
        for n in range(5):
            self._canvas.drawCentredString(left + n * width / 4, low - 8, str(n * 10))
            self._canvas.drawRightString(left - 3, low + n * height / 4 - 2, str(n))
        path = self._canvas.beginPath()
        path.moveTo(left, low)
        for n in range(1, 31):
            path.lineTo(left + n * width / 30, low + height * self._draw.random())
        self._canvas.drawPath(path)

    def save(self) -> list[Drawn]:
        """Write the PDF, and return its figures."""
        self._canvas.save()
        return self.drawn


def papers(folder: Path, draw: random.Random) -> Iterator[tuple[Path, list[Drawn]]]:
    """Write papers: four by ReportLab with four figures each, two by matplotlib with three."""
    for n, (columns, form, above) in enumerate(
        ((1, "Figure {}:", False), (2, "Fig. {}.", False), (1, "Abbildung {}:", True), (2, "Figure 2.{}", False))
    ):
        path = folder / f"paper{n}.pdf"
        paper = Paper(path, draw, columns, form, above)
        for k in range(1, 5):
            label = f"2.{k}" if "2." in form else str(k)
            paper.text(f"{prose(draw, 150)} This is shown in {form.format(k).rstrip(':. ')}. {prose(draw, 60)}")
            paper.text(prose(draw, 120))
            paper.figure(label if "2." not in form else str(k), (n + k) % 4)
        paper.text(prose(draw, 100))
        drawn = paper.save()
        yield path, [Drawn(d.caption, f"2.{d.label}", d.page, d.box) if "2." in form else d for d in drawn]
    for n in range(2):
        path, drawn = folder / f"charts{n}.pdf", []
        with mpl.rc_context({"pdf.fonttype": 42}), PdfPages(path) as pages:
            for k in range(1, 4):
                drawn.append(_plotted(pages, draw, k))
        yield path, drawn


def _plotted(pages: PdfPages, draw: random.Random, number: int) -> Drawn:
    """Draw a page of a report: a chart with axes, a legend and text above and below."""
    sheet = Drawing(figsize=(595 / 72, 842 / 72))
    axes = sheet.add_axes((0.2, 0.55, 0.6, 0.25))
    kinds = ("plot", "scatter", "bar")
    xs = range(40)
    getattr(axes, kinds[number % 3])(xs, [draw.random() for _ in xs], label="Fram")
    axes.set_xlabel("Days at sea")
    axes.set_ylabel("Knots")
    axes.legend()
    words = f"Figure {number}: The {draw.choice(_SUBJECTS)} of ship {draw.randrange(100, 999)} by days at sea."
    sheet.text(0.2, 0.47, words, fontsize=9)
    for top, lines in ((0.92, 4), (0.42, 12)):
        for line in range(lines):
            text = prose(draw, 13) if line else f"As Figure {number} shows, {prose(draw, 9).lower()}"
            sheet.text(0.1, top - 0.018 * line, text, fontsize=9)
    pages.savefig(sheet)
    return Drawn(words, str(number), number, (0.2 * 595, 0.2 * 842, 0.8 * 595, 0.45 * 842))


def reports(folder: Path, draw: random.Random) -> Iterator[tuple[Path, list[Drawn]]]:
    """Write two Word documents with four figures, two presentations with three, two web pages with two."""
    for n in range(2):
        document, drawn = docx.Document(), []
        for k in range(1, 5):
            words, data = caption(draw, "Figure {}:", str(k)), photograph(draw.randrange(10**6))
            document.add_paragraph(f"{prose(draw, 120)} The reader may compare Figure {k}. {prose(draw, 60)}")
            for part in ("caption", "figure") if n else ("figure", "caption"):
                if part == "figure":
                    document.add_picture(io.BytesIO(data), width=DocxPt(300))
                else:
                    document.add_paragraph(words, style="Caption")
            document.add_paragraph(prose(draw, 100))
            drawn.append(Drawn(words, str(k), data=data))
        document.save(str(folder / f"report{n}.docx"))
        yield folder / f"report{n}.docx", drawn
    for n in range(2):
        show, drawn = pptx.Presentation(), []
        for k in range(1, 4):
            slide = show.slides.add_slide(show.slide_layouts[5])
            slide.shapes.title.text = f"Ship {k}"
            words, data = caption(draw, "Figure {}:", str(k)), photograph(draw.randrange(10**6))
            slide.shapes.add_picture(io.BytesIO(data), Pt(120), Pt(150), Pt(320))
            box = slide.shapes.add_textbox(Pt(120), Pt(380), Pt(400), Pt(60))
            box.text_frame.text = words
            drawn.append(Drawn(words, str(k), k, data=data))
        show.save(str(folder / f"slides{n}.pptx"))
        yield folder / f"slides{n}.pptx", drawn
    for n in range(2):
        drawn, parts = [], []
        for k in range(1, 3):
            words, data = caption(draw, "Fig. {}:", str(k)), photograph(draw.randrange(10**6))
            name = f"web{n}-{k}.{'jpg' if data.startswith(JPEG) else 'png'}"
            (folder / name).write_bytes(data)
            parts.append(f"<p>{prose(draw, 120)} See Fig. {k}. {prose(draw, 100)}</p>")
            figure = f'<img src="{name}" alt="a ship"><figcaption>{words}</figcaption>'
            parts.append(f"<figure>{figure}</figure>" if n else f'<p><img src="{name}"></p><p>{words}</p>')
            parts.append(f"<p>{prose(draw, 150)}</p>")
            drawn.append(Drawn(words, str(k), data=data))
        (folder / f"web{n}.html").write_text(f"<html><title>Web</title><body>{''.join(parts)}</body></html>")
        yield folder / f"web{n}.html", drawn


def match(drawn: Drawn, figures: Sequence[Figure]) -> Figure | None:
    """Return the figure that matches the drawing."""
    if drawn.box is None:
        return next((figure for figure in figures if figure.data == drawn.data), None)
    return next((f for f in figures if f.page == drawn.page and _alike(f.box, drawn.box)), None)


def _alike(box: tuple[float, ...], other: Box) -> bool:
    """Return whether a box holds 95 % of another, and reaches at most 45 points further on any side."""
    across = min(box[2], other[2]) - max(box[0], other[0])
    down = min(box[3], other[3]) - max(box[1], other[1])
    whole = (other[2] - other[0]) * (other[3] - other[1])
    return (
        min(across, down) > 0
        and across * down >= 0.95 * whole
        and all(abs(a - b) <= 45 for a, b in zip(box, other, strict=True))
    )


def tied(its: Figure, drawn: Drawn, document: Document) -> bool:
    """Return whether a figure is tied to exactly the passages that refer to it."""
    passages = [
        {"properties": {"text": c.text}, "page": c.page, "last_page": c.last_page}
        for c in chunk(document, IndexingSettings())
    ]
    refers = figure_references(document.figures, passages)
    forms = [f"{form} {drawn.label}" for form in ("Figure", "Fig.", "Abbildung")]
    for passage, numbers in zip(passages, refers, strict=True):
        words = f"{' '.join(passage['properties']['text'].split())} "
        names = any(f"{form}{end}" in words for form in forms for end in (" ", ".", ":", ","))
        if names != (its.number in numbers):
            return False
    return True


def main() -> int:
    """Draw the files, read them and count the figures."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--keep", type=Path)
    parser.add_argument("--seed", type=int, default=7)
    given = parser.parse_args()
    folder = given.keep or Path(tempfile.mkdtemp(prefix="kgrag-figures-"))
    folder.mkdir(parents=True, exist_ok=True)
    draw = random.Random(given.seed)
    counts, more = dict.fromkeys(("drawn", *ASKED), 0), 0
    for path, drawn in (*papers(folder, draw), *reports(folder, draw)):
        (document,) = (item for item in load(path) if isinstance(item, Document))
        marks = []
        for one in drawn:
            its = match(one, document.figures)
            said = its is not None and " ".join(its.caption.split()) == one.caption
            its_tied = its is not None and tied(its, one, document)
            counts["drawn"] += 1
            for name, ok in (("found", its is not None), ("captions", said), ("tied", its_tied)):
                counts[name] += ok
            marks.append("".join(letter if ok else "-" for letter, ok in (("f", its), ("c", said), ("t", its_tied))))
        more += len(document.figures) - sum("f" in mark for mark in marks)
        print(f"{path.name:<14} {' '.join(marks)}")
        if given.keep:
            for figure in document.figures:
                (folder / f"{path.name}-{figure.number}{'.png' if 'png' in figure.media_type else '.jpg'}").write_bytes(
                    figure.data
                )
    print(", ".join(f"{name} {number}" for name, number in counts.items()), f"of {counts['drawn']}; others {more}")
    return int(any(counts[name] < asked for name, asked in ASKED.items()))


if __name__ == "__main__":
    sys.exit(main())
