"""Plugins of another package, as in docs/extending.md, are found by entry point, without a change in kgrag."""

import json
from pathlib import Path

import pytest
from extending import Installed, package
from scripted import Scripted

from kgrag import KnowledgeGraph
from kgrag.values.documents import Document, Section

RETRIEVERS, EMBEDDERS = "kgrag.retrievers", "kgrag.embedders"


@pytest.fixture
def installed(tmp_path: Path, neo4j_env: dict[str, str], scripted: Scripted) -> Installed:
    return Installed(tmp_path, neo4j_env | scripted.env())


@pytest.fixture
def ships(kg: KnowledgeGraph, collection_name: str) -> str:
    texts = {"Fram": "She was designed by Colin Archer.", "Gauss": "She was built in Kiel."}
    kg[collection_name].ingest([Document(name, (Section(text),), name) for name, text in texts.items()])
    return collection_name


def test_a_retriever_is_two_files_of_another_package(installed: Installed, ships: str) -> None:
    assert "no retriever 'titled'" in installed.kgrag("search", "x", "-c", ships, "-r", "titled").stderr
    installed.install(package(RETRIEVERS))
    assert len(package(RETRIEVERS)) == 2
    found = installed.json("search", "Who designed the Fram?", "-c", ships, "-r", "rrf(titled, bm25)")
    assert [hit["passage"]["title"] for hit in found["hits"]] == ["Fram"]
    assert installed.json("search", "Who designed the Fram?", "-c", ships, "-r", "titled(letters=5)")["hits"] == []
    assert "whose title holds a word" in installed.kgrag("list", "retrievers").stdout


def test_a_strategy_is_two_files_of_another_package(installed: Installed, ships: str, scripted: Scripted) -> None:
    installed.install(package("kgrag.strategies"))
    scripted.say("answer", "Colin Archer [1]")
    answer = installed.json("ask", "Who designed the Fram?", "-c", ships, "--system", "twice(evidence=1)")
    assert answer["text"] == "Colin Archer [1]"
    assert answer["system"] == "twice(evidence=1)+bm25"
    assert "the second time louder" in installed.kgrag("list", "systems").stdout


def test_a_command_and_an_embedder_are_two_files_each(installed: Installed, ships: str, tmp_path: Path) -> None:
    installed.install(package("kgrag.commands"))
    installed.install(package(EMBEDDERS))
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
    paragraphs = [{"text": "The Fram was built in Larvik."}]
    folder.joinpath("ships.zpln").write_text(json.dumps({"paragraphs": paragraphs}), encoding="utf-8")
    assert "1 file skipped: .zpln 1" in installed.kgrag("ingest", str(folder), "-c", collection_name).stderr
    installed.install(package("kgrag.loaders"))
    assert installed.kgrag("ingest", str(folder), "-c", collection_name).returncode == 0
    found = installed.json("search", "Where was the Fram built?", "-c", collection_name)
    assert [hit["passage"]["text"] for hit in found["hits"]] == ["The Fram was built in Larvik."]


def test_a_format_of_question_sets_is_two_files_of_another_package(installed: Installed, ships: str) -> None:
    file = installed.folder / "set.tsv"
    file.write_text("ask\tpage\ttext\nWho designed the Fram?\tFram\tShe was designed by Colin Archer.\n")
    run = installed.kgrag("lab", "eval", str(file), "-c", ships, "-r", "bm25")
    assert "has no known format" in run.stderr
    installed.install(package("kgrag.datasets"))
    measured = installed.json("lab", "eval", str(file), "-c", ships, "-r", "bm25")
    assert measured["systems"]["bm25"]["R@5"] == 100
    assert "Did you mean 'quiz'?" in installed.kgrag("lab", "eval", str(file), "--format", "quizz").stderr


def test_a_passage_index_is_two_files_of_another_package(installed: Installed, ships: str) -> None:
    installed.install(package("kgrag.passage_indexes"))
    installed.env |= {"KGRAG_PASSAGE_INDEX": "sqlite", "KGRAG_HOME": str(installed.folder)}

    def found(retriever: str) -> list[str]:
        hits = installed.json("search", "Who designed the Fram?", "-c", ships, "-r", retriever)["hits"]
        return [hit["passage"]["title"] for hit in hits]

    assert found("bm25") == []
    assert installed.kgrag("db", "repair", ships).returncode == 0
    assert found("bm25") == ["Fram"]
    assert found("dense") == ["Fram", "Gauss"]
    assert installed.kgrag("delete", "--document", "Fram", "-c", ships, "--yes").returncode == 0
    assert (found("bm25"), found("dense")) == ([], ["Gauss"])


def test_a_profile_is_two_files_of_another_package(installed: Installed, ships: str) -> None:
    asked = ("ask", "Who designed the Fram?", "-c", ships, "--json", "--paper", "thrifty")
    assert "There is no paper 'thrifty'." in installed.kgrag(*asked).stderr
    installed.install(package("kgrag.profiles"))
    run = installed.kgrag(*asked)
    assert json.loads(run.stdout)["system"] == "single+bm25"
    assert "Everything is set as thrifty has it" in run.stderr
    listed = installed.kgrag("list", "systems", "--paper", "thrifty").stdout
    assert "Few passages. System: single+bm25 (one call)" in listed
    assert "agents.answer.evidence" in listed


def test_queries_are_three_files_of_another_package(installed: Installed, ships: str) -> None:
    installed.install(package("kgrag.queries"))
    assert "Documents with long titles" in installed.kgrag("cypher", "--list").stdout
    found = installed.json("cypher", "long_titles", "-c", ships, "-p", "limit=1")
    assert [row["title"] for row in found["rows"]] == ["Gauss"]


def test_a_package_that_does_not_load_says_so_where_it_is_used(installed: Installed, ships: str) -> None:
    installed.install(package(RETRIEVERS) | {"titled.py": "import nothing_of_that_name\n"})
    run = installed.kgrag("search", "Fram", "-c", ships, "-r", "titled")
    assert run.returncode == 2
    assert "nothing_of_that_name" in run.stderr
    assert len(installed.json("search", "Fram", "-c", ships, "-r", "bm25")["hits"]) == 1


def test_two_packages_of_one_name_are_told_apart(installed: Installed, ships: str) -> None:
    files = package(EMBEDDERS)
    installed.install(files | {"pyproject.toml": files["pyproject.toml"].replace("letters =", "wordllama =")})
    run = installed.kgrag("search", "Fram", "-c", ships, "-r", "bm25")
    assert run.returncode == 2
    assert "Two packages bring the embedder 'wordllama'" in run.stderr
