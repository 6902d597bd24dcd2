"""Results on a terminal: passages with their trails, how an answer comes about, rows of a Cypher statement."""

import csv
import sys
import time
from collections.abc import Iterable, Iterator, Sequence
from threading import Lock
from typing import Any, Self

import click
from rich.console import Console, Group
from rich.live import Live
from rich.padding import Padding
from rich.spinner import Spinner
from rich.text import Text
from rich.tree import Tree

from kgrag.cli.console import note, number, print_table, stderr_console, stdout_console, visible
from kgrag.retrieval.quoted_trail import Hop, told_trail
from kgrag.retrieval.snippet import WIDTH, crop, one_line, snippet
from kgrag.retrieval.trail import score, trail
from kgrag.values.events import Answer, Answered, Called, Event
from kgrag.values.results import Passage, Ranking, Usage
from kgrag.values.rows import Rows, cell

ID_DIGITS = 8
"""How much of a passage's id is shown; `kgrag show` takes as much."""

_TITLE = 100


def print_ranking(ranking: Ranking, *, marked: Iterable[str] = (), width: int = WIDTH, why: bool = False) -> None:
    """Print hits on standard output, notes on standard error; titles in `marked` get a check mark.

    `why`: with the trail that led to each.
    """
    console = stdout_console()
    titles = frozenset(marked)
    digits = len(str(len(ranking)))
    several = len({hit.passage.collection for hit in ranking}) > 1
    for rank, hit in enumerate(ranking, 1):
        head = Text.assemble((f"{rank:>{digits}}", "bold"), "  ", no_wrap=True)
        head.append(crop(hit.passage.heading, _TITLE), "bold cyan")
        if hit.passage.title in titles:
            head.append(" ✓", "green")
        if several:
            head.append(f"  {one_line(hit.passage.collection)}", "magenta")
        head.append(f"  {hit.passage.id[:ID_DIGITS]}  {score(hit.score)}", "dim")
        print_line(console, head)
        print_indented(console, excerpt(hit.passage, ranking.query, width), digits + 2)
        if why:
            print_indented(console, Text(crop(trail(hit), 400), "dim"), digits + 2)
        if hit.passage.figures:
            print_indented(console, _figures(hit.passage), digits + 2)
        if hit.copies:
            print_indented(console, Text(crop(hit.also_in, 400), "dim"), digits + 2)
    if not why:  # else each hit has told its own
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
    if passage.figures:
        yield "figures", _figures(passage, prefix="")
    yield from passage.metadata.items()


def _figures(passage: Passage, prefix: str = "see ") -> Text:
    """Return the captions of the figures of a passage."""
    return Text(crop(prefix + "; ".join(one_line(figure.caption) for figure in passage.figures), 400), "dim")


def _kinds(edges: Sequence[dict[str, Any]]) -> list[tuple[str, list[dict[str, Any]]]]:
    """Return edges by their kind, drawn as an arrow from or to the passage."""
    kinds: dict[str, list[dict[str, Any]]] = {}
    for edge in edges:
        arrow = f"—{edge['type']}→" if edge["outgoing"] else f"←{edge['type']}—"
        kinds.setdefault(arrow, []).append(edge)
    return list(kinds.items())


def _kind(arrow: str, group: Sequence[dict[str, Any]]) -> Text:
    total, listed = group[0]["total"], len(group)
    return Text.assemble((arrow, "bold"), (f"  {total:,}" if listed == total else f"  {listed} of {total:,}", "dim"))


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


EVIDENCE = 8
"""How many of the best passages are shown when they do not hold the answer."""

_LABEL = 9
_LINE = 300  # characters of a line of the trace
_STYLES = {"known": "green", "failed": "red"}


class LiveTrace:
    """Prints events as they happen on standard error; a context manager.

    On a terminal the answer is shown while it is written, and below it how many calls, tokens and seconds it took so
    far; both are gone afterwards. `quiet`: of all this, only the answer.
    """

    def __init__(self, *, quiet: bool) -> None:
        self._console = stderr_console()
        self._quiet = quiet
        self._text = ""
        self._usage = Usage()
        self._began = time.monotonic()
        self._step = 0
        self._printed: set[str] = set()
        self._lock = Lock()
        self._live: Live | None = None
        self._spinner = Spinner("dots")
        if self._console.is_terminal:
            self._live = Live(get_renderable=self._bottom, console=self._console, transient=True, refresh_per_second=8)

    def __enter__(self) -> Self:
        if self._live is not None:
            self._live.start()
        return self

    def __exit__(self, *_: object) -> None:
        if self._live is not None:
            self._live.stop()

    def __call__(self, event: Event) -> None:
        """Record an event, and update the display."""
        with self._lock:
            if isinstance(event, Called):
                self._usage += event.usage
            elif isinstance(event, Answered):
                self._text = readable(event.text)
            elif not self._quiet:
                self._show(event)

    def _show(self, event: Event) -> None:
        if query := event.topic:
            self._head(event.step, query)
        for label, text in event.lines():
            line = crop(text, _LINE)
            if label in ("fact", "failed"):
                if line in self._printed:
                    continue
                self._printed.add(line)
            self._line(label, line, _STYLES.get(label, ""))

    def _head(self, step: int, query: str) -> None:
        """Print the step's number with its query; a second query of the same step is a line of it."""
        text = crop(query, _LINE)
        if step > self._step:
            self._step, self._printed = step, {text}
            spent = f"  ({self._usage.text()}, {self._seconds:.1f} s)" if step > 1 and self._usage.calls else ""
            self._print(Text.assemble((f"{step}  ", "bold"), (text, "bold cyan"), (spent, "dim")))
        elif text not in self._printed:
            self._printed.add(text)
            self._line("query", text)

    def _line(self, label: str, text: str, style: str = "") -> None:
        self._print(Text.assemble((f"   {label:<{_LABEL}}", "dim"), (crop(text, _LINE), style)))

    def _print(self, line: Text) -> None:
        self._console.print(line, soft_wrap=not self._console.is_terminal)

    def _bottom(self) -> Group:
        """Return the last lines of the answer so far, as many as fit, and its usage."""
        lines = Text(self._text).wrap(self._console, self._console.width)[-max(1, self._console.height - 3) :]
        if self._quiet:
            return Group(*lines)
        spent = f"{self._usage.text()}, " if self._usage.calls else ""
        self._spinner.update(text=Text(f"{spent}{self._seconds:.0f} s", "dim"))
        return Group(*lines, self._spinner)

    @property
    def streams(self) -> bool:
        """Whether an answer is shown while it is written."""
        return self._live is not None

    @property
    def _seconds(self) -> float:
        return time.monotonic() - self._began


