"""JSON Lines, JSON, CSV and TSV: columns, metadata, and a Problem with its line for each unreadable row."""

import json
from pathlib import Path
from typing import Any

import pytest
from read_one import all_in as rows
from read_one import only

from kgrag.indexing.chunking import chunk
from kgrag.loaders import Columns
from kgrag.settings import IndexingSettings
from kgrag.values.documents import Table


def test_jsonl(tmp_path: Path) -> None:
    path = tmp_path / "corpus.jsonl"
    lines = [
        {
            "id": "a", "title": "T", "text": "  one\r\ntwo ", "year": 1892, "tags": ["x", {"y": 1}], "ok": True,
            "no": None,
        },
        {"id": 7, "title": 3.5, "text": 42, "f": 0.5},
        {"id": None, "title": "", "text": "no id"},
    ]  # fmt: skip
    documents, problems = rows(path, "\ufeff" + "\r\n\r\n".join(json.dumps(line) for line in lines))
    assert problems == []
    assert [d.key for d in documents] == ["a", "7", f"{path}#5"]
    assert [d.title for d in documents] == ["T", "3.5", "corpus 5"]
    assert [d.text for d in documents] == ["one\ntwo", "42", "no id"]
    assert [d.source for d in documents] == [f"{path}#1", f"{path}#3", f"{path}#5"]
    assert documents[0].metadata == {"year": 1892, "tags": ["x", {"y": 1}], "ok": True}
    assert documents[1].metadata == {"f": 0.5}


def test_the_name_that_is_meant_exactly_wins(tmp_path: Path) -> None:
    lines = [
        {"TEXT": None, "Id": 1, "text": "small letters", "id": "k", "a\n": 1, "a": 2},
        {"Body": "none in small letters", "BODY": "second", "a": 2, "a\n": 1},
    ]
    documents, problems = rows(tmp_path / "corpus.jsonl", "\n".join(json.dumps(line) for line in lines))
    assert problems == []
    assert [d.text for d in documents] == ["small letters", "none in small letters"]
    assert documents[0].key == "k"
    assert [d.metadata for d in documents] == [{"Id": 1, "a": 2}, {"BODY": "second", "a": 2}]


def test_bad_json_lines_do_not_stop_the_rest(tmp_path: Path) -> None:
    lines: list[bytes] = [
        b'{"id": 1, "text": "first"}', b'{"id": 2, "text": ', b"[1, 2]", b'{"id": 4, "text": "caf\xe9"}',
        b'{"id": 5, "text": "   "}', b'{"id": {"x": 1}, "text": "t"}', b'{"id": 7, "text": []}', b"[" * 100_000,
        b'{"id": 9, "text": "t", "deep": ' + b"[" * 40 + b"]" * 40 + b"}", b'{"id": 1, "text": "again"}',
        b'{"id": 11, "text": "last"}',
    ]  # fmt: skip
    documents, problems = rows(tmp_path / "a.jsonl", b"\n".join(lines))
    assert [d.text for d in documents] == ["first", "caf\ufffd", "last"]
    assert [place for place, _ in problems] == [f":{n}" for n in range(2, 11)]
    words = [
        "column 18", "a list", "a byte that is not UTF-8 at byte 22", "no text in column 'text'", "as its id",
        "no text in column 'text'", "deep", "deep", "a.jsonl#1'",
    ]  # fmt: skip
    assert all(word in message for word, (_, message) in zip(words, problems, strict=True)), problems


