"""A knowledge graph behind `kgrag serve`, over HTTP, with the methods of a local one.

They return the same values and raise the same errors.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import partial
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING, Any, Self, overload
from urllib.parse import quote

from kgrag.agents.lookup import Lookup
from kgrag.agents.strategy import Strategy
from kgrag.client.arguments import check_part, unknown_argument
from kgrag.client.collection import FACTS
from kgrag.client.federation import checked, split_names
from kgrag.client.http import Http, Json
from kgrag.client.operations import Operation
from kgrag.client.searching import Searching
from kgrag.client.verbs import operations
from kgrag.graph.jobs import Job, State
from kgrag.graph.runs import Run
from kgrag.loaders.dispatch import LOADERS
from kgrag.loaders.folder_walk import Seen, Walk, check_address, file_key
from kgrag.models.prompted import Listener
from kgrag.retrieval.base import Query, Retriever
from kgrag.runtime import limits
from kgrag.values.documents import Problem, Scan
from kgrag.values.errors import CancelledError, InputError, ServerError, error_of
from kgrag.values.events import Answer, Answered, Event, Progress, no_progress
from kgrag.values.forms import plain
from kgrag.values.results import CollectionInfo, DocumentContents, DocumentInfo, Filter, IngestReport, Passage, Ranking
from kgrag.values.rows import Rows
from kgrag.wire import from_json, written_whole

if TYPE_CHECKING:
    from neo4j_viz import VisualizationGraph

    from kgrag.inspection.result import Inspection


FILES_AT_ONCE, BYTES_AT_ONCE = 100, 32 * 1024 * 1024  # limits of one upload request


def named_files(paths: Iterable[str | Path], root: str | Path | None) -> Iterator[tuple[str, Path]]:
    """Yield files with their names; a folder yields the files that a loader reads.

    Raises InputError for a path that does not exist.
    """
    seen, endings = Seen(), tuple(ending for _, form in LOADERS.items() for ending in form.extensions)
    for path in map(Path, paths):
        check_address(path)
        if not path.exists():
            raise InputError(f"There is no {str(path)!r}.", "Check the spelling.")
        folder = path if path.is_dir() else path.parent
        files: Iterable[Path | Problem] = Walk(path, seen, Scan(), root, False) if path.is_dir() else [path]
        for file in files:
            if isinstance(file, Path) and (file is path or file.name.lower().endswith(endings)):
                yield file_key(file, root or folder), file


def parts(files: Iterator[tuple[str, Path]]) -> Iterator[dict[str, Path]]:
    """Yield the files in groups for one request each."""
    part: dict[str, Path] = {}
    size = 0
    for name, path in chain(files, [("", Path())]):
        bytes_ = path.stat().st_size if name else 0
        if part and (not name or len(part) == FILES_AT_ONCE or size + bytes_ > BYTES_AT_ONCE):
            yield part
            part, size = {}, 0
        part[name] = path
        size += bytes_


class RemoteJobs:
    """The jobs that a key may see."""

    def __init__(self, http: Http) -> None:
        self.http = http

    def jobs(self, collection: str | None = None, state: State | None = None, limit: int = 50) -> list[Job]:
        """Return the jobs of the collections that the key may see.

        Args:
            collection: None: all.
            state: None: any.
            limit: the most jobs.

        Returns:
            The jobs, newest first.
        """
        query = {"collection": collection, "state": state, "limit": limit}
        parameters = {name: value for name, value in query.items() if value is not None}
        return from_json(list[Job], self.http.request("GET", "jobs", params=parameters)["jobs"])

    def job(self, id: str) -> Job:
        """Return the current state of a job.

        Args:
            id: its id.

        Returns:
            The job.

        Raises:
            NotFoundError: there is no such job.
        """
        return from_json(Job, self.http.request("GET", _job(id)))

    def cancel(self, id: str) -> Job:
        """Cancel a job; its results so far stay.

        Args:
            id: its id.

        Returns:
            The job.
        """
        return from_json(Job, self.http.request("DELETE", _job(id)))

    def retry(self, id: str) -> Job:
        """Resume a job that failed or was cancelled.

        Args:
            id: its id.

        Returns:
            The job.
        """
        return from_json(Job, self.http.request("POST", f"{_job(id)}/retry"))

    def watch(self, id: str) -> Iterator[Job]:
        """Yield the job now and at each change, until it has ended.

        Args:
            id: its id.

        Yields:
            The job.
        """
        for _, form in self.http.events("GET", f"{_job(id)}/events"):
            yield from_json(Job, form)

    def finished(self, job: Job, progress: Progress | None = None) -> Job:
        """Wait for a job to end.

        Args:
            job: the job.
            progress: receives (stage, done, total).

        Returns:
            The completed job, with its result.

        Raises:
            KgragError: the error that the job failed with.
            CancelledError: the job was cancelled.
        """
        for now in self.watch(job.id):
            job = now
            if progress is not None and now.state == "running" and now.stage:
                progress(now.stage, now.done, now.total)
        if job.state == "failed":
            raise error_of(job.error_kind, job.error, job.remedy)
        if job.state != "done":
            raise CancelledError("The job was cancelled.", "Retry it to go on.")
        return job


def _job(id: str) -> str:
    return f"jobs/{quote(id, safe='')}"


_KEYS = 100  # documents per request


class RemoteKnowledgeGraph(RemoteJobs):
    """The collections of a server; threads may share it. Close it, or use `with`.

    Args:
        url: the server's address; nothing is sent yet.
        key: a key made by `kgrag keys add`, if the server has keys.

    Example:
        >>> with RemoteKnowledgeGraph("https://kgrag.example.org", "secret") as remote:
        ...     notes = remote["notes"]  # then as a Collection: notes.search("Who designed the ship?")
    """

    def __init__(self, url: str, key: str | None = None) -> None:
        """Make the client; nothing is sent yet.

        Raises:
            ConfigurationError: httpx is not installed, or the address is invalid.
        """
        super().__init__(Http(url, key))

    def __repr__(self) -> str:
        return f"RemoteKnowledgeGraph({self.http.url!r})"

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Close the connections."""
        self.http.close()

    @overload
    def __getitem__(self, name: str) -> "RemoteCollection": ...

    @overload
    def __getitem__(self, name: tuple[str, ...]) -> "RemoteSearching": ...

    def __getitem__(self, name: str | tuple[str, ...]) -> "RemoteCollection | RemoteSearching":
        """Return a collection, or several as one; see `KnowledgeGraph.__getitem__`."""
        return RemoteCollection(self, name) if isinstance(name, str) else RemoteSearching(self, name)

    def __iter__(self) -> Iterator[str]:
        """Iterate over the names of the collections that the key may see; see `KnowledgeGraph.__iter__`."""
        return (info.name for info in self.collections())

    def __contains__(self, name: object) -> bool:
        """Return whether the key may see a collection of that name; see `KnowledgeGraph.__contains__`."""
        return checked(name) in list(self)

    def select(self, names: str) -> "RemoteCollection | RemoteSearching":
        """Return the collection that a text names, or several as one; see `KnowledgeGraph.select`."""
        several = split_names(names)
        return self[names] if len(several) < 2 or names in self else self[several]

    def collections(self) -> list[CollectionInfo]:
        """Return every collection that the key may see; see `KnowledgeGraph.collections`."""
        return from_json(list[CollectionInfo], self.http.request("GET", "collections")["collections"])

    def cypher(self, statement: str, parameters: Mapping[str, Any] | None = None) -> Rows:
        """Run a read-only Cypher statement with a key for all collections; see `KnowledgeGraph.cypher`."""
        return from_json(
            Rows, self.http.request("POST", "cypher", {"statement": statement, "parameters": parameters or {}})
        )

    def saved_query(self, name: str, /, **arguments: Any) -> Rows:
        """Run a saved query on the whole database, or on `collection`; see `KnowledgeGraph.saved_query`."""
        collection = arguments.pop("collection", None)
        place = "" if collection is None else f"{_path(collection)}/"
        address = f"{place}queries/{quote(name, safe='')}"
        return from_json(Rows, self.http.request("POST", address, {"parameters": arguments}))

    def draw(
        self, what: Ranking | Answer | Rows | str, parameters: Mapping[str, Any] | None = None
    ) -> "VisualizationGraph":
        """Draw a graph for a notebook; see `KnowledgeGraph.draw`."""
        from kgrag.drawing import drawing, visualise

        return visualise(drawing(self.cypher(what, parameters) if isinstance(what, str) else what))


