"""Answer structural questions ("page 3", "table 2 on page 7", "how many tables") by looking the parts up in the graph.

KGP, section 4 and appendix A.3: the content of a page is its text, and the content of a table is its Markdown. If a
question searches within a part, only its passages are read. A grammar handles unambiguous cases without a language
model; the model, if configured, decides on other questions with a word such as "page".
"""

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import PurePosixPath
from typing import Any, Literal, NamedTuple

from pydantic import BaseModel

from kgrag.agents import structure_grammar as grammar
from kgrag.agents.structure_grammar import Ask, Kind, Part, PartRequest, Question
from kgrag.models.prompted import PromptedModel
from kgrag.retrieval.base import Query
from kgrag.retrieval.context import SearchContext
from kgrag.text.aliases import without_parenthesis
from kgrag.text.tokens import join_name, name_words, tokens
from kgrag.values.errors import ModelError
from kgrag.values.events import Failed
from kgrag.values.results import Hit, Step

TASK = "structure"
_SHOWN = 10  # documents listed or read together
_MOST_WORDS = 8  # maximum words of a name
_LETTERS = 12_000  # characters up to which a page or table is read as a whole
Row = dict[str, Any]
_Reading = tuple[str, Step, str | None]  # passage id, the structure around it, and a text that replaces its own or None


class Place(NamedTuple):
    """A structure that was looked up. `text` is its text, empty if it was only counted."""

    kind: str
    name: str
    text: str = ""


class _Finding(NamedTuple):
    """The answer to one request, and the passages with it. Without a place, the structure is missing."""

    text: str
    place: Place | None = None
    read: Sequence[_Reading] = ()


@dataclass(frozen=True, slots=True)
class Lookup:
    """The result of a structural question.

    `text` is the text of the part, or a message that it is missing (then `found` is false). If `content` is true, the
    answer must be read from the passages in `hits`. `places`: the parts that were looked up.
    """

    text: str
    found: bool = True
    content: bool = False
    places: tuple[Place, ...] = ()
    hits: tuple[Hit, ...] = ()


class _Reply(BaseModel):
    """A language model's reading of a question."""

    kind: Kind | Literal["content"] | None = None
    ask: Ask = "text"
    number: str | int | None = None
    page: str | int | None = None
    document: str = ""
    within: bool = True


class _Document:
    """A document that a question may mean; `name` is used for it in answers."""

    def __init__(self, row: Row) -> None:
        self.id: str = row["id"]
        self.outline: list[str] = [path for path in row["outline"] if path]
        self.tops = list(dict.fromkeys(path.split(" > ")[0] for path in self.outline))
        self.counts: dict[Kind, int] = {"page": row["pages"], "table": row["tables"], "section": len(self.tops)}
        paths = [PurePosixPath((row[name] or "").replace("\\", "/")) for name in ("key", "source")]
        title = row["title"] or ""
        self.name: str = next((p.name for p in paths if re.search(r"\.\w{2,5}$", p.name)), title or row["key"])
        names = (title, without_parenthesis(title), *(n for p in paths for n in (p.name, p.stem, str(p))))
        self.names = {grammar.key(name) for name in names} - {()}

    def headed(self, part: Part) -> list[Row]:
        """Return the headings that a question names by words, number or position."""
        paths = (path.split(" > ")[:depth] for path in self.outline for depth in range(1, path.count(" > ") + 2))
        last = {" > ".join(path): path[-1] for path in paths}
        if part.heading:
            matches = [path for path in last if part.heading in grammar.heading_forms(last[path])]
            return [{"name": path} for path in matches if last[path] in part.label] or [
                {"name": path} for path in matches
            ]
        numbers = [({"name": path}, grammar.heading_number(heading)) for path, heading in last.items()]
        counted = [{"name": path} for path in self.tops]
        numbered = part.label and any(number in ("1", "2") for _, number in numbers)
        return _picked(part.number, grammar.number_of(part.label), numbers, [] if numbered else counted)

    def has(self, request: PartRequest) -> bool:
        """Return whether the document may have the requested part, judged without its text."""
        if request.kind == "section" and request.parts:
            return any(map(self.headed, request.parts))
        return all(p.number <= self.counts[request.kind] for p in request.parts) and self.counts[request.kind] > 0


