"""The server's process: started detached, found by pid and start time, stopped cleanly; why it did not start."""

import json
import os
import re
import subprocess
import sys
import time
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import asdict, dataclass
from pathlib import Path

import psutil

from kgrag.graph.local.config import Ports
from kgrag.runtime.files import write_atomic
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


_KILL_TIMEOUT = 10.0  # seconds until a killed process is gone
_SECRET = ("_KEY", "_TOKEN", "_SECRET", "_PASSWORD")


@dataclass(frozen=True, slots=True)
class Running:
    """A started server: `created` is the process's start time, since a later one may have the same pid."""

    pid: int
    created: float
    bolt_port: int
    http_port: int
    plugins: tuple[str, ...] = ()

    @property
    def ports(self) -> Ports:
        """The address where it listens."""
        return Ports(self.bolt_port, self.http_port)

    def process(self) -> psutil.Process | None:
        """Return the live process, None if it has ended or another one has the pid by now."""
        try:
            process = psutil.Process(self.pid)
            if abs(process.create_time() - self.created) > 1 or process.status() == psutil.STATUS_ZOMBIE:
                return None
        except psutil.NoSuchProcess:
            return None
        return process

    def holds_ports(self) -> bool:
        """Return whether its ports are its own; if another server was quicker, it is about to end."""
        process = self.process()
        if process is None:
            return False
        try:
            ports = {c.laddr.port for c in process.net_connections("tcp") if c.status == psutil.CONN_LISTEN}
        except (psutil.Error, OSError):
            return True  # the system does not say
        return {self.bolt_port, self.http_port} <= ports


def read_pid_file(path: Path) -> Running | None:
    """Return the contents of the pid file; None if it is absent or not one of ours."""
    try:
        values = json.loads(path.read_text(encoding="utf-8"))
        return Running(**{**values, "plugins": tuple(values["plugins"])})
    except (OSError, ValueError, TypeError, KeyError):
        return None


def write_pid_file(path: Path, running: Running) -> None:
    """Keep `running` in `path`. Raises OSError."""
    write_atomic(path, json.dumps(asdict(running), indent=1) + "\n")


def start_detached(command: Sequence[str | Path], *, cwd: Path, output: Path) -> psutil.Process:
    """Start `command` in a session of its own, so that it outlives us and our Ctrl-C. Raises OSError."""
    with output.open("wb") as file:
        child = subprocess.Popen(
            command, cwd=cwd, env=clean_environment(),
            stdin=subprocess.DEVNULL, stdout=file, stderr=subprocess.STDOUT, start_new_session=True,
        )  # fmt: skip
    # It is meant to outlive this object: without a return code Popen would warn of that.
    child.returncode = 0
    return psutil.Process(child.pid)


def clean_environment() -> dict[str, str]:
    """Return the environment of a Java: ours without kgrag's settings and likely secrets."""
    environment = {
        k: v for k, v in os.environ.items() if not k.startswith("KGRAG_") and not k.upper().endswith(_SECRET)
    }
    # Java reads paths in the locale's encoding, and words its errors, which we look for, in its language.
    return environment | {"LC_ALL": "C.UTF-8"} if sys.platform == "linux" else environment


def find_server(argument: str) -> psutil.Process | None:
    """Return a process with that argument: a server whose `up` was killed before it wrote the pid file."""
    for process in psutil.process_iter(["cmdline", "status"]):
        if argument in (process.info["cmdline"] or ()) and process.info["status"] != psutil.STATUS_ZOMBIE:
            return process
    return None


def stop_process(process: psutil.Process, timeout: float, *, force: bool = False) -> bool:
    """End a process cleanly, or by force if it has not ended after `timeout` seconds. Whether it ended cleanly.

    What a server that was killed had committed is kept: its next start reads it from the transaction log.
    Raises LocalServerError if the process does not end.
    """
    try:
        process.terminate()
        if _ended(process, timeout):
            return True
        if force:
            process.kill()
            if _ended(process, _KILL_TIMEOUT):
                return False
    except psutil.NoSuchProcess:
        return True
    except psutil.AccessDenied as error:
        raise LocalServerError(
            f"Process {process.pid} belongs to another user.", "Stop the server as the user that started it."
        ) from error
    raise LocalServerError(
        f"The server (process {process.pid}) has not ended after {timeout:.0f} s.",
        "It may still be writing to disk: look at kgrag db logs. kgrag down ends it by force.",
    )


def _ended(process: psutil.Process, timeout: float) -> bool:
    """Wait for the end of a process; False if it runs on after `timeout` seconds."""
    deadline = time.monotonic() + timeout
    while process.is_running() and process.status() != psutil.STATUS_ZOMBIE:
        if time.monotonic() > deadline:
            return False
        time.sleep(0.05)
    # A dead process stays listed until its parent asks for it; that may be us, or another program that started it.
    with suppress(psutil.TimeoutExpired):
        process.wait(0)
    return True
