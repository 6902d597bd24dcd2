"""A KnowledgeGraph: the connection to Neo4j, what its collections share, and what concerns the whole database."""

import threading
from collections.abc import Iterator, Mapping
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Self, overload

from pydantic import SecretStr

from kgrag.client.collection import Collection
from kgrag.client.connection import Connection, Models
from kgrag.client.federation import Federation, checked, split_names
from kgrag.graph import collections as registry
from kgrag.graph.collections import DEFAULT_COLLECTION as DEFAULT_COLLECTION
from kgrag.graph.connection import Graph
from kgrag.graph.counts import collection_info
from kgrag.models.embed import Embedder
from kgrag.settings import Settings
from kgrag.values.events import Progress, no_progress
from kgrag.values.results import CollectionInfo, Ranking

if TYPE_CHECKING:
    from neo4j_viz import VisualizationGraph

    from kgrag.exchange.importing import ImportReport
    from kgrag.indexing.bulk import BulkReport, HandOver
    from kgrag.indexing.knowledge import KnowledgeReport, Selection
    from kgrag.loaders import Columns
    from kgrag.loaders.source import Source
    from kgrag.values.events import Answer
    from kgrag.values.rows import Rows


class KnowledgeGraph(Connection):
    """A Neo4j database with collections of documents. Safe to share between threads; close it, or use `with`.

    >>> with KnowledgeGraph.local() as kg:
    ...     notes = kg["notes"]
    ...     notes.ingest("notes/")
    ...     for hit in notes.search("Who designed the ship?"):
    ...         print(hit.score, hit.passage.title, hit.why)
    """

    def __init__(self, graph: Graph, settings: Settings, models: Models | None = None) -> None:
        super().__init__(graph, settings, models)
        self._collections: dict[str, Collection] = {}
        self._lock = threading.RLock()

    @classmethod
    def connect(
        cls,
        uri: str | None = None,
        user: str | None = None,
        password: str | SecretStr | None = None,
        database: str | None = None,
        settings: Settings | None = None,
    ) -> Self:
        """Connect to a Neo4j by its address; what is left out comes from the settings (KGRAG_NEO4J_*).

        Without an address anywhere this is `local()`. Raises DatabaseError when the server does not answer.
        """
        settings = settings or Settings()
        uri = uri or settings.neo4j_uri
        if uri is None:
            return cls.local(settings)
        secret = SecretStr(password) if isinstance(password, str) else password or settings.neo4j_password
        name, database = user or settings.neo4j_user, database or settings.neo4j_database
        return cls(Graph(uri, name, secret, database, settings.neo4j_retry_seconds), settings)

    @classmethod
    def local(cls, settings: Settings | None = None, progress: Progress | None = None) -> Self:
        """Connect to this machine's own Neo4j, which is set up and started first if need be.

        Raises LocalServerError when that fails, with the remedy.
        """
        from kgrag.graph.local import bulk
        from kgrag.graph.local.server import LocalServer

        settings = settings or Settings()
        server = LocalServer(settings)
        endpoint = server.ensure_running(progress=progress)
        graph = Graph(endpoint.uri, endpoint.user, endpoint.password, endpoint.database, settings.neo4j_retry_seconds)
        try:
            bulk.complete(server.home, graph)
        except BaseException:
            graph.close()
            raise
        return cls(graph, settings)

    @staticmethod
    def load_in_bulk(
        source: "Source",
        collection: str = DEFAULT_COLLECTION,
        *,
        embedder: str | Embedder | None = None,
        language: str | None = None,
        columns: "Columns | None" = None,
        root: str | Path | None = None,
        replace_database: bool = False,
        settings: Settings | None = None,
        progress: Progress | None = None,
    ) -> "BulkReport":
        """Ingest a first, large collection into this machine's own Neo4j, which is stopped and started for it.

        The graph is the one that `ingest` makes. Raises MismatchError if the database holds anything, unless it is to
        be replaced: then a dump of it is kept, and put back if the load fails. Raises ConfigurationError for another
        server, LocalServerError if the import fails.
        """
        from kgrag.client.ingestion import first_load
        from kgrag.indexing.bulk import load

        items, total, scan, model, settings = first_load(source, embedder, language, columns, root, settings)
        report = load(
            items, collection, model, settings, progress or no_progress, replace_database=replace_database, total=total
        )
        if scan is None:
            return report
        return replace(report, skipped=scan.skipped, converted=scan.converted, left_out=scan.left_out)

    @staticmethod
    def write_bulk_files(
        source: "Source",
        folder: str | Path,
        collection: str = DEFAULT_COLLECTION,
        *,
        embedder: str | Embedder | None = None,
        language: str | None = None,
        columns: "Columns | None" = None,
        root: str | Path | None = None,
        settings: Settings | None = None,
        progress: Progress | None = None,
    ) -> "HandOver":
        """Write a first, large collection into the files of an empty folder, which another server imports.

        The report's `commands()` are what to run on that server; then `kg[collection].repair()` makes the indexes.
        Raises InputError if the folder holds anything, LocalServerError if it cannot be written.
        """
        from kgrag.client.ingestion import first_load
        from kgrag.indexing.bulk import write_files

        items, total, scan, model, settings = first_load(source, embedder, language, columns, root, settings)
        report = write_files(items, collection, model, settings, Path(folder), progress or no_progress, total=total)
        if scan is None:
            return report
        return replace(report, skipped=scan.skipped, converted=scan.converted, left_out=scan.left_out)

    @staticmethod
    def import_knowledge(
        path: str | Path,
        collection: str,
        *,
        format: str | None = None,
        selection: "Selection | None" = None,
        settings: Settings | None = None,
        progress: Progress | None = None,
    ) -> "KnowledgeReport":
        """Import facts without passages: a JSON dump of Wikidata, N-Triples, Turtle, or CSV of triples.

        The collection of kind knowledge is made if it does not exist. An empty database of this machine is filled by
        Neo4j's import tool, which stops and starts it; others in transactions. Interrupted and run again, it goes on
        where it was. `format`: wikidata, ntriples, rdf, csv or tsv, by default as the name of the file says;
        `selection`: what is taken of it. Raises InputError, MismatchError when the collection holds documents, and
        DatabaseError.
        """
        from kgrag.indexing.knowledge import Selection, import_knowledge

        chosen = selection or Selection()
        settings = settings or Settings()
        return import_knowledge(Path(path), collection, settings, chosen, progress or no_progress, format=format)

    def __repr__(self) -> str:
        return f"KnowledgeGraph({self.graph!r})"

    @overload
    def __getitem__(self, name: str) -> Collection: ...

    @overload
    def __getitem__(self, name: tuple[str, ...]) -> Federation: ...

    def __getitem__(self, name: str | tuple[str, ...]) -> Collection | Federation:
        """The collection of that name, whether it exists yet or not: `ingest` makes it; of several names, all as one.

        `kg["manuals", "notes"].search(...)` ranks the passages of both together.
        """
        if isinstance(name, tuple):
            return Federation([self[each] for each in name])
        with self._lock:
            if name not in self._collections:
                self._collections[name] = Collection(self, name)
            return self._collections[name]

    def __iter__(self) -> Iterator[str]:
        """The names of the collections."""
        return (found.name for found in self.records())

    def __contains__(self, name: object) -> bool:
        """Whether there is a collection of that name. Raises TypeError for what is no text."""
        wanted = checked(name)
        return any(its.name == wanted for its in self.records())

    def select(self, names: str) -> Collection | Federation:
        """What a text names to be searched: a collection, or several with commas between, "manuals, notes".

        A collection whose name holds a comma is found by its whole name.
        """
        several = split_names(names)
        if len(several) < 2 or registry.find_collection(self.graph, names) is not None:
            return self[names]
        return self[several]

    def collections(self) -> list[CollectionInfo]:
        """Every collection with its counts."""
        return [collection_info(self.graph, found) for found in self.records()]

    def draw(
        self, what: "Ranking | Answer | Rows | str", parameters: Mapping[str, Any] | None = None
    ) -> "VisualizationGraph":
        """A graph for a notebook, shown by `.render()`: a ranking's trails, an answer's steps, or what Cypher finds.

        `what`: a Ranking, an Answer, Rows, or a Cypher statement with its `parameters`. Raises ConfigurationError
        without neo4j-viz (the extra viz), InputError when there is nothing to draw.
        """
        from kgrag.drawing import drawing, visualise

        return visualise(drawing(self.cypher(what, parameters) if isinstance(what, str) else what))

    def import_export(self, source: str, progress: Progress | None = None) -> "ImportReport":
        """Make the collection that was exported to `source`.

        A damaged file changes nothing; interrupted and run again, it goes on where it was. Raises
        InputError, and MismatchError if there is a collection of that name, or if the export is of another schema.
        """
        from kgrag.exchange.importing import import_export

        return import_export(self.graph, source, progress or no_progress, self.settings.old_vectors_seconds)
