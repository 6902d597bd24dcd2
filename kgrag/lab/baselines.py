"""Systems that only make sense where the gold is known: upper bounds, and what needs no language model at all.

Source: KGP, section 5.1.2 and Table 2 (Golden; None is the system closed-book).
"""

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from kgrag.agents.answering import ModelAnswer, answer
from kgrag.agents.lookup import look_up
from kgrag.agents.single import Single
from kgrag.agents.system import DEPTH
from kgrag.agents.trace import Trace
from kgrag.lab.ask_systems import Answering
from kgrag.lab.datasets import Dataset, GoldText, Question
from kgrag.models.chat import no_model
from kgrag.models.tasks import Listener
from kgrag.retrieval.base import Query
from kgrag.retrieval.context import SearchContext
from kgrag.values.errors import ModelError
from kgrag.values.events import Answer, Answered, Failed, StructureLookup
from kgrag.values.results import Hit, Passage, Ranking, Step, Usage


class Golden:
    """A language model that is shown the gold of a question and nothing else: what no retrieval can surpass.

    Of gold that is cut into more passages than are wanted, it is shown those nearest to the question; of pages, tables
    and sections their text.
    """

    name = "golden"

    def __init__(self, index: SearchContext, data: Dataset) -> None:
        """Set up the baseline. Raises ConfigurationError when no language model is configured."""
        if index.tasks is None:
            raise no_model()
        self._index, self._tasks = index, index.tasks
        self._options = Single.check({}, index.agents)
        self._questions = {question.text: question for question in data.questions}
        self._texts = data.gold_texts

    def ask(
        self,
        question: str,
        /,
        *,
        short: bool = False,
        depth: int = DEPTH,
        listener: Listener | None = None,
        choices: Sequence[str] = (),
    ) -> Answer:
        """See Answering. Raises KeyError for a question that is not in the data set."""
        trace, started = Trace(listener), time.perf_counter()
        passages = self._gold(self._questions[question], depth)
        tasks = self._tasks.with_listener(trace.add)
        for text in self._questions[question].structure:
            trace.add(StructureLookup(kind="gold", name="", text=text))
        said, problem = ModelAnswer("", False), ""
        try:
            items = [[passage] for passage in passages]
            said = answer(tasks, question, items, self._options, short=short, choices=choices)
            trace.add(Answered(text=said.text))
        except ModelError as error:
            problem = error.in_full
            trace.add(Failed(problem=problem, error=type(error).__name__))
        hits = tuple(Hit(p, 1 / rank, (Step("gold", "Passage", p.title),)) for rank, p in enumerate(passages, 1))
        usage = trace.by_task()
        return Answer(
            question=question,
            text=said.text,
            found=said.found,
            system=self.name,
            ranking=Ranking(question, self.name, hits),
            citations=said.citations,
            trace=tuple(trace.events),
            usage=sum(usage.values(), Usage()),
            by_task=usage,
            seconds=time.perf_counter() - started,
            problem=problem,
        )

    def _shown(self, question: Question, keys: Sequence[str]) -> dict[str, GoldText]:
        """Return key -> gold that is only part of a document."""
        return {key: self._texts[key] for key in keys if key in self._texts}

    def _gold(self, question: Question, depth: int) -> list[Passage]:
        """Return the passages of the gold in the order in which they lead to the answer."""
        keys = question.path or question.gold
        if question.structure:
            return [Passage(f"structure {n}", keys[0], "", text) for n, text in enumerate(question.structure, 1)]
        reader, texts = self._index.reader, self._shown(question, keys)
        if texts:
            held = reader.document_passages(list({its.document for its in texts.values()}))
            firsts = reader.passages([ids[0] for ids in held.values() if ids]).values()
            titles = {first.document: first.title for first in firsts}
            return [Passage(key, its.document, titles.get(its.document, ""), its.text) for key, its in texts.items()]
        held = reader.document_passages(keys)
        ids = [id for key in keys for id in held.get(key, [])]
        if len(ids) > depth:
            ids = [id for id, _ in reader.nearest_of(ids, Query(question.text).vector(self._index.embedder), depth)]
        found = reader.passages(ids)
        order = {key: place for place, key in enumerate(keys)}
        return sorted(found.values(), key=lambda p: (order[p.document], p.ordinal))


class GoldenFacts(Golden):
    """The same, shown the sentences that support the answer alone, under the titles of their documents.

    Where the data set names no sentences (MuSiQue), it is shown the passages.
    """

    name = "golden-facts"

    def _shown(self, question: Question, keys: Sequence[str]) -> dict[str, GoldText]:
        """See Golden."""
        its = {its.key: its for key in keys for its in question.supports if its.document == key}
        return super()._shown(question, keys) or its


class LookUp:
    """Looks up the pages, tables and sections that a question names, by rules; answers nothing else, asks no model."""

    name = "look-up"

    def __init__(self, index: SearchContext, data: Dataset) -> None:
        self._index = index

    def ask(
        self,
        question: str,
        /,
        *,
        short: bool = False,
        depth: int = DEPTH,
        listener: Listener | None = None,
        choices: Sequence[str] = (),
    ) -> Answer:
        """See Answering."""
        trace, started = Trace(listener), time.perf_counter()
        found = look_up(self._index, Query(question), None, depth)
        for kind, name, text in found.places if found is not None else ():
            trace.add(StructureLookup(kind=kind, name=name, text=text))
        return Answer(
            question=question,
            text=found.text if found is not None else "It names no page, table or section.",
            found=found is not None and found.found,
            system=self.name,
            ranking=Ranking(question, self.name, found.hits if found is not None else ()),
            trace=tuple(trace.events),
            seconds=time.perf_counter() - started,
        )


@dataclass(frozen=True, slots=True)
class Baseline:
    """How to make a baseline, and whether it asks a language model."""

    make: Callable[[SearchContext, Dataset], Answering]
    asks: bool


BASELINES: dict[str, Baseline] = {
    Golden.name: Baseline(Golden, True),
    GoldenFacts.name: Baseline(GoldenFacts, True),
    LookUp.name: Baseline(LookUp, False),
}
"""The baselines by name: they are systems of an evaluation alone."""
