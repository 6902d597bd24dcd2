"""Rankings that were asked for before, as long as nothing was written since."""

import threading

from cachetools import LRUCache

from kgrag.retrieval.base import Query, Retriever
from kgrag.retrieval.copies import retrieve_folded
from kgrag.values.results import Ranking


class Rankings:
    """Keeps the `most` rankings that were asked for last; with 0 none. Safe to share between threads.

    Each database that a ranking comes from is asked what state it is in, which costs a round trip; any transaction that
    wrote to it since, whoever's, makes the ranking again.
    """

    def __init__(self, most: int) -> None:
        self._most = most
        self._kept: LRUCache[object, tuple[tuple[str, ...], Ranking]] = LRUCache(max(most, 1))
        self._lock = threading.Lock()

    def ranking(self, retriever: Retriever, query: Query, k: int) -> Ranking:
        """The ranking of a retriever that is named alone, from the cache or computed."""
        if not self._most:
            return retrieve_folded(retriever, query, k)
        readers = [context.reader for context in retriever.contexts]
        names = tuple(reader.collection.name for reader in readers)
        key = (names, retriever.name, query.text, repr(query.filter), query.knowledge, k)
        graphs = dict.fromkeys(reader.graph for reader in readers)
        state = tuple(graph.state() for graph in graphs)  # before it is made: a write meanwhile counts as later
        with self._lock:
            found = self._kept.get(key)
        if found is not None and found[0] == state:
            return found[1]
        made = retrieve_folded(retriever, query, k)
        with self._lock:
            self._kept[key] = (state, made)
        return made
