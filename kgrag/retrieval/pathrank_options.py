"""What PathRank may be told, and the constants that it was given by cross-validation over question sets.

`bench/retrieval.py SET ... --vary NAME=VALUE,...` measures both.
"""

from dataclasses import dataclass
from typing import Annotated

from pydantic import Field

from kgrag.retrieval.base import BRIDGE_CAP
from kgrag.runtime.options import Count, Options, Weight


class PathRankOptions(Options):
    """Options of PathRank, one set for all collections."""

    seeds: Count = Field(30, description="passages to start from: of the vector index, and of the full-text index")
    width: Annotated[tuple[Count, ...], Field(max_length=5)] = Field(
        (10, 10), description="passages expanded in each hop"
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
    """What no user would set, in groups as the steps of PathRank.

    Seeds. `candidates`: the vector index is asked for so many, which are scored again exactly; `titled`: passages of a
    long document that its title reaches; bonus of a passage whose title the question names (`title`), with the k-th of
    one title k to the power of minus `crowding` of it, that mentions a name without a title (`mention`), or a triple of
    which is about one (`fact`). Hops. Weights of a name's rarity, of a question word `near` it, of it being the
    target's title (`is_title`) or part of it (`in_title`), and of a triple of the source being `about` it; `rivals`:
    cost, in collections of more than `large` passages, of a hop to one of many passages that mention a name. Few names.
    Below this `density` of names words count more and paths less, by `slack`, and names of triples lead on; `lexical`:
    weight of BM25 there. The outer clause has at least the share `clause` of the unnamed words' weight, each word
    `decay` of the one before; `clause_vector`: its weight beside the rest of the question, `clause_words`: its share of
    the weight of words. The list as a set begins to count with `order_words[0]` unnamed words, and counts in full with
    `order_words[1]`. Weights of the question's words that no passage before has (`cover`), of a rare name shared with
    one before (`tie`), of being on the path to one before (`led`), of what answers the outer clause (`outer`); the
    `ends` that answer it best have a place kept after `end_place`. PageRank is over `pagerank_passages`, reset to
    `pagerank_seeds` of them and to the names of the question.
    """

    candidates: int = 120
    titled: int = 5
    title: float = 1.0
    crowding: float = 0.5
    mention: float = 0.4
    fact: float = 0.8

    rarity: float = 0.4
    near: float = 0.1
    is_title: float = 0.3
    in_title: float = 0.1
    about: float = 0.1
    rivals: float = 0.15
    large: int = 10_000

    density: float = 0.8
    slack: float = 1.5
    lexical: float = 1.0

    clause: float = 0.25
    decay: float = 0.6
    clause_vector: float = 0.6
    clause_words: float = 0.6

    order_words: tuple[int, int] = (3, 6)
    cover: float = 2.8
    tie: float = 0.3
    led: float = 0.3
    outer: float = 0.35
    ends: int = 3
    end_place: int = 4

    pagerank_passages: int = 120
    pagerank_seeds: int = 5
