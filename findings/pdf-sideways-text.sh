#!/usr/bin/env bash
# Many reports have a sideways table on an upright page. pdfplumber silently returns its letters in the wrong order
# (upwards) or with one line per word (downwards); PDFium returns the original text.
# pdfplumber 0.11.10, pypdfium2 5.15.2.
# Source: by experiment.
set -euo pipefail

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
python3 -m venv "$work/venv"
"$work/venv/bin/python" -m pip --disable-pip-version-check -q install pdfplumber==0.11.10 pypdfium2==5.15.2 reportlab==5.1.0
"$work/venv/bin/python" - <<'PY'
import io

import pdfplumber
import pypdfium2
from reportlab.pdfgen.canvas import Canvas


def read(draw):
    file = io.BytesIO()
    page = Canvas(file, pagesize=(400, 200))
    page.setFont("Helvetica", 12)
    draw(page)
    page.showPage()
    page.save()
    with pdfplumber.open(file) as book:
        first = book.pages[0].extract_text()
    second = pypdfium2.PdfDocument(file.getvalue())[0].get_textpage().get_text_range()
    print(f"pdfplumber: {first!r}; PDFium: {second!r}")
    return first, second


def upwards(page):
    page.translate(300, 20)
    page.rotate(90)
    page.drawString(0, 0, "twelve bar")


def downwards(page):
    page.translate(300, 180)
    page.rotate(-90)
    page.drawString(0, 0, "twelve bar")


up, down = read(upwards), read(downwards)
assert "twelve bar" in up[1] and "twelve bar" in down[1]
assert "twelve" not in up[0] and "rab" in up[0].replace("\n", "")
assert down[0].splitlines() == ["twelve", "bar"]
PY
