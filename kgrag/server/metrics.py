"""Metrics of a server's resources for Prometheus, read from the database at each request."""

from collections.abc import Iterable

from prometheus_client import CollectorRegistry, generate_latest
from prometheus_client.core import GaugeMetricFamily, Metric
from prometheus_client.registry import Collector

from kgrag.client.graph import KnowledgeGraph
from kgrag.graph import counts as vitals
from kgrag.runtime import limits
from kgrag.runtime.files import free_bytes
from kgrag.server.uploads import Uploads
from kgrag.values.errors import KgragError

_PATIENCE = 5.0  # seconds within which the database must answer


class Gauges(Collector):
    """The current state of the database of `kg`.

    If it does not answer, kgrag_database_up is 0 and its other metrics are missing. `held_mb`: the limit for uploads.
    """

    def __init__(self, kg: KnowledgeGraph, uploads: Uploads, held_mb: int) -> None:
        self._graph, self._home = kg.graph, kg.settings.home
        self._uploads, self._held_mb = uploads, held_mb

    def text(self) -> bytes:
        """Return the gauges in the format of Prometheus."""
        registry = CollectorRegistry()
        registry.register(self)
        return generate_latest(registry)

    def describe(self) -> Iterable[Metric]:
        """Read nothing from the database before a scrape."""
        return ()

    def collect(self) -> Iterable[Metric]:
        """See prometheus_client."""
        yield _one("kgrag_uploads_bytes", "What all uploads take.", self._uploads.size())
        yield _one("kgrag_uploads_limit_bytes", "What they may take.", self._held_mb * 1_000_000)
        yield _one("kgrag_home_free_bytes", "Free on the disk of KGRAG_HOME.", free_bytes(self._home))
        try:
            with limits.limited(_PATIENCE):
                metrics = list(self._database())
        except KgragError:
            metrics = []
        yield _one("kgrag_database_up", "Whether the database answers.", bool(metrics))
        yield from metrics

    def _database(self) -> Iterable[Metric]:
        nodes = GaugeMetricFamily("kgrag_nodes", "What collections hold.", labels=("collection", "label"))
        for collection, counts in vitals.counts(self._graph).items():
            for label, number in counts.items():
                nodes.add_metric((collection, label), number)
        yield nodes
        jobs = GaugeMetricFamily("kgrag_jobs", "Jobs that are kept.", labels=("state",))
        by_state = vitals.jobs(self._graph)
        for state, (number, _) in by_state.items():
            jobs.add_metric((state,), number)
        yield jobs
        yield _one("kgrag_jobs_waiting_seconds", "Since the oldest waits.", by_state.get("queued", (0, 0.0))[1])
        if (heap := vitals.heap(self._graph)) is not None:
            yield _one("kgrag_neo4j_heap_used_bytes", "The heap of Neo4j, garbage included.", heap.used)
            yield _one("kgrag_neo4j_heap_live_bytes", "What is left of it when garbage is collected.", heap.live)
            yield _one("kgrag_neo4j_heap_limit_bytes", "What it may take.", heap.most)
        if (machine := vitals.machine(self._graph)) is not None:
            yield _one("kgrag_neo4j_memory_bytes", "Memory of the machine of Neo4j.", machine.memory)
            yield _one("kgrag_neo4j_files", "Files and connections that Neo4j holds open.", machine.files)
            yield _one("kgrag_neo4j_files_limit", "As many as it may.", machine.most_files)


def _one(name: str, means: str, value: float) -> Metric:
    return GaugeMetricFamily(name, means, value=value)