def print_answer(answer: Answer) -> None:
    """Print an answer with its citations; if the evidence does not hold it, print the evidence, ranked."""
    text = readable(answer.text)
    if text:
        console = stdout_console()
        console.print(Text(text, "bold" if answer.found else ""), soft_wrap=not console.is_terminal)
    if answer.problem:
        part = "" if answer.cut else "A step failed, and this is made from what there was: "
        note(f"{part}{answer.problem}" if text else f"There is no answer: {answer.problem}")
    if answer.doubt:
        note(one_line(answer.doubt))
    if answer.found:
        _print_citations(answer)
    elif answer.ranking.hits:
        if text:
            click.echo()
        evidence = Ranking(answer.ranking.query, answer.ranking.retriever, answer.ranking.hits[:EVIDENCE])
        note("The best of the evidence:")
        print_ranking(evidence)
    for line in answer.ranking.notes:
        note(line)


def readable(text: str) -> str:
    """Return a text of several lines without anything that could steer a terminal."""
    return "\n".join(map(one_line, text.strip().splitlines()))


def _print_citations(answer: Answer) -> None:
    if answer.citations:
        click.echo()
    width = max((len(str(c.number)) for c in answer.citations), default=1) + 2
    console = stdout_console()
    last: tuple[int, str] | None = None
    for citation in answer.citations:
        passage, number = citation.passage, f"[{citation.number}]"
        if citation.summary and (citation.number, citation.summary) != last:
            last = (citation.number, citation.summary)
            print_line(
                console, Text(f"{number:<{width}}  summary: {crop(one_line(citation.summary), _LINE)}, of", "bold")
            )
        number = "" if citation.summary else number
        head = Text.assemble((f"{number:<{width}}", "bold"), "  ", (passage.id[:ID_DIGITS], "dim"), "  ")
        print_line(console, head.append(crop(passage.heading, _LINE), "bold cyan"))
        if citation.summary:
            continue
        print_indented(console, excerpt(passage, f"{answer.question} {answer.text}"), width + 2)


_LONGEST = 200  # characters of a cell


def print_outcome(rows: Rows, *, as_csv: bool, raw: bool = False) -> None:
    """Print rows on standard output, and on standard error how many there are and how long they took.

    `raw`: texts that a spreadsheet takes for formulas stay as they are in CSV.
    """
    if as_csv:
        _print_csv(rows, raw)
    else:
        _print_rows(rows)
    note(f"{number(len(rows), 'row') if len(rows) else 'No rows'} in {rows.seconds * 1000:.0f} ms")
    if rows.cut:
        note(f"Not all of them: {rows.cut}")
    for line in rows.notes:
        note(line)


def _print_csv(rows: Rows, raw: bool) -> None:
    """Print a header and a line a row; lists and maps are JSON, and missing values empty."""
    seen = visible if sys.stdout.isatty() else str
    writer = csv.writer(sys.stdout, lineterminator="\n")
    for row in (rows.columns, *rows.values):
        writer.writerow([seen(cell(value) if raw or _is_number(value) else _no_formula(cell(value))) for value in row])


def _no_formula(text: str) -> str:
    """Return the text, after a ' if a spreadsheet would read it as a formula."""
    return f"'{text}" if text.startswith(("=", "+", "-", "@", "\t", "\r")) else text


def _print_rows(rows: Rows) -> None:
    """Print a table with long texts cut short; nothing without rows."""
    if not len(rows):
        return
    words = {column for i, column in enumerate(rows.columns) if not all(_is_number(row[i]) for row in rows.values)}
    print_table(rows.columns, ([_short(cell(value)) for value in row] for row in rows.values), left=words)


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)


def _short(text: str) -> str:
    text = " ".join(text.split())
    return text if len(text) <= _LONGEST else f"{text[: _LONGEST - 1]}…"