def look_up(context: SearchContext, query: Query, llm: PromptedModel | None = None, depth: int = 15) -> Lookup | None:
    """Look up the part of a document's structure that a question names.

    Returns None if the question asks for content, or there is no structure.

    `depth`: maximum passages. Without `llm`, only the grammar decides; if the model fails, it decides nothing. Until a
    question is known to be structural, the graph is queried at most once, for 51 documents.
    """
    question = Question(query.text)
    request, headings = question.part(), list(question.headings())
    if not question.kinds or (llm is None and request is None and not headings):
        return None

    def read() -> Lookup | None:
        documents = _candidates(context, query, question, headings)
        content, match = False, _requested_part(question, request, headings, documents)
        if match is None and documents and llm is not None:
            content, match = _by_model(query, documents, llm)
            if match is not None and request is not None and request.beside is not None:
                match = request, match[1]  # the model's reply has room for one of the two
        return _answer(context, query, *match, depth, content=content) if documents and match is not None else None

    return context.current(read)


def _candidates(
    context: SearchContext, query: Query, question: Question, headings: Sequence[PartRequest]
) -> list[_Document]:
    """Return the candidate documents with pages, tables or headings; those named in the question come first."""
    language = context.reader.collection.language
    words, parts_of_question = name_words(tokens(query.text, language), language), query.text.split()
    names = {join_name(words[i:j]) for j in range(1, len(words) + 1) for i in range(max(0, j - _MOST_WORDS), j)}
    ends = [j for j, word in enumerate(parts_of_question, 1) if re.search(r"\w\.\w{2,5}\W*$", word)]
    files = {
        " ".join(parts_of_question[i:j]).strip("\"'“”‘’,;:?!.()")
        for j in ends
        for i in range(max(0, j - _MOST_WORDS), j)
    }
    worded = sorted({p.label.lower() for heading in headings for p in heading.parts})
    kinds = sorted(question.kinds | {"page", "table"})
    rows = context.reader.structured_documents(kinds, sorted(names), sorted(files), worded, query.filter)
    return [_Document(row) for row in rows]


def _requested_part(
    question: Question, request: PartRequest | None, headings: Sequence[PartRequest], documents: list[_Document]
) -> tuple[PartRequest, list[_Document]] | None:
    """Return the part that a question asks for, if it is unambiguous, and the candidate documents.

    An existing heading has priority over a number, and a number over a missing heading.
    """
    missing = None
    for heading in headings:
        named, covered = _named(question, heading, documents)
        if question.asks_only_for(heading, covered):
            if any(d.has(heading) for d in named or documents):
                return heading, named or documents
            missing = (heading, named) if named else missing
    if request is None:
        return missing
    named, covered = _named(question, request, documents)
    return (request, named or documents) if question.asks_only_for(request, covered) else None


def _named(question: Question, request: PartRequest, documents: list[_Document]) -> tuple[list[_Document], set[int]]:
    """Return the documents named in a question by title or file, and the offsets of the words of these names."""
    words = [(word, at) for word, at, _ in question.words if not any(a <= at < b for a, b in request.spans)]
    spans: dict[int, set[int]] = {}
    for place, document in enumerate(documents):
        for name in sorted(document.names, key=len):
            for run in (words[i : i + len(name)] for i in range(len(words) - len(name) + 1)):
                if tuple(word for word, _ in run) == name:
                    spans[place] = {at for _, at in run}
    named = [place for place, places in spans.items() if not any(places < other for other in spans.values())]
    return [documents[place] for place in named], {start for place in named for start in spans[place]}


