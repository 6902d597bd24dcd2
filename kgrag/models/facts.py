"""Reading: a language model lists the facts of passages that help answer a question, as triples.

GEAR, section 4.1, equation 1, and with a memory section 5.1, equation 4 (prompts: appendix J.2).
"""

import json
import re
from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from typing import Any, ClassVar

from pydantic import BaseModel, model_validator

from kgrag.models.prompted import MOST_FACTS, PromptedModel, numbered, object_schema
from kgrag.values.documents import Triple
from kgrag.values.results import Passage

_KEYS = (("subject", "head", "s"), ("predicate", "relation", "p"), ("object", "tail", "o"))
TRIPLES: Mapping[str, Any] = {
    "type": "array",
    "items": {"type": "array", "items": {"type": "string"}, "minItems": 3, "maxItems": 3},
}
"""Triples in a JSON schema."""


class Facts(BaseModel):
    """A reply that lists triples in the forms that `triple_of` reads; other items are omitted.

    A reply without any is refused (ValueError).
    """

    REPLY: ClassVar[Mapping[str, Any]] = object_schema({"triples": TRIPLES})

    triples: list[tuple[str, str, str]]

    @model_validator(mode="before")
    @classmethod
    def _lenient(cls, value: Any) -> Any:
        listed = value
        if isinstance(value, dict):
            there = [key for key in ("triples", "facts") if key in value]
            if not there:
                raise ValueError(_WANTED)
            listed = [] if value[there[0]] is None else value[there[0]]
        if isinstance(listed, Mapping):
            listed = [listed]
        if not isinstance(listed, list):
            raise ValueError(_WANTED)
        if len(listed) == len(_KEYS) and all(isinstance(item, str) and not triple_of(item) for item in listed):
            listed = [listed]  # one triple, without the list around it
        triples = list(map(triple_of, listed))
        if triples and not any(triples):
            raise ValueError(f"{str(listed[0])[:80]!r} is no triple of subject, predicate and object")
        return {"triples": [parts for parts in triples if parts]}


_WANTED = 'an object {"triples": [["subject", "predicate", "object"], ...]} is wanted'


def triple_of(item: Any) -> tuple[str, str, str] | None:
    """Parse a triple in the forms of models: an array, an object, or three texts separated by bars or semicolons.

    An array or object may be inside a string, and its ends may be objects with a name. Returns None for other forms.
    """
    if isinstance(item, str) and item.strip().startswith(("[", "{")):
        with suppress(ValueError, RecursionError):
            item = json.loads(item)
    if isinstance(item, Mapping):
        item = [next((item[name] for name in names if name in item), None) for names in _KEYS]
    elif isinstance(item, str):
        item = re.split(r"\s*[|;]\s*", item.strip(" ()[]<>"))
    if isinstance(item, list | tuple):
        item = [part["name"] if isinstance(part, Mapping) and "name" in part else part for part in item]
    if not isinstance(item, list | tuple) or len(item) != len(_KEYS) or any(isinstance(p, list | dict) for p in item):
        return None
    subject, predicate, object = ("" if part is None else str(part) for part in item)
    return subject, predicate, object


def repeats_example(names: Iterable[str], prompt: str, text: str) -> bool:
    """Return whether a name comes from the quoted example of a prompt, and not from the input."""
    return any(f'"{name}"' in prompt and name.casefold() not in text.casefold() for name in names)


def read(
    llm: PromptedModel, question: str, passages: Sequence[Passage], facts_so_far: Sequence[Triple] = ()
) -> tuple[Triple, ...]:
    """Read facts in passages that help answer a question, beyond the known ones. Raises ModelError.

    Omits empty and known facts, facts of the prompt's own example, and facts beyond MOST_FACTS.
    """
    if not passages:
        return ()
    passages_text, prompt = numbered(passages), "read-on" if facts_so_far else "read"
    values = {"passages": passages_text, "question": question} | (
        {"facts": lines(facts_so_far)} if facts_so_far else {}
    )
    reply = llm.structured("read", Facts, prompt=prompt, **values)
    example, material = llm.prompt(prompt).text, "\n".join(values.values())
    before = {key(fact) for fact in facts_so_far}
    facts = {
        key(fact): fact
        for fact in (Triple(*(" ".join(part.split()) for part in parts)) for parts in reply.triples[:MOST_FACTS])
    }
    return tuple(
        fact
        for id, fact in facts.items()
        if id not in before
        and fact.subject
        and fact.object
        and not repeats_example((fact.subject, fact.object), example, material)
    )


def lines(facts: Iterable[Triple]) -> str:
    """Format facts for a model: a JSON array of three texts on each line."""
    rows = [json.dumps([fact.subject, fact.predicate, fact.object], ensure_ascii=False) for fact in facts]
    return "\n".join(rows) or "(none)"


def key(fact: Triple) -> tuple[str, ...]:
    """Return the identity of a fact: its words without case."""
    return tuple(part.casefold() for part in (fact.subject, fact.predicate, fact.object))
