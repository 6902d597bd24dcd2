"""Use facts of a knowledge graph as bridges between passages, in addition to another retriever.

Beams of facts start from the entities of the question in a collection of kind knowledge (`knowledge`, Millions of
GEAR-s, section 4.1). Each fact leads to the passage that shares most words with it. These passages are fused with the
ranking of the other retriever, and their trails name the facts and their collection.
"""

import math
import threading
from collections import OrderedDict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal

import numpy as np
from pydantic import Field

from kgrag.graph.collections import check_knowledge, open_collection
from kgrag.graph.reader import Reader, escape, question_words
from kgrag.models.embed import Embedder, Vectors
from kgrag.retrieval.base import Query, Retriever, Scored
from kgrag.retrieval.beam import Beam, ChainOptions, Link, base_ranking, best
from kgrag.retrieval.compose import reciprocal_rank_fusion
from kgrag.retrieval.context import Searchable, SearchContext
from kgrag.runtime.options import Count
from kgrag.text.languages import Language
from kgrag.text.letters import is_number
from kgrag.text.tokens import normalise, stems, text_words, tokens
from kgrag.values.documents import Triple
from kgrag.values.errors import ConfigurationError
from kgrag.values.results import Filter, Step

# Facts without passages: linking to a collection of kind knowledge, and diverse beam search over it.
#
# Millions of GEAR-s, section 4.1; the search is GEAR's (section 4.2, Algorithm 1). The facts have no vectors: their
# texts are embedded on first use and cached up to a limit. The statements are `cypher/retrieve/knowledge_*.cypher`.


_KEPT = 50_000  # cached vectors; 50 MB with 256 dimensions
_TRIED = 10  # candidate facts for a text; the best fitting one is taken
_LONGEST_NAME = 8  # words
_FITTING = 10  # candidate passages for a fact; the first that passes the filter is taken


class KnowledgeOptions(ChainOptions):
    """Options of linking to a knowledge graph, and of the beams over it (Millions of GEAR-s; GEAR, appendix C)."""

    knowledge: tuple[str, ...] = Field(
        (), max_length=16, description="collections of kind knowledge; none: those named by --knowledge"
    )
    link: Literal["sparse", "hybrid"] = Field(
        "sparse", description="the fact of the graph for a fact that was read: by words, or by words and vector (4.1)"
    )
    floor: float = Field(0.0, ge=0, le=1, description="cosine from which the two are linked; 0: always (the paper)")
    shared_name: bool = Field(False, description="link only facts that share a name, against drift (section 6)")
    hub: int = Field(100, ge=0, le=10_000, description="an entity of more facts in a direction gives only near ones")
    hub_triples: Count = Field(50, description="the question's nearest facts by words; a hub gives only these")


@dataclass(frozen=True, slots=True)
class Linked:
    """A fact that the model read, and its link to a fact of the graph. `score`: their cosine."""

    fact: Triple
    id: str
    text: str
    score: float


class TextVectors:
    """The unit vectors of texts, embedded at first use and cached. Threads may share it."""

    def __init__(self, embedder: Embedder, most: int = _KEPT) -> None:
        self._embedder = embedder
        self._most = most
        self._cache: OrderedDict[str, Vectors] = OrderedDict()
        self._lock = threading.Lock()

    def __call__(self, texts: Sequence[str]) -> Vectors:
        """Embed texts as float32 [len(texts), d]."""
        with self._lock:
            cached = {text: self._cache[text] for text in texts if text in self._cache}
            for text in cached:
                self._cache.move_to_end(text)
        missing = list(dict.fromkeys(text for text in texts if text not in cached))
        cached |= zip(missing, self._embedder.embed(missing), strict=True)
        with self._lock:
            self._cache |= {text: cached[text] for text in missing}
            while len(self._cache) > self._most:
                self._cache.popitem(last=False)
        if not texts:
            return np.empty((0, self._embedder.dimension), np.float32)
        return np.stack([cached[text] for text in texts])


