"""Turn rows of named columns, from any kind of file, into Documents."""

import hashlib
import json
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain, islice
from typing import Any

from kgrag.loaders.base import MB, BadInput, Item, Source, check_depth, clean, clean_value, one_line, plain
from kgrag.loaders.grid import with_head
from kgrag.values.documents import Document, Problem, Section, Table

CORPUS = "corpus.jsonl"
"""The file of a benchmark's passages; its triples and questions refer to their ids."""

_SENTENCE = re.compile(r"\w\s+\w")
_ID = re.compile(r"[0-9a-fA-F-]{16,}")
_LONG = 300  # characters of JSON in a cell
_FIRST = 100  # rows that are inspected to recognise a table
_COMMON = {
    "key": ("id", "_id", "key", "doc_id", "docid", "document_id", "passage_id", "pid", "uuid"),
    "title": ("title", "name", "headline", "heading"),
    "text": tuple("text page_content body content contents passage paragraph article document abstract".split()),
}


@dataclass(frozen=True, slots=True)
class Columns:
    r"""The columns that hold a row's key, title and text.

    Common names match in any case; lower case wins over capitals. The ids in a column named by `key` identify documents
    in the whole collection; ids in a detected column identify rows of their file only. Other columns become metadata.

    Attributes:
        key: the column of the key; None: the first common name found.
        title: the column of the title; None: the first common name found.
        text: the column of the text, or several, separated by commas, whose values become lines, "name: Ada"; None: the
            first common name found.

    Example:
        >>> Path("people.csv").write_text("nr,who,bio\n1,Ada,She wrote programs.\n")
        37
        >>> columns = Columns(key="nr", title="who", text="bio")
        >>> [document.title for document in load("people.csv", columns=columns)]
        ['Ada']
    """

    key: str | None = None
    title: str | None = None
    text: str | None = None

    @property
    def code(self) -> str:
        """A code that is unique to these names; empty if no name is given."""
        named = "\x1f".join(name or "" for name in (self.key, self.title, self.text))
        return f".{hashlib.blake2b(named.encode(), digest_size=4).hexdigest()}" if named.strip("\x1f") else ""

    def find(self, what: str, names: tuple[str, ...]) -> str | None:
        """Return the column that holds a row's key, title or text.

        Args:
            what: "key", "title" or "text".
            names: all columns.

        Returns:
            One of `names`; None if there is no key or title.

        Raises:
            BadInput: a named column or the text column is missing; the message lists the names and the remedy.
        """
        preferred: str | None = getattr(self, what)
        if preferred is not None and (
            preferred in names or (what == "text" and set(_several(preferred)) <= set(names))
        ):
            return preferred
        if preferred is None:
            # a file may have both "text" and "TEXT": an exact match wins, else the first one
            by_name = {name.lower(): name for name in reversed(names)} | {name: name for name in names}
            match = next((by_name[common] for common in _COMMON[what] if common in by_name), None)
            if match is not None or what != "text":
                return match
        missing = f"no column {preferred!r}" if preferred is not None else "no column for the text"
        raise BadInput(
            f"has {missing}; its columns are {_listed(names)}. "
            f"Name the one that holds the {what} with --{what}-column, in Python with Columns({what}=...)"
        )


def is_table(columns: Columns, names: tuple[str, ...]) -> bool:
    """Return whether rows with these columns are a table: `columns` names none, and there is no column for the text."""
    return not columns.code and not any(name.lower() in _COMMON["text"] for name in names)


class RowTable:
    """The rows of a file without a column for the text: one document with a table."""

    def __init__(self, source: Source, names: Iterable[str] = ()) -> None:
        """Begin a table with the columns `names`; rows may add further ones."""
        self._source = source
        self._names: dict[str, None] = dict.fromkeys(names)
        self._rows: list[dict[str, str]] = []
        self._left = source.limit

    def add(self, row: Mapping[str, Any]) -> None:
        """Add a row of any values. Raises BadInput if there are too many."""
        self.add_texts(_cells(clean_value(dict(row))))

    def add_texts(self, texts: Iterable[tuple[str, str]]) -> None:
        """Add a row of names and single-line texts. Raises BadInput if there are too many."""
        cells = {name: text for name, text in texts if text}
        self._left -= sum(map(len, cells.values()))
        if self._left < 0:
            raise BadInput(
                f"has no column for the text, and is a table of more than {self._source.limit // MB} MB: split it, or "
                "name the column that holds the text with --text-column, in Python with Columns(text=...)"
            )
        self._names |= dict.fromkeys(cells)
        self._rows.append(cells)

    def document(self, head: Sequence[str] = (), above: str = "") -> Document:
        """Return the document. Raises BadInput if it has no rows.

        Args:
            head: a first row that may be the header; empty: the names of the columns are the header.
            above: the text above the table.
        """
        rows = [[row.get(name, "") for name in self._names] for row in self._rows if row or head]
        if not rows:
            raise BadInput("has no column for the text, and no rows")
        rows = with_head([head, *rows], usual=True) if head else [list(self._names), *rows]
        source, sections = self._source, (Section(above),) if above else ()
        return Document(source.key, sections, source.title, source.shown, tables=(Table(1, tuple(map(tuple, rows))),))


