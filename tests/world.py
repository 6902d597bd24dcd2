"""Common knowledge of the coast as rows of subject, predicate, object, which no passage states. Two are hubs."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from kgrag import KnowledgeGraph

ROWS = [
    "Ole Brandvik,captain of,Fjord Queen", "Ole Brandvik,place of birth,Nordvika",
    "Nordvika,located at the mouth of,Stilla", "Stilla,inhabited by,salmon", "Ole Brandvik,instance of,human",
    "Stilla,instance of,river", "Nordvika,instance of,town", "Marta Holm,residence,Nordvika",
    *(f"Person {i},instance of,human" for i in range(150)),
    *(f"Brook {i},instance of,river" for i in range(150)), "Wool Exchange,trades in,wool",
]  # fmt: skip


@contextmanager
def world(kg: KnowledgeGraph, name: str, folder: Path) -> Iterator[str]:
    """Make the collection of these facts, and yield its name."""
    path = folder / f"{name}.csv"
    path.write_text("\n".join(ROWS) + "\n", encoding="utf-8")
    KnowledgeGraph.import_knowledge(path, name, settings=kg.settings)
    yield name
    kg[name].delete()
