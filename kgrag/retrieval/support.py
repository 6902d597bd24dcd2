"""Which sentence of a passage supports a claim, and which sentences of an answer none supports.

Words are compared, not meanings: what is called supported says the same names, numbers and words, with the same
negation, of the same subject. A claim in other words than its passage may be missed; a claim on something else is not
to pass. English has all rules; in other languages, and where answer and passage differ in theirs, names and numbers
count alone.
"""

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from itertools import chain
from math import fsum, log1p
from operator import itemgetter
from typing import NamedTuple, get_args

from kgrag.retrieval.claims import CITATION, Check, Verdict, check, claims_nothing
from kgrag.retrieval.clauses import WORDS, sentences
from kgrag.text.tokens import UNSPACED_LETTER, is_unspaced, stems_in, words_of
from kgrag.values.results import Item, Passage, Summary

_SUBJECT, _HEADING = 0.25, 0.3
"""Weights of a word of the title and of a heading, beside any other word."""
_FEW = 6  # words of a line without an end that is a heading

_NUMBER = re.compile(r"\d+(?:[.,]\d+)*")
_CHOSEN = frozenset(("yes", "no", "true", "false", "both", "neither", "ja", "nein", "oui", "non", "si", "sí"))
"""Short answers that no passage has to hold."""
_LEAST = 3
"""Letters of a word that counts."""


def nearest_sentence(claim: str, text: str, title: str = "") -> tuple[int, int]:
    """Return where the sentence stands that shares most with a claim, the first of equals; (0, 0): none shares a word.

    A word counts the more, the fewer sentences have it: names and numbers most. One of the title counts less: every
    sentence of the passage is about that.
    """
    worth, start, end = max(_worths(claim, text, title), key=itemgetter(0), default=(0.0, 0, 0))
    return (start, end) if worth > 0 else (0, 0)


def support(claim: str, text: str, title: str = "", others: Sequence[Passage] = ()) -> tuple[int, int]:
    """Return where the sentence of a passage stands that supports a claim, or a part of it; (0, 0) where none does.

    Args:
        claim: a sentence, or a part of one, of an answer.
        text: the text of the passage.
        title: what the passage is about, which its sentences may leave out.
        others: passages that are cited beside it, which may support the rest of the claim or say who is meant.
    """
    return checked(claim, [Passage("", "", title, text), *others]).spans.get(0, (0, 0))


def checked(claim: str, parts: Sequence[Passage | Summary]) -> Check:
    """Return whether passages support a claim. Where it or they are not in English, only its own words support it."""
    if _is_english(claim) and all(_is_english(part.text) for part in parts):
        return check(claim, parts)
    target = words_of(CITATION.sub("", claim))
    for place, part in enumerate(parts):
        for start, end in sentences(part.text):
            words = iter(words_of(part.text[start:end]))
            if target and all(word in words for word in target):
                return Check("supported", {place: (start, end)})
    vocabulary = {form for part in parts for form in _forms(f"{part.title} {part.text}")}
    numbers = [number for number in _NUMBER.findall(CITATION.sub("", claim)) if len(number) > 1]
    return Check("not checked" if all(_forms(number) <= vocabulary for number in numbers) else "not supported")


class Doubts(NamedTuple):
    """Sentences of an answer that no passage supports, and sentences that no rule can check."""

    unsupported: tuple[str, ...] = ()
    unchecked: tuple[str, ...] = ()


def doubts_of(text: str, items: Sequence[Item], question: str, *, short: bool) -> Doubts:
    """Return what of an answer no passage supports: of a short answer all of it, of a longer one whole sentences.

    A short answer is supported when one passage, or the question, has each of its words. A sentence is supported when
    each part of it is supported by what is cited behind that part; where nothing is cited, by the items.
    """
    if short:
        texts = [_forms(f"{part.title} {part.text}") for item in items for part in _parts(item)]
        repeated = _forms(question)
        words = [w for w in words_of(text) if len(w) >= _LEAST or w.isdigit() or (len(w) > 1 and is_unspaced(w))]
        bare = not words or set(words) <= _CHOSEN
        return Doubts() if bare or any(their | repeated >= set(words) for their in texts) else Doubts((text,))
    verdicts = {
        CITATION.sub("", text[start:end]).strip(" *_#-"): verdict(text[start:end], items)
        for start, end in sentences(text)
    }
    return Doubts(
        tuple(part for part, outcomes in verdicts.items() if outcomes == "not supported"),
        tuple(part for part, outcomes in verdicts.items() if outcomes == "not checked"),
    )


def verdict(sentence: str, items: Sequence[Item]) -> Verdict:
    """Return whether what a sentence cites supports each part of it that claims something."""
    outcomes = [
        checked(claim, [part for item in cited or items for part in _parts(item)]).verdict
        for claim, numbers in claims_of(sentence)
        for cited in [[items[number - 1] for number in numbers if 1 <= number <= len(items)]]
        if not claims_nothing(claim)
    ]
    return max(outcomes, key=get_args(Verdict).index, default="supported")


def claims_of(sentence: str) -> Iterator[tuple[str, list[int]]]:
    """Yield the parts of a sentence, each with the numbers that are cited behind it; none: nothing is cited at all."""
    marks = [(match.start(), match.end(), int(match[0].strip(" []"))) for match in CITATION.finditer(sentence)]
    if not marks:
        yield sentence, []
        return
    begin, claim, numbers = 0, "", list[int]()
    for start, end, number in marks:
        if sentence[begin:start].strip(" ,.;"):
            if numbers:
                yield claim, numbers
            claim, numbers = sentence[begin:start], []
        numbers.append(number)
        begin = end
    yield f"{claim}{sentence[begin:]}" if not claims_nothing(sentence[begin:]) else claim, numbers


def _worths(claim: str, text: str, title: str) -> Iterator[tuple[float, int, int]]:
    """Yield how much each sentence shares with a claim, and where it stands."""
    parts = [(start, end, stems_in(text[start:end])) for start, end in sentences(text)]
    often = Counter(chain.from_iterable(there for *_, there in parts))
    about = stems_in(title)
    weights = {
        stem: log1p(len(parts) / often[stem]) * (_SUBJECT if stem in about else 1.0)
        for stem in stems_in(claim)
        if stem in often
    }
    for start, end, there in parts:
        worth = fsum(weights[stem] for stem in there & weights.keys())
        if text[end - 1].isalnum() and len(text[start:end].split()) < _FEW:
            worth *= _HEADING
        yield worth, start, end


def _is_english(text: str) -> bool:
    words = set(text.lower().split())
    return len(UNSPACED_LETTER.findall(text)) <= len(words) and len(words & WORDS["other"]) <= len(
        words & WORDS["english"]
    )


def _parts(item: Item) -> Iterable[Passage | Summary]:
    return [item] if isinstance(item, Summary) else item


def _forms(text: str) -> frozenset[str]:
    return frozenset(words_of(text))
