"""Tables of an experiment's records: measures by system, group or value of a setting, and their differences."""

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import groupby
from statistics import fmean
from typing import Any

import numpy as np

from kgrag.agents.system import STRATEGIES, check_system, retriever_of
from kgrag.lab.measures import (
    Difference,
    Ranks,
    exact_match,
    f1,
    ndcg_at,
    paired_bootstrap,
    perfect_at,
    recall_at,
    reciprocal_rank,
    structure_match,
)
from kgrag.lab.retrieving import DEPTH, AnswerRecord, Record
from kgrag.retrieval.base import RETRIEVERS, check_retriever
from kgrag.retrieval.expression import Expression, parse
from kgrag.values.errors import ConfigurationError
from kgrag.values.results import Usage

# Sweeps: a table of one retriever or system with several values of a setting.
#
# Source: KGP, section 5.4 and Figure 6.


_FORM = "Write OPTION=VALUE,VALUE,... or OPTION=FIRST..LAST, as in branch=1,2,3,5 or seeds=1..10."
_RANGE = re.compile(r"(\d+)\.\.(\d+)")
_MOST = 100  # values


@dataclass(frozen=True, slots=True)
class Sweep:
    """A setting with its values. `lines`: varied name -> value as written -> the name with that value."""

    option: str
    values: tuple[Any, ...]
    lines: dict[str, dict[str, str]]

    @classmethod
    def of(cls, text: str, retrievers: Sequence[str], systems: Sequence[str]) -> "Sweep":
        """Return the sweep of "branch=1,2,3" over the retrievers and systems that have this setting.

        Raises ConfigurationError if the text is malformed, or no system has the setting or accepts the values.
        """
        option, _, rest = text.partition("=")
        option = option.strip()
        values = _values(rest)
        if not option.isidentifier() or not values:
            raise ConfigurationError(f"{text!r} names no setting to vary.", _FORM)
        lines: dict[str, dict[str, str]] = {}
        kinds = ((retrievers, _varied, check_retriever), (systems, _varied_system, check_system))
        for names, vary, check in kinds:
            for name in names:
                variants = {literal(v): vary(name, option, v) for v in values}
                if None not in variants.values():
                    lines[check(name)] = {label: check(new) for label, new in variants.items() if new}
        if not lines:
            named = ", ".join([*retrievers, *systems])
            raise ConfigurationError(
                f"None of {named} has a setting {option!r}.",
                "`kgrag list retrievers` and `kgrag list systems` list what there is.",
            )
        return cls(option, values, lines)

    def names(self, names: Iterable[str]) -> tuple[str, ...]:
        """Return names with each varied one replaced by its variants."""
        return tuple(new for name in names for new in self.lines.get(name, {name: name}).values())


def _values(text: str) -> tuple[Any, ...]:
    """Return the values of a list such as "1,2,5..8, (title, mention)"; empty if the text is not such a list."""

    def spread(match: re.Match[str]) -> str:
        first, last = int(match[1]), int(match[2])
        return ", ".join(map(str, range(first, min(last, first + _MOST) + 1)))

    try:
        ((_, values),) = parse(f"x(values=[{_RANGE.sub(spread, text)}])").options
    except (ConfigurationError, ValueError):
        return ()
    return tuple(dict.fromkeys(values)) if isinstance(values, tuple) else ()


def literal(value: Any) -> str:
    """Return a value as written in an expression."""
    return str(Expression("x", options=(("v", value),)))[4:-1]


def _varied(name: str, option: str, value: Any) -> str | None:
    """Return a retriever with another value of a setting wherever it occurs; None if the retriever lacks it."""
    expression = parse(name)
    changed = _changed(expression, option, value)
    return None if changed is expression else str(changed)


def _changed(expression: Expression, option: str, value: Any) -> Expression:
    parts = tuple(_changed(part, option, value) for part in expression.parts)
    if any(new is not old for new, old in zip(parts, expression.parts, strict=True)):
        expression = replace(expression, parts=parts)
    fields = RETRIEVERS[expression.name].options.model_fields
    return _set(expression, option, value) if option in fields else expression


def _varied_system(name: str, option: str, value: Any) -> str | None:
    """Return a system with another value of a setting of its retriever, or else of its strategy."""
    retriever = retriever_of(name)
    if f"+{retriever}" not in check_system(name):
        return None
    strategy = check_system(name).removesuffix(f"+{retriever}")
    if (new := _varied(retriever, option, value)) is not None:
        return f"{strategy}+{new}"
    own = parse(strategy)
    fields = STRATEGIES[own.name].options.model_fields
    return f"{_set(own, option, value)}+{retriever}" if option in fields else None


