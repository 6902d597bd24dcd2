#!/usr/bin/env bash
# pandas wrote times in nanoseconds to Parquet files for years. pyarrow cannot convert such rows to Python values unless
# pandas is installed: to_pylist() raises a plain ValueError at the first time that is not a whole microsecond, after it
# has converted the rows before.
# pyarrow 26.0.1, without pandas.
# Source: by experiment.
set -euo pipefail

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
python3 -m venv "$work/venv"
"$work/venv/bin/python" -m pip --disable-pip-version-check -q install pyarrow==26.0.1
"$work/venv/bin/python" - <<'PY'
import io

import pyarrow as pa
import pyarrow.parquet as pq

file = io.BytesIO()
times = pa.array([1_700_000_000_000_000_000, 1_700_000_000_000_000_001], pa.timestamp("ns"))
pq.write_table(pa.table({"text": ["first row", "second row"], "at": times}), file)
read, message = [], ""
try:
    for batch in pq.ParquetFile(file).iter_batches(batch_size=1):
        read += batch.to_pylist()
except ValueError as error:
    assert not isinstance(error, pa.ArrowException)
    message = str(error)
print(f"rows read: {read}\nthen: {message}")
assert len(read) == 1 and "Install pandas" in message
PY
