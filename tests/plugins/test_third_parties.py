"""What another package brings is found by entry point: none of kgrag's files is touched for it."""

import json
import os
import subprocess
import sys
import tomllib
from pathlib import Path
from typing import Any

import pytest
from scripted import Scripted

from kgrag.client import KnowledgeGraph
from kgrag.types import Document, Section

RETRIEVER = {
    "pyproject.toml": """
[project]
name = "titled"
version = "1"
[project.entry-points."kgrag.retrievers"]
titled = "titled:Titled"
[project.entry-points."kgrag.queries"]
titled = "titled"
""",
    "titled/__init__.py": '''
from pydantic import Field

from kgrag.options import Options
from kgrag.retrieval.base import Query, Retriever, Scored
from kgrag.text import tokens
from kgrag.types import Step


class TitledOptions(Options):
    """Options of the retriever."""

    letters: int = Field(4, ge=1, description="letters of a word that counts")


class Titled(Retriever):
    """Passages whose title holds a long word of the question."""

    name = "titled"
    summary = "titles that hold a word of the question"
    options = TitledOptions
    settings: TitledOptions

    def rank(self, query: Query, n: int) -> list[Scored]:
        words = [t.norm for t in tokens(query.text) if len(t.norm) >= self.settings.letters]
        collection = self.context.reader.collection.name
        rows = self.context.rows("titled/by_word", collection=collection, words=words, limit=n)
        return [Scored(r["id"], 1.0, (Step("titled", "Passage", r["title"]),)) for r in rows]
''',
    "titled/by_word.cypher": """
// Passages whose title holds a word.
// mode: read
// $collection: STRING - name of the collection
// $words: LIST<STRING> - words in lower case
// $limit: INTEGER - passages
// -> id: STRING - passage id
// -> title: STRING - its title
MATCH (p:Passage {collection: $collection})
WHERE any(word IN $words WHERE toLower(p.title) CONTAINS word)
RETURN p.id AS id, p.title AS title ORDER BY id LIMIT $limit
""",
}

STRATEGY = {
    "pyproject.toml": """
[project]
name = "twice"
version = "1"
[project.entry-points."kgrag.strategies"]
twice = "twice:Twice"
""",
    "twice.py": '''
from kgrag.agents.single import Single
from kgrag.agents.strategy import Episode, Inquiry, Strategy
from kgrag.retrieval.compose import reciprocal_rank_fusion


class _Twice(Episode):
    def __init__(self, inquiry, settings):
        super().__init__(inquiry, settings)
        self.found = []

    def next_queries(self):
        return [self.inquiry.question.text, self.inquiry.question.text.upper()]

    def absorb(self, query, found):
        self.found.append(found)

    def finalise(self):
        return reciprocal_rank_fusion(self.found, 60)


class Twice(Strategy):
    """Asks twice, the second time louder."""

    name = "twice"
    summary = "asks twice, the second time louder"
    over = "bm25"

    def begin(self, inquiry: Inquiry) -> Episode:
        return _Twice(inquiry, self.settings)
''',
}

COMMAND = {
    "pyproject.toml": """
[project]
name = "hello"
version = "1"
[project.entry-points."kgrag.commands"]
hello = "hello:hello"
""",
    "hello.py": '''
import click


@click.command()
def hello() -> None:
    """Say hello.

    \\b
    kgrag hello
    """
    click.echo("Hello.")
''',
}

EMBEDDER = {
    "pyproject.toml": """
[project]
name = "letters"
version = "1"
[project.entry-points."kgrag.embedders"]
letters = "letters:Letters"
""",
    "letters.py": '''
import numpy as np

from kgrag.models.embed import unit


class Letters:
    """How often each of the first letters of the alphabet comes: letters:8 has 8 dimensions."""

    def __init__(self, name: str) -> None:
        self.name = name
        self.dimension = int(name.partition(":")[2])

    def embed(self, texts):
        alphabet = [chr(97 + n) for n in range(self.dimension)]
        return unit(np.array([[t.lower().count(a) for a in alphabet] for t in texts]).reshape(len(texts), -1))
''',
}

