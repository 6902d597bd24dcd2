"""Values that come out of a graph: passages, rankings and reports, and the filter of a search; frozen dataclasses."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any, ClassVar

from kgrag.values.documents import Problem, Replaced
from kgrag.values.errors import ConfigurationError
from kgrag.values.html_table import html_table

Scalar = str | int | float | bool
Range = tuple[Scalar | None, Scalar | None]


@dataclass(frozen=True, slots=True)
class FigureInfo:
    """A figure of a document.

    Attributes:
        id: 32 hexadecimal digits.
        number: its place among the document's figures, from 1.
        caption: its caption, shortened to a line, or "Figure 3".
        page: that shows it, None in a document without pages.
        width: in pixels, None where nobody knows.
        height: in pixels, None where nobody knows.
        media_type: such as "image/png"; empty where nobody knows.

    Example:
        >>> [figure.caption for figure in collection.passage("Fram").figures]
        []
    """

    id: str
    number: int
    caption: str
    page: int | None = None
    width: int | None = None
    height: int | None = None
    media_type: str = ""


@dataclass(frozen=True, slots=True)
class Passage:
    """A passage of the graph.

    Attributes:
        id: 32 hexadecimal digits.
        document: the key of its document.
        title: the title of its document.
        text: the text without headings.
        ordinal: its place in its document, from 0.
        section: the path of headings, or empty.
        source: the path or address that the document came from, or empty.
        metadata: the metadata of its document.
        page: where it begins, None in a document without pages.
        last_page: where it ends, None in a document without pages.
        collection: the name of its collection.
        figures: the figures that it refers to, or whose captions it holds.

    Example:
        >>> passage = collection.search("Who designed the Fram?", k=1)[0].passage
        >>> print(passage.heading, passage.text)
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
    figures: tuple[FigureInfo, ...] = ()

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
    """A summary, or a report on a community, as evidence of an answer.

    Attributes:
        title: its title.
        text: its text.
        passages: the passages that it rests on, which an answer cites.

    Example:
        >>> summary = Summary("Polar ships", "The Fram and the Gauss sailed in ice.")
        >>> summary.passages
        ()
    """

    title: str
    text: str
    passages: tuple[Passage, ...] = ()


Item = Sequence[Passage] | Summary
"""The evidence under one number: a passage, several that are read together, or a summary in their place."""


@dataclass(frozen=True, slots=True)
class Step:
    """A node on the trail to a passage, and the edge (or index) that led to it.

    Attributes:
        via: the edge or index, in words.
        label: the label of the node.
        name: its short name.
        score: the score of the edge or index, None if it has no score.
        edge: the type of the edge in the graph, such as MENTIONS; empty where none was followed.

    Example:
        >>> for step in collection.search("Who designed the Fram?")[0].why:
        ...     print(step.via, step.label, step.name)
    """

    via: str
    label: str
    name: str
    score: float | None = None
    edge: str = ""


@dataclass(frozen=True, slots=True)
class Hit:
    """A retrieved passage.

    Attributes:
        passage: the passage with its text.
        score: comparable only within its ranking.
        why: the trail that led to the passage.
        copies: other passages of the same text, which a search ranks as one.

    Example:
        >>> hit = collection.search("Who designed the Fram?")[0]
        >>> print(f"{hit.score:.2f}", hit.passage.title, hit.also_in)
    """

    passage: Passage
    score: float
    why: tuple[Step, ...] = ()
    copies: tuple[Passage, ...] = ()

    @property
    def also_in(self) -> str:
        """The documents of its copies: "also in b.html and c.epub", the first three; empty without copies."""
        names = list(dict.fromkeys(copy.document for copy in self.copies))
        parts = [*names[:3], f"{len(names) - 3} more"] if len(names) > 3 else names
        *first, last = parts or [""]
        return f"also in {', '.join(first)} and {last}" if first else f"also in {last}" if last else ""


@dataclass(frozen=True, slots=True)
class Ranking:
    """Passages in descending order of score; iterates over its hits.

    Attributes:
        query: the question.
        retriever: the expression of the retriever.
        hits: best first.
        notes: remarks, such as which layers of the graph are missing.

    Example:
        >>> ranking = collection.search("Who designed the Fram?", k=3)
        >>> len(ranking), ranking[0] is ranking.hits[0]
        (3, True)
    """

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
    """The usage of a language model.

    Attributes:
        calls: how many were answered.
        cached: how many of them from the cache.
        prompt_tokens: tokens read, cached calls included.
        completion_tokens: tokens written, cached calls included.
        cost: the cost of uncached calls, in the currency of the prices; None if a price is unknown.

    Example:
        >>> (Usage(calls=1, prompt_tokens=200) + Usage(calls=2, prompt_tokens=300)).tokens
        500
    """

    calls: int = 0
    cached: int = 0
    prompt_tokens: int = 0
    completion_tokens: int = 0
    cost: float | None = 0.0

    def __add__(self, other: "Usage") -> "Usage":
        priced = self.cost is not None and other.cost is not None
        return Usage(
            self.calls + other.calls,
            self.cached + other.cached,
            self.prompt_tokens + other.prompt_tokens,
            self.completion_tokens + other.completion_tokens,
            (self.cost or 0.0) + (other.cost or 0.0) if priced else None,
        )

    @property
    def tokens(self) -> int:
        """Tokens that went in and came out."""
        return self.prompt_tokens + self.completion_tokens

    def text(self, *, cost: bool = False) -> str:
        """Return the usage for people, such as "5 calls (2 cached), 3,210 tokens".

        Args:
            cost: whether to add the cost.

        Returns:
            The text.
        """
        if not self.calls:
            return "no calls"
        calls = "1 call" if self.calls == 1 else f"{self.calls:,} calls"
        cached = f" ({self.cached:,} cached)" if self.cached else ""
        price = "unknown price" if self.cost is None else f"cost {self.cost:.4g}"
        return f"{calls}{cached}, {self.tokens:,} tokens{f', {price}' if cost else ''}"


