"""Late interaction (ColBERT): rank passages token by token, over a whole collection or another retriever's best.

Question and passage are encoded separately, with one vector per token. Each token of the question contributes the
cosine of the nearest token of the passage, and the sum is the passage's score (MaxSim). Source: ColBERTv2, section 3.1;
a baseline in GEAR, section 5, over the whole corpus: `colbert(depth=none)`. sentence-transformers encodes the texts;
for a whole collection, the vectors are stored on disk and compared exactly (`token_index`).
"""

import hashlib
import json
import logging
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from tempfile import NamedTemporaryFile
from typing import Any

import numpy as np
from filelock import FileLock
from numpy.typing import NDArray
from pydantic import Field

from kgrag.retrieval.base import Query, Retriever, Scored
from kgrag.retrieval.compose import ONE_AT_A_TIME, rank_again, rank_step, text_of
from kgrag.runtime.options import Options
from kgrag.values.errors import ConfigurationError, InputError
from kgrag.values.installing import require_extra

# The token vectors of all passages of a collection on disk, so that late interaction can rank all of them, exactly.
#
# A folder holds the vectors of all tokens as half floats, the start of each passage, and the passages' ids. The ids are
# hashes of the passages' contents. After a change of the collection, the vectors of existing passages are kept, and
# only new ones are encoded.
_LOG = logging.getLogger(__name__)
_BATCH = 256  # passages encoded at once
_BLOCK = 1 << 18  # tokens compared at once
Matrix = NDArray[np.float32]
Encode = Callable[[Sequence[str]], list[Matrix]]
"""Passage ids -> the token vectors [tokens, d] of each."""


@dataclass(frozen=True, slots=True)
class TokenIndex:
    """An index of `vectors` [tokens, d], memory-mapped; `starts` [passages + 1]: the first token of each passage."""

    ids: tuple[str, ...]
    starts: NDArray[np.int64]
    vectors: NDArray[np.float16]

    def scores(self, question: Matrix) -> NDArray[np.float32]:
        """Return MaxSim [passages] for the question's vectors [words, d]: the sum of their best token cosines."""
        values = np.zeros(len(self.ids), np.float32)
        first = 0
        while first < len(self.ids):
            last = int(np.searchsorted(self.starts, self.starts[first] + _BLOCK, side="right")) - 1
            last = min(max(last, first + 1), len(self.ids))
            block = self.vectors[self.starts[first] : self.starts[last]].astype(np.float32) @ question.T
            best = np.maximum.reduceat(block, self.starts[first:last] - self.starts[first], axis=0)
            values[first:last] = best.sum(axis=1)
            first = last
        return values


def open_index(folder: Path, state: str, listed: Callable[[], Sequence[str]], encode: Encode) -> TokenIndex:
    """Open the index in a folder, updated first unless it was made for this `state` of the collection.

    `listed`: the ids of all passages. Raises InputError if the folder cannot be written.
    """
    try:
        folder.mkdir(parents=True, exist_ok=True)
        with FileLock(folder / "lock"):
            stored = _load(folder)
            if stored is not None and stored[0] == state:
                return stored[1]
            ids = sorted(listed())
            _LOG.info("encoding the passages of a collection for late interaction: %d", len(ids))
            _write(folder, state, ids, None if stored is None else stored[1], encode)
            index = _load(folder)
    except OSError as error:
        raise InputError(
            f"The token vectors of the collection cannot be kept in {folder} ({error.strerror}).",
            "Name another folder with KGRAG_CACHE.",
        ) from error
    assert index is not None
    return index[1]


def _load(folder: Path) -> tuple[str, TokenIndex] | None:
    """Return the collection's state for which the index was made, and the index; None if there is no index."""
    try:
        about = json.loads((folder / "index.json").read_text(encoding="utf-8"))
        vectors = np.load(folder / about["vectors"], mmap_mode="r")
    except (FileNotFoundError, ValueError, KeyError):
        return None
    return about["state"], TokenIndex(tuple(about["ids"]), np.array(about["starts"], np.int64), vectors)


def _write(folder: Path, state: str, ids: Sequence[str], before: TokenIndex | None, encode: Encode) -> None:
    """Write the vectors of passages to a new file, then the file that refers to it; remove the old one."""
    places = {} if before is None else {id: i for i, id in enumerate(before.ids)}
    fresh = [id for id in ids if id not in places]
    vectors: dict[str, NDArray[np.float16]] = {}
    for start in range(0, len(fresh), _BATCH):
        part = fresh[start : start + _BATCH]
        vectors |= {id: matrix.astype(np.float16) for id, matrix in zip(part, encode(part), strict=True)}

    def of(id: str) -> NDArray[np.float16]:
        if before is None or id in vectors:
            return vectors[id]
        return before.vectors[before.starts[places[id]] : before.starts[places[id] + 1]]

    starts = np.concatenate([[0], np.cumsum([len(of(id)) for id in ids], dtype=np.int64)]).astype(np.int64)
    width = next((of(id).shape[1] for id in ids), 1)
    with NamedTemporaryFile(dir=folder, suffix=".npy", delete=False) as file:
        np.lib.format.write_array_header_1_0(
            file, {"descr": "<f2", "fortran_order": False, "shape": (int(starts[-1]), width)}
        )
        for id in ids:
            file.write(np.ascontiguousarray(of(id)).tobytes())
    about = {"state": state, "ids": list(ids), "starts": starts.tolist(), "vectors": Path(file.name).name}
    part_file = folder / "index.json.part"
    part_file.write_text(json.dumps(about), encoding="utf-8")
    part_file.replace(folder / "index.json")
    for old in folder.glob("*.npy"):
        if old.name != about["vectors"]:
            old.unlink(missing_ok=True)


