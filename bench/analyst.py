"""Measure every saved query on a collection, through the gateway, with arguments that hit its largest nodes.

    python bench/analyst.py --collection 2wiki
    python bench/analyst.py --collection musique --repeat 50 --limit 1000 --json

Works on the Neo4j of KGRAG_NEO4J_URI, else on this machine's own. The entities are the two that most passages mention,
the document is the largest, the keyword and the predicate are the most frequent, the words are the names of the largest
entities, which have the longest lists in the full-text index.
"""

import argparse
import json
import sys
import time
from typing import Any

import numpy as np

from kgrag.client import KnowledgeGraph
from kgrag.graph.saved import saved_queries

BOUND = 200.0  # ms that 95 of 100 calls may take
KEYWORD = "MATCH (k:Keyword {collection: $collection}) RETURN k.name AS name ORDER BY k.df DESC LIMIT 1"
Row = dict[str, Any]


def largest(kg: KnowledgeGraph, collection: str, limit: int) -> Row:
    """Arguments for every parameter that decides how much a query has to do."""

    def column(name: str, key: str) -> list[str]:
        return [row[key] for row in kg.saved_query(name, collection=collection)]

    names = column("hubs", "name")
    words = " ".join(names[:3])
    keyword = [row["name"] for row in kg.cypher(KEYWORD, {"collection": collection})]
    arguments = {
        "entity": names[0],
        "other": names[1],
        "name": f"{names[0]}~",
        "document": column("documents", "title")[0],
        "keyword": "".join(keyword),
        "fact": " ".join(column("predicates", "predicate")[:3]) or "is",
        "other_query": " ".join(names[3:6]),
        "limit": limit,
        "edges": limit,
    }
    return {**kg[collection].question_parameters(words), **arguments}


def measure(kg: KnowledgeGraph, name: str, arguments: Row, repeat: int) -> Row:
    """Milliseconds of a query as its caller sees them: of the first call, which the server plans, and of the others."""
    own = {p.name: arguments[p.name] for p in saved_queries()[name].parameters if p.name in arguments}
    times = []
    for _ in range(repeat + 1):
        started = time.perf_counter()
        rows = kg.saved_query(name, **own)
        times.append(1000 * (time.perf_counter() - started))
    p50, p95 = np.percentile(times[1:], (50, 95))
    return {"query": name, "rows": len(rows), "first": times[0], "p50": float(p50), "p95": float(p95)}


def main() -> None:
    """Measure, print a table or JSON, and fail if a query is slower than it may be."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("-c", "--collection", required=True)
    parser.add_argument("--repeat", type=int, default=20, help="calls that are measured")
    parser.add_argument("--limit", type=int, default=100, help="rows that are asked for")
    parser.add_argument("--only", action="append", help="this saved query alone; repeated, several")
    parser.add_argument("--json", action="store_true")
    options = parser.parse_args()
    with KnowledgeGraph.connect() as kg:
        arguments = largest(kg, options.collection, options.limit)
        measured = [measure(kg, name, arguments, options.repeat) for name in options.only or saved_queries()]
    if options.json:
        print(json.dumps(measured, indent=2))
    else:
        print(f"{'query':<20} {'rows':>5} {'first ms':>9} {'p50 ms':>7} {'p95 ms':>7}")
        for row in measured:
            print(f"{row['query']:<20} {row['rows']:>5} {row['first']:>9.0f} {row['p50']:>7.1f} {row['p95']:>7.1f}")
    slow = [row["query"] for row in measured if row["p95"] >= BOUND]
    print(f"{len(measured)} queries, p95 of {BOUND:.0f} ms or more: {', '.join(slow) or 'none'}", file=sys.stderr)
    sys.exit(bool(slow))


if __name__ == "__main__":
    main()
