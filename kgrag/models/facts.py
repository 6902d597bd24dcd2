"""Reading: a language model lists the facts of passages that help answer a question, as triples.

GEAR, section 4.1, equation 1, and with a memory section 5.1, equation 4 (prompts: appendix J.2).
"""

import json
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from pydantic import BaseModel, model_validator

from kgrag.models.tasks import Tasks
from kgrag.types import Passage, Triple

_PARTS = ("subject", "predicate", "object")


class Facts(BaseModel):
    """A reply that lists triples: as arrays of three, or as objects with subject, predicate and object."""

    triples: list[tuple[str, str, str]]

    @model_validator(mode="before")
    @classmethod
    def _lenient(cls, value: Any) -> Any:
        listed = value
        if isinstance(value, dict):
            listed = next((value[key] for key in ("triples", "facts") if key in value), None)
        if not isinstance(listed, list):
            raise ValueError('an object {"triples": [["subject", "predicate", "object"], ...]} is wanted')
        if listed and all(isinstance(item, str) for item in listed):
            listed = [listed]  # one triple, without the list around it
        return {"triples": [_parts(item) for item in listed]}


def read(tasks: Tasks, question: str, passages: Sequence[Passage], known: Sequence[Triple] = ()) -> tuple[Triple, ...]:
    """The facts in passages that help answer a question, beyond those that are known. Raises ModelError.

    Facts that say nothing, and those that are known, are left out.
    """
    if not passages:
        return ()
    shown = numbered(passages)
    if known:
        reply = tasks.structured("read", Facts, prompt="read-on", passages=shown, question=question, facts=lines(known))
    else:
        reply = tasks.structured("read", Facts, passages=shown, question=question)
    before = {key(fact) for fact in known}
    found = {key(fact): fact for fact in (Triple(*map(_squeezed, parts)) for parts in reply.triples)}
    return tuple(fact for its, fact in found.items() if its not in before and fact.subject and fact.object)


def numbered(passages: Iterable[Passage | Sequence[Passage]]) -> str:
    """Passages as a model is shown them: numbers from 1, titles, texts. A path of several has one number."""
    return "\n\n".join(f"[{n}] {_shown(item)}".strip() for n, item in enumerate(passages, 1))


def lines(facts: Iterable[Triple]) -> str:
    """Facts as a model is shown them: a JSON array of three on each line."""
    shown = [json.dumps([fact.subject, fact.predicate, fact.object], ensure_ascii=False) for fact in facts]
    return "\n".join(shown) or "(none)"


def key(fact: Triple) -> tuple[str, ...]:
    """What tells facts apart: their words, whatever their case."""
    return tuple(part.casefold() for part in (fact.subject, fact.predicate, fact.object))


def _shown(item: Passage | Sequence[Passage]) -> str:
    path = [item] if isinstance(item, Passage) else item
    return "\n".join(f"{_heading(p)}\n{p.text}" for p in path)


def _heading(passage: Passage) -> str:
    parts = [part for part in (passage.title, passage.section) if part]
    return f"Title: {': '.join(parts)}" if parts else ""


def _parts(item: Any) -> Any:
    if isinstance(item, Mapping):
        item = [item.get(part) for part in _PARTS]
    if not isinstance(item, list | tuple) or len(item) != len(_PARTS):
        raise ValueError(f"{str(item)[:80]!r} is no triple of subject, predicate and object")
    if any(isinstance(part, list | dict) for part in item):
        raise ValueError(f"{str(item)[:80]!r} is no triple of three texts")
    return tuple("" if part is None else str(part) for part in item)


def _squeezed(text: str) -> str:
    return " ".join(text.split())
