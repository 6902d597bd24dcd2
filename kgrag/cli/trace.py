"""How an answer comes about, on a terminal: the trace while it runs, then the answer with what it cites."""

import time
from threading import Lock
from types import TracebackType
from typing import Self

import click
from rich.console import Group
from rich.live import Live
from rich.spinner import Spinner
from rich.text import Text

from kgrag.cli.console import note, stderr_console, stdout_console
from kgrag.cli.evidence import (
    ID_DIGITS,
    excerpt,
    print_indented,
    print_line,
    print_ranking,
)
from kgrag.narration import ONCE, lines, topic, usage_text
from kgrag.retrieval.snippet import crop, one_line
from kgrag.values.events import Answer, Answered, Called, Event
from kgrag.values.results import Ranking, Usage

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
        self._written = ""
        self._usage = Usage()
        self._began = time.monotonic()
        self._step = 0
        self._said: set[str] = set()
        self._lock = Lock()
        self._live: Live | None = None
        self._spinner = Spinner("dots")
        if self._console.is_terminal:
            self._live = Live(get_renderable=self._bottom, console=self._console, transient=True, refresh_per_second=8)

    def __enter__(self) -> Self:
        if self._live is not None:
            self._live.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._live is not None:
            self._live.stop()

    def __call__(self, event: Event) -> None:
        """Take in an event."""
        with self._lock:
            if isinstance(event, Called):
                self._usage += event.usage
            elif isinstance(event, Answered):
                self._written = readable(event.text)
            elif not self._quiet:
                self._show(event)

    def _show(self, event: Event) -> None:
        if query := topic(event):
            self._head(event.step, query)
        for label, text in lines(event):
            shown = crop(text, _LINE)
            if label in ONCE:
                if shown in self._said:
                    continue
                self._said.add(shown)
            self._line(label, shown, _STYLES.get(label, ""))

    def _head(self, step: int, query: str) -> None:
        """Print the step's number with its query; a second query of the same step is a line of it."""
        shown = crop(query, _LINE)
        if step > self._step:
            self._step, self._said = step, {shown}
            spent = f"  ({usage_text(self._usage)}, {self._seconds:.1f} s)" if step > 1 and self._usage.calls else ""
            self._print(Text.assemble((f"{step}  ", "bold"), (shown, "bold cyan"), (spent, "dim")))
        elif shown not in self._said:
            self._said.add(shown)
            self._line("query", shown)

    def _line(self, label: str, text: str, style: str = "") -> None:
        self._print(Text.assemble((f"   {label:<{_LABEL}}", "dim"), (crop(text, _LINE), style)))

    def _print(self, line: Text) -> None:
        self._console.print(line, soft_wrap=not self._console.is_terminal)

    def _bottom(self) -> Group:
        """Return the last lines of the answer so far, as many as fit, and its usage."""
        lines = Text(self._written).wrap(self._console, self._console.width)[-max(1, self._console.height - 3) :]
        if self._quiet:
            return Group(*lines)
        spent = f"{usage_text(self._usage)}, " if self._usage.calls else ""
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
    """Print an answer with what it cites; where it is not in the evidence, the evidence, ranked."""
    text = readable(answer.text)
    if text:
        console = stdout_console()
        console.print(Text(text, "bold" if answer.found else ""), soft_wrap=not console.is_terminal)
    if answer.problem:
        part = "A step failed, and this is made from what there was"
        note(f"{part}: {answer.problem}" if text else f"There is no answer: {answer.problem}")
    if answer.doubt:
        note(one_line(answer.doubt))
    if answer.found:
        _print_citations(answer)
    elif answer.ranking.hits:
        if text:
            click.echo()
        shown = Ranking(answer.ranking.query, answer.ranking.retriever, answer.ranking.hits[:EVIDENCE])
        note("The best of the evidence:")
        print_ranking(shown)
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
    shown: tuple[int, str] | None = None
    for citation in answer.citations:
        passage, number = citation.passage, f"[{citation.number}]"
        if citation.summary and (citation.number, citation.summary) != shown:
            shown = (citation.number, citation.summary)
            print_line(
                console, Text(f"{number:<{width}}  summary: {crop(one_line(citation.summary), _LINE)}, of", "bold")
            )
        number = "" if citation.summary else number
        head = Text.assemble((f"{number:<{width}}", "bold"), "  ", (passage.id[:ID_DIGITS], "dim"), "  ")
        print_line(console, head.append(crop(passage.heading, _LINE), "bold cyan"))
        if citation.summary:
            continue
        print_indented(console, excerpt(passage, f"{answer.question} {answer.text}"), width + 2)
