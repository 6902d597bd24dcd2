"""Write texts about groups of nodes, such as summaries: from their own sentences or by a language model, each once.

Each text is stored with a hash of its sources (`rests_on`) and its origin (`made`): sentences, or a version of the
prompt. A text is written again only if its sources changed.
"""

import math
import time
from abc import ABC, abstractmethod
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import Any, ClassVar, Generic, TypeVar

import numpy as np
from numpy.typing import NDArray
from pydantic import BaseModel

from kgrag.graph.collections import Collection
from kgrag.graph.connection import Graph
from kgrag.indexing.ask_each import FailedPassage, Meter, Source, ask_each
from kgrag.indexing.corpus_stages import run_corpus_stages
from kgrag.indexing.vectors import embedded_or_logged
from kgrag.models.budget import HIGH, LOW
from kgrag.models.embed import Embedder, embed_each, unit
from kgrag.models.prompted import PromptedModel, harmless, titled
from kgrag.settings import Settings
from kgrag.text.sentences import sentences
from kgrag.text.tokens import caption
from kgrag.values.errors import ModelError
from kgrag.values.events import Progress
from kgrag.values.results import Usage

TASK = "summarise"
EXTRACTED = "sentences"
"""The value of `made` of a summary that no model wrote."""
_TELLING = 10  # members nearest to the centroid that supply sentences
_FIRST = 3  # first sentences taken from each member
_SENTENCES = 5  # sentences per summary (RAPTOR, appendix C: summaries have some 130 tokens)
_SHORTEST, _LONGEST = 20, 400  # characters of a sentence
_TERMS = 4  # terms in the name of a summary
_SHOWN = 24  # members shown to a model, nearest to the centroid
_CHARACTERS = 2000  # characters shown of each member

Member = Mapping[str, Any]
"""A passage or summary: {id, title, text, terms}."""


class Summary(BaseModel):
    """A reply: a heading of a few words, and the summary."""

    WHOLE: ClassVar = True
    title: str
    summary: str


@dataclass(frozen=True, slots=True)
class GroupText:
    """The name and the text of a summary."""

    name: str
    text: str


def nearest_first(members: Sequence[Member], vectors: NDArray[np.float32]) -> list[Member]:
    """Return the members ordered by the distance of their unit vectors [n, d] from the centroid, ties by id."""
    cosines = vectors @ unit(vectors.mean(axis=0, keepdims=True))[0]
    order = sorted(range(len(members)), key=lambda i: (-float(cosines[i]), members[i]["id"]))
    return [members[i] for i in order]


def extracted(
    groups: Sequence[Sequence[Member]], embedder: Embedder, language: str, middles: NDArray[np.float32] | None = None
) -> list[GroupText]:
    """Return an extract of each group: the sentences nearest to its centroid in `middles` (unit vectors [d]).

    Members are given most informative first. Without `middles`, the centroid of the sentences is used. The sentences
    keep the order of their members, and the name consists of the terms that most members have.
    """
    candidates = [_candidates(members, language) for members in groups]
    vectors, _ = embed_each(embedder, [sentence for each in candidates for sentence in each])
    texts, start = [], 0
    for number, (members, each) in enumerate(zip(groups, candidates, strict=True)):
        own = vectors[start : start + len(each)]
        cosines = own @ (own.sum(axis=0) if middles is None else middles[number])
        start += len(each)
        best = sorted(np.argsort(-cosines, kind="stable")[:_SENTENCES])
        text = " ".join(each[i] for i in best) or (members[0]["text"][:_LONGEST] if members else "")
        texts.append(GroupText(_name(members, text), text))
    return texts


def by_model(members: Sequence[Member], llm: PromptedModel) -> GroupText:
    """Have a language model write a text on members, given nearest first. Raises ModelError."""
    reply = llm.structured(TASK, Summary, texts=prompt_text(members))
    text = " ".join(reply.summary.split())
    return GroupText(" ".join(reply.title.split()) or _name(members, text), text)


