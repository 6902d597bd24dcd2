"""Markdown files: plain text in sections under their headings, the tables, and the values of their front matter."""

import re
from collections.abc import Sequence
from typing import Any
from urllib.parse import unquote

from markdown_it.token import Token

from kgrag.loaders.base import BadInput, Source, clean, one_line, read_text
from kgrag.loaders.beside import tell
from kgrag.loaders.front_matter import split_front_matter
from kgrag.loaders.grid import Cell
from kgrag.loaders.inline import Inline
from kgrag.loaders.markdown_rules import only_tags, parser, tag_names
from kgrag.loaders.outline import Outline
from kgrag.loaders.reading import Format, whole
from kgrag.values.documents import Document

_CALLOUT = re.compile(r"\[!([A-Za-z]+)\][+-]?[ \t]*")
_BLOCK_ID = re.compile(r"(?<=\S) \^[a-z0-9]{6}$")
"""What a note of Obsidian is linked to by."""
_RELATIVE = re.compile(r"(?![a-z][a-z0-9+.-]*:|/)[^?#]+", re.IGNORECASE)
"""The path of a link that has no scheme and does not begin at a root."""
_SIGNS = {"sup": "^", "sub": "_"}
_LEFT_OUT = {"del": "deleted piece", "rt": "reading of characters", "rp": ""}
"""Tags whose text is left out, and what it is counted as."""


def load_markdown(source: Source) -> Document:
    """Read a Markdown file as a document, titled by its front matter, its first h1 or its name. Raises BadInput."""
    metadata, body = split_front_matter(clean(read_text(source)))
    return markdown_document(source, body, metadata=metadata)


def markdown_document(source: Source, body: str, title: str = "", metadata: dict[str, Any] | None = None) -> Document:
    """Read Markdown as a document, titled by `title`, its metadata, its first h1 or its file's name.

    Raises BadInput.
    """
    metadata = metadata or {}
    outline = Outline()
    try:
        tokens = parser().parse(body)
    except Exception as error:  # a parser's failure on one file must not end the rest
        raise BadInput(f"cannot be parsed as Markdown ({type(error).__name__}: {error})") from error
    renderer = _Renderer(outline)
    renderer.run(tokens)
    sections = outline.sections()
    if not sections and not outline.tables:
        raise BadInput("has no readable text")
    source.problems.extend(outline.problems)
    tell(source, outline.left_out)
    if renderer.links:
        metadata.setdefault("links", list(renderer.links))
    title = title or one_line(str(metadata.pop("title", ""))) or outline.first_h1 or source.title
    return Document(source.key, sections, title, source.shown, metadata, tables=outline.tables)


class _Renderer:
    """Walks over markdown-it's tokens and hands their text to an outline."""

    def __init__(self, outline: Outline) -> None:
        self._outline = outline
        self.links: dict[str, None] = {}
        """What it links to: notes by their names, files by their paths, which begin with a point."""

    def run(self, tokens: list[Token]) -> None:
        position = 0
        while position < len(tokens):
            token = tokens[position]
            if token.type == "table_open":
                position = self._table(tokens, position)
            elif token.type == "heading_open" and token.level == 0:
                self._outline.heading(int(token.tag[1]), self._inline(tokens[position + 1].children))
                position += 2
            else:
                self._token(token)
            position += 1

    def _token(self, token: Token) -> None:
        outline = self._outline
        match token.type:
            case "bullet_list_open":
                outline.begin_list()
            case "ordered_list_open":
                outline.begin_list(int(token.attrs.get("start", 1)))
            case "bullet_list_close" | "ordered_list_close":
                outline.end_list()
            case "list_item_open":
                outline.item()
            case "list_item_close":
                outline.mark("")
            case "inline":
                if "note" in token.meta:
                    outline.mark(f"[{token.meta['note']}] ")
                _name_callout(token)
                outline.block(_BLOCK_ID.sub("", self._inline(token.children)))
            case "remark":
                outline.left_out["comment"] += 1
            case "fence" | "code_block" | "math_block":
                outline.block(token.content, tight=False)
            case "html_block":
                from kgrag.loaders.html import add_html  # most files hold none, and it is slow to import

                add_html(outline, only_tags(token.content))

    def _table(self, tokens: list[Token], position: int) -> int:
        """Add the table that opens at `position`; returns where it closes."""
        rows: list[list[Cell]] = []
        while tokens[position].type != "table_close":
            if tokens[position].type == "tr_open":
                rows.append([])
            elif tokens[position].type == "inline":
                rows[-1].append(Cell(self._inline(tokens[position].children)))
            position += 1
        self._outline.table(rows, heads=1)
        return position

    def _inline(self, tokens: Sequence[Token] | None) -> str:
        """Return the text of a line: links and images become their text, tags of HTML their meaning."""
        line = Inline()
        left_out = self._outline.left_out
        hidden = ""  # the name of the tag whose text is left out
        names = iter(tag_names([token.content for token in tokens or () if token.type == "html_inline"]))
        for token in tokens or ():
            name = next(names) if token.type == "html_inline" else ""
            if hidden:
                hidden = "" if name == f"/{hidden}" else hidden
                continue
            match token.type:
                case "softbreak":
                    line.text(" ")
                case "hardbreak":
                    line.text("\n")
                case "image":
                    line.text(self._inline(token.children))
                case "note":
                    line.note(token.content)
                case "wiki_link":
                    line.text(token.content)
                    self.links.update({token.meta["target"]: None} if token.meta["target"] else {})
                case "link_open":
                    self._link(str(token.attrs.get("href", "")))
                case "remark":
                    left_out["comment"] += 1
                case "html_inline" if name in _LEFT_OUT or (name and _is_hidden(token.content, name)):
                    hidden = name
                    left_out[_LEFT_OUT.get(name, "hidden piece")] += 1
                case "html_inline":
                    _tag(token.content, name, line)
                case _:
                    line.text(token.content)
        return line.take()

    def _link(self, address: str) -> None:
        """Note where a link leads, if that is a file named from where this one lies."""
        if match := _RELATIVE.match(address):
            path = unquote(match[0])
            self.links[path if path.startswith(("./", "../")) else f"./{path}"] = None


def _name_callout(token: Token) -> None:
    """Have a callout, "[!note] Title", begin with its title, or what it is called by."""
    first = token.children[0] if token.children else None
    match = _CALLOUT.match(first.content) if first is not None and first.type == "text" else None
    if first is not None and match is not None:
        first.content = first.content[match.end() :] or f"{match[1].capitalize()}:"


def _is_hidden(markup: str, name: str) -> bool:
    if "hidden" not in markup and "none" not in markup:
        return False
    from bs4 import BeautifulSoup

    from kgrag.loaders.markup import is_hidden

    tag = BeautifulSoup(markup, "html.parser").find(name)
    return tag is not None and is_hidden(tag)


def _tag(markup: str, name: str, line: Inline) -> None:
    """Handle a tag within a line, by its name; an unknown one is text."""
    if markup.startswith(("<!", "<?")):
        return
    if not name:
        line.text(markup)
    elif name.lstrip("/") in _SIGNS:
        if name.startswith("/"):
            line.end()
        else:
            line.begin(_SIGNS[name])
    elif name == "br":
        line.text("\n")
    elif name == "img":
        from bs4 import BeautifulSoup

        image = BeautifulSoup(markup, "html.parser").find("img")
        line.text(str(image.get("alt") or "") if image is not None else "")


MARKDOWN = Format("Markdown file", (".md", ".markdown"), whole(load_markdown), version=5)
