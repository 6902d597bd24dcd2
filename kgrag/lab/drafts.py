"""Drafts of questions, and which of them are taken: none twice, none that gives its answer away."""

import re
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any

from rapidfuzz import fuzz

from kgrag.text.languages import Language
from kgrag.text.tokens import content_stems, search_form, words_of

ALIKE = 90.0
"""From which two questions with the same answer and gold are one (token sort ratio, 0 to 100)."""
_OF_TEXTS = re.compile(
    r"\b(?:the|this|these|that|first|second|two|both|given|above)\s+(?:texts?|passages?|excerpts?)\b", re.I
)


@dataclass(frozen=True, slots=True)
class Draft:
    """A question as it was made. `gold`: ids of its passages, in the order that leads to the answer.

    `supports`: (passage id, a text that stands in it). `steps`: single questions, {question, answer, gold}. `sound` and
    `needed`: what a second reading says, and the passages that it found necessary, where there was one.
    """

    question: str
    answer: str
    gold: tuple[str, ...]
    type: str
    user: str = ""
    formulation: str = ""
    premise: str = ""
    supports: tuple[tuple[str, str], ...] = ()
    steps: tuple[dict[str, str], ...] = ()
    sound: bool = True
    needed: tuple[str, ...] | None = None


@dataclass(slots=True)
class Selection:
    """The drafts that were taken, in their order, and why the others were not: reason -> how many."""

    kept: list[Draft] = field(default_factory=list)
    dropped: Counter[str] = field(default_factory=Counter)


def select(drafts: Iterable[Draft], number: int, language: Language) -> Selection:
    """Return the first `number` usable drafts."""
    found = Selection()
    asked: set[str] = set()
    alike: dict[tuple[str, ...], list[str]] = {}
    for draft in drafts:
        if len(found.kept) == number:
            break
        same = (search_form(draft.answer, language), *sorted(draft.gold))
        words = search_form(draft.question, language)
        reason = _fault(draft, language)
        if not reason and (
            words in asked or any(fuzz.token_sort_ratio(words, other) >= ALIKE for other in alike.get(same, ()))
        ):
            reason = "asked before"
        if reason:
            found.dropped[reason] += 1
            continue
        asked.add(words)
        alike.setdefault(same, []).append(words)
        found.kept.append(draft)
    return found


def leaks(draft: Draft, language: Language) -> bool:
    """Return whether the question has all telling words of its answer.

    No yes or no counts, nor one of two compared.
    """
    if draft.type == "comparison" or draft.formulation == "yes-no":
        return False
    said, asked = _telling(draft.answer, language), _telling(draft.question, language)
    return bool(said) and said <= asked


def _fault(draft: Draft, language: Language) -> str:
    if not draft.question.strip() or not search_form(draft.answer, language):
        return "no question or no answer"
    if _OF_TEXTS.search(draft.question):
        return "speaks of its texts"
    if leaks(draft, language):
        return "gives its answer away"
    if not draft.sound:
        return "not sound by the second reading"
    if draft.needed is not None and not set(draft.gold) <= set(draft.needed):
        return "needs fewer passages"
    return ""


def _telling(text: str, language: Language) -> set[str]:
    words = words_of(text, language)
    return {stem for stem in content_stems(words, language) if stem} or set(words)


def query_rows(kept: Sequence[Draft]) -> list[dict[str, Any]]:
    """Return the rows of queries.jsonl."""
    return [
        {
            "id": f"g{number}",
            "question": draft.question,
            "gold": list(draft.gold),
            "answers": [draft.answer],
            "type": draft.type,
            **({"steps": list(draft.steps)} if draft.steps else {}),
            **({"supports": [{"passage": id, "text": text} for id, text in draft.supports]} if draft.supports else {}),
            **{name: value for name in ("user", "formulation", "premise") if (value := getattr(draft, name))},
        }
        for number, draft in enumerate(kept, 1)
    ]