def prompt_text(members: Sequence[Member], tokens: int | None = None) -> str:
    """Return the texts for a model to summarise, in order, up to a number of tokens but at least the first text."""
    blocks: list[str] = []
    left = math.inf if tokens is None else tokens * LOW
    for number, member in enumerate(members[:_SHOWN], 1):
        block = numbered_text(number, member)
        left -= len(block.encode())
        if blocks and left < 0:
            break
        blocks.append(block)
    return "\n".join(blocks)


def numbered_text(number: int, member: Member) -> str:
    """Return a text for a model, quoted so that it cannot be mistaken for instructions."""
    text = harmless(member["text"][:_CHARACTERS])
    return f'<text number="{number}" title="{titled(member["title"])}">\n{text}\n</text>'


def _candidates(members: Sequence[Member], language: str) -> list[str]:
    candidates = dict.fromkeys(
        " ".join(sentence.split())
        for member in members[:_TELLING]
        for sentence in list(sentences(member["text"], language))[:_FIRST]
    )
    return [sentence for sentence in candidates if _SHORTEST <= len(sentence) <= _LONGEST]


def _name(members: Sequence[Member], text: str) -> str:
    """Return the terms that most members have (ties by their order), or the text if there are no terms."""
    counts = Counter(term for member in members for term in dict.fromkeys(member["terms"]))
    return ", ".join(term for term, _ in counts.most_common(_TERMS)) or text


_BATCH = 200  # texts written at once


@dataclass(frozen=True, kw_only=True)
class Group:
    """A group with a pending text. `rests_on`: a hash of its sources; `changed`: the current text has other sources."""

    id: str
    rests_on: str
    changed: bool = True


AnyGroup = TypeVar("AnyGroup", bound=Group)
Item = TypeVar("Item")


@dataclass(frozen=True, slots=True)
class WritingReport:
    """The result of writing texts of groups.

    `levels`: the number of nodes of each level; `written`: texts written or rewritten; `left`: texts that the model did
    not write, including the `failures`; `stopped`: the reason if the run ended early; `stale`: texts of a model that
    are out of date.
    """

    levels: tuple[int, ...] = ()
    written: int = 0
    removed: int = 0
    left: int = 0
    failures: tuple[FailedPassage, ...] = ()
    usage: Usage = field(default_factory=Usage)
    seconds: float = 0.0
    stopped: ModelError | None = None
    stale: int = 0


def bytes_of(tokens: float) -> int:
    """Return the approximate number of bytes of a number of tokens."""
    return round(tokens * (LOW + HIGH) / 2)


@dataclass
class Grouping(ABC, Generic[AnyGroup]):
    """Groups of the nodes of a collection, in levels, each with a text.

    `material` is the input of a text, in the grouping's own form. `levels`: the number of groups of each level;
    `removed` groups; `stale` texts of a model; `made`: group -> the hash of its text's sources, and its origin.
    """

    label: ClassVar[str]
    task: ClassVar[str]
    graph: Graph
    collection: Collection
    embedder: Embedder
    progress: Progress
    size: int
    levels: list[int] = field(default_factory=list, init=False)
    removed: int = field(default=0, init=False)
    stale: int = field(default=0, init=False)
    made: dict[str, tuple[str, str]] = field(default_factory=dict, init=False)

    @abstractmethod
    def due(self, version: str | None) -> Iterator[tuple[str, list[AnyGroup]]]:
        """Write the groups without their texts, and yield the stage and the pending texts, level by level.

        The caller writes the texts of a level before it asks for the next one. `version`: the required version of the
        prompt; None: any.
        """

    @abstractmethod
    def material(self, groups: Sequence[AnyGroup]) -> list[Any]:
        """Return the inputs of each text."""

    @abstractmethod
    def heading(self, material: Any) -> str:
        """Return the name of a text for messages about failures."""

    @abstractmethod
    def extracted(self, groups: Sequence[AnyGroup]) -> list[GroupText]:
        """Return the texts without a model."""

    @abstractmethod
    def by_model(self, material: Any, llm: PromptedModel) -> GroupText:
        """Return the text by a model. Raises ModelError."""

    def write(self, groups: Sequence[AnyGroup], texts: Sequence[GroupText], origin: str) -> None:
        """Write texts into the graph."""
        vectors = embedded_or_logged(self.embedder, [s.text for s in texts], self.task)
        rows = [
            {
                "id": group.id,
                "name": caption(s.name),
                "title": s.name,
                "text": s.text,
                "rests_on": group.rests_on,
                "vector": vector,
            }
            for group, s, vector in zip(groups, texts, vectors, strict=True)
        ]
        embedding = self.collection.embedding
        self.graph.run("write/group_texts", label=self.label, rows=rows, embedding=embedding, made=origin)
        self.made |= {group.id: (group.rests_on, origin) for group in groups}


