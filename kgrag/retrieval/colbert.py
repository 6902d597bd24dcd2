"""Late interaction (ColBERT): passages ranked word by word, all of a collection or those of another retriever.

Question and passage are encoded apart, a vector a token; each token of the question counts with the cosine of the
passage's token nearest to it, and the score of a passage is their sum (MaxSim). Source: ColBERTv2, section 3.1; a
baseline of GEAR, section 5, which retrieves with it from the whole corpus: `colbert(depth=none)`. The encoding is that
of sentence-transformers; over a whole collection the vectors are kept on disk and compared exactly (`token_index`).
"""

import hashlib
import json
from collections.abc import Sequence
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
from pydantic import Field

from kgrag.retrieval.base import Query, Retriever, Scored
from kgrag.retrieval.second_stage import ONE_AT_A_TIME, rank_again, rank_step, text_of
from kgrag.retrieval.token_index import Matrix, open_index
from kgrag.runtime.options import Options
from kgrag.values.errors import ConfigurationError
from kgrag.values.installing import install_hint

_PLAIN = {"convert_to_numpy": True, "show_progress_bar": False}
_PART = 1000  # passages that a filter is tried on at once


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
    most: int = Field(
        50_000, ge=1, le=1_000_000, description="passages of a collection that may all be ranked: 25 KB each on disk"
    )


class Colbert(Retriever):
    """The passages of a collection, or another retriever's best, in the order of a late-interaction model."""

    name = "colbert"
    summary = "late interaction over another's best passages, or with depth=none over all (extra: colbert)"
    paper = "ColBERTv2; GEAR, section 6.1"
    options = ColbertOptions
    over = ("hybrid",)
    needs = "the extra colbert and a model"
    settings: ColbertOptions

    def rank(self, query: Query, n: int) -> list[Scored]:
        """See Retriever; scores are MaxSim. Passages beyond the base's best `depth` are not looked at.

        Raises ConfigurationError when sentence-transformers is not installed, the model cannot be loaded, or the
        collection holds too many passages to rank them all, InputError when their vectors cannot be kept.
        """
        s = self.settings
        if s.depth is None:
            return self._rank_all(query, n)
        return rank_again(self, query, s.depth, n, lambda texts: max_sim(s.model, query.text, texts))

    def _rank_all(self, query: Query, n: int) -> list[Scored]:
        """The best of the whole collection; its token vectors are brought up to date first."""
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
            found = reader.passages(ids)
            return [np.asarray(v) for v in encoder.encode_document([text_of(found[id]) for id in ids], **_PLAIN)]

        digest = hashlib.blake2b(f"{s.model}\0{name}".encode(), digest_size=8).hexdigest()
        with ONE_AT_A_TIME:
            state = reader.row("retrieve/corpus_state", collection=name)["state"]
            index = open_index(self.context.cache / "late-interaction" / digest, state, listed, encode)
            asked = np.asarray(encoder.encode_query([query.text], **_PLAIN)[0])
        scores = index.scores(asked)
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
    """The late-interaction score of each text. Raises ConfigurationError when there is no such model."""
    with ONE_AT_A_TIME:
        encoder = _loaded(model)
        asked = encoder.encode_query([question], show_progress_bar=False)
        scores = encoder.similarity(asked, encoder.encode_document(texts, show_progress_bar=False))
        return [float(score) for score in scores[0]]


@cache
def _loaded(name: str) -> Any:
    try:
        from sentence_transformers import MultiVectorEncoder
    except ImportError as error:
        raise ConfigurationError(
            "The retriever colbert needs sentence-transformers 6 or later.", f"Install it: {install_hint('colbert')}"
        ) from error
    try:
        encoder = MultiVectorEncoder(name)
        if not _was_trained_for_it(name):
            raise ValueError("it has no projection of its token vectors, so it was not trained for late interaction")
        return encoder
    except Exception as error:  # the hub's errors have no common type
        raise ConfigurationError(
            f"The late-interaction model {name!r} cannot be loaded: {error}",
            "Name a ColBERT model or give the path of a saved one: "
            "colbert(hybrid, model='colbert-ir/colbertv2.0'), or KGRAG_RETRIEVAL__COLBERT__MODEL.",
        ) from error


def _was_trained_for_it(name: str) -> bool:
    """Whether a model brings its projection; else the library draws one at random, and says so only in its log."""
    from sentence_transformers.util import load_file_path

    def read(file: str) -> Any:
        path = load_file_path(name, file)
        return json.loads(Path(path).read_text(encoding="utf-8")) if path else None

    modules = {module["type"].rsplit(".")[-1] for module in read("modules.json") or []}
    architectures = (read("config.json") or {}).get("architectures") or []
    return bool(modules & {"Dense", "MultiVectorMask"}) or any(
        name == "HF_ColBERT" or name.endswith("ForRetrieval") for name in architectures
    )
