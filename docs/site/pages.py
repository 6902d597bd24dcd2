"""Pages of the site that are made from the source while it is built: commands, saved queries, errors with remedies."""

import ast
import re
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

import click
from mkdocs.config.defaults import MkDocsConfig
from mkdocs.structure.files import File, Files
from mkdocs.structure.pages import Page

import kgrag
from kgrag.cli import main
from kgrag.graph.saved import saved_queries

_ROOT = Path(__file__).parents[2]


def on_files(files: Files, config: MkDocsConfig) -> Files:
    """Add the pages that nobody writes."""
    for name, text in (("commands.md", commands()), ("queries.md", queries()), ("errors.md", errors())):
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


def commands() -> str:
    """Every command as its --help says it."""
    parts = ["# Commands\n"]
    for name, command in sorted(_commands(main, click.Context(main, info_name="kgrag"))):
        context = click.Context(command, info_name=name, max_content_width=100)
        parts.append(f"## {name}\n\n```text\n{command.get_help(context)}\n```\n")
    return "\n".join(parts)


def _commands(group: click.Group, context: click.Context) -> Iterator[tuple[str, click.Command]]:
    for name in group.list_commands(context):
        command = group.get_command(context, name)
        assert command is not None
        whole = f"{context.command_path} {name}"
        yield whole, command
        if isinstance(command, click.Group):
            yield from _commands(command, click.Context(command, info_name=whole))


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
    """Every error that has a remedy, by what it says; looked up by the search of the site."""
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
    """The errors with a remedy that a module makes."""
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and len(node.args) >= 2:
            kind = getattr(kgrag.values.errors, node.func.id, None)
            if isinstance(kind, type) and issubclass(kind, kgrag.values.errors.KgragError):
                message, remedy = _text(node.args[0]), _text(node.args[1])
                if message.strip("…. ") and remedy.strip("… "):
                    yield Told(node.func.id, message, remedy)


def _text(node: ast.expr) -> str:
    """What a string says, with … for what is filled in."""
    if isinstance(node, ast.Constant):
        return str(node.value)
    if isinstance(node, ast.JoinedStr):
        return "".join(_text(v) if isinstance(v, ast.Constant) else "…" for v in node.values)
    if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Add):
        return _text(node.left) + _text(node.right)
    return "…"


def _cell(text: str) -> str:
    """A text within a table: no line ends, no bars, nothing that Markdown or HTML would read."""
    return re.sub(r"([|<>*_\[\]\\])", r"\\\1", " ".join(text.split()))
