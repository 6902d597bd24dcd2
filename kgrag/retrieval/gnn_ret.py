"""GNN-Ret: a graph neural network over the passages passes nearness to the question on to related passages.

The distance h of a passage is 1 - cosine to the question. In each layer the K nearest passages send their h along the
graph. A receiver takes the smallest, m, and gets a * h + (1 - a) * m; other passages keep h. Only neighbours of the K
passages change, and a passage that does not send only gets nearer, so the result is exact although few are read.
Source: GNN-Ret, section 3.2, equations 1 and 2; the matching statement is `cypher/retrieve/gnn_ret.cypher`.

With `beta` the single questions of one question add up (RGNN-Ret, section 3.3, equation 4): h of step t is
beta * h(q^t) + (1 - beta) * h of step t-1. Without messages a distance is linear in the question's vector. So one
vector and the changes by messages suffice as `Memory`, and the result is exact.
"""

import json
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Annotated, Any, Literal

import numpy as np
from numpy.typing import NDArray
from pydantic import BeforeValidator, Field

from kgrag.retrieval.base import Layer, Query, Retriever, Scored, VectorOptions
from kgrag.retrieval.context import SearchContext
from kgrag.retrieval.trail import follow
from kgrag.runtime.options import Count
from kgrag.values.results import Step


@dataclass(frozen=True, slots=True)
class Edge:
    """An edge from a sender to a receiver with its own distance of 0 to 2; `name`: the name or keyword of both.

    `kind`: next, keyword, named, mention, title (the sender mentions the receiver's title or heading) or titled (the
    other way round).
    """

    sender: str
    receiver: str
    distance: float
    kind: str
    name: str = ""


Neighbours = Callable[[Sequence[str]], Iterable[Edge]]
"""The edges of some senders."""


@dataclass(frozen=True, slots=True)
class State:
    """The integrated distance of a passage, its derivatives with respect to each layer's `a`, and the edges used."""

    distance: float
    gradient: tuple[float, ...]
    trail: tuple[Edge, ...] = ()


Message = Literal["nearest", "mean"]


def propagate(
    start: Mapping[str, float], alphas: Sequence[float], k: int, neighbours: Neighbours, message: Message = "nearest"
) -> dict[str, State]:
    """Run the layers, one for each `a` in `alphas` (0 to 1), over passages' distances to the question.

    `start` holds at least the `k` nearest passages; receivers join them. `message`: the smallest distance of the
    senders, or their mean (table 2).
    """
    flat = (0.0,) * len(alphas)
    states = {id: State(distance, flat) for id, distance in start.items()}
    for layer, a in enumerate(alphas):
        edges: dict[str, dict[str, Edge]] = {}  # receiver -> sender -> edge
        for edge in neighbours(nearest(states)[:k]):
            edges.setdefault(edge.receiver, {}).setdefault(edge.sender, edge)
        received = {}
        for id, by_sender in edges.items():
            senders = sorted(by_sender, key=lambda sender: _order(states, sender))
            best = by_sender[senders[0]]
            messages = [states[sender] for sender in (senders if message == "mean" else senders[:1])]
            own, count = states.get(id) or State(best.distance, flat), len(messages)
            distance = sum(state.distance for state in messages) / count
            slopes = [sum(state.gradient[i] for state in messages) / count for i in range(len(alphas))]
            gradient = [a * g + (1 - a) * m for g, m in zip(own.gradient, slopes, strict=True)]
            gradient[layer] += own.distance - distance
            trail = (*states[senders[0]].trail, best)
            received[id] = State(a * own.distance + (1 - a) * distance, tuple(gradient), trail)
        states |= received
    return states


@dataclass(frozen=True, slots=True)
class Memory:
    """The sum of the steps so far: the distance of a passage v is 1 - v . `vector` + `moved[v]`.

    `vector` [d]: the combined vector of the questions; `moved`: the changes of distances by messages, 0 for all other
    passages. `states`: the latest states of the changed passages, for their trails.
    """

    vector: NDArray[np.float64]
    moved: Mapping[str, float]
    states: Mapping[str, State]


