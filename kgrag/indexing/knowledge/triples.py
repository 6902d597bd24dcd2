"""Triples of one's own: N-Triples (W3C, 2014), and CSV or TSV of subject, predicate, object."""

import csv
import re
from collections import Counter
from collections.abc import Collection, Sequence
from dataclasses import dataclass, field
from urllib.parse import unquote

from kgrag.indexing.knowledge.statements import ALIAS, Entry, Fact, Named, value
from kgrag.text.languages import ENGLISH, Language
from kgrag.text.tokens import normalise

_TERM = r"(?:<([^>]*)>|(_:[^\s.]+(?:\.[^\s.]+)*))"
_LITERAL = r'"((?:[^"\\]|\\.)*)"(?:@([A-Za-z0-9-]+)|\^\^<([^>]*)>)?'
_LINE = re.compile(rf"\s*{_TERM}\s*<([^>]*)>\s*(?:{_TERM}|{_LITERAL})\s*\.\s*(?:#.*)?")
_ESCAPE = re.compile(r"\\(?:u([0-9A-Fa-f]{4})|U([0-9A-Fa-f]{8})|(.))")
_CONTROL = {"t": "\t", "n": "\n", "r": "\r", "b": "\b", "f": "\f"}
_NAMES = frozenset(
    (
        "http://www.w3.org/2000/01/rdf-schema#label",
        "http://www.w3.org/2004/02/skos/core#prefLabel",
        "http://schema.org/name",
        "https://schema.org/name",
        "http://xmlns.com/foaf/0.1/name",
    )
)
_ALIAS = "http://www.w3.org/2004/02/skos/core#altLabel"
_STRING = "http://www.w3.org/2001/XMLSchema#string"
_UNNAMED = 1000  # the rank of a name that is made from an address


@dataclass(slots=True)
class NTriplesReader:
    """Reads N-Triples line by line. Names are labels (rdfs, skos, schema.org, foaf), else the end of the address.

    Objects that are texts are left out, dates and numbers are kept. `properties`: only these, by their addresses.
    """

    languages: Sequence[str] = ("en",)
    properties: Collection[str] = ()
    counts: Counter[str] = field(default_factory=Counter)

    def __call__(self, line: bytes) -> Entry | None:
        """What a line says; None if nothing."""
        text = line.decode("utf-8", "replace").strip().lstrip("\ufeff")
        if not text or text.startswith("#"):
            return None
        match = _LINE.fullmatch(text)
        if match is None:
            self.counts["lines that are no triple"] += 1
            return None
        subject, predicate = _unescaped(match[1] or match[2]), _unescaped(match[3])
        object, literal, language, type = match[4] or match[5], match[6], match[7], match[8]
        entry = Entry()
        if literal is not None and predicate in (*_NAMES, _ALIAS):
            self._name(entry, subject, predicate, _unescaped(literal), (language or "").lower())
            return entry
        if self.properties and predicate not in self.properties:
            self.counts["statements of other properties"] += 1
            return None
        if literal is not None and (type is None or type == _STRING):
            self.counts["statements whose object is a text"] += 1
            return None
        end = _named(_unescaped(object)) if object is not None else value(_unescaped(literal))
        entry.named += (_named(subject), Named(predicate, _words(predicate), _UNNAMED), end)
        entry.facts.append(Fact(subject, predicate, end.key))
        self.counts["statements"] += 1
        return entry

    def _name(self, entry: Entry, subject: str, predicate: str, text: str, language: str) -> None:
        base, text = language.partition("-")[0], " ".join(text.replace(";", ",").split())
        if not text or (language and base not in self.languages):
            self.counts["names in another language"] += 1
            return
        rank = self.languages.index(base) if base else len(self.languages)
        if predicate == _ALIAS:
            entry.named += (_named(subject)._replace(alias=text), Named(ALIAS, ALIAS), value(text))
            entry.facts.append(Fact(subject, ALIAS, f"={text}"))
            self.counts["aliases"] += 1
        else:
            entry.named.append(Named(subject, text, rank))
            self.counts["names"] += 1


@dataclass(slots=True)
class CsvReader:
    """Reads rows of subject, predicate and object, which are names; a first row that says so is no triple."""

    delimiter: str = ","
    language: Language = ENGLISH
    counts: Counter[str] = field(default_factory=Counter)

    def __call__(self, line: bytes) -> Entry | None:
        """What a row says; None if nothing."""
        text = line.decode("utf-8", "replace").strip("\r\n").lstrip("\ufeff")
        if not text.strip():
            return None
        cells = next(csv.reader([text], delimiter=self.delimiter), [])
        parts = [" ".join(cell.replace(";", ",").split()) for cell in cells[:3]]
        if [part.lower() for part in parts] == ["subject", "predicate", "object"]:
            return None
        if len(parts) < 3 or not all(parts):
            self.counts["lines that are no triple"] += 1
            return None
        keys = [normalise(part, self.language) or part for part in parts]
        entry = Entry([Named(key, part) for key, part in zip(keys, parts, strict=True)], [Fact(*keys)])
        if keys[1] == ALIAS:
            entry.named.append(Named(keys[0], parts[0], 0, parts[2]))
        self.counts["statements"] += 1
        return entry


def _named(key: str) -> Named:
    return Named(key, _words(key), _UNNAMED)


def _words(address: str) -> str:
    """What an address ends with, as words: http://x.org/ns#hasPart is has part."""
    end = unquote(re.split(r"[/#:]", address.rstrip("/#"))[-1])
    return " ".join(re.sub(r"(?<=[a-z])(?=[A-Z])", " ", end.replace("_", " ")).replace(";", ",").split()) or address


def _unescaped(text: str) -> str:
    def put(match: re.Match[str]) -> str:
        number = match[1] or match[2]
        if number:
            return chr(int(number, 16)) if int(number, 16) < 0x110000 else "\ufffd"
        return _CONTROL.get(match[3], match[3])

    return _ESCAPE.sub(put, text) if "\\" in text else text
