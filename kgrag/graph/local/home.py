"""The folder of a local server: its layout, the files a start needs, and the command lines that run on it."""

import hashlib
import json
import os
import shutil
import tempfile
from collections.abc import Mapping, Sequence
from pathlib import Path
from zipfile import ZIP_DEFLATED, BadZipFile, ZipFile

from kgrag.graph.local.archive import Archive, archived_first
from kgrag.graph.local.config import PasswordFile, Ports, browser_url, conf_text, memory_size, ports_of
from kgrag.graph.local.java import Java
from kgrag.graph.local.releases import LINES, SERVER, Line, line_named, lock_groups
from kgrag.runtime.files import private_folder, write_atomic
from kgrag.runtime.jars import Jar, JarStore
from kgrag.settings import LocalSettings

_ARTIFACT = "neo4j-browser-"
_ROOT = "browser"


def copy_folder(server: Path, cache: Path) -> Path:
    """Return the folder of a server's copy: Neo4j finds nothing in a jar whose path is not ASCII."""
    folder = server / _ROOT
    return folder if str(folder).isascii() else cache / _ROOT / hashlib.sha256(str(folder).encode()).hexdigest()[:16]


def place_browser(jars: Sequence[Path], folder: Path, pages: Mapping[str, str]) -> list[Path]:
    """Return `jars` with a copy of Browser's in place of it, in `folder`, with `pages` (path -> text) added.

    The copy is made again only when the jar or a page changed. Raises OSError.
    """
    return [_with_pages(jar, folder / jar.name, pages) if jar.name.startswith(_ARTIFACT) else jar for jar in jars]


def _with_pages(jar: Path, copy: Path, pages: Mapping[str, str]) -> Path:
    entries = {f"{_ROOT}/{path}": text.encode() for path, text in pages.items()}
    if _holds(copy, entries):
        return copy
    for old in copy.parent.glob("*"):
        old.unlink()
    handle, name = tempfile.mkstemp(dir=copy.parent)
    os.close(handle)
    shutil.copyfile(jar, name)
    with ZipFile(name, "a", ZIP_DEFLATED) as archive:
        for entry, content in entries.items():
            archive.writestr(entry, content)
    return Path(name).replace(copy)


def _holds(copy: Path, entries: Mapping[str, bytes]) -> bool:
    try:
        with ZipFile(copy) as archive:
            return all(archive.read(entry) == content for entry, content in entries.items())
    except (OSError, BadZipFile, KeyError):
        return False


_REACHED = ("java.nio", "java.io", "sun.nio.ch", "java.util.concurrent")
_OPENED = [f"--add-opens=java.base/{name}=ALL-UNNAMED" for name in _REACHED]
"""The parts of Java that Neo4j accesses, as in its own scripts; on Java 25 no import works without them."""

_THRESHOLDS = {"Invocation": 5000, "MinInvocation": 600, "Compile": 15000, "BackEdge": 40000}
_LATER = [f"-XX:Tier4{name}Threshold={4 * count}" for name, count in _THRESHOLDS.items()]
"""Java's second compiler waits for four times as many runs of a method as by default. A first ingest then takes two
thirds of the processor time, and searches of many threads take as much as before (`bench/cold_start.py`)."""

_FIRST_HEAP = "256m"
_SMALL_HEAP = 2 << 30  # bytes; up to it the parallel collector's pauses are short, and searches take some 6 % less time


