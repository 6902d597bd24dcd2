#!/usr/bin/env bash
# docling-slim 2.142.1 with the extras for Word files converts a Word file. In 2.143.0 the same program cannot import
# the converter, because it requires torch, which these extras do not install.
# docling-slim 2.142.1 and 2.143.0, python-docx 1.2.0.
# Source: by experiment.
set -euo pipefail

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
python3 -m venv "$work/venv"
python="$work/venv/bin/python"
for version in 2.142.1 2.143.0; do
  "$python" -m pip --disable-pip-version-check -q install python-docx==1.2.0 "docling-slim[convert-core,format-docx]==$version"
  "$python" - "$version" "$work/report.docx" 2> "$work/log" <<'PY'
import sys

import docx

report = docx.Document()
report.add_heading("Ships", 1)
report.add_paragraph("The Fram was built at Larvik.")
report.save(sys.argv[2])
try:
    from docling.document_converter import DocumentConverter
except ModuleNotFoundError as error:
    said = str(error)
else:
    said = DocumentConverter().convert(sys.argv[2]).document.export_to_markdown()
print(sys.argv[1], repr(said))
expected = {"2.142.1": "The Fram was built at Larvik.", "2.143.0": "No module named 'torch'"}
assert expected[sys.argv[1]] in said
PY
done
