"""kgrag cypher and kgrag cypher --params, as an analyst uses them."""

import csv
import io
import json
import subprocess
import zipfile
from collections.abc import Callable
from pathlib import Path

import pytest
from command_line import CommandLine

from kgrag.values.documents import Document, Section, Triple

DESIGNED = Triple("Fram", "designed by", "Colin Archer")
DOCUMENTS = [
    Document("fram", (Section("The Fram was designed by Colin Archer."),), "Fram (ship)", triples=(DESIGNED,)),
    Document("archer", (Section("Colin Archer lived in Larvik, where his yard stood."),), "Colin Archer"),
    Document("larvik", (Section("Larvik is a town on the coast of Norway. Its harbour is old."),), "Larvik"),
]


@pytest.fixture(scope="module")
def harbour(fill: Callable[..., str]) -> str:
    """A collection of three documents that no test changes."""
    return fill("harbour", DOCUMENTS)


def test_the_list_says_what_there_is(cli: CommandLine) -> None:
    entries = {entry["name"]: entry for entry in cli.json("cypher", "--list")}
    assert len(entries) >= 30
    hubs = entries["hubs"]
    assert hubs["title"] and hubs["purpose"] and hubs["drawn"] is False and entries["around"]["drawn"] is True
    assert {"name": "limit", "type": "INTEGER", "default": "25", "meaning": "rows wanted"} in hubs["parameters"]
    printed = cli("cypher", "--list").stdout
    assert all(name in printed and entry["title"] in printed for name, entry in entries.items())


def test_saved_queries_as_table_csv_and_json(cli: CommandLine, harbour: str) -> None:
    found = cli.json("cypher", "facts", "-c", harbour, "-p", "entity=Colin Archer")
    (row,) = found["rows"]
    assert found["columns"] == list(row) == ["subject", "predicate", "object", "title", "path", "ends"]
    assert [node["properties"]["name"] for node in row["ends"]["nodes"]] == ["Fram", "designed by", "Colin Archer"]
    assert (row["subject"], row["predicate"], row["object"]) == ("Fram", "designed by", "Colin Archer")
    assert [node["properties"]["name"] for node in row["path"]["nodes"]][-1] == "Colin Archer"
    assert [edge["type"] for edge in row["path"]["edges"]] == ["STATES", "OBJECT"]
    assert "embedding" not in json.dumps(found) and found["cut"] is None
    path = "(Fram (ship))-[:STATES]->(designed by)-[:OBJECT]->(Colin Archer)"
    result = cli("cypher", "facts", "-c", harbour, "-p", "entity=Colin Archer", "--csv")
    (line,) = csv.DictReader(io.StringIO(result.stdout))
    assert line["path"].endswith("->(Colin Archer)")
    table = cli("cypher", "facts", "-c", harbour, "-p", "$entity=Colin Archer")
    assert table.stdout.splitlines()[0].split() == ["subject", "predicate", "object", "title", "path", "ends"]
    assert path in table.stdout and "1 row in" in table.stderr


def test_long_texts_are_cut_short_in_a_table_alone(cli: CommandLine, harbour: str) -> None:
    statement = "RETURN $text AS text"
    text = "word " * 100
    assert "…" in cli("cypher", statement, "-p", f"text={text}").stdout
    assert cli.json("cypher", statement, "-p", f"text={text}")["rows"] == [{"text": text}]


def test_a_question_sets_words_and_vector(cli: CommandLine, harbour: str) -> None:
    asked = cli.json(
        "cypher", "nearest_passages", "-c", harbour, "-q", "Which town lies on the coast?", "-p", "limit=1"
    )
    assert asked["rows"][0]["title"] == "Larvik"
    by_words = cli.json("cypher", "passages", "-c", harbour, "-q", "Which harbour is old?")
    assert by_words["rows"][0]["title"] == "Larvik"
    assert "takes no question" in cli("cypher", "hubs", "-c", harbour, "-q", "Larvik", code=2).stderr


def test_statements_of_ones_own(cli: CommandLine, harbour: str, tmp_path: Path) -> None:
    statement = "MATCH (d:Document {collection: $collection}) WHERE d.title IN $titles RETURN d.key AS key ORDER BY key"
    given = ("-c", harbour, "-p", 'titles=["Larvik", "Colin Archer"]')
    expected = [{"key": "archer"}, {"key": "larvik"}]
    assert cli.json("cypher", statement, *given)["rows"] == expected
    file = tmp_path / "mine.cypher"
    file.write_text(f"// Mine.\n{statement};\n", encoding="utf-8")
    assert cli.json("cypher", "-f", str(file), *given)["rows"] == expected
    piped = cli("cypher", "-", *given, "--json", input=statement)
    assert json.loads(piped.stdout)["rows"] == expected
    assert "does not only read" in cli("cypher", "MATCH (n) DETACH DELETE n", code=8).stderr


def test_cut_rows_have_an_exit_code(cli: CommandLine) -> None:
    result = cli("cypher", "UNWIND range(1, 1001) AS i RETURN i", "--csv", code=13)
    assert len(result.stdout.splitlines()) == 1001 and "KGRAG_GATEWAY__ROWS" in result.stderr
    assert "UserWarning" not in result.stderr


