"""GFM-RAG: a graph neural network trained to find the entities that answer a question from the entities in it.

The network (`kgrag.models.gfm`) passes the question's vector along the triples, which it knows by their predicates,
and returns the relevance of each entity. A passage ranks by its most relevant entities, and rare ones weigh more.
Source: GFM-RAG (Luo et al., 2025), sections 3.2 and 3.3; its official code decides what the paper leaves open. kgrag
finds the entities of the question by their names (the paper asks a language model). The statements are
`cypher/retrieve/gfm*.cypher`.
"""

import threading
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, Self

import numpy as np
from numpy.typing import NDArray
from pydantic import Field

from kgrag.models.embed import Embedder, Vectors
from kgrag.retrieval.base import BRIDGE_CAP, Layer, Query, Retriever, Scored
from kgrag.retrieval.compose import ONE_AT_A_TIME
from kgrag.retrieval.context import Searchable, SearchContext
from kgrag.retrieval.dense import Dense
from kgrag.retrieval.entity_graph import EntityGraph
from kgrag.retrieval.linking import link_question
from kgrag.retrieval.trail import follow
from kgrag.runtime.options import Count, Options
from kgrag.values.errors import ConfigurationError
from kgrag.values.installing import require_extra
from kgrag.values.results import Step

if TYPE_CHECKING:
    from torch import Tensor

    from kgrag.models.gfm import Network


SAME = "equivalent"
"""The relation between similar names (GFM-RAG, section 3.1; the name is from its official code)."""


@dataclass(slots=True, eq=False, weakref_slot=True)
class RelationGraph:
    """Entities and distinct facts about them.

    `ties`: the same as an EntityGraph, whose `node` numbers the entities; `edges` [m, 3]: head, relation, tail;
    `relations`: the texts of the relations.
    """

    ties: EntityGraph
    edges: NDArray[np.int64]
    relations: tuple[str, ...]

    @classmethod
    def of(cls, triples: Iterable[Sequence[str]], similar: Iterable[Sequence[Any]] = ()) -> Self:
        """Make the graph of triples and pairs of resembling names.

        Triples: element ids about a predicate; pairs: [entity, entity, score].
        """
        facts = list(dict.fromkeys((s, p, o) for s, p, o in triples))
        alike = list(similar)
        subjects, objects = [s for s, _, _ in facts], [o for _, _, o in facts]
        ties = EntityGraph.of([("", "", (), (), subjects, objects)], alike, over_passages=False)
        node = ties.node
        facts += [(a, SAME, b) for a, b, _ in alike if a in node and b in node]
        number: dict[str, int] = {}
        edges = [(node[s], number.setdefault(p, len(number)), node[o]) for s, p, o in dict.fromkeys(facts)]
        return cls(ties, np.array(edges, np.int64).reshape(-1, 3), tuple(number))


class WholeRelationGraph:
    """The triples of a whole collection, read at the first question and shared by its retrievers."""

    def __init__(self, context: SearchContext, *, same_as: bool) -> None:
        self._context, self._same_as = context, same_as
        self._graph: RelationGraph | None = None

    def __call__(self) -> RelationGraph:
        """Return the graph, read at the first call."""
        if self._graph is None:
            self._graph = self._context.shared((RelationGraph, self._same_as), self._read)
        return self._graph

    def _read(self) -> RelationGraph:
        reader = self._context.reader
        name = reader.collection.name
        similar = reader.stream("retrieve/ppr_similar", collection=name, same_as=self._same_as)
        return RelationGraph.of(reader.stream("retrieve/gfm_triples", collection=name), similar)


class GfmOptions(Options):
    """Options of GFM-RAG."""

    weights: str = Field("", description="the network: a file of kgrag lab train gfm, or a folder of published weights")
    embedder: str = Field("", description="of questions and predicates; empty: the weights' own, or the collection's")
    top: Count = Field(20, description="T: most relevant entities that rank passages (section 3.3; 20 in its code)")
    count: Literal["alike", "relevance"] = Field(
        "alike", description="these count alike (section 3.3), or by their relevance; divided by how many mention them"
    )
    rare: bool = Field(True, description="an entity of many passages begins with less (its official code)")
    exact: bool = Field(False, description="over the whole graph, not what surrounds the question's entities alone")
    hops: int = Field(2, ge=1, le=3, description="triples or resembling names that lead away from these")
    cap: Count = Field(BRIDGE_CAP, description="triples that an entity may have to lead on")
    most: Count = Field(1000, description="entities that are looked at, without exact")
    same_as: bool = Field(False, description="whether names of one entity are tied as well; not in the paper")
    candidates: Count = Field(200, description="vector index candidates for a name, scored again exactly")


