"""The site of docs/ builds without a warning, is self-contained, and includes the pages generated from the source."""

import html
import inspect
import json
import re
import subprocess
import sys
from pathlib import Path

import click
import pytest
from test_public import PACKAGES, PUBLIC, members, names

from kgrag.cli import main
from kgrag.graph.saved import saved_queries
from kgrag.values.installing import install_hint

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
    assert (
        f"Drawing needs neo4j-viz, which is not installed (its licence is GPLv3). Install it: {install_hint('viz')} ("
        in (errors.replace("| ", ""))
    )


def test_commands_stand_in_the_groups_of_the_help(site: Path) -> None:
    page = (site / "commands.md").read_text(encoding="utf-8")
    headings = re.findall(r"^(##+) (.+)$", page, re.MULTILINE)
    groups = [title for level, title in headings if level == "##"]
    assert groups[:4] == ["Documents and questions", "Collections", "Servers", "kgrag enrich"]
    assert groups[4:] == ["kgrag db", "kgrag lab", "kgrag list"]
    order = "Servers", "kgrag serve", "kgrag keys add", "kgrag enrich", "kgrag lab", "kgrag lab train gfm", "kgrag list"
    places = [headings.index((level, t)) for t in order for level in ("##", "###") if (level, t) in headings]
    assert len(places) == len(order) and places == sorted(places)


def test_every_public_name_has_its_place(site: Path) -> None:
    pages = {page.stem: page.read_text(encoding="utf-8") for page in (site / "api").glob("*.md")}
    whole = "\n".join(pages.values())
    wanted = set()
    for package in PACKAGES:
        for name in names(package):
            value = PUBLIC[f"{package}.{name}"]
            if isinstance(value, type):
                own = (m.__func__ if isinstance(m, classmethod | staticmethod) else m for _, m in members(value))
                wanted |= {name, *(f"{name}.{m.__name__}" for m in own if inspect.isfunction(m))}
            elif inspect.isfunction(value):
                wanted.add(name)
    assert len(wanted) > 400
    assert wanted - set(re.findall(r"^##+ (\S+) \{", whole, re.MULTILINE)) == set()
    assert "## Collection { #Collection }" in pages["client"] and "## NotFoundError {" in pages["errors"]


def test_a_name_is_told_by_its_signature_docstring_and_options(site: Path) -> None:
    client, ppr = _said(site / "api" / "client.html"), _said(site / "api" / "retrievers.html")
    assert "from kgrag import Collection Collection(kg: Connection, name: str)" in client
    assert "k: int = 8, retriever: str | Retriever = 'pathrank', filter: Filter | None = None," in client
    assert "Return the best passages for a question, each with its trail" in client
    assert "Arguments query: the question. k: how many passages." in client
    assert "with RemoteKnowledgeGraph(" in client and ">>>" not in client
    assert "Initialize self" not in client and " object at 0x" not in client
    assert "damping float > 0 and < 1 0.5 share of the walk that goes on at each step" in ppr


def test_the_search_finds_settings_errors_and_methods(site: Path) -> None:
    index = json.loads((site / "search" / "search_index.json").read_text(encoding="utf-8"))
    found = {entry["location"]: html.unescape(f"{entry['title']} {entry['text']}") for entry in index["docs"]}
    assert "bolt://, neo4j:// or neo4j+s:// address" in found["settings.html"]
    assert "KGRAG_LOCAL__HEAP" in found["settings.html#local"]
    assert "There is no collection" in found["errors.html"]
    assert "each with its trail" in found["api/client.html#Collection.search"]
    words = re.split(index["config"]["separator"], "KGRAG_LOCAL__HEAP Collection.search 5.26")
    assert [word for word in words if word] == ["KGRAG", "LOCAL", "HEAP", "Collection", "search", "5.26"]


def test_llms_txt_leads_to_every_page_as_markdown(site: Path) -> None:
    lines = (site / "llms.txt").read_text(encoding="utf-8").splitlines()
    assert lines[0] == "# kgrag" and lines[2].startswith("> A knowledge-graph platform")
    sections = [line.removeprefix("## ") for line in lines if line.startswith("## ")]
    assert sections == ["Start", "Guides", "Python", "Figures", "Reference"]
    entries = [re.fullmatch(r"- \[([^\]]+)\]\((\S+\.md)\)(?:: .+)?", line) for line in lines[3:] if line[:1] == "-"]
    paths = [entry[2] for entry in entries if entry]
    assert len(paths) == len(entries) == len(set(paths))
    pages = {page.relative_to(site).with_suffix(".md").as_posix() for page in site.rglob("*.html")}
    assert set(paths) == pages - {"404.md"}
    whole = (site / "llms-full.txt").read_text(encoding="utf-8")
    texts = [(site / path).read_text(encoding="utf-8") for path in paths]
    assert [text[:2] for text in texts] == ["# "] * len(texts)
    places = [whole.find(text) for text in texts]
    assert min(places) == 0 and places == sorted(places)


def test_nothing_is_fetched_from_elsewhere(site: Path) -> None:
    pages = {page: page.read_text(encoding="utf-8") for page in site.rglob("*.html")}
    assert len(pages) >= 18
    fetched = re.compile(r"<(?:script|link|img|iframe)[^>]*(?:src|href)=[\"']?(?:https?:)?//[^\"' >]+")
    assert {found for text in pages.values() for found in fetched.findall(text)} == set()
    assert "url(http" not in "".join(sheet.read_text() for sheet in site.rglob("*.css"))
