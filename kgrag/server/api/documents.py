"""Routes that upload, list and delete documents."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Annotated, Any, ClassVar

from fastapi import APIRouter, File, Query, Response, UploadFile
from fastapi.responses import FileResponse
from pydantic import Field, create_model

from kgrag.server.api.forms import WHOLE, RequestForm, versioned
from kgrag.server.api.jobs import JOB, submitted
from kgrag.server.failures import Reply
from kgrag.server.keys import Role
from kgrag.server.pictures import file_of
from kgrag.server.route_context import Called, Caller, Named
from kgrag.server.uploads import Uploads, checked_name
from kgrag.values.errors import TooLargeError
from kgrag.values.forms import plain
from kgrag.values.results import DocumentContents, DocumentInfo
from kgrag.wire import to_json

router = APIRouter(tags=["documents"])

_CHUNK = 1024 * 1024  # bytes
UPLOAD_FILES = 1000
"""Maximum number of files or texts in one request, which is one job."""
_UPLOAD: Any = create_model("HeldUpload", name=str, size=int)
BYTES = {"schema": {"type": "string", "format": "binary"}}
_ORIGINAL: dict[int | str, Any] = {
    200: {"content": dict.fromkeys(("application/octet-stream", "application/pdf"), BYTES)}
}
Key = Annotated[str, Field(min_length=1, max_length=2000)]


@dataclass(frozen=True, slots=True, kw_only=True)
class ListedDocument(DocumentInfo):
    """A listed document; `held`: the server stores its file."""

    __pydantic_config__: ClassVar = WHOLE
    held: bool


class NamedText(RequestForm):
    """A text, read like a file of that name; the extension tells its format: .md, .html, .txt, ..."""

    name: Annotated[str, Field(min_length=1, max_length=500)]
    text: str


class TextsRequest(RequestForm):
    """Texts that become documents. `language`: the language of a new collection; detected by default."""

    texts: Annotated[tuple[NamedText, ...], Field(min_length=1, max_length=10_000)]
    language: Annotated[str | None, Field(pattern="^[a-z]{2,3}$")] = None


@router.post("/collections/{collection}/documents", status_code=202, response_model=JOB)
async def upload(
    caller: Called,
    collection: Named,
    files: Annotated[list[UploadFile], File(max_length=1000, description="their names name the documents")],
    language: Annotated[str | None, Query(pattern="^[a-z]{2,3}$")] = None,
) -> Reply:
    """Store files, and start a job that ingests them; creates the collection if necessary (role write).

    A file replaces an earlier one of the same name.
    """
    parts = [(file.filename or "", file.size or 0, iter(partial(file.file.read, _CHUNK), b"")) for file in files]
    return await caller.work(lambda: _store_files(caller, collection, parts, language))


@router.post("/collections/{collection}/texts", status_code=202, response_model=JOB)
async def add_texts(caller: Called, collection: Named, body: TextsRequest) -> Reply:
    """Ingest texts instead of files (role write)."""
    texts = [(text.name, text.text.encode()) for text in body.texts]
    files = [(name, len(data), [data]) for name, data in texts]
    return await caller.work(lambda: _store_files(caller, collection, files, body.language))


@router.get(
    "/collections/{collection}/documents",
    response_model=create_model("Documents", documents=list[ListedDocument], after=str | None),
)
async def documents(
    caller: Called,
    collection: Named,
    after: Annotated[str, Query(max_length=2000, description="the key after which the page begins")] = "",
    limit: Annotated[int, Query(ge=1, le=1000)] = 100,
    search: Annotated[str, Query(max_length=500, description="words of the key or the title")] = "",
) -> Reply:
    """Return a page of the documents in the order of their keys; `after` is null, or begins the next page.

    `held`: the server stores the file of the document.
    """

    def listed() -> Reply:
        listing = caller.collection(collection).documents(after=after, limit=limit, search=search)
        uploads = caller.serving.jobs.uploads
        rows = [{**plain(document), "held": uploads.holds(collection, document.file)} for document in listing]
        return Reply({"documents": rows, "after": listing[-1].key if len(listing) == limit else None})

    return await caller.work(listed)


@router.get("/collections/{collection}/document", response_model=versioned(DocumentContents))
async def document(
    caller: Called,
    collection: Named,
    key: Key,
    limit: Annotated[int, Query(ge=1, le=10_000, description="passages, tables and figures, at most")] = 1000,
) -> Reply:
    """Return the passages, tables and figures of a document, by its key."""
    return Reply(to_json(await caller.work(lambda: caller.collection(collection).document(key, limit=limit))))


@router.get("/collections/{collection}/original", response_class=FileResponse, responses=_ORIGINAL)
async def original(caller: Called, collection: Named, key: Key) -> Response:
    """Return the unchanged file of a document: a PDF to display, any other file as a download."""

    def load() -> Path:
        caller.collection(collection)
        return file_of(caller.kg, collection, key, ("",))

    path, name = await caller.work(load), key.rpartition("/")[2]
    if path.suffix.lower() != ".pdf":  # scripts in a document must not run in this server's pages
        return FileResponse(path, media_type="application/octet-stream", filename=name)
    return FileResponse(path, media_type="application/pdf", filename=name, content_disposition_type="inline")


@router.delete("/collections/{collection}/documents", status_code=202, response_model=JOB)
async def delete_documents(
    caller: Called,
    collection: Named,
    key: Annotated[list[Key], Query(min_length=1, max_length=100)],
    seconds: Annotated[int, Query(ge=0, le=3600, description="delay, in which the job can be cancelled")] = 0,
) -> Reply:
    """Start a job that deletes documents with their uploads (role write)."""
    return await caller.work(lambda: submitted(caller, collection, "delete", {"documents": key}, seconds))


@router.delete("/collections/{collection}/uploads", status_code=202, response_model=JOB)
async def prune_documents(
    caller: Called, collection: Named, name: Annotated[list[Key], Query(min_length=1, max_length=100)]
) -> Reply:
    """Remove these files, and start a job that deletes the documents of all files not stored (role write)."""

    def dropped() -> Reply:
        uploads = _open(caller, collection)
        for one in map(checked_name, name):
            uploads.remove(collection, one)
        return submitted(caller, collection, "prune", {})

    return await caller.work(dropped)


@router.get("/collections/{collection}/uploads", response_model=create_model("Uploads", uploads=list[_UPLOAD]))
async def uploads(caller: Called, collection: Named) -> Reply:
    """Return the stored files, by name."""
    stored = await caller.work(lambda: _open(caller, collection, "read").list(collection))
    return Reply({"uploads": [{"name": upload.name, "size": upload.size} for upload in stored]})


def _open(caller: Caller, collection: str, role: Role = "write") -> Uploads:
    caller.collection(collection, role, new=True)
    return caller.serving.jobs.uploads


def _store_files(
    caller: Caller, collection: str, files: Sequence[tuple[str, int, Iterable[bytes]]], language: str | None
) -> Reply:
    """Store files, given by name, size and content, and submit the job that reads them.

    Raises TooLargeError for more files than a job may have, FullError if the disk has no room for them.
    """
    uploads, options = _open(caller, collection), caller.serving.options
    if len(files) > UPLOAD_FILES:
        raise TooLargeError(f"{len(files):,} files at once are more than {UPLOAD_FILES:,}.", "Send them in parts.")
    names = [checked_name(name) for name, _, _ in files]  # check all before storing any
    uploads.check_room(sum(size for _, size, _ in files), options.held_mb * 1_000_000)
    for name, (_, _, chunks) in zip(names, files, strict=True):
        uploads.keep(collection, name, chunks)
    return submitted(caller, collection, "ingest", {"uploads": names, "language": language})
