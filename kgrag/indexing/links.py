"""Links between documents: the metadata `links` of each document, resolved within its collection.

A link that begins with a point is a path relative to its document. Any other link is the name of a file, perhaps with
folders before it, as note-taking programs write it, or else a title. Case does not count, and the extension is
optional. If several files have the name, the one in the same folder wins, then the one in the fewest folders, then the
first by key. File names win over titles.
"""

import re
import unicodedata
from collections.abc import Callable, Iterable, Iterator, Mapping
from functools import partial
from itertools import islice
from typing import Any, NamedTuple

from kgrag.graph.connection import Graph
from kgrag.values.events import Progress

_BATCH = 1000  # documents a transaction
_EXTENSION = re.compile(r"(?<=.)\.[a-z][a-z0-9]{0,7}$")

Row = Mapping[str, Any]
_Place = tuple[str | None, str]
"""A folder, None for any, and a name there, which may have folders itself."""


class _Target(NamedTuple):
    """A document that a name may mean. The smallest candidate wins."""

    titled: bool
    folders: int
    key: str
    id: str


def link_documents(graph: Graph, collection: str, progress: Progress) -> None:
    """Bring the LINKS_TO edges of a collection in line with the links of its documents. An interrupted run resumes."""
    documents = partial(graph.stream, "stages/document_links", collection=collection)
    changed = ({"id": row["id"], "ends": ends} for row, ends in linked(documents) if {*ends} != {*row["ends"]})
    done = 0
    while rows := list(islice(changed, _BATCH)):
        graph.run("write/links", rows=rows)
        done += len(rows)
        progress("links", done, None)
    graph.run("write/linked", collection=collection)


def linked(documents: Callable[[], Iterable[Row]]) -> Iterator[tuple[Row, list[str]]]:
    """Resolve the links of each document.

    Args:
        documents: Returns the same documents at each call: {id, key, title, links}.

    Yields:
        Each document, and the ids of the other documents that it links to.
    """
    names = {name for row in documents() for _, name in _links(row)}
    best: dict[_Place, _Target] = {}
    for row in documents() if names else ():
        folders = _folders(row)
        for name, titled in _names(row).items():
            if name in names:
                target = _Target(titled, len(folders), row["key"], row["id"])
                for place in ((None, name), ("/".join(folders), name)):
                    best[place] = min(best.get(place, target), target)
    for row in documents():
        targets = (_target(best, row, place) for place in _links(row))
        yield row, list(dict.fromkeys(target.id for target in targets if target and target.id != row["id"]))


def _target(best: Mapping[_Place, _Target], row: Row, place: _Place) -> _Target | None:
    """Return the target of a document's link."""
    folder, name = place
    target = best.get(place)
    if folder is not None:
        return None if target is None or target.titled else target
    near = best.get(("/".join(_folders(row)), name))
    return near if near and target and near.titled == target.titled else target


def _links(row: Row) -> Iterator[_Place]:
    """Yield the targets of a document's links."""
    links = row["links"]
    for link in [links] if isinstance(links, str) else links if isinstance(links, list) else ():
        path = _folded(link) if isinstance(link, str) else ""
        if path.startswith(("./", "../")):
            folders = _folders(row)
            *steps, name = path.split("/")
            for step in steps:
                if step != "..":
                    folders += [step] if step not in ("", ".") else []
                elif folders:
                    folders.pop()
                else:  # it leaves what the keys of documents are paths in
                    name = ""
            place: _Place = "/".join(folders), name
        else:
            place = None, path.strip("/")
        if place[1]:
            yield place


def _names(row: Row) -> dict[str, bool]:
    """Return the names of a document, each with whether it is only the title."""
    *folders, name = _folded(row["key"]).split("/")
    ends = (name, _EXTENSION.sub("", name))
    files = ("/".join((*folders[start:], end)) for start in range(len(folders) + 1) for end in ends)
    return {_folded(row["title"]): True} | dict.fromkeys(files, False)


def _folders(row: Row) -> list[str]:
    return _folded(row["key"]).split("/")[:-1]


def _folded(text: str) -> str:
    """Return a text in lower case with composed letters."""
    return unicodedata.normalize("NFC", text.strip().casefold())
