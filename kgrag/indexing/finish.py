"""The corpus-wide stages: word counts, mentions, keywords and nearest neighbours.

Each visits only the nodes that are marked for it (`todo`), and takes its mark off in the transaction that writes its
result: broken off at any moment, it goes on where it was. A new name marks the passages that hold it; a word whose
document frequency passes a power of two marks the passages that hold it. So half of a corpus and then the other half
give the graph that all of it at once gives.
"""

import math
from collections import Counter
from collections.abc import Callable, Iterator, Sequence

import numpy as np

from kgrag.graph.collections import Collection
from kgrag.graph.connection import Graph, Unit
from kgrag.graph.writer import content_stems
from kgrag.identity import entity_id, keyword_id, word_id
from kgrag.indexing import neighbours
from kgrag.indexing.keywords import terms, top_terms
from kgrag.indexing.names import names_in
from kgrag.settings import Settings
from kgrag.text import normalise, stems
from kgrag.types import Progress

_BATCH = 1000  # passages per transaction
_PHRASES = 200  # words or names looked for per transaction


def finish(
    graph: Graph, collection: Collection, settings: Settings, progress: Progress, *, removed: bool = False
) -> None:
    """Visit everything that is marked; writes nothing when nothing is, unless passages were `removed`."""
    if not removed and not graph.run("search/unfinished", collection=collection.name)[0]["number"]:
        return
    graph.run("schema/await", seconds=600)
    _count_words(graph, collection, progress)
    _spread_names(graph, collection, progress)
    _mentions(graph, collection, progress)
    corpus_class = _spread_words(graph, collection, progress)
    _keywords(graph, collection, corpus_class, progress)
    _similar(graph, collection, settings, progress)


def _todo(graph: Graph, collection: Collection, label: str, stage: str) -> list[str]:
    return [r["id"] for r in graph.stream(f"search/todo_{label}", collection=collection.name, stage=stage)]


def _batches(ids: Sequence[str], size: int, stage: str, progress: Progress) -> Iterator[list[str]]:
    for start in range(0, len(ids), size):
        progress(stage, start, len(ids))
        yield list(ids[start : start + size])
    if ids:
        progress(stage, len(ids), len(ids))


def _count_words(graph: Graph, collection: Collection, progress: Progress) -> None:
    for ids in _batches(_todo(graph, collection, "passages", "words"), _BATCH, "words", progress):
        counts: Counter[str] = Counter()
        for record in graph.run("search/passage_stems", ids=ids):
            counts.update(content_stems(record["stems"]))
        rows = [{"id": word_id(collection.name, s), "stem": s, "n": n} for s, n in sorted(counts.items())]

        def count(unit: Unit, ids: list[str] = ids, rows: list[dict[str, object]] = rows) -> None:
            unit.run("write/count_words", rows=rows, collection=collection.name)
            unit.run("write/done_passages", ids=ids, stage="words")

        graph.write(count)


def _spread_names(graph: Graph, collection: Collection, progress: Progress) -> None:
    """Mark the passages that hold a new name, and count the titles of names that gained or lost one."""
    due = _todo(graph, collection, "entities", "spread")

    def phrases(ids: list[str]) -> list[str]:
        names = graph.run("search/entity_names", ids=ids)
        return [_phrase(stems(r["normal"].split()), slop=1) for r in names]

    _spread(graph, collection, "entities", due, phrases, "mentions", progress)
    for ids in _batches(_todo(graph, collection, "entities", "titles"), _BATCH, "titles", progress):

        def count(unit: Unit, ids: list[str] = ids) -> None:
            unit.run("write/count_titles", ids=ids)
            unit.run("write/done_entities", ids=ids, stage="titles")

        graph.write(count)


def _spread_words(graph: Graph, collection: Collection, progress: Progress) -> int:
    """Mark the passages whose keywords may change; returns floor(log2(number of passages))."""
    due = _todo(graph, collection, "words", "spread")
    counted = graph.run("write/corpus_class", collection=collection.name, **{"class": None})[0]
    corpus_class = int(math.log2(counted["passages"])) if counted["passages"] else 0
    if counted["class"] != corpus_class:
        graph.run("write/due_all_passages", collection=collection.name, stage="keywords")

    def phrases(ids: list[str]) -> list[str]:
        return [_phrase([r["stem"]]) for r in graph.run("search/word_stems", ids=ids)]

    _spread(graph, collection, "words", due, phrases, "keywords", progress)
    graph.run("write/corpus_class", collection=collection.name, **{"class": corpus_class})
    return corpus_class


