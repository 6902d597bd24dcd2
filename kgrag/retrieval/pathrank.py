"""PathRank: multi-hop retrieval without a language model.

It links the names in the question to entities, starts from their passages, and walks over the entities that passages
mention. Each target is scored against the rest of the question: the question without the words that led there. The
best path of a passage gives its score, to which a little personalised PageRank over the visited passages is added. The
best passages of a longer question form a set that covers its words and ends with the answer to its outermost clause.
The statements are `cypher/retrieve/pathrank*.cypher`. A question with two hops takes six round trips, including the
texts of the passages, and one more if a name is misspelt.

If the texts have enough names of their own, entities known from triples alone are targets of links but not bridges. A
fact about an entity raises its passage, whatever the fact says.
"""

import math
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Annotated, Any, ClassVar

import numpy as np
from pydantic import Field

from kgrag.graph.reader import FEW, question_words
from kgrag.models.embed import embed_questions
from kgrag.retrieval.base import BRIDGE_CAP, Query, Retriever, Scored
from kgrag.retrieval.linking import Link, LinkedQuestion, link_question, prefixes
from kgrag.retrieval.name_walk import (
    Candidates,
    LastClause,
    Visited,
    Walk,
    answers_clause,
    outer_clause,
    pagerank,
    rest_weights,
    select_as_set,
    spent_words,
    trail_to,
)
from kgrag.runtime.options import Count, Options, Weight
from kgrag.text.names import number_or_date
from kgrag.text.tokens import name_words, tokens
from kgrag.values.results import Step

# Options of PathRank, and its constants, which were chosen by cross-validation over question sets.
#
# `bench/retrieval.py SET ... --vary NAME=VALUE,...` measures both.


class PathRankOptions(Options):
    """Options of PathRank, one set for all collections."""

    seeds: Count = Field(30, description="passages to start from: of the vector index, and of the full-text index")
    width: Annotated[tuple[Count, ...], Field(max_length=5)] = Field(
        (10, 6), description="passages expanded in each hop"
    )
    cap: Count = Field(BRIDGE_CAP, description="passages that a name may have to serve as a bridge")
    names: int = Field(10, ge=1, le=1_000, description="names that lead on from a passage")
    targets: Count = Field(60, description="passages that one passage leads to")
    word_weight: Weight = Field(0.25, description="weight of shared words beside the cosine")
    inherited: Weight = Field(0.5, description="share of the source's score that goes on to the target")
    hop_cost: Weight = Field(0.6, description="cost of a hop")
    pagerank_weight: Weight = Field(0.15, description="weight of log10 of the personalised PageRank")
    damping: float = Field(0.5, gt=0, lt=1, description="its damping")
    same_as: bool = Field(True, description="whether a name leads where other names of its entity lead")
    places: int = Field(
        15, ge=0, le=1_000, description="places of a list that are filled as a set, where the question is long; 0: none"
    )


@dataclass(frozen=True, slots=True)
class PathRankConstants:
    """Constants of PathRank that are not options, in the order of its steps. bench/MISSES.md has the effect of each."""

    # Seeds: the passages from which the walk starts, and the bonuses of links.
    candidates: int = 200  # passages requested from the vector index, which are rescored exactly
    titled: int = 5  # passages of a long document that its title leads to
    title: float = 1.0  # bonus of a passage whose title the question names
    crowding: float = 0.5  # the k-th passage of one title has k ** -crowding of that bonus
    mention: float = 0.4  # bonus of a passage that mentions a name without a title
    fact: float = 0.8  # bonus of a passage with a triple about that name

    # Hops: the weights of one step over a name.
    rarity: float = 0.5  # weight of the rarity of the name
    near: float = 0.1  # weight of a question word near the name
    is_title: float = 0.3  # weight of a name that is the title of the target
    in_title: float = 0.1  # weight of a name that is part of that title
    about: float = 0.1  # weight of a triple of the source about the name
    rivals: float = 0.15  # cost of a hop to one of many passages that mention the name
    large: int = 10_000  # collection size in passages from which that cost applies

    # Few names: in texts below this density of names, words count more and paths less.
    density: float = 0.7  # names from triples serve as bridges below it
    slack: float = 1.5  # how much less paths count there
    lexical: float = 1.0  # weight of BM25 there

    # The last clause: the end of the question, which the last passage of a path answers.
    clause: float = 0.25  # its minimum share of the weight of the unnamed words
    decay: float = 0.6  # weight of each word relative to the word before
    clause_vector: float = 0.6  # weight of its vector beside the rest of the question
    clause_words: float = 0.6  # its share of the weight of words

    # The list as a set: each place goes to the passage with the most new evidence.
    order_words: tuple[int, int] = (3, 6)  # numbers of unnamed words from which this starts to count, and counts fully
    cover: float = 3.4  # weight of the question's words that no earlier passage has
    shared_name: float = 0.3  # weight of a rare name shared with an earlier passage
    on_path: float = 0.15  # weight of a passage on the path to an earlier one
    last_clause: float = 0.35  # weight of an answer to the last clause
    finalists: int = 3  # passages with the best answers to it, which are guaranteed a rank
    finalist_place: int = 4  # the rank from which they have priority

    # PageRank over the passages at hand.
    pagerank_passages: int = 120  # its passages
    pagerank_seeds: int = 5  # passages at which it restarts, besides the names of the question


