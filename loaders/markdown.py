"""Markdown files: plain text in sections under their headings, the tables, and the values of their front matter."""

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from html import escape
from types import MappingProxyType
from typing import TYPE_CHECKING, Any
from urllib.parse import unquote

from markdown_it import MarkdownIt
from markdown_it.ruler import RuleOptionsType
from markdown_it.rules_block import StateBlock, html_block
from markdown_it.rules_inline import StateInline
from markdown_it.token import Token

from kgrag.loaders.base import BadInput, Source, clean, one_line, read_text, tell
from kgrag.loaders.figures import beside
from kgrag.loaders.front_matter import split_front_matter
from kgrag.loaders.grid import Cell
from kgrag.loaders.inline import Inline
from kgrag.loaders.outline import Outline
from kgrag.loaders.reading import Format, single_document
from kgrag.text.letters import word_lists
from kgrag.values.documents import Document

if TYPE_CHECKING:
    from bs4 import Tag

# Extensions of CommonMark: footnotes, literal mathematics, and names in angle brackets that are not HTML tags.
#
# The syntax of note-taking programs follows Obsidian's manual: [[links]], ==marks== and %%comments%%.


_MAX_NESTING = 100  # the parser drops deeper parts; its default of 20 cuts lists of ten levels
_LISTS = word_lists("kgrag.loaders")
_TAGS = _LISTS["tags"]
_FLAGS = _LISTS["flags"]
_TAG = re.compile(r"</?([A-Za-z][A-Za-z0-9:._-]*)([^<>]*?)/?>", re.DOTALL)
_ALONE = frozenset("br hr img wbr".split())
_OPEN = frozenset("dd dt hr li option p tbody td tfoot th thead tr".split()) | _ALONE
"""Tags whose end tag is optional."""
_TAG_START = re.compile(r"<(/?)([A-Za-z][A-Za-z0-9:._-]*)?(.?)", re.DOTALL)
_ATTRIBUTE = re.compile(r"[^\s=\"'<>]+\s*=\s*(?:\"[^\"]*\"|'[^']*'|[^\s\"'=<>`]+)")
_NOTE = re.compile(r"\[\^([^\]\s]{1,60})\]")
_NOTE_TEXT = re.compile(r"\[\^([^\]\s]{1,60})\]:[ \t]*")
_LONGEST_FORMULA, _FORMULA_LINES = 2_000, 500  # characters, lines: limits the search for the end of a formula
_MATHS = (  # delimiters of inline mathematics
    re.compile(r"\$\$(?:[^$\\]|\\.)+\$\$", re.DOTALL),
    re.compile(r"\$(?![\s$])(?:[^$\\\n]|\\.)*?(?<![\s\\])\$(?![\d$])"),
    re.compile(rf"\\\((?:(?!\\\)).){{1,{_LONGEST_FORMULA}}}\\\)", re.DOTALL),
    re.compile(rf"\\\[(?:(?!\\\]).){{1,{_LONGEST_FORMULA}}}\\\]", re.DOTALL),
)
_DISPLAY = {"$$": "$$", "\\[": "\\]"}  # beginning of the first line -> end of the last line
_FORMULA = re.compile(r"(?<!\\)[=+^<>{}]|\w[*_][\w{]|\s[-*/]\s|\\[A-Za-z\\{},;|! ]")
"""Signs of a formula, "\\[a = b\\]", as opposed to brackets that a program escaped, "\\[1\\]"."""
_HEADING_LINE = re.compile(r"#{1,6}\s")
_ENVIRONMENT = re.compile(r"\\begin\{([a-zA-Z]+\*?)\}")
_WIKI_LINK = re.compile(r"(!?)\[\[([^\[\]|\n]*[^\[\]|\n\\])(?:\\?\|([^\[\]\n]*))?\]\](?![(\[])")
_PICTURE = re.compile(r"\.(?:png|jpe?g|gif|bmp|svg|webp|avif|mp3|wav|m4a|ogg|mp4|webm|mov)$", re.IGNORECASE)
_CITATION = re.compile(r"\d{1,3}")
_MARKED = re.compile(r"==(?=[^\s=])(?:[^=\n]|=(?!=))*(?<=[^\s=])==(?![\w=])")
_ATTRIBUTE_NAME = r"(?:[#.][\w:.-]+|[\w:-]+=(?:\"[^\"{}]*\"|[^\s\"{}]+)|-)"
_ATTRIBUTES = re.compile(rf"\{{:?\s*{_ATTRIBUTE_NAME}(?:\s+{_ATTRIBUTE_NAME})*\s*\}}")
"""The anchor and the classes of a heading in the syntax of Pandoc and others: "{#kilns .wide}"."""
_ATTRIBUTE_LINE = re.compile(r"\{:(?![:/])[^{}]*\}")
"""The attributes of a block in kramdown."""
_FENCE = re.compile(r"(`{3,}|~{3,})")
_ADMONITION = re.compile(r"(?:!!!|\?\?\?\+?)\s+([\w -]+?)(?:\s+\"(.*)\")?|===[!+]?\s+\"(.*)\"")
_CONTAINER = re.compile(r"(?::{3,}|/{3,})|:{3,}\s*((?!:)\S.*?)\s*:*|/{3,}\s*([\w-]+(?:\s*\|.*)?)")
_SNIPPET = re.compile(r"-{1,}8<-{1,}")
_ABBREVIATION = re.compile(r"^\*\[([^\]]+)\]:\s+")
_KEYS = re.compile(r"(?<![\w+])\+\+([\w-]+(?:\+[\w-]+)*)\+\+(?![\w+])")
_ICON = re.compile(r":(?:material|fontawesome|octicons|simple)-[\w-]+:")
_LIST_ATTRIBUTE = re.compile(r"\b(?:(start)=\"?(\d{1,9})\b|(type|reversed)(?:=\"?(\w+))?)")
_REMARK = re.compile(r"%%.+?%%", re.DOTALL)
_BEFORE, _AFTER = re.compile(r"[0-9A-Za-z]*$"), re.compile(r"[0-9A-Za-z]*")


