"""kgrag list settings, and the page of all settings."""

from pathlib import Path

import pytest
from click.testing import CliRunner
from command_line import CommandLine

from kgrag.cli import main
from kgrag.cli.settings_list import page, settings_of

PAGE = Path(__file__).parents[2] / "docs" / "settings.md"


@pytest.fixture
def alone(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> CommandLine:
    """The command line in an empty folder, without a server."""
    monkeypatch.chdir(tmp_path)
    for name in ("KGRAG_OLD_VECTORS_SECONDS", "KGRAG_LOCAL__ARCHIVE"):  # all tests set these
        monkeypatch.delenv(name)
    return CommandLine({"COLUMNS": "100"})


def test_the_page_is_made_from_the_classes() -> None:
    assert PAGE.read_text(encoding="utf-8") == page() + "\n", "kgrag list settings --markdown > docs/settings.md"


def test_every_setting_says_what_it_means() -> None:
    settings = list(settings_of())
    assert [s.variable for s in settings if not s.meaning or not s.type] == []
    assert len({s.variable for s in settings}) == len(settings) > 90
    by_name = {s.variable: s for s in settings}
    assert by_name["KGRAG_LOCAL__HEAP"].default == "1g"
    assert by_name["KGRAG_GATEWAY__SECONDS"].type == "float > 0 and <= 3600"
    assert by_name["KGRAG_CHAT__PRICES"].default == "{}"


def test_values_and_where_they_are_from(alone: CommandLine) -> None:
    Path(".env").write_text('KGRAG_LOCAL__HEAP=2g\nKGRAG_WRITERS=3\nKGRAG_CHAT__PRICES={"m": [1, 2]}\n')
    given = {"KGRAG_WRITERS": "4", "KGRAG_LOCAL": '{"page_cache": "1g"}', "kgrag_gateway__rows": "7"}
    Path("kgrag.toml").write_text(
        "writers = 5\nbatch_passages = 9\n[gateway]\nhops = 3\n[retrieval.pathrank]\ncap = 20\n"
    )
    rows = {row["variable"]: row for row in CommandLine(given).json("list", "settings")}
    assert {name: (row["value"], row["source"]) for name, row in rows.items() if row["source"] != "default"} == {
        "KGRAG_LOCAL__HEAP": ("2g", ".env"), "KGRAG_WRITERS": ("4", "environment"),
        "KGRAG_CHAT__PRICES": ('{"m": [1.0, 2.0]}', ".env"), "KGRAG_LOCAL__PAGE_CACHE": ("1g", "environment"),
        "KGRAG_GATEWAY__ROWS": ("7", "environment"), "KGRAG_BATCH_PASSAGES": ("9", "kgrag.toml"),
        "KGRAG_GATEWAY__HOPS": ("3", "kgrag.toml"),
    }  # fmt: skip
    assert rows["KGRAG_LOCAL__GUIDE"]["value"] == rows["KGRAG_LOCAL__GUIDE"]["default"] == "true"


@pytest.mark.parametrize("variable", ["KGRAG_RETRIEVAL__PATHRANK__CAP", "KGRAG_AGENTS__ANSWER__WORDS"])
def test_options_in_variables_are_refused(alone: CommandLine, variable: str) -> None:
    table = variable.split("_")[1].lower()
    for given, text in (({variable: "20"}, ""), ({}, f"{variable}=20")):
        Path(".env").write_text(text)
        said = " ".join(alone("list", "settings", env=given, code=2).stderr.split())
        assert f"KGRAG_{table.upper()}" in said and f"in kgrag.toml under [{table}]" in said


def test_what_the_file_cannot_hold_is_refused(alone: CommandLine) -> None:
    for text, said in (("writer = 4", "kgrag.toml names writer"), ("writers = ", "kgrag.toml: Invalid value")):
        Path("kgrag.toml").write_text(text)
        assert said in " ".join(alone("list", "settings", code=2).stderr.split())


def test_lines_can_be_searched(alone: CommandLine) -> None:
    whole = alone("list", "settings").stdout.splitlines()
    assert len(whole) == len(list(settings_of()))
    assert alone("list", "settings", "Heap", "default").stdout.splitlines() == [w for w in whole if "heap" in w.lower()]
    assert "KGRAG_LOCAL__HEAP=1g  [default]  maximum heap of the server (-Xmx)" in whole


def test_no_secret_is_shown(alone: CommandLine) -> None:
    given = {
        "KGRAG_NEO4J_PASSWORD": "sesame", "KGRAG_CHAT__API_KEY": "sesame", "KGRAG_TAGME__TOKEN": "sesame",
        "KGRAG_NEO4J_URI": "bolt://neo4j:sesame@127.0.0.1:1", "KGRAG_CHAT__BASE_URL": "http://me:sesame@127.0.0.1/v1",
        "KGRAG_LOCAL__MAVEN_REPOSITORY": "http://me:sesame@127.0.0.1/maven",
    }  # fmt: skip
    for options in ((), ("--json",)):
        shown = alone("list", "settings", *options, env=given).stdout
        assert "sesame" not in shown and shown.count("***") == len(given)


def test_an_invalid_setting_is_named(alone: CommandLine) -> None:
    result = CliRunner().invoke(main, ["list", "settings"], env={"KGRAG_WRITERS": "none"}, prog_name="kgrag")
    assert result.exit_code == 2 and "KGRAG_WRITERS" in result.stderr
