"""Extraction: one call of a language model per passage returns its entities and triples jointly (GEAR, section 3).

Patterns can read the passages instead, without a model.

The graph is the ledger. A passage records the versions of the prompt and the schema in the transaction of its triples.
An interrupted run resumes with the passages that lack them. Another prompt or schema reads all passages again and
replaces the facts of the previous one.
"""

import time
from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import lru_cache, partial
from pathlib import Path
from typing import Any

from kgrag.engines import IN_PROCESS, Engine
from kgrag.graph.collections import Collection
from kgrag.graph.connection import Graph, Transaction
from kgrag.indexing.ask_each import FailedPassage, Meter, ask_each, passage_sources, unread
from kgrag.indexing.corpus_stages import run_corpus_stages
from kgrag.indexing.document_writer import settle_entities
from kgrag.indexing.fact_rows import Extraction, FactRows, LinkedExtraction, typed_extraction
from kgrag.indexing.fact_rules import VERSION as RULES
from kgrag.indexing.fact_rules import facts_by_rules, facts_of_table, table_rows
from kgrag.indexing.fact_schema import FactSchema, fact_schema
from kgrag.indexing.vectors import embedded_or_logged
from kgrag.models.budget import Estimate, estimate_calls
from kgrag.models.embed import Embedder
from kgrag.models.prompted import MOST_FACTS, PromptedModel, harmless, titled
from kgrag.models.prompts import Prompt, load_prompt
from kgrag.settings import ChatSettings, Settings
from kgrag.values.errors import ConfigurationError, ModelError
from kgrag.values.events import Progress
from kgrag.values.results import Usage

TASK = "extract"
LINKED = "extract-linked"
"""The prompt that asks for Wikipedia titles, too."""
_STAGE = "extraction"
_WRITTEN = {"extract": 450, "extract-linked": 550, "extract-typed": 500}
"""Tokens of a reply on average: about 11 triples (GEAR, section 3) of 22 tokens, and as many entities of 18, or 27."""


@dataclass(frozen=True, slots=True)
class ExtractionReport:
    """The result of an extraction.

    `passages`: passages extracted. `triples`: triples written. `dropped`: reason -> number of triples. `cut`: replies
    that were cut off, whose complete items were used. `dates`: dates that were left out, since the passages do not hold
    them. `left`: pending passages, among them the `failures`.
    `stopped`: the reason if it stopped early.
    """

    passages: int = 0
    triples: int = 0
    dropped: Mapping[str, int] = field(default_factory=dict)
    cut: int = 0
    dates: int = 0
    failures: tuple[FailedPassage, ...] = ()
    left: int = 0
    usage: Usage = field(default_factory=Usage)
    seconds: float = 0.0
    stopped: ModelError | None = None


@dataclass(frozen=True, slots=True)
class Form:
    """The request for a passage: the prompt, the form of its reply, and the schema that the reply must follow.

    `version`: the version of prompt and schema.
    """

    prompt: Prompt
    shape: type[Extraction]
    schema: FactSchema | None
    version: str

    def values(self, source: Mapping[str, Any]) -> dict[str, str]:
        """Return the values of the prompt."""
        return {**prompt_values(source), **(self.schema.prompt_values() if self.schema else {})}


def prompt_values(source: Mapping[str, Any]) -> dict[str, str]:
    """Return the text of a passage for a model."""
    return {"title": titled(source["title"] or "", source["section"] or ""), "text": harmless(source["text"])}


def form_of(collection: Collection, prompts: Path | None, linked: bool = False) -> Form:
    """Return the request for the passages of a collection. `prompts`: a folder of your own prompts.

    `linked`: also ask for Wikipedia titles. Raises ConfigurationError if the collection has a schema of facts.
    """
    schema = fact_schema(collection)
    if schema is None:
        prompt = load_prompt(LINKED if linked else TASK, prompts)
        return Form(prompt, LinkedExtraction if linked else Extraction, None, prompt.version)
    if linked:
        raise ConfigurationError(
            f"Collection {collection.name!r} has a schema of facts, which knows of no Wikipedia articles.",
            f"Leave out --linked, or take the schema off: kgrag enrich schema -c {collection.name} --remove",
        )
    prompt = load_prompt("extract-typed", prompts)
    return Form(prompt, typed_extraction(schema), schema, f"{prompt.version} {schema.version}")


def rules_version(collection: Collection) -> str:
    """Return the version that passages record after patterns: of the patterns and of the schema."""
    schema = fact_schema(collection)
    return f"{RULES} {schema.version}" if schema else RULES


def extract(
    graph: Graph,
    collection: Collection,
    llm: PromptedModel | None,
    embedder: Embedder,
    settings: Settings,
    progress: Progress,
    *,
    threads: int = 8,
    limit: int | None = None,
    linked: bool = False,
    engine: Engine = IN_PROCESS,
) -> ExtractionReport:
    """Extract at most `limit` passages that were not extracted with this prompt yet.

    If `llm` is None, patterns read them. Failed passages are listed. If the budget is used up or the server is
    unreachable, received replies are written and the rest is left. Raises ConfigurationError for an unusable prompt,
    DatabaseError.
    """
    started = time.monotonic()
    usage = Meter()
    if llm is None:
        ask, threads = _rules(graph, collection), 1
        writer = FactWriter(graph, collection, embedder, rules_version(collection), fact_schema(collection))
    else:
        form = form_of(collection, llm.prompts, linked)
        ask = partial(_ask, llm.with_listener(usage), form)
        writer = FactWriter(graph, collection, embedder, form.version, form.schema, form.prompt.text)
    waiting = unread(graph, collection, "extracted", writer.version)
    due = waiting[:limit]
    outcome = ask_each(passage_sources(graph, due), len(due), ask, writer.write, partial(progress, _STAGE), threads)
    run_corpus_stages(graph, collection, settings, progress, embedder, engine=engine)
    return ExtractionReport(
        passages=outcome.written,
        triples=writer.triples,
        dropped=dict(writer.dropped),
        cut=writer.cut,
        dates=writer.dates,
        failures=tuple(outcome.failures),
        left=len(waiting) - outcome.written,
        usage=usage.total,
        seconds=time.monotonic() - started,
        stopped=outcome.stopped,
    )


