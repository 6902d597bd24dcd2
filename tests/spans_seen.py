"""Spans recorded in memory, and the names in OpenTelemetry's conventions."""

import warnings
from collections.abc import Iterator
from contextlib import contextmanager

from opentelemetry.sdk.trace import ReadableSpan, TracerProvider
from opentelemetry.sdk.trace.export import SimpleSpanProcessor
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter

from kgrag.runtime.spans import traced


def gen_ai_names() -> set[str]:
    """Return the attributes of generative AI from OpenTelemetry's own package."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        from opentelemetry.semconv._incubating.attributes import gen_ai_attributes
    return {str(name) for key, name in vars(gen_ai_attributes).items() if key.startswith("GEN_AI_")}


@contextmanager
def spans_seen() -> Iterator[list[ReadableSpan]]:
    """Yield the spans of the `with` block, complete at its end; their names must follow the conventions."""
    exporter, provider = InMemorySpanExporter(), TracerProvider()
    provider.add_span_processor(SimpleSpanProcessor(exporter))
    found: list[ReadableSpan] = []
    with traced(provider.get_tracer("tests")):
        yield found
    found += exporter.get_finished_spans()
    names = {name for span in found for name in span.attributes or {} if name.startswith("gen_ai.")}
    assert names <= gen_ai_names()
