"""Rows of large files, one by one: JSON Lines, JSON lists and objects, columns parted by tabs."""

import csv
import json
from codecs import BOM_UTF8
from collections.abc import Iterator
from pathlib import Path
from typing import Any, TextIO

from kgrag.values.errors import InputError

_BLOCK = 1 << 16  # bytes read at once
_LONGEST = 1 << 28  # characters of one column
Place = tuple[str, dict[str, Any]]
"""Where an object stands, "path:line" or "path#number", and the object."""


def json_lines(path: Path, form: str) -> Iterator[Place]:
    """Yield the objects of a JSON Lines file.

    Raises InputError with the line and the expected `form`.
    """
    with _opened(path, form) as file:
        yield from _lines(path, file, form)


def json_rows(path: Path, form: str) -> Iterator[Place]:
    """Yield the objects of a JSON Lines file, or of a JSON file with a list of them, read one by one.

    Raises InputError, naming the place and what was expected (`form`).
    """
    with _opened(path, form) as file:
        if _first_character(file) != "[":
            yield from _lines(path, file, form)
            return
        for number, (_, value) in enumerate(_streamed(path, file, form), 1):
            place = f"{path}#{number}"
            yield place, _object(place, value, form)


def json_pairs(path: Path, form: str) -> Iterator[tuple[str, Any]]:
    """Yield the names and values of a file with one large JSON object, read one by one. Raises InputError."""
    with _opened(path, form) as file:
        for name, value in _streamed(path, file, form):
            if name is None:
                raise InputError(f"{path}: not an object.", form)
            yield name, value


def tsv_rows(path: Path, form: str) -> Iterator[tuple[str, dict[str, str]]]:
    """Yield the rows of a file of columns separated by tabs, whose first line names them. Raises InputError."""
    csv.field_size_limit(_LONGEST)
    with _opened(path, form, newline="") as file:
        reader = csv.DictReader(file, delimiter="\t")
        try:
            for row in reader:
                yield (
                    f"{path}:{reader.line_num}",
                    {k: v for k, v in row.items() if isinstance(k, str) and isinstance(v, str)},
                )
        except csv.Error as error:
            raise InputError(f"{path}:{reader.line_num}: no table ({error}).", form) from error


def first_row(path: Path) -> dict[str, Any]:
    """Return the first object or row of a file, by which its format is recognised; {} if it has none."""
    try:
        if path.suffix.lower() == ".tsv":
            return dict(next(tsv_rows(path, ""), ("", {}))[1])
        with path.open(encoding="utf-8-sig") as file:
            if _first_character(file) not in ("[", "{"):
                return {}
            if _first_character(file) == "{" and len(file.readline(1 << 24)) == 1 << 24:
                return {}  # one large object
        return next(json_rows(path, ""), ("", {}))[1]
    except (InputError, OSError, UnicodeDecodeError):
        return {}


class _opened:  # noqa: N801 - reads as a verb in `with _opened(path):`
    """A file of text, whose errors while it is read become InputErrors."""

    def __init__(self, path: Path, form: str, newline: str | None = None) -> None:
        self._path, self._form = path, form
        try:
            self._file = path.open(encoding="utf-8-sig", newline=newline)
        except OSError as error:
            reason = "does not exist" if isinstance(error, FileNotFoundError) else f"cannot be read ({error.strerror})"
            raise InputError(f"{path} {reason}.", form) from error

    def __enter__(self) -> TextIO:
        return self._file

    def __exit__(self, kind: object, error: BaseException | None, trace: object) -> None:
        self._file.close()
        if isinstance(error, UnicodeDecodeError):
            raise InputError(f"{self._path} is not UTF-8 ({error.reason}).", "Save it as UTF-8.") from error
        if isinstance(error, OSError):
            raise InputError(f"{self._path} cannot be read ({error.strerror}).", self._form) from error


def _first_character(file: TextIO) -> str:
    """Return the first character that is no space, and rewind the file."""
    while (character := file.read(1)).isspace():
        pass
    file.seek(0)
    return character


def _lines(path: Path, file: TextIO, form: str) -> Iterator[Place]:
    for number, line in enumerate(file, 1):
        if line.strip():
            place = f"{path}:{number}"
            try:
                yield place, _object(place, json.loads(line, strict=False), form)
            except (ValueError, RecursionError) as error:
                raise InputError(f"{place}: not JSON ({error}).", form) from error


def _object(place: str, value: Any, form: str) -> dict[str, Any]:
    if not isinstance(value, dict):
        raise InputError(f"{place}: not an object.", form)
    return value


def _streamed(path: Path, file: TextIO, form: str) -> Iterator[tuple[str | None, Any]]:
    """Yield the items of a JSON list, or the names and values of an object, one by one. Raises InputError."""
    import ijson

    source = file.buffer
    if source.read(len(BOM_UTF8)) != BOM_UTF8:
        source.seek(0)
    name, number, depth, builder = None, 0, 0, ijson.ObjectBuilder()
    try:
        # not ijson.items: it keeps the path of each value, which is quadratic in how deep a damaged file is nested
        for event, value in ijson.basic_parse(source, use_float=True, buf_size=_BLOCK):
            depth -= event.startswith("end")
            if depth == 1 and event == "map_key":
                name = value
            elif depth:
                builder.event(event, value)
                if depth == 1 and not event.startswith("start"):
                    number += 1
                    yield name, builder.value
                    builder = ijson.ObjectBuilder()
            depth += event.startswith("start")
    except (ijson.JSONError, ValueError) as error:
        reason = " ".join(str(error).split())
        raise InputError(f"{path}#{number + 1}: not JSON ({reason}).", form) from error