def parser() -> MarkdownIt:
    """Make a parser of CommonMark with tables, notes and mathematics."""
    result = MarkdownIt("commonmark", {"maxNesting": _MAX_NESTING}).enable(["table", "strikethrough"])
    interrupts: RuleOptionsType = {"alt": ["paragraph", "reference", "blockquote"]}
    result.block.ruler.at("html_block", _html_block, interrupts)
    result.block.ruler.before("fence", "math_block", _math_block, interrupts)
    result.block.ruler.before("reference", "note_text", _note_text, {"alt": ["paragraph", "reference"]})
    result.inline.ruler.before("escape", "math", _math)
    result.inline.ruler.before("emphasis", "product", _product)
    result.inline.ruler.before("link", "note", _note)
    result.inline.ruler.before("link", "wiki_link", _wiki_link)
    result.inline.ruler.before("emphasis", "marked", _marked)
    result.inline.ruler.before("emphasis", "remark", _remark)
    result.block.ruler.before("fence", "remark_block", _remark_block, interrupts)
    result.block.ruler.before("fence", "attribute_line", _attribute_line, interrupts)
    return result


def tag_names(markups: Iterable[str]) -> list[str]:
    """Return the names of HTML tags in lower case, with "/" before those of end tags, and "" for invalid ones.

    A tag without attributes and without an end tag is a name in angle brackets: "the <dir> to use".
    """
    names = [_tag_name(markup) for markup in markups]
    paired = {name for name, _ in names if f"/{name}" in {end for end, _ in names}}
    return [name if name in _ALONE or bare is False or name.lstrip("/") in paired else "" for name, bare in names]


def _tag_name(markup: str) -> tuple[str, bool]:
    """Return the name of a tag, or "" if it is not one, and whether it has no attributes."""
    match = _TAG.fullmatch(markup)
    if match is None or match[1].lower() not in _TAGS:
        return "", True
    if not _FLAGS.issuperset(_ATTRIBUTE.sub(" ", match[2]).lower().split()):
        return "", True  # "a<b and c>d"
    return ("/" if markup.startswith("</") else "") + match[1].lower(), "=" not in match[2]


def only_tags(markup: str) -> str:
    """Return markup in which everything but HTML tags is escaped as text."""
    return _TAG.sub(lambda match: match[0] if match[1].lower() in _TAGS else escape(match[0]), markup)


def _html_block(state: StateBlock, start: int, end: int, silent: bool) -> bool:
    """Match a block that begins with an HTML tag, a comment or a declaration."""
    match = _TAG_START.match(state.src, state.bMarks[start] + state.tShift[start])
    if match is not None and match[2]:
        name = match[2].lower()
        bare = not match[1] and match[3] == ">" and name not in _OPEN
        if name not in _TAGS or (bare and f"</{name}" not in state.src[match.end() :].lower()):
            return False
    return html_block(state, start, end, silent)


