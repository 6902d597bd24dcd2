#!/usr/bin/env bash
# LanceDB's full-text index removes stop words by default, and "who" is one (not so in Lucene's English list). A search
# for the band "The Who" finds nothing, not even its title, without an error. remove_stop_words=False finds it.
# lancedb 0.40.0.
# Source: https://lancedb.github.io/lancedb/fts/ and by experiment.
set -euo pipefail

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
python3 -m venv "$work/venv"
"$work/venv/bin/python" -m pip --disable-pip-version-check -q install lancedb==0.40.0
"$work/venv/bin/python" - <<'PY'
import tempfile

import lancedb

with tempfile.TemporaryDirectory() as folder:
    table = lancedb.connect(folder).create_table("bands", [{"text": "The Who"}, {"text": "A quartz vein"}])
    found = []
    for options in {}, {"remove_stop_words": False}:
        table.create_fts_index("text", replace=True, **options)
        found.append([row["text"] for row in table.search("the who", query_type="fts").to_list()])
print(f"by default: {found[0]}; with stop words: {found[1]}")
assert found == [[], ["The Who"]]
PY
