"""Commands of the verbs of a collection; their options come from the methods that declare the verbs."""

from typing import TYPE_CHECKING, Any

import click

from kgrag.cli.connect import as_json, choose_collection, collection_argument, connect, engine_options
from kgrag.cli.console import changed, load_settings, print_json
from kgrag.cli.outcome import resumable

if TYPE_CHECKING:
    from kgrag.client.operations import Parameter

_MADE_BY = {int: click.IntRange, float: click.FloatRange}


class VerbCommand(click.Command):
    """A command of a verb. The options of the verb are read when the command is used: the client takes time to import.

    `verb`: its name.
    """

    def __init__(self, *args: Any, verb: str, **others: Any) -> None:
        self._verb = verb
        super().__init__(*args, **others)

    def get_params(self, ctx: click.Context) -> list[click.Parameter]:
        """Return the options of the verb, then those of the command."""
        from kgrag.client.collection import operations

        own = super().get_params(ctx)
        names = {param.name for param in own}
        return [*(_option(each) for each in operations()[self._verb].parameters if each.name not in names), *own]


def _option(parameter: "Parameter") -> click.Option:
    from kgrag.client.operations import MANY, bounds

    plain, least, most = bounds(parameter.kind)
    name, text = f"--{parameter.name.replace('_', '-')}", f"{parameter.help[:1].upper()}{parameter.help[1:]}"
    if plain is bool:
        return click.Option([name], is_flag=True, help=text)
    kind = _MADE_BY[plain](least, None if most == MANY else most) if plain in _MADE_BY else plain
    default = parameter.default
    return click.Option([name], type=kind, default=default, show_default=default is not None, metavar="N", help=text)


def derived_command(verb: str) -> click.Command:
    """Return the command of a verb that has none of its own: it runs the verb, and prints the counts of the report."""
    from kgrag.client.collection import operations

    operation = operations()[verb]

    @click.command(verb, cls=VerbCommand, verb=verb, help=(operation.method.__doc__ or "").partition("\n\n")[0])
    @collection_argument
    @engine_options
    @as_json
    def command(collection: str | None, engine: dict[str, Any], as_json: bool, **options: Any) -> None:
        from kgrag.wire import plain, to_json

        with connect(changed(load_settings(), "engine", **engine)) as kg:
            name = choose_collection(kg, collection)
            with resumable() as progress:
                report = operation.method(kg[name], **options, progress=progress)
        if as_json:
            print_json(to_json(report, collection=name))
        else:
            counts = (f"{key} {value:,}" for key, value in plain(report).items() if isinstance(value, int | float))
            click.echo(f"Collection {name}: {', '.join(counts)}")

    return command
