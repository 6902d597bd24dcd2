#!/usr/bin/env bash
# A Snowball stemmer takes capitals for letters that it does not know: "Universities" gets another stem than "universities",
# and not just one with a capital; in German the stem keeps the capital of each noun. The text must be in lower case before.
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
