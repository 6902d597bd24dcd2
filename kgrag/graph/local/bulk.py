"""Bulk import into the local server's database: `neo4j-admin database import full`, undone if it is interrupted.

The import tool writes a new database from files while the server is down. A note in the home folder records the
progress, so that the next start restores the old state, or creates the missing indexes.
"""

import json
import os
import shutil
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from datetime import datetime
from pathlib import Path
from typing import Literal, Protocol

import psutil

from kgrag.graph import collections, schema
from kgrag.graph.connection import Graph
from kgrag.graph.counts import count_nodes
from kgrag.graph.local.home import Home
from kgrag.runtime.files import require_space, write_atomic
from kgrag.values.errors import DatabaseError, LocalServerError
from kgrag.values.events import Progress

_ADMIN_TOOL = "org.neo4j.cli.AdminTool"
ARGUMENTS = "neo4j-admin.args"
"""The argument file of the import tool, for users who run it themselves."""

_BUFFER = 4 << 20  # bytes that the import tool reads at once; a row must fit


class Admin(Protocol):
    """Runs neo4j-admin with its arguments and returns what it printed; raises LocalServerError if it fails."""

    def __call__(self, *args: str, tick: "Tick | None" = None) -> str: ...  # noqa: D102


class Tick(Protocol):
    """Called about once a second with the seconds that have passed."""

    def __call__(self, seconds: int, /) -> None: ...  # noqa: D102


@dataclass(frozen=True, slots=True)
class Files:
    """The files of an import.

    They are (labels or relationship type, header and data files), the files with line breaks in fields, and the length
    of the longest row in bytes.
    """

    nodes: Sequence[tuple[str, Sequence[Path]]]
    relationships: Sequence[tuple[str, Sequence[Path]]]
    multiline: Sequence[Path]
    longest: int

    @property
    def paths(self) -> list[Path]:
        """All files."""
        return [path for _, paths in (*self.nodes, *self.relationships) for path in paths]

    def size(self) -> int:
        """Return the sum of bytes."""
        return sum(path.stat().st_size for path in self.paths)


@dataclass(frozen=True, slots=True)
class Note:
    """The state of a dump or replacement of the database; `ran`: the server ran before, and must run afterwards.

    dump: the database is being dumped into the folder `dump`. import: files or another dump are being loaded, and
    `dump` holds the former data (None if empty). check: it was replaced but not started yet. index: it lacks indexes.
    """

    database: str
    step: Literal["dump", "import", "check", "index"]
    dump: str | None
    ran: bool = False


def import_files(
    admin: Admin, home: Home, database: str, files: Files, progress: Progress, *, dump: Path | None = None
) -> None:
    """Replace the database by the contents of the files; the server must be down, the home folder locked.

    With `dump` the old database is first saved in that folder. If the import ends early for any reason, the old state
    is restored. Raises LocalServerError.
    """
    require_space(home.root, files.size() + (store_size(home, database) if dump else 0), "KGRAG_HOME")
    if dump is not None:
        dump_into(dump, admin, home, database, progress, "Keeping the old database")
    write_note(home, Note(database, "import", str(dump) if dump else None))
    try:
        admin("database", "import", "full", database, *arguments(files, home), tick=_ticks(progress, "import"))
    except BaseException:
        recover(home, admin, progress)
        raise
    write_note(home, Note(database, "index", str(dump) if dump else None))


def dump_into(
    folder: Path, admin: Admin, home: Home, database: str, progress: Progress, stage: str, *, ran: bool = False
) -> None:
    """Dump the database into a new folder; the note stays. Raises LocalServerError.

    The server must be down, the home folder locked.
    """
    folder.mkdir(parents=True, mode=0o700)
    write_note(home, Note(database, "dump", str(folder), ran))
    try:
        admin("database", "dump", database, f"--to-path={folder}", tick=_ticks(progress, stage))
    except BaseException:
        recover(home, admin, progress)
        raise


def load_from(folder: Path, admin: Admin, database: str, progress: Progress, stage: str) -> None:
    """Replace the database by the dump with its name in a folder. Raises LocalServerError.

    The server must be down, the home folder locked.
    """
    load = (f"--from-path={folder}", "--overwrite-destination=true")
    admin("database", "load", database, *load, tick=_ticks(progress, stage))