def test_values_that_neo4j_cannot_hold(tmp_path: Path) -> None:
    line = (
        r'{"id": "k\ud800", "text": "a\ud800b\u0000c\ud83d\ude00 e\u0301", "title": "t\ttab\nline", "n": NaN,'
        r' "i": -Infinity, "big": 9223372036854775808, "max": 9223372036854775807, "min": -9223372036854775808,'
        r' "huge": 1e999, "list": [NaN, 18446744073709551616, "\udfff"], "x\ud800\ny": 1, "long": ' + "9" * 5000 + "}"
    )
    (document,), problems = rows(tmp_path / "a.jsonl", line)
    assert problems == []
    assert document.key.rpartition("#")[2] == "k\ufffd"
    assert document.title == "t tab line"
    assert document.text == "a\ufffdbc\U0001f600 \u00e9"
    assert document.metadata == {
        "big": "9223372036854775808", "max": 2**63 - 1, "min": -(2**63),
        "list": [None, "18446744073709551616", "\ufffd"], "x\ufffd y": 1, "long": "9" * 5000,
    }  # fmt: skip
    json.dumps([document.key, document.text, dict(document.metadata)], ensure_ascii=False).encode()


@pytest.mark.parametrize(
    "names",
    [
        ("_id", "name", "body"),
        ("ID", "Title", "Text"),
        ("doc_id", "headline", "contents"),
        ("key", "heading", "passage"),
    ],
)
def test_common_names_are_found(tmp_path: Path, names: tuple[str, str, str]) -> None:
    key, title, text = names
    content = json.dumps({"other": 1, text: "the text", title: "the title", key: "k"})
    (document,), _ = rows(tmp_path / "a.jsonl", content)
    assert (document.key.rpartition("#")[2], document.title, document.text) == ("k", "the title", "the text")
    assert document.metadata == {"other": 1}


def test_named_columns(tmp_path: Path) -> None:
    (document,), _ = rows(
        tmp_path / "a.csv", "id,text,Inhalt,Nr\n1,other,Words,n7\n", columns=Columns(key="Nr", text="Inhalt")
    )
    assert (document.key, document.text) == ("n7", "Words")
    assert document.metadata == {"id": "1", "text": "other"}


def test_a_missing_text_column_is_told_once_with_its_remedy(tmp_path: Path) -> None:
    documents, problems = rows(tmp_path / "a.jsonl", '{"id": 1, "Inhalt": "x"}\n' * 3, columns=Columns(title="id"))
    assert documents == []
    assert "id, Inhalt" in problems[0][1]
    assert "--text-column" in problems[0][1]
    assert len(problems) == 2
    assert problems[0][0] == ":1"
    assert problems[1] == ("", "3 rows were skipped for want of that column")


def test_a_missing_key_column_is_told(tmp_path: Path) -> None:
    _, problems = rows(tmp_path / "a.csv", "id,text\n1,x\n", columns=Columns(key="uid"))
    assert len(problems) == 1
    assert "'uid'" in problems[0][1]
    assert "--key-column" in problems[0][1]


def test_rows_with_different_columns(tmp_path: Path) -> None:
    content = '{"id": 1, "text": "a"}\n{"id": 2, "body": "b", "x": 0}\n{"id": 3}\n{"text": "d", "id": 4}\n'
    documents, problems = rows(tmp_path / "a.ndjson", content)
    assert [(d.key.rpartition("#")[2], d.text, dict(d.metadata)) for d in documents] == [
        ("1", "a", {}), ("2", "b", {"x": 0}), ("4", "d", {})
    ]  # fmt: skip
    assert [place for place, _ in problems] == [":3"]


def test_json_list(tmp_path: Path) -> None:
    path = tmp_path / "list.json"
    documents, problems = rows(path, '[{"id": 1, "text": "a"},\n 5,\n {"text": "c"}, {"id": 1, "text": "d"}]')
    assert [(d.key, d.source) for d in documents] == [(f"{path}#1", f"{path}#1"), (f"{path}#3", f"{path}#3")]
    assert [place for place, _ in problems] == ["#2", "#4"]
    (document,), _ = rows(path, '{"text": "alone"}')
    assert document.text == "alone"
    assert "line 2" in rows(path, '[{"text": "a"},\n}')[1][0][1]
    assert "list of objects" in rows(path, '"text"')[1][0][1]
    assert "empty" in rows(path, "[]")[1][0][1]


