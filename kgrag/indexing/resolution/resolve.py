"""The stage: read the names of a collection, decide which are one entity's, and write that as SAME_AS edges.

All is decided again each time, from the names and the graph alone, so that a run after an ingest writes just what has
changed; what a language model said is kept in the graph and not asked again. No node is merged or removed.
"""

import logging
import re
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from itertools import combinations
from typing import Any, Literal

from kgrag.graph.collections import Collection
from kgrag.graph.connection import Graph, Transaction
from kgrag.indexing.ask_each import Meter
from kgrag.indexing.document_writer import settle_facts
from kgrag.indexing.mentions import id64
from kgrag.indexing.resolution import judge
from kgrag.indexing.resolution.judge import Question, batched, spread
from kgrag.indexing.resolution.name_rules import (
    SURE,
    Kind,
    Likeness,
    Seen,
    compare,
    contradiction,
    definitions,
    homonyms,
    weigh,
)
from kgrag.indexing.resolution.pairs import LARGEST, Pair, ambiguous, groups, pair, pairs
from kgrag.indexing.resolution.words import Name, is_generic, is_name, parse
from kgrag.models.budget import Estimate
from kgrag.models.prompted import PromptedModel
from kgrag.settings import BRIDGE_CAP, ChatSettings
from kgrag.text.tokens import normalise
from kgrag.values.errors import ModelError
from kgrag.values.events import Progress
from kgrag.values.results import Usage

_LOG = logging.getLogger(__name__)
DOUBTFUL = 0.5
"""The score from which a pair that is not sure is doubtful: it is shown, and a language model may decide it."""
NEAR = 0.95
"""The score of vectors, (1 + cosine) / 2, from which names that share no words are doubtful."""
_JUDGED = 0.9  # the score of a pair that a language model decided
_BATCH = 1000
_PASSAGES = 50  # passages inspected per name
_SAMPLE = 1000  # doubtful pairs whose texts are read for an estimate


@dataclass(frozen=True, slots=True)
class NamePair:
    """Two names, how sure they are to be one entity's, and what speaks for that. `by`: rules, model or somebody."""

    one: str
    other: str
    score: float
    evidence: str
    kind: Kind | Literal["joined"]
    by: str
    ids: Pair


@dataclass(frozen=True, slots=True)
class Resolution:
    """The similar names that entity resolution found in a collection, and the merges that it wrote.

    `names` were compared; `same` are pairs of one entity, in `groups` groups; `doubtful` pairs are left out, and
    `apart` are pairs that a model or a person decided to be of two entities. `estimate`: the cost of asking a language
    model about doubtful pairs. `applied`: whether the graph was changed, by edges that were `written` and `removed`.
    `usage`: the calls; `stopped`: the reason if asking ended early.
    """

    names: int
    same: tuple[NamePair, ...]
    groups: int
    doubtful: tuple[NamePair, ...]
    estimate: Estimate
    apart: tuple[NamePair, ...] = ()
    applied: bool = False
    written: int = 0
    removed: int = 0
    usage: Usage = field(default_factory=Usage)
    failed: int = 0
    stopped: ModelError | None = None


@dataclass(slots=True)
class _Decision:
    """The state of a resolution: `found` likenesses by pair, `judged` verdicts of models and people.

    `ties`: the edges that these left, with their evidence.
    """

    ids: list[str]
    names: dict[str, Name]
    articles: dict[str, str]
    found: dict[Pair, Likeness] = field(default_factory=dict)
    titles: dict[str, Seen] = field(default_factory=dict)
    judged: dict[Pair, bool] = field(default_factory=dict)
    ties: Mapping[Pair, Mapping[str, Any]] = field(default_factory=dict)

    def apart(self, one: str, other: str) -> bool:
        """Return whether two names cannot be one entity's."""
        verdict = self.judged.get(pair(one, other))
        if verdict is not None:
            return not verdict
        titles = self.titles.get(one), self.titles.get(other)
        if titles[0] is not None and titles[1] is not None and homonyms(titles[0], titles[1]):
            return True
        first, second = self.articles.get(one), self.articles.get(other)
        if first and second:
            return first != second
        return bool(contradiction(self.names[one], self.names[other]))

    def scores(self, sure: float) -> dict[Pair, float]:
        """Return the scores of the pairs that are not ruled out."""
        scores = {
            p: likeness.score
            for p, likeness in self.found.items()
            if likeness.score >= DOUBTFUL and self.judged.get(p, True)
        }
        return scores | {p: max(_JUDGED, sure) for p, same in self.judged.items() if same}


