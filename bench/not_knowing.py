"""Measure the answers to questions that a collection cannot answer, and refusals of questions that it can.

    kgrag demo
    python bench/not_knowing.py SYSTEM ... [-c demo] [--out build/not_knowing.jsonl] [--limit N]

The questions are about the texts of the demo: bench/not_knowing.json and the demo's own. Resumes: questions recorded in
OUT are skipped. A reply is right if it contains the answer or its full name.
"""

import argparse
import json
import time
from collections import Counter
from itertools import zip_longest
from pathlib import Path
from typing import Any

from kgrag import Collection, KnowledgeGraph
from kgrag.demo import questions
from kgrag.lab.measures import normalised


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("systems", nargs="+")
    parser.add_argument("-c", "--collection", default="demo")
    parser.add_argument("--limit", type=int, help="only the first N of each half")
    parser.add_argument("--out", type=Path, default=Path("build/not_knowing.jsonl"))
    options = parser.parse_args()
    asked = _questions(options.limit)
    options.out.parent.mkdir(parents=True, exist_ok=True)
    rows = [json.loads(line) for line in options.out.read_text("utf-8").splitlines()] if options.out.exists() else []
    with KnowledgeGraph.local() as kg, options.out.open("a", encoding="utf-8") as out:
        model = kg.settings.chat.model
        done = {(row["model"], row["system"], row["question"]): row for row in rows}
        for system in options.systems:
            for question, known in asked:
                if (model, system, question) not in done:
                    row = {"model": model, "system": system, "question": question, "known": known}
                    done[model, system, question] = row | _answered(kg[options.collection], system, question)
                    out.write(json.dumps(done[model, system, question], ensure_ascii=False) + "\n")
                    out.flush()
            _print(system, [done[model, system, question] for question, _ in asked])


def _questions(limit: int | None) -> list[tuple[str, list[str]]]:
    """Yield questions without a known answer and questions with one, in turn."""
    own = json.loads(Path(__file__).with_suffix(".json").read_text("utf-8"))
    answered = [(q.question, [q.answer]) for q in questions()] + own["answered"]
    pairs = zip_longest([(question, []) for question in own["unanswered"][:limit]], answered[:limit])
    return [(question, known) for pair in pairs for question, known in (one for one in pair if one)]


def _answered(collection: Collection, system: str, question: str) -> dict[str, Any]:
    began = time.perf_counter()
    answer = collection.ask(question, system=system, short=True)
    usage = answer.usage
    return {
        "answer": answer.text, "found": answer.found, "unsupported": answer.unsupported, "problem": answer.problem,
        "tokens": usage.prompt_tokens + usage.completion_tokens, "seconds": round(time.perf_counter() - began, 1),
    }  # fmt: skip


def _print(system: str, rows: list[dict[str, Any]]) -> None:
    counts: Counter[str] = Counter()
    for row in rows:
        half = "answered" if row["known"] else "unanswered"
        right = any(f" {normalised(known)} " in f" {normalised(row['answer'])} " for known in row["known"])
        counts.update({f"{half}: asked": 1, f"{half}: refused": not row["found"]})
        counts.update({f"{half}: marked as not supported": row["found"] and bool(row["unsupported"])})
        if row["known"]:
            counts.update({"answered: right": row["found"] and right})
    print(system)
    for name, count in sorted(counts.items()):
        whole = counts[f"{name.partition(':')[0]}: asked"]
        print(f"  {name:<36}{count:>4}{100 * count / whole:>7.0f} %")


if __name__ == "__main__":
    main()
