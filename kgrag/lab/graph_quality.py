"""Measure the quality of a graph of passages for multi-hop questions: the gold among neighbours of the first passages.

Source: KGP, section 3 and Figures 4 and 9.
"""

import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields, replace
from pathlib import Path
from statistics import fmean, median
from typing import Any

from kgrag.lab.datasets import GoldText, Question
from kgrag.lab.measures import text_ranks
from kgrag.lab.question_graphs import QuestionGraphs
from kgrag.lab.report import check_plot, drawing, number_ticks, save
from kgrag.retrieval.base import Query, check_retriever, make_retriever
from kgrag.retrieval.context import SearchContext
from kgrag.retrieval.expression import Expression, parse
from kgrag.retrieval.kgp import Kgp
from kgrag.retrieval.tfidf import TfIdf
from kgrag.settings import BRIDGE_CAP
from kgrag.values.errors import ConfigurationError, InputError
from kgrag.values.events import Progress, no_progress
from kgrag.values.results import Hit, Passage, Ranking

_ANY = 1_000_000  # passages of a name: no limit

KINDS: dict[str, tuple[float, ...]] = {
    "keyword": (1, 2, 3, 4, 5, 6, 8, 10), "keyword+title": (1, 2, 3, 4, 5, 6, 8, 10), "word": (1, 2, 3, 4, 5, 6, 8, 10),
    "word+title": (1, 2, 3, 4, 5, 6, 8, 10), "similar": (1, 2, 3, 5, 7, 10, 15, 20), "mention": (2, 3, 5, 10, 20, 50),
    "named": (2, 5, 10, 50, _ANY), "named+next": (2, 5, 10, 50, _ANY), "title": (1, 2, 5, 10, 50),
    "tagme": (0.1, 0.2, 0.3, 0.4, 0.5, 0.6),
}  # fmt: skip
"""Kind of edges -> its density settings: keywords of a passage, nearest passages, passages of a name, TAGME's rho.

With titles, a document's title is a keyword that connects its passages, as in KGP. A keyword connects the passages with
it among their best; a word, all passages that contain it, if it is among the best of any. KGP can be read both ways.
"""

USUAL = tuple(kind for kind in KINDS if not kind.startswith("word") and kind != "named+next")
"""The default measurements. Words are left out, since every passage is searched for them, which takes long."""

_OPTIONS = {
    "keyword": "keywords", "keyword+title": "keywords", "word": "keywords", "word+title": "keywords",
    "similar": "similar", "mention": "cap", "named": "cap", "named+next": "cap", "title": "cap", "tagme": "rho",
}  # fmt: skip

SAMPLE = 500
"""Maximum number of passages sampled to estimate the density of a graph."""

_ALL = 2**31 - 1  # no cap
_BATCH = 50
_OVER_FETCH = 200  # candidates of the vector index, which are rescored exactly


@dataclass(frozen=True, slots=True)
class Quality:
    """The quality of one kind of edges at one density setting. Shares are 0 to 1.

    `sf_em`: questions with all gold documents, or sentences, among the seeds and their neighbours. `recall`: gold among
    them. `precision`: the gold share of these passages. `neighbours`: per seed. `density`: 2E / (V (V - 1)) of the
    graph with V passages and E edges, and `pairs`: E; both estimated from SAMPLE passages if there are more. `p50_ms`:
    time to fetch the neighbours of all seeds of a question, in one round trip. `walk`: recall of gold documents by a
    walk over these edges only, and `walk_ms` its time; None without a walk.
    """

    edges: str
    setting: float
    sf_em: float
    recall: float
    precision: float
    neighbours: float
    density: float
    pairs: float
    p50_ms: float
    walk: float | None = None
    walk_ms: float | None = None


def check_kinds(kinds: Sequence[str]) -> None:
    """Check kinds of edges. Raises ConfigurationError for an unknown one."""
    for kind in kinds:
        if kind not in KINDS:
            raise ConfigurationError(f"There is no kind of edges {kind!r}.", f"Choose among: {', '.join(KINDS)}.")


def check_walk(expression: str) -> str:
    """Return the kgp expression in its standard spelling.

    Raises as `check_retriever`, and ConfigurationError for another retriever.
    """
    if parse(expression).name != "kgp":
        raise ConfigurationError(
            f"{expression!r} walks over no edges of choice.", "Name kgp, as in kgp(guide=encoder)."
        )
    return check_retriever(expression)


