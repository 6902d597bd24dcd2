"""Compare the SEARCH clause of Cypher 25 with the procedure for vector search, on the newest line of Neo4j.

    python bench/search_clause.py

Runs 300 queries on 20,000 random vectors of 256 numbers, each both ways in turn. Prints the medians, and how often both
return the same ten.
"""

import statistics
import tempfile
import time
from pathlib import Path

import numpy as np
from neo4j import GraphDatabase, Session

from kgrag.graph.local.server import LocalServer
from kgrag.settings import LocalSettings, Settings

PROCEDURE = """
CALL db.index.vector.queryNodes('near', 200, $vector) YIELD node, score
RETURN node.number AS number, score ORDER BY score DESC, number LIMIT 10
"""
CLAUSE = """
CYPHER 25 MATCH (n:Point) SEARCH n IN (VECTOR INDEX near FOR $vector LIMIT 200) SCORE AS score
RETURN n.number AS number, score ORDER BY score DESC, number LIMIT 10
"""
INDEX = """
CREATE VECTOR INDEX near FOR (n:Point) ON n.vector
OPTIONS {indexConfig: {
  `vector.dimensions`: 256, `vector.similarity_function`: 'cosine', `vector.quantization.enabled`: false
}}
"""


def compare(session: Session) -> None:
    """Write the vectors, run the queries, and print the results."""
    numbers = np.random.default_rng(1).normal(size=(20_000, 256)).tolist()
    for start in range(0, len(numbers), 2_000):
        rows = [{"number": start + i, "vector": v} for i, v in enumerate(numbers[start : start + 2_000])]
        session.run("UNWIND $rows AS row CREATE (n:Point) SET n = row", rows=rows).consume()
    session.run(INDEX).consume()
    session.run("CALL db.awaitIndexes(300)").consume()
    took: dict[str, list[float]] = {PROCEDURE: [], CLAUSE: []}
    same = 0
    for number in range(330):
        found = []
        for query, times in took.items():
            began = time.perf_counter()
            found.append(session.run(query, vector=numbers[7 * number]).data())
            times.append(1000 * (time.perf_counter() - began))
        same += number >= 30 and found[0] == found[1]
    procedure, clause = (statistics.median(times[30:]) for times in took.values())
    print(f"procedure {procedure:.2f} ms, SEARCH {clause:.2f} ms, ratio {clause / procedure:.2f}; same {same} of 300")


def main() -> None:
    """Start the server, compare, and stop it."""
    with tempfile.TemporaryDirectory() as folder:
        local = LocalSettings(version="2026")
        server = LocalServer(Settings(_env_file=None, home=Path(folder), local=local))  # type: ignore[call-arg]
        endpoint = server.ensure_running()
        try:
            login = (endpoint.user, endpoint.password.get_secret_value())
            with GraphDatabase.driver(endpoint.uri, auth=login) as driver, driver.session() as session:
                compare(session)
        finally:
            server.stop()


if __name__ == "__main__":
    main()
