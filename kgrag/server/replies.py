"""What tools reply: typed forms with texts cut to what a model can read, and without vectors."""

import json
from collections.abc import Iterable, Mapping
from itertools import zip_longest
from typing import Any

from pydantic import BaseModel, Field

from kgrag.agents.lookup import Lookup
from kgrag.graph.description import visible
from kgrag.graph.queries import Parameter, Query
from kgrag.retrieval.quoted_trail import told_trail
from kgrag.retrieval.trail import trail
from kgrag.values.events import Answer
from kgrag.values.forms import plain
from kgrag.values.results import CollectionInfo, Passage, Ranking
from kgrag.values.rows import Edge, Node, Path, Rows

_LEAST = 200  # characters that a text keeps, however many there are
_VALUE = 1000  # characters of one value of a row

Json = dict[str, Any]


class PassageReply(BaseModel):
    """A passage. `uri` names it as a resource; `cut`: the text goes on there."""

    uri: str
    id: str
    title: str
    section: str = ""
    place: str = Field("", description="its pages, where the document has pages")
    source: str = ""
    text: str
    cut: bool = False


class HitReply(PassageReply):
    """A passage that was found. `score` compares within one reply only; `trail`: the path that led to it.

    `also_in` names documents that hold the same text.
    """

    rank: int
    score: float
    trail: str
    also_in: str = ""


class HopReply(BaseModel):
    """A step of the trail that explains a ranking: the sentence of a passage that names the next, or says most."""

    title: str
    sentence: str
    names: str = Field(description="where the trail goes on; empty at its end")


class SearchReply(BaseModel):
    """Passages for a question, best first."""

    collection: str
    retriever: str
    hits: list[HitReply]
    hops: list[HopReply] = Field([], description="the trail in the words of the passages; empty where none explains it")
    notes: list[str] = []


class CitationReply(PassageReply):
    """A passage that an answer cites as [number]."""

    number: int


class AskReply(BaseModel):
    """An answer with its evidence. `found`: whether the evidence holds it; `problem`: what went wrong, if anything.

    `unsupported`: names and numbers of the answer that stand in no passage that it was read from.
    """

    collection: str
    system: str
    answer: str
    found: bool
    problem: str = ""
    unsupported: list[str] = []
    citations: list[CitationReply]
    calls: int
    tokens: int
    seconds: float


class LookUpReply(BaseModel):
    """What stands on a page, in a table or in a section; `named` is false where the question names none of these."""

    named: bool
    text: str = ""
    found: bool = False
    cut: bool = False


class NeighbourReply(BaseModel):
    """A node beside a passage, by the kind of edge between them."""

    edge: str
    label: str
    name: str


class OpenedReply(BaseModel):
    """A passage and what stands around it in the graph."""

    passage: PassageReply
    neighbours: list[NeighbourReply]


class RowsReply(BaseModel):
    """Rows of a query, column -> value; `cut` says why some are missing, if they are."""

    columns: list[str]
    rows: list[Json]
    cut: str = ""


class CollectionReply(BaseModel):
    """A collection at a glance."""

    name: str
    kind: str
    documents: int
    passages: int
    entities: int
    triples: int


class SavedQueryReply(BaseModel):
    """A saved query. The collection is filled in where it is one of its parameters."""

    name: str
    purpose: str
    parameters: list[str] = Field([], description="name: TYPE = default; one without a default is needed")


class DescribeReply(BaseModel):
    """What can be asked here."""

    collections: list[CollectionReply]
    saved_queries: list[SavedQueryReply]
    language_model: bool = Field(description="whether one is configured, which ask needs")


def address(collection: str, passage: str) -> str:
    """Return the address of a passage as a resource."""
    return f"kgrag://{collection}/passage/{passage}"


def described(info: CollectionInfo) -> CollectionReply:
    """Return a collection at a glance."""
    documents, passages, entities, triples = (
        info.counts.get(label, 0) for label in ("Document", "Passage", "Entity", "Triple")
    )
    return CollectionReply(
        name=info.name, kind=info.kind, documents=documents, passages=passages, entities=entities, triples=triples
    )


def open_parameters(query: Query) -> list[Parameter]:
    """Return the parameters of a saved query for the caller: without the collection, and a vector of words."""
    return [p for p in query.parameters if p.name not in ("collection", "vector")]


