"""The result of a Cypher statement: rows of plain values, with nodes, edges and paths of the graph among them."""

import json
import re
from collections.abc import Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass, fields
from typing import TYPE_CHECKING, Any

from kgrag.values.forms import read
from kgrag.values.html_table import html_table
from kgrag.values.installing import require_extra

if TYPE_CHECKING:
    import pandas as pd  # type: ignore[import-untyped]

_NUMBERED = re.compile(r"_c\d+$")
_MOMENT = re.compile(r"\d{4}-\d\d-\d\d(T\d\d:\d\d(:\d\d(\.\d+)?)?(Z|[+-]\d\d:\d\d)?)?")
_OFFSET = re.compile(r"T.*(Z|[+-]\d\d:\d\d)$")


@dataclass(frozen=True, slots=True)
class Node:
    """A node of the graph in a result.

    Attributes:
        element: the database's id, valid within one result.
        labels: all labels.
        properties: name -> value.

    Example:
        >>> row = next(iter(collection.cypher("MATCH (d:Document {collection: $collection}) RETURN d LIMIT 1")))
        >>> row["d"].kinds
        ('Document',)
    """

    element: str
    labels: tuple[str, ...]
    properties: Mapping[str, Any]

    @property
    def kinds(self) -> tuple[str, ...]:
        """The labels without Kgrag and those of one collection, such as Passage_c7."""
        others = {label: {*self.labels, "Kgrag"} - {label} for label in self.labels if label != "Kgrag"}
        return tuple(label for label in others if _NUMBERED.sub("", label) not in others[label])


@dataclass(frozen=True, slots=True)
class Edge:
    """A relationship of the graph in a result.

    Attributes:
        element: the database's id, valid within one result.
        type: such as MENTIONS.
        start: the `element` of the node where it begins.
        end: the `element` of the node where it ends.
        properties: name -> value.

    Example:
        >>> row = next(iter(kg.cypher("MATCH (:Document)-[e:HAS_PASSAGE]->() RETURN e LIMIT 1")))
        >>> row["e"].type
        'HAS_PASSAGE'
    """

    element: str
    type: str
    start: str
    end: str
    properties: Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Path:
    """A path of the graph in a result.

    Attributes:
        nodes: in order.
        edges: those between them, one fewer than nodes, each in its stored direction.

    Example:
        >>> row = next(iter(kg.cypher("MATCH p = (:Document)-[:HAS_PASSAGE]->() RETURN p LIMIT 1")))
        >>> len(row["p"].nodes), len(row["p"].edges)
        (2, 1)
    """

    nodes: tuple[Node, ...]
    edges: tuple[Edge, ...]


@dataclass(frozen=True, slots=True)
class Rows:
    """The result of a statement; iterates over its rows as maps.

    Attributes:
        columns: names.
        values: a tuple a row, of None, bool, int, float, str, list, dict, Node, Edge or Path; dates, times, durations
            and points are text.
        cut: why rows are missing, None if none are.
        seconds: duration, as the caller saw it.
        notes: names of the statement that do not occur in the database.

    Example:
        >>> rows = kg.cypher("UNWIND [1, 2] AS n RETURN n, n * n AS square")
        >>> list(rows)
        [{'n': 1, 'square': 1}, {'n': 2, 'square': 4}]
    """

    columns: tuple[str, ...]
    values: tuple[tuple[Any, ...], ...]
    cut: str | None = None
    seconds: float = 0.0
    notes: tuple[str, ...] = ()

    @classmethod
    def __get_pydantic_core_schema__(cls, source: Any, handler: Any) -> Any:
        """Write rows as `RowsForm`, and read them from it."""
        from pydantic_core import core_schema

        form = handler.generate_schema(RowsForm)
        writer = core_schema.plain_serializer_function_ser_schema(_form, return_schema=form)
        return core_schema.no_info_after_validator_function(_rows, form, serialization=writer)

    def __len__(self) -> int:
        return len(self.values)

    def __iter__(self) -> Iterator[dict[str, Any]]:
        """Iterate over the rows.

        Returns:
            Each row as a map from column to value.
        """
        return (dict(zip(self.columns, row, strict=True)) for row in self.values)

    def to_df(self, *, expand: bool = False, parse_dates: bool = True) -> "pd.DataFrame":
        """Return the rows as a data frame of pandas.

        Args:
            expand: whether a node, a relationship or a map becomes a column for each property, such as `d.title`, and
                `d.labels` or `e.type`.
            parse_dates: whether columns of days and moments alone become timestamps, in UTC if one has an offset.

        Returns:
            The data frame.

        Raises:
            ConfigurationError: pandas is not installed.
        """
        with require_extra("interop", "Data frames need pandas."):
            import pandas as pd
        rows = [dict(pair for one in row.items() for pair in (_expanded(*one) if expand else (one,))) for row in self]
        table = pd.DataFrame(rows, columns=list(dict.fromkeys(key for row in rows for key in row) or self.columns))
        for column in table if parse_dates else ():
            texts = table[column].dropna()
            if len(texts) and all(isinstance(text, str) and _MOMENT.fullmatch(text) for text in texts):
                offset = any(_OFFSET.search(text) for text in texts)
                with suppress(ValueError):  # a year that pandas does not reach
                    table[column] = pd.to_datetime(table[column], format="ISO8601", utc=offset)
        return table

    def _repr_html_(self) -> str:
        return html_table(self.columns, (map(cell, row) for row in self.values), filter(None, (self.cut, *self.notes)))


