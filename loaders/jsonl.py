"""JSON Lines, one row a line; JSON files that hold a list of rows; folders with corpus.jsonl and triples.jsonl."""

import codecs
import hashlib
import io
import json
import re
from array import array
from collections.abc import Iterator
from dataclasses import replace
from typing import Any, BinaryIO, Protocol

import numpy as np

from kgrag.loaders.base import (
    HOW_TO_CONVERT,
    SAMPLE,
    BadInput,
    EmptyInput,
    Item,
    Source,
    bad_byte,
    check_binary,
    find_bom,
    one_line,
    open_file,
    read_text,
    repaired,
)
from kgrag.loaders.named_rows import CORPUS, Columns, Row, is_table, read_rows, row_key, strings
from kgrag.loaders.reading import Format
from kgrag.values.documents import Document, Problem, Triple

_SENTENCE = re.compile(r"\w\s+\w")


def load_jsonl(source: Source, columns: Columns) -> Iterator[Item]:
    """Yield the rows of a JSON Lines file, one at a time. Raises BadInput."""
    with open_file(source) as file:
        sample = file.read(SAMPLE)
        file.seek(0)
        check_binary(sample)
        bom = find_bom(sample)
        stream: Lines = _Recoded(file, bom) if bom in ("utf-16", "utf-32") else file
        yield from read_rows(source, columns, _rows(source, stream))


def _rows(source: Source, stream: "Lines") -> Iterator[Row | Problem]:
    empty = True
    for number, _, line in read_lines(stream, source.limit):
        place = f"{source.shown}:{number}"
        try:
            line, problem = _mended(line)
            row = parse_line(line, source.limit)
        except BadInput as error:
            empty = False
            yield Problem(place, str(error))
            continue
        if problem:
            yield Problem(place, problem, lasting=True)
        if row is not BLANK:
            empty = False
            yield row, number, place
    if empty:
        raise EmptyInput()


def load_json(source: Source, columns: Columns) -> Iterator[Item]:
    """Yield the rows of a JSON file: a list of objects, or one object. Raises BadInput."""
    items = parse(read_text(source), whole=True)
    if items == []:
        raise BadInput("holds an empty list")
    if isinstance(items, dict):
        items = [items if not is_table(columns, tuple(items)) else _tree(items)]
    if not isinstance(items, list):
        raise BadInput("must hold a list of objects")
    places = ((row, number, f"{source.shown}#{number}") for number, row in enumerate(items, 1))
    yield from read_rows(source, columns, places)


def _tree(item: dict[str, Any]) -> dict[str, Any]:
    """Return an object of nested ones as a row, whose text is theirs, in order; unchanged where there is none."""
    nested = {name: value for name, value in item.items() if isinstance(value, dict | list)}
    texts = list(strings(list(nested.values())))
    if not any(_SENTENCE.search(text) for text in texts):  # settings, or measurements
        if nested:
            Columns().find("text", tuple(item))
        return item
    return {name: value for name, value in item.items() if name not in nested} | {"text": "\n\n".join(texts)}


BLANK = object()
"""What `parse_line` makes of a line without anything in it."""


class Lines(Protocol):
    """What lines of bytes are read from."""

    def readline(self, size: int = -1, /) -> bytes:
        """Return up to `size` bytes of the next line."""


def _mended(line: bytes | None) -> tuple[bytes | None, str]:
    """Return a line in UTF-8, U+FFFD for single damaged bytes, and a remark on them. Raises BadInput."""
    try:
        if line is not None:
            line.decode()
        return line, ""
    except UnicodeDecodeError:
        text, problem = repaired(line or b"")
        return text.encode(), problem


class _Recoded:
    """Lines of another encoding as UTF-8."""

    def __init__(self, file: BinaryIO, encoding: str) -> None:
        self._text = io.TextIOWrapper(file, encoding, errors="replace", newline="\n")

    def readline(self, size: int = -1, /) -> bytes:
        return self._text.readline(size).encode()


def read_lines(stream: Lines, limit: int) -> Iterator[tuple[int, int, bytes | None]]:
    """Yield each line as (number from 1, byte offset, bytes).

    A line of more than `limit` bytes is None, without holding it.
    """
    number = offset = 0
    while line := stream.readline(limit + 1):
        number += 1
        start = offset
        offset += len(line)
        if len(line) <= limit or line.endswith(b"\n"):
            yield number, start, line
            continue
        del line
        while rest := stream.readline(SAMPLE):
            offset += len(rest)
            if rest.endswith(b"\n"):
                break
        yield number, start, None


def parse_line(line: bytes | None, limit: int) -> Any:
    """Return the value on a line from `read_lines`, or BLANK. Raises BadInput."""
    if line is None:
        raise BadInput(f"is a row of more than {limit // (1024 * 1024)} MB; KGRAG_MAX_FILE_MB raises the limit")
    line = line.removeprefix(codecs.BOM_UTF8).strip()
    if not line:
        return BLANK
    try:
        text = line.decode()
    except UnicodeDecodeError:
        raise BadInput(f"is not UTF-8{bad_byte(line)} of the line; {HOW_TO_CONVERT}") from None
    return parse(text)


def parse(text: str, whole: bool = False) -> Any:
    """Return a JSON value; NaN and infinity are None, integers beyond 64 bits text. Raises BadInput."""
    try:
        return json.loads(text, strict=False, parse_int=_integer, parse_constant=lambda _: None)
    except json.JSONDecodeError as error:
        where = f"line {error.lineno}, column {error.colno}" if whole else f"column {error.colno}"
        raise BadInput(f"is not valid JSON: {error.msg} ({where})") from None
    except RecursionError:
        raise BadInput("is nested too deeply") from None


def _integer(text: str) -> int | str:
    # Longer ones are not even parsed: Python refuses more than 4,300 digits.
    number = int(text) if len(text) <= 20 else None
    return number if number is not None and -(2**63) <= number < 2**63 else text


JSONL = Format(
    "JSON Lines file", (".jsonl", ".ndjson"), lambda source, reading: load_jsonl(source, reading.columns), version=2
)
JSON = Format("JSON file", (".json",), lambda source, reading: load_json(source, reading.columns), version=2)


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
        target = np.uint64(text_hash(passage))
        left, right = (int(np.searchsorted(self._sorted, target, side)) for side in ("left", "right"))
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
                (self._hashes, text_hash(passage)),
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


def text_hash(text: str) -> int:
    """Hash a text to 64 bits."""
    return int.from_bytes(hashlib.blake2b(text.encode(), digest_size=8).digest(), "little")