@pytest.mark.parametrize("delimiter", [",", ";", "\t", "|"])
@pytest.mark.parametrize("newline", ["\n", "\r\n", "\r"])
@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16"])
def test_csv(tmp_path: Path, delimiter: str, newline: str, encoding: str) -> None:
    path = tmp_path / "ships.csv"
    lines = [
        ["id", "title", "text", "year", ""], ["a", "Fram", '"One,; ""quoted""|', "", ""],
        ['two\tlines"', "1892", "x"], [], ["", "Gj\u00f8a", "T", "1872"], ["", "", "", "", ""], ["c", "short", "C"],
    ]  # fmt: skip
    content = newline.join(delimiter.join(line) for line in lines[:2])
    content = content.removesuffix(delimiter * 2) + newline + delimiter.join(lines[2]) + newline
    content += newline.join(delimiter.join(line) for line in lines[3:])
    documents, problems = rows(path, content.encode(encoding))
    assert problems == []
    assert [d.key for d in documents] == [f"{path}#a", f"{path}#5", f"{path}#c"]
    assert documents[0].text == 'One,; "quoted"|\ntwo\tlines'
    assert documents[0].metadata == {"year": "1892", "column_5": "x"}
    assert [d.title for d in documents] == ["Fram", "Gj\u00f8a", "short"]
    assert [d.source.rpartition("#")[2] for d in documents] == ["2", "5", "7"]


def test_csv_problems_name_the_line_a_row_starts_at(tmp_path: Path) -> None:
    content = (
        'id,text\n1,"two\nlines"\n2,a,b\n3,"x"y\n4,caf\xe9\n5,ok\n6,\n,"multi\n\nline"y\n7,größer\n8,"open\n9,lost\n'
    )
    damaged = content.encode().replace("café".encode(), b"caf\xe9")  # among lines of UTF-8
    documents, problems = rows(tmp_path / "a.csv", damaged)
    assert [d.key.rpartition("#")[2] for d in documents] == ["1", "4", "5", "7"]
    assert documents[1].text == "caf\ufffd"
    assert [place for place, _ in problems] == [":4", ":5", ":6", ":8", ":9", ":13"]
    words = ["3 cells", "doubled", "0xe9 in column 'text'", "no text", "doubled", "never closed"]
    assert all(word in message for word, (_, message) in zip(words, problems, strict=True)), problems


def test_csv_headers(tmp_path: Path) -> None:
    path = tmp_path / "a.csv"
    (document,), _ = rows(path, "sep=;\nid;text;a;a;\nk;t;1;2;3\n")
    assert document.metadata == {"a": "1", "a_2": "2", "column_5": "3"}
    assert document.source.endswith("#3")
    assert "no rows" in rows(path, "id,text\n")[1][0][1]
    (document,), _ = rows(path, b"id,text,stra\xdfe\n1,x,y\n")
    assert document.metadata == {"straße": "y"}
    (document,), problems = rows(path, b"id,text,stra\xdfe\xc3\xa4\xc3\xb6\xc3\xbc\n1,x,y\n")
    assert list(document.metadata) == ["stra\ufffdeäöü"]
    assert "not UTF-8 (byte 0xdf in column 3)" in problems[0][1]
    (document,), _ = rows(tmp_path / "a.tsv", "id\ttext, with commas, many\ttext\n1\tx\ty\n")
    assert document.text == "y"


