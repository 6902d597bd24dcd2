"""Back up, restore and upgrade the local server's whole database, by `neo4j-admin database dump` and `load`.

All of them stop the server and start it again. A restore keeps the former database in a dump, and puts it back after a
failure.
Logins are not part of the database, so this server keeps its password.
"""

import re
import shutil
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path

from kgrag.graph import schema
from kgrag.graph.connection import Graph
from kgrag.graph.local import bulk
from kgrag.graph.local.bulk import Note
from kgrag.graph.local.java import find_java
from kgrag.graph.local.releases import line_named
from kgrag.graph.local.server import LocalServer
from kgrag.runtime.files import free_bytes, megabytes, require_space
from kgrag.settings import Settings
from kgrag.values.errors import DatabaseError, InputError, LocalServerError, NotFoundError
from kgrag.values.events import Progress

_START_TIMEOUT = 24 * 3600.0  # seconds; the first start may rewrite the whole database


def upgrade(settings: Settings, progress: Progress) -> Path | None:
    """Upgrade data that are older than the line in `settings.local.version`, and start the server on them.

    Returns the folder with a dump of the former data, or None if there is nothing to upgrade. After any failure the
    former data are restored. Raises LocalServerError, and ConfigurationError if Java or the extra `local` is missing.
    """
    patient = settings.local.model_copy(update={"start_timeout": _START_TIMEOUT})
    server = LocalServer(settings.model_copy(update={"local": patient}))
    home, current, database = server.home, server.line(), settings.neo4j_database
    line = line_named(settings.local.version) if settings.local.version else current
    if not current.older(line) or not home.has_data():
        return None
    find_java(line.java)
    server.download(line, home.remembered(), progress)
    folder = bulk.dump_folder(home)
    with server.offline(progress) as admin:
        bulk.recover(home, admin, progress)
        require_space(home.root, bulk.store_size(home, database), "KGRAG_HOME")
        bulk.dump_into(folder, admin, home, database, progress, "Keeping a dump")
        # the database with the logins, which the older line will not be able to read any more either
        admin("database", "dump", "system", f"--to-path={folder}")
        bulk.write_note(home, Note(database, "check", str(folder)))
        home.set_line(line)
    try:
        server.ensure_running(progress=progress)
    except BaseException as error:
        bulk.write_note(home, Note(database, "import", str(folder)))
        home.set_line(current)
        with server.offline(progress) as admin:
            bulk.recover(home, admin, progress)
        if isinstance(error, LocalServerError):
            raise LocalServerError(
                f"The upgrade to Neo4j {line.name} failed; the data are what they were. {error.message}", error.remedy
            ) from error
        raise
    bulk.forget(home)
    return folder


_MAGIC = (b"DZV1", b"DGV1")  # a dump, compressed by Zstandard or by gzip
_BYTES = re.compile(r"^Bytes: (\d+)$", re.MULTILINE)
_SMALLER = 4  # a database is at least this many times larger than its dump


@dataclass(frozen=True, slots=True)
class BackupReport:
    """The path of a backup, its size, and the size of its contents, in bytes."""

    path: Path
    bytes: int
    store_bytes: int
    seconds: float


@dataclass(frozen=True, slots=True)
class RestoreReport:
    """The contents of the database after a restore. `dump`: the folder of the former contents, None without any."""

    collections: tuple[str, ...]
    dump: Path | None
    seconds: float


def backup(server: LocalServer, database: str, target: Path, progress: Progress, *, overwrite: bool) -> BackupReport:
    """Dump the database into a file. The server is down meanwhile; if it ran before, it runs again afterwards.

    Raises NotFoundError if no server was ever started here, InputError if the file cannot be written, LocalServerError.
    """
    started = time.monotonic()
    home = server.home
    if not home.has_data():
        raise NotFoundError("The local server was never started: there is nothing to back up.", "Start it: kgrag up")
    target = target.absolute()
    if target.is_dir() or (target.exists() and not overwrite):
        raise InputError(f"There is {target} already.", "Name another file, or replace it with --overwrite.")
    size = bulk.store_size(home, database)
    target.parent.mkdir(parents=True, exist_ok=True)
    if (free := free_bytes(target.parent)) < size // _SMALLER:
        raise InputError(
            f"A backup may take {megabytes(size // _SMALLER)}; {target.parent} has {megabytes(free)} free.",
            "Name a file on a larger disk.",
        )
    note = bulk.read_note(home)
    ran = server.status().running or (note is not None and note.ran)  # or ran before a backup that was killed
    part = target.with_name(f".{target.name}.part")
    try:
        with server.offline(progress) as admin:
            bulk.recover(home, admin, progress)
            shutil.rmtree(part, ignore_errors=True)
            bulk.dump_into(part, admin, home, database, progress, "Backup", ran=ran)
            (part / f"{database}.dump").replace(target)
            shutil.rmtree(part)
            bulk.forget(home)
    finally:
        if ran:
            server.ensure_running(progress=progress)
    return BackupReport(target, target.stat().st_size, size, time.monotonic() - started)