def remember(before: Memory | None, vector: Sequence[float], states: Mapping[str, State], beta: float) -> Memory:
    """Return the memory after one more step (RGNN-Ret, section 3.3, equation 4).

    `vector` [d] and `states` belong to the step's own question.
    """
    own = {id: state for id, state in states.items() if state.trail}
    moved = {id: state.distance - state.trail[-1].distance for id, state in own.items()}
    now = np.asarray(vector, np.float64)
    if before is None:
        return Memory(now, moved, own)
    ids = {**before.moved, **moved}
    memory = {id: beta * moved.get(id, 0.0) + (1 - beta) * before.moved.get(id, 0.0) for id in ids}
    return Memory(beta * now + (1 - beta) * before.vector, memory, {**before.states, **own})


def nearest(states: Mapping[str, State]) -> list[str]:
    """Return the passages in ascending order of distance, ties by id."""
    return sorted(states, key=lambda id: _order(states, id))


def _order(states: Mapping[str, State], id: str) -> tuple[float, str]:
    return states[id].distance, id


def distance(score: float) -> float:
    """Return 1 - cosine, given the (1 + cosine) / 2 of the graph."""
    return 2 - 2 * score


def neighbours_of(context: SearchContext, s: "GnnRetOptions", vector: Sequence[float]) -> Neighbours:
    """Return the edges of the graph of passages for a question's vector: one round trip for each call."""

    def neighbours(senders: Sequence[str]) -> list[Edge]:
        ties = context.row(
            "retrieve/gnn_ret",
            embedding=context.reader.collection.embedding,
            senders=list(senders),
            vector=list(vector),
            edges=list(s.edges),
            keyword_cap=s.keyword_cap or _ALL,
            mention_cap=s.mention_cap or _ALL,
            title_cap=s.title_cap,
            titled=s.titled,
        )["ties"]
        return [Edge(t["sender"], t["id"], distance(t["score"]), t["kind"], t["name"]) for t in ties]

    return neighbours


_ALL = 2**31 - 1  # no cap
GraphEdge = Literal["next", "keyword", "named", "mention", "title"]


def _learned(name: str) -> BeforeValidator:
    """Return a validator that reads the value from a file of `kgrag lab train gnn-ret` or `rgnn` if it is a path."""

    def read(value: Any) -> Any:
        if not isinstance(value, str) or value.replace(".", "", 1).isdigit():  # environment variables are strings
            return value
        try:
            return json.loads(Path(value).expanduser().read_text(encoding="utf-8"))[name]
        except OSError as error:
            raise ValueError(f"there is no file {value} ({error.strerror})") from error
        except (ValueError, KeyError, TypeError) as error:
            command = "gnn-ret` or `kgrag lab train rgnn" if name == "alphas" else "rgnn"
            raise ValueError(f"{value} holds no {name}; `kgrag lab train {command}` writes them with --out") from error

    return BeforeValidator(read)


class GnnRetOptions(VectorOptions):
    """Options of GNN-Ret."""

    alphas: Annotated[tuple[Annotated[float, Field(ge=0, le=1)], ...], _learned("alphas")] = Field(
        (0.5, 0.5),
        max_length=10,
        min_length=1,
        description="a: share of its own distance that a passage keeps in each layer (section 3.2, appendix F); or a "
        "file of kgrag lab train gnn-ret or rgnn",
    )
    k: Count = Field(5, description="K: passages that send in each layer (section 3.2 and Table 1: 5 or 10)")
    beta: Annotated[float | None, _learned("beta")] = Field(
        None,
        gt=0,
        le=1,
        description="share of a single question beside those before it, 0.9 in RGNN-Ret (section 3.3); none: all; "
        "or a file of kgrag lab train rgnn",
    )
    edges: tuple[GraphEdge, ...] = Field(
        ("next", "mention", "title"),
        max_length=10,
        description="what ties passages (section 3.1): next, keyword (TF-IDF), named (what a language model found: the "
        "paper's (next, named)), mention, title",
    )
    message: Message = Field(
        "nearest", description="what a passage receives: the smallest distance of its senders, or their mean (table 2)"
    )
    keyword_cap: int = Field(
        2, ge=0, le=10_000, description="passages that a keyword, or what is named, may have to tie them; 0: any number"
    )
    mention_cap: int = Field(2, ge=0, le=10_000, description="passages that a name may have to tie them; 0: any number")
    title_cap: Count = Field(50, description="documents that a name may be the title of to tie them")
    titled: int = Field(5, ge=1, le=1_000, description="passages of a long document that its title reaches")


