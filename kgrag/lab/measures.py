"""Measures: the gold in a ranking, significance of differences, and agreement of grades.

A ranking is measured by the ranks of the question's gold: for each gold its rank from 1, or None if it was not found.
Every gold has the same weight, and all measures are between 0 and 1.

An answer is measured against the most similar known answer, after normalisation: exact match and F1 (Rajpurkar et al.,
SQuAD, 2016, section 6.1). Structure match is KGP's, section 5.1.3 (Struct-EM).
"""

import re
import unicodedata
from collections import Counter, defaultdict
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from math import log2
from string import punctuation

import numpy as np
from numpy.typing import NDArray

from kgrag.lab.datasets import GoldText, Question
from kgrag.text.tokens import tokens
from kgrag.values.documents import Document
from kgrag.values.results import Ranking

# The ranks of a question's gold: by the document found, or by the text found.
#
# If a data set has no gold, the passage that contains the answer is the gold.


WORDS = 4  # words per run; shorter runs occur by chance (of the, in the year)
SHARE = 0.5
_ANSWER_TOKEN = re.compile(r"\w+|[^\w\s]")


def distinct_documents(ranking: Ranking) -> tuple[str, ...]:
    """Return the distinct documents of the passages, each at the rank of its first passage."""
    return tuple(dict.fromkeys(hit.passage.document for hit in ranking))


def answer_rank(ranking: Ranking, answers: Iterable[str]) -> int | None:
    """Return the rank of the first passage with an answer, its title included; None if no passage has one.

    An answer occurs where its tokens are adjacent: words and single marks, in lower case. The share of questions
    with a rank of at most k is the top-k accuracy of Karpukhin et al., Dense Passage Retrieval (2020), section 5.
    """
    phrases = [tokens for answer in answers if (tokens := _answer_tokens(answer)).strip()]
    for rank, hit in enumerate(ranking, 1):
        text = _answer_tokens(f"{hit.passage.title}\n{hit.passage.text}")
        if any(answer in text for answer in phrases):
            return rank
    return None


def unanswerable(questions: Iterable[Question], documents: Iterable[object]) -> list[Question]:
    """Return the questions without an answer in any of the documents, by `answer_rank`."""
    open_ = {question.id: question for question in questions}
    pending: defaultdict[str, list[tuple[str, str]]] = defaultdict(list)  # first token -> answers, question ids
    for question in open_.values():
        for answer in map(_answer_tokens, question.answers):
            if answer.strip():
                pending[answer.split(maxsplit=1)[0]].append((answer, question.id))
    for document in documents:
        if isinstance(document, Document):
            text = _answer_tokens(f"{document.title}\n{document.text}")
            for token in pending.keys() & set(text.split()):
                for answer, id in pending[token]:
                    if answer in text:
                        open_.pop(id, None)
    return list(open_.values())


def _answer_tokens(text: str) -> str:
    """Return the tokens of a text, each between spaces."""
    return f" {' '.join(_ANSWER_TOKEN.findall(unicodedata.normalize('NFC', text).lower()))} "


def text_ranks(
    ranking: Ranking, gold: Sequence[str], texts: Mapping[str, GoldText], share: float = SHARE
) -> tuple[int | None, ...]:
    """Return the rank of the passage that completes each gold, whose text is a part of a document.

    A gold text is represented by its distinct runs of WORDS words (of all its words, if fewer), in normal form. It is
    found at the first passage where the passages of its document so far together contain `share` of these runs. So two
    passages with nearly half of it each find it at the second; passages of the same document that share only common
    words with it do not find it. Ranks count passages, so two golds may have the same rank.
    """
    missing = {key: _runs(texts[key].text) for key in gold if key in texts}
    allowed = {key: len(runs) * (1 - share) for key, runs in missing.items()}
    ranks: dict[str, int] = {}
    for rank, hit in enumerate(ranking, 1):
        here = [k for k in missing if k not in ranks and texts[k].document == hit.passage.document]
        for key in here:
            missing[key] -= _runs(hit.passage.text, min(WORDS, len(tokens(texts[key].text))))
            if len(missing[key]) <= allowed[key]:
                ranks[key] = rank
    return tuple(ranks.get(key) for key in gold)


