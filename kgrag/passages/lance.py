"""Passages in LanceDB, an embedded store of versioned files: after a kill, the last complete version is valid."""

import threading
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from datetime import timedelta
from typing import Any

from kgrag.passages import Scores, best
from kgrag.settings import Settings
from kgrag.values.errors import DatabaseError, MismatchError
from kgrag.values.installing import require_extra

_COLUMNS = ("stems", "title_stems")
_BATCH = 4096  # rows read at once
_TIES = 10  # extra rows to read, since ties are ordered here


class LanceIndex:
    """A table of LanceDB in the folder `passages` of KGRAG_HOME. See PassageIndex.

    Words: BM25 by a full-text index on white space for each column. Vectors: an exact scan, for up to a million
    passages of 256 numbers.
    """

    def __init__(self, settings: Settings, name: str, dimension: int) -> None:
        self._folder = settings.home / "passages"
        self._name, self._dimension = name, dimension
        self._lock = threading.Lock()
        self._table: Any = None

    def words(self, stems: Sequence[str], title: float, limit: int) -> Scores:
        """See PassageIndex."""
        from lancedb.query import BooleanQuery, MatchQuery, Occur

        text = " ".join(stems)
        match: Any = MatchQuery  # mypy does not see its defaults
        parts = [match(text, "stems"), match(text, "title_stems", boost=title)]
        with self._translated():
            rows = self._search(BooleanQuery([(Occur.SHOULD, part) for part in parts]), "fts", limit)
        return best(((row["id"], float(row["_score"])) for row in rows), limit)

    def nearest(self, vector: Sequence[float], limit: int) -> Scores:
        """See PassageIndex."""
        with self._translated():
            rows = self._search(list(vector), "vector", limit)
        return best(((row["id"], 1 - float(row["_distance"]) / 2) for row in rows), limit)

    def ids(self) -> Iterator[str]:
        """See PassageIndex."""
        with self._translated():
            table = self._open(make=True)
            for batch in table.search().select(["id"]).to_batches(_BATCH):
                yield from batch.column("id").to_pylist()

    def put(self, entries: Sequence[Mapping[str, Any]]) -> None:
        """See PassageIndex."""
        with self._translated():
            merge = self._open(make=True).merge_insert("id")
            merge.when_matched_update_all().when_not_matched_insert_all().execute([dict(entry) for entry in entries])

    def remove(self, ids: Sequence[str]) -> None:
        """See PassageIndex."""
        if not all(id.isalnum() for id in ids):
            raise ValueError("an id is no hash")
        with self._translated():
            listed = ", ".join(f"'{id}'" for id in ids)
            self._open(make=True).delete(f"id IN ({listed})")

    def settle(self) -> None:
        """See PassageIndex."""
        from lancedb.index import FTS

        with self._translated():
            table = self._open(make=True)
            columns = {column for index in table.list_indices() for column in index.columns}
            for column in _COLUMNS:
                if column not in columns:
                    plain = FTS(
                        base_tokenizer="whitespace", with_position=False, max_token_length=None,
                        stem=False, remove_stop_words=False, lower_case=False, ascii_folding=False,
                    )  # fmt: skip
                    table.create_index(column, config=plain)
            table.optimize(cleanup_older_than=timedelta(hours=1))

    def drop(self) -> None:
        """See PassageIndex."""
        with self._translated():
            if self._folder.is_dir():
                self._connect().drop_table(self._name, ignore_missing=True)
            self._table = None

    def _search(self, query: Any, kind: str, limit: int) -> list[dict[str, Any]]:
        search = self._open().search(query, query_type=kind)
        if kind == "vector":
            search = search.distance_type("cosine")
        score = "_distance" if kind == "vector" else "_score"
        rows: list[dict[str, Any]] = search.select(["id", score]).limit(limit + _TIES).to_list()
        return rows

    def _open(self, *, make: bool = False) -> Any:
        """Open the table. Raises MismatchError if it does not exist."""
        with self._lock:
            if self._table is None:
                database = self._connect()
                if not make and self._name not in database.list_tables(limit=1_000_000).tables:
                    raise MismatchError(
                        f"The passage index {self._name} does not exist in {self._folder}.",
                        "Run `kgrag db repair`, which makes it from the graph, or set KGRAG_PASSAGE_INDEX=neo4j.",
                    )
                self._table = (
                    database.create_table(self._name, schema=self._schema(), exist_ok=True)
                    if make
                    else database.open_table(self._name)
                )
            return self._table

    def _connect(self) -> Any:
        with require_extra("lancedb", "KGRAG_PASSAGE_INDEX=lancedb needs LanceDB."):
            import lancedb
        return lancedb.connect(self._folder, read_consistency_interval=timedelta(0))

    def _schema(self) -> Any:
        import pyarrow as pa

        text = [(name, pa.string()) for name in ("id", *_COLUMNS)]
        return pa.schema([*text, ("vector", pa.list_(pa.float32(), self._dimension))])

    @contextmanager
    def _translated(self) -> Iterator[None]:
        try:
            yield
        except (RuntimeError, OSError, ValueError) as error:
            self._table = None
            raise DatabaseError(
                f"The passage index in {self._folder} failed: {str(error).splitlines()[0][:300]}",
                "`kgrag db repair` brings it up to date; if that fails, delete the folder and run it again.",
            ) from error