class Home:
    """The folder that holds everything of a server but its jars. `server` is Neo4j's own home."""

    def __init__(self, root: Path, settings: LocalSettings, jars: JarStore) -> None:
        self._settings = settings
        self._jars = jars
        self.root = root
        self.server = root / "server"
        self.conf = self.server / "conf"
        self.plugins = self.server / "plugins"
        self.browser = copy_folder(self.server, jars.folder.parent)
        self.log = self.server / "logs" / "neo4j.log"
        self.console = self.server / "logs" / "console.log"
        self.pid_file = root / "server.pid"
        self.lock_file = root / ".lock"
        self.password = PasswordFile(root / "password")
        self._memory_file = root / "server.json"
        self._line_file = self.server / "line"  # beside the data, and moved with them

    def has_data(self) -> bool:
        """Return whether a server was ever started here."""
        return (self.server / "data" / "databases" / "system").exists()

    def line(self) -> Line | None:
        """Return the line of Neo4j that wrote the data, None without data.

        Raises ConfigurationError for a line that this kgrag does not know.
        """
        if not self.has_data():
            return None
        try:
            return line_named(self._line_file.read_text(encoding="utf-8").strip())
        except FileNotFoundError:
            return LINES[0]  # homes of older versions have no such file

    def set_line(self, line: Line) -> None:
        """Record the version line of Neo4j that the data have or will soon have. Raises OSError."""
        write_atomic(self._line_file, f"{line.name}\n")

    def set_login(self, text: str) -> None:
        """Write the user and password that the first start sets. Raises OSError."""
        file = self.server / "data" / "dbms" / "auth.ini"
        file.parent.mkdir(parents=True, exist_ok=True)
        write_atomic(file, text, mode=0o600)

    def ports(self) -> Ports | None:
        """Return the ports of the latest start."""
        return ports_of(self.conf / "neo4j.conf")

    def prepare(self, ports: Ports, plugins: Sequence[str], line: Line) -> None:
        """Write what a start reads: neo4j.conf, the class path, Browser's pages, the plugins. Raises OSError."""
        from kgrag.graph import browser

        private_folder(self.server)
        self.set_line(line)
        for folder in (self.conf, self.log.parent, self.plugins, self.browser):
            folder.mkdir(parents=True, exist_ok=True)
        address = browser_url(ports)
        write_atomic(self.conf / "neo4j.conf", conf_text(self._settings, line, ports, plugins, address + browser.GUIDE))
        pages = {browser.GUIDE: browser.demo_guide(address), browser.STYLE: browser.style()}
        jars = place_browser(self._jars.paths(lock_groups(line)[SERVER]), self.browser, pages)
        # Plugins stand on the class path too, as in Neo4j's own scripts: GDS registers services that way.
        entries = [*archived_first(jars), self.plugins / "*"]
        classpath = os.pathsep.join(str(path) for path in entries).replace("\\", "\\\\").replace('"', '\\"')
        write_atomic(self.conf / "classpath.args", f'-cp "{classpath}"\n')
        self._place_plugins([jar for plugin in plugins for jar in lock_groups(line)[plugin]])

    def archive(self, java: Java, line: Line) -> Archive | None:
        """Return the archive of classes for a start, None where the settings disable it.

        Raises OSError without jars.
        """
        return Archive(self._jars, line, java) if self._settings.archive else None

    def start_command(self, java: Java, line: Line) -> list[str | Path]:
        """Return the command line of the server. Raises ConfigurationError if the heap setting is no memory size."""
        heap, archive = self._settings.heap, self.archive(java, line)
        return [
            java.path, *self._classpath(), f"-Xms{min(heap, _FIRST_HEAP, key=memory_size)}", f"-Xmx{heap}",
            "-XX:+UseParallelGC" if memory_size(heap) <= _SMALL_HEAP else "-XX:+UseG1GC",
            *(archive.options() if archive else ()), *_LATER, "-XX:+ExitOnOutOfMemoryError", *_OPENED,
            *(f"--add-modules={name}" for name in java.modules), "-Dio.netty.tryReflectionSetAccessible=true",
            "-Dlog4j2.disable.jmx=true", line.main_class, self.mark, f"--config-dir={self.conf}", "--console-mode",
        ]  # fmt: skip

    def admin_command(self, *args: str) -> list[str]:
        """Return the arguments of Java that run neo4j-admin; it needs `admin_environment` too.

        Raises ConfigurationError if the heap setting is no memory size.
        """
        heap = max(self._settings.heap, _FIRST_HEAP, key=memory_size)
        return [*self._classpath(), f"-Xmx{heap}", *_OPENED, "org.neo4j.cli.AdminTool", *args]

    def admin_environment(self) -> dict[str, str]:
        """Return the variables by which neo4j-admin finds this server."""
        return {"NEO4J_HOME": str(self.server), "NEO4J_CONF": str(self.conf)}

    @property
    def mark(self) -> str:
        """The argument by which a server of this home is known among all processes."""
        return f"--home-dir={self.server}"

    def remembered(self) -> tuple[str, ...]:
        """Return the plugins that every start loads."""
        return tuple(self._memory().get("plugins", []))

    def remember(self, plugins: Sequence[str]) -> None:
        """Make `plugins` those of every later start. Raises OSError."""
        self._write_memory(plugins=list(plugins))

    def _classpath(self) -> list[str]:
        # In a file, for the class path is longer than some systems allow on a command line.
        return [f"@{self.conf / 'classpath.args'}"]

    def _place_plugins(self, jars: Sequence[Jar]) -> None:
        """Hold the plugins folder to these jars, but leave alone what the user put there."""
        names = {jar.filename for jar in jars}
        for old in self._memory().get("plugin_jars", []):
            if old not in names:
                (self.plugins / old).unlink(missing_ok=True)
        self._write_memory(plugin_jars=sorted(names))
        for jar, source in zip(jars, self._jars.paths(jars), strict=True):
            target = self.plugins / jar.filename
            if not target.exists() or target.stat().st_size != jar.size:
                target.unlink(missing_ok=True)
                _link_or_copy(source, target)

    def _memory(self) -> dict[str, list[str]]:
        try:
            memory: dict[str, list[str]] = json.loads(self._memory_file.read_text(encoding="utf-8"))
        except (OSError, ValueError):
            return {}
        return memory

    def _write_memory(self, **values: list[str]) -> None:
        write_atomic(self._memory_file, json.dumps(self._memory() | values) + "\n")


def _link_or_copy(source: Path, target: Path) -> None:
    try:
        target.hardlink_to(source)
    except OSError:
        shutil.copyfile(source, target)