def _spread(
    graph: Graph,
    collection: Collection,
    label: str,
    due: list[str],
    phrases: Callable[[list[str]], list[str]],
    stage: str,
    progress: Progress,
) -> None:
    """Mark for `stage` the passages that hold what is `due`; all of them when that is quicker than searching."""
    if not due:
        return
    passages = graph.run("write/corpus_class", collection=collection.name, **{"class": None})[0]["passages"]
    if len(due) > max(1000, passages // 4):
        graph.run("write/due_all_passages", collection=collection.name, stage=stage)
        for ids in _batches(due, 10 * _BATCH, f"new {label}", progress):
            graph.run(f"write/done_{label}", ids=ids, stage="spread")
        return
    for ids in _batches(due, _PHRASES, f"new {label}", progress):
        wanted = phrases(ids)

        def mark(unit: Unit, ids: list[str] = ids, wanted: list[str] = wanted) -> None:
            unit.run("write/due_holders", index=collection.index("passage_stems"), phrases=wanted, stage=stage)
            unit.run(f"write/done_{label}", ids=ids, stage="spread")

        graph.write(mark)


def _phrase(words: Sequence[str], slop: int = 0) -> str:
    """A Lucene phrase of stems; slop lets a middle initial stand in between."""
    quoted = " ".join(w.replace("\\", "\\\\").replace('"', '\\"') for w in words)
    return f'"{quoted}"~{slop}' if slop and len(words) > 1 else f'"{quoted}"'


def _mentions(graph: Graph, collection: Collection, progress: Progress) -> None:
    due = _todo(graph, collection, "passages", "mentions")
    if not due:
        return
    # 64 bits of each id stand for the name: a set of millions of names stays small
    known = {int(r["id"][:16], 16) for r in graph.stream("search/entity_ids", collection=collection.name)}
    ids_of: dict[str, str] = {}

    def is_known(name: str) -> bool:
        entity = entity_id(collection.name, name)
        if int(entity[:16], 16) not in known:
            return False
        ids_of[name] = entity
        return True

    for ids in _batches(due, _BATCH, "mentions", progress):
        ids_of.clear()
        rows = []
        for record in graph.run("search/mention_sources", ids=ids):
            found: dict[str, dict[str, object]] = {}

            def add(entity: str, via: str, positions: list[int], id: str = record["id"], found: dict[str, dict[str, object]] = found) -> None:
                found.setdefault(entity, {"passage": id, "entity": entity, "via": via, "weight": 1.0, "positions": positions})

            for name, positions in names_in(record["text"], is_known).items():
                add(ids_of[name], "local", positions)
            own = set(record["own"])
            inside = names_in(record["title"], lambda n: is_known(n) and ids_of[n] not in own, skip={normalise(record["title"])})
            for name, positions in inside.items():
                add(ids_of[name], "title", positions)
            for entity in record["stated"]:
                add(entity, "triple", [])
            rows.extend(found.values())

        def write(unit: Unit, ids: list[str] = ids, rows: list[dict[str, object]] = rows) -> None:
            touched = unit.run("write/mentions", passages=ids, rows=rows)
            unit.run("write/count_mentions", ids=sorted(r["entity"] for r in touched))
            unit.run("write/done_passages", ids=ids, stage="mentions")

        graph.write(write)


def _keywords(graph: Graph, collection: Collection, corpus_class: int, progress: Progress) -> None:
    for ids in _batches(_todo(graph, collection, "passages", "keywords"), _BATCH, "keywords", progress):
        sources = graph.run("search/keyword_sources", ids=ids)
        found = {r["id"]: terms(f"{r['title']}\n{r['text']}") for r in sources}
        words = {stem: word_id(collection.name, stem) for t in found.values() for stem in t.counts}
        classes = {r["id"]: r["class"] for r in graph.run("search/word_frequencies", ids=list(words.values()))}
        names: dict[str, str] = {}
        rows = []
        for passage, its in found.items():
            best = top_terms(its, lambda stem: classes.get(words[stem]), corpus_class, collection.indexing.keywords)
            for stem, weight in best:
                names.setdefault(stem, its.surfaces[stem])
                rows.append({"passage": passage, "keyword": keyword_id(collection.name, stem), "weight": weight})
        keywords = [{"id": keyword_id(collection.name, s), "stem": s, "name": n} for s, n in sorted(names.items())]

        def write(unit: Unit, ids: list[str] = ids, keywords: list[dict[str, str]] = keywords, rows: list[dict[str, object]] = rows) -> None:
            touched = unit.run("write/keywords", collection=collection.name, passages=ids, keywords=keywords, rows=rows)
            unit.run("write/settle_keywords", ids=sorted(r["keyword"] for r in touched))
            unit.run("write/done_passages", ids=ids, stage="keywords")

        graph.write(write)


def _similar(graph: Graph, collection: Collection, settings: Settings, progress: Progress) -> None:
    due = _todo(graph, collection, "passages", "similar")
    if not due:
        return
    k = collection.indexing.similar
    total = graph.run("write/corpus_class", collection=collection.name, **{"class": None})[0]["passages"]
    if k and total * collection.dimension * 4 > settings.exact_neighbours_mb * 2**20:
        _similar_by_index(graph, collection, settings, due, progress)
        return
    ids: list[str] = []
    vectors = np.empty((total if k else 0, collection.dimension), np.float32)
    floors = np.full(len(vectors), -1, np.float32)
    if k:
        stream = graph.stream("search/vectors", collection=collection.name, embedding=collection.embedding)
        for i, record in enumerate(stream):
            ids.append(record["id"])
            vectors[i] = record["vector"]
            if record["floor"] is not None:
                floors[i] = record["floor"]
            if i % 10_000 == 0:
                progress("vectors", i, total)
    position = {id: i for i, id in enumerate(ids)}
    rows = np.array(sorted(position[id] for id in due if id in position), np.intp)
    if k and len(rows) < len(ids):
        displaced = neighbours.displaced(vectors, floors, rows)
        graph.run("write/due_passages", ids=[ids[i] for i in displaced], stage="similar")
        rows = np.union1d(rows, displaced)
    pending: list[dict[str, object]] = []
    missing = [id for id in due if id not in position]
    done = 0
    for row, found in neighbours.nearest(vectors, ids, rows, k):
        near = [{"id": ids[j], "score": score} for j, score in found]
        pending.append({"passage": ids[row], "floor": found[-1][1] if len(found) == k else None, "neighbours": near})
        done += 1
        if len(pending) == _BATCH:
            progress("neighbours", done, len(rows))
            _write_similar(graph, pending, [])
            pending = []
    _write_similar(graph, pending, missing)
    progress("neighbours", len(rows), len(rows))


def _similar_by_index(graph: Graph, collection: Collection, settings: Settings, due: list[str], progress: Progress) -> None:
    """For collections whose vectors do not fit in memory: candidates from the vector index, scored exactly."""
    k = collection.indexing.similar
    also: set[str] = set()
    for pass_ids in (due, also):
        for ids in _batches(sorted(pass_ids), 100, "neighbours", progress):
            found = graph.run(
                "search/neighbours",
                ids=ids,
                index=collection.vector_index("Passage"),
                embedding=collection.embedding,
                candidates=settings.retrieval.over_fetch,
                k=k,
            )
            rows = []
            for record in found:
                near = record["neighbours"]
                if pass_ids is due:
                    also.update(n["id"] for n in near if n["score"] >= (-1 if n["floor"] is None else n["floor"]))
                near = near[:k]
                floor = near[-1]["score"] if len(near) == k else None
                rows.append({"passage": record["id"], "floor": floor, "neighbours": near})
            if pass_ids is due:
                graph.run("write/due_passages", ids=sorted(also), stage="similar")
            _write_similar(graph, rows, [])
        also.difference_update(due)


def _write_similar(graph: Graph, rows: list[dict[str, object]], others: list[str]) -> None:
    if not rows and not others:
        return

    def write(unit: Unit) -> None:
        unit.run("write/similar", rows=rows)
        unit.run("write/done_passages", ids=[row["passage"] for row in rows] + others, stage="similar")

    graph.write(write)
