"""The corpus-wide stages, in their order: word counts, mentions, keywords, nearest neighbours and similar names.

Each stage visits only the nodes that are marked for it (`todo`), and takes its mark off in the transaction that writes
its result, so it resumes after any interruption. A new name marks the passages that hold it. So does a word whose
document frequency passes a power of two. Ingesting a corpus in two halves therefore gives the same graph as at once.
"""

from collections.abc import Callable, Mapping

from kgrag.engines import IN_PROCESS, Engine
from kgrag.graph.collections import Collection
from kgrag.graph.connection import Graph
from kgrag.graph.reader import FEW
from kgrag.graph.schema import await_collection_indexes, refill_fulltext_indexes, renew_fulltext_indexes
from kgrag.indexing.index_sync import synchronise
from kgrag.indexing.links import link_documents
from kgrag.indexing.mentions import count_names, link_mentions, spread_names
from kgrag.indexing.similar import link_similar, link_synonyms
from kgrag.indexing.stage import StageContext
from kgrag.indexing.statistics import count_statistics, link_keywords, record_density, spread_words
from kgrag.models.embed import Embedder
from kgrag.settings import Settings
from kgrag.values.events import Progress

REFILLED = 2000
"""Passages up to which full-text indexes are filled again after every removal: .3 ms each, while with a new index Neo4j
plans all queries again, which takes seconds."""
SHARE = 0.001  # share of passages that may be removed before a recount; until then only rare words weigh differently


def _mentions(work: StageContext) -> None:
    spread_names(work)
    link_mentions(work)
    count_names(work)
    record_density(work)


def _keywords(work: StageContext) -> None:
    link_keywords(work, spread_words(work))


def _similar(work: StageContext) -> None:
    link_similar(work)
    link_synonyms(work)


STAGES: Mapping[str, Callable[[StageContext], None]] = {
    "words": count_statistics,
    "mentions": _mentions,
    "keywords": _keywords,
    "similar": _similar,
}
"""The stages in their order, by the mark that every new passage has for each."""


def run_corpus_stages(
    graph: Graph,
    collection: Collection,
    settings: Settings,
    progress: Progress,
    embedder: Embedder | None = None,
    *,
    removed: bool = False,
    engine: Engine = IN_PROCESS,
) -> None:
    """Visit every marked node. Writes nothing if no node is marked and no passage was `removed`.

    Full-text indexes that still count removed passages are rebuilt, since these would influence scores. A passage index
    outside the graph is synchronised last in any case. Without an embedder, names without a vector keep their mark.
    `engine` tokenises the texts.
    """
    left = graph.run("stages/unfinished", collection=collection.name)[0]
    if removed or left["number"]:
        if removed:
            graph.run("write/remove_empty_summaries", collection=collection.name)
            graph.run("write/remove_empty_communities", collection=collection.name)
        await_collection_indexes(graph, collection.number, collection.embedding, collection.indexed)
        with StageContext(graph, collection, settings, progress, embedder, engine) as work:
            for stage in STAGES.values():
                stage(work)
        record_reach(graph, collection)
    if left["unlinked"]:
        link_documents(graph, collection.name, progress)
    if left["stale"]:
        _forget(graph, collection, left["stale"], left["passages"])
    synchronise(graph, collection, settings, progress)


def record_reach(graph: Graph, collection: Collection) -> None:
    """Record whether the vector index finds the nearest passages: see `cypher/write/reached.cypher`."""
    index, slot = collection.vector_index("Passage"), collection.embedding
    graph.run("write/reached", collection=collection.name, index=index, embedding=slot, few=FEW, pairs=40)


def _forget(graph: Graph, collection: Collection, stale: int, passages: int) -> None:
    """Merge removed texts out of the full-text indexes: Lucene counts a text until it merges its segment."""
    if passages <= REFILLED:
        refill_fulltext_indexes(graph, collection.name, collection.indexed)
    elif stale > passages * SHARE:
        renew_fulltext_indexes(graph, collection.number, collection.indexed)
    else:
        return
    graph.run("write/count_stale", collection=collection.name, number=-stale)
