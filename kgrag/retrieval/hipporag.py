"""HippoRAG and HippoRAG 2 as published: personalised PageRank over the whole graph of triples, seeded by a model.

HippoRAG (Gutiérrez et al., 2024, section 2.3): a model extracts the names in the question, and the walk restarts at the
entity nearest to each name, with more weight for rare ones. Passages are not nodes; they rank by the shares of the
entities in their triples. HippoRAG 2 (Gutiérrez et al., 2025, section 3): a model keeps the helpful ones of the facts
nearest to the question (recognition memory). The walk restarts at their entities and a little at every passage, and
covers both. Without seeds, both rank by nearness. kgrag's variant without a model is `ppr`.
"""

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any, ClassVar

import numpy as np
from pydantic import BaseModel, Field, model_validator

from kgrag.models.chat import no_model
from kgrag.models.facts import lines
from kgrag.retrieval.base import Layer, Query, Retriever, Scored
from kgrag.retrieval.context import Searchable
from kgrag.retrieval.dense import Dense
from kgrag.retrieval.entity_graph import EntityGraph, WholeGraph, best
from kgrag.retrieval.trail import follow
from kgrag.runtime.options import Count, Options
from kgrag.text.tokens import normalise
from kgrag.values.documents import Triple
from kgrag.values.events import Recognised
from kgrag.values.identity import entity_id
from kgrag.values.results import Step


class Names(BaseModel):
    """A reply that lists names; values that are not strings are dropped."""

    names: list[str]

    @model_validator(mode="before")
    @classmethod
    def _lenient(cls, value: Any) -> Any:
        listed = value.get("names", value.get("named_entities")) if isinstance(value, dict) else value
        if not isinstance(listed, list):
            raise ValueError('an object {"names": ["name", ...]} is wanted')
        return {"names": [name for name in listed if isinstance(name, str) and name.strip()]}


class SelectedFacts(BaseModel):
    """A reply that lists the numbers of the helpful facts."""

    kept: list[int]

    @model_validator(mode="before")
    @classmethod
    def _lenient(cls, value: Any) -> Any:
        return {"kept": value} if isinstance(value, list) else value


class HippoRagOptions(Options):
    """Options of HippoRAG."""

    damping: float = Field(0.5, gt=0, lt=1, description="share of the walk that goes on at each step (section 3)")
    candidates: Count = Field(200, description="vector index candidates, scored again exactly")
    same_as: bool = Field(False, description="whether names of one entity are tied as well; not in the paper")


