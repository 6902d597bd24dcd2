"""The local server's configuration: neo4j.conf, free ports, the generated password."""

import errno
import hashlib
import re
import secrets
import socket
import stat
import string
import sys
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from pydantic import SecretStr

from kgrag.graph.local.releases import Line
from kgrag.runtime.files import write_atomic
from kgrag.settings import LocalSettings
from kgrag.values.errors import ConfigurationError, LocalServerError

HOST = "127.0.0.1"
USER = "neo4j"
_PORTS_TRIED = 200
_ENDING = 5.0  # seconds
_ROUNDS = 1024  # rounds of the hash, as in neo4j-admin


@dataclass(frozen=True, slots=True)
class Ports:
    """The two ports of a server, both on the loopback address."""

    bolt: int
    http: int


def choose_ports(settings: LocalSettings, last: Ports | None = None) -> Ports:
    """Return the preferred ports, or the next free ones. Raises LocalServerError if no port near them is free.

    `last`: the ports of a server that was killed, whose last threads may hold them for a moment: wait for these.
    """
    near = range(settings.bolt_port, settings.bolt_port + _PORTS_TRIED)
    deadline = time.monotonic() + _ENDING
    while last is not None and last.bolt in near and time.monotonic() < deadline:
        if port_is_free(last.bolt) and port_is_free(last.http):
            return last
        time.sleep(0.05)
    bolt = free_port(settings.bolt_port)
    return Ports(bolt, free_port(settings.http_port, but=bolt))


def free_port(preferred: int, but: int | None = None) -> int:
    """Return the first free port from `preferred` on, other than `but`."""
    for port in range(preferred, min(preferred + _PORTS_TRIED, 65536)):
        if port != but and port_is_free(port):
            return port
    raise LocalServerError(
        f"There is no free port from {preferred} on.",
        "Name others in KGRAG_LOCAL__BOLT_PORT and KGRAG_LOCAL__HTTP_PORT.",
    )


def port_is_free(port: int) -> bool:
    """Return whether a server could listen on `port` of the loopback address now."""
    with socket.socket(socket.AF_INET, socket.SOCK_STREAM) as probe:
        if sys.platform != "win32":
            # As the server does, so that connections of a server stopped a moment ago do not count.
            probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind((HOST, port))
            probe.listen(1)
        except OSError as error:
            if error.errno not in (errno.EADDRINUSE, errno.EACCES):
                raise
            return False
    return True


def is_listening(port: int) -> bool:
    """Return whether somebody accepts connections on `port` of the loopback address."""
    try:
        with socket.create_connection((HOST, port), timeout=2):
            return True
    except OSError:
        return False


def browser_url(ports: Ports) -> str:
    """Return the address of Neo4j Browser."""
    return f"http://{HOST}:{ports.http}/browser/"


def conf_text(settings: LocalSettings, line: Line, ports: Ports, plugins: Sequence[str], guide: str) -> str:
    """Return the text of neo4j.conf; `guide` is the address of the guide that Browser opens.

    Raises ConfigurationError if the heap setting is no memory size.
    """
    values = {
        "server.default_listen_address": HOST,
        "server.bolt.listen_address": f"{HOST}:{ports.bolt}",
        "server.bolt.advertised_address": f"{HOST}:{ports.bolt}",
        "server.http.listen_address": f"{HOST}:{ports.http}",
        "server.http.advertised_address": f"{HOST}:{ports.http}",
        "server.https.enabled": "false",
        "server.memory.heap.max_size": settings.heap,
        "server.memory.pagecache.size": settings.page_cache,
        "db.memory.transaction.max": "512m",
        # Without this an empty server takes half a gigabyte of disk.
        "db.tx_log.preallocate": "false",
        # A search goes through all segments of a vector index, and each buffer that is full makes one: of 10,000
        # vectors with the megabyte of the default. Two indexes are made at a time, each with a buffer.
        "internal.dbms.index.vector.population_ram_buffer_size": str(max(128, memory_size(settings.heap) >> 23)),
        # Else each query is planned again for every order of magnitude of its parameters; PathRank takes a second.
        "internal.cypher.use_parameter_size": "false",
        "dbms.security.auth_enabled": "true",
        "dbms.usage_report.enabled": "false",
        "client.allow_telemetry": "false",
        # The default, and the server itself: from there Browser fetches the guide and the style.
        "browser.remote_content_hostname_whitelist": f"guides.neo4j.com,localhost,{HOST}",
        **dict(line.conf),
    }
    if settings.guide:
        values["browser.post_connect_cmd"] = f"play {guide}"
    if plugins:
        values["dbms.security.procedures.unrestricted"] = ",".join(f"{plugin}.*" for plugin in plugins)
    values |= settings.conf
    lines = "".join(f"{key}={value}\n" for key, value in values.items())
    return f"# Written by kgrag at every start; change settings with KGRAG_LOCAL__* instead.\n{lines}"


