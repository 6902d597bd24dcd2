"""A headless Chromium with Neo4j Browser in it, connected to the tests' Neo4j."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from analyst import Analyst
from click.testing import CliRunner

from kgrag.cli import main
from kgrag.settings import Settings

if TYPE_CHECKING:
    from playwright.sync_api import Browser


@pytest.fixture(scope="session")
def place(graph_settings: Settings) -> dict[str, Any]:
    """The output of `kgrag browser` for the tests' server."""
    env = {"KGRAG_HOME": str(graph_settings.home)}
    result = CliRunner().invoke(main, ["browser", "--print", "--json"], env=env)
    assert result.exit_code == 0, result.output
    found: dict[str, Any] = json.loads(result.stdout)
    return found


@pytest.fixture
def analyst(chromium: Browser, place: dict[str, Any]) -> Iterator[Analyst]:
    """An analyst at the address that `kgrag browser` prints, who can reach nothing but the server."""
    server = place["address"].partition("browser/")[0]
    password = Path(place["password_file"]).read_text(encoding="utf-8").strip()
    with chromium.new_context(viewport={"width": 1600, "height": 1000}, locale="en-US") as context:
        context.route(lambda url: url.startswith("http") and not url.startswith(server), lambda route: route.abort())
        analyst = Analyst(context.new_page())
        analyst.connect(place["address"], password)
        yield analyst
