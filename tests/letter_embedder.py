"""A small embedder with another dimension."""

from collections.abc import Sequence

import numpy as np

from kgrag.models.embed import Vectors, unit


class LetterEmbedder:
    """Letter counts: a small embedder with another dimension that can be told to fail."""

    def __init__(self, fail_after: int | None = None, name: str = "letters") -> None:
        self.name = name
        self.dimension = 32
        self.texts = 0
        self.fail_after = fail_after

    def embed(self, texts: Sequence[str]) -> Vectors:
        if self.fail_after is not None and self.texts >= self.fail_after:
            raise ConnectionError("the embedder is gone")
        self.texts += len(texts)
        rows = np.zeros((len(texts), self.dimension), np.float32)
        for row, text in zip(rows, texts, strict=True):
            for c in text.lower():
                row[ord(c) % self.dimension] += 1
        return unit(rows)
