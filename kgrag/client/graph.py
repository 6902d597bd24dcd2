"""A KnowledgeGraph: the connection to Neo4j, its collections, and operations on the whole database."""

import threading
from collections.abc import Iterable, Iterator, Mapping
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
from kgrag.values.errors import ConfigurationError
from kgrag.values.events import Progress, no_progress
from kgrag.values.results import CollectionInfo, Ranking

if TYPE_CHECKING:
    from neo4j_viz import VisualizationGraph

    from kgrag.exchange.importing import ImportReport
    from kgrag.indexing.attachment import Attachment
    from kgrag.indexing.bulk import BulkReport, HandOver
    from kgrag.indexing.knowledge import KnowledgeReport, Selection
    from kgrag.loaders import Columns
    from kgrag.loaders.source import Source
    from kgrag.values.events import Answer
    from kgrag.values.rows import Rows


class KnowledgeGraph(Connection):
    """A Neo4j database with collections of documents; threads may share it. Close it, or use `with`.

    Args:
        graph: the connection; `connect` and `local` make it.
        settings: the settings of embedders, language models and searches.
        models: loaded models to share; None: its own.

    Example:
        >>> with KnowledgeGraph.connect() as graph:
        ...     for hit in graph["demo"].search("Who designed the Fram?"):
        ...         print(f"{hit.score:.2f}", hit.passage.title, hit.why)
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
        """Connect to a Neo4j; the same as `local` if no address is configured.

        Args:
            uri: such as "bolt://localhost:7687"; None: KGRAG_NEO4J_URI.
            user: None: KGRAG_NEO4J_USER.
            password: None: KGRAG_NEO4J_PASSWORD.
            database: None: KGRAG_NEO4J_DATABASE.
            settings: None: read from the environment, .env and kgrag.toml.

        Returns:
            The client.

        Raises:
            DatabaseError: the server does not answer, or refuses the login.
            ConfigurationError: the address is not valid.
        """
        if not isinstance(uri, str | None):
            kind = type(uri).__name__
            raise ConfigurationError(f"The address is a {kind}, not a text.", "Settings go by name: settings=...")
        settings = settings or Settings()
        uri = uri or settings.neo4j_uri
        if uri is None:
            return cls.local(settings)
        secret = SecretStr(password) if isinstance(password, str) else password or settings.neo4j_password
        name, database = user or settings.neo4j_user, database or settings.neo4j_database
        return cls(Graph(uri, name, secret, database, settings.neo4j_retry_seconds), settings)

    @classmethod
    def local(cls, settings: Settings | None = None, progress: Progress | None = None) -> Self:
        """Connect to this machine's own Neo4j, which is installed and started first if need be.

        Args:
            settings: None: read from the environment, .env and kgrag.toml.
            progress: receives (stage, done, total).

        Returns:
            The client.

        Raises:
            LocalServerError: the server cannot be installed or started.
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

        The resulting graph is the same as with `ingest`.

        Args:
            source: paths, or Documents and Problems.
            collection: the name of the collection.
            embedder: its name, or an Embedder; None: the one of the settings.
            language: an ISO 639-1 code; None: detected from the first documents.
            columns: the columns of keys, titles and texts in tabular files; None: detected.
            root: a folder to which files' keys are relative; None: keys are absolute paths.
            replace_database: whether the contents of the database may be replaced; a dump of them is kept, and restored
                if the load fails.
            settings: None: read from the environment, .env and kgrag.toml.
            progress: receives (stage, done, total).

        Returns:
            Counts, durations and problems.

        Raises:
            MismatchError: the database is not empty, and must not be replaced.
            ConfigurationError: the settings name another server.
            LocalServerError: the import fails.
        """
        from kgrag.client.ingestion import first_load
        from kgrag.indexing.bulk import load

        items, total, scan, model, settings = first_load(
            collection, source, embedder, language, columns, root, settings
        )
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

        The report's `commands()` run on that server; then `kg[collection].repair()` makes the indexes.

        Args:
            source: paths, or Documents and Problems.
            folder: the empty folder; it is made if it does not exist.
            collection: the name of the collection.
            embedder: its name, or an Embedder; None: the one of the settings.
            language: an ISO 639-1 code; None: detected from the first documents.
            columns: the columns of keys, titles and texts in tabular files; None: detected.
            root: a folder to which files' keys are relative; None: keys are absolute paths.
            settings: None: read from the environment, .env and kgrag.toml.
            progress: receives (stage, done, total).

        Returns:
            The report, with the commands for the server.

        Raises:
            InputError: the folder is not empty.
            LocalServerError: the folder cannot be written.
        """
        from kgrag.client.ingestion import first_load
        from kgrag.indexing.bulk import write_files

        items, total, scan, model, settings = first_load(
            collection, source, embedder, language, columns, root, settings
        )
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

        An empty database of this machine is filled by Neo4j's import tool, which restarts the server; others are filled
        in transactions. An interrupted import resumes.

        Args:
            path: the file.
            collection: the name of the collection of kind knowledge, which is made if it does not exist.
            format: "wikidata", "ntriples", "rdf", "csv" or "tsv"; None: by the name of the file.
            selection: which facts to import; None: all.
            settings: None: read from the environment, .env and kgrag.toml.
            progress: receives (stage, done, total).

        Returns:
            Counts and duration.

        Raises:
            InputError: the file cannot be read.
            MismatchError: the collection holds documents.
            DatabaseError: the database cannot be reached, or fails.
        """
        from kgrag.indexing.knowledge import Selection, import_knowledge

        criteria = selection or Selection()
        settings = settings or Settings()
        return import_knowledge(Path(path), collection, settings, criteria, progress or no_progress, format=format)

    def __repr__(self) -> str:
        return f"KnowledgeGraph({self.graph!r})"

    @overload
    def __getitem__(self, name: str) -> Collection: ...

    @overload
    def __getitem__(self, name: tuple[str, ...]) -> Federation: ...

    def __getitem__(self, name: str | tuple[str, ...]) -> Collection | Federation:
        """Return a collection, existing or not (`ingest` makes it), or several as one.

        `kg["manuals", "notes"].search(...)` ranks the passages of both together.

        Args:
            name: the name of a collection, or several names.

        Returns:
            A Collection, or a Federation of several.
        """
        if isinstance(name, tuple):
            return Federation([self[each] for each in name])
        with self._lock:
            if name not in self._collections:
                self._collections[name] = Collection(self, name)
            return self._collections[name]

    def __iter__(self) -> Iterator[str]:
        """Iterate over the names of the collections.

        Returns:
            The names, sorted.
        """
        return (record.name for record in self.records())

    def __contains__(self, name: object) -> bool:
        """Return whether a collection of that name exists.

        Args:
            name: the name.

        Returns:
            True if it exists.

        Raises:
            TypeError: the name is not a text.
        """
        target = checked(name)
        return any(record.name == target for record in self.records())

    def select(self, names: str) -> Collection | Federation:
        """Return the collection that a text names, or several as one.

        Args:
            names: a name, or several separated by commas, "manuals, notes". An existing collection whose name has a
                comma takes precedence.

        Returns:
            A Collection, or a Federation of several.
        """
        several = split_names(names)
        if len(several) < 2 or registry.find_collection(self.graph, names) is not None:
            return self[names]
        return self[several]

    def collections(self) -> list[CollectionInfo]:
        """Return every collection with its counts.

        Returns:
            The collections at a glance, by name.
        """
        return [collection_info(self.graph, record) for record in self.records()]

    def draw(
        self, what: "Ranking | Answer | Rows | str", parameters: Mapping[str, Any] | None = None
    ) -> "VisualizationGraph":
        """Draw a ranking's trails, an answer's steps or rows of Cypher as a graph for a notebook.

        Args:
            what: a Ranking, an Answer, Rows, or a Cypher statement.
            parameters: the parameters of the statement.

        Returns:
            The graph; `.render()` shows it.

        Raises:
            ConfigurationError: neo4j-viz (the extra viz) is not installed.
            InputError: there is nothing to draw.
        """
        from kgrag.drawing import drawing, visualise

        return visualise(drawing(self.cypher(what, parameters) if isinstance(what, str) else what))

    def import_export(self, source: str, progress: Progress | None = None) -> "ImportReport":
        """Import a collection from its export; an interrupted import resumes, and a damaged file changes nothing.

        Args:
            source: a path, or "-" for standard input.
            progress: receives (stage, done, total).

        Returns:
            Counts and duration.

        Raises:
            InputError: the file is damaged, or not an export.
            MismatchError: there is a collection of that name, or the export has another schema.
        """
        from kgrag.exchange.importing import import_export

        return import_export(self.graph, source, progress or no_progress, self.settings.old_vectors_seconds)

    def propose_attachment(self, labels: Iterable[str] | None = None) -> "Attachment":
        """Propose how to attach a collection to another graph in the same database, by its counts and samples.

        Args:
            labels: the labels to consider; None: all except kgrag's own.

        Returns:
            The proposal, which changes nothing by itself; `to_toml()` is a file to edit.

        Raises:
            InputError: there is no such label or no such graph, or no property is a name.
        """
        from kgrag.indexing.attachment import propose_attachment

        return propose_attachment(self.graph, labels)
