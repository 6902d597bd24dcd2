"""Tagging: TAGME returns the Wikipedia articles that each passage mentions (KGP, section 3.3).

Articles become mentions. An article is the entity of its title in normal form, as in extraction with links. If the
passage mentions the entity already, the existing edge keeps its source and gets TAGME's rho as `tagme`.
The graph is the ledger: a passage records the settings that it was tagged with, in the transaction of its mentions.
An interrupted run resumes with the untagged passages.
"""

import hashlib
import math
import time
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import Any

from kgrag.engines import IN_PROCESS, Engine
from kgrag.graph.collections import Collection
from kgrag.graph.connection import Graph, Transaction
from kgrag.indexing.ask_each import FailedPassage, ask_each, passage_sources, unread
from kgrag.indexing.corpus_stages import run_corpus_stages
from kgrag.models.embed import Embedder
from kgrag.models.tagme import TITLES, Annotation, Tagme, address
from kgrag.settings import Settings, TagmeSettings
from kgrag.text.aliases import title_aliases
from kgrag.text.languages import ENGLISH, Language
from kgrag.text.tokens import Token, folded_name, normalise, tokens
from kgrag.values.errors import ModelError
from kgrag.values.events import Progress
from kgrag.values.identity import entity_id

# Tagging without a server: TAGME's method with the titles of the collection's own documents in place of Wikipedia's.
#
# A spot is a name of a title (see `aliases.title_aliases`). All counts are documents of the collection. The link
# probability of a spot is the share of the documents with its words that write it as a name, with a capital. The
# commonness of a title for a spot is 1 + the documents with the whole title, times how surely the name means it,
# divided by the sum over all titles of the spot. The relatedness of two titles is Milne and Witten's, over documents
# with a name of them (in a document, an ambiguous name means its own title). The spots of a text vote for each other's
# titles. The most common title within 30 % of the best vote is chosen; rho is the mean of its spot's link probability
# and its mean relatedness to the other chosen titles. Source: Ferragina and Scaiella, TAGME (2010), sections 2 and 3.


_NEAR = 0.3
"""Titles whose votes are this close to the best are ranked by commonness (TAGME: epsilon)."""


@dataclass(slots=True)
class _Spot:
    """The titles that a name may mean, with probabilities, and the counts of documents with or capitalising it."""

    sure: dict[str, float] = field(default_factory=dict)
    held: set[str] = field(default_factory=set)
    named: set[str] = field(default_factory=set)


class Titles:
    """The titles of documents, and the counts needed to link to them."""

    def __init__(self, sources: Iterable[Mapping[str, Any]], language: Language = ENGLISH) -> None:
        """Index the titles. `sources`: passages as {document, title, text}, grouped by document."""
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
            for words, place, _ in self._spots_in(tokens(source["text"], language)):
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
        """Return every occurrence of the titles in a text, without a threshold."""
        words = tokens(text, self._language)
        places, at = [], 0
        for word in words:
            at = max(at, text.find(word.raw, at))
            places.append(at)
        matches = [(spot, number) for spot, _, number in self._spots_in(words)]
        spots = list(dict.fromkeys(spot for spot, _ in matches if self._common[spot]))
        senses = {spot: self._sense(spot, [other for other in spots if other != spot]) for spot in spots}
        titles = set(senses.values())
        annotations = []
        for spot, number in matches:
            if spot in senses:
                title, others = senses[spot], titles - {senses[spot]}
                statistics = self._spots[spot]
                probability = len(statistics.named) / len(statistics.held) if statistics.held else 0.0
                coherence = sum(self._related(title, other) for other in others) / len(others) if others else 0.0
                start = places[number]
                annotations.append(Annotation(title, (probability + coherence) / 2, start, start + len(spot)))
        return annotations

    def _sense(self, spot: str, others: Sequence[str]) -> str:
        """Return the title of a spot in a text with other spots."""
        common = self._common[spot]
        votes = {title: sum(self._vote(other, title) for other in others) for title in common}
        least = (1 - _NEAR) * max(votes.values())
        return max((title for title in common if votes[title] >= least), key=lambda title: (common[title], title))

    def _vote(self, spot: str, title: str) -> float:
        """Return the vote of a spot for a title of another spot."""
        common = self._common[spot]
        return sum(self._related(other, title) * share for other, share in common.items()) / len(common)

    def _related(self, one: str, other: str) -> float:
        """Return the relatedness of two titles, 0 to 1 (Milne and Witten, 2008)."""
        a, b = self._holding[one], self._holding[other]
        both, room = len(a & b), math.log(self._documents) - math.log(min(len(a), len(b)) or 1)
        if not both or not room:
            return float(bool(both))
        return max(0.0, 1 - (math.log(max(len(a), len(b))) - math.log(both)) / room)

    def _add(self, title: str, lead: str) -> str:
        """Add the names of a title and its own words."""
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

    def _spots_in(self, words: Sequence[Token]) -> Iterator[tuple[str, Token, int]]:
        """Yield the spots of a text, longest first and without overlaps.

        Each is the spot, its first word, and that word's number.
        """
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


OF = " of "
"""The beginning of a version, before its titles."""
_FORM = 1
"""Raised with each change of the reading of replies."""
_STAGE = "tagging"
Row = dict[str, Any]


@dataclass(frozen=True, slots=True)
class TaggingReport:
    """The result of a tagging.

    `passages`: passages tagged. `mentions`: mentions found. `left`: pending passages, among them the `failures`.
    `stopped`: the reason if it stopped early.
    """

    passages: int = 0
    mentions: int = 0
    failures: tuple[FailedPassage, ...] = ()
    left: int = 0
    seconds: float = 0.0
    stopped: ModelError | None = None


