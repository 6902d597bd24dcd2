"""Load JSON Lines (one row a line), JSON files with a list of rows, and folders with corpus.jsonl and triples.jsonl."""

import codecs
import io
import json
from array import array
from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import replace
from typing import Any, BinaryIO

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
    hash_of,
    one_line,
    open_file,
    over_limit,
    read_text,
    repaired,
)
from kgrag.loaders.grid import with_head
from kgrag.loaders.named_rows import CORPUS, Columns, Row, flat, is_table, read_rows, row_key, tree
from kgrag.loaders.reading import Format
from kgrag.text.letters import word_lists
from kgrag.values.documents import Document, Problem, Table, Triple

_LISTS = word_lists("kgrag.loaders")
_HOLDERS = _LISTS["holders"]
"""Keys under which objects hold lists of other objects."""


def load_jsonl(source: Source, columns: Columns) -> Iterator[Item]:
    """Yield the rows of a JSON Lines file, one at a time. Raises BadInput."""
    with open_file(source) as file:
        sample = file.read(SAMPLE)
        file.seek(0)
        check_binary(sample)
        bom = find_bom(sample)
        if bom in ("utf-16", "utf-32"):
            text = io.TextIOWrapper(file, bom, errors="replace", newline="\n")
            yield from read_rows(source, columns, _rows(source, lambda size: text.readline(size).encode()))
        else:
            yield from read_rows(source, columns, _rows(source, file.readline))


def _rows(source: Source, readline: Callable[[int], bytes]) -> Iterator[Row | Problem]:
    empty = True
    for number, _, line in read_lines(readline, source.limit):
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
    """Yield the rows of a JSON file: a list, an object that holds one, or several values. Raises BadInput."""
    text = read_text(source)
    try:
        values = list(_sequence(text))
    except BadInput:
        with suppress(BadInput):
            parse(text.strip().split("\n")[0])  # if this succeeds, it is JSON Lines with a damaged line
            yield from load_jsonl(source, columns)
            return
        raise
    items = values if len(values) > 1 else values[0]
    more: dict[str, Any] = {}
    if isinstance(items, dict) and is_table(columns, tuple(items)):
        items, more = _contents(items)
    if items == []:
        raise BadInput("holds an empty list")
    if isinstance(items, list) and all(isinstance(item, list) for item in items):
        cells = [[one_line("" if cell is None else str(cell)) for cell in item] for item in items]
        width = max(map(len, cells))
        rows = with_head([row + [""] * (width - len(row)) for row in cells if any(row)], usual=True)
        yield Document(source.key, (), source.title, source.shown, tables=(Table(1, tuple(map(tuple, rows))),))
        return
    if isinstance(items, dict):
        items = [tree(items) if is_table(columns, tuple(items)) and _holds_objects(items) else items]
    if not isinstance(items, list):
        raise BadInput("must hold a list of objects, or of texts")
    texts = ({"text": item} if isinstance(item, str) else item for item in items)
    places = ((row, number, f"{source.shown}#{number}") for number, row in enumerate(texts, 1))
    for item in read_rows(source, columns, places):
        if isinstance(item, Document) and more:
            item = replace(item, metadata=dict(flat("file", more)) | dict(item.metadata))
        yield item


def _sequence(text: str) -> Iterator[Any]:
    """Yield the JSON values of a text; JSON Lines has several. Raises BadInput."""
    place, end = 0, len(text.rstrip())
    text = text.removeprefix("\ufeff")
    while place < end or not place:
        place += len(text[place:]) - len(text[place:].lstrip(" \t\r\n"))
        try:
            value, place = _DECODER.raw_decode(text, place)
        except json.JSONDecodeError as error:
            raise BadInput(f"is not valid JSON: {error.msg} (line {error.lineno}, column {error.colno})") from None
        except RecursionError:
            raise BadInput("is nested too deeply") from None
        yield value


def _contents(item: dict[str, Any]) -> tuple[Any, dict[str, Any]]:
    """Return the list of objects that an object wraps, and its other values; else the object itself."""
    more: dict[str, Any] = {}
    inner: Any = item
    while isinstance(inner, dict):
        lists = [name for name, value in inner.items() if isinstance(value, list | dict) and value]
        name = lists[0] if len(inner) == len(lists) == 1 else next((n for n in lists if n.lower() in _HOLDERS), None)
        if name is None:
            return item, {}
        more |= {other: value for other, value in inner.items() if other != name and value not in (None, "")}
        inner = inner[name]
        if isinstance(inner, list) and inner and all(isinstance(row, dict) for row in inner):
            return inner, more
    return item, {}


def _holds_objects(value: Any) -> bool:
    """Return whether some list in a value holds objects or lists, which a table cell shows badly."""
    if isinstance(value, dict):
        return any(map(_holds_objects, value.values()))
    return isinstance(value, list) and any(isinstance(item, dict | list) for item in value)


BLANK = object()
"""The result of `parse_line` for an empty line."""


