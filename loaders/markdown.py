"""Markdown files: plain text in sections under their headings, and the scalars of their front matter."""

import json
import re
from typing import Any

from markdown_it import MarkdownIt
from markdown_it.token import Token

from kgrag.loaders.base import BadInput, Format, Source, clean, clean_value, one_line, read_text, whole
from kgrag.loaders.html import add_html
from kgrag.loaders.outline import Outline, table_text
from kgrag.types import Document

_FRONT_MATTER = re.compile(r"---[ \t]*\n(.*?)^(?:---|\.\.\.)[ \t]*(?:\n|\Z)", re.DOTALL | re.MULTILINE)
_QUOTED = re.compile(r"(\"(?:[^\"\\]|\\.)*\"|'(?:[^']|'')*')(?:\s+#.*)?")
_MAX_NESTING = 100  # the parser drops what is deeper; its own limit of 20 cuts lists of ten levels
_NUMBER = re.compile(r"-?(?:0|[1-9]\d*)(?:\.\d+)?")


def load_markdown(source: Source) -> Document:
    """A Markdown file as a document, titled by its front matter, its first h1 or its name. Raises BadInput."""
    text = clean(read_text(source))
    metadata, body = split_front_matter(text)
    outline = Outline()
    try:
        tokens = MarkdownIt("commonmark", {"maxNesting": _MAX_NESTING}).enable("table").parse(body)
    except Exception as error:  # a parser's failure on one file must not end the rest
        raise BadInput(f"cannot be parsed as Markdown ({type(error).__name__}: {error})") from error
    _Renderer(outline).run(tokens)
    sections = outline.sections()
    if not sections:
        raise BadInput("has no readable text")
    title = one_line(str(metadata.pop("title", "")))
    return Document(source.key, sections, title or outline.first_h1 or source.title, source.shown, metadata)


def split_front_matter(text: str) -> tuple[dict[str, Any], str]:
    """The `key: value` scalars of YAML front matter, and the text after it; nested values are left out."""
    match = _FRONT_MATTER.match(text)
    if match is None:
        return {}, text
    metadata: dict[str, Any] = {}
    for line in match[1].splitlines():
        if not line.strip() or line.startswith((" ", "\t", "#", "- ")):
            continue  # blank, part of a nested value, or a comment
        key, colon, rest = line.partition(":")
        if not colon or not key.strip() or rest[:1].strip():
            return {}, text  # text between two thematic breaks
        value = _scalar(rest.strip())
        if value is not None:
            metadata[one_line(key)] = value
    return metadata, text[match.end() :]


def _scalar(text: str) -> str | int | float | bool | None:
    """A YAML scalar, or None for null and for everything that is not one."""
    quoted = _QUOTED.fullmatch(text)
    if quoted is not None:
        inner = quoted[1][1:-1]
        return clean(re.sub(r"\\([\"\\])", r"\1", inner) if text[0] == '"' else inner.replace("''", "'"))
    text = text.split(" #")[0].rstrip()
    if not text or text[0] in "[{|>&*!#" or text.lower() in ("null", "~"):
        return None
    if text.lower() in ("true", "false"):
        return text.lower() == "true"
    if _NUMBER.fullmatch(text) and len(text) < 400:
        number: str | int | float = clean_value(json.loads(text))
        return number
    return text


class _Renderer:
    """Walks over markdown-it's tokens and hands their text to an outline."""

    def __init__(self, outline: Outline) -> None:
        self._outline = outline
        self._depth = 0  # of lists
        self._marker = ""  # of the list item whose first block comes next
        self._fresh = True  # no item of this list yet

    def run(self, tokens: list[Token]) -> None:
        position = 0
        while position < len(tokens):
            token = tokens[position]
            if token.type == "table_open":
                position = self._table(tokens, position)
            elif token.type == "heading_open" and token.level == 0:
                self._outline.heading(int(token.tag[1]), _inline(tokens[position + 1]))
                position += 2
            else:
                self._token(token, tight=position > 0 and tokens[position - 1].hidden)
            position += 1

    def _token(self, token: Token, tight: bool) -> None:
        match token.type:
            case "bullet_list_open" | "ordered_list_open":
                self._fresh = self._depth == 0
                self._depth += 1
            case "bullet_list_close" | "ordered_list_close":
                self._depth -= 1
            case "list_item_open":
                self._marker = f"{token.info}. " if token.info else "- "
            case "inline":
                self._add(_inline(token), tight)
            case "fence" | "code_block":
                self._add(token.content)
            case "html_block":
                add_html(self._outline, token.content)

    def _add(self, text: str, tight: bool = False) -> None:
        if not text.strip():
            return
        if self._depth:
            indent = "  " * (self._depth - 1)
            first, *rest = text.split("\n")
            lines = [f"{indent}{self._marker or '  '}{first}", *(f"{indent}  {line}" for line in rest)]
            text = "\n".join(lines)
        self._outline.add(text, tight=tight and not self._fresh)
        self._marker, self._fresh = "", False

    def _table(self, tokens: list[Token], position: int) -> int:
        """Add the table that opens at `position`; returns where it closes."""
        rows: list[list[str]] = []
        while tokens[position].type != "table_close":
            if tokens[position].type == "tr_open":
                rows.append([])
            elif tokens[position].type == "inline":
                rows[-1].append(_inline(tokens[position]))
            position += 1
        self._outline.add(table_text(rows))
        return position


def _inline(token: Token) -> str:
    """The text of a line: links and images become their text, inline HTML is left out."""
    parts: list[str] = []
    for child in token.children or []:
        match child.type:
            case "softbreak":
                parts.append(" ")
            case "hardbreak":
                parts.append("\n")
            case "image":
                parts.append(_inline(child))
            case "html_inline":
                parts.append("\n" if child.content.lower().startswith("<br") else "")
            case _:
                parts.append(child.content)
    return "".join(parts)


MARKDOWN = Format("Markdown file", (".md", ".markdown"), whole(load_markdown))
