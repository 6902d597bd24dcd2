"""Compare the recall of retrievers on many question sets, and the effect of each option of one of them.

    python bench/retrieval.py bench/musique-gold bench/hotpot-gold --embedder wordllama --embedder minilm --out runs/
    python bench/retrieval.py bench/*-gold --out runs/ --vary shared_name=0,0.3,0.6 --vary "width=(10,10),(20,20)"

The first prints for each set, embedder and retriever the recall in per cent among the first 2, 5 and 10 passages and
the share of questions with all gold among the first 5 and 10. For sets without gold passages it prints the share of
questions whose answer occurs there. `--hops` breaks that down by the hops of the questions.

With `--vary` each option of the first retriever, or constant of PathRank, takes each value, while the others stay. A
row for each shows the change in R@5 and R@10, as the mean of the sets with an interval of 95 % (bootstrap of the
questions within each set), and the worst set. Below each option is the result of cross-validation: each set uses the
value that the others prefer (R@5 + R@10).

Each measurement is an Experiment; with --out an interrupted run resumes. KGRAG_HOME and the like apply.
"""

import argparse
import re
import sys
from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import fields, replace
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from kgrag import Collection, KnowledgeGraph
from kgrag.lab.experiment import Experiment
from kgrag.lab.readers import read_dataset
from kgrag.lab.retrieving import Record
from kgrag.retrieval.base import Retriever
from kgrag.retrieval.expression import parse
from kgrag.retrieval.pathrank import PathRank, PathRankConstants

RETRIEVERS = ("pathrank", "ppr", "gnn-ret", "hybrid", "dense", "bm25")
CUTS = (2, 5, 10)
DRAWS = 2000
Values = NDArray[np.float64]
"""[questions, 5]: recall among the first 2, 5 and 10, all gold among the first 5 and 10, each 0 to 1."""


def values(record: Record) -> list[float]:
    """Return the row of a table for one question."""
    shares = [sum(r is not None and r <= cut for r in record.ranks) / max(1, len(record.ranks)) for cut in CUTS]
    return [*shares, *(float(share == 1) for share in shares[1:])]


def varied(name: str, collection: Collection) -> Retriever:
    """Return a retriever by its name, which for pathrank may set constants, too: `pathrank(cover=2)`."""
    parsed = parse(name)
    options = dict(parsed.options)
    changed = {key: options.pop(key) for key in options.keys() & {field.name for field in fields(PathRankConstants)}}
    if parsed.name != PathRank.name or not changed:
        return collection.retriever(name)
    constants = replace(PathRankConstants(), **changed)
    retriever = type("Varied", (PathRank,), {"constants": constants})(collection, **options)
    retriever.name = str(parsed)
    return retriever


def measured(folder: Path, embedder: str, retrievers: Sequence[str], out: Path | None) -> dict[str, list[Record]]:
    """Return the records of each retriever on one set, in the order of its questions."""
    data = read_dataset(folder)
    with KnowledgeGraph.connect() as kg:
        collection = data.ingest(kg, embedder=embedder).collection
        experiment = Experiment(
            [varied(name, collection) for name in retrievers],
            data,
            collection=collection,
            out=None if out is None else out / embedder / data.name,
        )
        found: defaultdict[str, list[Record]] = defaultdict(list)
        for record in experiment.run().records:
            found[record.system].append(record)
    return found


def print_tables(
    sets: Sequence[Path], embedders: Sequence[str], retrievers: Sequence[str], arguments: argparse.Namespace
) -> None:
    """Print a row for each set, embedder, retriever and, with `--hops`, number of hops."""
    print("| set | questions | embedder | retriever | R@2 | R@5 | R@10 | all in 5 | all in 10 |", flush=True)
    print("|---|---|---|---|---|---|---|---|---|")
    for folder in sets:
        for embedder in embedders:
            found = measured(folder, embedder, retrievers, arguments.out)
            for name, records in found.items():
                groups = {"": records}
                if arguments.hops:
                    for record in records:
                        hops = re.match(r"\d+", record.question.type)
                        groups.setdefault(hops[0] if hops else record.question.type, []).append(record)
                for group, its in groups.items():
                    mean = np.mean([values(record) for record in its], axis=0)
                    label = f"{folder.name} {group}".strip()
                    cells = [*(f"{100 * x:.1f}" for x in mean[:3]), *(f"{x:.3f}" for x in mean[3:])]
                    row = [label, len(its), f"`{embedder}`", f"`{name}`", *cells]
                    print(f"| {' | '.join(map(str, row))} |", flush=True)


