"""kgrag browser: the address, the style, the guide."""

import json
import re
import shutil
import signal
import subprocess
import urllib.request
import webbrowser
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result
from command_line import CommandLine
from made_pdfs import Maker

import kgrag.graph
from kgrag import KnowledgeGraph
from kgrag.cli import main
from kgrag.demo import corpus
from kgrag.drawing import drawing
from kgrag.graph.browser import GUIDE, STYLE, demo_guide, guide, steps, style
from kgrag.graph.collections import open_collection
from kgrag.graph.description import describe
from kgrag.settings import Settings
from kgrag.values.documents import Document, Section


@pytest.fixture(scope="module")
def guided(fill: Callable[..., str]) -> str:
    """A collection that a guide can walk through."""
    texts = {
        "Fram": "The Fram was designed by Colin Archer.",
        "Colin Archer": "Colin Archer was a naval architect. He lived in Larvik.",
        "Larvik": "Larvik is a town on the coast of Norway. Its harbour is old.",
    }
    return fill("guided", [Document(title, (Section(text),), title) for title, text in texts.items()])


@pytest.fixture
def local(graph_settings: Settings, monkeypatch: pytest.MonkeyPatch) -> Settings:
    """The command line, with the tests' server as the local one."""
    monkeypatch.setenv("KGRAG_HOME", str(graph_settings.home))
    return graph_settings


def _browser(*args: str) -> Result:
    result = CliRunner().invoke(main, ["browser", *args])
    assert result.exit_code == 0, result.output
    return result


def test_the_address_fills_the_connection_in(local: Settings) -> None:
    answer = json.loads(_browser("--print", "--json").stdout)
    assert local.neo4j_password
    password = local.neo4j_password.get_secret_value()
    assert re.fullmatch(
        rf"http://127\.0\.0\.1:\d+/browser/\?dbms={local.neo4j_uri}", answer["address"].replace("neo4j@", "")
    )
    assert "bolt://neo4j@127.0.0.1:" in answer["address"]
    assert Path(answer["password_file"]).read_text(encoding="utf-8").strip() == password
    assert answer["local"] and not answer["opened"]
    shown = _browser("--print")
    assert answer["address"] in shown.stdout and answer["password_file"] in shown.stdout
    assert password not in shown.output and password not in str(answer)
    assert "--show-password prints it" in shown.stderr.replace("`", "")
    assert password in _browser("--print", "--show-password").stdout


def test_it_opens_what_there_is_to_open_it_with(local: Settings, monkeypatch: pytest.MonkeyPatch) -> None:
    opened: list[str] = []

    class Display(webbrowser.BackgroundBrowser):
        def open(self, url: str, new: int = 0, autoraise: bool = True) -> bool:
            opened.append(url)
            return True

    monkeypatch.setattr(webbrowser, "get", lambda: Display("display"))
    answer = json.loads(_browser("--json").stdout)
    assert answer["opened"] and opened == [answer["address"]]
    assert not json.loads(_browser("--json", "--no-open").stdout)["opened"]

    def none() -> webbrowser.BaseBrowser:
        raise webbrowser.Error("could not locate runnable browser")

    monkeypatch.setattr(webbrowser, "get", none)
    assert answer["address"] in _browser().stdout
    monkeypatch.setattr(webbrowser, "get", lambda: webbrowser.GenericBrowser("lynx"))
    monkeypatch.delenv("BROWSER", raising=False)
    assert not json.loads(_browser("--json").stdout)["opened"]
    assert len(opened) == 1


def test_another_server_is_named_but_not_opened(cli: CommandLine) -> None:
    answer = cli.json("browser")
    assert not answer["local"] and not answer["opened"]
    assert ":7474/browser/?dbms=bolt://neo4j@" in answer["address"]
    secure = {"KGRAG_NEO4J_URI": "neo4j+s://graph.example.com", "KGRAG_NEO4J_USER": "ana"}
    result = cli("browser", env=secure)
    assert "https://graph.example.com:7473/browser/?dbms=neo4j%2Bs://ana@graph.example.com" in result.stdout
    assert "KGRAG_NEO4J_PASSWORD" in result.stdout and cli.env["KGRAG_NEO4J_PASSWORD"] not in result.output
    assert "not an address" in cli("browser", code=2, env={"KGRAG_NEO4J_URI": "localhost"}).stderr


def test_the_style_has_a_rule_for_every_kind(cli: CommandLine, kg: KnowledgeGraph, guided: str, tmp_path: Path) -> None:
    sheet = cli("browser", "--style", "-").stdout
    rules = re.findall(r"^(node|relationship)\.(\w+) \{$", sheet, re.MULTILINE)
    number = open_collection(kg.graph, guided).number
    assert {("node", node.label) for node in describe().nodes} <= set(rules)
    assert {("relationship", edge.type) for edge in describe().edges} <= set(rules)
    assert {("node", f"{label}_c{number}") for label in ("Passage", "Entity", "Triple")} <= set(rules)
    assert len(rules) == len(set(rules))
    assert sheet.count("{") - sheet.count('"{') == sheet.count("}") - sheet.count('}"')
    target = tmp_path / "kgrag.grass"
    cli("browser", "--style", str(target))
    others = re.compile(rf"\nnode\.\w+_c(?!{number} )\d+ \{{.*?\n\}}\n", re.DOTALL)  # these change meanwhile
    assert others.sub("", target.read_text(encoding="utf-8")) == others.sub("", sheet)
    assert "cannot be written" in cli("browser", "--style", str(tmp_path / "no" / "such.grass"), code=5).stderr


