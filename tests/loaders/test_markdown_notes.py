"""Markdown as written by note-taking programs."""

from pathlib import Path

import pytest
from read_one import with_problems as read

from kgrag.loaders.dispatch import Load
from kgrag.values.documents import Document


@pytest.mark.parametrize(
    ("markup", "text", "links"),
    [
        ("See [[Kiln Notes|the kiln]] there.", "See the kiln there.", ["Kiln Notes"]),
        ("See [[Kiln Notes]] there.", "See Kiln Notes there.", ["Kiln Notes"]),
        ("See [[Kiln Notes#Firing]], [[#Above]].", "See Kiln Notes > Firing, Above.", ["Kiln Notes"]),
        ("See [[Kiln Notes#^a1b2c3|it]] and [[Ovens]].", "See it and Ovens.", ["Kiln Notes", "Ovens"]),
        ("Before ![[kiln.png|300]] after ![[Ovens]].", "Before  after Ovens.", ["Ovens"]),
        ("**[[Kiln Notes|the kiln]]**", "the kiln", ["Kiln Notes"]),
        ("See [[1]], `[[a]]`, x[[a]] and [[a]](https://b.example).", "See [[1]], [[a]], x[[a]] and [a].", None),
        ("See [the kiln](kiln-notes.md) there.", "See the kiln there.", ["./kiln-notes.md"]),
        ("See [it](./a.md#b), [it](../Old%20K%C3%BCche.md?x) and [it](<b c.md>).", "See it, it and it.",
         ["./a.md", "../Old Küche.md", "./b c.md"]),
        ("See [it][a] and [[Ovens]].\n\n[a]: sub/a.md 'A'", "See it and Ovens.", ["./sub/a.md", "Ovens"]),
        ("See [it](#b), [it](https://b.example/a.md), [it](//b.example), [it](mailto:a@b.example) and [it](/a.md).",
         "See it, it, it, it and it.", None),
        ("See ![the kiln](kiln.png).", "See the kiln.", None),
        ("It is ==very hot== there.", "It is very hot there.", None),
        ("It is ==**very** hot==.", "It is very hot.", None),
        ("If a == b and c == d, or x==1 and y==2.", "If a == b and c == d, or x==1 and y==2.", None),
        ("> [!warning] Too hot\n> Do not touch.", "Too hot Do not touch.", None),
        ("> [!NOTE]\n> Do not touch.", "Note: Do not touch.", None),
        ("The kiln is hot. ^a1b2c3", "The kiln is hot.", None),
        ("**Length**: 30 m\nOwner: Lloyd", "Length: 30 m\nOwner: Lloyd", None),
        ("Owner: Lloyd\nof London", "Owner: Lloyd of London", None),
    ],
)  # fmt: skip
def test_signs_of_notes_become_their_text(tmp_path: Path, markup: str, text: str, links: list[str] | None) -> None:
    document, problems = read(tmp_path / "a.md", markup)
    assert (document.text, document.metadata.get("links"), problems) == (text, links, [])


def test_link_in_a_table_is_its_text(tmp_path: Path) -> None:
    document, _ = read(tmp_path / "a.md", "| Kiln | Built |\n|---|---|\n| [[Kiln Notes\\|the kiln]] | 1892 |\n")
    assert document.tables[0].rows == (("Kiln", "Built"), ("the kiln", "1892"))


def test_comments_of_notes_are_counted(tmp_path: Path) -> None:
    document, problems = read(tmp_path / "a.md", "It is %%no!%% hot, 5%% more.\n\n%%\nNot\n\nthis.\n%%\n\nEnd.")
    assert (document.text, problems) == ("It is  hot, 5%% more.\n\nEnd.", ["holds 2 comments, left out"])


def test_attributes_of_headings_and_blocks_are_left_out(tmp_path: Path) -> None:
    text = (
        "## Setup {#set_up}\n\nText.\n{: .note }\n\n{: #id .wide}\n* one\n\n"
        "## The *kiln* {#kiln .big data-x='1' - }\n{: .no_toc }\n\nHot {#x}.\n\n"
        "### Of `{.x}`\n\n    {: .code }\n\n## A {b}\n\nEnd."
    )
    document, problems = read(tmp_path / "a.md", text)
    assert ([(s.heading, s.text) for s in document.sections], problems) == (
        [
            ("Setup", "Text.\n\n- one"),
            ("The kiln", "Hot {#x}."),
            ("The kiln > Of {.x}", "{: .code }"),
            ("A {b}", "End."),
        ],
        [],
    )


@pytest.mark.parametrize(
    ("source", "text"),
    [
        ('!!! note "Hot"\n    Kiln.\n\n    - Oak\n\nAfter', "Hot\n\nKiln.\n\n- Oak\n\nAfter"),
        ("??? warning\n    Kiln.", "Warning:\n\nKiln."), ('=== "Tab"\n    ```\n    x = 1\n    ```', "Tab\n\nx = 1"),
        ("::: kiln.wood\n    options:\n      a: b\n\nAfter", "kiln.wood\n\nAfter"),
        (":::note Hot\nKiln.\n:::", "Hot\n\nKiln."),
        ("[TOC]\n\nPress ++ctrl+alt++ in C++. [a](b.md){ .button }", "Press ctrl+alt in C++. a"),
        ('{: type="a" start="3"}\n1. x\n2. y', "c. x\nd. y"), ("Was ~~400~~ 250, ~3.", "Was 250, ~3."),
        ("Kiln\n===\n\n/// a note of code\n\n/// tip | Hot\nOak.\n///", "/// a note of code\n\nHot\n\nOak."),
        ("```\n!!! note\n    x\n```", "!!! note\n    x"),
    ],
)  # fmt: skip
def test_signs_of_mkdocs_and_struck_text_are_no_text(tmp_path: Path, source: str, text: str) -> None:
    (tmp_path / "a.md").write_text(source)
    (document,) = (item for item in Load(tmp_path / "a.md") if isinstance(item, Document))
    assert document.text == text
