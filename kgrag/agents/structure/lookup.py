"""Structural questions: "page 3", "table 2 on page 7", "how many tables". What they name is looked up in the graph.

KGP, section 4 and appendix A.3: the content of a page is its text, that of a table its Markdown; no language model is
asked for them. Where something is looked for within a structure, its passages alone are read. Rules decide; a language
model does when they do not, if there is one.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import PurePosixPath
from typing import Any

from pydantic import BaseModel, field_validator

from kgrag.agents.structure.headings import HeadingQuestion, key_of
from kgrag.agents.structure.parts import (
    ACTIONS,
    Place,
    Reading,
    Result,
    Row,
    Structured,
    also,
    called,
    has_section,
    headings,
    numbered,
)
from kgrag.agents.structure.words import (
    Ask,
    Kind,
    Named,
    Ref,
    after_about,
    foreign,
    kinds_named,
    named,
    parts,
    roman,
    spelt,
    topic,
)
from kgrag.errors import ModelError
from kgrag.models.tasks import Tasks
from kgrag.retrieval.base import Index, Query
from kgrag.types import Hit, Step

TASK = "structure"
_SHOWN = 10  # documents that are named
_TOLD = 50  # documents that the model is told of
_LOOKED_INTO = 50  # documents whose pages of a number are read together
_COMPARED = 500  # documents whose headings are compared with a question


@dataclass(frozen=True, slots=True)
class Lookup:
    """What a structural question led to.

    `text` is what stands there, or says what is missing (then it is not `found`); with `content` it is not the answer:
    the passages of `hits` are to be read for it. `places`: what was looked up.
    """

    text: str
    found: bool = True
    content: bool = False
    places: tuple[Place, ...] = ()
    hits: tuple[Hit, ...] = ()


class _Said(BaseModel):
    """What the language model makes of a question."""

    kind: Kind | None = None
    ask: Ask = "text"
    number: str = ""
    page: str = ""
    document: str = ""
    within: bool = True

    @field_validator("kind", mode="before")
    @classmethod
    def _content(cls, value: Any) -> Any:
        return None if value == "content" else value

    @field_validator("number", "page", mode="before")
    @classmethod
    def _as_text(cls, value: Any) -> Any:
        return str(value) if isinstance(value, int) else value or ""


def look_up(index: Index, query: Query, tasks: Tasks | None = None, depth: int = 15) -> Lookup | None:
    """What a question names of the structure of a document; None when it asks for content, or there is no structure.

    `depth`: passages at most. Without `tasks` rules alone decide; a model that fails decides nothing.
    """
    kinds = kinds_named(query.text)
    if not kinds:
        return None
    heading = HeadingQuestion(query.text)
    asked = None if heading.is_quoted else named(query.text)
    rows = index.reader.structured_documents(query.filter, sections="section" in kinds)
    known = [_document(row) for row in rows]
    if not known:
        return None
    if asked is None and not heading.is_quoted:
        asked = named(query.text, {part for d in known for name in d.names for part in name})
    if (asked is None or asked.ask == "list") and "section" in kinds:
        headed = _by_heading(index, heading, known)
        if isinstance(headed, Lookup):
            return headed
        asked, known = headed or (asked, known)
    by_rules = asked is not None
    if asked is None and tasks is not None:
        asked = _by_model(query.text, known, tasks)
    if asked is None:
        return None
    chosen, covered = _meant(asked, known)
    if by_rules and foreign(asked, covered):
        return None
    if asked.kind == "section" and asked.refs and not chosen and 1 < len(known) <= _COMPARED:
        known = [d for d in _outlined(index, known) if has_section(asked, d)] or known
    content = bool(topic(asked, covered))
    if content and asked.ask != "text":
        return None
    return _found(index, query, asked, chosen or known, content=content, depth=depth)


def _by_heading(
    index: Index, question: HeadingQuestion, known: list[Structured]
) -> tuple[Named, list[Structured]] | Lookup | None:
    """What a question names by a heading's words, and the documents that it can be of, or what is missing.

    None where its words are no heading, and need not be meant for one.
    """
    if not question.is_one:
        return None
    everything = Named("section", "text", (), (), question.words, ())
    whole, covered = _meant(everything, known)
    compared = _outlined(index, known if len(known) <= _COMPARED else whole[:_COMPARED])
    outlines = [headings(d) for d in compared]
    asked = question.read(outlines, covered) or question.guess(outlines, covered)
    if asked is None:
        return None
    chosen, _ = _meant(asked, known)
    among = chosen or compared
    having = [d for d in among if d.parts and has_section(asked, d)]
    if having or len(among) == 1:
        return asked, having or among
    if not among:
        return Lookup(_which(known, "section"), found=False)
    (ref,) = asked.refs
    nearest = {f"{near} ({d.name})" for d in among if d.parts for near in headings(d).nearest(ref.key)}
    return Lookup(f"No document has a section {called(ref)}.{also(sorted(nearest)[:_SHOWN])}", found=False)


def _outlined(index: Index, documents: list[Structured]) -> list[Structured]:
    """The documents, told their headings."""
    outlines = index.reader.outlines([d.id for d in documents])
    for document in documents:
        paths = outlines.get(document.id, [])
        document.parts = {"pages": [], "tables": [], "sections": [{"path": path} for path in paths]}
    return documents


def _found(
    index: Index, query: Query, asked: Named, documents: list[Structured], *, content: bool, depth: int
) -> Lookup:
    several = _LOOKED_INTO if content else _SHOWN if asked.ask == "count" else 1
    if len(documents) > several:
        having = [d for d in documents if d.counts.get(asked.kind, 1)] or documents
        if len(having) > 1:
            return Lookup(_which(having, asked.kind), found=False)
        documents = having
    structure = index.reader.structure([d.id for d in documents])
    result = Result()
    for document in documents:
        document.parts = structure.get(document.id, {"pages": [], "tables": [], "sections": []})
        ACTIONS[asked.ask](index, asked, document, result)
    if not result.texts:
        return Lookup("\n".join(result.missing[:_SHOWN]), found=False)
    read = result.held
    if content:
        read = result.read if len(result.read) <= depth else _nearest(index, query, result.read, depth)
    hits = _hits(index, read[:depth])
    return Lookup(_joined(result), content=content and bool(hits), places=tuple(result.places), hits=hits)


def _joined(result: Result) -> str:
    texts, missing = result.texts, result.missing
    if len(texts) == 1 and not missing:
        return texts[0][1]
    return "\n\n".join([*(f"{head}:\n{text}" if head else text for head, text in texts), *missing[:_SHOWN]])


def _nearest(index: Index, query: Query, read: Sequence[Reading], depth: int) -> list[Reading]:
    """Those nearest to the question come first."""
    near = index.reader.nearest_of([x.passage for x in read], query.vector(index.embedder), depth)
    ranks = {id: rank for rank, (id, _) in enumerate(near)}
    return sorted(read, key=lambda x: ranks.get(x.passage, depth))


def _hits(index: Index, read: Sequence[Reading]) -> tuple[Hit, ...]:
    """The passages with what holds them."""
    held = index.reader.passages([x.passage for x in read])
    hits = []
    for rank, x in enumerate((x for x in read if x.passage in held), 1):
        passage = held[x.passage] if x.text is None else replace(held[x.passage], text=x.text)
        hits.append(Hit(passage, 1 / rank, (Step("names", x.label, x.name), Step("holds", "Passage", passage.title))))
    return tuple(hits)


def _document(row: Row) -> Structured:
    file = PurePosixPath((row["source"] or row["key"]).replace("\\", "/")).name
    key = PurePosixPath(row["key"].replace("\\", "/")).name
    shown = next((name for name in (key, file) if re.search(r"\.\w{2,5}$", name)), row["title"] or row["key"])
    names = [parts(name) for name in (row["title"] or "", file, PurePosixPath(file).stem, key, PurePosixPath(key).stem)]
    counts = {"page": row["pages"], "table": row["tables"]}
    return Structured(row["id"], shown, [name for name in names if name], counts)


def _meant(asked: Named, known: Sequence[Structured]) -> tuple[list[Structured], set[int]]:
    """The documents that the question names, and the numbers of the words that do."""
    taken = {i for ref in (*asked.refs, *asked.on) for i in range(ref.start, ref.end)}
    said = [
        (part, i)
        for i, word in enumerate(asked.words)
        if i not in taken and not after_about(asked, i)
        for part in parts(word)
    ]
    spans: list[tuple[Structured, set[int]]] = []
    for document in known:
        longest: set[int] = set()
        for name in document.names:
            for at in range(len(said) - len(name) + 1):
                if [part for part, _ in said[at : at + len(name)]] == name and len(name) > len(longest):
                    longest = {i for _, i in said[at : at + len(name)]}
        if longest:
            spans.append((document, longest))
    whole = [(d, span) for d, span in spans if not any(span < other for _, other in spans)]
    free = [i for i in asked.rest if not after_about(asked, i)]
    shared = []
    for document in known:
        words = {part for name in document.names for part in name}
        shared.append({i for i in free if parts(asked.words[i]) and words.issuperset(parts(asked.words[i]))})
    best = max(map(len, shared))
    if whole and not best > max(len(span & set(free)) for _, span in whole):  # "the annual report" is no report.pdf
        return [d for d, _ in whole], {i for _, span in whole for i in span}
    if not best:
        return [], set()
    some = [(d, s) for d, s in zip(known, shared, strict=True) if len(s) == best]
    return [d for d, _ in some], {i for _, s in some for i in s}


def _by_model(question: str, known: Sequence[Structured], tasks: Tasks) -> Named | None:
    """What a language model takes the question for; None for content, and when it fails."""
    listed = "\n".join(f"- {d.name}" for d in known[:_TOLD])
    try:
        said = tasks.structured(TASK, _Said, question=question, documents=listed)
    except ModelError:
        return None
    if said.kind is None:
        return None
    words = (*spelt(question), *spelt(said.document))
    nowhere = len(words)
    refs = tuple(_ref(said.kind, value, nowhere) for value in [said.number.strip()] if value)
    on = tuple(_ref("page", value, nowhere) for value in [said.page.strip()] if value and said.kind == "table")
    if said.kind == "page" and said.ask == "text" and not refs:
        return None
    rest = tuple(range(len(words))) if said.within and said.ask == "text" else ()
    return Named(said.kind, said.ask, refs, on, words, rest)


def _ref(kind: Kind, value: str, place: int) -> Ref:
    number = int(value) if re.fullmatch(r"-?\d{1,5}", value) else 0
    if kind == "section" and re.search(r"[^\W\d_]{2}", value) and not roman(value):
        return Ref(kind, 0, value, place, place, key_of(spelt(value)))
    return Ref(kind, number, "" if number < 0 else value.lower(), place, place)


def _which(documents: Sequence[Structured], kind: Kind) -> str:
    listed = []
    for document in documents[:_SHOWN]:
        count = document.counts.get(kind)
        listed.append(f"{document.name} ({numbered(count, kind)})" if count is not None else document.name)
    more = f" and {len(documents) - _SHOWN:,} more" if len(documents) > _SHOWN else ""
    return f"Which document is meant? There are {', '.join(listed)}{more}. Name one, by its title or its file."
