"""CSV: a folder with a file for each kind of node and edge, as `neo4j-admin database import full` reads them.

`kgrag.json` names the files; `neo4j-admin.args` holds the arguments of the import tool. What CSV cannot hold in the
type it has (an empty list, a list of texts that hold the delimiter) is JSON in a column of text, so `kgrag.json` says;
properties whose names cannot head a column are in one of their own.
"""

import json
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Any

from kgrag.exchange.form import Footer, Header, damaged, foreign, read_errors
from kgrag.graph.contents import EdgeRecord, Item, NodeRecord
from kgrag.graph.csv_files import ARRAY_DELIMITER, CsvField, FoundColumns, Table, array, can_head
from kgrag.graph.description import describe
from kgrag.graph.local.bulk import ARGUMENTS, Files, import_arguments
from kgrag.graph.property_values import JSON, VECTOR, from_json, kind, parsed, text, to_json, vector, vector_text
from kgrag.graph.schema import labels_of

MANIFEST = "kgrag.json"
_NUMBER = 1  # of the only collection in a database that the import tool makes
_FIELD = re.compile(r'"([^"]*(?:""[^"]*)*)"(?:,|\Z)|([^",]*)(?:,|\Z)')
_MORE = "kgrag_more"  # the column of properties whose names cannot head one
_PLAIN = ("long", "double", "boolean")


class CsvWriter:
    """Writes each kind of node and edge into files of its own, several where a property has several types."""

    def __init__(self, folder: Path, header: Header) -> None:
        self._folder = folder
        self._header = header
        self._parts: dict[tuple[Any, ...], list[_Part]] = {}

    def write(self, item: Item) -> None:
        """Write a node or an edge."""
        properties = {key: value for key, value in item.properties.items() if can_head(key)}
        if odd := {key: to_json(value) for key, value in item.properties.items() if key not in properties}:
            properties[_MORE] = odd
        if isinstance(item, NodeRecord):
            key: tuple[Any, ...] = (item.label, *item.labels)
            id = describe().node(item.label).key
            columns = [f"{id}:ID({item.label})"]
            fixed: list[object] = [properties.pop(id)]
            if item.label == "Collection":
                properties["number"] = _NUMBER
        else:
            key = (item.type, item.start[0], item.end[0])
            columns = [f":START_ID({item.start[0]})", f":END_ID({item.end[0]})"]
            fixed = [item.start[1], item.end[1]]
        parts = self._parts.setdefault((type(item), key), [])
        for part in parts:
            if (fields := part.columns.values(properties)) is not None:
                break
        else:
            name = "-".join(re.sub(r"\W", "_", word) for word in ((key[1], key[0], key[2]) if len(fixed) > 1 else key))
            part = _Part(self._folder, f"{name}{f'.{len(parts) + 1}' if parts else ''}", columns)
            parts.append(part)
            fields = part.columns.values(properties)
            assert fields is not None
        part.table.write(*fixed, *fields)

    def finish(self, footer: Footer) -> None:
        """Write the headers, and what names the files."""
        nodes: list[dict[str, Any]] = []
        edges: list[dict[str, Any]] = []
        schema = Table(self._folder, "Schema", ("id:ID(Schema)", "name", "collections:long"))
        schema.write("kgrag", "kgrag schema", _NUMBER)
        tables = [schema]
        labelled = [("Schema", (schema.header, schema.path))]
        typed = []
        for (of, key), parts in self._parts.items():
            for part in parts:
                row = part.close()
                tables.append(part.table)
                paths = (part.table.header, part.table.path)
                if of is NodeRecord:
                    nodes.append({"labels": key, **row})
                    labelled.append((":".join((*labels_of(key[0], _NUMBER), *key[1:])), paths))
                else:
                    edges.append({"type": key[0], "start": key[1], "end": key[2], **row})
                    typed.append((key[0], paths))
        schema.close()
        files = Files(labelled, typed, [t.path for t in tables if t.multiline], 4 * max(t.longest for t in tables))
        arguments = "".join(f"{argument}\n" for argument in import_arguments(files, self._folder))
        (self._folder / ARGUMENTS).write_text(arguments, encoding="utf-8")
        manifest = {"kgrag": self._header.plain(), "nodes": nodes, "edges": edges, "end": footer.plain()}
        content = json.dumps(manifest, indent=1, ensure_ascii=False)
        (self._folder / MANIFEST).write_text(f"{content}\n", encoding="utf-8")


class _Part:
    """A file of rows, its columns found as they come."""

    def __init__(self, folder: Path, name: str, columns: list[str]) -> None:
        self.table = Table(folder, name, columns)
        self.columns = FoundColumns(self.table, _field)

    def close(self) -> dict[str, Any]:
        """Write the header; returns what `kgrag.json` says of the file."""
        table, json = self.table, []
        for i, column in enumerate(table.columns):
            name, _, its = column.rpartition(":")
            if its == JSON:
                json.append(name)
                table.columns[i] = f"{name}:string"
        table.close()
        return {"file": table.path.name, "header": table.header.name, "rows": table.rows, "json": json}


