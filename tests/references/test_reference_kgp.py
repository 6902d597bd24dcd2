"""KGP, Algorithm 1 with equation 1 by an encoder, and MDR's chains, in memory against `kgp` and `mdr` on a graph."""

import math
import random
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import pytest
from corpus import Hashed, best, cosine, ingested, passages, vector
from naming import own
from tagging import LocalTagme

from kgrag import KnowledgeGraph
from kgrag.retrieval.base import Query, Scored, make_retriever
from kgrag.retrieval.context import SearchContext
from kgrag.values.documents import Document, Section

pytestmark = pytest.mark.long
WALKS, CHAINS = 60, 60  # cases of each of the four collections; WALKS for each of two walks
_WORDS = ("kelp", "lamp", "wool", "reed", "gull", "rope", "mast", "clay", "moss", "fern", "salt", "tide")
_SPOTS: dict[str, list[Any]] = {
    "kelp": ["Ship", 0.6], "lamp": ["Ship", 0.2], "wool": ["Ship", 0.4], "reed": ["Mill", 0.5], "gull": ["Mill", 0.1],
}  # fmt: skip
"""Words -> TAGME's article for them, and its certainty."""
_ALL = 10_000
Path = tuple[str, ...]


@dataclass(frozen=True)
class Corpus:
    """A collection; by passage id the text, the words, and the document; `keywords`: word -> its id."""

    context: SearchContext
    texts: Mapping[str, str]
    words: Mapping[str, Counter[str]]
    document: Mapping[str, int]
    keywords: Mapping[str, str]

    def so_far(self, question: str, path: Sequence[str]) -> str:
        """Return a question and a path as one text; a document without a title is named by its key."""
        return "\n".join([question, *(f"{self.document[id]:02}: {self.texts[id]}" for id in path)])

    def near(self, asked: str) -> dict[str, float]:
        """Return the cosine of each passage with a text."""
        wanted = vector(asked)
        return {id: cosine(vector(text), wanted) for id, text in self.texts.items()}


def _text(chance: random.Random, number: int) -> str:
    """Return a sentence of some shared words, or of a unique word, which connects it to nothing."""
    words = [f"xyzzy{number}"] if chance.random() < 0.2 else chance.choices(_WORDS, k=chance.randint(1, 5))
    return f"The {' and the '.join(words)}."


