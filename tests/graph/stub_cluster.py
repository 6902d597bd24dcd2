"""A stub of a Neo4j cluster for a driver: members that speak Bolt, one of them the leader, and a log of writes.

It runs no queries: a write is one more entry of the log, and a read returns how many entries its member has. It
imitates a cluster's events: another leader, followers that lag, lost members.
"""

import socket
import struct
import threading
import time
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Self

from neo4j._codec.packstream.v1 import PackableBuffer, Packer, UnpackableBuffer, Unpacker

_VERSION = b"\x00\x00\x04\x05"  # Bolt 5.4
_SUCCESS, _RECORD, _FAILURE, _IGNORED = b"\x70", b"\x71", b"\x7f", b"\x7e"
_HELLO, _GOODBYE, _RESET, _RUN, _BEGIN, _COMMIT, _ROLLBACK, _PULL, _TELEMETRY, _ROUTE, _LOGON = (
    0x01, 0x02, 0x0F, 0x10, 0x11, 0x12, 0x13, 0x3F, 0x54, 0x66, 0x6A
)  # fmt: skip
_NOT_A_LEADER = ("Neo.ClientError.Cluster.NotALeader", "No write operations are allowed on this member.")


@dataclass
class Member:
    """One member. `lag`: seconds until it has the leader's writes; `seen`: (read or write, bookmarks)."""

    address: str
    lag: float = 0.0
    lost: bool = False
    seen: list[tuple[str, list[str]]] = field(default_factory=list)


class StubCluster:
    """Three members on loopback; `leader` is the number of the member that accepts writes, or None."""

    def __init__(self) -> None:
        self.leader: int | None = 0
        self.log: list[tuple[float, str]] = []  # the time of each commit, and its statement
        self.members: list[Member] = []
        self._sockets: list[socket.socket] = []
        self._lock = threading.Lock()
        for number in range(3):
            listening = socket.create_server(("127.0.0.1", 0))
            self._sockets.append(listening)
            self.members.append(Member(f"127.0.0.1:{listening.getsockname()[1]}"))
            threading.Thread(target=self._listen, args=(number, listening), daemon=True).start()

    @property
    def uri(self) -> str:
        """The address of the first member."""
        return f"neo4j://{self.members[0].address}"

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        for listening in self._sockets:
            listening.close()

    def table(self) -> dict[str, Any]:
        """Return the members' view of one another, which may soon be outdated."""
        there = [(n, member.address) for n, member in enumerate(self.members)]
        roles = {
            "ROUTE": [address for _, address in there],
            "READ": [address for n, address in there if n != self.leader],
            "WRITE": [address for n, address in there if n == self.leader],
        }
        return {"ttl": 300, "db": "neo4j", "servers": [{"role": r, "addresses": a} for r, a in roles.items()]}

    def count(self, member: Member, bookmarks: list[str]) -> int:
        """Return a member's number of writes, once it has the ones in `bookmarks`."""
        needed = max((int(bookmark) for bookmark in bookmarks), default=0)
        while True:
            with self._lock:
                here = sum(committed + member.lag <= time.monotonic() for committed, _ in self.log)
            if here >= needed:
                return here
            time.sleep(0.01)

    def commit(self, statement: str) -> str:
        """Add a write; return its bookmark."""
        with self._lock:
            self.log.append((time.monotonic(), statement))
            return str(len(self.log))

    def _listen(self, number: int, listening: socket.socket) -> None:
        while True:
            try:
                connection, _ = listening.accept()
            except OSError:
                return
            threading.Thread(target=self._serve, args=(number, connection), daemon=True).start()

    def _serve(self, number: int, connection: socket.socket) -> None:
        with connection:
            stream = connection.makefile("rb")
            stream.read(20)
            connection.sendall(_VERSION)
            conversation = _Conversation(self, number)
            while (message := _receive(stream)) is not None and not self.members[number].lost:
                for tag, value in conversation.answer(*message):
                    connection.sendall(_packed(tag, value))
                if message[0] == _GOODBYE:
                    return


class _Conversation:
    """The state of one connection."""

    def __init__(self, cluster: StubCluster, number: int) -> None:
        self._cluster, self._number = cluster, number
        self._failed = False
        self._begun: Mapping[str, Any] | None = None
        self._written: str | None = None
        self._rows: list[list[Any]] = []

    def answer(self, tag: int, fields: list[Any]) -> list[tuple[bytes, Any]]:
        if tag == _RESET:
            self._failed, self._begun, self._written = False, None, None
        elif self._failed:
            return [(_IGNORED, None)]
        elif tag == _HELLO:
            return [(_SUCCESS, {"server": "Neo4j/5.26.0", "connection_id": "stub", "hints": {}})]
        elif tag == _ROUTE:
            return [(_SUCCESS, {"rt": self._cluster.table()})]
        elif tag == _BEGIN:
            self._begun = fields[0]
        elif tag == _RUN:
            return self._run(fields[0], self._begun if self._begun is not None else fields[2])
        elif tag == _PULL:
            rows = [(_RECORD, row) for row in self._rows]
            return [*rows, (_SUCCESS, {"type": "r"} | (self._commit() if self._begun is None else {}))]
        elif tag == _COMMIT:
            done = self._commit()
            self._begun = None
            return [(_SUCCESS, done)]
        return [(_SUCCESS, {})]

    def _run(self, statement: str, extra: Mapping[str, Any]) -> list[tuple[bytes, Any]]:
        member = self._cluster.members[self._number]
        mode = "read" if extra.get("mode") == "r" else "write"
        member.seen.append((mode, list(extra.get("bookmarks", ()))))
        if mode == "write":
            if self._number != self._cluster.leader:
                self._failed = True
                return [(_FAILURE, dict(zip(("code", "message"), _NOT_A_LEADER, strict=True)))]
            self._written, self._rows = statement, []
            return [(_SUCCESS, {"fields": []})]
        self._rows = [[self._cluster.count(member, list(extra.get("bookmarks", ())))]]
        return [(_SUCCESS, {"fields": ["pong"]})]

    def _commit(self) -> dict[str, Any]:
        written, self._written = self._written, None
        return {} if written is None else {"bookmark": self._cluster.commit(written)}


def _receive(stream: Any) -> tuple[int, list[Any]] | None:
    """Return the next message as its tag and its fields; None when the other side has disconnected."""
    data = b""
    while head := stream.read(2):
        size = struct.unpack(">H", head)[0]
        if not size and data:
            unpacker = Unpacker(UnpackableBuffer(data[2:]))  # skips the marker of the structure and its tag
            return data[1], [unpacker.unpack() for _ in range(data[0] & 0x0F)]
        data += stream.read(size)
    return None


def _packed(tag: bytes, value: Any) -> bytes:
    buffer = PackableBuffer()
    packer = Packer(buffer)
    packer.pack_struct(tag, [] if value is None else [value])
    data = bytes(buffer.data)
    return struct.pack(">H", len(data)) + data + b"\x00\x00"