def test_embeddings_are_shown_only_when_asked_for(cli: CommandLine, harbour: str) -> None:
    statement = "MATCH (p:Passage {collection: $collection}) RETURN p LIMIT 1"
    plain = cli.json("cypher", statement, "-c", harbour)["rows"][0]["p"]
    full = cli.json("cypher", statement, "-c", harbour, "--embeddings")["rows"][0]["p"]
    assert "embedding" not in plain["properties"] and len(full["properties"]["embedding"]) == 256


HOSTILE = "RETURN '\\u001b[31mred\\u202e' AS `a\\u001b[2J`, '=1+1' AS f, -3 AS n"


def test_nothing_steers_the_terminal(cli: CommandLine, harbour: str) -> None:
    for shown in (cli("cypher", HOSTILE).stdout, cli("cypher", HOSTILE, "--json").stdout):
        assert "\\u001b[31mred\\u202e" in shown and not {"\x1b", "\u202e"} & set(shown)
    on_terminal = cli.on_terminal("cypher", HOSTILE, "--csv")
    assert "\\u001b[31mred\\u202e" in on_terminal and "\x1b[31m" not in on_terminal


def test_csv_has_no_formulas_unless_it_is_raw(cli: CommandLine, harbour: str) -> None:
    for options, formula in (((), "'=1+1"), (("--raw",), "=1+1")):
        head, row = csv.reader(io.StringIO(cli("cypher", HOSTILE, "--csv", *options).stdout))
        assert head == ["a\x1b[2J", "f", "n"] and row == ["\x1b[31mred\u202e", formula, "-3"]


def test_plans_are_shown(cli: CommandLine, harbour: str) -> None:
    assert cli("cypher", "hubs", "-c", harbour, "--explain").stdout.startswith("operator")
    rows = cli.json("cypher", "UNWIND range(1, 7) AS i RETURN count(i)", "--profile")["rows"]
    assert any(row["operator"].endswith("Unwind") and row["rows"] == 7 for row in rows)


def test_a_locale_without_unicode(cli: CommandLine, harbour: str) -> None:
    plain = {"LC_ALL": "C", "PYTHONUTF8": "0", "PYTHONIOENCODING": ""}
    told = CommandLine({**cli.env, **plain}).start(
        "cypher", "RETURN 'ü' AS `ä`, $n = 'é' AS same", "-p", "n=é", stdout=subprocess.PIPE, stderr=subprocess.PIPE
    )
    shown, complaint = told.communicate(timeout=60)
    assert told.returncode == 0, complaint
    assert b"True" in shown and b"?" in shown


def test_show_and_params_are_lines_for_browser(cli: CommandLine, harbour: str) -> None:
    shown = cli("cypher", "walk", "--show", "-c", harbour, "-p", "width=3").stdout
    line, empty, title, *rest = shown.splitlines()
    assert json.loads(line.removeprefix(":params ")) == {
        "collection": harbour,
        "entity": "Roald Amundsen",
        "cap": 50,
        "width": 3,
    }
    assert empty == "" and title.startswith("// ") and rest[-1].startswith("RETURN hop")
    line = cli("cypher", "--params", "Who designed the Fram?", "-c", harbour, "-p", "limit=7").stdout.strip()
    values = json.loads(line.removeprefix(":params "))
    assert values == cli.json("cypher", "--params", "Who designed the Fram?", "-c", harbour, "-p", "limit=7")
    assert values["question"] == "Who designed the Fram?" and values["limit"] == 7 and len(values["vector"]) == 256
    assert values["passage_vectors"].startswith("passage_embedding_c")


def test_favourites_are_a_script_or_a_zip_file(cli: CommandLine, harbour: str, tmp_path: Path) -> None:
    file = tmp_path / "kgrag.zip"
    assert "Drop it on Neo4j Browser" in cli("cypher", "--favourites", str(file), "-c", harbour).stderr
    with zipfile.ZipFile(file) as files:
        assert f'"collection": "{harbour}"' in files.read(files.namelist()[0]).decode()
    script = cli("cypher", "--favourites", "-", "-c", harbour).stdout
    assert script.count(":params {") == len(cli.json("cypher", "--list"))


@pytest.mark.parametrize(
    ("arguments", "code", "told"),
    [
        (["conection"], 4, "'connection'"), (["hubs", "-p", "limt=3"], 2, "limit (INTEGER = 25)"),
        (["hubs", "-p", "limit=many"], 2, "wants limit as INTEGER"), (["hubs", "-p", "limit"], 2, "name=value"),
        (["hubs", "-c", "nowhere"], 4, "There is no collection 'nowhere'"),
        (["MATCH (e:Entity {collection: $collection}) RETURN count(e)", "-c", "nowhere"], 4, "no collection 'nowhere'"),
        (["RETURN $collection", "-p", "collection=nowhere"], 4, "There is no collection 'nowhere'"),
        (["hubs", "--json", "--csv"], 2, "Choose one"), ([], 2, "Give the name of a saved query or a statement"),
        (["hubs", "--list"], 2, "Give the name of a saved query or a statement"), ([" "], 2, "statement is empty"),
        (["RETURN $n", "-p", "n=9223372036854775808"], 8, "64 bits"),
        (["RETURN 1", "--show"], 2, "go with the name of a saved query"),
    ],
)  # fmt: skip
def test_mistakes_are_told(cli: CommandLine, arguments: list[str], code: int, told: str) -> None:
    assert told in cli("cypher", *arguments, code=code).stderr
