"""Measure the trails of rankings: how many there are, and whether their last sentence contains the answer.

    python bench/trails.py bench/musique-gold bench/hotpot-gold          100 questions of each

Each hop is checked against the graph: its passage is in the ranking, and an edge of the named entity leads to the next
passage. `holds`: the share of trails whose last sentence contains a gold answer. `ranked`: the share of questions with
a gold answer in the first five passages. KGRAG_NEO4J_URI, KGRAG_HOME and the like apply.
"""

import argparse
import re
from itertools import pairwise
from pathlib import Path

from kgrag import KnowledgeGraph
from kgrag.lab.readers import read_dataset
from kgrag.retrieval.quoted_trail import told_trail
from kgrag.values.results import Hit

_SIGNS = re.compile(r"[^\w\s]")


def _plain(text: str) -> str:
    return f" {' '.join(_SIGNS.sub(' ', text.casefold()).split())} "


def _is_way(hits: list[Hit], passages: list[str]) -> bool:
    """Return whether one hit's own trail visits these passages in this order, and no node twice."""
    titles = {
        name: h.passage.id
        for h in reversed(hits)
        for name in (h.passage.title, f"{h.passage.ordinal + 1} · {h.passage.title}")
    }
    for hit in hits:
        steps = [step for step in hit.why if step.name]
        way = [titles.get(step.name, "") for step in steps if step.label == "Passage"]
        joined = all(step.edge for step in steps[1:])
        if [*way[:-1], hit.passage.id] == passages and joined and len({(s.label, s.name) for s in steps}) == len(steps):
            return True
    return False


def measure(kg: KnowledgeGraph, path: Path, number: int) -> dict[str, int]:
    """Return the counts of a set."""
    dataset = read_dataset(path)
    name = f"trails-{path.name}"
    dataset.ingest(kg[name])
    counts = dict.fromkeys(("questions", "ranked", "told", "ways", "holds"), 0)
    for question in dataset.questions[:number]:
        hits = list(kg[name].search(question.text, k=10).hits)
        hops = told_trail(hits, question.text)
        answers = [_plain(answer) for answer in question.answers]
        counts["questions"] += 1
        counts["ranked"] += any(answer in _plain(hit.passage.text) for hit in hits[:5] for answer in answers)
        counts["told"] += bool(hops)
        counts["ways"] += bool(hops) and _is_way(hits, [hop.passage for hop in hops])
        counts["holds"] += bool(hops) and any(answer in _plain(hops[-1].sentence) for answer in answers)
        assert all(one.name for one, _ in pairwise(hops))
    return counts


def main() -> None:
    """Print the counts of each set."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("sets", nargs="+", type=Path)
    parser.add_argument("-n", "--number", type=int, default=100)
    arguments = parser.parse_args()
    with KnowledgeGraph.connect() as kg:
        for path in arguments.sets:
            counts = measure(kg, path, arguments.number)
            print(path.name, *(f"{name} {count}" for name, count in counts.items()), sep="  ")


if __name__ == "__main__":
    main()
