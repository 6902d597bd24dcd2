"""PathRank: multi-hop retrieval without a language model.

Link the names in the question, start from the passages that they lead to, walk over the names that those mention, and
score each target against the rest of the question: the question without the words that led there. The best path is
kept, and a little personalised PageRank over the passages at hand is added. The twin statements are
`cypher/expand/pathrank*.cypher`; at most eight round trips a question.
"""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import rustworkx

from kgrag.names import without_parenthesis
from kgrag.retrieval.base import Query, Retriever, Scored
from kgrag.retrieval.linking import Link, LinkedQuestion, link_question, prefixes
from kgrag.settings import PathRankSettings
from kgrag.text import stems, tokens
from kgrag.types import Step

_Hop = tuple[str, str, int]
"""Source, the entity that leads on, and how it ties the target: MENTIONED, TITLE or BACK."""

_MENTIONED, _TITLE, _BACK = 0, 1, 2  # the target mentions the entity, bears its name, or mentions the source's own


@dataclass(slots=True)
class _Passage:
    """What the walk knows of a passage; `parent`: the hop that the best path came by."""

    base: float
    score: float
    bonus: float = 0.0
    named_by: Link | None = None
    dropped: frozenset[int] = frozenset()
    parent: _Hop | None = None


@dataclass(slots=True)
class _Walk:
    question: LinkedQuestion
    vector: list[float]
    beta: float
    off: float
    passages: dict[str, _Passage] = field(default_factory=dict)
    details: dict[str, Mapping[str, Any]] = field(default_factory=dict)


class PathRank(Retriever):
    """Walks from the names in the question over the names that passages mention."""

    name = "pathrank"

    def rank(self, query: Query, n: int) -> list[Scored]:
        """See Retriever; the trail is the path of names and passages."""
        s = self.index.settings.pathrank
        question = link_question(self.index.reader, query.text)
        if not question.words:
            return []
        sparse = s.slack * max(0.0, s.dens - question.density)
        vector = query.vector(self.index.embedder)
        walk = _Walk(question, vector, s.beta + sparse, s.off + sparse)
        self._seed(walk, query, s)
        done: set[str] = set()
        for hop, width in enumerate(s.width):
            best = sorted(walk.passages, key=lambda x: (-walk.passages[x].score, x))[:width]
            sources = [x for x in best if x not in done]
            done.update(sources)
            self._hop(walk, sources, hop, s)
        final = self._pagerank(walk, s)
        ranked = sorted(final, key=lambda x: (-final[x], x))
        if query.filter:
            allowed = self.index.reader.passing(ranked, query.filter)
            ranked = [x for x in ranked if x in allowed]
        trails = self._trails(walk, ranked[:n])
        return [Scored(x, final[x], trails[x]) for x in ranked[:n]]

    def _seed(self, walk: _Walk, query: Query, s: PathRankSettings) -> None:
        links = walk.question.links
        rows = self.index.reader.pathrank_seeds(
            text=query.text,
            vector=walk.vector,
            terms=walk.question.terms(),
            links=sorted({link.entity for link in links}),
            beta=walk.beta,
            k0=s.k0,
            candidates=s.candidates,
            titled=s.titled,
            most=s.cap,
        )
        for row in rows:
            walk.passages[row["id"]] = _Passage(row["base"], row["base"])
            walk.details[row["id"]] = row
        for link in links:
            for x, bonus in _bonuses(link, rows, s):
                passage = walk.passages[x]
                if bonus > passage.bonus:
                    passage.bonus, passage.named_by = bonus, link
        for passage in walk.passages.values():
            passage.score = passage.base + passage.bonus

    def _hop(self, walk: _Walk, ids: Sequence[str], hop: int, s: PathRankSettings) -> None:
        if not ids:
            return
        unknown = [x for x in ids if x not in walk.details]
        linked = sorted({link.entity for link in walk.question.links})
        if unknown:
            walk.details.update(self.index.reader.pathrank_sources(unknown, linked))
        dropped = {x: _residual(walk, x) for x in ids}
        texts = {x: walk.question.text(dropped[x]) for x in ids}
        distinct = list(dict.fromkeys(texts.values()))
        vectors = self.index.embedder.embed(distinct).tolist()
        sources = []
        for x in ids:
            own = [o["id"] for o in walk.details[x]["own"]]
            words = {t.norm for t in tokens(walk.details[x]["title"])}
            skip = own + (linked if hop == 0 else [])
            sources.append(
                {
                    "id": x,
                    "vector": distinct.index(texts[x]),
                    "weights": {t["stem"]: t["weight"] for t in walk.question.terms(dropped[x])},
                    "own": own,
                    "own_words": sorted(words),
                    "skip": skip,
                }
            )
        rows = self.index.reader.pathrank(
            sources=sources,
            vectors=vectors,
            vector=walk.vector,
            terms=walk.question.terms(),
            prefixes=prefixes(walk.question.words),
            passages=max(2, walk.question.passages),
            beta=walk.beta,
            iota=s.iota,
            pi=s.pi,
            tau=s.tau,
            nu=s.nu,
            cap=s.cap,
            emax=s.emax,
            keep=s.keep,
            titled=s.titled,
        )
        came_from = {x: walk.passages[x].score for x in ids}
        best: dict[str, tuple[float, _Hop]] = {}
        for row in rows:
            source = row["source"]
            inherited = s.gamma * came_from[source] - walk.off
            for x, entity, kind, score, base in row["targets"]:
                walk.passages.setdefault(x, _Passage(base, base))
                best[x] = max(best.get(x, (-math.inf, ("", "", 0))), (score + inherited, (source, entity, kind)))
        for x, (score, step) in best.items():
            passage = walk.passages[x]
            if score > max(passage.score, passage.base):
                passage.score, passage.parent = score, step
                if not passage.dropped:
                    passage.dropped = dropped[step[0]]

    def _pagerank(self, walk: _Walk, s: PathRankSettings) -> dict[str, float]:
        """Path scores plus omega log10 of the personalised PageRank on the passages at hand and their names."""
        order = sorted(walk.passages, key=lambda x: (-walk.passages[x].score, x))
        top = order[: s.pagerank_passages]
        graph = rustworkx.PyDiGraph()
        node = {x: graph.add_node(x) for x in top}
        entity: dict[int, int] = {}
        links = walk.question.links
        named, numbers = self.index.reader.pathrank_names(top, [link.entity for link in links], s.cap)
        for x, mentions, titles in named:
            own: dict[int, float] = dict(titles)
            for e in {*mentions, *own}:
                if e not in entity:
                    entity[e] = graph.add_node(e)
                weight = 1 + own.get(e, 0.0)
                graph.add_edge(node[x], entity[e], weight)
                graph.add_edge(entity[e], node[x], weight)
        scores = {x: walk.passages[x].score for x in order}
        if not entity:
            return scores
        reset: dict[int, float] = {}
        hubs = sorted(top, key=lambda x: (-walk.passages[x].base - walk.passages[x].bonus, x))[: s.pagerank_seeds]
        level = walk.passages[hubs[-1]].base + walk.passages[hubs[-1]].bonus
        for x in hubs:
            reset[node[x]] = max(walk.passages[x].base + walk.passages[x].bonus - level, 1e-3)
        for link, number in zip(links, numbers, strict=True):
            if number in entity:
                index = entity[number]
                reset[index] = reset.get(index, 0.0) + link.weight / math.sqrt(max(1, graph.in_degree(index)))
        rank = rustworkx.pagerank(
            graph, alpha=s.damping, personalization=reset, weight_fn=float, tol=1e-8, max_iter=200
        )
        most = max(rank[i] for i in node.values())
        return {
            x: score + s.omega * (math.log10(rank[node[x]] / most + 1e-6) if x in node else -6)
            for x, score in scores.items()
        }

    def _trails(self, walk: _Walk, ids: Sequence[str]) -> dict[str, tuple[Step, ...]]:
        paths = {x: _path(walk, x) for x in ids}
        entities = sorted({e for path in paths.values() for _, e, _ in path})
        passages = sorted({x for path in paths.values() for x, _, _ in path})
        names = self.index.reader.captions(entities, [*passages, *ids]) if ids else {}
        return {x: tuple(_steps(walk, x, path, names)) for x, path in paths.items()}


