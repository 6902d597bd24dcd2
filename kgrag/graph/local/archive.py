"""A cached memory image of Neo4j's classes, which a server maps instead of reading its jars.

Java calls it a class data sharing archive. It is made in the background (`background.py`), from the list of classes
next to this module.
"""

import hashlib
import lzma
import os
import tempfile
from collections.abc import Sequence
from importlib import resources
from pathlib import Path

from kgrag.graph.local.java import Java, run_java
from kgrag.graph.local.process import clean_environment
from kgrag.graph.local.releases import SERVER, Line, lock_groups
from kgrag.runtime.jars import JarStore

_OUTSIDE = ("neo4j-browser-", "jaxb-runtime-")
"""Jars left out of archives: Browser's differs in each home, and the other's manifest names jars, which makes Java 21
refuse the archive."""
_RELOCATED = 21
"""The Java version from which an archive is mapped at a random address and relocated, unless an option forbids it."""
_TIMEOUT = 900.0  # seconds
_KEPT = 2  # archives kept per line, for two versions of Java


def archived_first(jars: Sequence[Path]) -> list[Path]:
    """Return `jars` in class path order; an archive is valid for every class path that begins like its own."""
    return sorted(jars, key=lambda jar: jar.name.startswith(_OUTSIDE))


class Archive:
    """The archive of a line of Neo4j for a Java; it may not exist yet."""

    def __init__(self, store: JarStore, line: Line, java: Java) -> None:
        """Inspect the jars. Raises OSError if they are missing."""
        self._store = store
        self._line = line
        self._java = java
        self._jars = [jar for jar in store.paths(lock_groups(line)[SERVER]) if not jar.name.startswith(_OUTSIDE)]
        # the states that Java checks before it accepts an archive, and the inputs of the archive
        states = ((str(file), file.stat().st_size, file.stat().st_mtime_ns) for file in (java.path, *self._jars))
        made_of = repr((*states, *self._flags)).encode() + packed(line)
        self.folder = store.folder.parent / "java"
        self.path = self.folder / f"neo4j-{line.name}-{hashlib.sha256(made_of).hexdigest()[:16]}.jsa"
        self.failure = self.path.with_suffix(".log")

    @property
    def is_settled(self) -> bool:
        """Whether the archive exists, or Java failed to make it."""
        return self.path.exists() or self.failure.exists()

    @property
    def _flags(self) -> tuple[str, ...]:
        placed = ("-XX:+UnlockDiagnosticVMOptions", "-XX:ArchiveRelocationMode=0")
        return placed if self._java.version >= _RELOCATED else ()

    def options(self) -> list[str]:
        """Return Java's options for the archive, none if it does not exist; Java ignores a damaged one."""
        return [*self._flags, f"-XX:SharedArchiveFile={self.path}"] if self.path.exists() else []

    def refusal(self) -> str | None:
        """Return why Java rejects the archive, None if it accepts it. Raises LocalServerError if Java cannot be run."""
        command = ["-Xshare:on", *self.options(), *self._class_path(), "-version"]
        code, output = run_java(self._java, command, cwd=self.folder, env=clean_environment(), timeout=60)
        return output.strip() if code else None

    def make(self) -> None:
        """Make the archive, unless it exists or Java failed to make it before. Raises OSError."""
        if not self.is_settled:
            with tempfile.TemporaryDirectory(prefix="making-", dir=self.folder) as name:
                self._dump(Path(name))
            olds = sorted(self.folder.glob(f"neo4j-{self._line.name}-*.jsa"), key=lambda file: file.stat().st_mtime)
            for old in olds[:-_KEPT]:
                old.unlink()

    def _dump(self, folder: Path) -> None:
        classes, target = folder / "classes", folder / "archive"
        classes.write_text(class_names(self._line), encoding="utf-8")
        command = ["-Xshare:dump", f"-XX:SharedClassListFile={classes}", f"-XX:SharedArchiveFile={target}"]
        command += ["-Xmx512m", *self._flags, *self._class_path()]
        code, output = run_java(self._java, command, cwd=folder, env=clean_environment(), timeout=_TIMEOUT)
        if code or not target.exists():
            self.failure.write_text(output, encoding="utf-8")
        else:
            target.replace(self.path)

    def _class_path(self) -> list[str]:
        return ["-cp", os.pathsep.join(map(str, self._jars))]


def list_name(line: Line) -> str:
    """Return the name of the packed file, beside this module, that lists the classes of a line."""
    return f"classes-{line.name}.xz"


def class_names(line: Line) -> str:
    """Return the classes of a line, one on each line of the text."""
    return lzma.decompress(packed(line)).decode()


def packed(line: Line) -> bytes:
    """Read the list of classes of a line, compressed."""
    return resources.files("kgrag.graph.local").joinpath(list_name(line)).read_bytes()
