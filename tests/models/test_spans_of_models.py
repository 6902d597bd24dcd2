"""Spans of model calls have the names of OpenTelemetry's conventions for generative AI."""

from pathlib import Path

import pytest
from habits import GOOD, Weak, reply
from opentelemetry.trace import SpanKind, StatusCode
from reranking import Judge
from spans_seen import spans_seen
from test_habits import ASKED, settings, weak

from kgrag.models.embed import load_embedder
from kgrag.models.openai_chat import OpenAIChat
from kgrag.models.rerank_server import RerankServer
from kgrag.settings import EmbeddingSettings
from kgrag.values.errors import ModelError

__all__ = ["weak"]


def test_a_kept_reply_took_no_tokens(weak: Weak, tmp_path: Path) -> None:
    with OpenAIChat(settings(weak, "plain"), cache=tmp_path) as model, spans_seen() as spans:
        first = model.chat(ASKED, task="answer")
        model.chat(ASKED, task="answer")
    bought, kept = (dict(span.attributes or {}) for span in spans)
    assert [span.name for span in spans] == ["chat plain"] * 2
    assert bought["gen_ai.usage.input_tokens"] == first.usage.prompt_tokens > 0
    assert (bought["kgrag.kept"], kept["kgrag.kept"]) == (0, 1)
    assert not [name for name in kept if "usage" in name]
    assert kept["gen_ai.request.model"] == "plain"


def test_the_model_is_named_as_the_server_calls_it(weak: Weak, monkeypatch: pytest.MonkeyPatch) -> None:
    named = {**reply("Colin Archer.")[1], "model": "another-name-2024"}
    monkeypatch.setitem(GOOD, "another name", lambda request, text, before: (200, named))
    with OpenAIChat(settings(weak, "another name")) as model, spans_seen() as spans:
        assert model.chat(ASKED, task="answer").model == "another name"
    (span,) = spans
    assert dict(span.attributes or {})["gen_ai.response.model"] == "another-name-2024"


def test_a_call_that_fails_is_an_error_without_words(weak: Weak) -> None:
    with OpenAIChat(settings(weak, "locked")) as model, spans_seen() as spans, pytest.raises(ModelError):
        model.chat(ASKED, task="answer")
    (span,) = spans
    assert span.status.status_code is StatusCode.ERROR
    assert not span.status.description
    assert not span.events
    assert dict(span.attributes or {})["error.type"] == "UnavailableError"


def test_vectors_and_their_tokens(weak: Weak) -> None:
    with spans_seen() as spans:
        embedder = load_embedder("openai:m", EmbeddingSettings(base_url=weak.base_url, api_key="k", batch=2))
        embedder.embed(["one", "two", "three"])
    assert [(span.name, span.kind) for span in spans] == [("embeddings m", SpanKind.CLIENT)] * 3
    asked, *batches = (dict(span.attributes or {}) for span in spans)
    assert [its["kgrag.texts"] for its in batches] == [2, 1]
    assert asked.keys() == batches[0].keys()
    assert batches[0] == {
        "kgrag.texts": 2, "gen_ai.operation.name": "embeddings", "gen_ai.provider.name": "openai",
        "gen_ai.request.model": "m", "gen_ai.usage.input_tokens": 1, "server.address": "127.0.0.1",
        "server.port": int(weak.base_url.rpartition(":")[2].removesuffix("/v1")),
    }  # fmt: skip


def test_a_reranker() -> None:
    with Judge() as judge, spans_seen() as spans:
        RerankServer(judge.settings(model="bge")).scores("Which?", ["a secret text", "b"])
    (span,) = spans
    assert span.name == "rerank bge"
    assert dict(span.attributes or {}) == {
        "kgrag.texts": 2,
        "gen_ai.operation.name": "rerank",
        "gen_ai.request.model": "bge",
        "server.address": "127.0.0.1",
        "server.port": judge.server_port,
    }
