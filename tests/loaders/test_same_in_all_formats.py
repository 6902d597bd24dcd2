"""One document gives the same passages from each format; all words and numbers of a source are there."""

import re
import tempfile
from collections import Counter
from collections.abc import Callable
from pathlib import Path

import made_documents as made
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from read_one import with_problems

from kgrag.indexing.chunking import chunk
from kgrag.loaders import load
from kgrag.settings import IndexingSettings
from kgrag.values.documents import Document, Problem

NOTE = "[1] The note about the mill, 3^4."
FIRST = (
    "The star has 10^24 kg and the mill cost 45 [1] million. Water is H2O, x_i is 5 m^2. The 19th ship, a*b*c, "
    "List<String> and <your-key>.\nA new line with stress and a link."
)
STEPS = "3. third\n4. fourth\n  1. inner\n  2. last\n\n- plain\n- dotted"
SALES = (
    "Table 1: Sales by region\n"
    "Region: North; City: Aalborg; Sales 2020: 5; Sales 2021: 6.\n"
    "Region: North; City: Viborg; Sales 2020: 7; Sales 2021: 8.\n"
    "Region: South; City: Odense; Sales 2020: closed; Sales 2021: closed."
)
WRITERS: dict[str, Callable[[Path], object]] = {
    ".md": lambda path: path.write_text(made.MARKDOWN),
    ".html": lambda path: path.write_text(f"<html><body>{made.BODY}</body></html>"),
    ".rst": lambda path: path.write_text(made.RST),
    ".epub": made.epub,
    ".docx": made.word,
    ".odt": made.odt,
}
AT_THE_SECTION = (".docx", ".odt")  # their notes have no position, so they are at the end of the section with the mark


@pytest.mark.parametrize("suffix", WRITERS)
def test_one_document_in_all_formats(tmp_path: Path, suffix: str) -> None:
    path = tmp_path / f"a{suffix}"
    WRITERS[suffix](path)
    document = with_problems(path)[0]
    first = FIRST.replace("\nA new", "\n\nA new") if suffix == ".rst" else FIRST  # it has no line breaks
    texts = [f"{first}\n\n{NOTE}", STEPS, "After the table."]
    if suffix not in AT_THE_SECTION:
        texts = [first, STEPS, f"After the table.\n\n{NOTE}"]
    assert [section.text for section in document.sections] == texts
    assert [section.heading.rpartition(" > ")[2] for section in document.sections] == ["Star survey", "Steps", "Sales"]
    assert chunk(document, IndexingSettings())[-1].text == SALES


def test_slides_and_sheets(tmp_path: Path) -> None:
    made.slides(tmp_path / "a.pptx")
    document = with_problems(tmp_path / "a.pptx")[0]
    assert document.sections[0].text == FIRST.replace(" [1]", "")
    assert chunk(document, IndexingSettings())[-1].text == SALES
    made.sheet(tmp_path / "a.xlsx")
    assert [part.text for part in chunk(with_problems(tmp_path / "a.xlsx")[0], IndexingSettings())] == [SALES]


def test_what_is_hidden_is_told(tmp_path: Path) -> None:
    for suffix in AT_THE_SECTION:
        made_path = tmp_path / f"a{suffix}"
        WRITERS[suffix](made_path)
        (problem,) = (item for item in load(made_path) if isinstance(item, Problem))
        assert "holds 1 hidden piece, left out" in problem.message
        assert problem.lasting
    (tmp_path / "a.html").write_text("<p>Seen by all readers of the page.</p><div hidden>Not by any of them.</div>")
    problem, document = load(tmp_path / "a.html")
    assert isinstance(problem, Problem) and "hides 5 words" in problem.message
    assert isinstance(document, Document) and document.text == "Seen by all readers of the page."


# Words and numbers.

