"""What looks the graph over: Cypher that only reads, inspection, drawings, export."""

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from kgrag.client.connected import DEFAULT_COLLECTION, Connected, silent
from kgrag.events import Answer
from kgrag.graph import collections as registry
from kgrag.models.chat import no_model
from kgrag.models.tasks import Listener
from kgrag.retrieval.base import Query
from kgrag.rows import Rows
from kgrag.types import CollectionInfo, Progress, Ranking

if TYPE_CHECKING:
    from neo4j_viz import VisualizationGraph

    from kgrag.agents.text_to_cypher import CypherAnswer
    from kgrag.exchange.export import ExportReport
    from kgrag.inspection.result import Inspection


class Analysing(Connected):
    """A client for analysts."""

    def collections(self) -> list[CollectionInfo]:
        """Every collection with its counts."""
        return [registry.describe(self.graph, c) for c in registry.list_collections(self.graph)]

    def inspect(self, collection: str = DEFAULT_COLLECTION, *, near: float = 0.98) -> "Inspection":
        """What a collection looks like: counts, distributions, coverage, and findings with their remedies.

        `near`: (1 + cosine) / 2 from which texts and names nearly say the same. Raises NotFoundError.
        """
        from kgrag.inspection.inspect import inspect

        return inspect(self.graph, collection, self.settings, near=near)

    def cypher(self, statement: str, parameters: Mapping[str, Any] | None = None, *, embeddings: bool = False) -> Rows:
        """The answer of a Cypher statement, which can only read (see `kgrag.graph.gateway`).

        `embeddings`: whether they stay in what is returned. Raises RefusedError for a statement that is not let
        through, DatabaseError when it is wrong, or takes too long or too much memory.
        """
        from kgrag.graph.gateway import read_only

        return read_only(self.graph, statement, parameters, self.settings.gateway, embeddings=embeddings)

    def saved_query(self, name: str, /, *, embeddings: bool = False, **arguments: Any) -> Rows:
        """The answer of one of the saved queries (`kgrag cypher --list`), its parameters as keyword arguments.

        `embeddings`: whether they stay in what is returned. Raises NotFoundError for a name that does not exist,
        ConfigurationError for an argument that the query does not take.
        """
        from kgrag.graph.saved import run_saved

        return run_saved(self.graph, name, arguments, self.settings.gateway, embeddings=embeddings)

    def question_parameters(self, question: str, collection: str = DEFAULT_COLLECTION) -> dict[str, Any]:
        """What Cypher wants to know of a question: its words, its embedding, the names of the collection's indexes.

        Those that saved queries take are `query` and `vector`. Raises NotFoundError.
        """
        from kgrag.graph.saved import question_parameters

        index = self._index(collection)
        return question_parameters(index.reader.collection, question, Query(question).vector(index.embedder))

    def ask_cypher(
        self,
        question: str,
        collection: str = DEFAULT_COLLECTION,
        *,
        run: bool = True,
        listener: Listener | None = None,
    ) -> "CypherAnswer":
        """The rows that answer a question, by a Cypher statement that a language model writes; it can only read.

        `run` False: the statement alone. Raises NotFoundError, ConfigurationError when no language model is configured,
        ModelError when what it writes cannot be run, twice.
        """
        from kgrag.agents.text_to_cypher import ask_cypher

        found = registry.open_collection(self.graph, collection)
        tasks = self.tasks()
        if tasks is None:
            raise no_model()
        return ask_cypher(self.graph, found, question, tasks, self.settings.gateway, run=run, listener=listener)

    def draw(
        self, what: "Ranking | Answer | Rows | str", parameters: Mapping[str, Any] | None = None
    ) -> "VisualizationGraph":
        """A graph for a notebook, shown by `.render()`: a ranking's trails, an answer's steps, or what Cypher finds.

        `what`: a Ranking, an Answer, Rows, or a Cypher statement with its `parameters`. Raises ConfigurationError
        without neo4j-viz (`pip install 'kgrag[viz]'`), InputError when there is nothing to draw.
        """
        from kgrag.drawing import drawing, visualise

        return visualise(drawing(self.cypher(what, parameters) if isinstance(what, str) else what))

    def export(
        self,
        target: str,
        collection: str = DEFAULT_COLLECTION,
        *,
        format: str | None = None,
        embeddings: bool = True,
        overwrite: bool = False,
        progress: Progress | None = None,
    ) -> "ExportReport":
        """Write all that a collection holds to a file (JSON Lines, GraphML), a folder (CSV) or "-", standard output.

        `format`: jsonl, graphml or csv, by default as the name says. Without `embeddings` it cannot be imported.
        Raises NotFoundError, InputError if the target cannot be written, MismatchError if the collection changes.
        """
        from kgrag.exchange.export import export

        found = registry.open_collection(self.graph, collection)
        return export(
            self.graph, found, target, progress or silent, format=format, embeddings=embeddings, overwrite=overwrite
        )
