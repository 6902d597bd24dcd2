"""Spans go to the configured tracer, with names and numbers; an error shows only its class."""

import contextvars
import threading

import pytest
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.export import SimpleSpanProcessor
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter

from kgrag.runtime.spans import span, traced


def test_without_a_tracer_nothing_is_kept() -> None:
    with span("query", query="inspect/ping") as noted:
        noted["records"] = 1


def test_spans_nest_and_carry_numbers() -> None:
    exporter, provider = InMemorySpanExporter(), TracerProvider()
    provider.add_span_processor(SimpleSpanProcessor(exporter))
    with traced(provider.get_tracer("test")):
        with span("outer", collection="ships"), span("inner", **{"db.system": "neo4j"}) as noted:
            noted["records"] = 3
        context = contextvars.copy_context()
        thread = threading.Thread(target=lambda: context.run(_one, "elsewhere"))
        thread.start()
        thread.join()
        with pytest.raises(ValueError, match="secret"), span("failing"):
            raise ValueError("a secret text")
    _one("after")
    inner, outer, elsewhere, failing = exporter.get_finished_spans()
    assert (inner.name, dict(inner.attributes or {})) == ("inner", {"db.system": "neo4j", "kgrag.records": 3})
    assert (outer.name, dict(outer.attributes or {})) == ("outer", {"kgrag.collection": "ships"})
    assert inner.parent is not None and outer.context is not None
    assert inner.parent.span_id == outer.context.span_id
    assert (elsewhere.name, elsewhere.parent) == ("elsewhere", None)
    assert dict(failing.attributes or {}) == {"error.type": "ValueError"}
    assert not failing.events and "secret" not in failing.to_json()


def _one(name: str) -> None:
    with span(name):
        pass
