"""Measure what the default retriever finds when only some of the triples are there.

    python bench/thinned.py DIR [--keep]      a folder with corpus.jsonl, queries.jsonl and triples.jsonl

The corpus is ingested without triples, with all, with a half and a fifth of them drawn at random, and with all the
triples of a half of the passages; each into a collection of its own, deleted at the end unless it is to be kept. For
each it prints recall at 5 and 10, how many questions have all their gold among the first five, and how many gold
passages more or fewer than without triples. Which server: KGRAG_NEO4J_*, else the local one.
"""

import argparse
import random
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path

from kgrag.client import Collection, KnowledgeGraph
from kgrag.evaluation.datasets import Dataset
from kgrag.evaluation.readers.own import read
from kgrag.values.documents import Document, Problem, Triple

SEED = 0
Draw = Callable[[Document], tuple[Triple, ...]]


def share(kept: float) -> Draw:
    """Each triple by itself, with this probability."""
    return lambda d: tuple(t for i, t in enumerate(d.triples) if random.Random(f"{SEED}:{d.key}:{i}").random() < kept)


def whole(kept: float) -> Draw:
    """All triples of a passage, or none."""
    return lambda d: d.triples if random.Random(f"{SEED}:{d.key}").random() < kept else ()


DRAWS: dict[str, Draw] = {
    "without triples": lambda d: (),
    "all triples": lambda d: d.triples,
    "half of them": share(0.5),
    "a fifth of them": share(0.2),
    "of half the passages": whole(0.5),
}


def documents(data: Dataset, draw: Draw) -> Iterator[Document | Problem]:
    """The corpus with the triples that are drawn."""
    for item in data.documents():
        yield item if isinstance(item, Problem) else replace(item, triples=draw(item))


def measure(collection: Collection, data: Dataset) -> tuple[list[float], list[float], list[int]]:
    """For each question its recall at 5 and 10, and how many of its gold passages are among the first five."""
    five, ten, counts = [], [], []
    for question in data.questions:
        found = [hit.passage.document for hit in collection.search(question.text, k=10)]
        counts.append(len(set(question.gold).intersection(found[:5])))
        five.append(counts[-1] / len(question.gold))
        ten.append(len(set(question.gold).intersection(found)) / len(question.gold))
    return five, ten, counts


def main() -> None:
    """Print a line for each draw."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else "")
    parser.add_argument("folder", type=Path)
    parser.add_argument("--keep", action="store_true", help="keep the collections; the next run finds them")
    given = parser.parse_args()
    data = read(given.folder)
    before: list[int] = []
    print(f"{'':22} triples  R@5   R@10  whole  gold more / fewer than without")
    with KnowledgeGraph.connect() as kg:
        for name, draw in DRAWS.items():
            collection = kg[f"thinned {data.name} {name}"]
            collection.ingest(documents(data, draw))
            triples = collection.info().counts.get("Triple", 0)
            five, ten, counts = measure(collection, data)
            before = before or counts
            more = sum(max(0, now - was) for now, was in zip(counts, before, strict=True))
            fewer = sum(max(0, was - now) for now, was in zip(counts, before, strict=True))
            all_found = sum(share == 1 for share in five)
            mean5, mean10 = (100 * sum(shares) / len(shares) for shares in (five, ten))
            print(
                f"{name:22} {triples:7,}  {mean5:4.1f}  {mean10:4.1f}  {all_found:2}/{len(five)}  +{more} -{fewer}",
                flush=True,
            )
            if not given.keep:
                collection.delete()


if __name__ == "__main__":
    main()
