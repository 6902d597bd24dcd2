"""What makes writing rows with vectors quicker: encodings, MERGE or CREATE, rows a batch, transactions side by side.

    python bench/writing.py                     against the server of KGRAG_NEO4J_*, else the local one
    python bench/writing.py --rows 5000 --rounds 3 --json

Every variant writes equal rows (a triple with its vector, hung on a passage and on two of a thousand entities) under
labels of its own, with a uniqueness constraint and without a vector index; the variants take turns, and the median of
the rounds counts. --no-rust puts the driver's compiled extension aside.
"""

import argparse
import json
import statistics
import sys
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import Any

if "--no-rust" in sys.argv:
    sys.modules["neo4j._rust"] = None  # type: ignore[assignment]

import neo4j
import numpy as np
from ingest import resolved

from kgrag.graph.csv_files import floats
from kgrag.settings import Settings

ENTITIES, PASSAGES = 1000, 100
Row = dict[str, Any]

HEAD = "UNWIND $rows AS row MATCH (p:BenchPassage {id: row.passage}) "
ENDS = "MATCH (s:BenchEntity {id: row.subject}) MATCH (o:BenchEntity {id: row.object}) "
MERGED = (
    "MERGE (t:BenchTriple {id: row.id}) ON CREATE SET t += row.properties "
    "MERGE (p)-[:BENCH_STATES]->(t) MERGE (t)-[:BENCH_SUBJECT]->(s) MERGE (t)-[:BENCH_OBJECT]->(o) "
)
CREATED = (
    "CREATE (t:BenchTriple) SET t = row.properties, t.id = row.id "
    "CREATE (p)-[:BENCH_STATES]->(t) CREATE (t)-[:BENCH_SUBJECT]->(s) CREATE (t)-[:BENCH_OBJECT]->(o) "
)
PROCEDURE = "WITH t, row CALL db.create.setNodeVectorProperty(t, 'embedding', row.vector)"
PARSED = "WITH t, row CALL db.create.setNodeVectorProperty(t, 'embedding', toFloatList(split(row.vector, ';')))"
PLAIN = "SET t.embedding = row.vector"


@dataclass(frozen=True)
class Variant:
    """A way to write: the statement, how a vector is given, rows a transaction, transactions side by side."""

    statement: str
    encode: Callable[[Any], Any]
    batch: int = 2000
    writers: int = 1


def listed(vector: Any) -> Any:
    return vector.tolist()


def texted(vector: Any) -> Any:
    return str(floats(vector[np.newaxis])[0])


def packed(vector: Any) -> Any:
    return vector.astype(">f4").tobytes()


def typed(vector: Any) -> Any:
    from neo4j.vector import Vector

    return Vector.from_native(vector.tolist(), "f32")


MERGE, CREATE = HEAD + ENDS + MERGED, HEAD + ENDS + CREATED
VARIANTS = {
    "as kgrag writes": Variant(MERGE + PROCEDURE, listed),
    "CREATE": Variant(CREATE + PROCEDURE, listed),
    "without vectors": Variant(MERGE, lambda vector: None),
    "vector as property (64 bits)": Variant(MERGE + PLAIN, listed),
    "vector as bytes (no index reads it)": Variant(MERGE + PLAIN, packed),
    "vector as text": Variant(MERGE + PARSED, texted),
    "vector as driver type": Variant(MERGE + PLAIN, typed),
    "500 rows a batch": Variant(MERGE + PROCEDURE, listed, batch=500),
    "5000 rows a batch": Variant(MERGE + PROCEDURE, listed, batch=5000),
    "2 writers": Variant(MERGE + PROCEDURE, listed, batch=500, writers=2),
    "4 writers": Variant(MERGE + PROCEDURE, listed, batch=500, writers=4),
}


def rows_of(number: int, encode: Callable[[Any], Any]) -> list[Row]:
    """Equal rows for every variant, but for how the vector is given."""
    chance = np.random.default_rng(5)
    vectors = chance.standard_normal((number, 256), dtype=np.float32)
    ends = chance.integers(ENTITIES, size=(number, 2)).tolist()
    return [
        {
            "id": f"{i:032x}",
            "passage": i % PASSAGES,
            "subject": s,
            "object": o,
            "properties": {"name": "ruled", "collection": "bench", "text": f"thing {s} ruled thing {o}"},
            "vector": encode(vectors[i]),
        }
        for i, (s, o) in enumerate(ends)
    ]


