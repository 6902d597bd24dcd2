"""The answer to a question, and what happens until then as typed events: its trace.

An event says in which `step` of the agent's loop it happened, counting from 1; 0 is outside of the loop.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

from kgrag.values.documents import Triple
from kgrag.values.html_table import html_table, paragraphs
from kgrag.values.results import Hit, Passage, Ranking, Usage

_LISTED = 5
"""Sentences of an answer that are named where no passage supports them."""

Progress = Callable[[str, int, int | None], None]
"""Called as progress(stage, done, total); total is None while it is not known."""


def no_progress(stage: str, done: int, total: int | None) -> None:
    """Report no progress."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Event:
    """An event of a step while a question is answered.

    Attributes:
        step: counted from 1; 0 outside the loop.

    Example:
        >>> events: list[Event] = []
        >>> answer = collection.ask("Who designed the Fram?", listener=events.append)
        >>> print(type(events[0]).__name__)
    """

    step: int = 0

    @property
    def in_trace(self) -> bool:
        """Whether a trace keeps the event; others only show an answer while it is written."""
        return True


@dataclass(frozen=True, slots=True, kw_only=True)
class Called(Event):
    """A language model answered, after `seconds`; `cut`: its reply is not whole."""

    task: str
    model: str
    usage: Usage
    seconds: float
    cut: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Asked(Event):
    """A query is being searched for; `role`: which of a step's queries it is, empty where there is one."""

    query: str
    role: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class StructureLookup(Event):
    """A page, table or section that the question names was looked up; `name` begins with its document.

    `text` is what stands there, empty where it was only counted or listed.
    """

    kind: str
    name: str
    text: str = field(default="", repr=False)


@dataclass(frozen=True, slots=True, kw_only=True)
class Retrieved(Event):
    """Passages were found for a query; `role` as of `Asked`."""

    query: str
    hits: tuple[Hit, ...]
    role: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Ranked(Event):
    """The interim ranking: the final one if this step were the last; its hits have no trails."""

    hits: tuple[Hit, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Read(Event):
    """The model read passages for a query and listed facts that help (proximal triples)."""

    query: str
    triples: tuple[Triple, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Recognised(Event):
    """Of the facts that sound like the question, those that the model kept, and those that it dropped."""

    kept: tuple[Triple, ...]
    dropped: tuple[Triple, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Linked(Event):
    """A fact that the model listed, and the triple of the graph that is most like it; `score`: (1 + cosine) / 2."""

    fact: Triple
    id: str
    text: str
    score: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Remembered(Event):
    """Facts that are new in the gist memory."""

    triples: tuple[Triple, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Judged(Event):
    """Whether what is known answers the question: the answer, or why it does not yet."""

    answerable: bool
    answer: str = ""
    why: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Thought(Event):
    """A sentence of reasoning."""

    text: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Rewritten(Event):
    """What is asked next."""

    query: str


@dataclass(frozen=True, slots=True, kw_only=True)
class SubAnswered(Event):
    """A single question on the way to the answer was answered from what was found for it."""

    question: str
    answer: str


@dataclass(frozen=True, slots=True, kw_only=True)
class HypotheticalPassage(Event):
    """A passage as the model would like to find it next, which is then searched for."""

    text: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Chained(Event):
    """A chain of reasoning from the question to its answer, link by link."""

    text: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Verified(Event):
    """The passages that support a chain of reasoning, the strongest support first: their ids."""

    ids: tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Filtered(Event):
    """Which passages the model kept, best first, and which it dropped as irrelevant: their ids."""

    kept: tuple[str, ...]
    dropped: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Noted(Event):
    """What the model noted of some reports for the question: points, each with its worth, 0 to 100."""

    reports: int
    points: tuple[tuple[str, float], ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Failed(Event):
    """Something failed; the answer is made from what there is. `error` is the name of its class."""

    problem: str
    error: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Answered(Event):
    """The answer, or a beginning of it while it is being written."""

    text: str
    whole: bool = True

    @property
    def in_trace(self) -> bool:
        """See Event."""
        return self.whole


@dataclass(frozen=True, slots=True)
class Citation:
    """A passage that an answer cites.

    Attributes:
        number: the number that stands in the text as [number].
        passage: the passage.
        summary: the title of the summary or report that was read in its place, empty where the passage itself was read.

    Example:
        >>> for citation in collection.ask("Who designed the Fram?").citations:
        ...     print(citation.number, citation.passage.title)
    """

    number: int
    passage: Passage
    summary: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class AnswerSources(Event):
    """The passages that the answer may cite that is being written."""

    citations: tuple[Citation, ...]

    @property
    def in_trace(self) -> bool:
        """See Event."""
        return False


@dataclass(frozen=True, slots=True)
class Answer:
    """The answer of a system.

    Attributes:
        question: the question.
        text: the answer; empty when there is none, and then `problem` says why.
        found: False when the evidence does not hold the answer, which `text` then says.
        system: the name of the system.
        ranking: the retrieved passages, best first.
        citations: the cited passages.
        trace: what happened, in order.
        usage: of all language models.
        by_task: task -> usage; their sum is `usage`.
        seconds: duration.
        problem: why there is no answer, or it is not whole, or which step failed while it was made from the rest.
        unsupported: names and numbers of the answer, or all of a short one, that stand in no passage of its evidence.
        cut: whether the text ends early: the model reached its limit, or repeated itself; `problem` says so, too.

    Example:
        >>> answer = collection.ask("Who designed the Fram?", k=5)
        >>> print(answer.text, [c.passage.title for c in answer.citations], answer.doubt)
    """

    question: str
    text: str
    found: bool
    system: str
    ranking: Ranking
    citations: tuple[Citation, ...] = ()
    trace: tuple[Event, ...] = ()
    usage: Usage = field(default_factory=Usage)
    by_task: Mapping[str, Usage] = field(default_factory=dict)
    seconds: float = 0.0
    problem: str = ""
    unsupported: tuple[str, ...] = ()
    cut: bool = False

    @property
    def doubt(self) -> str:
        """A warning for the reader of unsupported statements, in a sentence; empty if there are none."""
        if not self.unsupported:
            return ""
        more = len(self.unsupported) - _LISTED
        listed = ", ".join(f"“{part}”" for part in self.unsupported[:_LISTED])
        return f"Not supported by the passages: {listed}{f' and {more} more' if more > 0 else ''}."

    def _repr_html_(self) -> str:
        cited = [(f"[{c.number}]", c.passage.heading, c.passage.text) for c in self.citations]
        notes = [note for note in (self.doubt, self.problem) if note]
        below = html_table(("cited", "title", "text"), cited, notes) if cited else paragraphs(notes)
        return paragraphs(line for line in self.text.splitlines() if line.strip()) + below
