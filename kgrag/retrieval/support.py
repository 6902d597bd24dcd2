"""Find the sentence of a passage that supports a claim, and the sentences of an answer without support.

Words are compared, not meanings: a supported claim has the same names, numbers and words, with the same negation and
the same subject. A claim worded differently from its passage may be missed, but a claim about something else must not
pass. Only English has all rules. In other languages, or if answer and passage differ in language, only names and
numbers count.
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
"""Weights of a word of the title and of a word in a heading, relative to any other word."""
_FEW = 6  # a line of fewer words without a full stop is a heading

_NUMBER = re.compile(r"\d+(?:[.,]\d+)*")
_CHOSEN = frozenset(("yes", "no", "true", "false", "both", "neither", "ja", "nein", "oui", "non", "si", "sí"))
"""Short answers that need not occur in a passage."""
_LEAST = 3
"""Minimum letters of a word that counts."""


def nearest_sentence(claim: str, text: str, title: str = "") -> tuple[int, int]:
    """Return the span of the sentence that shares most with a claim, the first if tied; (0, 0) if no word is shared.

    Words in fewer sentences count more, names and numbers most. Words of the title count less, since every sentence of
    the passage is about it.
    """
    worth, start, end = max(_worths(claim, text, title), key=itemgetter(0), default=(0.0, 0, 0))
    return (start, end) if worth > 0 else (0, 0)


def support(claim: str, text: str, title: str = "", others: Sequence[Passage] = ()) -> tuple[int, int]:
    """Return the span of the sentence that supports a claim or a part of it; (0, 0) if no sentence does.

    Args:
        claim: a sentence, or a part of one, of an answer.
        text: the text of the passage.
        title: the topic of the passage, which its sentences may leave out.
        others: passages cited with it, which may support the rest of the claim or identify its subject.
    """
    return checked(claim, [Passage("", "", title, text), *others]).spans.get(0, (0, 0))


def checked(claim: str, parts: Sequence[Passage | Summary]) -> Check:
    """Return whether passages support a claim. If any text is not English, only the claim's own words count."""
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
    """Return the unsupported parts of an answer: the whole of a short answer, or sentences of a longer one.

    A short answer is supported if one passage, or the question, has each of its words. A sentence is supported if the
    passages cited after each part support that part; without citations, any item may support it.
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
    """Return whether the citations of a sentence support each part that makes a claim."""
    outcomes = [
        checked(claim, [part for item in cited or items for part in _parts(item)]).verdict
        for claim, numbers in claims_of(sentence)
        for cited in [[items[number - 1] for number in numbers if 1 <= number <= len(items)]]
        if not claims_nothing(claim)
    ]
    return max(outcomes, key=get_args(Verdict).index, default="supported")


def claims_of(sentence: str) -> Iterator[tuple[str, list[int]]]:
    """Yield the parts of a sentence, each with the numbers cited after it; no numbers if the sentence cites nothing."""
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
    """Yield for each sentence how much it shares with a claim, and its span."""
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
