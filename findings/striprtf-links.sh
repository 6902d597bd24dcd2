#!/usr/bin/env bash
# striprtf appends a link's address to its text, with the brackets and quotation marks of the field code: `the
# site("https://example.org/a") is new`. Other fields, such as a page number, leave no code behind.
# striprtf 0.0.35.
# Source: by experiment.
set -euo pipefail

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
python3 -m venv "$work/venv"
"$work/venv/bin/python" -m pip --disable-pip-version-check -q install striprtf==0.0.35
PYTHONDONTWRITEBYTECODE=1 "$work/venv/bin/python" - <<'PY'
from striprtf.striprtf import rtf_to_text

LINK = r'{\field{\*\fldinst{HYPERLINK "https://example.org/a"}}{\fldrslt{the site}}}'
PAGE = r"{\field{\*\fldinst{PAGE}}{\fldrslt{7}}}"
link, page = (rtf_to_text(rf"{{\rtf1\ansi See {field} now.\par}}").strip() for field in (LINK, PAGE))
print(link)
print(page)
assert link == 'See the site("https://example.org/a") now.'
assert page == "See 7 now."
PY