def _set(expression: Expression, option: str, value: Any) -> Expression:
    others = tuple((key, old) for key, old in expression.options if key != option)
    return replace(expression, options=(*others, (option, value)))


RECALLS = (2, 5, 10, 15)
PERFECT = 8
NDCG = 10
COMPARED = ("answer@5", "answer@10", "R@5", "R@10", "R@15", f"perfect@{PERFECT}", "MRR", f"nDCG@{NDCG}")
"""The measures whose differences are reported."""

_WAYS = {"both": (True, True), "it alone": (True, False), "baseline alone": (False, True), "neither": (False, False)}
_ONE_DIGIT = ("EM", "F1", "Acc", "Struct-EM", "calls", "p50_ms", "p95_ms", "wall_s", *_WAYS)

Rows = dict[str, dict[str, float | None]]
"""System -> measure -> value; None where there is nothing to measure."""

Iterations = dict[str, list[dict[str, float | str | None]]]
"""System -> one row per iteration."""

Overlaps = dict[str, dict[str, float | str]]
"""System -> shares of questions, in per cent, that it and a baseline answer correctly: see `overlaps`."""

Group = tuple[int, str]
"""The rank of a group among others, and its name."""


def measures(depth: int = DEPTH, *, gold: bool = True, at: Sequence[int] = ()) -> dict[str, Callable[[Ranks], float]]:
    """Return the measures of rankings of `depth`: name -> measure of one question's ranks.

    "R@k" is recall in per cent, "perfect@8" whether all gold is among the first 8, "MRR" the reciprocal rank of the
    first gold passage, "nDCG@10" has relevance 0 or 1. Measures deeper than a ranking are left out; recall at `depth`
    is added if deeper than the usual. `at` gives other cutoffs for recall and perfect.
    Without `gold` there are "answer@k", the share of questions in per cent whose answer is in the first k passages
    (DPR's top-k accuracy), and "MRR" of the first passage with the answer.
    """
    recalls = [k for k in RECALLS if k <= depth] + ([depth] if depth > RECALLS[-1] else [])
    recalls = [k for k in at if k <= depth] or recalls
    if not gold:
        return {**{f"answer@{k}": _recall(k) for k in recalls}, "MRR": reciprocal_rank}
    functions: dict[str, Callable[[Ranks], float]] = {f"R@{k}": _recall(k) for k in recalls}
    functions |= {f"perfect@{k}": _perfect(k) for k in at or (PERFECT,) if k <= depth}
    functions["MRR"] = reciprocal_rank
    if depth >= NDCG:
        functions[f"nDCG@{NDCG}"] = lambda ranks: ndcg_at(ranks, NDCG)
    return functions


def table(records: Iterable[Record], depth: int = DEPTH, at: Sequence[int] = ()) -> Rows:
    """Return system -> measure -> mean over its questions; records of a system must be adjacent.

    Besides `measures`: "p50_ms" and "p95_ms", percentiles of latency in milliseconds; "questions", their number; and
    "errors", the number of failed questions if any, which found nothing and have no latency. Answering systems also
    have "EM" and "F1" in per cent, over questions with known answers; "Acc" over the graded ones; "Struct-EM" over
    questions that name a page, table or section; "calls" and "tokens" per question on average; "cost" of all questions,
    None if a price is unknown. "wall_s" is the time in seconds with any question in progress, "q/s" the questions per
    such second.
    """
    return {name: _row(own, depth, at) for name, own in _by_system(records).items()}


def tables_by(
    records: Sequence[Record], group: Mapping[str, Group], depth: int = DEPTH, at: Sequence[int] = ()
) -> dict[str, Rows]:
    """Return a table per group of questions; `group` maps question ids. The shared wall time is left out."""
    groups: dict[Group, list[Record]] = {}
    for record in records:
        groups.setdefault(group[record.question.id], []).append(record)
    tables = {key[1]: table(groups[key], depth, at) for key in sorted(groups)}
    for row in (row for rows in tables.values() for row in rows.values()):
        row.pop("wall_s", None)
        row.pop("q/s", None)
    return tables


