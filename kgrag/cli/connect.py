"""Shared parts of the commands on the graph: the connection, the choice of a collection, the options."""

import re
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from functools import wraps
from typing import TYPE_CHECKING, Any, TypeVar, cast

import click

from kgrag.cli.console import load_settings, note, progress_bars

if TYPE_CHECKING:
    from kgrag.client.collection import Collection
    from kgrag.client.federation import Federation
    from kgrag.client.graph import KnowledgeGraph
    from kgrag.settings import Settings
    from kgrag.values.events import Progress
    from kgrag.values.results import Range, Scalar

F = TypeVar("F", bound=Callable[..., Any])
_RANGE = re.compile(r"(|-?\d[^.]*(?:\.\d+)?)\.\.(|-?\d.*)")  # numbers or dates; other values with two dots are text

as_json = click.option("--json", "as_json", is_flag=True, help="Print JSON on standard output.")


def csv_options(command: F) -> F:
    """Add the options --csv and --raw."""
    command = click.option(
        "--raw",
        is_flag=True,
        help="With --csv: leave an = + - or @ before a text, which spreadsheets take for a formula.",
    )(command)
    return click.option("--csv", "as_csv", is_flag=True, help="Print CSV on standard output.")(command)


def collection_option(help: str = "Name of the collection; without it, default or the only one.") -> Callable[[F], F]:
    """Make the option --collection, which KGRAG_COLLECTION can set for good."""
    return click.option(
        "-c", "--collection", envvar="KGRAG_COLLECTION", show_envvar=True, metavar="NAME", help=help, callback=_text
    )


def collection_argument(command: F) -> F:
    """Add the argument [COLLECTION], or the option --collection, or KGRAG_COLLECTION: the first that is given."""

    @wraps(command)
    def named_or_option(*, named: str | None, collection: str | None, **others: object) -> object:
        return command(collection=collection if named is None else as_text(named), **others)

    both = click.argument("named", metavar="[COLLECTION]", required=False)(
        collection_option("Another way to name COLLECTION.")(named_or_option)
    )
    return cast(F, both)


def question_argument(command: F) -> F:
    """Add the argument QUESTION: words that make up a text, which must not be empty."""
    return click.argument("question", nargs=-1, required=True, callback=_joined)(command)


def filter_options(command: F) -> F:
    """Add the options --where, --source, --since and --as-of, which narrow a search."""
    for option in (
        click.option("--as-of", default="", metavar="DATE",
                     help="Leave out passages whose dated facts did not hold then (1912, 1912-03)."),
        click.option("--since", callback=_since, metavar="DATE",
                     help="Only documents dated since then; without a date, ingested since then."),
        click.option("--source", metavar="TEXT", help="Only documents whose source (path or address) contains this."),
        click.option("--where", multiple=True, callback=where, metavar="KEY=VALUE",
                     help="Only documents with this metadata, or in a range: year=1890..1899. Repeated, "
                     "all must match, for one key, too."),
    ):  # fmt: skip
        command = option(command)
    return command


def engine_options(command: F) -> F:
    """Add the options --engine and --workers, as a map `engine`: changes of the settings of that name."""

    @wraps(command)
    def gathered(*, engine: str | None, workers: int | None, **others: object) -> object:
        return command(engine={"name": engine, "workers": workers}, **others)

    for option in (
        click.option("--workers", type=click.IntRange(1), metavar="N", help="Workers.  [default: one for each core]"),
        click.option("--engine", type=click.Choice(["here", "processes", "ray"]),
                     help="Engine that prepares texts.  [default: here]"),
    ):  # fmt: skip
        gathered = option(gathered)
    return cast(F, gathered)


knowledge_option = click.option(
    "--knowledge", multiple=True, metavar="NAME",
    help="Let facts of this collection (`kgrag import --format wikidata`) lead from passage to passage; repeatable.",
)  # fmt: skip


def as_text(argument: str) -> str:
    """Return an argument read as UTF-8, whatever the locale.

    Invalid bytes, and what no server accepts, are replaced.
    """
    try:
        return argument.encode("utf-8", "surrogateescape").decode("utf-8", "replace")
    except UnicodeEncodeError:
        return argument.encode("utf-8", "replace").decode("utf-8")


