"""The catalogue of queries: one statement a file under `cypher/`, each with a header that is checked.

A header is the leading comment of the file::

    // What the statement does, in a sentence or two.
    // mode: read | write | auto | schema
    // label: all | held | indexed | embedded | worked | own (which labels may take the place of {label})
    // each: held | worked (a line with {label} stands for one such line a label, joined by UNION ALL) | edges (a line
    //   with {start}, {type} and {end} stands for one such line a kind of edge)
    // $name: TYPE [= default] - meaning
    // -> column: TYPE - meaning
    // title: a few words for lists and favourites (those under analyst/; may come first)
    // scan: why it starts from every node of a label, if it does (those under analyst/)
    // source: where it comes from (optional)

A folder holds what serves one purpose: `schema` indexes and versions, `write` the writing of what a graph holds,
`stages` what the stages over a whole collection have yet to do and read, `resolve` entity resolution, `retrieve` what a
ranking runs, `look_up` the reading of single things, `inspect` counts and findings, `digest` what a digest takes in,
`evaluate` questions and measures of an evaluation, `jobs` the jobs, `analyst` the saved queries.

No query text is made from strings, with one exception: labels, and properties in the definition of an index, cannot be
parameters in Cypher. A template holds {label}, and under `cypher/schema` {properties}; names of the registry take their
places (`kgrag.graph.description`), or with `own` the label of the nodes of one collection, such as Passage_c7.
"""

import re
from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from functools import cache, reduce
from importlib.metadata import entry_points
from importlib.resources import files
from importlib.resources.abc import Traversable
from itertools import takewhile
from typing import Any

from kgrag.graph.description import describe

_PARAMETER = re.compile(r"^\$(\w+): ([\w<>| ]+?)(?: = (.+?))? - (.+)$")
_COLUMN = re.compile(r"^-> (\w+): ([\w<>| ]+?) - (.+)$")
_OWN = re.compile(r"([A-Z][A-Za-z]*)_c\d+")
_PLACEHOLDER = re.compile(r"\{(label|properties)\}")
_SAMPLES = {"STRING": "x", "INTEGER": 1, "FLOAT": 0.5, "BOOLEAN": True, "DATETIME": datetime(1, 1, 1, tzinfo=UTC)}
_ENTRIES = ("mode", "label", "each", "title", "scan", "source")
MODES = ("read", "write", "auto", "schema")


@dataclass(frozen=True, slots=True)
class Parameter:
    """A parameter of a query: its Cypher type, its default as Cypher text (or None), and its meaning."""

    name: str
    type: str
    default: str | None
    meaning: str


@dataclass(frozen=True, slots=True)
class Query:
    """A query of the catalogue.

    `mode`: read, write and schema run in a transaction that is retried, auto by itself (it opens its own
    transactions). `label`: which labels may take the place of {label}; empty: the text has no placeholders. `each`: the
    labels that a line of the text was repeated for.
    """

    name: str
    purpose: str
    mode: str
    parameters: tuple[Parameter, ...]
    columns: tuple[tuple[str, str, str], ...]
    source: str
    text: str
    title: str = ""
    scan: str = ""
    label: str = ""
    each: str = ""

    @property
    def placeholders(self) -> frozenset[str]:
        """The placeholders of a template, label and properties; none for a statement that runs as it is."""
        return frozenset(_PLACEHOLDER.findall(self.text))

    def filled(self, label: str, properties: Sequence[str] = ()) -> "Query":
        """Return the statement for a label. Raises ValueError for a label or property that is not allowed there."""
        own = _OWN.fullmatch(label) if self.label == "own" else None
        kind, allowed = (own[1], "indexed") if own else (label, self.label)
        if kind not in describe().labels(allowed):
            raise ValueError(f"not a label for {self.name}: {label!r}")
        defined = {p.name for p in describe().node(kind).properties}
        if unknown := set(properties) - defined:
            raise ValueError(f"{kind} has no properties {', '.join(sorted(unknown))}")
        text = self.text.replace("{label}", label)
        return replace(self, text=text.replace("{properties}", ", ".join(f"n.{name}" for name in properties)))


