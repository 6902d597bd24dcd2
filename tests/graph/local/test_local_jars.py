import hashlib
import http.server
import resource
import signal
import subprocess
import sys
import threading
import time
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import pytest

from kgrag.graph.local.releases import LINES, SERVER, Line, line_named, lock_groups, locked_version
from kgrag.runtime import jars as jars_module
from kgrag.runtime.jars import Jar, JarStore, parse_lock
from kgrag.values.errors import ConfigurationError, LocalServerError
from kgrag.values.installing import install_hint


def content(name: str) -> bytes:
    return hashlib.sha256(name.encode()).digest() * 4000


def jar(name: str) -> Jar:
    data = content(name)
    return Jar("org.example", name, "1.0", "", hashlib.sha256(data).hexdigest(), len(data))


JARS = [jar(f"part{n}") for n in range(12)]


class Repository(http.server.ThreadingHTTPServer):
    """A Maven repository of JARS that can be told to misbehave for one of them."""

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), Handler)
        self.asked: Counter[str] = Counter()
        self.trouble: dict[str, str] = {}
        self.delay = 0.0

    @property
    def address(self) -> str:
        return f"http://user:hidden@127.0.0.1:{self.server_port}/maven/"


class Handler(http.server.BaseHTTPRequestHandler):
    server: Repository

    def do_GET(self) -> None:
        name = self.path.split("/")[-3]
        self.server.asked[name] += 1
        time.sleep(self.server.delay)
        trouble = self.server.trouble.get(name)
        data = content(name)
        if trouble == "gone" or not self.path.startswith("/maven/org/example/"):
            self.send_error(404)
            return
        if trouble == "busy" and self.server.asked[name] < 3:
            self.send_error(503)
            return
        self.send_response(200)
        self.send_header("Content-Length", str(len(data)))
        self.end_headers()
        if trouble == "changed":
            data = data[::-1]
        if trouble == "cut" or (trouble == "cut once" and self.server.asked[name] == 1):
            data = data[: len(data) // 2]
            self.close_connection = True
        self.wfile.write(data)

    def log_message(self, format: str, *args: object) -> None:
        pass


@pytest.fixture
def repository(monkeypatch: pytest.MonkeyPatch) -> Iterator[Repository]:
    monkeypatch.setattr(jars_module, "PAUSE", 0.01)
    with Repository() as server:
        threading.Thread(target=server.serve_forever, args=(0.02,), daemon=True).start()
        yield server
        server.shutdown()


@pytest.fixture
def store(repository: Repository, tmp_path: Path) -> JarStore:
    return JarStore(tmp_path / "jars", repository.address)


def names(store: JarStore) -> set[str]:
    return {path.name for path in store.folder.iterdir() if path.name != ".lock"}


@pytest.mark.parametrize(("line", "gds"), [(line_named("5.26"), "2.13.9"), (line_named("2026"), "2.26.0")])
def test_a_lock_file_names_what_neo4j_needs_and_no_host(line: Line, gds: str) -> None:
    groups = lock_groups(line)
    versions = {jar.coordinates.rsplit(":", 1)[0]: jar.version for jar in groups[SERVER]}
    assert versions["org.neo4j:neo4j"] == locked_version(line)
    assert locked_version(line).startswith(f"{line.name}.")
    assert versions["org.neo4j.client:neo4j-browser"] == "5.24.0"
    assert {jar.version for jar in groups["gds"] if jar.group == "org.neo4j.gds"} == {gds}
    for jars in groups.values():
        assert len({jar.filename for jar in jars}) == len(jars)
        assert all(jar.size > 0 for jar in jars)
    assert not {jar.filename for jar in groups[SERVER]} & {jar.filename for jar in groups["gds"]}


def test_the_lines_share_one_folder_of_jars() -> None:
    jars = {jar for line in LINES for group in lock_groups(line).values() for jar in group}
    assert len({jar.filename for jar in jars}) == len(jars)


def test_a_lock_file_is_read_back() -> None:
    hash_ = "0" * 64
    groups = dict(parse_lock(f"# c\n\n[server]\na.b:c:1 {hash_} 5\na.b:d:2:linux {hash_} 6\n\n[x]\n"))
    assert [j.path for j in groups["server"]] == ["a/b/c/1/c-1.jar", "a/b/d/2/d-2-linux.jar"]
    assert groups["x"] == ()
    with pytest.raises(ValueError, match="not a line"):
        dict(parse_lock("[server]\na.b:c:1 abc 5\n"))


def test_everything_is_fetched_once_with_rising_progress(store: JarStore, repository: Repository) -> None:
    reports: list[tuple[str, int, int | None]] = []
    store.ensure(JARS, stage="Downloading", progress=lambda *report: reports.append(report))
    assert names(store) == {jar.filename for jar in JARS}
    assert store.damaged(JARS) == []
    total = sum(jar.size for jar in JARS)
    assert reports[-1] == ("Downloading", total, total)
    assert [done for _, done, _ in reports] == sorted(done for _, done, _ in reports)
    store.ensure(JARS, stage="Downloading")
    assert set(repository.asked.values()) == {1}


def test_a_truncated_file_is_fetched_again_and_nothing_else(store: JarStore, repository: Repository) -> None:
    store.ensure(JARS, stage="Downloading")
    path = store.folder / JARS[3].filename
    path.write_bytes(path.read_bytes()[:100])
    assert store.missing(JARS) == [JARS[3]]
    store.ensure(JARS, stage="Downloading")
    assert repository.asked["part3"] == 2
    assert repository.asked.total() == len(JARS) + 1
    assert store.damaged(JARS) == []


def test_a_file_with_another_content_is_found_by_its_hash(store: JarStore) -> None:
    store.ensure(JARS, stage="Downloading")
    path = store.folder / JARS[3].filename
    path.write_bytes(path.read_bytes()[::-1])
    assert store.missing(JARS) == []
    assert store.damaged(JARS) == [JARS[3]]


def test_a_wrong_hash_is_refused(store: JarStore, repository: Repository) -> None:
    repository.trouble["part5"] = "changed"
    with pytest.raises(LocalServerError, match=r"org\.example:part5:1\.0 is not what the lock file says"):
        store.ensure(JARS, stage="Downloading")
    assert JARS[5].filename not in names(store)
    assert not list(store.folder.glob("*.part"))


@pytest.mark.parametrize("trouble", ["busy", "cut once"])
def test_passing_trouble_is_tried_again(store: JarStore, repository: Repository, trouble: str) -> None:
    repository.trouble["part5"] = trouble
    store.ensure(JARS, stage="Downloading")
    assert store.damaged(JARS) == []
    assert repository.asked["part5"] > 1


@pytest.mark.parametrize(("trouble", "reason"), [("gone", "HTTP 404"), ("cut", "")])
def test_lasting_trouble_is_one_clear_error(store: JarStore, repository: Repository, trouble: str, reason: str) -> None:
    repository.trouble["part5"] = trouble
    with pytest.raises(LocalServerError, match=r"Cannot download part5-1\.0\.jar from 127\.0\.0\.1") as caught:
        store.ensure(JARS, stage="Downloading")
    assert reason in caught.value.message
    assert "KGRAG_LOCAL__MAVEN_REPOSITORY" in caught.value.remedy
    assert "hidden" not in str(caught.value)
    assert not list(store.folder.glob("*.part"))
    repository.trouble.clear()
    store.ensure(JARS, stage="Downloading")
    assert store.damaged(JARS) == []


def test_no_network_is_one_clear_error(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(jars_module, "PAUSE", 0.01)
    with pytest.raises(LocalServerError, match="Cannot download"):
        JarStore(tmp_path / "jars", "http://127.0.0.1:9/maven").ensure(JARS, stage="Downloading")


def test_a_killed_download_goes_on_where_it_was(store: JarStore, repository: Repository) -> None:
    repository.delay = 0.3
    code = (
        "from pathlib import Path; from kgrag.runtime.jars import Jar, JarStore; "
        f"JarStore(Path({str(store.folder)!r}), {repository.address!r}).ensure({JARS!r}, stage='')"
    )
    download = subprocess.Popen([sys.executable, "-c", code])
    deadline = time.monotonic() + 30
    while not (store.folder.exists() and any(store.folder.glob("*.jar"))) and time.monotonic() < deadline:
        time.sleep(0.01)
    download.send_signal(signal.SIGKILL)
    download.wait()
    time.sleep(3 * repository.delay)  # its pending request is answered
    (store.folder / "left.jar.part").write_text("of the killed one")
    finished = len(JARS) - len(store.missing(JARS))
    assert 0 < finished < len(JARS)
    repository.delay = 0.0
    repository.asked.clear()
    store.ensure(JARS, stage="Downloading")
    assert repository.asked.total() == len(JARS) - finished
    assert names(store) == {jar.filename for jar in JARS}


def test_a_full_disk_is_one_clear_error(store: JarStore) -> None:
    """A full disk gives one clear error; a limit on file sizes imitates it without root."""
    limit = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (50_000, limit[1]))
    try:
        with pytest.raises(LocalServerError, match="cannot be written") as caught:
            store.ensure(JARS, stage="Downloading")
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, limit)
    assert "KGRAG_CACHE" in caught.value.remedy
    assert not list(store.folder.glob("*.part"))


