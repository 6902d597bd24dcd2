"""HTML pages: the readable text in sections under their headings, and the tables."""

import re
import warnings
from collections.abc import Iterator, Sequence
from contextlib import suppress
from itertools import takewhile
from pathlib import Path

from bs4 import BeautifulSoup, MarkupResemblesLocatorWarning, XMLParsedAsHTMLWarning
from bs4.dammit import EncodingDetector
from bs4.element import CData, NavigableString, PageElement, Tag

from kgrag.loaders.base import BadInput, Item, Source, one_line, read_text
from kgrag.loaders.figures import DECORATION, SMALLEST, beside, no_picture
from kgrag.loaders.grid import Cell, joined, only_lays_out
from kgrag.loaders.inline import Inline
from kgrag.loaders.markup import BREAK, NOTE, boilerplate, prepare, sample
from kgrag.loaders.outline import Outline
from kgrag.loaders.reading import Format, Reading
from kgrag.text.letters import word_lists
from kgrag.values.documents import Document

_DROPPED = ["script", "style", "noscript", "template", "nav", "footer", "iframe", "title"]
_FRAME = {"nav": "navigation bar", "footer": "page foot"}
"""The dropped elements that are counted, by kind."""
_LISTS = word_lists("kgrag.loaders")
_BLOCKS = _LISTS["blocks"]
_HEADINGS = ("h1", "h2", "h3", "h4", "h5", "h6")
_MOST_INNER = 200  # nested tables; a page with more uses tables for layout
_SIGNS = {"sup": "^", "sub": "_"}
_KINDS = {
    "loweralpha": "a", "upperalpha": "A", "lowerroman": "i", "upperroman": "I", "lowerlatin": "a", "upperlatin": "A",
    "decimalleadingzero": "01",
}  # classes of docutils, and styles of lists  # fmt: skip
_LIST_STYLE = re.compile(r"list-style(?:-type)?\s*:([^;]*)", re.IGNORECASE)
_BOLD = re.compile(r"font-weight\s*:\s*(?:bold|[6-9]00)", re.IGNORECASE)
_EDGE = "\x1f"
_EDGES = re.compile(rf"\n?{_EDGE}+(?:\n{_EDGE}+)*\n?")
_SPACES = re.compile(r"[^\S\x1e]+")
_BREAKS = re.compile(rf" ?{BREAK} ?")
_MANY_BREAKS = re.compile(r"\n{3,}")


def load_html(source: Source, *, pictures: bool = True) -> Document:
    """Read an HTML page as a document, titled by its <title>, its first h1 or its name. Raises BadInput."""
    outline = Outline(beside(source.path) if pictures else no_picture)
    title = add_html(outline, read_text(source, declared_encoding))
    return outline.document(source, title)


def declared_encoding(data: bytes) -> str | None:
    """Return the encoding declared in the head of a page."""
    return EncodingDetector.find_declared_encoding(data, is_html=True)


def add_html(outline: Outline, markup: str) -> str:
    """Add the readable text of `markup` to an outline; returns the page's title, or "". Raises BadInput."""
    head, mark, tail = markup.rpartition(">")  # the tail has no tags, but the parser would retry at each "<"
    markup = head + mark + tail.replace("<", "&lt;")
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", MarkupResemblesLocatorWarning)
            warnings.simplefilter("ignore", XMLParsedAsHTMLWarning)
            soup = BeautifulSoup(markup, "html.parser")
    except Exception as error:  # the parser raises many kinds of errors
        raise BadInput(f"cannot be parsed as HTML ({type(error).__name__}: {error})") from error
    title = next((t.get_text() for t in soup.find_all("title") if t.find_parent("svg") is None), "")
    for tag in soup.find_all("br"):
        tag.replace_with(BREAK)
    prepare(soup, outline)
    _Extractor(outline).run(_main(soup))
    return one_line(title)


def _main(soup: BeautifulSoup) -> Tag:
    """Return the part of a page marked as the main one, if it has most of the text; else the page."""
    element = soup.select_one("[role=main], main")
    if element is None:
        return soup
    return element if len(element.get_text()) > 0.5 * len((soup.body or soup).get_text()) else soup


