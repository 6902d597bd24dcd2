"""Text, Markdown and HTML files become documents with readable text in sections."""

import codecs
import unicodedata
from pathlib import Path

import pytest
from read_one import only as one

from kgrag.loaders import load
from kgrag.loaders.dispatch import Load
from kgrag.settings import LoadingSettings
from kgrag.values.documents import Document, Problem, Section, Table


def write(path: Path, content: str | bytes) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(content.encode() if isinstance(content, str) else content)
    return path


def problem(path: Path, max_file_mb: int = 64) -> Problem:
    (item,) = load(path, max_file_mb=max_file_mb)
    assert isinstance(item, Problem), item
    assert item.place.startswith(str(path))
    return item


def test_text(tmp_path: Path) -> None:
    document = one(tmp_path / "Banks_Peninsula.txt", "\ufeffFirst.\r\n\r\nSecond\ttab.\x07\x1b\r\n")
    assert document.sections == (Section("First.\n\nSecond\ttab."),)
    assert document.title == "Banks Peninsula"
    assert document.source == document.key == str(tmp_path / "Banks_Peninsula.txt")


@pytest.mark.parametrize(
    ("name", "title"),
    [
        ("install-guide.txt", "install guide"), ("Kon-Tiki.txt", "Kon-Tiki"), ("2020-01-31.txt", "2020-01-31"),
        ("a_b-c.txt", "a b-c"), ("_.txt", "_.txt"),
    ],
)  # fmt: skip
def test_a_title_is_made_of_the_name(tmp_path: Path, name: str, title: str) -> None:
    assert one(write(tmp_path / name, "x")).title == title


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16", "utf-32"])
@pytest.mark.parametrize("name", ["a.txt", "a.md", "a.html"])
def test_encodings_by_byte_order_mark(tmp_path: Path, name: str, encoding: str) -> None:
    assert one(write(tmp_path / name, "Tromsø 日本 🚢".encode(encoding))).text == "Tromsø 日本 🚢"


def test_text_is_composed(tmp_path: Path) -> None:
    document = one(tmp_path / "a.txt", "Tromsø A\u030angstro\u0308m")
    assert document.text == "Tromsø \u00c5ngstr\u00f6m"


@pytest.mark.parametrize("name", ["a.txt", "a.md", "a.html", "a.csv", "a.py", "a.rst"])
@pytest.mark.parametrize(
    ("encoding", "text"),
    [
        ("cp1252", "Das Gebäude wurde 1892 für die Königin gebaut, sagte er; “schön” – wie groß!"),
        ("koi8-r", "Корабль Фрам был построен в Ларвике. Его капитан родился в Осло."),
        ("shift_jis", "この船はノルウェーで造られました。南極まで航海しました。"),
        ("cp1253", "Το πλοίο κατασκευάστηκε στη Νορβηγία."),
    ],
)
def test_legacy_encodings_are_converted_and_told(tmp_path: Path, name: str, encoding: str, text: str) -> None:
    path = write(tmp_path / name, (f'text\n"{text}"\n' if name == "a.csv" else text).encode(encoding))
    found = Load(path)
    (document,) = (item for item in found if isinstance(item, Document))
    assert text in document.text
    assert found.scan.converted == {codecs.lookup(encoding).name: 1}


@pytest.mark.parametrize("name", ["a.txt", "a.md", "a.html", "a.rst", "a.py"])
def test_a_damaged_byte_is_marked_and_told(tmp_path: Path, name: str) -> None:
    text = "Größe, Höhe und Breite: caf".encode() + b"\xe9 x"  # mostly UTF-8
    told, document = load(write(tmp_path / name, text))
    assert isinstance(told, Problem) and isinstance(document, Document)
    assert document.text == "Größe, Höhe und Breite: caf\ufffd x"
    assert "a byte that is not UTF-8 at byte 30" in told.message
    assert told.lasting