def _math_block(state: StateBlock, start: int, end: int, silent: bool) -> bool:
    """Match lines of mathematics, which only their closing delimiter ends."""
    if state.is_code_block(start):
        return False
    line = _line(state, start)
    environment = _ENVIRONMENT.match(line)
    close = f"\\end{{{environment[1]}}}" if environment else _DISPLAY.get(line[:2], "")
    if not close:
        return False
    for last in range(start, min(end, start + _FORMULA_LINES)):
        text = _line(state, last).rstrip()
        place = text.find(close, 2 if last == start else 0)
        if place >= 0:
            break
        if last > start and text and (state.sCount[last] < state.blkIndent or _HEADING_LINE.match(text)):
            return False
    else:
        return False
    if place + len(close) < len(text):
        return False  # the formula is closed, and the line continues
    if close == "\\]" and not _is_formula(state.getLines(start, last + 1, 0, False)):
        return False
    if not silent:
        token = state.push("math_block", "", 0)
        token.content = state.getLines(start, last + 1, state.blkIndent, False)
        state.line = last + 1
    return True


def _note_text(state: StateBlock, start: int, end: int, silent: bool) -> bool:
    """Match the text of a note, "[^1]: ...", with the lines that follow it and indented ones after them."""
    if state.is_code_block(start):
        return False
    line = _line(state, start)
    match = _NOTE_TEXT.match(line)
    if match is None:
        return False
    if silent:
        return True
    paragraphs = [[line[match.end() :]]]
    after = start + 1
    while after < end and state.sCount[after] >= state.blkIndent:
        if not state.isEmpty(after):
            if _NOTE_TEXT.match(_line(state, after)):
                break
            paragraphs[-1].append(_line(state, after))
        elif after + 1 < end and not state.isEmpty(after + 1) and state.sCount[after + 1] >= state.blkIndent + 2:
            paragraphs.append([])
        else:
            break
        after += 1
    state.env.setdefault("notes", set()).add(match[1])
    for number, lines in enumerate(paragraphs):
        state.push("paragraph_open", "p", 1)
        token = state.push("inline", "", 0)
        token.content, token.children = "\n".join(lines).strip(), []
        token.meta = {"note": match[1]} if number == 0 else {}
        state.push("paragraph_close", "p", -1)
    state.line = after
    return True


def _line(state: StateBlock, number: int) -> str:
    return state.src[state.bMarks[number] + state.tShift[number] : state.eMarks[number]]


def _math(state: StateInline, silent: bool) -> bool:
    """Match literal mathematics, "$x$"."""
    if state.src[state.pos] not in "$\\":
        return False
    match = next((candidate for form in _MATHS if (candidate := form.match(state.src, state.pos))), None)
    if match is None or (match[0][:2] == "\\[" and not _is_formula(match[0])):
        return False
    return _take(state, silent, match, "math", match[0])


def _take(
    state: StateInline, silent: bool, match: re.Match[str] | None, kind: str, content: str = "", **meta: str
) -> bool:
    """Add a match as a token; return whether there is a match within the line."""
    if match is None or match.end() > state.posMax:
        return False
    if not silent:
        token = state.push(kind, "", 0)
        token.content, token.meta = content, meta
    state.pos = match.end()
    return True


def _is_formula(text: str) -> bool:
    """Return whether the text between "\\\\[" and "\\\\]" is a formula, as these may be escaped brackets too."""
    return _FORMULA.search(text.strip()[2:-2]) is not None


def _product(state: StateInline, silent: bool) -> bool:
    """Match an asterisk that is not emphasis: of a product, "2*3*4", or of a name, "b^{*}"."""
    source, place = state.src, state.pos
    if source[place] != "*":
        return False
    end = place + 1
    while end < state.posMax and source[end] == "*":
        end += 1
    before = _BEFORE.search(source, max(0, place - 32), place)
    after = _AFTER.match(source, end)
    one, other = before[0] if before else "", after[0] if after else ""
    numbers = (one.isdigit() + other.isdigit()) if one and other else 0
    product = end - place == 1 and (numbers > 0 or len(one) == len(other) == 1)
    name = source[place - 1 : place] in ("^", "{") or source[end : end + 1] == "}"
    if not (product or name or (end - place == 2 and numbers == 2)):
        return False
    if not silent:
        state.pending += source[place:end]
    state.pos = end
    return True


def _note(state: StateInline, silent: bool) -> bool:
    """Match the mark of a footnote that exists, "[^1]"."""
    match = _NOTE.match(state.src, state.pos)
    if match is None or match[1] not in state.env.get("notes", ()):
        return False
    return _take(state, silent, match, "note", match[1])


