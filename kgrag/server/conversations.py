"""Store the conversations of the pages on disk: each question, its result and its steps.

A page that is opened again, even after a restart, shows the stored answer. Only its owner may continue a conversation.
Others may read it if they know its random address and may see all its collections. The file is readable by the user of
the server only.
"""

import json
import logging
import os
import sqlite3
import zlib
from collections.abc import Iterator, Mapping, Sequence
from contextlib import closing, contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Literal

from kgrag import wire
from kgrag.runtime.files import private_folder
from kgrag.values.errors import ConfigurationError, FullError, InputError, NotFoundError
from kgrag.values.events import Answer
from kgrag.values.forms import read
from kgrag.values.results import Ranking

_LOG = logging.getLogger(__name__)
_MADE = """
CREATE TABLE IF NOT EXISTS turns (
  id TEXT PRIMARY KEY, conversation TEXT, owner TEXT, created TEXT, replaced INT, form TEXT, result BLOB);
CREATE INDEX IF NOT EXISTS by_conversation ON turns (conversation, created);
CREATE INDEX IF NOT EXISTS by_owner ON turns (owner, created);
CREATE TABLE IF NOT EXISTS titles (conversation TEXT, owner TEXT, title TEXT, PRIMARY KEY (conversation, owner));
CREATE TABLE IF NOT EXISTS texts (id TEXT PRIMARY KEY, text TEXT);
CREATE TRIGGER IF NOT EXISTS texts_go AFTER DELETE ON turns BEGIN DELETE FROM texts WHERE id = old.id; END;
"""
_OLDEST = "DELETE FROM turns WHERE id IN (SELECT id FROM turns ORDER BY created DESC, id LIMIT -1 OFFSET ?)"

_EACH = "SELECT id, form, replaced FROM turns WHERE conversation = ? ORDER BY created, id"
_WITH_WORDS = (
    "AND conversation IN (SELECT said.conversation FROM turns AS said LEFT JOIN texts ON texts.id = said.id LEFT JOIN "
    "titles ON titles.conversation = said.conversation AND titles.owner = said.owner WHERE said.owner = ?1 AND "
    "NOT said.replaced AND NOT EXISTS (SELECT 1 FROM json_each(?4) WHERE NOT instr(folded("
    "json_extract(said.form, '$.question') || ' ' || coalesce(text, '') || ' ' || coalesce(title, '')), value))) "
)
_TITLE = 200  # characters
_LAST = "SELECT id FROM turns WHERE conversation = ? AND NOT replaced ORDER BY created DESC, id DESC LIMIT 1"

State = Literal["waiting", "running", "done", "stopped", "failed"]


@dataclass(frozen=True, slots=True)
class Turn:
    """A question of a conversation: `system` answers it, or `retriever` searches for it if `system` is empty.

    `asked`: the question rewritten from its context, if that differs. `read`: ids of the passages that the model read.
    `after`: the previous turn, None in older releases; turns after the same one are versions of each other. `error`:
    the failure. `good`: the owner's rating, None without one, `remark` its reason, `run` the run stored with it.
    `created`: ISO 8601.
    """

    id: str
    conversation: str
    owner: str
    collections: tuple[str, ...]
    question: str
    system: str
    retriever: str
    created: str
    asked: str = ""
    read: tuple[str, ...] = ()
    after: str | None = None
    state: State = "waiting"
    error: Mapping[str, str] | None = None
    good: bool | None = None
    remark: str = ""
    run: str = ""
    calls: int = 0
    tokens: int = 0
    cost: float | None = 0.0


@dataclass(frozen=True, slots=True)
class Heading:
    """A listed conversation: its name or first question, the number of questions, and the time of the last."""

    id: str
    title: str
    collections: tuple[str, ...]
    turns: int
    last: str