DATASET = {
    "pyproject.toml": """
[project]
name = "quiz"
version = "1"
[project.entry-points."kgrag.datasets"]
quiz = "quiz:QUIZ"
""",
    "quiz.py": """
import csv

from kgrag.evaluation.datasets import Corpus, Dataset, Format, Question, has
from kgrag.types import Document, Section


def read(path):
    with path.open(newline="") as file:
        rows = list(csv.DictReader(file, delimiter="\\t"))
    documents = [Document(row["page"], (Section(row["text"]),), row["page"]) for row in rows]
    questions = tuple(Question(f"q{n}", row["ask"], (row["page"],)) for n, row in enumerate(rows))
    return Dataset(path, questions, frozenset(d.key for d in documents), Corpus(lambda _: iter(documents)))


QUIZ = Format(read, "a .tsv file with the columns ask, page and text", has("ask", "page", "text"))
""",
}


LOADER = {
    "pyproject.toml": """
[project]
name = "notebook"
version = "1"
[project.entry-points."kgrag.loaders"]
notebook = "notebook:NOTEBOOK"
""",
    "notebook.py": """
import json

from kgrag.loaders.base import Format, whole
from kgrag.types import Document, Section


def load(source):
    cells = json.loads(source.path.read_text())["cells"]
    return Document(source.key, tuple(Section("".join(c["source"])) for c in cells), source.title, source.shown)


NOTEBOOK = Format("Jupyter notebook", (".ipynb",), whole(load))
""",
}


class Installed:
    """A folder of packages beside kgrag's own."""

    def __init__(self, folder: Path, env: dict[str, str]) -> None:
        self.folder = folder
        self.env = {**os.environ, **env, "PYTHONPATH": str(folder)}

    def install(self, files: dict[str, str]) -> None:
        """Put a package there as an installer does: its modules, and the entry points of its pyproject.toml."""
        project = tomllib.loads(files["pyproject.toml"])["project"]
        info = self.folder / f"{project['name']}-{project['version']}.dist-info"
        info.mkdir()
        (info / "METADATA").write_text(
            f"Metadata-Version: 2.1\nName: {project['name']}\nVersion: {project['version']}\n", encoding="utf-8"
        )
        groups = (
            "\n".join([f"[{group}]", *(f"{name} = {value}" for name, value in entries.items())])
            for group, entries in project["entry-points"].items()
        )
        (info / "entry_points.txt").write_text("\n".join(groups), encoding="utf-8")
        for name, text in files.items():
            if name != "pyproject.toml":
                (self.folder / name).parent.mkdir(exist_ok=True)
                (self.folder / name).write_text(text.lstrip(), encoding="utf-8")

    def kgrag(self, *arguments: str) -> subprocess.CompletedProcess[str]:
        """Run kgrag with what is installed."""
        command = [sys.executable, "-m", "kgrag", *arguments]
        return subprocess.run(command, env=self.env, capture_output=True, text=True, timeout=120, check=False)

    def json(self, *arguments: str) -> Any:
        """What it prints as JSON."""
        run = self.kgrag(*arguments, "--json")
        assert run.returncode == 0, run.stderr
        return json.loads(run.stdout)


@pytest.fixture
def installed(tmp_path: Path, neo4j_env: dict[str, str], scripted: Scripted) -> Installed:
    return Installed(tmp_path, neo4j_env | scripted.env())


@pytest.fixture
def ships(kg: KnowledgeGraph, collection_name: str) -> str:
    texts = {"Fram": "She was designed by Colin Archer.", "Gauss": "She was built in Kiel."}
    kg[collection_name].ingest([Document(name, (Section(text),), name) for name, text in texts.items()])
    return collection_name


def test_a_retriever_is_three_files_of_another_package(installed: Installed, ships: str) -> None:
    assert "no retriever 'titled'" in installed.kgrag("search", "x", "-c", ships, "-r", "titled").stderr
    installed.install(RETRIEVER)
    assert len(RETRIEVER) == 3
    found = installed.json("search", "Who designed the Fram?", "-c", ships, "-r", "rrf(titled, bm25)")
    assert [hit["passage"]["title"] for hit in found["hits"]] == ["Fram"]
    assert installed.json("search", "Who designed the Fram?", "-c", ships, "-r", "titled(letters=5)")["hits"] == []
    installed.env["KGRAG_RETRIEVAL__TITLED__LETTERS"] = "5"
    assert installed.json("search", "Who designed the Fram?", "-c", ships, "-r", "titled")["hits"] == []
    assert "titles that hold a word" in installed.kgrag("retrievers").stdout