def _wiki_link(state: StateInline, silent: bool) -> bool:
    """Match a link to another note: "[[Kiln Notes|the kiln]]", "[[Kiln Notes#Firing]]", "![[Kiln Notes]]"."""
    place = state.pos
    match = _WIKI_LINK.match(state.src, place)
    if match is None or _CITATION.fullmatch(match[2]):
        return False
    if place and state.src[place - 1].isalnum():  # an index in code: a[[1]]
        return False
    target, _, part = match[2].partition("#")
    if match[1] and _PICTURE.search(target):
        return _take(state, silent, match, "wiki_link", target="")
    part = "" if part.startswith("^") else part.replace("#", " > ")
    label = match[3] or " > ".join(filter(None, (target.strip(), part)))
    return _take(state, silent, match, "wiki_link", label.strip(), target=target.strip())


def _marked(state: StateInline, silent: bool) -> bool:
    """Match the signs around highlighted text, which are dropped."""
    place = state.pos
    ends = state.env.setdefault("marks", set())
    opens = place == 0 or not (state.src[place - 1].isalnum() or state.src[place - 1] == "=")
    match = _MARKED.match(state.src, place) if opens else None
    if match is not None and match.end() <= state.posMax:
        ends.add((state.src, match.end() - 2))
    elif (state.src, place) not in ends:
        return False
    state.pos += 2
    return True


def _remark(state: StateInline, silent: bool) -> bool:
    """Match a comment within a paragraph."""
    return _take(state, silent, _REMARK.match(state.src, state.pos), "remark")


def _remark_block(state: StateBlock, start: int, end: int, silent: bool) -> bool:
    """Match a comment on lines of its own."""
    if state.is_code_block(start) or _line(state, start).rstrip() != "%%":
        return False
    last = next((n for n in range(start + 1, end) if _line(state, n).rstrip().endswith("%%")), None)
    if last is None:
        return False
    if not silent:
        state.push("remark", "", 0)
        state.line = last + 1
    return True


def _attribute_line(state: StateBlock, start: int, end: int, silent: bool) -> bool:
    """Match a line of attributes of a block, such as how a list is numbered."""
    line = _line(state, start).rstrip()
    if state.is_code_block(start) or not (_ATTRIBUTE_LINE.fullmatch(line) or _ATTRIBUTES.fullmatch(line)):
        return False
    if not silent:
        state.push("attributes", "", 0).content = line
        state.line = start + 1
    return True


_CALLOUT = re.compile(r"\[!([A-Za-z]+)\][+-]?[ \t]*")
_BLOCK_ID = re.compile(r"(?<=\S) \^[a-z0-9]{6}$")
"""The id of a block, to which notes of Obsidian link."""
_RELATIVE = re.compile(r"(?![a-z][a-z0-9+.-]*:|/)[^?#]+", re.IGNORECASE)
"""The path of a link without a scheme or a leading slash."""
_ATTRIBUTED = ("image", "link_close", "code_inline", "strong_close", "em_close")
"""Tokens that attributes may follow, "{ .md-button }"."""
_FIELDS = re.compile(r"(?:\**[^\W\d_][^\n:.;,?!*]{0,40}(?:\*\*:|:\*\*|:) +\S[^\n]{0,99}(?:\n|$)){2,}")
"""Successive lines such as "Length: 30 m", each a separate field."""
_SIGNS = {"sup": "^", "sub": "_"}
_LEFT_OUT = {
    **dict.fromkeys(("del", "s", "strike"), "deleted piece"), "rt": "reading of characters", "rp": "",
}  # fmt: skip
"""Tags whose text is left out, and the kind under which it is counted."""


def load_markdown(source: Source) -> Document:
    """Read a Markdown file as a document, titled by its front matter, its first h1 or its name. Raises BadInput."""
    metadata, body = split_front_matter(clean(read_text(source)))
    left_out: Counter[str] = Counter()
    lines = _without_signs(body.split("\n"), left_out)
    return markdown_document(source, "\n".join(lines), metadata=metadata, left_out=left_out)