class PathRank(Retriever):
    """Walks from the entities in the question over the entities that passages mention.

    Example:
        >>> ranking = PathRank(collection.context, cap=20).retrieve("Where was the designer of the Fram born?")
        >>> for hit in ranking:
        ...     print(hit.passage.title, hit.why)
    """

    name = "pathrank"
    summary = "walks from the question's names over the names that passages mention; multi-hop, no model"
    uses = ("names", "words", "vectors")
    options = PathRankOptions
    constants: ClassVar[PathRankConstants] = PathRankConstants()
    settings: PathRankOptions

    def rank(self, query: Query, n: int) -> list[Scored]:
        """See Retriever. The trail is the path of entities and passages."""
        s, c = self.settings, self.constants
        question = link_question(self.context, query.text, s.same_as)
        if not question.words:
            return []
        apart = question.density0 >= c.density
        few = 0.0 if apart or c.density <= 0 else max(0.0, 1 - question.density / c.density)
        sparse = c.slack * few * c.density
        if few:  # with few names, one may be the topic of all passages
            question = replace(question, links=tuple(_faded(question, link, few) for link in question.links))
        vector = query.vector(self.context.embedder)
        clause = outer_clause(question, c.clause, c.decay)
        strength = (1 - few) * clause.strength(
            *c.order_words
        )  # a clause ends at names, so it fades if names are scarce
        walk = Walk(question, vector, clause, apart, s.word_weight + sparse, s.hop_cost + sparse, sparse, strength)
        self._seed(walk, query)
        done: set[str] = set()
        for hop, width in enumerate(s.width):
            best = sorted(walk.passages, key=lambda x: (-walk.passages[x].score, x))[:width]
            sources = [x for x in best if x not in done]
            done.update(sources)
            self._hop(walk, sources, hop)
        final = self._pagerank(walk)
        # other passages show no evidence, unless their names are still pending
        final = self._order(walk, {x: score for x, score in final.items() if score > 0 or x in walk.unread})
        ranked = list(final)
        if query.filter:
            allowed = self.context.reader.matching_filter(ranked, query.filter)
            ranked = [x for x in ranked if x in allowed]
        trails = self._trails(walk, ranked[:n])
        return [Scored(x, final[x], trails[x]) for x in ranked[:n]]

    def _seed(self, walk: Walk, query: Query) -> None:
        s, c = self.settings, self.constants
        links = walk.question.links
        collection = self.context.reader.collection
        rows = self.context.row(
            "retrieve/pathrank_seeds",
            vector_index=collection.vector_index("Passage"),
            text_index=collection.index("passage_stems"),
            embedding=collection.embedding,
            query=question_words(query.text, walk.question.language),
            vector=walk.vector,
            terms=walk.question.terms(),
            links=sorted({link.entity for link in links}),
            word_weight=walk.word_weight,
            lexical=c.lexical * walk.sparse,
            seeds=s.seeds,
            collection=collection.name,
            candidates=c.candidates,
            few=FEW,
            titled=c.titled,
            most=s.cap,
        )["seeds"]
        for row in rows:
            walk.passages[row["id"]] = Visited(row["base"], row["base"])
            walk.details[row["id"]] = row
        for link in links:
            for x, bonus in _bonuses(link, rows, s.cap, c):
                passage = walk.passages[x]
                if bonus > passage.bonus:
                    passage.bonus, passage.named_by = bonus, link
        for passage in walk.passages.values():
            passage.score = passage.base + passage.bonus

    def _hop(self, walk: Walk, ids: Sequence[str], hop: int) -> None:
        s, c = self.settings, self.constants
        if not ids:
            return
        linked = sorted({link.entity for link in walk.question.links})
        dropped = {x: spent_words(walk, x) for x in ids}
        rests = list(dict.fromkeys(dropped.values()))
        vectors = self._vectors(walk, [walk.question.text(rest) for rest in rests])
        terms = walk.question.terms()
        weights = [rest_weights(walk, rest, c.clause_words) for rest in rests]
        language = walk.question.language
        own = {x: [o["id"] for o in walk.details[x]["own"]] for x in ids}
        sources = [
            {
                "id": x,
                "rest": rests.index(dropped[x]),
                "own": own[x],
                "own_words": sorted(set(name_words(tokens(walk.details[x]["title"], language), language))),
                "skip": own[x] + (linked if hop == 0 else []),
                "inherited": s.inherited * walk.passages[x].score - walk.hop_cost,
            }
            for x in ids
        ]
        row = self.context.row(
            "retrieve/pathrank",
            sources=sources,
            embedding=self.context.reader.collection.embedding,
            rests=[
                {"vector": vector, "weights": [weight.get(term["stem"], 0.0) for term in terms]}
                for vector, weight in zip(vectors, weights, strict=True)
            ],
            vector=walk.vector,
            terms=terms,
            prefixes=prefixes(walk.question.words, language),
            passages=max(2, walk.question.passages),
            word_weight=walk.word_weight,
            rarity=c.rarity,
            near=c.near,
            title=c.is_title,
            in_title=c.in_title,
            rivals=c.rivals,
            rival_share=max(0.0, 1 - c.large / max(1, walk.question.passages)),
            about=c.about,
            apart=walk.names_apart,
            dates=number_or_date(walk.question.language),
            cap=s.cap,
            bridges=s.names,
            targets=s.targets,
            titled=c.titled,
            links=linked,
            same_as=walk.question.tied,
            next=max(s.width[hop + 1 :], default=0),
        )
        for described in row["next"]:
            walk.details.setdefault(described["id"], described)
        for x, base, score, source, entity, kind in row["targets"]:
            passage = walk.passages.setdefault(x, Visited(base, base))
            if score > max(passage.score, passage.base):
                passage.score, passage.parent = score, (source, entity, kind)
                if not passage.dropped:
                    passage.dropped = dropped[source]

    def _vectors(self, walk: Walk, texts: Sequence[str]) -> list[list[float]]:
        """Return the unit vectors [n, d] of residual questions. Shortened ones are mixed with the outer clause."""
        c = self.constants
        outer, whole = walk.clause.text, walk.question.text()
        new = [text for text in dict.fromkeys([*texts, outer]) if text not in walk.embedded]
        walk.embedded.update(zip(new, embed_questions(self.context.embedder, new), strict=True))
        vectors = []
        for text in texts:
            vector = walk.embedded[text]
            if text != whole:
                vector = vector + c.clause_vector * walk.embedded[outer]
                vector /= max(float(np.linalg.norm(vector)), 1e-9)
            vectors.append(vector.tolist())
        return vectors

    def _pagerank(self, walk: Walk) -> dict[str, float]:
        """Return path scores plus the weighted log10 of the personalised PageRank on the passages and their names."""
        s, c = self.settings, self.constants
        order = sorted(walk.passages, key=lambda x: (-walk.passages[x].score, x))
        top = order[: c.pagerank_passages]
        node = {x: i for i, x in enumerate(top)}
        links = walk.question.links
        linked = sorted({link.entity for link in links})
        ordered = bool(s.places and walk.strength and walk.embedded)
        row = self.context.row(
            "retrieve/pathrank_names",
            ids=top,
            links=linked,
            cap=s.cap,
            same_as=walk.question.tied,
            embedding=self.context.reader.collection.embedding,
            clause=walk.embedded[walk.clause.text].tolist() if ordered else [],
        )
        rows, numbers, borne = list[int](), list[int](), list[float]()  # an edge each; 0: the name is mentioned
        for x, name, title, cosine, sentences, unread, mentioned, own in row["names"]:
            walk.names[x] = name
            if unread:
                walk.unread.add(x)
            if ordered:
                walk.last_clause[x] = LastClause(title, cosine, sentences or "")
            rows += [node[x]] * (len(mentioned) + len(own))
            numbers += mentioned + [number for number, _ in own]
            borne += [0.0] * len(mentioned) + [weight for _, weight in own]
        walk.top, walk.ties = top, np.zeros((len(top), 0), bool)
        scores = {x: walk.passages[x].score for x in order}
        if not numbers:
            return scores
        first: dict[str, int] = {}
        one = {number: first.setdefault(id, number) for number, id in row["same"]}  # names of one entity are one node
        numbers = [one.get(number, number) for number in numbers]
        place = {number: e for e, number in enumerate(dict.fromkeys(numbers))}
        column = {id: place[own] for number, id in row["linked"] if (own := one.get(number, number)) in place}
        n, m = len(top), len(place)
        at, mentions = np.array([rows, [place[number] for number in numbers]]), np.array(borne) == 0
        if ordered:
            tying = np.ones(m, bool)  # whether the question does not name it
            tying[list(column.values())] = False
            ties = np.zeros((n, m), bool)
            ties[tuple(at[:, mentions])] = True
            walk.ties = ties[:, tying]  # a title connects only its own passages
        pairs, edge = np.unique(at[0] * m + at[1], return_inverse=True)
        weights = np.zeros(len(pairs))
        np.maximum.at(weights, edge, np.array(borne) + 1)
        ends = np.array(np.divmod(pairs, m))
        degrees = np.bincount(ends[1], minlength=m)
        level = [walk.passages[x].base + walk.passages[x].bonus for x in top]
        hubs = sorted(range(n), key=lambda i: (-level[i], top[i]))[: c.pagerank_seeds]
        reset = np.zeros(n + m)
        reset[hubs] = [max(level[i] - level[hubs[-1]], 1e-3) for i in hubs]
        for link in links:
            if (e := column.get(link.entity, -1)) >= 0:
                reset[n + e] += link.weight / math.sqrt(max(1, int(degrees[e])))
        ends[1] += n
        rank = pagerank(ends, weights, reset, s.damping)[:n]
        shares = np.log10(rank / rank.max() + 1e-6)
        return {
            x: score + s.pagerank_weight * (float(shares[node[x]]) if x in node else -6) for x, score in scores.items()
        }

    def _order(self, walk: Walk, final: Mapping[str, float]) -> dict[str, float]:
        """Return all passages with scores, best first, or as a set for a long question (kgrag.retrieval.name_walk).

        Scores are reassigned in descending order: the first rank gets the best score, and so on.
        """
        s, c = self.settings, self.constants
        ranked = sorted(final, key=lambda x: (-final[x], x))
        best = [x for x in ranked if x in walk.last_clause]
        if not best:
            return {x: final[x] for x in ranked}
        place, at = ({x: i for i, x in enumerate(ids)} for ids in (best, walk.top))
        parents = [-1 if (by := walk.passages[x].parent) is None else place.get(by[0], -1) for x in best]
        answers = np.array([answers_clause(walk, x) for x in best])
        scores = np.array([final[x] for x in best])
        mass = {term["stem"]: term["weight"] for term in walk.question.terms()}
        candidates = Candidates(
            alone=scores + walk.strength * c.last_clause * answers,
            end=scores + walk.strength * answers,
            words=np.array([[stem in walk.last_clause[x].sentences for stem in mass] for x in best], bool),
            mass=walk.strength * c.cover * np.array(list(mass.values())),
            names=walk.ties[[at[x] for x in best]],
            titles=np.unique([walk.last_clause[x].title for x in best], return_inverse=True)[1],
            parents=parents,
        )
        shared, on_path = walk.strength * c.shared_name, walk.strength * c.on_path
        again = [best[i] for i in select_as_set(candidates, s.places, shared, on_path, c.finalists, c.finalist_place)]
        falling = dict(zip(again, sorted(candidates.alone.tolist(), reverse=True), strict=True))
        least = falling[again[-1]]
        return falling | {x: min(final[x], least) for x in ranked if x not in falling}

    def _trails(self, walk: Walk, ids: Sequence[str]) -> dict[str, tuple[Step, ...]]:
        names = walk.names | {x: row["name"] for x, row in walk.details.items()}
        missing = [x for x in ids if x not in names]
        if missing:
            names |= self.context.reader.captions([], missing)
        return {x: trail_to(walk, x, names) for x in ids}


