"""A small corpus with names that link its documents."""

import random
from collections.abc import Callable, Iterator
from typing import Any

import pytest
from scripted import Scripted

from kgrag import KnowledgeGraph
from kgrag.values.documents import Document, Section, Triple

_WORDS = [
    f"{a}{b}" for a in ("ba", "du", "ke", "lo", "mi", "ra", "su", "ti") for b in ("nor", "lim", "vak", "pes", "gol")
]


@pytest.fixture(scope="session")
def make_documents() -> Callable[..., list[Document]]:
    """Makes documents `low` to `high`: each title is a name, each text mentions others; every third has triples."""

    def make(low: int, high: int) -> list[Document]:
        documents = []
        for i in range(low, high):
            chance = random.Random(i)
            name = f"{_WORDS[i % 40].title()} {_WORDS[i // 40 % 40].title()}"
            others = [
                f"{_WORDS[j % 40].title()} {_WORDS[j // 40 % 40].title()}"
                for j in chance.sample(range(max(high, 50)), 2)
            ]
            words = " ".join(chance.choices(_WORDS, k=30))
            text = f"{name} was built near {others[0]}. It is known for {words}. Later {others[1]} came to rule it."
            if i % 10 == 0:
                text += "\n\n" + " ".join(f"In part {n} there is {_WORDS[(i + n) % 40]} of {words}." for n in range(40))
            triples = (Triple(name, "built near", others[0]), Triple(others[1], "ruled", name)) if i % 3 == 0 else ()
            documents.append(
                Document(f"d{i}", (Section(text),), name, "made", {"number": i, "even": i % 2 == 0}, triples)
            )
        return documents

    return make


@pytest.fixture
def connect(kg: KnowledgeGraph, scripted: Scripted) -> Iterator[Callable[..., KnowledgeGraph]]:
    """Makes clients whose language model is the scripted one; they are closed at the end."""
    clients = []

    def connected(**changes: Any) -> KnowledgeGraph:
        settings = kg.settings.model_copy(update={"chat": scripted.settings(**changes)})
        clients.append(KnowledgeGraph.connect(settings=settings))
        return clients[-1]

    yield connected
    for client in clients:
        client.close()
