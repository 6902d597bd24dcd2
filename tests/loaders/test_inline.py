"""Raised and lowered characters, notes, formulas, and text that only looks like markup, as plain text."""

from pathlib import Path

import pytest
from read_one import with_problems as read

from kgrag.loaders.inline import Inline, Node, formula, ordinal
from kgrag.values.documents import Table


@pytest.mark.parametrize("name", ["a.md", "a.html"])
@pytest.mark.parametrize(
    ("markup", "text"),
    [
        ("10<sup>24</sup> kg", "10^24 kg"), ("10<sup>-3</sup>", "10^-3"), ("5 m<sup>2</sup>.", "5 m^2."),
        ("x<sup>n+1</sup>", "x^(n+1)"), ("2<sup>10</sup>3", "2^10 3"), ("H<sub>2</sub>O", "H2O"),
        ("Ca(OH)<sub>2</sub>", "Ca(OH)2"), ("SO<sub>4</sub><sup>2-</sup>", "SO4^2-"),
        ("x<sub>i</sub><sup>2</sup>", "x_i^2"), ("log<sub>10</sub>x", "log10 x"), ("101<sub>2</sub>", "101_2"),
        ("the 19<sup>th</sup> and XIX<sup>e</sup>", "the 19th and XIXe"),
        ("45<sup>[3]</sup> million", "45 [3] million"),
        ("45<sup>3</sup> million in 1990<sup>2</sup>.", "45 [3] million in 1990 [2]."),
        ("12<sup>2</sup> = 144", "12^2 = 144"), ("3 + 45<sup>2</sup>", "3 + 45^2"), ("100<sup>2</sup>", "100^2"),
        ("one<br>two<br/>three", "one\ntwo\nthree"),
    ],
)  # fmt: skip
def test_raised_and_lowered(tmp_path: Path, name: str, markup: str, text: str) -> None:
    assert read(tmp_path / name, f"<p>{markup}</p>" if name == "a.html" else f"It is {markup}")[0].text.endswith(text)


@pytest.mark.parametrize(
    "text",
    [
        "Replace <your-api-key> and <region> in <dir>.", "List<String> and Map<K, V> and a<b and c>d",
        "<think>first</think> and </think>", "<think>\nfirst\n</think>", "<title> is the name",
        "2*3*4 and 2**3**4 and b_{j}^{*} or c_{k}^{*}", "a*b*c is a product", r"$a_{i}*b_{i} \\ c$ and $x*y*z$",
        r"\(a*b*c\) and \[a \\ b\]", "$$\na \\\\ b\n- c\n$$", "\\begin{align}\na &= b \\\\\n+ c*d*e\n\\end{align}",
        "no note [^here]",
    ],
)  # fmt: skip
def test_what_is_no_markup_stays(tmp_path: Path, text: str) -> None:
    found = read(tmp_path / "a.md", f"The start.\n\n{text}\n")[0].text
    assert found.split("\n\n", 1)[1].split() == text.split()


@pytest.mark.parametrize(
    ("markup", "text"),
    [
        (r"As in \[1\] and \[Smith, 2020-21\], \[*sic*\].", "As in [1] and [Smith, 2020-21], [sic]."),
        (r"\[Illustration: a kiln\]", "[Illustration: a kiln]"),
        (r"\[a = b\] and \[x - y\]", r"\[a = b\] and \[x - y\]"),
        ("\\[\na = b\n\\]", "\\[\na = b\n\\]"),
    ],
)
def test_escaped_brackets_are_no_formula(tmp_path: Path, markup: str, text: str) -> None:
    assert read(tmp_path / "a.md", markup)[0].text == text


@pytest.mark.parametrize("markup", ["\\[1\\] Smith.\n\n# Next\n\n\\[2\\]", "$$a$$ it is.\n\n# Next\n\n$$\nb\n$$"])
def test_formula_that_its_line_closes_does_not_swallow_headings(tmp_path: Path, markup: str) -> None:
    assert [section.heading for section in read(tmp_path / "a.md", markup)[0].sections] == ["", "Next"]


def test_markup_is_still_taken_for_markup(tmp_path: Path) -> None:
    text = (
        "*it* un*frig*ging **N**ational <b>bold</b> <a name='x'>y</a> <kbd>Ctrl</kbd> <!-- no --> costs $5 and $6 *now*"
    )
    assert read(tmp_path / "a.md", text)[0].text == "it unfrigging National bold y Ctrl  costs $5 and $6 now"
    block = "<details><summary>More</summary>\n\nInner <b>bold</b>\n\n</details>\n\n<p>A <name> in <i>it</i></p>"
    assert read(tmp_path / "b.md", block)[0].text == "More\n\nInner bold\n\nA <name> in it"


