"""Several collections searched and asked as one, with one ranking: `kg["manuals", "notes"]`."""

from collections.abc import Mapping, Sequence
from typing import ClassVar

from kgrag.agents.lookup import Lookup
from kgrag.agents.strategy import Strategy
from kgrag.agents.system import STRATEGIES, split_system
from kgrag.client.arguments import check_part
from kgrag.client.collection import Collection
from kgrag.client.connection import Rankings
from kgrag.client.searching import LocalSearching
from kgrag.models.parallel import in_parallel
from kgrag.retrieval.base import DEFAULT_RETRIEVER, FusionOptions, Query, Retriever, Scored
from kgrag.retrieval.context import Searchable, SearchContext
from kgrag.values.results import Filter

# One ranking over several collections.
#
# Scores of different collections cannot be compared: each has its own statistics, perhaps its own embedder. So each
# collection ranks its own passages. A passage scores its reciprocal rank there, weighted by the fit of its collection
# to the question: the BM25 score of the collection's best passage as a share of the highest. (Resource selection and
# result merging, as in Callan's "Distributed Information Retrieval", 2000, with reciprocal ranks in place of scores;
# the weight is our choice.)


_MOST_AT_ONCE = 16


class Federated(Retriever):
    """A retriever that searches several collections in parallel and merges their rankings."""

    name = "federated"
    summary = "several collections searched as one"
    options = FusionOptions
    over: ClassVar[tuple[str, ...]] = ("pathrank",)
    several = True
    settings: FusionOptions

    def __init__(self, *on: Searchable, rrf: float = 60.0) -> None:
        """Make the retriever from one retriever per collection; it takes their name."""
        super().__init__(*on, rrf=rrf)
        self.name = self.parts[0].name

    @property
    def contexts(self) -> tuple[SearchContext, ...]:
        """See Retriever."""
        return tuple(part.context for part in self.parts)

    def rank(self, query: Query, n: int) -> list[Scored]:
        """See Retriever; ties are ordered by rank, then id."""
        results: Mapping[Retriever, tuple[list[Scored], float] | Exception] = dict(
            in_parallel(lambda part: (part.ranked(query, n), fits(part.context, query)), self.parts, _MOST_AT_ONCE)
        )
        rankings = []
        for part in self.parts:
            result = results[part]
            if isinstance(result, Exception):
                raise result
            rankings.append(result)
        best = max(fit for _, fit in rankings) or 1.0
        merged = [
            (-(fit / best) / (self.settings.rrf + rank), rank, scored)
            for ranking, fit in rankings
            for rank, scored in enumerate(ranking, 1)
        ]
        merged.sort(key=lambda each: (*each[:2], each[2].id))
        return [Scored(scored.id, -score, scored.why) for score, _, scored in merged[:n]]


def fits(context: SearchContext, query: Query) -> float:
    """Return the BM25 score of the collection's best passage for a question, 0 if none shares a word with it."""
    best = context.reader.fulltext(query.text, 1, query.filter)
    return best[0][1] if best else 0.0


def split_names(names: str) -> tuple[str, ...]:
    """Return the names in a comma-separated text."""
    return tuple(filter(None, map(str.strip, names.split(","))))


def checked(name: object) -> str:
    """Return the name of a collection. Raises TypeError for anything but a text."""
    if not isinstance(name, str):
        raise TypeError(f"a collection is looked for by its name, a str, not by {name!r}")
    return name


class Federation(LocalSearching):
    """Several collections that are ranked together; each passage names its `collection`.

    Safe to share between threads. Methods raise NotFoundError when one of the collections does not exist.
    """

    usual = "single+pathrank"

    def __init__(self, collections: Sequence[Collection]) -> None:
        self.collections = tuple(dict.fromkeys(collections))
        self.name = ",".join(collection.name for collection in self.collections)

    def __repr__(self) -> str:
        return f"<Federation {self.name!r}>"

    @property
    def rankings(self) -> Rankings:
        """See LocalSearching."""
        return self.collections[0].rankings

    def retriever(self, retriever: str | Retriever = DEFAULT_RETRIEVER) -> Retriever:
        """See LocalSearching."""
        check_part(retriever, Retriever, "retriever")
        if isinstance(retriever, Retriever):
            return retriever
        return Federated(*(collection.retriever(retriever) for collection in self.collections))

    def system(self, system: str | Strategy | None = None) -> Strategy:
        """See LocalSearching. Raises ConfigurationError for a system that walks a single graph."""
        check_part(system or "", Strategy, "system")
        if isinstance(system, Strategy):
            return system
        strategy, retriever = split_system(system or self.usual)
        return STRATEGIES[strategy.name](self.retriever(retriever), **dict(strategy.options))

    def look_up(self, question: str, *, filter: Filter | None = None) -> Lookup | None:
        """See Searching; returns the match of the first collection that has one."""
        lookups = (collection.look_up(question, filter=filter) for collection in self.collections)
        return next((each for each in lookups if each is not None), None)
