"""Answers that are kept, as they may be shown: without the texts of passages that were removed or changed since."""

from collections.abc import Iterable, Sequence
from contextlib import suppress
from dataclasses import replace

from kgrag.client import KnowledgeGraph
from kgrag.values.errors import NotFoundError
from kgrag.values.events import Answer, Event, Retrieved
from kgrag.values.results import Hit, Passage, Ranking

Shown = tuple[Answer | Ranking | None, frozenset[str]]
"""A result as it may be shown, and the ids of passages whose texts it lacks: they are not held as they were."""


def still_held(
    kg: KnowledgeGraph, collections: Iterable[str], results: Sequence[Answer | Ranking | None]
) -> list[Shown]:
    """Results as they may be shown, with one query for each of their collections."""
    held = [{passage.id: passage for passage in _passages(result)} if result else {} for result in results]
    ids = list({id for known in held for id in known})
    now: dict[str, Passage] = {}
    for name in set(collections):
        with suppress(NotFoundError):  # the whole collection is gone
            now |= kg[name].context.reader.passages(ids)
    found: list[Shown] = []
    for result, known in zip(results, held, strict=True):
        gone = frozenset(id for id, its in known.items() if id not in now or now[id].text != its.text)
        found.append((_without(result, gone) if result and gone else result, gone))
    return found


def _passages(result: Answer | Ranking) -> Iterable[Passage]:
    ranking = result if isinstance(result, Ranking) else result.ranking
    yield from (hit.passage for hit in ranking)
    if isinstance(result, Answer):
        yield from (citation.passage for citation in result.citations)
        yield from (hit.passage for event in result.trace if isinstance(event, Retrieved) for hit in event.hits)


def _without(result: Answer | Ranking, gone: frozenset[str]) -> Answer | Ranking:
    def passage(its: Passage) -> Passage:
        return replace(its, text="") if its.id in gone else its

    def hits(its: Iterable[Hit]) -> tuple[Hit, ...]:
        return tuple(replace(hit, passage=passage(hit.passage), copies=()) for hit in its)

    def event(its: Event) -> Event:
        return replace(its, hits=hits(its.hits)) if isinstance(its, Retrieved) else its

    if isinstance(result, Ranking):
        return replace(result, hits=hits(result.hits))
    return replace(
        result,
        ranking=replace(result.ranking, hits=hits(result.ranking.hits)),
        citations=tuple(replace(its, passage=passage(its.passage)) for its in result.citations),
        trace=tuple(map(event, result.trace)),
    )
