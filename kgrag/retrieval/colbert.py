"""Late interaction (ColBERT): the passages of another retriever, ranked again word by word.

Question and passage are encoded apart, a vector a token; each token of the question counts with the cosine of the
passage's token nearest to it, and the score of a passage is their sum (MaxSim). Source: ColBERTv2, section 3.1; a
baseline of GEAR, section 5. The encoding and the scoring are those of sentence-transformers.
"""

import json
import threading
from functools import cache
from pathlib import Path
from typing import Any

from pydantic import Field

from kgrag.errors import ConfigurationError
from kgrag.options import Options
from kgrag.retrieval.base import Query, Retriever, Scored
from kgrag.types import Step

_ONE_AT_A_TIME = threading.Lock()  # one model, many threads: torch would fight over the cores


class ColbertOptions(Options):
    """Options of late interaction."""

    model: str = Field(
        "colbert-ir/colbertv2.0", description="late-interaction model: a name on the hub or a folder (GEAR, section 5)"
    )
    depth: int = Field(50, ge=1, description="passages of the other retriever that are ranked again")


class Colbert(Retriever):
    """The best passages of another retriever in the order of a late-interaction model."""

    name = "colbert"
    summary = "another's best passages, ranked again by late interaction (extra: colbert)"
    paper = "ColBERTv2; GEAR, section 6.1"
    options = ColbertOptions
    over = ("hybrid",)
    needs = "kgrag[colbert] and a model"
    settings: ColbertOptions

    def rank(self, query: Query, n: int) -> list[Scored]:
        """See Retriever; scores are MaxSim. Passages beyond the base's best `depth` are not looked at.

        Raises ConfigurationError when sentence-transformers is not installed or the model cannot be loaded.
        """
        s = self.settings
        found = self.parts[0].rank(query, s.depth)
        passages = self.context.reader.passages([hit.id for hit in found])
        found = [hit for hit in found if hit.id in passages]
        if not found:
            return []
        texts = [f"{passages[hit.id].title}\n{passages[hit.id].text}".strip() for hit in found]
        scores = dict(zip([hit.id for hit in found], max_sim(s.model, query.text, texts), strict=True))
        best = sorted(found, key=lambda hit: (-scores[hit.id], hit.id))[:n]
        return [
            Scored(hit.id, scores[hit.id], (*hit.why, Step(f"colbert rank {rank}", "Passage", "", scores[hit.id])))
            for rank, hit in enumerate(best, 1)
        ]


def max_sim(model: str, question: str, texts: list[str]) -> list[float]:
    """The late-interaction score of each text. Raises ConfigurationError when there is no such model."""
    with _ONE_AT_A_TIME:
        encoder = _load(model)
        asked = encoder.encode_query([question], show_progress_bar=False)
        scores = encoder.similarity(asked, encoder.encode_document(texts, show_progress_bar=False))
        return [float(score) for score in scores[0]]


@cache
def _load(name: str) -> Any:
    try:
        from sentence_transformers import MultiVectorEncoder
    except ImportError as error:
        raise ConfigurationError(
            "The retriever colbert needs sentence-transformers 6 or later.", "Install it: pip install 'kgrag[colbert]'."
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
