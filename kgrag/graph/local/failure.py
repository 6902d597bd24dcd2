"""Why a server did not start, as its output has it."""

import re
from pathlib import Path

from kgrag.values.errors import LocalServerError
from kgrag.values.installing import install_hint

PORT_TAKEN = re.compile(r"Address already in use|BindException")
_OPTIONS_NOTE = re.compile(r"(NOTE: )?Picked up (JDK_JAVA|JAVA_TOOL|_JAVA)_OPTIONS: ")
_CAUSES = (
    (
        re.compile(r"No space left on device|Disk quota exceeded"),
        "its disk is full",
        "Free some space, or set KGRAG_HOME to a folder on a larger disk, then run kgrag up again.",
    ),
    (
        re.compile(r"Could not reserve enough space|Cannot allocate memory|insufficient memory|OutOfMemoryError"),
        "there is not enough memory",
        "Set KGRAG_LOCAL__HEAP and KGRAG_LOCAL__PAGE_CACHE to less, for example 512m and 128m.",
    ),
    (
        re.compile(
            r"(Invalid|Too small) (maximum|initial) heap|Initial heap size set to a larger|Error evaluating value"
        ),
        "a memory setting is invalid",
        "Correct KGRAG_LOCAL__HEAP and KGRAG_LOCAL__PAGE_CACHE, for example 1g and 512m.",
    ),
    (
        re.compile(r"lock file has been locked by another process|Lock file already locked"),
        "another process uses its data",
        "Stop the other server first; ps lists it as a java process.",
    ),
    (
        re.compile(r"UnsupportedLogVersionException|downgrading"),
        "its data are of a newer Neo4j",
        "Run it with the line that wrote them: kgrag up --version 2026",
    ),
    (
        re.compile(r"UnsupportedClassVersionError"),
        "this Java is too old",
        f"Install Java 21, or run `{install_hint('local')}`.",
    ),
    (
        re.compile(r"Permission denied|AccessDeniedException"),
        "it may not write to its folder",
        "Give this user the right to write below KGRAG_HOME, or set KGRAG_HOME to another folder.",
    ),
)


def tail(path: Path, lines: int) -> list[str]:
    """Return the last lines of a log, none if it is absent; reads at most the last 256 kB."""
    try:
        with path.open("rb") as file:
            size = file.seek(0, 2)
            file.seek(max(0, size - (1 << 18)))
            text = file.read().decode("utf-8", "replace")
    except OSError:
        return []
    return text.splitlines()[-lines:] if lines > 0 else []


def explain_failure(output: str, what: str = "Neo4j did not start") -> LocalServerError:
    """Return the LocalServerError for a Java that failed with `output`."""
    for pattern, cause, remedy in _CAUSES:
        if pattern.search(output):
            return LocalServerError(f"{what}: {cause}.", remedy)
    lines = [line for line in output.splitlines() if not _OPTIONS_NOTE.match(line)]
    # The innermost cause comes last; what follows it is the stack.
    causes = [line for line in lines if line.startswith("Caused by:")] or [line for line in lines if " ERROR " in line]
    last = "\n".join(causes[-1:] or lines[-5:]) or "it wrote nothing"
    return LocalServerError(f"{what}: {last[:1000]}", "Look at kgrag db logs, and run kgrag doctor.")