@pytest.mark.parametrize(
    ("name", "source", "table"),
    [
        (
            "a.csv",
            "Name;Preis, EUR;Menge, kg, netto\nTon;1,5;3\n",
            (("Name", "Preis, EUR", "Menge, kg, netto"), ("Ton", "1,5", "3")),
        ),
        (
            "a.tsv",
            "Name\tStreet, city, country\nAda\tLondon, UK\nBo\tA\tB\n",
            (("", ""), ("Name", "Street, city, country"), ("Ada", "London, UK")),
        ),
        ("b.tsv", 'id\tquote\n1\t"Hello, he said\n2\tBye\n', (("id", "quote"), ("1", '"Hello, he said'), ("2", "Bye"))),
        ("c.tsv", 'id\tquote\n1\t"A\n2\t"B" "C"\n', (("id", "quote"), ("1", '"A'), ("2", '"B" "C"'))),
        ("d.tsv", 'id\tquote\n1\t"A ""b""\n\tc"\n', (("id", "quote"), ("1", 'A "b" c'))),
    ],
)
def test_delimiter_and_quotes_are_those_of_the_rows(
    tmp_path: Path, name: str, source: str, table: tuple[tuple[str, ...], ...]
) -> None:
    (document,), _ = rows(tmp_path / name, source)
    assert document.tables[0].rows == table


def test_long_csv_fields_and_rows_over_the_limit(tmp_path: Path) -> None:
    long = "word " * 100_000
    quoted = '"' + "line \n" * 400_000 + '"'
    content = f"id,text\n1,{long}\n2,{'x' * 1_100_000}\n3,fine\n4,{quoted}\n5,good\n"
    documents, problems = rows(tmp_path / "a.csv", content, max_file_mb=1)
    assert [d.key.rpartition("#")[2] for d in documents] == ["1", "3", "5"]
    assert len(documents[0].text) == len(long) - 1
    assert [place for place, _ in problems] == [":3", ":5"]
    assert all("more than 1 MB" in message for _, message in problems)
    assert documents[2].source.endswith("#400006")


def test_json_lines_over_the_limit(tmp_path: Path) -> None:
    content = '{"id": 1, "text": "a"}\n{"id": 2, "text": "%s"}\n{"id": 3, "text": "c"}' % ("x" * 1_100_000)
    documents, problems = rows(tmp_path / "a.jsonl", content, max_file_mb=1)
    assert [d.key.rpartition("#")[2] for d in documents] == ["1", "3"]
    assert [place for place, _ in problems] == [":2"]


def test_json_lines_in_utf_16(tmp_path: Path) -> None:
    documents, problems = rows(tmp_path / "a.jsonl", '{"text": "Troms\u00f8"}\r\n\n{"text": "\u0a0a"}'.encode("utf-16"))
    assert [d.text for d in documents] == ["Troms\u00f8", "\u0a0a"]
    assert documents[1].key.endswith("#3")
    assert problems == []


def test_a_flood_of_problems_is_counted(tmp_path: Path) -> None:
    documents, problems = rows(tmp_path / "a.jsonl", '{"id": 1, "text": ""}\n' * 2500 + '{"text": "x"}')
    assert len(documents) == 1
    assert len(problems) == 1001
    assert problems[-1] == ("", "has 1,500 more problems like these")


def test_a_csv_file_without_a_column_for_the_text_is_a_table(tmp_path: Path) -> None:
    content = "name,age,city\nAda,36,London\nBob,41\nEve,1,2,3\n"
    (document,), problems = rows(tmp_path / "a.csv", content)
    assert document.key == str(tmp_path / "a.csv")
    assert document.tables == (Table(1, (("name", "age", "city"), ("Ada", "36", "London"), ("Bob", "41", ""))),)
    assert problems == [(":4", "has 4 cells where the header has 3; a cell with a delimiter in it must be quoted")]
    _, named = rows(tmp_path / "a.csv", content, columns=Columns(key="name"))
    assert "no column for the text" in named[0][1]
    _, large = rows(tmp_path / "b.csv", "a,b\n" + "x,y\n" * 600_000, max_file_mb=1)
    assert "a table of more than 1 MB" in large[0][1]
    assert chunk(document, IndexingSettings())[0].text == "name: Ada; age: 36; city: London.\nname: Bob; age: 41."


