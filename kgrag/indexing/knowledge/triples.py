"""Triples of one's own: N-Triples (W3C, 2014), other forms of RDF, and CSV or TSV of subject, predicate, object."""

import bz2
import csv
import gzip
import re
from collections import Counter
from collections.abc import Collection, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from importlib.util import find_spec
from pathlib import Path
from typing import IO, cast
from urllib.parse import unquote

from kgrag.indexing.knowledge.store import ALIAS, Entry, Fact, Named, one_line, value
from kgrag.indexing.knowledge.wikidata import MIDNIGHT, language_rank, place, time
from kgrag.text.languages import ENGLISH, Language
from kgrag.text.tokens import normalise
from kgrag.values.errors import ConfigurationError, InputError
from kgrag.values.installing import install_hint

# Turtle and other forms of RDF as lines of N-Triples: rdflib reads them, as a whole, into memory.
#
# Values stay as they were written: by default rdflib turns "007" into "7" and drops the time zone of a date.
#
# Not JSON-LD, whose reader would ask other servers for its contexts.


_TURTLE = "turtle"
_FORMS = {".rdf": "xml", ".owl": "xml", ".trig": "trig", ".n3": "n3"}
"""Ends of names -> what rdflib calls the form; others are Turtle."""


def rdf_lines(path: Path) -> Iterator[tuple[bytes, int, int]]:
    """Yield the triples of a file in N-Triples, sorted, so that an interrupted import resumes at the same place.

    Each with how many there were by then, and how many there are. Raises InputError, and ConfigurationError without
    rdflib.
    """
    if find_spec("rdflib") is None:
        raise ConfigurationError(f"{path} is RDF, for which rdflib is needed.", f"Install it: {install_hint('rdf')}")
    import rdflib
    from rdflib.compare import to_canonical_graph

    suffixes = [suffix.lower() for suffix in path.suffixes]
    form = next((_FORMS[suffix] for suffix in reversed(suffixes) if suffix in _FORMS), _TURTLE)
    dataset = rdflib.Dataset()
    try:
        with _opened(path) as file, _as_written():
            dataset.parse(file, format=form)
    except OSError as error:
        raise InputError(f"{path} cannot be read: {error}", "Check the path.") from error
    except Exception as error:  # each of its parsers has errors of its own
        what = " ".join(str(error).split())[:200]
        raise InputError(f"{path} is no {form}: {what}", "Check it, or write it as N-Triples (.nt).") from error
    graph = rdflib.Graph()
    for subject, predicate, object, _ in dataset.quads():
        graph.add((subject, predicate, object))
    if any(isinstance(node, rdflib.BNode) for node in graph.all_nodes()):
        graph = to_canonical_graph(graph)  # else their names would be others each time
    lines = sorted(graph.serialize(format="nt", encoding="utf-8").splitlines(keepends=True))
    for number, line in enumerate(lines, 1):
        yield line, number, len(lines)


@contextmanager
def _as_written() -> Iterator[None]:
    import rdflib

    before, rdflib.NORMALIZE_LITERALS = rdflib.NORMALIZE_LITERALS, False
    try:
        yield
    finally:
        rdflib.NORMALIZE_LITERALS = before


def _opened(path: Path) -> IO[bytes]:
    match path.suffix.lower():
        case ".gz":
            return cast(IO[bytes], gzip.open(path))
        case ".bz2":
            return cast(IO[bytes], bz2.open(path))
    return path.open("rb")


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
_ONTOLOGY = "http://wikiba.se/ontology#"
_DIRECT = f"{_ONTOLOGY}directClaim"
_DIRECT_PROPERTY = "/prop/direct/"
_NORMALIZED = "/prop/direct-normalized/"
_SAME = "http://www.w3.org/2002/07/owl#sameAs"
_ENTITY = "://www.wikidata.org/entity/"
_UNKNOWN = "/.well-known/genid/"
_PAGES = re.compile(r"/wiki/Special:EntityData/|://[\w.-]+\.(?:wikipedia|wiki[a-z]+)\.org/wiki/")
"""Pages on entities, of which a dump of Wikidata says the language, the license, the version."""
_XSD = "http://www.w3.org/2001/XMLSchema#"
_YEAR, _MONTH, _DAY = 9, 10, 11
_DATES = {"dateTime": (_DAY, ""), "date": (_DAY, ""), "gYearMonth": (_MONTH, "-01"), "gYear": (_YEAR, "-01-01")}
"""Types of dates (XML Schema 1.1), how exact each is as Wikidata counts, and what a whole date has beyond it."""
_NUMBERS = frozenset("decimal integer int long short byte double float nonNegativeInteger positiveInteger".split())
_POINT = re.compile(r"(?:<([^>]*)>\s*)?POINT\s*\(\s*(-?[\d.]+)\s+(-?[\d.]+)\s*\)", re.IGNORECASE)
_STRING = "http://www.w3.org/2001/XMLSchema#string"
_NO_LANGUAGE = 900  # the rank of a name that says nothing of its language
_UNNAMED = 1_000_000  # the rank of a name that is made from an address


