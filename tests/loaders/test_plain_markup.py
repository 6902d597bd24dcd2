"""AsciiDoc, Org, notebooks and subtitles become text under their headings."""

import json
from pathlib import Path

import pytest
from read_one import with_omissions as read

ADOC = """= On Kilns
:toc:
// not this

The *kiln* is hot, see https://a.example[the site] and <<wood,Wood>>.

== Wood [[wood]]
////
nor this
////
* oak
** dry
. first
. second

[source,python]
----
if a:
    b * c
----

.The ships
|===
|Ship |Built

|Fram
|1892
|Maud |1916
|===

Term:: What it is.

image::kiln.png[A red kiln,300]
"""


def test_asciidoc_is_read_under_its_headings(tmp_path: Path) -> None:
    document, problems, _ = read(tmp_path / "a.adoc", ADOC.replace(" [[wood]]", ""))
    assert (document.title, problems) == ("On Kilns", [])
    assert [(s.heading, s.text) for s in document.sections] == [
        ("On Kilns", "The kiln is hot, see the site and Wood."),
        (
            "On Kilns > Wood",
            "- oak\n  - dry\n\n1. first\n2. second\n\nif a:\n    b * c\n\nThe ships\n\n"
            "Term\n\nWhat it is.\n\nA red kiln",
        ),
    ]
    assert document.tables[0].rows == (("Ship", "Built"), ("Fram", "1892"), ("Maud", "1916"))


@pytest.mark.parametrize(
    ("source", "text"),
    [
        (":product: Kiln\n:big-one: The {Product}\n\n{big-one} {other} is hot.\n", "The Kiln {other} is hot."),
        ("Hot.footnote:[Not *too* hot.] Red.footnote:a[See.]\nOn.footnote:a[]\n",
         "Hot. [1] Red. [a] On. [a]\n\n[1] Not too hot.\n\n[a] See."),
        ("See link:#a[the\nkiln] and https://a.example[the site].\n", "See the kiln and the site."),
        ("ifdef::x[]\nHot.\nendif::[]\n", "Hot."),
        ("Before.\n\n--\nIn it.\n--\n\nAfter.\n", "Before.\n\nIn it.\n\nAfter."),
        ("[source]\n--\na  {b}\n--\n", "a  {b}"), ("a\n\n|===\n|===\n", "a"),
        ("|===\nno bar\n// x\n|===\n", "no bar"), (",===\na,\"b, c\"\n,===\n", "a | b, c"),
        ("[format=dsv]\n|===\na:b\n|===\n", "a | b"),
        ("[start=4]\n. a\n. b\n\n[loweralpha]\n. c\n\n[%reversed]\n. d\n. e\n", "4. a\n5. b\n\na. c\n\n2. d\n1. e"),
    ],
)  # fmt: skip
def test_signs_of_asciidoc_become_their_text(tmp_path: Path, source: str, text: str) -> None:
    document, problems, _ = read(tmp_path / "a.adoc", source)
    assert (document.sections[0].heading, document.text, problems) == ("", text, [])


@pytest.mark.parametrize(
    ("source", "rows"),
    [
        ("|===\n|A |B\n\n|x\n|first\nsecond\n\nthird\n2+|wide\na|* it\n|y\n|===\n",
         (("A", "B"), ("x", "first second third"), ("wide", "wide"), ("* it", "y"))),
        ('[cols="1,1"]\n|===\n|a\n|b\n\n|c\n|d\n|===\n', (("", ""), ("a", "b"), ("c", "d"))),
        ("[%header,cols=2*]\n|===\n|a\n|b\n|c|d \\| e\n|===\n", (("a", "b"), ("c", "d | e"))),
    ],
)  # fmt: skip
def test_cells_of_asciidoc_are_rows(tmp_path: Path, source: str, rows: tuple[tuple[str, ...], ...]) -> None:
    document, _, _ = read(tmp_path / "a.adoc", source)
    assert document.tables[0].rows == rows


ORG = """#+TITLE: On Kilns
# not this
The *kiln* is /hot/, see [[https://a.example][the site]] and =a*b=.
* TODO Wood :tag:
  :PROPERTIES:
  :ID: 1
  :END:
  SCHEDULED: <2024-05-03 Fri>
- oak
  - dry
- [X] done
- term :: what it is
** Coal
#+BEGIN_SRC python
if a:
    b * c
#+END_SRC
| Ship | Built |
|------+-------|
| Fram |  1892 |
End.
"""


