"""The five tasks with kgrag."""

from pathlib import Path

import tasks

from kgrag import Collection, Filter, KnowledgeGraph


def start(store: Path) -> Collection:
    return KnowledgeGraph.connect()["articles"]


def ingest(articles: Collection, folder: Path) -> str:
    report = articles.ingest(folder, root=folder)
    return f"{report.added} documents"


def ask(articles: Collection, question: str) -> list[str]:
    return [hit.passage.text for hit in articles.search(question, k=5)]


def change(articles: Collection, folder: Path, file: Path) -> None:
    articles.ingest(folder, root=folder)


def delete(articles: Collection, folder: Path, file: Path) -> None:
    articles.ingest(folder, root=folder, prune=True)


def explain(articles: Collection, question: str) -> str:
    hit = articles.search(question, k=5)[1]
    return " ".join(f"-{step.via}- {step.name}" for step in hit.why)


def only(articles: Collection, question: str, kind: str) -> list[str]:
    return [hit.passage.text for hit in articles.search(question, k=5, filter=Filter(source=f"{kind}/"))]


if __name__ == "__main__":
    tasks.main(globals())