def _joined(ctx: click.Context, param: click.Parameter, words: tuple[str, ...]) -> str:
    text = as_text(" ".join(words)).strip()
    if not text:
        raise click.UsageError("The question is empty.")
    return text


def _text(ctx: click.Context, param: click.Parameter, value: str | None) -> str | None:
    return None if value is None else as_text(value)


def _since(ctx: click.Context, param: click.Parameter, value: str | None) -> str | None:
    from kgrag.text.tokens import iso_moment

    if value is not None and iso_moment(value) is None:
        raise click.BadParameter(f"{value!r} is not a date; write 2024, 2024-05-31 or 2024-05-31T12:00+02:00.")
    return value


def where(ctx: click.Context, param: click.Parameter, values: tuple[str, ...]) -> "list[tuple[str, Scalar | Range]]":
    """Return conditions key=value and key=least..most as pairs."""
    conditions: list[tuple[str, Scalar | Range]] = []
    for value in values:
        key, sign, text = value.partition("=")
        if not sign or not key.strip():
            raise click.BadParameter(f"{value!r} is not of the form key=value.")
        ends = _RANGE.fullmatch(text.strip())
        conditions.append((key.strip(), _range(*ends.groups()) if ends else text.strip()))
    return conditions


def _range(least: str, most: str) -> "Range":
    """Return both ends, as numbers if they are; an empty one is None."""
    with suppress(ValueError):
        return (float(least) if least else None, float(most) if most else None)
    return (least or None, most or None)


def import_driver() -> None:
    """Import the driver of Neo4j without pandas and pyarrow: it takes values of theirs, but gets none of them here.

    They take as long to import as all of the driver.
    """
    others = [name for name in ("pandas", "pyarrow") if name not in sys.modules]
    sys.modules.update(dict.fromkeys(others))  # type: ignore[arg-type]  # None: not to be imported
    try:
        import neo4j  # noqa: F401
    finally:
        for name in others:
            del sys.modules[name]


@contextmanager
def connect(settings: "Settings | None" = None) -> Iterator["KnowledgeGraph"]:
    """Open the Neo4j that KGRAG_NEO4J_URI names, else this machine's own, which is started if it does not run."""
    settings = settings or load_settings()
    import_driver()
    from kgrag.client.graph import KnowledgeGraph

    if settings.neo4j_uri is not None:
        graph = KnowledgeGraph.connect(settings=settings)
    else:
        with progress_bars() as bars:
            graph = KnowledgeGraph.local(settings, progress=_announced(bars))
    with graph:
        yield graph


def choose_collection(kg: "KnowledgeGraph", name: str | None) -> str:
    """Return the collection: the one named, else "default", else the only one.

    Raises NotFoundError when none of these exists.
    """
    from kgrag.graph.collections import DEFAULT_COLLECTION
    from kgrag.graph.collections import choose_collection as chosen

    if name is not None:
        return name
    choice = chosen(kg.graph)
    if choice != DEFAULT_COLLECTION:
        note(f"Collection: {choice} (the only one)")
    return choice


def choose_collections(kg: "KnowledgeGraph", names: str | None, *, save: bool) -> "Collection | Federation":
    """Return the collection, or several comma-separated ones as one, whose runs cannot be saved (`save`)."""
    from kgrag.client.collection import Collection

    selection = kg.select(choose_collection(kg, names))
    if save and not isinstance(selection, Collection):
        raise click.UsageError("--save keeps a run in the graph of one collection: name one, or leave it out.")
    return selection


def _announced(report: "Progress") -> "Progress":
    """Return `report` with an announcement of a slow stage before it."""
    is_announced = False

    def first(stage: str, done: int, total: int | None) -> None:
        nonlocal is_announced
        if not is_announced:
            is_announced = True
            note("KGRAG_NEO4J_URI is not set: starting the Neo4j of this machine (`kgrag down` stops it).")
        report(stage, done, total)

    return first