class HippoRag(Retriever):
    """PageRank over entities only, which restarts at the entities that a model finds in the question.

    The whole graph is read at the first question and shared by the retrievers of the collection.

    Source: HippoRAG, section 2.3.

    Example:
        >>> ranking = HippoRag(collection.context).retrieve("Where was the designer of the Fram born?", k=3)
        >>> print([hit.passage.title for hit in ranking])
    """

    name = "hipporag"
    summary = "PageRank over the entities of triples, from the entities that a language model finds; HippoRAG"
    paper = "HippoRAG, section 2.3"
    uses = ("triples", "vectors", "a language model")
    options = HippoRagOptions
    needs = "a language model"
    calls = 1
    scale = "share"
    over_passages: ClassVar[bool] = False
    settings: HippoRagOptions

    def __init__(self, *on: Searchable, **options: Any) -> None:
        """Make the retriever. Raises ConfigurationError if no language model is configured."""
        super().__init__(*on, **options)
        if self.context.llm is None:
            raise no_model()
        self.llm = self.context.llm
        self.dense = Dense(self.context)
        self.whole = WholeGraph(
            self.context, same_as=self.settings.same_as, named=False, over_passages=self.over_passages
        )

    def rank(self, query: Query, n: int) -> list[Scored]:
        """See Retriever; scores are sums of shares of the walk. Raises ModelError."""
        seeds = self._linked(self._names(query))
        if not seeds:
            return self._nearest(query, n)
        graph = self.whole()
        counts = _passages_naming(graph)
        starts = {graph.node[e["element"]]: _named(e) for e in seeds if e["element"] in graph.node}
        reset = {i: 1 / max(1, counts[i]) for i in starts}  # node specificity
        if not reset:
            return self._nearest(query, n)
        shares = graph.shares(reset, self.settings.damping)
        passage, entity, times = graph.named.T
        parts = times * shares[entity]
        scores = np.bincount(passage, parts, len(graph.passages))
        ranked = best(self.context, query, dict(zip(graph.passages, scores.tolist(), strict=True)), n)
        own = (np.flatnonzero(passage == graph.passages[x]) for x, _ in ranked)
        ends = [int(entity[rows[np.argmax(parts[rows])]]) for rows in own]  # the main entity of each passage
        trails = graph.trails(self.context, graph.paths(reset, self.settings.damping, ends), starts, {})
        titles = self.context.reader.captions([], [x for x, _ in ranked])
        return [
            Scored(x, score, (*why, follow("MENTIONS", "Passage", titles.get(x, ""))))
            for (x, score), why in zip(ranked, trails, strict=True)
        ]

    def _nearest(self, query: Query, n: int) -> list[Scored]:
        """Return the nearest passages, used without seeds; their scores sum to 1 like shares."""
        ranking = self.dense.rank(query, n)
        weights = [max(2 * x.score - 1, 0.0) for x in ranking]
        total = sum(weights) or 1.0
        return [replace(x, score=weight / total) for x, weight in zip(ranking, weights, strict=True)]

    def requires(self) -> frozenset[Layer]:
        """See Retriever."""
        return frozenset({"triples"})

    def _names(self, query: Query) -> list[str]:
        """Return the distinct names in the question in normal form. Raises ModelError."""
        llm = self.llm.with_listener(query.listener)
        reply = llm.structured("name", Names, question=query.wording)
        return list(dict.fromkeys(filter(None, map(normalise, reply.names))))

    def _linked(self, names: Sequence[str]) -> list[Mapping[str, Any]]:
        """Return the entity nearest to each name, each once."""
        if not names:
            return []
        collection = self.context.reader.collection
        vectors = self.context.embedder.embed(names).tolist()
        queries = [
            {"id": entity_id(collection.name, name), "vector": v} for name, v in zip(names, vectors, strict=True)
        ]
        row = self.context.row(
            "retrieve/hipporag_entities",
            index=collection.vector_index("Entity"),
            embedding=collection.embedding,
            names=queries,
            candidates=self.settings.candidates,
        )
        return list({e["id"]: e for e in row["rows"] if e}.values())


class HippoRag2Options(HippoRagOptions):
    """Options of HippoRAG 2."""

    triples: Count = Field(5, description="nearest facts that the model is shown (section 3.4)")
    recognise: bool = Field(True, description="the model drops facts that do not help (section 3.4)")
    linked: Count = Field(5, description="entities of the remaining facts that the walk restarts at, at most")
    passage_weight: float = Field(0.05, ge=0, le=1_000, description="weight of the nearest passage (section 3.5)")