_PLAIN = {"convert_to_numpy": True, "show_progress_bar": False}
_PART = 1000  # passages filtered at once


class ColbertOptions(Options):
    """Options of late interaction."""

    model: str = Field(
        "colbert-ir/colbertv2.0", description="late-interaction model: a name on the hub or a folder (GEAR, section 5)"
    )
    depth: int | None = Field(
        50,
        ge=1,
        le=10_000,
        description="passages of the other retriever that are ranked again; none: all of the collection",
    )
    most: int = Field(50_000, ge=1, le=1_000_000, description="passages that may all be ranked: 25 KB each on disk")


class Colbert(Retriever):
    """The passages of a collection, or another retriever's best, in the order of a late-interaction model.

    Source: ColBERTv2, section 3.1; GEAR, section 6.1.

    Raises:
        ConfigurationError: the model, or sentence-transformers, is missing; raised by the first search.

    Example:
        >>> Colbert(Bm25(collection.context), depth=20).name
        'colbert(bm25, depth=20)'
    """

    name = "colbert"
    summary = "late interaction over another's best passages, or with depth=none over all (extra: colbert)"
    paper = "ColBERTv2; GEAR, section 6.1"
    options = ColbertOptions
    over = ("hybrid",)
    needs = "the extra colbert and a model"
    settings: ColbertOptions

    def rank(self, query: Query, n: int) -> list[Scored]:
        """See Retriever; scores are MaxSim. Only the base's best `depth` passages are scored.

        Raises ConfigurationError if sentence-transformers is not installed, the model cannot be loaded, or the
        collection has too many passages to rank them all, and InputError if the vectors cannot be stored.
        """
        s = self.settings
        if s.depth is None:
            return self._rank_all(query, n)
        return rank_again(self, query, s.depth, n, lambda texts: max_sim(s.model, query.text, texts))

    def _rank_all(self, query: Query, n: int) -> list[Scored]:
        """Return the best of the whole collection, whose token vectors are updated first."""
        s, reader = self.settings, self.context.reader
        encoder = _loaded(s.model)
        name, passages = reader.collection.name, reader.question(names=[], stemmed=[], words=[])["passages"] or 0
        if passages > s.most:
            raise ConfigurationError(
                f"Collection {name!r} holds {passages:,} passages; colbert(depth=none) ranks {s.most:,} at most.",
                "Rank another's best again: colbert(hybrid, depth=200), or raise its option most.",
            )

        def listed() -> list[str]:
            ids: list[str] = reader.row("retrieve/first_passages", collection=name, limit=passages + s.most)["ids"]
            return ids

        def encode(ids: Sequence[str]) -> list[Matrix]:
            texts = reader.passages(ids)
            return [np.asarray(v) for v in encoder.encode_document([text_of(texts[id]) for id in ids], **_PLAIN)]

        digest = hashlib.blake2b(f"{s.model}\0{name}".encode(), digest_size=8).hexdigest()
        with ONE_AT_A_TIME:
            state = reader.row("retrieve/corpus_state", collection=name)["state"]
            index = open_index(self.context.cache / "late-interaction" / digest, state, listed, encode)
            question_vectors = np.asarray(encoder.encode_query([query.text], **_PLAIN)[0])
        scores = index.scores(question_vectors)
        order = np.argsort(-scores, kind="stable")
        best: list[int] = []
        for start in range(0, len(order), _PART):
            part = [int(i) for i in order[start : start + _PART]]
            if query.filter:
                allowed = reader.matching_filter([index.ids[i] for i in part], query.filter)
                part = [i for i in part if index.ids[i] in allowed]
            best += part
            if len(best) >= n:
                break
        return [
            Scored(index.ids[i], float(scores[i]), (rank_step(type(self).name, rank, float(scores[i])),))
            for rank, i in enumerate(best[:n], 1)
        ]


def max_sim(model: str, question: str, texts: list[str]) -> list[float]:
    """Return the late-interaction score of each text. Raises ConfigurationError if the model does not exist."""
    with ONE_AT_A_TIME:
        encoder = _loaded(model)
        question_vectors = encoder.encode_query([question], show_progress_bar=False)
        scores = encoder.similarity(question_vectors, encoder.encode_document(texts, show_progress_bar=False))
        return [float(score) for score in scores[0]]


@cache
def _loaded(name: str) -> Any:
    with require_extra("colbert", "The retriever colbert needs sentence-transformers 6 or later."):
        from sentence_transformers import MultiVectorEncoder
    try:
        encoder = MultiVectorEncoder(name)
        if not _was_trained_for_it(name):
            raise ValueError("it has no projection of its token vectors, so it was not trained for late interaction")
        return encoder
    except Exception as error:  # the hub's errors have no common type
        raise ConfigurationError(
            f"The late-interaction model {name!r} cannot be loaded: {error}",
            "Name a ColBERT model or give the path of a saved one: colbert(hybrid, model='colbert-ir/colbertv2.0').",
        ) from error


def _was_trained_for_it(name: str) -> bool:
    """Return whether a model has a trained projection.

    Otherwise the library initialises one at random, and only logs it.
    """
    from sentence_transformers.util import load_file_path

    def read(file: str) -> Any:
        path = load_file_path(name, file)
        return json.loads(Path(path).read_text(encoding="utf-8")) if path else None

    modules = {module["type"].rsplit(".")[-1] for module in read("modules.json") or []}
    architectures = (read("config.json") or {}).get("architectures") or []
    return bool(modules & {"Dense", "MultiVectorMask"}) or any(
        name == "HF_ColBERT" or name.endswith("ForRetrieval") for name in architectures
    )