def test_a_cut_file_in_utf_16_is_read(tmp_path: Path) -> None:
    told, document = load(write(tmp_path / "b.txt", b"\xff\xfea\x00b"))
    assert isinstance(told, Problem) and "not UTF-16" in told.message
    assert isinstance(document, Document) and document.text == "a\ufffd"


def test_what_is_in_no_encoding_names_the_byte_and_the_remedy(tmp_path: Path) -> None:
    message = problem(write(tmp_path / "a.txt", "Größe, Höhe und Breite: ".encode() + b"caf\xe9 x \xe9t")).message
    assert "not UTF-8 at byte 30, nor in 1 other place;" in message
    assert "iconv" in message


def test_few_odd_bytes_among_ascii_are_damage_not_another_alphabet(tmp_path: Path) -> None:
    told, document = load(write(tmp_path / "a.txt", b"The ship left Larvik. " * 40 + b"\x81 end"))
    assert isinstance(told, Problem) and "a byte that is not UTF-8 at byte 880" in told.message
    assert isinstance(document, Document) and document.text.endswith("Larvik. \ufffd end")


def test_thai_is_known_by_where_its_signs_stand(tmp_path: Path) -> None:
    text = "เรือลำนี้สร้างขึ้นที่นอร์เวย์และแล่นไปถึงขั้วโลกใต้ กรุงเทพมหานครเป็นเมืองหลวง"
    found = Load(write(tmp_path / "a.txt", text.encode("tis-620")))
    (document,) = (item for item in found if isinstance(item, Document))
    assert document.text == unicodedata.normalize("NFC", text)
    assert found.scan.converted == {"cp874": 1}


def test_characters_of_two_surrogates_are_read(tmp_path: Path) -> None:
    data = b"The \xed\xa0\xbd\xed\xba\xa2 left"  # CESU-8
    assert one(tmp_path / "a.txt", data).text == "The 🚢 left"


def test_the_encoding_can_be_set(tmp_path: Path) -> None:
    text = "Łódź jest miastem w Polsce."
    document = one(write(tmp_path / "a.txt", text.encode("cp1250")), loading=LoadingSettings(encoding="cp1250"))
    assert document.text == text


@pytest.mark.parametrize("content", [b"", b" \r\n\t ", b"\xef\xbb\xbf", b"\xff\xfe \x00", b"\x07"])
@pytest.mark.parametrize("name", ["a.txt", "a.md", "a.html", "a.jsonl", "a.csv", "a.json"])
def test_nothing_in_it(tmp_path: Path, name: str, content: bytes) -> None:
    message = problem(write(tmp_path / name, content)).message
    assert "empty" in message or "no readable text" in message or "not valid" in message or "no column" in message


@pytest.mark.parametrize("content", [b"PK\x03\x04\x00\x00 text", bytes(range(1, 32)) * 4, b"a\x00b\x00"])
@pytest.mark.parametrize("name", ["a.txt", "a.md", "a.html", "a.jsonl", "a.csv", "a.json", "a.xyz"])
def test_binary(tmp_path: Path, name: str, content: bytes) -> None:
    assert "binary" in problem(write(tmp_path / name, content)).message


def test_huge(tmp_path: Path) -> None:
    path = write(tmp_path / "a.txt", b"x" * (1024 * 1024 + 1))
    assert "2 MB, over the limit of 1 MB" in problem(path, max_file_mb=1).message
    assert len(one(path).text) == 1024 * 1024 + 1


def test_markdown_sections(tmp_path: Path) -> None:
    document = one(
        tmp_path / "a.md",
        "lead\n\n# Guide *to* it\nHello [world](http://x.y)\nagain ![a map](m.png).\n\n## Install\n"
        "```sh\n# no heading\npip install x\n```\n### Linux ###\nOn `Linux`.<br>Yes<b>!</b>\n\n"
        "Use\n---\n\ntext &amp; more\n\n> # quoted\n",
    )
    assert document.title == "Guide to it"
    assert document.sections == (
        Section("lead"),
        Section("Hello world again a map.", "Guide to it"),
        Section("# no heading\npip install x", "Guide to it > Install"),
        Section("On Linux.\nYes!", "Guide to it > Install > Linux"),
        Section("text & more\n\nquoted", "Guide to it > Use"),
    )