def print_sweeps(sets: Sequence[Path], embedder: str, retriever: str, sweeps: Sequence[str], out: Path | None) -> None:
    """Print the effect of each value of each option, and the choice of cross-validation."""
    variants = {sweep.split("=")[0]: re.findall(r"\([^)]*\)|[^,]+", sweep.split("=", 1)[1]) for sweep in sweeps}
    names = {(option, value): f"{retriever}({option}={value})" for option, its in variants.items() for value in its}
    scores: dict[str, dict[str, Values]] = {}
    for folder in sets:
        found = measured(folder, embedder, [retriever, *names.values()], out)
        given = iter(found.values())  # keys are retriever names in standard form
        scores[folder.name] = {
            name: np.array([values(record) for record in next(given)]) for name in (retriever, *names.values())
        }
        print(f"{folder.name}: {len(scores[folder.name][retriever])} questions", file=sys.stderr, flush=True)
    print(f"| `{embedder}` | R@5 | R@10 | all in 5 | worst set |\n|---|---|---|---|---|")
    for option, its in variants.items():
        for value in its:
            changes = {s: 100 * (scores[s][names[option, value]] - scores[s][retriever]) for s in scores}
            print(f"| {option}={value} | {' | '.join(_changed(changes, column) for column in (1, 2, 3))} |", end=" ")
            worst = min(changes, key=lambda s: changes[s][:, 1].mean())
            print(f"{changes[worst][:, 1].mean():+.1f} {worst} |", flush=True)
        chosen = crossed(scores, [retriever, *(names[option, value] for value in its)])
        print(f"| {option}: chosen by the other sets | {chosen} |", flush=True)


def _changed(changes: Mapping[str, Values], column: int) -> str:
    """Return the mean of the sets' means, and its interval."""
    draw = np.random.default_rng(0)
    means = np.mean(
        [its[draw.integers(0, len(its), (DRAWS, len(its))), column].mean(axis=1) for its in changes.values()], axis=0
    )
    low, high = np.percentile(means, [2.5, 97.5])
    return f"{np.mean([its[:, column].mean() for its in changes.values()]):+.2f} ({low:+.2f}, {high:+.2f})"


def crossed(scores: Mapping[str, Mapping[str, Values]], names: Sequence[str]) -> str:
    """Return for each set the value that is best on the other sets, and its effect on this set."""
    said, changes = [], []
    for held in scores:
        best = max(names, key=lambda name: sum(scores[s][name][:, 1:3].mean() for s in scores if s != held))
        changes.append(100 * (scores[held][best][:, 1].mean() - scores[held][names[0]][:, 1].mean()))
        said.append(f"{held} {best.partition('=')[2].rstrip(')') or 'default'}: {changes[-1]:+.1f}")
    return f"{np.mean(changes):+.2f} | {'; '.join(said)}"


def main() -> None:
    """Parse the command line and measure."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("sets", nargs="+", type=Path, metavar="SET")
    parser.add_argument("--embedder", action="append", default=[], help="default: wordllama")
    parser.add_argument("--retriever", action="append", default=[], help=f"default: {', '.join(RETRIEVERS)}")
    parser.add_argument("--vary", action="append", default=[], metavar="OPTION=VALUE,VALUE")
    parser.add_argument("--hops", action="store_true")
    parser.add_argument("--out", type=Path, help="folder of the records")
    arguments = parser.parse_args()
    embedders, retrievers = arguments.embedder or ["wordllama"], arguments.retriever or RETRIEVERS
    if not arguments.vary:
        print_tables(arguments.sets, embedders, retrievers, arguments)
    for embedder in embedders if arguments.vary else ():
        print_sweeps(arguments.sets, embedder, retrievers[0], arguments.vary, arguments.out)


if __name__ == "__main__":
    main()