def _faded(question: LinkedQuestion, link: Link, few: float) -> Link:
    """Return a link, with less weight if names are scarce (0 to 1) and even its rarest word is common."""
    stems = question.stems[link.start : link.end]
    rarest = max((question.idf.get(stem, 0.0) for stem in stems), default=0.0) / math.log(question.passages + 2)
    return replace(link, weight=link.weight * min(1.0, 2 * rarest) ** (4 * few))


def _bonuses(link: Link, rows: Sequence[Mapping[str, Any]], cap: int, c: PathRankConstants) -> list[tuple[str, float]]:
    """Return the bonus of a link for the few best passages with its title. Without a title use its mentions."""
    titled = []
    for row in rows:
        weight = max((o["weight"] for o in row["own"] if o["id"] == link.entity), default=0.0)
        if weight:
            titled.append((row["base"] + 0.2 * weight, row["id"], weight, row["title"]))
    if titled:
        titled.sort(key=lambda t: (-t[0], t[1]))
        ambiguity = 1 + math.log(max(1, link.titles))
        same: Counter[str] = Counter()
        bonuses = []
        for _, x, w, title in titled[: c.titled]:
            same[title] += 1
            bonuses.append((x, c.title * link.weight * w / ambiguity * same[title] ** -c.crowding))
        return bonuses
    mentioned = sorted((-row["base"], row["id"]) for row in rows if link.entity in row["mentioned"])
    if not mentioned or len(mentioned) > cap or link.titles:
        return []
    about = sorted((-row["base"], row["id"]) for row in rows if link.entity in row["about"])
    return [
        (x, most * link.weight / (1 + math.log(len(ranks))))
        for ranks, most in ((mentioned, c.mention), (about, c.fact))
        for _, x in ranks[: c.titled]
    ]
