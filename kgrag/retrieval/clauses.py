"""The outermost clause of a question: what is asked of the last passage on the path.

Words near a linked name belong to the first hop, words near the question word to the last: "When does daylight saving
end | in the country near the one where the author of ... was born?" So the targets of the walk are compared with the
outer clause, too, and the best passages are ordered by it in the end: those that have a sentence with its words and
with something of the kind that the question asks for. In other languages than English the clause is the whole question,
which orders nothing. Source: our own experiment on 2- to 4-hop questions
(PathRank, outermost clause).
"""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

from kgrag.retrieval.linking import LinkedQuestion
from kgrag.text.languages import ENGLISH
from kgrag.text.sentences import names_in, split_sentences
from kgrag.text.tokens import is_content, stems

AnswerKind = Literal["date", "number", "name", "any"]

_PREPOSITIONS = frozenset("of in by from for on at with to near between during under before after".split())
_RELATIVES = frozenset("who whom whose which that where when what".split())
_OPENING = 60  # characters of a question within which it says when
_PLACES = "place city town county district country state province region continent administrative"
_ASKED: Sequence[tuple[AnswerKind, re.Pattern[str]]] = (
    ("date", re.compile(rf"^.{{0,{_OPENING}}}\b(when|(what|which) (was the )?(year|date|month|day))\b")),
    ("number", re.compile(r"\bhow (many|much|long|old|large|big|far|tall|high|deep)\b")),
    ("number", re.compile(r"\bpopulation\b|\bwhat (number|percent\w*)\b")),
    ("name", re.compile(r"^.{0,28}\b(who|whom)\b|^(by )?whose\b|^(in )?where\b")),
    ("name", re.compile(rf"^(in |on )?(what|which) ({_PLACES.replace(' ', '|')})\b")),
)
_YEAR = re.compile(r" (1\d|20)\d\ds? ")
_NUMBER = re.compile(r" \d")
_MONTHS = "january february march april may june july august september october november december"
_MONTH = re.compile(f" ({'|'.join(stems(_MONTHS.split()))}) ")


@dataclass(frozen=True, slots=True)
class OuterClause:
    """The outermost clause of a question.

    Its text, the stems (between spaces) of the question's unnamed words with weights that fall from the first to the
    last and add up to 1, how many such words there are, and the kind of answer asked for.
    """

    text: str
    terms: Mapping[str, float]
    words: int
    asks: AnswerKind
    question: frozenset[str]
    """All stems of the question."""

    def strength(self, none: int, full: int) -> float:
        """Return how far the clause counts in the final order.

        0 with `none` unnamed words, 1 with `full` of them or more.
        """
        return min(1.0, max(0.0, (self.words - none) / (full - none)))

    def weights(self, residual: Mapping[str, float], dropped: frozenset[str], share: float) -> dict[str, float]:
        """Return the weights of a residual question's stems.

        The clause without the missing stems has `share` of them.
        """
        outer = {stem: weight for stem, weight in self.terms.items() if stem not in dropped}
        total = sum(outer.values()) or 1.0
        mixed = {stem: (1 - share) * weight for stem, weight in residual.items()}
        for stem, weight in outer.items():
            mixed[stem] = mixed.get(stem, 0.0) + share * weight / total
        return mixed

    def best_sentence(self, sentences: str) -> float:
        """Return the largest weight, 0 to 1, of the clause's words in one sentence with an answer of the right kind.

        `sentences`: of a passage, as `kgrag.text.sentences` writes them.
        """
        best = 0.0
        for sentence in split_sentences(sentences):
            weight = sum([w for stem, w in self.terms.items() if stem in sentence])
            if weight > best and self._may_answer(sentence):
                best = weight
        return best

    def _may_answer(self, sentence: str) -> bool:
        if self.asks == "date":
            return _YEAR.search(sentence) is not None or _MONTH.search(sentence) is not None
        if self.asks == "number":
            return _NUMBER.search(sentence) is not None
        return self.asks == "any" or any(stem not in self.question for stem in names_in(sentence))


def outer_clause(question: LinkedQuestion, share: float, decay: float) -> OuterClause:
    """Return the words up to the first break with `share` of the idf mass of unnamed words before it, without names.

    The k-th unnamed word weighs idf * decay^k. Where nothing is left, the clause is the whole question.
    """
    if question.language is not ENGLISH:
        return _whole(question)
    words = question.words
    named = {i for link in question.links for i in range(link.start, link.end)}
    mass = {
        i: question.idf[stem]
        for i, (word, stem) in enumerate(zip(words, question.stems, strict=True))
        if i not in named and stem in question.idf and is_content(word.norm)
    }
    end, before, wanted = len(words), 0.0, share * sum(mass.values())
    breaks = _breaks(question)
    for i in range(len(words)):
        if i in breaks and 0 < before >= wanted:
            end = i
            break
        before += mass.get(i, 0.0)
    text = " ".join(words[i].raw for i in range(end) if i not in named)
    terms: dict[str, float] = {}
    for k, (i, idf) in enumerate(mass.items()):
        stem = f" {question.stems[i]} "
        terms[stem] = max(terms.get(stem, 0.0), idf * decay**k)
    total = sum(terms.values())
    return OuterClause(
        text or question.text(),
        {stem: weight / total for stem, weight in terms.items()},
        len(mass),
        answer_kind([word.norm for word in words]),
        frozenset(question.stems),
    )


def _whole(question: LinkedQuestion) -> OuterClause:
    """Return the whole question as a clause without unnamed words."""
    terms = {term["stem"]: term["weight"] for term in question.terms()}
    return OuterClause(question.text(), terms, 0, "any", frozenset(question.stems))


def answer_kind(words: Sequence[str]) -> AnswerKind:
    """Return the kind of answer that a question, by its normalised words, asks for."""
    text = " ".join(words)
    return next((kind for kind, pattern in _ASKED if pattern.search(text)), "any")


def _breaks(question: LinkedQuestion) -> set[int]:
    """Return the places after the first word where a phrase may begin: names, prepositions and relative words."""
    begin = {link.start for link in question.links}
    inside = {i for link in question.links for i in range(link.start + 1, link.end)}
    return {
        i
        for i, word in enumerate(question.words)
        if i > 0
        and i not in inside
        and (i in begin or word.norm in _PREPOSITIONS or (i > 1 and word.norm in _RELATIVES))
    }
