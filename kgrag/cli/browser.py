"""kgrag browser: Neo4j Browser with the connection filled in, the style of the graph, a guide to a collection."""

import os
import webbrowser
from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from tempfile import TemporaryDirectory
from threading import Event, Thread
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

import click

from kgrag.cli.connect import as_json, choose_collection, collection_option, connect
from kgrag.cli.console import load_settings, note, print_json, print_pairs, progress_bars
from kgrag.runtime.files import user_file
from kgrag.values.errors import ConfigurationError

if TYPE_CHECKING:
    from kgrag.settings import Settings

_SECURE = ("+s", "+ssc")


@click.command()
@click.option("--print", "--no-open", "no_open", is_flag=True, help="Only print the address; open nothing.")
@click.option("--show-password", is_flag=True, help="Print the password, not only where it is kept.")
@click.option("--style", type=click.Path(dir_okay=False, allow_dash=True), metavar="FILE",
              help="Write the style of the graph into FILE (- for standard output), and do nothing else.")  # fmt: skip
@click.option("--guide", is_flag=True, help="With a guide to a collection, which is served until Ctrl-C.")
@collection_option("Collection that the guide walks through.")
@as_json
def browser(
    no_open: bool, show_password: bool, style: str | None, guide: bool, collection: str | None, as_json: bool
) -> None:
    """Open Neo4j Browser, connected, with a guide to a collection.

    The local server is started if it does not run. Its Browser opens with a guide to the collection that `kgrag demo`
    makes (KGRAG_LOCAL__GUIDE=false: no guide from the next start on). For a server that KGRAG_NEO4J_URI names, the
    usual address is printed and nothing is opened, since its Browser may be elsewhere.

    \b
    kgrag browser                        open it; without a display, print the address
    kgrag browser --print --json         for a script
    kgrag browser --guide -c notes       with a guide to a collection of your own
    kgrag browser --style kgrag.grass    the colours: drop the file on Browser's window
    """
    settings = load_settings()
    if style is not None:
        _write_style(settings, style)
        return
    answer = _place(settings)
    if show_password:
        answer["password"] = _password(settings)
    no_open = no_open or not answer["local"]
    if not guide:
        _show(answer, no_open, as_json)
        return
    place = urlsplit(answer["address"])
    # The site that may read the guide: this machine's Browser, or any when its address is unknown.
    origin = f"{place.scheme}://{place.netloc}" if answer["local"] else "*"
    with _guide(settings, collection, origin) as (name, page):
        answer["address"] += f"&cmd=play&arg={page}"
        answer["guide"] = page
        _show(answer, no_open, as_json)
        note(f"The guide to {name} is there until Ctrl-C. Beside the results: :guide {page}")
        Event().wait()


def _place(settings: "Settings") -> dict[str, Any]:
    """Return the address that fills the connection in, and the login."""
    from kgrag.graph.browser import connect_address

    if settings.neo4j_uri is not None:
        place = urlsplit(settings.neo4j_uri)
        if not place.hostname:
            raise ConfigurationError(
                f"{settings.neo4j_uri!r} is not an address of a Neo4j server.",
                "Use bolt://HOST:7687, neo4j://HOST:7687 or neo4j+s://HOST in KGRAG_NEO4J_URI.",
            )
        host = f"[{place.hostname}]" if ":" in place.hostname else place.hostname
        secure = place.scheme.endswith(_SECURE)
        pages = f"{'https' if secure else 'http'}://{host}:{7473 if secure else 7474}/browser/"
        address = connect_address(pages, settings.neo4j_uri, settings.neo4j_user)
        return {"local": False, "address": address, "user": settings.neo4j_user, "password_file": None}
    from kgrag.graph.local.server import LocalServer

    server = LocalServer(settings)
    with progress_bars() as progress:
        endpoint = server.ensure_running(progress=progress)
    address = connect_address(endpoint.browser_url, endpoint.uri, endpoint.user)
    return {"local": True, "address": address, "user": endpoint.user, "password_file": str(server.password_path)}


