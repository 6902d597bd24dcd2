"""The papers behind kgrag's systems: their settings, and the results that they report.

Each paper is one TOML file. A profile sets only unset values: the environment and the command line win.
"""

import json
import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from importlib.resources import files
from typing import Any

from pydantic import BaseModel

from kgrag.settings import IndexingSettings, Settings
from kgrag.values.errors import ConfigurationError, NotFoundError
from kgrag.values.forms import read

EVALUATION = "evaluation"
"""The group of settings that belong to an evaluation, not to kgrag: sample, depth."""


@dataclass(frozen=True, slots=True)
class PaperSetting:
    """A setting as in a paper. `name`: its dotted path; `source`: where the paper gives it."""

    name: str
    value: Any
    source: str

    @property
    def path(self) -> tuple[str, ...]:
        """Its path in the settings."""
        return tuple(self.name.split("."))


@dataclass(frozen=True, slots=True)
class PaperRow:
    """A row of a table. `numbers`: for each data set its measures, None for a missing one.

    `system`: the expression that measures it, with `{k}` for the k of a recall, the table's values, and the user's
    inputs (see `inputs` of a Paper); None if kgrag has no such system, which `missing` explains. `settings`: the values
    that differ for this row; `threads`: how many questions are asked at once, if the paper says so.
    """

    label: str
    numbers: tuple[tuple[float | None, ...], ...]
    system: str | None = None
    missing: str = ""
    settings: Mapping[str, Any] = field(default_factory=dict)
    threads: int | None = None


@dataclass(frozen=True, slots=True)
class PaperTable:
    """A table of reported numbers, in per cent.

    `data`: its data sets; `corpus`: the number of passages of each, if given in the paper; `values`: placeholder in the
    rows' systems -> its value for each data set; `by`: the grouping of questions, if a measure is for one group:
    "R@15 < 9".

    A figure is a table without numbers, for one measure. `drawn`: the quantity on its axis: iterations, ranks, vary (a
    setting), type, hops, systems, alone (correct in only one of two), or points (calls); `options`: the options of the
    experiment; `command`: the command that measures and draws it, or counts a table's statistics, if no experiment
    does; `sample`: the number of questions, if not those of the paper.
    """

    number: str
    caption: str
    data: tuple[str, ...]
    measures: tuple[str, ...]
    rows: tuple[PaperRow, ...]
    corpus: tuple[int, ...] = ()
    values: Mapping[str, Sequence[Any]] = field(default_factory=dict)
    by: str | None = None
    drawn: str = ""
    options: Mapping[str, Any] = field(default_factory=dict)
    command: str = ""
    sample: int | None = None


@dataclass(frozen=True, slots=True)
class Paper:
    """A paper. `section` describes its `system`; `model` is the model of its experiments.

    `inputs`: name of an input that the user gives for rows of its tables -> its description, and the default (None:
    such rows are not measured). `differs`: differences in kgrag that no setting removes.
    """

    name: str
    title: str
    section: str
    system: str
    model: str
    settings: tuple[PaperSetting, ...]
    inputs: Mapping[str, tuple[str, str | None]]
    differs: tuple[str, ...]
    tables: Mapping[str, PaperTable]
    figures: Mapping[str, PaperTable]

    def setting(self, name: str) -> Any:
        """Return the value of a setting, None if the paper does not set it."""
        return next((s.value for s in self.settings if s.name == name), None)

    def sample(self, data: str) -> int | None:
        """Return how many questions of a data set the paper asks, None if it does not say.

        If the paper has a number for each set, the name of the set is part of `data`; other sets get the smallest.
        """
        number: Mapping[str, int] | int | None = self.setting("evaluation.sample")
        if isinstance(number, Mapping):
            return next((n for name, n in number.items() if name in data.lower()), min(number.values()))
        return number

    @property
    def indexing(self) -> IndexingSettings:
        """The paper's settings that shape the graph."""
        return IndexingSettings(**{s.path[1]: s.value for s in self.settings if s.path[0] == "indexing"})

    def table(self, number: str) -> PaperTable:
        """Return the table with this number. Raises NotFoundError."""
        if number not in self.tables:
            tables = ", ".join(self.tables) or "none"
            raise NotFoundError(f"There is no table {number} of {self.name} here.", f"There are: {tables}.")
        return self.tables[number]

    def figure(self, number: str) -> PaperTable:
        """Return the figure with this number. Raises NotFoundError."""
        if number not in self.figures:
            figures = ", ".join(self.figures) or "none"
            raise NotFoundError(f"There is no figure {number} of {self.name} here.", f"There are: {figures}.")
        return self.figures[number]

    def apply(self, settings: Settings) -> Settings:
        """Return the settings with the paper's values where nothing else was set."""
        values: dict[str, Any] = {}
        for setting in self.settings:
            if setting.path[0] != EVALUATION:
                set_in(values, setting.path, setting.value)
        applied: Settings = _under(settings, values)
        return applied

    def about(self, settings: Settings) -> dict[str, Any]:
        """Return the paper for JSON: every setting as text, its value in `settings`, and its source in the paper."""
        rows = []
        for setting in self.settings:
            value = setting.value if setting.path[0] == EVALUATION else value_of(settings, setting.path)
            row = {"setting": setting.name, "paper": _text(setting.value), "value": _text(value)}
            rows.append({**row, "source": setting.source})
        about = {"paper": self.name, "title": self.title, "section": self.section, "system": self.system}
        lists = {"differs": list(self.differs), "tables": list(self.tables), "figures": list(self.figures)}
        return {**about, "model": self.model, "settings": rows, **lists}


