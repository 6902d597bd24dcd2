"""Every code block of README.md and docs/ runs unchanged, in the order of the page; so does every example."""

import asyncio
import doctest
import gzip
import json
import re
import subprocess
import sys
import time
import tomllib
from collections.abc import Iterator
from contextlib import ExitStack
from dataclasses import replace
from pathlib import Path

import click
import pytest
from click.testing import CliRunner
from code_blocks import Block, Command, blocks, commands, mentioned
from made_pdfs import Maker
from made_scans import pictures
from scripted import Scripted
from served import Served

import kgrag
from kgrag import KnowledgeGraph, loaders
from kgrag.cli import main
from kgrag.demo import COLLECTION, corpus
from kgrag.settings import Settings

ROOT = Path(__file__).parents[2]
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))]
MOST_NOT_RUN = 3
SERVER = "http://localhost:8000"
PLAIN = ("", "text")
"""Languages of blocks that are only for display."""
ONLY_PARSED = ("browser", "down", "backup", "restore", "watch", "mcp", "serve")
"""Commands that would open a window, stop the tests' server, never end, or take standard input and output."""
TEXTS = {
    "Fram": "The Fram was designed by Colin Archer. Roald Amundsen took the ship south.",
    "Colin Archer": "Colin Archer, who designed the Fram, lived in Larvik.",
    "Larvik": "Larvik is a town in Norway. The river Numedalslågen runs through it.",
    "Salomon Andrée": "Salomon Andrée was born in Gränna.",
    "Gränna": "Gränna is a town by the lake Vättern.",
}
every_page = pytest.mark.parametrize("page", PAGES, ids=lambda page: page.relative_to(ROOT).as_posix())


@pytest.fixture(scope="module")
def _demo(kg: KnowledgeGraph) -> str:
    with corpus() as folder:
        kg[COLLECTION].ingest(folder, root=folder)
    return COLLECTION


