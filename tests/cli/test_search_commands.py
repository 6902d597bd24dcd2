"""kgrag search, show, retrievers."""

import subprocess

import pytest
from command_line import CommandLine

from kgrag import KnowledgeGraph
from kgrag.values.documents import Document, Section


def test_search_shows_title_and_text_and_why_on_request(cli: CommandLine, ships: str, kg: KnowledgeGraph) -> None:
    hit = kg[ships].search("Where did Colin Archer live?", k=1).hits[0]
    asked = ("search", "Where did Colin Archer live?", "-c", ships, "-k", "2", "-r", "hybrid")
    result = cli(*asked)
    lines = result.stdout.splitlines()
    assert lines[0].startswith(f"1  Colin Archer  {hit.passage.id[:8]}  ")
    assert "He lived in Larvik" in lines[1] and len(lines) == 4
    lines = cli(*asked, "--why").stdout.splitlines()
    assert lines[2].strip().startswith("bm25 rank 1 (") and "+ dense rank " in lines[2]
    assert len(lines) == 6
    assert "\x1b" not in result.stdout
    assert f"2 passages of {ships} by hybrid" in result.stderr


def test_search_json_holds_all_of_it_and_nothing_else(cli: CommandLine, ships: str) -> None:
    found = cli.json("search", "Who", "designed", "the", "Fram?", "-c", ships, "-r", "bm25", "-k", "50")
    assert (found["query"], found["retriever"], found["collection"]) == ("Who designed the Fram?", "bm25", ships)
    best = found["hits"][0]
    assert best["rank"] == 1 and best["passage"]["document"] == "fram" and best["passage"]["metadata"]["year"] == 1892
    assert best["trail"].startswith("bm25 rank 1 (") and best["why"][0]["via"] == "bm25 rank 1"


def test_a_search_is_kept(cli: CommandLine, ships: str, kg: KnowledgeGraph) -> None:
    result = cli("search", "Who designed the Fram?", "-c", ships, "-r", "bm25", "-k", "2", "--save")
    (run,) = kg[ships].runs()
    assert f"Kept as run {run.id}" in result.stderr
    try:
        assert (run.question, run.system, run.answer, run.steps) == ("Who designed the Fram?", "bm25", "", 1)
        found = kg.saved_query("run", collection=ships, run=run.id)
        retrieved = [
            row["path"].nodes[1].properties["name"] for row in found if row["path"].edges[0].type == "RETRIEVED"
        ]
        assert any("Fram" in name for name in retrieved)
        assert "a search" in cli("list", "runs", "-c", ships).stdout
        again = cli.json("search", "Who designed the Fram?", "-c", ships, "-r", "bm25", "--save")
        assert again["run"] in {run.id for run in kg[ships].runs()}
    finally:
        kg.delete_runs([run.id for run in kg[ships].runs()])


@pytest.mark.parametrize(
    ("options", "documents"),
    [
        (["--where", "kind=ship"], {"fram"}), (["--where", "year=1832"], {"archer"}),
        (["--where", "kind=ship", "--where", "year=1832"], set()), (["--source", "people/"], {"archer"}),
        (["--since", "2024"], {"fram", "archer"}), (["--since", "2999-01-01"], set()),
    ],
)  # fmt: skip
def test_search_filters(cli: CommandLine, ships: str, options: list[str], documents: set[str]) -> None:
    found = cli.json("search", "designer Archer", "-c", ships, "-r", "bm25", *options)
    assert {hit["passage"]["document"] for hit in found["hits"]} == documents


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ([""], "The question is empty"), (["  "], "The question is empty"), (["x", "-k", "0"], "-k"),
        (["x", "-k", "-3"], "-k"), (["x", "--where", "kind"], "key=value"),
        (["x", "--since", "yesterday"], "not a date"),
    ],
)  # fmt: skip
def test_search_refuses_what_makes_no_sense(cli: CommandLine, arguments: list[str], message: str) -> None:
    assert message in cli("search", *arguments, code=2).stderr


def test_search_names_what_there_is(cli: CommandLine, ships: str) -> None:
    unknown = cli("search", "x", "-c", "no-such", code=4).stderr
    assert "no-such" in unknown and ships in unknown
    assert "hybrid" in cli("search", "x", "-c", ships, "-r", "no-such", code=4).stderr


def test_search_without_a_hit_says_so(cli: CommandLine, ships: str) -> None:
    result = cli("search", "zebra", "-c", ships, "-r", "bm25")
    assert result.stdout == "" and "Nothing found" in result.stderr
    assert cli.json("search", "zebra", "-c", ships, "-r", "bm25")["hits"] == []


@pytest.mark.alone
@pytest.mark.usefixtures("others_aside")
def test_the_only_collection_is_used_and_several_are_named(cli: CommandLine, ships: str, kg: KnowledgeGraph) -> None:
    others = [c.name for c in kg.collections() if c.name != ships]
    assert not others, "tests delete their collections"
    result = cli("search", "Fram", "-r", "bm25")
    assert f"Collection: {ships}" in result.stderr and "Fram (ship)" in result.stdout
    kg[f"{ships}-b"].ingest([Document("x", (Section("A text of its own."),))])
    try:
        refused = cli("search", "Fram", code=4).stderr
        assert ships in refused and f"{ships}-b" in refused and "--collection" in refused
        assert "Fram (ship)" in cli("search", "Fram", env={"KGRAG_COLLECTION": ships}).stdout
    finally:
        kg[f"{ships}-b"].delete()


