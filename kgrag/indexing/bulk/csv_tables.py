"""The tables of a bulk load as the CSV files that `neo4j-admin database import` reads."""

from collections.abc import Mapping, Sequence
from pathlib import Path

from kgrag.graph import schema
from kgrag.graph.csv_files import CsvField, FoundColumns, Lines, Table, floats
from kgrag.graph.local.bulk import Files
from kgrag.indexing.rows.columns import EDGES, NODES, TYPES
from kgrag.models.embed import Vectors

NUMBER = 1
"""Of the only collection in a database that was just imported."""


class CsvTables:
    """The tables of nodes and of relationships, each a file in a folder, or with `part` files of about that size."""

    two_steps = False
    lines = Lines

    def __init__(self, folder: Path, part: int | None = None) -> None:
        self.nodes = {label: Table(folder, label, columns, part) for label, columns in NODES.items()}
        self.edges = {
            kind: Table(folder, kind, (f":START_ID({start})", f":END_ID({end})", *more), part)
            for kind, (start, end, *more) in EDGES.items()
        }
        self._metadata = FoundColumns(self.nodes["Document"])

    def take(self, lines: Mapping[str, Lines]) -> None:
        """See Tables."""
        for name, its in lines.items():
            self._table(name).take(its)

    def write(self, table: str, *values: object) -> None:
        """See Tables."""
        self.nodes[table].write(*values)

    def link(self, table: str, start: str, end: str, *values: object) -> None:
        """See Tables."""
        if table == "HOLDS":  # it starts at a name, which may hold anything; ids do not
            self.edges[table].write(start, end)
        else:
            self.edges[table].link(start, end, *values)

    def amend(self, table: str, id: str, **properties: object) -> None:
        """Raise TypeError: rows of a file are written once."""
        raise TypeError(f"{table} {id} is written in one step")

    def checkpoint(self) -> None:
        """See Tables; files are written as rows come."""

    def release(self, table: str) -> None:
        """See Tables; the order of files does not matter."""

    def begin_relations(self) -> None:
        """See Tables; files are complete when they are closed."""

    def metadata(self, properties: Mapping[str, object]) -> list[object] | None:
        """See Tables; a column has one type, and not every name can head one."""
        return self._metadata.values(properties)

    def vectors(self, vectors: Vectors) -> Sequence[CsvField | None]:
        """See Tables."""
        return [field if row.any() else None for field, row in zip(floats(vectors), vectors, strict=True)]

    def _table(self, name: str) -> Table:
        return self.edges[name] if name in self.edges else self.nodes[name]

    def close(self) -> Files:
        """The files, complete."""
        tables = [*self.nodes.values(), *self.edges.values()]
        for table in tables:
            table.close()
        nodes = {label: (t.header, *t.parts) for label, t in self.nodes.items() if t.rows}
        edges = {kind: (t.header, *t.parts) for kind, t in self.edges.items() if t.rows}
        return Files(
            nodes=[(":".join(schema.labels_of(label, NUMBER)), paths) for label, paths in nodes.items()],
            relationships=[(TYPES.get(kind, kind), paths) for kind, paths in edges.items()],
            multiline=[path for t in tables if t.multiline for path in t.parts],
            longest=4 * max(t.longest for t in tables),  # bytes of characters
        )
