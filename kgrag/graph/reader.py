"""The read model: what retrievers ask of one collection, in one round trip each.

What a search needs comes as one record that holds a list: a hundred records are a hundred messages to be taken apart.
"""

import json
from collections.abc import Iterator, Sequence
from typing import Any

from kgrag.graph.collections import Collection
from kgrag.graph.connection import Graph
from kgrag.graph.lucene import escape
from kgrag.identity import document_id
from kgrag.types import Filter, Passage

Scores = list[tuple[str, float]]
_FILTER_CANDIDATES = 1000  # nearest passages that a filter is tried on before the filtered set is scanned


class Reader:
    """Reads one collection; safe to share between threads."""

    def __init__(self, graph: Graph, collection: Collection) -> None:
        self._graph = graph
        self.collection = collection

    def fulltext(self, text: str, limit: int, only: Filter | None = None) -> Scores:
        """(passage id, BM25 score) of the passages that share a word with `text`, best first, ties by id."""
        query = escape(text)
        if not query or limit < 1:
            return []
        parameters: dict[str, Any] = {"index": self.collection.index("passage_text"), "query": query, "limit": limit}
        if only:
            return self._scores("search/fulltext_filtered", **parameters, **_filter(only))
        return self._scores("search/fulltext", **parameters)

    def vector(self, vector: Sequence[float], limit: int, over_fetch: int, only: Filter | None = None) -> Scores:
        """(passage id, (1 + cosine) / 2) of the passages nearest to a vector, best first, ties by id."""
        if limit < 1:
            return []
        parameters: dict[str, Any] = {"embedding": self.collection.embedding, "vector": list(vector), "limit": limit}
        index = self.collection.vector_index("Passage")
        candidates = max(over_fetch, limit)
        if not only:
            return self._scores("search/vector", index=index, candidates=candidates, **parameters)
        candidates = max(_FILTER_CANDIDATES, candidates)
        found = self._scores(
            "search/vector_candidates_filtered", index=index, candidates=candidates, **parameters, **_filter(only)
        )
        if len(found) < limit:
            found = self._scores(
                "search/vector_filtered", collection=self.collection.name, **parameters, **_filter(only)
            )
        return found

    def question(self, names: list[str], stemmed: list[str], words: list[str]) -> dict[str, Any]:
        """What the graph knows of a question's names and words: see `cypher/search/question.cypher`."""
        return self._row("search/question", collection=self.collection.name, names=names, stemmed=stemmed, words=words)

    def similar_titles(self, name: str, limit: int = 20) -> list[dict[str, Any]]:
        """Entities with titles whose name is like a normalised one, a letter or two apart in each word."""
        query = " ".join(f"{word}~1" for word in escape(name).split())
        if not query:
            return []
        index = self.collection.index("entity_name")
        return [dict(r) for r in self._graph.run("search/similar_titles", index=index, query=query, limit=limit)]

    def pathrank_seeds(self, text: str, **parameters: Any) -> list[dict[str, Any]]:
        """The passages that a walk begins with: see `cypher/expand/pathrank_seeds.cypher`."""
        row = self._row(
            "expand/pathrank_seeds",
            vector_index=self.collection.vector_index("Passage"),
            text_index=self.collection.index("passage_text"),
            embedding=self.collection.embedding,
            query=escape(text),
            **parameters,
        )
        seeds: list[dict[str, Any]] = row["seeds"]
        return seeds

    def pathrank_sources(self, ids: list[str], links: list[str]) -> dict[str, dict[str, Any]]:
        """What a hop wants to know of its sources, by passage id."""
        return {s["id"]: s for s in self._row("expand/pathrank_sources", ids=ids, links=links)["sources"]}

    def pathrank(self, **parameters: Any) -> list[dict[str, Any]]:
        """One hop of a walk: see `cypher/expand/pathrank.cypher`."""
        hops: list[dict[str, Any]] = self._row("expand/pathrank", embedding=self.collection.embedding, **parameters)[
            "hops"
        ]
        return hops

    def pathrank_names(self, ids: list[str], links: list[str], cap: int) -> tuple[list[Any], list[int]]:
        """The names that tie passages together, and the numbers of some: see `cypher/expand/pathrank_names.cypher`."""
        row = self._row("expand/pathrank_names", ids=ids, links=links, cap=cap)
        return row["passages"], row["links"]

    def ppr_seeds(self, **parameters: Any) -> dict[str, Any]:
        """The triples and passages nearest to a question: see `cypher/expand/ppr_seeds.cypher`."""
        return self._row(
            "expand/ppr_seeds",
            triple_index=self.collection.vector_index("Triple"),
            passage_index=self.collection.vector_index("Passage"),
            embedding=self.collection.embedding,
            **parameters,
        )

    def ppr(self, **parameters: Any) -> dict[str, Any]:
        """What surrounds seeds, as lists of numbers: see `cypher/expand/ppr.cypher`."""
        rows = self._rows("expand/ppr", **parameters)
        return rows[0] if rows else {"seeds": [], "passages": [], "similar": []}

    def ppr_passages(self) -> Iterator[list[Any]]:
        """Every passage with what it is tied to, as in the lists of `ppr`."""
        return (r.values() for r in self._graph.stream("expand/ppr_passages", collection=self.collection.name))

    def ppr_similar(self) -> Iterator[list[Any]]:
        """Every pair of resembling names, as in the lists of `ppr`."""
        return (r.values() for r in self._graph.stream("expand/ppr_similar", collection=self.collection.name))

    def ppr_numbers(self, ids: list[str]) -> list[list[Any]]:
        """[id, internal number, df] of entities."""
        return [r.values() for r in self._graph.run("expand/ppr_numbers", ids=ids)]

    def ppr_names(self, numbers: list[int]) -> dict[int, str]:
        """The names of nodes, by their internal numbers."""
        return dict(self._row("expand/ppr_names", numbers=numbers)["names"])

    def gnn_ret(self, **parameters: Any) -> list[dict[str, Any]]:
        """The edges of one layer of GNN-Ret: see `cypher/expand/gnn_ret.cypher`."""
        row = self._row("expand/gnn_ret", embedding=self.collection.embedding, **parameters)
        ties: list[dict[str, Any]] = row["ties"]
        return ties

    def kgp(self, **parameters: Any) -> dict[int, list[dict[str, Any]]]:
        """Where paths lead next, by their numbers: see `cypher/expand/kgp.cypher`."""
        row = self._row("expand/kgp", embedding=self.collection.embedding, **parameters)
        return {found["path"]: found["best"] for found in row["found"]}

    def mdr(self, chains: list[dict[str, Any]], branch: int, candidates: int) -> list[list[dict[str, Any]]]:
        """For each chain the passages nearest to its vector: see `cypher/expand/mdr.cypher`."""
        row = self._row(
            "expand/mdr",
            index=self.collection.vector_index("Passage"),
            embedding=self.collection.embedding,
            chains=chains,
            branch=branch,
            candidates=candidates,
        )
        found: list[list[dict[str, Any]]] = row["found"]
        return found

    def word_stems(self, ids: Sequence[str]) -> dict[str, list[str]]:
        """The stems of all words of passages, in their order."""
        if not ids:
            return {}
        return {id: stems.split() for id, stems in self._row("search/passage_word_stems", ids=list(ids))["found"]}

    def edge_neighbours(
        self, ids: Sequence[str], kind: str, density: float, cap: int, candidates: int
    ) -> dict[str, list[str]]:
        """What one kind of edges ties some passages to: see `cypher/search/edge_neighbours.cypher`.

        Similar passages are looked up in the vector index only where the graph keeps fewer.
        """
        if kind == "similar" and density <= self.collection.indexing.similar:
            kind = "stored"
        rows = self._rows(
            "search/edge_neighbours",
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
        """Document key -> the id of its passage nearest to a vector and (1 + cosine) / 2; unknown keys are left out."""
        ids = {document_id(self.collection.name, key): key for key in keys}
        rows = self._rows(
            "search/document_scores", ids=list(ids), embedding=self.collection.embedding, vector=list(vector)
        )
        return {ids[r["document"]]: (r["id"], r["score"]) for r in rows}

    def document_passages(self, keys: Sequence[str]) -> dict[str, list[str]]:
        """Document key -> the ids of its passages, in no order; unknown keys are left out."""
        ids = {document_id(self.collection.name, key): key for key in keys}
        found: dict[str, list[str]] = {}
        for r in self._rows("search/passage_ids", ids=list(ids)):
            found.setdefault(ids[r["document"]], []).append(r["passage"])
        return found

    def triple_counts(self, keys: Sequence[str]) -> dict[str, tuple[int, int]]:
        """Document key -> how many passages it has, and how many triples these state; unknown keys are left out."""
        ids = {document_id(self.collection.name, key): key for key in keys}
        rows = self._rows("search/triple_counts", ids=list(ids))
        return {ids[r["document"]]: (r["passages"], r["triples"]) for r in rows}

    def beam_start(
        self, passages: Sequence[str], triples: Sequence[str], vector: Sequence[float], beams: int
    ) -> list[dict[str, Any]]:
        """The initial triples nearest to a vector: see `cypher/expand/beam_start.cypher`."""
        row = self._row(
            "expand/beam_start",
            passages=list(passages),
            triples=list(triples),
            embedding=self.collection.embedding,
            vector=list(vector),
            beams=beams,
        )
        found: list[dict[str, Any]] = row["triples"]
        return found

    def beam_step(self, **parameters: Any) -> list[dict[str, Any]]:
        """The neighbours of beams of triples: see `cypher/expand/beam_step.cypher`."""
        row = self._row(
            "expand/beam_step",
            index=self.collection.vector_index("Triple"),
            embedding=self.collection.embedding,
            **parameters,
        )
        found: list[dict[str, Any]] = row["neighbours"]
        return found

    def similar_triples(
        self, vectors: Sequence[Sequence[float]], words: Sequence[str], limit: int, over_fetch: int
    ) -> tuple[list[list[dict[str, Any]]], list[list[dict[str, Any]]]]:
        """The triples most similar to texts by vector, and by words: see `cypher/search/similar_triples.cypher`."""
        if not vectors:
            return [], []
        row = self._row(
            "search/similar_triples",
            vector_index=self.collection.vector_index("Triple"),
            text_index=self.collection.index("triple_text"),
            embedding=self.collection.embedding,
            queries=[{"vector": list(v), "words": escape(w)} for v, w in zip(vectors, words, strict=True)],
            candidates=max(over_fetch, limit),
            limit=limit,
        )
        return row["near"], row["worded"]

    def has_triples(self) -> bool:
        """Whether the collection holds triples."""
        return bool(self._row("search/has_triples", collection=self.collection.name)["found"])

    def structured_documents(self, only: Filter, *, sections: bool) -> list[dict[str, Any]]:
        """Documents with pages, tables or headings: see `cypher/search/structured_documents.cypher`."""
        name = self.collection.name
        return self._rows(
            "search/structured_documents", collection=name, sections=sections, limit=5000, **_filter(only)
        )

    def structure(self, documents: list[str]) -> dict[str, dict[str, Any]]:
        """What documents consist of, by their ids: see `cypher/search/document_structure.cypher`."""
        return {r["document"]: r for r in self._rows("search/document_structure", ids=documents)}

    def outlines(self, documents: list[str]) -> dict[str, list[str]]:
        """The headings of documents, by their ids: see `cypher/search/outlines.cypher`."""
        return {r["document"]: r["paths"] for r in self._rows("search/outlines", ids=documents)}

    def pages(self, ids: list[str]) -> dict[str, dict[str, Any]]:
        """What stands on pages, by their ids: see `cypher/search/page_contents.cypher`."""
        return {r["id"]: r for r in self._rows("search/page_contents", ids=ids)}

    def tables(self, ids: list[str]) -> dict[str, dict[str, Any]]:
        """What tables hold, by their ids: see `cypher/search/table_contents.cypher`."""
        return {r["id"]: r for r in self._rows("search/table_contents", ids=ids)}

    def sections(self, document: str, paths: list[str], headings: list[str]) -> list[dict[str, Any]]:
        """The passages under headings: see `cypher/search/section_contents.cypher`."""
        return self._rows("search/section_contents", document=document, paths=paths, headings=headings)

    def nearest_of(self, ids: list[str], vector: Sequence[float], limit: int) -> Scores:
        """Those of some passages that are nearest to a vector, as (id, (1 + cosine) / 2), best first."""
        embedding = self.collection.embedding
        return self._scores("search/nearest_of", ids=ids, embedding=embedding, vector=list(vector), limit=limit)

    def captions(self, entities: list[str], passages: list[str]) -> dict[str, str]:
        """The names of nodes, by their ids."""
        row = self._row("search/entity_captions", entities=entities, passages=sorted(set(passages)))
        return dict(row["names"])

    def passing(self, ids: list[str], only: Filter) -> set[str]:
        """Those of some passages whose documents pass a filter."""
        return set(self._row("search/passing", ids=ids, **_filter(only))["ids"])

    def _row(self, name: str, /, **parameters: Any) -> dict[str, Any]:
        """The one row of a query that always gives one."""
        return self._rows(name, **parameters)[0]

    def _scores(self, name: str, /, **parameters: Any) -> Scores:
        return [(id, float(score)) for id, score in self._row(name, **parameters)["hits"]]

    def _rows(self, name: str, /, **parameters: Any) -> list[dict[str, Any]]:
        return [dict(r) for r in self._graph.run(name, **parameters)]

    def passages(self, ids: Sequence[str]) -> dict[str, Passage]:
        """Passages by their ids; ids that are gone are left out."""
        if not ids:
            return {}
        found = self._row("search/passages", ids=list(ids))["found"]
        return {r["id"]: passage(r["id"], r["passage"], r["document"]) for r in found}


def passage(id: str, properties: dict[str, Any], document: dict[str, Any]) -> Passage:
    """A Passage from the properties of its node and of its document's."""
    metadata = {k.removeprefix("meta_"): v for k, v in document.items() if k.startswith("meta_")}
    if document.get("metadata"):
        metadata |= json.loads(document["metadata"])
    return Passage(
        id=id,
        document=document["key"],
        title=properties["title"] or document["name"],
        text=properties["text"],
        ordinal=properties["ordinal"] or 0,
        section=properties["section"] or "",
        source=document.get("source", ""),
        metadata=metadata,
        page=properties.get("page"),
        last_page=properties.get("last_page"),
    )


def find_passages(graph: Graph, text: str, collection: str | None) -> list[tuple[str, str]]:
    """(passage id, collection) of passages by the beginning of their id, or by their document's key or title."""
    records = graph.run("search/passages_like", text=text, collection=collection)
    return [(r["id"], r["collection"]) for r in records]


def neighbourhood(graph: Graph, id: str, limit: int) -> list[dict[str, Any]]:
    """The edges around a passage, at most `limit` of each kind; keys as in `cypher/search/neighbourhood.cypher`."""
    return [dict(r) for r in graph.run("search/neighbourhood", id=id, limit=limit)]


def _filter(only: Filter) -> dict[str, Any]:
    since = only.since
    if since is not None and since.tzinfo is None:
        since = since.astimezone()
    where = {key: _as_text(value) for key, value in only.where.items()}
    return {"where": where, "source": only.source, "since": since}


def _as_text(value: object) -> str:
    """A value as Cypher's toString() writes it."""
    if isinstance(value, bool):
        return str(value).lower()
    return str(value)
