"""A server with two small collections, and browsers that visit it."""

from __future__ import annotations

import random
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from made_pdfs import Maker, prose
from pages import DESIGNED, HOSTILE, LETTERS, SHIPS, Application, Visit, Visitor
from scripted import Scripted

from kgrag import KnowledgeGraph
from kgrag.values.documents import Document, Section

if TYPE_CHECKING:
    from playwright.sync_api import Browser


@pytest.fixture(scope="session")
def book(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A PDF of eight pages; the third names the designer of the Aurora."""
    path, chance = tmp_path_factory.mktemp("books") / "voyage.pdf", random.Random(4)
    maker = Maker(path)
    for number in range(1, 9):
        maker.text(f"Chapter {number}", size=16, font="Helvetica-Bold")
        for place in range(5):
            maker.text(prose(chance, 5))
            if (number, place) == (3, 2):
                maker.text(DESIGNED)
            if (number, place) == (6, 2):
                maker.text(HOSTILE)
        maker.page()
    maker.canvas.save()
    return path


@pytest.fixture(scope="session")
def collections(kg: KnowledgeGraph, book: Path) -> Iterator[None]:
    """A collection of ships, and one of letters."""
    kg[SHIPS].ingest([book])
    kg[LETTERS].ingest([Document("Kari", (Section("Kari Aune keeps a secret in Larvik."),), "Kari")])
    yield
    for name in (SHIPS, LETTERS):
        kg[name].delete()


@pytest.fixture(scope="session")
def application(
    collections: None, neo4j_env: dict[str, str], scripted_server: Scripted, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Application]:
    """A server for them, without keys, with a scripted language model."""
    environment = {**neo4j_env, **scripted_server.env(), "KGRAG_HOME": str(tmp_path_factory.mktemp("home"))}
    with Application(environment) as served:
        yield served


@pytest.fixture
def environment(collections: None, neo4j_env: dict[str, str], scripted: Scripted, tmp_path: Path) -> dict[str, str]:
    """The address of another server, whose home is empty."""
    return {**neo4j_env, **scripted.env(), "KGRAG_HOME": str(tmp_path)}


@pytest.fixture
def visit(chromium: Browser, application: Application) -> Iterator[Visit]:
    """Opens browsers; at the end checks that nothing went wrong in them."""
    visitors: list[Visitor] = []

    def opened(**options: bool) -> Visitor:
        visitors.append(Visitor(chromium, application.url, **options))
        return visitors[-1]

    yield opened
    for visitor in visitors:
        visitor.page.context.close()
        assert visitor.wrong == []
