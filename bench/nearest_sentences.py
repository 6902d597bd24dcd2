"""Measure how many letters and answers remain if a reader sees only the nearest sentences of passages.

    python bench/nearest_sentences.py SET ... [--most 2 3 4]

SET: a folder with corpus.jsonl and queries.jsonl. For each question whose answer occurs in its gold passages, these and
two others are shortened. Prints how many answers are still there. Needs no model and no graph.
"""

import argparse
import json
import random
from collections.abc import Sequence
from pathlib import Path

from kgrag.agents.answering import nearest_sentences
from kgrag.lab.measures import normalised
from kgrag.values.results import Item, Passage, Summary

OTHERS = 2
"""Passages beside the gold."""


def words(items: Sequence[Item]) -> str:
    """Return everything shown, normalised for comparing answers."""
    return normalised(" ".join(f"{p.title} {p.text}" for item in items if not isinstance(item, Summary) for p in item))


def main() -> None:
    """Parse the command line and measure."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("sets", nargs="+", type=Path, metavar="SET")
    parser.add_argument("--most", nargs="+", type=int, default=[2, 3, 4], help="sentences of a passage")
    options = parser.parse_args()
    print("| set | questions | sentences | answers left, % | letters left, % |\n|---|---:|---:|---:|---:|")
    for folder in options.sets:
        rows = [json.loads(line) for line in (folder / "corpus.jsonl").read_text("utf-8").splitlines()]
        corpus = {row["id"]: Passage(row["id"], row["id"], row["title"], row["text"]) for row in rows}
        asked = [json.loads(line) for line in (folder / "queries.jsonl").read_text("utf-8").splitlines()]
        for most in options.most:
            draw, answers, left, before, after = random.Random(1), 0, 0, 0, 0
            for row in asked:
                gold = len(row["gold"])
                items: list[Item] = [[corpus[id]] for id in [*row["gold"], *draw.sample(list(corpus), OTHERS)]]
                known = [found for answer in row.get("answers") or () if (found := normalised(answer))]
                if not any(answer in words(items[:gold]) for answer in known):
                    continue
                shown = nearest_sentences(items, row["question"], most)
                answers += 1
                left += any(answer in words(shown[:gold]) for answer in known)
                before, after = before + len(words(items)), after + len(words(shown))
            shares = f"{100 * left / max(1, answers):.1f} | {100 * after / max(1, before):.1f}"
            print(f"| {folder.name} | {answers} | {most} | {shares} |", flush=True)


if __name__ == "__main__":
    main()
