"""The names and facts of a source by key, on disk until they are written into the graph.

One SQLite file. A transaction holds the facts and the position in the source: killed at any moment, the
reading goes on there. Memory is bounded by the cache.
"""

import json
import sqlite3
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from hashlib import blake2b
from pathlib import Path
from typing import Any, NamedTuple, Self

# What a source of a knowledge graph says: entities with their names, and facts between them, by keys.
#
# A key is a number of Wikidata (Q42, P31), an address, a name in normal form, or `=` and a value ("=11 March 1952").


_KINDS = "QPL"
ALIAS = "alias"
"""The predicate between an entity and another name of it (Millions of GEAR-s, section 5)."""


class Named(NamedTuple):
    """An entity with its names. The name of the lowest `rank` wins; `unit` is the key of a value's unit."""

    key: str
    name: str
    rank: int = 0
    alias: str = ""
    wikipedia: str = ""
    unit: str = ""


class Fact(NamedTuple):
    """A statement by the keys of its parts; `note`: when it held, in words that stand behind it."""

    subject: str
    predicate: str
    object: str
    note: str = ""


@dataclass(slots=True)
class Entry:
    """The entities and facts of one line of a source; `redirects`: keys of objects and predicates that mean another."""

    named: list[Named] = field(default_factory=list)
    facts: list[Fact] = field(default_factory=list)
    redirects: list[tuple[str, str]] = field(default_factory=list)


def value(text: str, unit: str = "") -> Named:
    """Return the entity of a value: a date, a quantity, a place on the globe, another name."""
    return Named(f"={text} {unit}" if unit else f"={text}", text, unit=unit)


def one_line(text: str) -> str:
    """Return a name as written, each run of white space a single space."""
    return " ".join(text.split())


def code(key: str) -> int:
    """Return a key as an integer below 2^63: numbers of Wikidata in their order, others hashed (61 bits)."""
    digits = key[1:]
    if key[:1] in _KINDS and digits.isascii() and digits.isdigit() and len(digits) < 18:
        return int(digits) * 4 + _KINDS.index(key[0])
    return (int.from_bytes(blake2b(key.encode("utf-8", "replace"), digest_size=8).digest(), "big") >> 1) | 3


_CACHE = 192_000  # KiB
_VERSION = "2"  # version of the tables
_TABLES = """
CREATE TABLE IF NOT EXISTS note (name TEXT PRIMARY KEY, value TEXT);
CREATE TABLE IF NOT EXISTS entity (
    code INTEGER PRIMARY KEY, key TEXT, name TEXT, rank INTEGER, alias TEXT, wikipedia TEXT, unit INTEGER);
CREATE TABLE IF NOT EXISTS redirect (code INTEGER PRIMARY KEY, target INTEGER);
CREATE TABLE IF NOT EXISTS fact (
    subject INTEGER, predicate INTEGER, object INTEGER, note TEXT, PRIMARY KEY (subject, predicate, object))
    WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS part (code INTEGER PRIMARY KEY);
"""
_NAME = """
INSERT INTO entity VALUES (?, ?, ?, ?, nullif(?, ''), nullif(?, ''), ?) ON CONFLICT DO UPDATE SET
    name = iif(excluded.rank < rank, excluded.name, name), rank = min(excluded.rank, rank),
    alias = coalesce(alias, excluded.alias), wikipedia = coalesce(wikipedia, excluded.wikipedia)
"""
_FACT = """
INSERT INTO fact VALUES (?, ?, ?, ?) ON CONFLICT DO UPDATE SET note =
    iif(note = '' OR excluded.note = '', '', iif(note = excluded.note, note, note || ', ' || excluded.note))
"""
_UNITS = """
UPDATE entity SET name = name || ' ' || (SELECT u.name FROM entity u WHERE u.code = entity.unit), unit = NULL
WHERE unit IS NOT NULL AND EXISTS (SELECT 1 FROM entity u WHERE u.code = entity.unit AND u.unit IS NULL)
"""
_REDIRECTS = tuple(
    f"UPDATE OR REPLACE fact SET {part} = (SELECT target FROM redirect WHERE code = {part}) "
    f"WHERE {part} IN (SELECT code FROM redirect)"
    for part in ("object", "predicate")
)
_CLASS = """
WITH RECURSIVE class(code) AS (VALUES (?) UNION SELECT f.subject FROM fact f, class
    WHERE f.predicate = ? AND f.object = class.code)
INSERT OR IGNORE INTO part SELECT f.subject FROM fact f, class WHERE f.predicate = ? AND f.object = class.code
"""
_HOP = """
INSERT OR IGNORE INTO part SELECT f.object FROM fact f JOIN part ON part.code = f.subject
"""
_FACTS = """
SELECT s.key, s.name, p.key, p.name, o.key, o.name, f.note FROM fact f
CROSS JOIN entity s ON s.code = f.subject CROSS JOIN entity o ON o.code = f.object
LEFT JOIN entity p ON p.code = f.predicate
"""
_ENTITIES = "SELECT e.key, e.name, e.alias, e.wikipedia FROM used JOIN entity e ON e.code = used.code ORDER BY e.code"
_IN_PART = " WHERE f.subject IN (SELECT code FROM part)"

FactRow = tuple[str, str, str | None, str | None, str, str, str]
EntityRow = tuple[str, str, str | None, str | None]


