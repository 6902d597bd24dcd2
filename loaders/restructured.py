"""Load reStructuredText: docutils converts it to HTML, which is then read; other files are never included."""

import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

from kgrag.loaders.base import BadInput, check_binary, clean, decode, find_encoding, one_line, repaired
from kgrag.loaders.html import add_html
from kgrag.loaders.outline import Outline
from kgrag.loaders.reading import Format
from kgrag.loaders.worker_formats import Content, content, read_apart
from kgrag.text.letters import word_lists

_SETTINGS = {
    "file_insertion_enabled": False, "raw_enabled": False, "report_level": 3, "warning_stream": False, "halt_level": 5,
    "input_encoding": "unicode", "embed_stylesheet": False, "stylesheet_path": None, "math_output": "LaTeX",
    "syntax_highlight": "none", "initial_header_level": 2, "doctitle_xform": True, "_disable_config": True,
}  # fmt: skip
_LISTS = word_lists("kgrag.loaders")
_DIRECTIVES = _LISTS["directives"]  # the directives that docutils handles well enough
_ROLES = _LISTS["roles"]
_LITERAL = frozenset("code code-block sourcecode doctest testcode testoutput productionlist graphviz".split())
_SILENT = _LISTS["silent"]
_CONDITIONS = frozenset("only ifconfig".split())
"""Directives whose argument is not text."""
_VERSIONS = {
    "versionadded": "Added in version",
    "versionchanged": "Changed in version",
    "deprecated": "Deprecated since version",
    "versionremoved": "Removed in version",
}
_DIRECTIVE = re.compile(r"^[ \t]*\.\.[ \t]+([\w:.+-]+)::", re.MULTILINE)
_SUBTITLE = re.compile(r"<p class=\"subtitle\"[^>]*>(.*?)</p>", re.DOTALL)
_ROLE = re.compile(r"(?<!:):([\w:.+-]+):`|`:([\w:.+-]+):")


def read_rst(path: Path) -> Content:
    """Read a text in sections under its headings. Raises BadInput."""
    from docutils.core import publish_parts
    from docutils.utils import SystemMessage

    text, encoding, problem = _text(path)
    _take_all(text)
    try:
        parts = publish_parts(text, writer="html5", settings_overrides=_SETTINGS)
        if parts["subtitle"]:  # docutils promotes the heading of an only section; it is still a heading
            parts = publish_parts(text, writer="html5", settings_overrides=_SETTINGS | {"initial_header_level": 3})
    except (SystemMessage, RecursionError) as error:
        raise BadInput(f"cannot be parsed as reStructuredText ({one_line(str(error))[:200]})") from error
    outline = Outline()
    title = one_line(parts["title"])
    body = _SUBTITLE.sub(r"<h2>\1</h2>", parts["html_body"], count=1)
    add_html(outline, f"<main>{body}</main>")
    if problem:
        outline.problems.append(problem)
    return {**content(outline, title), "encoding": encoding}


def _text(path: Path) -> tuple[str, str, str]:
    """Return the text of a file, its legacy encoding, or "", and a remark on damaged bytes."""
    data = path.read_bytes()
    check_binary(data)
    try:
        return clean(decode(data)), "", ""
    except BadInput:
        encoding = find_encoding(data)
        text, problem = (data.decode(encoding, "replace"), "") if encoding else repaired(data)
        return clean(text), encoding or "", problem


def _take_all(text: str) -> None:
    """Make docutils read unknown markup, such as Sphinx's, as text; safe in a process that only reads files."""
    from docutils import nodes
    from docutils.parsers.rst import Directive, directives, roles
    from docutils.parsers.rst.directives.body import MathBlock

    class Block(Directive):
        """The content of the directive; its argument is a line of its own."""

        optional_arguments, final_argument_whitespace, has_content, option_spec = 1, True, True, _AnyOption()

        def run(self) -> list[nodes.Node]:
            names = [line.strip() for argument in self.arguments for line in argument.splitlines()]
            names = names[self.name in _CONDITIONS :]
            inner = nodes.container()
            self.state.nested_parse(self.content, self.content_offset, inner)
            return [*(nodes.paragraph("", name) for name in names if name), *inner.children]

    class Literal(Block):
        def run(self) -> list[nodes.Node]:
            lines = list(self.content)
            if self.name == "productionlist":
                first, *others = "\n".join(self.arguments).splitlines() or [""]
                lines = [line.replace("`", "") for line in (*([first] if ":" in first else []), *others, *lines)]
            caption = self.options.get("caption")
            return [*([nodes.paragraph("", caption)] if caption else []), nodes.literal_block("", "\n".join(lines))]

    class Version(Block):
        """Add a version note as a paragraph with its contents."""

        def run(self) -> list[nodes.Node]:
            version, *texts = " ".join(self.arguments).split(None, 1) or [""]
            inner = nodes.container()
            self.state.nested_parse(self.content, self.content_offset, inner)
            label = f"{_VERSIONS[self.name]} {version}".rstrip()
            text: list[nodes.Node] = []
            if texts:
                text = self.state.inline_text(texts[0], self.lineno)[0]
            elif inner.children and isinstance(inner[0], nodes.paragraph):
                text = list(inner.pop(0).children)
            return [nodes.paragraph("", f"{label}: " if text else f"{label}.", *text), *inner.children]

    class Formula(MathBlock):
        """A formula in the syntax of Sphinx, with a label."""

        option_spec = (MathBlock.option_spec or {}) | dict.fromkeys(("label", "nowrap", "no-wrap"), str)

    class Silent(Block):
        def run(self) -> list[nodes.Node]:
            return []

    def role(name: str, raw: str, text: str, line: int, inliner: Any, options: Any = None, content: Any = ()) -> Any:
        label = text.rpartition(" <")[0] if text.endswith(">") and " <" in text else text.lstrip("~!")
        return [nodes.inline(raw, label)], []

    directives.register_directive("math", Formula)
    for name in set(_DIRECTIVE.findall(text)) - _DIRECTIVES:
        kind = Silent if name in _SILENT else Literal if name in _LITERAL else Version if name in _VERSIONS else Block
        directives.register_directive(name, kind)
    for name in {one or other for one, other in _ROLE.findall(text)} - _ROLES:
        roles.register_local_role(name, role)


class _AnyOption(dict[str, Callable[[str], str]]):
    """Option converters of a directive that accepts any option unchanged."""

    def __getitem__(self, name: str) -> Callable[[str], str]:
        return lambda value: value or ""

    def __bool__(self) -> bool:
        return True


RST = Format("reStructuredText file", (".rst",), read_apart("kgrag.loaders.restructured:read_rst"), version=5)
