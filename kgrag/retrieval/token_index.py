"""The token vectors of all passages of a collection on disk, so that late interaction can rank all of them, exactly.

A folder holds the vectors of all tokens as half floats, where each passage's begin, and the passages' ids. These are
hashes of what the passages hold: when the collection has changed, the vectors of passages that are still there are
kept, and only new ones are encoded.
"""

import json
import logging
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from tempfile import NamedTemporaryFile

import numpy as np
from filelock import FileLock
from numpy.typing import NDArray

from kgrag.values.errors import InputError

_LOG = logging.getLogger(__name__)
_BATCH = 256  # passages encoded at once
_BLOCK = 1 << 18  # tokens compared at once
Matrix = NDArray[np.float32]
Encode = Callable[[Sequence[str]], list[Matrix]]
"""Passage ids -> for each its vectors [tokens, d]."""


@dataclass(frozen=True, slots=True)
class TokenIndex:
    """`vectors` [tokens, d], memory-mapped; `starts` [passages + 1]: where those of each passage begin."""

    ids: tuple[str, ...]
    starts: NDArray[np.int64]
    vectors: NDArray[np.float16]

    def scores(self, question: Matrix) -> NDArray[np.float32]:
        """MaxSim [passages] of the question's vectors [words, d]: each with its best token, added up."""
        found = np.zeros(len(self.ids), np.float32)
        first = 0
        while first < len(self.ids):
            last = int(np.searchsorted(self.starts, self.starts[first] + _BLOCK, side="right")) - 1
            last = min(max(last, first + 1), len(self.ids))
            block = self.vectors[self.starts[first] : self.starts[last]].astype(np.float32) @ question.T
            best = np.maximum.reduceat(block, self.starts[first:last] - self.starts[first], axis=0)
            found[first:last] = best.sum(axis=1)
            first = last
        return found


def open_index(folder: Path, state: str, listed: Callable[[], Sequence[str]], encode: Encode) -> TokenIndex:
    """The index of that folder, brought up to date first unless it was made for this `state` of the collection.

    `listed`: the ids of all passages. Raises InputError when the folder cannot be written.
    """
    try:
        folder.mkdir(parents=True, exist_ok=True)
        with FileLock(folder / "lock"):
            kept = _load(folder)
            if kept is not None and kept[0] == state:
                return kept[1]
            ids = sorted(listed())
            _LOG.info("encoding the passages of a collection for late interaction: %d", len(ids))
            _write(folder, state, ids, None if kept is None else kept[1], encode)
            made = _load(folder)
    except OSError as error:
        raise InputError(
            f"The token vectors of the collection cannot be kept in {folder} ({error.strerror}).",
            "Name another folder with KGRAG_CACHE.",
        ) from error
    assert made is not None
    return made[1]


def _load(folder: Path) -> tuple[str, TokenIndex] | None:
    """The state that the index was made for, and the index; None when there is none."""
    try:
        about = json.loads((folder / "index.json").read_text(encoding="utf-8"))
        vectors = np.load(folder / about["vectors"], mmap_mode="r")
    except (FileNotFoundError, ValueError, KeyError):
        return None
    return about["state"], TokenIndex(tuple(about["ids"]), np.array(about["starts"], np.int64), vectors)


def _write(folder: Path, state: str, ids: Sequence[str], before: TokenIndex | None, encode: Encode) -> None:
    """Write the vectors of some passages into a file of their own, and then what names it; the old one goes."""
    known = {} if before is None else {id: i for i, id in enumerate(before.ids)}
    fresh = [id for id in ids if id not in known]
    made: dict[str, NDArray[np.float16]] = {}
    for start in range(0, len(fresh), _BATCH):
        part = fresh[start : start + _BATCH]
        made |= {id: its.astype(np.float16) for id, its in zip(part, encode(part), strict=True)}

    def of(id: str) -> NDArray[np.float16]:
        if before is None or id in made:
            return made[id]
        return before.vectors[before.starts[known[id]] : before.starts[known[id] + 1]]

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
