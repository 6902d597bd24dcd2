"""Measure several collections searched as one, beside the right one alone and all their documents in one collection.

    python bench/federation.py FOLDER...                    recall of each retriever
    python bench/federation.py FOLDER... --second HOME      and whether it is the same with the last folder elsewhere

A FOLDER holds corpus.jsonl and queries.jsonl, as `kgrag lab eval` reads them. KGRAG_HOME applies; HOME is where a
second server of this machine keeps its data, which is started and stopped. Nothing that is there already is ingested
again.
"""

import argparse
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from pydantic import SecretStr

from kgrag.client import KnowledgeGraph
from kgrag.client.searching import Searching
from kgrag.graph.local import LocalServer
from kgrag.settings import Settings
from kgrag.values.documents import Document, Section

RETRIEVERS = ("pathrank", "hybrid", "bm25", "dense")
DEPTHS = (2, 5, 10)
TOGETHER = "all together"
COMPARED = 100  # questions


def main() -> None:
    """Parse the command line and measure."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folders", nargs="+", type=Path)
    parser.add_argument("--second", type=Path, metavar="HOME")
    arguments = parser.parse_args()
    folders: list[Path] = arguments.folders
    names = tuple(folder.name for folder in folders)
    questions = [
        (f.name, q["question"], {f"{f.name}/{g}" for g in q["gold"]}) for f in folders for q in lines(f, "queries")
    ]
    settings = Settings()
    with KnowledgeGraph.connect(settings=settings) as kg:
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
        if arguments.second is not None:
            compare(kg, settings, names, folders[-1], [text for _, text, _ in questions[-COMPARED:]], arguments.second)


def compare(
    kg: KnowledgeGraph, settings: Settings, names: tuple[str, ...], last: Path, questions: list[str], home: Path
) -> None:
    """Print how many questions give the same passages in the same order with the last collection on a second server."""
    server = LocalServer(settings.model_copy(update={"home": home}))
    second = server.ensure_running()
    try:
        login = f"://{second.user}:{second.password.get_secret_value()}@"
        routes = {last.name: SecretStr(second.uri.replace("://", login))}
        with KnowledgeGraph.connect(settings=settings.model_copy(update={"routes": routes})) as apart:
            apart[last.name].ingest(documents(last))
            for retriever in RETRIEVERS:
                same = sum(
                    [(h.passage.id, h.score) for h in kg[names].search(text, retriever=retriever)]
                    == [(h.passage.id, h.score) for h in apart[names].search(text, retriever=retriever)]
                    for text in questions
                )
                print(f"`{retriever}` over two servers: {same} of {len(questions)} questions as over one")
    finally:
        server.stop()


def keys(searched: Searching, question: str, retriever: str) -> list[str]:
    """The keys of the documents that a search finds, best first."""
    return list(dict.fromkeys(hit.passage.document for hit in searched.search(question, k=15, retriever=retriever)))


def documents(folder: Path) -> Iterator[Document]:
    """The corpus, each document with its folder in its key."""
    for row in lines(folder, "corpus"):
        yield Document(f"{folder.name}/{row['id']}", (Section(row["text"]),), row["title"])


def lines(folder: Path, name: str) -> Iterator[dict[str, Any]]:
    """The objects of a file of JSON lines."""
    with (folder / f"{name}.jsonl").open(encoding="utf-8") as file:
        yield from map(json.loads, file)


if __name__ == "__main__":
    main()
