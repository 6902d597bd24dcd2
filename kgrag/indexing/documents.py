"""The local stage of indexing, which needs one document alone: documents -> rows of passages, names and triples."""

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field

from kgrag.graph.property_values import dated, to_properties
from kgrag.indexing.chunking import chunk
from kgrag.indexing.document_writer import Batch, Row, add_pages, triple_properties
from kgrag.settings import IndexingSettings
from kgrag.text.aliases import passage_aliases, telling_headings, title_aliases
from kgrag.text.languages import ENGLISH, Language
from kgrag.text.tokenised import cut
from kgrag.text.tokens import caption, embedding_text, known_by, normalise, passage_name
from kgrag.values import identity
from kgrag.values.documents import Document, Triple


@dataclass(slots=True)
class ExistingDocument:
    """The ids of a document's passages and triples in the graph. `known` tells whether the graph has the document."""

    known: bool = False
    passages: set[str] = field(default_factory=set)
    triples: set[str] = field(default_factory=set)


@dataclass(slots=True)
class Plan:
    """A document to write: its passages in order with their words, and the ids of its nodes in the graph."""

    document: Document
    id: str
    content_hash: str
    passages: list[Row]
    triples: list[Row]
    held: ExistingDocument = field(default_factory=ExistingDocument)


def plan(collection: str, document: Document, settings: IndexingSettings, language: Language = ENGLISH) -> Plan:
    """Split a document into passages and attach its triples to them, without vectors."""
    document_id = identity.document_id(collection, document.key)
    seen: Counter[str] = Counter()
    passages: list[Row] = []
    for part in chunk(document, settings):
        section = _below_title(part.section, document.title)
        content = "\x1f".join((document.title, section, part.text))
        passage = identity.passage_id(document_id, content, seen[content])
        seen[content] += 1
        words = cut(document.title, part.text, section, language)
        properties: Row = {
            "id": passage,
            "collection": collection,
            "title": document.title,
            "section": section,
            "text": part.text,
            "tokens": part.tokens,
            "stems": words.stems(),  # one string: quick to look into
            "title_stems": words.title_stems(),
            "sentences": words.sentences(),
        }
        row: Row = {"id": passage, "document": document_id, "properties": properties, "tokenised": words}
        place = {"page": part.page, "last_page": part.last_page, "table": part.table, "figure": part.figure}
        passages.append(row | place)
    for number, properties in enumerate((row["properties"] for row in passages), 1):
        own = number if len(passages) > 1 else None
        properties["name"] = passage_name(document_name(document), properties["section"], own)
    return Plan(
        document=document,
        id=document_id,
        content_hash=identity.content_hash(document),
        passages=passages,
        triples=list(_triples(collection, document.triples, passages, language)),
    )


def _below_title(section: str, title: str) -> str:
    """Return a path of headings without the document's title at its beginning."""
    first, _, rest = section.partition(" > ")
    return rest if first == title else section


def _outline(document: Document) -> str:
    """Return the headings that have text below them, in order, one path per line."""
    paths = (_below_title(s.heading, document.title) for s in document.sections if s.text.strip())
    return "\n".join(dict.fromkeys(path for path in paths if path and "\n" not in path))


def _triples(collection: str, triples: Iterable[Triple], passages: list[Row], language: Language) -> Iterator[Row]:
    """Yield each triple with the passage that holds most of its subject and object. The first passage wins ties."""
    seen: set[str] = set()
    texts = [f"{p['properties']['title']}\n{p['properties']['text']}".lower() for p in passages]
    for triple in triples:
        subject, obj = normalise(triple.subject, language), normalise(triple.object, language)
        if not subject or not obj or not passages:
            continue
        best = 0
        if len(passages) > 1:
            ends = (triple.subject.lower(), triple.object.lower())
            best = max(range(len(texts)), key=lambda i: sum(end in texts[i] for end in ends))
        passage = passages[best]["id"]
        key = identity.triple_id(passage, triple.subject, triple.predicate, triple.object)
        if key in seen:
            continue
        seen.add(key)
        yield {
            "id": key,
            "passage": passage,
            "subject": identity.entity_id(collection, subject),
            "object": identity.entity_id(collection, obj),
            "names": ((subject, triple.subject), (obj, triple.object)),
            "properties": triple_properties(key, collection, triple),
        }


def document_name(document: Document) -> str:
    """Return the name of a document. The names of its passages end with it."""
    return caption(document.title or document.key)


def document_properties(collection: str, document_id: str, document: Document) -> Row:
    """Return the properties of a Document node."""
    properties: Row = {
        "id": document_id,
        "name": document_name(document),
        "collection": collection,
        "key": document.key,
        "title": document.title,
        "source": document.source or document.key,
    }
    properties |= {key: value for key, value in file_properties(document).items() if value is not None}
    if outline := _outline(document):
        properties["outline"] = outline
    return properties | dated(document.metadata) | to_properties(document.metadata)


