"""kgrag retrievers, systems: the ways to search and to answer, and the options of one of them."""

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import click

from kgrag.cli.connect import as_json
from kgrag.cli.console import print_json, print_pairs, print_table

if TYPE_CHECKING:
    from kgrag.options import Options


@click.command()
@click.argument("name", required=False)
@as_json
def retrievers(name: str | None, as_json: bool) -> None:
    """List the ways to search, for `kgrag search --retriever NAME`, or the options of one.

    They compose: NAME(OTHER, ...) works on what others find, and OPTION=VALUE sets one of its options for this search
    alone.

    \b
    kgrag retrievers
    kgrag retrievers pathrank                its options: type, default, meaning
    kgrag search "..." --retriever "rrf(hybrid, pathrank)"
    kgrag search "..." --retriever "rrf(bm25, pathrank(cap=20, omega=0), rrf=30)"
    """
    from kgrag.retrieval.registry import DEFAULT_RETRIEVER, RETRIEVERS

    if name is not None:
        found = RETRIEVERS.find(name)
        _print_options({"name": name, "summary": found.summary, "over": list(found.over)}, found.options, as_json)
    elif as_json:
        listed = [
            (name, entry.summary, list(entry.over), name == DEFAULT_RETRIEVER) for name, entry in RETRIEVERS.items()
        ]
        print_json([dict(zip(("name", "summary", "over", "default"), row, strict=True)) for row in listed])
    else:
        default = {DEFAULT_RETRIEVER: " (the default)"}
        print_pairs({name: f"{entry.summary}{default.get(name, '')}" for name, entry in RETRIEVERS.items()})


@click.command()
@click.argument("name", required=False)
@as_json
def systems(name: str | None, as_json: bool) -> None:
    """List the ways to answer, for `kgrag ask --system NAME`, or the options of one.

    A system is a strategy over a retriever: STRATEGY+RETRIEVER, with any retriever of `kgrag retrievers`, composed or
    not. OPTION=VALUE sets one of a strategy's options for this question alone.

    \b
    kgrag systems
    kgrag systems gear                       its options: type, default, meaning
    kgrag ask "..." --system gear+hybrid
    kgrag ask "..." --system "ircot(steps=2)+rrf(bm25, ppr)"
    """
    from kgrag.agents.system import DEFAULT_SYSTEM, STRATEGIES, check_system

    if name is not None:
        found = STRATEGIES.find(name)
        about = {"name": name, "summary": found.summary, "over": found.over, "system": check_system(name)}
        _print_options(about, found.options, as_json)
        return
    default = check_system(DEFAULT_SYSTEM)
    if as_json:
        listed = [
            {"name": name, "summary": entry.summary, "over": entry.over, "system": check_system(name)}
            for name, entry in STRATEGIES.items()
        ]
        print_json({"strategies": listed, "default": default})
        return
    print_pairs({n: f"{entry.summary} (alone: {check_system(n)})" for n, entry in STRATEGIES.items()})
    click.echo(f"The default is {default}.")


def _print_options(about: Mapping[str, Any], options: "type[Options]", as_json: bool) -> None:
    from kgrag.cli.settings_list import settings_in

    rows = {setting.path[-1]: setting for setting in settings_in(options, ())}
    if as_json:
        fields = [{"name": n, "type": s.type, "default": s.default, "meaning": s.meaning} for n, s in rows.items()]
        print_json({**about, "options": fields})
        return
    click.echo(f"{about['name']}: {about['summary']}")
    head = ("option", "type", "default", "meaning")
    print_table(head, [(name, s.type, s.default, s.meaning) for name, s in rows.items()], left=head)
