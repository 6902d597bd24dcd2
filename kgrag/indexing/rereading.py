"""Rereading: recompute the words of a collection after a new stemmer or a change of language.

Passages keep their texts, vectors and facts. Their words, their names, and all counts and edges derived from them are
recomputed. The collection has no stemmer until that is done, so the next writer resumes a killed run.
"""

from collections.abc import Iterator, Sequence
from itertools import chain

from kgrag.graph import schema
from kgrag.graph.collections import Collection, open_collection
from kgrag.graph.connection import Graph, Transaction
from kgrag.indexing.document_writer import Batch, Row, settle_entities, write_batch
from kgrag.indexing.documents import ExistingDocument, Plan, add_names, add_passage_names, entity_row
from kgrag.text.languages import STEMMER, check_language
from kgrag.text.tokenised import TokenisedPassage
from kgrag.text.tokens import normalise
from kgrag.values.documents import Document, Section
from kgrag.values.events import Progress, no_progress

_BATCH = 1000  # passages or facts a transaction
_STAGE = "texts read again"


def change_language(graph: Graph, name: str, code: str, progress: Progress, *, always: bool = False) -> Collection:
    """Read the texts of a collection in another language. Call `run_corpus_stages` afterwards.

    A collection already in that language is read again only with `always`.

    Raises:
        ConfigurationError: kgrag knows no language of this code.
        NotFoundError: there is no such collection.
    """
    check_language(code)
    collection = open_collection(graph, name)
    indexing = collection.indexing.model_copy(update={"language": code})
    changes = always or collection.language.code != code
    graph.run(
        "write/begin_rereading",
        name=name,
        language=code,
        settings=indexing.model_dump_json(),
        rereading=changes or collection.rereading,
    )
    if changes:
        read_again(graph, open_collection(graph, name), progress)
    return open_collection(graph, name)


def resume(graph: Graph, name: str) -> None:
    """Complete a killed change of language."""
    if graph.run("stages/rereading", collection=name):
        read_again(graph, open_collection(graph, name), no_progress)


def read_again(graph: Graph, collection: Collection, progress: Progress) -> None:
    """Recompute the words of passages and the names of titles, headings and facts, and mark all passages."""
    name = collection.name
    graph.run("write/uncount_words", collection=name)
    graph.run("write/uncount_names", collection=name)
    plans = list(_plans(graph, collection))
    total = sum(len(plan.passages) for plan in plans)
    done = 0
    for group in _groups(plans):
        progress(_STAGE, done, total)
        _write(graph, collection, group)
        done += sum(len(plan.passages) for plan in group)
    progress(_STAGE, done, total)
    _tie_facts(graph, collection)
    schema.renew_fulltext_indexes(graph, collection.number, collection.indexed)
    graph.run("write/end_rereading", name=name, stemmer=STEMMER)


def _plans(graph: Graph, collection: Collection) -> Iterator[Plan]:
    """Yield the documents of a collection with their current passages."""
    for row in graph.stream("stages/written_texts", collection=collection.name):
        headings = (row["outline"] or "").split("\n")
        document = Document(row["id"], tuple(Section("", heading) for heading in headings if heading), row["title"])
        passages = [{"id": properties["id"], "properties": properties} for properties in row["passages"]]
        existing = ExistingDocument(known=True, passages={passage["id"] for passage in passages})
        yield Plan(document, row["id"], "", passages, [], existing)


def _groups(plans: Sequence[Plan]) -> Iterator[list[Plan]]:
    group: list[Plan] = []
    for plan in plans:
        group.append(plan)
        if sum(len(each.passages) for each in group) >= _BATCH:
            yield group
            group = []
    if group:
        yield group


def _write(graph: Graph, collection: Collection, group: Sequence[Plan]) -> None:
    batch, language = Batch(), collection.language
    for plan in group:
        add_names(batch, collection.name, plan, language)
        add_passage_names(batch, collection.name, plan, plan.passages, language)
    write_batch(graph, collection, batch)
    rows = []
    for plan in group:
        for passage in plan.passages:
            own = passage["properties"]
            words = TokenisedPassage(plan.document.title, own["text"], own["section"], language)
            rows.append(
                {
                    "id": passage["id"],
                    "stems": words.stems(),
                    "title_stems": words.title_stems(),
                    "sentences": words.sentences(),
                }
            )
    for start in range(0, len(rows), _BATCH):
        graph.run("write/recount_passages", rows=rows[start : start + _BATCH])


def _tie_facts(graph: Graph, collection: Collection) -> None:
    """Link the facts of a collection to the current entities of their subjects and objects."""
    facts = list(graph.stream("stages/written_facts", collection=collection.name))
    for start in range(0, len(facts), _BATCH):
        entities: dict[str, Row] = {}
        rows: list[Row] = []
        typed: set[str] = set()
        for fact in facts[start : start + _BATCH]:
            row = {"id": fact["id"]}
            for end in ("subject", "object"):
                # an extracted fact may be about an entity that its passage calls otherwise
                surface = fact[end] if fact[f"{end}_is_own"] else fact[f"{end}_name"]
                normal = normalise(surface, collection.language) or fact[f"{end}_normal"]
                entity = entity_row(entities, collection.name, normal, surface, collection.language)
                row[end] = entity
                typed |= {entity} if fact["relation"] else set()
            if any(row[end] != fact[f"{end}_id"] for end in ("subject", "object")):
                rows.append(row)
        named = [entities[id] for id in sorted({id for row in rows for id in (row["subject"], row["object"])})]
        typed &= {row["id"] for row in named}

        def write(tx: Transaction, rows: list[Row] = rows, named: list[Row] = named, typed: set[str] = typed) -> None:
            labels = [collection.label("Entity")]
            tx.run("write/entities", rows=named, collection=collection.name, labels=labels)
            left = tx.run("write/move_fact_ends", rows=rows)
            settle_entities(tx, set(chain.from_iterable(r["entities"] for r in left)), typed)

        if rows:
            graph.write(write)