class Knowledge:
    """A collection of kind knowledge; the embedder of the searched collection scores its facts."""

    def __init__(self, reader: Reader, vectors: TextVectors) -> None:
        self.reader = reader
        self.name = reader.collection.name
        self.vectors = vectors
        self._index = reader.collection.index("triple_text")

    @classmethod
    def of(cls, context: SearchContext, name: str) -> "Knowledge":
        """Open a collection of facts beside the context's own. Raises NotFoundError or MismatchError."""
        graph = context.reader.graph
        reader = Reader(graph, check_knowledge(open_collection(graph, name)))  # it may have been recreated
        return cls(reader, context.cached(TextVectors, lambda: TextVectors(context.embedder)))

    def link(self, facts: Sequence[Triple], options: KnowledgeOptions) -> list[Linked]:
        """Link facts of the texts to facts of the graph, without duplicates (Millions of GEAR-s, equation 3)."""
        sure = options.link == "sparse" and not options.floor and not options.shared_name
        texts = [fact.text for fact in facts]
        if not texts:
            return []
        matches = self.reader.row(
            "retrieve/fulltext_each", index=self._index, queries=list(map(escape, texts)), limit=1 if sure else _TRIED
        )["rows"]
        linked: dict[str, Linked] = {}
        language = self.reader.collection.language
        for fact, rows in zip(facts, matches, strict=True):
            if options.shared_name:
                rows = [row for row in rows if _share_a_name(fact, row, language)]
            if not rows:
                continue
            cosines = self._dots((row["text"] for row in rows), self.vectors([fact.text])[0])
            scored = [Linked(fact, row["id"], row["text"], c) for row, c in zip(rows, cosines, strict=True)]
            if options.link == "hybrid":
                near = sorted(scored, key=lambda x: (-x.score, x.id))
                ranked = reciprocal_rank_fusion(
                    [[Scored(x.id, x.score) for x in r] for r in (scored, near)], options.rrf
                )
                scored = [next(x for x in scored if x.id == one.id) for one in ranked]
            match = next((x for x in scored if x.score >= options.floor), None) if options.floor else scored[0]
            if match is not None:
                linked.setdefault(match.id, match)
        return list(linked.values())

    def about(self, text: str, options: KnowledgeOptions) -> list[Link]:
        """Return the facts about the capitalised names of a text, each with its name. Hubs give their nearest facts."""
        names = names_in(text, self.reader.collection.language)
        if not names:
            return []
        rows = self.reader.row(
            "retrieve/knowledge_names",
            collection=self.name,
            index=self._index,
            query=escape(text),
            names=names,
            entities=20,
            hub=options.hub,
            hub_triples=options.hub_triples,
        )["facts"]
        return [Link(row["id"], row["text"], "", "", 0.0, row["entity"]) for row in rows]

    def beams(self, query: Query, initial: Sequence[Link], options: KnowledgeOptions) -> list[Beam]:
        """Return the best chains from the initial facts (GEAR, Algorithm 1). Ids break ties."""
        question = self.vectors([query.text])[0]
        first = list({link.id: link for link in initial}.values())
        cosines = self._dots((x.text for x in first), question)
        starts = [
            Beam((replace(link, cosine=cosine),), cosine, cosine, 1.0)
            for link, cosine in zip(first, cosines, strict=True)
        ]
        beams = sorted(starts, key=lambda beam: (-beam.score, beam.links[0].id))[: options.beams]
        for _ in range(options.length - 1):
            longer = self._step(question, query.text, beams, options) if beams else []
            if not longer:
                break
            beams = longer
        return beams

    def _step(self, question: Vectors, text: str, beams: Sequence[Beam], s: KnowledgeOptions) -> list[Beam]:
        """Return the best extensions of the beams by one fact (Algorithm 1, lines 7 to 20)."""
        rows = self.reader.rows(
            "retrieve/knowledge_step",
            triples=sorted({beam.links[-1].id for beam in beams}),
            index=self._index,
            query=escape(text),
            hub=s.hub,
            hub_triples=s.hub_triples,
        )
        if not rows:
            return []
        entities = {entity["id"]: entity for entity in rows[0]["entities"]}
        ends: dict[str, list[str]] = {}
        for fact, entity in rows[0]["ends"]:
            ends.setdefault(fact, []).append(entity)
        used = {link.id for beam in beams for link in beam.links}
        texts = {id: stated for entity in entities.values() for id, stated in entity["facts"] if id not in used}
        near = dict(zip(texts, self._dots(texts.values(), question), strict=True))
        branches = []
        for beam in beams:
            shared: dict[str, str] = {}
            for entity in ends.get(beam.links[-1].id, ()):
                for id, _ in entities.get(entity, {"facts": ()})["facts"]:
                    if id not in used:
                        shared.setdefault(id, entities[entity]["name"])
            tried = sorted(shared, key=lambda id: (-near[id], id))[: s.neighbours]
            branches.append(self._grown(beam, [(id, texts[id], shared[id]) for id in tried], question, s, near))
        return best(branches, s)

    def _grown(
        self,
        beam: Beam,
        tried: Sequence[tuple[str, str, str]],
        question: Vectors,
        s: KnowledgeOptions,
        near: dict[str, float],
    ) -> list[Beam]:
        """Return the extensions of a beam, one for each fact (id, text, shared name)."""
        if not tried:
            return []
        own = self.vectors([link.text for link in beam.links]).sum(axis=0)
        cross = self._dots((text for _, text, _ in tried), own)
        dots = [beam.dot + near[id] for id, _, _ in tried]
        squares = [beam.square + 1 + 2 * c for c in cross]
        if s.exact:
            before = " ".join(link.text for link in beam.links)
            cosines = self._dots((f"{before} {text}" for _, text, _ in tried), question)
        else:
            cosines = [dot / math.sqrt(max(square, 1e-9)) for dot, square in zip(dots, squares, strict=True)]
        return [
            Beam((*beam.links, Link(id, text, "", "", cosine, name)), beam.score + cosine, dot, square)
            for (id, text, name), cosine, dot, square in zip(tried, cosines, dots, squares, strict=True)
        ]

    def _dots(self, texts: Iterable[str], vector: Vectors) -> list[float]:
        """Return the scalar product of each text's unit vector with a vector [d]. Equal texts get equal products.

        The rows of a matrix product may round differently, and ids would then not break ties between equal texts.
        """
        texts = list(texts)
        distinct = list(dict.fromkeys(texts))
        products = dict(zip(distinct, (self.vectors(distinct) @ vector).tolist(), strict=True))
        return [products[text] for text in texts]