def _runs(text: str, length: int | None = None) -> set[tuple[str, ...]]:
    words = [t.norm for t in tokens(text)]
    n = length or min(WORDS, len(words))
    return {tuple(words[i : i + n]) for i in range(len(words) - n + 1)} if n else set()


Ranks = Sequence[int | None]
RESAMPLES = 10_000
CONFIDENCE = 0.95
_ARTICLES = re.compile(r"\b(a|an|the)\b")
BLOCK = 4_000_000  # drawn indices held in memory at once


def ranks_of(ranking: Sequence[str], gold: Collection[str]) -> tuple[int | None, ...]:
    """Return the rank of each gold key in a ranking of distinct keys, best first."""
    places = {key: rank for rank, key in enumerate(ranking, 1)}
    return tuple(places.get(key) for key in gold)


def recall_at(ranks: Ranks, k: int) -> float:
    """Return the share of gold among the first `k`. Raises ValueError without gold."""
    return len(_ranks_to(ranks, k)) / len(ranks)


def perfect_at(ranks: Ranks, k: int) -> bool:
    """Return whether all gold is among the first `k`. Raises ValueError without gold."""
    return len(_ranks_to(ranks, k)) == len(ranks)


def reciprocal_rank(ranks: Ranks) -> float:
    """Return 1 / rank of the first gold, 0 if none is ranked; its mean is MRR. Raises ValueError without gold."""
    rank = _ranks_to(ranks)
    return 1 / min(rank) if rank else 0.0


def ndcg_at(ranks: Ranks, k: int) -> float:
    """Return normalised discounted cumulative gain of the first `k`, relevance being 0 or 1.

    1 if the ranking begins with as much gold as fits into `k`, and never more, even if one passage contains two golds.
    Raises ValueError without gold.
    """
    gain = sum(_discount(rank) for rank in _ranks_to(ranks, k))
    ideal = sum(_discount(rank) for rank in range(1, min(k, len(ranks)) + 1))
    return min(1.0, gain / ideal) if ideal else 0.0


def _discount(rank: int) -> float:
    return 1 / log2(rank + 1)


def _ranks_to(ranks: Ranks, k: int | None = None) -> list[int]:
    if not ranks:
        raise ValueError("no gold")
    return [rank for rank in ranks if rank is not None and (k is None or rank <= k)]


def normalised(text: str) -> str:
    """Return a text in lower case, without punctuation, the articles a, an, the, and extra white space.

    Punctuation may be of any script.
    """
    lowered = unicodedata.normalize("NFC", text).lower()
    plain = "".join(c for c in lowered if c not in punctuation and unicodedata.category(c)[0] != "P")
    return " ".join(_ARTICLES.sub(" ", plain).split())


def exact_match(text: str, answers: Sequence[str]) -> float:
    """Return 1 if the answer is one of the known ones, else 0, also for a missing answer.

    Raises ValueError without known answers.
    """
    words = normalised(text)
    return float(bool(words) and words in {normalised(answer) for answer in _some(answers)})


def f1(text: str, answers: Sequence[str]) -> float:
    """Return the harmonic mean of precision and recall of an answer's words, counted with their frequency; the best.

    Raises ValueError without a known answer.
    """
    words = Counter(normalised(text).split())
    return max(_f1(words, Counter(normalised(answer).split())) for answer in _some(answers))


def structure_match(texts: Sequence[str], gold: Sequence[str]) -> float:
    """Return 1 if the text of each gold page, table or section is in the result, else 0. Raises ValueError without any.

    Texts are compared like answers, so Markdown syntax makes no difference.
    """
    return float({normalised(text) for text in _some(gold)} <= {normalised(text) for text in texts})


