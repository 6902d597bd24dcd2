"""Neo4j's classes as Java has them in memory, in a file of the cache that a server maps instead of reading its jars.

Java calls it an archive of class data sharing. A process of its own makes it in the background, of the list of classes
beside this module: python -m kgrag.graph.local.archive
"""

import hashlib
import lzma
import os
import shutil
import sys
import tempfile
import time
from collections.abc import Sequence
from contextlib import suppress
from importlib import resources
from pathlib import Path

import psutil
from filelock import FileLock, Timeout

from kgrag.graph.local.java import Java, run_java
from kgrag.graph.local.lines import SERVER, Line, line_named, lock_groups
from kgrag.graph.local.process import clean_environment, start_detached
from kgrag.runtime.files import free_bytes
from kgrag.runtime.jars import JarStore

DELAY = 60.0  # seconds; what is done first with a new server has the processors to itself
_OUTSIDE = ("neo4j-browser-", "jaxb-runtime-")
"""Jars that no archive holds: Browser's is another in each home, and the manifest of the other names jars, which makes
Java 21 refuse the archive."""
_RELOCATED = 21
"""From it on Java maps an archive at an address by chance, and has to rewrite all of it, unless it is told not to."""
_TIMEOUT = 900.0  # seconds
_MEMORY = 1_500_000_000  # bytes that have to be available, of which Java takes 850 MB to make one
_SPACE = 600_000_000  # bytes that have to be free on the disk; an archive takes 150 MB
_KEPT = 2  # of a line, for two versions of Java


def archived_first(jars: Sequence[Path]) -> list[Path]:
    """`jars` in the order of the class path: an archive is good for every one that begins as its own did."""
    return sorted(jars, key=lambda jar: jar.name.startswith(_OUTSIDE))


class Archive:
    """The archive of a line of Neo4j for a Java, which may not be there (yet)."""

    def __init__(self, store: JarStore, line: Line, java: Java) -> None:
        """Look at the jars, which are there. Raises OSError if they are not."""
        self._store = store
        self._line = line
        self._java = java
        self._jars = [jar for jar in store.paths(lock_groups(line)[SERVER]) if not jar.name.startswith(_OUTSIDE)]
        # What Java compares before it takes an archive, and of what it is made.
        states = ((str(file), file.stat().st_size, file.stat().st_mtime_ns) for file in (java.path, *self._jars))
        made_of = repr((*states, *self._flags)).encode() + _packed(line)
        self.folder = store.folder.parent / "java"
        self.path = self.folder / f"neo4j-{line.name}-{hashlib.sha256(made_of).hexdigest()[:16]}.jsa"
        self.failure = self.path.with_suffix(".log")

    @property
    def _flags(self) -> tuple[str, ...]:
        placed = ("-XX:+UnlockDiagnosticVMOptions", "-XX:ArchiveRelocationMode=0")
        return placed if self._java.version >= _RELOCATED else ()

    def options(self) -> list[str]:
        """The options of Java that use the archive, none if it is not there; Java goes on without a damaged one."""
        return [*self._flags, f"-XX:SharedArchiveFile={self.path}"] if self.path.exists() else []

    def refusal(self) -> str | None:
        """Why Java does not take the archive, None if it does. Raises LocalServerError if Java cannot be run."""
        command = ["-Xshare:on", *self.options(), *self._class_path(), "-version"]
        code, output = run_java(self._java, command, cwd=self.folder, env=clean_environment(), timeout=60)
        return output.strip() if code else None

    def make_soon(self) -> None:
        """Have it made in the background, unless it is there or Java failed at it before."""
        if self.path.exists() or self.failure.exists():
            return
        given = [str(self._store.folder), self._line.name, str(self._java.path), str(self._java.version), str(DELAY)]
        with suppress(OSError, psutil.Error):  # a start is as good without
            self.folder.mkdir(parents=True, exist_ok=True)
            start_detached([sys.executable, "-m", __name__, *given], cwd=self.folder, output=Path(os.devnull))

    def make(self) -> None:
        """Make it, unless it is there, or somebody makes one now, or memory or disk are short. Raises OSError."""
        with suppress(Timeout), FileLock(self.folder / ".lock", timeout=0):
            short = psutil.virtual_memory().available < _MEMORY or free_bytes(self.folder) < _SPACE
            if self.path.exists() or short:
                return
            for left in self.folder.glob("making-*"):  # by one that was killed
                shutil.rmtree(left, ignore_errors=True)
            with tempfile.TemporaryDirectory(prefix="making-", dir=self.folder) as name:
                self._dump(Path(name))
            olds = sorted(self.folder.glob(f"neo4j-{self._line.name}-*.jsa"), key=lambda file: file.stat().st_mtime)
            for old in olds[:-_KEPT]:
                old.unlink()

    def _dump(self, folder: Path) -> None:
        classes, made = folder / "classes", folder / "archive"
        classes.write_text(class_names(self._line), encoding="utf-8")
        command = ["-Xshare:dump", f"-XX:SharedClassListFile={classes}", f"-XX:SharedArchiveFile={made}"]
        command += ["-Xmx512m", *self._flags, *self._class_path()]
        code, output = run_java(self._java, command, cwd=folder, env=clean_environment(), timeout=_TIMEOUT)
        if code or not made.exists():
            self.failure.write_text(output, encoding="utf-8")
        else:
            made.replace(self.path)

    def _class_path(self) -> list[str]:
        return ["-cp", os.pathsep.join(map(str, self._jars))]


def list_name(line: Line) -> str:
    """The name of the packed file, beside this module, that lists the classes of a line."""
    return f"classes-{line.name}.xz"


def class_names(line: Line) -> str:
    """The classes of a line, one on each line of the text."""
    return lzma.decompress(_packed(line)).decode()


def _packed(line: Line) -> bytes:
    return resources.files("kgrag.graph.local").joinpath(list_name(line)).read_bytes()


def main() -> None:
    """Make an archive when the machine has nothing else to do."""
    jars, line, java, version, delay = sys.argv[1:]
    if sys.platform != "win32":
        os.nice(19)
    if sys.platform == "linux":
        os.sched_setscheduler(0, os.SCHED_IDLE, os.sched_param(0))
    time.sleep(float(delay))
    Archive(JarStore(Path(jars)), line_named(line), Java(Path(java), int(version), "")).make()


if __name__ == "__main__":
    main()