class Bench:
    """A driver on the server, and what the variants write."""

    def __init__(self, settings: Settings) -> None:
        assert settings.neo4j_uri is not None and settings.neo4j_password is not None
        auth = (settings.neo4j_user, settings.neo4j_password.get_secret_value())
        self.driver = neo4j.GraphDatabase.driver(settings.neo4j_uri, auth=auth, notifications_min_severity="OFF")
        self.database = settings.neo4j_database

    def run(self, query: str, **parameters: Any) -> None:
        with self.driver.session(database=self.database) as session:
            session.run(query, parameters).consume()

    def prepare(self) -> None:
        for label in ("BenchTriple", "BenchPassage", "BenchEntity"):
            self.run(f"CREATE CONSTRAINT {label.lower()} IF NOT EXISTS FOR (n:{label}) REQUIRE n.id IS UNIQUE")
        self.run("UNWIND range(0, $n - 1) AS i MERGE (:BenchPassage {id: i})", n=PASSAGES)
        self.run("UNWIND range(0, $n - 1) AS i MERGE (:BenchEntity {id: i})", n=ENTITIES)

    def clear(self, label: str = "BenchTriple") -> None:
        self.run(f"MATCH (n:{label}) CALL (n) {{ DETACH DELETE n }} IN TRANSACTIONS OF 2000 ROWS")

    def remove(self) -> None:
        for label in ("BenchTriple", "BenchPassage", "BenchEntity"):
            self.clear(label)
            self.run(f"DROP CONSTRAINT {label.lower()} IF EXISTS")

    def write(self, variant: Variant, number: int) -> float:
        """Seconds to write the rows, encoding included."""

        def one(batch: list[Row]) -> None:
            with self.driver.session(database=self.database) as session:
                session.execute_write(lambda tx: tx.run(variant.statement, rows=batch).consume())

        begun = time.perf_counter()
        rows = rows_of(number, variant.encode)
        batches = [rows[i : i + variant.batch] for i in range(0, number, variant.batch)]
        with ThreadPoolExecutor(variant.writers) as pool:
            list(pool.map(one, batches))
        return time.perf_counter() - begun


def main() -> None:
    """The command line."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rows", type=int, default=4000, metavar="N")
    parser.add_argument("--rounds", type=int, default=3, metavar="N")
    parser.add_argument("--variant", action="append", metavar="NAME", help="only these")
    parser.add_argument("--no-rust", action="store_true", help="without neo4j-rust-ext")
    parser.add_argument("--json", action="store_true", help="print JSON")
    chosen = parser.parse_args()
    bench = Bench(resolved(Settings()))
    names = chosen.variant or list(VARIANTS)
    taken: dict[str, list[float]] = {name: [] for name in names}
    failed: dict[str, str] = {}
    bench.prepare()
    try:
        for turn in range(chosen.rounds + 1):  # the first warms up
            for name in names:
                if name in failed:
                    continue
                try:
                    seconds = bench.write(VARIANTS[name], chosen.rows)
                except Exception as error:  # a server that does not know the type
                    failed[name] = str(error).splitlines()[0][:160]
                    continue
                finally:
                    bench.clear()
                if turn:
                    taken[name].append(seconds)
    finally:
        bench.remove()
    median = {name: statistics.median(its) for name, its in taken.items() if its}
    if chosen.json:
        print(json.dumps({"rust": not chosen.no_rust, "rows": chosen.rows, "seconds": median, "failed": failed}))
        return
    base = median.get("as kgrag writes") or min(median.values())
    print(
        f"{chosen.rows:,} triples with 256-d vectors, median of {chosen.rounds}, compiled driver: {not chosen.no_rust}"
    )
    for name, seconds in median.items():
        print(f"  {name:36} {seconds:6.2f} s  {chosen.rows / seconds:7,.0f} rows/s  {base / seconds:5.2f} x")
    for name, problem in failed.items():
        print(f"  {name:36} fails: {problem}")


if __name__ == "__main__":
    main()
