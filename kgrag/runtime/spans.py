"""Spans: which steps a piece of work consists of and how long each takes, for whoever collects traces (OpenTelemetry).

They hold names and numbers, never the text of a question, of a document or of a parameter. Where nobody has set a
tracer they cost nothing.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from opentelemetry.trace import Tracer

_TRACER: ContextVar["Tracer | None"] = ContextVar("kgrag_tracer", default=None)


@contextmanager
def traced(tracer: "Tracer") -> Iterator[None]:
    """While the `with` block runs, also in threads that copy its context, spans go to a tracer."""
    token = _TRACER.set(tracer)
    try:
        yield
    finally:
        _TRACER.reset(token)


@contextmanager
def span(name: str, **attributes: str | int | float) -> Iterator[dict[str, str | int | float]]:
    """A step of the work of this context; what is put into the map becomes the span's attributes, too.

    An error that leaves it is noted by its class: its message may hold texts.
    """
    tracer = _TRACER.get()
    if tracer is None:
        yield {}
        return
    with tracer.start_as_current_span(name, record_exception=False, set_status_on_exception=False) as current:
        try:
            yield attributes
        except BaseException as error:
            attributes["error.type"] = type(error).__name__
            raise
        finally:
            current.set_attributes({f"kgrag.{key}" if "." not in key else key: v for key, v in attributes.items()})