def passages_of(
    context: SearchContext, name: str, beams: Sequence[Beam], only: Filter, *, limit: int = 100
) -> list[Scored]:
    """Return the passage that shares most words with each fact of the beams, breadth-first, without duplicates.

    `name`: the collection of facts.

    Millions of GEAR-s, section 4.1: the soft alignment of facts with passages.
    """
    reader = context.reader
    links: dict[str, tuple[Link, ...]] = {}
    for position in range(max((len(beam.links) for beam in beams), default=0)):
        for beam in beams:
            links.setdefault(beam.links[position].text, beam.links[: position + 1])
    texts = list(links)[:limit]
    if not texts:
        return []
    matches = context.row(
        "retrieve/fulltext_each",
        index=reader.collection.index("passage_stems"),
        queries=[question_words(text, reader.collection.language) for text in texts],
        limit=_FITTING if only else 1,
    )["rows"]
    allowed = reader.matching_filter(sorted({row["id"] for rows in matches for row in rows}), only) if only else None
    passages: dict[str, Scored] = {}
    for text, rows in zip(texts, matches, strict=True):
        row = next((row for row in rows if allowed is None or row["id"] in allowed), None)
        if row is not None:
            why = (*_trail(name, links[text]), Step("in the words of", "Passage", row["name"]))
            passages.setdefault(row["id"], Scored(row["id"], links[text][-1].cosine, why))
    return list(passages.values())


