"""Measure collections attached to an existing graph of films and people, or of trade, with a given number of nodes.

    python bench/attach.py films -n 100000
    python bench/attach.py trade -n 100000

Creates the graph in the running server of `kgrag up`, attaches it, and prints: seconds of each stage; the digest of the
graph before and after; the median time of questions, alternating with an ordinary collection of the same texts; seconds
of a second attach without changes; what a deletion leaves behind. Then it deletes the graph, too.
"""

import argparse
import random
import time
from collections.abc import Iterator
from itertools import islice
from statistics import median
from typing import Any

from kgrag import Document, KnowledgeGraph
from kgrag.indexing import foreign
from kgrag.values.documents import Section

_SYLLABLES = (
    "ka lo mi ren tor vas bel dun fi gar hol ist jun kel lin mor nes os pel quin ras sol tam ul ver wyn".split()
)
_TOPICS = "a stolen map,two sisters and a mill,a lost choir,an island doctor,a railway strike,a forger".split(",")
_GOODS = "copper wire,salted cod,roof slates,pine boards,wool blankets,lamp oil,ship's biscuit,window glass".split(",")
_BATCH = 5_000
_QUESTIONS = 60
_LABEL = "Bench"  # prefix of every label, so that other nodes on the server are not counted

Row = dict[str, Any]

_MAKE = "UNWIND $rows AS row CREATE (n:$(row.label)) SET n = row.properties"
_JOIN = """
UNWIND $rows AS row MATCH (a:{} {{tag: row.from}}) MATCH (b:{} {{tag: row.to}}) CREATE (a)-[r:{}]->(b)
SET r = row.properties
"""


def _name(chance: random.Random, words: int = 2) -> str:
    return " ".join("".join(chance.choices(_SYLLABLES, k=chance.choice((2, 3)))).capitalize() for _ in range(words))


def _names(chance: random.Random, number: int) -> list[str]:
    """Return distinct names."""
    names: dict[str, None] = {}
    while len(names) < number:
        names[_name(chance)] = None
    return list(names)


Edges = list[tuple[str, str, str, Iterator[Row]]]  # type, from, to, rows


def _films(number: int, chance: random.Random) -> tuple[dict[str, list[Row]], Edges, str]:
    shares = {"Film": 0.3, "Person": 0.5, "Studio": 0.1, "Town": 0.1}
    nodes = {
        label: [{"tag": n, "name": name} for n, name in enumerate(_names(chance, int(number * share)))]
        for label, share in shares.items()
    }
    for row in nodes["Film"]:
        row |= {"title": row.pop("name"), "released": chance.randint(1920, 2020)}
        row["plot"] = f"The story is about {chance.choice(_TOPICS)} in {_name(chance)}."
    for row in nodes["Person"]:
        row["born"] = chance.randint(1880, 1990)
    film, person, studio, town = (len(nodes[label]) for label in shares)

    def ends(at: int, to: int, each: int = 1, **more: Any) -> Iterator[Row]:
        return ({"from": n, "to": chance.randrange(to), "properties": more} for n in range(at) for _ in range(each))

    edges: Edges = [
        ("ACTED_IN", "Person", "Film", ends(person, film, 2, roles=["Captain"])),
        ("DIRECTED_BY", "Film", "Person", ends(film, person)),
        ("PRODUCED_BY", "Film", "Studio", ends(film, studio)),
        ("BORN_IN", "Person", "Town", ends(person, town)),
        ("LOCATED_IN", "Studio", "Town", ends(studio, town)),
    ]
    return nodes, edges, "MATCH (f:BenchFilm)-[:DIRECTED_BY]->(p)-[:BORN_IN]->(t) RETURN f.title AS a, t.name AS b"


def _trade(number: int, chance: random.Random) -> tuple[dict[str, list[Row]], Edges, str]:
    shares = {"Order": 0.5, "Customer": 0.2, "Product": 0.15, "Supplier": 0.1, "Town": 0.05}
    nodes = {
        label: [{"tag": n, "name": name} for n, name in enumerate(_names(chance, int(number * share)))]
        for label, share in shares.items()
    }
    for row in nodes["Order"]:
        row |= {"name": f"Order {10_000 + row['tag']}", "date": f"{chance.randint(1990, 2020)}-05-17"}
    for row in nodes["Product"]:
        row |= {"description": f"{row['name']} is sold as {chance.choice(_GOODS)}.", "price": chance.randint(1, 900)}
    order, customer, product, supplier, town = (len(nodes[label]) for label in shares)

    def ends(at: int, to: int, each: int = 1, **more: Any) -> Iterator[Row]:
        return ({"from": n, "to": chance.randrange(to), "properties": more} for n in range(at) for _ in range(each))

    edges: Edges = [
        ("ORDERED_BY", "Order", "Customer", ends(order, customer)),
        ("CONTAINS", "Order", "Product", ends(order, product, 2, quantity=3)),
        ("SUPPLIED_BY", "Product", "Supplier", ends(product, supplier)),
        ("SEATED_IN", "Supplier", "Town", ends(supplier, town)),
        ("LIVES_IN", "Customer", "Town", ends(customer, town)),
    ]
    return nodes, edges, "MATCH (f:BenchProduct)-[:SUPPLIED_BY]->(p)-[:SEATED_IN]->(t) RETURN f.name AS a, t.name AS b"


_ASKED = {"films": "In which town was the director of {} born?", "trade": "In which town is the supplier of {} seated?"}


