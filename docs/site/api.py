"""Make the Python pages of the site: each public name with its signature and docstring."""

import inspect
import re
import sys
from collections.abc import Iterator
from inspect import Parameter
from itertools import groupby
from pathlib import Path
from typing import Any, NamedTuple

from docstring_parser import DocstringMeta, DocstringStyle, parse
from pydantic import BaseModel

import kgrag
from kgrag.agents.strategy import Strategy
from kgrag.cli.settings_list import settings_in
from kgrag.retrieval.base import Retriever

sys.path.insert(0, str(Path(__file__).parents[2] / "tests"))
from test_public import METHODS, PACKAGES, members, names  # that test alone defines the public names


class Group(NamedTuple):
    """A page: its title, its purpose, and the packages whose names it lists."""

    title: str
    purpose: str
    packages: tuple[str, ...]


GROUPS = {
    "client": Group("Client", "Connections and collections: here, to be awaited, and over HTTP.", ("kgrag.client",)),
    "values": Group(
        "Values",
        "What goes in and what comes out.",
        ("kgrag.values.documents", "kgrag.values.results", "kgrag.values.events", "kgrag.values.rows"),
    ),
    "retrievers": Group(
        "Retrievers",
        "Questions → rankings. [Retrievers](../retrievers.md) says which is for what; a name with its options, such as "
        "`ppr(damping=0.7)`, does for the class wherever a retriever is asked for.",
        ("kgrag.retrieval", "kgrag.runtime.options"),
    ),
    "strategies": Group(
        "Strategies",
        "Questions → answers, with a language model, over a retriever. [Answers](../answers.md) says which is for "
        "what; a name such as `gear+pathrank` does for the class.",
        ("kgrag.agents",),
    ),
    "embedders": Group(
        "Embedders and passage indexes",
        "Texts → vectors, and what `bm25` and `dense` search.",
        ("kgrag.models", "kgrag.passages"),
    ),
    "loaders": Group(
        "Loaders and knowledge", "Files → documents and facts.", ("kgrag.loaders", "kgrag.indexing.knowledge")
    ),
    "lab": Group("The lab", "Question sets and experiments.", ("kgrag.lab",)),
    "settings": Group(
        "Settings", "What each means, and its variable: [Settings](../settings.md).", ("kgrag.settings",)
    ),
    "errors": Group(
        "Errors", "Each has a `message` and a `remedy`: [all of them](../errors.md).", ("kgrag.values.errors",)
    ),
}

_SECTIONS = {
    "param": "Arguments",
    "attribute": "Attributes",
    "returns": "Returns",
    "yields": "Yields",
    "raises": "Raises",
}


def pages() -> Iterator[tuple[str, str]]:
    """Yield the path and the text of each page."""
    for name, group in GROUPS.items():
        parts = [f"# {group.title}\n\n{group.purpose}\n"]
        for package in group.packages:
            its = sorted(_names(package), key=lambda n: n.startswith(("Async", "Remote")))  # twins come last
            parts += [of for public in its for of in _entry(package, public)]
        yield f"api/{name}.md", "\n".join(parts)


def _names(package: str) -> set[str]:
    """Return the public names of a package: the names of its modules in kgrag, and the names that it lists itself."""
    face = {name for name in kgrag.__all__ if f"{getattr(kgrag, name).__module__}.".startswith(f"{package}.")}
    return face.union(*(names(listed) for listed in PACKAGES if f"{listed}.".startswith(f"{package}.")))


def _entry(package: str, name: str) -> Iterator[str]:
    """Yield a name and, of a class, its options and its methods."""
    homes = [kgrag, *(sys.modules[listed] for listed in PACKAGES if f"{listed}.".startswith(f"{package}."))]
    value = next(getattr(home, name) for home in homes if hasattr(home, name))
    if not isinstance(value, type) and not inspect.isfunction(value):
        return  # a type, a registry or a constant: the guides tell of these
    home = "kgrag" if name in kgrag.__all__ else value.__module__
    yield _section(2, name, f"from {home} import {name}\n\n{name}{signature(value)}", value)
    if not isinstance(value, type):
        return
    yield from _options(value)
    for member, its in members(value):
        plain = its.__func__ if isinstance(its, classmethod | staticmethod) else its
        if isinstance(plain, METHODS):
            shown = member + (signature(plain) if inspect.isfunction(plain) else "")
            yield _section(3, f"{name}.{member}", shown, plain)


