"""The site of docs/ is built without a warning, stands alone, and holds what is made from the source."""

import html
import re
import subprocess
import sys
from pathlib import Path

import click
import pytest

from kgrag.cli import main
from kgrag.graph.saved import saved_queries

pytestmark = pytest.mark.long
ROOT = Path(__file__).parents[2]


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("site")
    command = [sys.executable, "-m", "mkdocs", "build", "--strict", "--site-dir", str(folder)]
    built = subprocess.run(command, cwd=ROOT, capture_output=True, text=True)
    assert built.returncode == 0, built.stderr
    return folder


def _said(page: Path) -> str:
    return " ".join(html.unescape(re.sub(r"<[^>]+>", "", page.read_text(encoding="utf-8"))).split())


def test_commands_queries_and_errors_are_those_of_the_source(site: Path) -> None:
    commands, queries, errors = (_said(site / f"{name}.html") for name in ("commands", "queries", "errors"))
    assert all(f"kgrag {name}" in commands for name in main.list_commands(click.Context(main)))
    assert "kgrag lab train gfm" in commands and "--held-out" in commands
    assert all(name in queries and query.purpose.replace("`", "") in queries for name, query in saved_queries().items())
    assert "There is no collection … (there are: …). Make it with kgrag ingest PATH... --collection …." in errors
    assert errors.count("Error") > 250


def test_nothing_is_fetched_from_elsewhere(site: Path) -> None:
    pages = {page: page.read_text(encoding="utf-8") for page in site.rglob("*.html")}
    assert len(pages) >= 18
    fetched = re.compile(r"<(?:script|link|img|iframe)[^>]*(?:src|href)=[\"']?(?:https?:)?//[^\"' >]+")
    assert {found for text in pages.values() for found in fetched.findall(text)} == set()
    assert "url(http" not in "".join(sheet.read_text() for sheet in site.rglob("*.css"))