@dataclass(frozen=True, slots=True)
class RowsForm:
    """The JSON form of rows: each is an object, column -> value. `cut` says why rows are missing, if they are."""

    columns: tuple[str, ...]
    rows: list[dict[str, Any]]
    cut: str | None = None
    seconds: float = 0.0
    notes: tuple[str, ...] = ()


def _form(rows: Rows) -> RowsForm:
    return RowsForm(rows.columns, list(rows), rows.cut, round(rows.seconds, 4), rows.notes)


def _rows(form: RowsForm) -> Rows:
    values = tuple(tuple(_value(row.get(column)) for column in form.columns) for row in form.rows)
    return Rows(form.columns, values, form.cut, form.seconds, form.notes)


def _value(value: Any) -> Any:
    """Return a value of a row; the fields of an object tell whether it is a node, an edge or a path."""
    if isinstance(value, list):
        return [_value(item) for item in value]
    if isinstance(value, dict):
        kind = next((k for k in (Node, Edge, Path) if value.keys() == {field.name for field in fields(k)}), None)
        return {key: _value(item) for key, item in value.items()} if kind is None else read(kind, value)
    return value


def _expanded(column: str, value: Any) -> Iterator[tuple[str, Any]]:
    """Yield the columns of a value, and their values."""
    if isinstance(value, Node | Edge):
        yield (f"{column}.labels", value.kinds) if isinstance(value, Node) else (f"{column}.type", value.type)
        value = value.properties
    entries = value.items() if isinstance(value, Mapping) else ()
    yield from ((f"{column}.{name}", entry) for name, entry in entries) if entries else [(column, value)]


def cell(value: Any) -> str:
    """Return a value as one text: nodes by their names, paths as Cypher draws them, lists of texts with semicolons."""
    if value is None:
        return ""
    if isinstance(value, Node | Edge | Path):
        return _as_pattern(value)
    if isinstance(value, list | tuple):
        if all(isinstance(item, Node | Edge | Path) for item in value) and value:
            return ", ".join(map(_as_pattern, value))
        if all(isinstance(item, str) for item in value):
            return "; ".join(value)
    if isinstance(value, list | tuple | dict):
        return json.dumps(value, ensure_ascii=False, default=_as_pattern)
    return str(value)


def _as_pattern(value: Any) -> str:
    """Return a node, an edge or a path as Cypher draws it: (Fram)<-[:MENTIONS]-(Tromsø)."""
    if isinstance(value, Node):
        return f"({value.properties.get('name') or ':'.join(value.labels)})"
    if isinstance(value, Edge):
        return f"-[:{value.type}]->"
    if not isinstance(value, Path):
        return str(value)
    text = _as_pattern(value.nodes[0])
    for before, edge, after in zip(value.nodes, value.edges, value.nodes[1:], strict=False):
        forward = edge.start == before.element
        text += f"-[:{edge.type}]->" if forward else f"<-[:{edge.type}]-"
        text += _as_pattern(after)
    return text