def version(settings: TagmeSettings) -> str:
    """Return a string that identifies the settings that affect the mentions."""
    return f"{_FORM} {address(settings)} {settings.lang} {settings.threshold:g}"


def _version(graph: Graph, collection: Collection, settings: TagmeSettings) -> str:
    """Return the version of the settings; it includes a digest of titles used as articles, so new ones are linked."""
    if settings.endpoint != TITLES:
        return version(settings)
    titles = "\0".join(row["title"] or "" for row in graph.stream("look_up/titles", collection=collection.name))
    digest = hashlib.blake2b(titles.encode("utf-8", "surrogatepass"), digest_size=5).hexdigest()
    return f"{version(settings)}{OF}{digest}"


def untagged(graph: Graph, collection: Collection, settings: TagmeSettings) -> list[str]:
    """Return the passages that were not tagged with these settings yet."""
    return unread(graph, collection, "tagged", _version(graph, collection, settings))


def tag(
    graph: Graph,
    collection: Collection,
    tagme: Tagme | None,
    embedder: Embedder,
    settings: Settings,
    progress: Progress,
    *,
    threads: int = 4,
    limit: int | None = None,
    engine: Engine = IN_PROCESS,
) -> TaggingReport:
    """Tag at most `limit` passages that were not tagged with these settings yet.

    If `tagme` is None, the titles of the collection's own documents take its place (see `titles`). Failed passages are
    listed. If the server is unreachable or refuses the token, received mentions are written and the rest is left.
    Raises DatabaseError.
    """
    started = time.monotonic()
    waiting = untagged(graph, collection, settings.tagme)
    due = waiting[:limit]
    mentions = 0
    version = _version(graph, collection, settings.tagme)
    if tagme is not None:
        annotate = tagme.annotate
    elif due:
        whole = passage_sources(graph, unread(graph, collection, "tagged", "none has this"))
        annotate = Titles(whole, collection.language).annotate

    def ask(source: Mapping[str, Any]) -> list[Row]:
        matches = annotate(source["text"])
        annotations = [annotation for annotation in matches if annotation.rho >= settings.tagme.threshold]
        rows = mention_rows(collection.name, source, annotations, collection.language)
        return rows if tagme is not None else [_no_article(row) for row in rows]

    def write(tagged: Mapping[str, list[Row]]) -> None:
        nonlocal mentions
        mentions += graph.write(lambda tx: _write(tx, collection, version, tagged))

    outcome = ask_each(passage_sources(graph, due), len(due), ask, write, partial(progress, _STAGE), threads)
    run_corpus_stages(graph, collection, settings, progress, embedder, engine=engine)
    return TaggingReport(
        passages=outcome.written,
        mentions=mentions,
        failures=tuple(outcome.failures),
        left=len(waiting) - outcome.written,
        seconds=time.monotonic() - started,
        stopped=outcome.stopped,
    )


def _no_article(row: Row) -> Row:
    """Return a mention of a title that is not a Wikipedia article."""
    return row | {"wikipedia": None, "node": row["node"] | {"wikipedia": None}}


def mention_rows(
    collection: str, source: Mapping[str, Any], annotations: Sequence[Annotation], language: Language = ENGLISH
) -> list[Row]:
    """Return the mentions that TAGME found in a passage, one per entity, with the keys of `cypher/write/tagged_*`.

    Positions are word numbers from 0 in the title followed by the text, as for other mentions.
    """
    before = len(tokens(source["title"] or "", language))
    rows: dict[str, Row] = {}
    spots: defaultdict[str, set[int]] = defaultdict(set)
    for annotation in sorted(annotations, key=lambda a: (-a.rho, a.title)):
        normal = normalise(annotation.title, language)
        if not normal:
            continue
        id = entity_id(collection, normal)
        known_by = {"normal": normal, "folded": folded_name(normal)}
        entity = {"id": id, "name": annotation.title, **known_by, "wikipedia": annotation.title}
        row = {"passage": source["id"], "entity": id, "rho": annotation.rho, "wikipedia": annotation.title}
        rows.setdefault(id, row | {"node": entity})
        spots[id].add(before + len(tokens(source["text"][: annotation.start], language)))
    return [row | {"positions": sorted(spots[id])} for id, row in rows.items()]


def _write(tx: Transaction, collection: Collection, version: str, tagged: Mapping[str, Sequence[Row]]) -> int:
    """Write the mentions of passages that still exist, and return their number."""
    there = {r["id"] for r in tx.run("write/tagged", ids=sorted(tagged), version=version)}
    changed = {r["entity"] for r in tx.run("write/remove_tagged", ids=sorted(there))}
    rows = [row for passage in sorted(there) for row in tagged[passage]]
    if rows:
        nodes: dict[str, Row] = {}
        for node in (row["node"] for row in rows):  # the first of two spellings of a title
            nodes[node["id"]] = min(nodes.get(node["id"], node), node, key=lambda n: str(n["name"]))
        tx.run(
            "write/tagged_entities",
            rows=[nodes[id] for id in sorted(nodes)],
            collection=collection.name,
            labels=[collection.label("Entity")],
        )
        mentions = [{key: row[key] for key in row if key != "node"} for row in rows]
        tx.run("write/tagged_mentions", rows=sorted(mentions, key=lambda row: str(row["entity"])))
    if changed:
        tx.run("write/settle_entities", ids=sorted(changed))
    return len(rows)