class HippoRag2(HippoRag):
    """PageRank over entities and passages, from the nearest facts that a model selects, and from every passage.

    Source: HippoRAG 2, section 3.

    Example:
        >>> ranking = HippoRag2(collection.context).retrieve("Where was the designer of the Fram born?", k=3)
        >>> print([hit.passage.title for hit in ranking])
    """

    name = "hipporag2"
    summary = "PageRank over entities and passages from the nearest triples that a language model keeps; HippoRAG 2"
    paper = "HippoRAG 2, section 3"
    options = HippoRag2Options
    over_passages = True
    settings: HippoRag2Options

    def rank(self, query: Query, n: int) -> list[Scored]:
        """See Retriever; scores are shares of the walk. Raises ModelError."""
        s = self.settings
        vector, collection = query.vector(self.context.embedder), self.context.reader.collection
        row = self.context.row(
            "retrieve/hipporag2_triples",
            index=collection.vector_index("Triple"),
            collection=collection.name,
            embedding=collection.embedding,
            vector=vector,
            candidates=max(s.candidates, s.triples),
            limit=s.triples,
        )
        facts = self._recognised(query, row["facts"]) if s.recognise else row["facts"]
        if not facts:
            return self._nearest(query, n)
        graph = self.whole()
        weights, starts = _entities(graph, facts, row["lowest"], row["facts"][0]["cosine"])
        linked = sorted(weights, key=lambda i: (-weights[i], i))[: s.linked]
        rows = self.context.row(
            "retrieve/hipporag2_passages", collection=collection.name, embedding=collection.embedding, vector=vector
        )["cosines"]
        near = {graph.passages[x]: cosine for x, cosine in rows if x in graph.passages}
        low, high = min(near.values(), default=0.0), max(near.values(), default=0.0)
        reset = {i: s.passage_weight * (c - low) / (high - low) for i, c in near.items()} if high > low else {}
        reset = {i: w for i, w in (reset | {i: weights[i] for i in linked}).items() if w > 0}
        if not reset:
            return self._nearest(query, n)
        shares = graph.shares(reset, s.damping)
        ranked = best(self.context, query, {x: float(shares[i]) for x, i in graph.passages.items()}, n)
        paths = graph.paths(reset, s.damping, [graph.passages[x] for x, _ in ranked])
        scores = {i: (1 + c) / 2 for i, c in near.items()}
        trails = graph.trails(self.context, paths, starts, scores)
        return [Scored(x, score, why) for (x, score), why in zip(ranked, trails, strict=True)]

    def _recognised(self, query: Query, facts: Sequence[Mapping[str, Any]]) -> list[Mapping[str, Any]]:
        """Return the facts that the model selects, in their order. Raises ModelError."""
        if not facts:
            return []
        triples = [Triple(f["subject"], f["predicate"], f["object"]) for f in facts]
        listing = "\n".join(f"{n}. {line}" for n, line in enumerate(lines(triples).splitlines(), 1))
        llm = self.llm.with_listener(query.listener)
        numbers = set(llm.structured("recognise", SelectedFacts, facts=listing, question=query.wording).kept)
        mask = [n in numbers for n in range(1, len(facts) + 1)]
        if query.listener is not None:
            query.listener(
                Recognised(
                    kept=tuple(t for t, selected in zip(triples, mask, strict=True) if selected),
                    dropped=tuple(t for t, selected in zip(triples, mask, strict=True) if not selected),
                )
            )
        return [fact for fact, selected in zip(facts, mask, strict=True) if selected]


def _entities(
    graph: EntityGraph, facts: Sequence[Mapping[str, Any]], lowest: float, highest: float
) -> tuple[dict[int, float], dict[int, tuple[Step, ...]]]:
    """Return node -> weight, and node -> trail.

    A fact's weight is its cosine scaled between the lowest and the highest of all. An entity's weight is the mean over
    its facts, divided by the number of passages that name it (section 3.5, appendix).
    """
    passages = _passages_naming(graph)
    weights: defaultdict[int, list[float]] = defaultdict(list)
    starts: dict[int, tuple[Step, ...]] = {}
    for fact in facts:
        weight = (fact["cosine"] - lowest) / (highest - lowest) if highest > lowest else 1.0
        stated = Step("resembles the question", "Triple", fact["text"], (1 + fact["cosine"]) / 2)
        for element, name in {e["element"]: e["name"] for e in fact["entities"]}.items():
            if element in graph.node:
                i = graph.node[element]
                weights[i].append(weight / max(1, passages[i]))
                starts.setdefault(i, (stated, Step("is about", "Entity", name)))
    return {i: sum(shares) / len(shares) for i, shares in weights.items()}, starts


def _passages_naming(graph: EntityGraph) -> np.ndarray[Any, np.dtype[np.int64]]:
    """Return the number of passages [nodes] that name each entity."""
    return np.bincount(graph.named[:, 1], minlength=len(graph.node))


def _named(entity: Mapping[str, Any]) -> tuple[Step, ...]:
    return (Step("names", "Entity", entity["name"], entity["score"]),)
