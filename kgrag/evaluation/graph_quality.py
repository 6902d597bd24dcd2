"""How good a graph of passages is for questions of many hops: what the neighbours of the first passages hold.

Source: KGP, section 3 and Figures 4 and 9.
"""

import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from statistics import fmean

from kgrag.errors import ConfigurationError, InputError
from kgrag.evaluation.datasets import Question
from kgrag.evaluation.metrics import percentile
from kgrag.evaluation.plot import check_plot, drawing, save
from kgrag.retrieval.base import Index, Query
from kgrag.retrieval.expression import parse
from kgrag.retrieval.registry import check_retriever, make_retriever
from kgrag.retrieval.tfidf import TfIdf
from kgrag.settings import BRIDGE_CAP
from kgrag.types import Progress

KINDS: dict[str, tuple[float, ...]] = {
    "keyword": (1, 2, 3, 4, 5, 6, 8, 10),
    "similar": (1, 2, 3, 5, 7, 10, 15, 20),
    "mention": (2, 3, 5, 10, 20, 50),
    "title": (1, 2, 5, 10, 50),
    "tagme": (0.1, 0.2, 0.3, 0.4, 0.5, 0.6),
}
"""Kind of edges -> its density settings: keywords of a passage, nearest passages, passages of a name, TAGME's rho."""

_OPTIONS = {"keyword": "keywords", "similar": "similar", "mention": "cap", "title": "cap", "tagme": "rho"}


@dataclass(frozen=True, slots=True)
class Quality:
    """The quality of one kind of edges at one density setting. Shares are 0 to 1.

    `sf_em`: questions whose gold documents are all among the seeds and their neighbours. `recall`: gold documents that
    are. `precision`: the share of these passages that is gold. `neighbours`: of a seed. `density`: these among all
    passages. `p50_ms`: fetching the neighbours of all seeds of a question, in one round trip. `walk`: gold documents
    that a walk over these edges alone finds, and `walk_ms` what it takes; None where nobody walked.
    """

    edges: str
    setting: float
    sf_em: float
    recall: float
    precision: float
    neighbours: float
    density: float
    p50_ms: float
    walk: float | None = None
    walk_ms: float | None = None


def check_kinds(kinds: Sequence[str]) -> None:
    """Raises ConfigurationError for a kind of edges that does not exist."""
    for kind in kinds:
        if kind not in KINDS:
            raise ConfigurationError(f"There is no kind of edges {kind!r}.", f"Choose among: {', '.join(KINDS)}.")


def check_walk(expression: str) -> str:
    """The kgp expression in its standard spelling. Raises as `check_retriever`, and ConfigurationError for another."""
    if parse(expression).name != "kgp":
        raise ConfigurationError(
            f"{expression!r} walks over no edges of choice.", "Name kgp, as in kgp(guide=encoder)."
        )
    return check_retriever(expression)


def quality(
    index: Index,
    questions: Sequence[Question],
    seeds: int,
    kinds: Sequence[str],
    label: str,
    progress: Progress,
    walk: str | None = None,
) -> Iterator[Quality]:
    """Measure the graph of a collection from the `seeds` TF-IDF passages of each question; `label` as in `edges`.

    `walk`: a kgp expression that is walked with, too, over one kind of edges after the other. Raises InputError without
    questions.
    """
    if not questions:
        raise InputError("There are no questions to measure with.", "Raise --limit.")
    reader, retriever = index.reader, TfIdf(index)
    started = [[hit.id for hit in retriever.rank(Query(question.text), seeds)] for question in questions]
    passages = reader.question(names=[], stemmed=[], words=[])["passages"] or 1
    documents: dict[str, str] = {}
    steps = [(kind, setting) for kind in kinds for setting in KINDS[kind]]
    for number, (kind, setting) in enumerate(steps):
        progress(f"edges {label}", number, len(steps))
        reader.edge_neighbours(started[0], kind, setting, BRIDGE_CAP, index.settings.over_fetch)
        found, times = [], []
        for its in started:
            begun = time.perf_counter()
            found.append(reader.edge_neighbours(its, kind, setting, BRIDGE_CAP, index.settings.over_fetch))
            times.append(1000 * (time.perf_counter() - begun))
        new = {id for its, tied in zip(started, found, strict=True) for id in (*its, *_union(tied))} - documents.keys()
        documents |= {id: passage.document for id, passage in reader.passages(sorted(new)).items()}
        ways = [set(its) | _union(tied) for its, tied in zip(started, found, strict=True)]
        degrees = [len(near) for tied in found for near in tied.values()]
        shares = [_shares(question, way, documents) for question, way in zip(questions, ways, strict=True)]
        degree = fmean(degrees) if degrees else 0.0
        yield Quality(
            edges=f"{kind} {label}".strip() if kind == "similar" else kind,
            setting=setting,
            sf_em=fmean(share == 1 for share, _ in shares),
            recall=fmean(share for share, _ in shares),
            precision=fmean(precision for _, precision in shares),
            neighbours=degree,
            density=degree / passages,
            p50_ms=percentile(times, 0.5),
            **(_walked(index, questions, walk, kind, setting) if walk is not None else {}),
        )
    progress(f"edges {label}", len(steps), len(steps))