def _by_model(
    query: Query, candidates: list[_Document], llm: PromptedModel
) -> tuple[bool, tuple[PartRequest, list[_Document]] | None]:
    """Return the part that a language model reads in a question, and whether the question searches within it.

    The part is None for a question about content, and if the model fails.
    """
    listed = "\n".join(f"- {d.name}" for d in candidates)
    try:
        reply = llm.structured(TASK, _Reply, question=query.text, documents=listed)
    except ModelError as error:
        if query.listener is not None:
            query.listener(Failed(problem=error.in_full, error=type(error).__name__))
        return False, None
    number, page = (str(value if value is not None else "").strip() for value in (reply.number, reply.page))
    if reply.kind is None or reply.kind == "content" or (reply.ask == "text" and not number and not page):
        return False, None
    parts = tuple(grammar.part_of(value) for value in re.split(r"\s*,\s*|\s+and\s+", number) if value)
    if reply.kind == "section" and re.search(r"[^\W\d_]{2}", number) and grammar.number_of(number) == number.lower():
        parts = (Part(0, number, grammar.key(number)),)
    on = (grammar.part_of(page),) if page and reply.kind == "table" else ()
    documents = [d for d in candidates if grammar.key(reply.document) in d.names] or candidates
    return reply.within and reply.ask == "text", (PartRequest(reply.kind, reply.ask, parts, on), documents)


def _answer(
    context: SearchContext, query: Query, request: PartRequest, among: list[_Document], depth: int, *, content: bool
) -> Lookup:
    kind = request.kind
    documents = [d for d in among if d.has(request)] or [d for d in among if d.counts[kind]] or among
    if len(documents) > (_SHOWN if content or request.ask == "count" else 1):
        listed = ", ".join(f"{d.name} ({_numbered(d.counts[kind], kind)})" for d in documents[:_SHOWN])
        more = " and others" if len(documents) > _SHOWN else ""
        return Lookup(f"Which document is meant? There are {listed}{more}. Name one, by its title or its file.", False)
    requests = (request,) if request.beside is None else (request.beside, request)
    every = [finding for d in documents for one in requests for finding in _findings(context, one, d, content=content)]
    there = [(finding, finding.place) for finding in every if finding.place]
    if not there:
        return Lookup("\n".join(finding.text for finding in every), found=False)
    heads = (f"{f.place.name}:\n" if f.place and f.place.text and len(every) > 1 else "" for f in every)
    text = "\n\n".join(head + finding.text for head, finding in zip(heads, every, strict=True))
    hits = _hits(context, query, [reading for finding, _ in there for reading in finding.read], depth)
    return Lookup(text, content=content and bool(hits), places=tuple(place for _, place in there), hits=hits)


def _findings(
    context: SearchContext, request: PartRequest, document: _Document, *, content: bool
) -> Iterator[_Finding]:
    """Yield the text or the count that a document has for a request, then the missing parts."""
    kind, on = request.kind, ""
    if request.ask == "count" and not request.on:
        yield _Finding(
            f"{document.name} has {_numbered(document.counts[kind], kind)}.", Place("document", document.name)
        )
        return
    structure = context.reader.row("look_up/document_structure", id=document.id) if kind != "section" else {}
    nodes = structure[f"{kind}s"] if structure else []
    if request.on:
        pages, missing = _parts(document, "page", request.on, structure["pages"])
        yield from missing
        if not pages:
            return
        on = " on " + " and ".join(f"page {page['number']}" for page in pages)
        nodes = [t for t in nodes if any((t["page"] or 0) <= g["number"] <= (t["last_page"] or 0) for g in pages)]
    if request.ask == "count":
        yield _Finding(
            f"{document.name} has {_numbered(len(nodes), kind)}{on}.", Place("page", f"{document.name},{on[3:]}")
        )
        return
    nodes, missing = _parts(document, kind, request.parts, nodes, on)
    if kind == "section":
        yield from (_section(context, document, node["name"]) for node in nodes)
    elif nodes:
        for row in context.reader.rows("look_up/part_contents", ids=[node["id"] for node in nodes]):
            text, name = row["text"], f"{document.name}, {row['name']}"
            step = Step("names", kind.capitalize(), row["name"])
            read: list[_Reading] = [(id, step, None) for id in row["passages"]]
            if content and len(text) <= _LETTERS:  # read only this page's text of passages that span several pages
                read = [(id, step, text) for id in row["passages"][:1]]
            yield _Finding(text or f"There is no text on {name}.", Place(kind, name, text), read)
    yield from missing


