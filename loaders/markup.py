"""Prepare an HTML page for reading: remove navigation, hidden parts, and parts that its folder repeats."""

import re
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from bs4 import BeautifulSoup
from bs4.element import NavigableString, Tag

from kgrag.loaders.base import counted
from kgrag.loaders.inline import Node, formula
from kgrag.loaders.outline import Outline
from kgrag.text.letters import word_lists
from kgrag.values.documents import Document, Section

# Boilerplate around the text of the HTML pages of a folder: blocks at the start and end, and endings of titles.
#
# Only short blocks that most pages of the folder share are removed, and only from the edges inwards. Repeated blocks
# between other text stay, and so does a page that would be empty without them.


_SAMPLE = 12  # pages of a folder to compare
_FEWEST = 4  # pages that must share a block
_DEPTH = 4  # blocks to inspect at each edge
_LONGEST = 200  # characters of the longest block of boilerplate
_SEPARATORS = (" — ", " – ", " | ", " - ", " :: ", " · ")


@dataclass(frozen=True, slots=True)
class Boilerplate:
    """The common blocks at the start and the end of pages, and the common endings of their titles."""

    head: frozenset[str] = frozenset()
    tail: frozenset[str] = frozenset()
    title: str = ""

    def cut(self, document: Document) -> Document:
        """Return the document without boilerplate, or unchanged if nothing else would remain."""
        sections = _cut(_cut(document.sections, self.head, first=True), self.tail, first=False)
        title = document.title.removesuffix(self.title).strip() or document.title
        return replace(document, sections=sections or document.sections, title=title)


def sample(page: Path, extensions: Sequence[str]) -> list[Path]:
    """Return the pages of the folder of `page` to compare: the first by name."""
    pages = (p for p in page.parent.iterdir() if p.suffix.lower() in extensions and not p.name.startswith("."))
    return sorted(p for p in pages if p.is_file() and not p.is_symlink())[:_SAMPLE]