def _f1(words: Counter[str], gold: Counter[str]) -> float:
    shared = (words & gold).total()
    return 2 * shared / (words.total() + gold.total()) if shared else 0.0


def _some(answers: Sequence[str]) -> Sequence[str]:
    if not answers:
        raise ValueError("no known answer")
    return answers


@dataclass(frozen=True, slots=True)
class Difference:
    """The mean of the differences between two systems over the same questions, and its confidence interval."""

    value: float
    low: float
    high: float

    @property
    def noise(self) -> bool:
        """Whether the interval includes 0, so the questions do not show which system is better."""
        return self.low <= 0 <= self.high

    @property
    def verdict(self) -> str:
        """The result in a word: better, worse or noise."""
        return "noise" if self.noise else "better" if self.value > 0 else "worse"


def paired_bootstrap(
    system: NDArray[np.float64],
    baseline: NDArray[np.float64],
    *,
    seed: int = 0,
    resamples: int = RESAMPLES,
    confidence: float = CONFIDENCE,
) -> list[Difference]:
    """Return the difference of each measure between two systems, with its percentile bootstrap interval.

    `system` and `baseline` are matrices [questions, measures], row by row of the same question. d is the matrix of
    their differences, and the value of a measure the mean of its column. As many rows as there are questions are drawn
    from d with replacement, `resamples` times; each draw gives a mean, and the interval holds the middle `confidence`
    of these means (Efron and Tibshirani, An Introduction to the Bootstrap, 1993, chapter 13). Drawing differences, not
    the values of each system, keeps the pairs together: what makes a question hard for both does not widen the
    interval. All measures see the same draws. Raises ValueError without questions.
    """
    delta = np.asarray(system, dtype=float) - np.asarray(baseline, dtype=float)
    questions, count = delta.shape
    if not questions:
        raise ValueError("no questions")
    draws = np.random.default_rng(seed)
    means = np.empty((resamples, count))
    step = max(1, BLOCK // questions)
    for start in range(0, resamples, step):
        rows = draws.integers(questions, size=(min(step, resamples - start), questions))
        for measure in range(count):
            means[start : start + step, measure] = delta[:, measure][rows].mean(axis=1)
    tail = (1 - confidence) / 2
    low, high = np.quantile(means, (tail, 1 - tail), axis=0).round(9)  # unrounded, 1e-17 would be a difference
    return [Difference(*map(float, row)) for row in zip(delta.mean(axis=0).round(9), low, high, strict=True)]


@dataclass(frozen=True, slots=True)
class Agreement:
    """Agreement of two graders on the `answers` that both graded.

    `same`: share of equal grades; `kappa`: Cohen's kappa with linear weights (Cohen, 1968), 1 at best and 0 for
    agreement by chance; `error`: mean absolute difference; `correlation`: Pearson's. kappa and correlation are None if
    one of the two gave all answers the same grade, which leaves them undefined.
    """

    answers: int
    same: float
    kappa: float | None
    error: float
    correlation: float | None


def agreement(ours: Sequence[float], theirs: Sequence[float]) -> Agreement:
    """Return the agreement of grades of the same answers in the same order. Raises ValueError without answers."""
    if not ours:
        raise ValueError("no answers")
    a, b = np.asarray(ours, float), np.asarray(theirs, float)
    apart = np.abs(a - b)  # (answers,)
    expected = float(np.abs(a[:, None] - b[None, :]).mean())  # by chance, with each grader's own frequencies
    varied = a.std() > 0 and b.std() > 0
    return Agreement(
        answers=len(a),
        same=float((apart < 1e-9).mean()),
        kappa=1 - float(apart.mean()) / expected if expected else None,
        error=float(apart.mean()),
        correlation=float(np.corrcoef(a, b)[0, 1]) if varied else None,
    )
