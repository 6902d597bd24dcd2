"""Parquet files, such as the parts of FineWeb: rows of named columns, some of which are held at a time."""

from collections.abc import Iterator
from datetime import date, datetime, time
from importlib.util import find_spec
from typing import Any

from kgrag.loaders.base import MB, BadInput, Format, Item, Source, open_file
from kgrag.loaders.named_rows import Columns, RowReader, RowTable, is_table
from kgrag.values.documents import Problem
from kgrag.values.installing import install_hint

_BATCH = 64  # rows held at once


def load_parquet(source: Source, columns: Columns) -> Iterator[Item]:
    """The rows of a Parquet file, one at a time. Raises BadInput."""
    if find_spec("pyarrow") is None:
        raise BadInput(f"is a Parquet file, for which pyarrow is needed: {install_hint('web')}")
    import pyarrow as pa
    import pyarrow.parquet as pq

    rows = RowReader(source, columns)
    number, table = 0, None
    with open_file(source) as opened:
        try:
            with pq.ParquetFile(opened) as file:
                names = tuple(file.schema_arrow.names)
                if is_table(columns, names):
                    table = RowTable(source)
                else:
                    rows.check(names)
                for batch in file.iter_batches(batch_size=_BATCH):
                    for row in batch.to_pylist():
                        number += 1
                        if table is not None:
                            table.add(_values(row))
                            continue
                        yield from _read(rows, row, number, source)
        except (pa.ArrowException, OSError) as error:
            where = f"is damaged after row {number:,}" if number else "is no Parquet file, or damaged"
            raise BadInput(f"{where} ({str(error).splitlines()[0][:200]})") from error
    if not number:
        raise BadInput("holds no rows")
    if table is not None:
        yield table.document()
    yield from rows.finish()


def _read(rows: RowReader, row: dict[str, Any], number: int, source: Source) -> Iterator[Item]:
    if sum(len(value) for value in row.values() if isinstance(value, str | bytes)) > source.limit:
        message = f"is a row of more than {source.limit // MB} MB; KGRAG_MAX_FILE_MB raises the limit"
        yield Problem(f"{source.shown}#{number}", message, lasting=True)
        return
    yield from rows.read(_values(row), number, f"{source.shown}#{number}")


def _values(row: dict[str, Any]) -> dict[str, Any]:
    return {name: _plain(value) for name, value in row.items()}


def _plain(value: Any) -> Any:
    """A value as JSON has it: times in ISO 8601, decimal numbers as text; bytes are left out."""
    if isinstance(value, datetime | date | time):
        return value.isoformat()
    if isinstance(value, bytes):
        return None
    if isinstance(value, list | tuple):
        return [_plain(item) for item in value]
    if isinstance(value, dict):
        return {str(name): _plain(item) for name, item in value.items()}
    return value if value is None or isinstance(value, str | bool | int | float) else str(value)


PARQUET = Format(
    "Parquet file", (".parquet",), lambda source, reading: load_parquet(source, reading.columns), version=2
)
