"""The command line: `kgrag`, a group whose commands are imported only when they are used."""

import difflib
import signal
import sys
import threading
from collections import Counter
from collections.abc import Sequence
from io import TextIOWrapper
from typing import Any

import click

from kgrag import __version__
from kgrag.cli.console import log_on_stderr, note, print_error
from kgrag.runtime.plugins import Plugins
from kgrag.values.errors import KgragError

COMMANDS: Plugins[click.Command] = Plugins("kgrag.commands", "command")
"""The commands by name; adding one is a module and an entry point."""

SECTIONS = {
    "Documents and questions": ("demo", "ingest", "attach", "watch", "search", "ask", "show"),
    "Collections": ("collections", "inspect", "cypher", "browser", "delete", "export", "import"),
    "Servers": ("up", "down", "doctor", "serve", "keys", "mcp", "completion"),
}
"""The commands in the order of `kgrag --help`: the most used first, commands of packages last."""

ENRICH = "enrich"
"""The group that also has each verb of the client that has no command of its own."""

GROUPS = {
    ENRICH: (
        "Add facts, links and summaries to a collection.",
        ("schema", "extract", "resolve", "tag", "tree", "communities"),
    ),
    "db": (
        "The database: state, backups, repairs.",
        ("status", "logs", "backup", "restore", "repair", "reembed", "relanguage"),
    ),
    "lab": (
        "Measure, train, and repeat the tables of the papers.",
        ("eval", "ranks", "grade", "generate-questions", "graph-quality", "reproduce", "train"),
    ),
    "list": (
        "What there is to choose from, and kept runs.",
        ("collections", "retrievers", "systems", "prompts", "settings", "runs"),
    ),
}
"""Groups of commands: the purpose of each, and the names of its commands."""

_ALONE = frozenset(name for names in SECTIONS.values() for name in names)
_GROUPED = {name: f"{group} {name}" for group, (_, names) in GROUPS.items() for name in names if name not in _ALONE}

INTERRUPTED = 130


def given_once(command: click.Command) -> click.Command:
    """Return the command, which refuses an option that is given twice and takes one value; click uses the last."""
    parse = type(command).parse_args

    def checked(ctx: click.Context, args: list[str]) -> list[str]:
        order = [] if ctx.resilient_parsing else command.make_parser(ctx).parse_args(list(args))[2]
        for param, times in Counter(order).items():
            if times < 2 or not isinstance(param, click.Option) or param.multiple or param.count:
                continue
            if not param.is_flag or param.secondary_opts:
                raise click.UsageError(f"{param.opts[-1]} is given {times} times, and takes one value.", ctx)
        return parse(command, ctx, args)

    command.parse_args = checked  # type: ignore[method-assign]
    return command


class Group(click.Group):
    """Commands that are imported when they are used, each with a line in the list; an unknown one names the nearest."""

    def __init__(self, *, commands: Sequence[str] = (), **others: Any) -> None:
        super().__init__(**others)
        self._names = commands

    def list_commands(self, ctx: click.Context) -> list[str]:
        """Return the names of its commands, in the order of the list."""
        return list(self._names)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """Import and return a command, None if the name is unknown."""
        return given_once(COMMANDS[cmd_name]) if cmd_name in self._names else None

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        """Find the command; for an unknown one, name the nearest known."""
        try:
            return super().resolve_command(ctx, args)
        except click.UsageError as error:
            near = difflib.get_close_matches(args[0], self.aliases(ctx), n=1)
            if not near:
                raise
            nearest = self.aliases(ctx)[near[0]]
            raise click.UsageError(f"No such command {args[0]!r}. Did you mean {nearest!r}?", ctx) from error

    def aliases(self, ctx: click.Context) -> dict[str, str]:
        """Return alternative names -> the name here."""
        return {name: name for name in self.list_commands(ctx)}