def file_properties(document: Document) -> Row:
    """Return the properties of a document's file. Missing values are None."""
    file = document.file
    if file is None:
        return dict.fromkeys(("file", "root", "fingerprint", "file_documents", "file_problems"))
    return {
        "file": file.key,
        "root": file.root or None,
        "fingerprint": file.fingerprint or None,
        "file_documents": file.documents or None,
        "file_problems": file.problems or None,
    }


def split(plans: Iterable[Plan], size: int) -> Iterator[list[tuple[Plan, int, int]]]:
    """Yield groups of parts (plan, first passage, end), each of about `size` passages.

    A long document spans several groups. Its parts stay in order, and the last one ends where the document ends.
    """
    group: list[tuple[Plan, int, int]] = []
    count = 0
    for item in plans:
        start = 0
        while True:
            end = min(len(item.passages), start + size - count)
            group.append((item, start, end))
            count += end - start
            if count >= size:
                yield group
                group, count = [], 0
            start = end
            if start >= len(item.passages):
                break
    if group:
        yield group


def build_batch(
    collection: str, parts: list[tuple[Plan, int, int]], language: Language = ENGLISH
) -> tuple[Batch, list[str]]:
    """Return the rows of the parts without vectors, and the texts to embed: passages first, then triples."""
    batch = Batch()
    fresh: list[Row] = []
    fresh_triples: list[Row] = []
    for item, start, end in parts:
        if start == 0:
            properties = document_properties(collection, item.id, item.document)
            batch.documents.append({"id": item.id, "properties": properties})
            add_names(batch, collection, item, language)
        part = item.passages[start:end]
        fresh.extend(p for p in part if p["id"] not in item.held.passages)
        add_passage_names(batch, collection, item, part, language)
        ids = {p["id"] for p in part}
        fresh_triples.extend(t for t in item.triples if t["passage"] in ids and t["id"] not in item.held.triples)
        if end >= len(item.passages):
            _seal(batch, collection, item)
    texts = [
        embedding_text(p["properties"]["title"], p["properties"]["section"], p["properties"]["text"]) for p in fresh
    ]
    texts += [t["properties"]["text"] for t in fresh_triples]
    batch.passages = [{key: p[key] for key in ("id", "document", "properties")} for p in fresh]
    for triple in fresh_triples:
        for normal, surface in triple["names"]:
            entity_row(batch.entities, collection, normal, surface, language)
        batch.triples.append({key: triple[key] for key in ("id", "passage", "subject", "object", "properties")})
    return batch, texts


def places(parts: list[tuple[Plan, int, int]], batch: Batch) -> list[str]:
    """Return the place of each embedded text of a batch: passages first, then triples."""
    sources = {p["id"]: plan.document.source or plan.document.key for plan, _, _ in parts for p in plan.passages}
    return [sources[row["id"]] for row in batch.passages] + [sources[row["passage"]] for row in batch.triples]


def add_names(batch: Batch, collection: str, item: Plan, language: Language) -> None:
    """Add the names of a document from its title and its first words."""
    lead = item.passages[0]["properties"]["text"][:200] if item.passages else ""
    about = []
    for alias in title_aliases(item.document.title, lead, language):
        entity = entity_row(batch.entities, collection, alias.normal, alias.surface, language)
        about.append({"id": item.id, "entity": entity, "weight": alias.weight, "text": alias.surface})
    batch.about.extend(about)
    if item.held.known:
        batch.rewritten.append({"id": item.id, "entities": [a["entity"] for a in about]})


def add_passage_names(batch: Batch, collection: str, item: Plan, part: Sequence[Row], language: Language) -> None:
    """Add names from the text of each passage, if the document has several, or has headings and no title."""
    headings = telling_headings({section.heading for section in item.document.sections})
    for passage in part:
        about = []
        if len(item.passages) > 1 or (headings and not item.document.title):
            properties = passage["properties"]
            for alias in passage_aliases(properties["section"], properties["text"], headings, language):
                entity = entity_row(batch.entities, collection, alias.normal, alias.surface, language)
                row = {"id": passage["id"], "entity": entity, "weight": alias.weight, "text": alias.surface}
                about.append(row)
        batch.passages_about.extend(about)
        if passage["id"] in item.held.passages:
            batch.renamed.append({"id": passage["id"], "entities": [a["entity"] for a in about]})


def _seal(batch: Batch, collection: str, item: Plan) -> None:
    ids = [p["id"] for p in item.passages]
    names = [p["properties"]["name"] for p in item.passages]
    batch.sealed.append({"id": item.id, "names": names, "passages": ids, "content_hash": item.content_hash})
    batch.stale_passages.extend(sorted(item.held.passages.difference(ids)))
    batch.stale_triples.extend(sorted(item.held.triples.difference(t["id"] for t in item.triples)))
    if item.held.known or item.document.pages or item.document.tables or item.document.figures:
        add_pages(batch.pages, collection, item.id, item.document, item.passages)


def entity_row(rows: dict[str, Row], collection: str, normal: str, surface: str, language: Language) -> str:
    """Add the row of an entity with its smallest spelling, and return its id."""
    entity = identity.entity_id(collection, normal)
    before = rows.get(entity)
    if before is None or surface < before["name"]:
        rows[entity] = {"id": entity, "name": surface, **known_by(normal, language)}
    return entity