@dataclass(frozen=True, slots=True)
class SeededQuery:
    """A question over a graph: `start` [n] has the initial weight of each entity, `steps` the trails to these."""

    graph: RelationGraph
    start: NDArray[np.float32]
    steps: Mapping[int, tuple[Step, ...]]


class Surroundings:
    """The neighbourhood of the entities of questions, or the whole graph."""

    def __init__(self, context: SearchContext, settings: GfmOptions) -> None:
        self.context, self.settings = context, settings
        self._whole = WholeRelationGraph(context, same_as=settings.same_as)

    def of(self, query: Query) -> SeededQuery | None:
        """Return the question with its graph, or None if it leads to no entity of a triple."""
        s, context = self.settings, self.context
        seeds = self._seeds(query)
        elements = [seed["element"] for seed in seeds]
        if not seeds:
            return None
        if s.exact:
            graph = self._whole()
        else:
            row = context.row("retrieve/gfm", entities=elements, hops=s.hops, cap=s.cap, most=s.most, same_as=s.same_as)
            among = set(row["nodes"])
            graph = RelationGraph.of((t for t in row["triples"] if t[0] in among and t[2] in among), row["similar"])
        node = graph.ties.node
        start = np.zeros(len(node), np.float32)
        steps: dict[int, tuple[Step, ...]] = {}
        for seed in seeds:
            if seed["element"] in node:
                i = node[seed["element"]]
                start[i] = 1 / max(1, seed["df"]) if s.rare else 1.0
                steps[i] = (Step("names", "Entity", seed["name"], seed["score"]),)
        return SeededQuery(graph, start, steps) if steps else None

    def _seeds(self, query: Query) -> list[Mapping[str, Any]]:
        """Return the entities of triples that the question names, or the nearest one: {element, name, score, df}."""
        context, collection = self.context, self.context.reader.collection
        links = link_question(context, query.text, self.settings.same_as).links
        names = {link.entity: link.name for link in links} or {"": query.text}
        vectors = context.embedder.embed(list(names.values())).tolist()
        row = context.row(
            "retrieve/hipporag_entities",
            index=collection.vector_index("Entity"),
            embedding=collection.embedding,
            names=[{"id": id, "vector": vector} for id, vector in zip(names, vectors, strict=True)],
            candidates=self.settings.candidates,
        )
        return list({e["element"]: e for e in row["rows"] if e}.values())


class Loaded:
    """A network in memory, with its embedder and the cached vectors of relations."""

    def __init__(self, network: "Network", embedder: Embedder) -> None:
        self.network, self.embedder = network, embedder
        self._vectors: dict[str, NDArray[np.float32]] = {}
        self._lock = threading.Lock()

    def relations(self, texts: Sequence[str]) -> Vectors:
        """Return the vectors of relations, then of their inverses [2 r, d]; each text is embedded once."""
        both = [*texts, *(f"inverse_{text}" for text in texts)]
        with self._lock:
            new = list(dict.fromkeys(text for text in both if text not in self._vectors))
            if new:
                self._vectors.update(zip(new, self.embedder.embed(new), strict=True))
            return np.stack([self._vectors[text] for text in both])

    def inputs(self, query: Query, posed: SeededQuery) -> "tuple[Tensor, Tensor, Tensor, Tensor]":
        """Return the question's vector, the relations' vectors, the edges, and the start weights of the entities."""
        import torch

        question = np.asarray(query.vector(self.embedder), np.float32)
        relations = self.relations(posed.graph.relations) if posed.graph.relations else question[None, :][:0]
        asked_, known_, edges, start = map(torch.from_numpy, (question, relations, posed.graph.edges, posed.start))
        return asked_, known_, edges, start

    def relevance(self, query: Query, posed: SeededQuery) -> NDArray[np.float32]:
        """Return the relevance of each entity [n], 0 to 1."""
        import torch

        inputs = self.inputs(query, posed)
        with ONE_AT_A_TIME, torch.inference_mode():
            scores: NDArray[np.float32] = torch.sigmoid(self.network(*inputs)).numpy()
        return scores


