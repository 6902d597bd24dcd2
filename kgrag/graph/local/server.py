"""A Neo4j on this machine: set up on first use, started, watched and stopped, and started again when it died."""

import logging
import threading
import time
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager, nullcontext, suppress
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Literal, Self
from urllib.parse import urlsplit

import psutil
from filelock import FileLock, Timeout
from pydantic import SecretStr

from kgrag.graph.local import bulk, config, process
from kgrag.graph.local.bulk import Admin
from kgrag.graph.local.home import Home
from kgrag.graph.local.java import Java, find_java, run_java
from kgrag.graph.local.prepared import PreparedStore, make_soon
from kgrag.graph.local.releases import DEFAULT, SERVER, Line, line_named, lock_groups, other_line
from kgrag.runtime.files import disk_errors, locked, require_space
from kgrag.runtime.jars import JarStore
from kgrag.settings import Settings
from kgrag.values.errors import ConfigurationError, DatabaseError, KgragError, LocalServerError
from kgrag.values.events import Progress

_LOG = logging.getLogger(__name__)

STARTS = 3
_CLEAN_STOP = 120.0  # seconds
STOP_SECONDS = 30.0
"""Seconds that `kgrag down` waits before it ends the server by force: a checkpoint of a busy one takes some."""
_ADMIN_TIMEOUT = 24 * 3600.0
_OTHER_START = 60.0  # seconds to wait for another server that is starting
_START_SPACE = 100_000_000


@dataclass(frozen=True)
class Endpoint:
    """How to reach a server."""

    uri: str
    user: str
    password: SecretStr
    database: str
    browser_url: str


@dataclass(frozen=True)
class ServerStatus:
    """A server at a glance. `running`: its process is alive; `answering`: Bolt accepts our password.

    `line`: the line of Neo4j of the data, or else of the next start; `version`: the version that the server reports.
    `started` is in seconds since 1970, `memory` in bytes; `problem` says why a running server does not answer.
    """

    running: bool
    answering: bool
    line: str
    uri: str | None = None
    browser_url: str | None = None
    version: str | None = None
    pid: int | None = None
    started: float | None = None
    memory: int | None = None
    plugins: tuple[str, ...] = ()
    problem: str | None = None