@pytest.mark.parametrize("name", ["a.json", "a.jsonl"])
def test_rows_of_json_without_a_text_are_a_table(tmp_path: Path, name: str) -> None:
    lines = [
        '{"name": "Ada", "age": 36, "at": {"city": "London", "flat": null}, "ok": true}',
        '{"name": "Bob", "tags": ["a", "b"], "kin": [{"of": "Ada"}]}',
    ]
    content = f"[{','.join(lines)}]" if name == "a.json" else "\n".join(lines)
    (document,), problems = rows(tmp_path / name, content)
    assert problems == []
    assert document.key == str(tmp_path / name)
    assert document.tables[0].rows == (
        ("name", "age", "at.city", "ok", "tags", "kin"),
        ("Ada", "36", "London", "true", "", ""),
        ("Bob", "", "", "", "a, b", '[{"of": "Ada"}]'),
    )
    (nested,), _ = rows(tmp_path / "b.json", '{"name": "kgrag", "sizes": {"a": [1, 2], "unit": "mm"}}')
    assert chunk(nested, IndexingSettings())[0].text == "name: kgrag; sizes.a: 1, 2; sizes.unit: mm."
    (single,), _ = rows(tmp_path / "c.json", '{"name": "Ada", "age": 36}')
    assert chunk(single, IndexingSettings())[0].text == "name: Ada; age: 36."


def test_several_columns_for_the_text(tmp_path: Path) -> None:
    content = 'id,name,"a, b",city\n1,Ada,36,London\n2,Bob,,\n3,,,\n'
    documents, problems = rows(tmp_path / "a.csv", content, columns=Columns(text="name, city"))
    assert [(d.text, dict(d.metadata)) for d in documents] == [
        ("name: Ada\ncity: London", {"a, b": "36"}), ("name: Bob", {})
    ]  # fmt: skip
    assert "no text in column 'name', 'city'" in problems[0][1]
    documents, _ = rows(tmp_path / "b.csv", content, columns=Columns(text="a, b"))
    assert [d.text for d in documents] == ["36"]
    assert "no column 'name,no'" in rows(tmp_path / "c.csv", content, columns=Columns(text="name,no"))[1][0][1]


TREE = {
    "title": "On kilns",
    "year": 1902,
    "parts": [
        {"heading": "Wood", "text": "A kiln burns wood.", "pages": [1, 2]},
        {"heading": "Coal", "sections": [{"text": "It burns coal, too."}], "seen": True},
    ],
}


def test_object_of_nested_ones_is_read_with_its_names(tmp_path: Path) -> None:
    path = tmp_path / "a.json"
    path.write_text(json.dumps(TREE))
    document = only(path)
    assert document.text == (
        "title: On kilns\nyear: 1902\n\nparts.heading: Wood\nparts.text: A kiln burns wood.\nparts.pages: 1, 2\n\n"
        "parts.heading: Coal\n\nparts.sections.text: It burns coal, too.\nparts.seen: true"
    )
    assert (document.title, document.metadata) == ("On kilns", {"year": 1902})


@pytest.mark.parametrize("suffix", [".json", ".jsonl"])
def test_nested_column_that_is_named_is_read_in_order(tmp_path: Path, suffix: str) -> None:
    path = tmp_path / f"a{suffix}"
    path.write_text(json.dumps(TREE))
    document = only(path, columns=Columns(text="parts"))
    first, *others = document.text.split("\n\n")
    assert first == "heading: Wood\ntext: A kiln burns wood.\npages: 1, 2"
    assert others == ["heading: Coal", "sections.text: It burns coal, too.\nseen: true"]


def test_text_of_paragraphs_in_a_list_is_read(tmp_path: Path) -> None:
    path = tmp_path / "a.jsonl"
    path.write_text('{"id": 1, "text": ["One.", {"b": "Two."}]}\n')
    document = only(path)
    assert document.text == "One.\n\nb: Two."