def build(
    grouping: Grouping[AnyGroup], settings: Settings, *, llm: PromptedModel | None = None, threads: int = 8
) -> WritingReport:
    """Create or update the groups of a collection and their texts; with `llm`, a model writes the missing texts.

    If the budget is used up or the server is unreachable, the received texts are written and the others stay as they
    were. Raises ConfigurationError if a package for clustering is not installed, and DatabaseError.
    """
    writing = Writing(llm, threads, grouping.progress)
    run_corpus_stages(grouping.graph, grouping.collection, settings, grouping.progress, grouping.embedder)
    for stage, due in grouping.due(llm.prompt(grouping.task).version if llm is not None else None):
        writing.run(grouping, due, stage)
    return writing.report(grouping)


class Writing:
    """Writes the texts of one level after another; without a model if `llm` is None."""

    def __init__(self, llm: PromptedModel | None, threads: int, progress: Progress) -> None:
        self._usage = Meter()
        self._llm = llm.with_listener(self._usage) if llm is not None else None
        self._threads, self._progress = threads, progress
        self._started = time.monotonic()
        self._failures: list[FailedPassage] = []
        self._left = 0
        self._stopped: ModelError | None = None
        self.written = 0

    def report(self, grouping: Grouping[Any]) -> WritingReport:
        """Return the report so far."""
        return WritingReport(
            tuple(grouping.levels), self.written, grouping.removed, self._left, tuple(self._failures),
            self._usage.total, time.monotonic() - self._started, self._stopped, grouping.stale,
        )  # fmt: skip

    def run(self, grouping: Grouping[AnyGroup], due: list[AnyGroup], stage: str) -> None:
        """Write the pending texts: by the model if there is one, else extracts whose members changed.

        When the budget is used up or the server is out of reach, the received texts are written.
        """
        if self._llm is not None:
            if self._stopped is None and due:
                due = self._ask(grouping, self._llm, due, stage)
            self._left += len(due)
        changed = [group for group in due if group.changed]
        for batch in batches(changed, partial(self._progress, stage)):
            grouping.write(batch, grouping.extracted(batch), EXTRACTED)
        self.written += len(changed)

    def _ask(
        self, grouping: Grouping[AnyGroup], llm: PromptedModel, groups: list[AnyGroup], stage: str
    ) -> list[AnyGroup]:
        """Have a model write the texts; return the groups without a text from it."""
        version = llm.prompt(grouping.task).version
        left = {group.id: group for group in groups}

        def sources() -> Iterator[Source]:
            for batch in batches(groups):
                for group, material in zip(batch, grouping.material(batch), strict=True):
                    yield {"id": group.id, "document": "", "title": grouping.heading(material), "material": material}

        def write(replies: Mapping[str, GroupText]) -> None:
            grouping.write([left.pop(id) for id in replies], list(replies.values()), version)
            self.written += len(replies)

        report = partial(self._progress, stage)
        outcome = ask_each(
            sources(), len(groups), lambda s: grouping.by_model(s["material"], llm), write, report, self._threads
        )
        self._failures += outcome.failures
        self._stopped = outcome.stopped
        return list(left.values())


def batches(
    items: Sequence[Item], report: Callable[[int, int], None] = lambda done, total: None
) -> Iterator[list[Item]]:
    """Yield items in batches; `report` receives the numbers of done and of all items."""
    for start in range(0, len(items), _BATCH):
        report(start, len(items))
        yield list(items[start : start + _BATCH])
    if items:
        report(len(items), len(items))