def saved(name: str, query: Query) -> SavedQueryReply:
    """Return a saved query with its open parameters."""
    parameters = [
        f"{p.name}: {p.type}" if p.default is None else f"{p.name}: {p.type} = {p.default}"
        for p in open_parameters(query)
    ]
    return SavedQueryReply(name=name, purpose=query.purpose, parameters=parameters)


def ranked(ranking: Ranking, collection: str, characters: int) -> SearchReply:
    """Return the passages of a ranking, their texts of at most so many characters together."""
    share = _share(characters, len(ranking))
    hits = [
        HitReply(
            rank=rank, score=round(hit.score, 4), trail=trail(hit), also_in=hit.also_in, **_passage(hit.passage, share)
        )
        for rank, hit in enumerate(ranking, 1)
    ]
    hops = [
        HopReply(title=hop.title, sentence=hop.sentence, names=hop.name)
        for hop in told_trail(ranking.hits, ranking.query)
    ]
    notes = list(ranking.notes)
    return SearchReply(collection=collection, retriever=ranking.retriever, hits=hits, hops=hops, notes=notes)


def answered(answer: Answer, collection: str, characters: int) -> AskReply:
    """Return an answer and its citations."""
    share = _share(characters - len(answer.text), len(answer.citations))
    return AskReply(
        collection=collection,
        system=answer.system,
        answer=answer.text,
        found=answer.found,
        problem=answer.problem,
        unsupported=list(answer.unsupported),
        citations=[CitationReply(number=c.number, **_passage(c.passage, share)) for c in answer.citations],
        calls=answer.usage.calls,
        tokens=answer.usage.prompt_tokens + answer.usage.completion_tokens,
        seconds=round(answer.seconds, 2),
    )


def looked_up(lookup: Lookup | None, characters: int) -> LookUpReply:
    """Return the result of a structural question; where it is about contents, their texts."""
    if lookup is None:
        return LookUpReply(named=False)
    whole = "\n\n".join([lookup.text, *(hit.passage.text for hit in lookup.hits)] if lookup.content else [lookup.text])
    text = _cut(whole, characters)
    return LookUpReply(named=True, text=text, found=lookup.found, cut=len(text) < len(whole))


def opened(passage: Passage, edges: Iterable[Json], characters: int) -> OpenedReply:
    """Return a passage with its neighbours."""
    beside = [NeighbourReply(edge=e["type"], label=e["label"], name=e["name"] or "") for e in edges]
    return OpenedReply(passage=PassageReply(**_passage(passage, characters)), neighbours=beside)


def listed(rows: Rows, characters: int) -> RowsReply:
    """Return rows, as many as fit; long texts in them are cut."""
    result: list[Json] = []
    left, cut = characters, rows.cut or ""
    for row in rows:
        values = {column: _value(value) for column, value in row.items()}
        left -= len(json.dumps(values, ensure_ascii=False))
        if left < 0 and result:
            cut = f"{len(result)} of {len(rows)} rows: more would be too long. Return less, or LIMIT and SKIP."
            break
        result.append(values)
    return RowsReply(columns=list(rows.columns), rows=result, cut=cut)


def _passage(passage: Passage, characters: int) -> Json:
    text = _cut(passage.text, characters)
    return {
        "uri": address(passage.collection, passage.id),
        "id": passage.id,
        "title": passage.title,
        "section": passage.section,
        "place": passage.place,
        "source": passage.source,
        "text": text,
        "cut": len(text) < len(passage.text),
    }


def _share(characters: int, texts: int) -> int:
    return max(_LEAST, characters // max(1, texts))


def _cut(text: str, characters: int) -> str:
    """Return the beginning of a text, cut between words, its lines unchanged."""
    if len(text) <= characters:
        return text
    head = text[: characters - 2]
    words = head.rsplit(maxsplit=1)
    return f"{words[0] if len(words) > 1 else head} …"


def _value(value: Any) -> Any:
    """Return a value of a row in plain forms: nodes and edges by label and properties, upkeep apart; long texts cut."""
    if isinstance(value, str):
        return _cut(value, _VALUE)
    if isinstance(value, Node):
        return {"labels": list(value.kinds), **_value(visible(value))}
    if isinstance(value, Edge):
        return {"type": value.type, **_value(visible(value))}
    if isinstance(value, Path):
        return [_value(part) for pair in zip_longest(value.nodes, value.edges) for part in pair if part is not None]
    if isinstance(value, Mapping):
        return {key: _value(item) for key, item in value.items()}
    return [_value(item) for item in value] if isinstance(value, list | tuple) else plain(value)