WORDS = st.text(st.sampled_from("abcdefgxyzÅéß日本"), min_size=1, max_size=8).filter(lambda word: word != "b")  # <b>
NUMBERS = st.integers(0, 10**6).map(str)
PLAIN = st.one_of(WORDS, NUMBERS)
MARKS = st.sampled_from(
    ["{}", "*{}*", "**{}**", "`{}`", "[{}](https://x.example)", "<b>{}</b>", "<{}>", "${}$", "~{}~"]
)
MARKED = st.builds(lambda mark, text: mark.format(text), MARKS, PLAIN)
LINES = st.lists(MARKED, min_size=1, max_size=8).map(" ".join)
BLOCKS = st.one_of(
    LINES,
    LINES.map(lambda line: f"# {line}"),
    LINES.map(lambda line: f"> {line}"),
    st.lists(LINES, min_size=1, max_size=3).map(lambda lines: "\n".join(f"- {line}" for line in lines)),
    PLAIN.map(lambda text: f"```\n{text}\n```"),
    st.lists(st.tuples(MARKED, MARKED), min_size=2, max_size=4).map(
        lambda rows: "\n".join(
            [f"| {rows[0][0]} | {rows[0][1]} |", "|--|--|", *(f"| {a} | {b} |" for a, b in rows[1:])]
        )
    ),
    st.builds(lambda a, b: f"10<sup>{a}</sup> and H<sub>{b}</sub>", NUMBERS, NUMBERS),
)


def words(text: str) -> Counter[str]:
    return Counter(re.findall(r"[^\W_]+", text))


def everything(document: Document) -> str:
    """Return everything in a document; a heading without text is its section's text."""
    parts = [section.text for section in document.sections]
    parts += [cell for table in document.tables for row in table.rows for cell in row]
    parts += {section.heading for section in document.sections if section.heading}
    parts += {table.caption for table in document.tables}
    return "\n".join(parts)


@settings(max_examples=150, deadline=None)
@given(st.lists(BLOCKS, min_size=1, max_size=6))
def test_no_word_or_number_of_markdown_is_lost(blocks: list[str]) -> None:
    blocks = [block for block in blocks if not block.startswith("# ")]
    source = "\n\n".join(["start", *blocks])
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "a.md"
        path.write_text(source)
        found = words(everything(with_problems(path)[0]))
    source = re.sub(r"\]\(https://x\.example\)|</?b>|</?su[bp]>|\|--\|--\|", " ", source.replace("<sup>", "^"))
    wanted = words(re.sub(r"H ?(?=\d)", "H", source))
    assert found == wanted


HTML_MARKED = st.builds(
    lambda tag, text: f"<{tag}>{text}</{tag}>", st.sampled_from(["b", "i", "code", "a", "span", "kbd"]), PLAIN
)
HTML_LINES = st.lists(st.one_of(PLAIN, HTML_MARKED), min_size=1, max_size=8).map(" ".join)
HTML_BLOCKS = st.one_of(
    HTML_LINES.map(lambda line: f"<p>{line}</p>"),
    HTML_LINES.map(lambda line: f"<div>{line}<br>{line}</div>"),
    HTML_LINES.map(lambda line: f"<pre>{line}</pre>"),
    st.lists(HTML_LINES, min_size=1, max_size=3).map(lambda ls: f"<ul>{''.join(f'<li>{line}' for line in ls)}</ul>"),
    st.lists(st.tuples(HTML_LINES, HTML_LINES), min_size=2, max_size=4).map(
        lambda rows: "<table>" + "".join(f"<tr><td>{a}<td>{b}</tr>" for a, b in rows) + "</table>"
    ),
    st.builds(lambda a, b: f"<p>7<sup>{a}</sup> and x<sub>q{b}</sub></p>", NUMBERS, NUMBERS),
)


@settings(max_examples=150, deadline=None)
@given(st.lists(HTML_BLOCKS, min_size=1, max_size=6))
def test_no_word_or_number_of_a_page_is_lost(blocks: list[str]) -> None:
    source = "\n".join(blocks)
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "a.html"
        path.write_text(source)
        found = words(everything(with_problems(path)[0]))
    assert found == words(re.sub(r"<[^>]*>", " ", source))
