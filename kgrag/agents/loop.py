"""The one loop of all agents: next queries -> retrieve -> absorb -> stop? -> finalise."""

from typing import TYPE_CHECKING

from kgrag.agents.trace import Trace
from kgrag.errors import ModelError
from kgrag.events import Asked, Failed, Retrieved
from kgrag.retrieval.base import Scored
from kgrag.retrieval.compose import reciprocal_rank_fusion
from kgrag.types import Hit

if TYPE_CHECKING:
    from kgrag.agents.strategy import Episode

_RRF = 60.0  # of what was found, where an episode cannot be finalised


def run(episode: "Episode", trace: Trace) -> tuple[tuple[Hit, ...], str]:
    """Let an episode search until it knows enough or has taken all its steps.

    Returns its final ranking, and what failed if anything did: when a language model fails, the ranking is made from
    what was found until then.
    """
    problem = ""
    retriever, rankings = episode.inquiry.retriever, list[list[Scored]]()
    try:
        for number in range(1, episode.steps + 1):
            trace.step = number
            queries = episode.next_queries()
            for query in queries:
                trace.add(Asked(query=query))
                found = episode.retrieve(episode.inquiry.query(query))
                rankings.append(found)
                trace.add(Retrieved(query=query, hits=retriever.hits(found)))
                episode.absorb(query, found)
            if not queries or episode.done():
                break
    except ModelError as error:
        problem = _failed(trace, error)
    trace.step = 0
    try:
        final = episode.finalise()
    except ModelError as error:
        problem = problem or _failed(trace, error)
        final = reciprocal_rank_fusion(rankings, _RRF)
    return retriever.hits(final[: episode.inquiry.depth]), problem


def _failed(trace: Trace, error: ModelError) -> str:
    trace.add(Failed(problem=error.in_full, error=type(error).__name__))
    return error.in_full
