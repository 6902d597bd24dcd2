"""Load Parquet files, such as the parts of FineWeb: rows of named columns, with one row group in memory at a time."""

from collections.abc import Iterator
from datetime import date, datetime, time
from typing import Any

from kgrag.loaders.base import BadInput, Item, Source, needs, open_file, over_limit
from kgrag.loaders.named_rows import Columns, RowReader, RowTable, is_table
from kgrag.loaders.reading import Format
from kgrag.values.documents import Problem

_BATCH = 64  # rows held at once


def load_parquet(source: Source, columns: Columns) -> Iterator[Item]:
    """Yield the rows of a Parquet file, one at a time. Raises BadInput."""
    needs("pyarrow", "a Parquet file", "pyarrow", "web")
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
                    for row in _rows(batch):
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


def _rows(batch: Any) -> Iterator[dict[str, Any]]:
    """Yield the rows of a batch by column name; if two columns share a name, the last one counts."""
    columns = [_column(column) for column in batch.columns]
    return (dict(zip(batch.schema.names, values, strict=True)) for values in zip(*columns, strict=True))


def _column(column: Any) -> list[Any]:
    """Return the values of a column; times are cut to Python's microseconds, and are text after the year 9999.

    pyarrow raises an error for both, for the first only if pandas is missing.
    """
    import pyarrow as pa

    kind = _without_nanoseconds(column.type)
    try:
        return list((column if kind == column.type else column.cast(kind, safe=False)).to_pylist())
    except (ValueError, OverflowError, pa.ArrowNotImplementedError):
        return [_value(scalar) for scalar in column]


def _value(scalar: Any) -> Any:
    """Return one value; as text if Python lacks the type, or None if it has no text either."""
    import pyarrow as pa

    try:
        return scalar.as_py()
    except (ValueError, OverflowError):
        try:
            return scalar.cast(pa.string()).as_py()
        except pa.ArrowException:
            return None


def _without_nanoseconds(kind: Any) -> Any:
    """Return an Arrow type with microseconds in place of nanoseconds, also within lists and structs."""
    import pyarrow as pa

    if pa.types.is_timestamp(kind) and kind.unit == "ns":
        return pa.timestamp("us", kind.tz)
    if pa.types.is_time64(kind):
        return pa.time64("us")
    if pa.types.is_duration(kind) and kind.unit == "ns":
        return pa.duration("us")
    if pa.types.is_list(kind):
        return pa.list_(_without_nanoseconds(kind.value_type))
    if pa.types.is_struct(kind):
        return pa.struct(
            [kind.field(i).with_type(_without_nanoseconds(kind.field(i).type)) for i in range(kind.num_fields)]
        )
    return kind


def _read(rows: RowReader, row: dict[str, Any], number: int, source: Source) -> Iterator[Item]:
    if sum(len(value) for value in row.values() if isinstance(value, str | bytes)) > source.limit:
        yield Problem(f"{source.shown}#{number}", over_limit("row", source.limit), lasting=True)
        return
    yield from rows.read(_values(row), number, f"{source.shown}#{number}")


def _values(row: dict[str, Any]) -> dict[str, Any]:
    return {name: _plain(value) for name, value in row.items()}


def _plain(value: Any) -> Any:
    """Return a value in JSON types: times in ISO 8601, decimal numbers as text; bytes are left out."""
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
    "Parquet file", (".parquet",), lambda source, reading: load_parquet(source, reading.columns), version=4
)
