"""Measure how often retrievers find the passage that answers a question on manuals, papers and HTML: R@1, R@5, R@10.

    python bench/documents.py FOLDER                        ingests the folder as `documents`, and asks its questions
    python bench/documents.py --collection notes -r bm25 -r "rrf(hybrid, pathrank)" --misses

`documents.jsonl` holds our questions on files of Debian packages: bash-doc (bashref.pdf), debian-policy (policy.pdf,
fhs-3.0.pdf as fhs.pdf), gnuplot-doc, r-cran-survival, r-cran-lme4, git-doc and python3.11-doc (some hundred pages
suffice). A passage answers if it comes from the file and holds the phrase. Questions on files outside the collection
are skipped. Constants are chosen on the odd lines; the even ones check them.
"""

import argparse
import json
from collections import defaultdict
from pathlib import Path

from kgrag import Collection, KnowledgeGraph

QUESTIONS = Path(__file__).with_suffix(".jsonl")
CUTS = (1, 5, 10)


def rank_of_answer(collection: Collection, question: dict[str, str], retriever: str) -> int:
    """Return the rank of the first passage that answers, from 1; 0 when it is not in the first ten."""
    phrase = " ".join(question["phrase"].lower().split())
    ranking = collection.search(question["question"], k=max(CUTS), retriever=retriever)
    for place, hit in enumerate(ranking.hits, 1):
        source, text = hit.passage.source, " ".join(hit.passage.text.lower().split())
        if source.rsplit("/", 1)[-1] == question["file"] and phrase in text:
            return place
    return 0


def main() -> None:
    """Run every question with every retriever, and print a table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", nargs="?")
    parser.add_argument("--collection", default="documents")
    parser.add_argument("-r", "--retriever", action="append")
    parser.add_argument("--misses", action="store_true", help="show the questions that are not answered first")
    options = parser.parse_args()
    questions = [json.loads(line) for line in QUESTIONS.read_text(encoding="utf-8").splitlines()]
    with KnowledgeGraph.connect() as kg:
        collection = kg[options.collection]
        if options.folder:
            collection.ingest(options.folder)
        sources = {row["source"].rsplit("/", 1)[-1] for row in collection.saved_query("sources", limit=100_000)}
        asked = [(number, q) for number, q in enumerate(questions, 1) if q["file"] in sources]
        print(f"{len(asked)} questions\n{'':24}all: R@1  R@5 R@10   odd: R@1  R@5 R@10  even: R@1  R@5 R@10")
        for retriever in options.retriever or ["bm25", "hybrid", "pathrank"]:
            ranks = {number: rank_of_answer(collection, q, retriever) for number, q in asked}
            halves = [list(ranks.values()), *([r for n, r in ranks.items() if n % 2 == odd] for odd in (1, 0))]
            counts = [sum(0 < rank <= cut for rank in half) for half in halves for cut in CUTS]
            print(f"{retriever[:24]:24}" + "".join(f"{n:10}" if i % 3 == 0 else f"{n:5}" for i, n in enumerate(counts)))
            missed = defaultdict(list)
            for number, q in asked if options.misses else ():
                if ranks[number] != 1:
                    missed[q["kind"]].append(f"{ranks[number] or '-':>4} {number:3} {q['question']}")
            for kind, lines in sorted(missed.items()):
                print(f"  {kind}", *lines, sep="\n")


if __name__ == "__main__":
    main()
