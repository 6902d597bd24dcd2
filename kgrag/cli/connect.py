"""What the commands that work on the graph share: the connection, the choice of a collection, the options."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, TypeVar

import click

from kgrag.cli.console import load_settings, note, progress_bars
from kgrag.errors import NotFoundError

if TYPE_CHECKING:
    from kgrag.client import KnowledgeGraph
    from kgrag.settings import Settings
    from kgrag.types import Progress

F = TypeVar("F", bound=Callable[..., Any])

as_json = click.option("--json", "as_json", is_flag=True, help="Print JSON on standard output.")


def collection_option(help: str) -> Callable[[F], F]:
    """The option --collection, which KGRAG_COLLECTION can set for good."""
    return click.option("-c", "--collection", envvar="KGRAG_COLLECTION", show_envvar=True, metavar="NAME", help=help)


@contextmanager
def connect(settings: "Settings | None" = None) -> Iterator["KnowledgeGraph"]:
    """Open the Neo4j that KGRAG_NEO4J_URI names, else this machine's own, which is started if it does not run."""
    settings = settings or load_settings()
    from kgrag.client import KnowledgeGraph

    if settings.neo4j_uri is not None:
        graph = KnowledgeGraph.connect(settings=settings)
    else:
        with progress_bars() as bars:
            graph = KnowledgeGraph.local(settings, progress=_announced(bars))
    with graph:
        yield graph


def choose_collection(kg: "KnowledgeGraph", name: str | None) -> str:
    """The collection that is meant: the one named, else "default", else the only one there is.

    Raises NotFoundError when none of these exists.
    """
    from kgrag.client import DEFAULT_COLLECTION
    from kgrag.graph.collections import list_collections

    if name is not None:
        return name
    names = [c.name for c in list_collections(kg.graph)]
    if DEFAULT_COLLECTION in names:
        return DEFAULT_COLLECTION
    if len(names) == 1:
        note(f"Collection: {names[0]} (the only one)")
        return names[0]
    if not names:
        raise NotFoundError("There are no collections yet.", "Make one with: kgrag ingest PATH...  or try: kgrag demo")
    raise NotFoundError(
        f"Which collection? There are: {', '.join(names)}.", "Name one with --collection, or set KGRAG_COLLECTION."
    )


def _announced(report: "Progress") -> "Progress":
    """`report`, which first says what it is that takes time."""
    said = False

    def first(stage: str, done: int, total: int | None) -> None:
        nonlocal said
        if not said:
            said = True
            note("KGRAG_NEO4J_URI is not set: starting the Neo4j of this machine (`kgrag down` stops it).")
        report(stage, done, total)

    return first