def _without_signs(lines: Sequence[str], left_out: Counter[str]) -> Iterator[str]:
    """Yield lines without the markers of MkDocs and of containers (`!!! note "Title"`, `=== "Tab"`, `::: module`)."""
    fence = ""
    inside: list[int] = []  # the indentations of the open blocks
    options = -1  # the indentation of a module whose options follow
    for line in lines:
        bare, indent = line.strip(), len(line) - len(line.lstrip())
        if bare:
            while inside and indent < inside[-1]:
                inside.pop()
            options = -1 if indent <= options else options
        line = line[: inside[0] - 4] + line[inside[-1] :] if inside else line
        mark = _FENCE.match(bare)
        if fence or mark:
            closes = fence and bare.startswith(fence) and set(bare) == {fence[0]}
            fence = "" if closes else fence or (mark[1] if mark else "")
            yield line
        elif options >= 0 and bare:
            left_out["option of a module"] += 1
        elif block := _ADMONITION.fullmatch(bare):
            usual = f"{block[1].split()[0].capitalize()}:" if block[1] and block[2] is None else ""
            title = block[3] or block[2] or usual
            yield from ("", f"{line[: len(line) - len(line.lstrip())]}{title}", "")
            inside.append(indent + 4)
        elif container := _CONTAINER.fullmatch(bare):
            name = container[1] or container[2] or ""
            named = re.fullmatch(r"([\w-]+)(?:\s*[\[|]?\s*([^\]]*)\]?)?", name)
            module = re.fullmatch(r"[\w/]+(?:[.:][\w/]+)+", name)
            options = indent if module else -1
            title = name if module else named[2] or f"{named[1].capitalize()}:" if named else ""
            yield from ("", title, "")
        elif _SNIPPET.match(bare):
            left_out["embedded part"] += 1
            yield ""
        elif bare.upper() == "[TOC]":
            yield ""
        else:
            yield _ABBREVIATION.sub(r"\1: ", line)


def markdown_document(
    source: Source,
    body: str,
    title: str = "",
    metadata: dict[str, Any] | None = None,
    left_out: Mapping[str, int] = MappingProxyType({}),
) -> Document:
    """Read Markdown as a document, titled by `title`, its metadata, its first h1 or its file's name.

    `left_out`: counts of parts that were left out before, by kind. Raises BadInput.
    """
    metadata = metadata or {}
    outline = Outline(beside(source.path))
    if links := read_into(outline, body):
        metadata.setdefault("links", links)
    document = outline.document(source, title or one_line(str(metadata.pop("title", ""))), metadata)
    tell(source, left_out)
    return document


def read_into(outline: Outline, body: str) -> list[str]:
    """Add Markdown to an outline and return its links. Raises BadInput."""
    try:
        tokens = parser().parse(body)
    except Exception as error:  # the parser's failure on one file must not stop the others
        raise BadInput(f"cannot be parsed as Markdown ({type(error).__name__}: {error})") from error
    renderer = _Renderer(outline)
    renderer.run(tokens)
    return list(renderer.links)


