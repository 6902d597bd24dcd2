"""The validity of the facts behind an answer, in words: dated facts of its passages, given a schema of facts."""

from collections.abc import Iterable, Sequence

from kgrag.graph.reader import Reader
from kgrag.text.tokens import normalise

_MOST = 5
"""Maximum number of facts in the notes of an answer."""


def held_facts(reader: Reader, passages: Sequence[str], texts: Iterable[str], as_of: str = "") -> tuple[str, ...]:
    """Return the dated facts of passages whose subject and object are in the question or answer.

    `texts`: the question and the answer; `as_of`: a date, to return only facts valid then. Takes one round trip if the
    collection has a schema of facts, otherwise none.
    """
    if not reader.collection.fact_schema or not passages:
        return ()
    text = f" {' '.join(normalise(part) for part in texts)} "
    rows = reader.rows("look_up/held", passages=list(passages), as_of=as_of)
    matches = [row for row in rows if all(f" {normalise(row[end])} " in text for end in ("subject", "object"))]
    return tuple(_words(**row) for row in matches[:_MOST])


def _words(
    subject: str, relation: str, object: str, valid_from: str | None, valid_to: str | None, ended_by: str | None
) -> str:
    """Return a fact with its validity as a sentence."""
    times = [f"since {valid_from}"] if valid_from else []
    times += [f"until {valid_to}"] if valid_to else []
    then = f", then {ended_by}" if ended_by else ""
    return f"{subject} {relation.replace('_', ' ').lower()} {object}: {' '.join(times)}{then}."
