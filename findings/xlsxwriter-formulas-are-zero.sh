#!/usr/bin/env bash
# A formula in a workbook by XlsxWriter (pandas's default) has the stored value 0 until a spreadsheet program calculates
# it. With data_only=True each sum is the number 0, not None as for openpyxl's own formulas. The workbook requests a
# calculation (fullCalcOnLoad), which readers ignore.
# XlsxWriter 3.3.1, openpyxl 3.1.5.
# Source: https://xlsxwriter.readthedocs.io/working_with_formulas.html
set -euo pipefail

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
python3 -m venv "$work/venv"
"$work/venv/bin/python" -m pip --disable-pip-version-check -q install openpyxl==3.1.5 XlsxWriter==3.3.1
"$work/venv/bin/python" - <<'PY'
import io

import openpyxl
import xlsxwriter

first = io.BytesIO()
book = xlsxwriter.Workbook(first)
sheet = book.add_worksheet()
sheet.write("A1", 21)
sheet.write_formula("A2", "=A1*2")
book.close()

second = io.BytesIO()
book = openpyxl.Workbook()
book.active["A1"], book.active["A2"] = 21, "=A1*2"
book.save(second)

read = [openpyxl.load_workbook(file, data_only=True) for file in (first, second)]
values, flags = [book.active["A2"].value for book in read], [bool(book.calculation.fullCalcOnLoad) for book in read]
print(f"21*2 of XlsxWriter and of openpyxl: {values}; to be calculated when opened: {flags}")
assert values == [0, None] and flags == [True, True]
PY
