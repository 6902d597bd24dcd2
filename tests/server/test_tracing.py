"""Spans reach a collector over HTTP, belong to the caller's trace, and contain no texts."""

import subprocess
import sys
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path
from urllib.parse import urlsplit

import pytest
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest
from opentelemetry.proto.trace.v1.trace_pb2 import Span
from scripted import Scripted
from served import Served
from spans_seen import gen_ai_names

from kgrag import KnowledgeGraph
from kgrag.values.documents import Document, Section

_TRACE = "0af7651916cd43dd8448eb211c80319c"


class Collector:
    """A receiver of traces; `bodies` has them unchanged."""

    def __init__(self) -> None:
        self.bodies: list[bytes] = []
        bodies = self.bodies

        class Handler(BaseHTTPRequestHandler):
            def do_POST(self) -> None:
                bodies.append(self.rfile.read(int(self.headers["Content-Length"])))
                self.send_response(200)
                self.send_header("Content-Length", "0")
                self.end_headers()

            def log_message(self, *_: object) -> None:
                pass

        self.server = HTTPServer(("127.0.0.1", 0), Handler)
        threading.Thread(target=self.server.serve_forever, daemon=True).start()

    @property
    def spans(self) -> list[Span]:
        """All spans so far."""
        requests = [ExportTraceServiceRequest.FromString(body) for body in self.bodies]
        return [
            s for r in requests for resource in r.resource_spans for scope in resource.scope_spans for s in scope.spans
        ]


@pytest.fixture
def collector(monkeypatch: pytest.MonkeyPatch) -> Iterator[Collector]:
    found = Collector()
    monkeypatch.setenv("OTEL_EXPORTER_OTLP_ENDPOINT", f"http://127.0.0.1:{found.server.server_port}")
    monkeypatch.setenv("OTEL_EXPORTER_OTLP_COMPRESSION", "none")
    yield found
    found.server.shutdown()
    found.server.server_close()


def attributes(span: Span) -> dict[str, object]:
    """Return the attributes of a span; a list becomes its items."""
    found: dict[str, object] = {}
    for a in span.attributes:
        kind = a.value.WhichOneof("value")
        assert kind is not None
        its = getattr(a.value, kind)
        found[a.key] = [item.string_value for item in its.values] if kind == "array_value" else its
    return found


def test_a_question_is_a_trace_without_its_words(
    talking: KnowledgeGraph, collection_name: str, scripted: Scripted, collector: Collector, tmp_path: Path
) -> None:
    scripted.say("answer", "In Nordvika, of course [1].")
    talking[collection_name].ingest([Document("d", (Section("Ole Brandvik was born in Nordvika."),), "Ole Brandvik")])
    with Served(talking, tmp_path) as server, server.client() as client:
        place = f"/api/v1/collections/{collection_name}"
        asked = {"question": "Where was Ole Brandvik born?", "system": "single+pathrank"}
        traced = {"traceparent": f"00-{_TRACE}-b7ad6b7169203331-01"}
        answer = client.post(f"{place}/ask", json=asked, headers=traced).json()
        assert answer["found"]
        usage = answer["usage"]
        assert client.get(f"{place}/passage", params={"id": "nobody here"}).status_code == 404
    spans = [span for span in collector.spans if span.trace_id.hex() == _TRACE]
    by_id = {span.span_id: span for span in spans}
    (request,) = [span for span in spans if span.name == "request"]
    assert request.parent_span_id.hex() == "b7ad6b7169203331"
    told = attributes(request)
    assert told["http.route"] == "/api/v1/collections/{collection}/ask" and told["http.response.status_code"] == 200
    (chat,) = [span for span in spans if span.name == "chat answer"]  # the model of that name
    assert chat.kind == Span.SPAN_KIND_CLIENT
    assert attributes(chat) == {
        "kgrag.task": "answer", "kgrag.kept": 0, "gen_ai.operation.name": "chat",
        "gen_ai.provider.name": "openai", "gen_ai.request.model": "answer",
        "gen_ai.request.max_tokens": scripted.settings().max_tokens, "gen_ai.request.temperature": 0.0,
        "gen_ai.output.type": "text", "gen_ai.response.model": "answer",
        "gen_ai.response.finish_reasons": ["stop"], "gen_ai.usage.input_tokens": usage["prompt_tokens"],
        "gen_ai.usage.output_tokens": usage["completion_tokens"], "server.address": "127.0.0.1",
        "server.port": urlsplit(scripted.base_url).port,
    }  # fmt: skip
    (searched,) = [span for span in spans if span.name == f"retrieval {collection_name}"]
    assert searched.kind == Span.SPAN_KIND_CLIENT
    assert attributes(searched) == {
        "kgrag.retriever": "pathrank",
        "kgrag.k": 15,
        "gen_ai.operation.name": "retrieval",
        "gen_ai.data_source.id": collection_name,
    }
    queries = [span for span in spans if span.name == "query"]
    assert "retrieve/pathrank" in {attributes(span)["kgrag.query"] for span in queries}
    names = {name for span in spans for name in attributes(span) if name.startswith("gen_ai.")}
    assert names and names <= gen_ai_names()
    assert all(span.parent_span_id in by_id for span in spans if span is not request)
    failed = [span for span in collector.spans if attributes(span).get("http.response.status_code") == 404]
    assert len(failed) == 1
    everything = b"".join(collector.bodies)
    for text in (b"Brandvik", b"Nordvika", b"nobody", b"born"):
        assert text not in everything


def test_a_tool_is_a_span_of_its_own(
    kg: KnowledgeGraph, collection_name: str, collector: Collector, tmp_path: Path
) -> None:
    kg[collection_name].ingest([Document("d", (Section("Ole Brandvik was born in Nordvika."),), "Ole Brandvik")])
    arguments = {"question": "Where was Ole Brandvik born?", "collection": collection_name}
    call = {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": {"name": "search", "arguments": arguments}}
    with Served(kg, tmp_path) as server, server.client() as client:
        headers = {"Accept": "application/json, text/event-stream"}
        assert "Nordvika" in client.post("/mcp", json=call, headers=headers).text
    (tool,) = [span for span in collector.spans if span.name == "execute_tool search"]
    assert attributes(tool) == {
        "gen_ai.operation.name": "execute_tool",
        "gen_ai.tool.name": "search",
        "gen_ai.tool.type": "function",
    }
    (request,) = [span for span in collector.spans if span.name == "request"]
    (searched,) = [span for span in collector.spans if span.name == f"retrieval {collection_name}"]
    assert (tool.parent_span_id, searched.parent_span_id) == (request.span_id, tool.span_id)
    assert b"Brandvik" not in b"".join(collector.bodies)


def test_a_collector_that_is_gone_holds_up_nobody(
    kg: KnowledgeGraph, collection_name: str, collector: Collector, tmp_path: Path
) -> None:
    collector.server.server_close()
    with Served(kg, tmp_path) as server, server.client() as client:
        assert client.get("/api/v1/collections").status_code == 200


def test_nothing_is_imported_where_nobody_collects() -> None:
    program = (
        "import sys, kgrag.server.tracing as t; t.Tracing(); print(any('opentelemetry' in m for m in sys.modules))"
    )
    told = subprocess.run([sys.executable, "-c", program], check=True, capture_output=True, text=True)
    assert told.stdout.strip() == "False"
