"""Read TOML and JSON files that users edit into models, and write them."""

import json
import re
import tomllib
from collections.abc import Mapping
from pathlib import Path
from typing import Any, TypeVar

from pydantic import BaseModel, ValidationError

from kgrag.values.errors import InputError

Model = TypeVar("Model", bound=BaseModel)
_BARE = re.compile(r"[A-Za-z0-9_-]+")


def read_model(path: Path, model: type[Model], remedy: str) -> Model:
    """Read a TOML or JSON file. Raises InputError with the error, its place and the remedy."""
    try:
        text = path.read_text(encoding="utf-8-sig")
        plain: Any = json.loads(text) if path.suffix.lower() == ".json" else tomllib.loads(text)
    except (OSError, ValueError) as error:
        raise InputError(f"{path} cannot be read: {getattr(error, 'strerror', None) or error}", remedy) from error
    return parse_model(plain, model, str(path), remedy)


def parse_model(plain: Any, model: type[Model], place: str, remedy: str) -> Model:
    """Parse JSON or TOML of a place into a model. Raises InputError with the invalid part."""
    try:
        return model.model_validate(plain)
    except ValidationError as error:
        first = error.errors(include_url=False, include_input=False)[0]
        part = ".".join(str(step) for step in first["loc"] if step != "[key]")
        message = first["msg"].removeprefix("Value error, ")
        raise InputError(f"{place}: {part + ': ' if part else ''}{message}", remedy) from error


def to_toml(model: BaseModel, comments: Mapping[tuple[str, str], str] | None = None) -> str:
    """Format a model of tables as a TOML file to edit; `comments`: (table, name) -> the comment beside it."""
    lines = []
    for table, parts in model.model_dump(by_alias=True, exclude_defaults=True).items():
        for name, part in parts.items():
            key = name if _BARE.fullmatch(name) else json.dumps(name, ensure_ascii=False)
            comment = (comments or {}).get((table, name), "")
            lines.append(f"[{table}.{key}]{comment and f'  # {comment}'}")
            lines += [f"{entry} = {json.dumps(value, ensure_ascii=False)}" for entry, value in part.items()]
            lines.append("")
    return "\n".join(lines)