def _password(settings: "Settings") -> str:
    from kgrag.graph.local.server import LocalServer

    local = settings.neo4j_uri is None
    password = LocalServer(settings).home.password.read() if local else settings.neo4j_password
    return password.get_secret_value() if password is not None else ""


def _show(answer: dict[str, Any], no_open: bool, as_json: bool) -> None:
    """Open the address where there is something to open it with, and print it with how to log in."""
    answer["opened"] = not no_open and _open(answer["address"])
    if as_json:
        print_json(answer)
        return
    lines = {"Opened" if answer["opened"] else "Open": answer["address"], "User": answer["user"]}
    if "password" in answer:
        lines["Password"] = answer["password"]
    else:
        lines["Password in"] = answer["password_file"] or "KGRAG_NEO4J_PASSWORD"
    print_pairs(lines)
    if "password" not in answer:
        note("Neo4j Browser asks for the password: `kgrag browser --show-password` prints it.")
    if not answer["local"]:
        note("This is where Neo4j Browser usually is; ask who runs the server if it is not there.")


def _open(address: str) -> bool:
    """Return whether a browser was opened. Without a display none opens: a browser in the terminal does not count."""
    try:
        controller = webbrowser.get()
    except webbrowser.Error:
        return False
    in_terminal = type(controller) is webbrowser.GenericBrowser and "BROWSER" not in os.environ
    return not in_terminal and controller.open(address)


def _write_style(settings: "Settings", target: str) -> None:
    from kgrag.graph.browser import style
    from kgrag.graph.collections import list_collections

    with connect(settings) as kg:
        sheet = style(collection.number for collection in list_collections(kg.graph))
    with user_file(target), click.open_file(target, "w", encoding="utf-8") as file:
        file.write(sheet)
    if target != "-":
        note(f"Drop {target} on Browser's window; `:style reset` takes the style back.")


@contextmanager
def _guide(settings: "Settings", collection: str | None, origin: str) -> Iterator[tuple[str, str]]:
    """Serve the guide to a collection on this machine; yields the collection's name and the guide's address."""
    from kgrag.graph.browser import GUIDE, STYLE, guide, style
    from kgrag.graph.collections import list_collections, open_collection

    with connect(settings) as kg:
        record = open_collection(kg.graph, choose_collection(kg, collection))
        names = kg.graph.run("look_up/guide_names", collection=record.name, cap=50)
        numbers = [each.number for each in list_collections(kg.graph)]
    if not names:
        raise ConfigurationError(f"No passage in {record.name!r} mentions a name.", "A guide leads from name to name.")
    start, goal = names[0]["start"], names[0]["goal"] or names[0]["start"]
    # Browser may fetch from "localhost" wherever it is served from, and knows so before it is connected.
    with (
        TemporaryDirectory() as folder,
        ThreadingHTTPServer(("127.0.0.1", 0), partial(_Handler, origin=origin, directory=folder)) as server,
    ):
        place = f"http://localhost:{server.server_port}/"
        Path(folder, GUIDE).parent.mkdir()
        Path(folder, GUIDE).write_text(guide(record.name, start, goal, place), encoding="utf-8")
        Path(folder, STYLE).write_text(style(numbers), encoding="utf-8")
        Thread(target=server.serve_forever, daemon=True).start()
        try:
            yield record.name, place + GUIDE
        finally:
            server.shutdown()


class _Handler(SimpleHTTPRequestHandler):
    """Serves the files of a folder to the site `origin`, and answers the preflight requests of Browser."""

    def __init__(self, *args: Any, origin: str, **options: Any) -> None:
        self._origin = origin
        self.extensions_map = {".html": "text/html; charset=utf-8", ".grass": "text/plain; charset=utf-8"}
        super().__init__(*args, **options)

    def do_OPTIONS(self) -> None:
        self.send_response(204)
        self.end_headers()

    def end_headers(self) -> None:
        for name, value in (("Origin", self._origin), ("Headers", "*"), ("Private-Network", "true")):
            self.send_header(f"Access-Control-Allow-{name}", value)
        super().end_headers()

    def log_message(self, format: str, *args: object) -> None:
        """Say nothing on the terminal."""
