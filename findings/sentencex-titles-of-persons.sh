#!/usr/bin/env bash
# sentencex has rules for French, but splits "M. Dupont", "Mme. Curie" and "Dr. Martin" into two sentences each. It
# keeps these titles whole in English, Spanish, Italian, Portuguese and Dutch. In German it splits "19. Jahrhundert",
# but not "3. Oktober". In Japanese a quotation ends the sentence that contains it.
# sentencex 1.0.32.
# Source: by experiment.
set -euo pipefail

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
python3 -m venv "$work/venv"
"$work/venv/bin/python" -m pip --disable-pip-version-check -q install sentencex==1.0.32
PYTHONDONTWRITEBYTECODE=1 "$work/venv/bin/python" - <<'PY'
from sentencex import segment

WHOLE = {
    "en": "Mr. Dupont arrived.",
    "es": "El Sr. Dupont llegó.",
    "it": "Il Sig. Dupont arrivò.",
    "pt": "O Sr. Dupont chegou.",
    "nl": "Dhr. Dupont kwam.",
    "de": "Am 3. Oktober war es kalt.",
}
CUT = [
    ("fr", "M. Dupont est là."),
    ("fr", "Mme. Curie est là."),
    ("fr", "Le Dr. Martin est là."),
    ("de", "Im 19. Jahrhundert war es kalt."),
    ("ja", "彼は「行きます。」と言った。"),
]
for code, text in (*WHOLE.items(), *CUT):
    print(code, segment(code, text))
assert all(len(segment(code, text)) == 1 for code, text in WHOLE.items())
assert all(len(segment(code, text)) == 2 for code, text in CUT)
PY
