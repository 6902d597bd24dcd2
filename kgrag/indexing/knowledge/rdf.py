"""Turtle and other forms of RDF as lines of N-Triples: rdflib reads them, as a whole, into memory.

Values stay as they were written: rdflib makes "7" of "007", and takes the zone from a date, unless it is told not to.

Not JSON-LD, whose reader would ask other servers for its contexts.
"""

import bz2
import gzip
from collections.abc import Iterator
from contextlib import contextmanager
from importlib.util import find_spec
from pathlib import Path
from typing import IO, cast

from kgrag.values.errors import ConfigurationError, InputError
from kgrag.values.installing import install_hint

_TURTLE = "turtle"
_FORMS = {".rdf": "xml", ".owl": "xml", ".trig": "trig", ".n3": "n3"}
"""Ends of names -> what rdflib calls the form; others are Turtle."""


def rdf_lines(path: Path) -> Iterator[tuple[bytes, int, int]]:
    """The triples of a file in N-Triples, sorted, so that an import that was interrupted goes on where it was.

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
