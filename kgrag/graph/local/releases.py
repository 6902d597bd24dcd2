"""The lines of Neo4j that kgrag can run: how each starts, the Java it needs, and its jars."""

from dataclasses import dataclass
from functools import cache
from importlib import resources
from pathlib import Path

from kgrag.runtime.jars import Jar, parse_lock
from kgrag.values.errors import ConfigurationError, MismatchError
from kgrag.values.installing import update_hint

SERVER = "server"
"""The group of a lock file that is Neo4j itself."""


@dataclass(frozen=True, slots=True)
class Line:
    """A line of releases; its lock file, neo4j-NAME.lock, holds the exact version."""

    name: str
    main_class: str
    java: tuple[int, ...]  # the feature versions of Java that it names as supported
    conf: tuple[tuple[str, str], ...]  # settings in neo4j.conf that only this line has

    def older(self, other: "Line") -> bool:
        """Return whether this line came before the other."""
        return LINES.index(self) < LINES.index(other)


# By default a stop waits five seconds for connections that are idle already.
_QUIET = "internal.dbms.bolt.netty_server_shutdown_quiet_period"

LINES = (
    Line("5.26", "org.neo4j.server.CommunityEntryPoint", (17, 21), ((_QUIET, "0"),)),
    Line(
        "2026",
        "org.neo4j.server.Neo4jCommunity",
        (21, 25),
        (
            (f"{_QUIET}_duration", "0s"),
            # On by default: broadcasts to the network, an account elsewhere, headers of a proxy that is not there.
            ("server.fleet_discovery.enabled", "false"),
            ("dbms.fleet_manager.enabled", "false"),
            ("server.http.x_forward.enabled", "false"),
            ("db.query.default_language", "CYPHER_25"),  # the default of new databases elsewhere
        ),
    ),
)
"""Oldest first: data go from one to a later one, never back."""

DEFAULT = LINES[0]
"""5.26 starts in .85 of the time, and `pathrank`'s median is .90 of 2026's.

Its vector indexes do not reach every node; `retrieve/vector` and the seeds of rankings make up for that.
"""


def line_named(name: str) -> Line:
    """Return the line of that name. Raises ConfigurationError for an unknown one."""
    for line in LINES:
        if line.name == name:
            return line
    raise ConfigurationError(
        f"This kgrag does not know Neo4j {name!r}.",
        f"It knows {' and '.join(line.name for line in LINES)}. For data of a newer one: {update_hint()}",
    )


def other_line(home: Path, current: Line, target: str) -> MismatchError:
    """Return the error for data of another line of Neo4j than the settings name, with the remedy."""
    if current.older(line_named(target)):
        return MismatchError(
            f"The data in {home} are of Neo4j {current.name}, and {target} is asked for.",
            f"Upgrade them (a dump is kept): kgrag up --version {target}. Or unset KGRAG_LOCAL__VERSION.",
        )
    return MismatchError(
        f"The data in {home} are of Neo4j {current.name}, which {target} cannot read.",
        f"Go on with {current.name}. To go back to {target}: `kgrag export` each collection and `kgrag import` it "
        "under another KGRAG_HOME, or `kgrag db restore` there the dump that the upgrade kept.",
    )


@cache
def lock_groups(line: Line) -> dict[str, tuple[Jar, ...]]:
    """Return the lock file of a line: group name -> jars.

    "server" is Neo4j itself, every other group is a plugin.
    """
    file = resources.files("kgrag.graph.local").joinpath(lock_name(line))
    return dict(parse_lock(file.read_text(encoding="utf-8")))


def lock_name(line: Line) -> str:
    """Return the file name of a line's lock file, beside this module."""
    return f"neo4j-{line.name}.lock"


def locked_version(line: Line) -> str:
    """Return the version of Neo4j in the lock file of a line."""
    return next(jar.version for jar in lock_groups(line)[SERVER] if jar.artifact == "neo4j")
