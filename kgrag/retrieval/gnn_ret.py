"""GNN-Ret: a graph neural network over the passages passes nearness to the question on to related passages.

The distance h of a passage is 1 - cosine to the question. In each layer the K nearest passages send their h along the
graph; who receives takes the smallest, m, and becomes a * h + (1 - a) * m; the others keep h. Only the neighbours of K
passages change, and who is not a sender only comes nearer, so the result is exact although few passages are looked at.
Source: GNN-Ret, section 3.2, equations 1 and 2; the twin statement is `cypher/expand/gnn_ret.cypher`.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass

from kgrag.retrieval.base import Index, Query, Retriever, Scored
from kgrag.types import Step


@dataclass(frozen=True, slots=True)
class Edge:
    """Between a sender and the passage that receives, whose own distance is 0 to 2; `name`: what both have in common.

    `kind`: next, keyword, mention, title (the sender mentions the receiver's title or heading) or titled (the other way
    round).
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
    """The integrated distance of a passage, its derivatives by the `a` of each layer, and the edges that led to it."""

    distance: float
    gradient: tuple[float, ...]
    trail: tuple[Edge, ...] = ()


def propagate(start: Mapping[str, float], alphas: Sequence[float], k: int, neighbours: Neighbours) -> dict[str, State]:
    """Run the layers, one for each `a` in `alphas` (0 to 1), over passages' distances to the question.

    `start` holds at least the `k` nearest passages; those that receive something join them.
    """
    flat = (0.0,) * len(alphas)
    states = {id: State(distance, flat) for id, distance in start.items()}
    for layer, a in enumerate(alphas):
        best: dict[str, Edge] = {}
        for edge in neighbours(nearest(states)[:k]):
            known = best.get(edge.receiver)
            if known is None or _order(states, edge.sender) < _order(states, known.sender):
                best[edge.receiver] = edge
        received = {}
        for id, edge in best.items():
            own, message = states.get(id) or State(edge.distance, flat), states[edge.sender]
            gradient = [a * g + (1 - a) * m for g, m in zip(own.gradient, message.gradient, strict=True)]
            gradient[layer] += own.distance - message.distance
            distance = a * own.distance + (1 - a) * message.distance
            received[id] = State(distance, tuple(gradient), (*message.trail, edge))
        states |= received
    return states


def nearest(states: Mapping[str, State]) -> list[str]:
    """The passages in ascending order of distance, ties by id."""
    return sorted(states, key=lambda id: _order(states, id))


def _order(states: Mapping[str, State], id: str) -> tuple[float, str]:
    return states[id].distance, id


def distance(score: float) -> float:
    """1 - cosine, from the (1 + cosine) / 2 of the graph."""
    return 2 - 2 * score


def neighbours_of(index: Index, vector: Sequence[float]) -> Neighbours:
    """The edges of the graph of passages, for a question's vector: one round trip for each call."""
    s = index.settings.gnn_ret

    def neighbours(senders: Sequence[str]) -> list[Edge]:
        ties = index.reader.gnn_ret(
            senders=list(senders),
            vector=list(vector),
            edges=list(s.edges),
            keyword_cap=s.keyword_cap,
            mention_cap=s.mention_cap,
            title_cap=s.title_cap,
            titled=s.titled,
        )
        return [Edge(t["sender"], t["id"], distance(t["score"]), t["kind"], t["name"]) for t in ties]

    return neighbours


class GnnRet(Retriever):
    """Dense retrieval whose nearness spreads over adjacent passages and those that share names or keywords."""

    name = "gnn-ret"

    def rank(self, query: Query, n: int) -> list[Scored]:
        """See Retriever; scores are (1 + cosine) / 2 after the layers, the trail is where the message came from."""
        s = self.index.settings.gnn_ret
        reader, over_fetch = self.index.reader, self.index.settings.over_fetch
        vector = query.vector(self.index.embedder)
        start = {id: distance(score) for id, score in reader.vector(vector, max(n, s.k), over_fetch)}
        states = propagate(start, s.alphas, s.k, neighbours_of(self.index, vector))
        if query.filter:
            passing = reader.passing(list(states), query.filter)
            fitting = {id: state for id, state in states.items() if id in passing}
            for id, score in reader.vector(vector, n, over_fetch, query.filter):
                fitting.setdefault(id, State(distance(score), ()))
        else:
            fitting = states
        best = {id: fitting[id] for id in nearest(fitting)[:n]}
        passages = {id for at, state in best.items() for id in (at, *(e.sender for e in state.trail))}
        names = reader.captions([], sorted(passages))
        return [Scored(id, 1 - best[id].distance / 2, _steps(id, state, names, start)) for id, state in best.items()]


_VIA = {
    "keyword": ("has keyword", "Keyword", "keyword of"),
    "mention": ("mentions", "Entity", "mentioned in"),
    "title": ("mentions", "Entity", "title of"),
    "titled": ("is titled", "Entity", "mentioned in"),
}


def _steps(id: str, state: State, names: Mapping[str, str], start: Mapping[str, float]) -> tuple[Step, ...]:
    """The way of the message: the passage that resembles the question, then what ties each one to the next."""
    origin = state.trail[0].sender if state.trail else id
    nearness = 1 - start.get(origin, state.distance) / 2
    steps = [Step("resembles the question", "Passage", names.get(origin, ""), nearness)]
    for edge in state.trail:
        via = "next to"
        if edge.kind in _VIA:
            out, label, via = _VIA[edge.kind]
            steps.append(Step(out, label, edge.name))
        steps.append(Step(via, "Passage", names.get(edge.receiver, "")))
    steps[-1] = Step(steps[-1].via, "Passage", steps[-1].name, 1 - state.distance / 2)
    return tuple(steps)
