"""The code blocks of a page in Markdown, and the commands in them."""

import re
import shlex
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from markdown_it import MarkdownIt

NOT_RUN = re.compile(r"<!-- not run: (.{10,}) -->")
"""A comment before a block that cannot run here, with the reason."""
IN = re.compile(r"<!-- in: (\S+) -->")
"""A comment before a block that another environment runs: tests/adapters."""


@dataclass(frozen=True)
class Block:
    """A fenced block. `reason`: why it is not run; `environment`: the environment that runs it, if not this one."""

    page: Path
    line: int
    language: str
    text: str
    reason: str = ""
    environment: str = ""

    def __str__(self) -> str:
        return f"{self.page.name}:{self.line}"


@dataclass(frozen=True)
class Command:
    """A command line with the variables (`env`) set before it."""

    text: str
    words: tuple[str, ...]
    env: dict[str, str]


def blocks(page: Path) -> Iterator[Block]:
    """Return every fenced or indented block of a page, including blocks in lists and quotes."""
    reason = environment = ""
    for token in MarkdownIt().parse(page.read_text(encoding="utf-8")):
        if token.type in ("fence", "code_block"):
            first = token.map[0] + 1 if token.map else 0
            yield Block(page, first, token.info.strip(), token.content, reason, environment)
        comment = token.content if token.type == "html_block" else ""
        reason, environment = (found[1] if (found := mark.search(comment)) else "" for mark in (NOT_RUN, IN))


def commands(block: Block) -> Iterator[Command]:
    """Yield the lines of a console that begin with "$ "; the other lines are output."""
    for line in block.text.replace("\\\n", " ").splitlines():
        if line.startswith("$ "):
            words = shlex.split(line[2:], comments=True)
            count = next((i for i, word in enumerate(words) if not re.match(r"[A-Z_0-9]+=", word)), len(words))
            pairs = words[1:] if words[0] == "export" else words[:count]
            env = dict(pair.split("=", 1) for pair in pairs)
            yield Command(line[2:], () if words[0] == "export" else tuple(words[count:]), env)


def mentioned(page: Path) -> Iterator[tuple[int, tuple[str, ...]]]:
    """Yield (line, words) for each `kgrag ...` in sentences and tables, which need not be a complete command."""
    for token in MarkdownIt().enable("table").parse(page.read_text(encoding="utf-8")):
        for child in token.children or ():
            if child.type == "code_inline" and child.content.startswith("kgrag "):
                yield (token.map[0] + 1 if token.map else 0), tuple(child.content.split()[1:])


def differs_from_readme(printed: str) -> str:
    """Return the first piece of README's example that the demo's output `printed` lacks; "" if it has all in order.

    README writes "…" between pieces; line ends and indentation do not count.
    """
    page = (Path(__file__).parents[1] / "README.md").read_text(encoding="utf-8")
    (shown,) = re.findall(r"```text\n(Which .*?)```", page, re.DOTALL)
    rest = " ".join(printed.split())
    for piece in filter(None, (" ".join(part.split()) for part in shown.split("…"))):
        if piece not in rest:
            return piece
        rest = rest.partition(piece)[2]
    return ""
