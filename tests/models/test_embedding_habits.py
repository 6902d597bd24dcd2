"""Embedding servers in practice: every possible vector is made, and the other texts are reported with a remedy."""

from collections.abc import Iterable, Iterator
from typing import Any

import numpy as np
import pytest
from embedding_habits import BAD, DIMENSION, DOWN, HABITS, LIMITED, REFUSED, WRITTEN, EmbeddingHabits, vector

from kgrag.models.embed import CachedEmbedder, NoVectorError, OpenAIEmbedder, embed_each, embed_questions, unit
from kgrag.settings import EmbeddingSettings
from kgrag.values.errors import ModelError

TEXTS = [f"Passage {n} of the log of the Fram" for n in range(70)]
_WAITED_FOR = ("slow", "missing", "stuck", "no list", "unsaid", "4 texts, unsaid")  # seconds between retries


def _marked(habits: Iterable[str]) -> list[Any]:
    return [pytest.param(h, marks=pytest.mark.long) if h in _WAITED_FOR else h for h in habits]


@pytest.fixture(scope="module")
def server() -> Iterator[EmbeddingHabits]:
    with EmbeddingHabits() as habits:
        yield habits


def embedder(server: EmbeddingHabits, model: str, **changes: float) -> OpenAIEmbedder:
    given = {"timeout": 0.5 if model in ("slow", "stuck") else 20.0, "retries": 2, "batch": 64} | changes
    settings = EmbeddingSettings.model_validate({"base_url": server.base_url, "api_key": "test-key", **given})
    return OpenAIEmbedder(f"openai:{model}", settings)


def test_there_are_many() -> None:
    assert len(HABITS) >= 40


@pytest.mark.parametrize("habit", WRITTEN)
def test_vectors_come_in_the_order_of_their_texts(server: EmbeddingHabits, habit: str) -> None:
    found = embedder(server, habit).embed(TEXTS)
    assert np.allclose(found, unit([vector(text) for text in TEXTS]), atol=1e-6)


@pytest.mark.parametrize("habit", _marked(LIMITED))
def test_a_limit_is_learnt_and_remembered(server: EmbeddingHabits, habit: str) -> None:
    model = embedder(server, habit)
    assert np.allclose(model.embed(TEXTS), unit([vector(text) for text in TEXTS]), atol=1e-6)
    before = len(server.asked[habit])
    model.embed(TEXTS[:40])
    after = [len(texts) for texts in server.asked[habit][before:]]
    assert max(after) == LIMITED[habit][1]
    assert sum(after) == 40  # nothing is refused any more


@pytest.mark.parametrize("habit", _marked(REFUSED))
def test_a_text_without_a_vector_is_named_and_the_others_have_theirs(server: EmbeddingHabits, habit: str) -> None:
    _, reason, remedy = REFUSED[habit]
    texts = [*TEXTS[:37], f"A bed of {BAD} off Larvik", *TEXTS[37:]]
    model = embedder(server, habit)
    found, reasons = embed_each(model, texts)
    assert list(reasons) == [37]
    assert reason in reasons[37].message and remedy in reasons[37].remedy
    assert not found[37].any()
    there = [n for n in range(len(texts)) if n != 37]
    assert np.allclose(found[there], unit([vector(texts[n]) for n in there]), atol=1e-6)
    with pytest.raises(NoVectorError, match=f"A bed of {BAD} off Larvik") as failure:
        model.embed(texts)
    assert remedy in failure.value.remedy
    assert len(model.embed(TEXTS[:64])) == 64
    assert len(server.asked[habit][-1]) == 64  # a single bad text does not reduce the batch size


@pytest.mark.parametrize("habit", _marked(DOWN))
def test_a_server_that_is_out_of_order_is_told_from_a_bad_text(server: EmbeddingHabits, habit: str) -> None:
    _, reason, remedy = DOWN[habit]
    model = embedder(server, habit, retries=1)
    model._server._worked = -1e9  # as if time had passed
    with pytest.raises(ModelError, match=reason) as failure:
        model.embed(TEXTS[:8])
    assert not isinstance(failure.value, NoVectorError)
    assert remedy in failure.value.remedy
    assert "KGRAG_CHAT" not in failure.value.remedy
    assert "test-key" not in str(failure.value)


def test_a_search_goes_on_without_the_vector_of_a_text_but_not_of_its_question(server: EmbeddingHabits) -> None:
    remembering = CachedEmbedder(embedder(server, "zeros"))
    found = remembering.embed([BAD, "ice"])
    assert not found[0].any() and found.shape == (2, DIMENSION)
    with pytest.raises(NoVectorError, match=BAD):
        embed_questions(remembering, [BAD])
