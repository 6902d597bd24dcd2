"""Generate questions from a collection, with answers and gold passages: a question set for `kgrag lab eval`.

A draw is a kind of question (see `Kind`) and its one or two source passages; both depend on the seed and the draw's
number only. A model writes the question, and reads it a second time like another reader. Without a model the question
follows a template (see `question_templates`). The folder records the replies draw by draw, so that an interrupted run
can resume. Drafts are accepted in the order of the draws, whatever the order of the replies.

Source: Millions of GEAR-s, section 5.1, after DataMorgana (Filice et al., 2025).
"""

import hashlib
import json
import random
import re
import time
from collections.abc import Callable, Iterator, Mapping
from dataclasses import asdict, dataclass, field, replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar

from pydantic import BaseModel

from kgrag.graph.collections import open_collection
from kgrag.graph.reader import Reader
from kgrag.indexing.ask_each import FailedPassage, Meter, ask_each
from kgrag.lab.question_templates import (
    Draft,
    Kind,
    Material,
    Selection,
    Sources,
    draw_kind,
    query_rows,
    select,
    template_drafts,
)
from kgrag.lab.readers.own import CORPUS, QUERIES, TRIPLES
from kgrag.lab.records import Ledger
from kgrag.models.budget import Estimate, estimate_calls
from kgrag.models.prompted import PromptedModel, harmless, numbered, object_schema, titled
from kgrag.models.prompts import Prompt
from kgrag.runtime.files import user_file
from kgrag.values.errors import InputError, ModelError
from kgrag.values.events import Progress
from kgrag.values.forms import read
from kgrag.values.results import Usage

if TYPE_CHECKING:
    from kgrag.client.collection import Collection

MAKE, CHECK = "make-question", "check-question"
_STAGE = "questions"
_LEDGER = ".drafts.jsonl"
_OPINIONS = ".opinions"  # marks a folder whose set was made from answers that people rated good
_MARKS = re.compile(r"\s?\[\d+\]|[*_`]")
_SHORT = 8  # words of the longest answer that becomes a known answer
_DRAWS = 3
"""Maximum draws per wanted question; after so many, the rest is given up."""
_WRITTEN = {MAKE: 120, CHECK: 30}
"""Average tokens of a reply."""
_TRIPLES = 10_000_000  # limit of exported triples


_TEXT = {"type": "string"}


class _QuestionReply(BaseModel):
    REPLY: ClassVar = object_schema({"question": _TEXT, "answer": _TEXT, "supports": {"type": "array", "items": _TEXT}})

    question: str
    answer: str
    supports: list[str] = []


class _Checked(BaseModel):
    REPLY: ClassVar = object_schema(
        {"sound": {"type": "boolean"}, "needed": {"type": "array", "items": {"type": "integer"}}, "reason": _TEXT}
    )

    sound: bool
    needed: list[int]
    reason: str = ""


@dataclass(frozen=True, slots=True)
class GenerationReport:
    """The result of a generation.

    `questions` are in the set, `by_type` of each answer type; `dropped`: reason -> rejected drafts. `left`: missing
    questions. `failures`: draws without a usable reply of the model; `stopped`: why it ended early, if it did.
    """

    questions: int = 0
    by_type: Mapping[str, int] = field(default_factory=dict)
    dropped: Mapping[str, int] = field(default_factory=dict)
    failures: tuple[FailedPassage, ...] = ()
    left: int = 0
    usage: Usage = field(default_factory=Usage)
    seconds: float = 0.0
    stopped: ModelError | None = None


def generate(
    collection: "Collection",
    folder: Path,
    number: int,
    *,
    seed: int = 0,
    ask: bool = True,
    threads: int = 8,
    progress: Progress,
) -> GenerationReport:
    """Make a question set of `number` questions in a folder, or resume an interrupted one there.

    `ask` False: no model is called. Gold are passages, which form the set's corpus. Raises InputError if the folder
    cannot be written or was made with other options, and ConfigurationError with `ask` if no language model is set.
    """
    started = time.monotonic()
    llm = collection.kg.language_model() if ask else None
    reader = _reader(collection)
    sources = Sources(reader)
    if not sources.ids:
        raise InputError(f"Collection {collection.name!r} holds no passages.", "Ingest documents first.")
    if (folder / CORPUS).exists() and not (folder / _LEDGER).exists():
        raise InputError(f"{folder} holds another question set.", "Name another folder.")
    usage = Meter()
    failures: list[FailedPassage] = []
    stopped: ModelError | None = None
    head = _head(reader, sources, seed, llm)
    with Ledger(folder / _LEDGER, head) as ledger:
        _check(folder, ledger, head)
        _write(folder / CORPUS, _corpus(sources))
        _write(folder / TRIPLES, _triples(reader))
        if llm is None:
            drafts = _counted(template_drafts(reader, sources, seed), number, progress)
            selection = select(drafts, number, reader.collection.language)
        else:
            asking = _Asking(llm.with_listener(usage), reader, sources, seed, ledger)
            selection = asking.run(number, threads, progress)
            failures, stopped = asking.failures, asking.stopped
        _write(folder / QUERIES, query_rows(selection.kept))
    types = [draft.type for draft in selection.kept]
    return GenerationReport(
        questions=len(selection.kept),
        by_type={name: types.count(name) for name in sorted(set(types))},
        dropped=dict(selection.dropped),
        failures=tuple(failures),
        left=number - len(selection.kept),
        usage=usage.total,
        seconds=time.monotonic() - started,
        stopped=stopped,
    )


