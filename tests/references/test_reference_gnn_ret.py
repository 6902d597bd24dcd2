"""GNN-Ret and RGNN-Ret, equations 1, 2 and 4, over all passages at once, against `gnn-ret` on a graph."""

import itertools
import random
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
import pytest
from corpus import agree, ingested, passages, vector
from naming import own
from numpy.typing import NDArray

from kgrag import KnowledgeGraph
from kgrag.retrieval.base import Query
from kgrag.retrieval.context import SearchContext
from kgrag.retrieval.gnn_ret import GnnRet
from kgrag.values.documents import Document, Section

pytestmark = pytest.mark.long
CASES, RECURRENCES = 100, 30  # for each of the four collections
STEPS = 3  # steps of a recurrence
_WORDS = ("kelp", "lamp", "wool", "reed", "gull", "rope", "mast", "clay", "moss", "fern", "salt", "tide")
_EDGES = ("next", "keyword")


@dataclass(frozen=True)
class Corpus:
    """A collection; `ids` [n], `vectors` [n, d] and `tied` [n, n] describe its passages."""

    context: SearchContext
    ids: Sequence[str]
    vectors: NDArray[np.float64]
    tied: NDArray[np.bool_]


def _text(chance: random.Random, number: int) -> str:
    """Return a sentence of a few shared words, or of a unique word, which connects it only to its neighbours."""
    words = [f"xyzzy{number}"] if chance.random() < 0.25 else chance.sample(_WORDS, chance.randint(1, 2))
    return f"The {' and the '.join(words)}."


@pytest.fixture(scope="module", params=[1, 2, 9, 20])
def corpus(request: pytest.FixtureRequest, kg: KnowledgeGraph) -> Iterator[Corpus]:
    count, chance = request.param, random.Random(request.param)
    texts = [_text(chance, number) for number in range(count)]
    texts[count // 2] = texts[0]  # a passage with the same vector as another
    starts = [0, *(n for n in range(1, count) if chance.random() < 0.5), count]
    documents = [texts[start:end] for start, end in itertools.pairwise(starts)]
    name = own(f"reference-gnn-ret-{count}")
    context = ingested(
        kg,
        name,
        [Document(f"{number:02}", (Section(" ".join(parts)),), "") for number, parts in enumerate(documents)],
        unit="sentence",  # a passage is a sentence, so a short document has several
    )
    places = [(number, i) for number, parts in enumerate(documents) for i in range(len(parts))]
    yield Corpus(context, passages(kg, context), np.array(list(map(vector, texts))), _graph(places, texts))
    kg[name].delete()


def _graph(places: Sequence[tuple[int, int]], texts: Sequence[str]) -> NDArray[np.bool_]:
    """Connect passages that are adjacent in a document, and passages that share a keyword (section 3.1)."""
    tied = np.zeros((len(texts), len(texts)), np.bool_)
    for one, (document, i) in enumerate(places):
        for other, (another, j) in enumerate(places):
            adjacent = document == another and abs(i - j) == 1
            common = set(texts[one].strip(".").split()) & set(texts[other].strip(".").split())
            tied[one, other] = one != other and (adjacent or bool(common - {"The", "and", "the"}))
    return tied


def layers(corpus: Corpus, question: str, k: int, alphas: Sequence[float], message: str) -> NDArray[np.float64]:
    """Return h [n] (equations 1 and 2): the K nearest send; the others receive the smallest value, or the mean."""
    h = 1 - corpus.vectors @ vector(question)
    for a in alphas:
        senders = sorted(range(len(h)), key=lambda i: (round(h[i], 7), corpus.ids[i]))[:k]
        before = h.copy()
        for i in range(len(h)):
            heard = [before[j] for j in senders if corpus.tied[i, j]]
            if heard:
                received = sum(heard) / len(heard) if message == "mean" else min(heard)
                h[i] = a * before[i] + (1 - a) * received
    return h


def _drawn(chance: random.Random) -> dict[str, object]:
    alphas = tuple(chance.choice([0.0, 1.0, 0.25, 0.5, 0.7]) for _ in range(chance.randint(1, 3)))
    k = chance.choice([1, 2, 3, 5, 10, 100])
    return {"alphas": alphas, "k": k, "message": chance.choice(["nearest", "mean"])}


def _scores(corpus: Corpus, h: NDArray[np.float64]) -> dict[str, float]:
    """Return scores: (1 + cosine) / 2, which is 1 - h / 2 before the layers."""
    return dict(zip(corpus.ids, 1 - h / 2, strict=True))


def test_equations_1_and_2_of_gnn_ret(corpus: Corpus) -> None:
    chance = random.Random(len(corpus.ids))
    for case in range(CASES):
        options, wanted = _drawn(chance), chance.choice([1, 5, 50])
        found = GnnRet(corpus.context, edges=_EDGES, keyword_cap=0, **options).rank(Query(f"Which {case}?"), wanted)
        agree(found, _scores(corpus, layers(corpus, f"Which {case}?", **options)), wanted)  # type: ignore[arg-type]


def test_equation_4_of_gnn_ret(corpus: Corpus) -> None:
    chance = random.Random(100 + len(corpus.ids))
    for case in range(RECURRENCES):
        options, beta, wanted = _drawn(chance), chance.choice([0.1, 0.5, 0.9, 1.0]), chance.choice([1, 5, 50])
        retriever = GnnRet(corpus.context, edges=_EDGES, keyword_cap=0, beta=beta, **options)
        integrated = np.zeros(len(corpus.ids))
        memory: dict[object, object] = {}
        for step in range(STEPS):
            question = f"Which {case}, {step}?"
            h = layers(corpus, question, **options)  # type: ignore[arg-type]
            integrated = beta * h + (1 - beta) * integrated if step else h
            found = retriever.rank(Query(question, memory=memory), wanted)
            agree(found, _scores(corpus, integrated), wanted)