def resolve(
    graph: Graph,
    collection: Collection,
    chat: ChatSettings,
    progress: Progress,
    *,
    sure: float = SURE,
    near: float = NEAR,
    llm: PromptedModel | None = None,
    apply: bool = False,
    threads: int = 8,
) -> Resolution:
    """Find names of one entity; with `apply`, write the merges and remove those that no longer hold.

    `sure`: the score from which a pair counts; `near`: the vector score from which names without common words are
    doubtful. `llm`: a language model that decides doubtful pairs, except those already decided by it. Raises
    ConfigurationError for an unusable prompt, DatabaseError.
    """
    decision = _read(graph, collection, progress)
    ties = graph.stream("resolve/pairs", collection=collection.name)
    before = {pair(row["one"], row["other"]): dict(row) for row in ties}
    decision.ties = {p: row for p, row in before.items() if row["by"] != "rules" and decision.names.keys() >= set(p)}
    decision.judged |= dict.fromkeys(decision.ties, True)
    _compare(graph, collection, decision, progress, near)
    _weigh(graph, collection, decision, progress)
    same, doubtful = _decide(decision, sure)
    open_pairs = [p for p in doubtful if p not in decision.judged]
    usage, verdicts = Usage(), judge.Verdicts()
    if llm is not None and open_pairs:
        meter, questions = Meter(), _questions(graph, decision, open_pairs)
        verdicts = judge.ask(llm.with_listener(meter), questions, partial(progress, "doubtful pairs"), threads)
        usage = meter.total
        decision.judged |= {open_pairs[place]: verdict for place, verdict in verdicts.same.items()}
        same, doubtful = _decide(decision, sure)
        open_pairs = [p for place, p in enumerate(open_pairs) if place not in verdicts.same]
    differences = (_pair(decision, p, 0.0, by="decided") for p, is_same in decision.judged.items() if not is_same)
    result = Resolution(
        names=len(decision.ids),
        same=tuple(sorted(same.values(), key=_order)),
        groups=_count(same),
        doubtful=tuple(sorted(doubtful.values(), key=_order)),
        apart=tuple(sorted(differences, key=_order)),
        estimate=judge.estimate(chat, _questions(graph, decision, spread(open_pairs, _SAMPLE)), len(open_pairs)),
        usage=usage,
        failed=verdicts.failed,
        stopped=verdicts.stopped,
    )
    if not apply:
        return result
    return _write(graph, collection, result, before, [p for p, same in decision.judged.items() if not same])


def undo(graph: Graph, collection: Collection) -> int:
    """Take back every SAME_AS edge that entity resolution wrote, and what a model kept apart; returns how many edges.

    Edges that somebody else wrote, with another `by`, stay.
    """
    ties = list(graph.stream("resolve/pairs", collection=collection.name))
    own = [{"one": row["one"], "other": row["other"]} for row in ties if row["by"] in ("rules", "model")]
    for rows in batched(own, _BATCH):
        _untie(graph, rows)
    graph.run("resolve/forget_apart", collection=collection.name)
    graph.run("resolve/tied", collection=collection.name, tied=len(own) < len(ties))
    return len(own)


