"""How an answer comes about, in words: what each event says, for a terminal and for a page."""

from collections.abc import Iterator, Sequence

from kgrag.retrieval.snippet import crop
from kgrag.values.documents import Triple
from kgrag.values.events import (
    Asked,
    Chained,
    Event,
    Failed,
    Filtered,
    HypotheticalPassage,
    Judged,
    Read,
    Recognised,
    Remembered,
    Retrieved,
    StructureLookup,
    SubAnswered,
    Thought,
    Verified,
)
from kgrag.values.results import Hit, Usage

ONCE = ("fact", "failed")
"""Labels of lines that are said once in a step."""

_TITLES = 5  # titles named of what a step retrieved


def topic(event: Event) -> str:
    """Return the query or thought of an event, which heads its step; "" for others."""
    match event:
        case Asked(query=text) | Thought(text=text) | Read(query=text) | Retrieved(query=text):
            return text
    return ""


def lines(event: Event) -> Iterator[tuple[str, str]]:
    """Yield an event in words, as (label, text)."""
    match event:
        case StructureLookup(name=name):
            yield "place", name
        case Retrieved(hits=hits):
            yield "found", _titles(hits)
        case Read(triples=triples) | Remembered(triples=triples):
            yield from _facts(triples)
        case Recognised(kept=facts, dropped=without):
            yield from _facts(facts)
            yield "kept", f"{len(facts)} of {len(facts) + len(without)} facts"
        case Judged(answerable=True, answer=answer):
            yield "known", answer or "enough to answer"
        case Judged(why=why):
            yield "not yet", why
        case SubAnswered(question=question, answer=answer):
            yield "answer", f"{question} {answer}"
        case HypotheticalPassage(text=text):
            yield "wanted", text
        case Chained(text=text):
            yield "chain", text
        case Verified(ids=ids):
            yield "support", f"{len(ids)} of the passages"
        case Filtered(kept=selection, dropped=dropped):
            yield "kept", f"{len(selection)} of {len(selection) + len(dropped)} passages"
        case Failed(problem=problem):
            yield "failed", problem


def usage_text(usage: Usage, *, cost: bool = False) -> str:
    """Return usage as text: "5 calls (2 cached), 3,210 tokens", and with `cost` its cost."""
    if not usage.calls:
        return "no calls"
    calls = "1 call" if usage.calls == 1 else f"{usage.calls:,} calls"
    cached = f" ({usage.cached:,} cached)" if usage.cached else ""
    text = f"{calls}{cached}, {usage.tokens:,} tokens"
    if not cost:
        return text
    return f"{text}, unknown price" if usage.cost is None else f"{text}, cost {usage.cost:.4g}"


def _facts(triples: Sequence[Triple]) -> Iterator[tuple[str, str]]:
    for triple in triples:
        yield "fact", " | ".join((triple.subject, triple.predicate, triple.object))


def _titles(hits: Sequence[Hit]) -> str:
    titles = list(dict.fromkeys(crop(hit.passage.title, 60) for hit in hits))
    more = f" and {len(titles) - _TITLES} more" if len(titles) > _TITLES else ""
    return (", ".join(titles[:_TITLES]) + more) or "nothing"