def test_markdown_blocks(tmp_path: Path) -> None:
    document = one(
        tmp_path / "a.md",
        "Intro:\n\n- one\n- two\n  1. deep\n  2. er\n- three\n\nAfter.\n\n| Ship | Launched |\n|---|--:|\n"
        "| *Fram* | 1892 |\n\n<div>raw <i>html</i><script>no()</script></div>\n\n    code  here\n",
    )
    assert document.text == ("Intro:\n\n- one\n- two\n  1. deep\n  2. er\n- three\n\nAfter.\n\nraw html\n\ncode  here")
    assert document.tables == (Table(1, (("Ship", "Launched"), ("Fram", "1892"))),)
    assert document.title == "a"


def test_deep_lists_are_not_cut(tmp_path: Path) -> None:
    assert "- item 24" in one(write(tmp_path / "a.md", "".join(f"{'  ' * i}- item {i}\n" for i in range(25)))).text


def test_a_heading_over_nothing_is_not_lost(tmp_path: Path) -> None:
    document = one(tmp_path / "a.md", "# A\n## B\n### C\n## D\ntext\n## E")
    assert document.sections == (Section("C", "A > B > C"), Section("text", "A > D"), Section("E", "A > E"))


def test_front_matter(tmp_path: Path) -> None:
    document = one(
        tmp_path / "a.md",
        "---\r\ntitle: \"The 'Fram': a ship\" # comment\r\nyear: 1892\r\nbig: 99999999999999999999\r\n"
        "length: 39.0\r\ndraft: false\r\nplace: Larvik # Norway\r\nquote: 'it''s'\r\nurl: http://x.y/#z\r\nnothing:\r\n"
        "tags: [a, b]\r\nlist:\r\n  - x\r\n- y\r\n# comment\r\ncode: 007\r\n---\r\n# Other\r\ntext",
    )
    assert document.title == "The 'Fram': a ship"
    assert document.text == "text"
    assert document.metadata == {
        "year": 1892, "big": "99999999999999999999", "length": 39.0, "draft": False, "place": "Larvik",
        "quote": "it's",
        "url": "http://x.y/#z",
        "code": "007",
        "tags": ["a", "b"],
        "list": ["x", "y"],
    }  # fmt: skip


@pytest.mark.parametrize(
    "text", ["---\nSome words here.\n\n---\nmore", "---\ntitle: never closed\n\ntext", "--- \n\nx"]
)
def test_what_only_looks_like_front_matter_is_text(tmp_path: Path, text: str) -> None:
    document = one(tmp_path / "a.md", text)
    assert document.metadata == {}
    assert text.split()[-1] in document.text


HTML = """<!DOCTYPE html><html><head><meta charset="iso-8859-1"><title>Fram &amp;
  Museum</title><style>p {}</style></head><body><nav>Start | Help</nav><header>Hello.</header>
<h1>The <i>Fram</i><br>Museum</h1><p>One&nbsp;<b>ship</b>,<br>two   ships.<!-- hidden --><p>Unclosed
<script>alert("no")</script><h2>Ships</h2><ul><li>Fram<li><p>Gj\u00f8a</p></ul>
<table><caption>Dates</caption><tr><th>Ship<th>Built</tr><tr><td>Fram<td>1892 <b>Larvik</b></table>
<pre>a  b
  c</pre><h3>Empty</h3><footer>Terms</footer></body></html>"""


@pytest.mark.parametrize("encoding", ["iso-8859-1", "utf-8"])
def test_html(tmp_path: Path, encoding: str) -> None:
    document = one(tmp_path / "a.html", HTML.encode(encoding))
    assert document.title == "Fram & Museum"
    assert document.sections == (
        Section("Hello."),
        Section("One ship,\ntwo ships.\n\nUnclosed", "The Fram Museum"),
        Section("- Fram\n- Gj\u00f8a\n\na  b\n  c", "The Fram Museum > Ships"),
        Section("Empty", "The Fram Museum > Ships > Empty"),
    )
    assert document.tables == (Table(1, (("Ship", "Built"), ("Fram", "1892 Larvik")), "Dates"),)


