"""Check the retrievers and systems that guests name in a question: their options are numbers and fixed words only.

An option that is free text may name a file, an address or another collection: `rerank(url=...)`, `gfm(weights=...)`,
`bridges(knowledge=...)`. The operator sets these (KGRAG_RERANKER__BASE_URL), never a caller.
"""

from collections.abc import Iterator, Mapping
from datetime import datetime
from typing import Any, Literal, get_args, get_origin

from kgrag.agents.system import STRATEGIES, split_system
from kgrag.client.graph import KnowledgeGraph
from kgrag.graph.saved import find_query, run_saved
from kgrag.retrieval.base import RETRIEVERS
from kgrag.retrieval.expression import Expression, parse
from kgrag.runtime.options import Options
from kgrag.values.errors import ConfigurationError, RefusedError
from kgrag.values.rows import Rows


def check_asked_retriever(expression: str) -> str:
    """Return the expression unchanged.

    Raises RefusedError for a free-text option, NotFoundError for an unknown name.
    """
    _check_parts(parse(expression))
    return expression


def check_asked_system(name: str) -> str:
    """Return the name of a system unchanged. Raises as `check_asked_retriever` does."""
    strategy, retriever = split_system(name)
    _check(strategy, STRATEGIES[strategy.name].options)
    _check_parts(parse(retriever))
    return name


def is_of_a_collection(query: str) -> bool:
    """Return whether a saved query is about one collection. Raises NotFoundError."""
    return any(p.name == "collection" for p in find_query(query).parameters)


def saved_rows(kg: KnowledgeGraph, name: str, parameters: Mapping[str, Any], collection: str | None) -> Rows:
    """Return the rows of a saved query on a collection, or on all if it is None; times are ISO text.

    Raises as `run_saved` does, and RefusedError if the query needs a collection and gets none, or the reverse.
    """
    if is_of_a_collection(name) == (collection is None):
        about = "about one collection" if collection is None else "not about one collection"
        raise RefusedError(f"The saved query {name!r} is {about}.", "Ask it where queries of that kind are asked.")
    moments = {p.name for p in find_query(name).parameters if p.type == "DATETIME"}
    arguments = {key: _moment(value) if key in moments else value for key, value in parameters.items()}
    if collection is not None:
        arguments["collection"] = collection
    return run_saved(kg.graph, name, arguments, kg.settings.gateway)


def _moment(value: Any) -> Any:
    """Parse a time; without a zone it is local."""
    if not isinstance(value, str):
        return value
    try:
        moment = datetime.fromisoformat(value)
    except ValueError as error:
        raise ConfigurationError(f"{value!r} is no time.", "Write it as in 2024-05-31T12:00+02:00.") from error
    return moment.astimezone() if moment.tzinfo is None else moment


def _check_parts(expression: Expression) -> None:
    _check(expression, RETRIEVERS.find(expression.name).options)
    for part in expression.parts:
        _check_parts(part)


def _check(expression: Expression, options: type[Options]) -> None:
    for name, value in expression.options:
        field = options.model_fields.get(name)
        words = set(_words(field.annotation)) if field is not None else set()
        if any(text not in words for text in _texts(value)):
            raise RefusedError(
                f"The option {name!r} of {expression.name} cannot be set here.",
                "Numbers, true, false and fixed words can; only the operator of the server sets texts.",
            )


def _texts(value: Any) -> Iterator[str]:
    if isinstance(value, str | bytes):
        yield str(value)
    elif isinstance(value, tuple | list | set | frozenset):
        for item in value:
            yield from _texts(item)
    elif isinstance(value, dict):
        for pair in value.items():
            yield from _texts(pair)


def _words(annotation: Any) -> Iterator[str]:
    """Yield the fixed words that an annotation allows."""
    if get_origin(annotation) is Literal:
        yield from (word for word in get_args(annotation) if isinstance(word, str))
    else:
        for part in get_args(annotation):
            yield from _words(part)
