"""The command line: `kgrag`, a group whose commands are imported only when they are used."""

import difflib
import signal
import sys
import threading
from io import TextIOWrapper
from typing import Any

import click

from kgrag import __version__
from kgrag.cli.console import log_on_stderr, note, print_error
from kgrag.errors import KgragError
from kgrag.plugins import Plugins

COMMANDS: Plugins[click.Command] = Plugins("kgrag.commands", "command")
"""The commands by name; adding one is a module and an entry point."""

SECTIONS = {
    "This machine": ("demo", "up", "status", "down", "logs", "doctor", "backup", "restore"),
    "Documents and facts": (
        "ingest", "watch", "delete", "extract", "resolve", "tag", "tree", "communities", "import-triples",
        "import-wikidata",
    ),
    "Questions": ("search", "ask", "show", "runs", "retrievers", "systems", "prompts"),
    "The graph": ("browser", "cypher", "ask-cypher", "params"),
    "Collections": ("collections", "inspect", "digest", "export", "import", "repair", "reembed", "migrate"),
    "Sharing": ("serve", "keys", "mcp"),
    "Measuring": ("eval", "ranks", "grade", "generate-questions", "graph-quality", "reproduce", "train"),
    "Settings": ("settings", "completion"),
}  # fmt: skip
"""The commands as `kgrag --help` lists them, those that are used first first; what packages add comes last."""

INTERRUPTED = 130


class Main(click.Group):
    """Imports a command's module when it is called, and turns errors into a line and an exit code."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        """All commands, by name."""
        return sorted({*COMMANDS, *super().list_commands(ctx)})

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """Import and return a command, None if there is none of that name."""
        return COMMANDS[cmd_name] if cmd_name in COMMANDS else super().get_command(ctx, cmd_name)

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """List the commands by what they are for."""
        commands = {name: self.get_command(ctx, name) for name in self.list_commands(ctx)}
        widest = max(map(len, commands))
        placed = {name for names in SECTIONS.values() for name in names}
        for title, names in {**SECTIONS, "Of other packages": [n for n in commands if n not in placed]}.items():
            found = [(name, commands[name]) for name in names]
            rows = [(f"{n:<{widest}}", c.get_short_help_str(formatter.width - widest - 6)) for n, c in found if c]
            if rows:
                with formatter.section(title):
                    formatter.write_dl(rows)

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
        _take_interrupts()
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


def _take_interrupts() -> None:
    """Take SIGINT also where a shell has it ignored, as all do that start a command in the background of a script.

    `kill -INT`, and Ctrl-C on such a script, would leave the command at work.
    """
    if threading.current_thread() is threading.main_thread() and signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
        signal.signal(signal.SIGINT, signal.default_int_handler)


@click.group(cls=Main, context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100})
@click.version_option(__version__, message="kgrag %(version)s")
@click.option("--debug", is_flag=True, envvar="KGRAG_DEBUG", help="Show tracebacks instead of one-line errors.")
@click.option("-v", "--verbose", is_flag=True, help="Say on standard error what runs, how much of it and how long.")
@click.pass_context
def main(ctx: click.Context, debug: bool, verbose: bool) -> None:
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
      4  not found                  9  key of a server
                                  130  interrupted
    """
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, TextIOWrapper):
            stream.reconfigure(errors="replace")  # a locale without Unicode shows question marks
    if verbose:
        ctx.with_resource(log_on_stderr())
