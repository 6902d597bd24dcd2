#!/usr/bin/env bash
# docling-slim with the extras for Word files converts a Word file in 2.142.1; in 2.143.0 the same program cannot import
# the converter: it wants torch, which the extras for Word files do not bring.
# docling-slim 2.142.1 and 2.143.0, python-docx 1.2.0.
# Source: by experiment.
set -euo pipefail

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
python3 -m venv "$work/venv"
python="$work/venv/bin/python"
cat > "$work/convert.py" <<'PY'
import sys

import docx

report = docx.Document()
report.add_heading("Ships", 1)
report.add_paragraph("The Fram was built at Larvik.")
report.save(sys.argv[1])
try:
    from docling.document_converter import DocumentConverter
except ModuleNotFoundError as error:
    print("no converter:", error)
else:
    print(repr(DocumentConverter().convert(sys.argv[1]).document.export_to_markdown()))
PY
for version in 2.142.1 2.143.0; do
  "$python" -m pip --disable-pip-version-check -q install python-docx==1.2.0 "docling-slim[convert-core,format-docx]==$version"
  said=$("$python" "$work/convert.py" "$work/report.docx" 2> "$work/log")
  echo "$version: $said"
  case "$version" in
    2.142.1) [[ $said == *"The Fram was built at Larvik."* ]] ;;
    2.143.0) [[ $said == *"no converter: No module named 'torch'"* ]] ;;
  esac
done
