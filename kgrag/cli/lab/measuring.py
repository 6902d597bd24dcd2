"""Shared parts of the commands that measure: options, notes on a question set, and its corpus in the graph."""

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import asdict
from functools import wraps
from inspect import get_annotations
from pathlib import Path
from types import NoneType
from typing import TYPE_CHECKING, Annotated, Any, Literal, TypeVar, cast, get_args, get_origin

import click
from click.core import ParameterSource
from pydantic import BaseModel, ConfigDict, Field, PositiveInt
from pydantic.fields import FieldInfo

from kgrag.cli.connect import connect
from kgrag.cli.console import changed, load_settings, note, print_list, progress_bars, visible
from kgrag.cli.profiles import PAPER_HELP, apply_profile
from kgrag.values.events import Progress
from kgrag.values.installing import require_extra

if TYPE_CHECKING:
    import pandas as pd  # type: ignore[import-untyped]

    from kgrag.client.collection import Collection
    from kgrag.client.graph import KnowledgeGraph
    from kgrag.lab.datasets import Dataset
    from kgrag.lab.papers import Paper
    from kgrag.settings import Settings


def as_paper(settings: "Settings", name: str | None) -> "tuple[Settings, Paper | None]":
    """Return the settings of a paper, and the paper; standard error names it. Raises NotFoundError."""
    if name is None:
        return settings, None
    from kgrag.lab.papers import find_paper

    paper = find_paper(name)
    return apply_profile(settings, paper), paper


F = TypeVar("F", bound=Callable[..., Any])
_TYPES = {int: click.INT, float: click.FLOAT, Path: click.Path(path_type=Path)}
_METAVARS = {int: "N", float: "X", Path: "FILE", str: "NAME"}


def options(command: F) -> F:
    """Give a command the options that the models in its signature describe; it is called with these models.

    A field `per_question: int | None` is --per-question N, with the bounds, the default and the description that it
    has; a flag if it is a bool, repeatable if it is a tuple. Its title is how else it is written: "-r --retriever
    EXPR". One that must be given and has no title is an argument. A model holds as set what the user gave.
    """
    models = {name: kind for name, kind in get_annotations(command).items() if isinstance(kind, type(BaseModel))}

    @wraps(command)
    def called(**arguments: Any) -> Any:
        with require_extra("lab", "Commands of the lab need {}."):
            import pandas  # noqa: F401  # which is needed where they print: not only then shall it be missed
        source = click.get_current_context().get_parameter_source
        for name, model in models.items():
            values = {key: arguments.pop(key) for key in model.model_fields}
            arguments[name] = model(
                **{key: values[key] for key in values if source(key) is ParameterSource.COMMANDLINE}
            )
        return command(**arguments)

    decorated: Any = called
    for model in reversed(models.values()):
        own_first = dict.fromkeys(name for kind in model.__mro__ for name in getattr(kind, "__annotations__", ()))
        for name in reversed([name for name in own_first if name in model.model_fields]):
            decorated = _parameter(name, model.model_fields[name])(decorated)
    return cast(F, decorated)


def _parameter(name: str, field: FieldInfo) -> Callable[[F], F]:
    words = (field.title or "").split()
    flags = [word for word in words if word.startswith("-")]
    if not any(flag.startswith("--") for flag in flags):
        flags.append(f"--{name.rstrip('_').replace('_', '-')}")
    kind, bounds = field.annotation, field.metadata
    several = get_origin(kind) is tuple
    if get_origin(kind) not in (None, Literal):  # the type of one value, where there may be none or several
        kind = next(each for each in get_args(kind) if each is not NoneType)
    if get_origin(kind) is Annotated:
        kind, *bounds = get_args(kind)
    if kind is bool:
        return click.option(*flags, name, is_flag=True, help=field.description)
    type_: Any = _TYPES.get(cast(Any, kind), click.STRING)
    if get_origin(kind) is Literal:
        type_ = click.Choice(get_args(kind))
    elif bounds:
        ends = {side: end for bound in bounds for side, end in asdict(bound).items()}
        least, most = ends.get("ge", ends.get("gt")), ends.get("le", ends.get("lt"))
        open_ = {"min_open": "gt" in ends, "max_open": "lt" in ends}
        type_ = click.IntRange(least, most, **open_) if kind is int else click.FloatRange(least, most, **open_)
    if field.is_required() and not words:
        return click.argument(name, type=type_)
    metavar = next((word for word in words if not word.startswith("-")), _METAVARS.get(cast(Any, kind)))
    attributes: dict[str, Any] = {"metavar": metavar, "multiple": several, "required": field.is_required()}
    if not field.is_required() and field.default not in (None, ()):
        attributes |= {"default": field.default, "show_default": True}
    return click.option(*flags, name, type=type_, help=field.description, **attributes)


class CommandOptions(BaseModel):
    """The options of a command."""

    model_config = ConfigDict(frozen=True)

    as_json: bool = Field(False, title="--json", description="Print JSON on standard output.")


