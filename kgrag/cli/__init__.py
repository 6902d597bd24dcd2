"""The command line: `kgrag`, a group whose commands are imported only when they are used."""

import difflib
import importlib
from typing import Any

import click

from kgrag import __version__
from kgrag.cli.console import note, print_error
from kgrag.errors import KgragError

COMMANDS = {
    "up": "kgrag.cli.server:up",
    "down": "kgrag.cli.server:down",
    "status": "kgrag.cli.server:status",
    "browser": "kgrag.cli.browser:browser",
    "logs": "kgrag.cli.server:logs",
    "doctor": "kgrag.cli.server:doctor",
    "demo": "kgrag.cli.demo:demo",
    "ingest": "kgrag.cli.documents:ingest",
    "extract": "kgrag.cli.extract:extract",
    "tag": "kgrag.cli.tag:tag",
    "search": "kgrag.cli.search:search",
    "ask": "kgrag.cli.ask:ask",
    "ask-cypher": "kgrag.cli.ask_cypher:ask_cypher",
    "show": "kgrag.cli.search:show",
    "retrievers": "kgrag.cli.search:retrievers",
    "systems": "kgrag.cli.ask:systems",
    "prompts": "kgrag.cli.prompts:prompts",
    "cypher": "kgrag.cli.cypher:cypher",
    "params": "kgrag.cli.cypher:params",
    "runs": "kgrag.cli.runs:runs",
    "eval": "kgrag.cli.evaluate:evaluate",
    "train": "kgrag.cli.train:train",
    "graph-quality": "kgrag.cli.graph_quality:graph_quality",
    "collections": "kgrag.cli.collections:collections",
    "inspect": "kgrag.cli.inspection:inspect",
    "delete": "kgrag.cli.documents:delete",
    "export": "kgrag.cli.exchange:export",
    "import": "kgrag.cli.exchange:import_",
    "backup": "kgrag.cli.backup:backup",
    "restore": "kgrag.cli.backup:restore",
    "reembed": "kgrag.cli.collections:reembed",
    "repair": "kgrag.cli.collections:repair",
    "digest": "kgrag.cli.collections:digest",
    "migrate": "kgrag.cli.collections:migrate",
    "completion": "kgrag.cli.completion:completion",
}
"""Command name -> "module:attribute", in the order of the help."""

INTERRUPTED = 130


class Main(click.Group):
    """Imports a command's module when it is called, and turns errors into a line and an exit code."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        """The commands in the order of COMMANDS, then those added by hand."""
        return [*COMMANDS, *(name for name in super().list_commands(ctx) if name not in COMMANDS)]

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """Import and return a command, None if there is none of that name."""
        if cmd_name not in COMMANDS:
            return super().get_command(ctx, cmd_name)
        module, attribute = COMMANDS[cmd_name].split(":")
        command: click.Command = getattr(importlib.import_module(module), attribute)
        return command

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        """Find the command; for an unknown one, name the nearest known."""
        try:
            return super().resolve_command(ctx, args)
        except click.UsageError as error:
            near = difflib.get_close_matches(args[0], self.list_commands(ctx), n=1)
            if not near:
                raise
            raise click.UsageError(f"No such command {args[0]!r}. Did you mean {near[0]!r}?", ctx) from error

    def invoke(self, ctx: click.Context) -> Any:
        """Run the command; errors end with a message, a remedy and their exit code."""
        try:
            return super().invoke(ctx)
        except KgragError as error:
            if ctx.params.get("debug"):
                raise
            print_error(error)
            ctx.exit(error.exit_code)
        except (KeyboardInterrupt, click.Abort):
            note("Interrupted.")
            ctx.exit(INTERRUPTED)
        except (click.ClickException, click.exceptions.Exit, BrokenPipeError):
            raise
        except Exception as error:
            if ctx.params.get("debug"):
                raise
            message = f"Unexpected {type(error).__name__}: {error}".rstrip(": ")
            print_error(KgragError(message, "This is a defect of kgrag; `kgrag --debug ...` shows where it happened."))
            ctx.exit(1)


@click.group(cls=Main, context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100})
@click.version_option(__version__, message="kgrag %(version)s")
@click.option("--debug", is_flag=True, envvar="KGRAG_DEBUG", help="Show tracebacks instead of one-line errors.")
def main(debug: bool) -> None:
    """Turn documents into a graph in Neo4j and search it by many hops.

    \b
    kgrag demo               a first look: a small corpus, three questions
    kgrag ingest PATH...     read your own files into the graph
    kgrag search "..."       passages that answer a question; each says why it was found
    kgrag ask "..."          an answer that cites them, by a language model
    kgrag browser            the graph in Neo4j Browser, with a guide
    kgrag cypher --list      saved queries; your own Cypher, read-only
    kgrag up                 start a Neo4j on this machine, no Docker needed
    kgrag status             is it running, and where?
    kgrag COMMAND --help     what a command does, with examples

    A server of your own is used instead when KGRAG_NEO4J_URI, KGRAG_NEO4J_USER and
    KGRAG_NEO4J_PASSWORD name one, in the environment or in a file .env.

    \b
    Exit codes:
      0  success                    5  input that cannot be read
      1  error                      6  made with another embedder or version
      2  usage or configuration     7  language model
      3  database                   8  Cypher that is refused
      4  not found                130  interrupted
    """