class GnnRet(Retriever):
    """Dense retrieval whose distances pass along adjacent passages and passages that share names or keywords.

    Source: GNN-Ret, section 3.2; RGNN-Ret, section 3.3.

    Example:
        >>> ranking = GnnRet(collection.context).retrieve("Where was the designer of the Fram born?", k=3)
        >>> print([hit.passage.title for hit in ranking])
    """

    name = "gnn-ret"
    summary = "dense, passed on to passages that are adjacent or share names; GNN-Ret"
    paper = "GNN-Ret, section 3.2; RGNN-Ret, section 3.3"
    uses = ("vectors", "names")
    options = GnnRetOptions
    scale = "cosine"
    settings: GnnRetOptions

    def requires(self) -> frozenset[Layer]:
        """See Retriever."""
        return frozenset({"keywords"} if "named" in self.settings.edges else ())

    def is_stateful(self) -> bool:
        """See Retriever."""
        return self.settings.beta is not None

    def rank(self, query: Query, n: int) -> list[Scored]:
        """See Retriever; scores are (1 + cosine) / 2 after the layers, and the trail is the path of the message."""
        s = self.settings
        reader, over_fetch = self.context.reader, self.settings.over_fetch
        vector = query.vector(self.context.embedder)
        start = {id: distance(score) for id, score in reader.vector(vector, max(n, s.k), over_fetch)}
        states = propagate(start, s.alphas, s.k, neighbours_of(self.context, self.settings, vector), s.message)
        if s.beta is not None:
            memory = remember(query.memory.get(self), vector, states, s.beta)
            query.memory[self] = memory
            fitting = self._add_up(memory, query, n)
        elif query.filter:
            passing = reader.matching_filter(list(states), query.filter)
            fitting = {id: state for id, state in states.items() if id in passing}
            for id, score in reader.vector(vector, n, over_fetch, query.filter):
                fitting.setdefault(id, State(distance(score), ()))
        else:
            fitting = states
        best = {id: fitting[id] for id in nearest(fitting)[:n]}
        passages = {id for at, state in best.items() for id in (at, *(e.sender for e in state.trail))}
        names = reader.captions([], sorted(passages))
        return [Scored(id, 1 - best[id].distance / 2, _steps(id, state, names, start)) for id, state in best.items()]

    def _add_up(self, memory: Memory, query: Query, n: int) -> dict[str, State]:
        """Return at least the `n` nearest passages over all steps so far."""
        reader, moved = self.context.reader, list(memory.moved)
        length = float(np.linalg.norm(memory.vector)) or 1.0
        unit = (memory.vector / length).tolist()
        scores = dict(reader.vector(unit, n + len(moved), self.settings.over_fetch, query.filter))
        open_ = [id for id in moved if id not in scores]
        if query.filter and open_:
            passing = reader.matching_filter(open_, query.filter)
            open_ = [id for id in open_ if id in passing]
        if open_:
            scores |= dict(reader.nearest_of(open_, unit, len(open_)))
        sums = {}
        for id, score in scores.items():
            state = memory.states.get(id) or State(0.0, ())
            sums[id] = replace(state, distance=1 - length * (2 * score - 1) + memory.moved.get(id, 0.0))
        return sums


OVER = {
    "keyword": (("HAS_KEYWORD", "Keyword"), "HAS_KEYWORD"),
    "named": (("NAMES", "Keyword"), "NAMES"),
    "mention": (("MENTIONS", "Entity"), "MENTIONS"),
    "title": (("MENTIONS", "Entity"), "ABOUT"),
    "titled": (("ABOUT", "Entity"), "MENTIONS"),
}
"""Kind of edge -> (edge to the shared node of two passages, its label), the edge from it."""


def _steps(id: str, state: State, names: Mapping[str, str], start: Mapping[str, float]) -> tuple[Step, ...]:
    """Return the path of the message: the passage that resembles the question, then each connection."""
    origin = state.trail[0].sender if state.trail else id
    nearness = 1 - start.get(origin, state.distance) / 2
    steps = [Step("resembles the question", "Passage", names.get(origin, ""), nearness)]
    for edge in state.trail:
        last = "NEXT"
        if edge.kind in OVER:
            out, last = OVER[edge.kind]
            steps.append(follow(*out, edge.name))
        steps.append(follow(last, "Passage", names.get(edge.receiver, "")))
    steps[-1] = replace(steps[-1], score=1 - state.distance / 2)
    return tuple(steps)