def quality(
    context: SearchContext | QuestionGraphs,
    questions: Sequence[Question],
    seeds: int,
    kinds: Sequence[str],
    label: str,
    progress: Progress,
    walk: str | None = None,
    texts: Mapping[str, GoldText] | None = None,
    cap: int = BRIDGE_CAP,
) -> list[Quality]:
    """Measure the graph of a collection from the `seeds` TF-IDF passages of each question; `label` as in `edges`.

    `texts`: for gold that is only part of a document (see `variants.sentences`). `walk`: a kgp expression that also
    walks, over one kind of edges at a time. `cap`: maximum number of passages that a word or name may connect; 0: no
    limit. Every setting is measured with a question before the next question, so that a temporary slowdown affects all
    settings. If each question has its own graph (KGP, section 3), these are means over questions, and median times.
    Raises InputError without questions.
    """
    if not questions:
        raise InputError("There are no questions to measure with.", "Raise --limit.")
    if isinstance(context, QuestionGraphs):
        apart = []
        for number, question in enumerate(questions):
            progress("questions", number, len(questions))
            own = context.open(question).context
            apart.append(quality(own, [question], seeds, kinds, label, no_progress, walk, texts, cap))
        progress("questions", len(questions), len(questions))
        return [_mean(group) for group in zip(*apart, strict=True)]
    reader, retriever = context.reader, TfIdf(context)
    passages = reader.question(names=[], stemmed=[], words=[])["passages"] or 1
    steps = [_Setting(context, kind, setting, walk, texts or {}, cap) for kind in kinds for setting in KINDS[kind]]
    for number, question in enumerate(questions):
        progress(f"edges {label}", number, len(questions))
        ids = [hit.id for hit in retriever.rank(Query(question.text), seeds)]
        turn = number % len(steps)  # rotates: the first after a search is a little slower
        for step in steps[turn:] + steps[:turn]:
            if not number:  # unmeasured: plans the query
                step.measure(ids, question)
                step.clear()
            step.measure(ids, question)
    progress(f"edges {label}", len(questions), len(questions))
    new = {id for step in steps for way in step.ways for id in way}
    texts_by_id = reader.passages(sorted(new))
    sample = reader.row("retrieve/first_passages", collection=reader.collection.name, limit=SAMPLE)["ids"]
    qualities = []
    for number, step in enumerate(steps):
        progress(f"density {label}", number, len(steps))
        qualities.append(step.quality(label, questions, texts_by_id, passages, step.pairs(sample, passages)))
    progress(f"density {label}", len(steps), len(steps))
    return qualities


def _mean(qualities: Sequence[Quality]) -> Quality:
    """Return the means over questions."""
    means: dict[str, Any] = {}
    for name in [each.name for each in fields(Quality)][2:]:
        values = [value for quality in qualities if (value := getattr(quality, name)) is not None]
        means[name] = None if not values else median(values) if name.endswith("ms") else fmean(values)
    return replace(qualities[0], **means)


class _Setting:
    """The measurements of one kind of edges at one density, question by question."""

    def __init__(
        self,
        context: SearchContext,
        kind: str,
        setting: float,
        walk: str | None,
        texts: Mapping[str, GoldText],
        cap: int,
    ) -> None:
        self.kind, self.setting, self._context, self._texts = kind, setting, context, texts
        self._cap = cap or _ALL
        self._walk: Kgp | None = None
        if walk is not None and not (kind == "similar" and setting > context.reader.collection.indexing.similar):
            expression = parse(walk)
            edges = tuple(kind.replace("+title", "+title+document").split("+"))
            own = 0 if setting == _ANY else setting
            options = {"cap": cap} | dict(expression.options) | {"edges": edges, _OPTIONS[kind]: own}
            self._walk = Kgp(
                *(make_retriever(part, context) for part in expression.parts or [Expression("bm25")]), **options
            )
        self.clear()

    def clear(self) -> None:
        """Delete the measurements."""
        self.ways: list[set[str]] = []
        self._degrees: list[int] = []
        self._times: list[float] = []
        self._walked: list[float] = []
        self._walk_times: list[float] = []

    def measure(self, seeds: Sequence[str], question: Question) -> None:
        """Fetch the neighbours of a question's seeds, and walk if there is a walk."""
        context, start = self._context, time.perf_counter()
        tied = context.reader.edge_neighbours(seeds, self.kind, self.setting, self._cap, _OVER_FETCH)
        self._times.append(1000 * (time.perf_counter() - start))
        self.ways.append({*seeds, *(id for near in tied.values() for id in near)})
        self._degrees += map(len, tied.values())
        if self._walk is not None:
            start = time.perf_counter()
            ranking = self._walk.retrieve(question.text, self._walk.settings.budget)
            self._walk_times.append(1000 * (time.perf_counter() - start))
            self._walked.append(_shares(question, [hit.passage for hit in ranking], self._texts)[0])

    def pairs(self, sample: Sequence[str], passages: int) -> float:
        """Return the number of connected pairs of passages.

        It is an estimate by the mean number of neighbours if the sample is not all passages.
        """
        tied: set[tuple[str, str]] = set()
        ways = 0
        for start in range(0, len(sample), _BATCH):
            ids = sample[start : start + _BATCH]
            rows = self._context.reader.edge_neighbours(ids, self.kind, self.setting, self._cap, _OVER_FETCH)
            for id, near in rows.items():
                ways += len(near)
                tied.update((min(id, other), max(id, other)) for other in near)
        return len(tied) if len(sample) >= passages else ways * passages / 2 / max(1, len(sample))

    def quality(
        self, label: str, questions: Sequence[Question], by_id: Mapping[str, Passage], passages: int, pairs: float
    ) -> Quality:
        """Return the means; `by_id`: passages by their ids, `passages`: their number, `pairs`: connected ones."""
        ways = ([by_id[id] for id in way if id in by_id] for way in self.ways)
        shares = [_shares(question, way, self._texts) for question, way in zip(questions, ways, strict=True)]
        return Quality(
            edges=f"{self.kind} {label}".strip() if self.kind == "similar" else self.kind,
            setting=self.setting,
            sf_em=fmean(share == 1 for share, _ in shares),
            recall=fmean(share for share, _ in shares),
            precision=fmean(precision for _, precision in shares),
            neighbours=fmean(self._degrees) if self._degrees else 0.0,
            density=2 * pairs / (passages * (passages - 1)) if passages > 1 else 0.0,
            pairs=pairs,
            p50_ms=median(self._times),
            walk=fmean(self._walked) if self._walked else None,
            walk_ms=median(self._walk_times) if self._walked else None,
        )


