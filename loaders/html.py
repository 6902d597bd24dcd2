"""HTML pages: the readable text in sections under their headings."""

import re
import warnings
from collections.abc import Iterator, Sequence
from contextlib import suppress
from pathlib import Path

from bs4 import BeautifulSoup, MarkupResemblesLocatorWarning, XMLParsedAsHTMLWarning
from bs4.dammit import EncodingDetector
from bs4.element import CData, NavigableString, PageElement, Tag

from kgrag.loaders.base import BadInput, Format, Item, Reading, Source, one_line, read_text
from kgrag.loaders.boilerplate import boilerplate, sample
from kgrag.loaders.outline import Outline, table_text
from kgrag.types import Document

_DROPPED = ["script", "style", "noscript", "template", "nav", "footer", "svg", "iframe", "title"]
_BESIDE = frozenset(("navigation", "search", "banner", "contentinfo", "complementary"))
"""Roles (WAI-ARIA landmarks) of what stands beside a page's text."""
_FRAMES = frozenset(  # classes and ids of what Sphinx, Doxygen, Javadoc and MkDocs put around it
    """sphinxsidebar related sphinxsidebarwrapper mobile-nav rst-versions rst-footer-buttons wy-nav-side wy-nav-top
    wy-breadcrumbs toctree-wrapper breadcrumbs prev-next-area bd-sidebar md-header md-sidebar md-footer md-search
    md-tabs md-skip navpath nav-path side-nav main-nav navrow msearchselectwindow msearchresultswindow top topnav
    subnav bottomnav top-nav sub-nav navbar-top flex-header skip-nav skipnav navlistsearch navbar""".split()
)
_PERMALINKS = frozenset("headerlink header-link anchor-link anchor permalink toclink-anchor hash-link".split())
_BLOCKS = frozenset(
    """address article aside blockquote body caption center dd details dialog div dl dt fieldset figcaption figure form
    header hr html legend li main ol option p section select summary table tbody td textarea tfoot th thead tr
    ul""".split()
)
_HEADINGS = ("h1", "h2", "h3", "h4", "h5", "h6")
_BREAK = "\x1e"  # stands for <br> until a block is complete; clean() would make it a newline
_SPACES = re.compile(r"[^\S\x1e]+")
_BREAKS = re.compile(rf" ?{_BREAK} ?")
_MANY_BREAKS = re.compile(r"\n{3,}")


def load_html(source: Source) -> Document:
    """An HTML page as a document, titled by its <title>, its first h1 or its name. Raises BadInput."""
    outline = Outline()
    title = add_html(outline, read_text(source, declared_encoding))
    sections = outline.sections()
    if not sections:
        raise BadInput("has no readable text")
    return Document(source.key, sections, title or outline.first_h1 or source.title, source.shown)


def declared_encoding(data: bytes) -> str | None:
    """The encoding that a page names in its head."""
    return EncodingDetector.find_declared_encoding(data, is_html=True)


def add_html(outline: Outline, markup: str) -> str:
    """Add the readable text of `markup` to an outline; returns the page's title, or "". Raises BadInput."""
    head, mark, tail = markup.rpartition(">")  # no tag ends in the tail, but the parser would try at each "<" of it
    markup = head + mark + tail.replace("<", "&lt;")
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", MarkupResemblesLocatorWarning)
            warnings.simplefilter("ignore", XMLParsedAsHTMLWarning)
            soup = BeautifulSoup(markup, "html.parser")
    except Exception as error:  # the parser rejects some markup with errors of many kinds
        raise BadInput(f"cannot be parsed as HTML ({type(error).__name__}: {error})") from error
    title = next((t.get_text() for t in soup.find_all("title") if t.find_parent("svg") is None), "")
    for tag in soup.find_all("br"):
        tag.replace_with(_BREAK)
    _drop_frames(soup)
    _Extractor(outline).run(_main(soup))
    return one_line(title)


def _drop_frames(soup: BeautifulSoup) -> None:
    """Take out what is there to move about: navigation, and the marks that link a heading to itself."""
    for link in soup.find_all("a"):
        text = link.get_text().strip()
        own = not _PERMALINKS.isdisjoint(link.get_attribute_list("class")) or text in ("¶", "🔗")
        if own and len(text) <= 1 and (link.get("href") or text):
            link.decompose()
    size = len(soup.get_text())
    for tag in soup.find_all(["div", "ul", "ol", "table", "aside", "section", "header", "form", "span"]):
        if "_decomposed" in vars(tag):  # tag.decomposed would look for a tag of that name among all descendants
            continue
        names = {str(name).lower() for key in ("class", "id") for name in tag.get_attribute_list(key) if name}
        beside = tag.get("role") in _BESIDE or not _FRAMES.isdisjoint(names)
        if beside and len(tag.get_text()) < size / 2:  # else it is the page that is called so
            tag.decompose()