def sample(kind: str) -> Any:
    """Return a value of a type of Cypher. It is no empty list, which Neo4j takes for a type of its own."""
    return [sample(kind[5:-1])] if kind.startswith("LIST<") else _SAMPLES.get(kind, {"x": 1})


def parse(name: str, content: str) -> Query:
    """Read a query file. Raises ValueError when the header breaks the rules."""
    purpose: list[str] = []
    parameters: list[Parameter] = []
    columns: list[tuple[str, str, str]] = []
    entries = dict.fromkeys(_ENTRIES, "")
    lines = content.splitlines()
    header = list(takewhile(lambda line: line.startswith("//"), lines))
    for line in header:
        entry = line.removeprefix("//").strip()
        kind, colon, rest = entry.partition(": ")
        if colon and kind in entries:
            entries[kind] = rest
        elif entry.startswith("$"):
            match = _PARAMETER.match(entry)
            if not match:
                raise ValueError(f"{name}: not a parameter line: {entry}")
            parameters.append(Parameter(match[1], match[2], match[3], match[4]))
        elif entry.startswith("->"):
            match = _COLUMN.match(entry)
            if not match:
                raise ValueError(f"{name}: not a column line: {entry}")
            columns.append((match[1], match[2], match[3]))
        elif not entries["mode"]:
            purpose.append(entry)
        else:
            raise ValueError(f"{name}: unexpected header line: {entry}")
    mode = entries.pop("mode")
    if mode not in MODES:
        raise ValueError(f"{name}: mode must be one of {', '.join(MODES)}, not {mode!r}")
    if not purpose:
        raise ValueError(f"{name}: the header does not say what the query is for")
    text = "\n".join(lines[len(header) :]).strip().removesuffix(";")
    if entries["each"]:
        text = _repeated(text, entries["each"])
    query = Query(name, " ".join(purpose), mode, tuple(parameters), tuple(columns), text=text, **entries)
    if bool(query.placeholders) != bool(query.label):
        raise ValueError(f"{name}: a header has `label` if the statement holds placeholders, and only then")
    return query


def _repeated(text: str, each: str) -> str:
    """Return the statement with each line with {label} repeated for every label, or with {type} for every edge."""
    edges = [{"{start}": a, "{type}": edge.type, "{end}": b} for edge in describe().edges for a, b in edge.between]
    fillings = edges if each == "edges" else [{"{label}": label} for label in describe().labels(each)]
    lines = text.splitlines()
    for place, line in enumerate(lines):
        if "{label}" in line or "{type}" in line:
            filled = [reduce(lambda part, pair: part.replace(*pair), names.items(), line) for names in fillings]
            lines[place] = "\n  UNION ALL\n".join(filled)
    return "\n".join(lines)


@cache
def catalogue() -> dict[str, Query]:
    """Return every query by its name, "folder/file" without the suffix.

    Other packages contribute queries by an entry point of the group `kgrag.queries`; its name is the folder, and its
    package has the files.
    """
    queries: dict[str, Query] = {}
    for name, folder in _folders():
        for file in sorted(folder.iterdir(), key=lambda f: f.name):
            if file.name.endswith(".cypher"):
                query = f"{name}/{file.name.removesuffix('.cypher')}"
                queries[query] = parse(query, file.read_text(encoding="utf-8"))
    return queries


def _folders() -> Iterator[tuple[str, Traversable]]:
    own = [f for f in files("kgrag.cypher").iterdir() if f.is_dir() and not f.name.startswith("_")]
    yield from sorted((folder.name, folder) for folder in own)
    for entry in entry_points(group="kgrag.queries"):
        with suppress(ImportError):  # using one of its queries then reports that it does not exist
            yield entry.name, files(entry.module)
