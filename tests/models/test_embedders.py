"""Embedders: unit rows, names, and clear errors; tests that need torch are marked `models`."""

import json
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import ClassVar

import numpy as np
import psutil
import pytest
from in_thread import Handler, InThread
from made_models import sentence_encoder

from kgrag.models.embed import (
    CachedEmbedder,
    Vectors,
    WordLlamaEmbedder,
    embed_each,
    embed_questions,
    load_embedder,
    sentence_transformer,
    unit,
)
from kgrag.retrieval.base import Query
from kgrag.values.errors import ConfigurationError, NotFoundError

TEXTS = ["A ship in the ice", "A vessel among floes", "Quarterly tax return", "", "船が氷の中に"]


@pytest.mark.parametrize("name", ["wordllama", pytest.param("sbert:minilm", marks=pytest.mark.models)])
def test_vectors(name: str) -> None:
    embedder = load_embedder(name)
    vectors = embedder.embed(TEXTS)
    assert vectors.dtype == np.float32
    assert vectors.shape == (5, embedder.dimension)
    assert np.allclose(np.linalg.norm(vectors, axis=1), 1, atol=1e-5)
    assert vectors[0] @ vectors[1] > vectors[0] @ vectors[2]
    assert embedder.embed([]).shape == (0, embedder.dimension)
    assert embedder.name == name


def test_vectors_of_what_was_asked_before_are_remembered(monkeypatch: pytest.MonkeyPatch) -> None:
    class Counting(WordLlamaEmbedder):
        asked: ClassVar[list[str]] = []

        def embed(self, texts: Sequence[str]) -> Vectors:
            self.asked.extend(texts)
            return super().embed(texts)

    plain = load_embedder("wordllama")
    remembering = CachedEmbedder(counting := Counting())
    for texts in ([TEXTS[0]], TEXTS, [*TEXTS, TEXTS[1]], []):
        assert np.array_equal(remembering.embed(texts), plain.embed(texts))
    assert counting.asked == TEXTS and remembering.dimension == plain.dimension
    changed = remembering.embed(TEXTS[:1])
    changed[:] = 0
    assert np.array_equal(remembering.embed(TEXTS[:1]), plain.embed(TEXTS[:1]))
    monkeypatch.setattr(CachedEmbedder, "MOST", 2)
    few = CachedEmbedder(counting)
    counting.asked.clear()
    for text in ("one", "two", "three", "three", "one"):
        few.embed([text])
    assert counting.asked == ["one", "two", "three", "one"]
    assert np.array_equal(embed_questions(few, ["three"]), plain.embed(["three"]))


def test_short_texts_leave_nothing_behind() -> None:
    embedder, process = WordLlamaEmbedder(), psutil.Process()

    def embed(numbers: range) -> int:
        for start in numbers[::20]:
            embedder.embed(
                [f"Who built the ship that number {i} of {i * i} sailed on?" for i in range(start, start + 20)]
            )
        return process.memory_info().rss

    before = embed(range(1000))
    assert embed(range(1000, 5000)) - before < 4e6  # a tokenizer that keeps them needs more than twice that


def test_unit_of_nothing() -> None:
    rows = unit(np.array([[0, 0], [np.nan, 1], [3, 4]]))
    assert np.allclose(rows, [[0, 0], [0, 0], [0.6, 0.8]])


def test_unknown_name() -> None:
    with pytest.raises(NotFoundError, match="no embedder 'word2vec'"):
        load_embedder("word2vec")


@pytest.mark.models
def test_a_model_that_cannot_be_loaded() -> None:
    with pytest.raises(ConfigurationError, match="cannot be loaded"):
        load_embedder("sbert:/nowhere/at/all")


def test_a_bi_encoder_needs_two_models() -> None:
    with pytest.raises(ConfigurationError, match="names no two models"):
        load_embedder("dpr:one")


@pytest.mark.models
def test_a_bi_encoder_has_vectors_of_its_own_for_questions(tmp_path: Path) -> None:
    models = [sentence_encoder(tmp_path / str(seed), TEXTS, seed) for seed in (1, 2)]
    embedder = load_embedder(f"dpr:{models[0]},{models[1]}")
    texts = [text for text in TEXTS if text]
    passages, questions = embedder.embed(texts), embed_questions(embedder, texts)
    assert passages.shape == questions.shape == (len(texts), embedder.dimension)
    assert np.allclose(np.linalg.norm(passages, axis=1), 1) and np.allclose(np.linalg.norm(questions, axis=1), 1)
    raw = [sentence_transformer(str(model)).encode(texts) for model in models]
    products = raw[0] @ raw[1].T
    assert (np.argsort(-(questions @ passages.T)) == np.argsort(-products)).all()  # by inner product, like DPR
    assert embed_each(embedder, TEXTS)[0].shape == (len(TEXTS), embedder.dimension)  # "" has no vector
    assert np.allclose(Query(TEXTS[0]).vector(embedder), questions[0], atol=1e-6)


class _Embeddings(Handler):
    """An OpenAI-compatible server that returns vectors of letter counts; its first reply is 429."""

    requests = 0

    def post(self) -> None:
        type(self).requests += 1
        body = self.body()
        if type(self).requests == 1:
            self.say(429, b"", Retry_After="0")
            return
        data = [
            {"object": "embedding", "index": i, "embedding": [float(text.count(c)) + 0.1 for c in "aeioust"]}
            for i, text in enumerate(body["input"])
        ]
        reply = {
            "object": "list",
            "model": body["model"],
            "data": data[::-1],
            "usage": {"prompt_tokens": 1, "total_tokens": 1},
        }
        self.say(200, json.dumps(reply).encode())


@pytest.fixture
def openai_server(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    with InThread(_Embeddings) as server:
        monkeypatch.setenv("OPENAI_BASE_URL", server.base_url)
        monkeypatch.setenv("OPENAI_API_KEY", "none")
        yield


def test_openai(openai_server: None) -> None:
    embedder = load_embedder("openai:letters")
    assert embedder.dimension == 7
    many = [f"text {'a' * i}" for i in range(600)]
    vectors = embedder.embed(many)
    assert vectors.shape == (600, 7)
    assert np.all(np.diff(vectors[:, 0]) > -1e-6)
    assert np.allclose(np.linalg.norm(vectors, axis=1), 1, atol=1e-5)


def test_openai_without_a_key(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)
    with pytest.raises(ConfigurationError, match="needs a key"):
        load_embedder("openai:letters")
