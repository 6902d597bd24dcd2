"""What writes the graph: documents in, extraction, tagging, removal."""

from collections.abc import Iterable
from typing import TYPE_CHECKING

from kgrag.client.connected import DEFAULT_COLLECTION, Connected, silent
from kgrag.graph import collections as registry
from kgrag.graph import schema
from kgrag.loaders.source import Source, first_document, items_of
from kgrag.models.chat import no_model
from kgrag.models.embed import Embedder, load_embedder
from kgrag.settings import Settings
from kgrag.types import CollectionInfo, IngestReport, Progress, RepairReport

if TYPE_CHECKING:
    from kgrag.exchange.importing import ImportReport
    from kgrag.indexing.bulk import BulkReport
    from kgrag.indexing.extraction import ExtractionEstimate, ExtractionReport
    from kgrag.indexing.tagging import TaggingReport
    from kgrag.loaders import Columns


class Building(Connected):
    """A client that makes collections and changes them."""

    @staticmethod
    def load_in_bulk(
        source: Source,
        collection: str = DEFAULT_COLLECTION,
        *,
        embedder: str | Embedder | None = None,
        columns: "Columns | None" = None,
        replace_database: bool = False,
        settings: Settings | None = None,
        progress: Progress | None = None,
    ) -> "BulkReport":
        """Ingest a first, large collection into this machine's own Neo4j, which is stopped and started for it.

        The graph is the one that `ingest` makes. Raises MismatchError if the database holds anything, unless it is to
        be replaced: then a dump of it is kept, and put back if the load fails. Raises ConfigurationError for another
        server, LocalServerError if the import fails.
        """
        from kgrag.indexing.bulk import load

        settings = settings or Settings()
        items, total = items_of(source, columns, settings)
        named = embedder or settings.embedder
        model = load_embedder(named) if isinstance(named, str) else named
        return load(
            items, collection, model, settings, progress or silent, replace_database=replace_database, total=total
        )

    def ingest(
        self,
        source: Source,
        collection: str = DEFAULT_COLLECTION,
        *,
        embedder: str | Embedder | None = None,
        columns: "Columns | None" = None,
        progress: Progress | None = None,
    ) -> IngestReport:
        """Read files and folders, or take Documents, into a collection, which is made if it does not exist.

        Unchanged documents are passed over; a broken-off ingest goes on where it was. Raises MismatchError when the
        collection has another embedder, InputError when no path can be read at all.
        """
        from kgrag.indexing.pipeline import ingest
        from kgrag.indexing.reembed import discard_old_vectors

        settings = self.settings
        existing = registry.find_collection(self.graph, collection)
        if existing is not None and isinstance(embedder, str):
            registry.check_embedder(existing, embedder)  # before a model is loaded in vain
        items, total = items_of(source, columns, settings)
        if existing is None:
            items, problems = first_document(items)
            if problems:
                return IngestReport(problems=problems)  # nothing to make a collection for
        model = self._embedder(existing.embedder if existing is not None and embedder is None else embedder)
        if existing is not None:
            registry.check_indexing(existing, settings.indexing)
            registry.check_embedder(existing, model.name, model.dimension)
            registry.ensure_indexes(self.graph, existing)
            discard_old_vectors(self.graph, existing)
        else:
            existing = registry.create_collection(
                self.graph, collection, model.name, model.dimension, settings.indexing
            )
        return ingest(self.graph, existing, items, model, settings, progress or silent, total=total)

    def extract(
        self,
        collection: str = DEFAULT_COLLECTION,
        *,
        threads: int = 8,
        limit: int | None = None,
        linked: bool = False,
        progress: Progress | None = None,
    ) -> "ExtractionReport":
        """Have a language model extract entities and triples from the passages that were not extracted yet.

        `limit`: passages at most; `linked`: ask for each entity's Wikipedia article, too, and merge those that have
        the same. A broken-off extraction goes on where it was. Raises NotFoundError, or ConfigurationError when no
        language model is configured.
        """
        from kgrag.indexing.extraction import extract

        found = registry.open_collection(self.graph, collection)
        tasks = self.tasks()
        if tasks is None:
            raise no_model()
        model = self._embedder(found.embedder)
        registry.check_embedder(found, model.name, model.dimension)
        registry.ensure_indexes(self.graph, found)
        return extract(
            self.graph, found, tasks, model, self.settings, progress or silent,
            threads=threads, limit=limit, linked=linked,
        )  # fmt: skip

    def estimate_extraction(
        self,
        collection: str = DEFAULT_COLLECTION,
        *,
        limit: int | None = None,
        linked: bool = False,
        progress: Progress | None = None,
    ) -> "ExtractionEstimate":
        """What `extract` would take at most; no language model is asked. Raises NotFoundError."""
        from kgrag.indexing.extraction import estimate

        found = registry.open_collection(self.graph, collection)
        return estimate(self.graph, found, self.settings.chat, progress or silent, limit=limit, linked=linked)

    def tag(
        self,
        collection: str = DEFAULT_COLLECTION,
        *,
        threads: int = 4,
        limit: int | None = None,
        progress: Progress | None = None,
    ) -> "TaggingReport":
        """Have TAGME name the Wikipedia articles that the passages which were not tagged yet speak of.

        `limit`: passages at most. They become mentions; a broken-off tagging goes on where it was. Raises
        NotFoundError, or ConfigurationError when the settings name no server that can be asked.
        """
        from kgrag.indexing.tagging import tag
        from kgrag.models.tagme import load_tagme

        found = registry.open_collection(self.graph, collection)
        model = self._embedder(found.embedder)
        registry.check_embedder(found, model.name, model.dimension)
        registry.ensure_indexes(self.graph, found)
        with load_tagme(self.settings) as tagme:
            return tag(self.graph, found, tagme, model, self.settings, progress or silent, threads=threads, limit=limit)

    def untagged(self, collection: str = DEFAULT_COLLECTION) -> int:
        """How many passages `tag` would ask for. Raises NotFoundError."""
        from kgrag.indexing.tagging import untagged

        return len(untagged(self.graph, registry.open_collection(self.graph, collection), self.settings.tagme))

    def delete(
        self, collection: str, *, documents: Iterable[str] | None = None, progress: Progress | None = None
    ) -> int:
        """Delete documents by their keys, or with `documents` None the whole collection; returns the passages removed.

        Broken off and run again, it goes on where it was. Raises NotFoundError for a key that does not exist, before
        anything is removed.
        """
        from kgrag.indexing import removal

        if documents is None:
            return removal.delete_collection(self.graph, collection)
        found = registry.open_collection(self.graph, collection)
        return removal.delete_documents(self.graph, found, documents, self.settings, progress or silent)

    def reembed(self, collection: str, embedder: str | Embedder, progress: Progress | None = None) -> CollectionInfo:
        """Embed a collection anew; searches go on with the old vectors until the new ones are complete."""
        from kgrag.indexing.reembed import reembed

        model = self._embedder(embedder)
        return registry.describe(self.graph, reembed(self.graph, collection, model, self.settings, progress or silent))

    def repair(self, collection: str, progress: Progress | None = None) -> RepairReport:
        """Make the indexes and vectors that a collection misses, and finish what was broken off in it."""
        from kgrag.indexing.repair import repair

        model = self._embedder(registry.open_collection(self.graph, collection).embedder)
        return repair(self.graph, collection, model, self.settings, progress or silent)

    def migrate(self) -> list[str]:
        """Bring the database to this version's schema; returns the steps taken."""
        return schema.migrate(self.graph)

    def import_export(
        self, source: str, collection: str | None = None, *, progress: Progress | None = None
    ) -> "ImportReport":
        """Make the collection that was exported to `source`, under another name if one is given.

        A damaged file changes nothing; broken off and run again, it goes on where it was. Raises InputError, and
        MismatchError if there is a collection of that name, or if the export is of another schema.
        """
        from kgrag.exchange.importing import import_export

        return import_export(self.graph, source, collection, progress or silent)