def _make(kg: KnowledgeGraph, nodes: dict[str, list[Row]], edges: Edges) -> None:
    run = kg.graph.driver.execute_query
    for label, rows in nodes.items():
        run(f"CREATE INDEX bench_{label.lower()} IF NOT EXISTS FOR (n:{_LABEL}{label}) ON (n.tag)")
        for part in _parts(iter(rows)):
            run(_MAKE, rows=[{"label": _LABEL + label, "properties": row} for row in part])
    run("CALL db.awaitIndexes(300)")
    for kind, start, end, ends in edges:
        for part in _parts(ends):
            run(_JOIN.format(_LABEL + start, _LABEL + end, kind), rows=part)


def _parts(rows: Iterator[Row]) -> Iterator[list[Row]]:
    while part := list(islice(rows, _BATCH)):
        yield part


_ALL = """
MATCH (n) WHERE any(label IN labels(n) WHERE label STARTS WITH $prefix)
RETURN elementId(n) AS id, labels(n) AS labels, properties(n) AS properties,
    [(n)-[r]->(m) | [type(r), elementId(m), properties(r)]] AS ends, count{(n)--()} AS degree
"""


def _digest(kg: KnowledgeGraph) -> tuple[int, int]:
    """Return the number of nodes and an order-independent hash of them."""
    number = total = 0
    with kg.graph.driver.session() as session:
        for row in session.run(_ALL, prefix=_LABEL):
            ends = sorted(map(repr, row["ends"]))
            number += 1
            total ^= hash(
                (row["id"], repr(row["labels"]), repr(sorted(row["properties"].items())), *ends, row["degree"])
            )
    return number, total


class _Stages:
    """A progress callback that records the seconds of each stage."""

    def __init__(self) -> None:
        self.seconds: dict[str, float] = {}
        self._stage, self._since = "", time.monotonic()

    def __call__(self, stage: str, done: int, total: int | None) -> None:
        now = time.monotonic()
        self.seconds[self._stage] = self.seconds.get(self._stage, 0.0) + now - self._since
        if stage != self._stage:
            print(f"  {now:9.1f} {stage}", flush=True)
        self._stage, self._since = stage, now


def _timed(kg: KnowledgeGraph, names: list[str], questions: list[str]) -> dict[str, float]:
    """Return the median milliseconds for each collection, measured in turns."""
    spent: dict[str, list[float]] = {name: [] for name in names}
    for question in questions[:5] + questions:
        for name in names:
            began = time.perf_counter()
            kg[name].search(question, k=5)
            spent[name].append(1000 * (time.perf_counter() - began))
    return {name: median(times[5:]) for name, times in spent.items()}


def main() -> None:
    """Run the benchmark."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("shape", choices=("films", "trade"))
    parser.add_argument("-n", "--nodes", type=int, default=100_000)
    parser.add_argument("--keep", action="store_true", help="leave the graph and the collections where they are")
    options = parser.parse_args()
    chance = random.Random(7)
    nodes, edges, hops = {"films": _films, "trade": _trade}[options.shape](options.nodes, chance)
    attached, plain = f"bench-{options.shape}", f"bench-{options.shape}-plain"
    with KnowledgeGraph.connect() as kg:
        _make(kg, nodes, edges)
        before = _digest(kg)
        print("nodes", before[0])
        began = time.monotonic()
        mapping = kg.propose_attachment([_LABEL + label for label in nodes])
        for its in mapping.labels.values():
            its.facts = tuple(key for key in its.facts if key != "tag")
        print(f"proposal {time.monotonic() - began:.1f} s")
        for name in (attached, plain):
            began, stages = time.monotonic(), _Stages()
            if name == attached:
                report = kg[name].attach(mapping, progress=stages)
            else:
                texts = (
                    Document(its.key, (Section(its.text),), title=its.title)
                    for its in foreign.documents(kg.graph, mapping)
                )
                report = kg[name].ingest(texts, progress=stages)
            print(f"{name}: {report.added:,} documents in {time.monotonic() - began:.0f} s", flush=True)
            print("  " + ", ".join(f"{stage} {spent:.0f}" for stage, spent in stages.seconds.items() if spent > 1))
        print("digest unchanged:", _digest(kg) == before)
        rows = kg.graph.driver.execute_query(f"{hops} LIMIT 2000").records
        chosen = chance.sample([(row["a"], row["b"]) for row in rows], _QUESTIONS)
        questions = [_ASKED[options.shape].format(a) for a, _ in chosen]
        times = _timed(kg, [attached, plain], questions)
        right = {
            name: sum(
                any(b in hit.passage.text for hit in kg[name].search(question, k=5))
                for question, (_, b) in zip(questions, chosen, strict=True)
            )
            for name in (attached, plain)
        }
        print({name: f"{spent:.1f} ms" for name, spent in times.items()}, f"ratio {times[attached] / times[plain]:.2f}")
        print(f"answers in five texts, of {_QUESTIONS}:", right)
        began = time.monotonic()
        report = kg[attached].attach()
        print(
            f"second attach: {report.unchanged:,} unchanged, {report.changed} changed, {time.monotonic() - began:.0f} s"
        )
        if options.keep:
            return
        for name in (attached, plain):
            began = time.monotonic()
            kg[name].delete()
            print(f"{name} deleted in {time.monotonic() - began:.0f} s")
        print("digest unchanged:", _digest(kg) == before)
        left = kg.graph.driver.execute_query(
            "MATCH (n) WHERE n.collection IN $names RETURN count(n) AS number", names=[attached, plain]
        ).records[0]["number"]
        print("nodes left:", left)
        for label in nodes:
            with kg.graph.driver.session() as session:
                session.run(
                    f"MATCH (n:{_LABEL}{label}) CALL (n) {{ DETACH DELETE n }} IN TRANSACTIONS OF 5000 ROWS"
                ).consume()
            kg.graph.driver.execute_query(f"DROP INDEX bench_{label.lower()} IF EXISTS")


if __name__ == "__main__":
    main()
