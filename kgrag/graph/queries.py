"""The catalogue of queries: one statement a file under `cypher/`, each with a header that is checked.

A header is the leading comment of the file::

    // What the statement does, in a sentence or two.
    // mode: read | write | auto | schema
    // $name: TYPE [= default] - meaning
    // -> column: TYPE - meaning
    // title: a few words for lists and favourites (those under analyst/; may come first)
    // scan: why it starts from every node of a label, if it does (those under analyst/)
    // source: where it comes from (optional)
"""

import re
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from importlib.resources.abc import Traversable
from itertools import takewhile

_PARAMETER = re.compile(r"^\$(\w+): ([\w<>| ]+?)(?: = (.+?))? - (.+)$")
_COLUMN = re.compile(r"^-> (\w+): ([\w<>| ]+?) - (.+)$")
_ENTRIES = ("mode", "title", "scan", "source")
MODES = ("read", "write", "auto", "schema")


@dataclass(frozen=True, slots=True)
class Parameter:
    """A parameter of a query: its Cypher type, its default as Cypher text (or None), and what it means."""

    name: str
    type: str
    default: str | None
    meaning: str


@dataclass(frozen=True, slots=True)
class Query:
    """A query of the catalogue.

    `mode`: read, write and schema run in a transaction that is retried, auto by itself (it opens its own
    transactions); only a schema query may hold the placeholder {label}.
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


def parse(name: str, content: str) -> Query:
    """Read a query file. Raises ValueError when the header breaks the rules."""
    purpose: list[str] = []
    parameters: list[Parameter] = []
    columns: list[tuple[str, str, str]] = []
    said = dict.fromkeys(_ENTRIES, "")
    lines = content.splitlines()
    header = list(takewhile(lambda line: line.startswith("//"), lines))
    for line in header:
        entry = line.removeprefix("//").strip()
        kind, colon, rest = entry.partition(": ")
        if colon and kind in said:
            said[kind] = rest
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
        elif not said["mode"]:
            purpose.append(entry)
        else:
            raise ValueError(f"{name}: unexpected header line: {entry}")
    mode = said.pop("mode")
    if mode not in MODES:
        raise ValueError(f"{name}: mode must be one of {', '.join(MODES)}, not {mode!r}")
    if not purpose:
        raise ValueError(f"{name}: the header does not say what the query is for")
    text = "\n".join(lines[len(header) :]).strip().removesuffix(";")
    return Query(name, " ".join(purpose), mode, tuple(parameters), tuple(columns), text=text, **said)


@cache
def catalogue() -> dict[str, Query]:
    """Every query by its name, "folder/file" without the suffix."""
    found: dict[str, Query] = {}
    for folder in sorted(_folders(), key=lambda f: f.name):
        for file in sorted(folder.iterdir(), key=lambda f: f.name):
            if file.name.endswith(".cypher"):
                name = f"{folder.name}/{file.name.removesuffix('.cypher')}"
                found[name] = parse(name, file.read_text(encoding="utf-8"))
    return found


def _folders() -> list[Traversable]:
    return [f for f in files("kgrag.cypher").iterdir() if f.is_dir() and not f.name.startswith("_")]
