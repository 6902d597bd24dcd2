"""What a source of a knowledge graph says: entities with their names, and facts between them, by keys.

A key is a number of Wikidata (Q42, P31), an address, a name in normal form, or `=` and a value ("=11 March 1952").
"""

from dataclasses import dataclass, field
from hashlib import blake2b
from typing import NamedTuple

_KINDS = "QPL"
ALIAS = "alias"
"""The predicate between an entity and another name of it (Millions of GEAR-s, section 5)."""


class Named(NamedTuple):
    """An entity with its names. `rank`: of several names that of the lowest is taken; `unit`: key of a value's unit."""

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
    """What one line of a source gives; `redirects`: keys of objects and predicates that stand for another."""

    named: list[Named] = field(default_factory=list)
    facts: list[Fact] = field(default_factory=list)
    redirects: list[tuple[str, str]] = field(default_factory=list)


def value(text: str, unit: str = "") -> Named:
    """The entity that a value is: a date, a quantity, a place on the globe, another name."""
    return Named(f"={text} {unit}" if unit else f"={text}", text, unit=unit)


def one_line(text: str) -> str:
    """A name as it is written, each run of white space a single space."""
    return " ".join(text.split())


def code(key: str) -> int:
    """A key as an integer below 2^63: numbers of Wikidata in their order, others hashed (61 bits)."""
    digits = key[1:]
    if key[:1] in _KINDS and digits.isascii() and digits.isdigit() and len(digits) < 18:
        return int(digits) * 4 + _KINDS.index(key[0])
    return (int.from_bytes(blake2b(key.encode("utf-8", "replace"), digest_size=8).digest(), "big") >> 1) | 3
