#!/usr/bin/env bash
# Some PDFs make bold by printing a word twice, a third of a point apart. pdfplumber doubles each letter; PDFium drops
# the second print, so the two readers disagree on the text of a page.
# pdfplumber 0.11.10, pypdfium2 5.15.2.
# Source: by experiment; https://github.com/jsvine/pdfplumber (dedupe_chars)
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
    page.drawString(50, 100, "Heading")
    page.drawString(50.3, 100, "Heading")


seen = read(draw)
assert seen == ("HHeeaaddiinngg", "Heading")
PY
