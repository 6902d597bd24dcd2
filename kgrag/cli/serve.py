"""kgrag serve, mcp, keys: the collections for other people and programs, and who may use them."""

import sys
from threading import Thread
from typing import TYPE_CHECKING

import click

from kgrag.cli.connect import as_json, connect
from kgrag.cli.console import changed, load_settings, log_on_stderr, note, print_json, print_table
from kgrag.cli.outcome import end_with_checks
from kgrag.values.installing import require_extra

if TYPE_CHECKING:
    from kgrag.server.keys import Key, Keys, Role


@click.command()
@click.option("-c", "--collection", "collections", multiple=True, metavar="NAME",
              help="Only this collection may be asked; repeatable. Without it, all, and Cypher too.")  # fmt: skip
@click.option(
    "--characters", type=click.IntRange(1000), metavar="N", help="Limit for the texts of a reply.  [default: 20,000]"
)
@click.option("--deadline", type=click.FloatRange(0, min_open=True), default=120, show_default=True, metavar="SECONDS",
              help="Time limit for one call.")  # fmt: skip
@click.option("--budget", type=click.FloatRange(0), metavar="X", help="Cost of language models in one call.")
def mcp(collections: tuple[str, ...], characters: int | None, deadline: float, budget: float | None) -> None:
    """Offer the collections to an assistant as tools.

    It speaks the Model Context Protocol on standard input and output.

    An assistant starts this command itself: add it to the assistant's list of servers. The tools describe, search, ask,
    look_up, passage, saved_query, get-schema and read-cypher only read. Passages are also resources:
    kgrag://COLLECTION/passage/ID. The tool ask needs a language model of kgrag's own (KGRAG_CHAT__MODEL), the others
    none. With --collection get-schema and read-cypher are not offered, since Cypher could read other collections.

    It needs the extra mcp.

    \b
    kgrag mcp                                     all collections
    kgrag mcp -c notes -c manuals                 these alone
    {"mcpServers": {"kgrag": {"command": "kgrag", "args": ["mcp", "-c", "notes"]}}}
    """
    with require_extra("mcp", "The Model Context Protocol needs the package mcp, which is not installed."):
        from kgrag.server.mcp import CHARACTERS, Tools, mcp_server
    with connect() as kg:
        for name in collections:
            kg[name].info()  # a name that does not exist fails now, not when the model asks
        if sys.stdin.isatty():
            note("Waiting for an assistant on standard input; Ctrl-C ends it. See kgrag mcp --help.")
        tools = Tools(kg, collections, characters=characters or CHARACTERS, deadline=deadline, budget=budget)
        mcp_server(tools).run("stdio")


_ROLES: tuple["Role", ...] = ("read", "analyst", "write", "admin")  # for --help, which imports nothing of the server


@click.group()
def keys() -> None:
    """Make, list and remove the keys of `kgrag serve`.

    A key has a role, and with --collection it sees only these collections. Only its hash is kept, in keys.json of the
    home folder (KGRAG_HOME). A running server uses changes at once.

    \b
    kgrag keys add laptop --role admin
    kgrag keys add anna --role write -c notes -c manuals
    kgrag keys list
    kgrag keys remove anna
    """


@keys.command()
@click.argument("name")
@click.option("--role", type=click.Choice(_ROLES), default="read", show_default=True,
              help="read: search, ask; analyst: Cypher; write: upload, remove; admin: delete collections.")  # fmt: skip
@click.option("-c", "--collection", "collections", multiple=True, metavar="NAME",
              help="Only this collection; repeatable. Without it, all.")  # fmt: skip
@as_json
def add(name: str, role: "Role", collections: tuple[str, ...], as_json: bool) -> None:
    """Make a key and print it, this once.

    \b
    kgrag keys add anna -c notes
    kgrag keys add jonas --role analyst
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
    """List the keys, without their secrets.

    \b
    kgrag keys list
    kgrag keys list --json
    """
    entries = _keys().all()
    if as_json:
        print_json([_without_secret(key) for key in entries])
    elif entries:
        rows = [(k.name, k.role, ", ".join(k.collections) or "all", f"{k.created.astimezone():%Y-%m-%d %H:%M}")
                for k in entries]  # fmt: skip
        print_table(("name", "role", "collections", "made"), rows, left=("role", "collections", "made"))
    else:
        note("There are no keys. Make one with: kgrag keys add NAME")


@keys.command()
@click.argument("name")
@as_json
def remove(name: str, as_json: bool) -> None:
    """Remove a key. It is refused from then on.

    \b
    kgrag keys remove anna
    """
    key = _keys().remove(name)
    if as_json:
        print_json(_without_secret(key))
    else:
        click.echo(f"Removed the key {key.name}.")


def _without_secret(key: "Key") -> dict[str, object]:
    return key.model_dump(mode="json", exclude={"sha256"})


def _keys() -> "Keys":
    from kgrag.server.keys import Keys

    return Keys.of(load_settings())


RANKINGS = 1000  # kept for those who ask the same
RETRY = 3.0  # seconds: nobody waits longer for a database that does not answer


@click.command()
@click.option("--host", metavar="ADDRESS", help="Address to listen on; other than 127.0.0.1 needs keys.")
@click.option("--port", type=click.IntRange(0, 65535), metavar="N", help="0: any that is free.  [default: 8000]")
@click.option("--check", is_flag=True, help="Only say what would fail; ends with 1 if anything would.")
@click.option("--quiet", is_flag=True, help="Do not log requests on standard error.")
@as_json
def serve(host: str | None, port: int | None, check: bool, quiet: bool, as_json: bool) -> None:
    """Serve the collections over HTTP: pages, REST, OpenAI's, MCP.

    Pages for a browser are at /, REST under /api/v1, the Model Context Protocol at /mcp.

    Without keys it answers only on this machine, to everyone there. `kgrag keys add` makes keys; from then on each
    request needs one. The limits of a request, of a key and of all requests are settings: see KGRAG_SERVE__* in `kgrag
    list settings`. /openapi.json describes the routes; /healthz, /readyz and /metrics are for monitoring.

    It needs the extra serve, and for /mcp the extra mcp.

    \b
    kgrag serve
    kgrag serve --check --host 0.0.0.0
    kgrag keys add laptop --role admin && kgrag serve --host 0.0.0.0 --port 9000
    curl -H "Authorization: Bearer $KEY" http://localhost:9000/api/v1/collections
    """
    with require_extra("serve", "The server needs the package {}, which is not installed."):
        from kgrag.server.app import check_locked, config_of, create_app, run_server, serving_checks
        from kgrag.server.web.mount import mount
    from kgrag.graph.local.server import supervised
    from kgrag.server.keys import Keys

    settings = changed(load_settings(), "serve", host=host, port=port)
    own = {"rankings": RANKINGS, "neo4j_retry_seconds": RETRY}
    settings = settings.model_copy(update={k: v for k, v in own.items() if k not in settings.model_fields_set})
    keys, options = Keys.of(settings), settings.serve
    if check:
        end_with_checks(serving_checks(settings), as_json)
        return
    check_locked(keys, options)  # before Neo4j is started for nothing
    context = click.get_current_context()
    if not quiet:
        context.with_resource(log_on_stderr())
    with connect(settings) as kg, supervised(settings):
        Thread(target=kg.graph.plan_searches, daemon=True).start()
        app = create_app(kg, keys, options)
        mount(app, app.state.serving)
        config = config_of(app, options)
        with config.bind_socket() as listening:
            address = f"http://{options.host}:{listening.getsockname()[1]}"
            run_server(config, listening, lambda: note(f"Serving on {address} (Ctrl-C ends it)."))
