"""Record the steps of a call and their durations as spans for OpenTelemetry.

Spans have names and numbers, never the text of a question, a document or a parameter. Without a tracer they cost
nothing.
"""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from opentelemetry.trace import Tracer

Value = str | int | float | Sequence[str]

_TRACER: ContextVar["Tracer | None"] = ContextVar("kgrag_tracer", default=None)


@contextmanager
def traced(tracer: "Tracer") -> Iterator[None]:
    """Send spans to a tracer within the block, and from threads that copy its context."""
    token = _TRACER.set(tracer)
    try:
        yield
    finally:
        _TRACER.reset(token)


@contextmanager
def span(name: str, *, client: bool = False, **attributes: Value) -> Iterator[dict[str, Value]]:
    """Open a span for a step; entries added to the map become its attributes, too.

    `client`: whether it is a call of a server. Errors are recorded by their class only, since messages may hold texts.
    Calls of models, searches and tools have the names of OpenTelemetry's conventions for generative AI, version 1.37
    and later (gen_ai.*).
    """
    tracer = _TRACER.get()
    if tracer is None:
        yield {}
        return
    from opentelemetry.trace import SpanKind, StatusCode

    kind = SpanKind.CLIENT if client else SpanKind.INTERNAL
    with tracer.start_as_current_span(
        name, kind=kind, record_exception=False, set_status_on_exception=False
    ) as current:
        try:
            yield attributes
        except BaseException as error:
            attributes["error.type"] = type(error).__name__
            current.set_status(StatusCode.ERROR)
            raise
        finally:
            current.set_attributes({f"kgrag.{key}" if "." not in key else key: v for key, v in attributes.items()})
