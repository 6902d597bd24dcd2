#!/usr/bin/env bash
# A PDF can crop away content, such as a printer's slug line. Viewers do not show it, but pdfplumber and PDFium both
# return it as text of the page.
# pdfplumber 0.11.10, pypdfium2 5.15.2.
# Source: by experiment; ISO 32000-1, section 14.11.2 (page boundaries).
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


def draw(page):
    page.setCropBox((0, 50, 400, 200))
    page.drawString(50, 100, "on the page")
    page.drawString(50, 20, "job 4711 do not print")


seen = read(draw)
assert all("on the page" in text and "job 4711 do not print" in text for text in seen)
PY