def decide(graph: Graph, collection: Collection, pairs: Iterable[NamePair], *, same: bool | None) -> None:
    """Keep what somebody says of pairs: that their names are one entity's, or not. `undo` forgets only the latter."""
    verdict = {"score": 1.0, "evidence": "somebody says so", "by": "person"}
    rows = [{"one": names.ids[0], "other": names.ids[1], **verdict} for names in pairs]
    if same is not False:
        graph.run("resolve/undecided", rows=rows)
    if same:
        _tie(graph, rows)
    else:
        _untie(graph, rows)
        if same is False:
            graph.run("resolve/apart", rows=rows)
    tied = any(graph.stream("resolve/pairs", collection=collection.name))
    graph.run("resolve/tied", collection=collection.name, tied=tied)


def _read(graph: Graph, collection: Collection, progress: Progress) -> _Decision:
    small = {r["stem"] for r in graph.stream("resolve/common_words", collection=collection.name)}

    def common(word: str) -> bool:
        return is_generic(word) or collection.language.stem[word] in small

    decision = _Decision([], {}, {})
    kept_apart: list[tuple[str, list[str]]] = []
    normal: dict[str, str] = {}
    for record in graph.stream("resolve/names", collection=collection.name):
        name = parse(record["name"], common)
        if is_name(name):
            id = record["id"]
            decision.ids.append(id)
            decision.names[id] = name
            normal[normalise(record["name"], collection.language)] = id
            if record["wikipedia"]:
                decision.articles[id] = record["wikipedia"]
            if record["apart"]:
                kept_apart.append((id, record["apart"]))
    for id, others in kept_apart:
        decision.judged |= {pair(id, normal[other]): False for other in others if other in normal}
    progress("names", len(decision.ids), len(decision.ids))
    return decision


def _compare(graph: Graph, collection: Collection, decision: _Decision, progress: Progress, near: float) -> None:
    """Compare the names that share a key, an article, or that vectors bring near."""
    ids, names = decision.ids, decision.names
    listed = [names[id] for id in ids]
    seen: set[tuple[int, int]] = set()
    for i, j in pairs(listed):
        if (i, j) in seen:
            continue
        seen.add((i, j))
        likeness = compare(listed[i], listed[j])
        if likeness is not None:
            decision.found[pair(ids[i], ids[j])] = likeness
        if len(seen) % 100_000 == 0:
            progress("pairs of names", len(seen), None)
    progress("pairs of names", len(seen), len(seen))
    by_article: defaultdict[str, list[str]] = defaultdict(list)
    for id, article in decision.articles.items():
        by_article[article].append(id)
    for p in [p for p in decision.found if _articles_differ(decision, p)]:
        del decision.found[p]
    for ids_of_article in by_article.values():
        if len(ids_of_article) <= LARGEST:
            for one, other in combinations(ids_of_article, 2):
                decision.found[pair(one, other)] = Likeness("form", 0.95, "the same Wikipedia article")
    for record in graph.stream("resolve/similar", collection=collection.name, near=near):
        p = pair(record["one"], record["other"])
        if p in decision.found or not (p[0] in names and p[1] in names) or _articles_differ(decision, p):
            continue
        a, b = names[p[0]], names[p[1]]
        if a.numbers == b.numbers and a.gender == b.gender and a.generation == b.generation:
            decision.found[p] = Likeness("resembling", DOUBTFUL, "near by their vectors")


def _articles_differ(decision: _Decision, p: Pair) -> bool:
    one, other = decision.articles.get(p[0]), decision.articles.get(p[1])
    return one is not None and other is not None and one != other


