"""Pages made by Sphinx, Doxygen, Javadoc and MkDocs: the text without the surrounding navigation."""

from pathlib import Path

import pytest
from read_one import only

from kgrag.loaders import load
from kgrag.values.documents import Document

TEXT = "Copies the file and its mode. If the target exists, it is replaced without a question. " * 4
PAGES = {
    "sphinx": """<div class="related" role="navigation"><ul><li>next | previous</li></ul></div>
        <div class="body" role="main"><h1>Copying<a class="headerlink" href="#c" title="Permalink">¶</a></h1><p>{}</p>
        <dl><dt>copy(a)<a class="headerlink" href="#copy">¶</a></dt><dd>Copies.</dd></dl></div>
        <div class="sphinxsidebar"><h3>Table of Contents</h3><a href="#c">next</a></div>""",
    "doxygen": """<div id="top"><div id="titlearea">next</div></div><div id="nav-path" class="navpath">
        <ul><li>next</li></ul></div><div class="contents"><h1>Copying</h1><p>{}</p><p>copy(a)</p>Copies.</div>""",
    "javadoc": """<header class="flex-header"><div class="top-nav">next</div><div class="sub-nav">next</div></header>
        <main><h1>Copying</h1><p>{}</p><p>copy(a)</p><p>Copies.</p></main>""",
    "mkdocs": """<header class="md-header">next</header><div class="md-sidebar"><ul><li>next</li></ul></div>
        <main><article><h1>Copying<a class="headerlink" href="#c">¶</a></h1><p>{}</p><p>copy(a)</p><p>Copies.</p>
        </article></main><footer class="md-footer">next</footer>""",
}


@pytest.mark.parametrize("maker", PAGES)
def test_only_the_text_is_read(tmp_path: Path, maker: str) -> None:
    page = f"<html><head><title>T</title></head><body>{PAGES[maker].format(TEXT)}</body></html>"
    (tmp_path / "a.html").write_text(page)
    document = only(tmp_path)
    assert {s.heading for s in document.sections} == {"Copying"}
    assert " ".join(document.text.split()) == f"{TEXT}copy(a) Copies."


def test_a_small_main_part_is_not_all(tmp_path: Path) -> None:
    (tmp_path / "a.html").write_text(f"<body><main>Short.</main><p>{TEXT}</p><a href='#x'>a#b</a></body>")
    document = only(tmp_path)
    assert "Short." in document.text
    assert "a#b" in document.text
    assert TEXT.strip() in document.text


def test_what_the_pages_of_a_folder_share_is_left_out(tmp_path: Path) -> None:
    for n in range(6):
        body = f"<p>Skip to text</p><h1>Command {n}</h1><p>{TEXT}</p><p>Part of the suite</p><p>Does {n}.</p>"
        foot = "<h2>GIT</h2><p>Part of the suite</p><p>Last made today</p>"
        (tmp_path / f"{n}.html").write_text(f"<title>Command {n} — The Suite</title><body>{body}{foot}</body>")
    (tmp_path / "short.html").write_text("<title>The Suite</title><p>Part of the suite</p>")
    found = {d.title: d for d in load(tmp_path) if isinstance(d, Document)}
    assert set(found) == {*(f"Command {n}" for n in range(6)), "The Suite"}
    for n in range(6):
        document = found[f"Command {n}"]
        assert document.text == f"{TEXT.strip()}\n\nPart of the suite\n\nDoes {n}."  # inner parts stay
        assert [s.heading for s in document.sections] == [f"Command {n}"]
    assert found["The Suite"].text == "Part of the suite"  # even on a page without other text


def test_marks_of_paragraphs_are_no_text(tmp_path: Path) -> None:
    head = '<h1>Copying<a class="headerlink" href="#c">¶</a></h1><h2>Next <a href="#n">¶ </a></h2>'
    table = f'<table><caption>Table 1<a class="permalink" href="#t">¶</a></caption><tr><td>{TEXT}</td></tr></table>'
    (tmp_path / "a.html").write_text(f"<body>{head}{table}<pre>copy(a)<a href='#x'>¶</a></pre></body>")
    document = only(tmp_path)
    assert "copy(a)" in document.text
    assert "¶" not in document.text + document.title + "".join(s.heading for s in document.sections)