class _Table:
    """A table that is being read."""

    def __init__(self) -> None:
        self.rows: list[list[Cell]] = []
        self.in_item = self.after_item = False  # position in a list in the last cell
        self.caption = ""
        self.heads = 0
        self.inner = 0  # open tables inside the last cell; their text belongs to the cell

    def cell(self, tag: Tag) -> None:
        if not self.rows:
            self.rows.append([])
        self.in_item = self.after_item = False
        is_head = tag.name == "th" or _is_bold(tag)  # an unclosed cell contains the next ones
        self.rows[-1].append(Cell("", _number(tag, "rowspan", 1), _number(tag, "colspan", 1), is_head))

    def add(self, text: str) -> None:
        """Add a paragraph to the last cell."""
        cell = self.rows[-1][-1]
        cell.text = joined(cell.text, text, listed=self.in_item and self.after_item)
        self.after_item = self.in_item

    def add_to(self, outline: Outline) -> None:
        outline.table([row for row in self.rows if row], self.caption, self.heads)


def _is_bold(tag: Tag, depth: int = 0) -> bool:
    if tag.name in ("b", "strong") or _BOLD.search(str(tag.get("style") or "")):
        return True
    own = takewhile(lambda part: not isinstance(part, Tag) or part.name not in ("td", "th", "tr"), tag.children)
    parts = [part for part in own if isinstance(part, Tag) or str(part).strip()]
    return bool(parts) and depth < 5 and all(isinstance(part, Tag) and _is_bold(part, depth + 1) for part in parts)


def _only_lays_out(table: Tag, inner: Sequence[Tag]) -> bool:
    size, *sizes = (len("".join(tag.get_text().split())) for tag in (table, *inner))
    return only_lays_out(len(table.find_all(["td", "th"])), size, sum(sizes))


class _Extractor:
    """Walks over a page and hands its blocks to an outline."""

    def __init__(self, outline: Outline) -> None:
        self._outline = outline
        self._line = Inline()
        self._table: _Table | None = None
        self._heading = 0  # the level of the current heading
        self._layout: set[int] = set()  # ids of tables with headings, or only for the layout of inner tables

    def run(self, soup: Tag) -> None:
        self._layout = {id(table) for h in soup.find_all(_HEADINGS) if (table := h.find_parent("table")) is not None}
        inner = [
            (table, outer) for table in soup.find_all("table") if (outer := table.find_parent("table")) is not None
        ]
        for outer in {id(outer): outer for _, outer in inner}.values():
            within = [table for table, around in inner if around is outer] if len(inner) <= _MOST_INNER else None
            if within is None or _only_lays_out(outer, within):
                self._layout.add(id(outer))
        # a stack instead of recursion, since unclosed tags nest thousands deep
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
            elif type(node) in (NavigableString, CData):  # excludes the subclasses for comments and declarations
                self._line.text(str(node))
        self._flush()

    def _enter(self, tag: Tag) -> bool:
        """Begin a tag; returns whether its children are to be visited."""
        name = tag.name
        if name in _DROPPED or (name == "div" and _leads_on(tag)):
            frame = _FRAME.get("nav" if name == "div" else name, "")
            self._outline.left_out[frame] += bool(tag.get_text().strip())
            return False
        if name == "svg":
            self._line.text(f" {' '.join(part.get_text(' ') for part in tag.find_all(['title', 'desc', 'text']))} ")
            return False
        if name == "img":
            self._line.text(f" {tag.get('alt') or ''} ")
            if any(0 <= _number(tag, side, SMALLEST) < SMALLEST for side in ("width", "height")):
                self._outline.left_out[DECORATION] += 1
            else:
                self._outline.picture(str(tag.get("src") or ""), _caption(tag))
        elif name in _SIGNS:
            self._line.begin(_SIGNS[name])
        elif name == NOTE:
            self._note(tag)
            return False
        elif self._heading:
            if name in _BLOCKS or name in _HEADINGS:
                self._line.text(" ")
        elif self._table is not None:
            self._enter_in_table(self._table, tag)
        elif name in _HEADINGS:
            self._flush()
            self._heading = int(name[1])
        elif name == "pre":
            self._flush()
            self._outline.block(_literal(tag), tight=False)
            return False
        elif name in _BLOCKS:
            self._flush()
            if name in ("ul", "ol"):
                self._begin_list(tag)
            elif name == "li":
                self._outline.item(_number(tag, "value", 0) if tag.get("value") else None)
            elif name == "table" and id(tag) not in self._layout:
                self._table = _Table()
        return True

    def _begin_list(self, tag: Tag) -> None:
        if tag.name == "ul":
            self._outline.begin_list()
            return
        style = _LIST_STYLE.search(str(tag.get("style") or ""))
        names = [str(name) for name in (*tag.get_attribute_list("class"), *(style[1].lower().split() if style else ()))]
        kind = next((_KINDS[name.replace("-", "")] for name in names if name.replace("-", "") in _KINDS), "")
        step = -1 if tag.has_attr("reversed") else 1
        items = tag.find_all("li") if step < 0 else []
        first = sum(item.find_parent(["ol", "ul", "menu"]) is tag for item in items) if step < 0 else 1
        self._outline.begin_list(_number(tag, "start", first), kind or str(tag.get("type") or "1"), step)

    def _enter_in_table(self, table: _Table, tag: Tag) -> None:
        if tag.name == "table" or table.inner:
            table.inner += tag.name == "table"
            self._line.text(" ")
        elif tag.name == "tr":
            self._flush()
            table.rows.append([])
            table.heads += tag.parent is not None and tag.parent.name == "thead"
        elif tag.name in ("td", "th"):
            self._flush()
            table.cell(tag)
        elif tag.name == "li":
            self._flush()
            table.in_item = True
        elif tag.name in _BLOCKS:
            self._line.text(" ")

    def _note(self, tag: Tag) -> None:
        """Handle the mark of a note, in the text or at the beginning of the note itself."""
        label = str(tag["label"])
        if tag.get("own") and self._table is None:
            self._flush()
            self._outline.mark(f"[{label}] ")
        else:
            self._line.note(label)

    def _leave(self, tag: Tag) -> None:
        name = tag.name
        if name in _SIGNS:
            self._line.end()
        elif self._heading:
            if name in _HEADINGS:
                self._outline.heading(self._heading, self._line.take().replace(BREAK, " "))
                self._heading = 0
            elif name in _BLOCKS:
                self._line.text(" ")
        elif self._table is not None:
            if self._table.inner:
                self._table.inner -= name == "table"
                self._line.text(" ")
            elif name == "table":
                self._flush()
                self._table.add_to(self._outline)
                self._table = None
            elif name == "caption":
                self._table.caption = self._clean_text()
            elif name in ("td", "th", "li"):
                self._flush()
                self._table.in_item = False
            elif name in _BLOCKS:
                self._line.text(" ")
        elif name in _BLOCKS:
            self._flush()
            if name in ("ul", "ol"):
                self._outline.end_list()
            elif name == "li":
                self._outline.mark("")

    def _clean_text(self) -> str:
        text = _SPACES.sub(" ", self._line.take())
        return _MANY_BREAKS.sub("\n\n", _BREAKS.sub("\n", text)).strip()

    def _flush(self) -> None:
        text = self._clean_text()
        if not text:
            return
        if self._table is not None and self._table.rows and self._table.rows[-1]:
            self._table.add(text)
        else:
            self._outline.block(text)


