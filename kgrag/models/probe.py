"""The checks of model servers by `kgrag doctor`: replies, JSON, speed and the length of the context."""

import time
from collections.abc import Iterator
from typing import Any
from urllib.parse import urlsplit

from kgrag.models.chat import Message
from kgrag.models.embed import load_embedder
from kgrag.models.endpoint import Endpoint
from kgrag.models.facts import Facts
from kgrag.models.openai_chat import OpenAIChat
from kgrag.models.prompted import PromptedModel, framed
from kgrag.models.rerank_server import RerankServer
from kgrag.settings import RerankerSettings, Settings
from kgrag.values.errors import KgragError, TooLongError
from kgrag.values.results import Check

_TEXT = (
    "The Halcyon was a three-masted barque of 410 tons. She was launched in the spring of 1874 at the Norfjord "
    "shipyard, the first of four sisters, and carried timber and ice to London until she was wrecked off Texel in 1903."
)
_ENOUGH = 8192
"""Tokens of a context below which some passages are omitted."""
_HUGE = 300_000
"""Words that exceed the context of any local server."""
_SLOW = 8.0
"""Tokens a second below which a server is called slow."""
_PATIENCE = 3.0
_LOOPBACK = ("localhost", "127.0.0.1", "::1")


def model_checks(settings: Settings) -> Iterator[Check]:
    """Probe the servers in the settings by a few short calls; nothing is stored."""
    if settings.chat.model is None:
        yield Check("Language model", True, "none: searches work, questions are not answered (KGRAG_CHAT__MODEL)")
    else:
        try:
            with OpenAIChat(settings.chat) as model:
                yield from _chat(settings, model)
        except KgragError as error:
            yield Check("Language model", False, error.message, error.remedy)
    if settings.embedder.startswith("openai:"):
        yield _embeddings(settings)
    if settings.reranker.base_url:
        yield _reranker(settings.reranker)


def _chat(settings: Settings, model: OpenAIChat) -> Iterator[Check]:
    began, came = time.perf_counter(), 0.0

    def hear(text: str) -> None:
        nonlocal came
        came = came or time.perf_counter()

    messages = [Message("system", _TEXT), Message("user", "Say in four sentences what happened to the ship.")]
    reply = model.chat(messages, task="answer", on_text=hear)
    ended = time.perf_counter()
    name, completion = model.name("answer"), reply.usage.completion_tokens
    if not reply.text.strip():
        yield Check("Language model", False, f"{name} replies nothing", "Try another model: KGRAG_CHAT__MODEL.")
        return
    yield Check("Language model", True, f"{name} answers, its first word after {came - began:.1f} s")
    rate = completion / (ended - came) if ended > came > 0 else 0.0
    slow = 0 < rate < _SLOW
    speed = f"about {rate:,.0f} tokens a second" if rate else "its replies come whole"
    yield Check("Speed", True, f"{speed}{': an answer takes its time, and a loop minutes' if slow else ''}")
    yield _json(PromptedModel(model, settings.chat.prompts), model)
    context = _context(settings, model)
    if context is None:
        yield Check("Context", True, "the server does not say how long it is")
        return
    short = context < _ENOUGH
    remedy = "Give it 8,192 or more (llama.cpp: -c, Ollama: OLLAMA_CONTEXT_LENGTH, vLLM: --max-model-len)."
    yield Check("Context", not short, f"{context:,} tokens", remedy if short else "")


def _json(llm: PromptedModel, model: OpenAIChat) -> Check:
    """Check whether the server replies in JSON, and by which parameters."""
    try:
        facts = llm.structured("read", Facts, passages=f"[1]\n{framed(_TEXT)}", question="Where was the Halcyon built?")
    except KgragError as error:
        return Check("JSON", False, error.message, error.remedy)
    return Check("JSON", True, f"by {model.json_form('read')}; it read {len(facts.triples)} facts in a passage")


def _context(settings: Settings, model: OpenAIChat) -> int | None:
    """Return the length of the context, from the server's pages or from a refusal; None if unknown."""
    chat = settings.chat
    assert chat.model is not None
    endpoint = Endpoint.of("CHAT", chat.model, chat.base_url, chat.api_key, chat.extra_headers)
    if (length := report(endpoint, model.name("answer"))) is not None:
        return length
    if urlsplit(endpoint.base_url).hostname not in _LOOPBACK:
        return None  # a remote server might charge for such a request
    try:
        model.chat([Message("user", "ship " * _HUGE)], task="answer")
    except TooLongError as error:
        return error.context or None
    except KgragError:
        return None
    return None


def report(endpoint: Endpoint, model: str) -> int | None:
    """Return the length from a page of llama.cpp, LM Studio, Ollama or vLLM."""
    import urllib3  # the HTTP library of the openai client differs between versions

    root = endpoint.base_url.partition("?")[0].removesuffix("/v1")
    headers = {"Authorization": f"Bearer {endpoint.key}"} if endpoint.key else {}
    with urllib3.PoolManager(headers={**headers, **endpoint.headers}, timeout=_PATIENCE, retries=False) as client:
        for path in ("/props", "/api/v0/models", "/api/ps", "/v1/models"):
            try:
                length = _length(client.request("GET", f"{root}{path}").json(), model)
            except (urllib3.exceptions.HTTPError, ValueError):
                continue
            if length is not None:
                return length
    return None


def _length(page: Any, model: str) -> int | None:
    if not isinstance(page, dict):
        return None
    listed = page.get("data") or page.get("models") or []
    own = [
        row for row in listed if isinstance(row, dict) and model in (row.get("id"), row.get("name"), row.get("model"))
    ]
    for row in (page.get("default_generation_settings"), *own):
        for name in ("n_ctx", "loaded_context_length", "context_length", "max_model_len"):
            if isinstance(row, dict) and isinstance(length := row.get(name), int):
                return length
    return None


def _embeddings(settings: Settings) -> Check:
    try:
        embedder = load_embedder(settings.embedder, settings.embedding)
        began = time.perf_counter()
        vectors = embedder.embed([_TEXT] * 8)
    except KgragError as error:
        return Check("Embeddings", False, error.message, error.remedy)
    rate = len(vectors) / (time.perf_counter() - began)
    return Check(
        "Embeddings", True, f"{settings.embedder}: {vectors.shape[1]} numbers a text, {rate:,.0f} texts a second"
    )


def _reranker(settings: RerankerSettings) -> Check:
    """Check whether the reranker ranks a text on the question above another one."""
    try:
        server = RerankServer(settings)
        began = time.perf_counter()
        first, *others = server.scores("Where was the Halcyon built?", [_TEXT, *["Salmon swim up the rivers."] * 7])
    except KgragError as error:
        return Check("Reranker", False, error.message, error.remedy)
    rate = (1 + len(others)) / (time.perf_counter() - began)
    named = f"{server.model} at {server.address}" if server.model else server.address
    if first <= max(others):
        remedy = "Is it a reranker? Name another: KGRAG_RERANKER__MODEL."
        return Check("Reranker", False, f"{named} finds a text beside the question more relevant", remedy)
    return Check("Reranker", True, f"{named}: {rate:,.0f} texts a second")