def names_in(text: str, language: Language) -> list[str]:
    """Return candidate names in a text, in stems: runs of words with capitals at both ends.

    If only the first word has a capital, or the script has none, return any run of words.
    """
    words = tokens(text, language)[:100]
    stemmed = stems(text_words(words), language)
    cased = any(word.is_capital for word in words[1:])
    names: dict[str, None] = {}
    for start, word in enumerate(words):
        for end in range(start + 1, min(start + _LONGEST_NAME, len(words)) + 1):
            whole = not cased or (word.is_capital and words[end - 1].is_capital)
            single = end == start + 1 and (word.norm in language.stop_words or is_number(word.norm))
            if whole and not single:
                names[" ".join(stemmed[start:end])] = None
    return list(names)


def _share_a_name(fact: Triple, row: dict[str, Any], language: Language) -> bool:
    """Return whether an end of a fact is an end of a fact of the graph, or a part of one."""
    ours = [set(normalise(part, language).split()) for part in (fact.subject, fact.object)]
    theirs = [set(normalise(part, language).split()) for part in (row["subject"], row["object"])]
    return any(one and other and (one <= other or other <= one) for one in ours for other in theirs)


def _trail(name: str, links: Sequence[Link]) -> tuple[Step, ...]:
    """Return the chain of facts, prefixed with the name of their collection."""
    steps: list[Step] = []
    for link in links:
        if link.entity:
            steps.append(Step("names", "Entity", link.entity))
        steps.append(Step(f"known from {name}", "Fact", link.text, link.cosine))
    return tuple(steps)


class BridgesOptions(KnowledgeOptions):
    """Options of bridges."""

    depth: Count = Field(100, description="passages of the other retriever that are fused")


class Bridges(Retriever):
    """Fuses the ranking of a retriever with passages that facts of a knowledge graph lead to.

    Source: Millions of GEAR-s, section 4.1, without its model.

    Example:
        >>> Bridges.check({"knowledge": ("wikidata",), "beams": 5}).beams
        5
    """

    name = "bridges"
    summary = (
        "another's passages, and those that facts of a knowledge graph lead to: bridges(ppr, knowledge=(wikidata,))"
    )
    paper = "Millions of GEAR-s, section 4.1, without its model"
    uses = ("words", "names", "vectors")
    options = BridgesOptions
    over = ("hybrid",)
    needs = "a collection of kind knowledge"
    settings: BridgesOptions

    def rank(self, query: Query, n: int) -> list[Scored]:
        """See Retriever. Without facts it is the other ranking. Raises NotFoundError, MismatchError."""
        s = self.settings
        base = base_ranking(self.parts[0], query, max(n, s.depth))
        rankings = [base]
        for name in named(s.knowledge or query.knowledge):
            knowledge = Knowledge.of(self.context, name)
            beams = knowledge.beams(query, knowledge.about(query.text, s), s)
            rankings.append(passages_of(self.context, name, beams, query.filter))
        return reciprocal_rank_fusion([r for r in rankings if r], s.rrf)[:n]


def named(knowledge: Sequence[str]) -> Sequence[str]:
    """Return the names of the further collections. Raises ConfigurationError if the list is empty."""
    if not knowledge:
        raise ConfigurationError(
            "Which knowledge? No collection of facts is named.",
            "Name one that `kgrag import --format wikidata` made: --knowledge wikidata, or knowledge=(wikidata,).",
        )
    return knowledge


def with_bridges(retriever: Retriever, knowledge: Sequence[str], **options: Any) -> Retriever:
    """Return the retriever with bridges of these collections. Without collections return it unchanged.

    Raises ConfigurationError for a retriever of several collections.
    """
    if knowledge and len(retriever.contexts) > 1:
        raise ConfigurationError(
            "Facts lead from passage to passage within one collection, and several are searched.",
            "Leave out --knowledge, or search one collection.",
        )
    on: Searchable = retriever
    return Bridges(on, knowledge=tuple(knowledge), **options) if knowledge else retriever
