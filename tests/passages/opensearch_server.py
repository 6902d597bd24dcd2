"""A real OpenSearch from Maven's artifacts on loopback: without Docker, and without root, which it refuses."""

import os
import shutil
import signal
import socket
import subprocess
import time
import urllib.request
import zipfile
from pathlib import Path

VERSION = "2.19.1"
_POM = """<project><modelVersion>4.0.0</modelVersion>
<groupId>local</groupId><artifactId>{name}</artifactId><version>1</version><packaging>pom</packaging>
<dependencies>{dependencies}</dependencies></project>"""
_CORE = (
    f"org.opensearch:opensearch:{VERSION}",
    f"org.opensearch:opensearch-plugin-classloader:{VERSION}",
    "org.apache.logging.log4j:log4j-core:2.21.0",
)
_MODULES = {  # class, artifact, and which of its jars it needs
    "transport-netty4": ("org.opensearch.transport.Netty4Plugin", "transport-netty4-client", ("netty", "transport")),
    "lang-painless": (
        "org.opensearch.painless.PainlessPlugin", "lang-painless", ("antlr", "asm", "lang-", "opensearch-scripting"),
    ),
}  # fmt: skip
_DESCRIPTOR = """name={name}
description={name}
version={version}
opensearch.version={version}
java.version=11
classname={main}
extended.plugins=
has.native.controller=false
"""


def install(folder: Path) -> None:
    """Put the server's files into a folder, once."""
    if (folder / "whole").exists():
        return
    shutil.rmtree(folder, ignore_errors=True)
    _copy(folder / "core", *_CORE)
    for name, (main, artifact, own) in _MODULES.items():
        _copy(folder / "jars" / name, f"org.opensearch.plugin:{artifact}:{VERSION}")
        module = folder / "modules" / name
        module.mkdir(parents=True)
        for jar in (folder / "jars" / name).glob("*.jar"):
            if jar.name.startswith(own):
                shutil.move(jar, module / jar.name)
                with zipfile.ZipFile(module / jar.name) as held:
                    if "plugin-security.policy" in held.namelist():
                        held.extract("plugin-security.policy", module)
        text = _DESCRIPTOR.format(name=name, version=VERSION, main=main)
        (module / "plugin-descriptor.properties").write_text(text)
    knn = f"org.opensearch.plugin:opensearch-knn:{VERSION}.0:zip"
    _maven("dependency:copy", f"-Dartifact={knn}", f"-DoutputDirectory={folder / 'knn'}")
    with zipfile.ZipFile(next((folder / "knn").glob("*.zip"))) as held:
        held.extractall(folder / "plugins" / "opensearch-knn")
    (folder / "whole").touch()


def _copy(target: Path, *artifacts: str) -> None:
    parts = (artifact.split(":") for artifact in artifacts)
    form = "<dependency><groupId>{}</groupId><artifactId>{}</artifactId><version>{}</version></dependency>"
    target.mkdir(parents=True)
    pom = target.with_suffix(".xml")
    pom.write_text(_POM.format(name=target.name, dependencies="".join(form.format(*p) for p in parts)))
    _maven("-f", str(pom), "dependency:copy-dependencies", "-DincludeScope=runtime", f"-DoutputDirectory={target}")


def _maven(*arguments: str) -> None:
    subprocess.run(["mvn", "-q", "-B", *arguments], check=True, capture_output=True, text=True)


class OpenSearchServer:
    """The server, with its data in `home`; `pause` and `go_on` make it slow, `stop` ends it."""

    def __init__(self, files: Path, home: Path) -> None:
        self._home = home
        self.port, inner = _free(), _free()
        self.uri = f"http://127.0.0.1:{self.port}"
        config = home / "config"
        config.mkdir(parents=True)
        (config / "opensearch.yml").write_text(
            f"cluster.name: tests\ndiscovery.type: single-node\nnetwork.host: 127.0.0.1\nhttp.port: {self.port}\n"
            f"transport.port: {inner}\ncluster.routing.allocation.disk.threshold_enabled: false\n"
        )
        (config / "log4j2.properties").write_text(
            "appender.c.type=Console\nappender.c.name=c\nappender.c.layout.type=PatternLayout\n"
            "appender.c.layout.pattern=%p %c %m%n\nrootLogger.level=warn\nrootLogger.appenderRef.c.ref=c\n"
        )
        (home / "policy").write_text("grant { permission java.security.AllPermission; };\n")
        for name in ("core", "modules", "plugins"):  # readable for the user that runs it
            shutil.copytree(files / name, home / name)
        self._process: subprocess.Popen[bytes] | None = None

    def start(self) -> None:
        """Start it, and wait until it answers."""
        as_nobody = ["setpriv", "--reuid=65534", "--regid=65534", "--clear-groups"] if os.geteuid() == 0 else []
        if as_nobody:
            subprocess.run(["chown", "-R", "65534:65534", str(self._home)], check=True)
            for folder in (self._home, *self._home.parents):
                if folder.stat().st_uid == 0 and not folder.stat().st_mode & 1:
                    folder.chmod(folder.stat().st_mode | 0o11)  # allows traversal
        named = {"path.home": self._home, "path.conf": self._home / "config", "distribution.type": "tar"}
        options = [f"-Dopensearch.{name}={value}" for name, value in named.items()]
        command = [
            *as_nobody, "java", "-Xms512m", "-Xmx512m", *options, "-Dlog4j2.disable.jmx=true",
            f"-Djava.security.policy=file://{self._home / 'policy'}", f"-Djava.io.tmpdir={self._home}",
            "-cp", f"{self._home / 'core'}/*", "org.opensearch.bootstrap.OpenSearch",
        ]  # fmt: skip
        with (self._home / "log").open("ab") as log:
            self._process = subprocess.Popen(command, stdout=log, stderr=log, cwd=self._home)
        deadline = time.monotonic() + 240
        while True:
            try:
                with urllib.request.urlopen(f"{self.uri}/_cluster/health?wait_for_status=yellow", timeout=5):
                    return
            except OSError:
                if self._process.poll() is not None or time.monotonic() > deadline:
                    raise RuntimeError((self._home / "log").read_text()[-3000:]) from None
                time.sleep(0.5)

    def pause(self) -> None:
        """Stop it from responding, with its connections open."""
        assert self._process is not None
        self._process.send_signal(signal.SIGSTOP)
        threads = Path(f"/proc/{self._process.pid}/task")
        while any(stat.read_text().rpartition(")")[2].split()[0] != "T" for stat in threads.glob("*/stat")):
            time.sleep(0.01)  # a running process would answer

    def go_on(self) -> None:
        """End the pause."""
        assert self._process is not None
        self._process.send_signal(signal.SIGCONT)

    def stop(self) -> None:
        """Kill it, and wait until it is gone."""
        if self._process is not None:
            self._process.kill()
            self._process.wait(30)


def _free() -> int:
    with socket.socket() as s:
        s.bind(("127.0.0.1", 0))
        return int(s.getsockname()[1])
