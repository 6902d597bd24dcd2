"""Experiments: a comparison of retrievers and systems on one question set.

>>> c = kg["notes"]
>>> result = Experiment([PathRank(c, cap=20), Rrf(Bm25(c), Dense(c)), "gear+pathrank"], data, collection=c).run()
>>> result                 # in a notebook: the tables
>>> result.plot("recall.png")
"""

from bisect import bisect_right
from collections.abc import Iterable, Mapping, Sequence
from contextlib import ExitStack
from itertools import pairwise
from pathlib import Path
from typing import Any, Literal, Protocol

from kgrag.agents.strategy import Strategy
from kgrag.client.collection import Collection
from kgrag.graph.counts import collection_info
from kgrag.graph.reader import Reader
from kgrag.lab import layers
from kgrag.lab.ask_systems import BASELINES, ask_all
from kgrag.lab.datasets import Dataset, Question
from kgrag.lab.grading import TASK, Grader
from kgrag.lab.question_graphs import QuestionGraphs
from kgrag.lab.records import RecordFile, check_folder, in_force
from kgrag.lab.report import Result, machine
from kgrag.lab.retrieving import DEPTH, WARM_UP, Record, retrieve_all
from kgrag.lab.summary import Group, Sweep
from kgrag.lab.variants import PERTURBATIONS
from kgrag.models.chat import no_model
from kgrag.models.prompts import load_prompt, names
from kgrag.models.tagme import can_tag
from kgrag.retrieval.base import Retriever
from kgrag.settings import Settings
from kgrag.values import __version__
from kgrag.values.errors import ConfigurationError
from kgrag.values.events import Progress, no_progress

BOUNDS = (9, 11, 13)
"""Triples per gold passage at which a group of densities ends (GEAR, appendix G)."""


def grouped(dataset: Dataset, what: str, reader: Reader | None = None) -> dict[str, Group]:
    """Return question id -> its group by type, hops or density; `reader`: the collection's, for densities.

    Raises ConfigurationError for another grouping, or for densities without a reader.
    """
    if what not in ("type", "hops", "density") or (what == "density" and reader is None):
        raise ConfigurationError(f"Questions cannot be grouped by {what!r}.", "Choose type, hops or density.")
    if reader is not None and what == "density":
        return _densities(dataset, reader)
    return {q.id: (q.hops, str(q.hops)) if what == "hops" else (0, q.type or "(none)") for q in dataset.questions}


def density_group(density: float | None) -> Group:
    """Return the group of a number of triples per gold passage; None: no gold passage is in the graph."""
    if density is None:
        return len(BOUNDS) + 1, "(none)"
    number = bisect_right(BOUNDS, density)
    names = [f"< {BOUNDS[0]}", *(f"{a}-{b}" for a, b in pairwise(BOUNDS)), f">= {BOUNDS[-1]}"]
    return number, names[number]


def _densities(dataset: Dataset, reader: Reader) -> dict[str, Group]:
    golds = {q.id: _gold_documents(q, dataset) for q in dataset.questions}
    counts = reader.triple_counts(sorted({key for keys in golds.values() for key in keys}))
    return {id: density_group(_density(keys, counts)) for id, keys in golds.items()}


def _gold_documents(question: Question, dataset: Dataset) -> Sequence[str]:
    """Return the distinct documents that contain a question's gold."""
    texts = dataset.gold_texts
    return list(dict.fromkeys(texts[key].document if key in texts else key for key in question.gold))


def _density(documents: Sequence[str], counts: Mapping[str, tuple[int, int]]) -> float | None:
    passages = sum(counts[key][0] for key in documents if key in counts)
    return sum(counts[key][1] for key in documents if key in counts) / passages if passages else None


By = Literal["type", "hops", "density"]

_SAMPLING = {"model", "models", "base_url", "temperature", "max_tokens", "json_mode"}


class Named(Protocol):
    """A retriever or a system: an object with a name and `retrieve` or `ask`."""

    name: str


