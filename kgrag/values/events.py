"""The answer to a question, and what happens until then as typed events: its trace.

An event says in which `step` of the agent's loop it happened, counting from 1; 0 is outside of the loop.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from textwrap import shorten
from typing import Annotated, Any, ClassVar

from kgrag.values.documents import Triple
from kgrag.values.html_table import html_table, paragraphs
from kgrag.values.results import Hit, Passage, Ranking, Step, Usage

_LISTED = 5
_UNSUPPORTED = "Not supported by the passages"
_UNCHECKED = "Not checked, being in other words or another language than the passages"
"""Sentences of an answer that are named where no passage supports them."""

_TITLES, _TITLE = 5, 60
"""Titles named of the passages that a step retrieved, and characters of each."""

Line = tuple[str, str]
"""A label and a text for people: ("known", "In Larvik")."""

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
    _topic: ClassVar[str] = ""
    _line: ClassVar[Line | None] = None

    @property
    def topic(self) -> str:
        """The query or thought that heads its step; empty for other events."""
        return str(getattr(self, self._topic)) if self._topic else ""

    def lines(self) -> Sequence[Line]:
        """Return the event as lines for people.

        Returns:
            Pairs (label, text). Lines labelled "fact" or "failed" are shown once in a step.
        """
        return [(self._line[0], self._line[1].format(self))] if self._line else []

    @property
    def in_trace(self) -> bool:
        """Whether a trace keeps the event; others only show an answer while it is written."""
        return True

    @property
    def type(self) -> str:
        """The name of its class, which its JSON form has, too."""
        return type(self).__name__

    @classmethod
    def __get_pydantic_core_schema__(cls, source: Any, handler: Any) -> Any:
        """Add `type` to the JSON form of an event; Event itself stands for any of its subclasses."""
        from pydantic_core import core_schema

        if cls is Event:
            kinds = {kind.__name__: kind for kind in Event.__subclasses__()}
            return core_schema.tagged_union_schema({n: handler.generate_schema(k) for n, k in kinds.items()}, "type")
        schema = handler(source)
        own = handler.resolve_ref_schema(schema)
        name = core_schema.computed_field("type", core_schema.literal_schema([cls.__name__]))
        own["schema"].setdefault("computed_fields", []).append(name)
        return schema


@dataclass(frozen=True, slots=True)
class BriefHit:
    """A hit in the JSON form of an event: the answer holds the passage itself."""

    rank: int
    score: float
    id: str
    title: str
    why: tuple[Step, ...] = ()


class _Brief:
    """Writes the hits of an event as `BriefHit`s; read back, their passages have only id and title."""

    def __get_pydantic_core_schema__(self, source: Any, handler: Any) -> Any:
        from pydantic_core import core_schema

        forms = handler.generate_schema(tuple[BriefHit, ...])
        return core_schema.no_info_before_validator_function(
            _hits,
            handler(source),
            serialization=core_schema.plain_serializer_function_ser_schema(_brief, return_schema=forms),
        )


def _brief(hits: Sequence[Hit]) -> tuple[BriefHit, ...]:
    return tuple(BriefHit(n, hit.score, hit.passage.id, hit.passage.title, hit.why) for n, hit in enumerate(hits, 1))


def _hits(forms: Any) -> Any:
    brief = {"document": "", "text": ""}
    return [{**form, "passage": {**form, **brief}} if isinstance(form, Mapping) else form for form in forms]


def _facts(triples: Sequence[Triple]) -> list[Line]:
    return [("fact", " | ".join((triple.subject, triple.predicate, triple.object))) for triple in triples]


Hits = Annotated[tuple[Hit, ...], _Brief()]
"""The hits of an event."""


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

    _topic = "query"
    query: str
    role: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class StructureLookup(Event):
    """A page, table or section that the question names was looked up; `name` begins with its document.

    `text` is what stands there, empty where it was only counted or listed.
    """

    _line = ("place", "{0.name}")
    kind: str
    name: str
    text: str = field(default="", repr=False)


@dataclass(frozen=True, slots=True, kw_only=True)
class Retrieved(Event):
    """Passages were found for a query; `role` as of `Asked`."""

    _topic, _line = "query", ("found", "{0.titles}")
    query: str
    hits: Hits
    role: str = ""

    @property
    def titles(self) -> str:
        """The titles of the first passages."""
        titles = list(dict.fromkeys(shorten(hit.passage.title, _TITLE, placeholder=" …") for hit in self.hits))
        more = f" and {len(titles) - _TITLES} more" if len(titles) > _TITLES else ""
        return (", ".join(titles[:_TITLES]) + more) or "nothing"


@dataclass(frozen=True, slots=True, kw_only=True)
class Ranked(Event):
    """The interim ranking: the final one if this step were the last; its hits have no trails."""

    hits: Hits


@dataclass(frozen=True, slots=True, kw_only=True)
class Read(Event):
    """The model read passages for a query and listed facts that help (proximal triples)."""

    _topic = "query"
    query: str
    triples: tuple[Triple, ...]

    def lines(self) -> Sequence[Line]:
        """See Event."""
        return _facts(self.triples)


@dataclass(frozen=True, slots=True, kw_only=True)
class Recognised(Event):
    """The facts like the question that the model kept, and the facts that it dropped."""

    kept: tuple[Triple, ...]
    dropped: tuple[Triple, ...] = ()

    def lines(self) -> Sequence[Line]:
        """See Event."""
        return [*_facts(self.kept), ("kept", f"{len(self.kept)} of {len(self.kept) + len(self.dropped)} facts")]


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

    def lines(self) -> Sequence[Line]:
        """See Event."""
        return _facts(self.triples)


@dataclass(frozen=True, slots=True, kw_only=True)
class Judged(Event):
    """The judgement of a step: the evidence answers the question, or lacks something."""

    answerable: bool
    answer: str = ""
    why: str = ""

    def lines(self) -> Sequence[Line]:
        """See Event."""
        return [("known", self.answer or "enough to answer") if self.answerable else ("not yet", self.why)]


@dataclass(frozen=True, slots=True, kw_only=True)
class Thought(Event):
    """A sentence of reasoning."""

    _topic = "text"
    text: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Rewritten(Event):
    """The next query."""

    query: str


@dataclass(frozen=True, slots=True, kw_only=True)
class SubAnswered(Event):
    """A sub-question was answered from its own passages."""

    _line = ("answer", "{0.question} {0.answer}")
    question: str
    answer: str


@dataclass(frozen=True, slots=True, kw_only=True)
class HypotheticalPassage(Event):
    """A passage as the model would like to find it next, which is then searched for."""

    _line = ("wanted", "{0.text}")
    text: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Chained(Event):
    """A chain of reasoning from the question to its answer, link by link."""

    _line = ("chain", "{0.text}")
    text: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Verified(Event):
    """The passages that support a chain of reasoning, the strongest support first: their ids."""

    ids: tuple[str, ...]

    def lines(self) -> Sequence[Line]:
        """See Event."""
        return [("support", f"{len(self.ids)} of the passages")]


@dataclass(frozen=True, slots=True, kw_only=True)
class Filtered(Event):
    """Which passages the model kept, best first, and which it dropped as irrelevant: their ids."""

    kept: tuple[str, ...]
    dropped: tuple[str, ...] = ()

    def lines(self) -> Sequence[Line]:
        """See Event."""
        return [("kept", f"{len(self.kept)} of {len(self.kept) + len(self.dropped)} passages")]


@dataclass(frozen=True, slots=True, kw_only=True)
class Noted(Event):
    """The model's notes on some reports for the question: points, each with its importance, 0 to 100."""

    reports: int
    points: tuple[tuple[str, float], ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Failed(Event):
    """Something failed; the answer is made from what there is. `error` is the name of its class."""

    _line = ("failed", "{0.problem}")
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
        text: the answer; empty without one, and then `problem` says why.
        found: False when the evidence does not hold the answer, which `text` then says.
        system: the name of the system.
        ranking: the retrieved passages, best first.
        citations: the cited passages.
        trace: what happened, in order.
        usage: of all language models.
        by_task: task -> usage; their sum is `usage`.
        seconds: duration.
        problem: why there is no answer, or it is not whole, or which step failed while it was made from the rest.
        unsupported: sentences of the answer, or all of a short one, that its passages contradict or do not have.
        unchecked: sentences that cannot be checked: in other words, or another language, than the passages.
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
    unchecked: tuple[str, ...] = ()
    cut: bool = False

    @property
    def doubt(self) -> str:
        """Sentences that warn of unsupported or unchecked parts; empty if all is supported."""
        groups = ((_UNSUPPORTED, self.unsupported), (_UNCHECKED, self.unchecked))
        return " ".join(f"{label}: {_listed(parts)}." for label, parts in groups if parts)

    def _repr_html_(self) -> str:
        cited = [(f"[{c.number}]", c.passage.heading, c.passage.text) for c in self.citations]
        notes = [note for note in (self.doubt, self.problem) if note]
        below = html_table(("cited", "title", "text"), cited, notes) if cited else paragraphs(notes)
        return paragraphs(line for line in self.text.splitlines() if line.strip()) + below


def _listed(parts: Sequence[str]) -> str:
    more = len(parts) - _LISTED
    return ", ".join(f"“{part}”" for part in parts[:_LISTED]) + (f" and {more} more" if more > 0 else "")
