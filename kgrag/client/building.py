"""Create, change and delete a collection: its documents, the schema of its facts, its vectors."""

import threading
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from kgrag.client.verbs import Verbs, exclusive
from kgrag.graph.collections import KNOWLEDGE
from kgrag.graph.counts import collection_info
from kgrag.loaders.source import Source
from kgrag.models.embed import Embedder
from kgrag.retrieval.context import SearchContext
from kgrag.runtime.document_progress import DocumentProgress
from kgrag.values.events import Progress, no_progress
from kgrag.values.results import CollectionInfo, IngestReport, RepairReport

if TYPE_CHECKING:
    from kgrag.client.connection import Connection
    from kgrag.indexing.attachment import Attachment
    from kgrag.indexing.fact_schema import FactSchema
    from kgrag.loaders import Columns


class Building(Verbs):
    """The part of a Collection that writes. Methods raise NotFoundError when there is no such collection.

    Long methods raise BusyError while another client or a server's job works on the collection.
    """

    def __init__(self, kg: "Connection", name: str) -> None:
        self.kg = kg
        self.name = name
        self._context: SearchContext | None = None
        self._lock = threading.Lock()

    def __repr__(self) -> str:
        return f"<Collection {self.name!r}>"

    @exclusive("ingest")
    def ingest(
        self,
        source: Source,
        *,
        embedder: str | Embedder | None = None,
        language: str | None = None,
        columns: "Columns | None" = None,
        root: str | Path | None = None,
        prune: bool = False,
        force: bool = False,
        settle: float = 0.0,
        names: Mapping[Path, str] | None = None,
        progress: Progress | None = None,
    ) -> IngestReport:
        """Read files and folders, or take Documents, into the collection, which is made if it does not exist.

        Unchanged files and documents are skipped; an interrupted ingest resumes.

        Args:
            source: a path, several paths, or Documents and Problems.
            embedder: the embedder of a new collection; None: the one of the settings.
            language: the ISO 639-1 code of a new collection; None: detected from the first documents.
            columns: the columns of keys, titles and texts in tabular files; None: detected.
            root: a folder to which files' keys are relative; None: keys are absolute paths.
            prune: whether to delete documents whose files no longer exist in these folders. Without `force`, nothing is
                deleted if a folder is missing or empty, or if their share exceeds KGRAG_LOADING__PRUNE_LIMIT.
            force: whether to prune in any case.
            settle: seconds; files that changed more recently are left for later.
            names: path -> name that identifies and shows a file, if it is stored under another name.
            progress: receives (stage, done, total).

        Returns:
            Counts, and the keys of documents whose files no longer exist.

        Raises:
            MismatchError: the collection has another embedder or language.
            InputError: no path can be read at all.
        """
        from kgrag.client.ingestion import ingest

        with DocumentProgress(progress or no_progress) as telling:
            return ingest(
                self.kg, self.name, source, embedder=embedder, language=language, columns=columns, root=root,
                prune=prune, force=force, settle=settle, names=names, progress=telling,
            )  # fmt: skip

    @exclusive("ingest")
    def attach(
        self,
        mapping: "Attachment | str | Path | None" = None,
        *,
        labels: Iterable[str] | None = None,
        progress: Progress | None = None,
    ) -> IngestReport:
        """Attach the collection to nodes of another graph in the same database, or update it from them.

        Each node becomes a document, and documents of nodes that are gone are deleted. The other graph is only read.
        An interrupted call resumes.

        Args:
            mapping: labels, properties and relationships, or the path of a TOML or JSON file with them; None: the
                present mapping of the collection, else the proposal of `propose_attachment`.
            labels: the labels that the proposal covers; None: all.
            progress: receives (stage, done, total).

        Returns:
            Counts; `gone` are the keys of documents whose nodes are gone.

        Raises:
            InputError: the mapping does not fit that graph, or is missing.
            MismatchError: the collection holds other documents.
        """
        from kgrag.client.ingestion import attach

        with DocumentProgress(progress or no_progress) as telling:
            return attach(self.kg, self.name, mapping, labels, telling)

    def fact_schema(self) -> "FactSchema | None":
        """Return the fact schema of the collection.

        Returns:
            Its types and predicates; None if facts are extracted without a schema.
        """
        from kgrag.indexing.fact_schema import fact_schema

        return fact_schema(self._documents())

    @exclusive("schema")
    def set_fact_schema(self, schema: "FactSchema | Mapping[str, Any] | str | Path | None") -> "FactSchema | None":
        """Set the fact schema of the collection; the next `extract` reads its passages again with it.

        Args:
            schema: types and predicates, also as a dictionary, or the path of a TOML or JSON file with them; None:
                remove the schema.

        Returns:
            The schema that is in force now.

        Raises:
            InputError: the file is unreadable or not a schema, or a type is the label of nodes other than entities.
        """
        from kgrag.indexing.fact_schema import FactSchema, parse_fact_schema, read_fact_schema, set_fact_schema

        record = self._documents()
        schema = read_fact_schema(Path(schema)) if isinstance(schema, str | Path) else schema
        if schema is not None and not isinstance(schema, FactSchema):
            schema = parse_fact_schema(schema, "the schema")
        set_fact_schema(self.kg.graph, record, schema)
        return schema

    def propose_fact_schema(self, *, sample: int = 20) -> "FactSchema":
        """Have a language model propose a schema of facts from a sample of passages, in one call.

        Args:
            sample: how many passages, spread evenly over the collection.

        Returns:
            The proposal, which changes nothing by itself.

        Raises:
            ConfigurationError: no language model is configured.
            ModelError: the model's proposal cannot be used.
        """
        from kgrag.indexing.schema_proposal import propose

        return propose(self.kg.graph, self._documents(), self.kg.language_model(), sample)

    @exclusive("delete")
    def delete(
        self, documents: Iterable[str] | None = None, *, missing_ok: bool = False, progress: Progress | None = None
    ) -> int:
        """Delete documents, or the whole collection.

        Args:
            documents: their keys; None: the whole collection.
            missing_ok: whether to skip keys that do not exist, so that an interrupted call can be repeated.
            progress: receives (stage, done, total).

        Returns:
            The number of passages removed.

        Raises:
            NotFoundError: a key does not exist; nothing is removed then.
        """
        from kgrag.indexing import removal

        if documents is None:
            with self._lock:
                self._context = None
            return removal.delete_collection(self.kg.graph, self.name, self.kg.settings)
        return removal.delete_documents(
            self.kg.graph,
            self._documents(),
            documents,
            self.kg.settings,
            progress or no_progress,
            missing_ok=missing_ok,
        )

    @exclusive("reembed")
    def reembed(self, embedder: str | Embedder, *, progress: Progress | None = None) -> CollectionInfo:
        """Embed the collection again; searches use the old vectors until the new ones are complete.

        Args:
            embedder: the new one, or its name.
            progress: receives (stage, done, total).

        Returns:
            The collection at a glance.
        """
        from kgrag.indexing.repair import reembed

        self._documents()
        model = self.kg.embedder(embedder)
        return collection_info(
            self.kg.graph, reembed(self.kg.graph, self.name, model, self.kg.settings, progress or no_progress)
        )

    @exclusive("relanguage")
    def relanguage(self, language: str, *, progress: Progress | None = None) -> CollectionInfo:
        """Change the language of the collection; its words, names, mentions and keywords are computed again.

        Passages, vectors and facts stay. Run `resolve` again afterwards, and build topics and communities again.

        Args:
            language: ISO 639-1 code, such as "de"; "xx" for several languages.
            progress: receives (stage, done, total).

        Returns:
            The collection at a glance.

        Raises:
            ConfigurationError: kgrag does not know the language code.
        """
        from kgrag.indexing.repair import relanguage

        record = self._documents()
        model, settings = self.kg.embedder(record.embedder), self.kg.settings
        return collection_info(
            self.kg.graph, relanguage(self.kg.graph, self.name, language, model, settings, progress or no_progress)
        )

    @exclusive("repair")
    def repair(self, *, progress: Progress | None = None) -> RepairReport:
        """Create missing indexes and vectors, and complete interrupted stages.

        Args:
            progress: receives (stage, done, total).

        Returns:
            The indexes and vectors made, and the completed stages.
        """
        from kgrag.graph.schema import upgrade
        from kgrag.indexing.repair import repair

        upgrade(self.kg.graph)
        record = self._record()
        model = None if record.kind == KNOWLEDGE else self.kg.embedder(record.embedder)
        return repair(self.kg.graph, self.name, model, self.kg.settings, progress or no_progress)