@pytest.fixture(scope="module", params=[1, 2, 12, 25])
def corpus(request: pytest.FixtureRequest, kg: KnowledgeGraph) -> Iterator[Corpus]:
    count, chance = request.param, random.Random(request.param)
    texts = [_text(chance, number) for number in range(count)]
    texts[-1] = texts[0]  # a passage with the same words and vector as another
    documents = sorted(chance.randrange(1 + count // 3) for _ in texts)
    name = own(f"reference-kgp-{count}")
    sections = {
        number: " ".join(t for t, d in zip(texts, documents, strict=True) if d == number) for number in documents
    }
    context = ingested(
        kg,
        name,
        [Document(f"{number:02}", (Section(text),), "") for number, text in sections.items()],
        unit="sentence",
        similar=100,
        keywords=100,
    )
    with LocalTagme(_SPOTS) as server:
        settings = kg.settings.model_copy(update={"tagme": server.settings()})
        with KnowledgeGraph.connect(settings=settings) as client:
            client[name].ingest([], embedder=Hashed())
            client[name].tag()
    ids = passages(kg, context)
    rows = kg.cypher("MATCH (w:Keyword {collection: $name}) RETURN w.stem AS stem, w.id AS id", {"name": name})
    yield Corpus(
        context,
        dict(zip(ids, texts, strict=True)),
        {
            id: Counter(word for word in text.strip(".").split() if word not in ("The", "and", "the"))
            for id, text in zip(ids, texts, strict=True)
        },
        dict(zip(ids, documents, strict=True)),
        {row["stem"]: row["id"] for row in rows},
    )
    kg[name].delete()


def _tagged(words: Mapping[str, int], rho: float) -> set[str]:
    """Return the TAGME articles of a passage with at least this certainty."""
    return {name for word, (name, certain) in _SPOTS.items() if word in words and certain >= rho}


def ties(c: Corpus, edges: Sequence[str], keywords: int, similar: int, cap: int, rho: float) -> dict[str, list[str]]:
    """Return each passage's neighbours (section 3). `keywords` and `similar`: how many per passage count.

    Passages are connected if they share a keyword, or contain a word that is a keyword of any (W); also nearest
    passages, and passages of one document, whose title is a keyword of all. `cap`: limit of passages per keyword.
    """
    df = Counter(word for words in c.words.values() for word in words)
    best_of = {id: set(_keywords(c, words, df)[:keywords]) for id, words in c.words.items()}
    space = set().union(*best_of.values())
    rare = {word for word in df if df[word] <= cap}
    names = Counter(name for words in c.words.values() for name in _tagged(words, 0))
    sure = {id: {name for name in _tagged(words, rho) if names[name] <= cap} for id, words in c.words.items()}
    nearest = {}
    for id, text in c.texts.items():
        nearest[id] = best({other: near for other, near in c.near(text).items() if other != id})[:similar]

    def tied(one: str, other: str) -> bool:
        return (
            ("document" in edges and c.document[one] == c.document[other])
            or ("keyword" in edges and bool(rare & best_of[one] & best_of[other]))
            or ("word" in edges and bool(rare & space & {*c.words[one]} & {*c.words[other]}))
            or ("tagme" in edges and bool(sure[one] & sure[other]))
            or ("similar" in edges and (other in nearest[one] or one in nearest[other]))
        )

    return {one: [other for other in c.texts if one != other and tied(one, other)] for one in c.texts}


def _keywords(c: Corpus, words: Mapping[str, int], df: Mapping[str, int]) -> list[str]:
    """Return a passage's TF-IDF keywords that another passage shares; as in docs/scale.md, idf is in powers of 2."""
    weights = {}
    for word, count in words.items():
        if df[word] > 1:
            rarity = int(math.log2(len(c.texts))) - int(math.log2(df[word]))
            weights[word] = (1 + math.log(count)) * (1 + math.log(2) * rarity)
    return sorted(weights, key=lambda word: (-round(weights[word], 4), c.keywords[word]))


@dataclass(frozen=True)
class Walk:
    """The options of a walk over `ties`."""

    corpus: Corpus
    question: str
    ties: Mapping[str, Sequence[str]]
    seeds: int
    branch: int
    guide: str

    def begin(self) -> list[Path]:
        """Return a path from each seed."""
        return [(id,) for id in best(self.corpus.near(self.question))[: self.seeds]]

    def follow(self, path: Path, besides: Sequence[str]) -> list[Path]:
        """Return the neighbours of a path's last passage nearest to the question and the path (equation 1)."""
        asked = self.corpus.so_far(self.question, path) if self.guide == "encoder" else self.question
        near = self.corpus.near(asked)
        free = {id: near[id] for id in self.ties[path[-1]] if id not in path and id not in besides}
        return [(*path, id) for id in best(free)[: self.branch]]


def _drawn(corpus: Corpus, chance: random.Random, case: int) -> tuple[Walk, str]:
    """Return a random walk, and the options that request it."""
    edges = chance.sample(["keyword", "word", "similar", "document", "tagme"], chance.randint(1, 2))
    counts = {"keywords": chance.choice([1, 2, 100]), "similar": chance.choice([1, 3, 100])}
    rho = chance.choice([0.0, 0.15, 0.3, 0.5])
    cap, guide = chance.choice([2, 5, 0]), chance.choice(["encoder", "words"])
    seeds, branch = chance.choice([1, 3, 50]), chance.choice([1, 3, 40])
    walk = Walk(corpus, f"Which {case}?", ties(corpus, edges, cap=cap or _ALL, rho=rho, **counts), seeds, branch, guide)
    how = ", ".join(f"{name}={count}" for name, count in counts.items())
    over = "".join(f"{edge}, " for edge in edges)
    limits = f"cap={cap}, rho={rho}, seeds={seeds}, branch={branch}"
    return walk, f"dense, guide={guide}, similarity=vector, edges=({over}), {how}, {limits}"


def _ids(found: Sequence[Scored]) -> list[str]:
    """Return the expected scores of a ranking by 1 / rank."""
    assert [x.score for x in found] == [1 / rank for rank in range(1, len(found) + 1)]
    return [x.id for x in found]


def test_paths_of_algorithm_1_of_kgp(corpus: Corpus) -> None:
    """Appendix A.2.3: every seed is followed for a given number of passages, and paths may meet."""
    chance = random.Random(len(corpus.texts))
    for case in range(WALKS):
        walk, options = _drawn(corpus, chance, case)
        hops = chance.randint(1, 3 if walk.seeds * walk.branch < 50 else 2)
        paths = walk.begin()
        for _ in range(hops - 1):
            paths = [longer for path in paths for longer in walk.follow(path, ()) or [path]]
        question, retriever = Query(walk.question), make_retriever(f"kgp({options}, hops={hops})", corpus.context)
        found = retriever.rank(question, _ALL)
        assert [tuple(path) for path in retriever.evidence(question) or ()] == paths
        assert _ids(found) == list(dict.fromkeys(id for path in paths for id in path))


def test_algorithm_1_of_kgp_within_a_budget(corpus: Corpus) -> None:
    """Breadth-first until K passages are visited, each once; the next level does not revisit a level's passages."""
    chance = random.Random(500 + len(corpus.texts))
    for case in range(WALKS):
        (walk, options), budget = _drawn(corpus, chance, case), chance.choice([1, 4, 10, 100])
        queue = walk.begin()[:budget]
        visited = [path[-1] for path in queue]
        while queue and len(visited) < budget:
            level, before, queue = queue, list(visited), []
            for longer in (longer for path in level for longer in walk.follow(path, before)):
                if longer[-1] not in visited and len(visited) < budget:
                    visited.append(longer[-1])
                    queue.append(longer)
        retriever = make_retriever(f"kgp({options}, budget={budget})", corpus.context)
        assert _ids(retriever.rank(Query(walk.question), _ALL)) == visited


def test_chains_of_mdr(corpus: Corpus) -> None:
    """A.2.3: passages nearest to the question, to it and these, and so on; chains by the product of their cosines.

    A negative cosine counts as 0, so that two of them make no good pair.
    """
    chance = random.Random(900 + len(corpus.texts))
    for case in range(CHAINS):
        hops, width, branch = chance.randint(1, 3), chance.choice([1, 3, 15]), chance.choice([1, 3, 50])
        beams, wanted = chance.choice([1, 5, 45]), chance.choice([1, 5, _ALL])
        question = Query(f"Which {case}?")
        near = corpus.near(question.text)
        chains: list[tuple[float, Path]] = [(max(0.0, near[id]), (id,)) for id in best(near)[:width]]
        for _ in range(hops - 1):
            longer = []
            for score, chain in chains:
                cosines = corpus.near(corpus.so_far(question.text, chain))
                nearest = best({id: value for id, value in cosines.items() if id not in chain})[:branch]
                longer += [(score * max(0.0, cosines[id]), (*chain, id)) for id in nearest]
            chains = sorted(longer, key=lambda x: (-round(x[0], 7), x[1]))[:beams] or chains
        ids = list(dict.fromkeys([*(id for _, chain in chains for id in chain), *best(near)[: max(wanted, width)]]))
        options = f"hops={hops}, width={width}, branch={branch}, beams={beams}, score=cosine"
        retriever = make_retriever(f"mdr({options})", corpus.context)
        assert _ids(retriever.rank(question, wanted)) == ids[:wanted]
        assert [tuple(chain) for chain in retriever.evidence(question) or ()] == [chain for _, chain in chains]
