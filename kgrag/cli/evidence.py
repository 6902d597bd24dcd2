"""Passages on a terminal: ranked evidence with its trail, and one passage with its neighbourhood."""

from collections.abc import Iterable, Iterator, Sequence
from typing import Any

from rich.console import Console
from rich.padding import Padding
from rich.text import Text
from rich.tree import Tree

from kgrag.cli.console import note, stdout_console
from kgrag.retrieval.quoted_trail import Hop, told_trail
from kgrag.retrieval.snippet import WIDTH, crop, one_line, snippet
from kgrag.retrieval.trail import score, trail
from kgrag.values.results import Passage, Ranking

ID_DIGITS = 8
"""How much of a passage's id is shown; `kgrag show` takes as much."""

_TITLE = 100


def print_ranking(ranking: Ranking, *, marked: Iterable[str] = (), width: int = WIDTH, why: bool = False) -> None:
    """Print hits on standard output, notes on standard error; titles in `marked` get a check mark.

    `why`: with the trail that led to each.
    """
    console = stdout_console()
    chosen = frozenset(marked)
    digits = len(str(len(ranking)))
    several = len({hit.passage.collection for hit in ranking}) > 1
    for rank, hit in enumerate(ranking, 1):
        head = Text.assemble((f"{rank:>{digits}}", "bold"), "  ", no_wrap=True)
        head.append(crop(hit.passage.heading, _TITLE), "bold cyan")
        if hit.passage.title in chosen:
            head.append(" ✓", "green")
        if several:
            head.append(f"  {one_line(hit.passage.collection)}", "magenta")
        head.append(f"  {hit.passage.id[:ID_DIGITS]}  {score(hit.score)}", "dim")
        print_line(console, head)
        print_indented(console, excerpt(hit.passage, ranking.query, width), digits + 2)
        if why:
            print_indented(console, Text(crop(trail(hit), 400), "dim"), digits + 2)
        if hit.copies:
            print_indented(console, Text(crop(hit.also_in, 400), "dim"), digits + 2)
    print_trail(told_trail(ranking.hits, ranking.query))
    for line in ranking.notes:
        note(line)


def print_trail(hops: Sequence[Hop]) -> None:
    """Print the trail of a ranking: each passage's sentence that names the next, and the one that says most at last."""
    console = stdout_console()
    if hops:
        print_line(console, Text("The trail", "bold"))
    for hop in hops:
        line = Text(hop.sentence)
        line.stylize("bold yellow", hop.start, hop.end)
        print_indented(console, Text.assemble((f"{one_line(hop.title)}: ", "cyan"), line), 2)


def print_passage(passage: Passage, edges: Sequence[dict[str, Any]]) -> None:
    """Print a passage, where it comes from, and its edges by kind: a tree on a terminal, else indented lines."""
    console = stdout_console()
    print_line(console, Text(one_line(passage.heading), "bold cyan"))
    for name, value in _origin(passage):
        print_line(console, Text.assemble((f"{name:<9} ", "dim"), one_line(str(value))))
    console.print()
    for paragraph in passage.text.splitlines():
        console.print(Text(one_line(paragraph)), soft_wrap=not console.is_terminal)
    console.print()
    groups = [(_kind(arrow, group), [_edge(edge) for edge in group]) for arrow, group in _kinds(edges)]
    if console.is_terminal:
        tree = Tree(Text("this passage", "bold"), guide_style="dim")
        for title, lines in groups:
            branch = tree.add(title)
            for line in lines:
                branch.add(line)
        console.print(tree)
        return
    for title, lines in groups:
        print_line(console, title)
        for line in lines:
            print_line(console, Text("  ").append_text(line))


def excerpt(passage: Passage, question: str, width: int = WIDTH) -> Text:
    """Return the part of a passage that says most about a question, with the question's words marked."""
    part = snippet(passage.text, question, width)
    text = Text(part.text)
    for start, end in part.marks:
        text.stylize("bold yellow", start, end)
    return text


def _origin(passage: Passage) -> Iterator[tuple[str, object]]:
    yield "id", passage.id
    place = ", ".join(filter(None, (passage.place, f"passage {passage.ordinal + 1}")))
    yield "document", f"{passage.document} ({place})"
    if passage.source:
        yield "source", passage.source
    yield from passage.metadata.items()


def _kinds(edges: Sequence[dict[str, Any]]) -> list[tuple[str, list[dict[str, Any]]]]:
    """Return edges by their kind, drawn as an arrow from or to the passage."""
    kinds: dict[str, list[dict[str, Any]]] = {}
    for edge in edges:
        arrow = f"—{edge['type']}→" if edge["outgoing"] else f"←{edge['type']}—"
        kinds.setdefault(arrow, []).append(edge)
    return list(kinds.items())


def _kind(arrow: str, group: Sequence[dict[str, Any]]) -> Text:
    total, shown = group[0]["total"], len(group)
    return Text.assemble((arrow, "bold"), (f"  {total:,}" if shown == total else f"  {shown} of {total:,}", "dim"))


def _edge(edge: dict[str, Any]) -> Text:
    line = Text.assemble(f"{edge['label']} ", (crop(str(edge["name"]), _TITLE), "cyan"))
    properties = edge["properties"]
    facts = [str(properties["via"])] if properties.get("via") else []
    facts += [score(float(properties[key])) for key in ("score", "weight") if properties.get(key) is not None]
    if facts:
        line.append(f" ({', '.join(facts)})", "dim")
    if edge["label"] == "Passage":
        line.append(f"  {str(edge['id'])[:ID_DIGITS]}", "dim")
    return line


def print_line(console: Console, line: Text) -> None:
    """Print a line; on a terminal as much of it as fits."""
    if console.is_terminal:
        console.print(line, no_wrap=True, overflow="ellipsis")
    else:
        console.print(line, soft_wrap=True)


def print_indented(console: Console, text: Text, by: int) -> None:
    """Print a text `by` columns from the left; on a terminal its further lines, too."""
    if console.is_terminal:
        console.print(Padding(text, (0, 0, 0, by)))
    else:
        console.print(Text(" " * by).append_text(text), soft_wrap=True)