class Conversations:
    """A file with the newest `most` turns. Safe for many threads and processes."""

    def __init__(self, path: Path, most: int) -> None:
        self._path, self._most = path, most

    def add(self, turn: Turn, instead: str = "") -> None:
        """Append a turn. `instead`: add it as another version of that turn (see `show`)."""
        with self._file() as file:
            if instead:
                file.execute(
                    "UPDATE turns SET replaced = 1 WHERE conversation = ?1 AND owner = ?2 AND created >= "
                    "(SELECT created FROM turns WHERE id = ?3 AND conversation = ?1)",
                    (turn.conversation, turn.owner, instead),
                )
            last = file.execute(_LAST, (turn.conversation,)).fetchone()
            form = _text(replace(turn, after=last[0] if last else ""))
            file.execute(
                "INSERT INTO turns VALUES (?, ?, ?, ?, 0, ?, NULL)",
                (turn.id, turn.conversation, turn.owner, turn.created, form),
            )
            file.execute(_OLDEST, (self._most,))

    def show(self, turn: Turn) -> None:
        """Show another version of a turn, with its newest later turns."""
        ids = json.dumps([other.id for other in self.turns(turn.conversation, turn.id)])
        with self._file() as file:
            query = "UPDATE turns SET replaced = id NOT IN (SELECT value FROM json_each(?)) WHERE conversation = ?"
            file.execute(query, (ids, turn.conversation))

    def versions(self, conversation: str) -> dict[str, list[str]]:
        """Return the ids of all versions of each turn of a conversation, in order."""
        versions: dict[str, list[str]] = {}
        before = _before(self._rows(_EACH, conversation))
        for id, earlier in before.items():
            versions.setdefault(earlier, []).append(id)
        return {id: versions[earlier] for id, earlier in before.items()}

    def change(self, id: str, result: Answer | Ranking | None = None, **changes: Any) -> Turn:
        """Update fields of a turn, and store its result. Raises NotFoundError if it was deleted meanwhile."""
        with self._file() as file:
            file.execute("BEGIN IMMEDIATE")
            row = file.execute("SELECT form FROM turns WHERE id = ?", (id,)).fetchone()
            if row is None:
                raise _no_turn(id)
            turn = replace(_turn(row[0]), **changes)
            file.execute("UPDATE turns SET form = ? WHERE id = ?", (_text(turn), id))
            if result is not None:
                packed = zlib.compress(wire.dumps(wire.to_json(result)).encode())
                file.execute("UPDATE turns SET result = ? WHERE id = ?", (packed, id))
            if isinstance(result, Answer):
                file.execute("INSERT OR REPLACE INTO texts VALUES (?, ?)", (id, result.text))
        return turn

    def turn(self, id: str) -> Turn:
        """Return one turn. Raises NotFoundError."""
        rows = self._rows("SELECT form FROM turns WHERE id = ?", id)
        if not rows:
            raise _no_turn(id)
        return _turn(rows[0][0])

    def result(self, id: str) -> Answer | Ranking | None:
        """Return the result of a turn, or None if it has no readable result."""
        rows = self._rows("SELECT result FROM turns WHERE id = ?", id)
        if not rows or rows[0][0] is None:
            return None
        try:
            form = json.loads(zlib.decompress(rows[0][0]))
            return wire.from_json(Answer, form) if "trace" in form else wire.from_json(Ranking, form)
        except (zlib.error, ValueError, KeyError, InputError) as error:
            _LOG.warning("A kept answer cannot be read: %s", error)
            return None

    def turns(self, conversation: str, through: str = "") -> list[Turn]:
        """Return the shown turns of a conversation, or the turns of the version that contains the turn `through`.

        Raises NotFoundError for a missing turn.
        """
        rows = self._rows(_EACH, conversation)
        before = _before(rows)
        path = _path(before, through) if through in before else {id for id, _, replaced in rows if not replaced}
        turns = [_turn(form) for id, form, _ in rows if id in path]
        if not turns:
            raise NotFoundError("There is no such conversation.", "It was removed, or is older than the kept ones.")
        return turns

    def headings(self, owner: str, most: int, search: str = "", before: str = "") -> list[Heading]:
        """Return the newest conversations of an owner that have the words of `search` and are older than `before`."""
        query = (
            "SELECT conversation, count(*), max(created) AS last, (SELECT form FROM turns AS first WHERE "
            "first.conversation = turns.conversation AND NOT replaced ORDER BY created, id LIMIT 1), "
            "(SELECT title FROM titles WHERE titles.conversation = turns.conversation AND titles.owner = turns.owner) "
            f"FROM turns WHERE owner = ?1 AND NOT replaced {_WITH_WORDS if search else ''}"
            "GROUP BY conversation HAVING ?3 = '' OR last < ?3 ORDER BY last DESC LIMIT ?2"
        )
        words = (json.dumps(search.casefold().split()),) if search else ()
        rows = self._rows(query, owner, most, before, *words)
        firsts = [_turn(form) for *_, form, _ in rows]
        return [
            Heading(id, (title or first.question)[:_TITLE], first.collections, number, last)
            for (id, number, last, _, title), first in zip(rows, firsts, strict=True)
        ]

    def rename(self, conversation: str, owner: str, title: str) -> None:
        """Rename a conversation of an owner; "" restores the default name."""
        with self._file() as file:
            file.execute("INSERT OR REPLACE INTO titles VALUES (?, ?, ?)", (conversation, owner, title))

    def rated(self, most: int) -> list[Turn]:
        """Return the newest rated turns of all users."""
        query = "SELECT form FROM turns WHERE json_extract(form, '$.good') IS NOT NULL ORDER BY created DESC LIMIT ?"
        return [_turn(form) for (form,) in self._rows(query, most)]

    def spent(self) -> list[tuple[str, int, int, float | None]]:
        """Return the questions, tokens and cost of each key, most tokens first. The cost is None without prices."""
        query = (
            "SELECT owner, count(*), sum(json_extract(form, '$.tokens')) AS tokens, "
            "CASE WHEN count(*) = count(json_extract(form, '$.cost')) THEN total(json_extract(form, '$.cost')) END "
            "FROM turns GROUP BY owner ORDER BY tokens DESC"
        )
        return [(owner, number, tokens or 0, cost) for owner, number, tokens, cost in self._rows(query)]

    def remove(self, conversation: str, owner: str) -> bool:
        """Delete a conversation of an owner; return whether it existed."""
        with self._file() as file:
            file.execute("DELETE FROM titles WHERE conversation = ? AND owner = ?", (conversation, owner))
            query = "DELETE FROM turns WHERE conversation = ? AND owner = ?"
            return file.execute(query, (conversation, owner)).rowcount > 0

    def _rows(self, query: str, *parameters: Any) -> Sequence[Any]:
        if not self._path.exists():
            return []
        with self._file() as file:
            return file.execute(query, parameters).fetchall()

    @contextmanager
    def _file(self) -> Iterator[sqlite3.Connection]:
        private_folder(self._path.parent)
        os.close(os.open(self._path, os.O_CREAT | os.O_RDWR, 0o600))
        try:
            with closing(sqlite3.connect(self._path, timeout=20)) as file, file:
                file.executescript(_MADE)
                file.create_function("folded", 1, str.casefold, deterministic=True)
                yield file
        except sqlite3.Error as error:
            if "full" in str(error):
                raise FullError(
                    "The disk of the server is full.", "The operator of the server can free space there."
                ) from error
            raise ConfigurationError(
                f"The file of conversations, {self._path}, cannot be used: {error}.", "Mend or remove it."
            ) from error


def _text(turn: Turn) -> str:
    return wire.dumps(turn)


def _turn(form: str) -> Turn:
    """Return a turn from its stored form, of this release or another one."""
    return read(Turn, json.loads(form))


def _before(rows: Sequence[tuple[str, str, int]]) -> dict[str, str]:
    """Return the id of the previous turn of each turn. Turns of older releases follow the last shown one."""
    before, last = dict[str, str](), ""
    for id, form, replaced in rows:
        after = _turn(form).after
        before[id] = last if after is None else after
        last = last if replaced else id
    return before


def _path(before: Mapping[str, str], through: str) -> set[str]:
    """Return the ids of a turn, of all previous turns, and of the newest later ones."""
    path, at = set[str](), through
    while at in before:
        path.add(at)
        at = before[at]
    at = through
    while later := [id for id, earlier in before.items() if earlier == at]:
        at = later[-1]
        path.add(at)
    return path


def _no_turn(id: str) -> NotFoundError:
    return NotFoundError(f"There is no question {id!r}.", "It was removed, or is older than the kept ones.")
