"""Dense search returns the true nearest passages, although the vector index cannot reach every vector."""

import random
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from kgrag import KnowledgeGraph
from kgrag.graph.collections import open_collection
from kgrag.values.documents import Document, Section

pytestmark = pytest.mark.long

_NAME = "retrieval-exact"
_ROOT = Path(__file__).parents[2]


@pytest.fixture(scope="module")
def manual(kg: KnowledgeGraph, fill: Callable[..., str]) -> str:
    """A collection of kgrag's own pages, and of one passage in hundreds of documents, which hide others."""
    fill(_NAME, [_ROOT / "docs", _ROOT / "README.md", _ROOT / "CHANGELOG.md", _ROOT / "bench"])
    copy = (Section("All rights reserved; no warranty is given."),)
    kg[_NAME].ingest([Document(f"copy{i}", copy) for i in range(300)])
    return _NAME


def test_the_nearest_are_found_for_every_question(kg: KnowledgeGraph, manual: str) -> None:
    collection = open_collection(kg.graph, manual)
    stream = kg.graph.stream("stages/vectors", label="Passage", collection=manual, embedding=collection.embedding)
    ids, vectors = zip(*((id, vector) for record in stream for id, vector, _ in record["nodes"]), strict=True)
    matrix = np.array(vectors, np.float64)
    pages = "\n".join(page.read_text(encoding="utf-8") for page in sorted((_ROOT / "docs").glob("*.md"))).splitlines()
    headings = dict.fromkeys(line.strip("# ") for line in pages if line.startswith("##"))
    questions = [heading for heading in headings if len(heading) > 6][:120]
    asked = kg.embedder(collection.embedder).embed(questions).astype(np.float64)
    lacking = set()
    for question, vector in zip(questions, asked, strict=True):
        scores = (1 + matrix @ vector / np.linalg.norm(matrix, axis=1) / np.linalg.norm(vector)) / 2
        found = {hit.passage.id: hit.score for hit in kg[manual].search(question, retriever="dense", k=10)}
        tenth = np.sort(scores)[-10]
        nearest = {id for id, score in zip(ids, scores, strict=True) if score > tenth + 1e-6}
        lacking |= {question for id in nearest if id not in found}
    assert len(questions) == 120
    assert len(lacking) <= 1, lacking  # six without asking the index for more


def test_the_index_is_asked_for_more_where_it_misses_some(
    kg: KnowledgeGraph, manual: str, collection_name: str
) -> None:
    words, chance = (_ROOT / "docs" / "scale.md").read_text(encoding="utf-8").split(), random.Random(1)
    kg[collection_name].ingest([Document(f"w{i}", (Section(" ".join(chance.sample(words, 12))),)) for i in range(950)])
    records = [kg.graph.run("look_up/collections", name=name)[0]["collection"] for name in (collection_name, manual)]
    assert [record.get("reached") for record in records] == ["embedding", "no embedding"]