def _shares(question: Question, way: Sequence[Passage], texts: Mapping[str, GoldText]) -> tuple[float, float]:
    """Return the share of a question's gold in the result, and the share of gold in the result."""
    right = [p for p in way if (_holds(p, question.gold, texts) if texts else p.document in question.gold)]
    if texts:
        whole = Ranking(question.text, "", tuple(Hit(p, 0.0, ()) for p in way))
        there = sum(rank is not None for rank in text_ranks(whole, question.gold, texts))
    else:
        there = len({p.document for p in right})
    return there / len(question.gold), len(right) / len(way) if way else 0.0


def _holds(passage: Passage, gold: Sequence[str], texts: Mapping[str, GoldText]) -> bool:
    """Return whether a passage contains gold that is part of a document."""
    keys = [key for key in gold if texts[key].document == passage.document]
    return any(rank is not None for rank in text_ranks(Ranking("", "", (Hit(passage, 0.0, ()),)), keys, texts))


def plot_quality(qualities: Sequence[Quality], title: str, path: Path) -> None:
    """Draw SF-EM, precision and latency against density, a line for each kind of edges; walks are dashed.

    Density and latency are on logarithmic axes. Raises ConfigurationError, InputError when the file cannot be written.
    """
    check_plot(path)
    figure_class, ticker = drawing()
    figure = figure_class(figsize=(15, 5), layout="constrained", dpi=120)
    reach, pure, slow = figure.subplots(1, 3)
    figure.suptitle(title)
    walked = any(q.walk is not None for q in qualities)
    for number, edges in enumerate(dict.fromkeys(q.edges for q in qualities if q.density)):
        line = sorted((q for q in qualities if q.edges == edges and q.density), key=lambda q: q.density)
        density, style = [100 * q.density for q in line], {"color": f"C{number % 10}", "markersize": 5}
        reach.plot(density, [100 * q.sf_em for q in line], "o-", label=edges, **style)
        pure.plot(density, [100 * q.precision for q in line], "o-", **style)
        slow.plot(density, [q.p50_ms for q in line], "o-", **style)
        walks = [(100 * q.density, 100 * q.walk, q.walk_ms) for q in line if q.walk is not None]
        reach.plot([w[0] for w in walks], [w[1] for w in walks], "s--", alpha=0.6, **style)
        slow.plot([w[0] for w in walks], [w[2] for w in walks], "s--", alpha=0.6, **style)
    reach.set(ylabel="SF-EM, %" + "; dashed: recall of a walk, %" * walked)
    reach.set_ylim(top=102)
    pure.set(ylabel="precision, %", ylim=(0, None))
    slow.set(ylabel="median time to fetch, ms" + "; dashed: to walk, ms" * walked, yscale="log")
    for axes in (reach, pure, slow):
        axes.set(xlabel="density of the graph, %", xscale="log")
        axes.grid(True, which="major", alpha=0.3)
    for axis in (reach.xaxis, pure.xaxis, slow.xaxis, slow.yaxis):
        number_ticks(axis, ticker)
    handles, labels = reach.get_legend_handles_labels()
    if handles:
        figure.legend(handles, labels, loc="outside lower center", ncols=len(labels), fontsize=9)
    save(figure, path)
