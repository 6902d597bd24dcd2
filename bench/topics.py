"""Measure `kgrag enrich tree` and `communities` without a model, and searches, on synthetic passages: time and memory.

    python bench/topics.py -n 100000 [--tree]      needs a Neo4j of its own: KGRAG_HOME=... (see `kgrag up`)

The passages form groups of some hundred that share names; a few names occur in all groups.
"""

import argparse
import random
import resource
import statistics
import time
from collections.abc import Iterator

from kgrag import Collection, KnowledgeGraph
from kgrag.settings import Settings
from kgrag.values.documents import Document, Section

_PARTS = [
    "bar",
    "den",
    "fol",
    "gar",
    "hul",
    "jor",
    "kal",
    "lun",
    "mar",
    "nor",
    "pel",
    "rim",
    "sol",
    "tor",
    "vig",
    "yst",
]
_GROUP = 200  # passages that share names
_QUESTIONS, _WARM = 60, 5


def name(number: int) -> str:
    """Return two pseudo-words for a number, the same for the same number."""
    words = []
    for _ in range(2):
        word = ""
        for _ in range(3):
            number, part = divmod(number * 7919 + 13, len(_PARTS))
            word += _PARTS[part]
        words.append(word.title())
    return " ".join(words)


def documents(count: int, seed: int = 0) -> Iterator[Document]:
    """Yield documents of one passage, each with a name as title and six names in its text."""
    chance = random.Random(seed)
    for i in range(count):
        base = i // _GROUP * _GROUP
        named = [name(base + chance.randrange(_GROUP)) if chance.random() < 0.9 else name(chance.randrange(count))
                 for _ in range(6)]  # fmt: skip
        verbs = chance.sample(["met", "built", "sold", "found", "left", "painted", "ruled", "wrote to"], 3)
        said = " ".join(f"{a} {v} {b}." for a, v, b in zip(named[::2], verbs, named[1::2], strict=True))
        yield Document(f"d{i}", (Section(f"{said} It was told in the year {1200 + i % 800}."),), name(i))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("-n", type=int, default=10_000, help="passages")
    parser.add_argument("--tree", action="store_true", help="the tree, too")
    parser.add_argument("--keep", action="store_true", help="leave the collection")
    given = parser.parse_args()
    settings = Settings()
    indexing = settings.indexing.model_copy(update={"synonyms": 0})  # this measurement does not use SIMILAR names
    with KnowledgeGraph.connect(settings=settings.model_copy(update={"indexing": indexing})) as kg:
        collection = kg[f"topics-{given.n}"]
        started = time.perf_counter()
        collection.ingest(documents(given.n))
        print(f"ingest: {time.perf_counter() - started:.0f} s")
        kinds = {"communities": collection.build_communities}
        if given.tree:
            kinds["tree"] = collection.build_tree
        for kind, build in kinds.items():
            before = _memory()
            report, again = build(), build()
            print(f"{kind}: {sum(report.levels):,} by level {report.levels} in {report.seconds:.0f} s, "
                  f"again {again.seconds:.0f} s; memory {before:,} -> {_memory():,} MiB at most")  # fmt: skip
        for retriever in ("dense", "communities", *(["raptor"] if given.tree else [])):
            taken = [_search(collection, retriever, given.n, i) for i in range(_WARM + _QUESTIONS)][_WARM:]
            print(f"{retriever}: p50 {1000 * statistics.median(taken):.0f} ms, at most {1000 * max(taken):.0f} ms")
        if not given.keep:
            collection.delete()


def _search(collection: Collection, retriever: str, count: int, number: int) -> float:
    """Return the seconds of a search for two of the names."""
    first, second = (name(7919 * (number + shift) % count) for shift in (0, 1))
    started = time.perf_counter()
    collection.search(f"What did {first} sell to {second}?", k=15, retriever=retriever)
    return time.perf_counter() - started


def _memory() -> int:
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1024


if __name__ == "__main__":
    main()