def recover(home: Home, admin: Admin, progress: Progress | None) -> None:
    """Restore the database after an interrupted replacement; remove an incomplete dump.

    The server must be down, the home folder locked. Raises LocalServerError if the dump cannot be loaded.
    """
    note = read_note(home)
    if note is None or note.step not in ("dump", "import"):
        return
    _end_orphans(home)
    report = progress or (lambda stage, done, total: None)
    if note.step == "dump":
        shutil.rmtree(str(note.dump), ignore_errors=True)
    elif note.dump is not None and (dumps := sorted(Path(note.dump).glob("*.dump"))):
        try:
            for dump in dumps:
                load_from(Path(note.dump), admin, dump.stem, report, "Restoring the database")
        except LocalServerError as error:
            raise LocalServerError(
                f"The database cannot be restored from {note.dump} after an interruption: {error.message}",
                f"{error.remedy} Then run kgrag up again; the dump is kept.",
            ) from error
        shutil.rmtree(note.dump, ignore_errors=True)
    else:  # it was empty; the server creates it again
        for folder in _store(home, note.database):
            shutil.rmtree(folder, ignore_errors=True)
    forget(home)


def complete(home: Home, graph: Graph) -> None:
    """Create the missing constraints and indexes of an imported database. Raises DatabaseError."""
    note = read_note(home)
    if note is None or note.step not in ("check", "index"):
        return
    if note.step == "index":
        schema.ensure_schema(graph)
        for collection in collections.list_collections(graph):
            collections.ensure_indexes(graph, collection, *count_nodes(graph, collection.name))
    forget(home)


def forget(home: Home) -> None:
    """Remove the note, since nothing is incomplete."""
    _file(home).unlink(missing_ok=True)


def read_note(home: Home) -> Note | None:
    """Return the note of an incomplete bulk import, backup, restore or upgrade in the home folder, else None."""
    try:
        return Note(**json.loads(_file(home).read_text(encoding="utf-8")))
    except FileNotFoundError:
        return None
    except (OSError, ValueError, TypeError) as error:
        raise LocalServerError(
            f"The note of a bulk load, {_file(home)}, cannot be read: {error}", "Restore it, or delete the database."
        ) from error


def occupants(graph: Graph) -> list[str]:
    """Return the contents that a replacement of the database destroys: collections by name, else foreign nodes."""
    records = graph.run("look_up/collections", name="")
    names = [f"collection {record['collection']['name']!r}" for record in records]
    if not names and (foreign := graph.run("inspect/foreign_nodes")[0]["number"]):
        names.append(f"{foreign:,} nodes that are not kgrag's")
    return names


def dump_folder(home: Home) -> Path:
    """Return the path of a new folder for a dump of the database."""
    return home.root / "dumps" / datetime.now().strftime("%Y-%m-%d-%H%M%S")


@contextmanager
def work_folder(home: Home) -> Iterator[Path]:
    """Provide an empty folder for the files of a bulk load; remove it at the end, with folders of killed loads."""
    folder = home.root / "bulk"
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True, mode=0o700)
    try:
        yield folder
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def arguments(files: Files, home: Home) -> Iterator[str]:
    """Yield the arguments of `neo4j-admin` to import files."""
    yield from ("--verbose", "--overwrite-destination=true", f"--report-file={home.log.parent / 'import.report'}")
    yield from import_arguments(files, home.server)


def import_arguments(files: Files, folder: Path) -> Iterator[str]:
    """Yield the arguments that name the files to the import tool, which runs in that folder."""
    yield f"--read-buffer-size={max(_BUFFER, 2 * files.longest)}"

    def joined(paths: Sequence[Path]) -> str:
        # relative, since the tool splits at commas and reads names as regular expressions
        return ",".join(os.path.relpath(path, folder) for path in paths)

    if files.multiline:  # v2 reads in parallel and fails on files larger than its buffer
        yield "--multiline-fields-format=v1"
        yield "--multiline-fields=true"
    for option, groups in (("nodes", files.nodes), ("relationships", files.relationships)):
        for name, paths in groups:
            yield f"--{option}={name}={joined(paths)}"


def _store(home: Home, database: str) -> list[Path]:
    return [home.server / "data" / kind / database for kind in ("databases", "transactions")]


def store_size(home: Home, database: str) -> int:
    """Return the bytes of the database."""
    return sum(f.stat().st_size for folder in _store(home, database) for f in folder.rglob("*") if f.is_file())


def _end_orphans(home: Home) -> None:
    """Stop an import tool that outlived its parent process, since it writes into the database being restored."""
    ours = f"@{home.conf / 'classpath.args'}"
    for process in psutil.process_iter(["cmdline"]):
        command = process.info["cmdline"] or ()
        if ours in command and _ADMIN_TOOL in command:
            try:
                process.kill()
                process.wait(30)
            except psutil.NoSuchProcess:
                pass
            except psutil.Error as error:
                raise DatabaseError(
                    f"Process {process.pid} still imports into the database.", "End it, then run the command again."
                ) from error


def _ticks(progress: Progress, stage: str) -> "Tick":
    progress(stage, 0, None)
    return lambda seconds: progress(stage, seconds, None)


def _file(home: Home) -> Path:
    return home.root / "bulk.json"


def write_note(home: Home, note: Note) -> None:
    """Write the note to the home folder."""
    write_atomic(_file(home), json.dumps(asdict(note)) + "\n")
