#!/usr/bin/env bash
# LanceDB takes a list of numbers for a vector only if the column has the right name. A column "vector" can be searched.
# The same numbers in a column "v" are a plain list, and a search fails with "no vector column" long after the rows were
# written. A schema with a fixed-size list makes it a vector.
# lancedb 0.40.0.
# Source: by experiment.
set -euo pipefail

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
python3 -m venv "$work/venv"
"$work/venv/bin/python" -m pip --disable-pip-version-check -q install lancedb==0.40.0
"$work/venv/bin/python" - <<'PY'
import tempfile

import lancedb
import pyarrow as pa


def found(table):
    try:
        return len(table.search([1.0, 0.0]).to_list())
    except ValueError as error:
        return str(error)


with tempfile.TemporaryDirectory() as folder:
    store = lancedb.connect(folder)
    schema = pa.schema([("v", pa.list_(pa.float32(), 2))])
    seen = [
        found(store.create_table("a", [{"vector": [1.0, 0.0]}])),
        found(store.create_table("b", [{"v": [1.0, 0.0]}])),
        found(store.create_table("c", [{"v": [1.0, 0.0]}], schema=schema)),
    ]
print(seen)
assert seen[0] == seen[2] == 1 and "no vector column" in seen[1]
PY
