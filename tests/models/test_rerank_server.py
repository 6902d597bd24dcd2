"""Rerankers behind a server: both protocols, batches, refusals, and invalid replies."""

import logging
import math
import time

import pytest
from pydantic import SecretStr
from reranking import Judge

from kgrag.models.probe import model_checks
from kgrag.models.rerank_server import RerankServer
from kgrag.runtime.limits import limited
from kgrag.settings import RerankerSettings, Settings
from kgrag.values.errors import ConfigurationError, DeadlineError, ModelError, UnavailableError
from kgrag.values.results import Check

_TEXTS = ["one two three four", "one", "one two"]
_SCORES = [0.25, 1.0, 0.5]
_KEY = "a-key-of-tests"


def _ranked(*scores: object) -> str:
    """Return a reply with these scores, the first for text 0."""
    results = [f'{{"index": {place}, "relevance_score": {score}}}' for place, score in enumerate(scores)]
    return f'{{"results": [{", ".join(results)}]}}'


def test_as_cohere_jina_and_vllm_speak() -> None:
    with Judge() as judge:
        server = RerankServer(judge.settings(model="judge", api_key=_KEY, extra_headers={"X-Team": "ships"}))
        assert server.scores("Which?", _TEXTS) == _SCORES
        assert judge.requests == [{"model": "judge", "query": "Which?", "documents": _TEXTS, "top_n": 3}]
        assert judge.headers[0]["authorization"] == f"Bearer {_KEY}"
        assert judge.headers[0]["x-team"] == "ships"
        assert server.scores("Which?", []) == []
        assert len(judge.requests) == 1
        assert _KEY not in repr(server) + repr(judge.settings(api_key=_KEY))


def test_as_text_embeddings_inference_speaks() -> None:
    with Judge("texts") as judge:
        server = RerankServer(judge.settings())
        assert server.scores("Which?", _TEXTS) == _SCORES
        assert server.scores("Which?", _TEXTS[1:]) == _SCORES[1:]
        first, *others = judge.requests
        assert "documents" in first
        assert others[0] == {"query": "Which?", "texts": _TEXTS, "truncate": True}
        assert len(others) == 2  # the protocol is detected once


def test_scores_of_llama_cpp_are_logits() -> None:
    with Judge("logits") as judge:
        server = RerankServer(judge.settings())
        assert server.scores("Which?", _TEXTS) == [
            pytest.approx(1 / (1 + math.exp(-x))) for x in (20 * s - 5 for s in _SCORES)
        ]
        assert server.scores("Which?", ["one two three four"]) == [0.5]  # a single logit of 0 is within 0 and 1
        judge.said = _ranked(-2_000, 2_000)
        assert server.scores("Which?", _TEXTS[:2]) == [0.0, 1.0]
        judge.said = _ranked(1.000001, -0.000001)
        assert RerankServer(judge.settings()).scores("Which?", _TEXTS[:2]) == [1.0, 0.0]


@pytest.mark.parametrize(
    ("written", "asked"),
    [("", "/rerank"), ("/", "/rerank"), ("/v1/", "/v1/rerank"), ("/v1/rerank", "/v1/rerank"), ("/rerank/", "/rerank")],
)
def test_an_address_with_or_without_the_path(written: str, asked: str) -> None:
    with Judge() as judge:
        RerankServer(judge.settings(base_url=judge.address + written)).scores("Which?", _TEXTS)
        assert judge.paths == [asked]


def test_no_more_texts_at_once_than_the_server_takes() -> None:
    texts = ["word " * n for n in range(1, 11)]
    with Judge("texts", most=4) as judge:
        server = RerankServer(judge.settings())
        assert server.scores("Which?", texts) == [1 / n for n in range(1, 11)]
        assert [len(r["texts"]) for r in judge.requests[1:]] == [10, 5, 3, 3, 3, 1]
        assert server.scores("Which?", texts[:4]) == [1 / n for n in range(1, 5)]
        assert [len(r["texts"]) for r in judge.requests[-2:]] == [3, 1]
    with Judge() as judge:
        assert RerankServer(judge.settings(batch=4)).scores("Which?", texts)[9] == 0.1
        assert [len(r["documents"]) for r in judge.requests] == [4, 4, 2]


def test_long_texts_are_cut_where_the_server_does_so_when_asked() -> None:
    texts = ["word " * 50, "word"]
    with Judge(longest=100) as judge:
        server = RerankServer(judge.settings())
        assert server.scores("Which?", texts) == [1 / 50, 1.0]
        assert [r.get("truncate_prompt_tokens") for r in judge.requests] == [None, -1]
        judge.refusals = [(500, '{"error": {"message": "input (900 tokens) is too large to process"}}')]
        with pytest.raises(ModelError, match="too large to process") as refused:
            server.scores("Which?", texts)
        assert "KGRAG_INDEXING__PASSAGE_TOKENS" in refused.value.remedy
        assert len(judge.requests) == 3  # a retry would not help