class _Renderer:
    """Walks over markdown-it's tokens and adds their text to an outline."""

    def __init__(self, outline: Outline) -> None:
        self._outline = outline
        self._attributes = ""  # the attributes of the next block
        self.links: dict[str, None] = {}
        """The links: notes by their names, files by their paths, which begin with a dot."""

    def run(self, tokens: list[Token]) -> None:
        position = 0
        while position < len(tokens):
            token = tokens[position]
            if token.type == "table_open":
                position = self._table(tokens, position)
            elif token.type == "heading_open" and token.level == 0:
                children = tokens[position + 1].children
                if children and children[-1].type == "text":
                    text = children[-1].content
                    place = text.rfind("{")
                    children[-1].content = text[:place].rstrip() if _ATTRIBUTES.fullmatch(text, max(place, 0)) else text
                self._outline.heading(int(token.tag[1]), self._inline(children))
                position += 2
            elif token.type == "ordered_list_open":
                self._begin_list(token, tokens[position:])
            else:
                self._token(token)
            self._attributes = token.content if token.type == "attributes" else ""
            position += 1

    def _begin_list(self, token: Token, tokens: Sequence[Token]) -> None:
        """Begin a numbered list; its attributes may ask for letters or for counting down."""
        parts = _LIST_ATTRIBUTE.findall(self._attributes)
        attributes = {first or second: number or word for first, number, second, word in parts}
        start, step = int(attributes.get("start", token.attrs.get("start", 1))), 1
        if "reversed" in attributes:
            end = next(n for n, t in enumerate(tokens) if t.type == "ordered_list_close" and t.level == token.level)
            items = sum(t.type == "list_item_open" and t.level == token.level + 1 for t in tokens[:end])
            start, step = start if "start" in attributes else items, -1
        self._outline.begin_list(start, attributes.get("type", "1"), step)

    def _token(self, token: Token) -> None:
        outline = self._outline
        match token.type:
            case "bullet_list_open":
                outline.begin_list()
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
                lines = "\n" if _FIELDS.fullmatch(token.content) else " "
                outline.block(_BLOCK_ID.sub("", self._inline(token.children, lines)))
            case "remark":
                outline.left_out["comment"] += 1
            case "fence" | "code_block" | "math_block":
                outline.block(token.content, tight=False)
            case "html_block":
                from kgrag.loaders.html import add_html  # slow to import, and most files have no HTML

                add_html(outline, only_tags(token.content))

    def _table(self, tokens: list[Token], position: int) -> int:
        """Add the table that opens at `position`; returns where it closes."""
        rows: list[list[Cell]] = []
        while tokens[position].type != "table_close":
            if tokens[position].type == "tr_open":
                rows.append([])
            elif tokens[position].type == "inline":
                kinds = [t.type for t in tokens[position].children or () if t.content or t.type != "text"]
                bold = kinds[:1] == ["strong_open"] and kinds.index("strong_close") == len(kinds) - 1
                rows[-1].append(Cell(self._inline(tokens[position].children), head=bold))
            position += 1
        self._outline.table(rows, heads=1)
        return position

    def _inline(self, tokens: Sequence[Token] | None, between: str = " ") -> str:
        """Return the text of a line: links and images become their text, and HTML tags are interpreted.

        `between` separates the lines of a paragraph.
        """
        line = Inline()
        left_out = self._outline.left_out
        hidden = ""  # the name of the tag or the type of the token that ends the hidden part
        after = ""  # the type of the previous token
        names = iter(tag_names([token.content for token in tokens or () if token.type == "html_inline"]))
        for token in tokens or ():
            name = next(names) if token.type == "html_inline" else ""
            if hidden:
                hidden = "" if name == f"/{hidden}" or token.type == hidden else hidden
                continue
            match token.type:
                case "softbreak":
                    line.text(between)
                case "hardbreak":
                    line.text("\n")
                case "image":
                    line.text(text := self._inline(token.children))
                    self._outline.picture(str(token.attrs.get("src", "")), text or str(token.attrs.get("title", "")))
                case "note":
                    line.note(token.content)
                case "wiki_link":
                    line.text(token.content)
                    self.links.update({token.meta["target"]: None} if token.meta["target"] else {})
                case "link_open":
                    self._link(str(token.attrs.get("href", "")))
                case "remark":
                    left_out["comment"] += 1
                case "s_open":
                    line.skip()
                    hidden = "s_close"
                    left_out["deleted piece"] += 1
                case "html_inline" if name in _LEFT_OUT or (name and _is_hidden(token.content, name)):
                    line.skip()
                    hidden = name
                    left_out[_LEFT_OUT.get(name, "hidden piece")] += 1
                case "html_inline":
                    _tag(token.content, name, line)
                case "text":
                    text = token.content
                    if after in _ATTRIBUTED and (attributes := _ATTRIBUTES.match(text)):
                        text = text[attributes.end() :]
                    line.text(_ICON.sub("", _KEYS.sub(r"\1", text)))
                case _:
                    line.text(token.content)
            after = token.type
        return line.take()

    def _link(self, address: str) -> None:
        """Record the target of a link if it is a file with a relative path."""
        if match := _RELATIVE.match(address):
            path = unquote(match[0])
            self.links[path if path.startswith(("./", "../")) else f"./{path}"] = None


def _name_callout(token: Token) -> None:
    """Begin a callout, "[!note] Title", with its title, or else with its kind."""
    first = token.children[0] if token.children else None
    match = _CALLOUT.match(first.content) if first is not None and first.type == "text" else None
    if first is not None and match is not None:
        first.content = first.content[match.end() :] or f"{match[1].capitalize()}:"


def _is_hidden(markup: str, name: str) -> bool:
    if "hidden" not in markup and "none" not in markup:
        return False
    from kgrag.loaders.markup import is_hidden

    tag = _parsed(markup, name)
    return tag is not None and is_hidden(tag)


def _parsed(markup: str, name: str) -> "Tag | None":
    """Return the element of a tag."""
    from bs4 import BeautifulSoup

    return BeautifulSoup(markup, "html.parser").find(name)


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
        image = _parsed(markup, name)
        line.text(str(image.get("alt") or "") if image is not None else "")


MARKDOWN = Format("Markdown file", (".md", ".markdown"), single_document(load_markdown), version=9)
