"""Download the jars of a lock file from a Maven repository, and check their hashes."""

import hashlib
import logging
import re
import shutil
import threading
import time
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import FIRST_EXCEPTION, Future, ThreadPoolExecutor, wait
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from kgrag.runtime.files import disk_errors, locked, require_space
from kgrag.values.errors import ConfigurationError, LocalServerError
from kgrag.values.events import Progress
from kgrag.values.installing import require_extra

if TYPE_CHECKING:
    import httpx

THREADS = 8
ATTEMPTS = 4
PAUSE = 0.5
_LOG = logging.getLogger(__name__)
_CHUNK = 1 << 16
_SPARE = 50_000_000


@dataclass(frozen=True, slots=True)
class Jar:
    """An artifact: its Maven coordinates, and the hash and size of its file."""

    group: str
    artifact: str
    version: str
    classifier: str
    sha256: str
    size: int

    @property
    def filename(self) -> str:
        """The name of the file in Maven."""
        tail = f"-{self.classifier}" if self.classifier else ""
        return f"{self.artifact}-{self.version}{tail}.jar"

    @property
    def path(self) -> str:
        """The path of the file in a Maven repository."""
        return f"{self.group.replace('.', '/')}/{self.artifact}/{self.version}/{self.filename}"

    @property
    def coordinates(self) -> str:
        """group:artifact:version, with :classifier if there is one."""
        return ":".join(part for part in (self.group, self.artifact, self.version, self.classifier) if part)


def parse_lock(text: str) -> Iterator[tuple[str, tuple[Jar, ...]]]:
    """Yield the groups of the text of a lock file. Raises ValueError with the invalid line."""
    for block in re.split(r"^(?=\[)", text, flags=re.MULTILINE)[1:]:
        head, *lines = block.splitlines()
        yield head.strip("[] "), tuple(_parse_line(line) for line in lines if line.strip() and not line.startswith("#"))


def _parse_line(line: str) -> Jar:
    match = re.fullmatch(r"([^\s:]+):([^\s:]+):([^\s:]+)(?::([^\s:]+))? ([0-9a-f]{64}) (\d+)", line.strip())
    if match is None:
        raise ValueError(f"not a line of a lock file: {line!r}")
    group, artifact, version, classifier, sha256, size = match.groups()
    return Jar(group, artifact, version, classifier or "", sha256, int(size))


class JarStore:
    """A folder of verified jars. A file gets its final name only after its hash is verified."""

    def __init__(self, folder: Path, repository: str | None = None) -> None:
        self.folder = folder
        self._repository = repository

    def paths(self, jars: Iterable[Jar]) -> list[Path]:
        """Return the present or future paths of `jars`."""
        return [self.folder / jar.filename for jar in jars]

    def missing(self, jars: Iterable[Jar]) -> list[Jar]:
        """Return the jars that are missing or have the wrong size: the fast check of each start."""
        return [jar for jar in jars if not _has_size(self.folder / jar.filename, jar.size)]

    def damaged(self, jars: Iterable[Jar]) -> list[Jar]:
        """Return the jars whose content differs from the lock file; reads every byte."""
        return [
            jar
            for jar in jars
            if not _has_size(self.folder / jar.filename, jar.size) or sha256(self.folder / jar.filename) != jar.sha256
        ]

    def ensure(self, jars: Iterable[Jar], *, stage: str, progress: Progress | None = None) -> None:
        """Download the missing files of `jars`; complete files are not downloaded again.

        Raises LocalServerError if the disk or the repository fails or a file has the wrong hash,
        ConfigurationError if the extra `local` is not installed.
        """
        jars = tuple(jars)
        if not self.missing(jars):
            return
        with disk_errors(self.folder, "KGRAG_CACHE"):
            self.folder.mkdir(parents=True, exist_ok=True)
            with locked(self.folder / ".lock", progress):
                # No other process downloads now, so part files are leftovers of a killed download.
                for part in self.folder.glob("*.part"):
                    part.unlink(missing_ok=True)
                missing = self.missing(jars)
                require_space(self.folder, sum(jar.size for jar in missing) + _SPARE, "KGRAG_CACHE")
                started, size = time.monotonic(), sum(jar.size for jar in missing)
                self._fetch_all(missing, sum(jar.size for jar in jars), stage, progress)
                seconds = time.monotonic() - started
                _LOG.info("%s: %d files, %.1f MB in %.1f s", stage, len(missing), size / 1e6, seconds)

    def _fetch_all(self, missing: list[Jar], total: int, stage: str, progress: Progress | None) -> None:
        source = open_source(self._repository)
        tally = _Tally(total - sum(jar.size for jar in missing))

        def fetch(jar: Jar) -> None:
            part = self.folder / f"{jar.filename}.part"
            try:
                digest, size = source(jar.path, part, tally.add)
            except BaseException:
                part.unlink(missing_ok=True)
                raise
            if (digest, size) != (jar.sha256, jar.size):
                part.unlink(missing_ok=True)
                raise LocalServerError(
                    f"{jar.coordinates} is not what the lock file says: SHA-256 {digest}, expected {jar.sha256}.",
                    "The repository or a proxy on the way changed the file. Try again, or name another repository "
                    "in KGRAG_LOCAL__MAVEN_REPOSITORY.",
                )
            part.replace(self.folder / jar.filename)

        # Largest first, so that several small files, not one large one, are downloaded at the end.
        order = sorted(missing, key=lambda jar: -jar.size)
        with ThreadPoolExecutor(THREADS, thread_name_prefix="kgrag-jars") as pool:
            futures: set[Future[None]] = {pool.submit(fetch, jar) for jar in order}
            try:
                pending = futures
                while pending:
                    done, pending = wait(pending, timeout=0.1, return_when=FIRST_EXCEPTION)
                    if progress is not None:
                        progress(stage, min(tally.value, total), total)
                    for future in done:
                        future.result()
            except BaseException:
                tally.stop()
                pool.shutdown(wait=False, cancel_futures=True)
                raise