def _mended(line: bytes | None) -> tuple[bytes | None, str]:
    """Return a line in UTF-8 with U+FFFD for damaged bytes, and a remark on them. Raises BadInput."""
    try:
        if line is not None:
            line.decode()
        return line, ""
    except UnicodeDecodeError:
        text, problem = repaired(line or b"")
        return text.encode(), problem


def read_lines(readline: Callable[[int], bytes], limit: int) -> Iterator[tuple[int, int, bytes | None]]:
    """Yield each line as (number from 1, byte offset, bytes); `readline(n)` returns up to n bytes of the next line.

    A line of more than `limit` bytes is yielded as None and never held in memory.
    """
    number = offset = 0
    while line := readline(limit + 1):
        number += 1
        start = offset
        offset += len(line)
        if len(line) <= limit or line.endswith(b"\n"):
            yield number, start, line
            continue
        del line
        while rest := readline(SAMPLE):
            offset += len(rest)
            if rest.endswith(b"\n"):
                break
        yield number, start, None


def parse_line(line: bytes | None, limit: int) -> Any:
    """Return the value on a line from `read_lines`, or BLANK. Raises BadInput."""
    if line is None:
        raise BadInput(over_limit("row", limit))
    line = line.removeprefix(codecs.BOM_UTF8).strip()
    if not line:
        return BLANK
    try:
        text = line.decode()
    except UnicodeDecodeError:
        raise BadInput(f"is not UTF-8{bad_byte(line)} of the line; {HOW_TO_CONVERT}") from None
    return parse(text)


def parse(text: str) -> Any:
    """Parse JSON; NaN and infinity become None, integers beyond 64 bits become text. Raises BadInput."""
    try:
        return _DECODER.decode(text)
    except json.JSONDecodeError as error:
        raise BadInput(f"is not valid JSON: {error.msg} (column {error.colno})") from None
    except RecursionError:
        raise BadInput("is nested too deeply") from None


def _integer(text: str) -> int | str:
    # longer numbers are not parsed at all, since Python refuses more than 4,300 digits
    number = int(text) if len(text) <= 20 else None
    return number if number is not None and -(2**63) <= number < 2**63 else text


_DECODER = json.JSONDecoder(strict=False, parse_int=_integer, parse_constant=lambda _: None)

JSONL = Format(
    "JSON Lines file", (".jsonl", ".ndjson"), lambda source, reading: load_jsonl(source, reading.columns), version=3
)
JSON = Format("JSON file", (".json",), lambda source, reading: load_json(source, reading.columns), version=3)


TRIPLES, QUERIES = "triples.jsonl", "queries.jsonl"


def load_benchmark(corpus: Source, triples: Source, columns: Columns) -> Iterator[Item]:
    """Yield the rows of `corpus`, each with the triples of its id in `triples`. Raises BadInput."""
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
    """An index of the triples of each passage in a file, with about 40 bytes for each run of lines on one passage."""

    def __init__(self, file: BinaryIO, source: Source) -> None:
        self._file = file
        self._source = source
        self._runs = array("Q")  # per run: hash of the passage, byte offset, first line, number of lines

    def build(self) -> Iterator[Problem]:
        """Index the file; yields a Problem for each line without a triple."""
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
        self._table = np.asarray(self._runs).reshape(-1, 4)
        hashes = self._table[:, 0]
        self._order = np.argsort(hashes, kind="stable")
        self._sorted = hashes[self._order]
        self._used = np.zeros(len(hashes), dtype=bool)

    def find(self, passage: str) -> tuple[Triple, ...]:
        """Return the triples of the passage with this id, in file order."""
        target = np.uint64(hash_of(passage.encode()))
        left, right = (int(np.searchsorted(self._sorted, target, side)) for side in ("left", "right"))
        runs = self._order[left:right]
        self._used[runs] = True
        return tuple(triple for run in runs for triple in self._read(int(run), passage))

    def unused(self) -> Iterator[Problem]:
        """Yield a Problem if some triples match no document of the corpus."""
        runs = np.flatnonzero(~self._used)
        if len(runs):
            count = self._table[runs, 3].sum()
            message = f"{count:,} triples name passages that {CORPUS} does not have, here the first of them"
            yield Problem(f"{self._source.shown}:{self._table[runs[0], 2]}", message)

    def _scan(self) -> Iterator[Problem]:
        last = ""
        for number, offset, line in read_lines(self._file.readline, self._source.limit):
            try:
                value = parse_line(line, self._source.limit)
                if value is BLANK:
                    continue
                passage, _ = _parse(value)
            except BadInput as error:
                yield Problem(f"{self._source.shown}:{number}", str(error))
                continue
            if passage == last:
                self._runs[-1] += 1
            else:
                last = passage
                self._runs.extend((hash_of(passage.encode()), offset, number, 1))

    def _read(self, run: int, passage: str) -> Iterator[Triple]:
        _, start, _, left = map(int, self._table[run])
        self._file.seek(start)
        for _, _, line in read_lines(self._file.readline, self._source.limit):
            try:
                of, triple = _parse(parse_line(line, self._source.limit))
            except BadInput:  # reported while the index was built
                continue
            if of != passage:  # a hash collision with another passage
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
