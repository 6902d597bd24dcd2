"""kgrag list settings: every setting, its value and where that is from."""

from typing import TYPE_CHECKING

import click

from kgrag.cli.connect import as_json
from kgrag.cli.console import load_settings, print_json

if TYPE_CHECKING:
    from kgrag.cli.settings_list import InForce


@click.command()
@click.argument("words", nargs=-1, metavar="[WORD]...")
@click.option("--markdown", is_flag=True, help="Print all of them, their types and defaults, as a page in Markdown.")
@as_json
def settings(words: tuple[str, ...], markdown: bool, as_json: bool) -> None:
    """List the settings: environment variable, value, where it is from, meaning.

    With words, only settings whose line holds each of them. Keys and passwords are shown as ***.

    \b
    kgrag list settings
    kgrag list settings chat                      those of language models
    kgrag list settings environment               what is set in the environment (".env": in that file)
    KGRAG_LOCAL__HEAP=4g kgrag db status        set one
    """
    load_settings()  # an invalid one is an error that names it
    from kgrag.cli.settings_list import in_force, page

    if markdown:
        click.echo(page())
        return
    rows = {f"{r.setting.variable}={r.value}  [{r.source}]  {r.setting.meaning}": r for r in in_force()}
    chosen = {line: r for line, r in rows.items() if all(word.lower() in line.lower() for word in words)}
    if as_json:
        print_json([_json(r) for r in chosen.values()])
        return
    for line in chosen:
        click.echo(line)


def _json(row: "InForce") -> dict[str, str]:
    of = row.setting
    given = {"variable": of.variable, "value": row.value, "source": row.source}
    return {**given, "type": of.type, "default": of.default, "meaning": of.meaning}
