"""The settings as a list: variable, type, default, meaning, value; and which one a misspelt variable may mean."""

import difflib
import json
import os
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import reduce
from importlib.resources import files
from itertools import groupby
from pathlib import Path
from types import NoneType, UnionType
from typing import Annotated, Any, Literal, Union, get_args, get_origin

from pydantic import BaseModel, SecretStr
from pydantic.fields import FieldInfo
from pydantic_settings import DotEnvSettingsSource, EnvSettingsSource, TomlConfigSettingsSource

from kgrag.settings import IN_FILE, Settings

_PREFIX, _BETWEEN = "KGRAG_", "__"
_OF_COMMANDS = ("KGRAG_COLLECTION", "KGRAG_DEBUG")


def near_variable(path: Sequence[str]) -> str:
    """Return the setting with the name nearest to an unknown one, as a variable; empty where none is near."""
    model: type[BaseModel] = Settings
    parts: list[str] = []
    for part in path:
        near = difflib.get_close_matches(part.lower(), model.model_fields, n=1, cutoff=0.7)
        if not near:
            return ""
        parts.append(near[0])
        kind = model.model_fields[near[0]].annotation
        if not (isinstance(kind, type) and issubclass(kind, BaseModel)):
            parts += map(str.lower, path[len(parts) :])
            break
        model = kind
    return f"{_PREFIX}{_BETWEEN.join(parts).upper()}"


def unknown_variables() -> Iterator[tuple[str, str]]:
    """Yield unknown variables with a hint: all those of `.env`, and those of the environment near to a setting.

    The environment may hold variables of other programs, such as of the tests.
    """
    file = {name.upper() for name in DotEnvSettingsSource(Settings).env_vars}
    for variable in sorted({name.upper() for name in os.environ} | file):
        path = variable.removeprefix(_PREFIX).lower().split(_BETWEEN)
        if not variable.startswith(_PREFIX) or path[0] in Settings.model_fields:
            continue
        if variable in _OF_COMMANDS:
            if variable not in os.environ:
                yield variable, "It is read from the environment, not from .env."
        elif near := near_variable(path):
            yield variable, f"Did you mean {near}?"
        elif variable in file:
            yield variable, "`kgrag list settings` lists all settings."


HIDDEN = "***"
_NAMES = {SecretStr: "secret", Path: "path", str: "text", bool: "true or false"}
Source = Literal["default", "environment", ".env", "kgrag.toml"]
_LOGIN = re.compile(r"(?<=//)[^/@\s]+@")
_SIGNS = {"ge": ">=", "gt": ">", "le": "<=", "lt": "<"}


@dataclass(frozen=True, slots=True)
class Setting:
    """A setting. `path`: its place in the settings; `group`: what its class says of itself; the rest are texts."""

    path: tuple[str, ...]
    type: str
    default: str
    meaning: str
    group: str

    @property
    def variable(self) -> str:
        """The environment variable: KGRAG_LOCAL__HEAP."""
        return f"KGRAG_{'__'.join(self.path).upper()}"


@dataclass(frozen=True, slots=True)
class InForce:
    """The value of a setting as text, secrets hidden; `source`: where it is from."""

    setting: Setting
    value: str
    source: Source


def settings_of() -> Iterator[Setting]:
    """Return all settings that variables set."""
    return (setting for setting in settings_in(Settings, ()) if setting.path[0] not in IN_FILE)


def in_force() -> list[InForce]:
    """Return every setting with the value that it has now. Raises pydantic.ValidationError when one is invalid."""
    current = Settings()
    sources: dict[Source, Mapping[str, Any]] = {
        "environment": EnvSettingsSource(Settings)(),
        ".env": DotEnvSettingsSource(Settings)(),
        "kgrag.toml": TomlConfigSettingsSource(Settings)(),
    }
    rows = []
    for setting in settings_of():
        source: Source = next((name for name, values in sources.items() if _holds(values, setting.path)), "default")
        rows.append(InForce(setting, _text(reduce(getattr, setting.path, current)), source))
    return rows


def page() -> str:
    """Return all settings as docs/settings.md."""
    lines = [_HEAD]
    for place, settings in groupby(settings_of(), key=lambda setting: setting.path[:-1]):
        group = list(settings)
        lines += ["", f"## {' '.join(place)}", "", group[0].group, ""] if place else [""]
        lines += ["| variable | type | default | meaning |", "|---|---|---|---|"]
        for setting in group:
            default = f"`{setting.default}`" if setting.default else ""
            lines.append(f"| `{setting.variable}` | {setting.type} | {default} | {setting.meaning} |")
    return "\n".join(lines)


_HEAD = files("kgrag.cli").joinpath("settings_head.md").read_text(encoding="utf-8").rstrip()


def settings_in(model: type[BaseModel], path: tuple[str, ...]) -> Iterator[Setting]:
    """Yield the settings of a class and of its nested classes, in their order; `path`: where it is nested itself."""
    nested: list[tuple[str, type[BaseModel]]] = []
    for name, field in model.model_fields.items():
        if isinstance(field.annotation, type) and issubclass(field.annotation, BaseModel):
            nested.append((name, field.annotation))
        else:
            group = (model.__doc__ or "").partition("\n")[0]
            yield Setting((*path, name), _type(field), _default(field), field.description or "", group)
    for name, inner in nested:
        yield from settings_in(inner, (*path, name))


def _holds(nested: Mapping[str, Any], path: tuple[str, ...]) -> bool:
    """Return whether a nested mapping has a value at that place."""
    value: Any = nested
    for name in path:
        if not isinstance(value, Mapping) or name not in value:
            return False
        value = value[name]
    return True


def _default(field: FieldInfo) -> str:
    """Return the default as written; none for folders, which depend on the user and the system."""
    value = field.get_default(call_default_factory=True)
    return "" if isinstance(value, Path) else _text(value)


def _text(value: Any) -> str:
    """Return a value as its variable holds it, without secrets, and without logins in addresses."""
    if value is None:
        return ""
    if isinstance(value, SecretStr):
        return HIDDEN
    if isinstance(value, str | Path):
        return _LOGIN.sub(f"{HIDDEN}@", str(value))
    return json.dumps(value, ensure_ascii=False, default=lambda _: HIDDEN)


def _type(field: FieldInfo) -> str:
    bounds = (f"{_SIGNS[n]} {getattr(m, n)}" for m in field.metadata for n in _SIGNS if hasattr(m, n))
    return f"{_type_text(field.annotation)} {' and '.join(bounds)}".strip()


def _type_text(annotation: Any) -> str:
    """Return a type as people write it: `str`, `list of int`, `word or encoder`."""
    origin, inner = get_origin(annotation), get_args(annotation)
    if origin is Annotated:
        return _type_text(inner[0])
    if origin is Literal:
        return ", ".join(inner[:-1]) + f" or {inner[-1]}"
    if origin in (Union, UnionType):
        return " or ".join(_type_text(part) for part in inner if part is not NoneType)
    if origin is tuple:
        return f"list of {_type_text(inner[0])}"
    if origin is dict:
        return f"mapping of {_type_text(inner[0])} to {_type_text(inner[1])}"
    if annotation is Any:
        return "any"
    return _NAMES.get(annotation) or str(annotation.__name__)