def _main(soup: BeautifulSoup) -> Tag:
    """The part of a page that says it is the main one, if it holds most of the text; else the page."""
    found = soup.select_one("[role=main], main")
    if found is None:
        return soup
    return found if len(found.get_text()) > 0.5 * len((soup.body or soup).get_text()) else soup


class _Extractor:
    """Walks over a page and hands its blocks to an outline."""

    def __init__(self, outline: Outline) -> None:
        self._outline = outline
        self._parts: list[str] = []
        self._rows: list[list[str]] | None = None  # of the table that is being read
        self._depth = 0  # of lists
        self._marker = ""  # of the list item whose first block comes next
        self._fresh = True  # no item of this list yet
        self._layout: set[int] = set()  # tables that hold a table or a heading

    def run(self, soup: Tag) -> None:
        inner = (tag.find_parent("table") for tag in soup.find_all(["table", *_HEADINGS]))
        self._layout = {id(table) for table in inner if table is not None}
        # A stack instead of recursion: unclosed tags nest thousands deep.
        stack: list[tuple[Tag, Iterator[PageElement]]] = [(soup, iter(soup.children))]
        while stack:
            tag, children = stack[-1]
            node = next(children, None)
            if node is None:
                stack.pop()
                self._leave(tag)
            elif isinstance(node, Tag):
                if self._enter(node):
                    stack.append((node, iter(node.children)))
            elif type(node) in (NavigableString, CData):  # neither comments nor declarations
                self._parts.append(str(node))
        self._flush()

    def _enter(self, tag: Tag) -> bool:
        """Begin a tag; returns whether its children are to be visited."""
        if tag.name in _DROPPED:
            return False
        if tag.name == "img":
            self._parts.append(f" {tag.get('alt') or ''} ")
        elif self._rows is not None:
            if tag.name == "tr":
                self._flush()
                self._rows.append([])
            elif tag.name in ("td", "th"):
                self._flush()
                if not self._rows:
                    self._rows.append([])
                self._rows[-1].append("")
            elif tag.name in _BLOCKS:
                self._parts.append(" ")
        elif tag.name in _HEADINGS:
            self._flush()
            self._outline.heading(int(tag.name[1]), tag.get_text())
            return False
        elif tag.name == "pre":
            self._flush()
            self._outline.add(tag.get_text().replace(_BREAK, "\n"))
            return False
        elif tag.name in _BLOCKS:
            self._flush()
            if tag.name in ("ul", "ol"):
                self._fresh = self._depth == 0
                self._depth += 1
            elif tag.name == "li":
                self._marker = "- "
            elif tag.name == "table" and id(tag) not in self._layout:
                self._rows = []
        return True

    def _leave(self, tag: Tag) -> None:
        if self._rows is not None:
            if tag.name == "table":
                self._flush()
                self._outline.add(table_text(self._rows))
                self._rows = None
            elif tag.name in ("td", "th", "caption"):
                self._flush()
            elif tag.name in _BLOCKS:
                self._parts.append(" ")
        elif tag.name in _BLOCKS:
            self._flush()
            if tag.name in ("ul", "ol"):
                self._depth -= 1
            elif tag.name == "li":
                self._marker = ""

    def _flush(self) -> None:
        text = _SPACES.sub(" ", "".join(self._parts))
        text = _MANY_BREAKS.sub("\n\n", _BREAKS.sub("\n", text)).strip()
        self._parts = []
        if not text:
            return
        if self._rows is not None and self._rows and self._rows[-1]:
            self._rows[-1][-1] = f"{self._rows[-1][-1]} {text}".strip()
            return
        self._outline.add(self._marker + text, tight=bool(self._marker) and not self._fresh)
        if self._marker:
            self._marker, self._fresh = "", False


def _load_page(source: Source, reading: Reading) -> Iterator[Item]:
    """A page without what the pages of its folder have in common around their text."""
    document = load_html(source)
    folder = source.path.parent
    if folder not in reading.boilerplate:
        pages = sample(source.path, HTML.extensions)
        reading.boilerplate[folder] = boilerplate(list(_readable(pages, source.limit)))
    yield reading.boilerplate[folder].cut(document)


def _readable(pages: Sequence[Path], limit: int) -> Iterator[Document]:
    for page in pages:
        with suppress(BadInput, OSError):
            yield load_html(Source(page, page.name, page.name, limit))


HTML = Format("HTML page", (".html", ".htm"), _load_page)