class RemoteSearching(Searching):
    """One or several collections of a server, to be searched and asked: `kg["notes", "ships"]`."""

    def __init__(self, kg: RemoteKnowledgeGraph, names: Sequence[str]) -> None:
        self.kg = kg
        self.name = ",".join(names)
        self._named: Json = {"collections": list(names)}
        self._place = ""

    def __repr__(self) -> str:
        return f"<{type(self).__name__} {self.name!r}>"

    def _rank(self, query: Query, k: int, retriever: str | Retriever) -> Ranking:
        check_part(retriever, str, "retriever")
        body = self._body(query, k) | {"retriever": retriever, "deadline": limits.remaining()}
        return from_json(Ranking, self.kg.http.request("POST", f"{self._place}search", body))

    def _answer(
        self, query: Query, system: str | Strategy | None, *, short: bool, k: int, choices: Sequence[str]
    ) -> Callable[[Listener | None, bool], Answer]:
        check_part(system or "", str, "system")
        body = self._body(query, k) | {"system": system, "short": short, "choices": list(choices)}
        return partial(self._heard, body)

    def _heard(self, body: Json, listener: Listener | None, stream: bool) -> Answer:
        """Return an answer, and send its events to the listener; partial texts only with `stream`."""
        text = ""
        budget = {"budget": limits.budget_left()}  # the deadline closes the connection; the budget ends the work
        for name, form in self.kg.http.events("POST", f"{self._place}ask", body | budget):
            if name == "Answer":
                return from_json(Answer, form)
            event = from_json(Event, written_whole(form, text))
            text = event.text if isinstance(event, Answered) else text
            if listener is not None and (stream or event.in_trace):
                listener(event)
        raise ServerError("The server ended before it answered.", "Ask again.")

    def _body(self, query: Query, k: int) -> Json:
        question = {"question": query.text, "k": k, "filter": plain(query.filter), "knowledge": list(query.knowledge)}
        return question | self._named

    def look_up(self, question: str, *, filter: Filter | None = None) -> Lookup | None:
        """Return the page, table or section that a question names, in the first collection that has it; else None."""
        lookups = (self.kg[name].look_up(question, filter=filter) for name in self._named["collections"])
        return next((each for each in lookups if each is not None), None)


