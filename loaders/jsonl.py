"""JSON Lines, one row a line, and JSON files that hold a list of rows."""

import codecs
import io
import json
import re
from collections.abc import Iterator
from typing import Any, BinaryIO, Protocol

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
    open_file,
    read_text,
    repaired,
)
from kgrag.loaders.named_rows import Columns, Row, is_table, read_rows, strings
from kgrag.loaders.reading import Format
from kgrag.values.documents import Problem

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