def _cells(value: Any, name: str = "") -> Iterator[tuple[str, str]]:
    """Yield the values in a row with their names; nested objects have names such as "address.city"."""
    if isinstance(value, dict):
        for key, inner in value.items():
            yield from _cells(inner, f"{name}.{key}" if name else key)
    elif isinstance(value, list):
        plain = all(not isinstance(item, list | dict) for item in value)
        yield name, one_line(", ".join(map(_as_text, value)) if plain else json.dumps(value, ensure_ascii=False))
    else:
        yield name, one_line(_as_text(value))


def tree(item: Mapping[str, Any]) -> dict[str, Any]:
    """Return a nested object as a row: its own values, and a text of all values with their names."""
    own = {name: value for name, value in item.items() if not isinstance(value, list | dict)}
    return own | {"text": nested_text(dict(item))}


def nested_text(value: Any) -> str:
    """Return a nested value as text: one line per value, "specs.weight: 4.5", one paragraph per object of a list."""
    return re.sub(r"\n{3,}", "\n\n", "\n".join(_lines(value))).strip()


def _lines(value: Any, name: str = "", depth: int = 0) -> Iterator[str]:
    """Yield the lines of a nested value; an empty line separates objects. Raises BadInput."""
    check_depth(depth)
    if isinstance(value, dict):
        for key, inner in value.items():
            if _ID.fullmatch(str(key)):  # a map from ids to objects
                yield ""
                yield from _lines(inner, name, depth + 1)
            else:
                yield from _lines(inner, f"{name}.{key}" if name else str(key), depth + 1)
    elif isinstance(value, list) and not any(isinstance(item, list | dict) for item in value):
        texts = [text for item in value if (text := _as_text(item).strip())]
        lines = texts if any(_SENTENCE.search(text) for text in texts) or not name else [", ".join(texts)]
        for text in filter(None, lines):
            yield f"{name}: {text}" if name else f"\n{text}"
    elif isinstance(value, list) and all(isinstance(item, str) or _is_span(item) for item in value):
        yield from _lines("".join(item if isinstance(item, str) else item["text"] for item in value), name, depth + 1)
    elif isinstance(value, list):
        for inner in value:
            yield ""
            yield from _lines(inner, name, depth + 1)
    elif text := _as_text(value).strip():
        yield f"{name}: {text}" if name else text


def _is_span(item: Any) -> bool:
    """Return whether an object is part of a line of text, like links and marks in exports of Telegram."""
    return (
        isinstance(item, dict) and {"type", "text"} <= item.keys() and isinstance(item["text"], str) and len(item) < 4
    )


def _is_deep(value: Any, depth: int = 0) -> bool:
    """Return whether a row is nested too deeply for the cells of a table."""
    if isinstance(value, dict):
        return depth > 2 or any(_is_deep(inner, depth + 1) for inner in value.values())
    objects = isinstance(value, list) and any(isinstance(item, list | dict) for item in value)
    return objects and (depth > 2 or len(json.dumps(value)) > _LONG)


def flat(name: str, value: Any) -> Iterator[tuple[str, Any]]:
    """Yield an entry of metadata; an object is flattened to entries such as "meta.author", for use in filters."""
    if isinstance(value, dict):
        for key, inner in value.items():
            yield from flat(f"{name}.{key}", inner)
    else:
        yield name, value


def _as_text(value: object) -> str:
    return "" if value is None else str(value).lower() if isinstance(value, bool) else str(value)


Row = tuple[object, int, str]
"""A row's values, the number of its line (or item), and its place."""


def read_rows(source: Source, columns: Columns, rows: Iterator[Row | Problem]) -> Iterator[Item]:
    """Yield the documents of rows: one per row, or one table if the first rows have no column for the text.

    Raises BadInput.
    """
    first = list(islice(rows, _FIRST))
    values = [entry[0] for entry in first if not isinstance(entry, Problem)]
    names = tuple({str(name): None for row in values if isinstance(row, dict) for name in row})
    every = all(isinstance(row, dict) for row in values)
    if names and every and is_table(columns, names) and any(map(_is_deep, values)):
        whole = (
            e if isinstance(e, Problem) or not isinstance(e[0], dict) else (tree(e[0]), *e[1:])
            for e in chain(first, rows)
        )
        first, rows, names = [], whole, ("text",)
    if not names or not every or source.path.name == CORPUS or not is_table(columns, names):
        yield from RowReader(source, columns).all(chain(first, rows))
        return
    table = RowTable(source)
    for entry in chain(first, rows):
        if isinstance(entry, Problem):
            yield entry
        elif isinstance(entry[0], dict):
            table.add(entry[0])
        else:
            yield Problem(entry[2], f"holds {_kind(entry[0])} where an object with columns is expected")
    yield table.document()