class RemoteCollection(RemoteSearching):
    """A collection of a server, `kg["notes"]`, with the methods of `Collection`.

    Args:
        kg: the client.
        name: the name of the collection, existing or not.

    Example:
        >>> with RemoteKnowledgeGraph("https://kgrag.example.org", "secret") as remote:
        ...     notes = remote["notes"]
        >>> notes.name
        'notes'
    """

    def __init__(self, kg: RemoteKnowledgeGraph, name: str) -> None:
        super().__init__(kg, [name])
        self._named = {}
        self._place = f"{_path(name)}/"

    def look_up(self, question: str, *, filter: Filter | None = None) -> Lookup | None:
        """Return the page, table or section that a question names; see `Collection.look_up`."""
        form = self._post("look-up", {"question": question, "filter": plain(filter or Filter())})["lookup"]
        return None if form is None else from_json(Lookup, form)

    def passage(self, text: str) -> Passage:
        """Return a passage; see `Collection.passage`."""
        return from_json(Passage, self._get("passage", id=text, edges=0)["passage"])

    def documents(self, *, after: str = "", limit: int = 100, search: str = "") -> list[DocumentInfo]:
        """Return documents in the order of their keys; see `Collection.documents`."""
        page = self._get("documents", after=after, limit=limit, search=search)
        return from_json(list[DocumentInfo], page["documents"])

    def document(self, key: str, *, limit: int = 1000) -> DocumentContents:
        """Return the passages and tables of a document; see `Collection.document`."""
        return from_json(DocumentContents, self._get("document", key=key, limit=limit))

    def names(self, text: str, *, limit: int = 8) -> list[tuple[str, int]]:
        """Return names of entities that match words of a text; see `Collection.names`."""
        return [(match["name"], match["passages"]) for match in self._get("names", q=text, limit=limit)["names"]]

    def example_questions(self) -> list[str]:
        """Return questions that the facts and names of the collection suggest; see `Collection.example_questions`."""
        return from_json(list[str], self._get("examples")["questions"])

    def runs(self) -> list[Run]:
        """Return the saved answers; see `Collection.runs`."""
        return from_json(list[Run], self._get("runs")["runs"])

    def info(self) -> CollectionInfo:
        """Return the collection's embedder and counts; see `Collection.info`."""
        return from_json(CollectionInfo, self.kg.http.request("GET", _path(self.name)))

    def inspect(self) -> "Inspection":
        """Inspect the collection; see `Collection.inspect`."""
        from kgrag.inspection.result import Inspection

        return from_json(Inspection, self._get("inspect"))

    def cypher(self, statement: str, parameters: Mapping[str, Any] | None = None) -> Rows:
        """Run a read-only Cypher statement; see `Collection.cypher`."""
        return self.kg.cypher(statement, {"collection": self.name, **(parameters or {})})

    def saved_query(self, name: str, /, **arguments: Any) -> Rows:
        """Run a saved query on this collection; see `Collection.saved_query`."""
        return self.kg.saved_query(name, **{"collection": self.name, **arguments})

    def history(self, name: str, *, as_of: str = "") -> Rows:
        """Return the facts of a schema about an entity, each with its validity; see `Collection.history`."""
        return self.saved_query("history", entity=name, as_of=as_of, limit=FACTS)

    def ingest(
        self,
        source: str | Path | Iterable[str | Path],
        *,
        language: str | None = None,
        root: str | Path | None = None,
        progress: Progress | None = None,
    ) -> IngestReport:
        """Send files and folders to the server, which reads them into the collection, made if it does not exist.

        Args:
            source: a path, or several.
            language: the ISO 639-1 code of a new collection; None: detected from the first documents.
            root: a folder to which files' keys are relative; None: the given folder, or the folder of a given file.
            progress: receives (stage, done, total).

        Returns:
            Counts and problems.

        Raises:
            InputError: no path can be read at all.
        """
        report, jobs = IngestReport(), []
        for files in parts(named_files([source] if isinstance(source, str | Path) else source, root)):
            jobs.append(self._send(files, language))
        if not jobs:
            raise InputError("There was nothing to read.", "Name files, or folders that hold some.")
        for job in jobs:
            part = from_json(IngestReport, self.kg.finished(job, progress or no_progress).result)
            report = replace(report, **{name: getattr(report, name) + getattr(part, name) for name in _SUMMED})
        return report

    def submit(self, kind: str, parameters: Mapping[str, Any] | None = None) -> Job:
        """Submit a job; `kg.finished(job)` waits for it.

        Args:
            kind: "extract", "tag", "resolve", "tree", "communities", "prune" and others.
            parameters: the parameters of that kind.

        Returns:
            The queued job.
        """
        return from_json(Job, self._post("jobs", {"kind": kind, "parameters": dict(parameters or {})}))

    def delete(self, documents: Iterable[str] | None = None, *, progress: Progress | None = None) -> int:
        """Delete documents, or the whole collection; see `Collection.delete`."""
        if documents is None:
            jobs = [from_json(Job, self.kg.http.request("DELETE", _path(self.name)))]
        else:
            keys = list(documents)
            jobs = [
                self.submit("delete", {"documents": keys[start : start + _KEYS]})
                for start in range(0, len(keys), _KEYS)
            ]
        return sum(int(self.kg.finished(job, progress).result["passages"]) for job in jobs)

    def __getattr__(self, name: str) -> Any:
        """Return a verb's method: it takes the options of `Collection`'s method, submits a job and waits for it."""
        verb = next((each for each in operations().values() if each.method.__name__ == name), None)
        if verb is None:
            raise AttributeError(f"{type(self).__name__!r} object has no attribute {name!r}")
        return partial(self._done, verb)

    def _done(self, verb: Operation, *, progress: Progress | None = None, **options: Any) -> Any:
        offered = [each.name for each in verb.offered]
        for option in options:
            if option not in offered:
                raise unknown_argument(f"{verb.method.__name__}()", option, offered)
        return from_json(verb.result, self.kg.finished(self.submit(verb.name, options), progress).result)

    def _send(self, files: Mapping[str, Path], language: str | None) -> Job:
        """Upload files under their names, and return the job that reads them."""
        parts = [("files", (name, path.read_bytes(), "application/octet-stream")) for name, path in files.items()]
        parameters = {} if language is None else {"language": language}
        return from_json(
            Job, self.kg.http.request("POST", f"{_path(self.name)}/documents", files=parts, params=parameters)
        )

    def _post(self, path: str, body: Json) -> Json:
        return self.kg.http.request("POST", f"{_path(self.name)}/{path}", body)

    def _get(self, path: str, **params: Any) -> Json:
        return self.kg.http.request("GET", f"{_path(self.name)}/{path}", params=params)


_SUMMED = ("added", "changed", "unchanged", "passages", "embedded", "embedded_batches", "problems", "seconds")


def _path(collection: str) -> str:
    return f"collections/{quote(collection, safe='')}"