def _walked(
    index: Index, questions: Sequence[Question], walk: str, kind: str, setting: float
) -> dict[str, float | None]:
    """What a walk over one kind of edges finds at a density, and its median time; nothing where fewer are kept."""
    if kind == "similar" and setting > index.reader.collection.indexing.similar:
        return {}
    its = parse(walk)
    options = {"cap": BRIDGE_CAP} | dict(its.options) | {"edges": (kind,), _OPTIONS[kind]: setting}
    retriever = make_retriever(str(replace(its, options=tuple(options.items()))), index)
    budget = retriever.index.settings.kgp.budget
    retriever.retrieve(questions[0].text, budget)
    shares, times = [], []
    for question in questions:
        begun = time.perf_counter()
        found = {hit.passage.document for hit in retriever.retrieve(question.text, budget)}
        times.append(1000 * (time.perf_counter() - begun))
        shares.append(len(found.intersection(question.gold)) / len(question.gold))
    return {"walk": fmean(shares), "walk_ms": percentile(times, 0.5)}


def _union(tied: Mapping[str, Sequence[str]]) -> set[str]:
    return {id for near in tied.values() for id in near}


def _shares(question: Question, way: set[str], documents: Mapping[str, str]) -> tuple[float, float]:
    """The share of a question's gold that is there, and the share of what is there that is gold."""
    held = [documents[id] for id in way if id in documents]
    right = [document for document in held if document in question.gold]
    return len(set(right)) / len(question.gold), len(right) / len(held) if held else 0.0


def plot_quality(found: Sequence[Quality], title: str, path: Path) -> None:
    """Draw SF-EM and precision, and latency, against density, a line for each kind of edges; of walks recall, too.

    Raises ConfigurationError, InputError when the file cannot be written.
    """
    check_plot(path)
    figure_class, ticker = drawing()
    figure = figure_class(figsize=(11, 5), layout="constrained", dpi=150)
    left, right = figure.subplots(1, 2)
    figure.suptitle(title)
    for number, edges in enumerate(dict.fromkeys(q.edges for q in found)):
        line = sorted((q for q in found if q.edges == edges and q.density), key=lambda q: q.density)
        density, colour = [100 * q.density for q in line], f"C{number % 10}"
        left.plot(density, [100 * q.sf_em for q in line], "o-", color=colour, label=edges)
        left.plot(density, [100 * q.precision for q in line], "o:", color=colour, alpha=0.6)
        right.plot(density, [q.p50_ms for q in line], "o-", color=colour, label=edges)
        walks = [(100 * q.density, 100 * q.walk, q.walk_ms) for q in line if q.walk is not None]
        left.plot([w[0] for w in walks], [w[1] for w in walks], "s--", color=colour)
        right.plot([w[0] for w in walks], [w[2] for w in walks], "s--", color=colour)
    walked = any(q.walk is not None for q in found)
    left.set(ylabel="%, solid: SF-EM, dotted: precision" + ", dashed: recall of a walk" * walked, ylim=(0, 100))
    right.set(ylabel="median time to fetch the neighbours, ms" + "; dashed: of a whole walk" * walked)
    right.set_ylim(bottom=0)
    for axes in (left, right):
        axes.set(xlabel="density: neighbours of a passage, % of all passages", xscale="log")
        axes.xaxis.set_major_formatter(ticker.FuncFormatter(lambda value, _: f"{value:g}"))
        axes.grid(True, alpha=0.3)
    left.legend(loc="upper left", fontsize=8)
    save(figure, path)