def _weigh(graph: Graph, collection: Collection, decision: _Decision, progress: Progress) -> None:
    """Add what the passages say to the likenesses, some pairs at a time."""
    defined: set[tuple[str, str]] = set()
    if any(likeness.kind == "letters" for likeness in decision.found.values()):
        for record in graph.stream("resolve/parentheses", collection=collection.name):
            defined.update(definitions(record["text"]))
    total = len(decision.found)
    for number, batch in enumerate(batched(sorted(decision.found), _BATCH)):
        progress("context", number * _BATCH, total)
        ids = sorted({id for p in batch for id in p})
        seen = {r["id"]: _seen(r) for r in _rows(graph, ids)}
        for p in batch:
            short, long = sorted(
                p, key=lambda id: (len(decision.names[id].words), not decision.names[id].is_acronym, id)
            )
            if decision.names[long].is_acronym and not decision.names[short].is_acronym:
                short, long = long, short
            a, b = decision.names[short], decision.names[long]
            by_text = (a.plain, b.plain.removeprefix("the ")) in defined
            likeness = decision.found[p]
            if not by_text and likeness.kind == "letters" and any(letters == a.plain for letters, _ in defined):
                del decision.found[p]  # a text explains it by another name
                continue
            nothing = Seen()
            decision.found[p] = weigh(likeness, seen.get(short, nothing), seen.get(long, nothing), by_text)
        remaining = {id for p in batch if p in decision.found and decision.found[p].score >= DOUBTFUL for id in p}
        decision.titles |= {
            id: Seen(titles=context.titles) for id, context in seen.items() if id in remaining and context.titles
        }
    progress("context", total, total)


def _rows(graph: Graph, ids: Sequence[str]) -> Iterator[Mapping[str, Any]]:
    for part in batched(ids, _BATCH):
        yield from graph.run("resolve/seen", ids=list(part), most=_PASSAGES, cap=BRIDGE_CAP)


def _seen(row: Mapping[str, Any]) -> Seen:
    documents, alone, titles, company = (
        frozenset(map(id64, row[key])) for key in ("documents", "alone", "titles", "company")
    )
    return Seen(titles | documents, alone, titles, company)


def _decide(decision: _Decision, sure: float) -> tuple[dict[Pair, NamePair], dict[Pair, NamePair]]:
    """Return the pairs of one entity, every pair of a group among them, and the doubtful ones."""
    scores = decision.scores(sure)
    unclear = ambiguous(scores, sure, decision.apart)
    accepted = {p: score for p, score in scores.items() if score >= sure and p not in unclear}
    same: dict[Pair, NamePair] = {}
    for group in groups(accepted, decision.apart):
        least = min(accepted[p] for p in combinations(group, 2) if p in accepted)
        for p in combinations(group, 2):
            if decision.judged.get(p):
                tie = decision.ties.get(p, {"evidence": "a language model says so", "by": "model"})
                same[p] = _pair(decision, p, accepted[p], tie["evidence"], tie["by"])
            elif p in accepted:
                same[p] = _pair(decision, p, accepted[p])
            else:
                same[p] = _pair(decision, p, least, "both are one with another name of their group", kind="joined")
    doubtful = {}
    for p, score in scores.items():
        if p in same:
            continue
        others = [decision.names[id].text for id in unclear.get(p, ())]
        evidence = (
            f"{decision.found[p].evidence}; or {', '.join(others[:3])}" if others and p in decision.found else None
        )
        if p in decision.found:
            doubtful[p] = _pair(decision, p, min(score, round(sure - 0.01, 3)), evidence)
    return same, doubtful


def _pair(
    decision: _Decision,
    p: Pair,
    score: float,
    evidence: str | None = None,
    by: str = "rules",
    kind: Kind | Literal["joined"] | None = None,
) -> NamePair:
    likeness = decision.found.get(p)
    names = decision.names[p[0]].text, decision.names[p[1]].text
    reason = evidence or (likeness.evidence if likeness else "")
    return NamePair(*names, score, reason, kind or (likeness.kind if likeness else "joined"), by, p)


def _questions(graph: Graph, decision: _Decision, pairs: Sequence[Pair]) -> list[Question]:
    texts: dict[str, tuple[str, ...]] = {}
    for ids in batched(sorted({id for p in pairs for id in p}), _BATCH):
        for row in graph.run("resolve/texts", ids=list(ids), most=2):
            texts[row["id"]] = judge.around(decision.names[row["id"]].text, row["passages"])
    return [
        Question(decision.names[one].text, decision.names[other].text, texts.get(one, ()), texts.get(other, ()))
        for one, other in pairs
    ]