def test_too_little_space_is_said_before_the_download(
    store: JarStore, repository: Repository, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("kgrag.runtime.files.free_bytes", lambda place: 1_000_000)
    with pytest.raises(LocalServerError, match="only 1 MB are free"):
        store.ensure(JARS, stage="Downloading")
    assert not repository.asked


def test_a_cache_that_cannot_be_made_is_named(tmp_path: Path, repository: Repository) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(LocalServerError, match="cannot be written") as caught:
        JarStore(tmp_path / "file" / "jars", repository.address).ensure(JARS, stage="Downloading")
    assert "KGRAG_CACHE" in caught.value.remedy


def test_ctrl_c_ends_the_download_at_once(store: JarStore, repository: Repository) -> None:
    def interrupt(stage: str, done: int, total: int | None) -> None:
        raise KeyboardInterrupt

    repository.delay = 0.2
    begin = time.monotonic()
    with pytest.raises(KeyboardInterrupt):
        store.ensure(JARS, stage="Downloading", progress=interrupt)
    assert time.monotonic() - begin < 2
    assert not list(store.folder.glob("*.part"))


def test_a_folder_can_be_the_repository(tmp_path: Path) -> None:
    for one in JARS[:2]:
        path = tmp_path / "mirror" / one.path
        path.parent.mkdir(parents=True)
        path.write_bytes(content(one.artifact))
    for number, name in enumerate((str(tmp_path / "mirror"), f"file://{tmp_path / 'mirror'}")):
        store = JarStore(tmp_path / str(number), name)
        store.ensure(JARS[:2], stage="Downloading")
        assert store.damaged(JARS[:2]) == []
    with pytest.raises(LocalServerError, match="does not exist"):
        JarStore(tmp_path / "jars", str(tmp_path / "mirror")).ensure(JARS[:3], stage="Downloading")
    with pytest.raises(ConfigurationError, match="neither a web address nor a folder"):
        JarStore(tmp_path / "jars", str(tmp_path / "nowhere")).ensure(JARS, stage="Downloading")


@pytest.mark.parametrize("package", ["jgo.maven", "httpx"])
def test_the_missing_extra_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, package: str) -> None:
    monkeypatch.setitem(sys.modules, package, None)
    with pytest.raises(ConfigurationError, match=package.split(".")[0]) as caught:
        JarStore(tmp_path / "jars").ensure(JARS, stage="Downloading")
    assert caught.value.remedy == install_hint("local")