NUMBERED = """<pre><span class="linenos">1</span>def f():
<span class="linenos"> 2</span>    return 1
</pre>"""
BESIDE = """<table class="highlighttable"><tr><th colspan="2" class="filename">f.py</th></tr>
<tr><td class="linenos"><div class="linenodiv"><pre>1
2</pre></div></td><td class="code"><div><pre>def f():
    return 1
</pre></div></td></tr></table><p>After.</p>"""


@pytest.mark.parametrize(
    ("html", "text"),
    [
        (NUMBERED, "def f():\n    return 1"),
        (BESIDE, "f.py\n\ndef f():\n    return 1\n\nAfter."),
        ("<p>He said <q>no</q>.</p>", "He said “no”."),
        ("<blockquote><p>Fire it.</p><footer>— Ada</footer></blockquote><footer>Terms</footer>", "Fire it.\n\n— Ada"),
    ],
)
def test_html_of_code_and_quotes(tmp_path: Path, html: str, text: str) -> None:
    document = one(tmp_path / "a.html", html)
    assert (document.text, document.tables) == (text, ())


@pytest.mark.parametrize(
    ("declared", "text"),
    [
        ("windows-1252", "\u201cna\u00efve\u201d \u20ac"),
        ("shift_jis", "\u65e5\u672c\u8a9e"),
        ("iso-2022-jp", "\u65e5\u672c"),
        ("koi8-r", "\u041c\u0438\u0440"),
    ],
)
def test_html_in_its_declared_encoding(tmp_path: Path, declared: str, text: str) -> None:
    html = f'<meta http-equiv="Content-Type" content="text/html; charset={declared}"><p>{text}</p>'
    assert one(tmp_path / "a.html", html.encode(declared)).text == text


@pytest.mark.parametrize("declared", ["nonsense", "utf-16", "hex", "undefined", "utf-8", "iso-2022-nonsense"])
def test_html_that_declares_another_encoding_than_it_has(tmp_path: Path, declared: str) -> None:
    html = f'<meta charset="{declared}">'.encode() + b"<p>caf\xe9</p>"
    assert one(tmp_path / "a.htm", html).text == "café"


def test_html_without_title(tmp_path: Path) -> None:
    assert one(tmp_path / "a.html", "<svg><title>icon</title></svg><h1>Heading</h1>x").title == "Heading"
    assert one(tmp_path / "the_page.html", "just words").title == "the page"
    assert "no readable text" in problem(write(tmp_path / "b.html", "<title>x</title><script>y</script>")).message


def test_a_table_for_layout_keeps_its_headings(tmp_path: Path) -> None:
    html = "<table><tr><td>menu</td><td><h2>News</h2><p>text</p><table><tr><td>1<td>2</table></td></tr></table>"
    assert one(tmp_path / "a.html", html).sections == (Section("menu"), Section("text\n\n1 | 2", "News"))


@pytest.mark.timeout(20)
def test_unclosed_markup_does_not_take_for_ever(tmp_path: Path) -> None:
    assert one(tmp_path / "a.html", "<p>text</p>" + "<a " * 100_000).text.startswith("text")


@pytest.mark.parametrize("tag", ["div", "li", "td", "table", "b"])
def test_unclosed_tags_nest_deep(tmp_path: Path, tag: str) -> None:
    assert "5999" in one(write(tmp_path / "a.html", "".join(f"<{tag}>{i} " for i in range(6000)))).text