def _field(key: str, value: Any) -> tuple[str, object]:
    if key == _MORE:
        return JSON, json.dumps(value, ensure_ascii=False)
    its = kind(key, value)
    if its == VECTOR:
        return its, CsvField(vector_text(value, ARRAY_DELIMITER))
    if its == "byte[]":
        return its, CsvField(ARRAY_DELIMITER.join(str(n - 256 if n > 127 else n) for n in value))
    if isinstance(value, list):
        joined = None if its == JSON else array([text(item) for item in value])
        if joined is None:
            return JSON, json.dumps(to_json(value), ensure_ascii=False)
        return its, CsvField(joined) if its.removesuffix("[]") in _PLAIN else joined
    return its, CsvField(text(value)) if its in _PLAIN else text(value)


@dataclass(frozen=True, slots=True)
class _Column:
    name: str
    type: str


class CsvReader:
    """Reads what CsvWriter wrote."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self.footer: Footer | None = None
        self.place = str(folder / MANIFEST)
        if not (folder / MANIFEST).is_file():
            raise foreign(str(folder))
        with read_errors(self.place):
            content = (folder / MANIFEST).read_text(encoding="utf-8")
        try:
            self._manifest = json.loads(content)
            self._files = [(row, True) for row in self._manifest["nodes"]]
            self._files += [(row, False) for row in self._manifest["edges"]]
            header, end = self._manifest["kgrag"], self._manifest["end"]
        except (ValueError, KeyError, TypeError) as error:
            raise damaged(self.place, "it cannot be read") from error
        self.header = Header.of(header, self.place)
        self._end = Footer.of(end, self.place)

    def __iter__(self) -> Iterator[Item]:
        """The nodes and edges. Raises InputError."""
        self.footer = None
        for row, is_node in self._files:
            yield from self._read(row, is_node)
        self.footer = self._end

    def _read(self, row: Mapping[str, Any], is_node: bool) -> Iterator[Item]:
        path = self._folder / Path(str(row["file"])).name
        self.place = str(path)
        with read_errors(self.place):
            columns = _columns(self._folder / Path(str(row["header"])).name, row["json"])
            with path.open(encoding="utf-8", newline="\n") as file:
                for number, fields in _records(file, path):
                    self.place = f"{path}:{number}"
                    try:
                        yield _node(row, columns, fields) if is_node else _edge(row, columns, fields)
                    except (ValueError, KeyError, IndexError) as error:
                        raise damaged(self.place, f"the row cannot be read ({error})") from error


def _columns(header: Path, json: list[str]) -> list[_Column]:
    names = header.read_text(encoding="utf-8").rstrip("\r\n").split(",")
    found = [_Column(name, its) for name, _, its in (column.rpartition(":") for column in names)]
    return [_Column(c.name, JSON) if c.name in json and c.type == "string" else c for c in found]


def _records(file: IO[str], path: Path) -> Iterator[tuple[int, list[str | None]]]:
    """Each row's first line and fields: what stands in quotes, else text, or None for nothing."""
    number = 0
    for line in file:
        number += 1
        first, parts, quotes = number, [line], line.count('"')
        while quotes % 2:
            more = file.readline()
            if not more:
                raise damaged(f"{path}:{first}", "the row is cut off")
            number += 1
            quotes += more.count('"')
            parts.append(more)
        record = "".join(parts)
        if not record.endswith("\n"):
            raise damaged(f"{path}:{first}", "the row is cut off")
        yield first, list(_fields(record[:-1].removesuffix("\r"), f"{path}:{first}"))


def _fields(record: str, place: str) -> Iterator[str | None]:
    at = 0
    while at < len(record):
        match = _FIELD.match(record, at)
        if match is None:
            raise damaged(place, f"the row cannot be read from character {at + 1} on")
        yield match[1].replace('""', '"') if match[1] is not None else match[2] or None
        at = match.end()


def _properties(columns: list[_Column], fields: list[str | None]) -> dict[str, Any]:
    if len(fields) > len(columns):
        raise ValueError(f"{len(fields)} fields, but {len(columns)} columns")
    properties: dict[str, Any] = {}
    for column, field in zip(columns, fields, strict=False):
        if column.name == _MORE and field is not None:
            properties |= {key: from_json(key, value) for key, value in json.loads(field).items()}
        elif field is not None:
            properties[column.name] = _value(column, field)
    return properties


def _value(column: _Column, field: str) -> Any:
    if column.type == JSON:
        return from_json(column.name, json.loads(field))
    if column.type == "string" or column.type.startswith("ID("):
        return field
    if column.type == VECTOR:
        return vector([float(n) for n in field.split(ARRAY_DELIMITER)])
    if column.type == "byte[]":
        return bytes(int(n) % 256 for n in field.split(ARRAY_DELIMITER))
    if column.type.endswith("[]"):
        return [parsed(column.type[:-2], part) for part in field.split(ARRAY_DELIMITER)]
    return parsed(column.type, field)


def _node(row: Mapping[str, Any], columns: list[_Column], fields: list[str | None]) -> NodeRecord:
    label, *labels = row["labels"]
    properties = _properties(columns, fields)
    if label == "Collection":
        properties.pop("number", None)
    return NodeRecord.of(label, properties, labels)


def _edge(row: Mapping[str, Any], columns: list[_Column], fields: list[str | None]) -> EdgeRecord:
    start, end = fields[:2]
    if start is None or end is None:
        raise ValueError("an end is missing")
    return EdgeRecord(row["type"], (row["start"], start), (row["end"], end), _properties(columns[2:], fields[2:]))
