"""Rows of large files, one by one: JSON Lines, JSON lists and objects, columns parted by tabs."""

import csv
import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any, TextIO

from kgrag.errors import InputError

_NO_SPACE = re.compile(r"\S")
_BLOCK = 1 << 20  # characters read at once
_LONGEST = 1 << 28  # characters of one item before a file is taken to be something else
Place = tuple[str, dict[str, Any]]
"""Where an object stands, "path:line" or "path#number", and the object."""


def json_lines(path: Path, form: str) -> Iterator[Place]:
    """The objects of a JSON Lines file. Raises InputError, naming the line and what was expected (`form`)."""
    with _opened(path, form) as file:
        yield from _lines(path, file, form)


def json_rows(path: Path, form: str) -> Iterator[Place]:
    """The objects of a JSON Lines file, or of a JSON file that holds a list of them, read one by one.

    Raises InputError, naming the place and what was expected (`form`).
    """
    with _opened(path, form) as file:
        if _first_character(file) != "[":
            yield from _lines(path, file, form)
            return
        stream = _Stream(file, form, path)
        stream.skip("[")
        number = 0
        while stream.peek() != "]":
            number += 1
            place = f"{path}#{number}"
            yield place, _object(place, stream.value(place), form)
            stream.skip(",", optional=True)


def json_pairs(path: Path, form: str) -> Iterator[tuple[str, Any]]:
    """The names and values of a file that holds one large JSON object, read one by one. Raises InputError."""
    with _opened(path, form) as file:
        stream = _Stream(file, form, path)
        stream.skip("{")
        while stream.peek() != "}":
            name = stream.value(str(path))
            stream.skip(":")
            yield str(name), stream.value(f"{path}: {name!r}")
            stream.skip(",", optional=True)


def tsv_rows(path: Path, form: str) -> Iterator[tuple[str, dict[str, str]]]:
    """The rows of a file of columns parted by tabs, whose first line names them. Raises InputError."""
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
    """The first object or row of a file, by which its format is recognised; {} if it holds none."""
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
    """The first character that is no space; the file stands at its beginning afterwards."""
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


class _Stream:
    """Reads the values of a JSON file one after the other, without holding the file."""

    def __init__(self, file: TextIO, form: str, path: Path) -> None:
        self._file, self._form, self._path = file, form, path
        self._text, self._at = "", 0
        self._decoder = json.JSONDecoder(strict=False)

    def peek(self) -> str:
        """The next character that is no space."""
        while True:
            match = _NO_SPACE.search(self._text, self._at)
            if match:
                self._at = match.start()
                return match.group()
            self._text, self._at = self._file.read(_BLOCK), 0
            if not self._text:
                raise InputError(f"{self._path} ends too early.", self._form)

    def skip(self, character: str, optional: bool = False) -> None:
        """Pass over a character. Raises InputError if another one is there."""
        if self.peek() == character:
            self._at += 1
        elif not optional:
            found = self._text[self._at : self._at + 20]
            raise InputError(f"{self._path}: {character!r} is expected, not {found!r}.", self._form)

    def value(self, place: str) -> Any:
        """The next value; as much is read as it takes. Raises InputError."""
        self.peek()
        size = _BLOCK
        while True:
            try:
                value, self._at = self._decoder.raw_decode(self._text, self._at)
                return value
            except (ValueError, RecursionError) as error:
                more = self._file.read(size) if self._is_cut(error) else ""
                if not more:
                    raise InputError(f"{place}: not JSON ({error}).", self._form) from error
                self._text, self._at = self._text[self._at :] + more, 0
                size *= 2  # decoding a long value again and again would take the square of its length

    def _is_cut(self, error: Exception) -> bool:
        """Whether more text could mend a value, because it is wrong only where the text ends."""
        if not isinstance(error, json.JSONDecodeError) or len(self._text) > _LONGEST:
            return False
        return error.msg.startswith("Unterminated string") or error.pos > len(self._text) - 16