def _parts(
    document: _Document, kind: Kind, parts: Sequence[Part], nodes: list[Row], on: str = ""
) -> tuple[list[Row], list[_Finding]]:
    """Return the named pages, tables or sections (all if nothing is named), and the missing ones."""
    selection, missing = ([] if parts else nodes), []
    has = f"{document.name} has {_numbered(document.counts[kind] if kind == 'section' else len(nodes), kind)}{on}"
    if not parts and not nodes:
        missing.append(_Finding(f"{has}."))
    for part in parts:
        if kind == "section":
            own = document.headed(part)
        else:
            label = part.label if kind == "page" else grammar.number_of(part.label)
            own = _picked(part.number, label, [(node, _label(node)) for node in nodes], nodes)
        selection += own
        if not own:
            name = f"{part.called} {kind}" if part.number < 0 else f"{kind} {part.called}"
            missing.append(_Finding(f"{has}; there is no {name}{' there' if on else ''}."))
    return selection, missing


def _picked(number: int, label: str, labelled: Iterable[tuple[Row, str]], placed: list[Row]) -> list[Row]:
    """Return the first row with a label, else the row at a position: from 1, negative from the end."""
    if label and (matches := [node for node, name in labelled if name == label]):
        return matches[:1]
    place = number - (number > 0)
    return placed[place:][:1] if number and -len(placed) <= place < len(placed) else []


def _label(node: Row) -> str:
    """Return the label of a page, or the number of a table: from its caption, else its own."""
    if "caption" not in node:
        return str(node["label"] or "").lower()
    caption = re.match(r"\W*tab(?:le|\.)\s*(\w[\w.-]*\b)", node["caption"] or "", re.I)
    return grammar.number_of(caption[1]) if caption else str(node["number"])


def _section(context: SearchContext, document: _Document, top: str) -> _Finding:
    """Return the text under a heading, taking from each passage only the part that belongs to it.

    A passage may begin with the end of one section and continue with whole short sections under their headings.
    """
    order = document.outline
    under = [path for path in order if path == top or path.startswith(f"{top} > ")]
    marks = {path: f"\n\n{path.rsplit(' > ', 1)[-1]}\n\n" for path in order}
    read = []
    rows = context.reader.rows(
        "look_up/section_contents", document=document.id, paths=under, headings=[marks[path] for path in under]
    )
    for row in rows:
        path, text, own = row["path"], f"\n\n{row['text']}", []
        for following in order[order.index(path) + 1 if path in order else 0 :]:
            before, mark, after = text.partition(marks[following])
            if not mark:
                break
            own += [before] if path in under else []
            path, text = following, mark[2:] + after
        own += [text] if path in under else []
        if any(own):
            read.append((row["id"], Step("names", "Section", top), "\n\n".join(part.strip() for part in own).strip()))
    heading, text = top.rsplit(" > ", 1)[-1], "\n\n".join(text for _, _, text in read)
    text = text if text.startswith(heading) else f"{heading}\n\n{text}"
    return _Finding(text, Place("section", f"{document.name}, {top}", text), read)


def _hits(context: SearchContext, query: Query, read: list[_Reading], depth: int) -> tuple[Hit, ...]:
    """Return the passages with their sources, at most `depth`: the nearest to the question."""
    if len(read) > depth:
        near = context.reader.nearest_of([id for id, _, _ in read], query.vector(context.embedder), depth)
        ranks = {id: rank for rank, (id, _) in enumerate(near)}
        read = sorted(read, key=lambda one: ranks.get(one[0], depth))[:depth]
    passages, hits = context.reader.passages([id for id, _, _ in read]), []
    for rank, (id, step, text) in enumerate((one for one in read if one[0] in passages), 1):
        passage = passages[id] if text is None else replace(passages[id], text=text)
        hits.append(Hit(passage, 1 / rank, (step, Step("holds", "Passage", passage.title))))
    return tuple(hits)


def _numbered(count: int, kind: str) -> str:
    """Return a count with its noun: "no tables", "1 page", "3 tables"."""
    return f"{f'{count:,}' if count else 'no'} {kind}{'' if count == 1 else 's'}"
