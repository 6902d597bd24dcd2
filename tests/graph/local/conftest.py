import socket
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from own_server import free_ports

from kgrag.graph.local.releases import SERVER, lock_groups
from kgrag.graph.local.server import LocalServer
from kgrag.settings import LocalSettings, Settings

MakeSettings = Callable[..., Settings]


def small_server(home: Path, **local: Any) -> Settings:
    """Return settings of a small server in `home` with the shared jars and ports far from Neo4j's defaults."""
    small = {**free_ports(), "heap": "512m", "page_cache": "64m", "archive": False}
    return Settings(home=home, local=LocalSettings(**(small | local)))


@pytest.fixture(scope="session")
def jars() -> None:
    """Puts every jar of the server into the shared cache."""
    LocalServer(Settings()).jars.ensure(lock_groups(LocalServer(Settings()).line())[SERVER], stage="Downloading Neo4j")


@pytest.fixture
def make_settings(tmp_path: Path, jars: None) -> Iterator[MakeSettings]:
    """Makes settings of servers for one test, which are stopped at the end."""
    made: list[Settings] = []

    def make(home: str = "home", **local: Any) -> Settings:
        made.append(small_server(tmp_path / home, **local))
        return made[-1]

    yield make
    for settings in made:
        LocalServer(settings).stop()


@pytest.fixture(scope="package")
def shared(tmp_path_factory: pytest.TempPathFactory, jars: None) -> Iterator[Settings]:
    """Settings of a running server that tests may query but not stop. Its preferred ports are taken."""
    settings = small_server(tmp_path_factory.mktemp("a home with späces"))
    with (
        pytest.MonkeyPatch.context() as environment,
        socket.create_server(("127.0.0.1", settings.local.bolt_port)),
        socket.create_server(("127.0.0.1", settings.local.http_port)),
    ):
        # Containers often have this locale; the home's name must be right nevertheless.
        environment.setenv("LC_ALL", "C")
        LocalServer(settings).ensure_running()
        yield settings
        LocalServer(settings).stop()
