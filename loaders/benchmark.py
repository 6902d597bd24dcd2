"""Benchmark folders: the passages of corpus.jsonl with the triples that triples.jsonl gives for them."""

import hashlib
from array import array
from collections.abc import Iterator
from dataclasses import replace
from typing import Any, BinaryIO

import numpy as np

from kgrag.loaders.base import BadInput, Item, Source, check_binary, find_bom, one_line, open_file
from kgrag.loaders.jsonl import BLANK, load_jsonl, parse_line, read_lines
from kgrag.loaders.named_rows import CORPUS, Columns, row_key
from kgrag.values.documents import Document, Problem, Triple

TRIPLES, QUERIES = "triples.jsonl", "queries.jsonl"


def load_benchmark(corpus: Source, triples: Source, columns: Columns) -> Iterator[Item]:
    """Yield the rows of `corpus`, each with the triples that `triples` gives for its id. Raises BadInput."""
    try:
        file = open_file(triples)
    except (BadInput, OSError) as error:
        yield Problem(triples.shown, f"cannot be read: {error}")
        yield from load_jsonl(corpus, columns)
        return
    with file:
        index = TripleIndex(file, triples)
        yield from index.build()
        for item in load_jsonl(corpus, columns):
            yield replace(item, triples=index.find(item.key)) if isinstance(item, Document) else item
        yield from index.unused()


class TripleIndex:
    """Where in a file the triples of each passage stand: some 40 bytes for each run of lines about one passage."""

    def __init__(self, file: BinaryIO, source: Source) -> None:
        self._file = file
        self._source = source
        self._hashes, self._starts, self._lines, self._counts = (array("Q") for _ in range(4))

    def build(self) -> Iterator[Problem]:
        """Read the file once; yields a Problem for each line that holds no triple."""
        sample = self._file.read(4096)
        self._file.seek(0)
        try:
            check_binary(sample)
            if find_bom(sample) in ("utf-16", "utf-32"):
                raise BadInput("is not UTF-8; convert it with `iconv -f UTF-16 -t UTF-8 OLD > NEW`")
        except BadInput as error:
            yield Problem(self._source.shown, str(error))
        else:
            yield from self._scan()
        hashes = np.asarray(self._hashes)
        self._order = np.argsort(hashes, kind="stable")
        self._sorted = hashes[self._order]
        self._used = np.zeros(len(hashes), dtype=bool)

    def find(self, passage: str) -> tuple[Triple, ...]:
        """Return the triples of the passage with that id, in the order of the file."""
        wanted = np.uint64(_hash(passage))
        left, right = (int(np.searchsorted(self._sorted, wanted, side)) for side in ("left", "right"))
        runs = self._order[left:right]
        self._used[runs] = True
        return tuple(triple for run in runs for triple in self._read(int(run), passage))

    def unused(self) -> Iterator[Problem]:
        """Yield a Problem if some triples belong to no document of the corpus."""
        runs = np.flatnonzero(~self._used)
        if len(runs):
            count = sum(self._counts[run] for run in runs)
            yield Problem(
                f"{self._source.shown}:{self._lines[runs[0]]}",
                f"{count:,} triples name passages that {CORPUS} does not have, here the first of them",
            )

    def _scan(self) -> Iterator[Problem]:
        last = ""
        for number, offset, line in read_lines(self._file, self._source.limit):
            try:
                value = parse_line(line, self._source.limit)
                if value is BLANK:
                    continue
                passage, _ = _parse(value)
            except BadInput as error:
                yield Problem(f"{self._source.shown}:{number}", str(error))
                continue
            if passage == last:
                self._counts[-1] += 1
                continue
            last = passage
            for column, entry in (
                (self._hashes, _hash(passage)),
                (self._starts, offset),
                (self._lines, number),
                (self._counts, 1),
            ):
                column.append(entry)

    def _read(self, run: int, passage: str) -> Iterator[Triple]:
        self._file.seek(self._starts[run])
        left = self._counts[run]
        for _, _, line in read_lines(self._file, self._source.limit):
            try:
                value = parse_line(line, self._source.limit)
                of, triple = _parse(value)
            except BadInput:  # reported while the index was built
                continue
            if of != passage:  # another passage's run with the same hash
                return
            yield triple
            left -= 1
            if not left:
                return


def _parse(value: Any) -> tuple[str, Triple]:
    """Return the passage's id and the triple on a line. Raises BadInput."""
    if not isinstance(value, dict):
        raise BadInput("must be an object with passage, subject, predicate and object")
    passage = row_key(value.get("passage"))
    if not passage:
        raise BadInput("has no passage")
    parts = []
    for name in ("subject", "predicate", "object"):
        part = value.get(name)
        if isinstance(part, bool) or not isinstance(part, str | int | float) or not (part := one_line(str(part))):
            raise BadInput(f"has no {name}" if part in (None, "") else f"has a {name} that is not text")
        parts.append(part)
    return passage, Triple(*parts)


def _hash(text: str) -> int:
    return int.from_bytes(hashlib.blake2b(text.encode(), digest_size=8).digest(), "little")
