"""kgrag keys: who may use the server, and for what."""

from typing import TYPE_CHECKING

import click

from kgrag.cli.connect import as_json
from kgrag.cli.console import load_settings, note, print_json, print_table

if TYPE_CHECKING:
    from kgrag.server.keys import Key, Keys, Role

_ROLES: tuple["Role", ...] = ("read", "write", "admin")  # for --help, which imports nothing of the server


@click.group()
def keys() -> None:
    """Make, list and remove the keys of `kgrag serve`.

    A key has a role and, with --collection, collections that alone it sees. Only a hash of it is kept, in keys.json of
    the home (KGRAG_HOME). A running server takes changes at once.

    \b
    kgrag keys add laptop --role admin
    kgrag keys add anna --role write -c notes -c manuals
    kgrag keys list
    kgrag keys remove anna
    """


@keys.command()
@click.argument("name")
@click.option("--role", type=click.Choice(_ROLES), default="read", show_default=True,
              help="read: search, ask; write: upload, remove documents, too; admin: delete collections.")  # fmt: skip
@click.option("-c", "--collection", "collections", multiple=True, metavar="NAME",
              help="Only this collection; repeatable. Without it, all, and Cypher too.")  # fmt: skip
@as_json
def add(name: str, role: "Role", collections: tuple[str, ...], as_json: bool) -> None:
    """Make a key and print it: it is shown this once.

    \b
    kgrag keys add anna -c notes
    kgrag keys add importer --role write -c notes
    KEY=$(kgrag keys add laptop --role admin)
    """
    token = _keys().add(name, role, collections)
    if as_json:
        print_json({"name": name, "role": role, "collections": collections, "key": token})
    else:
        note("Keep this key, it is not shown again. It is sent as: Authorization: Bearer KEY")
        click.echo(token)


@keys.command("list")
@as_json
def list_(as_json: bool) -> None:
    """List the keys, without what would let anybody use them.

    \b
    kgrag keys list
    kgrag keys list --json
    """
    found = _keys().kept()
    if as_json:
        print_json([_shown(key) for key in found])
    elif found:
        rows = [(k.name, k.role, ", ".join(k.collections) or "all", f"{k.created.astimezone():%Y-%m-%d %H:%M}")
                for k in found]  # fmt: skip
        print_table(("name", "role", "collections", "made"), rows, left=("role", "collections", "made"))
    else:
        note("There are no keys. Make one with: kgrag keys add NAME")


@keys.command()
@click.argument("name")
@as_json
def remove(name: str, as_json: bool) -> None:
    """Remove a key. Who has it is not let in any more.

    \b
    kgrag keys remove anna
    """
    found = _keys().remove(name)
    if as_json:
        print_json(_shown(found))
    else:
        click.echo(f"Removed the key {found.name}.")


def _shown(key: "Key") -> dict[str, object]:
    return key.model_dump(mode="json", exclude={"sha256"})


def _keys() -> "Keys":
    from kgrag.server.keys import Keys

    return Keys.of(load_settings())
