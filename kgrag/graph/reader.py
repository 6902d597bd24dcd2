"""The read model: what several retrievers ask of one collection, in one round trip each.

What a search needs comes as one record that holds a list: a hundred records are a hundred messages to be taken apart.
"""

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from datetime import UTC, datetime
from math import inf
from typing import Any

from kgrag.graph.collections import Collection, open_collection
from kgrag.graph.connection import Graph
from kgrag.graph.property_values import as_text, day_or_moment, from_properties
from kgrag.passages import PassageIndex
from kgrag.text.dates import checked_date
from kgrag.text.languages import ENGLISH, Language
from kgrag.text.letters import fold, identity
from kgrag.text.tokens import iso_moment, question_stems
from kgrag.values.errors import ConfigurationError, NotFoundError
from kgrag.values.identity import document_id, entity_id
from kgrag.values.results import DocumentContents, DocumentInfo, DocumentTable, FigureInfo, Filter, Passage, Scalar

_SPECIAL = re.compile(r'[+\-&|!(){}\[\]^"~*?:\\/<>=]')
_OPERATORS = frozenset(("AND", "OR", "NOT"))
_LETTERS = 20_000  # characters of a question
_QUOTED = re.compile(r"[\\\"]")
_EDGES = re.compile(r"^\W+|\W+$")
_ESCAPED = r"\\\g<0>"
TITLE = 0.5
"""The extra weight of a word in a passage's title, beside its weight in the text: our own choice, on MuSiQue and
the questions of bench/documents.jsonl."""
_MOST_WORDS = 300  # Lucene allows 1,024 clauses, and each word makes one for every indexed field


def escape(text: str) -> str:
    """Return `text` as a query of plain words, joined by OR; empty without a letter or digit.

    Words are kept once; of a very long text the first 300 different ones count.
    """
    words: dict[str, None] = {}
    for word in _SPECIAL.sub(" ", text).split():
        if any(c.isalnum() for c in word):
            words.setdefault(word.lower() if word in _OPERATORS else word)
            if len(words) == _MOST_WORDS:
                break
    return " ".join(words)


def begun_words(text: str) -> str:
    """Return `text` as a query for names with all its words; the last word may be incomplete.

    Diacritics, apostrophes and articles may be left out. The result is empty in the same cases as `escape`.
    """
    words = [_EDGES.sub("", word) for word in escape(text).split()]
    if not words:
        return ""
    *whole, last = words
    prefixes = dict.fromkeys((last.lower(), fold(last.lower()), identity(last)))
    telling = [_spellings(word) for word in whole if word.lower() not in ENGLISH.articles]
    ways = [
        *(" ".join(f'"{way}"' for way in word) for word in telling),
        f'"{last}" {" ".join(f"{w}*" for w in prefixes)}',
    ]
    return " ".join(f"+({way})" for way in ways)


def _spellings(word: str) -> dict[str, None]:
    """Return a word as written, without diacritics, and without apostrophes."""
    bare = identity(word)
    return dict.fromkeys((word, fold(word), word if bare == word.casefold() else bare))


def question_terms(text: str, language: Language = ENGLISH) -> list[str]:
    """Return the terms of a question for the stems of passages; empty without a letter, digit or symbol."""
    return question_stems(text[:_LETTERS], language)[:_MOST_WORDS]


def question_words(text: str, language: Language = ENGLISH) -> str:
    """Return a question as a query for the stems of passages, joined by OR; empty without a letter, digit or symbol."""
    terms = question_terms(text, language)
    words = (f'"{_QUOTED.sub(_ESCAPED, stem)}"' for stem in terms)
    return " ".join(f"stems:{word} title_stems:{word}^{TITLE}" for word in words)


Row = dict[str, Any]
Scores = list[tuple[str, float]]
_FILTER_MATCHES = 500  # matches of words that a filter is tried on first; 150 take nearly as long
_FILTER_CANDIDATES = 1000  # nearest passages that a filter is tried on before the filtered set is scanned
_SCANNED = 100_000  # passages of a collection that are scanned where the vector index is unsure
FEW = 20_000
"""Passages of a collection up to which its vector index is asked for more: there it takes little longer."""
_NAMES = 1000  # matching names that are considered; the ones with most passages are returned
_ALWAYS = datetime(1, 1, 1, tzinfo=UTC)  # instead of a null, with which Neo4j plans a statement again
_NUMBER = re.compile(r"-?(0|[1-9][0-9]*)(\.[0-9]+)?([eE][+-]?[0-9]+)?")  # as JSON has it: 007 and 1_000 are texts
_ALL = 2**31 - 1  # matches: more than an index of Lucene holds
_DIGITS = 19  # an integer with fewer digits always fits in 64 bits
_NEEDED = {"key", "name", "collection"}  # properties that a document needs for its passages to be read