REVIEWS = {"product": "K7", "specs": {"kg": 4.5, "rooms": ["a", "b"]}, "reviews": [{"by": "Per", "stars": 5}]}
CHAT = {"name": "Kilns", "messages": [{"from": "Ada", "text": ["See ", {"type": "link", "text": "x.org"}, " now"]}]}
TURN = {"author": {"role": "user"}, "content": {"parts": ["How hot is it?"]}}


@pytest.mark.parametrize(
    ("value", "text", "metadata"),
    [
        (REVIEWS, "product: K7\nspecs.kg: 4.5\nspecs.rooms: a, b\n\nreviews.by: Per\nreviews.stars: 5",
         {"product": "K7"}),
        (["One text.", "Another."], "One text.\n\nAnother.", {}),
        ({"count": 1, "results": [{"text": "One.", "n": 2}]}, "One.", {"file.count": 1, "n": 2}),
        ({"data": {"items": [{"text": "One."}]}}, "One.", {}),
        ([{"content": "One.", "meta": {"author": "Ada", "at": {"page": 3}}}], "One.",
         {"meta.author": "Ada", "meta.at.page": 3}),
        ([{"page_content": "One.", "metadata": {"source": "s"}}], "One.", {"metadata.source": "s"}),
        (CHAT, "See x.org now", {"file.name": "Kilns", "from": "Ada"}),
        ([{"mapping": {"0a1b2c3d-4e5f-6a7b-8c9d": {"message": TURN}}}],
         "mapping.message.author.role: user\nmapping.message.content.parts: How hot is it?", {}),
        ([["Ship", "Built", "Yard"], ["Fram", 1892, "Larvik"]], "Ship: Fram; Built: 1892; Yard: Larvik.", {}),
    ],
)  # fmt: skip
def test_values_of_json_keep_their_names(tmp_path: Path, value: object, text: str, metadata: dict[str, Any]) -> None:
    documents, problems = rows(tmp_path / "a.json", json.dumps(value))
    texts = [part.text for document in documents for part in chunk(document, IndexingSettings())]
    assert ("\n\n".join(texts), dict(documents[0].metadata), problems) == (text, metadata, [])


def test_json_lines_under_the_name_of_json_are_read(tmp_path: Path) -> None:
    documents, problems = rows(tmp_path / "a.json", '{"text": "a"}\n{"text": "b"}\n{"te')
    assert [document.text for document in documents] == ["a", "b"] and [place for place, _ in problems] == [":3"]
    documents, problems = rows(tmp_path / "a.json", '{\n"text": "a"}{\n"text": "b"}')
    assert [document.text for document in documents] == ["a", "b"] and not problems


@pytest.mark.parametrize(
    ("text", "above", "table"),
    [
        ("Sales,,\nYear,2025,\n,,\nRegion,Q1,Q2\nNorth,5,6\n", "Sales\nYear | 2025", ("Region", "Q1", "Q2")),
        ("Sales\nYear,2025\n\nRegion,Q1,Q2\nNorth,5,6\nSouth,7,8\n", "Sales\nYear | 2025", ("Region", "Q1", "Q2")),
        ("Sales\nRegion;Q1;Q2\nNorth;5,5;6,1\nSouth;7,0;8\n", "Sales", ("Region", "Q1", "Q2")),
        ("# by Ada, today\nRegion,Q1,Q2\nNorth,5,6\nSouth,7,8\n", "# by Ada | today", ("Region", "Q1", "Q2")),
        ("Price,900 kr\nColour,red\n", "", ("", "")),
        ("Ada,36,Oslo\nPer,40,Bergen\n", "", ("", "", "")),
        ("Region,2020,2021\nNorth,5,6\n", "", ("Region", "2020", "2021")),
        ("name,capital\nNorway,Oslo\nSweden,Stockholm\n", "", ("name", "capital")),
    ],
)
def test_header_of_csv_is_below_its_titles_or_missing(tmp_path: Path, text: str, above: str, table: tuple[str]) -> None:
    (document,), problems = rows(tmp_path / "a.csv", text)
    assert (document.text, document.tables[0].rows[0], problems) == (above, table, [])