@dataclass(slots=True)
class NTriplesReader:
    """Reads N-Triples line by line. Names are labels (rdfs, skos, schema.org, foaf), else the end of the address.

    Objects that are texts are left out, dates and numbers are kept. `properties`: only these, by their addresses.
    """

    languages: Sequence[str] = ("en",)
    properties: Collection[str] = ()
    counts: Counter[str] = field(default_factory=Counter)

    def __call__(self, line: bytes) -> Entry | None:
        """Return the entry of a line, None for a line without one."""
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
        if predicate == _DIRECT and object is not None:  # the properties of a Wikibase in the dump of best statements
            entry.redirects.append((_unescaped(object), subject))
            return entry
        if _is_about_dump(subject, predicate, object or ""):
            self.counts["statements on the dump itself"] += 1
            return None
        if predicate == _SAME and object is not None and _ENTITY in subject and _ENTITY in object:
            entry.redirects.append((subject, _unescaped(object)))
            self.counts["redirects"] += 1
            return entry
        if _NORMALIZED in predicate:  # an address for an identifier, which is a text
            self.counts["statements whose object is a text"] += 1
            return None
        if _UNKNOWN in (object or ""):
            self.counts["statements of an unknown value"] += 1
            return None
        if self.properties and predicate not in self.properties:
            self.counts["statements of other properties"] += 1
            return None
        if literal is not None and (type is None or type == _STRING):
            self.counts["statements whose object is a text"] += 1
            return None
        direct = _DIRECT_PROPERTY in predicate
        end = _named(_unescaped(object)) if object is not None else _value(_unescaped(literal), type, direct=direct)
        entry.named += (_named(subject), Named(predicate, _words(predicate), _UNNAMED), end)
        entry.facts.append(Fact(subject, predicate, end.key))
        self.counts["statements"] += 1
        return entry

    def _name(self, entry: Entry, subject: str, predicate: str, text: str, language: str) -> None:
        text = one_line(text)
        rank = language_rank(language, self.languages) if language else _NO_LANGUAGE
        if not text or rank is None:
            self.counts["names in another language"] += 1
            return
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

    def is_open(self, line: bytes) -> bool:
        """Return whether a cell in quotes goes on in the next line."""
        if b'"' not in line:
            return False
        try:
            next(
                csv.reader([line.decode("utf-8", "replace").lstrip("\ufeff")], delimiter=self.delimiter, strict=True),
                [],
            )
        except csv.Error as error:
            return "unexpected end" in str(error)
        return False

    def __call__(self, line: bytes) -> Entry | None:
        """Return the entry of a row, None for a row without one."""
        text = line.decode("utf-8", "replace").strip("\r\n").lstrip("\ufeff")
        if not text.strip():
            return None
        cells = next(csv.reader([text], delimiter=self.delimiter), [])
        parts = [one_line(cell) for cell in cells[:3]]
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


def _is_about_dump(subject: str, predicate: str, object: str) -> bool:
    return (
        predicate.startswith(_ONTOLOGY) or object.startswith(_ONTOLOGY) or _PAGES.search(subject) is not None
    )  # fmt: skip


def _value(text: str, type: str | None, *, direct: bool) -> Named:
    """Return a value in words, as of Wikidata's JSON. `direct`: its RDF writes a year as the first of January."""
    name = (type or "").removeprefix(_XSD)
    try:
        if name in _DATES:
            if "T" in text and not text.endswith(MIDNIGHT):  # a time of the day
                return value(text)
            exact, rest = _DATES[name]
            if direct and text.endswith(f"-01-01{MIDNIGHT}"):
                exact = _YEAR
            day = text.partition("T")[0].rstrip("Z") + rest
            if day.startswith("-"):  # there is a year 0, which is 1 BC
                year, _, rest = day[1:].partition("-")
                day = f"-{int(year) + 1}-{rest}"
            return value(time(day, exact))
        if name in _NUMBERS:
            return value(text.removeprefix("+"))
        if (type or "").endswith("#wktLiteral") and (point := _POINT.fullmatch(text.strip())):
            return place(float(point[3]), float(point[2]), globe=point[1] or "")
    except ValueError:
        pass
    return value(text)


def _named(key: str) -> Named:
    return Named(key, _words(key), _UNNAMED)


def _words(address: str) -> str:
    """Return the end of an address as words: http://x.org/ns#hasPart is has part."""
    end = unquote(re.split(r"[/#:]", address.rstrip("/#"))[-1])
    return one_line(re.sub(r"(?<=[a-z])(?=[A-Z])", " ", end.replace("_", " "))) or address


def _unescaped(text: str) -> str:
    def character(match: re.Match[str]) -> str:
        number = match[1] or match[2]
        if number:
            return chr(int(number, 16)) if int(number, 16) < 0x110000 else "\ufffd"
        return _CONTROL.get(match[3], match[3])

    return _ESCAPE.sub(character, text) if "\\" in text else text