def _literal(tag: Tag) -> str:
    """Return code as written, with each block inside it on its own lines."""
    for inner in tag.find_all(_BLOCKS - {"td", "th"}):
        inner.insert(0, _EDGE)
        inner.append(_EDGE)
    return _EDGES.sub("\n", tag.get_text().replace(BREAK, "\n"))


def _caption(tag: Tag) -> str:
    """Return the caption of a picture, else its alternative text."""
    around = tag.find_parent("figure")
    caption = around.find("figcaption") if around is not None else None
    text = one_line(caption.get_text()) if caption is not None else ""
    return text or str(tag.get("alt") or tag.get("title") or "")


def _leads_on(tag: Tag) -> bool:
    """Return whether a division is a single paragraph of links to the neighbouring pages (Texinfo)."""
    inside = [child for child in tag.children if isinstance(child, Tag)]
    links = inside[0].find_all("a", recursive=False) if len(inside) == 1 and inside[0].name == "p" else ()
    return any(not {"next", "prev"}.isdisjoint(link.get_attribute_list("rel")) for link in links)


def _number(tag: Tag, name: str, default: int) -> int:
    """Return an attribute as a number; `default` if it is not one."""
    text = str(tag.get(name) or "").strip()
    return int(text) if re.fullmatch(r"-?\d{1,9}", text) else default


def _load_page(source: Source, reading: Reading) -> Iterator[Item]:
    """Yield a page without the boilerplate of its folder."""
    document = load_html(source)
    folder = source.path.parent
    if folder not in reading.boilerplate:
        pages = sample(source.path, HTML.extensions)
        reading.boilerplate[folder] = boilerplate(list(_readable(pages, source.limit)))
    cut = reading.boilerplate[folder].cut(document)
    if common := _blocks(document) - _blocks(cut):
        source.left_out["block of every page"] += common
    yield cut


def _blocks(document: Document) -> int:
    return sum(section.text.count("\n\n") + 1 for section in document.sections)


def _readable(pages: Sequence[Path], limit: int) -> Iterator[Document]:
    for page in pages:
        with suppress(Exception):  # reported when that page is loaded itself
            yield load_html(Source(page, page.name, page.name, limit), pictures=False)


HTML = Format("HTML page", (".html", ".htm"), _load_page, version=7)