def boilerplate(documents: Sequence[Document]) -> Boilerplate:
    """Return the beginnings and ends that most of the documents share; empty for fewer than four documents."""
    needed = max(_FEWEST, len(documents) // 2 + 1)
    blocks = [[b for s in d.sections for b in s.text.split("\n\n")] for d in documents]
    ends = [d.title[d.title.rindex(s) :] for d in documents if (s := _last_separator(d.title))]
    return Boilerplate(
        _common((b[:_DEPTH] for b in blocks), needed),
        _common((b[-_DEPTH:] for b in blocks), needed),
        next(iter(_common(([end] for end in ends), needed)), ""),
    )


def _common(edges: Iterable[Sequence[str]], needed: int) -> frozenset[str]:
    counts = Counter(block for edge in edges for block in set(edge) if len(block) <= _LONGEST)
    return frozenset(block for block, n in counts.items() if n >= needed)


def _last_separator(title: str) -> str:
    return max(_SEPARATORS, key=title.rfind) if any(s in title for s in _SEPARATORS) else ""


def _cut(sections: Sequence[Section], unwanted: frozenset[str], *, first: bool) -> tuple[Section, ...]:
    """Return the sections without unwanted blocks at the first edge, or at the last."""
    left = list(sections)
    place = 0 if first else -1
    while left:
        blocks = left[place].text.split("\n\n")
        while blocks and blocks[place] in unwanted:
            del blocks[place]
        if blocks:
            left[place] = replace(left[place], text="\n\n".join(blocks))
            break
        del left[place]
    return tuple(left)


NOTE = "kgrag-note"
"""The element that replaces the mark of a note, with its `label`; with `own` it is the beginning of the note."""
BREAK = "\x1e"
"""Stands for <br> until a block is complete; clean() would make it a newline."""
_BESIDE = frozenset(("navigation", "search", "banner", "contentinfo", "complementary"))
"""Roles (WAI-ARIA landmarks) of content beside a page's text."""
_LISTS = word_lists("kgrag.loaders")
_FRAMES = _LISTS["frames"]
_PERMALINKS = frozenset("headerlink header-link anchor-link anchor permalink toclink-anchor hash-link".split())
_TYPED = frozenset("text search email tel url number date month week time datetime-local color range".split())
"""Kinds of fields that show typed text."""
_HIDDEN = re.compile(r"(?:^|;)\s*(?:display\s*:\s*none|visibility\s*:\s*hidden)\b", re.IGNORECASE)
_STRUCK = re.compile(r"(?:^|;)\s*text-decoration(?:-line)?\s*:[^;]*\bline-through\b", re.IGNORECASE)
_HIDDEN_SHARE = 0.1  # share of a page's words; less is menus and messages of every page, more is reported
_MOST_KEPT = 50  # large hidden parts; on a page with more of them, hiding means nothing
_REFERENCES = frozenset("footnote-ref footnote-reference noteref doc-noteref doc-biblioref".split())
_BACK = frozenset("footnote-backref footnote-back footnote-backlink reversefootnote mw-cite-backlink".split())
_ARROWS = frozenset(("↩", "↩︎", "↑", "⏎", "^", "↵"))
_LINES = "td.blob-code, td.lines-code, td.line-code, td.code-line"
"""Table cells that each hold one line of code on GitHub, Gitea and GitLab."""
_LABEL = re.compile(r"\[?(?:note |n )?\w{1,4}\]?|[*†‡§]{1,3}", re.IGNORECASE)


def prepare(soup: BeautifulSoup, outline: Outline) -> None:
    """Remove the parts of a page that are not text, and insert plain text where tags alone carry the meaning."""
    for tag in soup.find_all(_is_struck):
        outline.left_out["deleted piece"] += not _is_gone(tag) and bool(tag.get_text().strip())
        tag.decompose()
    _drop_frames(soup, outline)
    _drop_hidden(soup, outline)
    for tag in soup.find_all("math"):
        tag.replace_with(NavigableString(_math(tag)))
    for tag in soup.select(
        "code.math, tt.math, pre.math, script[type^='math/tex']"
    ):  # formulas of docutils and MathJax
        display = tag.name == "pre" or "mode=display" in str(tag.get("type"))
        tag.replace_with(NavigableString(_tex(tag.get_text(), display)))
    for tag in soup.select(".katex-html"):  # repeats its MathML
        tag.decompose()
    _fill_in(soup, outline)
    _drop_line_numbers(soup)
    for tag in soup.find_all("q"):
        tag.insert(0, "“")
        tag.append("”")
    for tag in soup.select("blockquote footer"):  # the source of the quotation
        tag.name = "div"
    for tag in soup.select(".system-messages"):
        tag.decompose()
    for tag in soup.select(".system-message"):  # an error of docutils, with the source that it could not read
        literal = tag.find("pre")
        tag.replace_with(literal) if literal is not None else tag.decompose()
    for tag in soup.select(".line-block .line"):  # also from docutils
        tag.name = "span"
        tag.insert_after(BREAK)
    for tag in soup.find_all(["rt", "rp", "rtc"]):  # ruby readings above characters would split the word
        outline.left_out["reading of characters"] += tag.name == "rt" and not _is_gone(tag)
        tag.decompose()
    _mark_notes(soup)


def _drop_line_numbers(soup: BeautifulSoup) -> None:
    """Remove the line numbers of code, and the tables that place them beside it."""
    for cell in soup.select("td.linenos, td.rouge-gutter"):
        table = cell.find_parent("table")
        if table is not None:
            for part in (table, *table.find_all(["tbody", "tr", "th", "td"])):
                part.name = "div"
        cell.decompose()
    for table in {id(t): t for c in soup.select(_LINES) if (t := c.find_parent("table")) is not None}.values():
        code = "\n".join(cell.get_text().strip("\n") for cell in table.select(_LINES))
        table.clear()
        table.name = "pre"
        table.append(code)
    for tag in soup.select("pre .linenos, pre .lineno"):
        tag.decompose()


def _fill_in(soup: BeautifulSoup, outline: Outline) -> None:
    """Replace form fields by their values."""
    for tag in soup.find_all("input"):
        kind, value = str(tag.get("type") or "text").lower(), str(tag.get("value") or "")
        if kind in ("checkbox", "radio"):
            listed = kind == "checkbox" and tag.find_parent("li") is not None  # a task list
            text = "[x] " if tag.has_attr("checked") else "[ ] " if listed else ""
            tag.replace_with(NavigableString(text))
        elif kind in _TYPED and value.strip():
            tag.replace_with(NavigableString(f" {value} "))
        elif kind == "password" and value.strip():
            outline.left_out["form value"] += 1
    for tag in soup.find_all("select"):
        options = tag.find_all("option")
        if any(option.has_attr("selected") for option in options):
            for option in options:
                if not option.has_attr("selected"):
                    option.decompose()


def _is_gone(tag: Tag) -> bool:
    return "_decomposed" in vars(tag)  # tag.decomposed would search all descendants for a tag of that name


def _names(tag: Tag, *keys: str) -> set[str]:
    return {str(name).lower() for key in keys for name in tag.get_attribute_list(key) if name}


def _drop_frames(soup: BeautifulSoup, outline: Outline) -> None:
    """Remove navigation and the permalinks of headings."""
    for link in soup.find_all("a"):
        text = link.get_text().strip()
        own = not _PERMALINKS.isdisjoint(link.get_attribute_list("class")) or text in ("¶", "🔗")
        if own and len(text) <= 1 and (link.get("href") or text):
            link.decompose()
    size = len(soup.get_text())
    for tag in soup.find_all(["div", "ul", "ol", "table", "aside", "section", "header", "form", "span"]):
        if _is_gone(tag):
            continue
        beside = tag.get("role") in _BESIDE or not _FRAMES.isdisjoint(_names(tag, "class", "id"))
        if beside and len(tag.get_text()) < size / 2:  # a larger element is the page itself, named like a frame
            kind = "page foot" if tag.get("role") == "contentinfo" else "navigation bar"
            outline.left_out[kind] += bool(tag.get_text().strip())
            tag.decompose()


def _drop_hidden(soup: BeautifulSoup, outline: Outline) -> None:
    """Remove hidden parts, unless they are most of the page and a script will show them."""
    words = hidden = exempt = 0
    for tag in soup.find_all(is_hidden):
        if _is_gone(tag) or exempt > _MOST_KEPT:
            continue
        words = words or len(soup.get_text().split())
        count = len(tag.get_text().split())
        if hidden + count <= words / 2:
            hidden += count
            tag.decompose()
        else:
            exempt += 1
    if hidden > _HIDDEN_SHARE * words:
        outline.problems.append(f"hides {counted(hidden, 'word')} from readers, left out")


def _is_struck(tag: Tag) -> bool:
    return tag.name in ("del", "s", "strike") or _STRUCK.search(str(tag.get("style") or "")) is not None


def is_hidden(tag: Tag) -> bool:
    """Return whether an element is hidden from readers."""
    if tag.name in ("html", "body", "math", "script", "style", "template"):
        return False
    hidden = tag.get("hidden")
    return (hidden is not None and hidden != "until-found") or _HIDDEN.search(str(tag.get("style") or "")) is not None


def _math(tag: Tag) -> str:
    """Return a formula in the TeX given on the page, if any, else on one line."""
    source = tag.find("annotation", attrs={"encoding": re.compile("tex", re.IGNORECASE)})
    if isinstance(source, Tag) and source.get_text().strip():
        return _tex(source.get_text(), tag.get("display") == "block")
    return formula(math_node(tag))


def _tex(source: str, display: bool) -> str:
    sign = "$$" if display else "$"
    return f"{sign}{source.strip()}{sign}"


def math_node(tag: Tag, depth: int = 0) -> Node:
    """Return the node of a formula in MathML."""
    if depth > 100:
        return Node(tag.name, tag.get_text())
    inner = [
        math_node(part, depth + 1) for part in tag.children if isinstance(part, Tag) and "annotation" not in part.name
    ]
    return Node(tag.name, "" if inner else tag.get_text().strip(), inner)


def _mark_notes(soup: BeautifulSoup) -> None:
    """Insert `NOTE` elements at the references to notes and at their beginnings, and drop the links back."""
    labels: dict[str, str] = {}  # the id of a note -> its label
    for tag in soup.find_all(role=["doc-footnote", "doc-biblioentry"]):
        label_tag = tag.find(class_="label")
        if isinstance(label_tag, Tag):
            labels[str(tag.get("id"))] = label_tag.get_text().strip("[]() \n")
            label_tag.decompose()
    for link in soup.find_all("a", href=True):
        label, target = link.get_text().strip(), str(link["href"]).rpartition("#")[2]
        outer = link
        while outer.parent is not None and outer.parent.name in ("sup", "span") and _stands_alone(outer):
            outer = outer.parent
        kinds = _names(link, "role", "epub:type", "class") | _names(outer, "class")
        if not _BACK.isdisjoint(kinds) or "doc-backlink" in kinds or (label in _ARROWS and target):
            link.decompose()
        elif target and ("doc-biblioref" in kinds or _LABEL.fullmatch(label)) and _is_mark(link, outer, kinds):
            own = _begins(outer) and kinds.isdisjoint(_REFERENCES)
            number = label.strip("[]() ")
            _insert_note(outer, number if own else labels.setdefault(target, number), own=own)
    for tag in soup.find_all(id=True):
        label = labels.pop(str(tag["id"]), "") if not _is_gone(tag) and tag.name != NOTE else ""
        if label and _LABEL.fullmatch(tag.get_text().strip()):
            _insert_note(tag, label, own=True)  # an anchor at the note's own mark
        elif label:
            mark = soup.new_tag(NOTE, attrs={"label": label, "own": "1"})
            tag.insert(0, mark)


def _stands_alone(tag: Tag) -> bool:
    if tag.parent is None or len(tag.parent.contents) > 5:
        return False
    return tag.parent.get_text().strip("[]() \n") == tag.get_text().strip("[]() \n")


def _is_mark(link: Tag, outer: Tag, kinds: set[str]) -> bool:
    """Return whether a link with a short text is the mark of a note."""
    raised = outer.name == "sup" or link.find("sup") is not None or link.find_parent("sup") is not None
    return raised or not kinds.isdisjoint(_REFERENCES)


def _begins(tag: Tag) -> bool:
    """Return whether an element begins its paragraph, like the link back at the start of a note."""
    before = tag.previous_sibling
    first = before is None or (isinstance(before, NavigableString) and not before.strip())
    return first and tag.parent is not None and tag.parent.name != "sup"


def _insert_note(tag: Tag, label: str, *, own: bool) -> None:
    tag.clear()
    tag.name = NOTE
    tag["label"] = label
    if own:
        tag["own"] = "1"