def test_the_local_server_holds_the_guide_and_the_style(local: Settings) -> None:
    pages = json.loads(_browser("--print", "--json").stdout)["address"].partition("?")[0]
    for page, text in ((GUIDE, demo_guide(pages)), (STYLE, style())):
        with urllib.request.urlopen(pages + page, timeout=10) as response:
            assert response.headers["Access-Control-Allow-Origin"] == "*"
            assert response.read().decode() == text
    assert set(re.findall(r"https?://[^\"<\s]+", demo_guide(pages))) == {pages + GUIDE, pages + STYLE}
    assert not re.search(r"\b(src|href)=", demo_guide(pages))


def test_a_guide_is_there_until_it_is_interrupted(cli: CommandLine, kg: KnowledgeGraph, guided: str) -> None:
    with cli.start("browser", "--guide", "-c", guided, "--json", stdout=subprocess.PIPE, stderr=subprocess.PIPE) as run:
        assert run.stdout is not None
        lines = []
        while (line := run.stdout.readline().decode()) not in ("}\n", ""):
            lines.append(line)
        answer: dict[str, Any] = json.loads("".join(lines) + "}")
        assert answer["address"].endswith(f"&cmd=play&arg={answer['guide']}")
        with urllib.request.urlopen(answer["guide"], timeout=10) as response:
            assert response.headers["Access-Control-Allow-Origin"] == "*"
            page = response.read().decode()
        with pytest.raises(urllib.error.HTTPError, match="404"):
            urllib.request.urlopen(answer["guide"] + "x", timeout=10)
        run.send_signal(signal.SIGINT)
        assert run.wait(timeout=30) == 130

    assert f"the collection <b>{guided}</b>" in page
    assert [title.partition(".")[0] for title, _ in steps(page)] == [str(n) for n in range(1, 11)]


def _fill(kind: str, folder: Path) -> None:
    if kind == "demo":
        with corpus() as source:
            shutil.copytree(source, folder, dirs_exist_ok=True)
    elif kind == "pdf":
        made = Maker(folder / "voyages.pdf")
        for captain in ("Robert Bartlett", "Frank Worsley", "Otto Sverdrup", "Roald Amundsen"):
            made.text(f"The ship of {captain} sailed from Larvik to Svalbard. " * 12)
            made.table((("Captain", "Year"), (captain, "1910")), (120, 80))
            made.page()
        made.save()
    elif kind == "code":
        for file in ("runs", "jobs"):
            shutil.copy(Path(kgrag.graph.__file__).parent / f"{file}.py", folder)
    elif kind == "rows":
        lines = ("Fram,The Fram was built at Larvik.", "Gauss,The Gauss and the Fram met the Maud at Vollen.")
        (folder / "a.csv").write_text(
            "\n".join(["title,text", *lines, "Maud,The Maud lay at Vollen."]), encoding="utf-8"
        )
    for who, what in (("Ada Byron", "London"), ("Joseph Clement", "Kent"), ("Ada Byron", "Kent")):
        if kind == "mails":
            text = (
                f"From: {who} <a@x.org>\nSubject: {what}\n\n{who} of {what} asks Luigi Menabrea in Turin for drawings."
            )
            (folder / f"{who} {what}.eml").write_text(text, encoding="utf-8")


@pytest.mark.parametrize("kind", ["demo", "pdf", "rows", "code", "mails"])
def test_each_step_of_a_guide_shows_something(
    kind: str, kg: KnowledgeGraph, collection_name: str, tmp_path: Path
) -> None:
    _fill(kind, tmp_path)
    assert not kg[collection_name].ingest(tmp_path).problems
    kg[collection_name].save(kg[collection_name].search("Who sailed from Larvik?", k=2))
    (names,) = kg.graph.run("look_up/guide_names", collection=collection_name, cap=50)
    assert names["goal"] not in (None, names["start"])
    page = guide(collection_name, names["start"], names["goal"], "http://localhost/")
    shown = {
        title[0]: {node.label for node in drawing(kg.cypher(query)).nodes.values()} for title, query in steps(page)
    }
    assert kind != "pdf" or shown["7"] == {"Document", "Page", "Passage", "Table"}


def test_a_guide_needs_a_collection(cli: CommandLine) -> None:
    assert "There is no collection 'no-such'" in cli("browser", "--guide", "-c", "no-such", code=4).stderr


def test_odd_names_stand_in_the_guide_as_they_are() -> None:
    page = guide("it's <b> \\ {goal}", "o'brien", "x", "http://localhost/")
    assert "<b>it&#x27;s &lt;b&gt; \\ {goal}</b>" in page
    assert steps(page)[0][1].startswith("MATCH path = (:Collection {name: 'it\\'s <b> \\\\ {goal}'})")
    assert "normal: 'o\\'brien'" in steps(page)[1][1]
