"""Make a knowledge graph that imitates an external one: a fact for each step of a question set, among many others.

    python bench/evidence.py bench/musique evidence.csv --others 50
    kgrag import --format triples evidence.csv -c evidence
    python bench/oracle.py bench/musique --system 'gears(knowledge=(evidence,))+hybrid' --system gear+hybrid

A step gives (the name in its question, the other words, its answer). Each such fact has decoys with the same name and
with the same answer, whose predicates and ends come from other steps and from titles of the corpus. Wikidata would not
have a fact for every step, so measurements with this graph are an upper bound.
"""

import argparse
import csv
import json
import random
import re
from collections.abc import Iterable
from pathlib import Path
from typing import Any

_NAME = re.compile(r"[A-Z0-9][\w'’.-]*(?:(?: (?:of|the|and|de|in|for|on))* [A-Z0-9][\w'’.-]*)*")
_ASKING = frozenset("What Who Where When Which How Whose In On Why The".split())
Fact = tuple[str, str, str]


def rows(path: Path) -> Iterable[dict[str, Any]]:
    """Return the rows of a JSON Lines file."""
    return map(json.loads, path.read_text(encoding="utf-8").splitlines())


def fact_of(question: str, answer: str) -> Fact | None:
    """Return the fact behind a single question; None if the question names nothing."""
    entity, relation, predicate = question.partition(">>")
    if relation:
        return entity.strip(), predicate.strip(), answer
    names = [name for name in _NAME.findall(question) if name.split()[0] not in _ASKING]
    names += [name.partition(" ")[2] for name in _NAME.findall(question) if name.split()[0] in _ASKING and " " in name]
    if not names:
        return None
    subject = max(names, key=len)
    predicate = " ".join(question.replace(subject, " ").strip(" ?").split())
    return subject, predicate or "is", answer


def main() -> None:
    """Parse the command line and write."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("dataset", type=Path)
    parser.add_argument("target", type=Path)
    parser.add_argument("--others", type=int, default=50, help="facts besides each")
    arguments = parser.parse_args()
    chance = random.Random(3)
    facts: list[Fact] = []
    for row in rows(arguments.dataset / "queries.jsonl"):
        answers = [step["answer"] for step in row["steps"]]
        for step in row["steps"]:
            asked = re.sub(r"#(\d+)", lambda m, answers=answers: answers[int(m[1]) - 1], step["question"])
            fact = fact_of(" ".join(asked.split()), step["answer"])
            facts += [fact] if fact else []
    titles = [row["title"] for row in rows(arguments.dataset / "corpus.jsonl")]
    others: list[Fact] = []
    for subject, _, answer in facts:
        for number in range(arguments.others):
            predicate, other = chance.choice(facts)[1], chance.choice(titles)
            ends = ((subject, other), (answer, other), (other, answer), (other, chance.choice(titles)))[number % 4]
            others.append((ends[0], predicate, ends[1]))
    told = [*facts, *others]
    chance.shuffle(told)
    with arguments.target.open("w", encoding="utf-8", newline="") as file:
        csv.writer(file).writerows(told)
    print(f"{len(facts):,} facts of steps among {len(told):,}")


if __name__ == "__main__":
    main()