def test_front_matter_in_toml(tmp_path: Path) -> None:
    text = (
        '+++\ntitle = "Fram"\nversion = 1.10\nyear = 1892\ntags = ["ship", "ice"]\nlaunched = 1892-10-26\n'
        '[author]\nname = "A. Lund"\n+++\nShe drifted.\n'
    )
    document = one(tmp_path / "a.md", text)
    assert (document.title, document.text) == ("Fram", "She drifted.")
    assert document.metadata == {
        "version": "1.10", "year": 1892, "tags": ["ship", "ice"], "launched": "1892-10-26",
        "author": {"name": "A. Lund"},
    }  # fmt: skip
    assert one(tmp_path / "b.md", "+++\nno TOML\n+++\ntext").text == "+++ no TOML +++ text"


def test_nested_front_matter(tmp_path: Path) -> None:
    text = (
        "---\nauthors:\n  - name: Ann\n    at: {city: Oslo, floor: 2}\n    years:\n      - 1892\n      - 1893\n"
        "  - name: Bo\nship:\n    name: Fram\n    built:\n        by: Archer\n        in: '1892'\n---\ntext\n"
    )
    assert one(tmp_path / "a.md", text).metadata == {
        "authors": [{"name": "Ann", "at": {"city": "Oslo", "floor": 2}, "years": [1892, 1893]}, {"name": "Bo"}],
        "ship": {"name": "Fram", "built": {"by": "Archer", "in": "1892"}},
    }
    deep = "\n".join(f"{' ' * n}k:" for n in range(500))
    assert one(tmp_path / "b.md", f"---\n{deep} 1\n---\ntext\n").text == "text"


def test_titles_of_signs_and_of_manual_pages(tmp_path: Path) -> None:
    page = "<h1>NAME</h1><p>fram, gjoa - sail north</p><h1>USE</h1><p>Go.</p><h2>˜ ˜ ˜</h2><p>Come back.</p>"
    document = one(tmp_path / "a.html", page)
    assert document.title == "fram, gjoa"
    assert document.sections == (Section("fram, gjoa - sail north", "NAME"), Section("Go.\n\nCome back.", "USE"))
    assert one(tmp_path / "fram.md", "# Name\n\nNo names.\n").title == "fram"


def test_front_matter_stays_as_written(tmp_path: Path) -> None:
    text = (
        "---\nversion: 1.10\nrelease: 2.0\nbig: 1e3\nauthors:\n  - Ann\n  - 'Bo, B.'\n  - name: nested\n"
        'tags: [a, "b, c", 3]\nnested: {a: 1}\nsummary: >\n  Two\n  lines.\nmenu:\n  main:\n    weight: 1\n---\ntext\n'
    )
    assert one(tmp_path / "a.md", text).metadata == {
        "version": "1.10", "release": 2.0, "big": "1e3", "authors": ["Ann", "Bo, B.", {"name": "nested"}],
        "tags": ["a", "b, c", 3], "nested": {"a": 1}, "menu": {"main": {"weight": 1}}, "summary": "Two lines.",
    }  # fmt: skip


def test_front_matter_goes_on_over_lines(tmp_path: Path) -> None:
    text = (
        "---\nsummary: One two\n  three.\nauthors:\n- A wrapped\n  name\n- Bo\ntags: [one,\n  two]\n"
        "kinds: [\n  a,\n  b,\n]\n"
        'at:\n  [x, y]\nplain:\n  "On: a line\n  of its own."\nquote: "Caf\\xE9 \\u00e9 \\"a\\" \\\\x\n  goes on"\n'
        '"my key": 1\nlines: |\n  One.\n\n  # Two.\n    if a:\nfolded: >-\n  Three\n  four.\n\n  Five.\n---\ntext\n'
    )
    assert one(tmp_path / "a.md", text).metadata == {
        "summary": "One two three.", "authors": ["A wrapped name", "Bo"], "tags": ["one", "two"], "kinds": ["a", "b"],
        "at": ["x", "y"], "plain": "On: a line of its own.", "quote": 'Café é "a" \\x goes on', "my key": 1,
        "lines": "One.\n\n# Two.\n  if a:",
        "folded": "Three four.\nFive.",
    }  # fmt: skip
