#!/usr/bin/env bash
# The tagme package cannot read the relatedness of two articles since Python 3.9: it unescapes each title with a method
# of the standard library's HTMLParser that Python removed. It does read replies with annotations, but leaves the same
# escapes in their titles: "AT&amp;T".
# tagme 0.1.3.
# Source: https://docs.python.org/3/whatsnew/3.9.html#removed (HTMLParser.unescape)
set -euo pipefail

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
python3 -m venv "$work/venv"
"$work/venv/bin/python" -m pip --disable-pip-version-check -q install tagme==0.1.3
"$work/venv/bin/python" - <<'PY'
import tagme

WHEN = {"time": 1, "lang": "en", "timestamp": "2026-01-01T00:00:00"}
TITLE = "AT&amp;T"

place = {"title": TITLE, "id": 1, "start": 0, "end": 4, "rho": "0.4", "spot": "AT&T"}
(found,) = tagme.AnnotateResponse({**WHEN, "annotations": [place]}).annotations
print("annotation:", found.entity_title, found.score)
assert (found.entity_title, found.score) == (TITLE, 0.4)

try:
    seen = str(tagme.RelatednessResponse([{**WHEN, "result": [{"couple": f"Ship {TITLE}", "rel": "0.5"}]}]).get_relatedness())
except AttributeError as error:
    seen = str(error)
print("relatedness:", seen)
assert seen == "'HTMLParser' object has no attribute 'unescape'"
PY
