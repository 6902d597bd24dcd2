"""Small random collections, and an embedder of any text, as input of the references in this folder.

A reference is written from a paper's text alone and calls nothing that it checks. It gets the same input as the product
on a real Neo4j, and both must return the same ids in the same order with the same scores.
"""

import json
import math
import re
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import pairwise
from types import SimpleNamespace
from typing import Any
from zlib import crc32

import numpy as np
import pytest
from numpy.typing import NDArray

from kgrag import KnowledgeGraph
from kgrag.graph.collections import open_collection
from kgrag.graph.reader import Reader
from kgrag.models.embed import Vectors
from kgrag.retrieval.base import Scored
from kgrag.retrieval.context import SearchContext
from kgrag.values.documents import Document


class Hashed:
    """An embedder in which each text has its own direction, up to 180 degrees from another's; equal texts share it."""

    name = "hashed"
    dimension = 6

    def embed(self, texts: Sequence[str]) -> Vectors:
        """See Embedder."""
        return np.array([vector(text) for text in texts], np.float32).reshape(len(texts), self.dimension)


class Model:
    """A language model that reads given facts and names, and accepts all facts as useful."""

    def __init__(self) -> None:
        self.facts: Sequence[Sequence[str]] = ()
        self.names: Sequence[str] = ()

    def with_listener(self, listener: object) -> "Model":
        """Return itself."""
        return self

    def prompt(self, name: str) -> SimpleNamespace:
        """Return a prompt without an example."""
        return SimpleNamespace(text="")

    def structured(self, task: str, kind: Any, prompt: str = "", **values: object) -> Any:
        """Return the next scripted reply to that task."""
        return kind.model_validate({"triples": self.facts, "names": self.names, "kept": list(range(1, 100))})


@dataclass(frozen=True)
class Call:
    """One call of a language model: its task, its question, and its passages and facts in order."""

    task: str
    question: str
    texts: tuple[str, ...] = ()
    facts: tuple[str, ...] = ()
    besides: str = ""


class Talker(Model):
    """A language model whose replies depend only on its prompt; it records its calls."""

    def __init__(self, reply: Callable[[Call], Any]) -> None:
        super().__init__()
        self.reply, self.calls = reply, list[Call]()

    def asked(self, call: Call) -> Any:
        """Record a call, and return its reply."""
        self.calls.append(call)
        return self.reply(call)

    def read(self, question: str, texts: Sequence[str], known: Iterable[str] = ()) -> list[str]:
        """Return the facts beyond the known ones that it reads in texts, each once."""
        reply = self.asked(Call("read", question, tuple(texts), tuple(known))) if texts else {"triples": []}
        return [fact for fact in dict.fromkeys(map(" ".join, reply["triples"])) if fact not in known]

    def structured(self, task: str, kind: Any, prompt: str = "", **values: Any) -> Any:
        """Return its reply in this form."""
        return kind.model_validate(self.asked(_call(task, **values)))

    def text(self, task: str, prompt: str = "", **values: Any) -> str:
        """Return its reply."""
        return str(self.asked(_call(task, **values)))


def _call(task: str, question: str, passages: str = "", facts: str = "", **others: str) -> Call:
    texts = re.findall(r"<passage>\n(?:Title: .*\n)?(.*)\n</passage>", passages)
    shown = [" ".join(json.loads(line)) for line in f"{facts}\n{passages}".splitlines() if line.startswith('["')]
    return Call(task, question, tuple(texts), tuple(shown), others.get("why", "") + others.get("rewrites", ""))


@lru_cache(maxsize=1 << 16)
def vector(text: str) -> NDArray[np.float64]:
    """Return the unit vector [d] of a text."""
    drawn = np.random.default_rng(crc32(text.encode())).normal(size=Hashed.dimension)
    return np.asarray(drawn / np.linalg.norm(drawn), np.float32).astype(np.float64)


def cosine(one: NDArray[np.float64], other: NDArray[np.float64]) -> float:
    """Return the cosine of two vectors [d] of any length."""
    return float(one @ other / (np.linalg.norm(one) * np.linalg.norm(other)))


def best(scores: Mapping[str, float]) -> list[str]:
    """Return ids by falling score, ties by id; scores that differ only by rounding are equal."""
    return sorted(scores, key=lambda id: (-round(scores[id], 7), id))


def agree(found: Sequence[Scored], scores: Mapping[str, float], wanted: int | None = None) -> None:
    """Assert that a ranking is the best `wanted` ids of a reference, with its scores.

    Ids whose scores differ only by rounding may change places; exact ties are in order.
    """
    assert len({x.id for x in found}) == len(found)
    assert [x.score for x in found] == pytest.approx([scores[id] for id in best(scores)[:wanted]], abs=1e-5)
    assert [scores[x.id] for x in found] == pytest.approx([x.score for x in found], abs=1e-5)
    assert all((-one.score, one.id) < (-other.score, other.id) for one, other in pairwise(found))


def nearest(asked: str, texts: Mapping[str, str]) -> list[str]:
    """Return h_dense: texts by their cosine with another, best first, ties by id."""
    return best({id: cosine(vector(text), vector(asked)) for id, text in texts.items()})


def sparse(asked: str, texts: Mapping[str, str]) -> list[str]:
    """Return h_sparse: texts that share a word with another, by BM25 (k1 = 1.2, b = 0.75), best first, ties by id."""
    words = {id: Counter(_words(text)) for id, text in texts.items()}
    average = sum(its.total() for its in words.values()) / len(words)
    scores: dict[str, float] = {}
    for word in dict.fromkeys(_words(asked)):
        df = sum(word in its for its in words.values())
        for id, its in words.items():
            if word in its:
                norm = 1.2 * (0.25 + 0.75 * its.total() / average)
                idf = math.log(1 + (len(words) - df + 0.5) / (df + 0.5))
                scores[id] = scores.get(id, 0.0) + idf * its[word] / (its[word] + norm)
    return sorted(scores, key=lambda id: (-round(scores[id], 6), id))


def _words(text: str) -> list[str]:
    return text.lower().translate(str.maketrans(".?", "  ")).split()


def rrf(*rankings: Iterable[str]) -> dict[str, float]:
    """Return reciprocal rank fusion (Cormack et al., 2009), constant 60: id -> score, best first, ties by id."""
    scores: dict[str, float] = {}
    for ranking in rankings:
        for rank, id in enumerate(ranking, 1):
            scores[id] = scores.get(id, 0.0) + 1 / (60 + rank)
    return {id: scores[id] for id in best(scores)}


def ingested(kg: KnowledgeGraph, name: str, documents: Iterable[Document], **indexing: object) -> SearchContext:
    """Yield a collection of these documents with vectors by `Hashed`; `indexing`: settings of its graph."""
    embedder = Hashed()
    settings = kg.settings.model_copy(update={"indexing": kg.settings.indexing.model_copy(update=indexing)})
    with KnowledgeGraph.connect(settings=settings) as client:
        client[name].ingest(documents, embedder=embedder, language="en")
    return SearchContext(Reader(kg.graph, open_collection(kg.graph, name)), embedder)


def passages(kg: KnowledgeGraph, context: SearchContext) -> list[str]:
    """Return the ids of all passages, in the order of their documents and positions."""
    rows = kg.cypher(
        "MATCH (d:Document {collection: $name})-[:HAS_PASSAGE]->(p) RETURN p.id AS id ORDER BY d.key, p.ordinal",
        {"name": context.reader.collection.name},
    )
    return [row["id"] for row in rows]
