"""The one loop of all agents: next queries -> retrieve -> absorb -> stop? -> conclude."""

from collections.abc import Iterator, Sequence
from dataclasses import replace

from kgrag.agents.episode import Episode, Outcome, StepQuery
from kgrag.agents.trace import Trace
from kgrag.models.parallel import in_parallel
from kgrag.retrieval.base import Scored
from kgrag.retrieval.compose import reciprocal_rank_fusion
from kgrag.values.errors import ModelError
from kgrag.values.events import Asked, Failed, Ranked, Retrieved

_RRF = 60.0  # fuses the rankings of an episode that cannot be finalised


def run(episode: Episode, trace: Trace) -> tuple[Outcome, str]:
    """Let an episode search until it is done or out of steps, and return its conclusion and a failure or "".

    If a language model fails, the ranking is made from the passages found so far.
    """
    problem = ""
    rankings = list[list[Scored]]()
    conclusion: Outcome | None = None
    try:
        for number in range(1, episode.steps + 1):
            trace.step = number
            searches = [x if isinstance(x, StepQuery) else StepQuery(x) for x in episode.next_queries()]
            for search, ranking in _retrieved(episode, searches, trace):
                rankings.append(ranking)
                episode.absorb(search.text, ranking)
            if searches:
                best = episode.finalise()[: episode.inquiry.depth]
                trace.add(Ranked(hits=tuple(replace(hit, why=()) for hit in episode.inquiry.hits(best))))
            if not searches or episode.done():
                break
        conclusion = episode.conclude()
    except ModelError as error:
        problem = _failed(trace, error)
    trace.step = 0
    if conclusion is None:
        try:
            conclusion = Outcome(episode.finalise())
        except ModelError as error:
            problem = problem or _failed(trace, error)
            conclusion = Outcome(reciprocal_rank_fusion(rankings, _RRF))
    return conclusion, problem


def _retrieved(
    episode: Episode, searches: Sequence[StepQuery], trace: Trace
) -> Iterator[tuple[StepQuery, list[Scored]]]:
    """Yield the passages of each query of a step.

    Several queries run at once, unless the retriever remembers earlier steps.
    """

    def retrieve(number: int) -> list[Scored]:
        return episode.retrieve(episode.inquiry.query(searches[number].text))

    for search in searches:
        trace.add(Asked(query=search.text, role=search.role))
    rankings: dict[int, list[Scored] | Exception]
    if len(searches) == 1 or episode.inquiry.retriever.is_stateful():
        rankings = {number: retrieve(number) for number in range(len(searches))}
    else:
        rankings = dict(in_parallel(retrieve, range(len(searches)), len(searches) or 1))
    for number, search in enumerate(searches):
        ranking = rankings[number]
        if isinstance(ranking, Exception):
            raise ranking
        hits = episode.inquiry.hits(ranking[: episode.inquiry.depth])
        trace.add(Retrieved(query=search.text, role=search.role, hits=hits))
        yield search, ranking


def _failed(trace: Trace, error: ModelError) -> str:
    trace.add(Failed(problem=error.in_full, error=type(error).__name__))
    return error.in_full
