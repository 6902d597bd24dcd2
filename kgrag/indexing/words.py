"""Document frequencies of words, kept as counts in the graph."""

from collections import Counter

from kgrag.graph.connection import Unit
from kgrag.graph.writer import content_stems
from kgrag.identity import word_id
from kgrag.indexing.work import Work

_BATCH = 2000


def count_words(work: Work) -> None:
    """Count the words of new passages, each passage once: its mark goes in the transaction that counts it."""
    for ids in work.batches(work.due("passages", "words"), _BATCH, "words"):
        counts: Counter[str] = Counter()
        for record in work.graph.run("search/passage_stems", ids=ids):
            counts.update(content_stems(record["stems"]))
        rows = [{"id": word_id(work.name, s), "stem": s, "n": n} for s, n in sorted(counts.items())]

        def count(unit: Unit, rows: list[dict[str, object]] = rows) -> None:
            unit.run("write/count_words", rows=rows, collection=work.name)

        work.commit("passages", "words", ids, count)