class Gfm(Retriever):
    """Passages that mention the entities that a trained network finds relevant.

    The network runs over the neighbourhood of the question's entities, or with `exact` over the whole graph, which is
    read at the first question.

    Source: GFM-RAG (Luo et al., 2025), sections 3.2 and 3.3.

    Example:
        >>> Gfm.check({"exact": True}).exact
        True
    """

    name = "gfm"
    summary = (
        "a graph neural network from the question's names over triples, trained or published (extra: gfm); GFM-RAG"
    )
    paper = "GFM-RAG, sections 3.2 and 3.3"
    uses = ("triples", "names", "vectors")
    options = GfmOptions
    needs = "the extra gfm and weights: kgrag lab train gfm"
    settings: GfmOptions

    def __init__(self, *on: Searchable, **options: Any) -> None:
        """Load the weights.

        Raises:
            ConfigurationError: weights are missing or cannot be loaded, or torch is not installed.
        """
        super().__init__(*on, **options)
        s = self.settings
        if not s.weights:
            raise ConfigurationError(
                "gfm has no weights.",
                "Train them: kgrag lab train gfm DATASET -o FILE; or name them: gfm(weights='FILE').",
            )
        path = str(Path(s.weights).expanduser().resolve())
        self.loaded: Loaded = self.context.shared(
            (Loaded, path, s.embedder), lambda: load(self.context, path, s.embedder)
        )
        self.surroundings = Surroundings(self.context, s)
        self.dense = Dense(self.context)

    def requires(self) -> frozenset[Layer]:
        """See Retriever."""
        return frozenset({"triples"})

    def rank(self, query: Query, n: int) -> list[Scored]:
        """See Retriever; scores are sums of inverse frequencies, scaled to 1. Without entities, ranks by nearness."""
        s = self.settings
        posed = self.surroundings.of(query)
        if posed is None:
            return self.dense.rank(query, n)
        ties = posed.graph.ties
        relevance = self.loaded.relevance(query, posed)
        element = list(ties.node)
        places = sorted(range(len(element)), key=lambda i: (-relevance[i], element[i]))[: s.top]
        weights = [float(relevance[i]) if s.count == "relevance" else 1.0 for i in places]
        rows = self.context.row(
            "retrieve/gfm_passages",
            elements=[element[i] for i in places],
            weights=weights,
            limit=_ALL if query.filter else max(n, 1),
        )["rows"]
        if query.filter:
            allowed = self.context.reader.matching_filter([x for x, *_ in rows], query.filter)
            rows = [row for row in rows if row[0] in allowed]
        rows = rows[:n]
        if not rows:
            return []
        ends = [places[place] for _, _, place, _ in rows]
        paths = ties.paths(dict.fromkeys(posed.steps, 1.0), _ONWARD, ends)
        trails = ties.trails(self.context, paths, posed.steps, {})
        titles = self.context.reader.captions([], [x for x, *_ in rows])
        ranked, most = [], rows[0][1] or 1.0
        for (x, score, _, name), end, way in zip(rows, ends, trails, strict=True):
            judged = replace(way[-1] if way else Step("relevant", "Entity", name), score=float(relevance[end]))
            why = (*way[:-1], judged, follow("MENTIONS", "Passage", titles.get(x, "")))
            ranked.append(Scored(x, score / most, why))
        return ranked


_ALL = 2**31 - 1
_ONWARD = 0.5  # share of a walk that continues at each step; a trail is its most probable path to an entity


def load(context: SearchContext, path: str, embedder: str = "") -> Loaded:
    """Load the network in a file with the named embedder, or else that of the weights or of the collection.

    Raises ConfigurationError if torch is not installed, the file is not a network, or the embedder does not fit it.
    """
    weights = network_module().load(path)
    name = embedder or weights.embedder
    encoder = context.other_embedder(name) if name else context.embedder
    if encoder.dimension != weights.network.dimension:
        raise ConfigurationError(
            f"The network of {path} reads vectors of {weights.network.dimension} numbers, those of {encoder.name!r} "
            f"have {encoder.dimension}.",
            "Name the embedder that it was trained with: gfm(weights='FILE', embedder='NAME').",
        )
    return Loaded(weights.network, encoder)


def new(embedder: Embedder, width: int, layers: int, seed: int) -> Loaded:
    """Return an untrained network. Raises ConfigurationError when torch is not installed."""
    module = network_module()
    import torch

    torch.manual_seed(seed)
    return Loaded(module.Network(embedder.dimension, width, layers), embedder)


def network_module() -> Any:
    """Import `kgrag.models.gfm`. Raises ConfigurationError when torch is not installed."""
    with require_extra("gfm", "GFM-RAG needs torch."):
        from kgrag.models import gfm
    return gfm
