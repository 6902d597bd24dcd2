"""Passages in OpenSearch, a separate server or cluster: a full-text and a vector (k-NN) index under one name."""

import threading
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any

from kgrag.passages import Scores, best
from kgrag.settings import Settings
from kgrag.values.errors import ConfigurationError, DatabaseError, MismatchError, without_login
from kgrag.values.installing import require_extra

SECONDS = 30  # seconds that a request may take
_TIES = 10  # extra hits to read, since ties are ordered here
_PAGE = 1000  # ids read at once


class OpenSearchIndex:
    """An index of the OpenSearch at KGRAG_OPENSEARCH_URI. See PassageIndex.

    Words are analysed on white space, vectors by HNSW of Lucene with cosines, as in Neo4j.
    """

    def __init__(self, settings: Settings, name: str, dimension: int) -> None:
        """Set up the client. Raises ConfigurationError without an address, or without opensearch-py."""
        if settings.opensearch_uri is None:
            raise ConfigurationError(
                "KGRAG_PASSAGE_INDEX=opensearch needs the address of an OpenSearch.",
                "Set KGRAG_OPENSEARCH_URI=http://localhost:9200, or https://USER:PASSWORD@HOST:9200.",
            )
        with require_extra("opensearch", "KGRAG_PASSAGE_INDEX=opensearch needs opensearch-py."):
            from opensearchpy import OpenSearch
        uri = settings.opensearch_uri.get_secret_value()
        self._uri, self._name, self._dimension = without_login(uri), f"kgrag_{name}", dimension
        self._client = OpenSearch(uri, timeout=SECONDS, max_retries=1, retry_on_timeout=False)
        self._lock = threading.Lock()
        self._exists = False

    def words(self, stems: Sequence[str], title: float, limit: int) -> Scores:
        """See PassageIndex."""
        text = " ".join(stems)
        parts = [{"match": {"stems": {"query": text}}}, {"match": {"title_stems": {"query": text, "boost": title}}}]
        return self._search({"bool": {"should": parts}}, limit)

    def nearest(self, vector: Sequence[float], limit: int) -> Scores:
        """See PassageIndex; Lucene's score of a cosine is (1 + cosine) / 2."""
        return self._search({"knn": {"vector": {"vector": list(vector), "k": limit}}}, limit)

    def ids(self) -> Iterator[str]:
        """See PassageIndex."""
        from opensearchpy import helpers

        with self._translated():
            self._make()
            for hit in helpers.scan(self._client, {"_source": False}, index=self._name, size=_PAGE):
                yield hit["_id"]

    def put(self, entries: Sequence[Mapping[str, Any]]) -> None:
        """See PassageIndex."""
        self._bulk([{"_id": e["id"], **{key: e[key] for key in e if key != "id"}} for e in entries])

    def remove(self, ids: Sequence[str]) -> None:
        """See PassageIndex."""
        self._bulk([{"_op_type": "delete", "_id": id} for id in ids])

    def settle(self) -> None:
        """See PassageIndex."""
        with self._translated():
            self._client.indices.refresh(index=self._name)

    def drop(self) -> None:
        """See PassageIndex."""
        with self._translated():
            self._client.indices.delete(index=self._name, params={"ignore_unavailable": "true"})
            self._exists = False

    def _search(self, query: Mapping[str, Any], limit: int) -> Scores:
        body = {"query": query, "size": limit + _TIES, "_source": False}
        with self._translated():
            reply = self._client.search(index=self._name, body=body)
        return best(((hit["_id"], float(hit["_score"])) for hit in reply["hits"]["hits"]), limit)

    def _bulk(self, actions: Sequence[Mapping[str, Any]]) -> None:
        from opensearchpy import helpers

        with self._translated():
            self._make()
            helpers.bulk(
                self._client, [{"_index": self._name, **a} for a in actions], refresh=True, ignore_status=(404,)
            )

    def _make(self) -> None:
        """Create the index unless it exists."""
        with self._lock:
            if self._exists:
                return
            words = {"type": "text", "analyzer": "whitespace"}
            method = {"name": "hnsw", "engine": "lucene", "space_type": "cosinesimil"}
            vector = {"type": "knn_vector", "dimension": self._dimension, "method": method}
            properties = {"stems": words, "title_stems": words, "vector": vector}
            body = {"settings": {"index": {"knn": True}}, "mappings": {"dynamic": "strict", "properties": properties}}
            self._client.indices.create(index=self._name, body=body, ignore=400)  # it may exist
            self._exists = True

    @contextmanager
    def _translated(self) -> Iterator[None]:
        from opensearchpy.exceptions import ConnectionError, NotFoundError, OpenSearchException

        try:
            yield
        except NotFoundError as error:
            self._exists = False
            raise MismatchError(
                f"The passage index {self._name} does not exist in {self._uri}.",
                "Run `kgrag db repair`, which makes it from the graph, or set KGRAG_PASSAGE_INDEX=neo4j.",
            ) from error
        except ConnectionError as error:
            raise DatabaseError(
                f"OpenSearch at {self._uri} does not answer: {str(error)[:200]}",
                "Start it, or check KGRAG_OPENSEARCH_URI; then run the same again: the graph has lost nothing.",
            ) from error
        except OpenSearchException as error:
            raise DatabaseError(
                f"OpenSearch at {self._uri} failed: {str(error)[:300]}",
                "See its log; then `kgrag db repair` brings the index in step with the graph.",
            ) from error
