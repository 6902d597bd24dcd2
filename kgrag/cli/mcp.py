"""kgrag mcp: the collections as tools of a model, by the Model Context Protocol."""

import sys

import click

from kgrag.cli.connect import connect
from kgrag.cli.console import note
from kgrag.values.errors import ConfigurationError
from kgrag.values.installing import install_hint


@click.command()
@click.option("-c", "--collection", "collections", multiple=True, metavar="NAME",
              help="Only this collection may be asked; repeatable. Without it, all, and Cypher too.")  # fmt: skip
@click.option("--characters", type=click.IntRange(1000), metavar="N", help="Of a reply's texts.  [default: 20,000]")
@click.option("--deadline", type=click.FloatRange(0, min_open=True), default=120, show_default=True, metavar="SECONDS",
              help="Of one call.")  # fmt: skip
@click.option("--budget", type=click.FloatRange(0), metavar="X", help="Cost of language models in one call.")
def mcp(collections: tuple[str, ...], characters: int | None, deadline: float, budget: float | None) -> None:
    """Offer the collections to an assistant as tools.

    It speaks the Model Context Protocol on standard input and output.

    An assistant starts this command by itself: put it into its list of servers. Its tools describe, search, ask,
    look_up, passage, saved_query, get-schema and read-cypher only read; passages are resources, too,
    kgrag://COLLECTION/passage/ID. The tool ask needs a language model of kgrag's own (KGRAG_CHAT__MODEL), the others
    none. With --collection get-schema and read-cypher are not offered, since Cypher could read other collections.

    It needs the extra mcp.

    \b
    kgrag mcp                                     all collections
    kgrag mcp -c notes -c manuals                 these alone
    {"mcpServers": {"kgrag": {"command": "kgrag", "args": ["mcp", "-c", "notes"]}}}
    """
    try:
        from kgrag.server.mcp import CHARACTERS, Tools, mcp_server
    except ImportError as error:
        raise ConfigurationError(
            "The Model Context Protocol needs the package mcp, which is not installed.",
            f"Install it: {install_hint('mcp')}",
        ) from error
    with connect() as kg:
        for name in collections:
            kg[name].info()  # a name that does not exist fails now, not when the model asks
        if sys.stdin.isatty():
            note("Waiting for an assistant on standard input; Ctrl-C ends it. See kgrag mcp --help.")
        tools = Tools(kg, collections, characters=characters or CHARACTERS, deadline=deadline, budget=budget)
        mcp_server(tools).run("stdio")
