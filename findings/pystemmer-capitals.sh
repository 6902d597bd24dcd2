#!/usr/bin/env bash
# A Snowball stemmer does not recognise capitals as letters: "Universities" has another stem than "universities", not
# just a capitalised one. In German the stem keeps each noun's capital. Lower-case the text before stemming.
# PyStemmer 3.1.0.
# Source: by experiment.
set -euo pipefail

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
python3 -m venv "$work/venv"
"$work/venv/bin/python" -m pip --disable-pip-version-check -q install PyStemmer==3.1.0
"$work/venv/bin/python" - <<'PY'
import Stemmer

english = Stemmer.Stemmer("english").stemWords(["universities", "Universities"])
german = Stemmer.Stemmer("german").stemWords(["häuser", "Häuser"])
print(english, german)
assert english == ["universiti", "Univers"] and german == ["haus", "Haus"]
PY
