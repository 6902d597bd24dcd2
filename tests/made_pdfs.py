"""PDFs with known text, order and tables, made by reportlab."""

import random
from collections.abc import Sequence
from itertools import pairwise
from pathlib import Path

from reportlab.lib.pagesizes import A4
from reportlab.pdfgen.canvas import Canvas

WIDTH, HEIGHT = A4
LEADING = 13.0
_WORDS = """harbour winter survey council ledger captain measured return cargo iron steam between report several engine
river northern village committee timber railway bridge garden letter journey market season company island lantern
""".split()

Rows = Sequence[Sequence[str]]


def words(chance: random.Random, count: int) -> str:
    """Return a sentence."""
    return " ".join(chance.choices(_WORDS, k=count)).capitalize() + "."


def prose(chance: random.Random, sentences: int) -> str:
    """Return a paragraph."""
    return " ".join(words(chance, chance.randint(8, 16)) for _ in range(sentences))


class Maker:
    """Writes text and tables on pages, from the top left corner of each."""

    def __init__(self, path: Path, **options: object) -> None:
        self.canvas = Canvas(str(path), pagesize=A4, **options)  # type: ignore[arg-type]
        self.y = HEIGHT - 90

    def wrap(self, text: str, width: float, size: float = 10, font: str = "Helvetica") -> list[str]:
        """Return lines of at most this width."""
        lines: list[str] = []
        for word in text.split():
            longer = f"{lines[-1]} {word}" if lines else word
            if lines and self.canvas.stringWidth(longer, font, size) <= width:
                lines[-1] = longer
            else:
                lines.append(word)
        return lines

    def text(
        self, text: str, x: float = 70, width: float = WIDTH - 140, size: float = 10, font: str = "Helvetica"
    ) -> None:
        """Add a ragged paragraph, and a gap after it."""
        self.lines(self.wrap(text, width, size, font), x, size, font)

    def lines(self, lines: Sequence[str], x: float = 70, size: float = 10, font: str = "Helvetica") -> None:
        """Add lines unchanged, and a gap after them."""
        self.canvas.setFont(font, size)
        for line in lines:
            self.canvas.drawString(x, self.y, line)
            self.y -= LEADING * size / 10
        self.y -= 0.7 * LEADING

    def at(self, x: float, y: float, text: str, size: float = 10) -> None:
        """Add a line at a given position."""
        self.canvas.setFont("Helvetica", size)
        self.canvas.drawString(x, y, text)

    def columns(self, left: Sequence[str], right: Sequence[str]) -> None:
        """Add two columns of paragraphs, side by side."""
        top, low = self.y, self.y
        for x, paragraphs in ((60, left), (312, right)):
            self.y = top
            for paragraph in paragraphs:
                self.text(paragraph, x, 225)
            low = min(low, self.y)
        self.y = low

    def table(self, rows: Rows, widths: Sequence[float], x: float = 70, *, ruled: bool = True) -> None:
        """Add a table; newlines separate lines within a cell."""
        self.canvas.setFont("Helvetica", 9)
        edges = [x + sum(widths[:i]) for i in range(len(widths) + 1)]
        top = self.y + 10
        for row in rows:
            height = 14.0 * max(cell.count("\n") + 1 for cell in row)
            for cell, left in zip(row, edges, strict=False):
                for i, line in enumerate(cell.split("\n")):
                    self.canvas.drawString(left + 4, top - 11 - 11 * i, line)
            if ruled:
                for left, right in pairwise(edges):
                    self.canvas.rect(left, top - height, right - left, height)
            top -= height
        self.y = top - 2 * LEADING

    def page(self) -> None:
        """End the page."""
        self.canvas.showPage()
        self.y = HEIGHT - 90

    def save(self) -> None:
        """Write the file."""
        self.canvas.save()


def type3_pdf(path: Path, codes: list[int]) -> None:
    """Write a page that shows `codes` in TeX's bitmap font: its glyphs are called "a27", without other information."""
    glyphs = sorted(set(codes))
    names = " ".join(f"{code} /a{code}" for code in glyphs)
    procedures = " ".join(f"/a{code} 6 0 R" for code in glyphs)
    widths = " ".join("10" if code in glyphs else "0" for code in range(glyphs[0], glyphs[-1] + 1))
    page = "BT /F1 10 Tf 70 700 Td <" + "".join(f"{code:02x}" for code in codes) + "> Tj ET"
    glyph = "10 0 0 0 8 8 d1 0 0 8 8 re f"
    objects = [
        "<< /Type /Catalog /Pages 2 0 R >>",
        "<< /Type /Pages /Kids [3 0 R] /Count 1 >>",
        "<< /Type /Page /Parent 2 0 R /MediaBox [0 0 595 842] /Contents 4 0 R "
        "/Resources << /Font << /F1 5 0 R >> >> >>",
        f"<< /Length {len(page)} >>\nstream\n{page}\nendstream",
        f"<< /Type /Font /Subtype /Type3 /FontBBox [0 0 10 10] /FontMatrix [0.06 0 0 0.06 0 0] /FirstChar {glyphs[0]} "
        f"/LastChar {glyphs[-1]} /Widths [{widths}] /Encoding << /Type /Encoding /Differences [{names}] >> "
        f"/CharProcs << {procedures} >> /Resources << >> >>",
        f"<< /Length {len(glyph)} >>\nstream\n{glyph}\nendstream",
    ]
    out, places = "%PDF-1.4\n", []
    for number, body in enumerate(objects, 1):
        places.append(len(out))
        out += f"{number} 0 obj\n{body}\nendobj\n"
    table = "".join(f"{place:010d} 00000 n \n" for place in places)
    out += f"xref\n0 {len(objects) + 1}\n0000000000 65535 f \n{table}trailer\n"
    out += f"<< /Size {len(objects) + 1} /Root 1 0 R >>\nstartxref\n{out.index('xref')}\n%%EOF\n"
    path.write_text(out, encoding="ascii")