def from_opinions(collection: "Collection", folder: Path) -> GenerationReport:
    """Make a question set from the answers that people rated good; the gold are the passages that they cite.

    A short answer becomes a known answer, too. If a question has several good answers, the last one counts. Answers
    without citations, or with removed passages only, are dropped and counted.

    Args:
        collection: the source of the saved runs and passages.
        folder: the target; a set that this function wrote before is replaced.

    Raises:
        InputError: no answer of the collection was rated good, or the folder holds another question set.
    """
    started = time.monotonic()
    reader = _reader(collection)
    rows = list(reader.graph.stream("evaluate/good_answers", collection=collection.name))
    if not rows:
        raise InputError(
            f"Nobody called an answer of {collection.name!r} good yet.",
            "Answers are rated in the pages of `kgrag serve`, and by Collection.rate.",
        )
    if (folder / CORPUS).exists() and not (folder / _OPINIONS).exists():
        raise InputError(f"{folder} holds another question set.", "Name another folder.")
    last = {row["question"].strip().casefold(): row for row in rows}
    rated = [row for row in last.values() if row["gold"]]
    folder.mkdir(parents=True, exist_ok=True)
    (folder / _OPINIONS).touch()
    _write(folder / CORPUS, _corpus(Sources(reader)))
    _write(folder / QUERIES, map(_rated, rated))
    dropped = {"asked again": len(rows) - len(last), "without a passage": len(last) - len(rated)}
    return GenerationReport(
        questions=len(rated),
        dropped={why: count for why, count in dropped.items() if count},
        seconds=time.monotonic() - started,
    )


def _rated(row: Mapping[str, Any]) -> dict[str, Any]:
    answer = _MARKS.sub("", row["answer"]).strip()
    answers = [answer.rstrip(".")] if len(answer.split()) <= _SHORT else []
    return {"id": row["id"], "question": row["question"], "gold": list(row["gold"]), "answers": answers}


def estimate(collection: "Collection", number: int, *, seed: int = 0, progress: Progress) -> dict[str, Estimate]:
    """Estimate task -> calls for `number` questions if none is dropped; calls no model."""
    from kgrag.models.prompts import load_prompt

    chat = collection.kg.settings.chat
    reader = _reader(collection)
    sources = Sources(reader)
    maker, checked = load_prompt(MAKE, chat.prompts), load_prompt(CHECK, chat.prompts)
    sizes = dict.fromkeys((MAKE, CHECK), 0)
    number = number if sources.ids else 0
    for draw in range(number):
        kind, material = _draw(sources, seed, draw)
        sizes[MAKE] += _size(maker, _values(kind, material))
        sizes[CHECK] += _size(
            checked, {"question": "?" * 120, "answer": "?" * 20, "texts": numbered(material.passages)}
        )
        progress(_STAGE, draw + 1, number)
    return {task: estimate_calls(chat, task, number, size, _WRITTEN[task]) for task, size in sizes.items()}