@dataclass(frozen=True, slots=True)
class _Layout:
    key: str | None
    title: str | None
    text: tuple[str, ...]
    rest: tuple[tuple[str, str], ...]  # (column, cleaned name)


class RowReader:
    """Makes Documents of the rows of one file."""

    def __init__(self, source: Source, columns: Columns) -> None:
        self._source = source
        self._columns = columns
        self._global_ids = columns.key is not None or source.path.name == CORPUS
        self._names: tuple[str, ...] | None = None
        self._layout: _Layout | None = None
        self._misfits = 0

    def all(self, rows: Iterable[Row | Problem]) -> Iterator[Item]:
        """Yield the documents of rows and their Problems in order, then remarks."""
        for entry in rows:
            if isinstance(entry, Problem):
                yield entry
            else:
                yield from self.read(*entry)
        yield from self.finish()

    def read(self, row: object, number: int, place: str) -> Iterator[Item]:
        """Yield the Document of a row, or a Problem; `number` is the line (or item) at which the row starts."""
        try:
            if not isinstance(row, dict):
                raise BadInput(f"holds {_kind(row)} where an object with columns is expected")
            layout = self.check(tuple(row))
            if layout is not None:
                yield self._document(row, layout, number)
        except BadInput as error:
            yield Problem(place, str(error))

    def finish(self) -> Iterator[Problem]:
        """Yield remarks after the last row."""
        if self._misfits > 1:
            yield Problem(self._source.shown, f"{self._misfits:,} rows were skipped for want of that column")

    def check(self, names: tuple[str, ...]) -> _Layout | None:
        """Return the layout of rows with these columns, or None if they are unreadable and were already reported.

        Raises BadInput if they are unreadable.
        """
        if names != self._names:
            columns = self._columns
            self._names, self._layout = names, None
            try:
                key, title, text = (columns.find(what, names) for what in ("key", "title", "text"))
            except BadInput:
                self._misfits += 1
                if self._misfits == 1:
                    raise
                return None
            assert text is not None
            # an exact name also wins in metadata: "a" over a name that becomes "a" when cleaned
            texts = (text,) if text in names else _several(text)
            others = {n: one_line(n) for n in names if n not in (key, title, *texts)}
            rest = tuple((n, label) for n, label in others.items() if label == n or label not in others)
            self._layout = _Layout(key, title, texts, rest)
        elif self._layout is None:
            self._misfits += 1
        return self._layout

    def _document(self, row: Mapping[str, Any], layout: _Layout, number: int) -> Document:
        text = plain(_text(row, layout.text)).strip()
        if not text:
            raise BadInput(f"has no text in column {', '.join(map(repr, layout.text))}")
        own = row_key(row[layout.key]) if layout.key is not None else ""
        named = row[layout.title] if layout.title is not None else None
        title = "" if named is None or isinstance(named, list | dict) else one_line(str(named))
        values = (entry for column, name in layout.rest for entry in flat(name, clean_value(row[column])))
        return Document(
            key=own if own and self._global_ids else f"{self._source.key}#{own or number}",
            sections=(Section(text),),
            # without the number, all rows would have the file's name as title and seem to be about one thing
            title=title or f"{self._source.title} {own or number}",
            source=f"{self._source.shown}#{number}",
            metadata={name: value for name, value in values if value is not None},
        )


def row_key(value: object) -> str:
    """Return a row's own id as text, or "" if it has none. Raises BadInput if the id is invalid."""
    if value is None:
        return ""
    if isinstance(value, str):
        return clean(value).strip()
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise BadInput(f"has {_kind(value)} as its id, which must be text or a number")
    return str(value)


def _several(names: str) -> tuple[str, ...]:
    return tuple(name.strip() for name in names.split(","))


def _text(row: Mapping[str, Any], columns: tuple[str, ...]) -> str:
    """Return the text of a column; several columns become lines of a name and a value, without empty ones."""
    if len(columns) == 1:
        return _value(row, columns[0])
    values = ((column, _value(row, column).strip()) for column in columns)
    return "\n".join(f"{column}: {value}" for column, value in values if value)


def _value(row: Mapping[str, Any], column: str) -> str:
    value = row[column]
    if value is None:
        return ""
    return nested_text(value) if isinstance(value, list | dict) else str(value)


def _kind(value: object) -> str:
    if isinstance(value, list):
        return "a list"
    if isinstance(value, dict):
        return "an object"
    return "nothing" if value is None else f"{str(value)[:40]!r}"


def _listed(names: tuple[str, ...], most: int = 30) -> str:
    text = ", ".join(one_line(name)[:80] or "(unnamed)" for name in names[:most])
    return (text or "(none)") + (f" and {len(names) - most} more" if len(names) > most else "")
