"""The work of kgrag eval: the corpus is ingested, and retrievers and systems are asked the questions."""

from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from kgrag.cli.console import note
from kgrag.types import Document, Problem, Progress, Usage

if TYPE_CHECKING:
    from kgrag.client import KnowledgeGraph
    from kgrag.evaluation.datasets import Dataset
    from kgrag.evaluation.experiment import Record
    from kgrag.evaluation.summary import Group
    from kgrag.settings import Settings

_SHOWN = 10  # lines of a list of complaints
_SAMPLING = {"model", "models", "base_url", "temperature", "max_tokens", "json_mode"}


@dataclass(frozen=True, slots=True)
class Plan:
    """What is measured, and how: `retrievers` and `systems` in standard spelling, `threads` questions at once.

    `grade`: whether a language model marks the answers.
    """

    retrievers: tuple[str, ...]
    systems: tuple[str, ...]
    depth: int
    threads: int
    out: Path | None
    grade: bool = False

    @property
    def names(self) -> tuple[str, ...]:
        """All that is measured."""
        return (*self.retrievers, *self.systems)


def ingest(
    kg: "KnowledgeGraph", data: "Dataset", collection: str, embedder: str | None, progress: Progress
) -> dict[str, Any]:
    """Bring the collection up to date with the corpus; returns what is searched and how, down to the settings."""
    from kgrag import __version__
    from kgrag.graph.collections import describe, open_collection
    from kgrag.identity import content_hash

    digest = 0

    def documents() -> Iterator[Document | Problem]:
        nonlocal digest
        for item in data.documents(kg.settings.max_file_mb):
            if isinstance(item, Document):  # a sum, so that the order does not matter
                digest = (digest + int(content_hash(item), 16)) % 2**128
            yield item

    report = kg.ingest(documents(), collection, embedder=embedder, progress=progress)
    if report.problems:
        complain("What could not be read:", [f"{p.place}: {p.message}" for p in report.problems])
    opened = open_collection(kg.graph, collection)
    counts = describe(kg.graph, opened).counts
    total = counts.get("Document", 0)
    others = total - report.added - report.changed - report.unchanged
    if others > 0:
        note(
            f"Collection {collection} holds {others} documents that the corpus does not have; they are searched, too. "
            f"`kgrag delete --collection {collection}` and another run start anew."
        )
    return {
        "kgrag": __version__,
        "embedder": opened.embedder,
        "documents": total,
        "triples": counts.get("Triple", 0),
        "corpus": f"{digest:032x}",
        "indexing": opened.indexing.model_dump(mode="json"),
        "retrieval": kg.settings.retrieval.model_dump(mode="json"),
    }


def measure(
    kg: "KnowledgeGraph", data: "Dataset", collection: str, plan: Plan, subject: dict[str, Any], progress: Progress
) -> "tuple[list[Record], Usage | None]":
    """The records of all retrievers and systems, those that are kept already not made anew, and what marking took."""
    from kgrag.evaluation.asking import Answering, ask_all
    from kgrag.evaluation.baselines import BASELINES
    from kgrag.evaluation.experiment import run
    from kgrag.evaluation.grading import Grader
    from kgrag.evaluation.records import RecordFile

    def system(name: str) -> Answering:
        if name in BASELINES:
            return BASELINES[name].make(kg.retriever("bm25", collection).index, data, kg.settings.agents)
        return kg.system(name, collection)

    tasks = kg.tasks()
    grader = Grader(tasks) if plan.grade and tasks is not None else None
    retrievers = {name: kg.retriever(name, collection) for name in plan.retrievers}
    systems = {name: system(name) for name in plan.systems}
    subject = {**subject, "dataset": data.name, "depth": plan.depth, "gold": "text" if data.gold_texts else "document"}
    subject = _with_model(subject, kg.settings)
    with ExitStack() as stack:
        logs: dict[str, RecordFile] = {}
        if plan.out is not None:
            logs = {name: stack.enter_context(RecordFile(plan.out, name, subject)) for name in plan.names}
        known = sum(log.find(q) is not None for log in logs.values() for q in data.questions)
        if known:
            note(f"{known} of {len(plan.names) * len(data.questions)} records are in {plan.out} already.")
        try:
            shared: dict[str, Any] = {"depth": plan.depth, "gold_texts": data.gold_texts, "logs": logs}
            found = run(retrievers, data.questions, progress, **shared)
            found += ask_all(systems, data.questions, progress, threads=plan.threads, grader=grader, **shared)
            return found, None if grader is None else grader.usage
        except BaseException:
            if logs:
                note(f"What was measured so far is in {plan.out}; the same command goes on from there.")
            raise


def groups(
    kg: "KnowledgeGraph", data: "Dataset", collection: str, by: Sequence[str]
) -> "Mapping[str, Mapping[str, Group]]":
    """What the tables are broken down by -> question id -> group."""
    from kgrag.evaluation.groups import grouped
    from kgrag.graph.collections import open_collection
    from kgrag.graph.reader import Reader

    reader = Reader(kg.graph, open_collection(kg.graph, collection))
    if "density" in by and not reader.has_triples():
        note(f"Collection {collection} holds no triples, so that all densities are 0.")
    return {what: grouped(data, what, reader) for what in by}


def _with_model(subject: dict[str, Any], settings: "Settings") -> dict[str, Any]:
    """What a record depends on; where a language model is set, also the models, their prompts and the agents."""
    from kgrag.evaluation.grading import TASK
    from kgrag.models.prompts import load_prompt, names

    if settings.chat.model is None:
        return subject
    used = (n for n in names() if not n.startswith("extract") and n != TASK)  # a mark says itself who made it
    prompts = {n: load_prompt(n, settings.chat.prompts).version for n in used}
    chat = settings.chat.model_dump(mode="json", include=_SAMPLING)
    chat["models"].pop(TASK, None)
    return {**subject, "chat": chat, "prompts": prompts, "agents": settings.agents.model_dump(mode="json")}


def report_dataset(data: "Dataset", limit: int | None) -> None:
    """Print on standard error what was left out of the data, and which gold cannot be found."""
    for text in data.notes:
        note(text)
    questions = data.questions[:limit]
    missing = data.unreachable(questions)
    if missing:
        head = f"{len(missing)} of {len(questions)} questions have gold that is not in the corpus and cannot be found:"
        complain(head, [f"{id}: {', '.join(keys)}" for id, keys in missing.items()])


def complain(head: str, lines: Sequence[str]) -> None:
    """Print a list on standard error, the first of many lines."""
    note(head)
    for line in lines[:_SHOWN]:
        note(f"  {line}")
    if len(lines) > _SHOWN:
        note(f"  ... and {len(lines) - _SHOWN:,} more")