@dataclass(frozen=True, slots=True)
class Filter:
    """A condition on documents.

    Attributes:
        where: metadata key -> value, compared as text, and with numbers as a number; or a range (least, most), both
            inclusive and either None; among years a date counts as its year. One matching value of a list is enough.
            Pairs (key, value) in place of a mapping may name a key several times, and all of them must match.
            "meta.author" reaches into nested metadata.
        source: a part of the document's source; None for any.
        since: documents dated at or after this time by their metadata, or ingested then without a date; None for any.
            A text is a year, a month, a day or a moment in ISO form. Days, and moments without an offset, are compared
            as they stand; moments with an offset are compared in UTC.
        as_of: a date such as 1912, 1912-03 or 1912-03-07: passages that state facts with times of which none held then
            do not match, and an answer is to hold then; empty for any.

    Example:
        >>> ships = Filter(source="ships")
        >>> ranking = collection.search("Who designed the Fram?", filter=ships)
    """

    __pydantic_config__: ClassVar = {"extra": "forbid"}

    where: Mapping[str, Scalar | Range] | Sequence[tuple[str, Scalar | Range]] = field(default_factory=dict)
    source: str | None = None
    since: datetime | str | None = None
    as_of: str = ""

    @property
    def conditions(self) -> Sequence[tuple[str, Scalar | Range]]:
        """The conditions on metadata, each a key and a value or a range."""
        pairs: Sequence[Any] = list(self.where.items()) if isinstance(self.where, Mapping) else self.where
        if wrong := [pair for pair in pairs if not isinstance(pair, tuple | list) or len(pair) != 2]:
            raise ConfigurationError(f"where holds {wrong[0]!r}, which is no pair.", 'Write where={"key": "value"}.')
        return pairs

    def __bool__(self) -> bool:
        return bool(self.where) or self.source is not None or self.since is not None or bool(self.as_of)


@dataclass(frozen=True, slots=True)
class IngestReport:
    """The result of an ingest.

    Attributes:
        added: new documents.
        changed: documents that were replaced by a newer content.
        unchanged: documents that were skipped.
        passages: passages written.
        embedded: vectors computed.
        embedded_batches: calls of the embedder.
        problems: parts of the input that could not be read.
        seconds: duration.
        gone: keys of documents whose files, or rows, do not exist any more.
        pruned: how many of these were deleted.
        replaced: changed documents that came from another file or address before.
        skipped: files that no loader reads: extension -> number.
        converted: files in a legacy encoding: encoding -> number.
        unsettled: files left for later because they changed a moment ago.
        left_out: parts that are only counted, such as comments: kind -> number.

    Example:
        >>> report = kg["notes"].ingest([Document("note", (Section("The Fram was built at Larvik."),))])
        >>> report.added + report.changed + report.unchanged
        1
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
    """The result of a repair.

    Attributes:
        indexes: names of the indexes made.
        vectors: label -> vectors computed.
        finished: nodes whose corpus-wide stages were completed.
        seconds: duration.
        problems: texts that the embedder gives no vector for.

    Example:
        >>> report = collection.repair()
        >>> report.indexes
        ()
    """

    indexes: tuple[str, ...] = ()
    vectors: Mapping[str, int] = field(default_factory=dict)
    finished: int = 0
    seconds: float = 0.0
    problems: tuple[Problem, ...] = ()


@dataclass(frozen=True, slots=True)
class DocumentInfo:
    """A document at a glance.

    Attributes:
        key: its key, unique in its collection.
        title: its title.
        source: the path or address that it came from, or empty.
        passages: how many it has.
        pages: how many it has, 0 without pages.
        tables: how many it has.
        updated: when it was last written.
        file: the key of its file; empty without one.
        problems: unreadable parts of that file, recorded on the last of its documents.

    Example:
        >>> for info in collection.documents(limit=3):
        ...     print(info.key, info.title, info.passages)
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
    """A collection at a glance.

    Attributes:
        name: its name.
        embedder: the name of its embedder.
        dimension: the dimension of its vectors.
        schema_version: the schema version of the kgrag release that made it.
        counts: label or relationship type -> number.
        finished: whether all corpus-wide stages are complete.
        kind: "documents" or "knowledge".

    Example:
        >>> info = collection.info()
        >>> print(info.embedder, info.counts["Passage"])
    """

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
    """The passages, tables and figures of a document in order. `number` counts all its passages."""

    key: str
    number: int
    passages: tuple[Passage, ...]
    tables: tuple[DocumentTable, ...] = ()
    figures: tuple[FigureInfo, ...] = ()


@dataclass(frozen=True, slots=True)
class Check:
    """The outcome of one check of `kgrag doctor` or `kgrag serve --check`; `remedy` is empty where it passed."""

    name: str
    ok: bool
    detail: str
    remedy: str = ""
