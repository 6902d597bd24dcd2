"""Extraction through a Batch API: passages are uploaded as files, and replies are fetched when they are ready.

The graph records each file as soon as it is uploaded and before it costs anything, and an existing batch is looked for
before one is created. So a second run on any machine continues with the same batches.
"""

import json
import time
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass, field, replace
from typing import Any

from kgrag.engines import IN_PROCESS, Engine
from kgrag.graph.collections import Collection
from kgrag.graph.connection import Graph
from kgrag.indexing.ask_each import FailedPassage, passage_sources, unread
from kgrag.indexing.corpus_stages import run_corpus_stages
from kgrag.indexing.extraction import LINKED, TASK, ExtractionReport, FactWriter, Form, form_of
from kgrag.indexing.fact_rows import Extraction
from kgrag.models.batches import BatchServer, parts
from kgrag.models.chat import CachedReply, Reply
from kgrag.models.embed import Embedder
from kgrag.models.openai_chat import OpenAIChat
from kgrag.models.prompted import MOST_FACTS, reply_schema, shaped
from kgrag.runtime import limits
from kgrag.settings import Settings
from kgrag.values.errors import BudgetError, MismatchError, ModelError
from kgrag.values.events import Progress
from kgrag.values.results import Usage

_STAGE = "batch"
_GROUP = 64  # replies written at once
_SECONDS = 30.0  # between two questions how far a batch is; most take minutes to hours


@dataclass(frozen=True, slots=True)
class BatchRecord:
    """Requests that were sent, with their server and prompt. `id`: the batch, empty until it is created."""

    server: str
    file: str
    prompt: str
    version: str
    id: str = ""


@dataclass(slots=True)
class _Tally:
    """The replies of a batch."""

    passages: int = 0
    failures: list[FailedPassage] = field(default_factory=list)
    usage: Usage = field(default_factory=Usage)
    stopped: ModelError | None = None