def test_a_reader_that_goes_away_is_no_error(cli: CommandLine, kg: KnowledgeGraph, collection_name: str) -> None:
    kg[collection_name].ingest([Document(str(i), (Section(f"Ship number {i}. " * 60),)) for i in range(400)])
    for options in ([], ["--json"]):
        asked = ("search", "ship number", "-c", collection_name, "-k", "400", *options)
        run = cli.start(*asked, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        assert run.stdout is not None and run.stderr is not None
        run.stdout.readline()
        run.stdout.close()
        errors = run.stderr.read().decode()
        run.stderr.close()
        run.wait(timeout=60)
        assert "Traceback" not in errors and "Error" not in errors and "Exception" not in errors


def test_on_a_terminal_words_are_marked_and_lines_fit(cli: CommandLine, ships: str) -> None:
    output = cli.on_terminal("search", "Who designed the Fram?", "-c", ships)
    assert "\x1b[1;33mdesigned\x1b[0m" in output


def test_no_text_of_a_document_steers_the_terminal(cli: CommandLine, kg: KnowledgeGraph, collection_name: str) -> None:
    kg[collection_name].ingest([Document("evil", (Section("Ship \x1b]0;owned\x07 \x1b[2J ahoy"),), title="A\x1b[31mB")])
    for output in (
        cli("search", "ship", "-c", collection_name).stdout,
        cli("show", "evil", "-c", collection_name).stdout,
    ):
        assert "\x1b" not in output and "\x07" not in output and "ahoy" in output


def test_an_encoding_that_lacks_a_character_is_no_error(
    cli: CommandLine, kg: KnowledgeGraph, collection_name: str
) -> None:
    kg[collection_name].ingest([Document("t", (Section("The harbour of Tromsø."),), title="Tromsø")])
    ascii_only = CommandLine({**cli.env, "PYTHONIOENCODING": "ascii"})
    run = ascii_only.start("search", "harbour", "-c", collection_name, stdout=subprocess.PIPE)
    assert b"The harbour of Troms?." in run.communicate(timeout=60)[0]
    assert run.returncode == 0


def test_show_prints_text_origin_and_edges(cli: CommandLine, ships: str, kg: KnowledgeGraph) -> None:
    id = kg[ships].search("Fram", retriever="bm25", k=1).hits[0].passage.id
    by_id = cli("show", id[:8]).stdout
    for part in (
        "Fram (ship)",
        "designed by Colin Archer. Captains",
        "ships/fram.md",
        "1892",
        "—STATES→  1\n  Triple Fram designed by Colin Archer\n",
        "—MENTIONS→",
        "←HAS_PASSAGE—  1\n  Document Fram (ship)\n",
    ):
        assert part in by_id
    assert cli("show", "fram", "-c", ships).stdout == by_id == cli("show", "Fram (ship)", "-c", ships).stdout
    assert "└── " in cli.on_terminal("show", id[:8])


def test_show_caps_each_kind_of_edge(cli: CommandLine, ships: str) -> None:
    edges = cli.json("show", "fram", "-c", ships, "--limit", "1")["edges"]
    kinds = [(e["type"], e["outgoing"]) for e in edges]
    assert len(kinds) == len(set(kinds)) and max(e["total"] for e in edges) > 1
    assert " 1 of " in cli("show", "fram", "-c", ships, "--limit", "1").stdout


def test_show_of_nothing(cli: CommandLine, ships: str) -> None:
    assert "No passage 'no-such'" in cli("show", "no-such", code=4).stderr


def test_retrievers_are_listed_without_a_database(cli: CommandLine) -> None:
    nowhere = {"KGRAG_NEO4J_URI": "bolt://127.0.0.1:1"}
    text = cli("list", "retrievers", env=nowhere).stdout
    assert "bm25 " in text and text.count("(the default)") == 1
    listed = cli.json("list", "retrievers")
    assert {"bm25", "dense", "hybrid"} <= {entry["name"] for entry in listed}
    assert sum(entry["default"] for entry in listed) == 1


def test_an_absent_server_is_a_database_error(cli: CommandLine) -> None:
    assert "does not answer" in cli("search", "x", code=3, env={"KGRAG_NEO4J_URI": "bolt://127.0.0.1:1"}).stderr


def test_the_options_of_one_retriever_or_system(cli: CommandLine) -> None:
    found = cli.json("list", "retrievers", "rrf")
    assert found["name"] == "rrf"
    options = {option["name"]: option for option in found["options"]}
    assert options["rrf"].keys() == {"name", "type", "default", "meaning"}
    assert all(option["meaning"] for option in found["options"])
    line = next(line for line in cli("list", "retrievers", "rrf").stdout.splitlines() if line.startswith("rrf "))
    assert options["rrf"]["default"] in line.split()
    assert "Did you mean 'pathrank'?" in cli("list", "retrievers", "pathrnk", code=4).stderr
    assert {"steps", "evidence"} <= {option["name"] for option in cli.json("list", "systems", "gear")["options"]}
    assert "steps" in cli("list", "systems", "ircot").stdout