def test_a_strategy_is_two_files_of_another_package(installed: Installed, ships: str, scripted: Scripted) -> None:
    installed.install(STRATEGY)
    scripted.say("answer", "Colin Archer [1]")
    answer = installed.json("ask", "Who designed the Fram?", "-c", ships, "--system", "twice(evidence=1)")
    assert answer["text"] == "Colin Archer [1]"
    assert answer["system"] == "twice(evidence=1)+bm25"
    assert "the second time louder" in installed.kgrag("systems").stdout


def test_a_command_and_an_embedder_are_two_files_each(installed: Installed, ships: str, tmp_path: Path) -> None:
    installed.install(COMMAND)
    installed.install(EMBEDDER)
    assert installed.kgrag("hello").stdout == "Hello.\n"
    assert "Say hello." in installed.kgrag("--help").stdout
    (tmp_path / "note.txt").write_text("The Fram was built in Larvik.", encoding="utf-8")
    name = f"{ships}-letters"
    ingested = installed.kgrag("ingest", str(tmp_path / "note.txt"), "-c", name, "--embedder", "letters:8")
    assert ingested.returncode == 0, ingested.stderr
    found = installed.json("search", "Fram", "-c", name, "-r", "dense")
    assert [hit["passage"]["document"].rpartition("/")[2] for hit in found["hits"]] == ["note.txt"]
    assert installed.kgrag("delete", "-c", name, "--yes").returncode == 0


def test_a_loader_is_two_files_of_another_package(installed: Installed, collection_name: str, tmp_path: Path) -> None:
    folder = tmp_path / "work"
    folder.mkdir()
    cells = [{"cell_type": "markdown", "source": ["The Fram was ", "built in Larvik."]}]
    folder.joinpath("ships.ipynb").write_text(json.dumps({"cells": cells}), encoding="utf-8")
    assert "1 file skipped: .ipynb 1" in installed.kgrag("ingest", str(folder), "-c", collection_name).stderr
    installed.install(LOADER)
    assert installed.kgrag("ingest", str(folder), "-c", collection_name).returncode == 0
    found = installed.json("search", "Where was the Fram built?", "-c", collection_name)
    assert [hit["passage"]["text"] for hit in found["hits"]] == ["The Fram was built in Larvik."]


def test_a_format_of_question_sets_is_two_files_of_another_package(installed: Installed, ships: str) -> None:
    file = installed.folder / "set.tsv"
    file.write_text("ask\tpage\ttext\nWho designed the Fram?\tFram\tShe was designed by Colin Archer.\n")
    run = installed.kgrag("eval", str(file), "-c", ships, "-r", "bm25")
    assert "is in no format that is known" in run.stderr
    installed.install(DATASET)
    assert len(DATASET) == 2
    measured = installed.json("eval", str(file), "-c", ships, "-r", "bm25")
    assert measured["systems"]["bm25"]["R@5"] == 100
    assert "Did you mean 'quiz'?" in installed.kgrag("eval", str(file), "--format", "quizz").stderr


def test_a_package_that_does_not_load_says_so_where_it_is_used(installed: Installed, ships: str) -> None:
    installed.install(RETRIEVER | {"titled/__init__.py": "import nothing_of_that_name\n"})
    run = installed.kgrag("search", "Fram", "-c", ships, "-r", "titled")
    assert run.returncode == 2
    assert "nothing_of_that_name" in run.stderr
    assert len(installed.json("search", "Fram", "-c", ships, "-r", "bm25")["hits"]) == 1


def test_two_packages_of_one_name_are_told_apart(installed: Installed, ships: str) -> None:
    installed.install(EMBEDDER | {"pyproject.toml": EMBEDDER["pyproject.toml"].replace("letters =", "wordllama =")})
    run = installed.kgrag("search", "Fram", "-c", ships, "-r", "bm25")
    assert run.returncode == 2
    assert "Two packages bring the embedder 'wordllama'" in run.stderr