def ports_of(conf: Path) -> Ports | None:
    """Return the ports that a neo4j.conf of ours names, None if it names none."""
    try:
        text = conf.read_text(encoding="utf-8")
    except OSError:
        return None
    ports = dict(re.findall(r"^server\.(bolt|http)\.listen_address=.*:(\d+)$", text, re.MULTILINE))
    return Ports(int(ports["bolt"]), int(ports["http"])) if len(ports) == 2 else None


def memory_size(text: str) -> int:
    """Return a JVM memory size ("512m", "2g") in bytes. Raises ConfigurationError."""
    units = {"k": 1 << 10, "m": 1 << 20, "g": 1 << 30, "t": 1 << 40}
    unit = units.get(text[-1:].lower(), 1)
    number = text if unit == 1 else text[:-1]
    if not number.isdecimal():
        raise ConfigurationError(f"KGRAG_LOCAL__HEAP={text} is not a memory size.", "Write for example 512m or 2g.")
    return int(number) * unit


def first_login(password: SecretStr) -> str:
    """Return the text of auth.ini, from which a server reads its user at its very first start.

    It is what `neo4j-admin dbms set-initial-password` writes, without the second that its Java takes.
    """
    salt = secrets.token_bytes(32)
    digest = salt + password.get_secret_value().encode()
    for _ in range(_ROUNDS):
        digest = hashlib.sha256(digest).digest()
    return f"{USER}:SHA-256,{digest.hex()},{salt.hex()},{_ROUNDS}:\n"


class PasswordFile:
    """The file that holds the server's password, readable by its owner alone."""

    def __init__(self, path: Path) -> None:
        self.path = path

    def exists(self) -> bool:
        """Return whether a password was generated before."""
        return self.path.exists()

    def read(self) -> SecretStr:
        """Return the password. Raises LocalServerError if the file is missing, empty or cannot be read."""
        try:
            text = self.path.read_text(encoding="utf-8").strip()
        except FileNotFoundError:
            text = ""
        except OSError as error:
            raise LocalServerError(f"Cannot read {self.path}: {error.strerror}.", f"chmod 600 {self.path}") from error
        if not text:
            raise LocalServerError(
                f"The password file {self.path} is missing or empty.",
                "Put the server's password into it (mode 0600), or move the folder server away to begin again.",
            )
        return SecretStr(text)

    def create(self) -> SecretStr:
        """Generate a password and keep it. Raises OSError."""
        alphabet = string.ascii_letters + string.digits
        password = "".join(secrets.choice(alphabet) for _ in range(24))
        write_atomic(self.path, password + "\n", mode=0o600)
        return SecretStr(password)

    def is_private(self) -> bool:
        """Return whether nobody but the owner may read the file (always true on Windows)."""
        return sys.platform == "win32" or not self.path.stat().st_mode & (stat.S_IRWXG | stat.S_IRWXO)

    def make_private(self) -> None:
        """Take every right from others. Raises OSError."""
        self.path.chmod(0o600)