def papers() -> list[str]:
    """Return the names of the papers."""
    return sorted(f.name.removesuffix(".toml") for f in files(__name__).iterdir() if f.name.endswith(".toml"))


def find_paper(name: str) -> Paper:
    """Return the paper with this name. Raises NotFoundError with the known names."""
    if name not in papers():
        raise NotFoundError(f"There is no paper {name!r}.", f"Choose one of: {', '.join(papers())}.")
    about = tomllib.loads(files(__name__).joinpath(f"{name}.toml").read_text(encoding="utf-8"))
    base = find_paper(about["base"]) if "base" in about else None
    own = {key: PaperSetting(key, value, source) for key, (value, source) in about["settings"].items()}
    settings = {s.name: s for s in base.settings} | own if base else own
    inputs = {key: (entry, None) if isinstance(entry, str) else entry for key, entry in about.get("inputs", {}).items()}
    parts = {
        "settings": tuple(settings.values()),
        "inputs": inputs,
        "differs": (*(base.differs if base else ()), *about["differs"]),
        "tables": {number: _table(number, table) for number, table in about.get("tables", {}).items()},
        "figures": {number: _figure(number, entry) for number, entry in about.get("figures", {}).items()},
    }
    return read(Paper, {**about, **parts, "name": name})


def _text(value: Any) -> str:
    """Return a value as an environment variable would hold it."""
    return value if isinstance(value, str) else json.dumps(value)


def __getattr__(name: str) -> Paper:
    """Return a paper under its name with underscores: the target of its entry point."""
    if (paper := name.replace("_", "-")) not in papers():
        raise AttributeError(name)
    return find_paper(paper)


def value_of(settings: Settings, path: Sequence[str]) -> Any:
    """Return the value of a setting; None for an option that is not set."""
    value: Any = settings
    for part in path:
        value = value.get(part) if isinstance(value, Mapping) else getattr(value, part, None)
    return value


def set_in(values: dict[str, Any], path: Sequence[str], value: Any) -> None:
    """Put a value at its path in nested mappings."""
    for part in path[:-1]:
        values = values.setdefault(part, {})
    values[path[-1]] = value


def override(settings: Settings, values: Mapping[str, Any]) -> Settings:
    """Return the settings with other values, by their dotted names, in any case."""
    for name, value in values.items():
        settings = _set(settings, name.split("."), value)
    return settings


def _set(model: Any, path: Sequence[str], value: Any) -> Any:
    if not path:
        return value
    head, rest = path[0], path[1:]
    if isinstance(model, BaseModel):
        return model.model_copy(update={head: _set(getattr(model, head), rest, value)})
    return {**(model or {}), head: _set((model or {}).get(head), rest, value)}


def _under(model: Any, values: Mapping[str, Any]) -> Any:
    """Return a model of settings with values in place of unset ones."""
    update: dict[str, Any] = {}
    for name, value in values.items():
        now = getattr(model, name)
        if isinstance(now, BaseModel):
            update[name] = _under(now, value)
        elif isinstance(now, dict):
            update[name] = _options(value, now)
        elif name not in model.model_fields_set:
            update[name] = value
    return model.model_copy(update=update)


def _options(values: Mapping[str, Any], overrides: Mapping[str, Any]) -> dict[str, Any]:
    """Return options of retrievers or strategies; one set for all wins over a paper's for a single one."""
    shared = {*overrides, *overrides.get("answer", {})}
    options: dict[str, Any] = {}
    for name, value in values.items():
        if isinstance(value, Mapping):
            own = overrides.get(name, {})
            options[name] = {key: v for key, v in value.items() if key not in shared or name == "answer"} | own
        else:
            options[name] = overrides.get(name, value)
    return {**overrides, **options}


def _figure(number: str, entry: Mapping[str, Any]) -> dict[str, Any]:
    """Return a figure as a table without numbers, with a row for each system; its settings apply to all of them."""
    nothing, settings = [(None,) for _ in entry["data"]], entry.get("settings", {})
    systems = entry.get("systems", ())
    rows = [{"label": name, "numbers": nothing, "system": name, "settings": settings} for name in systems]
    return {**entry, "number": number, "measures": [entry.get("measure", "")], "rows": rows}


def _table(number: str, table: Mapping[str, Any]) -> dict[str, Any]:
    data, measures, scale = table["data"], table["measures"], table.get("scale", 1)
    rows = []
    for row in table["rows"]:
        numbers = [
            [None if n.strip() == "-" else round(float(n) * scale, 4) for n in cell.split("/")]
            for cell in row["numbers"].split("|")
        ]
        if len(numbers) != len(data) or any(len(cell_numbers) != len(measures) for cell_numbers in numbers):
            raise ConfigurationError(
                f"Table {number}, {row['label']}: {len(data)} x {len(measures)} numbers are wanted."
            )
        rows.append({**row, "numbers": numbers})
    return {**table, "number": number, "rows": rows}
