"""What comes out of a graph: passages, rankings and reports, and the filter that is asked with; frozen dataclasses."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

from kgrag.values.documents import Problem, Replaced
from kgrag.values.html_table import html_table

Scalar = str | int | float | bool
Range = tuple[Scalar | None, Scalar | None]


@dataclass(frozen=True, slots=True)
class Passage:
    """A passage as it stands in the graph. `ordinal` counts from 0 within its document.

    `page` to `last_page` is where it stands in a document that has pages. `collection`: which one it is of.
    """

    id: str
    document: str
    title: str
    text: str
    ordinal: int = 0
    section: str = ""
    source: str = ""
    metadata: Mapping[str, Any] = field(default_factory=dict)
    page: int | None = None
    last_page: int | None = None
    collection: str = ""

    @property
    def place(self) -> str:
        """Its pages as they are cited, "p. 3" or "pp. 3-4"; empty in a document without pages."""
        if self.page is None:
            return ""
        return f"p. {self.page}" if self.last_page in (None, self.page) else f"pp. {self.page}-{self.last_page}"

    @property
    def heading(self) -> str:
        """Its title, pages and section: "Guide, p. 3 › Install"; a section that begins with the title repeats none."""
        section = self.section if self.section != self.title else ""
        title = ", ".join(filter(None, (self.title, self.place)))
        path = [title, *section.removeprefix(f"{self.title} > ").split(" > ")]
        return " › ".join(filter(None, path))


@dataclass(frozen=True, slots=True)
class Summary:
    """A summary, or a report on a community, as a reader is shown it; `passages`: what it rests on, which is cited."""

    title: str
    text: str
    passages: tuple[Passage, ...] = ()


Item = Sequence[Passage] | Summary
"""What a reader is shown under one number: a passage, several that are read together, or a summary in their place."""


@dataclass(frozen=True, slots=True)
class Step:
    """One node on the trail to a passage, and the edge (or index) that led to it: `via` -> (`label` `name`).

    `edge` is the type of that edge in the graph, such as MENTIONS; empty where none was followed.
    """

    via: str
    label: str
    name: str
    score: float | None = None
    edge: str = ""


@dataclass(frozen=True, slots=True)
class Hit:
    """A retrieved passage. `score` is comparable only within its ranking; `why` is the trail that led to it.

    `copies`: other passages of the same text, which a search ranks as one.
    """

    passage: Passage
    score: float
    why: tuple[Step, ...] = ()
    copies: tuple[Passage, ...] = ()

    @property
    def also_in(self) -> str:
        """The documents of its copies: "also in b.html and c.epub", the first three; empty if there are none."""
        names = list(dict.fromkeys(copy.document for copy in self.copies))
        shown = [*names[:3], f"{len(names) - 3} more"] if len(names) > 3 else names
        *first, last = shown or [""]
        return f"also in {', '.join(first)} and {last}" if first else f"also in {last}" if last else ""


@dataclass(frozen=True, slots=True)
class Ranking:
    """Passages in descending order of score; iterates over its hits."""

    query: str
    retriever: str
    hits: tuple[Hit, ...] = ()
    notes: tuple[str, ...] = ()

    def __iter__(self) -> Iterator[Hit]:
        return iter(self.hits)

    def __len__(self) -> int:
        return len(self.hits)

    def __getitem__(self, rank: int) -> Hit:
        return self.hits[rank]

    def _repr_html_(self) -> str:
        rows = (
            (str(rank), f"{hit.score:.3f}", f"{hit.passage.title} {hit.also_in}".strip(), hit.passage.text)
            for rank, hit in enumerate(self, 1)
        )
        notes = self.notes if self.hits else (f"{self.retriever} found nothing.", *self.notes)
        return html_table(("rank", "score", "title", "text"), rows, notes)


@dataclass(frozen=True, slots=True)
class Usage:
    """What calls of a language model took.

    `calls` were answered, `cached` of them from the cache. Tokens are those of all calls; `cost` is that of the calls
    that were not cached, in the currency of the prices that are set, and None where a price is unknown.
    """

    calls: int = 0
    cached: int = 0
    prompt_tokens: int = 0
    completion_tokens: int = 0
    cost: float | None = 0.0

    def __add__(self, other: "Usage") -> "Usage":
        known = self.cost is not None and other.cost is not None
        return Usage(
            self.calls + other.calls,
            self.cached + other.cached,
            self.prompt_tokens + other.prompt_tokens,
            self.completion_tokens + other.completion_tokens,
            (self.cost or 0.0) + (other.cost or 0.0) if known else None,
        )

    @property
    def tokens(self) -> int:
        """Tokens that went in and came out."""
        return self.prompt_tokens + self.completion_tokens


@dataclass(frozen=True, slots=True)
class Filter:
    """Which documents may be searched.

    `where`: metadata key -> value, compared as text, and with numbers as the number that it is or is written as; or
    (least, most), of which either may be None and both belong to the range; of a list, one that fits is enough.
    `source`: part of the document's source; `since`: only documents dated at or after this time by what their metadata
    says, or ingested then, if it says nothing.
    """

    where: Mapping[str, Scalar | Range] = field(default_factory=dict)
    source: str | None = None
    since: datetime | None = None

    def __bool__(self) -> bool:
        return bool(self.where) or self.source is not None or self.since is not None


@dataclass(frozen=True, slots=True)
class IngestReport:
    """What an ingest did. Counts are of documents, except `passages` (written) and `embedded` (vectors computed).

    `gone`: keys of documents whose files, or rows, are no longer there; `pruned`: how many of them were deleted.
    `replaced`: changed documents that came from another file or address than before. `skipped`, `converted`,
    `left_out` and `unsettled` are as in Scan.
    """

    added: int = 0
    changed: int = 0
    unchanged: int = 0
    passages: int = 0
    embedded: int = 0
    embedded_batches: int = 0
    problems: tuple[Problem, ...] = ()
    seconds: float = 0.0
    gone: tuple[str, ...] = ()
    pruned: int = 0
    replaced: tuple[Replaced, ...] = ()
    skipped: Mapping[str, int] = field(default_factory=dict)
    converted: Mapping[str, int] = field(default_factory=dict)
    unsettled: int = 0
    left_out: Mapping[str, int] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class RepairReport:
    """What a repair made: names of indexes, numbers of vectors by what has them, nodes whose linking was finished.

    `problems`: what the embedder gives no vector for.
    """

    indexes: tuple[str, ...] = ()
    vectors: Mapping[str, int] = field(default_factory=dict)
    finished: int = 0
    seconds: float = 0.0
    problems: tuple[Problem, ...] = ()


@dataclass(frozen=True, slots=True)
class DocumentInfo:
    """A document at a glance, with how many passages, pages and tables it has; `updated`: when it was last written.

    `file`: what it was read from, by its key; empty where that was no file. `problems`: what could not be read of that
    file, on the last of its documents.
    """

    key: str
    title: str
    source: str
    passages: int
    pages: int
    tables: int
    updated: datetime
    file: str = ""
    problems: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class CollectionInfo:
    """A collection at a glance; `counts` is label or relationship type -> number; `kind`: documents or knowledge."""

    name: str
    embedder: str
    dimension: int
    schema_version: int
    counts: Mapping[str, int]
    finished: bool
    kind: str = "documents"


@dataclass(frozen=True, slots=True)
class DocumentTable:
    """A table of a document, as Markdown; `page` is None in a document without pages."""

    number: int
    caption: str
    page: int | None
    markdown: str


@dataclass(frozen=True, slots=True)
class DocumentContents:
    """What a document holds, in its order: passages, of which there are `number` in all, and tables."""

    key: str
    number: int
    passages: tuple[Passage, ...]
    tables: tuple[DocumentTable, ...] = ()
