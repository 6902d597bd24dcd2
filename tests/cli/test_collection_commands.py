"""kgrag collections, db reembed, db repair, inspect --digest."""

import pytest
from command_line import CommandLine

from kgrag import KnowledgeGraph


def test_collections_are_a_table(cli: CommandLine, ships: str) -> None:
    head, *rows = (line.split() for line in cli("collections").stdout.splitlines())
    row = dict(zip(head, next(row for row in rows if row[0] == ships), strict=True))
    assert (row["Embedder"], row["Documents"], row["Passages"], row["Triples"]) == ("wordllama", "3", "3", "1")
    assert int(row["Entities"]) > 0 and int(row["Edges"]) > 3


def test_collections_are_among_what_is_listed(cli: CommandLine, ships: str) -> None:
    listed, own = cli.json("list", "collections"), cli.json("collections")
    assert [c for c in listed if c["name"] == ships] == [c for c in own if c["name"] == ships]  # others change
    assert any(c["name"] == ships for c in listed)
    assert "Did you mean 'collections'?" in cli("list", "colections", code=2).stderr
    assert "Did you mean 'list runs'?" in cli("runs", code=2).stderr


def test_collections_json(cli: CommandLine, ships: str) -> None:
    entry = next(c for c in cli.json("collections") if c["name"] == ships)
    assert (entry["embedder"], entry["dimension"], entry["finished"]) == ("wordllama", 256, True)
    assert entry["counts"]["Passage"] == entry["counts"]["HAS_PASSAGE"] == 3


@pytest.mark.alone
@pytest.mark.usefixtures("others_aside")
def test_no_collections_is_no_error(cli: CommandLine, kg: KnowledgeGraph) -> None:
    assert kg.collections() == [], "tests delete their collections"
    result = cli("collections")
    assert result.stdout == "" and "kgrag ingest" in result.stderr
    assert cli.json("collections") == []
    assert "kgrag ingest" in cli("search", "x", code=4).stderr


def test_digest_tells_contents_apart(cli: CommandLine, kg: KnowledgeGraph, ships: str) -> None:
    before = cli.json("inspect", ships, "--digest")
    lines = cli("inspect", "--digest", ships).stdout.splitlines()
    assert dict(line.split() for line in lines) == before
    kg[ships].delete(documents=["fram"])
    after = cli.json("inspect", ships, "--digest")
    assert after["documents"] != before["documents"] and after["triples"] != before["triples"]


@pytest.mark.parametrize(
    "command", [["inspect", "no-such", "--digest"], ["db", "reembed", "no-such", "--embedder", "wordllama"]]
)
def test_unknown_collection(cli: CommandLine, ships: str, command: list[str]) -> None:
    refused = cli(*command, code=4).stderr
    assert "no-such" in refused and ships in refused


def test_reembed_with_the_same_embedder_changes_nothing(cli: CommandLine, ships: str) -> None:
    assert cli("db", "reembed", ships, "--embedder", "wordllama").stdout.startswith(
        f"Collection {ships} has vectors of"
    )
    cli("db", "reembed", ships, code=2)
    cli("db", "reembed", ships, "--embedder", "no-such", code=4)


def test_repair_of_a_whole_collection_finds_nothing_to_do(cli: CommandLine, ships: str) -> None:
    assert cli("db", "repair", ships).stdout == f"{ships}: nothing was missing.\n"
    assert cli.json("db", "repair", ships)[ships]["indexes"] == []
    assert "There is no collection" in cli("db", "repair", "no-such", code=4).stderr


def test_reembed(cli: CommandLine, ships: str) -> None:
    info = cli.json("db", "reembed", ships, "--embedder", "minilm")
    assert (info["embedder"], info["dimension"]) == ("minilm", 384)
    assert cli.json("search", "Who designed the Fram?", "-c", ships, "-r", "dense")["hits"]