class Asking(CommandOptions):
    """The options of a command that asks language models."""

    threads: int = Field(8, ge=1, le=256, description="Number of questions asked, or answers marked, in parallel.")
    budget: float | None = Field(None, ge=0, description="Maximum cost of the language models.")

    def apply(self, settings: "Settings") -> "Settings":
        """Return the settings with this budget, and as many calls at once, where they do not say how many."""
        threads = max(self.threads, settings.chat.concurrency)
        own = "concurrency" in settings.chat.model_fields_set
        return changed(settings, "chat", budget=self.budget, concurrency=None if own else threads)


class Compared(CommandOptions):
    """The options of a command that prints tables of measures."""

    baseline: str | None = Field(
        None, title="EXPR", description="Compare the others with this one, with confidence intervals."
    )
    at: tuple[PositiveInt, ...] = Field((), title="K", description="Give R@K and perfect@K; repeatable.")
    seed: int = Field(0, description="Seed for everything drawn at random: resampling, sample, misspellings.")
    markdown: bool = Field(False, description="Print Markdown: tables, the command, the machine.")


class OnQuestions(CommandOptions):
    """The options of a command that works on a question set."""

    dataset: Path
    format: str | None = Field(None, description="Read the data as this format, whatever it looks like.")
    limit: int | None = Field(None, ge=1, description="Only the first N questions.")

    def read(self) -> "Dataset":
        """Read the question set. Raises NotFoundError, InputError."""
        from kgrag.lab.readers import read_dataset

        return read_dataset(self.dataset, self.format).first(self.limit)


class OnCollection(OnQuestions):
    """The options of a command that works on the collection of a question set, which a paper may shape."""

    collection: str | None = Field(
        None, title="-c", description="Collection of the corpus, ingested if needed.  [default: one of its own]"
    )
    paper: str | None = Field(None, description=PAPER_HELP)

    @contextmanager
    def opened(self, data: "Dataset") -> Iterator[tuple["Collection", Progress]]:
        """Open the collection, with the data set ingested, and a progress."""
        settings, paper = as_paper(load_settings(), self.paper)
        usual = data.collection(settings.embedder, settings.max_file_mb, settings.indexing, paper)
        with connect(settings) as kg, progress_bars() as progress:
            yield ingest(kg, data, self.collection or usual, None, progress), progress


class OnSample(OnCollection):
    """The options of a command that measures on a sample of a question set."""

    seed: int = Field(0, description="Seed for everything drawn at random.")
    sample: int | None = Field(None, ge=1, description="Only N questions, drawn by --seed from all of them.")
    per_question: int | None = Field(
        None, ge=1, description="A graph of N documents for each question: its gold and others at random (KGP: 12)."
    )
    articles: Path | None = Field(None, description="Whole Wikipedia articles in place of documents of their titles.")
    sentences: bool = Field(False, description="Gold are the sentences that support the answer, if there are some.")
    plot: Path | None = Field(None, description="Draw it: .png, .svg or .pdf.")

    def draw(self, data: "Dataset") -> "Dataset":
        """Return the questions of the sample with the chosen gold."""
        from kgrag.lab.variants import sentences

        data = sentences(data) if self.sentences else data
        return data.first(self.limit).sample(self.sample, self.seed)


def print_notes(data: "Dataset") -> None:
    """Print on standard error the parts of the data that were left out, and gold or answers that cannot be found."""
    from kgrag.lab.measures import unanswerable

    for text in data.notes:
        note(text)
    without_gold = [q for q in data.questions if not q.gold and q.answers]
    if without_gold and (lost := unanswerable(without_gold, data.documents())):
        head = f"{len(lost)} of {len(data.questions)} questions have answers that stand in no document of the corpus:"
        print_list(head, [f"{q.id}: {', '.join(q.answers)}" for q in lost])
    if missing := data.unreachable(data.questions):
        total = len(data.questions)
        head = f"{len(missing)} of {total} questions have gold that is not in the corpus and cannot be found:"
        print_list(head, [f"{id}: {', '.join(keys)}" for id, keys in missing.items()])


def whole_articles(data: "Dataset", extract: Path | None) -> "Dataset":
    """Return the data set with the whole articles of an extract of Wikipedia as documents; None: unchanged."""
    if extract is None:
        return data
    from kgrag.lab.variants import articles

    with progress_bars() as progress:
        return articles(data, extract, progress)


def ingest(
    kg: "KnowledgeGraph", data: "Dataset", collection: str | None, embedder: str | None, progress: Progress
) -> "Collection":
    """Update the collection by the corpus, by default the corpus's own; report its faults."""
    done = data.ingest(kg, collection=collection, embedder=embedder, progress=progress)
    if done.report.problems:
        print_list("What could not be read:", [f"{p.place}: {p.message}" for p in done.report.problems])
    if done.others:
        name = done.collection.name
        note(
            f"Collection {name} holds {done.others} documents that the corpus does not have; they are searched, too. "
            f"`kgrag delete --collection {name}` and another run start again."
        )
    return done.collection


def print_frames(frames: "Mapping[str, pd.DataFrame]") -> None:
    """Print tables on standard output under their titles; a value that is missing is a dash."""
    for title, table in frames.items():
        click.echo(visible(f"{title}\n{table.to_string(na_rep='-')}\n"))