def differences(
    records: Iterable[Record], baseline: str, depth: int = DEPTH, seed: int = 0, at: Sequence[int] = ()
) -> dict[str, dict[str, Difference]]:
    """Return system -> measure -> its gain over the baseline on the same questions, with a 95 % interval.

    The units are those in `table`. A failed question counts as one without results. EM and F1 are compared if both
    systems answer, on questions with known answers; Acc is compared on questions where both answers were graded.
    """
    records = list(records)
    functions = measures(depth, gold=_has_gold(records), at=at)
    ranked = {name: measure for name, measure in functions.items() if at or name in COMPARED}
    values = {name: [_judged(r, ranked) for r in own] for name, own in _by_system(records).items()}
    result: dict[str, dict[str, Difference]] = {name: {} for name in values if name != baseline}
    for name, compared in result.items():
        pairs = list(zip(values[name], values[baseline], strict=True))
        for names in ((*ranked,), ("EM", "F1"), ("Acc",)):
            both = [[[one[n] for n in names] for one in pair] for pair in pairs if all(names[0] in one for one in pair)]
            if both:
                matrix = np.array(both, dtype=float)  # [questions, 2, measures]
                compared |= zip(names, paired_bootstrap(matrix[:, 0], matrix[:, 1], seed=seed), strict=True)
    return result


def overlaps(records: Iterable[Record], baseline: str, depth: int = DEPTH) -> Overlaps:
    """Return system -> shares of questions, in per cent, that it and the baseline get right.

    The shares are those of one system alone, both, or neither.

    If both answers were graded, the grade decides, else EM if both systems answer. If one does not answer, all gold
    must be among the first 8 (or `depth`). Questions without any of these are left out.
    """
    k = min(PERFECT, depth)
    perfect = {f"perfect@{k}": _perfect(k)}
    systems = {
        name: [_judged(r, perfect if r.question.gold else {}) for r in own] for name, own in _by_system(records).items()
    }
    result: Overlaps = {}
    for name in (name for name in systems if name != baseline):
        pairs = list(zip(systems[name], systems[baseline], strict=True))
        for by in ("Acc", "EM", *perfect):
            right = [(bool(a[by]), bool(b[by])) for a, b in pairs if by in a and by in b]
            if right:
                shares = {way: round(100 * right.count(pair) / len(right), 1) for way, pair in _WAYS.items()}
                result[name] = {"by": by, "questions": len(right), **shares}
                break
    return result


def iterations(records: Iterable[Record], depth: int = DEPTH) -> Iterations:
    """Return system -> a row for each iteration.

    A row has the number of "questions" that reached the iteration, recall, and mean "calls" and "tokens".

    "R@k" is the recall of the final ranking if this iteration were the last (GEAR, figures 2 and 5). "found@k" is the
    recall of everything retrieved so far, each retrieval cut at `depth`. Both are over all questions; one that ended
    earlier keeps its values. The last row, "after", covers steps outside the loop, such as the answer, with the recall
    of the final ranking. Systems that do not answer are left out.
    """
    answered = {name: [(r, r.answer) for r in own if r.answer is not None] for name, own in _by_system(records).items()}
    return {name: _iterations(own, depth) for name, own in answered.items() if own}


def errors(records: Iterable[Record]) -> dict[str, dict[str, str]]:
    """Return system -> question id -> error of the failed questions."""
    return _texts(records, lambda record: record.error)


def problems(records: Iterable[Record]) -> dict[str, dict[str, str]]:
    """Return system -> question id -> a failure despite which there is an answer."""
    return _texts(records, lambda record: "" if record.answer is None or record.error else record.answer.problem)


def _texts(records: Iterable[Record], text_of: Callable[[Record], str]) -> dict[str, dict[str, str]]:
    by_system: dict[str, dict[str, str]] = {}
    for record in records:
        if text := text_of(record):
            by_system.setdefault(record.system, {})[record.question.id] = text
    return by_system


def _by_system(records: Iterable[Record]) -> dict[str, list[Record]]:
    """Return system -> its records, which must be adjacent."""
    return {name: list(group) for name, group in groupby(records, key=lambda r: r.system)}


def digits(measure: str) -> int:
    """Return the number of decimals for a measure."""
    if measure in ("questions", "errors", "tokens"):
        return 0
    if measure == "cost":
        return 4
    return 1 if measure.startswith(("R@", "answer@")) or measure in _ONE_DIGIT else 3


def _has_gold(records: Iterable[Record]) -> bool:
    return any(record.question.gold for record in records)


