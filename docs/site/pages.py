"""Pages of the site that are made from the source while it is built: names of Python, commands, saved queries, errors.

Beside each page lies its Markdown, and llms.txt leads to these (llmstxt.org).
"""

import ast
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

import api
import click
from jinja2 import Environment
from mkdocs.config.defaults import MkDocsConfig
from mkdocs.structure.files import File, Files
from mkdocs.structure.pages import Page

import kgrag
from kgrag.cli import GROUPS, SECTIONS, main
from kgrag.graph.saved import saved_queries
from kgrag.values.installing import install_hint, update_hint

_ROOT = Path(__file__).parents[2]
_HINTS = {"install_hint": install_hint, "update_hint": update_hint}


def on_files(files: Files, config: MkDocsConfig) -> Files:
    """Add the pages that nobody writes."""
    made = {"commands.md": commands(), "queries.md": queries(), "errors.md": errors(), **dict(api.pages())}
    for name, text in made.items():
        files.append(File.generated(config, name, content=text))
    return files


def on_page_markdown(markdown: str, page: Page, config: MkDocsConfig, files: Files) -> str:
    """Links to files outside of docs/ become their names: the site stands alone."""
    folder = Path(config.docs_dir)

    def kept(found: re.Match[str]) -> str:
        target = found[2].partition("#")[0]
        outside = target and "://" not in target and files.get_file_from_path(target) is None
        return found[1].strip("`").join("``") if outside and (folder / target).exists() else found[0]

    return re.sub(r"\[([^\]]+)\]\(([^)\s]+)\)", kept, markdown)


def on_env(env: Environment, config: MkDocsConfig, files: Files) -> None:
    """Write llms.txt, which lists the pages as the nav does, llms-full.txt, which holds them, and each as Markdown."""
    index, whole = [f"# {config.site_name}\n\n> {config.site_description}"], []
    for section, title, path in _listed(config.nav or [], "Start"):
        file = files.get_file_from_path(path)
        assert file is not None and file.page is not None and file.page.markdown is not None
        text = re.sub(r"\A---\n.*?\n---\n+", "", file.page.markdown, flags=re.DOTALL)
        if section not in index:
            index.append(section)
        parts = "; ".join(item.title for item in file.page.toc.items[0].children)
        index.append(f"- [{title}]({path})" + (f": {parts}" if parts else ""))
        whole.append(text)
        _write(config, path, text)
    _write(config, "llms.txt", "\n".join(index) + "\n")
    _write(config, "llms-full.txt", "\n\n".join(whole) + "\n")


def _listed(nav: list[Any], section: str) -> Iterator[tuple[str, str, str]]:
    """Yield the section's heading, the title and the path of each page of a nav, in its order."""
    for entry in nav:
        for title, inner in entry.items():
            if isinstance(inner, str):
                yield f"\n## {section}\n", title, inner
            else:
                yield from _listed(inner, title)


def _write(config: MkDocsConfig, name: str, text: str) -> None:
    path = Path(config.site_dir, name)
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding="utf-8")


def commands() -> str:
    """Every command as its --help says it, in the groups of `kgrag --help`."""
    top = click.Context(main, info_name="kgrag")
    parts = ["# Commands\n\nEach as `--help` says it, in the order of `kgrag --help`.\n"]
    for title, names in SECTIONS.items():
        parts += [f"## {title}\n", *(part for name in names for part in _help(main, name, top))]
    for name, (purpose, _) in GROUPS.items():
        parts += [f"## kgrag {name}\n\n{purpose}\n", *_members(main.get_command(top, name), name, top)]
    return "\n".join(parts)


def _help(group: click.Group, name: str, context: click.Context) -> Iterator[str]:
    """Yield the help of a command and of its subcommands."""
    command = group.get_command(context, name)
    assert command is not None
    whole = f"{context.command_path} {name}"
    shown = click.Context(command, info_name=whole, max_content_width=100)
    yield f"### {whole}\n\n```text\n{command.get_help(shown)}\n```\n"
    yield from _members(command, name, context)


def _members(command: click.Command | None, name: str, context: click.Context) -> Iterator[str]:
    if isinstance(command, click.Group):
        inner = click.Context(command, info_name=f"{context.command_path} {name}")
        for member in command.list_commands(inner):
            yield from _help(command, member, inner)


def queries() -> str:
    """Every saved query with its parameters and its Cypher."""
    parts = [
        "# Saved queries\n",
        "Each is run by `kgrag cypher NAME -c COLLECTION -p PARAMETER=VALUE`, and in Browser.\n",
    ]
    for name, query in sorted(saved_queries().items()):
        rows = [f"| `{p.name}` | {p.type} | `{p.default}` | {_cell(p.meaning)} |" for p in query.parameters]
        table = ["| parameter | type | default | |", "|---|---|---|---|", *rows] if rows else []
        parts.append(
            "\n".join([f"## {name}\n", query.purpose, "", *table, "", "```cypher", query.text.strip(), "```\n"])
        )
    return "\n".join(parts)


class Told(NamedTuple):
    """An error as the source raises it: its kind, what happened and what to do; `…` stands for what varies."""

    kind: str
    message: str
    remedy: str


def errors() -> str:
    """Every error with a remedy, by its message, for the search of the site."""
    told = {t for path in sorted((_ROOT / "kgrag").rglob("*.py")) for t in raised(path)}
    told |= {t for path in sorted((_ROOT / "loaders").rglob("*.py")) for t in raised(path)}
    parts = [
        "---\nhide: [toc]\n---\n\n# Errors and what to do\n",
        "What stands for … varies. In brackets: the class in Python (`kgrag.values.errors`).\n",
    ]
    parts += ["| what it says | what to do |", "|---|---|"]
    ordered = sorted(told, key=lambda t: t.message.lstrip("…'\" ").lower())
    parts += [f"| {_cell(t.message)} | {_cell(t.remedy)} ({t.kind}) |" for t in ordered]
    return "\n".join(parts) + "\n"


def raised(path: Path) -> Iterator[Told]:
    """Yield the errors with a remedy that a module makes."""
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and len(node.args) >= 2:
            kind = getattr(kgrag.values.errors, node.func.id, None)
            if node.func.id == "require_extra" and (message := _text(node.args[1])) != "…":
                remedy = _text(node.args[2]) if len(node.args) > 2 else "Install it: {}"
                hint = install_hint(_text(node.args[0]))
                yield Told("ConfigurationError", message.replace("{}", "…"), remedy.replace("{}", hint))
            elif isinstance(kind, type) and issubclass(kind, kgrag.values.errors.KgragError):
                message, remedy = _text(node.args[0]), _text(node.args[1])
                if message.strip("…. ") and remedy.strip("… "):
                    yield Told(node.func.id, message, remedy)


def _text(node: ast.expr) -> str:
    """Return a string's text, with … for each placeholder."""
    if isinstance(node, ast.Constant):
        return str(node.value)
    if isinstance(node, ast.JoinedStr):
        return "".join(map(_text, node.values))
    if isinstance(node, ast.FormattedValue):
        return _text(node.value) if isinstance(node.value, ast.Call) else "…"
    if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Add):
        return _text(node.left) + _text(node.right)
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id in _HINTS:
        return _HINTS[node.func.id](*map(_text, node.args))
    return "…"


def _cell(text: str) -> str:
    """Return a text for a table: no line ends, no bars, nothing that Markdown or HTML would read."""
    return re.sub(r"([|<>*_\[\]\\])", r"\\\1", " ".join(text.split()))
