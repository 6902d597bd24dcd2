#!/usr/bin/env bash
# Models that answer once for each sentence write two JSON objects with the same keys in one text. If they are damaged,
# json_repair returns only the last as a dict, without any warning. With different keys it returns a list of both.
# json_repair 0.64.6.
# Source: by experiment.
set -euo pipefail

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
python3 -m venv "$work/venv"
"$work/venv/bin/python" -m pip --disable-pip-version-check -q install json_repair==0.64.6
"$work/venv/bin/python" - <<'PY'
import json_repair

same = json_repair.loads('{"triples": [["Fram", "built by", "Archer"],]}\n{"triples": [["Maud", "built by", "Jensen"],]}')
other = json_repair.loads('{"triples": [["Fram", "built by", "Archer"],]}\n{"entities": ["Maud"],}')
print(f"same keys: {same}\nother keys: {other}")
assert same == {"triples": [["Maud", "built by", "Jensen"]]}
assert other == [{"triples": [["Fram", "built by", "Archer"]]}, {"entities": ["Maud"]}]
PY
