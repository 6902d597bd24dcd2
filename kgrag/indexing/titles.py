"""Tagging without a server: titles of a collection's own documents in place of Wikipedia's, found as TAGME finds those.

A spot is a name of a title (see `aliases.title_aliases`). Everything is counted in documents of the collection:
link probability of a spot: of those that hold its words, the share that write it as a name, with a capital;
commonness of a title for a spot: 1 + those that hold the whole title, times how surely the name means it, of the sum
over all titles of the spot; relatedness of two titles: Milne and Witten's, over the documents that hold a name of them
(a document means its own title by a name that several have).
The spots of a text vote for each other's titles; of those within 30 % of the best the most common one is taken, and
rho is the mean of its spot's link probability and its mean relatedness to the other titles that were taken.
Source: Ferragina and Scaiella, TAGME (2010), sections 2 and 3.
"""

import math
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from kgrag.models.tagme import Annotation
from kgrag.text.aliases import title_aliases
from kgrag.text.languages import ENGLISH, Language
from kgrag.text.tokens import Token, tokens

_NEAR = 0.3
"""How far below the best a title's votes may be so that its commonness decides (TAGME: epsilon)."""


@dataclass(slots=True)
class _Spot:
    """The titles that a name may mean, how surely, and the documents that hold it, and that write it as a name."""

    sure: dict[str, float] = field(default_factory=dict)
    held: set[str] = field(default_factory=set)
    named: set[str] = field(default_factory=set)


class Titles:
    """The titles of documents, and what is counted to link to them."""

    def __init__(self, sources: Iterable[Mapping[str, Any]], language: Language = ENGLISH) -> None:
        """`sources`: passages of documents as {document, title, text}, those of one after each other."""
        self._language = language
        self._spots: dict[str, _Spot] = {}
        self._longest: dict[str, int] = {}  # first word -> words of the longest spot that begins with it
        read = list(sources)
        whole: dict[str, str] = {}  # title -> its own words
        titled: dict[str, str] = {}
        for source in read:
            if titled.setdefault(source["document"], source["title"]) and source["title"] not in whole:
                whole[source["title"]] = self._add(source["title"], source["text"])
        self._documents = max(1, len(titled))
        self._holding: defaultdict[str, set[str]] = defaultdict(set)  # title -> documents with a name of it
        for source in read:
            for words, place, _ in self._found(tokens(source["text"], language)):
                spot = self._spots[words]
                spot.held.add(source["document"])
                if place.is_capital:
                    spot.named.add(source["document"])
                    own = titled[source["document"]]
                    for title in [own] if own in spot.sure else spot.sure:
                        self._holding[title].add(source["document"])
        self._common: dict[str, dict[str, float]] = {}
        for words, spot in self._spots.items():
            links = {t: sure * (1 + len(self._spots[whole[t]].named)) for t, sure in spot.sure.items() if t in whole}
            self._common[words] = {title: count / sum(links.values()) for title, count in links.items()}

    def annotate(self, text: str) -> list[Annotation]:
        """The titles that a text speaks of, each at every place, without regard to a threshold."""
        words = tokens(text, self._language)
        places, at = [], 0
        for word in words:
            at = max(at, text.find(word.raw, at))
            places.append(at)
        found = [(spot, number) for spot, _, number in self._found(words)]
        spots = list(dict.fromkeys(spot for spot, _ in found if self._common[spot]))
        taken = {spot: self._taken(spot, [other for other in spots if other != spot]) for spot in spots}
        titles = set(taken.values())
        annotations = []
        for spot, number in found:
            if spot in taken:
                title, others = taken[spot], titles - {taken[spot]}
                its = self._spots[spot]
                probability = len(its.named) / len(its.held) if its.held else 0.0
                coherence = sum(self._related(title, other) for other in others) / len(others) if others else 0.0
                start = places[number]
                annotations.append(Annotation(title, (probability + coherence) / 2, start, start + len(spot)))
        return annotations

    def _taken(self, spot: str, others: Sequence[str]) -> str:
        """The title that a spot means in a text with other spots."""
        common = self._common[spot]
        votes = {title: sum(self._vote(other, title) for other in others) for title in common}
        least = (1 - _NEAR) * max(votes.values())
        return max((title for title in common if votes[title] >= least), key=lambda title: (common[title], title))

    def _vote(self, spot: str, title: str) -> float:
        """How much a spot speaks for a title of another spot."""
        common = self._common[spot]
        return sum(self._related(other, title) * share for other, share in common.items()) / len(common)

    def _related(self, one: str, other: str) -> float:
        """Relatedness of two titles, 0 to 1 (Milne and Witten, 2008)."""
        a, b = self._holding[one], self._holding[other]
        both, room = len(a & b), math.log(self._documents) - math.log(min(len(a), len(b)) or 1)
        if not both or not room:
            return float(bool(both))
        return max(0.0, 1 - (math.log(max(len(a), len(b))) - math.log(both)) / room)

    def _add(self, title: str, lead: str) -> str:
        """Take in the names of a title; its own words."""
        own = ""
        for alias in title_aliases(title, lead, self._language):
            norms = [word.norm for word in tokens(alias.surface, self._language)]
            if norms:
                words = " ".join(norms)
                own = own or words
                sure = self._spots.setdefault(words, _Spot()).sure
                sure[title] = max(sure.get(title, 0.0), alias.weight)
                self._longest[norms[0]] = max(self._longest.get(norms[0], 0), len(norms))
        return own

    def _found(self, words: Sequence[Token]) -> Iterator[tuple[str, Token, int]]:
        """The spots of a text, longest first, none within another: its words, its first word, and that one's number."""
        number = 0
        while number < len(words):
            most = min(self._longest.get(words[number].norm, 0), len(words) - number)
            joined = next((n for n in range(1, most) if not words[number + n].joined), most)
            for length in range(joined, 0, -1):
                spot = " ".join(word.norm for word in words[number : number + length])
                if spot in self._spots:
                    yield spot, words[number], number
                    number += length
                    break
            else:
                number += 1