class LocalServer:
    """The Neo4j that kgrag runs for this user.

    `settings.home` holds its data, configuration, logs and password; `settings.cache` the jars.
    """

    def __init__(self, settings: Settings) -> None:
        self._settings = settings.local
        self._database = settings.neo4j_database
        cache = settings.cache.expanduser().resolve()
        self._starting = FileLock(cache / "starting.lock")
        self.jars = JarStore(cache / "jars", settings.local.maven_repository)
        self.home = Home(settings.home.expanduser().resolve(), settings.local, self.jars)

    @property
    def log_path(self) -> Path:
        """Neo4j's log."""
        return self.home.log

    @property
    def password_path(self) -> Path:
        """The file that holds the password."""
        return self.home.password.path

    def ensure_running(self, *, plugins: Sequence[str] = (), progress: Progress | None = None) -> Endpoint:
        """Set up whatever is missing, start the server unless it runs, and return when it answers.

        `plugins` ("gds") are remembered for later starts; a running server without them is restarted. Raises
        LocalServerError with a remedy if it cannot be started, ConfigurationError if Java, a plugin of that name or the
        extra `local` is missing, MismatchError if the data are of another line of Neo4j than the settings name.
        """
        line = self.line()
        if self._settings.version not in (None, line.name):
            raise other_line(self.home.root, line, str(self._settings.version))
        available = set(lock_groups(line)) - {SERVER}
        for plugin in plugins:
            if plugin not in available:
                raise ConfigurationError(f"There is no plugin {plugin!r}.", f"Known: {', '.join(sorted(available))}.")
        running = self._running()
        if running is not None and set(plugins) <= set(running.plugins):
            endpoint = self._endpoint(running.ports)
            try:
                self._ask(endpoint)
                return endpoint
            except WrongPassword:
                # Asking again would only make the server lock the account for some seconds.
                raise
            except DatabaseError:
                pass
        with self._locked(progress):
            return self._ensure_locked(plugins, progress)

    def stop(self) -> Literal["cleanly", "by force"] | None:
        """Stop the server and wait for its end: how it ended, None if it did not run.

        It is killed if it has not ended after STOP_SECONDS. Raises LocalServerError if it does not end.
        """
        if not self.home.root.exists():
            return None
        with self._locked():
            return self._stop_locked(force=True)

    def line(self) -> Line:
        """Return the line of Neo4j that wrote the data; without data the line of the settings, or the default."""
        return self.home.line() or (line_named(self._settings.version) if self._settings.version else DEFAULT)

    def died(self) -> bool:
        """Return whether the server ended though nobody stopped it."""
        left = process.read_pid_file(self.home.pid_file)
        return left is not None and left.process() is None

    def status(self) -> ServerStatus:
        """Return the state of the server; changes nothing."""
        running = self._running()
        live = running.process() if running else None
        if running is None or live is None:
            return ServerStatus(False, False, self.line().name, plugins=self.home.remembered())
        endpoint, version, problem = self._endpoint(running.ports, SecretStr("")), None, None
        try:
            endpoint = self._endpoint(running.ports)
            version = self._ask(endpoint)
        except DatabaseError as error:
            problem = error.message
        return ServerStatus(
            running=True,
            answering=problem is None,
            line=self.line().name,
            uri=endpoint.uri,
            browser_url=endpoint.browser_url,
            version=version,
            pid=running.pid,
            started=running.created,
            memory=live.memory_info().rss,
            plugins=running.plugins,
            problem=problem,
        )

    def admin(self, *args: str, progress: Progress | None = None) -> str:
        """Run neo4j-admin (`admin("database", "info")`) on this server's data and return what it printed.

        Missing parts are installed first. Raises LocalServerError if the server runs, or with the command's output
        if it fails.
        """
        with self._locked(progress):
            if self._find_running() is not None:
                raise LocalServerError("The local server is running.", "Stop it first: kgrag down")
            java = find_java(self.line().java)
            self._prepare(self.home.remembered(), progress)
            return self._run_admin(java, *args, timeout=_ADMIN_TIMEOUT)

    @contextmanager
    def offline(self, progress: Progress | None = None) -> Iterator[Admin]:
        """Stop the server, and while the block runs keep others from starting it; yields neo4j-admin on its data."""
        with self._locked(progress):
            self._stop_locked()
            java = find_java(self.line().java)
            self._prepare(self.home.remembered(), progress)
            yield partial(self._run_admin, java, timeout=_ADMIN_TIMEOUT)

    def download(self, line: Line, plugins: Sequence[str] = (), progress: Progress | None = None) -> None:
        """Fetch the missing jars of a line and of its plugins. Raises as `JarStore.ensure` does."""
        for name in (SERVER, *plugins):
            stage = "Downloading Neo4j" if name == SERVER else f"Downloading {name}"
            self.jars.ensure(lock_groups(line)[name], stage=stage, progress=progress)

    # From here on, the home folder's lock is held.

    def _ensure_locked(self, plugins: Sequence[str], progress: Progress | None) -> Endpoint:
        selection = tuple(sorted({*self.home.remembered(), *plugins}))
        running = self._find_running()
        if running is not None and set(plugins) <= set(running.plugins):
            # Another `up` was faster, or was killed while the server was starting.
            try:
                return self._wait(running, progress)
            except LocalServerError:
                if running.process() is not None:
                    raise
                running = None  # it was ending when we looked: start another
        java = find_java(self.line().java)
        self.download(self.line(), selection, progress)
        if running is not None:
            self._stop_locked()
        starts = 0
        while True:
            starts += 1
            try:
                with self._choosing_ports():
                    ports = self._prepare(selection, progress)
                    if self._settings.archive and not self.home.has_data():
                        PreparedStore(self.jars, self.line()).place(self.home.server / "data")
                    bulk.recover(self.home, partial(self._run_admin, java, timeout=_ADMIN_TIMEOUT), progress)
                    endpoint = self._wait(self._start(java, ports, selection), progress)
            except _PortTaken:
                # Somebody took the port between our look and the server's bind: look again.
                if starts == STARTS:
                    raise
                continue
            # Only now: a plugin with which the server does not start must not spoil later starts.
            self.home.remember(selection)
            if self._settings.archive:
                login = (endpoint.uri, endpoint.user, endpoint.database, str(self.password_path))
                make_soon(self.jars, self.line(), java, login)
            return endpoint

    @contextmanager
    def _choosing_ports(self) -> Iterator[None]:
        """Lock the choice of ports: two servers of a user that start at once would choose the same ones."""
        with suppress(Timeout, OSError):  # a very long start, or a folder that is not ours: most likely all is well
            self._starting.acquire(timeout=_OTHER_START)
        try:
            yield
        finally:
            self._starting.release()

    def _prepare(self, plugins: Sequence[str], progress: Progress | None) -> config.Ports:
        """Bring everything up to the point where the server can be started; the ports it is to have."""
        line = self.line()
        self.download(line, plugins, progress)
        require_space(self.home.root, _START_SPACE, "KGRAG_HOME")
        killed = process.read_pid_file(self.home.pid_file)
        ports = config.choose_ports(self._settings, None if killed is None else killed.ports)
        self.home.prepare(ports, plugins, line)
        password = self.home.password
        if password.exists():
            password.make_private()
        elif not self.home.has_data():
            password.create()
        secret = password.read()
        if not self.home.has_data():
            self.home.set_login(config.first_login(secret))
        return ports

    def _start(self, java: Java, ports: config.Ports, plugins: tuple[str, ...]) -> process.Running:
        command = self.home.start_command(java, self.line())
        try:
            started = process.start_detached(command, cwd=self.home.server, output=self.home.console)
            running = process.Running(started.pid, started.create_time(), ports.bolt, ports.http, plugins)
        except psutil.NoSuchProcess as error:
            raise process.explain_failure(self._console()) from error
        process.write_pid_file(self.home.pid_file, running)
        return running

    def _wait(self, running: process.Running, progress: Progress | None) -> Endpoint:
        """Wait until the server answers on both ports."""
        endpoint = self._endpoint(running.ports)
        begin = time.monotonic()
        problem = ""
        while (waited := time.monotonic() - begin) < self._settings.start_timeout:
            if progress is not None:
                progress("Starting Neo4j", int(waited), None)
            if running.process() is None:
                self.home.pid_file.unlink(missing_ok=True)
                output = self._console()
                raise _PortTaken() if process.PORT_TAKEN.search(output) else process.explain_failure(output)
            # HTTP comes up last: once it listens, databases and Bolt are ready too.
            listening = config.is_listening(running.http_port) and config.is_listening(running.bolt_port)
            if listening and running.holds_ports():
                try:
                    self._ask(endpoint)
                    _LOG.info("Neo4j (process %d) answers at %s after %.1f s", running.pid, endpoint.uri, waited)
                    return endpoint
                except WrongPassword:
                    raise
                except DatabaseError as error:
                    problem = f" {error.message}"
            time.sleep(0.1)
        raise LocalServerError(
            f"Neo4j (process {running.pid}) runs but has not answered within {self._settings.start_timeout:.0f} s."
            + problem,
            "Look at kgrag db logs. Give it longer with KGRAG_LOCAL__START_TIMEOUT, or stop it with kgrag down.",
        )

    def _stop_locked(self, *, force: bool = False) -> Literal["cleanly", "by force"] | None:
        running = self._find_running()
        live = running.process() if running else None
        began = time.monotonic()
        # Without force somebody is about to use the data, and they are whole only after a clean stop.
        clean = live is None or process.stop_process(live, STOP_SECONDS if force else _CLEAN_STOP, force=force)
        if live is not None:
            _LOG.info("Neo4j (process %d) stopped in %.1f s", live.pid, time.monotonic() - began)
        self.home.pid_file.unlink(missing_ok=True)
        return None if live is None else "cleanly" if clean else "by force"

    def _find_running(self) -> process.Running | None:
        """Return the running server, also one whose `up` was killed before it wrote the pid file."""
        running = self._running()
        if running is not None:
            return running
        candidate, ports = process.find_server(self.home.mark), self.home.ports()
        if candidate is None or ports is None:
            return None
        running = process.Running(
            candidate.pid, candidate.create_time(), ports.bolt, ports.http, self.home.remembered()
        )
        process.write_pid_file(self.home.pid_file, running)
        return running

    # Helpers that need no lock.

    def _running(self) -> process.Running | None:
        running = process.read_pid_file(self.home.pid_file)
        return running if running is not None and running.process() is not None else None

    def _endpoint(self, ports: config.Ports, password: SecretStr | None = None) -> Endpoint:
        return Endpoint(
            uri=f"bolt://{config.HOST}:{ports.bolt}",
            user=config.USER,
            password=self.home.password.read() if password is None else password,
            database=self._database,
            browser_url=config.browser_url(ports),
        )

    def _ask(self, endpoint: Endpoint) -> str:
        """Return the server's version. Raises DatabaseError if it does not answer, WrongPassword if it refuses ours."""
        from kgrag.graph.local.probe import LoginRefused, server_version

        try:
            return server_version(endpoint.uri, endpoint.user, endpoint.password)
        except LoginRefused as error:
            raise WrongPassword(
                f"The server at {endpoint.uri} refuses the password in {self.password_path}.",
                "Write the password that it was changed to into that file.",
            ) from error

    def _run_admin(self, java: Java, *args: str, timeout: float, tick: Callable[[int], None] | None = None) -> str:
        env = process.clean_environment() | self.home.admin_environment()
        command = self.home.admin_command(*args)
        code, output = run_java(java, command, cwd=self.home.server, env=env, timeout=timeout, tick=tick)
        if code != 0:
            raise process.explain_failure(output, f"neo4j-admin {' '.join(args[:2])} failed")
        return output

    def _console(self) -> str:
        return "\n".join(process.tail(self.home.console, 400))

    @contextmanager
    def _locked(self, progress: Progress | None = None) -> Iterator[None]:
        """Hold the home folder: one process sets up, starts or stops at a time."""
        with disk_errors(self.home.root, "KGRAG_HOME"):
            self.home.root.mkdir(parents=True, exist_ok=True, mode=0o700)
            with locked(self.home.lock_file, progress):
                yield


