"""The kinds of jobs: the options of each, and its work on the collection."""

import os
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Annotated, Any

from pydantic import BaseModel, ConfigDict, Field, ValidationError, create_model

from kgrag.client.graph import KnowledgeGraph
from kgrag.client.operations import Operation
from kgrag.client.verbs import operations
from kgrag.graph import collections as registry
from kgrag.graph.connection import Graph
from kgrag.graph.jobs import Job
from kgrag.indexing.removal import find_gone
from kgrag.loaders.base import clean
from kgrag.server.uploads import Uploads
from kgrag.values.documents import Scan
from kgrag.values.errors import ConfigurationError, InputError, KgragError, NotFoundError
from kgrag.values.events import Progress
from kgrag.values.forms import plain

_LISTED = 500  # entries of a list in a result
_SETTLE = 2.0  # seconds without a change before a file of a watched folder is read


class Options(BaseModel):
    """The options of a kind of job; none names a path, an address or a model."""

    model_config = ConfigDict(extra="forbid", frozen=True)


class IngestOptions(Options):
    """`uploads`: names of stored files; `language`: the language of a new collection, detected by default."""

    uploads: Annotated[tuple[str, ...], Field(min_length=1, max_length=100_000)]
    language: Annotated[str | None, Field(pattern="^[a-z]{2,3}$")] = None


class DeleteOptions(Options):
    """`documents`: their keys; None for the whole collection with its uploads."""

    documents: Annotated[tuple[str, ...] | None, Field(min_length=1, max_length=100_000)] = None


@dataclass(frozen=True, slots=True)
class JobOutcome:
    """The result of a job in JSON, and its errors."""

    result: Mapping[str, Any]
    error: KgragError | None = None


@dataclass(frozen=True, slots=True)
class Work:
    """The resources of a job. `again`: whether the job was started before."""

    kg: KnowledgeGraph
    uploads: Uploads
    name: str
    progress: Progress
    again: bool

    @property
    def graph(self) -> Graph:
        """The database."""
        return self.kg.graph


@dataclass(frozen=True, slots=True)
class Kind:
    """A kind of job. `new`: the collection need not exist; `ready` raises the error of a missing requirement."""

    options: type[Options]
    run: Callable[[Work, Any], JobOutcome]
    new: bool = False
    ready: Callable[[KnowledgeGraph, Any], object] = lambda kg, options: None


def checked_options(kg: KnowledgeGraph, uploads: Uploads, kind: str, collection: str, parameters: Any) -> Options:
    """Return the options of a job in their stored form.

    Raises NotFoundError for an unknown kind, collection or upload, and ConfigurationError for an unknown option, a
    value out of range, or a job that needs a language model or TAGME that is not configured.
    """
    if kind not in KINDS:
        raise NotFoundError(f"There is no kind of job {kind!r}.", f"There are: {', '.join(KINDS)}.")
    registry.check_name(collection)
    try:
        options = KINDS[kind].options.model_validate(parameters)
    except ValidationError as error:
        first = error.errors()[0]
        place = ".".join(map(str, first["loc"])) or "they"
        allowed = ", ".join(KINDS[kind].options.model_fields) or "none"
        raise ConfigurationError(
            f"The options of a job {kind!r} are invalid: {place}: {first['msg']}.", f"There are: {allowed}."
        ) from error
    if not KINDS[kind].new:
        registry.check_documents(registry.open_collection(kg.graph, collection))
    if isinstance(options, IngestOptions):
        names = dict.fromkeys(uploads.find(collection, name).name for name in options.uploads)
        options = options.model_copy(update={"uploads": tuple(names)})
    if kind == "watched" and collection not in kg.settings.serve.watch:
        raise InputError(f"No folder is watched for {collection!r}.", "KGRAG_SERVE__WATCH says which are.")
    KINDS[kind].ready(kg, options)
    return options


def run(kg: KnowledgeGraph, uploads: Uploads, job: Job, progress: Progress) -> JobOutcome:
    """Do the work of a job; a second run resumes. Raises what the collection raises."""
    kind = KINDS[job.kind]
    work = Work(kg, uploads, job.collection, progress, job.attempt > 1)
    outcome = kind.run(work, kind.options.model_validate(job.parameters))
    return replace(outcome, result=_listed(outcome.result))


def _ingest(work: Work, options: IngestOptions) -> JobOutcome:
    targets = set(options.uploads)
    names = {upload.path: upload.name for upload in work.uploads.list(work.name) if upload.name in targets}
    report = work.kg[work.name].ingest(
        list(names), language=options.language, root=work.uploads.folder(work.name), names=names, progress=work.progress
    )
    _drop_unread(work, targets.intersection(problem.place for problem in report.problems))
    read = report.added + report.changed + report.unchanged
    nothing = InputError("Nothing could be read.", "See the problems of each file.") if report.problems else None
    return JobOutcome(plain(report), None if read else nothing)


