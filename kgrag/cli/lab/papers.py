"""The option --paper of commands that set everything as a paper has it, and the settings that it made."""

import json
from typing import TYPE_CHECKING, Any

import click

from kgrag.cli.console import note, print_list

if TYPE_CHECKING:
    from kgrag.lab.papers import Paper
    from kgrag.settings import Settings

PAPER_HELP = "Set indexing, retrieval, strategy and reader as this paper has them: `kgrag list systems --paper NAME`."
paper_option = click.option("--paper", metavar="NAME", help=PAPER_HELP)


def as_paper(settings: "Settings", name: str | None, *, quiet: bool = False) -> "tuple[Settings, Paper | None]":
    """Return the settings of a paper, and the paper; unless `quiet` standard error names it.

    Raises NotFoundError.
    """
    if name is None:
        return settings, None
    from kgrag.lab.papers import find_paper

    paper = find_paper(name)
    settings = paper.apply(settings)
    if quiet:
        return settings, paper
    own = [f"{row['setting']}={row['value']}" for row in rows(paper, settings) if row["value"] != row["paper"]]
    note(f"Everything is set as {name} has it: `kgrag list systems --paper {name}` says what and where.")
    if own:
        print_list("But as you set it:", own)
    return settings, paper


def rows(paper: "Paper", settings: "Settings") -> list[dict[str, str]]:
    """Return every setting of a paper as text, with the value in force and its place in the paper."""
    from kgrag.lab.papers import EVALUATION, value_of

    lines = []
    for setting in paper.settings:
        value = setting.value if setting.path[0] == EVALUATION else value_of(settings, setting.path)
        row = {"setting": setting.name, "paper": said(setting.value), "value": said(value), "source": setting.source}
        lines.append(row)
    return lines


def said(value: Any) -> str:
    """Return a value as an environment variable would hold it."""
    return value if isinstance(value, str) else json.dumps(value)
