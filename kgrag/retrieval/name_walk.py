"""The state of a walk over names: a question's clauses, the visited passages, the trail, the order as a set."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from kgrag.retrieval.linking import Link, LinkedQuestion
from kgrag.retrieval.trail import follow
from kgrag.text.aliases import without_parenthesis
from kgrag.text.languages import ENGLISH
from kgrag.text.sentences import names_in, split_sentences
from kgrag.text.tokens import is_content, stems, words_of
from kgrag.values.results import Step

# The outermost clause of a question is about the last passage on the path.
#
# Words near a linked name belong to the first hop, words near the question word to the last: "When does daylight saving
# end | in the country near the one where the author of ... was born?" So the targets of the walk are also compared with
# the outer clause, and in the end it orders the best passages: a sentence with its words and with the requested kind of
# answer comes first. In languages other than English the clause is the whole question, which has no effect on the
# order. Source: our own experiment on 2- to 4-hop questions (PathRank, outermost clause).


AnswerKind = Literal["date", "number", "name", "any"]

_PREPOSITIONS = frozenset("of in by from for on at with to near between during under before after".split())
_RELATIVES = frozenset("who whom whose which that where when what".split())
_OPENING = 60  # first characters of a question that are searched for "when"
_PLACES = "place city town county district country state province region continent administrative"
_ASKED: Sequence[tuple[AnswerKind, re.Pattern[str]]] = (
    ("date", re.compile(rf"^.{{0,{_OPENING}}}\b(when|(what|which) (was the )?(year|date|month|day))\b")),
    ("number", re.compile(r"\bhow (many|much|long|old|large|big|far|tall|high|deep)\b")),
    ("number", re.compile(r"\bpopulation\b|\bwhat (number|percent\w*)\b")),
    ("name", re.compile(r"^.{0,28}\b(who|whom)\b|^(by )?whose\b|^(in )?where\b")),
    ("name", re.compile(rf"^(in |on )?(what|which) ({_PLACES.replace(' ', '|')})\b")),
)
_YEAR = re.compile(r" (1\d|20)\d\ds? ")
_NUMBER = re.compile(r" \d")
_MONTHS = "january february march april may june july august september october november december"
_MONTH = re.compile(f" ({'|'.join(stems(_MONTHS.split()))}) ")


@dataclass(frozen=True, slots=True)
class OuterClause:
    """The outermost clause of a question.

    It has the text, the stems (between spaces) of the question's unnamed words with weights that fall from first to
    last and sum to 1, the number of such words, and the kind of answer asked for.
    """

    text: str
    terms: Mapping[str, float]
    words: int
    asks: AnswerKind
    question: frozenset[str]
    """All stems of the question."""

    def strength(self, none: int, full: int) -> float:
        """Return the weight of the clause in the final order.

        It is 0 with `none` unnamed words, and 1 with `full` or more.
        """
        return min(1.0, max(0.0, (self.words - none) / (full - none)))

    def weights(self, residual: Mapping[str, float], dropped: frozenset[str], share: float) -> dict[str, float]:
        """Return the weights of a residual question's stems.

        The stems of the clause, without missing ones, get `share` of the weight.
        """
        outer = {stem: weight for stem, weight in self.terms.items() if stem not in dropped}
        total = sum(outer.values()) or 1.0
        mixed = {stem: (1 - share) * weight for stem, weight in residual.items()}
        for stem, weight in outer.items():
            mixed[stem] = mixed.get(stem, 0.0) + share * weight / total
        return mixed

    def best_sentence(self, sentences: str) -> float:
        """Return the largest weight, 0 to 1, of the clause's words in one sentence with an answer of the right kind.

        `sentences`: the sentences of a passage in the format of `kgrag.text.sentences`.
        """
        best = 0.0
        for sentence in split_sentences(sentences):
            weight = sum([w for stem, w in self.terms.items() if stem in sentence])
            if weight > best and self._may_answer(sentence):
                best = weight
        return best

    def _may_answer(self, sentence: str) -> bool:
        if self.asks == "date":
            return _YEAR.search(sentence) is not None or _MONTH.search(sentence) is not None
        if self.asks == "number":
            return _NUMBER.search(sentence) is not None
        return self.asks == "any" or any(stem not in self.question for stem in names_in(sentence))


def outer_clause(question: LinkedQuestion, share: float, decay: float) -> OuterClause:
    """Return the words up to the first break with `share` of the idf mass of unnamed words before it, without names.

    The k-th unnamed word weighs idf * decay^k. If no words are left, the clause is the whole question.
    """
    if question.language is not ENGLISH:
        return _whole(question)
    words = question.words
    named = {i for link in question.links for i in range(link.start, link.end)}
    mass = {
        i: question.idf[stem]
        for i, (word, stem) in enumerate(zip(words, question.stems, strict=True))
        if i not in named and stem in question.idf and is_content(word.norm)
    }
    end, before, least = len(words), 0.0, share * sum(mass.values())
    breaks = _breaks(question)
    for i in range(len(words)):
        if i in breaks and 0 < before >= least:
            end = i
            break
        before += mass.get(i, 0.0)
    text = " ".join(words[i].raw for i in range(end) if i not in named)
    terms: dict[str, float] = {}
    for k, (i, idf) in enumerate(mass.items()):
        stem = f" {question.stems[i]} "
        terms[stem] = max(terms.get(stem, 0.0), idf * decay**k)
    total = sum(terms.values())
    return OuterClause(
        text or question.text(),
        {stem: weight / total for stem, weight in terms.items()},
        len(mass),
        answer_kind([word.norm for word in words]),
        frozenset(question.stems),
    )


def _whole(question: LinkedQuestion) -> OuterClause:
    """Return the whole question as a clause without unnamed words."""
    terms = {term["stem"]: term["weight"] for term in question.terms()}
    return OuterClause(question.text(), terms, 0, "any", frozenset(question.stems))


def answer_kind(words: Sequence[str]) -> AnswerKind:
    """Return the kind of answer that a question, given as normalised words, asks for."""
    text = " ".join(words)
    return next((kind for kind, pattern in _ASKED if pattern.search(text)), "any")


def _breaks(question: LinkedQuestion) -> set[int]:
    """Return the positions after the first word where a phrase may begin: names, prepositions and relative words."""
    begin = {link.start for link in question.links}
    inside = {i for link in question.links for i in range(link.start + 1, link.end)}
    return {
        i
        for i, word in enumerate(question.words)
        if i > 0
        and i not in inside
        and (i in begin or word.norm in _PREPOSITIONS or (i > 1 and word.norm in _RELATIVES))
    }


# An order of passages as a set: each rank goes to the passage that adds most to the earlier ones.
#
# A passage adds its own worth, new words of the question, a rare name shared with an earlier passage, and its position
# on the path to an earlier passage. Source: our own experiment on questions of 2 to 4 hops (PathRank, the list as a
# set); the greedy choice is the one for maximum coverage.


Numbers = NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class Candidates:
    """The features of n passages and of the m words of a question.

    `alone` [n]: the worth of each passage by itself; `end` [n]: how well it answers the outer clause; `words` [n, m]:
    the words that each has; `mass` [m]: the weight of each word; `names` [n, names]: the names that each mentions;
    `titles` [n], as numbers; `parents` [n]: the position of the passage from which the walk came, or -1.
    """

    alone: Numbers
    end: Numbers
    words: NDArray[np.bool_]
    mass: Numbers
    names: NDArray[np.bool_]
    titles: NDArray[np.int64]
    parents: Sequence[int]


def select_as_set(
    c: Candidates, places: int, shared_name: float, on_path: float, finalists: int, finalist_place: int
) -> list[int]:
    """Return the indices of the candidates, best first: `places` of them by coverage, the rest by their worth.

    A passage adds the mass of its new words, `shared_name` times the rarity of the rarest name shared with a chosen one
    (1 - ln k / ln 2n, where k of the n have it; 0 under one title), and `on_path` if a chosen one was reached through
    it. From `finalist_place` on, the best `finalists` by `end` that are not chosen yet have priority, so that a path
    never pushes its own end out of the list.
    """
    n = len(c.alone)
    counts = c.names.sum(0)
    rarity = 1 - np.log(np.maximum(counts, 1)) / np.log(2 * max(1, n))
    last = np.argsort(-c.end, kind="stable")[:finalists]
    missing, words = c.mass.copy(), c.words.astype(float)
    near, leads, free = np.zeros(n), np.zeros(n), np.ones(n, bool)
    order: list[int] = []
    while len(order) < min(n, places):
        last_free = [int(i) for i in last if free[i]] if len(order) >= finalist_place else []
        gain = c.alone + words @ missing + shared_name * near + on_path * leads
        best = last_free[0] if last_free else int(np.where(free, gain, -np.inf).argmax())
        order.append(best)
        free[best] = False
        missing[c.words[best]] = 0.0
        near = np.maximum(near, _tied(c, rarity, best))
        seen = {best}
        while (best := c.parents[best]) >= 0 and best not in seen:
            seen.add(best)
            leads[best] = 1.0
    return order + [int(i) for i in np.argsort(-c.alone, kind="stable") if free[i]]


def _tied(c: Candidates, rarity: Numbers, place: int) -> Numbers:
    """Return the rarity [n] of the rarest common name of each passage and `place`; 0 under the same title."""
    shared = c.names[place]
    tied: Numbers = (c.names[:, shared] * rarity[shared]).max(1, initial=0.0)
    tied[c.titles == c.titles[place]] = 0.0
    return tied


Hop = tuple[str, str, int]
"""Source, the name of the entity crossed, and its relation to the target: MENTIONED, TITLE or BACK."""

_PRECISION, _ROUNDS = 1e-9, 200  # limits of the PageRank iteration
MENTIONED, TITLE, BACK = 0, 1, 2  # the target mentions the entity, bears its name, or mentions the source's own


_CLAUSE_COSINE, _CLAUSE_SENTENCE, _FAR = 0.6, 0.4, 0.2
"""Weights of an answer to the outer clause: its cosine, a sentence with its words and an answer, two hops or more."""


@dataclass(slots=True)
class Visited:
    """The state of a passage in the walk. `parent` is the last hop of its best path."""

    base: float
    score: float
    bonus: float = 0.0
    named_by: Link | None = None
    dropped: frozenset[int] = frozenset()
    parent: Hop | None = None


@dataclass(frozen=True, slots=True)
class LastClause:
    """The features of a passage for the last step: title, cosine with the outer clause, sentences in stems."""

    title: str
    cosine: float
    sentences: str


@dataclass(slots=True)
class Walk:
    """The state of a question and of the visited passages.

    `strength`: how much the list counts as a set, 0 to 1. `embedded`: unit vectors [d] of parts of the question;
    `last_clause`: the features of each passage in the PageRank; `ties` [n, names]: the names that each of the `top` [n]
    mentions; `unread`: passages whose names are still pending, so that no name leads to them.
    """

    question: LinkedQuestion
    vector: list[float]
    clause: OuterClause
    names_apart: bool
    word_weight: float
    hop_cost: float
    sparse: float = 0.0
    strength: float = 0.0
    passages: dict[str, Visited] = field(default_factory=dict)
    details: dict[str, Mapping[str, Any]] = field(default_factory=dict)
    names: dict[str, str] = field(default_factory=dict)
    embedded: dict[str, NDArray[np.float32]] = field(default_factory=dict)
    last_clause: dict[str, LastClause] = field(default_factory=dict)
    unread: set[str] = field(default_factory=set)
    top: list[str] = field(default_factory=list)
    ties: NDArray[np.bool_] = field(default_factory=lambda: np.zeros((0, 0), bool))


def pagerank(ends: NDArray[np.intp], weights: Numbers, reset: Numbers, damping: float) -> Numbers:
    """Return the personalised PageRank [nodes] over k undirected edges.

    `ends` [2, k]: the two nodes of each edge; `weights` [k].

    `reset` [nodes]: where the walk restarts, with probability 1 - damping, or always from a node without edges.
    """
    one, other = np.concatenate([ends, ends[::-1]], axis=1)
    reset = reset / reset.sum()
    weights = np.tile(weights, 2)
    leaving = np.bincount(one, weights, len(reset))
    share = damping * weights / leaving[one]
    rank = reset
    for _ in range(_ROUNDS):
        before, stuck = rank, damping * rank[leaving == 0].sum()
        rank = np.bincount(other, share * rank[one], len(reset)) + (1 - damping + stuck) * reset
        if np.abs(rank - before).sum() < _PRECISION:
            break
    return rank


def _path_to(walk: Walk, x: str) -> list[Hop]:
    """Return the hops from a seed to passage x, in order."""
    path: list[Hop] = []
    seen = {x}
    while (parent := walk.passages[x].parent) is not None and parent[0] not in seen:
        path.append(parent)
        x = parent[0]
        seen.add(x)
    return path[::-1]


def trail_to(walk: Walk, x: str, names: Mapping[str, str]) -> tuple[Step, ...]:
    """Return the trail of the walk to passage x; `names`: the names of passages, by id."""
    path = _path_to(walk, x)
    seed = path[0][0] if path else x
    link = walk.passages[seed].named_by
    steps: list[Step] = []
    if link is None:
        steps.append(Step("resembles the question", "Passage", names.get(seed, ""), walk.passages[seed].base))
    else:
        steps.append(Step("names", "Entity", link.name, link.weight))
        own = {o["id"] for o in walk.details[seed]["own"]} if seed in walk.details else set()
        edge = "ABOUT" if link.entity in own else "MENTIONS"
        steps.append(follow(edge, "Passage", names.get(seed, ""), walk.passages[seed].base))
    for i, (_, entity, kind) in enumerate(path):
        target = path[i + 1][0] if i + 1 < len(path) else x
        steps.append(follow("ABOUT" if kind == BACK else "MENTIONS", "Entity", entity))
        edge = "ABOUT" if kind == TITLE else "MENTIONS"
        steps.append(follow(edge, "Passage", names.get(target, ""), walk.passages[target].score))
    return tuple(steps)


def spent_words(walk: Walk, x: str) -> frozenset[int]:
    """Return the words of the question that name passage x or an earlier one of its path."""
    details, question = walk.details[x], walk.question
    before = walk.passages[x].dropped
    own = {o["id"] for o in details["own"]}
    language = question.language
    title = set(stems(words_of(without_parenthesis(details["title"]), language), language))
    spent = set(before)
    for link in question.links:
        if link.entity in own or (not link.titles and link.entity in details["mentioned"]):
            spent.update(range(link.start, link.end))
    spent.update(i for i, stem in enumerate(question.stems) if stem in title and stem in question.idf)
    return before if len(spent) >= len(question.words) - 1 else frozenset(spent)


def rest_weights(walk: Walk, dropped: frozenset[int], outer: float) -> dict[str, float]:
    """Return the weights of the stems (between spaces) of the rest of the question; they sum to 1."""
    residual = {term["stem"]: term["weight"] for term in walk.question.terms(dropped)}
    if not dropped:
        return residual
    return walk.clause.weights(residual, frozenset(f" {walk.question.stems[i]} " for i in dropped), outer)


def answers_clause(walk: Walk, x: str) -> float:
    """Return how well passage x answers the outer clause."""
    outer, parent = walk.last_clause[x], walk.passages[x].parent
    far = parent is not None and walk.passages[parent[0]].parent is not None
    return _CLAUSE_COSINE * outer.cosine + _CLAUSE_SENTENCE * walk.clause.best_sentence(outer.sentences) + _FAR * far
