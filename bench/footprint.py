"""Measure the size of a graph on disk: bytes for each passage, each triple and each number of a vector.

    python bench/footprint.py --passages 20000

Synthetic passages are loaded in bulk into separate servers: without triples with vectors of 64 and of 256 numbers, with
longer texts, and with triples. Bytes are the sizes of the database files, by store: records (nodes, edges and
properties, including vectors), range, full-text and vector indexes. A unit's cost is the difference in bytes between
two loads, divided by their difference in units.
"""

import argparse
import os
import time
from collections import Counter
from pathlib import Path

from synthetic import HashingEmbedder, documents
from traversal import own_home, told

from kgrag import KnowledgeGraph
from kgrag.graph.local.server import LocalServer
from kgrag.settings import IndexingSettings

SHORT, LONG = 12, 100  # words of a passage
STORES = {"vector": "vector indexes", "fulltext": "full-text indexes", "range": "range indexes", "text": "text indexes"}


def stores(home: Path) -> Counter[str]:
    """Return the bytes of the database by kind of store."""
    top = home / "server" / "data" / "databases" / "neo4j"
    sizes: Counter[str] = Counter()
    for path in top.rglob("*"):
        if path.is_file():
            parts = path.relative_to(top).parts
            kind = parts[2].partition("-")[0] if parts[:2] == ("schema", "index") and len(parts) > 3 else ""
            sizes[STORES.get(kind, "records")] += path.stat().st_size
    return sizes


def load(passages: int, triples: int, dimension: int, words: int) -> tuple[Counter[str], Counter[str], float]:
    """Load a graph; return bytes by store, nodes and vectors by label, and seconds."""
    with own_home(IndexingSettings(language="en")) as settings:
        begun = time.monotonic()
        KnowledgeGraph.load_in_bulk(
            documents(passages, triples, names=passages, words=words), "made", embedder=HashingEmbedder(dimension),
            settings=settings, progress=told,
        )  # fmt: skip
        seconds = time.monotonic() - begun
        with KnowledgeGraph.local(settings) as kg:
            held = Counter(kg["made"].info().counts)
        LocalServer(settings).stop()  # a stop writes everything to disk
        return stores(settings.home), held, seconds


def characters(words: int) -> float:
    """Return the mean length of a passage in characters."""
    some = [len(d.text) for d in documents(1000, 0, 1000, words=words)]
    return sum(some) / len(some)


def main() -> None:
    """Load the graphs, and print their sizes."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--passages", type=int, default=20_000)
    parser.add_argument("--triples", type=int, default=5, help="a passage, in the last load")
    options = parser.parse_args()
    shapes = {
        "short vectors": (0, 64, SHORT), "plain": (0, 256, SHORT), "long texts": (0, 64, LONG),
        "with triples": (options.triples, 256, SHORT),
    }  # fmt: skip
    found = {name: load(options.passages, *shape) for name, shape in shapes.items()}
    for name, (sizes, held, seconds) in found.items():
        kinds = ", ".join(f"{kind} {size / 1e6:.1f}" for kind, size in sorted(sizes.items()))
        nodes = ", ".join(f"{number:,} {label}" for label, number in sorted(held.items()) if number)
        print(f"{name}: {sum(sizes.values()) / 1e6:.1f} MB ({kinds}); {nodes}; {seconds:.0f} s")
    (small, _, _), (plain, held, _), (long, _, _), (triples, more, _) = found.values()
    vectors = held["Passage"] + held["Entity"]  # every entity is a title, so each has a vector
    for kind in ("records", "vector indexes"):
        print(f"{kind}: {(plain[kind] - small[kind]) / (vectors * 192):.2f} bytes a number of a vector")
    numbers = (plain["vector indexes"] - small["vector indexes"]) / 192
    print(f"vector indexes: {(plain['vector indexes'] - 256 * numbers) / vectors:.0f} bytes more a vector")
    text = (sum(long.values()) - sum(small.values())) / held["Passage"]
    print(f"a character of a passage: {text / (characters(LONG) - characters(SHORT)):.1f} bytes, with its words")
    each = (sum(plain.values()) - sum(plain[k] - small[k] for k in plain) * 256 / 192) / held["Passage"]
    print(f"a passage of {characters(SHORT):.0f} characters, without vectors: {each:,.0f} bytes")
    added = sum(triples.values()) - sum(plain.values())
    print(f"a triple with its vector: {added / more['Triple']:,.0f} bytes")
    print("load of this machine over 1, 5 and 15 minutes:", *(f"{value:.1f}" for value in os.getloadavg()))


if __name__ == "__main__":
    main()