class Reader:
    """Reads one collection; safe to share between threads.

    `index`: the passage index outside the graph that is searched in place of Neo4j's own, made for a collection.
    """

    def __init__(
        self, graph: Graph, collection: Collection, index: Callable[[Collection], PassageIndex | None] | None = None
    ) -> None:
        self.graph = graph
        self.collection = collection
        self._make_index = index
        self._index = None if index is None else index(collection)

    def rows(self, name: str, /, **parameters: Any) -> list[Row]:
        """Return the rows of a query of the catalogue."""
        return [dict(r) for r in self.graph.run(name, **parameters)]

    def row(self, name: str, /, **parameters: Any) -> Row:
        """Return the single row of a query that always gives one."""
        return dict(self.graph.run(name, **parameters)[0])

    def stream(self, name: str, /, **parameters: Any) -> Iterator[list[Any]]:
        """Return the values of the rows of a read query, one by one."""
        return (r.values() for r in self.graph.stream(name, **parameters))

    def record(self) -> Collection:
        """Return the current record of the collection. Raises NotFoundError when it was deleted."""
        return open_collection(self.graph, self.collection.name)

    def stale(self) -> bool:
        """Return whether the full-text indexes count removed nodes, as while an ingest rewrites documents."""
        records = self.rows("look_up/collections", name=self.collection.name)
        return any(row["collection"].get("stale") for row in records)

    def open(self, collection: Collection) -> None:
        """Read the collection as it is recorded now."""
        index = None if self._make_index is None else self._make_index(collection)
        self._index, self.collection = index, collection

    def fulltext(self, text: str, limit: int, only: Filter | None = None) -> Scores:
        """Return (passage id, BM25 score) of the passages that share a word with `text`, best first, ties by id."""
        return self.fulltext_and_nearness(text, None, limit, only)[0]

    def fulltext_and_nearness(
        self, text: str, vector: Sequence[float] | None, limit: int, only: Filter | None = None
    ) -> tuple[Scores, dict[str, float]]:
        """Return the result of `fulltext`, and passage id -> (1 + cosine) / 2 of those with a vector."""
        query = question_words(text, self.collection.language)
        if not query or limit < 1:
            return [], {}
        if (outside := self._index) is not None:
            terms = question_terms(text, self.collection.language)
            scores = self._passing(lambda n: outside.words(terms, TITLE, n), limit, limit, only)
            return scores, {} if vector is None else dict(self.nearest_of([id for id, _ in scores], vector, limit))
        parameters: dict[str, Any] = {"collection": self.collection.name, "query": query}
        parameters["index"] = self.collection.index("passage_stems")
        near: dict[str, Any] = {"embedding": "", "vector": []}  # a vector that is not compared is not read
        if vector is not None:
            near = {"embedding": self.collection.embedding, "vector": list(vector)}
        if only:
            parameters |= near | self._filter(only)
            hits = self._filtered(limit, **parameters)
        else:
            hits = self.row("retrieve/fulltext", limit=limit, **parameters, **near)["hits"]
        nearness = {id: near for id, _, near in hits if near is not None}
        return [(id, float(score)) for id, score, _ in hits], nearness

    def _filtered(self, limit: int, **parameters: Any) -> list[Any]:
        """Return the best full-text matches that pass a filter, and read as few matches as possible."""
        reach = limit + _FILTER_MATCHES
        while True:
            row = self.row("retrieve/fulltext_filtered", reach=reach, limit=limit, **parameters)
            hits: list[Any] = row["hits"]
            if row["complete"] or reach == _ALL:
                return hits
            # twice as many as hold enough, if all of them pass as often as the first
            reach = min(_ALL, 2 * reach * limit // len(hits)) if hits else _ALL

    def vector(self, vector: Sequence[float], limit: int, over_fetch: int, only: Filter | None = None) -> Scores:
        """Return (passage id, (1 + cosine) / 2) of the passages nearest to a vector, best first, ties by id."""
        if limit < 1:
            return []
        if (outside := self._index) is not None:
            return self._passing(lambda n: outside.nearest(vector, n), limit, max(over_fetch, limit), only)
        collection, index = self.collection, self.collection.vector_index("Passage")
        parameters: dict[str, Any] = {"collection": collection.name, "embedding": collection.embedding}
        parameters |= {"vector": list(vector), "limit": limit}
        search = {"index": index, "candidates": max(over_fetch, limit), "scanned": _SCANNED}
        filtering = self._filter(only or Filter())
        if only:
            search["candidates"] = max(_FILTER_CANDIDATES, over_fetch, limit)
            row = self.row("retrieve/vector_candidates_filtered", **search, **parameters, **filtering)
        else:
            row = self.row("retrieve/vector", **search, **parameters, few=FEW)
        if row["unsure"] or (only and len(row["hits"]) < limit):
            return self._scores("retrieve/vector_filtered", **parameters, **filtering)
        return _pairs(row["hits"])

    def question(self, names: list[str], stemmed: list[str], words: list[str]) -> dict[str, Any]:
        """Return what the graph knows of a question's names and words: see `cypher/retrieve/question.cypher`."""
        return self.row("retrieve/question", collection=self.collection.name, names=names, stemmed=stemmed, words=words)

    def edge_neighbours(
        self, ids: Sequence[str], kind: str, density: float, cap: int, candidates: int
    ) -> dict[str, list[str]]:
        """Return the passages that one kind of edges ties to some: see `cypher/evaluate/edge_neighbours.cypher`.

        Similar passages are looked up in the vector index only where the graph keeps fewer.
        """
        if kind == "similar" and density <= self.collection.indexing.similar:
            kind = "stored"
        rows = self.rows(
            "evaluate/edge_neighbours",
            ids=list(ids),
            kind=kind,
            density=density,
            cap=cap,
            index=self.collection.vector_index("Passage"),
            embedding=self.collection.embedding,
            candidates=max(candidates, int(density) + 1),
        )
        return {id: [] for id in ids} | {r["id"]: r["neighbours"] for r in rows}

    def document_scores(self, keys: Sequence[str], vector: Sequence[float]) -> dict[str, tuple[str, float]]:
        """Return document key -> the id of its passage nearest to a vector and (1 + cosine) / 2.

        Unknown keys are left out.
        """
        ids = {document_id(self.collection.name, key): key for key in keys}
        rows = self.rows(
            "retrieve/document_scores", ids=list(ids), embedding=self.collection.embedding, vector=list(vector)
        )
        return {ids[r["document"]]: (r["id"], r["score"]) for r in rows}

    def document_passages(self, keys: Sequence[str]) -> dict[str, list[str]]:
        """Return document key -> the ids of its passages, in no order; unknown keys are left out."""
        ids = {document_id(self.collection.name, key): key for key in keys}
        result: dict[str, list[str]] = {}
        for r in self.rows("look_up/passage_ids", ids=list(ids)):
            result.setdefault(ids[r["document"]], []).append(r["passage"])
        return result

    def triple_counts(self, keys: Sequence[str]) -> dict[str, tuple[int, int]]:
        """Return document key -> numbers of passages, and of triples in these; unknown keys are left out."""
        ids = {document_id(self.collection.name, key): key for key in keys}
        rows = self.rows("evaluate/triple_counts", ids=list(ids))
        return {ids[r["document"]]: (r["passages"], r["triples"]) for r in rows}

    def similar_triples(
        self, vectors: Sequence[Sequence[float]], words: Sequence[str], limit: int, over_fetch: int
    ) -> tuple[list[list[dict[str, Any]]], list[list[dict[str, Any]]]]:
        """Return the triples most similar to texts by vector, and by words.

        See `cypher/retrieve/similar_triples.cypher`.
        """
        if not vectors:
            return [], []
        row = self.row(
            "retrieve/similar_triples",
            vector_index=self.collection.vector_index("Triple"),
            text_index=self.collection.index("triple_text"),
            collection=self.collection.name,
            embedding=self.collection.embedding,
            queries=[{"vector": list(v), "words": escape(w)} for v, w in zip(vectors, words, strict=True)],
            candidates=max(over_fetch, limit),
            limit=limit,
        )
        return row["near"], row["worded"]

    def layers(self, candidates: Iterable[str]) -> frozenset[str]:
        """Return the layers among some that the collection has: see `cypher/inspect/layers.cypher`."""
        layers = sorted(candidates)
        if not layers:
            return frozenset()
        return frozenset(self.row("inspect/layers", collection=self.collection.name, layers=layers)["rows"])

    def structured_documents(
        self, kinds: Sequence[str], names: Sequence[str], files: Sequence[str], headings: Sequence[str], only: Filter
    ) -> list[dict[str, Any]]:
        """Return at most 51 documents that a question may name: see `cypher/look_up/structured_documents.cypher`.

        `names`: normalised names that a title may have; `headings`: in lower case.
        """
        name = self.collection.name
        return self.rows(
            "look_up/structured_documents",
            collection=name,
            kinds=list(kinds),
            names=[entity_id(name, title) for title in names],
            files=list(files),
            index=self.collection.index("passage_text"),
            phrases=" OR ".join(f'"{escape(heading)}"' for heading in headings if escape(heading)),
            headings=list(headings),
            reach=1000 if only else 51,
            limit=51,
            **filter_parameters(only),
        )

    def nearest_of(self, ids: list[str], vector: Sequence[float], limit: int) -> Scores:
        """Return the passages among some that are nearest to a vector, as (id, (1 + cosine) / 2), best first."""
        embedding = self.collection.embedding
        return self._scores("retrieve/nearest_of", ids=ids, embedding=embedding, vector=list(vector), limit=limit)

    def captions(self, entities: list[str], passages: list[str]) -> dict[str, str]:
        """Return the names of nodes, by their ids."""
        row = self.row("retrieve/entity_captions", entities=entities, passages=sorted(set(passages)))
        return dict(row["names"])

    def metadata_keys(self, candidates: Sequence[str]) -> tuple[list[str], list[str]]:
        """Return the candidates that are a key of no document's metadata, and the keys that there are."""
        row = self.row("look_up/metadata_keys", collection=self.collection.name, candidates=list(candidates))
        return row["missing"], row["keys"]

    def matching_filter(self, ids: list[str], only: Filter) -> set[str]:
        """Return the passages among some whose documents match a filter."""
        return set(self.row("retrieve/passing", ids=ids, **self._filter(only))["ids"])

    def _filter(self, only: Filter) -> dict[str, Any]:
        """Give a filter of passages as parameters of a statement. Raises as `filter_parameters` does."""
        return {**filter_parameters(only), "as_of": checked_date(only.as_of)}

    def _passing(self, find: Callable[[int], Scores], limit: int, reach: int, only: Filter | None) -> Scores:
        """Return the best of the hits of an index outside the graph that pass a filter."""
        if not only:
            return find(reach)[:limit]
        reach = max(reach, _FILTER_CANDIDATES)
        while True:
            candidates = find(reach)
            there = self.matching_filter([id for id, _ in candidates], only)
            passing = [hit for hit in candidates if hit[0] in there][:limit]
            if len(passing) == limit or len(candidates) < reach:
                return passing
            reach *= 8

    def _scores(self, name: str, /, **parameters: Any) -> Scores:
        return _pairs(self.row(name, **parameters)["hits"])

    def passages(self, ids: Sequence[str]) -> dict[str, Passage]:
        """Return passages by their ids, without missing ones, and those of documents that are being written.

        These have an ordinal once their document is wholly written, by the transaction that removes its old passages.
        """
        if not ids:
            return {}
        rows = self.row("look_up/passages", ids=list(ids))["rows"]
        return {
            r["id"]: passage(r["id"], r["passage"], r["document"])
            for r in rows  # a node that is being removed may already lack properties or be missing
            if r["passage"] and r["document"] and None not in (r["passage"]["text"], r["passage"]["ordinal"])
            if r["document"].keys() >= _NEEDED
        }


def passage(id: str, properties: dict[str, Any], document: dict[str, Any]) -> Passage:
    """Return a Passage from the properties of its node and of its document's."""
    figures = (FigureInfo(**row) for row in properties.get("figures", ()))
    return Passage(
        id=id,
        document=document["key"],
        title=properties["title"] or document["name"],
        text=properties["text"],
        ordinal=properties["ordinal"],
        section=properties["section"] or "",
        source=document.get("source", ""),
        metadata=from_properties(document),
        page=properties.get("page"),
        last_page=properties.get("last_page"),
        collection=document["collection"],
        figures=tuple(sorted(figures, key=lambda figure: figure.number)),
    )


def find_passages(graph: Graph, text: str, collection: str | None) -> list[tuple[str, str]]:
    """Return (passage id, collection) by the beginning of a passage id, or a document's key, title or file name."""
    records = graph.run("retrieve/passages_like", text=text, collection=collection)
    return [(r["id"], r["collection"]) for r in records]


def document(graph: Graph, collection: Collection, key: str, limit: int) -> DocumentContents:
    """Return the contents of a document, at most `limit` passages, tables and figures.

    Raises NotFoundError for an unknown key.
    """
    rows = graph.run("look_up/document_contents", collection=collection.name, key=key, limit=limit)
    if not rows:
        raise NotFoundError(f"There is no document {key!r}.", "`kgrag cypher documents` names those of most passages.")
    passages = Reader(graph, collection).passages(rows[0]["ids"])
    passages_in_order = tuple(passages[id] for id in rows[0]["ids"] if id in passages)
    tables = tuple(DocumentTable(**each) for each in rows[0]["tables"])
    figures = tuple(FigureInfo(**each) for each in rows[0]["figures"])
    return DocumentContents(key, rows[0]["passages"], passages_in_order, tables, figures)


def documents(graph: Graph, collection: str, after: str, limit: int, search: str = "") -> list[DocumentInfo]:
    """Return at most `limit` documents in the order of their keys, after the key `after`.

    `search`: words, or parts of words, that must all occur in the key or the title.
    """
    words = search.lower().split()
    records = graph.run("look_up/documents", collection=collection, after=after, words=words, limit=limit)
    return [DocumentInfo(**{**dict(r), **_of_document(r)}) for r in records]


def _of_document(row: Mapping[str, Any]) -> dict[str, Any]:
    problems = (row["problems"] or "").splitlines()
    return {"updated": row["updated"].to_native(), "file": row["file"] or "", "problems": tuple(problems)}


def names_like(graph: Graph, collection: Collection, text: str, limit: int) -> list[tuple[str, int]]:
    """Return (name, passages that mention it) of names with the words of a text, the last possibly incomplete."""
    query = begun_words(text)
    if not query or "Entity" not in collection.indexed:
        return []
    index = collection.index("entity_name")
    return [
        (r["name"], r["passages"])
        for r in graph.run("look_up/names_like", index=index, query=query, reach=_NAMES, limit=limit)
    ]


def neighbourhood(graph: Graph, id: str, limit: int) -> list[dict[str, Any]]:
    """Return the edges around a passage, at most `limit` of each kind.

    Keys as in `cypher/look_up/neighbourhood.cypher`.
    """
    return [dict(r) for r in graph.run("look_up/neighbourhood", id=id, limit=limit)]


def _pairs(hits: list[list[Any]]) -> Scores:
    return [(id, float(score)) for id, score in hits]


def filter_parameters(only: Filter) -> dict[str, Any]:
    """Give a filter as parameters of a statement. Raises ConfigurationError for a time out of range."""
    moment = None if only.since is None else iso_moment(str(only.since))
    if (moment is None) != (only.since is None):
        remedy = "Write 2024, 2024-05, 2024-05-31 or 2024-05-31T12:00+02:00."
        raise ConfigurationError(f"since is invalid: {only.since!r} is not a date.", remedy)
    try:
        since = moment and moment.astimezone(UTC)
    except (OverflowError, ValueError) as error:
        raise ConfigurationError(f"since is invalid: {only.since}.", "Give a time of the years 2 to 9998.") from error
    return {
        "where": [[key, _equals(value)] for key, value in only.conditions if not isinstance(value, tuple | list)],
        "between": [[key, *_ends(*value)] for key, value in only.conditions if isinstance(value, tuple | list)],
        "source": only.source or "",
        "since": since or _ALWAYS,
        "day": "" if moment is None else day_or_moment(moment),
    }


def _ends(least: Scalar | None, most: Scalar | None) -> tuple[float, float] | tuple[str, str]:
    """Return the ends of a range as numbers if both are, else as texts: up to 1897-06 is all of that month."""
    ends = [end for end in (least, most) if end is not None]
    if ends and all(isinstance(end, int | float) and not isinstance(end, bool) for end in ends):
        return (-inf if least is None else _float(least), inf if most is None else _float(most))
    return ("" if least is None else as_text(least), ("" if most is None else as_text(most)) + "\U0010ffff")


def _equals(value: Scalar) -> list[Scalar]:
    """Return the matches for a value: itself and its text; of a text, also its number or truth value."""
    if not isinstance(value, str):
        small = isinstance(value, float) or -(2**63) <= value < 2**63  # whole numbers have 64 bits there
        return [value if small else _float(value), as_text(value)]
    if value in ("true", "false"):
        return [value, value == "true"]
    if not _NUMBER.fullmatch(value):
        return [value]
    whole = len(value) < _DIGITS and value.removeprefix("-").isdigit()
    return [value, int(value) if whole else float(value)]


def _float(value: Scalar) -> float:
    """Return a number as Cypher has it; whole ones may be too large for that."""
    return float(min(max(value, -1e308), 1e308))
