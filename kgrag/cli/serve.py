"""kgrag serve: the collections over HTTP, for people and programs."""

import click

from kgrag.cli.connect import connect
from kgrag.cli.console import changed, load_settings, note
from kgrag.errors import ConfigurationError


@click.command()
@click.option("--host", metavar="ADDRESS", help="Where to listen; keys open others than 127.0.0.1.")
@click.option("--port", type=click.IntRange(0, 65535), metavar="N", help="0: any that is free.  [default: 8000]")
def serve(host: str | None, port: int | None) -> None:
    """Serve the collections over HTTP: REST under /api/v1.

    Without keys it answers on this machine alone, and lets in whoever can reach it there. `kgrag keys add` makes keys;
    from then on each request needs one. Limits are settings: see KGRAG_SERVE__* in `kgrag settings`.

    It takes some packages more: pip install 'kgrag[serve]'

    \b
    kgrag serve
    kgrag serve --port 9000
    kgrag keys add laptop --role admin && kgrag serve --host 0.0.0.0
    """
    try:
        import uvicorn

        from kgrag.server.app import check_locked, create_app
    except ImportError as error:
        raise ConfigurationError(
            f"The server needs the package {error.name}, which is not installed.",
            "Install it with: python -m pip install 'kgrag[serve]'",
        ) from error
    from kgrag.server.keys import Keys

    settings = changed(load_settings(), "serve", host=host, port=port)
    keys, options = Keys.of(settings), settings.serve
    check_locked(keys, options)
    with connect(settings) as kg:
        app = create_app(kg, keys, options)
        note(f"Serving on http://{options.host}:{options.port} (Ctrl-C ends it).")
        uvicorn.run(
            app, host=options.host, port=options.port, access_log=False, log_level="warning", server_header=False
        )