def test_names_in_tables_of_markdown_stay(tmp_path: Path) -> None:
    document = read(
        tmp_path / "a.md", "| Option | Meaning |\n|--|--|\n| <name> | the <dir> to use, 10<sup>6</sup> |\n"
    )[0]
    assert document.tables == (Table(1, (("Option", "Meaning"), ("<name>", "the <dir> to use, 10^6"))),)


def test_notes_of_markdown(tmp_path: Path) -> None:
    text = "It cost 45[^a] million[^2].\n\n[^a]: First\n  goes on.\n\n    More of it.\n[^2]: Second.\n\nAfter."
    assert read(tmp_path / "a.md", text)[0].text == (
        "It cost 45 [a] million [2].\n\n[a] First goes on.\n\nMore of it.\n\n[2] Second.\n\nAfter."
    )


@pytest.mark.parametrize(
    "markup",
    [
        "<p>cost 45<sup id='r'><a href='#n'>3</a></sup> million</p><ol><li id='n'>Text. <a href='#r'>↩</a></li></ol>",
        "<p>cost 45<a href='#n'><sup>3</sup></a> million</p><p id='n'>Text.</p>",
        "<p>cost 45<a epub:type='noteref' href='x.xhtml#n'>3</a> million</p><aside id='n'><p>Text.</p></aside>",
        "<p>cost 45<sup><a href='b.html#n'>3</a></sup> million</p><p><sup><a href='a.html#r'>3</a></sup> Text.</p>",
        "<p>cost 45<sup><a href='#n'>[3]</a></sup> million</p><p><a id='n' href='#r'>3</a> Text.</p>",
    ],
)
def test_notes_of_pages(tmp_path: Path, markup: str) -> None:
    assert read(tmp_path / "a.html", markup)[0].text == "cost 45 [3] million\n\n[3] Text."


def test_several_notes_in_one_place(tmp_path: Path) -> None:
    page = "<p>cost 45<sup><a href='#n1'>1</a>, <a href='#n2'>2</a></sup> million</p>"
    assert read(tmp_path / "a.html", page)[0].text == "cost 45 [1], [2] million"


def test_lists_keep_their_numbers(tmp_path: Path) -> None:
    page = (
        "<ol start='3'><li>c<li value='7'>g<li>h</ol><ol type='a'><li>x<li>y</ol><ul><li>z<ol type='I'><li>i</ol></ul>"
    )
    assert read(tmp_path / "a.html", page)[0].text == "3. c\n7. g\n8. h\n\na. x\nb. y\n\n- z\n  I. i"
    assert read(tmp_path / "a.md", "1. one\n1. two\n5. three\n")[0].text == "1. one\n2. two\n3. three"
    assert read(tmp_path / "a.rst", "c. third\nd. fourth\n")[0].text == "c. third\nd. fourth"
    assert [ordinal(n, "a") for n in (1, 26, 27)] == ["a", "z", "aa"]
    assert ordinal(1994, "I") == "MCMXCIV"


def test_formulas(tmp_path: Path) -> None:
    power = "<msup><mi>x</mi><mn>2</mn></msup>"
    page = f"<p>It is <math><mfrac><mrow><mi>a</mi><mo>+</mo><mn>1</mn></mrow>{power}</mfrac></math>.</p>"
    assert read(tmp_path / "a.html", page)[0].text == "It is (a+1)/(x^2)."
    tex = f"<math><semantics>{power}<annotation encoding='application/x-tex'>x^2</annotation></semantics></math>"
    assert read(tmp_path / "b.html", f"<p>It is {tex}</p>")[0].text == "It is $x^2$"
    root = Node("rad", inner=[Node("deg"), Node("e", inner=[Node("r", inner=[Node("t", "x")])])])
    assert formula(root) == "sqrt(x)"


def test_hidden_parts_of_a_page_are_left_out_unless_they_are_the_page(tmp_path: Path) -> None:
    text = "word " * 50
    page = (
        f"<p>{text}</p><p hidden>one</p><p style='color:red; DISPLAY : none'>two</p><p hidden='until-found'>three</p>"
    )
    assert read(tmp_path / "a.html", page)[0].text == f"{text.strip()}\n\nthree"
    assert read(tmp_path / "b.html", f"<div style='display:none'>{text}</div><p>on</p>")[0].text.startswith("word")


def test_marks_never_join_what_follows() -> None:
    line = Inline()
    line.text("see")
    line.note("12")
    line.text("3 of")
    assert line.take() == "see [12] 3 of"
    line.begin("^")
    line.text("open")
    assert line.take() == "^open"
