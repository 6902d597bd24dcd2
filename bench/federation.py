"""Compare a search over several collections with the right one alone and one collection of all documents.

    python bench/federation.py FOLDER...

Prints the recall of each retriever. A FOLDER holds corpus.jsonl and queries.jsonl, as `kgrag lab eval` reads them.
KGRAG_HOME applies. Existing collections are not ingested again.
"""

import argparse
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from kgrag import KnowledgeGraph
from kgrag.client.searching import Searching
from kgrag.values.documents import Document, Section

RETRIEVERS = ("pathrank", "hybrid", "bm25", "dense")
DEPTHS = (2, 5, 10)
TOGETHER = "all together"


def main() -> None:
    """Parse the command line and measure."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folders", nargs="+", type=Path)
    folders: list[Path] = parser.parse_args().folders
    names = tuple(folder.name for folder in folders)
    questions = [
        (f.name, q["question"], {f"{f.name}/{g}" for g in q["gold"]}) for f in folders for q in lines(f, "queries")
    ]
    with KnowledgeGraph.connect() as kg:
        kg[TOGETHER].ingest(document for folder in folders for document in documents(folder))
        for folder in folders:
            kg[folder.name].ingest(documents(folder))
        print(f"| retriever | searched | {' | '.join(f'R@{k}' for k in DEPTHS)} |\n|---|---|{'---:|' * len(DEPTHS)}")
        for retriever in RETRIEVERS:
            places: dict[str, dict[str, Searching]] = {
                "the right one alone": {name: kg[name] for name in names},
                "all of them": dict.fromkeys(names, kg[names]),
                "one of all their documents": dict.fromkeys(names, kg[TOGETHER]),
            }
            for place, searched in places.items():
                found = [(keys(searched[name], text, retriever), gold) for name, text, gold in questions]
                means = (sum(len({*ks[:k]} & gold) / len(gold) for ks, gold in found) / len(found) for k in DEPTHS)
                print(f"| `{retriever}` | {place} | {' | '.join(f'{100 * mean:.1f}' for mean in means)} |", flush=True)


def keys(searched: Searching, question: str, retriever: str) -> list[str]:
    """Return the keys of the documents that a search finds, best first."""
    return list(dict.fromkeys(hit.passage.document for hit in searched.search(question, k=15, retriever=retriever)))


def documents(folder: Path) -> Iterator[Document]:
    """Yield the documents of the corpus, with the folder as part of their keys."""
    for row in lines(folder, "corpus"):
        yield Document(f"{folder.name}/{row['id']}", (Section(row["text"]),), row["title"])


def lines(folder: Path, name: str) -> Iterator[dict[str, Any]]:
    """Yield the objects of a JSON Lines file."""
    with (folder / f"{name}.jsonl").open(encoding="utf-8") as file:
        yield from map(json.loads, file)


if __name__ == "__main__":
    main()