def _write(
    graph: Graph,
    collection: Collection,
    result: Resolution,
    before: Mapping[Pair, Mapping[str, Any]],
    told_apart: Sequence[Pair],
) -> Resolution:
    own = {p: row for p, row in before.items() if row["by"] in ("rules", "model")}
    ties = {x.ids: {"one": x.ids[0], "other": x.ids[1], "score": x.score, "evidence": x.evidence, "by": x.by}
              for x in result.same}  # fmt: skip
    new = [row for p, row in ties.items() if p not in before or (p in own and own[p] != row)]
    outdated = [{"one": p[0], "other": p[1]} for p in own if p not in ties]
    for untied in batched(outdated, _BATCH):
        _untie(graph, untied)
    for rows in batched(new, _BATCH):
        _tie(graph, rows)
    for batch in batched(told_apart, _BATCH):
        graph.run("resolve/apart", rows=[{"one": one, "other": other} for one, other in batch])
    graph.run("resolve/tied", collection=collection.name, tied=bool(ties or before.keys() - own.keys()))
    _LOG.info("same as: %d written, %d removed", len(new), len(outdated))
    return replace(result, applied=True, written=len(new), removed=len(outdated))


def _tie(graph: Graph, rows: Sequence[Mapping[str, Any]]) -> None:
    def work(tx: Transaction) -> None:
        tx.run("resolve/same_as", rows=list(rows))
        settle_facts(tx, set(), {row[end] for row in rows for end in ("one", "other")})

    graph.write(work)


def _untie(graph: Graph, rows: Sequence[Mapping[str, Any]]) -> None:
    def work(tx: Transaction) -> None:
        settle_facts(tx, set(), {row["entity"] for row in tx.run("resolve/not_same_as", rows=list(rows))})

    graph.write(work)


def _order(x: NamePair) -> tuple[float, str, str]:
    return -x.score, x.one, x.other


def _count(same: Mapping[Pair, NamePair]) -> int:
    """Return how many groups the pairs make; all pairs of a group are there."""
    least: dict[str, str] = {}
    for one, other in sorted(same):
        least[other] = min(least.get(other, one), one)
    return len(set(least.values()) - least.keys())


_TEXTS = 2  # texts per name that are searched for a sentence
_AROUND = 160  # characters on either side of a name
_WORD, _BETWEEN = re.compile(r"\w+"), r"\W{1,3}"
_END = re.compile(r"[.!?][\"'”’)]*\s|[。!?]")


def contexts(graph: Graph, pairs: Sequence[NamePair]) -> list[tuple[str, str]]:
    """Return for each pair a sentence with the first name and one with the other; empty without one."""
    ids = sorted({id for pair in pairs for id in pair.ids})
    rows = graph.run("resolve/texts", ids=ids, most=_TEXTS)
    texts = {row["id"]: [passage["text"] for passage in row["passages"]] for row in rows}
    return [
        (sentence(pair.one, texts.get(pair.ids[0], ())), sentence(pair.other, texts.get(pair.ids[1], ())))
        for pair in pairs
    ]


def sentence(name: str, texts: Iterable[str]) -> str:
    """Return the first sentence of texts with a name, or the part of a long one near it; empty if no sentence has it.

    The marks between the words of the name may be others: Ada M Lund is also Ada M. Lund.
    """
    pattern = re.compile(rf"(?<!\w){_BETWEEN.join(map(re.escape, _WORD.findall(name)))}(?!\w)", re.IGNORECASE)
    for text in (" ".join(text.split()) for text in texts):
        if (match := pattern.search(text)) is not None:
            start = max((end.end() for end in _END.finditer(text, 0, match.start())), default=0)
            after = _END.search(text, match.end())
            stop = len(text) if after is None else after.end()
            return text[max(start, match.start() - _AROUND) : min(stop, match.end() + _AROUND)].strip()
    return ""
