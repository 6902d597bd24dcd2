"""A headless Chromium with Neo4j Browser in it, connected to the tests' Neo4j."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

import pytest
from analyst import Analyst
from chromium import MISSING, find_chromium

from kgrag.graph.local import LocalServer
from kgrag.settings import Settings

if TYPE_CHECKING:
    from playwright.sync_api import Browser

_FLAGS = (
    "--no-sandbox --disable-gpu --disable-quic --no-first-run --disable-background-networking "
    "--disable-component-update --disable-sync"
)


@pytest.fixture(scope="session")
def chromium() -> Iterator[Browser]:
    """The Chromium of this machine. Without one the tests fail."""
    from playwright.sync_api import sync_playwright

    path = find_chromium()
    if path is None:
        pytest.fail(MISSING, pytrace=False)
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=path, headless=True, args=_FLAGS.split())
        yield browser
        browser.close()


@pytest.fixture
def analyst(chromium: Browser, graph_settings: Settings) -> Iterator[Analyst]:
    """An analyst who has opened the address that `kgrag up` prints. Nothing but the server can be reached."""
    status = LocalServer(graph_settings).status()
    assert status.uri and status.browser_url
    server = status.browser_url.removesuffix("browser/")
    password = graph_settings.neo4j_password
    assert password is not None
    with chromium.new_context(viewport={"width": 1600, "height": 1000}, locale="en-US") as context:
        context.route(
            lambda url: url.startswith("http") and not url.startswith(server),
            lambda route: route.abort(),
        )
        analyst = Analyst(context.new_page())
        analyst.connect(status.browser_url, status.uri, graph_settings.neo4j_user, password.get_secret_value())
        yield analyst
