"""Upgrade of the local server's data to a later line of Neo4j, which rewrites them when it starts on them."""

from pathlib import Path

from kgrag.graph.local import bulk
from kgrag.graph.local.bulk import Note
from kgrag.graph.local.java import find_java
from kgrag.graph.local.lines import line_named
from kgrag.graph.local.server import LocalServer
from kgrag.runtime.files import require_space
from kgrag.settings import Settings
from kgrag.values.errors import LocalServerError
from kgrag.values.events import Progress

_START_TIMEOUT = 24 * 3600.0  # seconds; the first start may rewrite the whole database


def upgrade(settings: Settings, progress: Progress) -> Path | None:
    """Upgrade data that are older than the line in `settings.local.version`, and start the server on them.

    Returns the folder of a dump of what they were, None if there is nothing to upgrade. Whatever fails, they are put
    back. Raises LocalServerError, ConfigurationError if Java or the extra `local` is missing.
    """
    patient = settings.local.model_copy(update={"start_timeout": _START_TIMEOUT})
    server = LocalServer(settings.model_copy(update={"local": patient}))
    home, held, database = server.home, server.line(), settings.neo4j_database
    line = line_named(settings.local.version) if settings.local.version else held
    if not held.older(line) or not home.has_data():
        return None
    find_java(line.java)
    server.download(line, home.remembered(), progress)
    folder = bulk.dump_folder(home)
    with server.offline(progress) as admin:
        bulk.recover(home, admin, progress)
        require_space(home.root, bulk.store_size(home, database), "KGRAG_HOME")
        bulk.dump_into(folder, admin, home, database, progress, "Keeping a dump")
        # The logins are there, and the older line cannot read them any more either.
        admin("database", "dump", "system", f"--to-path={folder}")
        bulk.write_note(home, Note(database, "check", str(folder)))
        home.set_line(line)
    try:
        server.ensure_running(progress=progress)
    except BaseException as error:
        bulk.write_note(home, Note(database, "import", str(folder)))
        home.set_line(held)
        with server.offline(progress) as admin:
            bulk.recover(home, admin, progress)
        if isinstance(error, LocalServerError):
            raise LocalServerError(
                f"The upgrade to Neo4j {line.name} failed; the data are what they were. {error.message}", error.remedy
            ) from error
        raise
    bulk.forget(home)
    return folder