def _bonuses(link: Link, rows: Sequence[Mapping[str, Any]], s: PathRankSettings) -> list[tuple[str, float]]:
    """What a link adds to the passages that it leads to: the best few of its title, or of those that mention it."""
    titled = []
    for row in rows:
        weight = max((o["weight"] for o in row["own"] if o["id"] == link.entity), default=0.0)
        if weight:
            titled.append((row["base"] + 0.2 * weight, row["id"], weight))
    if titled:
        titled.sort(key=lambda t: (-t[0], t[1]))
        ambiguity = 1 + math.log(max(1, link.titles))
        return [(x, s.lambda_title * link.weight * w / ambiguity) for _, x, w in titled[: s.titled]]
    mentioned = sorted((-row["base"], row["id"]) for row in rows if link.entity in row["mentioned"])
    if not mentioned or len(mentioned) > s.cap or link.titles:
        return []
    share = s.lambda_mention * link.weight / (1 + math.log(len(mentioned)))
    return [(x, share) for _, x in mentioned[: s.titled]]


def _residual(walk: _Walk, x: str) -> frozenset[int]:
    """The words of the question that are spent once the walk stands on passage x: they named it."""
    details, question = walk.details[x], walk.question
    before = walk.passages[x].dropped
    own = {o["id"] for o in details["own"]}
    title = set(stems([t.norm for t in tokens(without_parenthesis(details["title"]))]))
    spent = set(before)
    for link in question.links:
        if link.entity in own or (not link.titles and link.entity in details["mentioned"]):
            spent.update(range(link.start, link.end))
    spent.update(i for i, stem in enumerate(question.stems) if stem in title and stem in question.idf)
    return before if len(spent) >= len(question.words) - 1 else frozenset(spent)


def _path(walk: _Walk, x: str) -> list[_Hop]:
    """The hops from a seed to passage x, in order."""
    path: list[_Hop] = []
    seen = {x}
    while (parent := walk.passages[x].parent) is not None and parent[0] not in seen:
        path.append(parent)
        x = parent[0]
        seen.add(x)
    return path[::-1]


def _steps(walk: _Walk, x: str, path: Sequence[_Hop], names: Mapping[str, str]) -> list[Step]:
    seed = path[0][0] if path else x
    link = walk.passages[seed].named_by
    steps: list[Step] = []
    if link is None:
        steps.append(Step("resembles the question", "Passage", names.get(seed, ""), walk.passages[seed].base))
    else:
        steps.append(Step("names", "Entity", link.name, link.weight))
        own = {o["id"] for o in walk.details[seed]["own"]} if seed in walk.details else set()
        via = "title of" if link.entity in own else "mentioned in"
        steps.append(Step(via, "Passage", names.get(seed, ""), walk.passages[seed].base))
    for i, (_, entity, kind) in enumerate(path):
        target = path[i + 1][0] if i + 1 < len(path) else x
        steps.append(Step("is titled" if kind == _BACK else "mentions", "Entity", names.get(entity, "")))
        via = "title of" if kind == _TITLE else "mentioned in"
        steps.append(Step(via, "Passage", names.get(target, ""), walk.passages[target].score))
    return steps