class _Tally:
    """Bytes received by all threads; after a stop, the next `add` ends its thread."""

    def __init__(self, value: int) -> None:
        self.value = value
        self._stopped = False
        self._lock = threading.Lock()

    def add(self, count: int) -> None:
        if self._stopped:
            raise _Stopped
        with self._lock:
            self.value += count

    def stop(self) -> None:
        self._stopped = True


class _Stopped(Exception):
    """Another thread failed, or the user pressed Ctrl-C."""


Source = Callable[[str, Path, Callable[[int], None]], tuple[str, int]]
"""Called as source(path, target, add): writes the repository's file to target, returns its SHA-256 and size."""


def open_source(repository: str | None) -> Source:
    """Return the function that reads a Maven repository: a folder, a URL, or (None) the default of jgo.

    Raises ConfigurationError if the extra `local` is needed and missing.
    """
    if repository and not re.match(r"https?://", repository):
        root = Path(repository.removeprefix("file://")).expanduser()
        if not root.is_dir():
            raise ConfigurationError(
                f"KGRAG_LOCAL__MAVEN_REPOSITORY={repository} is neither a web address nor a folder.",
                "Name a Maven repository by its address, or a folder with the layout of one.",
            )
        return lambda path, target, add: _copy(root / path, target, add)
    with require_extra("local", "The package {} is needed to download what kgrag runs on.", "{}"):
        import httpx

        if repository is None:
            from jgo.maven import MavenContext

            repository = next(iter(MavenContext().remote_repos.values()))
    base = repository.rstrip("/")
    client = httpx.Client(timeout=httpx.Timeout(30.0, connect=10.0), follow_redirects=True)
    return lambda path, target, add: _download(client, base, path, target, add)


def _copy(source: Path, target: Path, add: Callable[[int], None]) -> tuple[str, int]:
    if not source.is_file():
        raise LocalServerError(f"{source} does not exist.", "Complete the folder in KGRAG_LOCAL__MAVEN_REPOSITORY.")
    shutil.copyfile(source, target)
    add(target.stat().st_size)
    return sha256(target), target.stat().st_size


def _download(
    client: "httpx.Client", base: str, path: str, target: Path, add: Callable[[int], None]
) -> tuple[str, int]:
    import httpx

    reason = ""
    for attempt in range(ATTEMPTS):
        received = 0
        try:
            with client.stream("GET", f"{base}/{path}") as response:
                response.raise_for_status()
                digest = hashlib.sha256()
                with target.open("wb") as file:
                    for chunk in response.iter_bytes(_CHUNK):
                        file.write(chunk)
                        digest.update(chunk)
                        received += len(chunk)
                        add(len(chunk))
                return digest.hexdigest(), received
        except httpx.HTTPStatusError as error:
            reason = f"HTTP {error.response.status_code}"
            if error.response.status_code < 500 and error.response.status_code not in (408, 429):
                break
        except httpx.HTTPError as error:
            reason = str(error) or type(error).__name__
        if attempt + 1 < ATTEMPTS:
            add(-received)
            time.sleep(PAUSE * 2**attempt)
    # Only the host: the address of a mirror may hold a password.
    raise LocalServerError(
        f"Cannot download {path.rsplit('/', 1)[-1]} from {urlsplit(base).hostname}: {reason}.",
        "Check the network (and HTTPS_PROXY), or name a mirror in KGRAG_LOCAL__MAVEN_REPOSITORY, then run the command "
        "again: finished files are kept.",
    )


def sha256(path: Path) -> str:
    """Return the SHA-256 of a file's content, in hex. Raises OSError."""
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def _has_size(path: Path, size: int) -> bool:
    try:
        return path.stat().st_size == size
    except OSError:
        return False