@pytest.fixture
def reader(
    _demo: str,
    others_aside: None,
    kg: KnowledgeGraph,
    neo4j_env: dict[str, str],
    scripted: Scripted,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> Iterator[KnowledgeGraph]:
    """A client of a user with documents, the demo and a language model, in the folder of the documents."""
    monkeypatch.chdir(tmp_path)
    for folder in (Path("notes"), Path("corpus")):
        folder.mkdir()
        for title, text in TEXTS.items():
            folder.joinpath(f"{title}.md").write_text(f"# {title}\n\n{text}\n", encoding="utf-8")
    Path("table.csv").write_text("id,title,text\n1,Maud,The Maud was built at Vollen.\n", encoding="utf-8")
    _write_knowledge()
    maker = Maker(Path("letter.pdf"))
    maker.text("The harbour master decided in March that no ship was to leave Larvik before the ice had gone.")
    maker.save()
    pictures(Path("letter.pdf"))[0].save("letter.png")
    Path("letter.pdf").unlink()
    scripted.say("extract", {"triples": [["Fram", "designed by", "Colin Archer"]]})
    scripted.say("read", {"triples": [["Fram", "designed by", "Colin Archer"]]})
    scripted.say("reason", {"answerable": True})
    scripted.say("think", "So the answer is: Larvik.")
    scripted.say("rewrite-or-stop", "{No} {Where was Colin Archer born?}")
    scripted.say("filter", "[1]")
    scripted.say("name", {"names": ["Fram"]})
    scripted.say("answer", "Colin Archer designed it [1].")
    scripted.say("cypher", "```cypher\nMATCH (d:Document {collection: $collection}) RETURN count(d) AS documents\n```")
    for name, value in {**neo4j_env, **scripted.env()}.items():
        monkeypatch.setenv(name, value)
    before = {c.name for c in kg.collections()} - {COLLECTION}
    with KnowledgeGraph.connect(settings=Settings(_env_file=None)) as client:  # type: ignore[call-arg]
        yield client
    names = {c.name for c in kg.collections()}
    kg.delete_runs([run.id for run in kg.runs() if run.collection in names])
    for name in names - before:
        kg[name].delete()


def _write_knowledge() -> None:
    """Write a minimal dump of Wikidata, and files with a user's own facts, to the current folder."""

    def item(key: str, label: str, **claims: str) -> str:
        its = {p: [{"mainsnak": {"snaktype": "value", "datavalue": {"type": "wikibase-entityid", "value": {"id": q}}}}]
               for p, q in claims.items()}  # fmt: skip
        return json.dumps({"id": key, "labels": {"en": {"language": "en", "value": label}}, "claims": its})

    entities = [item("P31", "instance of"), item("P279", "subclass of"), item("P287", "designed by"),
                item("P19", "place of birth"), item("Q11446", "ship"), item("Q3", "Larvik"),
                item("Q1", "Fram", P31="Q11446", P287="Q2"), item("Q2", "Colin Archer", P19="Q3")]  # fmt: skip
    Path("latest-all.json.gz").write_bytes(gzip.compress(("[\n" + ",\n".join(entities) + "\n]\n").encode()))
    Path("ids.txt").write_text("Q1\n", encoding="utf-8")
    Path("glossary.csv").write_text("subject,predicate,object\nFram,is a,ship\n", encoding="utf-8")
    Path("ontology.nt").write_text("<http://x.org/Fram> <http://x.org/isA> <http://x.org/Ship> .\n", encoding="utf-8")


@pytest.mark.long
def test_readme_has_the_ranks_of_the_demo(kg: KnowledgeGraph, _demo: str) -> None:
    page = (ROOT / "README.md").read_text(encoding="utf-8").split("| kind | question |")[1].split("\n\n")[0]
    rows = [[cell.strip() for cell in row.strip("|").split("|")] for row in page.splitlines()[2:]]
    assert len(rows) == 4
    for _, question, needed, *ranks in rows:
        for retriever, told in zip(("hybrid", "pathrank"), ranks, strict=True):
            titles = [hit.passage.title for hit in kg[_demo].search(question, retriever=retriever, k=8)]
            found = [str(titles.index(t) + 1) if t in titles else "–" for t in needed.split(", ")]
            assert (question, retriever, told) == (question, retriever, ", ".join(found))


@every_page
def test_links_lead_to_files(page: Path) -> None:
    links = re.findall(r"\]\(([^)#:\s]+)(?:#[^)]*)?\)", page.read_text(encoding="utf-8"))
    assert not [link for link in links if not (page.parent / link).exists()]


@pytest.mark.long
@pytest.mark.alone
@every_page
def test_every_block_runs(page: Path, reader: KnowledgeGraph, tmp_path: Path) -> None:
    names: dict[str, object] = {}
    with ExitStack() as stack:
        for block in blocks(page):
            if block.reason or block.environment or block.language in PLAIN:
                continue
            if SERVER in block.text:  # a server like `kgrag serve`
                served = stack.enter_context(Served(reader, tmp_path))
                block = replace(block, text=block.text.replace(SERVER, served.url))
            try:
                run(block, reader, names)
            except Exception as error:
                raise AssertionError(f"{block} does not run: {error}\n\n{block.text}") from error


class _Shown(doctest.OutputChecker):
    """Compares an example's output with the output shown after it, if any."""

    def check_output(self, want: str, got: str, optionflags: int) -> bool:
        return not want or super().check_output(want, got, optionflags)


@pytest.mark.long
@pytest.mark.alone
def test_every_example_runs(reader: KnowledgeGraph) -> None:
    names = {name: getattr(package, name) for package in (kgrag, loaders) for name in package.__all__}
    names |= {"kg": reader, "collection": reader[COLLECTION], "Path": Path, "asyncio": asyncio, "time": time}
    with corpus() as folder:  # earlier pages may have deleted it
        reader[COLLECTION].ingest(folder, root=folder)
    question = {"id": "q", "question": "Who designed the Fram?", "gold": ["fram"], "answers": ["Colin Archer"]}
    Path("questions").mkdir()
    Path("questions/queries.jsonl").write_text(json.dumps(question), encoding="utf-8")
    Path("questions/corpus.jsonl").write_text(json.dumps({"id": "fram", "text": "A ship."}), encoding="utf-8")
    report: list[str] = []
    for name, kind in names.items():
        if isinstance(kind, type) and kind.__module__.startswith("kgrag."):
            example = doctest.DocTestParser().get_doctest(kind.__doc__ or "", dict(names), name, None, 0)
            doctest.DocTestRunner(_Shown()).run(example, out=report.append)
    assert not report, "".join(report)


def run(block: Block, reader: KnowledgeGraph, names: dict[str, object]) -> None:
    match block.language:
        case "python":  # a block may use the results of earlier blocks
            exec(compile(block.text, str(block), "exec"), names)
        case "cypher":
            assert len(reader.cypher(block.text)) > 0, "it finds nothing"
        case "toml":
            tomllib.loads(block.text)
        case "json":
            check_servers(json.loads(block.text))
        case "console":
            for command in commands(block):
                in_console(command)
        case other:
            raise AssertionError(f"there is no way to run {other!r}: add one here, or call it text")


def check_servers(config: dict[str, dict[str, dict[str, object]]]) -> None:
    """Check that an assistant's servers have an address, or a kgrag command with existing options."""
    for server in (config.get("mcpServers") or config["servers"]).values():
        match server:
            case {"url": str(url), "headers": {"Authorization": str(key)}}:
                assert url.endswith("/mcp") and key.startswith("Bearer ")
            case {"command": str(path), "args": ["mcp", *rest]}:
                assert Path(path).name == "kgrag"
                in_console(Command(str(rest), ("kgrag", "mcp", *map(str, rest)), {}))
            case _:
                raise AssertionError(f"a server of no known form: {server}")


def in_console(command: Command) -> None:
    """Run a kgrag command; check that other commands name existing things. Settings are checked, not kept."""
    known = {f"KGRAG_{name.upper()}" for name in Settings.model_fields} | {"KGRAG_COLLECTION"}
    for name in command.env:
        assert name.startswith("OPENAI_") or name.partition("__")[0] in known, name
    with pytest.MonkeyPatch.context() as patch:
        for name, value in command.env.items():
            patch.setenv(name, value)
        Settings(_env_file=None)  # type: ignore[call-arg]
    match command.words:
        case ():
            pass
        case ("kgrag", name, *rest) if name in ONLY_PARSED:
            found = main.get_command(click.Context(main), name)
            assert found is not None
            found.make_context(name, list(rest))
        case ("kgrag", *rest):
            result = CliRunner().invoke(main, rest, prog_name="kgrag")
            assert result.exit_code == 0, f"{command.text}: {result.output}"
        case ("make", "demo"):
            in_console(Command("kgrag demo", ("kgrag", "demo"), {}))
        case ("make", *rest):
            subprocess.run(["make", "-n", *rest], cwd=ROOT, check=True, capture_output=True)
        case ("python", "-m", "pip", "install", *rest) | ("pip", "install", *rest):
            extras = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
            for package in rest:
                for extra in re.findall(r"[\w-]+", package.partition("[")[2]):
                    assert extra in extras["optional-dependencies"], package
        case ("python", "-m", module, *_):
            subprocess.run([sys.executable, "-m", module, "--help"], check=True, capture_output=True)
        case ("python", path, *rest):
            subprocess.run([sys.executable, ROOT / path, *rest], check=True, capture_output=True)
        case words:
            raise AssertionError(f"there is no way to check {words[0]!r}: add one here")


@pytest.mark.parametrize("page", [*PAGES, *sorted((ROOT / "cypher").rglob("*.cypher"))], ids=lambda page: page.name)
def test_commands_within_sentences_exist_and_have_the_options_named(page: Path) -> None:
    for line, words in mentioned(page):
        command, rest = main.get_command(click.Context(main), words[0]), list(words[1:])
        while isinstance(command, click.Group) and rest and not rest[0].startswith("-"):
            command = command.get_command(click.Context(command), rest.pop(0))
        named = command or main
        known = {o for p in named.get_params(click.Context(named)) for o in (*p.opts, *p.secondary_opts)} | {"--help"}
        assert command is not None or words[0].startswith(("-", "COMMAND")), f"{page.name}:{line}: {words}"
        used = {word.partition("=")[0] for word in words if word.startswith("--")}
        assert used <= known, f"{page.name}:{line}: {words}"


def test_few_blocks_are_left_out() -> None:
    marked = [block for page in PAGES for block in blocks(page) if block.reason]
    assert len(marked) <= MOST_NOT_RUN, [str(block) for block in marked]


def test_what_is_found_on_a_page(tmp_path: Path) -> None:
    page = tmp_path / "page.md"
    page.write_text(
        """# A page, see `kgrag search --nothing`

```console
$ A=1 kgrag search "two words" \\
    -c demo   # a remark
what it prints
$ export B=…
```

<!-- not run: it would take a night -->

```python
raise OSError
```

<!-- in: langgraph -->

```python
import langgraph
```

- item

  ```cypher
  RETURN 1
  ```
""",
        encoding="utf-8",
    )
    shell, night, agent, item = blocks(page)
    assert [c.words for c in commands(shell)] == [("kgrag", "search", "two words", "-c", "demo"), ()]
    assert [c.env for c in commands(shell)] == [{"A": "1"}, {"B": "…"}]
    assert (str(shell), shell.language, shell.reason) == ("page.md:3", "console", "")
    assert (night.language, night.reason) == ("python", "it would take a night")
    assert (agent.reason, agent.environment, item.environment) == ("", "langgraph", "")
    assert (item.language, item.text, item.reason) == ("cypher", "RETURN 1\n", "")
    assert list(mentioned(page)) == [(1, ("search", "--nothing"))]
