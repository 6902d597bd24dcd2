"""SIMILAR edges between entities: names that resemble each other, as HippoRAG's synonymy edges (section 2.2).

Only names that a title or a triple gives have a vector: others (capitalised phrases) are spelt as the texts spell them.
A name with a digit has none either: vectors tell 1876 from 1867, or the 9th century from the 11th, badly.
"""

from kgrag.indexing.similar import Kind, link_nearest
from kgrag.indexing.stage import StageContext
from kgrag.indexing.vectors import embedded_or_logged

_BATCH = 2000
_SHORTEST = 3  # letters, as HippoRAG has it


def link_synonyms(work: StageContext) -> None:
    """Write the names nearest to those that are marked, and to those that a new name comes close to.

    Without an embedder, names that have no vector yet keep their mark.
    """
    due = work.due("Entity", "similar")
    if not due:
        return
    indexing, slot = work.collection.indexing, work.collection.embedding
    if indexing.synonyms == 0:
        for ids in work.batches(due, _BATCH, "names"):
            work.done("Entity", ids, "similar")
        return
    ready: list[str] = []
    for ids in work.batches(due, _BATCH, "names"):
        missing = {r["id"]: r["normal"] for r in work.graph.run("stages/unembedded_entities", ids=ids, embedding=slot)}
        ready += [id for id in ids if id not in missing]
        work.done("Entity", [id for id, name in missing.items() if not is_fit(name)], "similar")
        fit = {id: name for id, name in missing.items() if is_fit(name)}
        if fit and work.embedder is not None:
            vectors = embedded_or_logged(work.embedder, list(fit.values()), "names")
            rows = [{"id": id, "vector": vector} for id, vector in zip(fit, vectors, strict=True) if vector]
            work.graph.run("write/vectors", label="Entity", rows=rows, embedding=slot)
            ready += [row["id"] for row in rows]
            work.done("Entity", sorted(fit.keys() - set(ready)), "similar")
    if ready:
        names = Kind("Entity", indexing.synonyms, least=(1 + indexing.synonymy) / 2)
        link_nearest(work, names, ready, lambda: _count(work))


def _count(work: StageContext) -> int:
    slot = work.collection.embedding
    counted = work.graph.run("inspect/count_vectors", label="Entity", collection=work.name, embedding=slot)
    return int(counted[0]["having"])


def is_fit(name: str) -> bool:
    """Whether a normalised name is worth a vector."""
    return len(name) >= _SHORTEST and not any(letter.isdigit() for letter in name)
