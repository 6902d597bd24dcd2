"""Rankings and rows in a notebook are tables, with texts escaped."""

import re
from dataclasses import replace

from kgrag.values.events import Answer, Citation
from kgrag.values.results import Hit, Passage, Ranking
from kgrag.values.rows import Node, Rows

_HOSTILE = "<script>alert('x')</script> & \"more\""


def _cells(html: str) -> list[str]:
    return re.findall(r"<t[hd][^>]*>(.*?)</t[hd]>", html)


def test_a_ranking_is_a_table_of_its_hits() -> None:
    hits = (Hit(Passage("a", "d", _HOSTILE, "It sank. " * 60), 0.51239), Hit(Passage("b", "d", "Maud", "Ice."), 0.5))
    html = Ranking("Who?", "bm25", hits, ("The index is <old>.",))._repr_html_()
    assert "<script" not in html and "&lt;script&gt;alert(&#x27;x&#x27;)&lt;/script&gt; &amp;" in html
    cells = _cells(html)
    assert cells[:4] == ["rank", "score", "title", "text"]
    assert (cells[4:6], cells[8:]) == (["1", "0.512"], ["2", "0.500", "Maud", "Ice."])
    assert 280 < len(cells[7]) <= 302 and cells[7].endswith("sank. It …")
    assert html.endswith("<p>The index is &lt;old&gt;.</p>")


def test_a_ranking_of_nothing_says_so() -> None:
    assert Ranking("Who?", "bm25")._repr_html_().endswith("<p>bm25 found nothing.</p>")


def test_an_answer_is_its_text_and_what_it_cites() -> None:
    cited = Citation(1, Passage("a", "d", _HOSTILE, "She sank."))
    answer = Answer("Who?", "Archer [1].\n\n<b>Really</b>.", True, "single", Ranking("Who?", "bm25"), (cited,))
    html = replace(answer, unsupported=("Archer",))._repr_html_()
    assert html.startswith("<p>Archer [1].</p><p>&lt;b&gt;Really&lt;/b&gt;.</p><table>")
    assert html.endswith("<p>Not supported by the passages: “Archer”.</p>") and "<script" not in html
    assert _cells(html)[3::2] == ["[1]", "She sank."]
    none = replace(answer, text="", citations=(), problem="The budget is <used up>.")
    assert none._repr_html_() == "<p>The budget is &lt;used up&gt;.</p>"


def test_rows_are_a_table_with_what_was_cut() -> None:
    node = Node("1", ("Entity",), {"name": "Fram <ship>"})
    html = Rows(("who", "<n>"), ((node, None), ("x", 3)), "only the first 2 rows are given")._repr_html_()
    assert _cells(html) == ["who", "&lt;n&gt;", "(Fram &lt;ship&gt;)", "", "x", "3"]
    assert html.endswith("<p>only the first 2 rows are given</p>")
    assert Rows(("a",), ())._repr_html_() == "<table><tr><th style=text-align:left>a</th></tr></table>"
    (long,) = _cells(Rows(("a",), (("x" * 400,),))._repr_html_())[1:]
    assert long == "x" * 300 + " …"