class Store:
    """The names and facts of one source. A context manager; of another `source` (fingerprint) nothing is kept."""

    def __init__(self, path: Path, source: str) -> None:
        path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
        self.path = path
        self._open()
        if self._note("source") != source or self._note("version") != _VERSION:
            self.remove()
            self._open()
            self._store("source", source)
            self._store("version", _VERSION)
            self._database.commit()

    def _open(self) -> None:
        self._database = sqlite3.connect(self.path, isolation_level="DEFERRED")
        for pragma in ("journal_mode = WAL", "synchronous = OFF", f"cache_size = -{_CACHE}", "temp_store = FILE"):
            self._database.execute(f"PRAGMA {pragma}")
        self._database.executescript(_TABLES)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._database.close()

    def remove(self) -> None:
        """Delete it."""
        self._database.close()
        for end in ("", "-wal", "-shm"):
            self.path.with_name(self.path.name + end).unlink(missing_ok=True)

    @property
    def lines(self) -> int:
        """How many lines of the source are in it."""
        return int(self._note("lines") or 0)

    @property
    def read(self) -> bool:
        """Whether the source was read to its end."""
        return self._note("read") is not None

    @property
    def written(self) -> int:
        """How many facts were written into the graph already."""
        return int(self._note("written") or 0)

    @written.setter
    def written(self, facts: int) -> None:
        self._store("written", str(facts))
        self._database.commit()

    @property
    def counts(self) -> Counter[str]:
        """The items read and left out so far."""
        return Counter(json.loads(self._note("counts") or "{}"))

    def add(self, entries: Iterable[Entry], lines: int, counts: Counter[str]) -> None:
        """Keep what some lines gave; `lines`, `counts`: of all lines up to here."""
        named: list[tuple[object, ...]] = []
        facts: list[tuple[int, int, int, str]] = []
        redirects: list[tuple[int, int]] = []
        for entry in entries:
            for n in entry.named:
                unit = code(n.unit) if n.unit else None
                named.append((code(n.key), n.key, n.name, n.rank, n.alias, n.wikipedia, unit))
            facts += [(code(f.subject), code(f.predicate), code(f.object), f.note) for f in entry.facts]
            redirects += [(code(one), code(other)) for one, other in entry.redirects]
        with self._database:
            self._database.executemany(_NAME, named)
            self._database.executemany(_FACT, facts)
            self._database.executemany("INSERT OR REPLACE INTO redirect VALUES (?, ?)", redirects)
            self._store("lines", str(lines))
            self._store("counts", json.dumps(counts))

    def finish(self) -> None:
        """Complete the store: units get their names, and redirects are resolved."""
        with self._database:
            self._database.execute(_UNITS)
            for statement in _REDIRECTS:
                self._database.execute(statement)
            self._store("read", "yes")

    def select(self, keys: Iterable[str] = (), classes: Sequence[str] = (), hops: int = 1) -> int:
        """Keep only facts about entities with `keys`, instances of `classes`, and entities within `hops` of them.

        A hop leads from a subject to its objects. Returns the number of entities whose facts are kept.
        """
        with self._database:
            self._database.execute("DELETE FROM part")
            self._database.executemany("INSERT OR IGNORE INTO part VALUES (?)", ((code(key),) for key in keys))
            if classes:
                self._database.execute("CREATE INDEX IF NOT EXISTS fact_object ON fact (predicate, object)")
            for one in classes:
                self._database.execute(_CLASS, (code(one), code("P279"), code("P31")))
            for _ in range(hops - 1):
                self._database.execute(_HOP)
        return self._number("SELECT count(*) FROM part")

    def names(self) -> Iterator[tuple[str, str, str | None]]:
        """Yield key, name and Wikipedia title of every entity but values."""
        rows = self._database.execute("SELECT key, name, wikipedia FROM entity WHERE substr(key, 1, 1) <> '='")
        yield from rows

    def prepare(self, *, part: bool) -> tuple[int, int]:
        """Find the `entities` to write; `part`: only the selection. Returns the numbers of entities and facts."""
        only = _IN_PART if part else ""
        with self._database:
            self._database.execute("CREATE TABLE IF NOT EXISTS used (code INTEGER PRIMARY KEY)")
            self._database.execute("DELETE FROM used")
            for end in ("subject", "object"):
                self._database.execute(f"INSERT OR IGNORE INTO used SELECT f.{end} FROM fact f{only}")
        facts = self._number(f"SELECT count(*) FROM fact f{only}")
        return self._number("SELECT count(*) FROM used JOIN entity e ON e.code = used.code"), facts

    def entities(self) -> Iterator[EntityRow]:
        """Yield (key, name, alias, Wikipedia title) of the entities to write."""
        yield from self._database.cursor().execute(_ENTITIES)

    def facts(self, *, part: bool) -> Iterator[FactRow]:
        """Yield (key, name) of subject, predicate and object, and the note, of the named facts to write."""
        yield from self._database.cursor().execute(_FACTS + (_IN_PART if part else ""))

    def _note(self, name: str) -> str | None:
        row = self._database.execute("SELECT value FROM note WHERE name = ?", (name,)).fetchone()
        return None if row is None else str(row[0])

    def _store(self, name: str, value: str) -> None:
        self._database.execute("INSERT OR REPLACE INTO note VALUES (?, ?)", (name, value))

    def _number(self, statement: str) -> int:
        row: tuple[Any, ...] = self._database.execute(statement).fetchone()
        return int(row[0])