def check_backup(source: Path) -> None:
    """Raise InputError if a file cannot be from `neo4j-admin database dump`."""
    try:
        with source.open("rb") as file:
            begin = file.read(4)
    except OSError as error:
        raise InputError(
            f"{source} cannot be read: {error.strerror}.", "Name a file that `kgrag db backup` wrote."
        ) from error
    if begin not in _MAGIC:
        raise InputError(
            f"{source} is no backup.",
            "`kgrag db restore` reads what `kgrag db backup` wrote; `kgrag import` reads exports.",
        )


def restore(server: LocalServer, database: str, source: Path, progress: Progress) -> RestoreReport:
    """Replace the database by the contents of a backup; the server runs afterwards.

    The former data are kept in a dump, and restored if anything fails. Raises InputError if the file is not a backup,
    MismatchError if a kgrag of another schema wrote it, LocalServerError if it cannot be loaded.
    """
    started = time.monotonic()
    check_backup(source)
    home = server.home
    home.root.mkdir(parents=True, exist_ok=True, mode=0o700)
    occupied = bool(occupants(server, progress))
    dump = bulk.dump_folder(home) if occupied else None
    began = home.has_data()  # if so, the server is running now
    try:
        with server.offline(progress) as admin:
            bulk.recover(home, admin, progress)
            _replace(server, admin, database, source, dump, progress)
        return _checked(server, dump, started, progress)
    except BaseException as error:
        with server.offline(progress) as admin:
            note = bulk.read_note(home)
            if note is not None and note.step == "check":
                bulk.write_note(home, replace(note, step="import"))
            bulk.recover(home, admin, progress)
        if began:
            server.ensure_running(progress=progress)
        if isinstance(error, LocalServerError):
            reason = next((line for line in error.message.splitlines() if "Unable" in line), error.message)
            raise LocalServerError(
                f"{source} cannot be restored; the database is unchanged. {reason}", error.remedy
            ) from error
        raise


def _replace(
    server: LocalServer, admin: bulk.Admin, database: str, source: Path, dump: Path | None, progress: Progress
) -> None:
    """Load the backup. The former contents stay in `dump`, and the note tells how to restore them."""
    home = server.home
    with _as_dump(home.root / "restore", database, source) as folder:
        size = _size_of(admin, database, folder, source)
        require_space(home.root, size + (bulk.store_size(home, database) if dump else 0), "KGRAG_HOME")
        if dump is not None:
            bulk.dump_into(dump, admin, home, database, progress, "Keeping the old database")
        bulk.write_note(home, Note(database, "import", str(dump) if dump else None))
        bulk.load_from(folder, admin, database, progress, "Restore")
    bulk.write_note(home, Note(database, "check", str(dump) if dump else None))


def occupants(server: LocalServer, progress: Progress) -> list[str]:
    """Return the contents of the database in words; empty if it has none.

    Starts the server unless it was never started.
    """
    if not server.home.has_data():
        return []
    endpoint = server.ensure_running(progress=progress)
    with Graph(endpoint.uri, endpoint.user, endpoint.password, endpoint.database) as graph:
        return bulk.occupants(graph)


def _checked(server: LocalServer, dump: Path | None, started: float, progress: Progress) -> RestoreReport:
    """Start the server on the restored data. Raises MismatchError if this kgrag cannot use them."""
    endpoint = server.ensure_running(progress=progress)
    with Graph(endpoint.uri, endpoint.user, endpoint.password, endpoint.database) as graph:
        try:
            version = schema.stored_version(graph)
        except DatabaseError as error:
            raise LocalServerError(
                f"Neo4j {server.line().name} does not open what it holds.",
                "If a later line of Neo4j wrote it, restore it under a KGRAG_HOME of that line (kgrag up --version).",
            ) from error
        if version not in (None, *schema.READABLE):
            raise schema.version_mismatch("The backup", version)
        records = graph.run("look_up/collections", name="")
    bulk.forget(server.home)
    names = tuple(r["collection"]["name"] for r in records)
    return RestoreReport(names, dump, time.monotonic() - started)


@contextmanager
def _as_dump(folder: Path, database: str, source: Path) -> Iterator[Path]:
    """Hold a folder where the backup has the name that the load expects."""
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True, mode=0o700)
    try:
        (folder / f"{database}.dump").symlink_to(source.absolute())
        yield folder
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def _size_of(admin: bulk.Admin, database: str, folder: Path, source: Path) -> int:
    """Return the bytes of a loaded dump. Raises InputError if it cannot be read."""
    try:
        output = admin("database", "load", database, f"--from-path={folder}", "--info")
    except LocalServerError as error:
        raise InputError(f"{source} is no backup, or is damaged.", "Restore another one.") from error
    match = _BYTES.search(output)
    return int(match[1]) if match else 0
