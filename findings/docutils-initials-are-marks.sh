#!/usr/bin/env bash
# A reStructuredText paragraph that begins with an initial is a paragraph if it has two lines, but a list if it has one.
# docutils takes the initial for an item's mark and drops it from the text. "I. Newton" is item 1 in Roman numerals.
# docutils 0.23.
# Source: https://docutils.sourceforge.io/docs/ref/rst/restructuredtext.html#enumerated-lists
set -euo pipefail

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
python3 -m venv "$work/venv"
"$work/venv/bin/python" -m pip --disable-pip-version-check -q install docutils==0.23
"$work/venv/bin/python" - <<'PY'
from docutils.core import publish_doctree


def seen(text):
    node = publish_doctree(text, settings_overrides={"report_level": 5}).children[0]
    return node.tagname, node.astext().replace("\n", " ")


ONE, TWO, ROMAN = "A. Einstein was a physicist.", "A. Einstein was\na physicist.", "I. Newton wrote the book."
for text in ONE, TWO, ROMAN:
    print(repr(text), seen(text))
assert seen(ONE) == ("enumerated_list", "Einstein was a physicist.")
assert seen(TWO) == ("paragraph", "A. Einstein was a physicist.")
assert seen(ROMAN) == ("enumerated_list", "Newton wrote the book.")
PY
