"""The one loop of all agents: next queries -> retrieve -> absorb -> stop? -> finalise."""

from collections.abc import Sequence

from kgrag.agents.strategy import Context, Strategy
from kgrag.agents.trace import Trace
from kgrag.errors import ModelError
from kgrag.events import Asked, Failed, Retrieved
from kgrag.retrieval.base import Scored
from kgrag.types import Hit


def run(strategy: Strategy, trace: Trace) -> tuple[tuple[Hit, ...], str]:
    """Let a strategy search until it knows enough or has taken all its steps.

    Returns its final ranking, and what failed if anything did: when a language model fails, the ranking is made from
    what was found until then.
    """
    problem = ""
    try:
        for number in range(1, strategy.steps + 1):
            trace.step = number
            queries = strategy.next_queries()
            for query in queries:
                trace.add(Asked(query=query))
                found = strategy.retrieve(strategy.context.query(query))
                trace.add(Retrieved(query=query, hits=_hits(strategy.context, found)))
                strategy.absorb(query, found)
            if not queries or strategy.done():
                break
    except ModelError as error:
        problem = error.message
        trace.add(Failed(problem=problem, error=type(error).__name__))
    trace.step = 0
    return _hits(strategy.context, strategy.finalise()[: strategy.context.depth]), problem


def _hits(context: Context, found: Sequence[Scored]) -> tuple[Hit, ...]:
    """The passages with their texts and trails."""
    texts = context.retriever.index.reader.passages([x.id for x in found])
    return tuple(Hit(texts[x.id], x.score, x.why) for x in found if x.id in texts)