def test_org_is_read_under_its_headings(tmp_path: Path) -> None:
    document, problems, _ = read(tmp_path / "a.org", ORG)
    assert (document.title, problems) == ("On Kilns", [])
    assert [(s.heading, s.text) for s in document.sections] == [
        ("", "The kiln is hot, see the site and a*b."),
        ("Wood", "TODO, tag\n\nSCHEDULED: 2024-05-03 Fri\n\n- oak\n  - dry\n- [x] done\n- term: what it is"),
        ("Wood > Coal", "if a:\n    b * c\n\nEnd."),
    ]
    assert document.tables[0].rows == (("Ship", "Built"), ("Fram", "1892"))


def test_notebook_has_its_texts_and_code(tmp_path: Path) -> None:
    cells = [
        {"cell_type": "markdown", "source": ["# On Kilns\n", "\n", "The **kiln** is hot."]},
        {"cell_type": "code", "source": "if a:\n    b * c", "outputs": [{"output_type": "stream", "text": "5"}]},
        {"cell_type": "markdown", "source": "## Wood\n\nOak."},
        {"cell_type": "code", "source": [], "outputs": []},
    ]
    document, problems, left_out = read(tmp_path / "a.ipynb", json.dumps({"cells": cells, "nbformat": 4}))
    assert (document.title, problems, left_out) == ("On Kilns", [], {"output of code": 1})
    assert [(s.heading, s.text) for s in document.sections] == [
        ("On Kilns", "The kiln is hot.\n\nif a:\n    b * c"),
        ("On Kilns > Wood", "Oak."),
    ]


def test_raw_cells_of_a_notebook_are_its_front_matter_and_text(tmp_path: Path) -> None:
    cells = [
        {"cell_type": "raw", "source": '---\ntitle: "On Kilns"\nauthor: Ada\n---'},
        {"cell_type": "markdown", "source": "The kiln is hot."},
        {"cell_type": "raw", "source": "# of *wood*\n---"},
    ]
    document, problems, _ = read(tmp_path / "a.ipynb", json.dumps({"cells": cells, "nbformat": 4}))
    assert (document.title, document.metadata, problems) == ("On Kilns", {"author": "Ada"}, [])
    assert [(s.heading, s.text) for s in document.sections] == [("", "The kiln is hot.\n\n# of *wood*\n---")]


SRT = """1
00:00:01,000 --> 00:00:03,000
The <i>kiln</i> is
{\\an8}very hot.

2
00:00:03,200 --> 00:00:05,000
It burns wood.

3
00:01:00,000 --> 00:01:02,000
And coal &amp; peat.
"""
VTT = """WEBVTT

NOTE a remark

00:01.000 --> 00:03.000 align:start
<v Anna>The <c.loud>kiln</c> is very hot.

00:03.000 --> 00:04.000
<v Anna>The kiln is very hot.

intro
00:04.000 --> 00:05.000
<v Ole>It burns wood.
"""
ROLLED_UP = """WEBVTT
Kind: captions

00:00:00.000 --> 00:00:02.000 align:start position:0%
\x20
hello<00:00:00.320><c> dear</c> friends

00:00:02.000 --> 00:00:02.010
hello dear friends

00:00:02.010 --> 00:00:04.000
hello dear friends
welcome to the show

00:00:04.000 --> 00:00:04.010
welcome to the show

00:00:04.010 --> 00:00:06.000
welcome to the show
today we fire pots
"""
VOICES = """WEBVTT

00:01.000 --> 00:02.000
<v Ann>Ready?</v>
<v.loud Bob>Not
yet.</v> <v Ann>Oh.

00:02.000 --> 00:03.000
<v Bob>Yes.

00:03.000 --> 00:04.000
<v Ann>Yes.
"""
AGAIN = """1
00:00:01,000 --> 00:00:02,000
No.

2
00:00:03,500 --> 00:00:05,000
No.
\x20
3
00:00:05,000 --> 00:00:06,000
>> I <3 you.
>> Me too.
"""


@pytest.mark.parametrize(
    ("name", "source", "text", "told"),
    [
        ("a.srt", SRT, "The kiln is very hot. It burns wood.\n\nAnd coal & peat.", []),
        ("a.vtt", VTT, "Anna: The kiln is very hot.\n\nOle: It burns wood.", ["holds 1 comment, left out"]),
        ("a.vtt", ROLLED_UP, "hello dear friends welcome to the show today we fire pots", []),
        ("a.vtt", VOICES, "Ann: Ready?\n\nBob: Not yet.\n\nAnn: Oh.\n\nBob: Yes.\n\nAnn: Yes.", []),
        ("a.srt", AGAIN, "No. No. >> I <3 you. >> Me too.", []),
    ],
)
def test_subtitles_are_what_is_said(tmp_path: Path, name: str, source: str, text: str, told: list[str]) -> None:
    document, problems, _ = read(tmp_path / name, source)
    assert (document.text, problems) == (text, told)