class Enrich(Group):
    """The commands that add to a collection; a verb of the client that has none gets one."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        """See Group."""
        from kgrag.client.verbs import operations  # takes time that other commands save

        return [*self._names, *(name for name in operations() if name not in self._names)]

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """See Group."""
        if cmd_name in self._names or cmd_name not in self.list_commands(ctx):
            return super().get_command(ctx, cmd_name)
        from kgrag.cli.enrich import derived_command

        return given_once(derived_command(cmd_name))


class Main(Group):
    """The top: groups, commands, what others add; and errors become a line and an exit code."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        """Return all commands but those of groups, and the groups, by name."""
        return sorted({*(name for name in COMMANDS if name not in _GROUPED), *GROUPS})

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """Import and return a command or group, None if the name is unknown."""
        if cmd_name in GROUPS:
            summary, names = GROUPS[cmd_name]
            kind = Enrich if cmd_name == ENRICH else Group
            return kind(name=cmd_name, commands=names, help=summary, short_help=summary)
        command = None if cmd_name in _GROUPED else COMMANDS.get(cmd_name)
        return None if command is None else given_once(command)

    def aliases(self, ctx: click.Context) -> dict[str, str]:
        """See Group; commands of groups, too."""
        return super().aliases(ctx) | _GROUPED

    def format_options(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write the options in a line, so that the whole fits a screen."""
        formatter.indent()
        formatter.write_text("Options: --version, --debug (tracebacks), -v (what runs, how long), -h")
        formatter.dedent()
        self.format_commands(ctx, formatter)

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """List the commands by their purpose."""
        placed = {name for names in SECTIONS.values() for name in names} | set(GROUPS)
        others = tuple(name for name in self.list_commands(ctx) if name not in placed)
        sections = {**SECTIONS, "Groups of commands": tuple(GROUPS), "Of other packages": others}
        widest = max(len(name) for names in sections.values() for name in names)
        for title, names in sections.items():
            commands = [(name, self.get_command(ctx, name)) for name in names]
            rows = [(f"{n:<{widest}}", c.get_short_help_str(formatter.width - widest - 6)) for n, c in commands if c]
            if rows:
                with formatter.section(title):
                    formatter.write_dl(rows)

    def main(self, *args: Any, **options: Any) -> Any:
        """Run the program; what the user's own files, disks and pipes raise becomes a line."""
        try:
            return super().main(*args, **options)
        except OSError as error:
            from kgrag.runtime.files import file_error  # takes time that other commands save

            if "--debug" in sys.argv:
                raise
            problem = file_error(error, "Standard output or a file", "read or written") or _defect(error)
            print_error(problem)
            sys.exit(problem.exit_code)

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
        except (click.ClickException, click.exceptions.Exit, OSError):
            raise
        except Exception as error:
            if ctx.params.get("debug"):
                raise
            print_error(_defect(error))
            ctx.exit(1)


def _defect(error: Exception) -> KgragError:
    message = f"Unexpected {type(error).__name__}: {error}".rstrip(": ")
    return KgragError(message, "This is a defect of kgrag; `kgrag --debug ...` shows where it happened.")


def _take_interrupts() -> None:
    """Take SIGINT also where a shell has it ignored, as all do that start a command in the background of a script.

    `kill -INT`, and Ctrl-C on such a script, would leave the command at work.
    """
    if threading.current_thread() is threading.main_thread() and signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
        signal.signal(signal.SIGINT, signal.default_int_handler)


def _version(ctx: click.Context, _: click.Parameter, value: bool) -> None:
    """Show the version of kgrag, and those of Neo4j that it works with."""
    if not value or ctx.resilient_parsing:
        return
    from kgrag.graph.local.releases import LINES, locked_version

    lines = " or ".join(locked_version(line) for line in LINES)
    click.echo(f"kgrag {__version__} (Neo4j 5.26 or later; as its own {lines})")
    ctx.exit()


@click.group(cls=Main, context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100})
@click.option("--version", is_flag=True, expose_value=False, is_eager=True, callback=_version, help="Show the version.")
@click.option("--debug", is_flag=True, envvar="KGRAG_DEBUG", help="Show tracebacks instead of one-line errors.")
@click.option("-v", "--verbose", is_flag=True, help="Say on standard error what runs, how much of it and how long.")
@click.pass_context
def main(ctx: click.Context, debug: bool, verbose: bool) -> None:
    """Turn documents into a graph in Neo4j and search it by many hops.

    Begin with `kgrag demo`; `kgrag COMMAND --help` has examples. Exit codes: 0 success, 1 error, 2 usage, 3 database, 4
    not found, 5 input, 6 embedder, 7 model, 8 refused Cypher, 9 key, 12 files unread, 13 rows cut, 130 interrupted.
    """
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, TextIOWrapper):
            stream.reconfigure(errors="replace")  # a locale without Unicode shows question marks
    if verbose:
        ctx.with_resource(log_on_stderr())