class _Asking:
    """Requests drafts from a model until enough of them are usable."""

    def __init__(self, llm: PromptedModel, reader: Reader, sources: Sources, seed: int, ledger: Ledger) -> None:
        self._llm, self._sources, self._seed, self._ledger = llm, sources, seed, ledger
        self._language = reader.collection.language
        self._drafts = {row["draw"]: read(Draft, row) for row in ledger.rows[1:] if "draw" in row}
        self.failures: list[FailedPassage] = []
        self.stopped: ModelError | None = None

    def run(self, number: int, threads: int, progress: Progress) -> Selection:
        """Return the questions; fewer than `number` if too many drafts were dropped, or the run was stopped."""
        tried: set[int] = set()
        while True:
            selection = select((self._drafts[draw] for draw in sorted(self._drafts)), number, self._language)
            missing = number - len(selection.kept)
            open_ = (draw for draw in range(_DRAWS * number) if draw not in self._drafts and draw not in tried)
            due = [draw for _, draw in zip(range(missing), open_, strict=False)]
            progress(_STAGE, len(selection.kept), number)
            if not due or self.stopped is not None:
                return selection
            tried.update(due)
            report: Callable[[int, int], None] = partial(self._report, progress, len(selection.kept), number)
            outcome = ask_each(map(self._source, due), len(due), self._ask, self._keep, report, threads)
            self.failures += outcome.failures
            self.stopped = outcome.stopped

    def _source(self, draw: int) -> dict[str, Any]:
        kind, material = _draw(self._sources, self._seed, draw)
        first = material.passages[0]
        return {"id": str(draw), "document": first.document, "title": first.title, "kind": kind, "material": material}

    def _ask(self, source: Mapping[str, Any]) -> Draft:
        kind: Kind = source["kind"]
        material: Material = source["material"]
        reply = self._llm.structured(MAKE, _QuestionReply, **_values(kind, material))
        texts = {p.id: " ".join(p.text.split()) for p in material.passages}
        supports = [" ".join(s.split()) for s in reply.supports]
        several = len(material.passages) > 1
        draft = Draft(
            question=" ".join(reply.question.split()),
            answer=" ".join(reply.answer.split()),
            gold=tuple(texts),
            type=kind.answer_type.name if several or kind.answer_type.passages == 1 else "factoid",
            user=kind.user.name,
            formulation=kind.formulation.name,
            premise=kind.premise.name,
            supports=tuple((id, s) for s in supports for id, text in texts.items() if s and s in text),
        )
        if not draft.question or not draft.answer:
            return draft
        checked = self._llm.structured(
            CHECK, _Checked, question=harmless(draft.question), answer=harmless(draft.answer),
            texts=numbered(material.passages),
        )  # fmt: skip
        needed = tuple(id for number, id in enumerate(texts, 1) if number in checked.needed)
        return replace(draft, sound=checked.sound, needed=needed)

    def _keep(self, drafts: dict[str, Draft]) -> None:
        for draw, draft in drafts.items():
            self._ledger.add({"draw": int(draw), **asdict(draft)})
            self._drafts[int(draw)] = draft

    @staticmethod
    def _report(progress: Progress, before: int, number: int, done: int, total: int) -> None:
        progress(_STAGE, min(number, before + done), number)


def _reader(collection: "Collection") -> Reader:
    graph = collection.kg.graph
    return Reader(graph, open_collection(graph, collection.name))


def _draw(sources: Sources, seed: int, draw: int) -> tuple[Kind, Material]:
    lot = random.Random(f"{seed}/{draw}")
    kind = draw_kind(lot)
    answer_type = kind.answer_type
    return kind, sources.draw(lot, answer_type.passages, by_title=answer_type.name == "path-following")


def _values(kind: Kind, material: Material) -> dict[str, str]:
    """Return the prompt's values for a question."""
    answer = kind.answer_type
    alone = answer.passages > len(material.passages)
    tie = f"What ties the texts: {titled(material.bridge)}" if material.bridge else ""
    return {
        "user": kind.user.means,
        "formulation": kind.formulation.means,
        "premise": kind.premise.means,
        "answer_type": "one name, date, number or the like" if alone else answer.means,
        "bridge": tie,
        "texts": numbered(material.passages),
    }


def _size(prompt: Prompt, values: Mapping[str, str]) -> int:
    return sum(len(message.content.encode("utf-8", "replace")) for message in prompt.messages(**values))


def _counted(drafts: Iterator[Draft], number: int, progress: Progress) -> Iterator[Draft]:
    for done, draft in enumerate(drafts):
        progress(_STAGE, min(done, number), number)
        yield draft


def _head(reader: Reader, sources: Sources, seed: int, llm: PromptedModel | None) -> dict[str, Any]:
    """Return the identity of the drafts; another model may continue them."""
    prompts = "none" if llm is None else "/".join(llm.prompt(name).version for name in (MAKE, CHECK))
    digest = hashlib.blake2b("\n".join(sources.ids).encode(), digest_size=8).hexdigest()
    return {"collection": reader.collection.name, "passages": digest, "seed": seed, "prompts": prompts}


def _check(folder: Path, ledger: Ledger, head: Mapping[str, Any]) -> None:
    before = ledger.rows[0] if ledger.rows else {}
    if before != head:
        differs = ", ".join(name for name in head if before.get(name) != head[name])
        raise InputError(
            f"{folder} holds questions that were made otherwise ({differs}).",
            "Name another folder, or delete this one.",
        )


def _corpus(sources: Sources) -> Iterator[dict[str, Any]]:
    for row in sources.rows():
        yield {"id": row["id"], "title": row["title"], "text": row["text"], "document": row["document"]}


def _triples(reader: Reader) -> Iterator[dict[str, Any]]:
    rows = reader.graph.stream("evaluate/question_triples", collection=reader.collection.name, limit=_TRIPLES)
    for row in rows:
        yield {name: row[name] for name in ("passage", "subject", "predicate", "object")}


def _write(path: Path, rows: Any) -> None:
    """Write a file of rows completely or not at all; without rows, write no file."""
    part = path.with_name(f".{path.name}.part")
    with user_file(path):
        with part.open("w", encoding="utf-8", errors="replace", newline="\n") as file:
            count = 0
            for row in rows:
                file.write(json.dumps(row, ensure_ascii=False) + "\n")
                count += 1
        if count:
            part.replace(path)
        else:
            part.unlink()
            path.unlink(missing_ok=True)
