"""Measure how many points of a full answer reach the reader, for questions about a whole corpus of manuals.

    python bench/global_questions.py COLLECTION [--tokens 2000]

COLLECTION: the manuals of bash, git and gnuplot (packages bash-doc, git-doc and gnuplot-doc of Debian), ingested, with
`kgrag enrich tree` and `kgrag enrich communities`. `global_questions.json` holds [question, points]; a point is met if
one of its spellings occurs in the evidence. Every method has the same budget of tokens (4 characters each). No model is
called.
"""

import argparse
import json
import re
import statistics
from collections.abc import Callable, Iterator
from pathlib import Path

from kgrag import Collection, KnowledgeGraph
from kgrag.retrieval.base import Query, Topic

QUESTIONS = json.loads(Path(__file__).with_suffix(".json").read_text(encoding="utf-8"))


def passages(collection: Collection, name: str) -> Callable[[str], Iterator[str]]:
    """Return a function that yields the passages (and summaries) that a retriever shows the reader."""
    retriever = collection.retriever(name)

    def shown(question: str) -> Iterator[str]:
        query = Query(question)
        ranked = retriever.rank(query, 60)
        items = retriever.evidence(query) or [[x.id] for x in ranked]
        texts = collection.context.reader.passages([i for x in items if not isinstance(x, Topic) for i in x])
        for item in items:
            if isinstance(item, Topic):
                yield f"{item.title} {item.text}"
            else:
                yield from (f"{texts[i].title} {texts[i].text}" for i in item if i in texts)

    return shown


def reports(collection: Collection, level: int) -> Callable[[str], Iterator[str]]:
    """Return a function that yields the reports that the global search reads, nearest to the question first."""

    def shown(question: str) -> Iterator[str]:
        context = collection.context
        rows = context.row(
            "retrieve/reports",
            collection=collection.name,
            level=level,
            embedding=context.reader.collection.embedding,
            vector=Query(question).vector(context.embedder),
            leaves=1,
        )["rows"]
        return (f"{row['title']} {row['text']}" for row in rows)

    return shown


def coverage(shown: Iterator[str], points: list[str], letters: int) -> float:
    """Return the share of points within the first `letters` characters of the evidence."""
    text = ""
    for each in shown:
        if len(text) >= letters:
            break
        text += f" {each.lower()}"
    text = text[:letters]
    met = [any(re.search(rf"(?<!\w){re.escape(way)}", text) for way in point.split("|")) for point in points]
    return sum(met) / len(points)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("collection")
    parser.add_argument("--tokens", type=int, default=2000)
    given = parser.parse_args()
    with KnowledgeGraph.connect() as kg:
        collection = kg[given.collection]
        names = (
            "bm25",
            "hybrid",
            "pathrank",
            "raptor(shown=leaves)",
            "raptor",
            "communities(shown=leaves)",
            "communities",
        )
        ways = {name: passages(collection, name) for name in names}
        ways |= {f"reports of level {n}": reports(collection, n) for n in range(4)}
        for name, shown in ways.items():
            found = [coverage(shown(question), points, 4 * given.tokens) for question, points in QUESTIONS]
            print(f"{name:28} {100 * statistics.mean(found):5.1f}  all points: {sum(x == 1 for x in found)}")


if __name__ == "__main__":
    main()