class Experiment:
    """A measurement of retrievers and systems on a question set.

    Retrievers are measured first, one question at a time, then systems.

    Args:
        systems: objects or names ("pathrank", "rrf(bm25, dense)", "gear+pathrank", "golden", "look-up").
        dataset: the questions and their gold.
        collection: where names are searched; None: every system is an object, or `run` gets one.
        baseline: a system, listed or not, that the others are compared with; None: no comparison.
        depth: the number of ranked documents (with `variants.join`, passages).
        by: the groups of the tables.
        threads: the number of questions that systems answer at once.
        out: a folder for each question's record, from which a later run resumes; None: nothing is written.
        grade: whether the language model of the task "grade" grades the answers.
        perturb: the kind of misspelling of questions (see `variants.PERTURBATIONS`); None: no misspelling.
        vary: a sweep, such as "branch=1..10"; None: none.
        per_question: the size of a separate corpus for each question, its gold and random documents, which `collection`
        holds one at a time (see `question_graphs`); None: all share one corpus.
        seed: the seed of the resampling, the misspellings and the random documents.
        at: the ranks where recall and perfect are cut; empty: the default ones.
        anyway: whether to measure systems without a required layer, such as triples; else the result names them.

    Raises:
        NotFoundError: a system, retriever or collection does not exist.
        ConfigurationError: an option or a sweep is invalid.
        InputError: `out` cannot be written.

    Example:
        >>> dataset = read_dataset("questions")
        >>> result = Experiment(["bm25", "pathrank"], dataset, collection=collection).run()
        >>> print(result.markdown())
    """

    def __init__(
        self,
        systems: Iterable[Named | str],
        dataset: Dataset,
        *,
        collection: Collection | None = None,
        baseline: Named | str | None = None,
        depth: int = DEPTH,
        by: Sequence[By] = (),
        threads: int = 8,
        out: Path | str | None = None,
        grade: bool = False,
        perturb: str | None = None,
        vary: str | None = None,
        per_question: int | None = None,
        seed: int = 0,
        at: Sequence[int] = (),
        anyway: bool = False,
    ) -> None:
        """Prepare the measurement, without any search yet."""
        self.dataset, self.collection, self.depth, self.by = dataset, collection, depth, tuple(by)
        self.threads, self.grade, self.perturb, self.seed, self.at = threads, grade, perturb, seed, tuple(at)
        self.per_question, self.anyway = per_question, anyway
        self.out = None if out is None else Path(out)
        entries = [*systems, *([] if baseline is None else [baseline])]
        named = dict(_named(system) for system in entries)
        self.baseline = None if baseline is None else _named(baseline)[0]
        self.sweep = None
        if vary is not None:
            by_name = {name: answers for name, (answers, object_) in named.items() if object_ is None}
            varied = [name for name in by_name if name not in BASELINES]
            self.sweep = Sweep.of(
                vary, [n for n in varied if not by_name[n]], [n for n in varied if by_name[n]]
            )  # fmt: skip
            named = {new: named[name] for name in named for new in self.sweep.names([name])}
            if self.baseline is not None and self.baseline not in named:
                raise ConfigurationError(
                    f"vary replaces the baseline {self.baseline}.", f"Name one of its values: {', '.join(named)}."
                )
        self._systems = dict(sorted(named.items(), key=lambda item: item[1][0]))  # stable: retrievers first
        if grade and not any(answers for answers, _ in self._systems.values()):
            raise ConfigurationError("grade marks the answers of systems, and no system was named.", "Add a system.")
        if perturb is not None and perturb not in PERTURBATIONS:
            raise ConfigurationError(
                f"Questions cannot be perturbed by {perturb!r}.", f"Choose one of: {', '.join(PERTURBATIONS)}."
            )
        if per_question is not None and "density" in self.by:
            raise ConfigurationError("per_question measures graphs that hold no triples.", "Leave out: by density.")
        if self.out is not None:
            check_folder(self.out)

    @property
    def names(self) -> tuple[str, ...]:
        """The names of all measured systems, retrievers first."""
        return tuple(self._systems)

    @property
    def asks(self) -> bool:
        """Whether a language model is needed."""
        return self.grade or any(
            answers and not (name in BASELINES and not BASELINES[name].asks)
            for name, (answers, _) in self._systems.items()
        )

    def run(self, progress: Progress | None = None, *, collection: Collection | None = None) -> Result:
        """Measure.

        An error of one question becomes its record, and the run continues. It ends when the database is lost or the
        budget is spent; with `out` the next run resumes.

        Args:
            progress: receives (stage, done, total).
            collection: replaces the one of the experiment.

        Returns:
            The measures of each system, with the records.

        Raises:
            DatabaseError: the database cannot be reached, or fails.
            BudgetError: the budget is spent.
            ConfigurationError: an option is invalid, or a package is missing.
            NotFoundError: the collection does not exist.
        """
        searched, report = collection or self.collection, progress or no_progress
        data, change = self.dataset, PERTURBATIONS.get(self.perturb or "")
        if change is not None:
            data = data.with_questions(change(question, self.seed) for question in data.questions)
        groups, notes = self._groups(data, searched)
        grader = self._grader(searched)
        with ExitStack() as stack:
            graphs = self._graphs(data, searched, report)
            if graphs is not None:
                stack.callback(graphs.close)
            opened = searched if graphs is None or not data.questions else graphs.open(data.questions[0])
            refused = self._refused(data, opened)
            if self.anyway:
                notes += [f"{name} runs without a requirement: {why}" for name, why in refused.items()]
                refused = {}
            names = [name for name in self._systems if name not in refused]
            logs = {}
            if self.out is not None and data.questions and names:
                subject = self._subject(data, searched)
                index = searched.name if searched is not None and graphs is None else ""
                for name in names:
                    header = {**subject, "options": in_force(self._system_of(name, data, opened))}
                    logs[name] = stack.enter_context(RecordFile(self.out, name, header, index))
            logged = sum(log.find(q) is not None for log in logs.values() for q in data.questions)
            if logged:
                notes.append(f"{logged} of {len(names) * len(data.questions)} records were in {self.out} already.")
            if graphs is None:
                records = self._measure(names, data, searched, report, logs, grader)
            else:
                records = self._measure_apart(names, data, graphs, report, logs, grader)
        about: dict[str, Any] = {"dataset": data.name}
        if searched is not None:
            about |= {"embedder": self._embedder(searched), "collection": searched.name}
        if graphs is not None:
            about["passages"] = graphs.passages
        return Result.of(
            self._title(len(data.questions), about.get("embedder")),
            records,
            self.depth,
            groups,
            self.baseline,
            self.seed,
            self.at,
            about=about,
            conditions={
                "depth": self.depth,
                "threads": self.threads,
                "seed": self.seed,
                "perturb": self.perturb,
                "machine": machine(
                    "" if searched is None else searched.kg.graph.run("schema/server_version")[0]["version"]
                ),
            },
            marking=None if grader is None else grader.meter.total,
            sweep=self.sweep,
            notes=tuple(notes),
            refused=refused,
        )

    def _refused(self, data: Dataset, searched: Collection | None) -> dict[str, str]:
        """Return the unmeasurable systems -> the reason: a layer of the graph, a package or a model is missing.

        A search by each retriever without a language model finds missing parts before anything is measured.
        """
        refusals: dict[str, str] = {}
        for name in self._systems:
            system = self._system_of(name, data, searched)
            if not isinstance(system, Retriever | Strategy):
                continue
            if lacking := system.missing_layers():
                refusals[name] = layers.lacks(lacking, system.context.reader.collection.name)
                continue
            retriever = system if isinstance(system, Retriever) else system.retriever if system.retrieves else None
            try:
                if retriever is not None and data.questions and not retriever.max_model_calls():
                    retriever.retrieve(data.questions[0].text, 1)
            except ConfigurationError as error:
                refusals[name] = error.in_full
        return refusals

    def _measure(
        self,
        systems: Sequence[str],
        data: Dataset,
        searched: Collection | None,
        report: Progress,
        logs: Mapping[str, RecordFile],
        grader: Grader | None,
        warm_up: int = WARM_UP,
    ) -> list[Record]:
        """Ask every system all questions over one graph."""
        records: list[Record] = []
        shared: dict[str, Any] = {"depth": self.depth, "gold_texts": data.gold_texts, "logs": logs}
        for name in systems:
            single = {name: self._system_of(name, data, searched)}
            if self._systems[name][0]:
                records += ask_all(single, data.questions, report, threads=self.threads, grader=grader, **shared)
            else:
                records += retrieve_all(single, data.questions, report, warm_up=warm_up, **shared)
        return records

    def _measure_apart(
        self,
        systems: Sequence[str],
        data: Dataset,
        graphs: QuestionGraphs,
        report: Progress,
        logs: Mapping[str, RecordFile],
        grader: Grader | None,
    ) -> list[Record]:
        """Ask each question over its own graph."""
        by_system: dict[str, list[Record]] = {name: [] for name in systems}
        for number, question in enumerate(data.questions):
            report("questions", number, len(data.questions))
            own = [record for log in logs.values() if (record := log.find(question)) is not None]
            if len(own) < len(systems) or grader is not None:
                opened = graphs.open(question)
                one, warm_up = data.with_questions([question]), int(number < WARM_UP)
                own = self._measure(systems, one, opened, no_progress, logs, grader, warm_up)
            for record in own:
                by_system[record.system].append(record)
        report("questions", len(data.questions), len(data.questions))
        return [record for records in by_system.values() for record in records]

    def _graphs(self, data: Dataset, searched: Collection | None, report: Progress) -> QuestionGraphs | None:
        """Return the maker of each question's graph, if each has its own. Raises ConfigurationError for objects."""
        if self.per_question is None:
            return None
        objects = [name for name, (_, system) in self._systems.items() if system is not None]
        if objects:
            raise ConfigurationError(f"per_question makes the graph of {objects[0]!r} itself.", "Give its name.")
        searched = _needed(searched, "make a graph for each question")
        tagged = any("tagme" in name for name in self._systems) and can_tag(searched.kg.settings)
        return QuestionGraphs(searched, data, self.per_question, self.seed, report, tag=tagged)

    def _embedder(self, searched: Collection) -> str:
        return searched.context.embedder.name if self.per_question is None else searched.kg.settings.embedder

    def _title(self, questions: int, embedder: str | None) -> str:
        parts = [f"{questions} questions", *([embedder] if embedder is not None else [])]
        if self.perturb is not None:
            parts.append(f"typo (seed {self.seed})" if self.perturb == "typo" else "lower case")
        if self.per_question is not None:
            parts.append(f"a graph of {self.per_question} documents each")
        elif any(answers for answers, _ in self._systems.values()):
            parts.append(f"{self.threads} threads")
        return f"{self.dataset.name}: {', '.join(parts)}"

    def _system_of(self, name: str, data: Dataset, searched: Collection | None) -> Any:
        answers, system = self._systems[name]
        if system is not None:
            return system
        searched = _needed(searched, f"find {name!r}")
        if name in BASELINES:
            return BASELINES[name].make(searched.context, data)
        return searched.system(name) if answers else searched.retriever(name)

    def _grader(self, searched: Collection | None) -> Grader | None:
        if not self.grade:
            return None
        llm = _needed(searched, "mark answers").kg.models.llm()
        if llm is None:
            raise no_model()
        return Grader(llm)

    def _groups(
        self, data: Dataset, searched: Collection | None
    ) -> tuple[Mapping[str, Mapping[str, Group]], list[str]]:
        """Return the groups of the tables -> question id -> group, and remarks on them."""
        notes = []
        reader = _needed(searched, "count triples").context.reader if "density" in self.by else None
        if reader is not None and not reader.layers(["triples"]):
            notes.append(f"Collection {reader.collection.name} holds no triples, so that all densities are 0.")
        return {what: grouped(data, what, reader) for what in self.by}, notes

    def _subject(self, data: Dataset, searched: Collection | None) -> dict[str, Any]:
        """Return the conditions of a record besides its question and the options.

        Includes the prompts if a model is configured.
        """
        searched = _needed(searched, "keep records")
        settings = searched.kg.settings
        subject: dict[str, Any] = {"per_question": self.per_question, "seed": self.seed}
        indexing = settings.indexing
        if self.per_question is None:
            opened = searched.context.reader.collection
            counts, indexing = collection_info(searched.kg.graph, opened).counts, opened.indexing
            subject = {"documents": counts.get("Document", 0), "triples": counts.get("Triple", 0)}
        return {
            "kgrag": __version__, "embedder": self._embedder(searched), **subject,
            "corpus": data.corpus.digest(settings.max_file_mb), "indexing": indexing.model_dump(mode="json"),
            "dataset": data.name, "depth": self.depth, "gold": "text" if data.gold_texts else "document",
            **_model(settings),
        }  # fmt: skip


def _model(settings: Settings) -> dict[str, Any]:
    if settings.chat.model is None:
        return {}
    used = (n for n in names() if not n.startswith("extract") and n != TASK)  # a grade names its grader itself
    prompts = {n: load_prompt(n, settings.chat.prompts).version for n in used}
    chat = settings.chat.model_dump(mode="json", include=_SAMPLING)
    chat["models"].pop(TASK, None)
    return {"chat": chat, "prompts": prompts}


def spelt(name: str) -> str:
    """Return the standard name of a retriever or system, as in results. Raises NotFoundError, ConfigurationError."""
    return _named(name)[0]


def _named(system: Named | str) -> tuple[str, tuple[bool, Any]]:
    """Return the standard name of a system, whether it answers, and the system if it is an object."""
    if not isinstance(system, str):
        return system.name, (hasattr(system, "ask"), system)
    name = system.strip()
    if name in BASELINES:
        return name, (True, None)
    standard, answers = layers.spelt(name)
    return standard, (answers, None)


def _needed(searched: Collection | None, what: str) -> Collection:
    if searched is None:
        raise ConfigurationError(
            f"The experiment cannot {what} without a collection.", "Give it one: Experiment(..., collection=...)."
        )
    return searched
