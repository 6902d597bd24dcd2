"""Spans of a server's requests, sent to a collector of OpenTelemetry.

OpenTelemetry's own environment variables turn them on: OTEL_EXPORTER_OTLP_ENDPOINT (or
OTEL_EXPORTER_OTLP_TRACES_ENDPOINT), OTEL_SERVICE_NAME, OTEL_TRACES_SAMPLER, ...
"""

import os
from collections.abc import Iterator, Mapping
from contextlib import AbstractContextManager, contextmanager, nullcontext
from typing import TYPE_CHECKING

from kgrag import __version__
from kgrag.runtime.spans import Value, span, traced
from kgrag.values.installing import require_extra

if TYPE_CHECKING:
    from opentelemetry.sdk.trace import TracerProvider

_WANTED = ("OTEL_EXPORTER_OTLP_ENDPOINT", "OTEL_EXPORTER_OTLP_TRACES_ENDPOINT")


class Tracing:
    """The spans of one application; a context manager that sends the remaining spans at its end."""

    def __init__(self) -> None:
        """Set up tracing. Raises ConfigurationError if it is configured but its package is not installed."""
        self._provider: TracerProvider | None = None
        if not any(map(os.environ.get, _WANTED)):
            return
        problem = f"{_WANTED[0]} is set, and OpenTelemetry is not installed."
        with require_extra("otel", problem, "Run `{}`, or unset it."):
            from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter
            from opentelemetry.sdk import trace
            from opentelemetry.sdk.resources import Resource
            from opentelemetry.sdk.trace.export import BatchSpanProcessor
        named = {"service.name": os.environ.get("OTEL_SERVICE_NAME") or "kgrag", "service.version": __version__}
        self._provider = trace.TracerProvider(resource=Resource.create(named), shutdown_on_exit=False)
        self._provider.add_span_processor(BatchSpanProcessor(OTLPSpanExporter()))

    def __enter__(self) -> "Tracing":
        return self

    def __exit__(self, *_: object) -> None:
        if self._provider is not None:
            self._provider.shutdown()

    def request(self, headers: Mapping[str, str]) -> AbstractContextManager[dict[str, Value]]:
        """Open the span of a request, within the trace that its headers name, if any."""
        return nullcontext({}) if self._provider is None else self._request(self._provider, headers)

    @contextmanager
    def _request(self, provider: "TracerProvider", headers: Mapping[str, str]) -> Iterator[dict[str, Value]]:
        from opentelemetry.context import attach, detach
        from opentelemetry.trace.propagation.tracecontext import TraceContextTextMapPropagator

        token = attach(TraceContextTextMapPropagator().extract(headers))
        try:
            with traced(provider.get_tracer("kgrag", __version__)), span("request") as attributes:
                yield attributes
        finally:
            detach(token)
