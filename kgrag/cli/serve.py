"""kgrag serve: the collections over HTTP, for people and programs."""

import click

from kgrag.cli.connect import as_json, connect
from kgrag.cli.console import changed, load_settings, log_on_stderr, note
from kgrag.cli.outcome import end_with_checks
from kgrag.values.errors import ConfigurationError
from kgrag.values.installing import install_hint

RANKINGS = 1000  # kept for those who ask the same
RETRY = 3.0  # seconds: nobody waits longer for a database that does not answer


@click.command()
@click.option("--host", metavar="ADDRESS", help="Where to listen; keys open others than 127.0.0.1.")
@click.option("--port", type=click.IntRange(0, 65535), metavar="N", help="0: any that is free.  [default: 8000]")
@click.option("--check", is_flag=True, help="Only say what would fail; ends with 1 if anything would.")
@click.option("--quiet", is_flag=True, help="Do not log requests on standard error.")
@as_json
def serve(host: str | None, port: int | None, check: bool, quiet: bool, as_json: bool) -> None:
    """Serve the collections over HTTP: pages, REST, OpenAI's, MCP.

    Pages for a browser are at /, REST under /api/v1, the Model Context Protocol at /mcp.

    Without keys it answers on this machine alone, and lets in whoever can reach it there. `kgrag keys add` makes keys;
    from then on each request needs one. What a request, a key and all of them may take are settings, see
    KGRAG_SERVE__* in `kgrag list settings`. /openapi.json describes the routes; /healthz, /readyz and /metrics are for
    whoever watches over it.

    It needs the extra serve, and for /mcp the extra mcp.

    \b
    kgrag serve
    kgrag serve --check --host 0.0.0.0
    kgrag keys add laptop --role admin && kgrag serve --host 0.0.0.0 --port 9000
    curl -H "Authorization: Bearer $KEY" http://localhost:9000/api/v1/collections
    """
    try:
        from kgrag.server.app import check_locked, config_of, create_app, run_server
        from kgrag.server.checks import serving_checks
        from kgrag.server.web.mount import mount
    except ImportError as error:
        raise ConfigurationError(
            f"The server needs the package {error.name}, which is not installed.",
            f"Install it: {install_hint('serve')}",
        ) from error
    from kgrag.graph.local.supervising import supervised
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
        app = create_app(kg, keys, options)
        mount(app, app.state.serving)
        config = config_of(app, options)
        with config.bind_socket() as listening:
            address = f"http://{options.host}:{listening.getsockname()[1]}"
            run_server(config, listening, lambda: note(f"Serving on {address} (Ctrl-C ends it)."))