def test_a_busy_server_is_asked_again(caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.DEBUG)
    with Judge() as judge:
        judge.refusals = [(503, "loading"), (429, "slow down")]
        assert RerankServer(judge.settings(api_key=_KEY)).scores("Which?", _TEXTS) == _SCORES
        judge.refusals = [(429, "slow down"), (429, "slow down")]
        with pytest.raises(ModelError, match="takes no more requests, after 2 tries: slow down") as busy:
            RerankServer(judge.settings(retries=1)).scores("Which?", _TEXTS)
        assert "KGRAG_RERANKER__BATCH" in busy.value.remedy
        judge.refusals = [(500, "out of memory")]
        with pytest.raises(ModelError, match="out of memory") as failed:
            RerankServer(judge.settings(retries=0)).scores("Which?", _TEXTS)
        assert "KGRAG_RERANKER__RETRIES" in failed.value.remedy
    assert _KEY not in caplog.text


@pytest.mark.parametrize(
    ("status", "said", "kind", "message", "remedy"),
    [
        (401, f"no such key: {_KEY}", UnavailableError, r"no such key: \*\*\*", "Set KGRAG_RERANKER__API_KEY"),
        (404, '{"detail": "Not Found"}', UnavailableError, "Not Found", "KGRAG_RERANKER__BASE_URL"),
        (400, "Unknown model: judge", UnavailableError, "no model 'judge'", "KGRAG_RERANKER__MODEL"),
        (424, "the model is not a re-ranker model", ModelError, "not a re-ranker", "KGRAG_RERANKER__MODEL"),
    ],
)
def test_refusals_have_a_remedy(status: int, said: str, kind: type[ModelError], message: str, remedy: str) -> None:
    with Judge() as judge:
        judge.refusals = [(status, said)] * 2
        with pytest.raises(kind, match=message) as refused:
            RerankServer(judge.settings(model="judge", api_key=SecretStr(_KEY))).scores("Which?", _TEXTS)
        assert remedy in refused.value.remedy
        assert "OPENAI" not in refused.value.remedy
        assert _KEY not in refused.value.in_full
        assert len(judge.requests) == 1


@pytest.mark.parametrize(
    ("said", "why"),
    [
        ("no JSON", "Expecting value"), ('{"results": []}', "0 scores came for 3 texts"),
        ("[]", "0 scores came for 3 texts"), (_ranked(0.5, 0.4), "2 scores came for 3 texts"),
        (_ranked(0.5, 0.4, 0.3, 0.2), "text 3"),
        ('{"results": [{"index": 0, "relevance_score": 1}, {"index": 0, "relevance_score": 1}]}', "text 0"),
        ('{"results": [{"index": -1, "relevance_score": 1}]}', "text -1"), (_ranked(0.5, "NaN", 0.3), "text 1 as nan"),
        (_ranked(0.5, "Infinity", 0.3), "text 1 as inf"), (_ranked(0.5, "null", 0.3), ""),
        (_ranked(0.5, '"high"', 0.3), ""), ('{"results": [{"index": 0}]}', "score"), ('{"data": []}', "results"),
        ("3", ""),
    ],
)  # fmt: skip
def test_replies_that_are_no_ranking(said: str, why: str) -> None:
    with Judge() as judge:
        judge.said = said
        with pytest.raises(ModelError, match="nothing that can be used") as refused:
            RerankServer(judge.settings()).scores("Which?", _TEXTS)
        assert why in str(refused.value)
        assert "KGRAG_RERANKER__BASE_URL" in refused.value.remedy


def test_addresses_where_nothing_answers() -> None:
    with Judge() as judge:
        gone = judge.settings(api_key=_KEY)
    with pytest.raises(UnavailableError, match="No connection") as refused:
        RerankServer(gone).scores("Which?", _TEXTS)
    assert "KGRAG_RERANKER__BASE_URL" in refused.value.remedy
    with pytest.raises(ConfigurationError, match=r"\*\*\*@nowhere"):
        RerankServer(RerankerSettings(base_url="ann:secret@nowhere"))


def test_the_callers_own_time_ends_the_wait() -> None:
    with Judge() as judge:
        judge.refusals = [(500, "")] * 20
        began = time.monotonic()
        with pytest.raises(DeadlineError), limited(deadline=0.3):
            RerankServer(judge.settings(retries=20)).scores("Which?", _TEXTS)
        assert time.monotonic() - began < 5


def test_doctor_asks_the_reranker() -> None:
    def checked(**reranker: object) -> Check:
        settings = Settings(_env_file=None, reranker=RerankerSettings(**reranker))  # type: ignore[call-arg,arg-type]
        (found,) = [check for check in model_checks(settings) if check.name == "Reranker"]
        return found

    with Judge("texts") as judge:
        judge.refusals = [(422, "missing field `texts`")]
        judge.said = "[" + ", ".join(f'{{"index": {n}, "score": {0.9 if n == 0 else 0.1}}}' for n in range(8)) + "]"
        found = checked(base_url=judge.address, model="bge")
        assert found.ok
        assert f"bge at {judge.address}: " in found.detail
        judge.said = ""
        wrong = checked(base_url=judge.address)  # it prefers short texts
        assert not wrong.ok
        assert "KGRAG_RERANKER__MODEL" in wrong.remedy
    gone = checked(base_url=judge.address)
    assert not gone.ok
    assert "KGRAG_RERANKER__BASE_URL" in gone.remedy
    assert not [c for c in model_checks(Settings(_env_file=None)) if c.name == "Reranker"]  # type: ignore[call-arg]