class _Names(Mapping[Path, str]):
    """The names of the files of a folder: relative paths, which do not reveal where the folder is."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder

    def __getitem__(self, path: Path) -> str:
        return clean(path.relative_to(self._folder).as_posix())

    def __iter__(self) -> Iterator[Path]:
        return self._folder.rglob("*")

    def __len__(self) -> int:
        return sum(1 for _ in self)

    def __bool__(self) -> bool:
        return True


def _read_watched(work: Work, options: Options) -> JobOutcome:
    """Update the documents from the watched folder of the settings, and delete those whose files are missing."""
    folder = Path(os.path.realpath(work.kg.settings.serve.watch[work.name]))
    if not folder.is_dir():
        raise InputError("The watched folder is missing.", "The operator of the server can mount or create it.")
    report = work.kg[work.name].ingest(
        folder, root=folder, names=_Names(folder), prune=True, settle=_SETTLE, progress=work.progress
    )
    problems = [
        {**plain(problem), "place": _inside(problem.place, folder), "message": _inside(problem.message, folder)}
        for problem in report.problems
    ]
    failed = len({problem["place"] for problem in problems})
    return JobOutcome({**plain(report), "problems": problems, "failed": failed})


def _inside(text: str, folder: Path) -> str:
    """Return a text without the path of a folder."""
    return text.replace(f"{folder.as_posix()}/", "").replace(folder.as_posix(), folder.name)


def _drop_unread(work: Work, names: set[str]) -> None:
    """Remove the stored files that yielded no document."""
    root = clean(work.uploads.folder(work.name).resolve().as_posix())
    rows = work.graph.run("look_up/files_in", collection=work.name, prefixes=sorted(names), roots=[root])
    for name in names.difference(row["prefix"] for row in rows):
        work.uploads.remove(work.name, name)


def kind_of(operation: Operation) -> Kind:
    """Return the kind of job of a verb. If the verb stops early, its report is still the result."""

    def run(work: Work, options: Options) -> JobOutcome:
        report = operation.method(work.kg[work.name], **dict(options), progress=work.progress)
        return JobOutcome(plain(report), getattr(report, "stopped", None))

    fields: dict[str, Any] = {
        each.name: (each.kind, Field(each.default, description=each.help)) for each in operation.offered
    }
    options = create_model(f"{operation.name.title()}Options", __base__=Options, __doc__=operation.summary, **fields)
    return Kind(options, run, ready=operation.ready)


def _delete(work: Work, options: DeleteOptions) -> JobOutcome:
    collection = work.kg[work.name]
    if options.documents is not None:
        removed = collection.delete(options.documents, missing_ok=work.again, progress=work.progress)
        for name in {upload.name for upload in work.uploads.list(work.name)}.intersection(options.documents):
            work.uploads.remove(work.name, name)
        return JobOutcome({"documents": list(options.documents), "passages": removed})
    try:
        removed = collection.delete(progress=work.progress)
    except NotFoundError:
        if not work.again:
            raise
        removed = 0  # the process died after it was deleted
    work.uploads.clear(work.name)
    return JobOutcome({"passages": removed})


def _prune(work: Work, options: Options) -> JobOutcome:
    """Delete the documents of uploads that are no longer stored."""
    record = registry.open_collection(work.graph, work.name)
    names = dict.fromkeys((upload.name for upload in work.uploads.list(work.name)), "")
    folder = str(work.uploads.folder(work.name).resolve())
    absent = list(find_gone(work.graph, record, Scan(folder, names, folders=[""])))
    removed = work.kg[work.name].delete(absent, missing_ok=True, progress=work.progress)
    return JobOutcome({"documents": absent, "passages": removed})


def _listed(value: Any) -> Any:
    """Return a result with its lists cut, since one node stores the job."""
    if isinstance(value, Mapping):
        return {key: _listed(item) for key, item in value.items()}
    return [_listed(item) for item in value[:_LISTED]] if isinstance(value, list) else value


KINDS: dict[str, Kind] = {
    "ingest": Kind(IngestOptions, _ingest, new=True),
    **{name: kind_of(operation) for name, operation in operations().items()},
    "delete": Kind(DeleteOptions, _delete, new=True),
    "prune": Kind(Options, _prune),
    "watched": Kind(Options, _read_watched, new=True),
}
"""Every kind of job by its name."""