def _ask(llm: PromptedModel, form: Form, source: Mapping[str, Any]) -> Extraction:
    reply = llm.structured(TASK, form.shape, prompt=form.prompt.name, **form.values(source))
    return reply.first(MOST_FACTS)


def _rules(graph: Graph, collection: Collection) -> Callable[[Mapping[str, Any]], Extraction]:
    """Return the function that reads a passage by patterns."""

    @lru_cache(maxsize=16)  # the passages of a table come in any order
    def rows(table: str) -> list[list[str]]:
        return table_rows(graph.run("look_up/part_contents", ids=[table])[0]["text"])

    def read(source: Mapping[str, Any]) -> Extraction:
        if source["table"]:
            return facts_of_table(rows(source["table"]), source["text"], collection.language)
        return facts_by_rules(source["title"] or "", source["section"] or "", source["text"], collection.language)

    return read


def estimate(
    graph: Graph,
    collection: Collection,
    chat: ChatSettings,
    progress: Progress,
    *,
    limit: int | None = None,
    linked: bool = False,
    batch: bool = False,
) -> Estimate:
    """Estimate an extraction of one call per passage from the usual length of replies, without a model.

    `batch`: use the price of batches.
    """
    form = form_of(collection, chat.prompts, linked)
    prompt = form.prompt
    due = unread(graph, collection, "extracted", form.version)[:limit]
    size = 0
    for number, source in enumerate(passage_sources(graph, due), 1):
        size += sum(
            len(message.content.encode("utf-8", "replace")) for message in prompt.messages(**form.values(source))
        )
        progress("passages", number, len(due))
    share = chat.batch_price if batch else 1.0
    return estimate_calls(chat, TASK, len(due), size, _WRITTEN[prompt.name], share)


class FactWriter:
    """Writes extracted facts with a version, several passages per transaction, without facts of the prompt's example.

    `triples` counts the kept triples, `dropped` the others, `cut` the replies that were cut off.
    """

    def __init__(
        self,
        graph: Graph,
        collection: Collection,
        embedder: Embedder,
        version: str,
        schema: FactSchema | None,
        prompt: str = "",
    ) -> None:
        self._graph, self._collection, self.version = graph, collection, version
        self._embedder, self._schema, self._prompt = embedder, schema, prompt
        self.triples = 0
        self.dropped: Counter[str] = Counter()
        self.cut = self.dates = 0

    def write(self, extracted: Mapping[str, Extraction]) -> None:
        """Write the facts of some passages, by their ids."""
        facts = FactRows()
        texts = {s["id"]: "\n".join(prompt_values(s).values()) for s in passage_sources(self._graph, list(extracted))}
        name, language = self._collection.name, self._collection.language
        for passage, extraction in extracted.items():
            text = texts.get(passage, "")
            facts.add(name, passage, extraction, language, prompt=self._prompt, text=text, schema=self._schema)
        vectors = embedded_or_logged(self._embedder, [row["properties"]["text"] for row in facts.triples], "triples")
        for row, vector in zip(facts.triples, vectors, strict=True):
            row["vector"] = vector
        self._graph.write(lambda tx: self._write(tx, list(extracted), facts))
        self.triples += len(facts.triples)
        self.dropped += facts.dropped
        self.dates += facts.dates
        self.cut += sum(extraction.cut for extraction in extracted.values())

    def _write(self, tx: Transaction, passages: list[str], facts: FactRows) -> None:
        rows = [{"id": passage, "outside": facts.outside.get(passage)} for passage in passages]
        there = {r["id"] for r in tx.run("write/extracted", rows=rows, version=self.version)}
        touched = {r["entity"] for r in tx.run("write/remove_extracted", ids=sorted(there))}
        triples = [row for row in facts.triples if row["passage"] in there]
        if triples:
            named = {row[end]["id"] for row in triples for end in ("subject", "object")}
            entities = [row for row in facts.entity_rows() if row["id"] in named]
            label = self._collection.label
            tx.run("write/entities", rows=entities, collection=self._collection.name, labels=[label("Entity")])
            tx.run(
                "write/extracted_triples",
                rows=triples,
                labels=[label("Triple")],
                embedding=self._collection.embedding,
                version=self.version,
            )
            tx.run("write/entity_aliases", rows=[e for e in entities if e["aliases"] or e["wikipedia"]])
        keywords = [row for row in facts.keywords if row["passage"] in there]
        before = tx.run("write/extracted_keywords", ids=sorted(there), rows=keywords, collection=self._collection.name)
        tx.run("write/settle_keywords", ids=sorted({r["keyword"] for r in before} | {row["id"] for row in keywords}))
        typed = {row[end]["id"] for row in triples if row["fact"] for end in ("subject", "object")}
        settle_entities(tx, touched, typed)
        if touched:
            tx.run("write/count_stale", collection=self._collection.name, number=len(touched))