class BatchedExtraction:
    """An extraction of a collection's passages; see `kgrag.indexing.extraction.extract`."""

    def __init__(
        self, graph: Graph, collection: Collection, embedder: Embedder, settings: Settings, progress: Progress
    ) -> None:
        """Set up the extraction. Raises ConfigurationError if no model is set, or a price is missing."""
        self._graph, self._collection, self._embedder = graph, collection, embedder
        self._chat = OpenAIChat(settings.chat)  # it gives the form and the price of a request, and sends nothing
        self._settings, self._progress = settings, progress
        self._tally = _Tally()
        self._writers: dict[str, FactWriter] = {}

    def run(
        self, *, limit: int | None = None, linked: bool = False, cancel: bool = False, engine: Engine = IN_PROCESS
    ) -> ExtractionReport:
        """Continue with the running batches. Without running batches send at most `limit` pending passages.

        Waits for all batches, and writes the replies of each when it ends. `cancel`: cancel running batches and send
        nothing. Raises MismatchError for batches of another server, ConfigurationError, DatabaseError.
        """
        started = time.monotonic()
        with BatchServer(self._settings.chat) as server:
            try:
                batches = self._under_way(server)
                if cancel:
                    batches = self._cancel(server, batches)
                else:
                    batches = self._begin(server, batches or self._send(server, limit, linked))
                self._wait(server, batches)
            except ModelError as error:
                self._tally.stopped = error
        run_corpus_stages(self._graph, self._collection, self._settings, self._progress, self._embedder, engine=engine)
        tally, writers = self._tally, self._writers.values()
        version = form_of(self._collection, self._settings.chat.prompts, linked).version
        return ExtractionReport(
            passages=tally.passages,
            triples=sum(writer.triples for writer in writers),
            dropped=dict(sum((writer.dropped for writer in writers), Counter())),
            cut=sum(writer.cut for writer in writers),
            dates=sum(writer.dates for writer in writers),
            failures=tuple(tally.failures),
            left=len(unread(self._graph, self._collection, "extracted", version)),
            usage=tally.usage,
            seconds=time.monotonic() - started,
            stopped=tally.stopped,
        )

    def _under_way(self, server: BatchServer) -> list[BatchRecord]:
        batches = self._graph.run("stages/batches", collection=self._collection.name)[0]["batches"] or ()
        records = [BatchRecord(**json.loads(text)) for text in batches]
        for other in (each for each in records if each.server != server.address):
            raise MismatchError(
                f"A batch of this collection is under way at {other.server}.",
                f"Fetch it first: KGRAG_CHAT__BASE_URL={other.server} kgrag enrich extract --batch.",
            )
        return records

    def _record(self, batches: Sequence[BatchRecord]) -> None:
        rows = [json.dumps(asdict(each)) for each in batches]
        self._graph.run("write/batches", collection=self._collection.name, batches=rows)

    def _send(self, server: BatchServer, limit: int | None, linked: bool) -> list[BatchRecord]:
        """Upload as many pending passages as the budget allows, and record them."""
        form = form_of(self._collection, self._settings.chat.prompts, linked)
        due = unread(self._graph, self._collection, "extracted", form.version)[:limit]
        schema = reply_schema(form.shape)

        def requests() -> Iterator[tuple[str, dict[str, Any]]]:
            most = 0.0
            for source in passage_sources(self._graph, due):
                request = self._chat.request(form.prompt.messages(**form.values(source)), TASK, schema)
                budget = self._settings.chat.budget
                most += (self._chat.most(request) or 0.0) * self._settings.chat.batch_price
                if budget is not None and most > budget:
                    self._tally.stopped = BudgetError(
                        f"With the next passage the batch could cost {most:.4f}, and the budget is {budget:g}.",
                        "Raise KGRAG_CHAT__BUDGET, or run it again, which sends the rest.",
                    )
                    return
                yield source["id"], request

        batches: list[BatchRecord] = []
        for part in parts(requests()):
            batches.append(BatchRecord(server.address, server.upload(part), form.prompt.name, form.version))
            self._record(batches)
        return batches

    def _begin(self, server: BatchServer, batches: list[BatchRecord]) -> list[BatchRecord]:
        for i, each in enumerate(batches):
            if not each.id:
                batches[i] = replace(each, id=server.find(each.file) or server.begin(each.file))
                self._record(batches)
        return batches

    def _cancel(self, server: BatchServer, batches: list[BatchRecord]) -> list[BatchRecord]:
        """Cancel the batches that have begun, and forget the others."""
        running = [replace(each, id=id) for each in batches if (id := each.id or server.find(each.file))]
        self._record(running)
        for each in running:
            server.cancel(each.id)
        return running

    def _wait(self, server: BatchServer, batches: list[BatchRecord]) -> None:
        """Write the replies of each batch when it ends, and forget the batch."""
        while batches:
            states = {each.id: server.state(each.id) for each in batches}
            self._progress(_STAGE, sum(s.done for s in states.values()), sum(s.total for s in states.values()))
            ended = [each for each in batches if states[each.id].ended]
            for each in ended:
                if refused := states[each.id].refused:
                    self._tally.stopped = ModelError(
                        f"The server did not do the batch: {refused}",
                        "Run it again when that is mended, or without --batch.",
                    )
                else:
                    self._take(server, each)
                batches.remove(each)
                self._record(batches)
                server.forget(each.id)
            if batches and not ended:
                left = limits.remaining()
                time.sleep(_SECONDS if left is None else min(_SECONDS, left))

    def _take(self, server: BatchServer, batch: BatchRecord) -> None:
        """Write the replies of a batch for pending passages. Some may have been written before."""
        waiting = set(unread(self._graph, self._collection, "extracted", batch.version))
        group: dict[str, CachedReply | ModelError] = {}
        for id, reply in server.replies(batch.id):
            if id in waiting:
                group[id] = reply
            if len(group) == _GROUP:
                self._write(batch, group)
                group = {}
        self._write(batch, group)

    def _write(self, batch: BatchRecord, group: dict[str, CachedReply | ModelError]) -> None:
        extractions: dict[str, Extraction] = {}
        failed: dict[str, ModelError] = {}
        for id, reply in group.items():
            try:
                extractions[id] = self._read(batch, reply)
            except ModelError as error:
                failed[id] = error
        if extractions:
            form = self._form(batch)
            writer = self._writers.setdefault(
                batch.version,
                FactWriter(self._graph, self._collection, self._embedder, form.version, form.schema, form.prompt.text),
            )
            writer.write(extractions)
            self._tally.passages += len(extractions)
        self._tally.failures += [
            FailedPassage(
                source["document"], source["title"], failed[source["id"]].message, failed[source["id"]].remedy
            )
            for source in passage_sources(self._graph, sorted(failed))
        ]

    def _form(self, batch: BatchRecord) -> Form:
        """Return the form of a request, from the current schema and the recorded version."""
        linked = batch.prompt == LINKED
        return replace(form_of(self._collection, self._settings.chat.prompts, linked), version=batch.version)

    def _read(self, batch: BatchRecord, reply: CachedReply | ModelError) -> Extraction:
        """Return the contents of a reply, and count its cost in any case. Raises ModelError."""
        if isinstance(reply, ModelError):
            self._tally.usage += Usage(1)
            raise reply
        price, model = self._settings.chat.batch_price, self._chat.name(TASK)
        cost = self._chat.cost(model, reply)
        usage = Usage(1, 0, reply.prompt_tokens, reply.completion_tokens, None if cost is None else cost * price)
        self._tally.usage += usage
        extraction, problem = shaped(Reply(reply.text, model, usage, reply.cut), self._form(batch).shape)
        if extraction is None:
            raise ModelError(
                f"The model {model!r} gave no usable JSON for {TASK!r}: {problem}.",
                "Run it again; without --batch a reply that cannot be used is asked for once more at once.",
            )
        return extraction.first(MOST_FACTS)