def _recall(k: int) -> Callable[[Ranks], float]:
    return lambda ranks: 100 * recall_at(ranks, k)


def _perfect(k: int) -> Callable[[Ranks], float]:
    return lambda ranks: perfect_at(ranks, k)


def _judged(record: Record, functions: Mapping[str, Callable[[Ranks], float]]) -> dict[str, float]:
    """Return measure -> value of one question, from its ranks and, in per cent, from an answer that can be judged.

    A failure matches nothing and counts as graded wrong.
    """
    values = {name: measure(record.ranks) for name, measure in functions.items()}
    answer, question = record.answer, record.question
    if answer is None:
        return values
    text, structure = ("", ()) if record.error else (answer.text, answer.structure)
    if question.answers:
        values["EM"] = 100 * exact_match(text, question.answers)
        values["F1"] = 100 * f1(text, question.answers)
        if record.error:
            values["Acc"] = 0.0
        elif answer.grade is not None:
            values["Acc"] = 100.0 * answer.grade.correct
    if question.structure:
        values["Struct-EM"] = 100 * structure_match(structure, question.structure)
    return values


def _row(records: Sequence[Record], depth: int, at: Sequence[int]) -> dict[str, float | None]:
    functions = measures(depth, gold=_has_gold(records), at=at)
    values, row = [_judged(r, functions) for r in records], dict[str, float | None]()
    answers = [r.answer for r in records if r.answer is not None]
    names = [*functions, "EM", "F1", *(["Acc"] if any(a.grade is not None for a in answers) else []), "Struct-EM"]
    for name in names:
        if own := [each[name] for each in values if name in each]:
            row[name] = fmean(own)
    usage = sum((r.usage if r.answer is None else r.answer.usage for r in records), Usage())
    if answers or usage.calls:
        row |= {"calls": usage.calls / len(records), "tokens": usage.tokens / len(records), "cost": usage.cost}
    latencies = [1000 * r.seconds for r in records if not r.error]
    for name, share in (("p50_ms", 0.5), ("p95_ms", 0.95)):
        row[name] = float(np.quantile(latencies, share)) if latencies else None
    if answers:
        row["wall_s"] = wall = _wall(records)
        row["q/s"] = len(records) / wall if wall else None
    row["questions"] = len(records)
    if len(latencies) < len(records):
        row["errors"] = len(records) - len(latencies)
    return {name: None if value is None else round(value, digits(name)) for name, value in row.items()}


def _wall(records: Iterable[Record]) -> float:
    """Return the seconds with a question in progress, without pauses between runs."""
    spans = sorted((r.answer.began, r.answer.began + r.seconds) for r in records if r.answer is not None)
    total, end = 0.0, 0.0
    for start, stop in spans:
        total += max(0.0, stop - max(start, end))
        end = max(end, stop)
    return total


def _iterations(records: Sequence[tuple[Record, AnswerRecord]], depth: int) -> list[dict[str, float | str | None]]:
    def row(
        name: str, ranked: Iterable[Ranks], best: Iterable[Ranks], used: Sequence[tuple[int, int]]
    ) -> dict[str, float | str | None]:
        recalls = [round(fmean(100 * recall_at(r, depth) for r in ranks), 1) for ranks in (ranked, best)]
        calls, tokens = (round(fmean(numbers), n) for numbers, n in zip(zip(*used, strict=True), (1, 0), strict=True))
        means = {f"R@{depth}": recalls[0], f"found@{depth}": recalls[1], "calls": calls, "tokens": tokens}
        return {"iteration": name, "questions": len(used), **means}

    rows = []
    for number in range(max(len(answer.iterations) for _, answer in records)):
        came = [answer.iterations[number] for _, answer in records if number < len(answer.iterations)]
        last = [a.iterations[: number + 1][-1] if a.iterations and not r.error else None for r, a in records]
        pairs = list(zip(last, records, strict=True))
        ranked = [r.ranks if state is None else state.ranked for state, (r, _) in pairs]
        best = [r.ranks if state is None else state.ranks for state, (r, _) in pairs]
        rows.append(row(str(number + 1), ranked, best, [(i.calls, i.tokens) for i in came]))
    rest = [
        (a.usage.calls - sum(i.calls for i in a.iterations), a.usage.tokens - sum(i.tokens for i in a.iterations))
        for _, a in records
    ]
    final = [r.ranks for r, _ in records]
    return [*rows, row("after", final, final, rest)]