class WrongPassword(LocalServerError):
    """The server answers but refuses the password in the password file."""


class _PortTaken(LocalServerError):
    def __init__(self) -> None:
        super().__init__(
            "Neo4j did not start: its port was taken.",
            "Run kgrag up again, or name other ports in KGRAG_LOCAL__BOLT_PORT and KGRAG_LOCAL__HTTP_PORT.",
        )


_LOOK = 1.0  # seconds
_STARTS, _WITHIN = 5, 3600.0  # so many starts in so many seconds: more would not help


class Supervisor:
    """Starts the server again when its process has died, while the `with` block runs; one that was stopped rests."""

    def __init__(self, settings: Settings) -> None:
        """Supervise the running server in the settings' home."""
        status = LocalServer(settings).status()
        ports = {"bolt_port": urlsplit(status.uri or "").port, "http_port": urlsplit(status.browser_url or "").port}
        self._ports = [port for port in ports.values() if port]
        local = settings.local.model_copy(update={name: port for name, port in ports.items() if port})
        self._server = LocalServer(settings.model_copy(update={"local": local}))
        self._ending = threading.Event()
        self._thread = threading.Thread(target=self._watch, name="kgrag-supervisor", daemon=True)

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._ending.set()
        self._thread.join()

    def _watch(self) -> None:
        starts: deque[float] = deque()
        while not self._ending.wait(_LOOK):
            # On other ports nobody would find it
            if not (self._server.died() and all(map(config.port_is_free, self._ports))):
                continue
            while starts and time.monotonic() - starts[0] > _WITHIN:
                starts.popleft()
            if len(starts) == _STARTS:
                _LOG.error("Neo4j ended %d times within an hour: it is not started again.", _STARTS)
                return
            starts.append(time.monotonic())
            _LOG.warning("Neo4j ended: it is started again.")
            try:
                self._server.ensure_running()
            except KgragError as error:
                _LOG.error("Neo4j cannot be started again: %s", error.in_full)


def supervised(settings: Settings) -> AbstractContextManager[object]:
    """Supervise this machine's server, where the settings name no other one."""
    return nullcontext() if settings.neo4j_uri is not None else Supervisor(settings)
