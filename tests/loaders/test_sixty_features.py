"""Each format reads sixty features of documents alike; this file names the exceptions."""

import re
import tempfile
from collections import Counter
from collections.abc import Callable, Mapping
from pathlib import Path

import made_markup
import made_office
import made_pages
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from made_features import FEATURES, Block, Code, Feature, Items, Mark, Para, Tasks, grid, over
from read_one import only

from kgrag.indexing.chunking import table_chunks
from kgrag.loaders import load
from kgrag.values.documents import Document

WRITERS: Mapping[str, Callable[..., None]] = {
    ".md": made_markup.markdown, ".html": made_markup.html, ".rst": made_markup.rst, ".epub": made_markup.epub,
    ".docx": made_office.word, ".odt": made_office.odt, ".pptx": made_pages.slides, ".xlsx": made_pages.sheets,
    ".pdf": made_pages.pdf,
}  # fmt: skip
LINES = (".pptx",)  # their paragraphs are separated by less than a blank line

# Features that a format lacks or stores differently, with the result; "" if the format cannot express them at all.
LINEAR = {"mathematics": "So x^2 it is.", "display": "As seen:\n\nx^2"}  # Office Math and MathML without TeX
UNNOTED = {"footnote": "It cost 45 million.", "endnote": "It took 12 days."}  # no notes
UNSTRUCK = {"strike": "It is wrong right."}  # no struck text, or indistinguishable from lines
FLAT = {  # no headings below a slide's
    "headings": "Third\n\nFourth\n\nFifth\n\nSixth\n\nLow.",
    "numbered": "1. Aim\n\nSo.\n\n2. Way\n\n2.1 Short\n\nGo.",
}
EXCEPT: dict[str, dict[str, str]] = {
    ".md": {
        "letters": "1. first\n2. second",  # CommonMark has only digits
        "roman": "3. first\n4. second",
        "definitions": "Mill : It grinds.\n\nShip : It sails.",  # and no definition lists
    },
    ".html": {},
    ".rst": UNSTRUCK,
    ".epub": {},
    ".docx": LINEAR,
    ".odt": LINEAR,
    ".pptx": {
        **LINEAR, **UNNOTED, **FLAT,
        "image": "See  there.\n\nA red mill",  # pictures are beside the text
        "table in a table": "",  # cells contain only text
    },
    ".xlsx": {
        **UNNOTED, **UNSTRUCK,
        "break in a cell": "Ship: Ports.\nFram: Oslo Bergen.",  # two columns of words may have no header
        "mathematics": "So x^2 it is.",
        "hard break": "one two",  # a cell is one line
        "image": "See there.",
        "list in a cell": "Ship: Ports.\nFram: Oslo Bergen.",
        "table in a table": "",
        **dict.fromkeys(
            "code block,display,nested list,from five,letters,roman,definitions,tasks,quote,headings,numbered,caption,"
            "rule,text box,running heads".split(","),
            "",  # sheets have none of them
        ),
    },
    ".pdf": {
        **LINEAR, **UNNOTED, **UNSTRUCK,
        "break in a cell": "Ship: Ports.\nFram: Oslo Bergen.",
        "emoji": "",  # the font lacks these
        "cjk": "",
        "hard break": "one two",  # line breaks of a page have no meaning
        "nested list": "• one\n• in\n1. deep\n• two",  # markers as printed; deeper levels are unknown
        "tasks": "• [x] done\n• [ ] open",
        "image": "See there.",  # pictures have no text
        "list in a cell": "Ship: Ports.\nFram: • Oslo • Bergen.",
        "table in a table": "",  # the lines of both form one table
    },
}  # fmt: skip


@pytest.fixture(scope="module")
def documents(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Document]:
    """The document in each format."""
    folder = tmp_path_factory.mktemp("features")
    found = {}
    for suffix, write in WRITERS.items():
        write(folder / f"all{suffix}")
        (found[suffix],) = (item for item in load(folder / f"all{suffix}") if isinstance(item, Document))
    return found


def texts(document: Document) -> dict[str, str]:
    """Return heading -> the text under it, without notes, whose position depends on the format."""
    found: dict[str, str] = {}
    for section in document.sections:
        text = re.sub(r"(?:^|\n\n)\[(?:1|i)\] .*", "", section.text)
        text = re.sub(r"\n*Whoever reads on\..* As here\.", "", text, flags=re.DOTALL)  # see made_pages
        found[section.heading.removeprefix("All > ")] = text
    return found


def rows(document: Document) -> dict[str, str]:
    """Return caption -> the rows of a table in their searchable form."""
    chunks = (chunk.text.partition("\n") for chunk in table_chunks(document, 10**6))
    return {caption: text for caption, _, text in chunks}


