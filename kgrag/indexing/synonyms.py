"""SIMILAR edges between entities: names that resemble each other, as HippoRAG's synonymy edges (section 2.2).

Only names that a title or a triple gives have a vector: others (capitalised phrases) are spelt as the texts spell them.
A name with a digit has none either: vectors tell 1876 from 1867, or the 9th century from the 11th, badly.
"""

from kgrag.indexing.similar import Kind, link_nearest
from kgrag.indexing.work import Work
from kgrag.models.embed import Embedder

_BATCH = 2000
_SHORTEST = 3  # letters, as HippoRAG has it


def link_synonyms(work: Work, embedder: Embedder | None) -> None:
    """Write the names nearest to those that are marked, and to those that a new name comes close to.

    Without an embedder, names that have no vector yet keep their mark.
    """
    due = work.due("entities", "similar")
    if not due:
        return
    indexing, slot = work.collection.indexing, work.collection.embedding
    if indexing.synonyms == 0:
        for ids in work.batches(due, _BATCH, "names"):
            work.graph.run("write/done_entities", ids=ids, stage="similar")
        return
    ready: list[str] = []
    for ids in work.batches(due, _BATCH, "names"):
        missing = {r["id"]: r["normal"] for r in work.graph.run("search/unembedded_entities", ids=ids, embedding=slot)}
        ready += [id for id in ids if id not in missing]
        unfit = [id for id, name in missing.items() if not is_fit(name)]
        if unfit:
            work.graph.run("write/done_entities", ids=unfit, stage="similar")
        names = {id: name for id, name in missing.items() if is_fit(name)}
        if names and embedder is not None:
            vectors = embedder.embed(list(names.values())).tolist()
            rows = [{"id": id, "vector": vector} for id, vector in zip(names, vectors, strict=True)]
            work.graph.run("write/entity_vectors", rows=rows, embedding=slot)
            ready += names
    if ready:
        link_nearest(work, _kind(indexing.synonyms, indexing.synonymy), ready, lambda: _count(work))


def _kind(k: int, cosine: float) -> Kind:
    queries = ("search/entity_vectors", "search/entity_neighbours", "write/similar_entities")
    return Kind("entities", "Entity", *queries, k=k, least=(1 + cosine) / 2)


def _count(work: Work) -> int:
    slot = work.collection.embedding
    return int(work.graph.run("search/count_entity_vectors", collection=work.name, embedding=slot)[0]["number"])


def is_fit(name: str) -> bool:
    """Whether a normalised name is worth a vector."""
    return len(name) >= _SHORTEST and not any(letter.isdigit() for letter in name)