def _section(level: int, title: str, code: str, value: Any) -> str:
    return f"{'#' * level} {title} {{ #{title} }}\n\n```python\n{code}\n```\n\n{prose(value)}\n"


def _options(kind: type) -> Iterator[str]:
    """Yield the options of a retriever or strategy as a table, without the options common to all strategies."""
    if not issubclass(kind, Retriever | Strategy):
        return
    common = set(Strategy.options.model_fields) if kind is not Strategy else set()
    its = [s for s in settings_in(kind.options, ()) if s.path[-1] not in common]
    if its:
        rows = [f"| `{s.path[-1]}` | {s.type} | {f'`{s.default}`' if s.default else ''} | {s.meaning} |" for s in its]
        yield "\n".join(["| option | type | default | meaning |", "|---|---|---|---|", *rows, ""])


def signature(value: Any) -> str:
    """Arguments with types and defaults, one a line where they are many; "" where nothing can be called."""
    if isinstance(value, type) and (issubclass(value, BaseModel) or getattr(value, "_is_protocol", False)):
        return ""
    try:
        found = inspect.signature(value)
    except ValueError:  # an exception without its own constructor
        return ""
    own = [p for p in found.parameters.values() if p.name not in ("self", "cls")]
    gives = found.empty if isinstance(value, type) else found.return_annotation
    text = _short(str(found.replace(parameters=own, return_annotation=gives)))
    if len(text) <= 90:
        return text
    lines, kinds = [_short(str(p)) for p in own], [p.kind for p in own]
    if Parameter.KEYWORD_ONLY in kinds and Parameter.VAR_POSITIONAL not in kinds:
        lines.insert(kinds.index(Parameter.KEYWORD_ONLY), "*")
    ends = "" if gives is found.empty else _short(f" -> {inspect.formatannotation(gives)}")
    return "".join(["(\n", *(f"    {line},\n" for line in lines), ")", ends])


def _short(text: str) -> str:
    """Return a signature without the modules of its types, their quotes, and what says nothing: addresses."""
    text = re.sub(r"<(?:function|factory)[^<>]*(?:<[^<>]*>[^<>]*)?>", "…", text)
    text = re.sub(r"\b(?:[a-z_]\w*\.)+(?=[A-Za-z_])", "", text)
    return re.sub(r"'([A-Z][\w\[\], |]*)'", r"\1", text).replace("~", "")


def prose(value: Any) -> str:
    """Return a docstring as Markdown; a class includes the docstring of its constructor."""
    text = inspect.getdoc(value) or ""
    if isinstance(value, type):
        text = "" if text.startswith(f"{value.__name__}(") else text  # some are generated by dataclass
        made = getattr(vars(value).get("__init__"), "__doc__", None)
        return "\n\n".join(_prose(its) for its in (text, inspect.cleandoc(made or "")) if its)
    return _prose(text)


def _prose(text: str) -> str:
    """Return a docstring as Markdown: sections become lists, examples blocks; other signs of Markdown are escaped."""
    said = parse(text, DocstringStyle.GOOGLE)
    parts = [escaped(its) for its in (said.short_description, said.long_description) if its]
    for section, items in groupby(said.meta, lambda item: item.args[0]):
        if section == "examples":
            parts += [_block(item.description or "") for item in items]
        else:
            parts.append(f"**{_SECTIONS[section]}**\n\n" + "\n".join(f"- {_item(item)}" for item in items))
    return "\n\n".join(parts)


def _item(item: DocstringMeta) -> str:
    """Return a line of a section; the first word of a parameter or an error is its name."""
    name = getattr(item, "arg_name", None) or getattr(item, "type_name", None)
    its = escaped(" ".join((item.description or "").split()))
    return (f"`{name}`: " if item.args[0] in ("param", "attribute", "raises") else f"{name}: " if name else "") + its


def _block(example: str) -> str:
    lines = (
        re.sub(r"^(>>>|\.\.\.) ?", "", line) if re.match(r">>>|\.\.\.", line) else f"# {line}"
        for line in example.splitlines()
    )
    return "```python\n" + "\n".join(lines) + "\n```"


def escaped(text: str) -> str:
    """Return a text without what Markdown or HTML would read, but for code in backticks."""
    spans = re.split(r"(`[^`]*`)", text)
    return "".join(s if s.startswith("`") else re.sub(r"([*_<>\[\]|])", r"\\\1", s) for s in spans)