@pytest.mark.parametrize("suffix", WRITERS)
@pytest.mark.parametrize("feature", FEATURES, ids=[feature.name for feature in FEATURES])
def test_a_feature(documents: dict[str, Document], feature: Feature, suffix: str) -> None:
    document = documents[suffix]
    here = EXCEPT[suffix].get(feature.name)
    name = feature.name
    if feature.table and here != "":
        assert rows(document)[name] == (here or feature.table)
    if suffix == ".xlsx" and not feature.table and here != "":
        assert f"\nName: {name}; Text: {here or feature.text}.\n" in f"\n{rows(document)['texts']}\n"
    elif suffix != ".xlsx" and (feature.text or feature.below):
        found = {key: text for key, text in texts(document).items() if key == name or key.startswith(f"{name} > ")}
        wanted = {name: feature.text} if feature.text else feature.below
        wanted = wanted if here is None else {name: here} if here else {}
        if suffix == ".pdf":  # heading levels are guessed from size and number
            last = {key.rpartition(" > ")[2] for key in wanted}
            wanted = {key.rpartition(" > ")[2]: text for key, text in wanted.items()}
            found = {k: v for key, v in texts(document).items() if v and (k := key.rpartition(" > ")[2]) in last}
        if suffix in LINES:
            found, wanted = ({k: re.sub("\n+", "\n", v) for k, v in one.items()} for one in (found, wanted))
        assert found == wanted


@pytest.mark.parametrize("suffix", [".md", ".html", ".rst", ".epub", ".docx", ".odt"])
def test_notes_are_read_once(documents: dict[str, Document], suffix: str) -> None:
    text = documents[suffix].text
    assert [text.count(note) for note in ("[1] A note, 3.", "[i] The end.", "RUNNING", "REMARK")] == [1, 1, 0, 0]


# Words and numbers of any document.

WORDS = st.text(st.sampled_from("abcdefgxyzÅéß日本"), min_size=1, max_size=8)
NUMBERS = st.one_of(st.integers(0, 10**6).map(str), st.sampled_from(["007", "1.10", "1,234.50", "12%", "2*3", "a_b"]))
PLAIN = st.one_of(WORDS, NUMBERS)
MARKS = st.builds(lambda kind, text: Mark(kind, text, "https://x.example"), st.sampled_from(["code", "link"]), WORDS)
PARTS = st.lists(st.one_of(PLAIN, MARKS), min_size=1, max_size=6)
PARAS = PARTS.map(lambda parts: Para(["Start", *(piece for part in parts for piece in (" ", part))]))
LISTS = st.builds(
    lambda kind, items, inner: Items(kind, [(items[0], Items("-", [(inner, None)])), *((i, None) for i in items[1:])]),
    st.sampled_from(["-", "1"]),
    st.lists(WORDS, min_size=1, max_size=3),
    WORDS,
)
GRIDS = st.lists(st.tuples(PLAIN, PLAIN), min_size=1, max_size=4).map(lambda rows: grid(["One", "Two"], *rows))
SPANS = st.tuples(WORDS, WORDS, WORDS).map(lambda t: grid(["One", "Two"], [over(t[0], 2), t[1]], [t[2]]))
BLOCKS: st.SearchStrategy[Block] = st.one_of(
    PARAS,
    LISTS,
    GRIDS,
    SPANS,
    WORDS.map(Code),
    st.tuples(WORDS, WORDS).map(lambda t: Tasks([(True, t[0]), (False, t[1])])),
)


def words_of(text: str) -> Counter[str]:
    return Counter(re.findall(r"\w+", text))


def said(block: Block) -> str:
    """Return the words of a block, each as often as its author wrote it."""
    match block:
        case Para(line):
            return "".join(part if isinstance(part, str) else part.text for part in line)
        case Items(_, items):
            return " ".join(f"{text} {said(inner) if inner else ''}" for text, inner in items)
        case Code(text):
            return text
        case Tasks(pairs):
            return " ".join(text for _, text in pairs)
        case _:
            cells = (cell for row in getattr(block, "rows", ()) for cell in row)
            return " ".join(" ".join([said(inner) for inner in cell.inner] * cell.down) for cell in cells)


@pytest.mark.parametrize("suffix", [suffix for suffix in WRITERS if suffix not in (".xlsx", ".pdf")])
@settings(max_examples=15, deadline=None)
@given(st.lists(BLOCKS, min_size=1, max_size=4))
def test_no_word_or_number_is_lost(suffix: str, blocks: list[Block]) -> None:
    features = [Feature(f"Part {number}", [block, Para(["End."])]) for number, block in enumerate(blocks)]
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / f"a{suffix}"
        WRITERS[suffix](path, features)
        (document,) = (item for item in load(path) if isinstance(item, Document))
    text = " ".join(re.sub(r"(?m)^ *(?:- \[[ x]\]|-|\d\.) ", "", section.text) for section in document.sections)
    text += " ".join(" ".join(cell for row in table.rows for cell in row) for table in document.tables)
    wanted = words_of(" ".join(f"{said(block)} End" for block in blocks))
    found = words_of(text)
    assert found == wanted


def test_what_docutils_cannot_read_stays_as_it_is_written(tmp_path: Path) -> None:
    document = only(tmp_path / "a.rst", "Mills\n=====\n\nBefore |x|.\n\n+--+--+\n| long | b\n+--+--+\n\nAfter.\n")
    assert document.text == "Before |x|.\n\n+--+--+\n| long | b\n+--+--+\n\nAfter."


def test_headings_that_the_program_numbers_in_opendocument(tmp_path: Path) -> None:
    made_office.odt(tmp_path / "a.odt", [Feature("Mills", [])], outline="1")
    document = only(tmp_path / "a.odt")
    assert [section.heading for section in document.sections] == ["1. All > 1.1. Mills"]
